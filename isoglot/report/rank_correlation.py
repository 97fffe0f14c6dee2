"""Whether a study ranks the conditions of Table 1 as the paper does: Spearman's rho of their averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import correlation, fmean

from isoglot.report.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK, published_score
from isoglot.report.transfer_scores import Model, TaskScores

FEWEST_CONDITIONS = 4
"""Of which an order is worth a number."""
DIGITS = 6
"""In which two averages are one: sums of the same decimals may differ in their last bits."""
MEAN_OF_TASKS = "mean of tasks"
Averages = Mapping[str, tuple[float, float]]
"""By condition: ours, and the paper's."""


@dataclass(frozen=True, kw_only=True)
class RankCorrelation:
    """Of one task, or of the mean over all."""

    title: str
    rho: float | None
    """None where one side has all conditions alike."""
    num_conditions: int
    targets: tuple[str, ...]
    """Of the study, over which both sides are averaged."""
    are_papers_targets: bool
    """Or else the mean over the paper's own languages stands on its side."""


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The correlation of ranks, those that are alike sharing theirs; None where all of one side are alike."""
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
    """Of each task that the paper has, then of their mean; none of fewer than FEWEST_CONDITIONS conditions."""
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
        told = f"{', '.join(f'{each.title} {rho_text(each)}' for each in found)} ({over[0]})"
    else:
        told = ", ".join(f"{each.title} {rho_text(each)} ({of})" for each, of in zip(found, over, strict=True))
    yield f"Spearman's rho with the paper's order of conditions: {told}."
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
    """Of conditions with all targets: one without the hardest would stand higher on both sides alike."""
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
    """Over seeds, by condition; a score that is no number has no rank."""
    found = {name: scores.of_target(Model(condition=name), target) for name in TABLE_1_SCORES}
    return {name: fmean(values) for name, values in found.items() if values and all(map(isfinite, values))}


def _has_papers_targets(scores: TaskScores) -> bool:
    return scores.source == SOURCE and any(_means(scores, target) for target in scores.targets if target in TARGETS)


def _targets(scores: TaskScores) -> tuple[str, ...]:
    """Those that both have, or where the paper has none of them, the study's.

    Of these the ones that enough conditions have: the first score in a language must not take all others away.
    """
    known = TARGETS if _has_papers_targets(scores) else scores.targets
    return tuple(
        target for target in scores.targets if target in known and len(_means(scores, target)) >= FEWEST_CONDITIONS
    )
