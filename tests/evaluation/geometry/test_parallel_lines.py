"""Files that are parallel are read; lines out of place are refused, by their lengths; and tests are held out."""

import gzip
import random
from collections.abc import Callable
from math import log
from pathlib import Path
from statistics import correlation, fmean

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import HeldOutLines, length_floor, mismatch, read_parallel_lines

Pairs = list[tuple[str, str]]


def sentences(count: int) -> Pairs:
    draw = random.Random(0)
    sizes = [draw.randint(1, 30) for _ in range(count)]
    return [(f"{place}" + " a" * size, f"{place}" + " bc" * size) for place, size in enumerate(sizes)]


def written(folder: Path, pairs: Pairs) -> tuple[Path, Path]:
    paths = folder / "a.txt", folder / "b.txt"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return paths


def test_plain_and_compressed_lines_and_blank_ones_at_the_end(tmp_path: Path) -> None:
    pairs = sentences(60)
    a, b = written(tmp_path, pairs)
    read = read_parallel_lines(a, b)
    assert list(zip(read.a, read.b, strict=True)) == pairs
    assert read.notes == ()
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(a.read_bytes() + b"\n \n"))
    assert read_parallel_lines(packed, a).a == read_parallel_lines(a, packed).b == read.a
    read = read_parallel_lines(*written(tmp_path, [*sentences(60), *sentences(5)]))
    assert (len(read.a), read.notes) == (60, ("5 repeated lines are left out.",))


@pytest.mark.parametrize(
    ("pairs", "change", "complaint"),
    [
        (sentences(1059), lambda a: a + "1\n", r"a\.txt:1060: no line of .*b\.txt goes with this one"),
        (sentences(49), str, "49 different lines; give at least 50"),
        (sentences(49) * 2, str, "49 different lines"),
        (sentences(60), None, r"a\.txt: .*no such file"),
    ],
)
def test_what_is_wrong_is_named(
    pairs: Pairs, change: Callable[[str], str] | None, complaint: str, tmp_path: Path
) -> None:
    a, b = written(tmp_path, pairs)
    if change is None:
        a.unlink()
    else:
        a.write_text(change(a.read_text()))
    with pytest.raises(IsoglotError, match=complaint):
        read_parallel_lines(a, b, anyway=True)


def test_lines_out_of_order_are_refused_and_only_noted_if_the_user_insists(tmp_path: Path) -> None:
    pairs = sentences(500)
    turned = [(a, b) for (a, _), (_, b) in zip(pairs, reversed(pairs), strict=True)]
    a, b = written(tmp_path, turned)
    with pytest.raises(IsoglotError, match=r"do not look like translations line by line: .*correlation.*anyway=True"):
        read_parallel_lines(a, b)
    read = read_parallel_lines(a, b, anyway=True)
    assert len(read.a) == 500
    assert "The lines do not look like translations: " in read.notes[0]


def test_treebanks_are_paired_by_their_ids(tmp_path: Path) -> None:
    def treebank(side: int, rows: list[int], pairs: Pairs) -> str:
        word = "\t".join(["1", "w", *"_" * 4, "0", *"_" * 3])
        return "".join(f"# sent_id = {row}\n# text = {pairs[row][side]}\n{word}\n\n" for row in rows)

    pairs = sentences(61)
    a, b = tmp_path / "a.conllu", tmp_path / "b.conllu"
    a.write_text(treebank(0, list(range(61)), pairs))
    b.write_text(treebank(1, list(range(59, -1, -1)), pairs))
    read = read_parallel_lines(a, b)
    assert list(zip(read.a, read.b, strict=True)) == pairs[:60]
    assert read.notes == ("Sentences that only one file has, left out: 1.",)
    with pytest.raises(IsoglotError, match="both should hold the same"):
        read_parallel_lines(a, written(tmp_path, pairs)[1])


def test_a_sentence_of_the_test_is_fitted_on_in_no_language_and_all_that_say_the_same_are_right() -> None:
    lines_a, lines_b = [f"a{row}" for row in range(23)], [f"b{row}" for row in range(23)]
    lines = HeldOutLines.of(lines_a, lines_b)
    assert lines.tests == [4, 9, 14, 19]
    assert lines.fitted == [row for row in range(23) if row not in (4, 9, 14, 19)]
    assert lines.pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    # Of ten texts with two lines and three more with one, the fifth and the tenth are tests with all their lines.
    texts = [*range(10), *range(10), 10, 11, 12]
    of_texts = HeldOutLines.of(lines_a, lines_b, texts=texts)
    assert of_texts.tests == [4, 9, 14, 19]
    assert of_texts.fitted == [row for row in range(23) if texts[row] not in (4, 9)]
    lines_a[0], lines_b[1], lines_b[14] = lines_a[4], lines_b[9], lines_b[4]
    lines = HeldOutLines.of(lines_a, lines_b)
    assert lines.tests == [4, 9, 14, 19]
    assert lines.fitted == [row for row in range(23) if row not in (0, 1, 4, 9, 14, 19)]
    assert lines.pairs == [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2), (3, 3)]
    with pytest.raises(IsoglotError, match=r"5 lines leave 1 to test and 4 others"):
        HeldOutLines.of(list("abcde"), list("abcde"))
    with pytest.raises(IsoglotError, match=r"50 lines leave 10 to test and 0 others"):
        HeldOutLines.of(["same"] * 50, [str(row) for row in range(50)])


def translations(count: int, *, seed: int = 0) -> tuple[list[str], list[str]]:
    """Lengths of translations differ by a fifth or so."""
    draw = random.Random(seed)
    sizes = [round(draw.lognormvariate(3.5, 0.6)) + 1 for _ in range(count)]
    return ["a" * size for size in sizes], ["b" * round(size * draw.lognormvariate(0.1, 0.2) + 1) for size in sizes]


@pytest.mark.parametrize("count", [50, 399, 2500])
def test_translations_pass_in_any_order_of_pairs(count: int) -> None:
    lines_a, lines_b = translations(count)
    assert mismatch(lines_a, lines_b) is mismatch(lines_a, lines_a) is None
    assert mismatch(*map(list, zip(*sorted(zip(lines_a, lines_b, strict=True)), strict=True))) is None
    assert mismatch(["same"] * count, lines_b) is None, "lines of one length say nothing"


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
    found = "in lines 601 to 800, lengths fit far better with the lines that stand 1 line earlier in the second"
    assert mismatch(lines_a, lines_b) == found
    lines_a, lines_b = translations(1003)
    del lines_a[:3], lines_b[-3:]
    found = "in lines 1 to 200, lengths fit far better with the lines that stand 3 lines later in the second"
    assert mismatch(lines_a, lines_b) == found


def test_the_length_floor_is_what_a_guesser_who_sees_lengths_alone_expects() -> None:
    draw = random.Random(0)
    lines_a = ["x" * draw.randint(1, 30) + str(row) for row in range(200)]
    lines_b = ["y" * round(1.5 * len(line) + draw.randint(0, 3)) for line in lines_a]
    lines = HeldOutLines.of(lines_a, lines_b)
    ratio = fmean(log(len(lines_b[row])) - log(len(lines_a[row])) for row in lines.fitted)
    expected = []
    for asking, answers, sign in ((lines_a, lines_b, 1), (lines_b, lines_a, -1)):
        for place, row in enumerate(lines.tests):
            off = [
                round(abs(log(len(asking[row])) + sign * ratio - log(len(answers[test]))), 9) for test in lines.tests
            ]
            nearest = {answer for answer, distance in enumerate(off) if distance == min(off)}
            right = {pair[::sign][1] for pair in lines.pairs if pair[::sign][0] == place}
            expected.append(len(nearest & right) / len(nearest))
    found = length_floor(lines_a, lines_b, lines=lines)
    assert found.retrieval == pytest.approx(100 * fmean(expected))
    assert 2.5 < found.retrieval < 50
    both = ([log(len(line)) for line in side] for side in (lines_a, lines_b))
    assert found.cka == pytest.approx(correlation(*both) ** 2)
    # Lines of one length say nothing: a guess among all, and no likeness.
    alike = [f"{row:03}" for row in range(100)]
    none = length_floor(alike, alike, lines=HeldOutLines.of(alike, alike))
    assert (none.retrieval, none.cka) == (pytest.approx(5), 0)
