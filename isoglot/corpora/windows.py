"""Windows of equal length over a token stream, in a random order that any position can be resumed from."""

# Shapes: N windows in a pass, B windows taken, L tokens in a window.

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.streams import Ids
from isoglot.errors import IsoglotError
from isoglot.randomness import derived_seed


class Windows:
    """All windows of a stream again and again, each pass in a fresh order; a tail shorter than a window is dropped."""

    # Departure: XLM first cuts the stream into as many columns as a batch has rows, and takes windows at the same place
    # of all columns; here windows are drawn one by one, so that their order does not depend on the batch size.

    def __init__(self, stream_ids: Ids, *, length: int, seed: int, name: str) -> None:
        count = len(stream_ids) // length
        if count == 0:
            raise IsoglotError(
                f"the stream of {name!r} has {len(stream_ids)} tokens, less than one window of {length}; give more text"
            )
        self._window_NL = stream_ids[: count * length].reshape(count, length)

        # Two, as the windows of one batch may come from the end of a pass and from the beginning of the next.
        @lru_cache(maxsize=2)
        def order_N(number: int) -> NDArray[np.int64]:
            return np.random.default_rng(derived_seed(seed, "windows", name, number)).permutation(count)

        self._order_N = order_N

    def __len__(self) -> int:
        return len(self._window_NL)

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        """Windows number position to position + count - 1, counted from the first of the first pass: ids [B, L]."""
        pass_B, place_B = np.divmod(np.arange(position, position + count), len(self))
        row_B = np.empty(count, dtype=np.int64)
        for number in np.unique(pass_B):
            row_B[pass_B == number] = self._order_N(int(number))[place_B[pass_B == number]]
        return self._window_NL[row_B].astype(np.int64)
