"""Lengths give away lines that are out of place, and let translations pass."""

import random
from collections.abc import Iterator

import pytest
from real_data import DATA

from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.evaluation.geometry.parallel_lines import mismatch

TATOEBA_CODES = {"fr": "fra", "de": "deu", "ru": "rus", "zh": "cmn"}


def translations(count: int, *, seed: int = 0) -> tuple[list[str], list[str]]:
    """Lengths of translations differ by a fifth or so."""
    draw = random.Random(seed)
    sizes = [round(draw.lognormvariate(3.5, 0.6)) + 1 for _ in range(count)]
    return ["a" * size for size in sizes], ["b" * round(size * draw.lognormvariate(0.1, 0.2) + 1) for size in sizes]


@pytest.mark.parametrize("count", [50, 399, 2500])
def test_translations_pass(count: int) -> None:
    assert mismatch(*translations(count)) is None


@pytest.mark.parametrize("count", [50, 200])
def test_shuffled_lines_do_not(count: int) -> None:
    passed = 0
    for seed in range(20):
        lines_a, lines_b = translations(count, seed=seed)
        random.Random(seed + 100).shuffle(lines_b)
        complaint = mismatch(lines_a, lines_b)
        passed += complaint is None
        if complaint is not None:
            assert "a correlation of" in complaint or "lengths fit far better" in complaint
    assert passed <= 1


def test_one_missing_line_is_found_with_its_place() -> None:
    lines_a, lines_b = translations(1001)
    del lines_b[500], lines_a[-1]
    assert mismatch(lines_a, lines_b) == (
        "in lines 601 to 800, lengths fit far better with the lines that stand 1 line earlier in the second"
    )
    lines_a, lines_b = translations(1003)
    del lines_a[:3], lines_b[-3:]
    assert mismatch(lines_a, lines_b) == (
        "in lines 1 to 200, lengths fit far better with the lines that stand 3 lines later in the second"
    )


def test_lines_in_order_of_length_pass() -> None:
    lines_a, lines_b = translations(1000)
    order = sorted(range(1000), key=lambda row: len(lines_a[row]))
    assert mismatch([lines_a[row] for row in order], [lines_b[row] for row in order]) is None


def test_a_text_passes_for_itself_and_lines_of_one_length_say_nothing() -> None:
    lines, _ = translations(300)
    assert mismatch(lines, lines) is None
    assert mismatch(["same"] * 60, lines[:60]) is None


def real_pairs() -> Iterator[tuple[str, tuple[str, str]]]:
    for language, code in TATOEBA_CODES.items():
        tatoeba = f"eval/tatoeba/tatoeba.{code}-eng"
        yield language, (f"{tatoeba}.eng.gz", f"{tatoeba}.{code}.gz")
        for part in ("dev", "test"):
            yield language, (f"eval/xnli/xnli.{part}.en.tsv.gz", f"eval/xnli/xnli.{part}.{language}.tsv.gz")
        yield language, ("eval/ud/en_pud-ud-test.conllu.gz", f"eval/ud/{language}_pud-ud-test.conllu.gz")


@pytest.mark.real_data
@pytest.mark.parametrize(("language", "files"), list(real_pairs()))
def test_real_translations_pass_and_the_same_out_of_order_do_not(language: str, files: tuple[str, str]) -> None:
    if not all((DATA / file).exists() for file in files):
        pytest.skip(f"{files} are not in {DATA}")
    read = read_parallel([DATA / file for file in files], languages=("en", language)).sentences
    lines_a, lines_b = read["en"], read[language]
    assert mismatch(lines_a, lines_b) is None
    for start in range(0, len(lines_a) - 49, 50):
        assert mismatch(lines_a[start : start + 50], lines_b[start : start + 50]) is None
    assert mismatch(lines_a[1:], lines_b[:-1]) is not None
    draw = random.Random(0)
    for count, tries in ((50, 40), (200, 40), (len(lines_a), 2)):
        passed = 0
        for _ in range(tries):
            rows = draw.sample(range(len(lines_a)), count)
            assert mismatch([lines_a[row] for row in rows], [lines_b[row] for row in rows]) is None
            others = draw.sample(rows, count)
            passed += mismatch([lines_a[row] for row in rows], [lines_b[row] for row in others]) is None
        assert passed <= tries // 20
