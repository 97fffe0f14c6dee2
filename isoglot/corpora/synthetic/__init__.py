"""Made-up languages over one world of meanings: text, trees, names, entailment and dictionaries by seed."""

from isoglot.corpora.synthetic.entailment import entailment_pairs
from isoglot.corpora.synthetic.lexicon import dictionary
from isoglot.corpora.synthetic.linearisation import realise, trees
from isoglot.corpora.synthetic.meanings import draw_meanings

__all__ = ["dictionary", "draw_meanings", "entailment_pairs", "realise", "trees"]
