"""Pairs of sentences whose inference follows from their meanings, and not from which words they hold."""

# B = pairs, S = slots
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.synthetic.edits import ADJECTIVES, HEADS, Edit, edited
from isoglot.corpora.synthetic.inventory import ABSENT, Purpose, generator, inventory
from isoglot.corpora.synthetic.linearisation import realise
from isoglot.corpora.synthetic.meanings import Meanings, antonyms, hypernyms, meanings_from
from isoglot.corpora.synthetic.structures import LENGTHS, NEGATION, NUM_SLOTS, Flags
from isoglot.errors import IsoglotError
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import SyntheticLanguage, World

EDIT_WEIGHTS = {
    Edit.NONE: 1,
    Edit.DROP_ADJECTIVE: 2,
    Edit.DROP_OBLIQUE: 2,
    Edit.HYPERNYM: 2,
    Edit.ANTONYM: 4,
    Edit.OTHER_ADJECTIVE: 2,
    Edit.SWAP_SUBJECT_AND_OBJECT: 6,
}


class Label(StrEnum):
    """What a premise says about its hypothesis."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, kw_only=True)
class EntailmentPair:
    """Two sentences of one language and the gold label."""

    premise: str
    hypothesis: str
    label: Label


@dataclass(frozen=True, kw_only=True)
class Inferences:
    """Meanings of premises and hypotheses, row by row, and their labels."""

    premises: Meanings
    hypotheses: Meanings
    labels: NDArray[np.str_]


def entailment_pairs(
    language: SyntheticLanguage, *, world: World, count: int, seed: int, most_words: int | None = None
) -> list[EntailmentPair]:
    """As many of each label; for one seed, pair i means the same in every language.

    Premise and hypothesis together have no more than most_words words; None: sentences as long as those of text.
    """
    inferences = draw_inferences(world, count=count, seed=seed, most_words=most_words)
    premises = realise(inferences.premises, language, world=world)
    hypotheses = realise(inferences.hypotheses, language, world=world)
    return [
        EntailmentPair(premise=premise, hypothesis=hypothesis, label=Label(label))
        for premise, hypothesis, label in zip(premises, hypotheses, inferences.labels, strict=True)
    ]


def draw_inferences(world: World, *, count: int, seed: int, most_words: int | None = None) -> Inferences:
    """As many of each label, in random order."""
    quotas = {label: (count + i) // len(Label) for i, label in enumerate(Label)}
    num_candidates = 8 * count + 256
    while True:
        premises, hypotheses = candidate_pairs(world, count=num_candidates, seed=seed, most_words=most_words)
        label_B = inferred_labels(premises, hypotheses, world=world)
        rows = np.concatenate([np.flatnonzero(label_B == label)[:quota] for label, quota in quotas.items()])
        if len(rows) == count:
            rows = generator(world, Purpose.ENTAILMENT_ORDER, seed).permutation(rows)
            return Inferences(premises=premises[rows], hypotheses=hypotheses[rows], labels=label_B[rows])
        num_candidates *= 2


def candidate_pairs(world: World, *, count: int, seed: int, most_words: int | None = None) -> tuple[Meanings, Meanings]:
    """A meaning and an edit of it, in either order, each negated or not.

    Every edit meets every order and every negation, so that none of them alone tells the label: where a big dog barks
    a dog barks, but where no dog barks no big dog does.
    """
    random = generator(world, Purpose.ENTAILMENT, seed)
    lengths = LENGTHS if most_words is None else lengths_within(most_words)
    meanings = meanings_from(random, world=world, count=count, domain=Domain.MAIN, lengths=lengths)
    weight = np.array([EDIT_WEIGHTS[edit] for edit in Edit])
    edits, done_B = edited(
        meanings, random.choice(len(Edit), size=count, p=weight / weight.sum()), random=random, world=world
    )
    if most_words is not None:
        done_B &= fits(meanings, edits, most_words=most_words)
    exchanged_B = random.random(count) < 0.5
    sides = []
    for here, there in ((meanings, edits), (edits, meanings)):
        concept_BS = np.where(exchanged_B[:, None], there.concept_BS, here.concept_BS)
        concept_BS[:, NEGATION] = np.where(random.random(count) < 0.5, inventory(world).negation, ABSENT)
        plural_BP = np.where(exchanged_B[:, None], there.plural_BP, here.plural_BP)
        sides.append(Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=meanings.past_B)[done_B])
    return sides[0], sides[1]


def lengths_within(most_words: int) -> range:
    """How long a sentence to draw: about half of the words, since few longer ones would leave room for another."""
    least = 2 * (LENGTHS.start + 1)
    if most_words < least:
        raise IsoglotError(f"a pair of sentences needs {least} words, not {most_words}; let it have more")
    return range(LENGTHS.start, min(LENGTHS.stop, most_words // 2 + 2))


def fits(a: Meanings, b: Meanings, *, most_words: int) -> Flags:
    """Whether the pair is short enough, negated or not: were room made for a negation, length would tell of it."""
    filled_BS = np.concatenate([a.concept_BS, b.concept_BS], axis=1) != ABSENT
    filled_BS[:, [NEGATION, NUM_SLOTS + NEGATION]] = True
    fits_B: Flags = filled_BS.sum(1) <= most_words
    return fits_B


def inferred_labels(premises: Meanings, hypotheses: Meanings, *, world: World) -> NDArray[np.str_]:
    """A positive sentence claims an event with all it says of it; a negated one denies that there is any such event."""
    forward_B = entails(premises, hypotheses, world=world)
    backward_B = entails(hypotheses, premises, world=world)
    opposed_B = entails(premises, hypotheses, world=world, or_antonyms=True) & ~forward_B
    denied_B, denies_B = (side.concept_BS[:, NEGATION] != ABSENT for side in (premises, hypotheses))
    contradiction_B = np.where(denied_B == denies_B, opposed_B & ~denied_B, np.where(denied_B, backward_B, forward_B))
    entailment_B = (denied_B == denies_B) & np.where(denied_B, backward_B, forward_B)
    return np.select([contradiction_B, entailment_B], [Label.CONTRADICTION, Label.ENTAILMENT], Label.NEUTRAL)


def entails(specific: Meanings, general: Meanings, *, world: World, or_antonyms: bool = False) -> Flags:
    """Whether specific says all that general says, negation aside, perhaps with hyponyms of its nouns."""
    said_BS, asked_BS = specific.concept_BS, general.concept_BS
    follows_BS = (asked_BS == ABSENT) | (asked_BS == said_BS)
    follows_BS[:, NEGATION] = True
    follows_BS[:, HEADS] |= hypernyms(world)[said_BS[:, HEADS]] == asked_BS[:, HEADS]
    if or_antonyms:
        follows_BS[:, ADJECTIVES] |= antonyms(world)[said_BS[:, ADJECTIVES]] == asked_BS[:, ADJECTIVES]
    answered_B: Flags = follows_BS.all(1)
    return answered_B
