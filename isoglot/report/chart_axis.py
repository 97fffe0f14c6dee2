"""The numbers beside a chart: round, few, and around all that is shown."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_STEPS = 6


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
