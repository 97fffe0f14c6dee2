"""Points by two numbers as SVG text, each kind with a colour and a mark of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.report.figures.chart_axis import Axis
from isoglot.report.figures.chart_legend import LABEL_SIZE, LINE_HEIGHT, Legend, line_colour, markers
from isoglot.report.figures.drawing import FAINT, INK, coloured, element, level, number, picture, shown_text, wrapped

PLOT_HEIGHT, LEFT, MARGIN, BELOW_PLOT, TITLE_SIZE = 300, 66, 22, 48, 15


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Points of one kind, each with its name."""

    label: str
    points: Sequence[tuple[str, float, float]]


@dataclass(frozen=True, kw_only=True)
class ScatterChart:
    title: str
    clouds: Sequence[Cloud]
    x_title: str
    y_title: str
    """Both with their unit."""
    x_decimals: int = 2
    y_decimals: int = 1

    def drawn(self, width: float) -> str:
        """A whole SVG document."""
        drawing = _Drawing(chart=self, width=width)
        return picture(
            drawing.parts(), width=width, height=drawing.height, title=self.title, description=self._in_words()
        )

    def said(self, cloud: Cloud, place: int) -> str:
        name, x, y = cloud.points[place]
        return f"{cloud.label}, {name}: {self.x_title} {x:.{self.x_decimals}f}, {self.y_title} {y:.{self.y_decimals}f}"

    def _in_words(self) -> str:
        told = (self.said(cloud, place) for cloud in self.clouds for place in range(len(cloud.points)))
        return f"{self.y_title} by {self.x_title}. {'; '.join(told)}."


@dataclass(frozen=True, kw_only=True)
class _Drawing:
    chart: ScatterChart
    width: float

    @property
    def _title(self) -> list[str]:
        return wrapped(self.chart.title, width=self.width - 2 * MARGIN, size=TITLE_SIZE)

    @property
    def _top(self) -> float:
        return LINE_HEIGHT * len(self._title) + 26

    @property
    def _legend(self) -> Legend:
        return Legend(lines=[cloud.label for cloud in self.chart.clouds], levels=(), width=self.width - 2 * MARGIN)

    @property
    def height(self) -> float:
        return self._top + PLOT_HEIGHT + BELOW_PLOT + self._legend.height + 10

    def parts(self) -> Iterator[str]:
        points = [point for cloud in self.chart.clouds for point in cloud.points]
        x_axis = Axis.around([0.0, *(x for _, x, _ in points)])
        y_axis = Axis.around([0.0, *(y for _, _, y in points)])
        width, bottom = self.width - LEFT - MARGIN, self._top + PLOT_HEIGHT

        def place_x(value: float) -> float:
            return LEFT + width * x_axis.share(value)

        def place_y(value: float) -> float:
            return bottom - PLOT_HEIGHT * y_axis.share(value)

        for place, line in enumerate(self._title):
            shown = shown_text(line, x=MARGIN, y=LINE_HEIGHT * place + 26, size=TITLE_SIZE, font_weight="600")
            yield coloured(INK, shown)
        for tick in y_axis.ticks:
            yield coloured(FAINT, level(x=LEFT, width=width, y=place_y(tick), thickness=1))
            yield coloured(INK, shown_text(y_axis.label(tick), x=LEFT - 8, y=place_y(tick) + 4.5, anchor="end"))
        for tick in x_axis.ticks:
            x = place_x(tick)
            line = element("line", x1=x, x2=x, y1=self._top, y2=bottom, stroke="currentColor", stroke_width=1)
            yield coloured(FAINT, line)
            yield coloured(INK, shown_text(x_axis.label(tick), x=x, y=bottom + 20, anchor="middle"))
        yield coloured(INK, shown_text(self.chart.x_title, x=LEFT + width / 2, y=bottom + 40, anchor="middle"))
        upwards = f"translate(18 {number(self._top + PLOT_HEIGHT / 2)}) rotate(-90)"
        shown = shown_text(self.chart.y_title, x=0, y=0, anchor="middle", size=LABEL_SIZE, transform=upwards)
        yield coloured(INK, shown)
        for kind, cloud in zip(self._legend.styles, self.chart.clouds, strict=True):
            marks = (
                (place_x(x), place_y(y), self.chart.said(cloud, place)) for place, (_, x, y) in enumerate(cloud.points)
            )
            yield coloured(line_colour(kind), markers(kind, marks))
        yield from self._legend.drawn(x=MARGIN, y=bottom + BELOW_PLOT)
