"""Ways to compare models of one language each, mapped to each other: words, words in context and sentences."""

from collections.abc import Iterator

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_8
from isoglot.report.claims.layer_evidence import Layers, LayerScores
from isoglot.report.claims.question import Finding, comparison, in_order
from isoglot.report.layer_series import pair_title
from isoglot.report.sentence_figures import RETRIEVAL
from isoglot.study.conditions import DEFAULT, MONOLINGUAL

MONOLINGUAL_LABEL, BILINGUAL_LABEL = "mapped monolingual", "bilingual"
AS_GOOD = ("parsing", "en", "fr")
"""The task and pair in which the paper has monolingual models no worse than a bilingual one."""
Pair = tuple[str, str]


def embeddings_above_fasttext(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_4):
        ours = layers.single(FIGURE_4, "embedding_p1", languages=pair)
        fasttext = layers.single(FIGURE_4, "fasttext_of_embedding_words_p1", languages=pair)
        if ours and fasttext:
            told = in_order(("embeddings", ours), ("fastText", fasttext))
            yield comparison(ours, fasttext, numbers=f"{pair_title(pair)}: {told}")


def contextual_words_below_fasttext(layers: Layers) -> Iterator[Finding]:
    for pair, ours in _contextual_words(layers):
        fasttext = layers.single(FIGURE_4, "fasttext_of_contextual_words_p1", languages=pair)
        if fasttext:
            told = in_order(("fastText", fasttext), ("the best layer", ours.best))
            yield comparison(fasttext, ours.best, numbers=f"{pair_title(pair)}: {told}")


def words_better_at_the_top(layers: Layers) -> Iterator[Finding]:
    for pair, ours in _contextual_words(layers):
        told = in_order(("top third of layers", ours.top), ("bottom third", ours.bottom))
        yield comparison(ours.top, ours.bottom, numbers=f"{pair_title(pair)}: {told}")


def sentences_better_at_the_bottom(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_6):
        if ours := _retrieval(layers, pair):
            told = in_order(("bottom third of layers", ours.bottom), ("top third", ours.top))
            yield comparison(ours.bottom, ours.top, numbers=f"{pair_title(pair)}: {told}")


def sentences_above_untrained(layers: Layers) -> Iterator[Finding]:
    """The best layer of both; against chance where no untrained model was mapped."""
    for pair in layers.pairs(FIGURE_6):
        untrained = _retrieval(layers, pair, suffix=UNTRAINED)
        floor = untrained.best if untrained else layers.single(FIGURE_6, f"{RETRIEVAL}_chance", languages=pair)
        if (ours := _retrieval(layers, pair)) and floor:
            told = in_order(("trained", ours.best), ("untrained" if untrained else "chance", floor))
            yield comparison(ours.best, floor, numbers=f"{pair_title(pair)}: {told}")


def bilingual_above_mapped(layers: Layers) -> Iterator[Finding]:
    """The best layer of each, but where the paper has them equal."""
    for pair, task, mapped, bilingual in _in_context(layers):
        if (task, *pair) != AS_GOOD:
            told = in_order((BILINGUAL_LABEL, bilingual.best), (MONOLINGUAL_LABEL, mapped.best))
            yield comparison(bilingual.best, mapped.best, numbers=f"{_title(task, pair)}: {told}")


def half_of_bilingual(layers: Layers) -> Iterator[Finding]:
    for pair, task, mapped, bilingual in _in_context(layers):
        kept = mapped.best.mean / bilingual.best.mean if bilingual.best.mean else 0.0
        numbers = f"{MONOLINGUAL_LABEL} {mapped.best.mean:.1f} is {kept:.0%} of {BILINGUAL_LABEL}"
        yield comparison(
            mapped.best,
            bilingual.best * 0.5,
            numbers=f"{_title(task, pair)}: {numbers} {bilingual.best.mean:.1f}",
        )


def middle_best(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_5):
        for task in layers.tasks(FIGURE_5, pair):
            if mapped := _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, suffix=MAPPED):
                for name, other in (("top", mapped.top), ("bottom", mapped.bottom)):
                    told = in_order(("middle third of layers", mapped.middle), (f"{name} third", other))
                    yield comparison(mapped.middle, other, numbers=f"{_title(task, pair)}: {told}")


def gap_larger_in_ner(layers: Layers) -> Iterator[Finding]:
    gaps = {(pair, task): bilingual.best - mapped.best for pair, task, mapped, bilingual in _in_context(layers)}
    for pair in layers.pairs(FIGURE_5):
        if (pair, "ner") in gaps and (pair, "parsing") in gaps:
            ner, parsing = gaps[pair, "ner"], gaps[pair, "parsing"]
            told = in_order(("NER", ner), ("parsing", parsing))
            yield comparison(ner, parsing, numbers=f"{pair_title(pair)}, {BILINGUAL_LABEL} less mapped: {told}")


def map_of_bilingual_helps_parsing_only(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_8):
        for task in layers.tasks(FIGURE_8, pair):
            plain = _transfer(layers, FIGURE_8, pair, task, condition=DEFAULT.name)
            mapped = _transfer(layers, FIGURE_8, pair, task, condition=DEFAULT.name, suffix=MAPPED)
            if task in ("ner", "parsing") and plain and mapped:
                both = [("mapped", mapped.best), ("as it is", plain.best)]
                first, second = both if task == "parsing" else both[::-1]
                yield comparison(first[1], second[1], numbers=f"{_title(task, pair)}: {in_order(first, second)}")


def _contextual_words(layers: Layers) -> Iterator[tuple[Pair, LayerScores]]:
    for pair in layers.pairs(FIGURE_4):
        if found := layers.scores(FIGURE_4, "contextual_p1", condition=MONOLINGUAL.name, languages=pair):
            yield pair, found


def _retrieval(layers: Layers, pair: Pair, *, suffix: str = "") -> LayerScores | None:
    return layers.scores(FIGURE_6, RETRIEVAL + suffix, condition=MONOLINGUAL.name, languages=pair)


def _in_context(layers: Layers) -> Iterator[tuple[Pair, str, LayerScores, LayerScores]]:
    """For each pair and task of Figure 5: mapped models of one language each, and the model of both."""
    for pair in layers.pairs(FIGURE_5):
        for task in layers.tasks(FIGURE_5, pair):
            mapped = _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, suffix=MAPPED)
            bilingual = _transfer(layers, FIGURE_5, pair, task, condition=DEFAULT.name)
            if mapped and bilingual:
                yield pair, task, mapped, bilingual


def _transfer(
    layers: Layers, exhibit: str, pair: Pair, task: str, *, condition: str, suffix: str = ""
) -> LayerScores | None:
    return layers.scores(exhibit, task_named(task).metric + suffix, condition=condition, languages=pair, task=task)


def _title(task: str, pair: Pair) -> str:
    return f"{task_named(task).title} {pair_title(pair)}"
