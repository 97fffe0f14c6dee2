"""Growth with training: a panel for each row, its scores by tokens read, where they lead, and the paper's."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np

from isoglot.report.figures.charts import Settings, chart_spec, column, low_to_high, marks, roomy, short
from isoglot.report.figures.line_charts import PANEL_HEIGHT, LineChart, LineFigure, picture_of_panels
from isoglot.report.figures.picture import DASHES, MUTED, PUBLISHED, Picture, Spec, Style, styles_of
from isoglot.report.findings.layer_scores import pair_title
from isoglot.report.growth.predictions import Prediction, held_back_text
from isoglot.report.growth.rows import Growth, times_behind
from isoglot.report.growth.trends import LEVEL, prediction_text
from isoglot.report.quantities import short_number
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import PAPER

POINTS_OF_A_TREND = 12
# Parts of a panel beside its points: what the row's own trend says, and what that of a shorter run said.
TREND, PREDICTED = "trend", "predicted"
MANY_TICKS = 4
ROOTED_TICKS = [1, 10, 40, 100]
BUDGET = short_number(PAPER.tokens)
MISSING = "-"
CORNER: Settings = {"align": "left", "baseline": "top", "x": 4, "y": 2, "fontSize": 11}
READING = (
    "Dashes beyond the last moment: every further doubling of tokens adds as many points as one of the last two did. "
    f"Bands are {LEVEL:.0%} intervals, as wide as the errors of the same rule at earlier moments; another seed may lie "
    "further away. Where nothing can be predicted the table says why. Too far: the budget lies further beyond the last "
    "moment than that lies beyond the first."
)
BEHIND = (
    "Tokens by Default's: how many times the tokens of Default a row needed for its best score before the end of the "
    "learning rate; or for Default's best where it is ahead."
)
CEILING = "No task is predicted to score more than in the source language, where it was learned."
ANNEALED = (
    "The last moment comes after the end of the learning rate, which may add to a score whatever was read: what a "
    "doubling adds is known from the moments before, and predictions are of finished models."
)


def growth_figures(rows: Sequence[Growth]) -> Iterator[tuple[LineFigure, list[Growth]]]:
    """For each pair of languages and measure, numbers and trends as a table, and the rows to draw a picture of."""
    # Tasks, asked of few pairs, come last: so all pairs stand below each other on the page.
    in_columns = sorted(rows, key=lambda row: row.measure.task is not None)
    for (languages, measure), alike in groupby(in_columns, key=lambda row: (row.languages, row.measure)):
        group = list(alike)
        tokens = sorted({each for row in group for each in row.tokens})
        behind = _behind(group)
        chart = LineChart(
            title=measure.title,
            series=[row.line for row in group],
            y_title=measure.unit,
            decimals=measure.decimals,
            x_title="tokens",
            updates=tokens,
            columns={
                **({"tokens by Default's": behind} if behind else {}),
                "per doubling": [_rate(row) for row in group],
                f"at {BUDGET}": [_prediction(row) for row in group],
                **({"the paper": [_papers(row) for row in group]} if any(row.paper for row in group) else {}),
            },
        )
        figure = LineFigure(
            name=f"growth.{measure.key}.{'-'.join(languages)}",
            title=f"{measure.title} ({pair_title(languages)})",
            charts=[chart],
            notes=[
                READING,
                *([tested] if (tested := held_back_text(group)) else []),
                *([BEHIND] if behind else []),
                *([CEILING] if measure.task else []),
                *([ANNEALED] if any(row.annealed for row in group) else []),
                *(["* The mean over the paper's own languages."] if any(map(_is_of_others, group)) else []),
            ],
        )
        yield figure, group


def _behind(rows: Sequence[Growth]) -> list[str]:
    """Each row's tokens by Default's; empty where there is no Default, or nothing beside it."""
    default = next((row for row in rows if row.condition == DEFAULT.name), None)
    if default is None or len(rows) == 1:
        return []
    return [times_behind(row, default) or MISSING for row in rows]


def _rate(row: Growth) -> str:
    found, reason = row.trend_and_reason
    return MISSING if found is None or reason else found.per_doubling.text(row.measure.decimals)


def _prediction(row: Growth) -> str:
    return prediction_text(*row.at(PAPER.tokens), decimals=row.measure.decimals)


def _papers(row: Growth) -> str:
    star = "*" if _is_of_others(row) else ""
    return MISSING if row.paper is None else f"{row.paper:.{row.measure.decimals}f}{star}"


def _is_of_others(row: Growth) -> bool:
    return row.paper is not None and not row.has_own_paper


def growth_picture(figure: LineFigure, rows: Sequence[Growth], *, predicted: Sequence[Prediction] = ()) -> Picture:
    """A panel for each row; what a shorter run predicted lies behind it in grey."""
    measure, behind = rows[0].measure, _behind(rows)
    # Far from the paper's budget nothing can be said of it, and panels would be empty for the most part.
    reaches_paper = any(row.reaches(PAPER.tokens) for row in rows)
    before = [next((each.shorter for each in predicted if each.longer == row), None) for row in rows]
    drawn = [
        (
            _points(row),
            [
                *(_trend(earlier, until=row.budget, part=PREDICTED) if earlier else []),
                *(_trend(row, until=PAPER.tokens, part=TREND) if reaches_paper else []),
            ],
        )
        for row, earlier in zip(rows, before, strict=True)
    ]
    is_foretold = any(each["part"] == PREDICTED for _, trend in drawn for each in trend)
    papers = [row.paper for row in rows if row.paper is not None and reaches_paper]
    values = [each[key] for points, trend in drawn for each in (*points, *trend) for key in ("low", "high")]
    top = roomy([0.0, *values, *papers, *(row.floor for row in rows)])
    last = max(PAPER.tokens if reaches_paper else 0, *(row.tokens[-1] for row in rows))
    ends = (min(row.tokens[0] for row in rows) / 1.5, last * 1.5)
    styles = styles_of([row.line.label for row in rows])
    corners = behind or [MISSING] * len(rows)
    panels = [
        _panel(
            *(row, points, trend),
            style=style,
            ends=ends,
            y_ends=top,
            has_paper=bool(papers),
            corner=corner,
            place=place,
        )
        for place, (row, (points, trend), style, corner) in enumerate(zip(rows, drawn, styles, corners, strict=True))
    ]
    unit = f"{measure.unit}, square-root scale," if measure.is_near_zero else measure.unit
    legend = [
        f"{unit} by tokens read (log scale)",
        *([f"dashes and band: the last doublings go on, {LEVEL:.0%} interval"] if reaches_paper else []),
        *(["grey band and its dashes: what the shorter run predicted"] if is_foretold else []),
    ]
    legend += [f"grey dashes: {name}" for name in dict.fromkeys(row.floor_name for row in rows) if name]
    if behind:
        legend.append("\N{MULTIPLICATION SIGN}: tokens by Default's")
    if papers:
        whose = "the mean over the paper's languages" if all(map(_is_of_others, rows)) else "the paper"
        legend.append(f"diamond: {whose}, at {BUDGET} tokens")
    return picture_of_panels(figure, panels, legend=legend, has_published=bool(papers))


def _points(row: Growth) -> list[dict[str, Any]]:
    """Means over seeds, and the range of these."""
    found = []
    for tokens in row.tokens:
        values = row.line.at(tokens)
        y, low, high = (short(summary(values)) for summary in (fmean, min, max))
        found.append({"part": "point", "series": row.line.label, "x": tokens, "y": y, "low": low, "high": high})
    return found


def _trend(row: Growth, *, until: int, part: str) -> list[dict[str, Any]]:
    """From the last moment on to a larger budget."""
    if row.budget >= until:
        return []
    found = []
    for x in np.geomspace(row.budget, until, POINTS_OF_A_TREND):
        predicted, _ = row.at(max(float(x), row.budget + 1))
        if predicted is not None:
            y, low, high = map(short, predicted)
            found.append({"part": part, "x": round(float(x)), "y": y, "low": low, "high": high})
    return found


def _band(x: Settings, y: Settings, *, part: str, **look: Any) -> list[Spec]:
    """An interval, and dashes through its middle."""
    where = f"datum.part == '{part}'"
    return [
        marks("area", x | low_to_high(None), where=where, **look, opacity=0.2),
        marks("line", x | y, where=where, **look, strokeWidth=1.5, strokeDash=list(DASHES[0])),
    ]


def _panel(
    row: Growth,
    points: Sequence[dict[str, Any]],
    trend: Sequence[dict[str, Any]],
    *,
    style: Style,
    ends: tuple[float, float],
    y_ends: Sequence[float],
    has_paper: bool,
    corner: str,
    place: int,
) -> Spec:
    number = f".{row.measure.decimals}f"
    # Of many powers of ten every second, and the paper's budget by name: more labels would run into each other.
    powers = [10**power for power in range(11) if ends[0] <= 10**power <= ends[1]]
    ticks = [*(powers if len(powers) < MANY_TICKS else powers[::2]), PAPER.tokens]
    label = f"datum.value == {PAPER.tokens} ? '{BUDGET}' : format(datum.value, '~s')"
    axis = {"values": ticks, "labelExpr": label, "grid": False, "labelOverlap": "greedy", "labelSeparation": 4}
    # Near chance a linear axis would show most rows as one flat line.
    is_rooted = row.measure.is_near_zero
    y_scale = {"type": "sqrt" if is_rooted else "linear", "domain": y_ends, "nice": not is_rooted}
    y_axis: Settings = {"tickCount": 3, "format": "~r"}
    if is_rooted:
        # Of more values than the count Vega takes every other.
        y_axis = {"values": ROOTED_TICKS, "tickCount": len(ROOTED_TICKS), "labelOverlap": False}
    x: Settings = {"x": column("x:Q", title=None, axis=axis, scale={"type": "log", "domain": ends, "nice": False})}
    y = {"y": column("y:Q", title=None, scale=y_scale, axis=y_axis)}
    tooltip = [column("x:Q", title="tokens", format=".3s"), column("y:Q", title=row.measure.unit, format=number)]
    score = x | y | {"tooltip": tooltip}
    own, point = Settings(clip=True, color=style.colour), Settings(clip=True, filled=True, opacity=1)
    grey, is_foretold = own | {"color": MUTED}, any(each["part"] == PREDICTED for each in trend)
    at_points = "datum.part == 'point'"
    layers = [
        *(_band(x, y, part=PREDICTED, **grey) if is_foretold else []),
        *_band(x, y, part=TREND, **own),
        marks("line", x | y, where=at_points, **own, strokeWidth=1.5),
        marks("rule", x | low_to_high(None), where=at_points, **own, strokeWidth=1.25),
        marks("point", score, where=at_points, **own | point, size=36, shape=style.shape),
    ]
    if corner != MISSING and row.condition != DEFAULT.name:
        # Rows that grow leave the upper left corner free.
        layers.append(marks("text", {}, rows=[{}], **CORNER, text=corner, color=MUTED))
    if row.floor_name:
        dashed = Settings(clip=True, color=MUTED, strokeDash=list(DASHES[0]))
        layers.append(marks("rule", y, rows=[{"y": short(row.floor)}], **dashed))
    if has_paper and row.paper is not None:
        of_paper = [{"x": PAPER.tokens, "y": short(row.paper)}]
        diamond = point | {"size": 70, "shape": "diamond", "color": PUBLISHED}
        layers.append(marks("point", score, rows=of_paper, where="paper", **diamond))
    return chart_spec(layers, [*trend, *points], place=place, height=PANEL_HEIGHT, title=row.line.label)
