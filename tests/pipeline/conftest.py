"""Tests of stages run in one process: a pool of workers costs more than tiny texts."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _one_worker() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOGLOT_WORKERS", "1")
        yield
