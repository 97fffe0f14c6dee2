"""A study in one sentence, and what stands beside it: missing gates, the training budget and the paper's shares."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.findings.comparisons import Comparisons, Outcome, Standing
from isoglot.report.findings.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK, published_score
from isoglot.report.findings.samples import ENOUGH_SEEDS
from isoglot.report.findings.trials import Gate, Refusal, Trial
from isoglot.report.findings.verdicts import these_runs
from isoglot.report.quantities import listed, short_number
from isoglot.study.conditions import DEFAULT, label_of
from isoglot.study.scales import PAPER, Scale


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A part of the headline: what is said, and of which conditions."""

    subject: str = ""
    verb: str
    link: str
    outcome: Outcome
    conditions: tuple[str, ...] = ()
    is_sure: bool = False
    """Whether it may have the colour of its verdict: it stands on enough seeds."""

    @property
    def text(self) -> str:
        labels = listed([label_of(name) for name in self.conditions])
        return " ".join(filter(None, (self.subject, self.verb + self.link, labels))) + "."


def headline(comparisons: Comparisons) -> str:
    """ "In this run, transfer survives under No anchors. It dies under Sep Emb." """
    return " ".join(each.text for each in headline_sentences(comparisons))


def headline_sentences(comparisons: Comparisons) -> Iterator[Sentence]:
    """One for each outcome that conditions have; nothing but what is missing where no gate is open."""
    if all(outcome is Outcome.NONE for outcome in comparisons.outcomes.values()):
        missing = "; ".join(f"{gate.missing} ({gate.remedy})" for gate in comparisons.refusals)
        yield Sentence(verb="No verdict", link=f": {missing}", outcome=Outcome.NONE)
        return
    runs, is_sure = these_runs(comparisons.least_seeds), comparisons.least_seeds >= ENOUGH_SEEDS
    what = "transfer" if comparisons.is_of_transfer else "cross-lingual structure"
    subject = f"{runs.capitalize()}, {what}" if runs else what.capitalize()
    for outcome in Outcome:
        if names := tuple(each.condition for each in comparisons.with_outcome(outcome)):
            if outcome in (Outcome.OPEN, Outcome.NONE):
                yield Sentence(verb=outcome.capitalize(), link=":", outcome=outcome, conditions=names)
                continue
            yield Sentence(
                subject=subject, verb=outcome, link=" under", outcome=outcome, conditions=names, is_sure=is_sure
            )
            subject = "It"


def refusal_sentences(comparisons: Comparisons) -> Iterator[str]:
    """A sentence for each shut gate: what is missing for a verdict, and what to do."""
    for gate, found in comparisons.refusals.items():
        targets: dict[tuple[str, str], list[str]] = {}
        for trial in dict.fromkeys(id(trial) for trial, _ in found):
            here = [(each, refusal) for each, refusal in found if id(each) == trial]
            who = _who(here[0][0], [refusal for _, refusal in here])
            targets.setdefault((here[0][0].group, who), []).append(here[0][0].languages[1])
        # Tasks of which the same is true stand together.
        groups: dict[tuple[str, str], list[str]] = {}
        for (group, who), of_group in targets.items():
            groups.setdefault((", ".join(of_group), who), []).append(group)
        where = "; ".join(f"{', '.join(alike)} in {languages}{who}" for (languages, who), alike in groups.items())
        until = " Until then floors are chance, the most frequent label or 0 alone." if gate is Gate.BASELINE else ""
        yield f"No verdict, as {gate.missing}: {where}. What to do: {gate.remedy}.{until}"


def noise_sentence(comparisons: Comparisons) -> str:
    """How large noise is, and what it rests on."""
    if comparisons.least_seeds < ENOUGH_SEEDS:
        return comparisons.noise.sentence()
    return "Noise is what the seeds of the compared scores say: chance alone exceeds it in one case of twenty."


def _who(trial: Trial, refusals: Sequence[Refusal]) -> str:
    """ " (Sep Emb 5.1 in en, 10.0 needed)"; empty where it is so of all conditions and no more is to be said."""
    if len(refusals) == len(trial.leads) and not any(refusal.detail for refusal in refusals):
        return ""
    return f" ({'; '.join(' '.join(filter(None, (label_of(each.condition), each.detail))) for each in refusals)})"


def budget(scale: Scale) -> str:
    """ "147M tokens a model, 0.18% of the paper's 82G"."""
    share = 100 * scale.tokens / PAPER.tokens
    percent = "less than 0.001" if share < 0.001 else f"{share:.2g}" if share < 10 else f"{share:.0f}"
    return f"{short_number(scale.tokens)} tokens a model, {percent}% of the paper's {short_number(PAPER.tokens)}"


class BesidePaper(NamedTuple):
    """Shares of Default's score, above chance alone, as the paper has no other floor."""

    ours: float
    papers: float
    targets: tuple[str, ...]
    """The paper's targets that both are of; none are named where they are all of the study's, or the paper has none."""


def shares_beside_paper(standing: Standing) -> BesidePaper | None:
    """Our share and the paper's, over the tasks and targets that both have; of other targets, over the paper's own."""
    of_tasks = [trial for trial in standing.trials if trial.task in TITLE_OF_TASK]
    if not of_tasks or standing.share is None or standing.condition not in TABLE_1_SCORES:
        return None
    of_paper = [trial for trial in of_tasks if trial.languages[0] == SOURCE and trial.languages[1] in TARGETS]
    trials = of_paper or of_tasks
    named = dict.fromkeys(trial.languages[1] for trial in of_paper) if len(of_paper) < len(of_tasks) else ()

    def ours(trial: Trial, condition: str) -> float:
        return trial.leads[condition].mean + trial.floors[condition].points

    def papers(trial: Trial, condition: str) -> float:
        return published_score(condition, task=str(trial.task), languages=trial.languages)

    def share(score: Callable[[Trial, str], float]) -> float:
        above = [
            sum(score(trial, name) - (task_named(str(trial.task)).chance or 0.0) for trial in trials)
            for name in (standing.condition, DEFAULT.name)
        ]
        return above[0] / above[1]

    return BesidePaper(share(ours), share(papers), tuple(named))
