"""The numbers beside a chart: round, few, and around all that is shown, in even steps or in ever larger ones."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_STEPS = 6
ROUND = (1.0, 2.0, 5.0)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Ticks at whole multiples of a step, from `first` to `last` of them."""

    step: float
    first: int
    last: int

    @classmethod
    def around(cls, values: Iterable[float]) -> "Axis":
        """The finest axis with round steps that has no more than MOST_STEPS of them, and room for every value."""
        shown = list(values)
        least, most = min(shown), max(shown)
        span = (most - least) or abs(most) or 1.0
        magnitude = 10.0 ** math.floor(math.log10(span / MOST_STEPS))
        # A value that is a whole number of steps, but for rounding, needs no further tick.
        most_steps = MOST_STEPS + 1e-9
        step = next(magnitude * each for each in (1, 2, 2.5, 5, 10) if span / (magnitude * each) <= most_steps)
        first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
        return cls(step=step, first=first, last=max(last, first + 1))

    @property
    def ticks(self) -> list[float]:
        return [place * self.step for place in range(self.first, self.last + 1)]

    def label(self, value: float) -> str:
        """With as many decimals as the step has."""
        decimals = next(places for places in range(30) if math.isclose(round(self.step, places), self.step))
        return f"{round(value, decimals) + 0.0:.{decimals}f}"

    def share(self, value: float) -> float:
        """0 at the first tick, 1 at the last."""
        return (value / self.step - self.first) / (self.last - self.first)


@dataclass(frozen=True, kw_only=True)
class LogAxis:
    """Ticks at 1, 2, 5, 10, 20 and so on; as far from each other as their ratio is large."""

    ticks: list[float]

    @classmethod
    def around(cls, values: Iterable[float]) -> "LogAxis":
        """From the last tick below all values, which are above 0, to the first above; of many, powers of ten alone."""
        shown = list(values)
        least, most = min(shown), max(shown)
        powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 2)
        every = [10.0**power * each for power in powers for each in ROUND]
        first = max((tick for tick in every if tick <= least * (1 + 1e-9)), default=every[0])
        last = min(tick for tick in every if tick >= most * (1 - 1e-9) and tick > first)
        ticks = [tick for tick in every if first <= tick <= last]
        if len(ticks) > MOST_STEPS + 1:
            ticks = [tick for tick in ticks if tick in (first, last) or math.isclose(math.log10(tick) % 1, 0)]
        return cls(ticks=ticks)

    def label(self, value: float) -> str:
        return f"{value:,.12g}"

    def share(self, value: float) -> float:
        """0 at the first tick, 1 at the last."""
        return math.log(value / self.ticks[0]) / math.log(self.ticks[-1] / self.ticks[0])


AnyAxis = Axis | LogAxis
