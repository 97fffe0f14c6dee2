"""Retrieval, word translation and CKA of chosen and kept models, against loops over vectors of the same files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from oracles import precision_by_loops
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.corpora.numbered_text import Cut, NumberedText, Split, write_numbered_text
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors, word_type_vectors
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.model.cloze import read_model
from isoglot.pipeline.cells import EMERGENCE, GROWTH
from isoglot.pipeline.exhibits import cells, gap_sentences
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.emergence import Emergence, StructureOverTraining
from isoglot.pipeline.stages.models import chosen_model, kept_models
from isoglot.pipeline.stages.scores import SCORES, Score, read_scores, write_scores
from isoglot.pipeline.stages.translations import dictionary_entries, parallel_lines
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.study_file import parse_study, read_study
from tests.pipeline.making import input_folders, made, made_alone, values

TEXT = TINY_STUDY.replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 30")
STUDY = parse_study(TEXT.replace("updates = 80", "updates = 40"), origin="tiny.toml").replace(seeds=[0])
# Its position tables and layers are separate, so that a language read with the other's would be noticed.
SHOWN = STUDY.replace(exhibits=["growth", "emergence", "figure-7"], conditions=["sep-emb-l1-6"])
UPDATES = [1, 2, 5, 10, 20]
WHITESPACE = {language: WordSplitting(splitter=Splitter.WHITESPACE, language=language) for language in ("ela", "oru")}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(*(cell.stage for cell in cells(SHOWN)), folder=tmp_path_factory.mktemp("store"))


def emergence(*, is_untrained: bool) -> Emergence:
    (stage,) = (cell.stage for cell in cells(SHOWN) if cell.exhibit == EMERGENCE and bool(cell.variant) is is_untrained)
    assert isinstance(stage, Emergence)
    return stage


def over_training() -> StructureOverTraining:
    (stage,) = (cell.stage for cell in cells(SHOWN) if cell.exhibit == GROWTH)
    assert isinstance(stage, StructureOverTraining)
    return stage


def readers(model: Path, store: Store) -> dict[str, EncoderReader]:
    """Readers of both languages with a model from some folder, which all have one vocabulary."""
    stage = emergence(is_untrained=False)
    return {
        language: EncoderReader(
            read_model(model).encoder,
            encoding=stage.encoder.streams[language].encoding(store.folder),
            splitting=WHITESPACE[language],
            most_tokens=16,
        )
        for language in ("ela", "oru")
    }


def both_directions(a_ND: torch.Tensor, b_ND: torch.Tensor, pairs: list[tuple[int, int]]) -> float:
    a, b = ((vectors - vectors.mean(0)).tolist() for vectors in (a_ND, b_ND))
    return (precision_by_loops(a, b, pairs) + precision_by_loops(b, a, [(y, x) for x, y in pairs])) / 2


def retrieval_by_layer(model: Path, store: Store) -> list[float]:
    parallel = store.folder(emergence(is_untrained=False).parallel)
    vectors = [
        torch.cat([sentence_vectors(reader, reader.sentences([line])) for line in parallel_lines(parallel, name)], 1)
        for name, reader in readers(model, store).items()
    ]
    return [both_directions(a, b, [(row, row) for row in range(20)]) for a, b in zip(*vectors, strict=True)]


def by_layer(folder: Path, metric: str, *, update: int | None = None) -> list[float]:
    scores = [each for each in read_scores(folder) if (each.metric, each.update) == (metric, update)]
    assert [each.layer for each in scores] in ([None], list(range(5)))
    return [each.value for each in scores]


@pytest.mark.parametrize("is_untrained", [False, True])
def test_scores_are_those_of_the_chosen_model(is_untrained: bool, store: Store) -> None:
    stage = emergence(is_untrained=is_untrained)
    folder, model = store.folder(stage), store.folder(stage.encoder) / "best"
    assert by_layer(folder, "retrieval_p1") == pytest.approx(retrieval_by_layer(model, store))
    assert by_layer(folder, "retrieval_p1_chance") == [5.0]
    parameters = chosen_model(store.folder(stage.encoder)).parameters()
    assert by_layer(folder, "parameters") == [sum(each.numel() for each in parameters)]

    held_out = {
        language: list(NumberedText.read(store.folder(text)).lines(Split.TEST))
        for language, text in stage.texts.items()
    }
    met = {language: {word for line in lines for word in line} for language, lines in held_out.items()}
    assert stage.dictionary is not None
    listed = [(entry.source, entry.target) for entry in dictionary_entries(store.folder(stage.dictionary))]
    pairs = [(a, b) for a, b in listed if a in met["ela"] and b in met["oru"]]
    rows = {"ela": sorted({a for a, _ in pairs}), "oru": sorted({b for _, b in pairs})}
    ours, theirs = (
        word_type_vectors(
            reader,
            reader.whole_sentences_of_words(held_out[language]),
            types={word: row for row, word in enumerate(rows[language])},
        )[0]
        for language, reader in readers(model, store).items()
    )
    # Words spelled alike may be answers but are no questions.
    gold = [(rows["ela"].index(a), rows["oru"].index(b)) for a, b in pairs if a != b]
    assert 10 < len(gold) < len(pairs) < len(listed)
    expected = [both_directions(a, b, gold) for a, b in zip(ours, theirs, strict=True)]
    assert by_layer(folder, "word_translation_p1") == pytest.approx(expected, abs=1e-4)
    assert by_layer(folder, "word_translation_p1_chance") == pytest.approx([100 / len(rows["oru"])], abs=1e-4)
    assert by_layer(folder, "word_translation_coverage") == pytest.approx([100 * len(pairs) / len(listed)], abs=1e-4)


def test_held_out_lines_without_a_word_of_the_dictionary_are_refused(store: Store, tmp_path: Path) -> None:
    stage = emergence(is_untrained=True)
    cut = Cut(dev_lines=0, test_lines=1, seed=0)
    write_numbered_text(tmp_path, [".", "."], splitting=WHITESPACE["ela"], cut=cut)
    inputs = input_folders(stage, store) | {text.digest: tmp_path for text in stage.texts.values()}
    with pytest.raises(IsoglotError, match=r"raise change\.test_lines"):
        made_alone(stage, tmp_path / "made", inputs)


@pytest.mark.parametrize(
    ("more", "coverage"),
    [
        # The text has Paris alone: that is an entry in lower case, unless the dictionary has it with its capital.
        ([("paris", "maison")], 100.0),
        ([("paris", "maison"), ("Paris", "Paris")], 80.0),
    ],
)
def test_words_in_capitals_are_met_as_the_dictionary_has_them(
    more: list[tuple[str, str]], coverage: float, tmp_path: Path
) -> None:
    study = read_study(write_real_study(tmp_path))
    with (tmp_path / "muse.txt").open("a") as file:
        file.writelines(f"{a} {b}\n" for a, b in more)
    graph = ModelGraph(study=study, condition=CONDITIONS["default"], languages=("en", "fr"), seed=0)
    stage = graph.emergence(graph.untrained)
    store = made(stage, folder=tmp_path / "store")
    assert values(store.folder(stage))[None, "word_translation_coverage"] == coverage


def test_the_last_moment_of_training_is_the_chosen_model_of_the_other_exhibits(store: Store) -> None:
    found, damage = measurements(SHOWN, store)
    assert damage == []
    chosen = next(int(each.value) for each in found if each.metric == "chosen_update")
    for metric, exhibit in (("retrieval_p1", EMERGENCE), ("cka", "figure-7")):
        shown = [each for each in found if (each.exhibit, each.metric, each.variant) == (exhibit, metric, None)]
        key = ("sep-emb-l1-6", ("ela", "oru"))
        here = [each.value for each in shown if (each.condition, each.languages) == key]
        assert by_layer(store.folder(over_training()), metric, update=chosen) == here
        assert len(here) == 5
    assert {each.update for each in found if each.exhibit != GROWTH} == {None}
    at_moments = [each for each in found if each.exhibit == GROWTH and each.layer is not None]
    assert {each.update for each in at_moments} >= set(UPDATES)
    assert json.loads(at_moments[0].json_line())["update"] == 1


def test_earlier_moments_are_of_the_models_that_were_kept_then(store: Store) -> None:
    model, folder = store.folder(over_training().encoders["ela"]), store.folder(over_training())
    kept = kept_models(model, source="ela")
    assert list(kept)[: len(UPDATES)] == UPDATES
    expected = retrieval_by_layer(model / "intermediate" / "00000020", store)
    assert by_layer(folder, "retrieval_p1", update=20) == pytest.approx(expected)
    assert by_layer(folder, "cka", update=20) != by_layer(folder, "cka", update=1)


def test_scores_without_an_update_are_written_as_they_always_were(tmp_path: Path) -> None:
    write_scores(tmp_path, [Score(metric="las", value=1.00001, language="oru")])
    row = {"metric": "las", "value": 1.0, "layer": None, "language": "oru"}
    assert json.loads((tmp_path / SCORES).read_text()) == [row]
    write_scores(tmp_path, [Score(metric="cka", value=0.5, layer=2, update=7)])
    assert read_scores(tmp_path) == [Score(metric="cka", value=0.5, layer=2, update=7)]


def test_a_real_study_without_one_text_keeps_the_other_half(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    study = replace(read_study(path), exhibits=("growth",))
    stages = [cell.stage for cell in cells(study) if cell.exhibit == GROWTH]
    assert stages
    assert all(isinstance(each, StructureOverTraining) and each.similarity is None for each in stages)
    assert all(isinstance(each, StructureOverTraining) and each.retrieval is not None for each in stages)
    assert [each for each in gap_sentences(study) if "mapping.en-fr" in each and "(growth CKA)" in each]
    texts = ("retrieval.", "word-translation.")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(texts)))
    bare = replace(read_study(path), exhibits=("growth",))
    assert not [cell for cell in cells(bare) if cell.exhibit == GROWTH]
    assert "resources.retrieval.en-fr is missing" in "\n".join(gap_sentences(bare))
