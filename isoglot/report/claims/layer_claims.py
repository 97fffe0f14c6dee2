"""What sections 5 and 6 of the paper claim of models of one language each, with what decides it."""

from isoglot.report.claims import layer_rules as by_alignment
from isoglot.report.claims import layer_rules as by_similarity
from isoglot.report.claims.evidence import Layers
from isoglot.report.claims.question import LACKING, Question

LAYER_CLAIMS: tuple[Question[Layers], ...] = (
    Question(
        key="embeddings-fasttext",
        sentence="Embedding matrices of monolingual models align slightly better than fastText on the same words.",
        source="section 5.1.1",
        test="Figure 4a: precision at 1 of the embedding matrix above fastText's, for each pair",
        needs="figure-4, with fastText vectors",
        findings=lambda layers: list(by_alignment.embeddings_above_fasttext(layers)),
    ),
    Question(
        key="contextual-words-fasttext",
        sentence="Averaged contextual representations of words align well too, although worse than fastText.",
        source="section 5.1.1",
        test="Figure 4b: fastText above the best layer, for each pair",
        needs="figure-4, with fastText vectors",
        findings=lambda layers: list(by_alignment.contextual_words_below_fasttext(layers)),
    ),
    Question(
        key="words-higher-layers",
        sentence="Higher layers give better word translations than lower layers.",
        source="section 5.1.1",
        test="Figure 4b: the mean of the top third of layers above that of the bottom third, for each pair",
        needs="figure-4",
        findings=lambda layers: list(by_alignment.words_better_at_the_top(layers)),
    ),
    Question(
        key="mapped-transfer",
        sentence="Monolingual models, mapped to each other, obtain relatively good transfer.",
        source="section 5.1.2",
        test="Figure 5: the best layer of mapped monolingual models reaches at least half of the bilingual model's "
        "best, for each task and pair",
        needs="figure-5",
        findings=lambda layers: list(by_alignment.half_of_bilingual(layers)),
    ),
    Question(
        key="bilingual-better",
        sentence="Mapped monolingual models transfer worse than bilingual ones, except for parsing on English-French.",
        source="section 5.1.2",
        test="Figure 5: the best layer of the bilingual model above that of mapped monolingual models, for each task "
        "and pair but the one named",
        needs="figure-5",
        findings=lambda layers: list(by_alignment.bilingual_above_mapped(layers)),
    ),
    Question(
        key="middle-layers",
        sentence="Transfer by a map is best at the middle layers, and not at the last.",
        source="section 5.1.2",
        test="Figure 5: the mean of the middle third of layers above those of the top and the bottom third, for each "
        "task and pair",
        needs="figure-5",
        findings=lambda layers: list(by_alignment.middle_best(layers)),
    ),
    Question(
        key="entities-harder",
        sentence="The gap between mapped monolingual models and a bilingual model is larger in NER than in parsing.",
        source="section 5.1.2",
        test="Figure 5: bilingual less mapped, best layers, is more in NER than in parsing, for each pair",
        needs="figure-5 with NER and parsing",
        findings=lambda layers: list(by_alignment.gap_larger_in_ner(layers)),
    ),
    Question(
        key="mapped-bilingual",
        sentence="A map between the languages of a bilingual model improves parsing only.",
        source="section 5.1.2, footnote 2",
        test="Figure 8: best layer mapped above best layer as it is in parsing, and not in NER, for each pair",
        needs="figure-8 with NER or parsing",
        findings=lambda layers: list(by_alignment.map_of_bilingual_helps_parsing_only(layers)),
    ),
    Question(
        key="sentences-lower-layers",
        sentence="Parallel sentences are found best at lower layers.",
        source="section 5.1.3",
        test="Figure 6: the mean of the bottom third of layers above that of the top third, for each pair",
        needs="figure-6",
        findings=lambda layers: list(by_alignment.sentences_better_at_the_bottom(layers)),
    ),
    Question(
        key="sentences-align",
        sentence="Sentences of monolingual models can be aligned with a simple orthogonal map: the models are similar.",
        source="sections 5.1.3 and 5.1.4",
        test="Figure 6: the best layer above the best layer with an untrained model of the target (or above chance), "
        "for each pair",
        needs="figure-6",
        findings=lambda layers: list(by_alignment.sentences_above_untrained(layers)),
    ),
    Question(
        key="similarity-order",
        sentence="Bilingual models are slightly more similar than monolingual ones; random encoders are a lower bound.",
        source="section 5.2",
        test="Figure 7: CKA of bilingual above monolingual above random models, means over layers, for each pair",
        needs="figure-7",
        findings=lambda layers: list(by_similarity.bilingual_above_monolingual_above_random(layers)),
    ),
    Question(
        key="similarity-retrieval",
        sentence="CKA is highly correlated with the retrieval of sentences: over 0.9 for all pairs.",
        source="section 5.2",
        test="Pearson correlation over layers of Figure 7 and Figure 6, monolingual models, above 0.9 for each pair",
        needs="figure-6 and figure-7",
        findings=lambda layers: list(by_similarity.similarity_goes_with_retrieval(layers)),
    ),
    Question(
        key="early-layers",
        sentence="Early layers are more similar across languages than the last layers.",
        source="sections 5.2 and 6",
        test="Figure 7: mean CKA of the bottom third of layers above that of the top third, for each pair, bilingual "
        "and monolingual",
        needs="figure-7",
        findings=lambda layers: list(by_similarity.alike_at_the_bottom(layers)),
    ),
    Question(
        key="gap-shrinks",
        sentence="What a bilingual model adds to similarity shrinks as languages are more distant.",
        source="section 5.2",
        test="Figure 7: mean CKA of bilingual less monolingual models falls from each distance to the next: fr "
        "and de, ru, zh",
        needs=f"figure-7, and {LACKING}",
        findings=lambda layers: list(by_similarity.gap_shrinks_with_distance(layers)),
    ),
    Question(
        key="closer-more-similar",
        sentence="All of these effects are stronger for more closely related languages.",
        source="section 6",
        test="Figure 7: mean CKA, bilingual and monolingual, falls from each distance to the next: fr and de, ru, zh",
        needs=f"figure-7, and {LACKING}",
        findings=lambda layers: list(by_similarity.closer_languages_more_alike(layers)),
    ),
)
