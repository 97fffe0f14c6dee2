"""Figure 4a as bars: whole words of the embedding matrix after a map, beside fastText on the same words."""

from collections.abc import Sequence
from functools import partial

from isoglot.pipeline.figures import FIGURE_4
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.bar_chart import Bar, BarChart, Panel, bar_chart
from isoglot.report.figures.chart_legend import line_colour, places_of
from isoglot.report.figures.drawing import MUTED
from isoglot.report.figures.layer_series import pair_title, pairs_of
from isoglot.report.figures.picture import WIDE, Picture
from isoglot.study.conditions import MONOLINGUAL

EMBEDDINGS = line_colour(places_of([MONOLINGUAL.label])[0])
ROWS = {
    "embedding_p1": ("Embeddings", EMBEDDINGS),
    "fasttext_of_embedding_words_p1": ("fastText", MUTED),
    "embedding_p1_to_source": ("Embeddings, back", EMBEDDINGS),
    "fasttext_of_embedding_words_p1_to_source": ("fastText, back", MUTED),
}


def embedding_bars(measurements: Sequence[Measurement]) -> Picture | None:
    """A panel for each pair of languages; None if no dictionary has words that are one subword each."""
    here = [each for each in measurements if each.exhibit == FIGURE_4 and each.metric in ROWS]
    if not here:
        return None
    # Without fastText its rows would be empty.
    metrics = [metric for metric in ROWS if any(each.metric == metric for each in here)]
    chart = BarChart(
        title="Figure 4a: whole words of the embedding matrix after a map, precision at 1",
        rows=[ROWS[metric] for metric in metrics],
        panels=[
            Panel(title=pair_title(pair), bars=[_bar(here, pair, metric) for metric in metrics])
            for pair in pairs_of(here, FIGURE_4)
        ],
    )
    return Picture(name="figure-4a", draw=partial(_drawn, chart))


def _bar(measurements: Sequence[Measurement], languages: tuple[str, str], metric: str) -> Bar:
    return Bar.of([each.value for each in measurements if (each.languages, each.metric) == (languages, metric)])


def _drawn(chart: BarChart, width: float) -> str:
    return bar_chart(chart, columns=2 if width >= WIDE else 1, width=width)
