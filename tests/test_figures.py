"""Which cells each figure has."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.artifacts import Store, inputs_first
from isoglot.cells import UNTRAINED, VOCABULARY, Cell
from isoglot.exhibits import cells, gap_sentences, named_artifact
from isoglot.study import parse_study, read_study, with_exhibits

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


def of(*exhibits: str) -> list[Cell]:
    return [cell for cell in cells(with_exhibits(STUDY, exhibits)) if cell.exhibit != VOCABULARY]


def test_figure_6_has_every_condition_and_models_of_one_language_each() -> None:
    found = [(cell.condition, cell.metric_suffix) for cell in of("figure-6") if cell.seed == 0]
    assert found == [
        ("default", ""),
        ("no-anchors", ""),
        ("sep-emb-l1-6", ""),
        ("monolingual", ""),
        ("monolingual", UNTRAINED),
    ]
    assert Counter(cell.seed for cell in of("figure-6")) == {0: 5, 1: 5}


def test_figure_7_compares_the_source_with_itself_as_well() -> None:
    prime = [cell for cell in of("figure-7") if cell.languages == ("ela", "ela-prime") and cell.seed == 0]
    assert [(cell.condition, cell.metric_suffix) for cell in prime] == [
        ("sep-emb", ""),
        ("monolingual", ""),
        ("monolingual", UNTRAINED),
    ]
    assert len([cell for cell in of("figure-7") if cell.languages == ("ela", "oru")]) == 10


def test_figures_share_their_models() -> None:
    stages = inputs_first(cell.stage for cell in of("figure-6", "figure-7"))
    runs = Counter(stage.run.languages for stage in stages.values() if stage.kind == "pretrained-encoder")
    assert runs == {("ela", "oru"): 6, ("ela",): 2, ("oru",): 2, ("ela-prime",): 2, ("ela", "ela-prime"): 2}


def test_what_files_a_figure_lacks_is_said_and_the_rest_is_there(tmp_path: Path) -> None:
    study = replace(read_study(write_real_study(tmp_path)), exhibits=("figure-6", "figure-7"))
    assert [cell.exhibit for cell in cells(study) if cell.exhibit != VOCABULARY] == []
    told = "\n".join(gap_sentences(study))
    assert "resources.mapping.en-fr is not given: name a file of parallel sentences to fit maps on" in told
    assert "resources.paraphrase.en is not given" in told


def test_models_of_one_language_have_names(tmp_path: Path) -> None:
    named = named_artifact("monolingual:oru:1", study=STUDY, store=Store(tmp_path))
    assert named.kind == "pretrained-encoder"
    assert named.settings["run"]["languages"] == ["oru"]
