"""Made-up languages over one world of meanings: text, trees, names, entailment and dictionaries by seed."""

from isoglot.corpora.synthetic.entailment import EntailmentPair, Label, entailment_pairs
from isoglot.corpora.synthetic.lexicon import dictionary
from isoglot.corpora.synthetic.linearisation import Tree, realise, trees, word_alignments
from isoglot.corpora.synthetic.meanings import Meanings, draw_meanings

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
