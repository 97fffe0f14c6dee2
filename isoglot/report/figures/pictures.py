"""Pictures of scores by layer: lines, CKA as heat maps of Figure 7 beside the paper's, and CKA against retrieval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.cells import FIGURE_6, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.charts import (
    Line,
    LineChart,
    Reference,
    chart_spec,
    imported_altair,
    line_picture,
    scatter_picture,
    short,
)
from isoglot.report.figures.layer_series import (
    LayerFigure,
    Series,
    SeriesKind,
    pair_title,
    pairs_of,
    pearson,
    series_of,
)
from isoglot.report.figures.picture import FAINT, GROUND, Picture, Spec
from isoglot.report.figures.sentence_figures import CKA, PAPERS_CORRELATION, RETRIEVAL, rows_of
from isoglot.report.published import FIGURE_7_CKA
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of

PAPERS_COLUMNS = {"bilingual": "Bilingual", "monolingual": MONOLINGUAL.label, "untrained": "Untrained"}
CELL_STEP, MAP_WIDTH = 25, 230
DARK_CELL = 0.45
"""Cells of Cividis (Nunez et al., 2018) below this take white letters, those above black ones."""


def layer_picture(figure: LayerFigure, *, room: float = 0.0) -> Picture:
    """Scores by layer, a line for each kind of model; the axis has room for this score, whoever reaches it."""
    chart = LineChart(
        title=figure.title,
        series=[
            Line(label=row.label, values=row.layers, ranges=row.ranges, is_published=row.is_published)
            for row in figure.rows
        ],
        y_title=figure.unit,
        references=[Reference(label=label, value=value) for label, value in figure.references],
        decimals=figure.decimals,
        shown=(0.0, room),
    )
    return line_picture([chart], name=figure.name, title=figure.title)


def similarity_map(measurements: Sequence[Measurement]) -> Picture | None:
    """Layers down; across, for each pair, the paper's three columns, whatever other models were measured."""
    columns_of = {languages: _columns(measurements, languages) for languages in pairs_of(measurements, FIGURE_7)}
    groups = {
        pair_title(languages): {row.label: row.layers for row in rows} for languages, rows in columns_of.items() if rows
    }
    return _map(FIGURE_7, "Figure 7: CKA similarity of parallel sentences", groups) if groups else None


def published_similarity_map(pairs: Sequence[tuple[str, str]]) -> tuple[Picture, bool]:
    """The paper's own Figure 7, and whether it has any of these pairs; if not, all pairs of its own are shown."""
    ours = [languages for languages in FIGURE_7_CKA if languages in pairs]
    groups = {
        pair_title(languages): {PAPERS_COLUMNS[kind]: values for kind, values in FIGURE_7_CKA[languages].items()}
        for languages in ours or FIGURE_7_CKA
    }
    return _map(f"{FIGURE_7}.the-paper", "Figure 7 as the paper has it", groups), bool(ours)


def _map(name: str, title: str, groups: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Picture:
    num_states = max(len(values) for columns in groups.values() for values in columns.values())
    rows = [*(f"L{layer}" for layer in range(num_states)), "mean"]
    charts = []
    for place, (label, columns) in enumerate(groups.items()):
        cells = {column: _with_mean(values, num_states) for column, values in columns.items()}
        charts.append(heat_map(cells, rows=rows, title=label, place=place))
    legend = "linear CKA, from 0 (dark) to 1 (light)"
    return Picture(
        name=name, title=title, charts=tuple(charts), chart_width=MAP_WIDTH, columns=len(groups), legend=legend
    )


def _with_mean(values: Sequence[float | None], num_states: int) -> list[float | None]:
    known = [value for value in values if value is not None]
    return [*values, *[None] * (num_states - len(values)), fmean(known)]


def _columns(measurements: Sequence[Measurement], languages: tuple[str, str]) -> tuple[Series, ...]:
    """The model of both languages (Default, if it is there), models of one each, and with an untrained one."""
    here = [each for each in measurements if each.exhibit == FIGURE_7 and each.languages == languages]
    of_both = [name for name in dict.fromkeys(each.condition for each in here) if name != MONOLINGUAL.name]
    bilingual = [DEFAULT.name] if DEFAULT.name in of_both else of_both[:1]
    kinds: list[SeriesKind] = [(label_of(name), name, CKA, None) for name in bilingual]
    kinds += [(MONOLINGUAL.label, MONOLINGUAL.name, CKA, None), ("Untrained", MONOLINGUAL.name, CKA, UNTRAINED)]
    return series_of(here, kinds, exhibit=FIGURE_7, languages=languages)


def heat_map(columns: Mapping[str, Sequence[float | None]], *, rows: Sequence[str], title: str, place: int) -> Spec:
    """A number between 0 and 1 in every cell, on a colour from dark to light."""
    alt = imported_altair()
    data = [
        {"column": label, "row": row, "value": short(value)}
        for label, values in columns.items()
        for row, value in zip(rows, values, strict=True)
    ]
    names = list(columns)
    base = alt.Chart().encode(
        x=alt.X("column:N", title=None, sort=names, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=110)),
        y=alt.Y("row:N", title=None, sort=list(rows)),
        tooltip=[
            alt.Tooltip("column:N", title="Models"),
            alt.Tooltip("row:N", title="Layer"),
            alt.Tooltip("value:Q", format=".2f"),
        ],
    )
    known = base.transform_filter("isValid(datum.value)")
    colours = alt.Color("value:Q", scale=alt.Scale(scheme="cividis", domain=[0, 1]), legend=None)
    ink = alt.when(f"datum.value < {DARK_CELL}").then(alt.value("white")).otherwise(alt.value("black"))
    layers = [
        base.mark_rect(fillOpacity=0, stroke=FAINT),
        known.mark_rect(stroke=GROUND).encode(color=colours),
        known.mark_text(fontSize=12).encode(text=alt.Text("value:Q", format=".2f"), color=ink),
    ]
    return chart_spec(layers, data, place=place, height=CELL_STEP * len(rows), title=title)


@dataclass(frozen=True, kw_only=True)
class SimilarityScatter:
    """One pair of languages."""

    picture: Picture
    correlations: tuple[tuple[str, float | None], ...]
    """Pearson's over the layers of each kind of model, then over all points; None where it says nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        shown = "; ".join(f"{label} {'undefined' if r is None else f'{r:.2f}'}" for label, r in self.correlations)
        return (
            f"Pearson correlation of CKA and retrieval: {shown}.",
            f"The paper finds more than {PAPERS_CORRELATION} over the layers of models of one language each.",
        )


def similarity_scatters(measurements: Sequence[Measurement]) -> Iterator[SimilarityScatter]:
    """A scatter for every pair for which CKA and retrieval were measured with the same models."""
    for languages in pairs_of(measurements, FIGURE_7):
        similar = rows_of(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages)
        found = rows_of(measurements, exhibit=FIGURE_6, metric=RETRIEVAL, languages=languages)
        retrieved = {row.label: row for row in found}
        clouds, correlations = [], []
        for row in similar:
            if row.label in retrieved:
                both = enumerate(zip(row.layers, retrieved[row.label].layers, strict=False))
                points = [(f"L{layer}", x, y) for layer, (x, y) in both if x is not None and y is not None]
                clouds.append((row.label, points))
                correlations.append((row.label, pearson(row.layers, retrieved[row.label].layers)))
        if clouds:
            points = [point for _, cloud in clouds for point in cloud]
            together = pearson([x for _, x, _ in points], [y for _, _, y in points])
            yield SimilarityScatter(
                picture=scatter_picture(
                    clouds,
                    name=f"cka-retrieval.{'-'.join(languages)}",
                    title=f"CKA and retrieval after a map, layer by layer ({pair_title(languages)})",
                    x_title="linear CKA",
                    y_title="precision at 1 (%)",
                ),
                correlations=(*correlations, ("all points", together)),
            )
