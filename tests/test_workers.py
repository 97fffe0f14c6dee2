import os

import pytest

from isoglot.errors import IsoglotError
from isoglot.machine import num_workers


def test_as_many_as_there_are_processors_or_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOT_WORKERS", raising=False)
    assert 1 <= num_workers() <= (os.cpu_count() or 1)
    monkeypatch.setenv("ISOGLOT_WORKERS", "7")
    assert num_workers() == 7


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "1.5"])
def test_what_is_no_number_of_processes_is_refused(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOT_WORKERS", wanted)
    with pytest.raises(IsoglotError, match=f"ISOGLOT_WORKERS='{wanted}' is no number of processes"):
        num_workers()
