"""The state that a checkpoint holds, and whether the models that it rests on are as they were written."""

import shutil
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import text_sum, write_whole
from isoglot.model.cloze import DESCRIPTION, WEIGHTS
from isoglot.model.work_files import WorkSums
from isoglot.pretraining.run import BEST, INTERMEDIATE, LOG


@dataclass
class TrainState:
    """Everything that changes during training besides weights and moments."""

    # No generator is in it: every random draw is seeded by the update's number, so a resumed run draws the same.

    update: int = 0
    positions: dict[str, int] = field(default_factory=dict)  # windows taken of each language
    micro_batch: int | None = None
    """Windows read at once until now. With dropout, other pieces of a batch would draw other masks."""
    best_perplexity: float = float("inf")
    losses: dict[str, list[float]] = field(default_factory=dict)
    """For each language, the sum of its losses since the last evaluation, and the number of updates in it."""
    skipped: list[int] = field(default_factory=list)  # updates that were left out
    guard: dict[str, float] = field(default_factory=dict)
    """The state of the guard that decides which updates to leave out."""
    log: list[dict[str, object]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    """Weights that were written until now, by their place in the folder."""


def damaged_model(state: TrainState, *, folder: Path) -> str | None:
    """Words about a model that the state rests on, and that is not as it was written; None if all are."""
    # Any of its sums will do: a kill may leave a better model than the checkpoint knows, which is then made again.
    name = WorkSums(folder).damaged(state.models, latest=False)
    return None if name is None else f"{name} is not as it was written"


def is_finished(folder: Path, sums: WorkSums) -> bool:
    """Whether an earlier attempt has written the log, and all that it wrote is as it was."""
    if not (folder / LOG).exists():
        return False
    # Files without a sum count as damaged: the line that had it may be.
    paths = [path for top in (BEST, INTERMEDIATE) for path in folder.glob(f"{top}/**/*") if path.is_file()]
    present = {path.relative_to(folder).as_posix() for path in paths}
    if (name := sums.damaged(sorted({LOG, *present, *sums.by_name()}), latest=True)) is None:
        return True
    warnings.warn(f"{folder / name} is not as it was written: this part of the training is done again", stacklevel=2)
    (folder / LOG).unlink()
    return False


def check_models(folder: Path, models: Collection[str], *, sums: WorkSums, description: str) -> None:
    """Raise if a model was damaged since it was written, and remove what this training has not written."""
    written = {*models, *(name for name in sums.by_name() if Path(name).name == WEIGHTS)}
    if (name := sums.damaged(sorted(written), latest=True)) is not None:
        raise IsoglotError(f"{folder / name} was changed after it was written: run again to make it again")
    kept = {folder / name for name in written}
    for path in folder.glob(f"{INTERMEDIATE}/*"):
        if path / WEIGHTS not in kept:
            shutil.rmtree(path)
    # Descriptions are the same for all, and short: they are written once more where weights are only compared.
    for weights in sorted(kept):
        write_whole(weights.with_name(DESCRIPTION), description)
        sums.add(weights.with_name(DESCRIPTION), text_sum(description))
