"""Shared by many tests: jieba kept quiet, and a study that was run once."""

import json
import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from commands import Workplace, isoglot, processor_seconds
from hypothesis import settings
from study_texts import TINY_STUDY

from isoglot.files import lease
from isoglot.store import Store
from isoglot.store.record import maker

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


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Where tiny.toml was run once. Tests that change a store change a copy."""
    folder, base = tmp_path_factory.mktemp("finished"), tmp_path_factory.getbasetemp()
    # Workers of pytest-xdist have their folders side by side: the first runs the study, and each gets a copy.
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    origin, facts = place / "finished-once", place / "finished-once.json"
    with lease(place / "finished-once.lease", waiting=lambda _: None):
        if not facts.exists():
            origin.mkdir()
            (origin / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
            start = processor_seconds()
            run = isoglot("run", "tiny.toml", folder=origin)
            assert run.returncode == 0, run.stdout + run.stderr
            facts.write_text(json.dumps({"output": run.stdout, "seconds": processor_seconds() - start}))
    shutil.copytree(origin, folder, dirs_exist_ok=True)
    first = json.loads(facts.read_text())
    output = first["output"].replace(str(origin), str(folder))
    return Workplace(folder=folder, first_output=output, first_seconds=first["seconds"])


@pytest.fixture
def copied(finished: Workplace, tmp_path: Path) -> Workplace:
    """The same place for one test to change."""
    return Workplace(folder=Path(shutil.copytree(finished.folder, tmp_path / "copy")), first_output="")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A folder with tiny.toml alone."""
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    return tmp_path
