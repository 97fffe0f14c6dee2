"""The cluster that all tests of this folder share."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.slurm.one_node_cluster import DoesNotStartError, OneNodeCluster, one_node_cluster, why_not


@pytest.fixture(scope="session")
def running_cluster() -> Iterator[OneNodeCluster]:
    if reason := why_not():
        pytest.skip(reason)
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isoglot[slurm]'")
    with ExitStack() as cleaning:
        try:
            cluster = cleaning.enter_context(one_node_cluster())
        except DoesNotStartError as error:
            pytest.skip(f"Slurm is installed but does not start here: {error}")
        yield cluster


@pytest.fixture
def cluster(running_cluster: OneNodeCluster, monkeypatch: pytest.MonkeyPatch) -> OneNodeCluster:
    """Found by what the test starts."""
    monkeypatch.setenv("SLURM_CONF", str(running_cluster.settings))
    return running_cluster
