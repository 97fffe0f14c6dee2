"""Token streams in memory-mapped files, and windows over them in a random order that can be resumed anywhere."""

import json
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import NumberedText, Split, concatenated_ranges, mapped
from isoglot.corpora.vocabulary import END, Vocabulary
from isoglot.errors import IsoglotError
from isoglot.randomness import derived_seed

# T = types and the line end, S = tokens of all of them, N = places of a text, or windows in a pass,
# B = windows taken, L = tokens in a window

Ids = NDArray[np.unsignedinteger]


def id_type(table_size: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint16 if table_size <= 1 << 16 else np.uint32)


@dataclass(frozen=True, kw_only=True)
class Spellings:
    """The ids of every type of a numbered text; a line end is spelled </s>."""

    id_S: Ids
    end_T: NDArray[np.int64]
    length_T: NDArray[np.int64]

    @classmethod
    def of(cls, types: Iterable[str], *, language: str, bpe: Bpe, vocabulary: Vocabulary) -> Self:
        # Compact arrays, as a large text has millions of types, and a list of a type's ids takes a hundred bytes.
        ids, ends = array("I", [END]), array("q", [1])
        for subwords in bpe.segment_all(types):
            ids.extend(vocabulary.encode(language, subwords))
            ends.append(len(ids))
        end_T = np.array(ends)
        id_S = np.array(ids, dtype=id_type(vocabulary.size(language)))
        return cls(id_S=id_S, end_T=end_T, length_T=np.diff(end_T, prepend=0))

    def of_places(self, number_N: NDArray[np.unsignedinteger]) -> Ids:
        """The ids of types, one after the other."""
        length_N = self.length_T[number_N]
        return self.id_S[concatenated_ranges(self.end_T[number_N] - length_N, length_N)]


DESCRIPTION = "stream.json"


def write_stream(folder: Path, *, language: str, text: NumberedText, bpe: Bpe, vocabulary: Vocabulary) -> "TokenStream":
    """Write train.bin, dev.bin and test.bin and stream.json beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    spellings = Spellings.of(text.types, language=language, bpe=bpe, vocabulary=vocabulary)
    num_tokens = dict.fromkeys(Split, 0)
    for split in Split:
        with (folder / f"{split}.bin").open("wb") as file:
            for places in text.places(split):
                ids = spellings.of_places(places)
                ids.tofile(file)
                num_tokens[split] += len(ids)
    stream = TokenStream(
        folder=folder,
        language=language,
        table_size=vocabulary.size(language),
        dtype=spellings.id_S.dtype.name,
        lines={split: text.num_lines(split) for split in Split},
        tokens=num_tokens,
    )
    description = {name: value for name, value in asdict(stream).items() if name != "folder"}
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    return stream


@dataclass(frozen=True, kw_only=True)
class TokenStream:
    """A written stream: how much is in each split, and its ids."""

    folder: Path
    language: str
    table_size: int
    dtype: str
    lines: Mapping[Split, int]
    tokens: Mapping[Split, int]

    @classmethod
    def open(cls, folder: Path) -> Self:
        content = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        lines, tokens = ({split: content[unit][split] for split in Split} for unit in ("lines", "tokens"))
        return cls(**content | {"folder": folder, "lines": lines, "tokens": tokens})

    def ids(self, split: Split) -> Ids:
        """The ids of one split as a read-only memory map."""
        return mapped(self.folder / f"{split}.bin", np.dtype(self.dtype), self.tokens[split])


class WindowSource(Protocol):
    """The windows of one language that pretraining reads."""

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        """Windows number position to position + count - 1, counted from the first of the first pass: ids [B, L]."""
        ...


class WindowOrder:
    """All windows of a text again and again, each pass in a fresh order."""

    # Departure: XLM first cuts the stream into as many columns as a batch has rows, and takes windows at the same place
    # of all columns; here windows are drawn one by one, so that their order does not depend on the batch size.

    def __init__(self, num_tokens: int, *, length: int, seed: int, name: str) -> None:
        self.num_windows = num_windows = num_tokens // length
        if num_windows == 0:
            raise IsoglotError(
                f"the stream of {name!r} has {num_tokens} tokens, less than one window of {length}; give more text"
            )

        # Two, as the windows of one batch may come from the end of a pass and from the beginning of the next.
        @lru_cache(maxsize=2)
        def order_N(number: int) -> NDArray[np.int64]:
            return np.random.default_rng(derived_seed(seed, "windows", name, number)).permutation(num_windows)

        self._order_N = order_N

    def rows(self, position: int, count: int) -> NDArray[np.int64]:
        """Which windows of the text stand at these positions."""
        pass_B, place_B = np.divmod(np.arange(position, position + count), self.num_windows)
        row_B = np.empty(count, dtype=np.int64)
        for number in np.unique(pass_B):
            row_B[pass_B == number] = self._order_N(int(number))[place_B[pass_B == number]]
        return row_B


class Windows:
    """Consecutive windows of a stream; a tail shorter than a window is dropped."""

    def __init__(self, stream_ids: Ids, *, length: int, seed: int, name: str) -> None:
        self.order = WindowOrder(len(stream_ids), length=length, seed=seed, name=name)
        num_windows = self.order.num_windows
        self._window_NL = stream_ids[: num_windows * length].reshape(num_windows, length)

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        return self._window_NL[self.order.rows(position, count)].astype(np.int64)
