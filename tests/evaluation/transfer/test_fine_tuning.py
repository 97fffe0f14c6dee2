"""Fine-tuning: the weights it changes, those it leaves alone, and the model it gives back."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from isoglot.corpora.vocabulary import PAD
from isoglot.evaluation.transfer.bio_tags import TaggedSentence
from isoglot.evaluation.transfer.fine_tuning import CHECKPOINTS, FineTuned, Report, forget_checkpoints
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.study.conditions import Separate
from isoglot.study.searches import Schedule
from tests.evaluation.transfer.tiny_transfer import (
    EVERYTHING,
    RUN,
    chain_trees,
    inferences,
    labelled,
    silent,
    tagged_sentences,
    tiny_encoder,
    tuner_of,
    unlearned_pairs,
    weights_of,
)

SEPARATIONS = {"nothing": Separate(), "everything": EVERYTHING}


def tuned(folder: Path, *, report: Report = silent, **changes: Any) -> FineTuned:
    run = replace(RUN, **{name: changes.pop(name) for name in list(changes) if hasattr(RUN, name)})
    return tuner_of(folder, run=run, **changes).finish(report)


def differing(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name, tensor in before.items() if not tensor.equal(after[name])}


def is_owned(name: str) -> bool:
    return ".owned_by.en." in name or ".owned_by.fr." in name


@pytest.mark.parametrize("separate", SEPARATIONS.values(), ids=SEPARATIONS)
def test_what_languages_own_stays_and_what_they_share_moves(separate: Separate, tmp_path: Path) -> None:
    before = weights_of(tiny_encoder(separate=separate))
    found = tuned(tmp_path, encoder=tiny_encoder(separate=separate))
    assert differing(before, weights_of(found.model.encoder)) == {name for name in before if not is_owned(name)}
    owned = [name for name in before if is_owned(name)]
    assert (len(owned) > 0) == (separate != Separate())
    table = found.model.encoder.embeddings.of("en").token.weight
    assert table[PAD].equal(tiny_encoder(separate=separate).embeddings.of("en").token.weight[PAD])


@pytest.mark.parametrize("separate", SEPARATIONS.values(), ids=SEPARATIONS)
def test_of_a_frozen_encoder_only_the_layer_on_top_learns(separate: Separate, tmp_path: Path) -> None:
    before = weights_of(tiny_encoder(separate=separate))
    tuner = tuner_of(tmp_path, run=replace(RUN, freeze_encoder=True), encoder=tiny_encoder(separate=separate))
    head = weights_of(tuner.model.head)
    tuner.advance(silent)
    assert differing(before, weights_of(tuner.model.encoder)) == set()
    assert differing(head, weights_of(tuner.model.head)) == set(head)


def test_it_learns(tmp_path: Path) -> None:
    """The first letter of a word decides its tag; words of the dev set were not in training."""
    found = tuned(tmp_path, train=tagged_sentences(100), dev=tagged_sentences(40, seed=1), epochs=4)
    assert found.labels == ("B-LOC", "B-PER", "I-PER", "O")
    assert [row["epoch"] for row in found.log] == [1, 2, 3, 4]
    assert found.log[-1]["loss"] < 0.2 * found.log[0]["loss"]
    assert max(row["dev"]["f1"] for row in found.log) > 90


def test_a_parser_learns_a_few_trees_by_heart_with_their_roots(tmp_path: Path) -> None:
    trees = chain_trees()
    case = {"task": PARSING, "train": trees, "dev": trees, "most_tokens": 40}
    found = tuned(tmp_path, epochs=40, learning_rate=5e-3, head_learning_rate=5e-3, **case)
    assert max(row["dev"]["las"] for row in found.log) == 100.0
    assert labelled(PARSING, trees, model=found.model, labels=found.labels) == trees


def test_the_best_epoch_is_kept_and_not_the_last(tmp_path: Path) -> None:
    train, dev = unlearned_pairs()
    run = replace(RUN, epochs=10, most_tokens=40)
    tuner = tuner_of(tmp_path, run=run, task=NLI, train=train, dev=dev)
    epochs = []
    for _ in range(run.epochs):
        tuner.advance(silent)
        epochs.append(weights_of(tuner.model))
    scores = [row["dev"]["accuracy"] for row in tuner.state.log]
    best = scores.index(max(scores))
    assert scores[-1] < scores[best] - 30
    assert differing(epochs[best], weights_of(tuner.best)) == set()
    assert differing(epochs[-1], weights_of(tuner.best)) == set(epochs[-1])
    assert tuner.state.best == scores[best]
    # And that is what is given back.
    found = tuner.finish(silent)
    assert differing(epochs[best], weights_of(found.model)) == set()
    assert NLI.scores(dev, labelled(NLI, dev, model=found.model, labels=found.labels)) == found.log[best]["dev"]


def test_of_equally_good_epochs_the_first_is_kept(tmp_path: Path) -> None:
    """No prediction is right where the dev set has labels alone that training never had."""
    dev = [TaggedSentence(words=("ab", "c"), tags=("B-ORG", "I-ORG"))]
    tuner = tuner_of(tmp_path, dev=dev)
    tuner.advance(silent)
    first = weights_of(tuner.model)
    tuner.advance(silent)
    assert [row["dev"]["f1"] for row in tuner.state.log] == [0.0, 0.0]
    assert differing(first, weights_of(tuner.best)) == set()
    assert NER.unseen_share(dev, tuner.labels) == 100.0


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    def run(name: str, **changes: Any) -> FineTuned:
        torch.rand(3)  # what else is drawn in the process must not matter
        return tuned(tmp_path / name, encoder=tiny_encoder(dropout=0.2), **changes)

    first, again, other = run("first"), run("again"), run("other", seed=1)
    assert first.log == again.log != other.log
    assert differing(weights_of(first.model), weights_of(again.model)) == set()
    assert differing(weights_of(first.model), weights_of(other.model)) == set(weights_of(first.model))


def test_dropout_is_on_in_training_and_drawn_by_the_number_of_the_update(tmp_path: Path) -> None:
    """The same batch at the same weights, as the rate is 0, gives another loss in each epoch."""

    def losses(rate: float) -> list[float]:
        case = {"task": NLI, "train": inferences(18), "dev": inferences(5), "encoder": tiny_encoder(dropout=rate)}
        found = tuned(tmp_path / str(rate), batch=18, learning_rate=0.0, head_learning_rate=0.0, **case)
        return [row["loss"] for row in found.log]

    assert losses(0.0) == pytest.approx([losses(0.0)[0]] * 3, rel=1e-5)
    dropped = losses(0.3)
    assert min(abs(a - b) for a, b in ((dropped[0], dropped[1]), (dropped[1], dropped[2]))) > 1e-3


def test_a_run_whose_first_epoch_diverges_has_nothing_to_show(tmp_path: Path) -> None:
    encoder = tiny_encoder()
    with torch.no_grad():
        encoder.embeddings.of("en").position.weight[1] = torch.nan
    found = tuned(tmp_path, encoder=encoder)
    assert (found.diverged, found.log) == (True, [])
    found = tuned(tmp_path, learning_rate=1e20, head_learning_rate=1e20, schedule=Schedule.CONSTANT)
    assert (found.diverged, found.log) == (True, [])


@pytest.mark.parametrize(("task", "rate"), [(NER, 1e39), (PARSING, 1e20)])
def test_a_model_that_the_last_update_of_an_epoch_spoilt_is_never_the_best(
    task: Task[Any], rate: float, tmp_path: Path
) -> None:
    """One update an epoch, so that its loss is still a number; weights may be finite where scores are not."""
    examples = tagged_sentences(18) if task is NER else chain_trees()
    rates = {"learning_rate": rate, "head_learning_rate": rate, "schedule": Schedule.CONSTANT}
    run = replace(RUN, batch=len(examples), most_tokens=40, **rates)
    tuner = tuner_of(tmp_path, run=run, task=task, train=examples, dev=examples)
    start = weights_of(tuner.best)
    tuner.advance(silent)
    assert tuner.state.diverged
    assert tuner.state.log == []
    assert differing(start, weights_of(tuner.best)) == set()


def test_what_was_best_before_a_run_diverged_stands(tmp_path: Path) -> None:
    tuner = tuner_of(tmp_path)
    tuner.advance(silent)
    good, log = weights_of(tuner.best), list(tuner.state.log)
    with torch.no_grad():
        tuner.model.head.output.bias.fill_(torch.nan)
    tuner.advance(silent)
    assert tuner.state.diverged
    assert tuner.state.log == log
    assert differing(good, weights_of(tuner.best)) == set()
    assert not tuned(tmp_path).diverged


def test_an_epoch_may_be_other_than_a_pass(tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    found = tuned(
        tmp_path, batch=2, epoch_examples=41, epochs=2, report=lambda done, updates: reports.append((done, updates))
    )
    assert reports == [(20, 42), (40, 42)]
    assert len(found.log) == 2


def test_no_checkpoint_is_written_within_a_short_run_and_none_is_left(tmp_path: Path) -> None:
    tuned(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / CHECKPOINTS).mkdir()
    (tmp_path / CHECKPOINTS / "latest.safetensors").touch()
    forget_checkpoints(tmp_path)
    forget_checkpoints(tmp_path)
    assert list(tmp_path.iterdir()) == []
