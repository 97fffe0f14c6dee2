"""What section 4 of the paper claims of transfer, each with the comparison of Table 1 that decides it."""

from collections.abc import Iterator

from isoglot.report.claims.evidence import Transfer, tasks_of
from isoglot.report.claims.question import LACKING, Finding, Question, in_order
from isoglot.report.claims.transfer_rules import (
    HALF,
    MOST,
    ahead_on_average,
    at_chance,
    change_by_distance,
    falling,
    falling_with_distance,
    gap_by_task,
    kept,
)
from isoglot.report.verdicts import mean_sample

WITH_LAYERS_OF_THEIR_OWN = ("sep-emb", "sep-l1-3", "sep-l1-6", "sep-emb-l1-3", "sep-emb-l1-6")
CHAINS = (("default", "sep-l1-3", "sep-l1-6"), ("default", "sep-emb", "sep-emb-l1-3", "sep-emb-l1-6"))
OTHER_FACTORS = ("wiki-cc", "no-anchors", "default-anchors")


def _domain_by_task(transfer: Transfer) -> Iterator[Finding]:
    by_task = tasks_of(transfer.places("default", "wiki-cc"))
    losses = {
        task: mean_sample([transfer.score("default", place) - transfer.score("wiki-cc", place) for place in places])
        for task, places in by_task.items()
    }
    for task in losses:
        if task != "ner" and "ner" in losses:
            told = in_order((transfer.title("ner"), losses["ner"]), (transfer.title(task), losses[task]))
            yield transfer.compared(losses["ner"], losses[task], numbers=f"points lost: {told}")


def _anchors(transfer: Transfer) -> Iterator[Finding]:
    """Against the same vocabulary with anchors, or where that was not trained against Default."""
    other = "default-anchors" if transfer.places("no-anchors", "default-anchors") else "default"
    yield from kept(transfer, "no-anchors", of=other, share=MOST)


def _fewer_layers(transfer: Transfer) -> Iterator[Finding]:
    for chain in CHAINS:
        yield from falling(transfer, chain)


def _bottom_three(transfer: Transfer) -> Iterator[Finding]:
    for condition in ("sep-l1-3", "sep-emb-l1-3"):
        yield from kept(transfer, condition, of="default", share=HALF)


def _sharing_above_all(transfer: Transfer) -> Iterator[Finding]:
    """With the most separate condition that was measured."""
    for most_separate in [name for name in ("sep-emb-l1-6", "sep-l1-6") if name in transfer.conditions][:1]:
        for other in OTHER_FACTORS:
            yield from ahead_on_average(transfer, other, most_separate)


TRANSFER_CLAIMS: tuple[Question[Transfer], ...] = (
    Question(
        key="domain-modest",
        sentence="Domain mismatch between the two languages has a relatively modest effect.",
        source="section 4.1",
        test="Wiki-CC keeps at least 80% of Default's transfer, in each task",
        needs="Table 1 with Default and Wiki-CC",
        findings=lambda transfer: list(kept(transfer, "wiki-cc", of="default", share=MOST)),
    ),
    Question(
        key="domain-ner",
        sentence="Domain mismatch costs more in NER than in XNLI and parsing.",
        source="section 4.1",
        test="Default less Wiki-CC in NER is more than in each other task, means over targets",
        needs="Table 1 with Default and Wiki-CC, in NER and another task",
        findings=lambda transfer: list(_domain_by_task(transfer)),
    ),
    Question(
        key="no-anchors-transfer",
        sentence="Effective transfer is still possible with no anchor points.",
        source="section 4.2",
        test="No anchors keeps at least half of Default's transfer, in each task",
        needs="Table 1 with Default and No anchors",
        findings=lambda transfer: list(kept(transfer, "no-anchors", of="default", share=HALF)),
    ),
    Question(
        key="anchors-little",
        sentence="Anchor points account for only a few points: without them transfer drops little.",
        source="section 4.2",
        test="No anchors keeps at least 80% of Default anchors' transfer (of Default where that was not trained), "
        "in each task",
        needs="Table 1 with No anchors, and Default anchors or Default",
        findings=lambda transfer: list(_anchors(transfer)),
    ),
    Question(
        key="more-anchors-help",
        sentence="More anchor points help.",
        source="section 4.2",
        test="Extra anchors above No anchors on the mean of tasks",
        needs="Table 1 with Extra anchors and No anchors",
        findings=lambda transfer: list(ahead_on_average(transfer, "extra-anchors", "no-anchors")),
    ),
    Question(
        key="extra-anchors-distant",
        sentence="Extra anchor points help distantly related languages most, and so help to close the gap.",
        source="sections 4.2 and 4.4",
        test="Extra anchors less Default is more for the furthest language than for the closest, means over tasks",
        needs=f"Table 1 with Extra anchors and Default, and {LACKING}",
        findings=lambda transfer: list(change_by_distance(transfer, ["extra-anchors"], sign=1)),
    ),
    Question(
        key="softmax-helps",
        sentence="Separate embeddings cost more than no anchors: a softmax across languages helps.",
        source="section 4.3",
        test="No anchors above Sep Emb on the mean of tasks",
        needs="Table 1 with No anchors and Sep Emb",
        findings=lambda transfer: list(ahead_on_average(transfer, "no-anchors", "sep-emb")),
    ),
    Question(
        key="fewer-layers",
        sentence="Performance degrades as fewer layers are shared, for all pairs.",
        source="section 4.3",
        test="for each pair, Default above Sep L1-3 above Sep L1-6, and Default above Sep Emb above Sep Emb + L1-3 "
        "above Sep Emb + L1-6, as far as measured, means over tasks",
        needs="Table 1 with two conditions that share ever fewer layers",
        findings=lambda transfer: list(_fewer_layers(transfer)),
    ),
    Question(
        key="distant-lose-most",
        sentence="The less closely related pairs lose the most where layers are not shared.",
        source="section 4.3",
        test="Default less the mean of all separated conditions is more for the furthest language than for the "
        "closest, means over tasks",
        needs=f"Table 1 with Default and a separated condition, and {LACKING}",
        findings=lambda transfer: list(change_by_distance(transfer, WITH_LAYERS_OF_THEIR_OWN, sign=-1)),
    ),
    Question(
        key="chance",
        sentence="Transfer drops to random when embeddings and the bottom six layers are separate.",
        source="section 4.3",
        test="Sep Emb + L1-6 at most 3 points above chance and the same model untrained, in each task and pair; "
        "refuted above 6 points",
        needs="Table 1 with Default and Sep Emb + L1-6, of a task whose chance is known or with baselines of that "
        "condition",
        findings=lambda transfer: list(at_chance(transfer, "sep-emb-l1-6", of="default")),
    ),
    Question(
        key="bottom-three",
        sentence="Reasonably strong transfer is still possible without tying the bottom three layers.",
        source="section 4.3",
        test="Sep L1-3 and Sep Emb + L1-3 keep at least half of Default's transfer, in each task",
        needs="Table 1 with Default, and Sep L1-3 or Sep Emb + L1-3",
        findings=lambda transfer: list(_bottom_three(transfer)),
    ),
    Question(
        key="distance",
        sentence="In each task, performance drops as languages are more distantly related.",
        source="section 4.4",
        test="in each task the mean of all rows falls from each distance to the next: fr and de, ru, zh",
        needs=f"Table 1, and {LACKING}",
        findings=lambda transfer: list(falling_with_distance(transfer)),
    ),
    Question(
        key="complex-tasks",
        sentence="The more complex tasks have larger gaps between languages.",
        source="section 4.4",
        test="from the closest to the furthest language NER and parsing each fall by more than XNLI, mean of all rows",
        needs=f"Table 1 with XNLI and another task, and {LACKING}",
        findings=lambda transfer: list(gap_by_task(transfer)),
    ),
    Question(
        key="sharing-above-all",
        sentence="Parameter sharing is the most important factor.",
        source="section 4.5",
        test="Sep Emb + L1-6 (or Sep L1-6) below Wiki-CC, below No anchors and below Default anchors on the mean of "
        "tasks",
        needs="Table 1 with Sep Emb + L1-6 or Sep L1-6, and one of Wiki-CC, No anchors and Default anchors",
        findings=lambda transfer: list(_sharing_above_all(transfer)),
    ),
    Question(
        key="softmax-not-needed",
        sentence="Shared softmax parameters are not necessary for effective transfer.",
        source="section 4.5",
        test="Sep Emb keeps at least half of Default's transfer, in each task",
        needs="Table 1 with Default and Sep Emb",
        findings=lambda transfer: list(kept(transfer, "sep-emb", of="default", share=HALF)),
    ),
    Question(
        key="joint-bpe-little",
        sentence="Joint BPE contributes a little.",
        source="section 4.5",
        test="Default anchors keeps at least 80% of Default's transfer, in each task",
        needs="Table 1 with Default and Default anchors",
        findings=lambda transfer: list(kept(transfer, "default-anchors", of="default", share=MOST)),
    ),
)
