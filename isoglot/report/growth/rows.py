"""Growth of every row: its scores at moments of training, their trend, and what it predicts."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise, product, takewhile
from math import log2
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import GROWTH, GROWTH_TASKS, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.layer_scores import Line, Pair
from isoglot.report.findings.published import FIGURE_7_CKA, TABLE_1_SCORES, TITLE_OF_TASK, papers_score, published_score
from isoglot.report.growth.trends import Interval, Moment, Trend, trend
from isoglot.study.conditions import DEFAULT, label_of
from isoglot.study.scales import PAPER, Decay, Scale

# A point of a hundred above the floor: growth from there would be growth of noise.
AT_FLOOR = 0.01
# Wider intervals say nothing of where between floor and ceiling a score will be.
WIDEST = 0.5
BySeed = dict[int | None, dict[int, float]]
"""Scores by seed and tokens read."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A kind of score that grows."""

    key: str
    title: str
    metric: str
    unit: str = "precision at 1 (%)"
    decimals: int = 1
    ceiling: float = 100.0
    task: str | None = None
    summary: Callable[[Iterable[float]], float] = max
    """Makes one number of those of all layers."""
    is_near_zero: bool = False
    """Whether most rows score a few points, and a few rows many."""


TO_FIND = "that find their translation, best layer"
STRUCTURE = (
    Measure(key="retrieval", title=f"Sentences {TO_FIND}", metric="retrieval_p1", is_near_zero=True),
    Measure(key="words", title=f"Words {TO_FIND}", metric="word_translation_p1", is_near_zero=True),
    Measure(
        key="cka",
        title="Likeness of the languages, mean over layers",
        metric="cka",
        unit="linear CKA",
        decimals=2,
        ceiling=1.0,
        summary=fmean,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Growth:
    """One row: a score of one kind of model at its moments, by seed and tokens read."""

    condition: str
    languages: Pair
    measure: Measure
    by_seed: BySeed
    annealed: frozenset[int]
    """Tokens of the moments at which the learning rate was on its way to 0."""
    budget: int
    """Tokens of a finished model."""
    floor: float
    floor_name: str
    ceiling: float
    paper: float | None
    has_own_paper: bool
    """Whether the paper's score is of these very languages, or else the mean over its own."""

    @cached_property
    def line(self) -> Line:
        return Line(label=label_of(self.condition), by_seed=[*self.by_seed.values()])

    def of_seeds(self, seeds: Set[int | None]) -> "Growth":
        if self.by_seed.keys() <= seeds:
            return self  # its trend is known
        return replace(self, by_seed={seed: scores for seed, scores in self.by_seed.items() if seed in seeds})

    @property
    def tokens(self) -> list[int]:
        return sorted({tokens for of_seed in self.line.by_seed for tokens in of_seed})

    @property
    def finished(self) -> list[float]:
        """Scores of finished models, one a seed; empty while none is there."""
        return self.line.at(self.budget)

    @cached_property
    def trend_and_reason(self) -> tuple[Trend | None, str]:
        """The trend before the learning rate falls, and in words why it must not be carried on."""
        paths = [
            [Moment(log2(tokens), score) for tokens, score in of_seed.items() if tokens not in self.annealed]
            for of_seed in self.line.by_seed
        ]
        found, reason = trend(paths)
        highest = max(score for of_seed in self.line.by_seed for score in of_seed.values())
        is_at_floor = highest - self.floor < AT_FLOOR * (self.ceiling - self.floor)
        return found, "at its floor" if found and is_at_floor else reason

    def at(self, tokens: float) -> tuple[Interval | None, str]:
        """The score of a finished model of so many tokens as the trend has it, and why that would mean nothing."""
        found, reason = self.trend_and_reason
        if found is None or reason:
            return None, reason
        if not self.finished:
            return None, "no finished model"
        if 3 * max(self.steady) < self.budget:
            return None, "moments missing"
        if tokens <= self.budget:
            return None, "read already"
        if not self.reaches(tokens):
            return None, "too far"
        ahead = found.after(log2(tokens / self.budget), score=fmean(self.finished))
        predicted = Interval(*(min(max(each, 0.0), self.ceiling) for each in ahead))
        is_vague = predicted.high - predicted.low > WIDEST * (self.ceiling - self.floor)
        return predicted, "hardly known" if is_vague else ""

    def reaches(self, tokens: float) -> bool:
        """Whether they lie no further on than the moments reach back."""
        return tokens / self.budget <= self.budget / self.tokens[0]

    @cached_property
    def steady(self) -> dict[int, float]:
        """Mean scores by tokens, highest so far, of the moments before the learning rate goes to 0."""
        tokens = [each for each in self.tokens if each not in self.annealed]
        return dict(zip(tokens, accumulate((fmean(self.line.at(each)) for each in tokens), max), strict=True))

    def tokens_for(self, score: float) -> float | None:
        """The tokens after which it first had the score, between moments by their logarithm; None outside of them."""
        for (before, low), (after, high) in pairwise(self.steady.items()):
            if low <= score <= high:
                return before if low == high else before * (after / before) ** ((score - low) / (high - low))
        return None

    @property
    def budgets(self) -> list[int]:
        """Doublings of the tokens read, and at the end the paper's own budget."""
        longer = (self.budget << number for number in range(1, 64))
        return [*takewhile(lambda tokens: tokens < PAPER.tokens, longer), PAPER.tokens]


def times_behind(row: Growth, other: Growth) -> str:
    """How many times the other row's tokens this one needs for the same score, with a sign: 17, 0.25 or over 64.

    Over the seeds that both have at the same moments, if any. Empty where neither grows beyond noise, or where their
    moments differ.
    """
    both = row.by_seed.keys() & other.by_seed.keys()
    if seeds := {seed for seed in both if row.by_seed[seed].keys() == other.by_seed[seed].keys()}:
        row, other = row.of_seeds(seeds), other.of_seeds(seeds)
    if not row.steady or [*row.steady] != [*other.steady]:
        return ""
    first, last = min(row.steady), max(row.steady)
    is_behind = row.steady[last] <= other.steady[last]
    slow, fast = (row, other) if is_behind else (other, row)
    if fast.trend_and_reason[1]:
        return ""
    late, early = (each.tokens_for(slow.steady[last]) for each in (slow, fast))
    # What does not grow may have had its best score by chance, and early.
    late = last if slow.trend_and_reason[1] else late
    # At its end the slow row may not have what the fast one had at its first moment.
    times = late / early if late and early else last / first
    bound = "" if early else "over " if is_behind else "under "
    times = times if is_behind else 1 / times
    return f"{bound}\N{MULTIPLICATION SIGN}" + (f"{times:.0f}" if times >= 10 else f"{times:.2g}")


def growths(measurements: Sequence[Measurement], *, scale: Scale) -> list[Growth]:
    """By pair of languages and measure, a row for each condition with scores at moments of training."""
    found: dict[tuple[Pair, str | None, str], list[Measurement]] = {}
    for each in measurements:
        if each.exhibit in (GROWTH, GROWTH_TASKS):
            found.setdefault((each.languages, each.task, each.condition), []).append(each)
    pairs, conditions = dict.fromkeys(key[0] for key in found), dict.fromkeys(key[2] for key in found)
    measures = [*STRUCTURE, *map(_of_task, dict.fromkeys(task for _, task, _ in found if task is not None))]
    rows = []
    for languages, measure, condition in product(pairs, measures, conditions):
        both = found.get((languages, measure.task, condition), [])
        here, of_source = ([each for each in both if each.language == language] for language in languages[::-1])
        if by_seed := _by_seed(here, measure=measure, scale=scale):
            floor, floor_name = _floor(here, measure=measure)
            paper, is_own = _paper(condition, measure=measure, languages=languages)
            rows.append(
                Growth(
                    condition=condition,
                    languages=languages,
                    measure=measure,
                    by_seed=by_seed,
                    annealed=frozenset([scale.tokens] if scale.optimization.decay is Decay.LINEAR_TAIL else []),
                    budget=scale.tokens,
                    floor=floor,
                    floor_name=floor_name,
                    ceiling=_ceiling(
                        by_seed, _by_seed(of_source, measure=measure, scale=scale), measure=measure, floor=floor
                    ),
                    paper=paper,
                    has_own_paper=is_own,
                )
            )
    return rows


def _of_task(name: str) -> Measure:
    task = task_named(name)
    unit = task.metric_titles[task.metric]
    return Measure(key=name, title=f"{task.title} in the target language", unit=unit, metric=task.metric, task=name)


def _by_seed(measurements: Iterable[Measurement], *, measure: Measure, scale: Scale) -> BySeed:
    # All layers of a moment in one number; the scores of tasks have none.
    layers: dict[int | None, dict[int, list[float]]] = {}
    for each in measurements:
        if each.metric == measure.metric and each.update is not None:
            tokens = each.update * scale.batch * scale.window
            # The best model of a run may come a little before its end, and yet be what all of the run made. Models
            # kept on the way come at half of it or before.
            at = scale.tokens if 2 * tokens > scale.tokens else tokens
            layers.setdefault(each.seed, {}).setdefault(at, []).append(each.value)
    return {
        seed: {tokens: measure.summary(values) for tokens, values in sorted(of_seed.items())}
        for seed, of_seed in layers.items()
    }


def _floor(measurements: Sequence[Measurement], *, measure: Measure) -> tuple[float, str]:
    # What a model has that learned nothing: chance, or for a task the same model untrained.
    if measure.task is not None:
        variant, metric, name = UNTRAINED, measure.metric, "untrained"
    else:
        variant, metric, name = None, f"{measure.metric}_chance", "chance"
    found = [each.value for each in measurements if (each.variant, each.metric) == (variant, metric)]
    return (fmean(found), name) if found else (0.0, "")


def _ceiling(by_seed: BySeed, of_source: BySeed, *, measure: Measure, floor: float) -> float:
    # A task is hardly transferred better than it was learned. But test sets may differ, or it may not have been learned
    # at all: then nothing is known but that 100 is above.
    learned = [scores[max(scores)] for scores in of_source.values()]
    highest = max(score for scores in by_seed.values() for score in scores.values())
    is_known = measure.task is not None and learned and fmean(learned) > max(highest, floor)
    return fmean(learned) if is_known else measure.ceiling


def _paper(condition: str, *, measure: Measure, languages: Pair) -> tuple[float | None, bool]:
    task = measure.task
    if task in TITLE_OF_TASK and condition in TABLE_1_SCORES:
        is_own = papers_score(condition, task=task, languages=languages) is not None
        return published_score(condition, task=task, languages=languages), is_own
    if measure.key == "cka" and condition == DEFAULT.name and languages in FIGURE_7_CKA:
        return fmean(FIGURE_7_CKA[languages]["bilingual"]), True
    return None, False
