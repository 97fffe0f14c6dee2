"""Numbers that the README of 1 G tokens gives of maps between languages are those of the measurements beside it."""

from functools import partial
from itertools import product
from statistics import fmean

import pytest
from numpy import argmax
from published_records import LANGUAGES, METRICS, RESULTS, packed_json, pages_by_hand, report_data
from scipy.stats import pearsonr

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.findings.noise import Noise
from isoglot.report.quantities import listed
from isoglot.study.conditions import CONDITIONS, TABLE_1

MAPPED = ("fr", "ru", "zh")
"""All ten rows have maps in these."""
FIGURE_6, FIGURE_7 = ("figure-6", "aligned_retrieval_p1"), ("figure-7", "cka")
ONE_EACH = ("monolingual", None)
ONE_UNTRAINED = ("monolingual", UNTRAINED)


@pytest.fixture(scope="module")
def readme() -> str:
    return pages_by_hand()


def layers(
    exhibit: str,
    metric: str,
    pair: str,
    model: tuple[str, str | None],
    *,
    task: str | None = None,
    language: str | None = None,
    seed: int = 0,
) -> list[float]:
    """From layer 0 up, in the language that English is paired with or another."""
    found = {
        each.layer: each.value
        for each in report_data("replication").measurements
        if (each.exhibit, each.metric, each.task) == (exhibit, metric, task)
        and (each.languages[1], each.language) == (pair, language or pair)
        and (each.condition, each.variant) == model
        and each.layer is not None
        and each.seed == seed
    }
    return [found[layer] for layer in range(len(found))]


def test_it_says_how_alike_languages_are_without_and_after_a_map(readme: str) -> None:
    models = {row.label: (row.name, None) for row in TABLE_1} | {"Default, untrained": ("default", UNTRAINED)}
    for label, model in models.items():
        cells = []
        for language in MAPPED:
            before = layers("emergence", "retrieval_p1", language, model)
            after = layers(*FIGURE_6, language, model)
            cells += [f"{max(each):.1f}" for each in (before, after)]
        assert f"| {label} | {' | '.join(cells)} |" in readme
    for label, model in {"Models of one language": ONE_EACH, "English and one untrained": ONE_UNTRAINED}.items():
        found = [max(layers(*FIGURE_6, language, model)) for language in MAPPED]
        assert f"| {label} | {' | '.join(f' | {each:.1f}' for each in found)} |" in readme
    for language in MAPPED:
        means = {key: fmean(layers(*FIGURE_7, language, model)) for key, model in models.items()}
        untrained = means.pop("Default, untrained")
        low, high = min(means.values()), max(means.values())
        place = f"{low:.2f} to {high:.2f} for the ten rows in {LANGUAGES[language]}"
        assert f"{place}, and {untrained:.2f} for Default untrained" in readme


def test_it_says_what_maps_of_german_find(readme: str) -> None:
    piece = packed_json(RESULTS / "replication/pieces/maps-of-german.tar.xz")
    mapped = {
        str(content["title"]).split(", ")[1]: piece[name.replace("record", "scores")]
        for name, content in piece.items()
        if name.endswith("record.json") and content["title"].startswith("map of sentences, ")
    }
    best = {}
    for condition, scores in mapped.items():
        before = layers("emergence", "retrieval_p1", "de", (condition, None), seed=1)
        best[condition] = max(each["value"] for each in scores if each["metric"] == FIGURE_6[1])
        assert f"| {CONDITIONS[condition].label} | {max(before):.1f} | {best[condition]:.1f} |" in readme
    assert len(best) == 7
    ours = [value for name, value in best.items() if "l1" in name]
    apart = ("sep-l1-3", "sep-l1-6", "sep-emb-l1-3", "sep-emb-l1-6")
    ours += [max(layers(*FIGURE_6, language, (name, None))) for language, name in product(MAPPED, apart)]
    assert len(ours) == 16
    floors = [max(layers(*FIGURE_6, language, ("default", UNTRAINED))) for language in LANGUAGES]
    untrained = f"{min(floors):.0f} to {max(floors):.0f}%"
    assert f"Default without pretraining finds {untrained} with one" in readme
    front = (RESULTS.parent / "README.md").read_text()
    assert f"Rotated they find {min(ours):.0f} to {max(ours):.0f}% of sentences, untrained {untrained}." in front
    assert f"Seven rows of German find {min(best.values()):.0f} to {max(best.values()):.0f}% (seed 1)." in readme


def test_it_says_what_models_of_one_language_have_in_common(readme: str) -> None:
    for label, model in {"models of one language find": ONE_EACH, "Default finds": ("default", None)}.items():
        found = [f"{max(layers(*FIGURE_6, each, model)):.1f}" for each in LANGUAGES]
        assert f"{label} {listed(found)}%" in readme
    rows = {
        "models of one language, mapped": ("figure-5", "monolingual", "mapped"),
        "Default": ("figure-5", "default", None),
        "Default, mapped": ("figure-8", "default", "mapped"),
    }
    best, chosen = [], []
    for task, language in product(("parsing", "ner"), ("fr", "ru")):
        metric = dict(METRICS.values())[task]
        scores, in_english = {}, {}
        for label, (exhibit, *model) in rows.items():
            of_model = partial(layers, exhibit, pair=language, model=(model[0], model[1]), task=task)
            scores[label] = of_model(metric=metric)
            in_english[label] = of_model(metric=f"dev_{metric}", language="en")
            cells = [f"{LANGUAGES[language]}, {metric.upper()}", label, *(f"{each:.1f}" for each in scores[label])]
            assert f"| {' | '.join(cells)} |" in readme
        mapped, default = [*rows][:2]
        best.append(f"{100 * max(scores[mapped]) / max(scores[default]):.0f}")
        of_chosen = [scores[label][argmax(in_english[label])] for label in (mapped, default)]
        chosen.append(f"{100 * of_chosen[0] / of_chosen[1]:.0f}")
    assert (
        "{}% of the LAS in French and {}% in Russian that Default has, and {} and {}% of its F1".format(*best) in readme
    )
    assert f"With each layer chosen by its score in English (dev set) it is {listed(chosen)}%" in readme

    def correlations(model: tuple[str, str | None], first: int = 0) -> list[float]:
        return [
            pearsonr(*(layers(*each, language, model)[first:] for each in (FIGURE_6, FIGURE_7))).statistic
            for language in LANGUAGES
        ]

    over_all, without_first = correlations(ONE_EACH), correlations(ONE_EACH, 1)
    assert f"{listed([f'{each:.2f}' for each in over_all])} in the four languages" in readme
    assert f"without the embeddings {min(without_first):.2f} to {max(without_first):.2f}." in readme
    of_default, untrained = correlations(("default", None)), correlations(ONE_UNTRAINED)
    assert (
        f"Of Default it is {min(of_default):.2f} to {max(of_default):.2f}, and where one model is untrained" in readme
    )
    assert f"{min(untrained):.2f} to {max(untrained):.2f}: a high value shows little" in readme


def test_it_says_what_a_map_does_to_default_and_how_alike_models_are_inside(readme: str) -> None:
    def gains(task: str, language: str) -> list[float]:
        at = {"metric": dict(METRICS.values())[task], "pair": language, "task": task}
        mapped, plain = (layers("figure-8", model=("default", kind), **at) for kind in ("mapped", None))
        gained = [after - before for after, before in zip(mapped, plain, strict=True)]
        return [max(mapped) - max(plain), *gained]

    assert f"A map adds {gains('parsing', 'fr')[0]:.1f} LAS to Default in French" in readme
    _, *in_ner = gains("ner", "fr")
    assert f"In French NER it costs {-max(in_ner):.1f} to {-min(in_ner):.1f} F1 at every layer" in readme
    assert all(abs(gains(task, "ru")[0]) < 1 for task in ("ner", "parsing"))
    assert sum(each > 0 for each in gains("parsing", "ru")[1:]) == 8

    def alike(language: str, model: tuple[str, str | None]) -> list[float]:
        return layers(*FIGURE_7, language, model)

    double, floor = (alike("en-prime", model) for model in (ONE_EACH, ONE_UNTRAINED))
    text = f"a CKA of {fmean(double):.2f}**, from {double[0]:.2f} at the embeddings to {double[5]:.2f} at L5"
    assert f"{text}, where one of them untrained leaves {fmean(floor):.2f}" in readme
    assert double[5] == min(double)
    assert f"double under Sep Emb have {fmean(alike('en-prime', ('sep-emb', None))):.2f}" in readme
    one_each, untrained = ([fmean(alike(each, kind)) for each in LANGUAGES] for kind in (ONE_EACH, ONE_UNTRAINED))
    ends = [f"{end:.2f}" for means in (one_each, untrained) for end in (min(means), max(means))]
    assert "two languages have {} to {} ({} to {})".format(*ends) in readme
    measurements = report_data("replication").measurements
    panels = LayerEvidence(measurements=measurements, noise=Noise()).panels("figure-7")
    samples = {panel.languages[1]: panel.sample(fmean, ("cka", "default", None)) for panel in panels}
    # Both seeds, of which the second stands under growth alone.
    of_default = [sample.mean for each in LANGUAGES if (sample := samples[each]) and len(sample.by_seed) == 2]
    added = [mean - fmean(alike(each, ONE_EACH)) for mean, each in zip(of_default, LANGUAGES, strict=True)]
    numbers = listed([f"{mean:.2f}" for mean in of_default])
    assert f"Default has {numbers} in French, German, Russian and Chinese (means of two seeds)" in readme
    assert f"{listed([f'{gain:+.3f}' for gain in added])} above models of one language" in readme


def test_it_says_how_words_are_found(readme: str) -> None:
    def found(metric: str, language: str) -> float:
        """At the best layer, where there are layers."""
        return max(
            each.value
            for each in report_data("replication").measurements
            if (each.exhibit, each.metric, each.language, each.languages[1]) == ("figure-4", metric, language, language)
        )

    for label, metric in {
        "rows of the embedding matrix": "embedding_p1",
        "fastText, the same words": "fasttext_of_embedding_words_p1",
        "averaged states, best layer": "contextual_p1",
        "fastText, the same words as these": "fasttext_of_contextual_words_p1",
    }.items():
        cells = [f"{found(metric, each):.1f}" for each in LANGUAGES]
        assert f"| {label} | {' | '.join(cells)} |" in readme
    asked = [found("embedding_asked", each) for each in LANGUAGES]
    assert f"are few, {min(asked):.0f} to {max(asked):.0f}." in readme
    words = [found("contextual_words", each) for each in LANGUAGES]
    assert f"Each language has {min(words):,.0f} to {max(words):,.0f} words here" in readme
    gains = []
    for each in LANGUAGES:
        by_layer = layers("figure-4", "contextual_p1", each, ONE_EACH)
        gains.append(fmean(by_layer[-3:]) - fmean(by_layer[:3]))
    assert f"Higher layers are {min(gains):.1f} to {max(gains):.1f} points above lower ones" in readme
    floors = {
        (task, language): max(layers("figure-5", metric, language, ONE_UNTRAINED, task=task))
        for task, metric in (("ner", "f1"), ("parsing", "las"))
        for language in ("fr", "ru")
    }
    text = (
        "the best layer finds {ner_fr:.1f} F1 and {parsing_fr:.1f} LAS in French, and {ner_ru:.1f} and {parsing_ru:.1f}"
    )
    assert text.format(**{"_".join(key): value for key, value in floors.items()}) + " in Russian" in readme
