"""Records and scores of the artifacts that this repository publishes, as they lie in their packs."""

import json
import lzma
import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isoglot.pipeline.cells import FIGURE_6
from isoglot.pipeline.measurements import Measurement, measurements
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.report.growth.rows import Growth, growths
from isoglot.report.report_files import ReportData, read_report_data
from isoglot.store import Store
from isoglot.store.unpacking import unpack
from isoglot.study.real_text import RealText
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
RECIPE = RESULTS / "recipe"
BY_HAND = ("README.md", "verdicts.md", "growth.md", "seeds.md", "alignment.md", "tested.md", "cost.md")
"""Pages of results/replication that no report writes."""
DRAWN_BY_HAND = ("control-growth.retrieval.en-de.svg",)
"""Figures there that come from the report of another study."""
CHANCE_IN_NLI = 100 / 3
METRICS = {"XNLI": ("nli", "accuracy"), "NER": ("ner", "f1"), "Parsing": ("parsing", "las")}
"""By the paper's name for a task, ours and its metric."""
LANGUAGES = {"fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}
"""English was trained with these in replication."""
CONTROLLED = {
    "control-starts": ["fr", "de", "ru", "zh"],
    "control-softmax": ["de"],
    "control-text": ["de"],
    "control-growth": ["de"],
}
"""Controls of replication that have pieces there, and their languages so far."""
# All other studies are published whole.
MADE_SO_FAR = {
    "replication": {
        "targets": ["fr", "de", "ru", "zh"],
        "seeds": [0, 1],
        "exhibits": [
            *("emergence", "table-1", "baselines", "growth", "growth-tasks"),
            *("figure-4", "figure-5", "figure-6", "figure-7", "figure-8"),
        ],
    }
}


@cache
def pages_by_hand() -> str:
    """All pages of results/replication that no report writes, the README first."""
    return "".join((RESULTS / "replication" / name).read_text() for name in BY_HAND)


def with_published_files(file: Path, folder: Path) -> Study:
    """The study with the files it was published with: their hashes are in its provenance, so no data is needed."""
    study = read_study(file, data=Path("data"))
    assert isinstance(study.text, RealText)
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    for each in provenance["data_files"]:
        path = Path("data", each["name"])
        file = SourceFile(sha256=each["digest"].removeprefix("sha256:"), path=path, num_bytes=each["num_bytes"])
        # Studies may name a file without the ending of its compression.
        study.text.known_files[path] = study.text.known_files[path.with_suffix("")] = file
    return study


@cache
def packed_json(piece: Path) -> dict[str, Any]:
    """By folder and name; a pack is read once, and nothing is unpacked."""
    found = {}
    with lzma.open(piece) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            path = Path(member.name)
            if path.name in ("record.json", "scores.json") and (content := tar.extractfile(member)):
                found[f"{path.parent.name}/{path.name}"] = json.load(content)
    return found


def packed_records(piece: Path) -> list[dict[str, Any]]:
    return [content for name, content in packed_json(piece).items() if name.endswith("record.json")]


def published_part(study: Study, name: str) -> Study:
    """As much of a study as is published."""
    return study.replace(**MADE_SO_FAR.get(name, {}))


@cache
def report_data(name: str) -> ReportData:
    return read_report_data(RESULTS / name)


@cache
def of_control(name: str) -> tuple[Study, list[Measurement]]:
    """A control of replication, as far as it is there, and its findings."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        unpack(RESULTS / f"replication/pieces/{name}.tar.xz", store)
        study = with_published_files(ROOT / "studies" / f"{name}.toml", RESULTS / "replication")
        study = study.replace(targets=CONTROLLED[name], exhibits=[*study.exhibits, FIGURE_6])
        return study, measurements(study, store)[0]


def with_control(name: str) -> list[Measurement]:
    """Findings of a control and of the study that it controls, as what both have lies in that one's pieces."""
    of_all = [*report_data("replication").measurements, *of_control(name)[1]]
    return [each for each in of_all if each.languages[1] in CONTROLLED[name]]


ByPlace = dict[tuple[str, str, int], float]
"""Scores by condition, target language and seed."""


def by_place(found: list[Measurement], metric: str, *, language: str | None = None) -> ByPlace:
    """Scores in each target, or in the language named; of retrieval the best layer's."""
    scores: ByPlace = {}
    for each in found:
        target = each.languages[1]
        is_asked = (each.metric, each.variant) == (metric, None) and each.exhibit in ("table-1", "emergence")
        if is_asked and each.seed is not None and each.language in (None, language or target):
            place = (each.condition, target, each.seed)
            scores[place] = max(scores.get(place, 0.0), each.value)
    return scores


def best_after_a_map(found: Iterable[Measurement], condition: str, seed: int) -> float:
    """Sentences of Figure 6 that find their translation, at the best layer."""
    return max(
        each.value
        for each in found
        if (each.exhibit, each.metric, each.variant) == (FIGURE_6, "aligned_retrieval_p1", None)
        and (each.condition, each.seed) == (condition, seed)
    )


@cache
def grown() -> dict[tuple[str, str, str], Growth]:
    """By condition, target language and measure."""
    data = report_data("replication")
    found = growths(data.measurements, scale=data.study.scale)
    return {(each.condition, each.languages[1], each.measure.key): each for each in found}
