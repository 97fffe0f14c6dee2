"""Made-up languages over one world of meanings: text, trees, names, entailment and dictionaries by seed."""

from isoglot.synthetic.dictionary import dictionary
from isoglot.synthetic.entailment import EntailmentPair, Label, entailment_pairs
from isoglot.synthetic.linearisation import realise, word_alignments
from isoglot.synthetic.meanings import Meanings, draw_meanings
from isoglot.synthetic.trees import Tree, trees

__all__ = [
    "EntailmentPair",
    "Label",
    "Meanings",
    "Tree",
    "dictionary",
    "draw_meanings",
    "entailment_pairs",
    "realise",
    "trees",
    "word_alignments",
]
