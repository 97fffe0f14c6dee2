"""Whether a study orders the conditions as the paper's Table 1 does."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from isoglot.report.noise import Noise
from isoglot.report.published import TABLE_1_SCORES, TITLE_OF_TASK, published_order, published_score
from isoglot.report.rows import Row
from isoglot.report.samples import Sample
from isoglot.report.verdicts import CLOSE_POINTS, Verdict, few_seeds, order_verdict
from isoglot.study.conditions import CONDITIONS

FEW_LINES = 5
LINES_OF_RETRIEVAL = 12
"""Of one pair of languages; Table 1 has as many for each task."""
HEADING = "Points gained by training, where all tasks of the paper's Table 1 agree on the order:"


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A condition and what it reached with each seed."""

    condition: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def sample(self) -> Sample:
        return Sample.of(dict(enumerate(self.values)))


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
    """Over the untrained model; otherwise scores."""

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


def agreements(rows: Sequence[Row]) -> list[Agreement]:
    """Every pair of conditions of one language pair whose order the paper's three tasks agree on."""
    found = []
    for languages in dict.fromkeys(row.languages for row in rows):
        gained = [Contender(condition=row.condition, values=row.gains) for row in rows if row.languages == languages]
        found += _compared(gained, is_ahead=published_order, are_gains=True, noise=Noise())
    return found


def transfer_agreements(
    contenders: Sequence[Contender], *, task: str, languages: tuple[str, str], noise: Noise
) -> list[Agreement]:
    """Every pair of conditions whose scores in this task the paper has more than CLOSE_POINTS apart."""
    if task not in TITLE_OF_TASK:
        return []

    def is_ahead(better: str, worse: str) -> bool:
        ahead, behind = (published_score(name, task=task, languages=languages) for name in (better, worse))
        return ahead - behind > CLOSE_POINTS

    return _compared(contenders, is_ahead=is_ahead, are_gains=False, noise=noise)


def _compared(
    contenders: Sequence[Contender], *, is_ahead: Callable[[str, str], bool], are_gains: bool, noise: Noise
) -> list[Agreement]:
    known = [each for each in contenders if each.condition in TABLE_1_SCORES]
    return [
        Agreement(
            better=better.condition,
            worse=worse.condition,
            our_better=better.mean,
            our_worse=worse.mean,
            num_seeds=min(len(better.values), len(worse.values)),
            verdict=order_verdict(better.sample, worse.sample, close=noise.points),
            are_gains=are_gains,
        )
        for first, second in combinations(known, 2)
        for better, worse in ((first, second), (second, first))
        if is_ahead(better.condition, worse.condition)
    ]
