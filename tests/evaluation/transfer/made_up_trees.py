"""Trees to learn by heart."""

import numpy as np

from isoglot.evaluation.transfer.conllu import Tree
from tests.evaluation.transfer.tiny_transfer import random_words


def chain_trees() -> list[Tree]:
    """The root is anywhere, and a word's relation tells the side of its head."""
    random = np.random.default_rng(0)
    trees = []
    for size in range(1, 7):
        root = int(random.integers(1, size + 1))
        heads = [0 if word == root else word + (1 if word < root else -1) for word in range(1, size + 1)]
        relations = ["root" if head == 0 else "left" if head > word else "right" for word, head in enumerate(heads, 1)]
        words = random_words(random, count=size)
        trees.append(Tree(words=words, upos=("X",) * size, heads=tuple(heads), relations=tuple(relations)))
    return trees
