"""Figure 3: the scores of Table 1 as bars, a panel for each task and target language."""

from collections.abc import Callable, Sequence
from functools import partial

from isoglot.report.figures.bar_chart import Bar, BarChart, Panel, bar_chart
from isoglot.report.figures.drawing import LINES, MUTED, Colour
from isoglot.report.figures.picture import WIDE, Picture
from isoglot.report.published import papers_score
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.study.conditions import condition_named

COLOUR_OF_SECTION = {"4.1": LINES[2], "4.2": LINES[0], "4.3": LINES[1]}
COLUMNS = 3
Missing = Callable[[str, tuple[str, str], str | None], str]
"""Why there is no number for a condition, a pair of languages and a task."""


def transfer_picture(tasks: Sequence[TaskScores], *, conditions: Sequence[str], missing: Missing) -> Picture | None:
    """None if nothing of Table 1 is measured yet, or asked for; a row for each condition that was."""
    panels = [_panel(scores, pair, conditions, missing) for scores in tasks for pair in scores.pairs]
    if not panels or not conditions:
        return None
    chart = BarChart(
        title=f"Figure 3: zero-shot transfer from {tasks[0].source}",
        rows=[(condition_named(name).label, _colour(name)) for name in conditions],
        panels=panels,
        floor="chance, or the same model without pretraining",
    )
    return Picture(
        name="figure-3",
        draw=partial(_drawn, chart),
        has_published=chart.has_published,
    )


def _drawn(chart: BarChart, width: float) -> str:
    return bar_chart(chart, columns=COLUMNS if width >= WIDE else 1, width=width)


def _colour(condition: str) -> Colour:
    """One for each group of Table 1; Default's is grey."""
    return COLOUR_OF_SECTION.get(condition_named(condition).section, MUTED)


def _panel(scores: TaskScores, pair: tuple[str, str], conditions: Sequence[str], missing: Missing) -> Panel:
    chance = scores.task.chance
    # As shares of transfer are counted: of all conditions or of none, or one bar would look shorter for what is known.
    floors = scores.floors(conditions, pair[1])
    return Panel(
        title=f"{scores.title} in {pair[1]}",
        bars=[_bar(scores, pair, name, floors[name] or None, missing) for name in conditions],
        level=None if chance is None else ("chance", chance),
    )


def _bar(scores: TaskScores, pair: tuple[str, str], condition: str, floor: float | None, missing: Missing) -> Bar:
    return Bar.of(
        scores.of_target(Model(condition=condition), pair[1]),
        floor=floor,
        published=papers_score(condition, task=scores.task.name, languages=pair),
        missing=missing(condition, pair, scores.task.name),
    )
