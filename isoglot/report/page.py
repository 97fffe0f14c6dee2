"""The report of a study as files: every measurement as JSON lines, and a page that can be read without isoglot."""

from collections.abc import Sequence
from pathlib import Path

from isoglot.artifacts import Store
from isoglot.conditions import CONDITIONS
from isoglot.exhibits import Measurement, MissingCell, as_json_line
from isoglot.report.agreement import agreements
from isoglot.report.rows import Row, rows, single_value
from isoglot.report.tables import METRIC_TITLES, described, mean_and_range
from isoglot.study import Study

PAGE = "report.md"
MEASUREMENTS = "measurements.jsonl"


def write_report(
    study: Study, measurements: Sequence[Measurement], *, missing: Sequence[MissingCell], store: Store
) -> Path:
    """Write the report beside the artifacts it was made from; return the page's path."""
    folder = store.root / "reports" / study.name
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(as_json_line(each) + "\n" for each in measurements)
    (folder / MEASUREMENTS).write_text(lines, encoding="utf-8")
    (folder / PAGE).write_text(page(study, measurements, missing=missing), encoding="utf-8")
    return folder / PAGE


def page(study: Study, measurements: Sequence[Measurement], *, missing: Sequence[MissingCell]) -> str:
    """The report in Markdown."""
    scale = study.scale
    parts = [
        f"# {study.name}: {' and '.join(study.languages)}",
        f"Scale `{scale.name}`: {scale.shape.layers} layers of width {scale.shape.width}, {scale.updates:,} updates of "
        f"{scale.batch} windows of {scale.window} tokens, {scale.tokens:,} tokens a model; seeds "
        f"{', '.join(map(str, study.seeds))}. Nothing maps one language to the other; no translation was trained on.",
    ]
    for metric, title in METRIC_TITLES.items():
        gathered = rows(measurements, metric=metric)
        for languages in dict.fromkeys(row.languages for row in gathered):
            of_pair = [row for row in gathered if row.languages == languages]
            chance = single_value(measurements, metric=f"{metric}_chance")
            parts += [f"## {title} ({'-'.join(languages)})", _table(of_pair, study=study)]
            parts += [f"Chance is {chance:.1f}%." if chance is not None else ""]
            if metric == "retrieval_p1" and (found := agreements(of_pair)):
                parts += ["Orders on which all tasks of the paper's Table 1 agree, here:"]
                parts += ["\n".join(f"- {each.sentence()}" for each in found)]
    if missing:
        parts += ["## No data", "\n".join(f"- {each.condition}: {each.reason}" for each in missing)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(of_pair: Sequence[Row], *, study: Study) -> str:
    layers = [f"L{layer}" for layer in range(len(of_pair[0].layers))]
    headings = ["Model", "Anchors", "Own parts", "Softmax", *layers, "best", "untrained"]
    lines = [headings, ["---"] * 4 + ["---:"] * (len(headings) - 4)]
    for row in of_pair:
        condition = CONDITIONS[row.condition]
        scores = [f"{score:.1f}" for score in row.layers]
        ends = [f"**{mean_and_range(row.best)}**", f"{row.mean_untrained_best:.1f}"]
        lines.append([condition.label, *described(condition, scale=study.scale), *scores, *ends])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
