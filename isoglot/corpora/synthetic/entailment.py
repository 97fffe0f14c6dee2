"""Small changes to a meaning whose bearing on its truth is known: inference pairs, and paraphrases of a text."""

from collections.abc import Iterator
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.readers.inference_pairs import InferencePair
from isoglot.corpora.synthetic.inventory import (
    ABSENT,
    LENGTHS,
    NEGATION,
    NUM_SLOTS,
    Flags,
    Ids,
    Part,
    Purpose,
    Role,
    WordClass,
    generator,
    inventory,
    slot,
    slots,
)
from isoglot.corpora.synthetic.linearisation import realise
from isoglot.corpora.synthetic.meanings import Meanings, antonyms, hypernyms, meanings_from
from isoglot.randomness import derived_seed
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import SyntheticLanguage, World

# B = sentences or pairs, S = slots, P = noun phrases

HEADS, ADJECTIVES, DETERMINERS = slots(Part.HEAD), slots(Part.ADJECTIVE), slots(Part.DETERMINER)
SUBJECT, OBJECT, OBLIQUE = ([slot(role, part) for part in Part] for role in Role)


class Edit(IntEnum):
    """A change to a meaning; the first four leave something that follows from it."""

    NONE = 0
    DROP_ADJECTIVE = 1
    DROP_OBLIQUE = 2
    HYPERNYM = 3
    ANTONYM = 4
    OTHER_ADJECTIVE = 5
    SWAP_SUBJECT_AND_OBJECT = 6


def edited(meanings: Meanings, edit_B: Ids, *, random: np.random.Generator, world: World) -> tuple[Meanings, Flags]:
    """The changed meanings, and for which of them the edit was possible."""
    concept_BS, plural_BP = meanings.concept_BS.copy(), meanings.plural_BP.copy()
    for edit, places, new_BP, possible_BP in substitutions(meanings, random=random, world=world):
        phrase_B = (possible_BP * random.random(possible_BP.shape)).argmax(1)
        rows = np.flatnonzero((edit_B == edit) & possible_BP.any(1))
        concept_BS[rows, np.array(places)[phrase_B[rows]]] = new_BP[rows, phrase_B[rows]]
    concept_BS[np.ix_(edit_B == Edit.DROP_OBLIQUE, OBLIQUE)] = ABSENT
    subject_B, object_B = concept_BS[:, slot(Role.SUBJECT, Part.HEAD)], concept_BS[:, slot(Role.OBJECT, Part.HEAD)]
    swap_B = (edit_B == Edit.SWAP_SUBJECT_AND_OBJECT) & (object_B != ABSENT) & (object_B != subject_B)
    concept_BS[np.ix_(swap_B, SUBJECT + OBJECT)] = concept_BS[np.ix_(swap_B, OBJECT + SUBJECT)]
    plural_BP[np.ix_(swap_B, [Role.SUBJECT, Role.OBJECT])] = plural_BP[np.ix_(swap_B, [Role.OBJECT, Role.SUBJECT])]
    done_B: Flags = (edit_B == Edit.NONE) | (concept_BS != meanings.concept_BS).any(1)
    return Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=meanings.past_B), done_B


def substitutions(
    meanings: Meanings, *, random: np.random.Generator, world: World
) -> Iterator[tuple[Edit, list[int], Ids, Flags]]:
    """Edits of one word: the slots it may stand in, what would replace each, and where that is possible."""
    adjective_BP = meanings.concept_BS[:, ADJECTIVES]
    hypernym_BP = hypernyms(world)[meanings.concept_BS[:, HEADS]]
    antonym_BP = antonyms(world)[adjective_BP]
    # Drawn from the text itself, so that an adjective's frequency does not betray that it was put in.
    other_BP = random.choice(adjective_BP[adjective_BP != ABSENT], size=adjective_BP.shape)
    is_other_BP = (adjective_BP != ABSENT) & (other_BP != adjective_BP)
    yield Edit.DROP_ADJECTIVE, ADJECTIVES, np.full_like(adjective_BP, ABSENT), adjective_BP != ABSENT
    yield Edit.HYPERNYM, HEADS, hypernym_BP, hypernym_BP != ABSENT
    yield Edit.ANTONYM, ADJECTIVES, antonym_BP, antonym_BP != ABSENT
    yield Edit.OTHER_ADJECTIVE, ADJECTIVES, other_BP, is_other_BP


OTHER_DETERMINER_RATE = 0.5
HYPERNYM_RATE = 0.3
DROPPED_ADJECTIVE_RATE = 0.15


def paraphrased(meanings: Meanings, *, world: World, seed: int) -> Meanings:
    """Some determiners exchanged, some nouns made general, some adjectives dropped; the same for the same arguments."""
    random = np.random.Generator(np.random.PCG64(derived_seed(world.seed, "paraphrases", seed)))
    concept_BS = meanings.concept_BS.copy()
    shape_BP = (len(meanings), len(Role))

    determiners = inventory(world).ranges[WordClass.DETERMINER]
    determiner_BP = concept_BS[:, DETERMINERS]
    step_BP = random.integers(1, max(len(determiners), 2), size=shape_BP)
    other_BP = determiners.start + (determiner_BP - determiners.start + step_BP) % len(determiners)
    exchanged_BP = (random.random(shape_BP) < OTHER_DETERMINER_RATE) & (determiner_BP != ABSENT)
    concept_BS[:, DETERMINERS] = np.where(exchanged_BP, other_BP, determiner_BP)

    hypernym_BP = hypernyms(world)[concept_BS[:, HEADS]]
    general_BP = (random.random(shape_BP) < HYPERNYM_RATE) & (hypernym_BP != ABSENT)
    concept_BS[:, HEADS] = np.where(general_BP, hypernym_BP, concept_BS[:, HEADS])

    dropped_BP = (random.random(shape_BP) < DROPPED_ADJECTIVE_RATE) & (concept_BS[:, ADJECTIVES] != ABSENT)
    is_long_B = (concept_BS != ABSENT).sum(1) - dropped_BP.sum(1) >= LENGTHS.start
    dropped_BP &= is_long_B[:, None]
    concept_BS[:, ADJECTIVES] = np.where(dropped_BP, ABSENT, concept_BS[:, ADJECTIVES])
    return Meanings(concept_BS=concept_BS, plural_BP=meanings.plural_BP, past_B=meanings.past_B)


EDIT_WEIGHTS = np.array([1, 2, 2, 2, 4, 2, 6])  # in the order of Edit


class Label(StrEnum):
    """The relation of a premise to its hypothesis."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


def entailment_pairs(
    language: SyntheticLanguage, *, world: World, count: int, seed: int, most_words: int
) -> list[InferencePair]:
    """Equally many pairs of each label; for one seed, pair i means the same in every language.

    Premise and hypothesis together have no more than most_words words.
    """
    *sides, labels = draw_inferences(world, count=count, seed=seed, most_words=most_words)
    premises, hypotheses = (realise(side, language, world=world) for side in sides)
    return [
        InferencePair(premise=premise, hypothesis=hypothesis, label=str(label))
        for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True)
    ]


def draw_inferences(
    world: World, *, count: int, seed: int, most_words: int
) -> tuple[Meanings, Meanings, NDArray[np.str_]]:
    """Meanings of premises and hypotheses, and equally many labels of each kind, in random order."""
    quotas = {label: (count + i) // len(Label) for i, label in enumerate(Label)}
    num_candidates = 8 * count + 256
    while True:
        premises, hypotheses = candidate_pairs(world, count=num_candidates, seed=seed, most_words=most_words)
        label_B = inferred_labels(premises, hypotheses, world=world)
        rows = np.concatenate([np.flatnonzero(label_B == label)[:quota] for label, quota in quotas.items()])
        if len(rows) == count:
            rows = generator(world, Purpose.ENTAILMENT_ORDER, seed).permutation(rows)
            return premises[rows], hypotheses[rows], label_B[rows]
        num_candidates *= 2


def candidate_pairs(world: World, *, count: int, seed: int, most_words: int) -> tuple[Meanings, Meanings]:
    """A meaning and an edit of it, in either order, each negated or not.

    Every edit meets every order and every negation, so that none of them alone gives away the label. Where a big dog
    barks a dog barks, but where no dog barks no big dog does.
    """
    random = generator(world, Purpose.ENTAILMENT, seed)
    # About half of the words, since few longer sentences would leave room for another.
    lengths = range(LENGTHS.start, min(LENGTHS.stop, most_words // 2 + 2))
    meanings = meanings_from(random, world=world, count=count, domain=Domain.MAIN, lengths=lengths)
    edit_B = random.choice(len(Edit), size=count, p=EDIT_WEIGHTS / EDIT_WEIGHTS.sum())
    edits, done_B = edited(meanings, edit_B, random=random, world=world)
    filled_BS = np.concatenate([meanings.concept_BS, edits.concept_BS], axis=1) != ABSENT
    # As if both were negated, so that length gives away no negation.
    filled_BS[:, [NEGATION, NUM_SLOTS + NEGATION]] = True
    done_B &= filled_BS.sum(1) <= most_words
    exchanged_B = random.random(count) < 0.5
    negation = inventory(world).ranges[WordClass.NEGATION].start
    sides = []
    for here, there in ((meanings, edits), (edits, meanings)):
        concept_BS = np.where(exchanged_B[:, None], there.concept_BS, here.concept_BS)
        concept_BS[:, NEGATION] = np.where(random.random(count) < 0.5, negation, ABSENT)
        plural_BP = np.where(exchanged_B[:, None], there.plural_BP, here.plural_BP)
        sides.append(Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=meanings.past_B)[done_B])
    return sides[0], sides[1]


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
    specific_BS, general_BS = specific.concept_BS, general.concept_BS
    follows_BS = (general_BS == ABSENT) | (general_BS == specific_BS)
    follows_BS[:, NEGATION] = True
    follows_BS[:, HEADS] |= hypernyms(world)[specific_BS[:, HEADS]] == general_BS[:, HEADS]
    if or_antonyms:
        follows_BS[:, ADJECTIVES] |= antonyms(world)[specific_BS[:, ADJECTIVES]] == general_BS[:, ADJECTIVES]
    answered_B: Flags = follows_BS.all(1)
    return answered_B
