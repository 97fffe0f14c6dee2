"""The geometry of this folder for notebooks: numpy arrays or torch tensors in, numpy arrays out."""

# N = rows, sentences or words of one side, T = those of the other, D = width, E = width of the other, S = layers

import warnings
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry import cka
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.evaluation.geometry.reader import Reader
from isoglot.evaluation.geometry.retrieval import NEIGHBOURS, both_directions, csls_scores
from isoglot.evaluation.geometry.vectors import Vectors, orthogonal_map

Floats = NDArray[np.floating[Any]]
MUCH_UNKNOWN = 0.5


def linear_cka(x: Vectors, y: Vectors) -> float:
    """How alike two sets of vectors are, from 0 to 1: linear CKA (Kornblith et al., 2019), as in Figure 7.

    Row i of x, [N, D], and row i of y, [N, E], belong to the same sentence. Rotating or scaling either changes nothing.

    >>> x = np.random.default_rng(0).normal(size=(100, 8))
    >>> round(ig.linear_cka(x, -3 * x), 6)
    1.0
    """
    return float(cka.linear_cka(x, y))


def procrustes(x: Vectors, y: Vectors) -> Floats:
    """[D, D]: the orthogonal matrix that brings x @ matrix nearest to y; both are [N, D], row i goes with row i.

    Maps between models are better fitted after `isoglot.evaluation.geometry.vectors.iterative_normalization`.

    >>> x = np.random.default_rng(0).normal(size=(100, 8))
    >>> turn = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    >>> bool(np.allclose(ig.procrustes(x, x @ turn), turn))
    True
    """
    return np.asarray(orthogonal_map(x, y).cpu())


def retrieval(x: Vectors, y: Vectors) -> float:
    """Percent of rows whose nearest neighbour on the other side, by cosine, is their own translation.

    Row i of x, [N, D], translates row i of y, [N, D]. It is the mean of both directions, as in Figure 6.

    >>> x = np.random.default_rng(0).normal(size=(100, 8))
    >>> ig.retrieval(x, x), ig.retrieval(x, x[::-1])
    (100.0, 0.0)
    """
    return both_directions(x, y)[0]


def csls(x: Vectors, y: Vectors, *, neighbours: int = NEIGHBOURS) -> Floats:
    """[N, T]: how near each row of x, [N, D], is to each of y, [T, D]; a crowded neighbourhood makes it less near.

    It is 2 cos(x, y) less the mean cosine of either with its nearest neighbours (Conneau et al., 2017).

    >>> x = np.random.default_rng(0).normal(size=(100, 8))
    >>> bool((ig.csls(x, x).argmax(axis=1) == np.arange(100)).all())
    True
    """
    if neighbours < 1:
        raise IsoglotError(f"neighbours: is {neighbours}; give 1 or more")
    return np.asarray(csls_scores(x, y, neighbours).cpu())


class Model:
    """A model as `load_model` gives it: it reads raw sentences, in one language where it is one of isoglot's own.

    >>> model = ig.load_model("demo:default:oru", store="store")
    >>> model
    Model('demo:default:oru', num_layers=4, width=32)
    """

    def __init__(self, reader: Reader, *, name: str) -> None:
        self.reader, self.name = reader, name

    def __repr__(self) -> str:
        return f"Model({self.name!r}, num_layers={self.num_layers}, width={self.width})"

    @property
    def num_layers(self) -> int:
        """Layer 0 are the embeddings, and this is the number of the top layer."""
        return self.reader.num_states - 1

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.reader.width

    def hidden_states(self, sentences: Iterable[str], *, layer: int | None = None) -> NDArray[np.float32]:
        """[N, D]: for each sentence the mean of its subwords at a layer, without special symbols (section 5.1.3).

        [S, N, D] where no layer is named: all of them, 0 the embeddings. Sentences longer than the model reads at once
        are cut, with a warning. One without a word gives zeros. A text of which most is unknown is warned of.

        >>> model = ig.load_model("demo:default:oru", store="store")
        >>> model.hidden_states(["febar larbon kefin darna .", "lenlun ."], layer=3).shape
        (2, 32)
        >>> model.hidden_states(["febar larbon kefin darna .", "lenlun ."]).shape
        (5, 2, 32)
        """
        lines = [] if isinstance(sentences, str) else list(sentences)
        if isinstance(sentences, str) or not all(isinstance(each, str) for each in lines):
            raise IsoglotError("sentences: give a list of strings, a sentence each")
        if not (layer is None or (isinstance(layer, SupportsIndex) and layer in range(self.num_layers + 1))):
            problem = f"layer: is {layer!r}, and {self.name} has layers 0, the embeddings, to {self.num_layers}"
            raise IsoglotError(f"{problem}; give one of these numbers, or leave it out for all")
        whole = self.reader.whole_sentences(lines)
        cut, num_cut = self.reader.cut(whole)
        if num_cut:
            most = f"the {self.reader.most_tokens} tokens that {self.name} reads at once"
            warnings.warn(f"{num_cut} of {len(whole)} sentences are longer than {most}, and were cut", stacklevel=2)
        if (share := self._unknown_share(cut)) > MUCH_UNKNOWN:
            problem = f"{share:.0%} of the text is unknown to {self.name}"
            warnings.warn(f"{problem}, and gives one vector: is it in a language that the model read?", stacklevel=2)
        vector_SND = sentence_vectors(self.reader, cut, layers=None if layer is None else [index(layer)])
        return np.asarray(vector_SND if layer is None else vector_SND[0], dtype=np.float32)

    def _unknown_share(self, sentences: Sequence[EncodedSentence]) -> float:
        """The share of subwords that the vocabulary lacks."""
        ids = [id for each in sentences for id, word in zip(each.ids, each.word_of, strict=True) if word != NO_WORD]
        return sum(id == self.reader.unknown_id for id in ids) / max(len(ids), 1)
