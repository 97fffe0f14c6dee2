"""The paper's scores, checked by the delta columns that it prints beside them."""

import pytest

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.findings.published import (
    FIGURE_7_CKA,
    TABLE_1_SCORES,
    TITLE_OF_TASK,
    papers_score,
    published_delta,
    published_measurements,
    published_score,
)
from isoglot.study.conditions import TABLE_1

# The right half of the table, transcribed by hand: fr, ru, zh and the delta for XNLI, NER and Parsing.
TRANSCRIBED = """
    default         | 73.6 68.7 68.3   0.0 | 79.8 60.9 63.6   0.0 | 73.2 56.6 28.8   0.0
    wiki-cc         | 74.2 65.8 66.5  -1.4 | 74.0 49.6 61.9  -6.2 | 71.3 54.8 25.2  -2.5
    no-anchors      | 72.1 67.5 67.7  -1.1 | 74.0 57.9 65.0  -2.4 | 72.3 56.2 27.4  -0.9
    default-anchors | 74.0 68.1 68.9  +0.1 | 76.8 56.3 61.2  -3.3 | 73.0 57.0 28.3  -0.1
    extra-anchors   | 74.0 69.8 72.1  +1.8 | 76.1 59.7 66.8  -0.5 | 73.3 56.9 29.2  +0.3
    sep-emb         | 72.7 63.6 60.8  -4.5 | 75.5 57.5 59.0  -4.1 | 71.7 54.0 27.5  -1.8
    sep-l1-3        | 72.4 65.0 63.1  -3.4 | 74.0 53.3 60.8  -5.3 | 69.7 54.1 26.4  -2.8
    sep-l1-6        | 61.9 43.6 37.4 -22.6 | 61.2 23.7  3.1 -38.7 | 61.7 31.6 12.0 -17.8
    sep-emb-l1-3    | 69.2 61.7 56.4  -7.8 | 73.8 46.8 53.5 -10.0 | 68.2 53.6 23.9  -4.3
    sep-emb-l1-6    | 51.6 35.8 34.4 -29.6 | 56.5  5.4  1.0 -47.1 | 50.9  6.4  1.5 -33.3
"""
LINES = [[cell.split() for cell in line.split("|")] for line in TRANSCRIBED.strip().splitlines()]
PRINTED_SCORES = {
    name: {task: tuple(map(float, cell[:3])) for task, cell in zip(TITLE_OF_TASK.values(), cells, strict=True)}
    for (name,), *cells in LINES
}
PRINTED_DELTAS = {name: tuple(float(cell[3]) for cell in cells) for (name,), *cells in LINES}
# Of the delta itself, and of the two means it is the difference of: the paper had the unrounded scores.
ROUNDING = 3 * 0.05 + 1e-9


def test_scores_and_deltas_are_those_printed() -> None:
    assert PRINTED_SCORES == TABLE_1_SCORES
    assert tuple(TABLE_1_SCORES) == tuple(condition.name for condition in TABLE_1)
    for condition, printed in PRINTED_DELTAS.items():
        deltas = [published_delta(condition, task=task) for task in TITLE_OF_TASK.values()]
        assert deltas == pytest.approx(printed, abs=ROUNDING), condition


def test_a_pair_is_held_against_its_own_column_or_the_mean_and_no_cell_is_guessed() -> None:
    for score in (papers_score, published_score):
        assert score("sep-l1-6", task="ner", languages=("en", "zh")) == 3.1
        assert score("sep-l1-6", task="nli", languages=("en", "fr")) == 61.9
    for languages in (("ela", "oru"), ("en", "de"), ("ela", "fr")):
        mean = published_score("sep-l1-6", task="parsing", languages=languages)
        assert mean == pytest.approx((61.7 + 31.6 + 12.0) / 3)
    for condition, task, languages in (
        ("sep-l1-6", "ner", ("en", "de")),
        ("sep-l1-6", "ner", ("de", "zh")),
        ("sep-l1-6", "pos", ("en", "zh")),
        ("anchors-25", "ner", ("en", "zh")),
    ):
        assert papers_score(condition, task=task, languages=languages) is None


# The last row of Figure 7, transcribed by hand: bilingual, monolingual and random for each pair.
FIGURE_7_MEANS = {
    "en-prime": (0.68, 0.59, 0.50),
    "fr": (0.69, 0.58, 0.46),
    "de": (0.70, 0.59, 0.46),
    "ru": (0.62, 0.54, 0.41),
    "zh": (0.57, 0.56, 0.43),
}


def test_similarities_are_those_whose_means_are_printed() -> None:
    for target, printed in FIGURE_7_MEANS.items():
        by_kind = FIGURE_7_CKA["en", target]
        assert list(by_kind) == ["bilingual", "monolingual", "untrained"]
        means = [sum(values) / len(values) for values in by_kind.values() if len(values) == 9]
        assert means == pytest.approx(printed, abs=0.01), target


def test_every_number_of_table_1_and_figure_7_is_a_measurement_once() -> None:
    papers = list(published_measurements())
    assert len(papers) == 10 * 3 * 3 + 5 * 3 * 9
    places = {(m.exhibit, m.condition, m.languages, m.task, m.metric, m.variant, m.layer) for m in papers}
    assert len(places) == len(papers)
    of_zh = {(m.condition, m.variant, m.layer): m.value for m in papers if m.languages[1] == "zh" and m.metric == "cka"}
    assert of_zh["default", None, 0] == 0.56
    assert (of_zh["monolingual", None, 7], of_zh["monolingual", UNTRAINED, 8]) == (0.37, 0.27)
