"""Every claim of the paper that measurements can decide, with the comparison that decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from isoglot.report.claims import layer_rules, transfer_rules
from isoglot.report.claims.evidence import LACKING, Finding, LayerEvidence, TransferEvidence
from isoglot.report.claims.transfer_rules import HALF, MOST, WITH_LAYERS_OF_THEIR_OWN


@dataclass(frozen=True, kw_only=True)
class Evidence:
    transfer: TransferEvidence
    layers: LayerEvidence


@dataclass(frozen=True, kw_only=True)
class Question:
    """A claim of the paper before any measurement is known."""

    key: str
    sentence: str
    source: str
    """Where the paper says it."""
    test: str
    """The comparison that decides it, for people."""
    needs: str
    """The exhibits that a study must have for it."""
    findings: Callable[[Evidence], Iterable[Finding]]


QUESTIONS: tuple[Question, ...] = (
    Question(
        key="domain-modest",
        sentence="Domain mismatch between the two languages has a relatively modest effect.",
        source="section 4.1",
        test="Wiki-CC keeps at least 80% of Default's transfer, in each task",
        needs="Table 1 with Default and Wiki-CC",
        findings=lambda evidence: transfer_rules.kept(evidence.transfer, "wiki-cc", of="default", share=MOST),
    ),
    Question(
        key="domain-ner",
        sentence="Domain mismatch costs more in NER than in XNLI and parsing.",
        source="section 4.1",
        test="Default less Wiki-CC in NER is more than in each other task, means over targets",
        needs="Table 1 with Default and Wiki-CC, in NER and another task",
        findings=lambda evidence: transfer_rules.domain_costs_more_in_ner(evidence.transfer),
    ),
    Question(
        key="no-anchors-transfer",
        sentence="Effective transfer is still possible with no anchor points.",
        source="section 4.2",
        test="No anchors keeps at least half of Default's transfer, in each task",
        needs="Table 1 with Default and No anchors",
        findings=lambda evidence: transfer_rules.kept(evidence.transfer, "no-anchors", of="default", share=HALF),
    ),
    Question(
        key="anchors-little",
        sentence="Anchor points account for only a few points: without them transfer drops little.",
        source="section 4.2",
        test="No anchors keeps at least 80% of Default anchors' transfer (of Default where that was not trained), "
        "in each task",
        needs="Table 1 with No anchors, and Default anchors or Default",
        findings=lambda evidence: transfer_rules.anchors_account_for_little(evidence.transfer),
    ),
    Question(
        key="more-anchors-help",
        sentence="More anchor points help.",
        source="section 4.2",
        test="Extra anchors above No anchors on the mean of tasks",
        needs="Table 1 with Extra anchors and No anchors",
        findings=lambda evidence: transfer_rules.ahead_on_average(evidence.transfer, "extra-anchors", "no-anchors"),
    ),
    Question(
        key="extra-anchors-distant",
        sentence="Extra anchor points help distantly related languages most, and so help to close the gap.",
        source="sections 4.2 and 4.4",
        test="Extra anchors less Default is more for the furthest language than for the closest, means over tasks",
        needs=f"Table 1 with Extra anchors and Default, and {LACKING}",
        findings=lambda evidence: transfer_rules.change_by_distance(evidence.transfer, ["extra-anchors"], sign=1),
    ),
    Question(
        key="softmax-helps",
        sentence="Separate embeddings cost more than no anchors: a softmax across languages helps.",
        source="section 4.3",
        test="No anchors above Sep Emb on the mean of tasks",
        needs="Table 1 with No anchors and Sep Emb",
        findings=lambda evidence: transfer_rules.ahead_on_average(evidence.transfer, "no-anchors", "sep-emb"),
    ),
    Question(
        key="fewer-layers",
        sentence="Performance degrades as fewer layers are shared, for all pairs.",
        source="section 4.3",
        test="for each pair, Default above Sep L1-3 above Sep L1-6, and Default above Sep Emb above Sep Emb + L1-3 "
        "above Sep Emb + L1-6, as far as measured, means over tasks",
        needs="Table 1 with two conditions that share ever fewer layers",
        findings=lambda evidence: transfer_rules.fewer_layers_fall(evidence.transfer),
    ),
    Question(
        key="distant-lose-most",
        sentence="The less closely related pairs lose the most where layers are not shared.",
        source="section 4.3",
        test="Default less the mean of all separated conditions is more for the furthest language than for the "
        "closest, means over tasks",
        needs=f"Table 1 with Default and a separated condition, and {LACKING}",
        findings=lambda evidence: transfer_rules.change_by_distance(
            evidence.transfer, WITH_LAYERS_OF_THEIR_OWN, sign=-1
        ),
    ),
    Question(
        key="chance",
        sentence="Transfer drops to random when embeddings and the bottom six layers are separate.",
        source="section 4.3",
        test="Sep Emb + L1-6 at most 3 points above chance and the same model untrained, in each task and pair; "
        "refuted above 6 points",
        needs="Table 1 with Default and Sep Emb + L1-6, of a task whose chance is known or with baselines of that "
        "condition",
        findings=lambda evidence: transfer_rules.at_chance(evidence.transfer, "sep-emb-l1-6", of="default"),
    ),
    Question(
        key="bottom-three",
        sentence="Reasonably strong transfer is still possible without tying the bottom three layers.",
        source="section 4.3",
        test="Sep L1-3 and Sep Emb + L1-3 keep at least half of Default's transfer, in each task",
        needs="Table 1 with Default, and Sep L1-3 or Sep Emb + L1-3",
        findings=lambda evidence: transfer_rules.bottom_three_kept(evidence.transfer),
    ),
    Question(
        key="distance",
        sentence="In each task, performance drops as languages are more distantly related.",
        source="section 4.4",
        test="in each task the mean of all rows falls from each distance to the next: fr and de, ru, zh",
        needs=f"Table 1, and {LACKING}",
        findings=lambda evidence: transfer_rules.falling_with_distance(evidence.transfer),
    ),
    Question(
        key="complex-tasks",
        sentence="The more complex tasks have larger gaps between languages.",
        source="section 4.4",
        test="from the closest to the furthest language NER and parsing each fall by more than XNLI, mean of all rows",
        needs=f"Table 1 with XNLI and another task, and {LACKING}",
        findings=lambda evidence: transfer_rules.gap_by_task(evidence.transfer),
    ),
    Question(
        key="sharing-above-all",
        sentence="Parameter sharing is the most important factor.",
        source="section 4.5",
        test="Sep Emb + L1-6 (or Sep L1-6) below Wiki-CC, below No anchors and below Default anchors on the mean of "
        "tasks",
        needs="Table 1 with Sep Emb + L1-6 or Sep L1-6, and one of Wiki-CC, No anchors and Default anchors",
        findings=lambda evidence: transfer_rules.sharing_above_all(evidence.transfer),
    ),
    Question(
        key="softmax-not-needed",
        sentence="Shared softmax parameters are not necessary for effective transfer.",
        source="section 4.5",
        test="Sep Emb keeps at least half of Default's transfer, in each task",
        needs="Table 1 with Default and Sep Emb",
        findings=lambda evidence: transfer_rules.kept(evidence.transfer, "sep-emb", of="default", share=HALF),
    ),
    Question(
        key="joint-bpe-little",
        sentence="Joint BPE contributes a little.",
        source="section 4.5",
        test="Default anchors keeps at least 80% of Default's transfer, in each task",
        needs="Table 1 with Default and Default anchors",
        findings=lambda evidence: transfer_rules.kept(evidence.transfer, "default-anchors", of="default", share=MOST),
    ),
    Question(
        key="embeddings-fasttext",
        sentence="Embedding matrices of monolingual models align slightly better than fastText on the same words.",
        source="section 5.1.1",
        test="Figure 4a: precision at 1 of the embedding matrix above fastText's, for each pair",
        needs="figure-4, with fastText vectors",
        findings=lambda evidence: layer_rules.embeddings_above_fasttext(evidence.layers),
    ),
    Question(
        key="contextual-words-fasttext",
        sentence="Averaged contextual representations of words align well too, although worse than fastText.",
        source="section 5.1.1",
        test="Figure 4b: fastText above the best layer, for each pair",
        needs="figure-4, with fastText vectors",
        findings=lambda evidence: layer_rules.contextual_words_below_fasttext(evidence.layers),
    ),
    Question(
        key="words-higher-layers",
        sentence="Higher layers give better word translations than lower layers.",
        source="section 5.1.1",
        test="Figure 4b: the mean of the top third of layers above that of the bottom third, for each pair",
        needs="figure-4",
        findings=lambda evidence: layer_rules.words_better_at_the_top(evidence.layers),
    ),
    Question(
        key="mapped-transfer",
        sentence="Monolingual models, mapped to each other, obtain relatively good transfer.",
        source="section 5.1.2",
        test="Figure 5: the best layer of mapped monolingual models reaches at least half of the bilingual model's "
        "best, for each task and pair",
        needs="figure-5",
        findings=lambda evidence: layer_rules.half_of_bilingual(evidence.layers),
    ),
    Question(
        key="bilingual-better",
        sentence="Mapped monolingual models transfer worse than bilingual ones, except for parsing on English-French.",
        source="section 5.1.2",
        test="Figure 5: the best layer of the bilingual model above that of mapped monolingual models, for each task "
        "and pair but the one named",
        needs="figure-5",
        findings=lambda evidence: layer_rules.bilingual_above_mapped(evidence.layers),
    ),
    Question(
        key="middle-layers",
        sentence="Transfer by a map is best at the middle layers, and not at the last.",
        source="section 5.1.2",
        test="Figure 5: the mean of the middle third of layers above those of the top and the bottom third, for each "
        "task and pair",
        needs="figure-5",
        findings=lambda evidence: layer_rules.middle_best(evidence.layers),
    ),
    Question(
        key="entities-harder",
        sentence="The gap between mapped monolingual models and a bilingual model is larger in NER than in parsing.",
        source="section 5.1.2",
        test="Figure 5: bilingual less mapped, best layers, is more in NER than in parsing, for each pair",
        needs="figure-5 with NER and parsing",
        findings=lambda evidence: layer_rules.gap_larger_in_ner(evidence.layers),
    ),
    Question(
        key="mapped-bilingual",
        sentence="A map between the languages of a bilingual model improves parsing only.",
        source="section 5.1.2, footnote 2",
        test="Figure 8: best layer mapped above best layer as it is in parsing, and not in NER, for each pair",
        needs="figure-8 with NER or parsing",
        findings=lambda evidence: layer_rules.map_of_bilingual_helps_parsing_only(evidence.layers),
    ),
    Question(
        key="sentences-lower-layers",
        sentence="Parallel sentences are found best at lower layers.",
        source="section 5.1.3",
        test="Figure 6: the mean of the bottom third of layers above that of the top third, for each pair",
        needs="figure-6",
        findings=lambda evidence: layer_rules.sentences_better_at_the_bottom(evidence.layers),
    ),
    Question(
        key="sentences-align",
        sentence="Sentences of monolingual models can be aligned with a simple orthogonal map: the models are similar.",
        source="sections 5.1.3 and 5.1.4",
        test="Figure 6: the best layer above the best layer with an untrained model of the target (or above chance), "
        "for each pair",
        needs="figure-6",
        findings=lambda evidence: layer_rules.sentences_above_untrained(evidence.layers),
    ),
    Question(
        key="similarity-order",
        sentence="Bilingual models are slightly more similar than monolingual ones; random encoders are a lower bound.",
        source="section 5.2",
        test="Figure 7: CKA of bilingual above monolingual above random models, means over layers, for each pair",
        needs="figure-7",
        findings=lambda evidence: layer_rules.bilingual_above_monolingual_above_random(evidence.layers),
    ),
    Question(
        key="similarity-retrieval",
        sentence="CKA is highly correlated with the retrieval of sentences: over 0.9 for all pairs.",
        source="section 5.2",
        test="Pearson correlation over layers of Figure 7 and Figure 6, monolingual models, above 0.9 for each pair",
        needs="figure-6 and figure-7",
        findings=lambda evidence: layer_rules.similarity_goes_with_retrieval(evidence.layers),
    ),
    Question(
        key="early-layers",
        sentence="Early layers are more similar across languages than the last layers.",
        source="sections 5.2 and 6",
        test="Figure 7: mean CKA of the bottom third of layers above that of the top third, for each pair, bilingual "
        "and monolingual",
        needs="figure-7",
        findings=lambda evidence: layer_rules.alike_at_the_bottom(evidence.layers),
    ),
    Question(
        key="gap-shrinks",
        sentence="What a bilingual model adds to similarity shrinks as languages are more distant.",
        source="section 5.2",
        test="Figure 7: mean CKA of bilingual less monolingual models falls from each distance to the next: fr "
        "and de, ru, zh",
        needs=f"figure-7, and {LACKING}",
        findings=lambda evidence: layer_rules.gap_shrinks_with_distance(evidence.layers),
    ),
    Question(
        key="closer-more-similar",
        sentence="All of these effects are stronger for more closely related languages.",
        source="section 6",
        test="Figure 7: mean CKA, bilingual and monolingual, falls from each distance to the next: fr and de, ru, zh",
        needs=f"figure-7, and {LACKING}",
        findings=lambda evidence: layer_rules.closer_languages_more_alike(evidence.layers),
    ),
)
