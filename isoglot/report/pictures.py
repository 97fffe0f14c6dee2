"""The charts of a report, as files beside it."""

from collections.abc import Sequence
from statistics import fmean

from isoglot.cells import UNTRAINED
from isoglot.conditions import MONOLINGUAL, label_of
from isoglot.figures import FIGURE_7
from isoglot.measurements import Measurement
from isoglot.report.heat_map import Column, Group, heat_map
from isoglot.report.layer_figures import layer_figures
from isoglot.report.layer_series import LayerFigure, pair_title, pairs_of, series
from isoglot.report.line_chart import Line, Reference, line_chart
from isoglot.report.sentence_figures import CKA

HEAT_MAP = f"{FIGURE_7}.svg"


def pictures(measurements: Sequence[Measurement]) -> dict[str, str]:
    """SVG by the name of its file: a line chart for each figure, and for Figure 7 all pairs together as well."""
    found = {picture_name(figure): _line_chart(figure) for figure in layer_figures(measurements)}
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
    """Layers down; across, for each pair, models of both languages, of one each, and with an untrained one."""
    groups = []
    for languages in pairs_of(measurements, FIGURE_7):
        here = [each for each in measurements if each.exhibit == FIGURE_7 and each.languages == languages]
        conditions = [name for name in dict.fromkeys(each.condition for each in here) if name != MONOLINGUAL.name]
        asked = [(label_of(name), name, CKA) for name in conditions]
        asked += [(MONOLINGUAL.label, MONOLINGUAL.name, CKA), ("Untrained", MONOLINGUAL.name, CKA + UNTRAINED)]
        columns = [
            Column(label=label, values=(*found.layers, fmean(found.layers)))
            for label, condition, metric in asked
            if (
                found := series(
                    here, label=label, exhibit=FIGURE_7, metric=metric, condition=condition, languages=languages
                )
            )
        ]
        groups.append(Group(label=pair_title(languages), columns=columns))
    num_states = max(len(column.values) for group in groups for column in group.columns) - 1
    return heat_map(
        title="Figure 7: CKA similarity of parallel sentences",
        rows=[*(f"L{layer}" for layer in range(num_states)), "mean"],
        groups=groups,
        quantity="linear CKA",
        summary_rows=1,
    )
