"""Token streams: shuffled lines as one long row of ids, each line closed by </s>, in memory-mapped files."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import END, Vocabulary
from isoglot.corpora.word_types import concatenated_ranges, numbered_words
from isoglot.errors import IsoglotError

Ids = NDArray[np.unsignedinteger]

CHUNK_LINES = 1 << 16


class Split(StrEnum):
    """The parts of a text."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


def cut_lines(lines: Iterable[str], *, dev_lines: int, test_lines: int, seed: int) -> dict[Split, list[str]]:
    """Shuffled lines, blank ones dropped; dev and test are cut off first, so that nothing is ever learned from them."""
    text = [line for line in lines if line.strip()]
    if len(text) <= dev_lines + test_lines:
        raise IsoglotError(
            f"{len(text)} lines of text that are not blank are too few for {dev_lines} dev lines, {test_lines} test "
            "lines and some to train on; give more text or lower dev_lines and test_lines"
        )
    order = np.random.default_rng(seed).permutation(len(text))
    dev, test, train = np.split(order, [dev_lines, dev_lines + test_lines])
    parts = {Split.TRAIN: train, Split.DEV: dev, Split.TEST: test}
    return {split: [text[i] for i in part] for split, part in parts.items()}


def encoded_lines(lines: Sequence[str], *, language: str, bpe: Bpe, vocabulary: Vocabulary) -> Ids:
    """The ids of all lines in one row, </s> after each."""
    types, type_N = numbered_words(lines, language=language)
    spelled = [[END], *(vocabulary.encode(language, bpe.segment(word)) for word in types)]
    lengths = np.array([len(ids) for ids in spelled])
    starts = np.cumsum(lengths) - lengths
    flat = np.fromiter(chain.from_iterable(spelled), dtype=_id_type(vocabulary.size(language)))
    return flat[concatenated_ranges(starts[type_N], lengths[type_N])]


def _id_type(table_size: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint16 if table_size <= 1 << 16 else np.uint32)


def write_stream(
    folder: Path, *, language: str, splits: Mapping[Split, Iterable[str]], bpe: Bpe, vocabulary: Vocabulary
) -> "TokenStream":
    """Write train.bin, dev.bin and test.bin and stream.json beside them; blank lines are dropped."""
    folder.mkdir(parents=True, exist_ok=True)
    num_lines, num_tokens = {}, {}
    for split in Split:
        num_lines[split] = num_tokens[split] = 0
        with _file(folder, split).open("wb") as file:
            for chunk in _chunks(splits[split]):
                ids = encoded_lines(chunk, language=language, bpe=bpe, vocabulary=vocabulary)
                ids.tofile(file)
                num_lines[split] += len(chunk)
                num_tokens[split] += len(ids)
    table_size = vocabulary.size(language)
    stream = TokenStream(
        folder=folder,
        language=language,
        table_size=table_size,
        dtype=_id_type(table_size).name,
        lines=num_lines,
        tokens=num_tokens,
    )
    description = asdict(stream)
    del description["folder"]
    (folder / "stream.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    return stream


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    rest = (line for line in lines if line.strip())
    while chunk := list(islice(rest, CHUNK_LINES)):
        yield chunk


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
        path = folder / "stream.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            stream = cls(
                folder=folder,
                language=str(content["language"]),
                table_size=int(content["table_size"]),
                dtype=str(content["dtype"]),
                lines={split: int(content["lines"][split]) for split in Split},
                tokens={split: int(content["tokens"][split]) for split in Split},
            )
        except FileNotFoundError:
            raise IsoglotError(f"{path}: no such file; {folder} is not a token stream") from None
        except (ValueError, KeyError, TypeError) as error:
            raise IsoglotError(
                f"{path}: does not describe a token stream ({error!r}); delete {folder} to make it anew"
            ) from error
        if stream.dtype != _id_type(stream.table_size).name:
            raise IsoglotError(
                f"{path}: ids of {stream.table_size} tokens are not kept as {stream.dtype!r}; delete {folder}"
            )
        return stream

    @classmethod
    def read(cls, folder: Path, split: Split) -> Ids:
        """The ids of one split as a read-only memory map."""
        return cls.open(folder).ids(split)

    def ids(self, split: Split) -> Ids:
        """The ids of one split as a read-only memory map."""
        path, dtype = _file(self.folder, split), np.dtype(self.dtype)
        if not path.is_file():
            raise IsoglotError(f"{path}: no such file, though stream.json beside it describes it; delete {self.folder}")
        expected, found = self.tokens[split] * dtype.itemsize, path.stat().st_size
        if found != expected:
            raise IsoglotError(
                f"{path}: has {found} bytes where stream.json says {expected}; delete {self.folder} to make it anew"
            )
        if not expected:
            # An empty file cannot be mapped.
            return np.frombuffer(b"", dtype=dtype)
        return np.memmap(path, dtype=dtype, mode="r")


def _file(folder: Path, split: Split) -> Path:
    return folder / f"{split}.bin"
