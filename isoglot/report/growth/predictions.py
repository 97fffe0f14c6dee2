"""Predictions that the curves of a shorter run make for a longer one, beside what came out.

A curve that is fitted to the longer run has seen the answer. So the curves here are those of the shorter run alone,
asked for the tokens that the longer one read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.report.figures.layer_series import pair_title
from isoglot.report.growth.fits import LEVEL, Interval
from isoglot.report.growth.rows import Growth
from isoglot.report.quantities import short_number
from isoglot.study.conditions import label_of

PREDICTION_HEADINGS = ("Score", "Shorter run", "Predicted", "Found", "Inside")


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One row: its finished models in both runs, and what the curve of the shorter one says of the longer one."""

    shorter: Growth
    longer: Growth
    interval: Interval | None
    remark: str
    """Why there is no prediction, or why to doubt it."""

    @property
    def found(self) -> list[float]:
        """The scores of the longer run's finished models, one a seed."""
        return self.longer.line.at(self.longer.tokens[-1])

    @property
    def num_inside(self) -> int:
        """The interval is that of one model, so each seed is inside or not."""
        return sum(self.interval is not None and self.interval.low <= each <= self.interval.high for each in self.found)

    def cells(self) -> tuple[str, ...]:
        """Texts below PREDICTION_HEADINGS."""
        decimals, interval = self.shorter.measure.decimals, self.interval
        row, found = self.longer, self.found
        name = f"{label_of(row.condition)}, {pair_title(row.languages)}: {row.measure.title}"
        ends = f" ({min(found):.{decimals}f} to {max(found):.{decimals}f})" if len(found) > 1 else ""
        predicted = "-" if interval is None else interval.text(decimals)
        return (
            name,
            f"{fmean(self.shorter.line.at(self.shorter.tokens[-1])):.{decimals}f}",
            f"{predicted} ({self.remark})" if self.remark else predicted,
            f"{fmean(found):.{decimals}f}{ends}",
            "-" if interval is None else f"{self.num_inside} of {len(found)}",
        )


def predictions(shorter: Sequence[Growth], longer: Sequence[Growth]) -> list[Prediction]:
    """A prediction for each row that both runs have, where the second read more."""
    before = {(row.condition, row.languages, row.measure.key): row for row in shorter}
    found = []
    for row in longer:
        earlier = before.get((row.condition, row.languages, row.measure.key))
        if earlier is not None and earlier.tokens[-1] < row.tokens[-1]:
            interval, remark = earlier.at(row.tokens[-1])
            found.append(Prediction(shorter=earlier, longer=row, interval=interval, remark=remark))
    return found


def prediction_title(found: Sequence[Prediction]) -> str:
    """ "Predicted at 1.0G tokens for 8.1G: 21 of 24 scores lie inside the 90% interval of their prediction"."""
    before, after = (short_number(row.tokens[-1]) for row in (found[0].shorter, found[0].longer))
    predicted = [each for each in found if each.interval is not None]
    inside, scores = sum(each.num_inside for each in predicted), sum(len(each.found) for each in predicted)
    return (
        f"Predicted at {before} tokens for {after}: {inside} of {scores} scores lie inside the {LEVEL:.0%} interval of "
        "their prediction"
    )


def prediction_sentences(found: Sequence[Prediction]) -> list[str]:
    """For the terminal: the title, and a line for each row; nothing where nothing was predicted."""
    if not found:
        return []
    lines = ("  {}: {}, predicted {}, found {}, inside {}".format(*each.cells()) for each in found)
    return [f"{prediction_title(found)}:", *lines]
