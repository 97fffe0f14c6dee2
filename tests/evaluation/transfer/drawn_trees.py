"""All trees of a few words, and sentences with any tree over them, drawn by hypothesis."""

from functools import cache
from itertools import product

from hypothesis import strategies as st

from isoglot.corpora.readers.conllu import Tree


def is_tree(heads: tuple[int, ...]) -> bool:
    """Whether one word is under the root, and every word leads up to it."""
    places = set(range(1, len(heads) + 1))
    for _ in heads:
        places = {heads[place - 1] for place in places if place}
    return heads.count(0) == 1 and places <= {0}


@cache
def all_trees(num_words: int) -> list[tuple[int, ...]]:
    one_root = (heads for heads in product(range(num_words + 1), repeat=num_words) if heads.count(0) == 1)
    return [heads for heads in one_root if is_tree(heads)]


UPOS = ("NOUN", "VERB", "PUNCT", "SYM", "X", "_")
RELATIONS = ("nsubj", "nsubj:pass", "obj", "acl", "acl:relcl", "punct", "root", "dep")
# Line breaks of Unicode end no line of CoNLL-U; spaces stand in the words of some treebanks.
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1, max_size=4).filter(
    str.strip
) | st.sampled_from(["10 000", "#", "_", "1", "a\u2028b", "\ufeffa"])


@st.composite
def tree_heads(draw: st.DrawFn, num_words: int) -> tuple[int, ...]:
    """Each word is put under one that was put in before."""
    order = draw(st.permutations(range(1, num_words + 1)))
    heads = {word: order[draw(st.integers(0, place - 1))] if place else 0 for place, word in enumerate(order)}
    return tuple(heads[word] for word in range(1, num_words + 1))


@st.composite
def trees(draw: st.DrawFn, max_words: int = 8) -> Tree:
    forms = draw(st.lists(words, min_size=1, max_size=max_words))
    return Tree(
        words=tuple(forms),
        upos=tuple(draw(st.sampled_from(UPOS)) for _ in forms),
        heads=draw(tree_heads(len(forms))),
        relations=tuple(draw(st.sampled_from(RELATIONS)) for _ in forms),
    )
