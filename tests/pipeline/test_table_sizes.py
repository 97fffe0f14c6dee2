"""Sizes of tables: those of a built vocabulary, and guesses that it does not outgrow."""

from pathlib import Path

import pytest
from commands import Workplace
from real_studies import write_real_study

from isoglot.corpora.vocabulary import SPECIALS, Vocabulary
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.models import AnyEncoder, PretrainedEncoder, UntrainedEncoder
from isoglot.pipeline.stages.table_sizes import CHARACTERS_OF_A_TEXT, table_sizes
from isoglot.pipeline.stages.vocabulary import VOCABULARY
from isoglot.store import Store, inputs_first
from isoglot.study.conditions import condition_named
from isoglot.study.study import Study, read_study


def encoders(study: Study) -> list[AnyEncoder]:
    stages = inputs_first(targets(study)).values()
    return [stage for stage in stages if isinstance(stage, UntrainedEncoder | PretrainedEncoder)]


def test_of_a_built_vocabulary(finished: Workplace) -> None:
    found = {}
    for encoder in encoders(finished.study):
        sizes = table_sizes(encoder, finished.store)
        assert sizes.are_known
        built = next(iter(encoder.streams.values())).vocabulary
        vocabulary = Vocabulary.read(finished.store.folder(built) / VOCABULARY)
        assert sizes.by_language == {language: vocabulary.size(language) for language in ("ela", "oru")}
        found[encoder.label.partition(",")[0]] = sizes.by_language
    assert found["sep-emb-l1-6"]["ela"] < found["no-anchors"]["ela"] == found["no-anchors"]["oru"]


def test_a_guess_before_is_not_outgrown_and_not_far_off(finished: Workplace, tmp_path: Path) -> None:
    for encoder in encoders(finished.study):
        guess = table_sizes(encoder, Store(tmp_path / "store"))
        known = table_sizes(encoder, finished.store)
        assert not guess.are_known
        for language in ("ela", "oru"):
            assert known.by_language[language] <= guess.by_language[language] < 2 * known.by_language[language]


@pytest.mark.parametrize(
    ("condition", "merges", "texts"), [("default", 1, 2), ("no-anchors", 1, 2), ("sep-emb", 0.5, 1)]
)
def test_real_text_has_many_more_characters(condition: str, merges: float, texts: int, tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    graph = ModelGraph(study=study, condition=condition_named(condition), languages=("en", "fr"), seed=0)
    size = len(SPECIALS) + merges * study.scale.merges + texts * CHARACTERS_OF_A_TEXT
    assert table_sizes(graph.pretrained, Store(tmp_path / "store")).by_language == {"en": size, "fr": size}
