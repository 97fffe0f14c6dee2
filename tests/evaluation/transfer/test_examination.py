"""Scores of a model on test examples are those of what it says, with what holds it back beside them."""

from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.evaluation.transfer.bio_files import TaggedSentence
from isoglot.evaluation.transfer.predictions import evaluate, predictions
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from tests.evaluation.transfer.tiny_transfer import (
    CPU,
    EVERYTHING,
    letter_encoding,
    silent,
    tagged_sentences,
    tiny_encoder,
    tuner_of,
)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_scores_are_of_what_is_said_in_the_language_of_the_encoding(language: str, tmp_path: Path) -> None:
    found = tuner_of(tmp_path, encoder=tiny_encoder(separate=EVERYTHING)).finish(silent)
    unseen = TaggedSentence(words=("ab", "c", "de", "f"), tags=("B-ORG", "I-ORG", "O", "B-PER"))
    gold = [replace(unseen, words=tuple(f"{word}{word}" for word in unseen.words)), *tagged_sentences(9, most_words=2)]
    result = evaluate(
        NER,
        gold,
        model=found.model,
        labels=found.labels,
        encoding=letter_encoding(language),
        most_tokens=9,
        machine=CPU,
    )
    sequences = encoded(NER, gold, encoding=letter_encoding(language), most_tokens=9)
    said = predictions(NER, gold, sequences, model=found.model, labels=found.labels, language=language, machine=CPU)
    assert result.said == said
    entities = sum(tag != "O" for each in gold for tag in each.tags)
    expected = NER.scores(gold, said) | {"in_parts": 10.0, "unseen_labels": 100 * 2 / entities}
    assert result.scores == pytest.approx(expected)
