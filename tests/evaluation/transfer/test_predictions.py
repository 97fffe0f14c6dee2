"""Each word has the label of the one window that scores it, whatever else is read beside it; and its scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.corpora.readers.conllu import Tree
from isoglot.evaluation.transfer import predictions as predictions_module
from isoglot.evaluation.transfer.model import TaskModel
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.task import Task
from isoglot.model.encoder import Encoder
from tests.evaluation.transfer import tiny_transfer as tiny

TAGS = ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")
RELATIONS = ("det", "nsubj", "obj", "root")


def unlabelled(words: tuple[str, ...]) -> Tree:
    size = len(words)
    return Tree(words=words, upos=("X",) * size, heads=(0, *(1,) * (size - 1)), relations=("?",) * size)


def unlabelled_trees(count: int, *, most_words: int) -> list[Tree]:
    random = np.random.default_rng(0)
    return [unlabelled(tiny.random_words(random, count=random.integers(1, most_words + 1))) for _ in range(count)]


def model_of(task: Task[Any], labels: Sequence[str], *, encoder: Encoder | None = None) -> TaskModel:
    """With a random layer on top, far from indifferent."""
    encoder = encoder or tiny.tiny_encoder(noise=1.0)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        head = task.head(width=encoder.shape.width, labels=labels)
        with torch.no_grad():
            for parameter in head.parameters():
                parameter.normal_(std=0.4)
    return TaskModel(encoder, head, freeze_encoder=False)


CASES = {
    "ner": (tiny.NER, tiny.tagged_sentences(30, most_words=6), TAGS),
    "nli": (tiny.NLI, tiny.inferences(30), tiny.LABELS),
    "parsing": (tiny.PARSING, unlabelled_trees(30, most_words=6), RELATIONS),
    "pos": (tiny.POS, unlabelled_trees(30, most_words=6), ("ADJ", "NOUN", "X")),
}


@pytest.mark.parametrize("name", CASES)
def test_other_sequences_and_padding_change_no_prediction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, examples, labels = CASES[name]
    model = model_of(task, labels)
    alone = [tiny.labelled(task, [example], model=model, labels=labels)[0] for example in examples]
    assert tiny.labelled(task, examples, model=model, labels=labels) == alone
    assert tiny.labelled(task, examples[::-1], model=model, labels=labels) == alone[::-1]
    monkeypatch.setattr(predictions_module, "FEWEST_TOKENS", 24)  # of one or two sequences
    assert tiny.labelled(task, examples, model=model, labels=labels) == alone
    assert len({label for example in alone for label in task.gold_labels(example)}) > 1
    assert [task.segments(example) for example in alone] == [task.segments(example) for example in examples]
    assert tiny.labelled(task, alone, model=model, labels=labels) == alone, "gold labels are not looked at"


@torch.no_grad()
def test_words_of_overlapping_windows_are_labelled_where_they_are_new() -> None:
    """Window after window by itself, of which only what is new is kept."""
    model = model_of(tiny.POS, TAGS).eval()
    tree = unlabelled(tiny.random_words(np.random.default_rng(3), count=30))
    sequences = encoded(tiny.POS, [tree], encoding=tiny.letter_encoding(), most_tokens=12)
    assert len(sequences) > 4
    tags: list[str] = []
    in_context = []
    for n, window in enumerate(sequences.window_N):
        token_1L, point_1L = (
            torch.from_numpy(each[sequences.start_N[n] :][: sequences.length_N[n]])[None]
            for each in (sequences.token_T, sequences.point_T)
        )
        label_P, _ = model.score(token_1L, point_BL=point_1L, language="en")
        here = [TAGS[label] for label in label_P.tolist()]
        in_context += [(place + window.first, tag) for place, tag in enumerate(here[: window.scored - window.first])]
        tags += here[window.scored - window.first :]
    (found,) = tiny.labelled(tiny.POS, [tree], model=model, labels=TAGS, most_tokens=12)
    assert found.upos == tuple(tags)
    # As context they were labelled otherwise, at least once.
    assert any(tags[word] != tag for word, tag in in_context)


@torch.no_grad()
def test_heads_of_later_parts_are_counted_through_and_their_roots_hang_from_the_first() -> None:
    tree = unlabelled(tiny.random_words(np.random.default_rng(4), count=20))
    model = model_of(tiny.PARSING, RELATIONS).eval()
    windows = encoded(tiny.PARSING, [tree], encoding=tiny.letter_encoding(), most_tokens=14).window_N
    assert len(windows) > 2
    alone = [unlabelled(tree.words[window.first : window.stop]) for window in windows]
    firsts = [window.first for window in windows]
    parts = list(zip(firsts, tiny.labelled(tiny.PARSING, alone, model=model, labels=RELATIONS), strict=True))
    (found,) = tiny.labelled(tiny.PARSING, [tree], model=model, labels=RELATIONS, most_tokens=14)
    root = parts[0][1].heads.index(0) + 1
    expected = [(root if first else 0) if head == 0 else head + first for first, part in parts for head in part.heads]
    assert found.heads == tuple(expected)
    of_words = [relation for _, part in parts for relation in part.relations]
    is_hung = [head == 0 and first > 0 for first, part in parts for head in part.heads]
    assert sum(is_hung) == len(parts) - 1
    for relation, expected_relation, hung in zip(found.relations, of_words, is_hung, strict=True):
        assert relation == ("parataxis" if hung else expected_relation)


def swapped(encoder: Encoder) -> Encoder:
    """With what English owned given to French, and the other way round."""
    other = tiny.tiny_encoder(separate=encoder.separate)
    names = {
        name: name.replace(".en.", ".?.").replace(".fr.", ".en.").replace(".?.", ".fr.") for name in other.state_dict()
    }
    other.load_state_dict({names[name]: tensor for name, tensor in encoder.state_dict().items()})
    return other.eval()


@pytest.mark.parametrize("name", CASES)
def test_a_language_is_read_by_what_it_owns(name: str) -> None:
    task, examples, labels = CASES[name]
    encoder = tiny.tiny_encoder(separate=tiny.EVERYTHING, noise=1.0)
    straight, crossed = (model_of(task, labels, encoder=each) for each in (encoder, swapped(encoder)))
    english, french = (
        tiny.labelled(task, examples, model=straight, labels=labels, language=each) for each in ("en", "fr")
    )
    assert english != french
    assert tiny.labelled(task, examples, model=crossed, labels=labels, language="fr") == english
    assert tiny.labelled(task, examples, model=crossed, labels=labels, language="en") == french


def test_prediction_is_without_dropout_and_leaves_no_gradients() -> None:
    task, examples, labels = CASES["ner"]
    model = model_of(task, labels, encoder=tiny.tiny_encoder(dropout=0.5, noise=1.0)).train()
    first = tiny.labelled(task, examples, model=model, labels=labels)
    assert tiny.labelled(task, examples, model=model.train(), labels=labels) == first
    assert all(parameter.grad is None for parameter in model.parameters())
    assert first == tiny.labelled(task, examples, model=model_of(task, labels), labels=labels)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_scores_are_of_what_is_predicted_in_the_language_of_the_encoding(language: str, tmp_path: Path) -> None:
    found = tiny.tuner_of(tmp_path, encoder=tiny.tiny_encoder(separate=tiny.EVERYTHING)).finish(tiny.silent)
    unseen = TaggedSentence(words=("abab", "cc", "dede", "ff"), tags=("B-ORG", "I-ORG", "O", "B-PER"))
    gold = [unseen, *tiny.tagged_sentences(9, most_words=2)]
    how = {"model": found.model, "labels": found.labels, "most_tokens": 9}
    result = evaluate(tiny.NER, gold, encoding=tiny.letter_encoding(language), machine=tiny.CPU, **how)
    assert result.predicted == tiny.labelled(tiny.NER, gold, language=language, **how)
    entities = sum(tag != "O" for each in gold for tag in each.tags)
    expected = tiny.NER.scores(gold, result.predicted) | {"in_parts": 10.0, "unseen_labels": 100 * 2 / entities}
    assert result.scores == pytest.approx(expected)
