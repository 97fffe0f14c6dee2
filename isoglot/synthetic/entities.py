"""Named entities, whose type depends on what a name does in its sentence and not on the name alone."""

from isoglot.synthetic.inventory import WordClass
from isoglot.synthetic.structures import Part, Role, slot

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
