"""Ways to compare models by CKA: of both languages, of one each, and with an untrained one."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.figures import FIGURE_6, FIGURE_7, OF_PRIME
from isoglot.report.claims.by_alignment import Pair
from isoglot.report.claims.language_distance import by_distance
from isoglot.report.claims.layer_evidence import Layers, LayerScores
from isoglot.report.claims.question import Finding, comparison, in_order
from isoglot.report.layer_series import pair_title, pearson
from isoglot.report.samples import Sample, mean_sample
from isoglot.report.sentence_figures import CKA, PAPERS_CORRELATION, RETRIEVAL
from isoglot.report.verdicts import CLOSE_CKA
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

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
    metric = CKA + UNTRAINED if kind == RANDOM else CKA
    return layers.scores(FIGURE_7, metric, condition=condition.name, languages=pair)


def _neighbours(pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], list[Pair]]]:
    """Pairs at one distance and at the next."""
    for source in dict.fromkeys(pair[0] for pair in pairs):
        groups = by_distance(source, [target for of, target in pairs if of == source])
        for near, far in pairwise(groups):
            yield [(source, target) for target in near], [(source, target) for target in far]


def _list(pairs: Sequence[Pair]) -> str:
    return ", ".join(map(pair_title, pairs))
