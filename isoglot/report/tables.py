"""Table 1 in the terminal: conditions down, layers across."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from isoglot.conditions import CONDITIONS, Anchors, Condition, Domain, Segmentation
from isoglot.exhibits import Measurement
from isoglot.report.agreement import Verdict, agreements
from isoglot.report.rows import Row, rows, single_value
from isoglot.scales import Scale

METRIC_TITLES = {
    "retrieval_p1": "Parallel sentences: precision at 1 (%) by layer, no mapping",
    "word_translation_p1": "Word translation: precision at 1 (%) by layer, no mapping",
}
VERDICT_STYLES = {Verdict.AGREES: "green", Verdict.DISAGREES: "red", Verdict.TOO_CLOSE: "yellow"}


def results(measurements: Sequence[Measurement], *, scale: Scale) -> RenderableType:
    """Every table of a study, and what they say of the paper's order of conditions."""
    parts: list[RenderableType] = []
    for metric, title in METRIC_TITLES.items():
        gathered = rows(measurements, metric=metric)
        for languages in dict.fromkeys(row.languages for row in gathered):
            of_pair = [row for row in gathered if row.languages == languages]
            chance = single_value(measurements, metric=f"{metric}_chance")
            parts += [score_table(of_pair, title=f"{title} ({'-'.join(languages)})", chance=chance, scale=scale), ""]
            if metric == "retrieval_p1":
                parts += [*_verdicts(of_pair), ""]
    return Group(*parts)


def score_table(of_pair: Sequence[Row], *, title: str, chance: float | None, scale: Scale) -> Table:
    """One metric of one language pair."""
    caption = "untr.: best layer of the same model before training; Δ: best less Default's best"
    if chance is not None:
        caption += f"; chance {chance:.1f}"
    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    table.add_column("Model", no_wrap=True)
    for heading in ("Anchors", "Own parts", "Softmax"):
        table.add_column(heading)
    for layer in range(len(of_pair[0].layers)):
        table.add_column(f"L{layer}", justify="right")
    for heading in ("best", "untr.", "Δ"):
        table.add_column(heading, justify="right", no_wrap=True)
    default = next((row.mean_best for row in of_pair if row.condition == "default"), None)
    for row in of_pair:
        condition = CONDITIONS[row.condition]
        delta = "" if default is None else f"{row.mean_best - default:+.1f}"
        table.add_row(
            condition.label,
            *described(condition, scale=scale),
            *(f"{score:.1f}" for score in row.layers),
            Text(mean_and_range(row.best), style="bold"),
            f"{row.mean_untrained_best:.1f}",
            delta,
        )
    return table


def described(condition: Condition, *, scale: Scale) -> tuple[str, str, str]:
    """Anchors, separate parts and softmax of a condition, as Table 1 words them."""
    separate = condition.separate.at_depth(scale.shape.layers)
    own = (["emb"] if separate.embeddings else []) + ([f"L1-{max(separate.layers)}"] if separate.layers else [])
    if condition.target_domain is Domain.OTHER:
        own = [*own, "domain"]
    anchors = {Anchors.NATURAL: "all" if condition.segmentation is Segmentation.JOINT else "union"}
    anchors |= {Anchors.NONE: "0", Anchors.EXTRA: "extra"}
    return (
        "0" if separate.embeddings else anchors[condition.anchors],
        " + ".join(own) or "none",
        "own" if separate.embeddings else "shared",
    )


def mean_and_range(values: Sequence[float]) -> str:
    """ "83.1", or over several seeds "83.1 (79-88)"."""
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ({min(values):.0f}-{max(values):.0f})"


def _verdicts(of_pair: Sequence[Row]) -> list[RenderableType]:
    found = agreements(of_pair)
    if not found:
        return []
    lines: list[RenderableType] = [Text("Orders on which all tasks of the paper's Table 1 agree, here:", style="bold")]
    lines += [Text("  " + each.sentence(), style=VERDICT_STYLES[each.verdict]) for each in found]
    return lines
