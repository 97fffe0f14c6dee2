"""The cluster that all tests of this folder share."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.slurm.one_node_cluster import DoesNotStartError, OneNodeCluster, one_node_cluster, why_not


@pytest.fixture(scope="session")
def cluster() -> Iterator[OneNodeCluster]:
    """A running cluster that commands find by the environment variable SLURM_CONF."""
    if reason := why_not():
        pytest.skip(reason)
    pytest.importorskip("submitit", reason="submitit is not installed: pip install submitit")
    with ExitStack() as cleaning, pytest.MonkeyPatch.context() as patch:
        try:
            cluster = cleaning.enter_context(one_node_cluster())
        except DoesNotStartError as error:
            pytest.skip(f"Slurm is installed but does not start here: {error}")
        patch.setenv("SLURM_CONF", str(cluster.settings))
        yield cluster
