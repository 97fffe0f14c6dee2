"""Whether a study orders the conditions as the paper's Table 1 does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from statistics import correlation, fmean

from isoglot.report.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK, published_order, published_score
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.report.verdicts import CLOSE_POINTS, Noise, Sample, Verdict, few_seeds, order_verdict
from isoglot.study.conditions import CONDITIONS

FEWEST_CONDITIONS = 4
"""The order of fewer is not worth a number."""
DIGITS = 6
"""Averages are compared to this many digits: sums of the same decimals may differ in their last bits."""
MEAN_OF_TASKS = "mean of tasks"
Averages = Mapping[str, tuple[float, float]]
"""Our average and the paper's, for each condition."""


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """How near the order of conditions is to the paper's, in one task or in the mean over tasks."""

    title: str
    rho: float | None
    """None where one side has all conditions alike."""
    num_conditions: int
    targets: tuple[str, ...]
    """Targets of the study over which both sides are averaged."""
    are_papers_targets: bool
    """If not, the mean over the paper's own languages stands on its side."""


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The correlation of ranks, where equal values share theirs; None where all of one side are equal."""
    ranks = [_ranks(side) for side in (a, b)]
    if any(len(set(side)) < 2 for side in ranks):
        return None
    return correlation(*ranks)


def _ranks(values: Sequence[float]) -> list[float]:
    """From 1, the lowest: 1, 2.5 and 2.5 for 10, 20 and 20."""
    return [
        sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2 for value in values
    ]


def rank_correlations(tasks: Sequence[TaskScores]) -> list[RankCorrelation]:
    """One for each task that the paper has, then one for their mean, where there are enough conditions."""
    of_tasks = [(scores, _averages(scores)) for scores in tasks if scores.task.name in TITLE_OF_TASK]
    enough = [(scores, averages) for scores, averages in of_tasks if len(averages) >= FEWEST_CONDITIONS]
    found = [_correlation(scores.task.title, averages, [scores]) for scores, averages in enough]
    if len(enough) > 1:
        by_task = [averages for _, averages in enough]
        means = {
            name: (fmean(each[name][0] for each in by_task), fmean(each[name][1] for each in by_task))
            for name in TABLE_1_SCORES
            if all(name in each for each in by_task)
        }
        if len(means) >= FEWEST_CONDITIONS:
            found.append(_correlation(MEAN_OF_TASKS, means, [scores for scores, _ in enough]))
    return found


def rank_sentences(found: Sequence[RankCorrelation]) -> Iterator[str]:
    """ "Spearman's rho with the paper's order of conditions: NLI 0.96, NER 0.90 (10 conditions; fr, ru, zh)."."""
    if not found:
        return
    over = [f"{each.num_conditions} conditions; {', '.join(each.targets)}" for each in found]
    if len(set(over)) == 1:
        listed = f"{', '.join(f'{each.title} {rho_text(each)}' for each in found)} ({over[0]})"
    else:
        listed = ", ".join(f"{each.title} {rho_text(each)} ({of})" for each, of in zip(found, over, strict=True))
    yield f"Spearman's rho with the paper's order of conditions: {listed}."
    if not all(each.are_papers_targets for each in found):
        yield (
            f"The paper has no such pairs of languages; the mean over its own, {SOURCE} to {', '.join(TARGETS)}, "
            "stands on its side."
        )


def rho_text(found: RankCorrelation) -> str:
    return "undefined" if found.rho is None else f"{found.rho:.2f}"


def _correlation(title: str, averages: Averages, tasks: Sequence[TaskScores]) -> RankCorrelation:
    ours, theirs = ([round(pair[side], DIGITS) for pair in averages.values()] for side in (0, 1))
    return RankCorrelation(
        title=title,
        rho=spearman(ours, theirs),
        num_conditions=len(averages),
        targets=tuple(dict.fromkeys(target for scores in tasks for target in _targets(scores))),
        are_papers_targets=all(map(_has_papers_targets, tasks)),
    )


def _averages(scores: TaskScores) -> Averages:
    """Conditions with all targets alone: one without the hardest target would stand higher on both sides."""
    targets = _targets(scores)
    by_target = [_means(scores, target) for target in targets]
    return {
        name: (
            fmean(means[name] for means in by_target),
            fmean(
                published_score(name, task=scores.task.name, languages=(scores.source, target)) for target in targets
            ),
        )
        for name in TABLE_1_SCORES
        if targets and all(name in means for means in by_target)
    }


def _means(scores: TaskScores, target: str) -> dict[str, float]:
    """Means over seeds by condition; a score that is no number has no rank."""
    found = {name: scores.of_target(Model(condition=name), target) for name in TABLE_1_SCORES}
    return {name: fmean(values) for name, values in found.items() if values and all(map(isfinite, values))}


def _has_papers_targets(scores: TaskScores) -> bool:
    return scores.source == SOURCE and any(_means(scores, target) for target in scores.targets if target in TARGETS)


def _targets(scores: TaskScores) -> tuple[str, ...]:
    """The targets that both have, or the study's where the paper has none of them.

    Only targets that enough conditions have: the first score in a language must not take all others away.
    """
    known = TARGETS if _has_papers_targets(scores) else scores.targets
    return tuple(
        target for target in scores.targets if target in known and len(_means(scores, target)) >= FEWEST_CONDITIONS
    )


FEW_LINES = 5
LINES_OF_RETRIEVAL = 12
"""Lines shown for one pair of languages; Table 1 has FEW_LINES for each task."""
Pair = tuple[str, str]
HEADING = "Points gained by training, where all tasks of the paper's Table 1 agree on the order:"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Two conditions that the paper puts in one order."""

    better: str
    worse: str
    our_better: float
    our_worse: float
    num_seeds: int
    verdict: Verdict
    are_gains: bool
    """Whether the numbers are gains over the untrained model; otherwise they are scores."""

    def sentence(self) -> str:
        """For people: "Default +61.0 > No anchors +56.2: too close to call"."""
        better, worse = CONDITIONS[self.better].label, CONDITIONS[self.worse].label
        sign = ">" if self.our_better > self.our_worse else "<" if self.our_better < self.our_worse else "="
        few = few_seeds(self.num_seeds)
        number = "+.1f" if self.are_gains else ".1f"
        return f"{better} {self.our_better:{number}} {sign} {worse} {self.our_worse:{number}}: {self.verdict}{few}"


def agreement_lines(found: Sequence[Agreement], *, most: int = FEW_LINES) -> Iterator[tuple[str, Verdict]]:
    """A line for each or, where these are more, how many there are and those that the paper has otherwise."""
    if len(found) > most:
        yield _tally(found), _worst(found)
        found = [each for each in found if each.verdict is Verdict.DISAGREES]
    for each in found:
        yield each.sentence(), each.verdict


def _tally(found: Sequence[Agreement]) -> str:
    count = {verdict: sum(each.verdict is verdict for each in found) for verdict in Verdict}
    return (
        f"of {len(found)} pairs {count[Verdict.AGREES]} agree with the paper, {count[Verdict.DISAGREES]} disagree, "
        f"{count[Verdict.TOO_CLOSE]} are too close to call"
    )


def _worst(found: Sequence[Agreement]) -> Verdict:
    verdicts = {each.verdict for each in found}
    return next(each for each in (Verdict.DISAGREES, Verdict.AGREES, Verdict.TOO_CLOSE) if each in verdicts)


def agreements(gains: Mapping[str, tuple[float, ...]]) -> list[Agreement]:
    """Every pair of conditions whose order the paper's three tasks agree on, by what training gained each."""
    return _compared(gains, is_ahead=published_order, are_gains=True, noise=Noise())


def table_1_agreement(tasks: Sequence[TaskScores], *, noise: Noise) -> Iterator[tuple[str, Verdict]]:
    """For each task and pair of languages, conditions that the paper has more than CLOSE_POINTS apart."""
    for scores in tasks:
        for pair in scores.pairs if scores.task.name in TITLE_OF_TASK else ():

            def is_ahead(better: str, worse: str, *, task: str = scores.task.name, pair: Pair = pair) -> bool:
                ahead, behind = (published_score(name, task=task, languages=pair) for name in (better, worse))
                return ahead - behind > CLOSE_POINTS

            values = {
                model.condition: scores.of_target(model, pair[1]) for model in scores.models if model.is_pretrained
            }
            found = _compared(values, is_ahead=is_ahead, are_gains=False, noise=noise)
            where = f"{scores.task.title}, {'-'.join(pair)}"
            yield from ((f"{where}: {line}", verdict) for line, verdict in agreement_lines(found))


def _compared(
    values: Mapping[str, tuple[float, ...]], *, is_ahead: Callable[[str, str], bool], are_gains: bool, noise: Noise
) -> list[Agreement]:
    """Values by condition, one for each seed."""
    samples = {
        name: Sample.of(dict(enumerate(each))) for name, each in values.items() if each and name in TABLE_1_SCORES
    }
    return [
        Agreement(
            better=better,
            worse=worse,
            our_better=samples[better].mean,
            our_worse=samples[worse].mean,
            num_seeds=min(len(values[better]), len(values[worse])),
            verdict=order_verdict(samples[better], samples[worse], close=noise.points),
            are_gains=are_gains,
        )
        for first, second in combinations(samples, 2)
        for better, worse in ((first, second), (second, first))
        if is_ahead(better, worse)
    ]
