"""How fast a run would be on this machine, measured on a few of its updates with made-up text."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, id_type
from isoglot.corpora.vocabulary import SPECIALS
from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND, Machine
from isoglot.pretraining.footprint import num_read
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import PretrainingRun

WARM_UP = 4
FEWEST, MOST = 3, 50  # updates that are timed
SECONDS = 3.0  # timing ends after so long, once the fewest are done
WINDOWS_OF_TEXT = 256
OPERATIONS_PER_NUMBER = 6
LONGEST_UPDATE_SECONDS = 2.0


def tokens_per_second(
    run: PretrainingRun, *, table_sizes: Mapping[str, int], machine: Machine, micro_batch: int
) -> float:
    """The median over updates of a few seconds; checkpoints and evaluations come on top."""
    # One update of the paper's model may take a laptop many minutes. Where a guess says so, smaller ones are timed.
    # Adam takes a larger share of those, so the estimate errs on the slow side.
    operations = OPERATIONS_PER_NUMBER * num_read(run, table_sizes=table_sizes) * run.window
    windows = int(LONGEST_UPDATE_SECONDS * GUESSED_OPERATIONS_PER_SECOND[machine.device.type] / operations)
    batch = min(run.batch, max(1, windows))
    timed = replace(run, batch=batch, language_draws=min(run.language_draws, batch))
    with (
        TemporaryDirectory(prefix="isoglot-calibration-") as place,
        machine.threads_for(num_activations=run.batch * run.window * run.shape.width),
    ):
        folder = Path(place)
        streams = {
            language: made_up_stream(folder / language, language=language, table_size=size, window=run.window)
            for language, size in table_sizes.items()
        }
        seconds: list[float] = []
        with Trainer(
            timed, streams, folder=folder / "model", machine=machine, micro_batch=min(micro_batch, batch)
        ) as trainer:
            while len(seconds) < WARM_UP + FEWEST or (len(seconds) < MOST and sum(seconds[WARM_UP:]) < SECONDS):
                machine.wait()
                start = perf_counter()
                # Updates alone: the models that a run keeps after its first ones would fill a small disk.
                trainer.updates(len(seconds) + 1, next(trainer.prefetcher))
                machine.wait()
                seconds.append(perf_counter() - start)
    return batch * run.window / median(seconds[WARM_UP:])


def made_up_stream(
    folder: Path, *, language: str, table_size: int, window: int, num_windows: int = WINDOWS_OF_TEXT
) -> TokenStream:
    """A stream of random text in which every id is as frequent as any other."""
    folder.mkdir(parents=True)
    dtype, num_tokens = id_type(table_size), num_windows * window
    ids = np.random.default_rng(0).integers(len(SPECIALS), table_size, num_tokens)
    for split in Split:
        ids.astype(dtype).tofile(folder / f"{split}.bin")
    return TokenStream(
        folder=folder,
        language=language,
        table_size=table_size,
        dtype=dtype.name,
        lines=dict.fromkeys(Split, num_windows),
        tokens=dict.fromkeys(Split, num_tokens),
    )
