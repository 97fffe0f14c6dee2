"""Fine-tuning: the weights it changes, those it leaves alone, and the model it gives back."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.corpora.vocabulary import PAD
from isoglot.evaluation.transfer.fine_tuning import FineTuned, Report
from isoglot.evaluation.transfer.task import Task
from isoglot.study.searches import Schedule
from isoglot.study.separate import Separate
from tests.evaluation.transfer import tiny_transfer as tiny


def tuned(folder: Path, *, report: Report = tiny.silent, **changes: Any) -> FineTuned:
    run = replace(tiny.RUN, **{name: changes.pop(name) for name in list(changes) if hasattr(tiny.RUN, name)})
    return tiny.tuner_of(folder, run=run, **changes).finish(report)


def differing(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name, tensor in before.items() if not tensor.equal(after[name])}


def is_owned(name: str) -> bool:
    return ".owned_by.en." in name or ".owned_by.fr." in name


@pytest.mark.parametrize("separate", [Separate(), tiny.EVERYTHING], ids=["nothing", "everything"])
@pytest.mark.parametrize("freeze_encoder", [False, True])
def test_what_languages_own_or_is_frozen_stays_and_the_rest_moves(
    separate: Separate, freeze_encoder: bool, tmp_path: Path
) -> None:
    encoder = tiny.tiny_encoder(separate=separate)
    tuner = tiny.tuner_of(tmp_path, run=replace(tiny.RUN, freeze_encoder=freeze_encoder), encoder=encoder)
    before, padding_D = tiny.weights_of(tuner.model), encoder.embeddings.of("en").token.weight[PAD].clone()
    tuner.advance(tiny.silent)
    stays = {name for name in before if name.startswith("encoder.") and (freeze_encoder or is_owned(name))}
    assert any(map(is_owned, before)) == (separate != Separate())
    assert differing(before, tiny.weights_of(tuner.model)) == before.keys() - stays
    assert tuner.model.encoder.embeddings.of("en").token.weight[PAD].equal(padding_D)


def test_it_learns(tmp_path: Path) -> None:
    """The first letter of a word decides its tag; words of the dev set were not in training."""
    found = tuned(tmp_path, train=tiny.tagged_sentences(100), dev=tiny.tagged_sentences(40, seed=1), epochs=4)
    assert found.labels == ("B-LOC", "B-PER", "I-PER", "O")
    assert [row["epoch"] for row in found.log] == [1, 2, 3, 4]
    assert found.log[-1]["loss"] < 0.2 * found.log[0]["loss"]
    assert max(row["dev"]["f1"] for row in found.log) > 90


def test_a_parser_learns_a_few_trees_by_heart_with_their_roots(tmp_path: Path) -> None:
    trees = tiny.chain_trees()
    case = {"task": tiny.PARSING, "train": trees, "dev": trees, "most_tokens": 40}
    found = tuned(tmp_path, epochs=40, learning_rate=5e-3, head_learning_rate=5e-3, **case)
    assert max(row["dev"]["las"] for row in found.log) == 100.0
    assert tiny.labelled(tiny.PARSING, trees, model=found.model, labels=found.labels) == trees


def test_the_best_epoch_is_kept_and_not_the_last(tmp_path: Path) -> None:
    train, dev = tiny.unlearned_pairs()
    run = replace(tiny.RUN, epochs=10, most_tokens=40)
    tuner = tiny.tuner_of(tmp_path, run=run, task=tiny.NLI, train=train, dev=dev)
    epochs = []
    for _ in range(run.epochs):
        tuner.advance(tiny.silent)
        epochs.append(tiny.weights_of(tuner.model))
    scores = [row["dev"]["accuracy"] for row in tuner.state.log]
    best = scores.index(max(scores))
    assert scores[-1] < scores[best] - 30
    assert differing(epochs[best], tiny.weights_of(tuner.best)) == set()
    assert differing(epochs[-1], tiny.weights_of(tuner.best)) == set(epochs[-1])
    assert tuner.state.best == scores[best]
    # And that is what is given back.
    found = tuner.finish(tiny.silent)
    assert differing(epochs[best], tiny.weights_of(found.model)) == set()
    assert (
        tiny.NLI.scores(dev, tiny.labelled(tiny.NLI, dev, model=found.model, labels=found.labels))
        == found.log[best]["dev"]
    )


def test_of_equally_good_epochs_the_first_is_kept(tmp_path: Path) -> None:
    """No prediction is right where the dev set has labels alone that training never had."""
    dev = [TaggedSentence(words=("ab", "c"), tags=("B-ORG", "I-ORG"))]
    tuner = tiny.tuner_of(tmp_path, dev=dev)
    tuner.advance(tiny.silent)
    first = tiny.weights_of(tuner.model)
    tuner.advance(tiny.silent)
    assert [row["dev"]["f1"] for row in tuner.state.log] == [0.0, 0.0]
    assert differing(first, tiny.weights_of(tuner.best)) == set()
    assert tiny.NER.unseen_share(dev, tuner.labels) == 100.0


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    def run(name: str, **changes: Any) -> FineTuned:
        torch.rand(3)  # what else is drawn in the process must not matter
        return tuned(tmp_path / name, encoder=tiny.tiny_encoder(dropout=0.2), **changes)

    first, again, other = run("first"), run("again"), run("other", seed=1)
    assert first.log == again.log != other.log
    assert differing(tiny.weights_of(first.model), tiny.weights_of(again.model)) == set()
    assert differing(tiny.weights_of(first.model), tiny.weights_of(other.model)) == set(tiny.weights_of(first.model))


def test_dropout_is_on_in_training_and_drawn_by_the_number_of_the_update(tmp_path: Path) -> None:
    """The same batch at the same weights, as the rate is 0, gives another loss in each epoch."""

    def losses(rate: float) -> list[float]:
        case = {"task": tiny.NLI, "train": tiny.inferences(18), "dev": tiny.inferences(5)}
        rates = {"learning_rate": 0.0, "head_learning_rate": 0.0, "batch": 18}
        found = tuned(tmp_path / str(rate), encoder=tiny.tiny_encoder(dropout=rate), **rates, **case)
        return [row["loss"] for row in found.log]

    assert losses(0.0) == pytest.approx([losses(0.0)[0]] * 3, rel=1e-5)
    dropped = losses(0.3)
    assert min(abs(a - b) for a, b in pairwise(dropped)) > 1e-3


@pytest.mark.parametrize(
    ("task", "rate", "one_update"), [(tiny.NER, 1e20, False), (tiny.NER, 1e39, True), (tiny.PARSING, 1e20, True)]
)
def test_a_run_that_diverges_in_its_first_epoch_has_nothing_to_show(
    task: Task[Any], rate: float, one_update: bool, tmp_path: Path
) -> None:
    """With one update an epoch its loss is still a number; weights may be finite where scores are not."""
    examples = tiny.tagged_sentences(18) if task is tiny.NER else tiny.chain_trees()
    rates = {"learning_rate": rate, "head_learning_rate": rate, "schedule": Schedule.CONSTANT}
    run = replace(tiny.RUN, batch=len(examples) if one_update else 4, most_tokens=40, **rates)
    tuner = tiny.tuner_of(tmp_path, run=run, task=task, train=examples, dev=examples)
    start = tiny.weights_of(tuner.best)
    found = tuner.finish(tiny.silent)
    assert (found.diverged, found.log) == (True, [])
    assert differing(start, tiny.weights_of(found.model)) == set()


def test_what_was_best_before_a_run_diverged_stands(tmp_path: Path) -> None:
    tuner = tiny.tuner_of(tmp_path)
    tuner.advance(tiny.silent)
    good, log = tiny.weights_of(tuner.best), list(tuner.state.log)
    with torch.no_grad():
        tuner.model.head.output.bias.fill_(torch.nan)
    tuner.advance(tiny.silent)
    assert (tuner.state.diverged, tuner.state.log) == (True, log)
    assert differing(good, tiny.weights_of(tuner.best)) == set()


def test_an_epoch_may_be_other_than_a_pass(tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    found = tuned(tmp_path, batch=2, epoch_examples=41, epochs=2, report=lambda *done: reports.append(done))
    assert reports == [(20, 42), (40, 42)]
    assert len(found.log) == 2


def test_no_checkpoint_is_written_within_a_short_run(tmp_path: Path) -> None:
    tuned(tmp_path)
    assert list(tmp_path.iterdir()) == []
