"""Whatever is damaged in the folder of an interrupted attempt, the next one ends with the same bytes."""

import os
import random
import shutil
import warnings
from collections import Counter
from pathlib import Path

import pytest
from commands import Workplace
from damages import damage

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer import fine_tuning
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.fine_tuning import FineTuning
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining import loop
from isoglot.store import Stage, Store, inputs_first
from tests.killed_processes import files_of

SEED = 20261117


def linked(origin: Path, root: Path) -> Path:
    """A copy of a store that takes no room; its files are read only."""
    return Path(shutil.copytree(origin, root, copy_function=os.link, ignore=shutil.ignore_patterns("reports", "logs")))


def artifact(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files_of(folder).items() if name != "record.json"}


def interrupted(stage: Stage, store: Store, *, share: float) -> Path:
    """The work folder of an attempt that was stopped after this share of its work."""

    def stop(done: float, total: float, unit: str, note: str = "") -> None:  # noqa: ARG001
        if done >= share * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.ensure(stage, stop)
    return store.partial_folder(stage)


@pytest.fixture(scope="module")
def snapshots(finished: Workplace, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Stage, Path]]:
    """Work folders of a model and of a fine-tuning, stopped early, late, and before the record was renamed."""
    found: list[tuple[Stage, Path]] = []
    stages = [*inputs_first(targets(finished.study)).values()]
    with pytest.MonkeyPatch.context() as patch:
        for room in (loop, fine_tuning):
            patch.setattr(room, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
            patch.setattr(room, "UPDATES_BETWEEN_REPORTS", 1)
        model = next(each for each in stages if isinstance(each, PretrainedEncoder))
        tuning = next(each for each in stages if isinstance(each, FineTuning) and each.encoder != model)
        for stage in (model, tuning):
            for number, share in enumerate((0.3, 0.7, 1.0)):
                root = linked(finished.store.root, tmp_path_factory.mktemp(f"{stage.kind}-{number}") / "store")
                store = Store(root)
                if share == 1.0:
                    partial = store.folder(stage).rename(store.partial_folder(stage))
                else:
                    shutil.rmtree(store.folder(stage))
                    partial = interrupted(stage, store, share=share)
                found.append((stage, partial))
    return found


@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.campaign)])
def test_no_damage_of_a_work_folder_is_silent(
    finished: Workplace, snapshots: list[tuple[Stage, Path]], tmp_path: Path, count: int
) -> None:
    print(f"seed {SEED}")
    draw, fates = random.Random(SEED), Counter[str]()
    store = Store(linked(finished.store.root, tmp_path / "store"))
    for stage in {stage.digest: stage for stage, _ in snapshots}.values():
        shutil.rmtree(store.folder(stage))
    for number in range(count):
        stage, snapshot = snapshots[number % len(snapshots)]
        partial = Path(shutil.copytree(snapshot, store.partial_folder(stage)))
        files = [path for path in sorted(partial.rglob("*")) if path.is_file() and path.stat().st_size]
        what = damage(draw.choice(files), draw)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            try:
                store.ensure(stage)
            except IsoglotError:
                # It has named the damage, and the next attempt must get through, to the same bytes.
                fates["named"] += 1
                store.ensure(stage)
        assert artifact(store.verified_folder(stage)) == artifact(finished.store.folder(stage)), what
        fates["warned of" if shown else "made again"] += 1
        if number % 20 == 19:
            print(number + 1, dict(fates), flush=True)
        shutil.rmtree(store.folder(stage))
    print(dict(fates))
    assert fates["warned of"] + fates["made again"] == count
