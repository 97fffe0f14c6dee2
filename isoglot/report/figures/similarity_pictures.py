"""CKA as heat maps of Figure 7, ours and the paper's, and CKA against retrieval after a map."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from isoglot.pipeline.cells import FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.charts import (
    HEIGHT,
    WIDE,
    Look,
    Settings,
    chart_spec,
    column,
    legend_entry,
    marks,
    roomy,
    short,
)
from isoglot.report.figures.layer_figures import (
    CKA,
    LIKENESS,
    PAPERS_CORRELATION,
    PRECISION,
    correlation_text,
    similar_and_retrieved,
)
from isoglot.report.figures.picture import FAINT, GROUND, Picture, Spec, styles_of
from isoglot.report.findings.layer_scores import Pair, pair_title, panels
from isoglot.report.findings.published import FIGURE_7_CKA
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of

PAPERS_COLUMNS = {"bilingual": "Bilingual", "monolingual": MONOLINGUAL.label, "untrained": "Untrained"}
UNTRAINED_COLUMN = ("Untrained", MONOLINGUAL.name, UNTRAINED)
CELL_STEP, MAP_WIDTH = 25, 230
# Cells of Cividis (Nunez et al., 2018) below this take white letters, those above black ones.
DARK_CELL = 0.45
Columns = Mapping[str, Sequence[float | None]]
"""CKA by layer, for each kind of model."""


def similarity_map(measurements: Sequence[Measurement]) -> Picture | None:
    """Layers down; across, for each pair with CKA, the paper's three columns; None while all of these are missing."""
    groups: dict[str, Columns] = {}
    for panel in panels(measurements, FIGURE_7):
        of_both = [name for metric, name, _ in panel.scores if metric == CKA and name != MONOLINGUAL.name]
        bilingual = [DEFAULT.name] if DEFAULT.name in of_both else of_both[:1]
        kinds = [*((label_of(name), name, None) for name in (*bilingual, MONOLINGUAL.name)), UNTRAINED_COLUMN]
        if lines := panel.lines((label, (CKA, name, variant)) for label, name, variant in kinds):
            groups[panel.title] = {line.label: line.layers for line in lines}
    return similarity_picture(FIGURE_7, "Figure 7: CKA similarity of parallel sentences", groups) if groups else None


def published_similarity_map(pairs: Collection[Pair]) -> tuple[Picture, bool]:
    """The paper's own Figure 7, and whether it has any of these pairs; if not, all pairs of its own are shown."""
    ours = [languages for languages in FIGURE_7_CKA if languages in pairs]
    groups = {
        pair_title(languages): {PAPERS_COLUMNS[kind]: values for kind, values in FIGURE_7_CKA[languages].items()}
        for languages in ours or FIGURE_7_CKA
    }
    return similarity_picture(f"{FIGURE_7}.the-paper", "Figure 7 as the paper has it", groups), bool(ours)


def similarity_picture(name: str, title: str, groups: Mapping[str, Columns]) -> Picture:
    num_states = max(len(values) for columns in groups.values() for values in columns.values())
    return Picture(
        name=name,
        title=title,
        charts=[
            _heat_map(columns, num_states=num_states, title=label, place=place)
            for place, (label, columns) in enumerate(groups.items())
        ],
        chart_width=MAP_WIDTH,
        columns=len(groups),
        legend="linear CKA, from 0 (dark) to 1 (light)",
    )


def _heat_map(columns: Columns, *, num_states: int, title: str, place: int) -> Spec:
    """A number between 0 and 1 in every cell, on a colour from dark to light, and the means over layers below."""
    rows = [*(f"L{layer}" for layer in range(num_states)), "mean"]
    data = []
    for label, values in columns.items():
        mean = fmean(value for value in values if value is not None)
        cells = (*values, *[None] * (num_states - len(values)), mean)
        data += [{"column": label, "row": row, "value": short(cell)} for row, cell in zip(rows, cells, strict=True)]
    labels = {"orient": "top", "labelAngle": 0, "labelLimit": 110}
    cell: Settings = {
        "x": column("column:N", title=None, sort=list(columns), axis=labels),
        "y": column("row:N", title=None, sort=rows),
        "tooltip": [
            column("column:N", title="Models"),
            column("row:N", title="Layer"),
            column("value:Q", format=".2f"),
        ],
    }
    colour = {"color": column("value:Q", scale={"scheme": "cividis", "domain": [0, 1]}, legend=None)}
    ink = {"color": {"condition": [{"test": f"datum.value < {DARK_CELL}", "value": "white"}], "value": "black"}}
    known = "isValid(datum.value)"
    layers = [
        # Cells without a number are frames: white would be taken for one of the colours.
        marks("rect", cell, fillOpacity=0, stroke=FAINT),
        marks("rect", cell | colour, where=known, stroke=GROUND),
        marks("text", cell | ink | {"text": column("value:Q", format=".2f")}, where=known, fontSize=12),
    ]
    return chart_spec(layers, data, place=place, height=CELL_STEP * len(rows), title=title)


def similarity_scatters(measurements: Sequence[Measurement]) -> Iterator[tuple[Picture, list[str]]]:
    """A scatter with its notes for every pair for which CKA and retrieval were measured with the same models."""
    for languages, both in similar_and_retrieved(measurements).items():
        if not both:
            continue
        clouds = {
            label: [
                (f"L{layer}", x, y)
                for layer, (x, y) in enumerate(zip(*layers, strict=False))
                if x is not None and y is not None
            ]
            for label, layers in both.items()
        }
        # Layers of all kinds of models together: a correlation within each may hide that the kinds lie apart.
        points = [point for cloud in clouds.values() for point in cloud]
        together = ([x for _, x, _ in points], [y for _, _, y in points])
        found = [f"{label} {correlation_text(*layers)}" for label, layers in (*both.items(), ("all points", together))]
        picture = _scatter_picture(
            clouds,
            name=f"cka-retrieval.{'-'.join(languages)}",
            title=f"CKA and retrieval after a map, layer by layer ({pair_title(languages)})",
        )
        notes = [
            f"Pearson correlation of CKA and retrieval: {'; '.join(found)}.",
            f"The paper finds more than {PAPERS_CORRELATION} over the layers of models of one language each.",
        ]
        yield picture, notes


def _scatter_picture(clouds: Mapping[str, Sequence[tuple[str, float, float]]], *, name: str, title: str) -> Picture:
    """Named points by CKA and retrieval, a colour and a mark for each cloud."""
    rows: list[dict[str, Any]] = [
        {"series": label, "point": point, "x": short(x), "y": short(y)}
        for label, points in clouds.items()
        for point, x, y in points
    ]
    x_scale, y_scale = ({"domain": roomy([0.0, *(row[axis] for row in rows)]), "nice": True} for axis in ("x", "y"))
    channels = {
        "x": column("x:Q", title=LIKENESS, scale=x_scale, axis={"tickCount": 5, "labelFlush": False}),
        "y": column("y:Q", title=PRECISION, scale=y_scale),
        "tooltip": [
            column("series:N", title="Model"),
            column("point:N", title="Layer"),
            column("x:Q", title=LIKENESS, format=".2f"),
            column("y:Q", title=PRECISION, format=".1f"),
        ],
    }
    look = Look(dict(zip(clouds, styles_of([*clouds]), strict=True)), place=0)
    spec = chart_spec([look.points(channels)], rows, place=0, height=HEIGHT + 40, params=look.params)
    return Picture(name=name, title=title, charts=[spec], chart_width=WIDE, legend_entry=legend_entry(clouds))
