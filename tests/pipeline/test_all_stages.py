"""Every stage of a study can be handed to another process, and its label is no part of its identity."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from real_studies import write_real_study

from isoglot.pipeline.exhibits import targets
from isoglot.store import inputs_first
from isoglot.study.conditions import TABLE_1
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study import Study, read_study, with_conditions, with_exhibits

STUDIES: dict[str, Callable[[Path], Study]] = {
    "demo": lambda _: read_study("demo"),
    "real languages": lambda folder: read_study(write_real_study(folder / "data")),
}


@pytest.mark.parametrize("name", STUDIES)
def test_stages_are_the_same_in_another_process_and_under_another_label(name: str, tmp_path: Path) -> None:
    study = with_conditions(STUDIES[name](tmp_path), [condition.name for condition in TABLE_1])
    by_kind = {stage.kind: stage for stage in inputs_first(targets(with_exhibits(study, EXHIBITS))).values()}
    assert len(by_kind) > 10
    assert "pretrained-encoder" in by_kind
    for stage in by_kind.values():
        copies = inputs_first([pickle.loads(pickle.dumps(stage))])
        # A digest that came with its stage says nothing of what the fields are now.
        for copy in copies.values():
            vars(copy).pop("digest", None)
        *_, last = copies.values()
        assert last.digest == stage.digest
        assert (last.title, last.amount()) == (stage.title, stage.amount())
        if hasattr(stage, "label"):
            renamed = replace(stage, label="another name")  # type: ignore[call-arg]
            assert renamed.digest == stage.digest
            assert "another name" in renamed.title
