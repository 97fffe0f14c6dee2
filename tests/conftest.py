"""A scale and a world small enough for a second, and a study that was run once."""

import logging
import os
import warnings
from collections.abc import Iterator
from types import ModuleType

import pytest
from commands import Workplace, isoglot, processor_seconds
from hypothesis import settings
from study_texts import TINY_STUDY
from tiny_worlds import TINY_WORLD

from isoglot.store import Store
from isoglot.store.record import maker
from isoglot.study.scales import DEMO, EncoderShape, NormPlacement, Optimization, Scale
from isoglot.study.synthetic_languages import World

# Where others use the cores, a second thread makes small models many times slower; commands run by tests inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Two busy cores must not make a property fail for being slow, nor one run differ from the next.
settings.register_profile("isoglot", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("campaign", deadline=None, derandomize=True, max_examples=200)
settings.load_profile(os.environ.get("ISOGLOT_HYPOTHESIS", "isoglot"))


@pytest.fixture(scope="session", autouse=True)
def _one_maker() -> Iterator[None]:
    """Compute once what each store computes once: git and the packages' metadata take a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "maker", maker())
        yield


@pytest.fixture(scope="session")
def jieba(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """jieba itself, kept quiet and away from the shared folder for temporary files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.CRITICAL)
    jieba.dt.tmp_dir = str(tmp_path_factory.mktemp("jieba"))
    jieba.initialize()
    return jieba


@pytest.fixture
def tiny_scale() -> Scale:
    return Scale(
        name="tiny",
        summary="for tests",
        shape=EncoderShape(
            layers=4,
            width=16,
            heads=2,
            feed_forward=32,
            positions=32,
            dropout=0.0,
            attention_dropout=0.0,
            norm=NormPlacement.PRE,
        ),
        optimization=Optimization(learning_rate=5e-3, warmup_updates=2),
        merges=60,
        window=16,
        batch=8,
        updates=6,
        evaluations=2,
        word_tasks=DEMO.word_tasks,
        pair_tasks=DEMO.pair_tasks,
        alignment=DEMO.alignment,
        dev_lines=20,
        test_lines=20,
    )


@pytest.fixture
def tiny_world() -> World:
    return TINY_WORLD


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Where tiny.toml was run once. Tests that change a store change a copy."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    start = processor_seconds()
    run = isoglot("run", "tiny.toml", folder=folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return Workplace(folder=folder, first_output=run.stdout, first_seconds=processor_seconds() - start)
