"""A study's cells, and which of them each figure has."""

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

from real_studies import write_real_study
from study_texts import TINY_STUDY, study_text

from isoglot.pipeline.cells import EMERGENCE, MAPPED, UNTRAINED, VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells, gap_sentences, targets
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder
from isoglot.pipeline.stages.word_level_alignment import WordLevelAlignment
from isoglot.store import inputs_first
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study, read_study

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


def emergence_cells(study: Study) -> list[Cell]:
    return [cell for cell in cells(study) if cell.exhibit == EMERGENCE]


def test_each_model_has_a_cell_before_and_one_after_training() -> None:
    filled = emergence_cells(STUDY)
    expected = list(product(["default", "no-anchors", "sep-emb-l1-6"], [0, 1], [UNTRAINED, None]))
    assert [(cell.condition, cell.seed, cell.variant) for cell in filled] == expected
    assert len({cell.stage.digest for cell in filled}) == len(filled)


def test_every_target_language_has_its_cells() -> None:
    text = study_text('conditions = ["default"]').replace('["ela", "oru"]', '["ela", "oru", "tem"]')
    filled = cells(parse_study(text + "\n[synthetic.languages.tem]\n", origin="mine.toml"))
    assert Counter((cell.exhibit, cell.languages) for cell in filled) == {
        (VOCABULARY, ("ela", "oru")): 1,
        (EMERGENCE, ("ela", "oru")): 2,
        (VOCABULARY, ("ela", "tem")): 1,
        (EMERGENCE, ("ela", "tem")): 2,
    }


def test_vocabularies_alone_need_no_model() -> None:
    filled = cells(STUDY.replace(exhibits=[VOCABULARY]))
    assert [(cell.exhibit, cell.condition, cell.seed) for cell in filled] == [
        (VOCABULARY, "default", None),
        (VOCABULARY, "no-anchors", None),
        (VOCABULARY, "sep-emb-l1-6", None),
    ]
    kinds = {stage.kind for stage in inputs_first(cell.stage for cell in filled).values()}
    assert "token-streams" in kinds
    assert not any("encoder" in kind for kind in kinds)


def test_examples_in_files_are_read_before_anything_is_trained(tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    with_ner = replace(study, exhibits=("emergence", "table-1"), tasks=("ner",))
    kinds = [stage.kind for stage in inputs_first(targets(with_ner)).values()]
    assert kinds.count("examples") == 4
    assert kinds.index("pretrained-encoder") > max(place for place, kind in enumerate(kinds) if kind == "examples")


def test_all_rows_have_a_model_before_any_has_a_second_one() -> None:
    study = STUDY.replace(exhibits=["emergence"], seeds=[4, 1])
    stages = inputs_first(targets(study)).values()
    seeds = [stage.run.seed for stage in stages if isinstance(stage, PretrainedEncoder)]
    assert seeds == [4] * len(study.conditions) + [1] * len(study.conditions)


def test_cells_are_kept_for_each_study() -> None:
    first, second = (STUDY.replace(seeds=[seed]) for seed in (3, 4))
    for _ in range(2):
        assert {cell.seed for cell in cells(first)} == {None, 3}
        assert {cell.seed for cell in cells(second)} == {None, 4}
    assert cells(first)[0].stage is cells(first)[0].stage, "its digest is worked out once"


def of(*exhibits: str, study: Study = STUDY) -> list[Cell]:
    return [cell for cell in cells(study.replace(exhibits=exhibits)) if cell.exhibit != VOCABULARY]


def test_figure_6_has_every_condition_models_of_one_language_each_and_floors() -> None:
    found = [(cell.condition, cell.variant) for cell in of("figure-6") if cell.seed == 0]
    assert found == [
        ("default", None),
        ("no-anchors", None),
        ("sep-emb-l1-6", None),
        ("monolingual", None),
        ("default", UNTRAINED),
        ("monolingual", UNTRAINED),
    ]
    assert Counter(cell.seed for cell in of("figure-6")) == {0: 6, 1: 6}


def test_figure_7_compares_the_source_with_itself_as_well() -> None:
    prime = [cell for cell in of("figure-7") if cell.languages == ("ela", "ela-prime") and cell.seed == 0]
    assert [(cell.condition, cell.variant) for cell in prime] == [
        ("sep-emb", None),
        ("monolingual", None),
        ("monolingual", UNTRAINED),
    ]
    assert len([cell for cell in of("figure-7") if cell.languages == ("ela", "oru")]) == 12


def test_figures_share_their_models() -> None:
    stages = inputs_first(cell.stage for cell in of("figure-6", "figure-7"))
    runs = Counter(stage.run.languages for stage in stages.values() if stage.kind == "pretrained-encoder")
    assert runs == {("ela", "oru"): 6, ("ela",): 2, ("oru",): 2, ("ela-prime",): 2, ("ela", "ela-prime"): 2}


def test_files_that_a_figure_lacks_are_named(tmp_path: Path) -> None:
    study = replace(read_study(write_real_study(tmp_path)), exhibits=("figure-6", "figure-7"))
    assert [cell.exhibit for cell in cells(study) if cell.exhibit != VOCABULARY] == []
    sentences = "\n".join(gap_sentences(study))
    assert "resources.mapping.en-fr is missing: add a file of parallel sentences to fit maps on" in sentences
    assert "resources.paraphrase.en is missing" in sentences


def test_no_other_vectors_take_the_place_of_a_missing_file(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    (tmp_path / "fr.vec").write_text("le 1 2\n")
    named = 'word-mapping.en-fr = "muse.txt"\nvectors.en = "no-such.vec"\nvectors.fr = "fr.vec"\n'
    path.write_text(path.read_text() + named)
    study = replace(read_study(path), exhibits=("figure-4",))
    assert not [cell for cell in cells(study) if cell.exhibit == "figure-4"]
    assert "no-such.vec" in "\n".join(gap_sentences(study))
    path.write_text(path.read_text().replace('vectors.en = "no-such.vec"\n', ""))
    sentences = "\n".join(gap_sentences(replace(read_study(path), exhibits=("figure-4",))))
    assert "resources.vectors.en is missing" in sentences


def test_an_aligner_that_is_not_there_leaves_the_rest_of_the_study() -> None:
    text = TINY_STUDY.replace("merges = 200", 'merges = 200\nalignment.aligner = ["no-such-aligner"]')
    study = parse_study(text, origin="tiny.toml").replace(exhibits=["figure-5", "figure-6"])
    assert {cell.condition for cell in cells(study) if cell.exhibit == "figure-5"} == {"default"}
    (sentence,) = gap_sentences(study)
    assert "alignment.aligner: the aligner 'no-such-aligner' was not found" in sentence


def test_figures_5_and_8_have_every_layer_of_every_task_that_labels_words() -> None:
    study = STUDY.replace(seeds=[0], tasks=["nli", "ner", "parsing"])
    found = of("figure-5", study=study)
    layers = STUDY.scale.shape.layers + 1
    assert Counter((cell.condition, cell.task, cell.variant) for cell in found) == {
        ("monolingual", "ner", MAPPED): layers,
        ("monolingual", "parsing", MAPPED): layers,
        ("monolingual", "ner", UNTRAINED): layers,
        ("monolingual", "parsing", UNTRAINED): layers,
        ("default", "ner", None): layers,
        ("default", "parsing", None): layers,
    }
    # The floor is another model of the target alone, which is mapped and read by the same layers.
    floors = [cell.stage for cell in found if cell.variant == UNTRAINED]
    mapped = [cell.stage for cell in found if cell.variant == MAPPED]
    assert [floor.heads for floor in floors] == [stage.heads for stage in mapped]
    assert {type(floor.encoder) for floor in floors} == {UntrainedEncoder}
    assert all(floor.maps.encoders == {"ela": floor.heads[0].encoder, "oru": floor.encoder} for floor in floors)
    eighth = of("figure-8", study=study)
    assert Counter((cell.condition, cell.variant) for cell in eighth) == {
        ("default", None): 2 * layers,
        ("default", MAPPED): 2 * layers,
    }
    # Unmapped transfer is one and the same in both.
    same = {cell.stage.digest for cell in found if not cell.variant}
    assert same == {cell.stage.digest for cell in eighth if not cell.variant}


def test_a_study_without_such_a_task_has_a_gap() -> None:
    study = STUDY.replace(exhibits=["figure-5"], tasks=["nli"])
    assert not [cell for cell in cells(study) if cell.exhibit == "figure-5"]
    (sentence,) = gap_sentences(study)
    assert sentence.endswith("(figure-5): tasks has none that labels words; add one of ner, parsing, pos")


def test_figure_4_reads_the_text_that_its_models_were_trained_on() -> None:
    (cell,) = of("figure-4", study=STUDY.replace(seeds=[0]))
    stage = cell.stage
    assert isinstance(stage, WordLevelAlignment)
    assert set(stage.vectors) == set(stage.texts) == {"ela", "oru"}
    for language, encoder in stage.encoders.items():
        texts = (encoder.streams[language].text, stage.texts[language], stage.vectors[language].text)
        assert len({text.digest for text in texts}) == 1
    assert stage.fit.digest != stage.test.digest
