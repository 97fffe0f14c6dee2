"""Statistics of a vocabulary, against counts by hand over the very same streams."""

from collections import Counter
from pathlib import Path

import pytest
from real_studies import write_real_study

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import END, UNK
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.scores import read_scores
from isoglot.store import Store, run_plan
from isoglot.study.conditions import condition_named
from isoglot.study.study import read_study


@pytest.mark.parametrize("name", ["default", "no-anchors", "sep-emb", "extra-anchors", "anchors-50"])
def test_statistics_are_counted_on_the_streams(name: str, tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    # A letter that the training lines do not have.
    with (tmp_path / "text/fr-2.txt").open("a", encoding="utf-8") as file:
        file.writelines(f"le ch{chr(0x100 + number)}t\n" for number in range(60))
    graph = ModelGraph(study=study, condition=condition_named(name), languages=("en", "fr"), seed=0)
    store, stage = Store(tmp_path / "store"), graph.vocabulary_statistics
    assert run_plan([stage], store).failed == {}
    scores = {(score.metric, score.language): score.value for score in read_scores(store.folder(stage))}

    streams = {language: TokenStream.open(store.folder(each)) for language, each in graph.streams.items()}
    counts = {language: Counter(stream.ids(Split.TRAIN).tolist()) for language, stream in streams.items()}
    for each in counts.values():
        del each[END]
    shared = set() if name == "sep-emb" else counts["en"].keys() & counts["fr"].keys()
    assert scores["anchor_types", None] == len(shared)
    assert (len(shared) > 0) is (name not in ("no-anchors", "sep-emb"))
    for language, count in counts.items():
        words = NumberedText.read(store.folder(graph.texts[language])).num_words(Split.TRAIN)
        dev = streams[language].ids(Split.DEV).tolist()
        expected = {
            "training_words": words,
            "training_tokens": count.total(),
            "tokens_per_word": count.total() / words,
            "subword_types": len(count),
            "anchor_token_share": 100 * sum(count[id] for id in shared) / count.total(),
            "unknown_share_held_out": 100 * dev.count(UNK) / (len(dev) - dev.count(END)),
        }
        if name == "extra-anchors":
            text = SwitchableText.read(store.folder(graph.switchable[language]))
            expected["dictionary_word_share"] = 100 * text.known_share()
        assert {metric: scores[metric, language] for metric in expected} == pytest.approx(expected, abs=1e-3)
    assert scores["unknown_share_held_out", "fr"] > 0
