"""Predictions that the trends of a shorter run make for a longer one, beside what came out.

The trend of the longer run has seen the answer. So the trends here are those of the shorter run alone, asked for the
tokens that the longer one read. Moments of one run can be held back in the same way.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from statistics import fmean

from isoglot.report.findings.layer_scores import pair_title
from isoglot.report.growth.rows import Growth
from isoglot.report.growth.trends import LEVEL, Interval, prediction_text
from isoglot.report.quantities import short_number
from isoglot.study.conditions import label_of
from isoglot.study.scales import PAPER, Scale

NOTHING = (None, None, None)
COLUMNS = (
    *("condition", "languages", "measure", "seeds", "moments", "first_tokens", "last_tokens", "last_score", "floor"),
    *("ceiling", "per_doubling", "per_doubling_low", "per_doubling_high"),
    *("tokens", "predicted", "low", "high", "level", "paper", "remark"),
)
PREDICTION_HEADINGS = ("Score", "Shorter run", "Predicted", "Found", "Inside")


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One row of both runs: what the trend of the shorter one says of finished models of the longer one."""

    shorter: Growth
    longer: Growth
    interval: Interval | None
    remark: str
    """Why there is no prediction, or why to doubt it."""

    @property
    def num_inside(self) -> int:
        """The number of seeds inside the interval."""
        low, high = (1.0, 0.0) if self.interval is None else self.interval[1:]
        return sum(low <= score <= high for score in self.longer.finished)

    def cells(self) -> tuple[str, ...]:
        """Texts below PREDICTION_HEADINGS."""
        row, found, decimals = self.longer, self.longer.finished, self.longer.measure.decimals
        mean = Interval(fmean(found), min(found), max(found))
        return (
            f"{label_of(row.condition)}, {pair_title(row.languages)}: {row.measure.title}",
            f"{fmean(self.shorter.finished):.{decimals}f}",
            prediction_text(self.interval, self.remark, decimals=decimals),
            mean.text(decimals) if len(found) > 1 else f"{mean.value:.{decimals}f}",
            "-" if self.interval is None else f"{self.num_inside} of {len(found)}",
        )


def are_comparable(shorter: Scale, longer: Scale) -> bool:
    """Whether two runs differ in nothing but their length, so that the trends of one are about the other."""
    as_long = replace(shorter, updates=longer.updates, moments=longer.moments, evaluations=longer.evaluations)
    return shorter.tokens < longer.tokens and as_long == longer


def predictions(shorter: Sequence[Growth], longer: Sequence[Growth]) -> list[Prediction]:
    """A prediction for each row that has finished models in both runs."""
    before = {(row.condition, row.languages, row.measure.key): row for row in shorter if row.finished}
    found = []
    for row in longer:
        earlier = before.get((row.condition, row.languages, row.measure.key))
        if earlier is not None and row.finished:
            interval, remark = earlier.at(row.budget)
            found.append(Prediction(shorter=earlier, longer=row, interval=interval, remark=remark))
    return found


def held_back(rows: Sequence[Growth], *, moments: int = 1) -> list[Prediction]:
    """Predictions of each row's last steady moments by those before: a test of the rule on scores it had not seen."""
    found: list[Prediction] = []
    for row in rows:
        if len(steady := [*row.steady]) > moments:
            found += predictions([_until(steady[-1 - moments], row)], [_until(steady[-1], row)])
    return [each for each in found if each.interval is not None]


def _until(tokens: int, row: Growth) -> Growth:
    """The row as if training had ended after so many tokens, without a fall of the learning rate."""
    by_seed = {
        seed: {at: score for at, score in of_seed.items() if at <= tokens} for seed, of_seed in row.by_seed.items()
    }
    return replace(row, by_seed=by_seed, budget=tokens)


def held_back_text(rows: Sequence[Growth]) -> str:
    """How often the rule was right one moment ahead; empty where nothing could be held back."""
    found = held_back(rows)
    if not found:
        return ""
    # Rows in training are behind the others, or lack a moment.
    budgets = [(each.shorter.budget, each.longer.budget) for each in found]
    last = max(budgets)
    before, after = map(short_number, last)
    inside = inside_text([each for each, its in zip(found, budgets, strict=True) if its == last])
    return (
        f"Tested on this run: the moments up to {before} tokens predict those at {after}, and {inside} scores lie "
        f"inside their {LEVEL:.0%} interval."
    )


def inside_text(found: Sequence[Prediction]) -> str:
    """ "21 of 24": scores inside the interval of their prediction."""
    return f"{sum(each.num_inside for each in found)} of {sum(len(each.longer.finished) for each in found)}"


def prediction_title(found: Sequence[Prediction]) -> str:
    """ "Predicted at 1.0G tokens for 8.1G: 21 of 24 scores lie inside the 90% interval of their prediction"."""
    before, after = short_number(found[0].shorter.budget), short_number(found[0].longer.budget)
    # How far seeds lie apart cannot be told from one.
    by_one = " by one seed" if all(len(each.shorter.by_seed) == 1 for each in found) else ""
    predicted = [each for each in found if each.interval is not None]
    if not predicted:
        return f"Nothing could be predicted at {before} tokens for {after}"
    inside = inside_text(predicted)
    return (
        f"Predicted at {before} tokens for {after}{by_one}: {inside} scores lie inside the {LEVEL:.0%} interval of "
        "their prediction"
    )


def prediction_sentences(found: Sequence[Prediction]) -> list[str]:
    """The title and a line for each row, for the terminal; nothing where no row is in both runs."""
    if not found:
        return []
    lines = ("  {}: {}, predicted {}, found {}, inside {}".format(*each.cells()) for each in found)
    return [f"{prediction_title(found)}:", *lines]


def growth_csv(rows: Sequence[Growth]) -> str:
    """A line for each row and budget of tokens: a prediction to hold a longer run against."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row, tokens in ((each, tokens) for each in rows for tokens in each.budgets):
        found, _ = row.trend_and_reason
        predicted, remark = row.at(tokens)
        last = row.tokens[-1]
        # The paper has a score at the end of its own training alone.
        paper = row.paper if tokens == PAPER.tokens else None
        writer.writerow(
            [
                *(row.condition, "-".join(row.languages), row.measure.key, len(row.line.by_seed), len(row.tokens)),
                *(row.tokens[0], last, *map(_rounded, (fmean(row.line.at(last)), row.floor, row.ceiling))),
                *map(_rounded, found.per_doubling if found else NOTHING),
                *(tokens, *map(_rounded, predicted or NOTHING), LEVEL, _rounded(paper), remark),
            ]
        )
    return text.getvalue()


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)
