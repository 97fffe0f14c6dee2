"""The scores of a model, against loops over the vectors of the very same files."""

import json
from pathlib import Path

import pytest
import torch
from commands import Workplace
from oracles import precision_by_loops
from real_studies import write_real_study

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import Cut, NumberedText, Split, write_numbered_text
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors, word_type_vectors
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.dictionaries import dictionary_entries
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.parallel_text import parallel_lines
from isoglot.pipeline.stages.scores import SCORES, read_scores
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY
from isoglot.store import Store, Work, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.study import read_study


def scored(finished: Workplace, *, condition: str, untrained: bool) -> Emergence:
    found = [each for each in cells(finished.study) if (each.condition, each.seed) == (condition, 0)]
    stage = next(each.stage for each in found if bool(each.metric_suffix) is untrained)
    assert isinstance(stage, Emergence)
    return stage


def reader_of(stage: Emergence, *, language: str, store: Store) -> EncoderReader:
    return EncoderReader(
        chosen_model(store.folder(stage.encoder)).encoder,
        language=language,
        bpe=Bpe.read(store.folder(stage.bpe[language]) / MERGES),
        vocabulary=Vocabulary.read(store.folder(stage.vocabulary) / VOCABULARY),
        splitting=WordSplitting(splitter=Splitter.WHITESPACE, language=language),
        most_tokens=stage.encoder.run.window,
    )


def both_directions(a_ND: torch.Tensor, b_ND: torch.Tensor, pairs: list[tuple[int, int]]) -> float:
    a, b = ((vectors - vectors.mean(0)).tolist() for vectors in (a_ND, b_ND))
    return (precision_by_loops(a, b, pairs) + precision_by_loops(b, a, [(y, x) for x, y in pairs])) / 2


def by_layer(scores: list[dict[str, float]], metric: str) -> list[float]:
    return [each["value"] for each in scores if each["metric"] == metric]


@pytest.mark.parametrize(("condition", "untrained"), [("sep-emb-l1-6", False), ("default", True)])
def test_scores_are_those_of_the_chosen_model(finished: Workplace, condition: str, untrained: bool) -> None:
    store = finished.store
    stage = scored(finished, condition=condition, untrained=untrained)
    scores = json.loads((store.folder(stage) / SCORES).read_text())
    model = chosen_model(store.folder(stage.encoder))
    parallel = store.folder(stage.parallel)

    readers = {language: reader_of(stage, language=language, store=store) for language in stage.languages}
    by_language = [
        sentence_vectors(reader, reader.sentences(parallel_lines(parallel, language)))
        for language, reader in readers.items()
    ]
    same_row = [(row, row) for row in range(20)]
    expected = [both_directions(a, b, same_row) for a, b in zip(*by_language, strict=True)]
    assert by_layer(scores, "retrieval_p1") == pytest.approx(expected)
    assert by_layer(scores, "retrieval_p1_chance") == [5.0]
    assert by_layer(scores, "parameters") == [sum(each.numel() for each in model.parameters())]

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
        for language, reader in readers.items()
    )
    # Words spelled alike may be answers and are not asked for.
    gold = [(rows["ela"].index(a), rows["oru"].index(b)) for a, b in pairs if a != b]
    assert 10 < len(gold) < len(pairs) < len(listed)
    assert by_layer(scores, "word_translation_p1") == pytest.approx(
        [both_directions(a, b, gold) for a, b in zip(ours, theirs, strict=True)], abs=1e-4
    )
    assert by_layer(scores, "word_translation_p1_chance") == pytest.approx([100 / len(rows["oru"])], abs=1e-4)
    assert by_layer(scores, "word_translation_coverage") == pytest.approx([100 * len(pairs) / len(listed)], abs=1e-4)


def test_held_out_lines_without_a_word_of_the_dictionary_are_refused(finished: Workplace, tmp_path: Path) -> None:
    stage, store = scored(finished, condition="default", untrained=True), finished.store
    folders = {each.digest: store.folder(each) for each in stage.inputs.values()}
    empty = tmp_path / "text"
    empty.mkdir()
    write_numbered_text(
        empty,
        [".", "."],
        splitting=WordSplitting(splitter=Splitter.WHITESPACE, language="x"),
        cut=Cut(dev_lines=0, test_lines=1, seed=0),
    )
    for text in stage.texts.values():
        folders[text.digest] = empty
    with pytest.raises(IsoglotError, match=r"raise change\.test_lines"):
        stage.make(Work(folder=tmp_path, input_folders=folders, progress=lambda *_: None))


@pytest.mark.parametrize(
    ("more", "coverage"),
    [
        ([], 100.0),
        # The text has Paris alone: that is an entry in lower case, unless the dictionary has it with its capital.
        ([("paris", "maison")], 100.0),
        ([("paris", "maison"), ("Paris", "Paris")], 80.0),
        ([("nowhere", "maison")], 75.0),
    ],
)
def test_words_in_capitals_are_met_as_the_dictionary_has_them(
    more: list[tuple[str, str]], coverage: float, tmp_path: Path
) -> None:
    study = read_study(write_real_study(tmp_path))
    with (tmp_path / "muse.txt").open("a") as file:
        file.writelines(f"{a} {b}\n" for a, b in more)
    graph = ModelGraph(study=study, condition=CONDITIONS["default"], languages=("en", "fr"), seed=0)
    stage, store = graph.emergence(graph.untrained), Store(tmp_path / "store")
    assert run_plan([stage], store).failed == {}
    found = {score.metric: score.value for score in read_scores(store.folder(stage)) if score.layer is None}
    assert found["word_translation_coverage"] == coverage
