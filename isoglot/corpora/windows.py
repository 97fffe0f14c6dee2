"""Windows of equal length over a token stream, in a random order that any position can be resumed from."""

# Shapes: N windows in a pass, B windows taken, L tokens in a window.

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.streams import Ids
from isoglot.errors import IsoglotError
from isoglot.randomness import derived_seed


class WindowSource(Protocol):
    """What pretraining reads of one language."""

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

    def __len__(self) -> int:
        return self.num_windows

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
        self._window_NL = stream_ids[: len(self.order) * length].reshape(len(self.order), length)

    def __len__(self) -> int:
        return len(self.order)

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        """As WindowSource says."""
        return self._window_NL[self.order.rows(position, count)].astype(np.int64)
