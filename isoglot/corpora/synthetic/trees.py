"""Gold dependency trees and named entities of made-up sentences, in the terms of Universal Dependencies."""

from dataclasses import dataclass

import numpy as np

from isoglot.corpora.synthetic.inventory import ABSENT, Ids, WordClass, inventory
from isoglot.corpora.synthetic.lexicon import lexicon
from isoglot.corpora.synthetic.linearisation import forms, in_order, positions
from isoglot.corpora.synthetic.meanings import Meanings
from isoglot.corpora.synthetic.structures import NEGATION, NUM_SLOTS, PUNCTUATION, VERB, Part, Role, slot
from isoglot.study.synthetic_languages import SyntheticLanguage, World

PLACED = frozenset(slot(Role.OBLIQUE, part) for part in Part)


def entity_tag(word_class: WordClass, *, in_slot: int) -> str:
    """The BIO tag of a word of this class in this slot; people are always people.

    Places and organisations lend each other their names, as in "Paris objects" and "we met at the bank". Any such name
    is an organisation where it acts or is acted on, in a subject or an object, and a location where it tells the
    setting, in an oblique. So no word tells its type: that must be read off the syntax.
    """
    match word_class:
        case WordClass.GIVEN_NAME:
            return "B-PER"
        case WordClass.FAMILY_NAME:
            return "I-PER"
        case WordClass.PLACE | WordClass.ORGANISATION:
            return "B-LOC" if in_slot in PLACED else "B-ORG"
    return "O"


# B = sentences, S = slots, C = concepts


UPOS = {
    WordClass.VERB: "VERB",
    WordClass.NOUN: "NOUN",
    WordClass.GIVEN_NAME: "PROPN",
    WordClass.PLACE: "PROPN",
    WordClass.ORGANISATION: "PROPN",
    WordClass.FAMILY_NAME: "PROPN",
    WordClass.ADJECTIVE: "ADJ",
    WordClass.ADPOSITION: "ADP",
    WordClass.DETERMINER: "DET",
    WordClass.NUMBER: "NUM",
    WordClass.NEGATION: "PART",
    WordClass.PUNCTUATION: "PUNCT",
}
CLAUSE_RELATIONS = {VERB: "root", NEGATION: "advmod", PUNCTUATION: "punct"}
HEAD_RELATIONS = {Role.SUBJECT: "nsubj", Role.OBJECT: "obj", Role.OBLIQUE: "obl"}
PART_RELATIONS = {
    Part.ADPOSITION: "case",
    Part.DETERMINER: "det",
    Part.NUMBER: "nummod",
    Part.ADJECTIVE: "amod",
    Part.NAME: "appos",
    Part.FAMILY_NAME: "flat",
}
RELATIONS = CLAUSE_RELATIONS | {
    slot(role, part): HEAD_RELATIONS[role] if part is Part.HEAD else PART_RELATIONS[part]
    for role in Role
    for part in Part
}


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A sentence with its syntax and its names; heads count words from 1, and 0 is the root."""

    words: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    entity_tags: tuple[str, ...]


def head_slots(meanings: Meanings) -> Ids:
    """head_BS: the slot each slot depends on; the verb's own for the verb."""
    head_BS = np.full_like(meanings.concept_BS, VERB)
    for role in Role:
        noun, name, family_name = (slot(role, part) for part in (Part.HEAD, Part.NAME, Part.FAMILY_NAME))
        head_BS[:, [slot(role, part) for part in Part if part is not Part.HEAD]] = noun
        head_BS[:, family_name] = np.where(meanings.concept_BS[:, name] == ABSENT, noun, name)
    return head_BS


def trees(meanings: Meanings, language: SyntheticLanguage, *, world: World) -> list[Tree]:
    """The sentences that realise gives, word for word."""
    concepts = inventory(world)
    classes = [concepts.class_of(concept) for concept in range(concepts.size)]
    upos = [UPOS[word_class] for word_class in classes]
    words = lexicon(language, world)
    head_BS = np.take_along_axis(positions(meanings, language=language), head_slots(meanings), axis=1) + 1
    head_BS[:, VERB] = 0
    slot_BS = np.broadcast_to(np.arange(NUM_SLOTS), meanings.concept_BS.shape)
    columns = (
        in_order(column_BS, meanings, language=language)
        for column_BS in (forms(meanings), meanings.concept_BS, head_BS, slot_BS)
    )
    return [
        Tree(
            words=tuple(words[form] for form in line_forms),
            upos=tuple(upos[concept] for concept in line_concepts),
            heads=tuple(heads),
            relations=tuple(RELATIONS[each] for each in slots),
            entity_tags=tuple(
                entity_tag(classes[concept], in_slot=each) for concept, each in zip(line_concepts, slots, strict=True)
            ),
        )
        for line_forms, line_concepts, heads, slots in zip(*columns, strict=True)
    ]
