"""The batch of each update: languages are drawn, their next windows are taken, and a thread reads ahead of a GPU."""

# B = windows, L = positions

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.code_switching import SwitchableText, SwitchedWindows
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, Windows, WindowSource
from isoglot.machine import Machine
from isoglot.pretraining.run import PretrainingRun, language_probabilities
from isoglot.randomness import derived_seed

READ_AHEAD = 4


def window_source(stream: TokenStream, *, switchable: SwitchableText | None, window: int, seed: int) -> WindowSource:
    """Windows of a language's training text: as it is in the stream, or code-switched where that is given."""
    if switchable is None:
        return Windows(stream.ids(Split.TRAIN), length=window, seed=seed, name=stream.language)
    return SwitchedWindows(switchable, length=window, seed=seed, name=stream.language)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The windows of one update that one process learns from, in pieces that are read at once."""

    token_BL: Tensor  # this process's rows of the update's batch
    first_row: int  # number of the first of them in the whole batch
    pieces: tuple[tuple[str, int, int], ...]
    """Language, first row and end row of each piece; rows are counted in the whole batch."""
    languages: frozenset[str]  # languages of the whole batch, over all processes
    positions: Mapping[str, int]
    """Windows that each language has given by the end of this batch; a resumed run starts there."""

    def rows(self, first: int, end: int) -> Tensor:
        """Tokens of some rows of the whole batch."""
        return self.token_BL[first - self.first_row : end - self.first_row]


class Batches:
    """Gives the batches in order; its state is the update's number and how many windows each language has given."""

    # Every process draws the languages of the whole batch and counts the windows of all rows, though it reads its own
    # rows alone. Were each to draw by itself, they would disagree about which weights an update changes.

    def __init__(
        self,
        sources: Mapping[str, WindowSource],
        *,
        run: PretrainingRun,
        lines: Mapping[str, int],
        rows: tuple[int, int] | None = None,
        micro_batch: int | None = None,
    ):
        self.sources, self.run = sources, run
        self.rows, self.micro_batch = rows or (0, run.batch), micro_batch or run.batch
        self.update = 0
        self.positions = dict.fromkeys(sources, 0)
        probabilities = language_probabilities(lines, exponent=run.language_exponent)
        self.languages = list(probabilities)
        self.cumulative = np.cumsum(list(probabilities.values()))

    def go_to(self, update: int, positions: Mapping[str, int]) -> None:
        """Continue after this update, from these windows."""
        self.update = update
        self.positions.update(positions)

    def __next__(self) -> Batch:
        self.update += 1
        run, num_draws = self.run, self.run.language_draws
        draws = np.random.default_rng(derived_seed(run.seed, "language", self.update)).random(num_draws)
        # Rounding may leave the last sum just below a draw just below one.
        drawn = np.searchsorted(self.cumulative, draws, side="right").clip(max=len(self.languages) - 1)
        first_row, end_row = self.rows
        token_BL = np.empty((end_row - first_row, run.window), dtype=np.int64)
        pieces, languages = [], set()
        for draw, language in enumerate(self.languages[each] for each in drawn):
            start, end = (bound * run.batch // num_draws for bound in (draw, draw + 1))
            if start == end:
                continue  # there are more draws than rows
            languages.add(language)
            # Piece by piece, not all at once: code-switching changes a share of the words that are taken together.
            for first in range(max(start, first_row), min(end, end_row), self.micro_batch):
                last = min(first + self.micro_batch, end, end_row)
                windows = self.sources[language].take(self.positions[language] + first - start, last - first)
                token_BL[first - first_row : last - first_row] = windows
                pieces.append((language, first, last))
            self.positions[language] += end - start
        return Batch(
            token_BL=torch.from_numpy(token_BL),
            first_row=first_row,
            pieces=tuple(pieces),
            languages=frozenset(languages),
            positions=dict(self.positions),
        )


class Prefetcher:
    """Gives the batches in order; for a GPU, a thread reads them ahead into memory that the GPU can fetch from."""

    def __init__(self, batches: Batches, machine: Machine):
        self.batches, self.device = batches, machine.device
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="isoglot-reader")
        self._ahead: deque[Future[Batch]] = deque()

    def __next__(self) -> Batch:
        if self.device.type != "cuda":
            return next(self.batches)
        while len(self._ahead) < READ_AHEAD:
            self._ahead.append(self._thread.submit(self._read))
        batch = self._ahead[0].result()  # an error stays there, and is raised again by the next call
        self._ahead.popleft()
        return replace(batch, token_BL=batch.token_BL.to(self.device, non_blocking=True))

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _read(self) -> Batch:
        batch = next(self.batches)
        return replace(batch, token_BL=batch.token_BL.pin_memory())
