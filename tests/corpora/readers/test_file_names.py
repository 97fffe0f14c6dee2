from pathlib import Path

import pytest

from isoglot.corpora.readers.decompression import found


@pytest.mark.parametrize("wanted", ["wiki.en.txt", "wiki.en.txt.gz", "wiki.en.txt.xz"])
def test_a_file_is_found_however_it_is_compressed(tmp_path: Path, wanted: str) -> None:
    assert found(tmp_path / wanted) is None
    for there in ("wiki.en.txt.zst", "wiki.en.txt.gz", "wiki.en.txt"):
        (tmp_path / there).touch()
        assert found(tmp_path / wanted) == tmp_path / (wanted if (tmp_path / wanted).exists() else there)
