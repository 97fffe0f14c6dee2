"""Every stage can be handed to another process, and its cluster resources grow with the scale of a study."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.job_sizes import for_text
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import FileText, HubText, WikipediaText, gigabytes
from isoglot.store import Resources, inputs_first
from isoglot.study.conditions import TABLE_1
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.real_text import HubDataset
from isoglot.study.scales import DEMO, PAPER, SCALES, SMALL, Scale
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study, read_study

STUDIES: dict[str, Callable[[Path], Study]] = {
    "demo": lambda _: read_study("demo"),
    "real languages": lambda folder: read_study(write_real_study(folder / "data")),
}


@pytest.mark.parametrize("name", STUDIES)
def test_stages_are_the_same_in_another_process_and_under_another_label(name: str, tmp_path: Path) -> None:
    study = STUDIES[name](tmp_path).replace(conditions=[condition.name for condition in TABLE_1])
    by_kind = {stage.kind: stage for stage in inputs_first(targets(study.replace(exhibits=EXHIBITS))).values()}
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


READ = {"emergence", "similarity", "sentence-alignment", "contextual-maps", "layer-transfer"}
TRAINED = {"pretrained-encoder", "fine-tuning", "layer-head"}


def resources(scale: Scale) -> dict[str, Resources]:
    """By kind of stage, for a study of synthetic languages at some scale."""
    tiny = parse_study(TINY_STUDY, origin="tiny.toml")
    study = replace(tiny, scale=scale).replace(exhibits=["table-1", "emergence", "figure-5", "figure-6", "figure-7"])
    return {stage.kind: stage.resources() for stage in inputs_first(targets(study)).values()}


@pytest.mark.parametrize("name", ["small", "paper"])
def test_models_of_real_languages_get_a_gpu_and_text_gets_none(name: str) -> None:
    assert {kind for kind, each in resources(SCALES[name]).items() if each.gpus} == READ | TRAINED


def test_the_demo_needs_no_gpu() -> None:
    demo = resources(DEMO)
    assert {each.gpus for each in demo.values()} == {0}
    assert demo["pretrained-encoder"].hours < 2


def test_hours_follow_the_budget() -> None:
    small, paper = (resources(scale)["pretrained-encoder"].hours for scale in (SMALL, PAPER))
    assert small < 6
    # An H200 takes a day, and eight V100s took three with the code of 2019.
    assert 24 < paper < 8 * 3 * 24


def test_memory_follows_the_text(tmp_path: Path) -> None:
    file = SourceFile(sha256="0", path=tmp_path / "text.txt", num_bytes=20_000_000_000)
    assert gigabytes(FileText(files=(file, file))) == 40
    assert WikipediaText(dumps=(file,)).resources() == for_text(20) == Resources(cpus=8, gigabytes=48, hours=12)
    assert HubText(dataset=HubDataset(dataset="a/b", revision="0" * 40)).resources().cpus == 8
    assert for_text(0.01) == Resources()


def test_a_model_that_several_processes_train_asks_for_a_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "4")
    gpus = {kind: each.gpus for kind, each in resources(SMALL).items() if kind in TRAINED}
    assert gpus == {"pretrained-encoder": 4, "fine-tuning": 1, "layer-head": 1}
