"""Percentages as bars: Figure 3, the scores of Table 1, and Figure 4a, words of the embedding matrix after a map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from isoglot.pipeline.cells import FIGURE_4
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.charts import Settings, chart_spec, column, marks, short, span
from isoglot.report.figures.picture import GROUND, INK, MUTED, PUBLISHED, Picture, Spec, styles_of
from isoglot.report.findings.layer_scores import pair_title
from isoglot.report.findings.published import papers_score
from isoglot.report.findings.transfer_scores import Model, TaskScores
from isoglot.study.conditions import MONOLINGUAL, condition_named

BAR_STEP, CHART_WIDTH, COLUMNS = 24, 230, 3
PALE = 0.3
Missing = Callable[[str, tuple[str, str], str | None], str]
"""The reason why there is no number for a condition, a pair of languages and a task."""
EMBEDDING_ROWS = {
    "embedding_p1": "Embeddings",
    "fasttext_of_embedding_words_p1": "fastText",
}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """The mean of a score over seeds with their range, and the paper's beside it."""

    label: str
    colour: str
    values: Sequence[float]
    """One for each seed; none where nothing was measured."""
    floor: float | None = None
    """A score that needs no transfer: this part of the bar is pale."""
    published: float | None = None
    missing: str = "none"
    """Shown where there is no value."""

    @property
    def row(self) -> dict[str, Any]:
        """The data behind the bar."""
        named = {"row": self.label, "colour": self.colour, "paper": short(self.published)}
        if not self.values:
            return {**named, "missing": self.missing}
        value = fmean(self.values)
        # A floor above the score makes all of it pale; below 0 there is nothing to draw.
        pale = min(max(self.floor or 0.0, 0.0), max(value, 0.0))
        numbers = {"value": value, "pale": pale, "low": min(self.values), "high": max(self.values), "floor": self.floor}
        return {**named, **{key: short(number) for key, number in numbers.items()}, "text": f"{value:.1f}"}


def transfer_picture(tasks: Sequence[TaskScores], *, conditions: Sequence[str], missing: Missing) -> Picture | None:
    """Figure 3, with a chart for each task and target language; None if nothing of Table 1 is measured."""
    labels = [condition_named(name).label for name in conditions]
    colours = [style.colour for style in styles_of(labels)]
    panels = {}
    for scores in tasks:
        for pair in scores.pairs:
            # Floors are known for all conditions or used for none, or one bar would look shorter for what is known.
            floors = scores.floors(conditions, pair[1])
            bars = [
                Bar(
                    label=label,
                    colour=colour,
                    values=scores.of_target(Model(condition=name), pair[1]),
                    floor=floors[name] or None,
                    published=papers_score(name, task=scores.task.name, languages=pair),
                    missing=missing(name, pair, scores.task.name),
                )
                for name, label, colour in zip(conditions, labels, colours, strict=True)
            ]
            panels[f"{scores.title} in {pair[1]}"] = (bars, scores.task.chance)
    if not panels or not conditions:
        return None
    return _bar_picture(panels, name="figure-3", title=f"Figure 3: zero-shot transfer from {tasks[0].source}")


def embedding_bars(measurements: Sequence[Measurement]) -> Picture | None:
    """Figure 4a, with a chart for each pair; None if no dictionary has words that are one subword each."""
    here = [each for each in measurements if each.exhibit == FIGURE_4 and each.metric in EMBEDDING_ROWS]
    if not here:
        return None
    (own,) = styles_of([MONOLINGUAL.label])
    panels = {
        pair_title(pair): (
            [
                Bar(
                    label=label,
                    colour=MUTED if metric.startswith("fasttext") else own.colour,
                    values=[each.value for each in here if (each.languages, each.metric) == (pair, metric)],
                )
                for metric, label in EMBEDDING_ROWS.items()
                # Without fastText its rows would be empty.
                if any(each.metric == metric for each in here)
            ],
            None,
        )
        for pair in dict.fromkeys(each.languages for each in here)
    }
    title = "Figure 4a: whole words of the embedding matrix after a map, precision at 1"
    return _bar_picture(panels, name="figure-4a", title=title)


def _bar_picture(panels: Mapping[str, tuple[Sequence[Bar], float | None]], *, name: str, title: str) -> Picture:
    """A chart for each panel, whose title leads to its bars and the level of chance."""
    bars = [bar for of_panel, _ in panels.values() for bar in of_panel]
    known = [bar for bar in bars if bar.values]
    has_published = any(bar.published is not None for bar in bars)
    alone = "" if all(len(bar.values) > 1 for bar in known) else ", one seed where there is none"
    legend = {
        "in percent": True,
        f"thin line: lowest to highest seed{alone}": any(len(bar.values) > 1 for bar in known),
        "pale: chance, or the same model without pretraining": any(bar.floor is not None for bar in known),
        "dashes: chance": any(chance is not None for _, chance in panels.values()),
        "\N{WHITE DIAMOND} the paper": has_published,
    }
    return Picture(
        name=name,
        title=title,
        charts=[
            bar_chart(of_panel, title=panel, level=chance, place=place)
            for place, (panel, (of_panel, chance)) in enumerate(panels.items())
        ],
        chart_width=CHART_WIDTH,
        columns=COLUMNS,
        legend="; ".join(text for text, is_shown in legend.items() if is_shown),
        has_published=has_published,
    )


def bar_chart(bars: Sequence[Bar], *, title: str, level: float | None, place: int) -> Spec:
    """Percentages, with a dashed level."""
    data = [bar.row for bar in bars]
    values = [row[key] for row in data for key in ("value", "low", "high", "paper") if row.get(key) is not None]
    ends = span([0.0, 100.0, *values])
    x: Settings = {"title": None, "scale": {"domain": ends, "nice": False}}
    names = [bar.label for bar in bars]
    y: Settings = {"y": column("row:N", title=None, sort=names, scale={"domain": names})}
    known, missing = "isValid(datum.value)", "isValid(datum.missing)"
    fields = {"value": "score", "low": "lowest seed", "high": "highest seed", "floor": "floor", "paper": "the paper"}
    tooltip = [column("row:N", title="Model")]
    tooltip += [
        column(f"{key}:Q", title=name, format=".1f")
        for key, name in fields.items()
        if any(row.get(key) is not None for row in data)
    ]
    bar = y | {"fill": column("colour:N", scale=None), "tooltip": tooltip}
    to_floor = bar | {"x": column("pale:Q", **x, stack=None)}
    above_floor = bar | {"x": column("pale:Q", **x, axis={"tickCount": 5}), "x2": {"field": "value"}}
    low_to_high = y | {"x": column("low:Q", title=None), "x2": {"field": "high"}}
    number = y | {"x": {"value": "width"}, "text": column("text:N")}
    reason = y | {"x": {"value": 0}, "text": column("missing:N")}
    text: Settings = {"align": "left", "dx": 4}
    layers = [
        marks("bar", above_floor, where=known),
        marks("bar", to_floor, where=known, opacity=PALE),
        # On a rim, as a bar may be as dark as the line.
        *(
            marks("rule", low_to_high, where=known, strokeWidth=width, color=ink)
            for width, ink in ((4, GROUND), (1.5, INK))
        ),
        marks("text", number, where=known, **text),
        marks("text", reason, where=missing, **text, fontStyle="italic", color=MUTED),
    ]
    if level is not None:
        chance = {"x": column("level:Q", title=None), "tooltip": column("level:Q", title="chance", format=".1f")}
        dashed: Settings = {"strokeDash": [5, 4], "strokeWidth": 2, "color": MUTED}
        layers.append(marks("rule", chance, rows=[{"level": short(level)}], **dashed))
    if any(bar.published is not None for bar in bars):
        papers = y | {"x": column("paper:Q", title=None), "tooltip": tooltip}
        diamond: Settings = {"shape": "diamond", "size": 70, "opacity": 1, "fill": "white", "strokeWidth": 1.75}
        layers.append(marks("point", papers, where="paper && isValid(datum.paper)", **diamond, stroke=PUBLISHED))
    return chart_spec(layers, data, place=place, height=BAR_STEP * len(bars), title=title)
