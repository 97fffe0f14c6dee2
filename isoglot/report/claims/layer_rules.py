"""Ways to compare models by CKA: of both languages, of one each, and with an untrained one."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, OF_PRIME
from isoglot.report.claims.evidence import Layers, LayerScores
from isoglot.report.claims.question import Finding, by_distance, comparison, in_order
from isoglot.report.figures.layer_series import pair_title, pearson
from isoglot.report.figures.sentence_figures import CKA, PAPERS_CORRELATION, RETRIEVAL
from isoglot.report.verdicts import CLOSE_CKA, Sample, mean_sample
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

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
        untrained = _retrieval(layers, pair, variant=UNTRAINED)
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
            if mapped := _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, variant=MAPPED):
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
            mapped = _transfer(layers, FIGURE_8, pair, task, condition=DEFAULT.name, variant=MAPPED)
            if task in ("ner", "parsing") and plain and mapped:
                both = [("mapped", mapped.best), ("as it is", plain.best)]
                first, second = both if task == "parsing" else both[::-1]
                yield comparison(first[1], second[1], numbers=f"{_title(task, pair)}: {in_order(first, second)}")


def _contextual_words(layers: Layers) -> Iterator[tuple[Pair, LayerScores]]:
    for pair in layers.pairs(FIGURE_4):
        if found := layers.scores(FIGURE_4, "contextual_p1", condition=MONOLINGUAL.name, languages=pair):
            yield pair, found


def _retrieval(layers: Layers, pair: Pair, *, variant: str | None = None) -> LayerScores | None:
    return layers.scores(FIGURE_6, RETRIEVAL, condition=MONOLINGUAL.name, languages=pair, variant=variant)


def _in_context(layers: Layers) -> Iterator[tuple[Pair, str, LayerScores, LayerScores]]:
    """For each pair and task of Figure 5: mapped models of one language each, and the model of both."""
    for pair in layers.pairs(FIGURE_5):
        for task in layers.tasks(FIGURE_5, pair):
            mapped = _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, variant=MAPPED)
            bilingual = _transfer(layers, FIGURE_5, pair, task, condition=DEFAULT.name)
            if mapped and bilingual:
                yield pair, task, mapped, bilingual


def _transfer(
    layers: Layers, exhibit: str, pair: Pair, task: str, *, condition: str, variant: str | None = None
) -> LayerScores | None:
    return layers.scores(
        exhibit, task_named(task).metric, condition=condition, languages=pair, task=task, variant=variant
    )


def _title(task: str, pair: Pair) -> str:
    return f"{task_named(task).title} {pair_title(pair)}"


CLOSE_CORRELATION = 0.02
BILINGUAL, ONE_EACH, RANDOM = "bilingual", "monolingual", "random"


def bilingual_above_monolingual_above_random(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_7):
        known = [(kind, found.mean) for kind in (BILINGUAL, ONE_EACH, RANDOM) if (found := _cka(layers, pair, kind))]
        for better, worse in pairwise(known):
            told = in_order(better, worse, number=".2f")
            yield comparison(better[1], worse[1], close=CLOSE_CKA, numbers=f"{pair_title(pair)}: {told}")


def alike_at_the_bottom(layers: Layers) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_7):
        for kind in (BILINGUAL, ONE_EACH):
            if found := _cka(layers, pair, kind):
                told = in_order(("bottom third", found.bottom), ("top third", found.top), number=".2f")
                yield comparison(found.bottom, found.top, close=CLOSE_CKA, numbers=f"{pair_title(pair)} {kind}: {told}")


def gap_shrinks_with_distance(layers: Layers) -> Iterator[Finding]:
    """What a model of both languages adds to the similarity of models of one each."""
    gaps = {
        pair: both.mean - each.mean
        for pair in layers.pairs(FIGURE_7)
        if (both := _cka(layers, pair, BILINGUAL)) and (each := _cka(layers, pair, ONE_EACH))
    }
    for near, far in _neighbours(list(gaps)):
        a, b = ((_list(pairs), mean_sample([gaps[pair] for pair in pairs])) for pairs in (near, far))
        told = in_order(a, b, number="+.3f")
        yield comparison(a[1], b[1], close=CLOSE_CKA, numbers=f"bilingual less monolingual: {told}")


def closer_languages_more_alike(layers: Layers) -> Iterator[Finding]:
    for kind in (BILINGUAL, ONE_EACH):
        means = {pair: found.mean for pair in layers.pairs(FIGURE_7) if (found := _cka(layers, pair, kind)) is not None}
        for near, far in _neighbours(list(means)):
            a, b = ((_list(pairs), mean_sample([means[pair] for pair in pairs])) for pairs in (near, far))
            told = in_order(a, b, number=".2f")
            yield comparison(a[1], b[1], close=CLOSE_CKA, numbers=f"{kind}: {told}")


def similarity_goes_with_retrieval(layers: Layers) -> Iterator[Finding]:
    """Over the layers of models of one language each, seed by seed."""
    for pair in layers.pairs(FIGURE_7):
        cka = _cka(layers, pair, ONE_EACH)
        retrieval = layers.scores(FIGURE_6, RETRIEVAL, condition=MONOLINGUAL.name, languages=pair)
        if cka and retrieval:
            found: dict[int | None, float] = {
                seed: value
                for seed in cka.by_seed
                if seed in retrieval.by_seed
                and (value := pearson(cka.by_seed[seed], retrieval.by_seed[seed])) is not None
            }
            if found:
                ours = Sample.of(found)
                # The paper's is a bound, and a correlation has no noise that is known beforehand.
                yield comparison(
                    ours,
                    Sample.certain(PAPERS_CORRELATION),
                    close=CLOSE_CORRELATION,
                    numbers=f"{pair_title(pair)}: {ours.mean:.2f}",
                )


def _cka(layers: Layers, pair: Pair, kind: str) -> LayerScores | None:
    """The bilingual model of a language and its own double has separate embeddings (section 5.2)."""
    bilingual = OF_PRIME if pair[1].endswith(PRIME) else DEFAULT
    condition = bilingual if kind == BILINGUAL else MONOLINGUAL
    variant = UNTRAINED if kind == RANDOM else None
    return layers.scores(FIGURE_7, CKA, condition=condition.name, languages=pair, variant=variant)


def _neighbours(pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], list[Pair]]]:
    """Pairs at one distance and at the next."""
    for source in dict.fromkeys(pair[0] for pair in pairs):
        groups = by_distance(source, [target for of, target in pairs if of == source])
        for near, far in pairwise(groups):
            yield [(source, target) for target in near], [(source, target) for target in far]


def _list(pairs: Sequence[Pair]) -> str:
    return ", ".join(map(pair_title, pairs))
