"""Claims of sections 5 and 6, on made-up scores by layer that agree, disagree, are too close or are missing."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import pytest

from isoglot.pipeline.cells import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, MAPPED, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import claims
from isoglot.report.published import published_measurements
from isoglot.report.verdicts import Claim, Verdict
from tests.report.made_up_measurements import measured, measurement

A, D, T, N = Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE, Verdict.NOT_TESTED
METRICS = {"ner": "f1", "parsing": "las"}
RISING, FALLING, HUMP = (
    (10, 15, 20, 25, 30, 35, 40, 45, 50),
    (50, 45, 40, 35, 30, 25, 20, 15, 10),
    (*(10, 15, 20, 40, 50, 40, 20, 15, 10),),
)
FLAT = (30.0,) * 9


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
    *,
    mapped: Sequence[float] = HUMP,
    bilingual: Sequence[float] = (),
    bilingual_mapped: Sequence[float] = (),
    exhibit: str = FIGURE_5,
    languages: tuple[str, str] = ("ela", "oru"),
) -> list[Measurement]:
    """Figures 5 and 8."""
    rows = (
        ("monolingual", mapped, MAPPED),
        ("default", bilingual, None),
        ("default", bilingual_mapped, MAPPED),
    )
    of_target = [
        replace(each, task=task)
        for condition, values, variant in rows
        for each in measured(
            condition, values, metric=METRICS[task], variant=variant, exhibit=exhibit, languages=languages
        )
    ]
    # The source's own scores stand beside the target's, and are no transfer.
    return [*of_target, *(replace(each, language=languages[0], value=99.0 - (each.layer or 0)) for each in of_target)]


def sentences(layers: Sequence[float], *, untrained: Sequence[float] = (), seed: int = 0) -> list[Measurement]:
    """Figure 6."""
    name = "aligned_retrieval_p1"
    return [
        *measured("monolingual", layers, metric=name, exhibit=FIGURE_6, seed=seed),
        *measured("monolingual", untrained, metric=name, variant=UNTRAINED, exhibit=FIGURE_6, seed=seed),
        measurement("monolingual", 0.2, metric=name + "_chance", exhibit=FIGURE_6, seed=seed),
    ]


def similarity(
    *,
    bilingual: Sequence[float] = (),
    monolingual: Sequence[float] = (),
    untrained: Sequence[float] = (),
    languages: tuple[str, str] = ("en", "fr"),
    seed: int = 0,
) -> list[Measurement]:
    """Figure 7."""
    rows = (
        ("default", None, bilingual),
        ("monolingual", None, monolingual),
        ("monolingual", UNTRAINED, untrained),
    )
    return [
        each
        for condition, variant, values in rows
        for each in measured(
            condition, values, metric="cka", variant=variant, exhibit=FIGURE_7, languages=languages, seed=seed
        )
    ]


def plus(values: Sequence[float], points: float) -> list[float]:
    return [value + points for value in values]


@pytest.mark.parametrize(
    ("key", "found", "verdict"),
    [
        ("embeddings-fasttext", words(embedding=60.0, fasttext=55.0), A),
        ("embeddings-fasttext", words(embedding=50.0, fasttext=55.0), D),
        ("embeddings-fasttext", words(embedding=57.0, fasttext=55.0), T),
        ("contextual-words-fasttext", words(fasttext=55.0), A),
        ("contextual-words-fasttext", words(fasttext=45.0), D),
        ("contextual-words-fasttext", words(fasttext=52.0), T),
        ("words-higher-layers", words(RISING), A),
        ("words-higher-layers", words(FALLING), D),
        ("words-higher-layers", words(FLAT), T),
        ("mapped-transfer", in_context("ner", bilingual=plus(HUMP, 30)), A),
        ("mapped-transfer", in_context("ner", mapped=(9.0,) * 9, bilingual=HUMP), D),
        ("mapped-transfer", in_context("ner", mapped=(25.0,) * 9, bilingual=HUMP), T),
        ("bilingual-better", in_context("ner", bilingual=plus(HUMP, 10)), A),
        ("bilingual-better", in_context("ner", bilingual=plus(HUMP, -10)), D),
        ("bilingual-better", in_context("ner", bilingual=HUMP), T),
        # The pair that the paper excepts.
        ("bilingual-better", in_context("parsing", bilingual=plus(HUMP, -10), languages=("en", "fr")), N),
        ("bilingual-better", in_context("ner", bilingual=plus(HUMP, -10), languages=("en", "fr")), D),
        ("middle-layers", in_context("ner", mapped=HUMP), A),
        ("middle-layers", in_context("ner", mapped=RISING), D),
        ("middle-layers", in_context("ner", mapped=FALLING), D),
        ("middle-layers", in_context("ner", mapped=FLAT), T),
        (
            "entities-harder",
            [*in_context("ner", bilingual=plus(HUMP, 20)), *in_context("parsing", bilingual=plus(HUMP, 5))],
            A,
        ),
        (
            "entities-harder",
            [*in_context("ner", bilingual=plus(HUMP, 5)), *in_context("parsing", bilingual=plus(HUMP, 20))],
            D,
        ),
        (
            "entities-harder",
            [*in_context("ner", bilingual=plus(HUMP, 8)), *in_context("parsing", bilingual=plus(HUMP, 5))],
            T,
        ),
        ("entities-harder", in_context("ner", bilingual=plus(HUMP, 5)), N),
        (
            "mapped-bilingual",
            in_context("parsing", exhibit=FIGURE_8, bilingual=HUMP, bilingual_mapped=plus(HUMP, 9)),
            A,
        ),
        ("mapped-bilingual", in_context("ner", exhibit=FIGURE_8, bilingual=HUMP, bilingual_mapped=plus(HUMP, 9)), D),
        ("mapped-bilingual", in_context("ner", exhibit=FIGURE_8, bilingual=HUMP, bilingual_mapped=plus(HUMP, -9)), A),
        ("mapped-bilingual", in_context("parsing", exhibit=FIGURE_8, bilingual=HUMP, bilingual_mapped=HUMP), T),
        ("sentences-lower-layers", sentences(FALLING), A),
        ("sentences-lower-layers", sentences(RISING), D),
        ("sentences-lower-layers", sentences(HUMP), T),
        ("sentences-align", sentences(HUMP, untrained=FLAT), A),
        ("sentences-align", sentences(FLAT, untrained=HUMP), D),
        ("sentences-align", sentences(HUMP, untrained=plus(HUMP, -2)), T),
        ("sentences-align", sentences(HUMP), A),
        ("similarity-order", similarity(bilingual=(0.9,) * 9, monolingual=(0.7,) * 9, untrained=(0.5,) * 9), A),
        ("similarity-order", similarity(bilingual=(0.6,) * 9, monolingual=(0.7,) * 9, untrained=(0.5,) * 9), D),
        ("similarity-order", similarity(bilingual=(0.9,) * 9, monolingual=(0.4,) * 9, untrained=(0.5,) * 9), D),
        ("similarity-order", similarity(bilingual=(0.71,) * 9, monolingual=(0.7,) * 9), T),
        ("early-layers", similarity(monolingual=[value / 100 for value in FALLING]), A),
        ("early-layers", similarity(bilingual=[value / 100 for value in RISING]), D),
        ("early-layers", similarity(bilingual=[value / 100 for value in HUMP]), T),
    ],
)
def test_a_claim_goes_with_the_numbers_it_names(key: str, found: list[Measurement], verdict: Verdict) -> None:
    judged = claim(key, found)
    assert judged.verdict is verdict, judged.numbers


def of_distances(bilingual: Sequence[float], monolingual: Sequence[float]) -> list[Measurement]:
    """CKA, alike at all layers, for French, Russian and Chinese."""
    return [
        each
        for target, both, one in zip(("fr", "ru", "zh"), bilingual, monolingual, strict=True)
        for each in similarity(bilingual=(both,) * 9, monolingual=(one,) * 9, languages=("en", target))
    ]


@pytest.mark.parametrize(
    ("key", "bilingual", "monolingual", "verdict"),
    [
        ("gap-shrinks", (0.9, 0.8, 0.7), (0.6, 0.6, 0.6), A),
        ("gap-shrinks", (0.7, 0.8, 0.9), (0.6, 0.6, 0.6), D),
        ("gap-shrinks", (0.9, 0.8, 0.7), (0.8, 0.7, 0.6), T),
        ("closer-more-similar", (0.9, 0.8, 0.7), (0.8, 0.7, 0.6), A),
        ("closer-more-similar", (0.9, 0.8, 0.7), (0.6, 0.7, 0.8), D),
        ("closer-more-similar", (0.8, 0.8, 0.8), (0.7, 0.7, 0.7), T),
    ],
)
def test_claims_of_distance(
    key: str, bilingual: Sequence[float], monolingual: Sequence[float], verdict: Verdict
) -> None:
    judged = claim(key, of_distances(bilingual, monolingual))
    assert judged.verdict is verdict, judged.numbers


def test_languages_at_one_distance_are_taken_together() -> None:
    found = claim("closer-more-similar", list(published_measurements()))
    assert "bilingual: en-fr, en-de 0.70 > en-ru 0.62" in found.numbers
    # A language's own double is no language at a distance.
    assert "en'" not in found.numbers


def test_the_double_of_a_language_has_a_bilingual_model_of_separate_embeddings() -> None:
    papers = [each for each in published_measurements() if each.languages == ("en", "en-prime")]
    assert "en-en': bilingual 0.68 > monolingual 0.59" in claim("similarity-order", papers).numbers
    others = [each for each in papers if each.condition != "sep-emb"]
    assert "bilingual" not in claim("similarity-order", others).numbers


@pytest.mark.parametrize(("retrieval", "verdict"), [(FALLING, A), (RISING, D), (HUMP, D), (FLAT, N)])
def test_similarity_and_retrieval_are_held_together_layer_by_layer(
    retrieval: Sequence[float], verdict: Verdict
) -> None:
    cka = similarity(monolingual=[value / 100 for value in FALLING], languages=("ela", "oru"))
    assert claim("similarity-retrieval", [*cka, *sentences(retrieval)]).verdict is verdict
    assert claim("similarity-retrieval", cka).verdict is N
    assert claim("similarity-retrieval", sentences(retrieval)).verdict is N


def test_seeds_are_paired_by_their_own_numbers() -> None:
    of_cka = {0: FALLING, 1: RISING}
    cka = [
        each
        for seed, values in of_cka.items()
        for each in similarity(monolingual=[v / 100 for v in values], languages=("ela", "oru"), seed=seed)
    ]
    # Seed 1 of retrieval comes first, and seed 0 has no retrieval at all.
    found = claim("similarity-retrieval", [*cka, *sentences(RISING, seed=1), *sentences(FALLING, seed=2)])
    assert (found.verdict, found.numbers, found.num_seeds) == (A, "ela-oru: 1.00", 1)


@pytest.mark.parametrize(
    ("num_states", "bottom", "top"), [(3, {0}, {2}), (4, {0}, {3}), (5, {0, 1}, {3, 4}), (7, {0, 1}, {5, 6})]
)
def test_thirds_of_models_of_other_depths(num_states: int, bottom: set[int], top: set[int]) -> None:
    layers = [90.0 - layer**2 for layer in range(num_states)]
    means = [fmean(layers[layer] for layer in third) for third in (bottom, top)]
    assert claim("sentences-lower-layers", sentences(layers)).numbers.startswith(
        f"ela-oru: bottom third of layers {means[0]:.1f} > top third {means[1]:.1f}"
    )
