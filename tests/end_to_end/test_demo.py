"""The demo itself, which takes minutes: what README says it shows."""

import json
import time
from pathlib import Path

import pytest
from commands import isoglot


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_structure_emerges_and_goes_with_the_shared_parts(seed: int, tmp_path: Path) -> None:
    start = time.monotonic()
    run = isoglot("run", "demo", "--seeds", str(seed), folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert time.monotonic() - start < 360
    best: dict[tuple[str, str | None], float] = {}
    for line in isoglot("results", "demo", "--seeds", str(seed), "--json", folder=tmp_path).stdout.splitlines():
        each = json.loads(line)
        if each["update"] is not None or each["metric"] != "retrieval_p1":
            continue
        key = each["condition"], each["variant"]
        best[key] = max(best.get(key, 0.0), each["value"])
    assert best["default", None] >= 50
    assert best["no-anchors", None] >= 30
    gain = best["sep-emb-l1-6", None] - best["sep-emb-l1-6", "untrained"]
    assert abs(gain) <= 3
