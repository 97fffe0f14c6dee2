from pathlib import Path

import pytest

from isoglot.corpora.readers.decompression import found, plain_name


@pytest.mark.parametrize("wanted", ["wiki.en.txt", "wiki.en.txt.gz", "wiki.en.txt.xz"])
def test_a_file_is_found_however_it_is_compressed(tmp_path: Path, wanted: str) -> None:
    assert found(tmp_path / wanted) is None
    for there in ("wiki.en.txt.zst", "wiki.en.txt.gz", "wiki.en.txt"):
        (tmp_path / there).touch()
        assert found(tmp_path / wanted) == tmp_path / (wanted if (tmp_path / wanted).exists() else there)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "wiki.en").mkdir()
    assert found(tmp_path / "wiki.en") is None


def test_plain_names() -> None:
    assert [plain_name(Path(name)) for name in ("a/b.txt.xz", "b.txt", "b.gz")] == ["b.txt", "b.txt", "b"]
