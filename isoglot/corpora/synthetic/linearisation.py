"""From meanings to sentences in the order of a language, with gold dependency trees and entities."""

from dataclasses import dataclass

import numpy as np

from isoglot.corpora.synthetic.inventory import (
    ABSENT,
    NAMES,
    NEGATION,
    NUM_SLOTS,
    PUNCTUATION,
    VERB,
    Ids,
    Part,
    Role,
    WordClass,
    inventory,
    slot,
)
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, lexicon
from isoglot.corpora.synthetic.meanings import Meanings
from isoglot.study.synthetic_languages import Side, SyntheticLanguage, WordOrder, World

# B = sentences, S = slots, L = slots in the order of a language


def slot_order(language: SyntheticLanguage) -> list[int]:
    """All slots from first to last; a negation stands right before its verb."""
    parts = [Part.DETERMINER, Part.NUMBER, Part.HEAD, Part.NAME, Part.FAMILY_NAME]
    noun = parts.index(Part.HEAD)
    parts.insert(noun if language.adjectives is Side.BEFORE else noun + 1, Part.ADJECTIVE)
    parts.insert(0 if language.adpositions is Side.BEFORE else len(parts), Part.ADPOSITION)
    subject, direct_object, oblique = ([slot(role, part) for part in parts] for role in Role)
    clause = {
        WordOrder.SVO: [*subject, NEGATION, VERB, *direct_object, *oblique],
        WordOrder.SOV: [*subject, *oblique, *direct_object, NEGATION, VERB],
        WordOrder.VSO: [NEGATION, VERB, *subject, *direct_object, *oblique],
    }[language.order]
    return [*clause, PUNCTUATION]


def forms(meanings: Meanings) -> Ids:
    """form_BS: index of each slot's inflected form in a lexicon."""
    form_BS = meanings.concept_BS * NUM_INFLECTIONS
    form_BS[:, VERB] += meanings.past_B
    for role in Role:
        form_BS[:, slot(role, Part.HEAD)] += 2 * role + meanings.plural_BP[:, role]
    return form_BS


def in_order(values_BS: Ids, meanings: Meanings, *, language: SyntheticLanguage) -> list[list[int]]:
    """The values of each sentence's filled slots, in the order in which the language says them."""
    order = slot_order(language)
    present_BL = (meanings.concept_BS != ABSENT)[:, order]
    values = values_BS[:, order][present_BL].tolist()
    stops = present_BL.sum(1).cumsum().tolist()
    return [values[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]


def realise(meanings: Meanings, language: SyntheticLanguage, *, world: World) -> list[str]:
    """One sentence a line, its words joined by single spaces."""
    word = lexicon(language, world).__getitem__
    return [" ".join(map(word, line)) for line in in_order(forms(meanings), meanings, language=language)]


PLACED = frozenset(slot(Role.OBLIQUE, part) for part in Part)


def entity_tag(word_class: WordClass, *, in_slot: int) -> str:
    """The BIO tag of a word of this class in this slot; people are always people."""
    # Places and organisations lend each other their names, as in "Paris objects" and "we met at the bank": an
    # organisation acts or is acted on, a location gives the setting. So a model must read the type off the syntax.
    if word_class in (WordClass.PLACE, WordClass.ORGANISATION):
        return "B-LOC" if in_slot in PLACED else "B-ORG"
    return {WordClass.GIVEN_NAME: "B-PER", WordClass.FAMILY_NAME: "I-PER"}.get(word_class, "O")


UPOS = {
    WordClass.VERB: "VERB",
    WordClass.NOUN: "NOUN",
    **dict.fromkeys(NAMES, "PROPN"),
    WordClass.ADJECTIVE: "ADJ",
    WordClass.ADPOSITION: "ADP",
    WordClass.DETERMINER: "DET",
    WordClass.NUMBER: "NUM",
    WordClass.NEGATION: "PART",
    WordClass.PUNCTUATION: "PUNCT",
}
RELATION_S = ["root", "advmod", "punct"]
for head_relation in ("nsubj", "obj", "obl"):
    RELATION_S += ["case", "det", "nummod", "amod", head_relation, "appos", "flat"]  # in the order of Part


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
    words = lexicon(language, world)
    order = slot_order(language)
    # Counted from 1; an empty slot gets a number as well, but no word has it for its head.
    position_BS = np.empty_like(meanings.concept_BS)
    position_BS[:, order] = (meanings.concept_BS != ABSENT)[:, order].cumsum(1)
    head_BS = np.take_along_axis(position_BS, head_slots(meanings), axis=1)
    head_BS[:, VERB] = 0
    slot_BS = np.broadcast_to(np.arange(NUM_SLOTS), meanings.concept_BS.shape)
    columns = (
        in_order(column_BS, meanings, language=language)
        for column_BS in (forms(meanings), meanings.concept_BS, head_BS, slot_BS)
    )
    return [
        Tree(
            words=tuple(words[form] for form in line_forms),
            upos=tuple(UPOS[classes[concept]] for concept in line_concepts),
            heads=tuple(heads),
            relations=tuple(RELATION_S[each] for each in slots),
            entity_tags=tuple(
                entity_tag(classes[concept], in_slot=each) for concept, each in zip(line_concepts, slots, strict=True)
            ),
        )
        for line_forms, line_concepts, heads, slots in zip(*columns, strict=True)
    ]
