"""Every stage of a study can be handed to another process, and is the same one there."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from real_studies import write_real_study

from isoglot.pipeline.exhibits import targets
from isoglot.store import inputs_first
from isoglot.study.conditions import TABLE_1
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study import Study, read_study, with_conditions, with_exhibits


def whole(study: Study) -> Study:
    """All rows and exhibits that there are."""
    return with_exhibits(with_conditions(study, [condition.name for condition in TABLE_1]), EXHIBITS)


STUDIES: dict[str, Callable[[Path], Study]] = {
    "demo": lambda _: read_study("demo"),
    "similarity": lambda _: read_study("similarity"),
    "real languages": lambda folder: read_study(write_real_study(folder / "data")),
}


@pytest.mark.parametrize("name", STUDIES)
def test_stages_are_the_same_in_another_process(name: str, tmp_path: Path) -> None:
    stages = inputs_first(targets(whole(STUDIES[name](tmp_path))))
    assert len(stages) > 50
    kinds = set()
    for digest, stage in stages.items():
        copies = inputs_first([pickle.loads(pickle.dumps(stage))])
        # A digest that came with its stage says nothing of what the fields are now.
        for copy in copies.values():
            vars(copy).pop("digest", None)
        *_, last = copies.values()
        assert last.digest == digest
        assert (last.title, last.amount()) == (stage.title, stage.amount())
        kinds.add(stage.kind)
    assert "pretrained-encoder" in kinds
