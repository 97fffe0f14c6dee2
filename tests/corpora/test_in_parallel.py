import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from operator import neg
from pathlib import Path

import pytest
from ctrl_c import hearing_ctrl_c

from isoglot.corpora.in_parallel import IN_FLIGHT, READ_AHEAD, ordered_map, read_ahead
from isoglot.errors import IsoglotError
from tests.killed_processes import is_running, until

# Builtins and functions of the standard library, which a fresh process can unpickle however the tests were started.
PID = "__import__('os').getpid()"
ENDLESS = f"""
import itertools, sys, time
from isoglot.corpora.in_parallel import ordered_map

if __name__ == "__main__":
    for pid in ordered_map(eval, itertools.repeat("{PID}"), workers=2):
        print(pid, flush=True)
        time.sleep(0.01)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_in_the_order_of_the_items(workers: int) -> None:
    # The first sleep longest, so that they end in another order.
    naps = [f"__import__('time').sleep({0.01 * (12 - i)}) or {i}" for i in range(12)]
    assert list(ordered_map(eval, naps, workers=workers)) == list(range(12))
    assert list(ordered_map(neg, [], workers=workers)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_waits_for_its_turn(workers: int) -> None:
    def items() -> Iterator[str]:
        yield from "12"
        raise IsoglotError("text.xml: cut off")

    for given, error in ((["1", "2", "x", "4"], "invalid literal for int.*'x'"), (items(), "cut off")):
        results = ordered_map(int, given, workers=workers)
        assert [next(results), next(results)] == [1, 2]
        with pytest.raises((ValueError, IsoglotError), match=error):
            next(results)
        assert list(results) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_items_are_taken_only_as_results_are(workers: int) -> None:
    taken: list[int] = []
    results = ordered_map(neg, (taken.append(i) or i for i in range(1000)), workers=workers)
    for number in range(20):
        assert next(results) == -number
        assert number < len(taken) <= number + IN_FLIGHT * workers + READ_AHEAD
    results.close()
    assert len(taken) <= 20 + IN_FLIGHT * workers + READ_AHEAD


@pytest.mark.campaign
def test_closing_early_ends_the_workers() -> None:
    results = ordered_map(eval, iter(lambda: PID, None), workers=2)
    pids = {next(results) for _ in range(20)}
    threads = threading.active_count()
    assert any(map(is_running, pids))
    results.close()
    assert not any(map(is_running, pids))
    assert threading.active_count() < threads


def test_a_killed_worker_is_told_and_not_waited_for() -> None:
    with pytest.raises(IsoglotError, match="worker process was killed; if memory ran out, use fewer"):
        list(ordered_map(eval, [f"__import__('os').kill({PID}, 9)"] * 3, workers=2))


def started(tmp_path: Path) -> tuple[subprocess.Popen[str], set[int]]:
    """A program in its own process group, as a shell starts one, and the workers it has."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    with hearing_ctrl_c():
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        program = subprocess.Popen([sys.executable, tmp_path / "endless.py"], start_new_session=True, **pipes)
    pids: set[int] = set()
    while len(pids) < 2:
        pids.add(int(program.stdout.readline()))
    return program, pids


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program, pids = started(tmp_path)
    with program:
        program.kill()
    until(lambda: not any(map(is_running, pids)), seconds=60)


@pytest.mark.campaign
def test_ctrl_c_ends_all_and_only_the_parent_speaks_of_it(tmp_path: Path) -> None:
    program, pids = started(tmp_path)
    os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate(timeout=300)
    assert program.returncode == -signal.SIGINT
    assert said.count("Traceback") == said.count("KeyboardInterrupt") == 1, said
    until(lambda: not any(map(is_running, pids)), seconds=60)


def test_items_are_read_while_others_are_at_work() -> None:
    read: list[int] = []
    ahead = read_ahead(read.append(number) or number for number in range(6))
    assert next(ahead) == 0
    until(lambda: len(read) > READ_AHEAD, seconds=60)
    assert read == [0, 1, 2], "neither fewer nor all of them"
    assert list(ahead) == [1, 2, 3, 4, 5]
