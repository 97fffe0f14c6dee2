"""The charts of a report, as files beside it."""

from collections.abc import Sequence
from statistics import fmean

from isoglot.alignment_settings import NewVectors
from isoglot.conditions import DEFAULT, MONOLINGUAL
from isoglot.figures import FIGURE_7
from isoglot.measurements import Measurement
from isoglot.report.heat_map import Column, Group, heat_map
from isoglot.report.layer_figures import layer_figures
from isoglot.report.layer_series import LayerFigure, pair_title, pairs_of
from isoglot.report.line_chart import Line, Reference, line_chart
from isoglot.report.sentence_figures import CKA, rows_of_models

HEAT_MAP = f"{FIGURE_7}.svg"


def pictures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> dict[str, str]:
    """SVG by the name of its file: a line chart for each figure, and for Figure 7 all pairs together as well."""
    figures = layer_figures(measurements, new_vectors=new_vectors)
    found = {picture_name(figure): _line_chart(figure) for figure in figures}
    if pairs_of(measurements, FIGURE_7):
        found[HEAT_MAP] = _similarity_map(measurements)
    return found


def picture_name(figure: LayerFigure) -> str:
    return f"{figure.name}.svg"


def _line_chart(figure: LayerFigure) -> str:
    return line_chart(
        title=figure.title,
        series=[Line(label=row.label, values=row.layers) for row in figure.rows],
        y_title=figure.unit,
        references=[Reference(label=label, value=value) for label, value in figure.references],
        decimals=figure.decimals,
    )


def _similarity_map(measurements: Sequence[Measurement]) -> str:
    """Layers down; across, for each pair, the paper's three columns, whatever other models were measured."""
    rows_of_pair = {
        languages: rows_of_models(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages)
        for languages in pairs_of(measurements, FIGURE_7)
    }
    num_states = max(row.num_states for rows in rows_of_pair.values() for row in rows)
    groups = []
    for languages, rows in rows_of_pair.items():
        of_both = [row for row in rows if not row.label.startswith(MONOLINGUAL.label)]
        default = [row for row in of_both if row.label == DEFAULT.label] or of_both[:1]
        shown_rows = [*default, *(row for row in rows if row not in of_both)]
        columns = [
            Column(
                label="Untrained" if row.label.endswith("untrained") else row.label,
                values=(*row.layers, *[None] * (num_states - row.num_states), fmean(row.means)),
            )
            for row in shown_rows
        ]
        groups.append(Group(label=pair_title(languages), columns=columns))
    return heat_map(
        title="Figure 7: CKA similarity of parallel sentences",
        rows=[*(f"L{layer}" for layer in range(num_states)), "mean"],
        groups=groups,
        quantity="linear CKA",
        summary_rows=1,
    )
