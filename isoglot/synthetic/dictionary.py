"""Gold word translations between two languages."""

from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import SyntheticLanguage, World
from isoglot.synthetic.inventory import inventory
from isoglot.synthetic.lexicon import NUM_INFLECTIONS, lexicon
from isoglot.synthetic.spelling import slice_of


def dictionary(a: SyntheticLanguage, b: SyntheticLanguage, *, world: World) -> list[tuple[str, str]]:
    """Each pair of word forms that translate each other, once; all words but punctuation, inflected forms included."""
    if a.name != b.name and slice_of(a.name) == slice_of(b.name):
        raise IsoglotError(f"languages {a.name!r} and {b.name!r} would draw on the same words; give one another name")
    end = inventory(world).punctuation * NUM_INFLECTIONS
    return list(dict.fromkeys(zip(lexicon(a, world)[:end], lexicon(b, world)[:end], strict=True)))
