"""Files as users have them: read where they are parallel, refused with the place where they are not."""

import gzip
import random
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import read_parallel_lines


def sentences(count: int) -> list[tuple[str, str]]:
    draw = random.Random(0)
    sizes = [draw.randint(1, 30) for _ in range(count)]
    return [(f"{place}" + " a" * size, f"{place}" + " bc" * size) for place, size in enumerate(sizes)]


def written(folder: Path, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    paths = folder / "a.txt", folder / "b.txt"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return paths


def test_plain_lines(tmp_path: Path) -> None:
    pairs = sentences(60)
    pairs[3] = ("with\ta tab", "mit\tTab")
    read = read_parallel_lines(*written(tmp_path, pairs))
    assert list(zip(read.a, read.b, strict=True)) == pairs
    assert read.notes == ()


def test_compressed_lines_and_blank_ones_at_the_end(tmp_path: Path) -> None:
    a, b = written(tmp_path, sentences(60))
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(a.read_bytes() + b"\n \n"))
    assert len(read_parallel_lines(packed, b).a) == 60


def test_one_file_may_stand_for_both(tmp_path: Path) -> None:
    a, _ = written(tmp_path, sentences(60))
    read = read_parallel_lines(a, a)
    assert read.a == read.b


def test_unequal_numbers_of_lines_are_both_named(tmp_path: Path) -> None:
    a, b = written(tmp_path, sentences(1060))
    b.write_text("".join(b.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(IsoglotError, match=r"a\.txt has 1,060 lines and .*b\.txt has 1,059; they should have as many"):
        read_parallel_lines(a, b, anyway=True)


def test_a_blank_line_is_named(tmp_path: Path) -> None:
    pairs = sentences(60)
    pairs[7] = (pairs[7][0], "  ")
    with pytest.raises(IsoglotError, match=r"b\.txt:8: a blank line; drop it"):
        read_parallel_lines(*written(tmp_path, pairs))
    pairs[7] = ("", "")
    with pytest.raises(IsoglotError, match=r"a\.txt:8: a blank line"):
        read_parallel_lines(*written(tmp_path, pairs))


def test_too_few_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="49 different lines; give at least 50"):
        read_parallel_lines(*written(tmp_path, sentences(49)), anyway=True)
    with pytest.raises(IsoglotError, match="49 different lines"):
        read_parallel_lines(*written(tmp_path, sentences(49) * 2))


def test_blank_and_missing_files(tmp_path: Path) -> None:
    a, b = written(tmp_path, sentences(60))
    b.write_text("\n\n")
    with pytest.raises(IsoglotError, match=r"b\.txt: all lines are blank"):
        read_parallel_lines(a, b)
    with pytest.raises(IsoglotError, match="no such file"):
        read_parallel_lines(a, tmp_path / "c.txt")


def test_repeated_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    read = read_parallel_lines(*written(tmp_path, [*sentences(60), *sentences(5)]))
    assert len(read.a) == 60
    assert read.notes == ("5 repeated lines are left out.",)


def test_lines_out_of_order_are_refused_and_only_noted_if_the_user_insists(tmp_path: Path) -> None:
    pairs = sentences(500)
    turned = [(a, b) for (a, _), (_, b) in zip(pairs, reversed(pairs), strict=True)]
    a, b = written(tmp_path, turned)
    with pytest.raises(IsoglotError, match=r"do not look like translations line by line: .*correlation.*--anyway"):
        read_parallel_lines(a, b)
    read = read_parallel_lines(a, b, anyway=True)
    assert len(read.a) == 500
    assert "The lines do not look like translations: " in read.notes[0]


def test_treebanks_are_paired_by_their_ids(tmp_path: Path) -> None:
    def treebank(side: int, rows: list[int], pairs: list[tuple[str, str]]) -> str:
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


def test_rows_of_xnli_are_premises_then_hypotheses(tmp_path: Path) -> None:
    pairs = sentences(120)
    rows = [(pairs[place], pairs[place + 60]) for place in range(60)]
    paths = tmp_path / "a.tsv", tmp_path / "b.tsv"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{one[side]}\t{two[side]}\tneutral\n" for one, two in rows))
    read = read_parallel_lines(*paths)
    assert list(zip(read.a, read.b, strict=True)) == pairs
