from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.errors import IsoglotError
from tests.corpora.counted_words import word_counts


@given(word_counts, st.integers(0, 30))
def test_subword_counts_are_those_of_running_text(counts: dict[str, int], merges: int) -> None:
    bpe = learn_bpe(counts, merges=merges)
    few = {word: count % 5 for word, count in counts.items()}
    running = (subword for word, count in few.items() for _ in range(count) for subword in bpe.segment(word))
    assert +bpe.subword_counts(few) == Counter(running)


@given(st.dictionaries(st.text("aé中#", min_size=1, max_size=5), st.integers(1, 3), min_size=1), st.integers(0, 30))
def test_written_merges_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], merges: int
) -> None:
    path = tmp_path_factory.mktemp("bpe") / "merges.txt"
    bpe = learn_bpe(counts, merges=merges)
    bpe.write(path)
    assert Bpe.read(path) == bpe


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "merges.txt:1: "),
        ("a b\n", "merges.txt:1: "),
        ("#version: 0.2\na b\nab\n", "merges.txt:3: "),
        ("#version: 0.2\na b c\n", "merges.txt:2: "),
        ("#version: 0.2\n\na b\n", "merges.txt:2: "),
    ],
)
def test_a_spoilt_file_of_merges_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(content)
    with pytest.raises(IsoglotError, match=complaint):
        Bpe.read(path)


def test_absent_or_binary_files_of_merges_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="no such file"):
        Bpe.read(tmp_path / "merges.txt")
    (tmp_path / "merges.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(IsoglotError, match="not UTF-8"):
        Bpe.read(tmp_path / "merges.txt")
