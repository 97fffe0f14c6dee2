"""The notes under Table 1, without which its numbers would be misread."""

from collections.abc import Iterator, Sequence

from isoglot.evaluation.transfer.task import Windows
from isoglot.pipeline.stages.fine_tuning import BEST_SETTINGS
from isoglot.report.findings.comparisons import DEAD, Comparisons, Outcome
from isoglot.report.findings.headline import headline, refusal_sentences
from isoglot.report.findings.transfer_scores import TaskScores
from isoglot.report.findings.verdicts import these_runs
from isoglot.report.quantities import listed
from isoglot.study.conditions import label_of
from isoglot.study.scales import SMALL

PARTIAL_MARK = "*"
MOVED_SPANS = ("changed_spans", "lost_spans")
WINDOW = "a window of pretraining"
LONG_SEQUENCES = {
    Windows.CUT: f"were cut to fit {WINDOW}",
    Windows.OVERLAPPING: f"are longer than {WINDOW}, and were labelled in parts that overlap",
    Windows.APART: f"are longer than {WINDOW}, and were labelled in parts",
}


def notes(tasks: Sequence[TaskScores], comparisons: Comparisons) -> Iterator[str]:
    """Sentences, the most telling first."""
    # Where there is no verdict, the sentences on gates say so.
    if {*comparisons.outcomes.values()} - {Outcome.NONE}:
        yield headline(comparisons)
    yield from _of_losses(comparisons)
    yield from refusal_sentences(comparisons)
    yield from _of_columns(tasks)
    yield from _of_settings(tasks)
    for scores in tasks:
        yield from _of_what_was_left_out(scores)


def with_window(notes: Sequence[str], *, window: int) -> list[str]:
    """The notes with the size of a window where they speak of it and it is a short one, as the demo's."""
    # Pages that were published, of windows of 64, do not name it and can be made again to the byte.
    short = f"{WINDOW} ({window} tokens)" if window < SMALL.window else WINDOW
    return [note.replace(WINDOW, short) for note in notes]


def _of_losses(comparisons: Comparisons) -> Iterator[str]:
    """Where transfer dies, and in how many runs."""
    by_group: dict[str, dict[str, list[str]]] = {}
    seeds = []
    for trial in comparisons.trials:
        for name in trial.leads:
            if comparisons.dies_in(trial, name):
                by_group.setdefault(trial.group, {}).setdefault(label_of(name), []).append(trial.languages[1])
                seeds.append(comparisons.num_seeds(trial, name))
    if by_group:
        listed = "; ".join(
            f"{group}: " + ", ".join(f"{label} ({', '.join(targets)})" for label, targets in by_label.items())
            for group, by_label in by_group.items()
        )
        dies = " ".join(filter(None, ("Single scores under which transfer dies", these_runs(min(seeds)))))
        left = f"clearly less than {DEAD:.0%} of Default's points being left"
        yield f"{dies}, {left}: {listed}."


def _of_columns(tasks: Sequence[TaskScores]) -> Iterator[str]:
    source = tasks[0].source
    over_pairs = ", mean over the models of all pairs" if any(len(scores.pairs) > 1 for scores in tasks) else ""
    text = f"Column {source}: the source language's own test set{over_pairs}: was the task learned at all? "
    text += "All scores are in percent. Δ: mean over the targets, less Default's, in points"
    deltas = [delta for scores in tasks for model in scores.models if (delta := scores.delta(model))]
    if any(delta.is_partial for delta in deltas):
        text += f" ({PARTIAL_MARK} over those that both have)"
    if any(len(by_seed) > 1 for scores in tasks for by_seed in scores.values.values()):
        text += ". Means over seeds, and their spread"
    for scores in tasks:
        if scores.task.chance is not None:
            text += f". Chance in {scores.task.title}: {scores.task.chance:.1f}"
    yield f"{text}."


def _of_settings(tasks: Sequence[TaskScores]) -> Iterator[str]:
    tried = {scores.task.title: number for scores in tasks if (number := scores.highest("settings_tried")) is not None}
    if tried:
        counts = ", ".join(f"{number:.0f} for {title}" for title, number in tried.items())
        diverged = any(scores.highest("settings_diverged") for scores in tasks)
        if max(tried.values()) > BEST_SETTINGS or diverged:
            shown = f"the mean of the best two on {tasks[0].source}'s dev set (section 3.2)"
        else:
            shown = "the mean of both" if max(tried.values()) == BEST_SETTINGS else "the one score"
        yield f"Settings of fine-tuning tried: {counts}; shown is {shown}."


def _of_what_was_left_out(scores: TaskScores) -> Iterator[str]:
    unseen = f"gold labels never occur in {scores.source}'s training set, so that no model can predict them."
    long = f"test examples {LONG_SEQUENCES[scores.task.windows]}."
    for metric, words in (("in_parts", long), ("unseen_labels", unseen)):
        if shares := _percents(scores, metric):
            yield f"{scores.task.title}: {shares} {words}"
    if diverged := scores.highest("settings_diverged"):
        yield (
            f"{scores.task.title}: up to {diverged:.0f} of the settings of a model diverged; one that finished no "
            "epoch is left out of the mean."
        )
    # The paper's word boundaries: Chinese entities are marked by character, and models read words.
    for language in (scores.source, *scores.targets):
        if changed := sum(scores.highest(metric, language=language) or 0 for metric in MOVED_SPANS):
            yield (
                f"{scores.task.title}: {changed:.0f} gold spans of {language} have other ends or are lost where "
                "characters became words (section 3.2)."
            )


def _percents(scores: TaskScores, metric: str) -> str:
    """ "2.0% of en and 3.1% to 4.0% of fr", for the languages where it is not 0."""
    parts = []
    for language in (scores.source, *scores.targets):
        # A range, as models differ in their subwords.
        shares = scores.all_values(metric, language=language)
        if any(shares):
            ends = (f"{share:.1f}%" if share >= 0.05 else "less than 0.1%" for share in (min(shares), max(shares)))
            parts.append(f"{' to '.join(dict.fromkeys(ends))} of {language}")
    return listed(parts)
