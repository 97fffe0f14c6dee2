"""How near the order of a study's conditions is to that of the paper's Table 1: Spearman's rho."""

# C = conditions, N = draws of noise

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, isfinite, sqrt
from statistics import correlation, fmean

import numpy as np

from isoglot.report.findings.noise import Noise
from isoglot.report.findings.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK, published_score
from isoglot.report.findings.transfer_scores import TaskScores

# The order of fewer is not worth a number.
FEWEST_CONDITIONS = 4
DIGITS = 6
DRAWS = 2000
MEAN_OF_TASKS = "mean of tasks"


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """How near the order of conditions is to the paper's, in one task or in the mean over tasks."""

    title: str
    ours: Mapping[str, float]
    papers: Mapping[str, float]
    """Averages by condition."""
    targets: tuple[str, ...]
    """Targets of the study over which both sides are averaged."""
    are_papers_targets: bool
    """If not, the mean over the paper's own languages stands on its side."""
    deviations: Mapping[str, float]
    """Standard deviations of our averages through noise."""

    @property
    def num_conditions(self) -> int:
        return len(self.ours)

    @property
    def rho(self) -> float | None:
        """None where one side has all conditions alike."""
        # Sums of the same decimals may differ in their last bits, and would not share a rank.
        return spearman(*([round(each, DIGITS) for each in side.values()] for side in (self.ours, self.papers)))

    @cached_property
    def by_noise(self) -> tuple[float, float]:
        """Where rho would lie, 9 times of 10, if our averages were the paper's but for noise."""
        papers_C = np.array([round(each, DIGITS) for each in self.papers.values()])
        spread_C = np.array([self.deviations[name] for name in self.papers])
        noisy_NC = np.random.default_rng(0).normal(papers_C, spread_C, size=(DRAWS, len(papers_C)))
        rank_C = (papers_C[:, None] > papers_C).sum(1) + (papers_C[:, None] >= papers_C).sum(1)
        rank_NC = noisy_NC.argsort(1).argsort(1)
        # The correlation of every row of one with the other.
        x_C, y_NC = rank_C - rank_C.mean(), rank_NC - rank_NC.mean(1, keepdims=True)
        rho_N = y_NC @ x_C / np.sqrt((x_C**2).sum() * (y_NC**2).sum(1))
        low, high = np.quantile(rho_N, [0.05, 0.95])
        return float(low), float(high)


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The correlation of ranks; None where all of one side are equal."""
    if min(len(set(a)), len(set(b))) < 2:
        return None
    # Equal values share the mean of their places: 10, 20 and 20 have the ranks 1, 2.5 and 2.5.
    ranks = [[sum(other < value for other in side) + (1 + side.count(value)) / 2 for value in side] for side in (a, b)]
    return correlation(*ranks)


def rank_correlations(tasks: Sequence[TaskScores], *, noise: Noise) -> list[RankCorrelation]:
    """One for each task that the paper has, then one for their mean, where there are enough conditions."""
    of_tasks = [_correlation(scores, noise=noise) for scores in tasks if scores.task.name in TITLE_OF_TASK]
    found = [each for each in of_tasks if each.num_conditions >= FEWEST_CONDITIONS]
    if len(found) > 1:
        names = [name for name in TABLE_1_SCORES if all(name in each.ours for each in found)]
        mean = RankCorrelation(
            title=MEAN_OF_TASKS,
            ours={name: fmean(each.ours[name] for each in found) for name in names},
            papers={name: fmean(each.papers[name] for each in found) for name in names},
            targets=tuple(dict.fromkeys(target for each in found for target in each.targets)),
            are_papers_targets=all(each.are_papers_targets for each in found),
            deviations={name: hypot(*(each.deviations[name] for each in found)) / len(found) for name in names},
        )
        found += [mean] if mean.num_conditions >= FEWEST_CONDITIONS else []
    return found


def _correlation(scores: TaskScores, *, noise: Noise) -> RankCorrelation:
    samples = {
        target: {
            name: sample
            for name, sample in column.items()
            # A score that is no number has no rank.
            if name in TABLE_1_SCORES and isfinite(sample.mean)
        }
        for target, column in scores.transfer.items()
    }
    has_papers = scores.source == SOURCE and any(samples.get(target) for target in TARGETS)
    known = [target for target in scores.targets if target in TARGETS or not has_papers]
    # Only targets that enough conditions have: the first score in a language must not take all others away.
    targets = [target for target in known if len(samples[target]) >= FEWEST_CONDITIONS]
    # Only conditions that have all of these: one without the hardest target would stand higher on both sides.
    names = [name for name in TABLE_1_SCORES if targets and all(name in samples[target] for target in targets)]

    def published(name: str, target: str) -> float:
        return published_score(name, task=scores.task.name, languages=(scores.source, target))

    return RankCorrelation(
        title=scores.task.title,
        ours={name: fmean(samples[target][name].mean for target in targets) for name in names},
        papers={name: fmean(published(name, target) for target in targets) for name in names},
        targets=tuple(targets),
        are_papers_targets=has_papers,
        deviations={
            name: noise.deviation(scores.task.name, name)
            * sqrt(sum(samples[target][name].variance for target in targets))
            / len(targets)
            for name in names
        },
    )


def rank_sentences(found: Sequence[RankCorrelation]) -> Iterator[str]:
    """ "Spearman's rho with the paper's order of conditions: NLI 0.96, NER 0.90 (10 conditions; fr, ru, zh)."."""
    if not found:
        return
    over = [f" ({each.num_conditions} conditions; {', '.join(each.targets)})" for each in found]
    if len(set(over)) == 1:
        # Said once, behind the last.
        over[:-1] = [""] * (len(found) - 1)
    listed = ", ".join(f"{each.title} {rho_text(each)}{of}" for each, of in zip(found, over, strict=True))
    yield f"Spearman's rho with the paper's order of conditions: {listed}."
    ranges = ", ".join(f"{each.title} {each.by_noise[0]:.2f} to {each.by_noise[1]:.2f}" for each in found)
    yield f"Scores that differ from the paper's by noise alone would have, 9 times of 10: {ranges}."
    if not all(each.are_papers_targets for each in found):
        yield (
            f"The paper has no such pairs of languages; the mean over its own, {SOURCE} to {', '.join(TARGETS)}, "
            "stands on its side."
        )


def rho_text(found: RankCorrelation) -> str:
    return "undefined" if found.rho is None else f"{found.rho:.2f}"
