"""Tests of stages run in one process, since a pool of workers costs more than it saves on tiny texts."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _one_worker() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOGLOT_WORKERS", "1")
        yield
