"""Claims of sections 5 and 6, on made-up scores by layer that agree, disagree, are too close or are missing."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from isoglot.pipeline.cells import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, GROWTH, MAPPED, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import claims, remarks
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.published import published_measurements
from isoglot.report.findings.verdicts import Claim, Verdict
from tests.report.made_up_measurements import measured, measurement

A, D, T, N = Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE, Verdict.NOT_TESTED
RISING, FALLING = tuple(range(10, 55, 5)), tuple(range(50, 5, -5))
HUMP, FLAT = (10, 15, 20, 40, 50, 40, 20, 15, 10), (30.0,) * 9
EN_FR = ("en", "fr")
NO_TRANSFER = Comparisons.of_tasks([])


def claim(key: str, found: Sequence[Measurement]) -> Claim:
    return next(each for each in claims(list(found)) if each.key == key)


def words(layers: Sequence[float] = RISING, *, embedding: float = 60.0, fasttext: float = 55.0) -> list[Measurement]:
    """Figure 4."""
    single = {
        "embedding_p1": embedding,
        "fasttext_of_embedding_words_p1": fasttext,
        "fasttext_of_contextual_words_p1": fasttext,
    }
    return [
        *measured("monolingual", layers, metric="contextual_p1", exhibit=FIGURE_4),
        *(measurement("monolingual", value, metric=metric, exhibit=FIGURE_4) for metric, value in single.items()),
    ]


def in_context(
    task: str,
    bilingual: Sequence[float] = (),
    *,
    mapped: Sequence[float] = HUMP,
    untrained: Sequence[float] = (),
    **fields: Any,
) -> list[Measurement]:
    """Figure 5: models of one language each with a map, the same with one untrained, and the model of both."""
    kind = {"task": task, "metric": {"ner": "f1", "parsing": "las"}[task], "exhibit": FIGURE_5, **fields}
    of_target = [
        *measured("monolingual", mapped, variant=MAPPED, **kind),
        *measured("monolingual", untrained, variant=UNTRAINED, **kind),
        *measured("default", bilingual, **kind),
    ]
    # The source's own scores stand beside the target's, and are no transfer.
    return [
        *of_target,
        *(replace(each, language=each.languages[0], value=99.0 - (each.layer or 0)) for each in of_target),
    ]


def bilingual_mapped(task: str, points: float) -> list[Measurement]:
    """Figure 8: the model of both languages, and what a map adds to it."""
    plain = [each for each in in_context(task, HUMP, exhibit=FIGURE_8) if each.condition == "default"]
    return [*plain, *(replace(each, variant=MAPPED, value=each.value + points) for each in plain)]


def sentences(layers: Sequence[float], *, untrained: Sequence[float] = (), seed: int = 0) -> list[Measurement]:
    """Figure 6."""
    name, kind = "aligned_retrieval_p1", {"exhibit": FIGURE_6, "seed": seed}
    return [
        *measured("monolingual", layers, metric=name, **kind),
        *measured("monolingual", untrained, metric=name, variant=UNTRAINED, **kind),
        measurement("monolingual", 0.2, metric=name + "_chance", **kind),
    ]


def similarity(
    bilingual: Sequence[float] = (), monolingual: Sequence[float] = (), untrained: Sequence[float] = (), **fields: Any
) -> list[Measurement]:
    """Figure 7, in percent."""
    rows = ("default", None, bilingual), ("monolingual", None, monolingual), ("monolingual", UNTRAINED, untrained)
    kind = {"metric": "cka", "exhibit": FIGURE_7, "languages": EN_FR, **fields}
    return [
        each
        for condition, variant, values in rows
        for each in measured(condition, [value / 100 for value in values], variant=variant, **kind)
    ]


def flat(value: float) -> tuple[float, ...]:
    return (value,) * 9


def plus(points: float) -> list[float]:
    return [value + points for value in HUMP]


def of_distances(bilingual: Sequence[float], monolingual: Sequence[float]) -> list[Measurement]:
    """CKA, alike at all layers, for French, Russian and Chinese."""
    return [
        each
        for target, both, one in zip(("fr", "ru", "zh"), bilingual, monolingual, strict=True)
        for each in similarity(flat(both), flat(one), languages=("en", target))
    ]


CASES = {
    "embeddings-fasttext": [(A, words(embedding=60)), (D, words(embedding=50)), (T, words(embedding=57))],
    "contextual-words-fasttext": [(A, words(fasttext=55)), (D, words(fasttext=45)), (T, words(fasttext=52))],
    "words-higher-layers": [(A, words(RISING)), (D, words(FALLING)), (T, words(FLAT))],
    "mapped-transfer": [
        (A, in_context("ner", plus(30))),
        (D, in_context("ner", HUMP, mapped=flat(9))),
        (T, in_context("ner", HUMP, mapped=flat(25))),
        # However much of the bilingual model's it is, an untrained one must not have as much.
        (A, in_context("ner", HUMP, untrained=flat(9))),
        (D, in_context("ner", HUMP, untrained=plus(10))),
        (T, in_context("ner", HUMP, untrained=plus(-1))),
    ],
    "bilingual-better": [
        *((A, in_context("ner", plus(10))), (D, in_context("ner", plus(-10))), (T, in_context("ner", HUMP))),
        # The pair that the paper excepts.
        (N, in_context("parsing", plus(-10), languages=EN_FR)),
        (D, in_context("ner", plus(-10), languages=EN_FR)),
    ],
    "middle-layers": [
        *((A, in_context("ner", mapped=HUMP)), (T, in_context("ner", mapped=FLAT))),
        *((D, in_context("ner", mapped=RISING)), (D, in_context("ner", mapped=FALLING))),
    ],
    "entities-harder": [
        (A, [*in_context("ner", plus(20)), *in_context("parsing", plus(5))]),
        (D, [*in_context("ner", plus(5)), *in_context("parsing", plus(20))]),
        (T, [*in_context("ner", plus(8)), *in_context("parsing", plus(5))]),
        (N, in_context("ner", plus(5))),
    ],
    "mapped-bilingual": [
        *((A, bilingual_mapped("parsing", 9)), (D, bilingual_mapped("ner", 9))),
        *((A, bilingual_mapped("ner", -9)), (T, bilingual_mapped("parsing", 0))),
    ],
    "sentences-lower-layers": [(A, sentences(FALLING)), (D, sentences(RISING)), (T, sentences(HUMP))],
    "sentences-align": [
        *((A, sentences(HUMP, untrained=FLAT)), (D, sentences(FLAT, untrained=HUMP))),
        *((T, sentences(HUMP, untrained=plus(-2))), (A, sentences(HUMP))),
    ],
    "similarity-order": [
        *((A, similarity(flat(90), flat(70), flat(50))), (D, similarity(flat(60), flat(70), flat(50)))),
        *((D, similarity(flat(90), flat(40), flat(50))), (T, similarity(flat(71), flat(70)))),
    ],
    "early-layers": [(A, similarity((), FALLING)), (D, similarity(RISING)), (T, similarity(HUMP))],
    "gap-shrinks": [
        (A, of_distances((90, 80, 70), (60, 60, 60))),
        (D, of_distances((70, 80, 90), (60, 60, 60))),
        (T, of_distances((90, 80, 70), (80, 70, 60))),
    ],
    "closer-more-similar": [
        (A, of_distances((90, 80, 70), (80, 70, 60))),
        (D, of_distances((90, 80, 70), (60, 70, 80))),
        (T, of_distances((80, 80, 80), (70, 70, 70))),
    ],
}


@pytest.mark.parametrize("key", CASES)
def test_a_claim_goes_with_the_numbers_it_names(key: str) -> None:
    for verdict, found in CASES[key]:
        judged = claim(key, found)
        assert judged.verdict is verdict, judged.numbers


def test_languages_at_one_distance_are_taken_together_and_a_double_is_none_of_them() -> None:
    papers = list(published_measurements())
    numbers = claim("closer-more-similar", papers).numbers
    assert "bilingual: en-fr, en-de 0.70 > en-ru 0.62" in numbers
    assert "en'" not in numbers
    # The bilingual model of a language and its double is that of separate embeddings.
    of_double = [each for each in papers if each.languages == ("en", "en-prime")]
    assert "en-en': bilingual 0.68 > monolingual 0.59" in claim("similarity-order", of_double).numbers
    others = [each for each in of_double if each.condition != "sep-emb"]
    assert "bilingual" not in claim("similarity-order", others).numbers


def test_likeness_that_shared_random_layers_give_stands_beside_that_of_the_trained_model() -> None:
    papers = list(published_measurements())
    untrained = [
        replace(each, variant=UNTRAINED, value=0.5)
        for each in papers
        if (each.exhibit, each.condition, each.languages) == ("figure-7", "default", ("en", "zh"))
    ]
    for key, numbers in (
        ("closer-more-similar", "> en-zh (untrained 0.50) 0.57"),
        ("similarity-order", "en-zh: bilingual (untrained 0.50) 0.57 > monolingual 0.56"),
    ):
        found = claim(key, [*papers, *untrained])
        assert numbers in found.numbers
        assert found.verdict is claim(key, papers).verdict, "the paper's own comparison is judged"


@pytest.mark.parametrize(("retrieval", "verdict"), [(FALLING, A), (RISING, D), (HUMP, D), (FLAT, N)])
def test_similarity_and_retrieval_are_held_together_layer_by_layer(
    retrieval: Sequence[float], verdict: Verdict
) -> None:
    cka = similarity((), FALLING, languages=("ela", "oru"))
    assert claim("similarity-retrieval", [*cka, *sentences(retrieval)]).verdict is verdict
    assert claim("similarity-retrieval", cka).verdict is N
    assert claim("similarity-retrieval", sentences(retrieval)).verdict is N


def test_seeds_are_paired_by_their_own_numbers() -> None:
    cka = [
        each
        for seed, values in enumerate((FALLING, RISING))
        for each in similarity((), values, languages=("ela", "oru"), seed=seed)
    ]
    # Seed 1 of retrieval comes first, and seed 0 has no retrieval at all.
    found = claim("similarity-retrieval", [*cka, *sentences(RISING, seed=1), *sentences(FALLING, seed=2)])
    assert (found.verdict, found.numbers, found.num_seeds) == (A, "ela-oru: 1.00", 1)


def test_seeds_that_stand_under_growth_say_how_far_cka_differs_for_no_reason() -> None:
    """Two seeds of five rows lie 0.10 apart; 0.15 between models is less than the noise of 0.26, and 0.3 is more."""

    def grown(value: float, *, seed: int, update: int = 800, **fields: Any) -> list[Measurement]:
        found = similarity(flat(value), **fields)
        return [replace(each, exhibit=GROWTH, seed=seed, update=update) for each in found]

    rows = ("no-anchors", "wiki-cc", "sep-emb", "sep-l1-3", "sep-l1-6")
    others = [
        replace(each, condition=row)
        for row in rows
        for seed, value in enumerate((50, 60))
        # An earlier moment of training is no finished model.
        for each in (*grown(value, seed=seed), *grown(90 * seed, seed=seed, update=400))
    ]
    close, far = similarity(flat(70), flat(55)), similarity(flat(70), flat(40))
    assert remarks([*close, *others], NO_TRANSFER) == ["Noise in CKA is 0.26, by 5 models of several seeds."]
    verdicts = [claim("similarity-order", found).verdict for found in (close, [*close, *others], [*far, *others])]
    assert verdicts == [A, T, A]
    # The best model of one run came at another update.
    moved = [replace(each, update=790) if each.update == 800 and each.seed == 0 else each for each in others]
    assert remarks([*close, *moved], NO_TRANSFER) == remarks([*close, *others], NO_TRANSFER)
    few = [each for each in others if each.condition != rows[0]]
    assert "taken to be 0.02" in remarks([*close, *few], NO_TRANSFER)[0]
    assert remarks(others, NO_TRANSFER) == []
    # The second seed of the model itself counts in the mean.
    of_both = [*of_distances((70, 60, 50), (40, 40, 40)), *grown(90, seed=1, languages=("en", "ru"))]
    assert "en-fr +0.300 < en-ru +0.350" in claim("gap-shrinks", of_both).numbers


@pytest.mark.parametrize(
    ("num_states", "bottom", "top"), [(3, {0}, {2}), (4, {0}, {3}), (5, {0, 1}, {3, 4}), (7, {0, 1}, {5, 6})]
)
def test_thirds_of_models_of_other_depths(num_states: int, bottom: set[int], top: set[int]) -> None:
    layers = [90.0 - layer**2 for layer in range(num_states)]
    means = [fmean(layers[layer] for layer in third) for third in (bottom, top)]
    assert claim("sentences-lower-layers", sentences(layers)).numbers.startswith(
        f"ela-oru: bottom third of layers {means[0]:.1f} > top third {means[1]:.1f}"
    )
    lacking = [each for each in sentences(layers) if each.layer != 1]
    assert claim("sentences-lower-layers", [*lacking, *words(layers)]).verdict is N, "no seed has all layers"
