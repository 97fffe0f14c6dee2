"""Word types as token ids: each spelled once, then looked up wherever it stands."""

# T = types and the line end, S = tokens of all of them, N = places of a text

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.ranges import concatenated_ranges
from isoglot.corpora.vocabulary import END, Vocabulary

Ids = NDArray[np.unsignedinteger]


def id_type(table_size: int) -> np.dtype[np.unsignedinteger]:
    """The smallest integer type that fits every id."""
    return np.dtype(np.uint16 if table_size <= 1 << 16 else np.uint32)


@dataclass(frozen=True, kw_only=True)
class Spellings:
    """The ids of every type of a numbered text; a line end is spelled </s>."""

    id_S: Ids
    end_T: NDArray[np.int64]
    length_T: NDArray[np.int64]

    @classmethod
    def of(cls, types: Iterable[str], *, language: str, bpe: Bpe, vocabulary: Vocabulary) -> Self:
        lengths = [1]

        def spelled() -> Iterable[list[int]]:
            for subwords in bpe.segment_all(types):
                ids = vocabulary.encode(language, subwords)
                lengths.append(len(ids))
                yield ids

        flat = chain([END], chain.from_iterable(spelled()))
        id_S = np.fromiter(flat, dtype=id_type(vocabulary.size(language)))
        length_T = np.array(lengths)
        return cls(id_S=id_S, end_T=np.cumsum(length_T), length_T=length_T)

    def of_places(self, number_N: NDArray[np.unsignedinteger]) -> Ids:
        """The ids of types, one after the other."""
        length_N = self.length_T[number_N]
        return self.id_S[concatenated_ranges(self.end_T[number_N] - length_N, length_N)]
