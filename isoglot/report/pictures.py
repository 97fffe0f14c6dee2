"""The charts of a report, as files beside it."""

from collections.abc import Sequence
from statistics import fmean

from isoglot.alignment_settings import NewVectors
from isoglot.cells import UNTRAINED
from isoglot.conditions import DEFAULT, MONOLINGUAL, label_of
from isoglot.figures import FIGURE_7
from isoglot.measurements import Measurement
from isoglot.report.heat_map import Column, Group, heat_map
from isoglot.report.layer_figures import layer_figures
from isoglot.report.layer_series import LayerFigure, Series, pair_title, pairs_of, series
from isoglot.report.line_chart import Line, Reference, line_chart
from isoglot.report.sentence_figures import CKA

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
    columns_of = {languages: _columns(measurements, languages) for languages in pairs_of(measurements, FIGURE_7)}
    num_states = max(row.num_states for rows in columns_of.values() for row in rows)
    groups = [
        Group(
            label=pair_title(languages),
            columns=[
                Column(
                    label=row.label,
                    values=(*row.layers, *[None] * (num_states - row.num_states), fmean(row.means)),
                )
                for row in rows
            ],
        )
        for languages, rows in columns_of.items()
    ]
    return heat_map(
        title="Figure 7: CKA similarity of parallel sentences",
        rows=[*(f"L{layer}" for layer in range(num_states)), "mean"],
        groups=groups,
        quantity="linear CKA",
        summary_rows=1,
    )


def _columns(measurements: Sequence[Measurement], languages: tuple[str, str]) -> list[Series]:
    """The model of both languages (Default, if it is there), models of one each, and with an untrained one."""
    here = [each for each in measurements if each.exhibit == FIGURE_7 and each.languages == languages]
    of_both = [name for name in dict.fromkeys(each.condition for each in here) if name != MONOLINGUAL.name]
    bilingual = [DEFAULT.name] if DEFAULT.name in of_both else of_both[:1]
    asked = [(label_of(name), name, CKA) for name in bilingual]
    asked += [(MONOLINGUAL.label, MONOLINGUAL.name, CKA), ("Untrained", MONOLINGUAL.name, CKA + UNTRAINED)]
    found = (
        series(here, label=label, exhibit=FIGURE_7, metric=metric, condition=condition, languages=languages)
        for label, condition, metric in asked
    )
    return [row for row in found if row is not None]
