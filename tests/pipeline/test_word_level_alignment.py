"""The scores of Figure 4, against vectors that are gathered word by word from the same files; static vectors."""

import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.sentences import encoded_sentences
from isoglot.evaluation.geometry.word_translation import WordSpace, word_translation
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.source_files import source_file
from isoglot.pipeline.stages.word_level_alignment import (
    FastTextVectors,
    WordLevelAlignment,
    WordVectorFile,
    word_vectors,
)
from isoglot.store import Store
from isoglot.study.conditions import MONOLINGUAL
from isoglot.study.searches import FastText
from isoglot.study.study_file import parse_study
from tests.pipeline.making import made
from tests.pipeline.tiny_transfers import untrained

STUDY = """
name = "words"
scale = "demo"
languages = ["en", "fr"]
conditions = ["default"]
[change]
merges = 300
window = 16
dev_lines = 10
test_lines = 10
shape.layers = 2
shape.width = 8
shape.heads = 2
shape.feed_forward = 16
shape.positions = 16
alignment.most_words = 100
alignment.word_sentences = 120
[text]
en = "en.txt"
fr = "fr.txt"
[resources]
word-mapping.en-fr = "fit.txt"
word-translation.en-fr = "test.txt"
vectors.en = "en.vec"
vectors.fr = "fr.vec"
"""
LANGUAGES = ("en", "fr")
WORDS = [f"{first}{vowel}{end}" for first in "bdfgklmnprst" for vowel in "aeiou" for end in ("n", "tel")]
"""The words of both languages; those frequent in one are not in the other."""
MOST_WORDS, WORD_SENTENCES = 100, 120


def write_files(folder: Path) -> None:
    for seed, language in enumerate(LANGUAGES):
        random = np.random.default_rng(seed)
        words = random.permutation(WORDS)
        weight = 1 / np.arange(1, len(words) + 1)
        lines = []
        for length in [*random.integers(3, 12, 190), *random.integers(30, 50, 10)]:
            drawn = random.choice(words, length, p=weight / weight.sum())
            # Some words are always capitalised, all others sometimes.
            capital = (random.random(length) < 0.3) | np.isin(drawn, words[5:15])
            lines.append(" ".join(np.where(capital, np.char.capitalize(drawn), drawn)))
        random.shuffle(lines)
        (folder / f"{language}.txt").write_text("\n".join(lines) + "\n")
        rows = [
            f"{word} {' '.join(map(str, random.normal(size=8).round(3)))}\n"
            for word in WORDS
            if not word.startswith(("b", "t"))
        ]
        (folder / f"{language}.vec").write_text("".join(rows))
    pairs = [f"{word}\t{word}\n" for word in WORDS]
    (folder / "fit.txt").write_text("".join(pairs[:80]))
    extra = ["Ban\tTel Ban\n", "nowhere\tban\n", "ban tel\tban\n", f"{WORDS[-1].capitalize()}\t{WORDS[0]}\n"]
    (folder / "test.txt").write_text("".join([*pairs[80:], *extra]))


def stage_in(folder: Path, *, has_baseline: bool) -> WordLevelAlignment:
    write_files(folder)
    study = parse_study(STUDY, origin="words.toml", data=folder)
    stage = untrained(ModelPair.of(study, MONOLINGUAL, LANGUAGES, seed=0)).word_level_alignment()
    return stage if has_baseline else replace(stage, vectors={})


class Oracle:
    """One language's vectors, each sentence read alone."""

    def __init__(self, stage: WordLevelAlignment, store: Store, language: str) -> None:
        encoding = stage.encoders[language].streams[language].encoding(store.folder)
        bpe, vocabulary = encoding.bpe, encoding.vocabulary
        encoder = chosen_model(store.folder(stage.encoders[language])).encoder.eval()
        text = NumberedText.read(store.folder(stage.texts[language]))
        counts = text.word_counts(Split.TRAIN)
        self.embedding: dict[str, torch.Tensor] = {}
        for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            subwords = next(bpe.segment_all([word]))
            if len(subwords) == 1 and word.lower() not in self.embedding and len(self.embedding) < MOST_WORDS:
                (row,) = vocabulary.encode(language, subwords)
                self.embedding[word.lower()] = encoder.embeddings.of(language).token.weight[row].detach()
        lower: dict[str, int] = {}
        for word, count in counts.items():
            lower[word.lower()] = lower.get(word.lower(), 0) + count
        listed = sorted(lower, key=lambda word: (-lower[word], word))[:MOST_WORDS]
        states: dict[str, list[torch.Tensor]] = {}
        lines = list(text.lines(Split.TRAIN))[:WORD_SENTENCES]
        for sentence in encoded_sentences(lines, language=language, bpe=bpe, vocabulary=vocabulary):
            for piece in sentence.pieces(most_tokens=16):
                with torch.no_grad():
                    state_SLD = torch.cat(encoder.hidden_states(torch.tensor([piece.ids]), language=language))
                for place, word in enumerate(piece.words):
                    subwords = [at for at, owner in enumerate(piece.word_of) if owner == place]
                    states.setdefault(word.lower(), []).append(state_SLD[:, subwords].mean(1))
        self.contextual = {word: torch.stack(states[word]).mean(0) for word in listed if word in states}
        file = stage.vectors[language].file.path if stage.vectors else None
        rows = [line.split() for line in file.read_text().splitlines()] if file else []
        self.baseline = {word: torch.tensor(list(map(float, vector))) for word, *vector in rows}


def space(vectors: dict[str, torch.Tensor], words: list[str]) -> WordSpace:
    return WordSpace(words=words, vector_WD=torch.stack([vectors[word] for word in words]))


@pytest.mark.parametrize("has_baseline", [True, False])
def test_scores_are_those_of_the_words_that_both_have(tmp_path: Path, has_baseline: bool) -> None:
    stage = stage_in(tmp_path, has_baseline=has_baseline)
    store = made(stage, folder=tmp_path / "store")
    scores = read_scores(store.folder(stage))
    found = {(score.metric, score.layer, score.language): score.value for score in scores}
    assert len(found) == len(scores)

    sides = [Oracle(stage, store, language) for language in LANGUAGES]
    fit, test = (
        [tuple(line.lower().strip().split("\t")) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("fit.txt", "test.txt")
    )

    def check(name: str, layer: int | None, spaces: list[WordSpace]) -> None:
        expected = word_translation(*spaces, fit=fit, test=test, rounds=5)
        for values, at in ((expected.precision, layer), (expected.coverage, None)):
            for metric, value in values.items():
                assert found[f"{name}_{metric}", at, None] == pytest.approx(value, abs=1e-4), (name, metric, layer)

    for kind in ("embedding", "contextual"):
        own = [getattr(side, kind) for side in sides]
        words = [
            [word for word in vectors if not has_baseline or word in side.baseline]
            for vectors, side in zip(own, sides, strict=True)
        ]
        for language, vectors, kept in zip(LANGUAGES, own, words, strict=True):
            assert found[f"{kind}_words", None, language] == len(kept)
            assert found[f"{kind}_words_left_out", None, language] == len(vectors) - len(kept)
            assert (len(kept) < len(vectors)) is has_baseline
        if kind == "embedding":
            check(kind, None, [space(vectors, kept) for vectors, kept in zip(own, words, strict=True)])
        for layer in range(3) if kind == "contextual" else ():
            at_layer = [{word: state_SD[layer] for word, state_SD in vectors.items()} for vectors in own]
            check(kind, layer, [space(vectors, kept) for vectors, kept in zip(at_layer, words, strict=True)])
        if has_baseline:
            name = f"fasttext_of_{kind}_words"
            check(name, None, [space(side.baseline, kept) for side, kept in zip(sides, words, strict=True)])
    assert any(metric.startswith("fasttext") for metric, _, _ in found) is has_baseline
    assert found["contextual_coverage", None, None] < 100 * len(WORDS[80:]) / (len(WORDS[80:]) + 3)
    assert sum(found["contextual_p10", layer, None] for layer in range(3)) > 0


def test_the_first_vectors_of_a_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "wiki.fr.vec.gz"
    path.write_bytes(gzip.compress("4 2\nLe 1 2\nle 3 4\nÉté\u2028! 5 6\nla 7 8\n".encode()))
    stage = WordVectorFile(file=source_file(path, wanted_by="test"), most_words=2)
    words, vector_WD = word_vectors(made(stage, folder=tmp_path / "store").folder(stage))
    assert words == ["le", "été\u2028!"]
    assert vector_WD.tolist() == [[1, 2], [5, 6]]
    assert vector_WD.dtype == np.float32


def test_trained_vectors_are_of_the_training_lines(tmp_path: Path) -> None:
    pytest.importorskip("floret")
    write_files(tmp_path)
    study = parse_study(STUDY, origin="words.toml", data=tmp_path)
    text = ModelGraph(study=study, condition=MONOLINGUAL, languages=("en",), seed=0).texts["en"]
    training = FastText(dimensions=8, epochs=1, least_count=2, buckets=100)
    stage = FastTextVectors(text=text, training=training, most_words=1000)
    store = made(stage, folder=tmp_path / "store")
    words, vector_WD = word_vectors(store.folder(stage))
    lower: Counter[str] = Counter()
    for word, count in NumberedText.read(store.folder(text)).word_counts(Split.TRAIN).items():
        lower[word.lower()] += count
    assert set(words) == {word for word, count in lower.items() if count > 1}
    assert [lower[word] for word in words] == sorted((lower[word] for word in words), reverse=True)
    assert vector_WD.shape == (len(words), 8)
    assert "text.txt" not in {path.name for path in store.folder(stage).iterdir()}
