"""Percentages as bars: Figure 3, the scores of Table 1, and Figure 4a, words of the embedding matrix after a map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from isoglot.pipeline.cells import FIGURE_4
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.charts import chart_spec, imported_altair, short, span
from isoglot.report.figures.layer_series import pair_title, pairs_of
from isoglot.report.figures.picture import GROUND, INK, MUTED, PUBLISHED, Picture, Spec, styles_of
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
    "embedding_p1_to_source": "Embeddings, back",
    "fasttext_of_embedding_words_p1_to_source": "fastText, back",
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
        for pair in pairs_of(here, FIGURE_4)
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
    alt = imported_altair()
    data = [bar.row for bar in bars]
    values = [row[key] for row in data for key in ("value", "low", "high", "paper") if row.get(key) is not None]
    x = alt.Scale(domain=span([0.0, 100.0, *values]), nice=False)
    names = [bar.label for bar in bars]
    base = alt.Chart().encode(y=alt.Y("row:N", title=None, sort=names, scale=alt.Scale(domain=names)))
    known = base.transform_filter("isValid(datum.value)")
    colour = alt.Fill("colour:N", scale=None)
    fields = {"value": "score", "low": "lowest seed", "high": "highest seed", "floor": "floor", "paper": "the paper"}
    tooltip = [alt.Tooltip("row:N", title="Model")]
    tooltip += [
        alt.Tooltip(f"{key}:Q", title=name, format=".1f")
        for key, name in fields.items()
        if any(row.get(key) is not None for row in data)
    ]
    axis = alt.Axis(tickCount=5)
    layers = [
        known.mark_bar().encode(
            x=alt.X("pale:Q", title=None, scale=x, axis=axis), x2="value:Q", fill=colour, tooltip=tooltip
        ),
        known.mark_bar(opacity=PALE)
        .encode(x=alt.X("zero:Q", title=None, scale=x), x2="pale:Q", fill=colour, tooltip=tooltip)
        .transform_calculate(zero="0"),
        # On a rim, as a bar may be as dark as the line.
        *(
            known.mark_rule(strokeWidth=width, color=ink).encode(x=alt.X("low:Q", title=None), x2="high:Q")
            for width, ink in ((4, GROUND), (1.5, INK))
        ),
        known.mark_text(align="left", dx=4)
        .encode(x=alt.X("end:Q", title=None), text="text:N")
        .transform_calculate(end=str(x.domain[1])),
        base.transform_filter("isValid(datum.missing)")
        .mark_text(align="left", dx=4, fontStyle="italic", color=MUTED)
        .encode(x=alt.X("zero:Q", title=None), text="missing:N")
        .transform_calculate(zero="0"),
    ]
    if level is not None:
        dashes = alt.Chart(alt.Data(values=[{"level": short(level)}])).mark_rule(
            strokeDash=[5, 4], strokeWidth=2, color=MUTED
        )
        of_level = alt.Tooltip("level:Q", title="chance", format=".1f")
        layers.append(dashes.encode(x=alt.X("level:Q", title=None), tooltip=of_level))
    if any(bar.published is not None for bar in bars):
        diamonds = base.transform_filter("paper && isValid(datum.paper)").mark_point(
            shape="diamond", size=70, fill="white", stroke=PUBLISHED, opacity=1, strokeWidth=1.75
        )
        layers.append(diamonds.encode(x=alt.X("paper:Q", title=None), tooltip=tooltip))
    return chart_spec(layers, data, place=place, height=BAR_STEP * len(bars), title=title)
