"""Pictures of scores by layer: a line chart for each figure, and heat maps of Figure 7, ours and the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.figures import FIGURE_7
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.heat_map import Column, Group, heat_map
from isoglot.report.figures.layer_series import LayerFigure, Series, pair_title, pairs_of, series
from isoglot.report.figures.line_chart import Line, Reference, line_chart
from isoglot.report.figures.picture import WIDE, Picture
from isoglot.report.figures.sentence_figures import CKA
from isoglot.report.published import FIGURE_7_CKA
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of

PAPERS_COLUMNS = {"bilingual": "Bilingual", "monolingual": MONOLINGUAL.label, "untrained": "Untrained"}


def layer_picture(figure: LayerFigure, *, room: float = 0.0) -> Picture:
    """Scores by layer, a line for each kind of model; the axis has room for this score, whoever reaches it."""
    return Picture(
        name=figure.name,
        draw=partial(_line_chart, figure, room),
        has_published=any(row.is_published for row in figure.rows),
    )


def similarity_map(measurements: Sequence[Measurement]) -> Picture | None:
    """Layers down; across, for each pair, the paper's three columns, whatever other models were measured."""
    columns_of = {languages: _columns(measurements, languages) for languages in pairs_of(measurements, FIGURE_7)}
    groups = {
        pair_title(languages): {row.label: row.layers for row in rows} for languages, rows in columns_of.items() if rows
    }
    return _map(FIGURE_7, "Figure 7: CKA similarity of parallel sentences", groups) if groups else None


@dataclass(frozen=True, kw_only=True)
class PublishedMap:
    picture: Picture
    has_our_pairs: bool


def published_similarity_map(pairs: Sequence[tuple[str, str]]) -> PublishedMap:
    """The paper's own Figure 7: those of these pairs that it has, or else all of its own."""
    ours = [languages for languages in FIGURE_7_CKA if languages in pairs]
    groups = {
        pair_title(languages): {PAPERS_COLUMNS[kind]: values for kind, values in FIGURE_7_CKA[languages].items()}
        for languages in ours or FIGURE_7_CKA
    }
    picture = _map(f"{FIGURE_7}.the-paper", "Figure 7 as the paper has it", groups)
    return PublishedMap(picture=picture, has_our_pairs=bool(ours))


def _line_chart(figure: LayerFigure, room: float, width: float) -> str:
    return line_chart(
        title=figure.title,
        series=[
            Line(label=row.label, values=row.layers, ranges=row.ranges, is_published=row.is_published)
            for row in figure.rows
        ],
        y_title=figure.unit,
        references=[Reference(label=label, value=value) for label, value in figure.references],
        decimals=figure.decimals,
        shown=(0.0, room),
        width=width,
    )


def _map(name: str, title: str, groups: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Picture:
    num_states = max(len(values) for columns in groups.values() for values in columns.values())
    drawn = [
        Group(
            label=label,
            columns=[Column(label=column, values=_with_mean(values, num_states)) for column, values in columns.items()],
        )
        for label, columns in groups.items()
    ]
    rows = [*(f"L{layer}" for layer in range(num_states)), "mean"]

    def draw(width: float) -> str:
        # A narrow window has room for one pair only, and shows them one below the other.
        together = [drawn] if width >= WIDE else [[group] for group in drawn]
        return "".join(
            heat_map(title=title, rows=rows, groups=alike, quantity="linear CKA", summary_rows=1, width=width)
            for alike in together
        )

    return Picture(name=name, draw=draw)


def _with_mean(values: Sequence[float | None], num_states: int) -> list[float | None]:
    known = [value for value in values if value is not None]
    return [*values, *[None] * (num_states - len(values)), fmean(known)]


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
