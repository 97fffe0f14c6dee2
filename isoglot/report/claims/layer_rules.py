"""Ways to compare scores by layer, from which the claims of sections 5 and 6 are decided."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, OF_PRIME
from isoglot.report.claims.evidence import Finding, LayerEvidence, LayerScores, by_distance, comparison, ordered
from isoglot.report.figures.layer_figures import CKA, PAPERS_CORRELATION, RETRIEVAL
from isoglot.report.figures.layer_series import pair_title, pearson
from isoglot.report.verdicts import CLOSE_CKA, Sample, mean_sample
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

MONOLINGUAL_LABEL, BILINGUAL_LABEL = "mapped monolingual", "bilingual"
AS_GOOD = ("parsing", "en", "fr")
"""The task and pair in which the paper has monolingual models no worse than a bilingual one."""
Pair = tuple[str, str]


def embeddings_above_fasttext(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_4):
        ours = layers.single(FIGURE_4, "embedding_p1", languages=pair)
        fasttext = layers.single(FIGURE_4, "fasttext_of_embedding_words_p1", languages=pair)
        if ours and fasttext:
            yield ordered(pair_title(pair), ("embeddings", ours), ("fastText", fasttext))


def contextual_words_below_fasttext(layers: LayerEvidence) -> Iterator[Finding]:
    for pair, ours in _contextual_words(layers):
        if fasttext := layers.single(FIGURE_4, "fasttext_of_contextual_words_p1", languages=pair):
            yield ordered(pair_title(pair), ("fastText", fasttext), ("the best layer", ours.best))


def words_better_at_the_top(layers: LayerEvidence) -> Iterator[Finding]:
    for pair, ours in _contextual_words(layers):
        yield ordered(pair_title(pair), ("top third of layers", ours.top), ("bottom third", ours.bottom))


def sentences_better_at_the_bottom(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_6):
        if ours := _retrieval(layers, pair):
            yield ordered(pair_title(pair), ("bottom third of layers", ours.bottom), ("top third", ours.top))


def sentences_above_untrained(layers: LayerEvidence) -> Iterator[Finding]:
    """The best layer of both; against chance where no untrained model was mapped."""
    for pair in layers.pairs(FIGURE_6):
        untrained = _retrieval(layers, pair, variant=UNTRAINED)
        floor = untrained.best if untrained else layers.single(FIGURE_6, f"{RETRIEVAL}_chance", languages=pair)
        if (ours := _retrieval(layers, pair)) and floor:
            yield ordered(pair_title(pair), ("trained", ours.best), ("untrained" if untrained else "chance", floor))


def bilingual_above_mapped(layers: LayerEvidence) -> Iterator[Finding]:
    """The best layer of each, but where the paper has them equal."""
    for pair, task, mapped, bilingual in _in_context(layers):
        if (task, *pair) != AS_GOOD:
            labels = (BILINGUAL_LABEL, bilingual.best), (MONOLINGUAL_LABEL, mapped.best)
            yield ordered(_title(task, pair), *labels)


def half_of_bilingual(layers: LayerEvidence) -> Iterator[Finding]:
    for pair, task, mapped, bilingual in _in_context(layers):
        ours, theirs = mapped.best, bilingual.best
        kept = ours.mean / theirs.mean if theirs.mean else 0.0
        numbers = f"{MONOLINGUAL_LABEL} {ours.mean:.1f} is {kept:.0%} of {BILINGUAL_LABEL} {theirs.mean:.1f}"
        yield comparison(ours, theirs * 0.5, numbers=f"{_title(task, pair)}: {numbers}")


def middle_best(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_5):
        for task in layers.tasks(FIGURE_5, pair):
            if mapped := _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, variant=MAPPED):
                middle = ("middle third of layers", mapped.middle)
                yield ordered(_title(task, pair), middle, ("top third", mapped.top))
                yield ordered(_title(task, pair), middle, ("bottom third", mapped.bottom))


def gap_larger_in_ner(layers: LayerEvidence) -> Iterator[Finding]:
    gaps = {(pair, task): bilingual.best - mapped.best for pair, task, mapped, bilingual in _in_context(layers)}
    for pair in layers.pairs(FIGURE_5):
        if (pair, "ner") in gaps and (pair, "parsing") in gaps:
            where = f"{pair_title(pair)}, {BILINGUAL_LABEL} less mapped"
            yield ordered(where, ("NER", gaps[pair, "ner"]), ("parsing", gaps[pair, "parsing"]))


def map_of_bilingual_helps_parsing_only(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_8):
        for task in layers.tasks(FIGURE_8, pair):
            plain = _transfer(layers, FIGURE_8, pair, task, condition=DEFAULT.name)
            mapped = _transfer(layers, FIGURE_8, pair, task, condition=DEFAULT.name, variant=MAPPED)
            if task in ("ner", "parsing") and plain and mapped:
                both = [("mapped", mapped.best), ("as it is", plain.best)]
                yield ordered(_title(task, pair), *(both if task == "parsing" else both[::-1]))


def _contextual_words(layers: LayerEvidence) -> Iterator[tuple[Pair, LayerScores]]:
    for pair in layers.pairs(FIGURE_4):
        if found := layers.scores(FIGURE_4, "contextual_p1", condition=MONOLINGUAL.name, languages=pair):
            yield pair, found


def _retrieval(layers: LayerEvidence, pair: Pair, *, variant: str | None = None) -> LayerScores | None:
    return layers.scores(FIGURE_6, RETRIEVAL, condition=MONOLINGUAL.name, languages=pair, variant=variant)


def _in_context(layers: LayerEvidence) -> Iterator[tuple[Pair, str, LayerScores, LayerScores]]:
    """For each pair and task of Figure 5: mapped models of one language each, and the model of both."""
    for pair in layers.pairs(FIGURE_5):
        for task in layers.tasks(FIGURE_5, pair):
            mapped = _transfer(layers, FIGURE_5, pair, task, condition=MONOLINGUAL.name, variant=MAPPED)
            bilingual = _transfer(layers, FIGURE_5, pair, task, condition=DEFAULT.name)
            if mapped and bilingual:
                yield pair, task, mapped, bilingual


def _transfer(
    layers: LayerEvidence, exhibit: str, pair: Pair, task: str, *, condition: str, variant: str | None = None
) -> LayerScores | None:
    return layers.scores(
        exhibit, task_named(task).metric, condition=condition, languages=pair, task=task, variant=variant
    )


def _title(task: str, pair: Pair) -> str:
    return f"{task_named(task).title} {pair_title(pair)}"


CLOSE_CORRELATION = 0.02
BILINGUAL, ONE_EACH, RANDOM = "bilingual", "monolingual", "random"


def bilingual_above_monolingual_above_random(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_7):
        known = [(kind, found.mean) for kind in (BILINGUAL, ONE_EACH, RANDOM) if (found := _cka(layers, pair, kind))]
        for better, worse in pairwise(known):
            yield ordered(pair_title(pair), better, worse, close=CLOSE_CKA, number=".2f")


def alike_at_the_bottom(layers: LayerEvidence) -> Iterator[Finding]:
    for pair in layers.pairs(FIGURE_7):
        for kind in (BILINGUAL, ONE_EACH):
            if found := _cka(layers, pair, kind):
                thirds = ("bottom third", found.bottom), ("top third", found.top)
                yield ordered(f"{pair_title(pair)} {kind}", *thirds, close=CLOSE_CKA, number=".2f")


def gap_shrinks_with_distance(layers: LayerEvidence) -> Iterator[Finding]:
    """The similarity that a model of both languages adds to that of models of one each."""
    gaps = {
        pair: both.mean - each.mean
        for pair in layers.pairs(FIGURE_7)
        if (both := _cka(layers, pair, BILINGUAL)) and (each := _cka(layers, pair, ONE_EACH))
    }
    for near, far in _neighbours(gaps):
        yield ordered("bilingual less monolingual", near, far, close=CLOSE_CKA, number="+.3f")


def closer_languages_more_alike(layers: LayerEvidence) -> Iterator[Finding]:
    for kind in (BILINGUAL, ONE_EACH):
        means = {pair: found.mean for pair in layers.pairs(FIGURE_7) if (found := _cka(layers, pair, kind)) is not None}
        for near, far in _neighbours(means):
            yield ordered(kind, near, far, close=CLOSE_CKA, number=".2f")


def similarity_goes_with_retrieval(layers: LayerEvidence) -> Iterator[Finding]:
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


def _cka(layers: LayerEvidence, pair: Pair, kind: str) -> LayerScores | None:
    """The bilingual model of a language and its own double has separate embeddings (section 5.2)."""
    bilingual = OF_PRIME if pair[1].endswith(PRIME) else DEFAULT
    condition = bilingual if kind == BILINGUAL else MONOLINGUAL
    variant = UNTRAINED if kind == RANDOM else None
    return layers.scores(FIGURE_7, CKA, condition=condition.name, languages=pair, variant=variant)


def _neighbours(scores: Mapping[Pair, Sample]) -> Iterator[tuple[tuple[str, Sample], tuple[str, Sample]]]:
    """Pairs at one distance and at the next: their names and their mean."""
    for source in dict.fromkeys(source for source, _ in scores):
        groups = by_distance(source, [target for of, target in scores if of == source])
        labelled = [
            (
                ", ".join(pair_title((source, target)) for target in targets),
                mean_sample([scores[source, target] for target in targets]),
            )
            for targets in groups
        ]
        yield from pairwise(labelled)
