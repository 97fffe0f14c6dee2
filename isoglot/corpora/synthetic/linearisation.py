"""From meanings to text: each language puts the same slots into an order of its own."""

# B = sentences, S = slots, L = slots in the order of a language
import numpy as np

from isoglot.corpora.synthetic.inventory import ABSENT, Ids
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, lexicon
from isoglot.corpora.synthetic.meanings import Meanings
from isoglot.corpora.synthetic.structures import NEGATION, PUNCTUATION, VERB, Part, Role, slot
from isoglot.study.synthetic_languages import Side, SyntheticLanguage, WordOrder, World


def phrase_order(role: Role, *, language: SyntheticLanguage) -> list[int]:
    """Determiner, number, noun, names; adjective and adposition on the language's side of them."""
    parts = [Part.DETERMINER, Part.NUMBER, Part.HEAD, Part.NAME, Part.FAMILY_NAME]
    noun = parts.index(Part.HEAD)
    parts.insert(noun if language.adjectives is Side.BEFORE else noun + 1, Part.ADJECTIVE)
    parts.insert(0 if language.adpositions is Side.BEFORE else len(parts), Part.ADPOSITION)
    return [slot(role, part) for part in parts]


def slot_order(language: SyntheticLanguage) -> list[int]:
    """All slots from first to last; a negation stands right before its verb."""
    subject, direct_object, oblique = (phrase_order(role, language=language) for role in Role)
    verb = [NEGATION, VERB]
    match language.order:
        case WordOrder.SVO:
            clause = [*subject, *verb, *direct_object, *oblique]
        case WordOrder.SOV:
            clause = [*subject, *oblique, *direct_object, *verb]
        case WordOrder.VSO:
            clause = [*verb, *subject, *direct_object, *oblique]
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


def positions(meanings: Meanings, *, language: SyntheticLanguage) -> Ids:
    """position_BS: the place of each slot's word in its sentence, from 0; meaningless where the slot is empty."""
    order = slot_order(language)
    position_BS = np.empty_like(meanings.concept_BS)
    position_BS[:, order] = (meanings.concept_BS != ABSENT)[:, order].cumsum(1) - 1
    return position_BS


def word_alignments(
    meanings: Meanings,
    a: SyntheticLanguage,
    b: SyntheticLanguage,
    *,
    world: World,  # noqa: ARG001 - every function of two languages is told their world
) -> list[list[tuple[int, int]]]:
    """Gold alignment: the positions in a and in b of the words that express the same slot, in the order of a."""
    in_a = in_order(positions(meanings, language=a), meanings, language=a)
    in_b = in_order(positions(meanings, language=b), meanings, language=a)
    return [list(zip(*line, strict=True)) for line in zip(in_a, in_b, strict=True)]
