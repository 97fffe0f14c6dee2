"""Where a probe finds its sentences and dictionary: plain names first, then those of the catalogue."""

import gzip
from pathlib import Path

import pytest

from isoglot.errors import MissingDataError
from isoglot.pipeline.probe_texts import read_pair_text
from tests.evaluation.geometry.planted_models import CIPHER, WORDS, ciphered, drawn_lines

LINES = drawn_lines(80)


def put(folder: Path, name: str, lines: list[str]) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(lines).encode()) if path.suffix == ".gz" else "\n".join(lines).encode())


@pytest.mark.parametrize(
    ("languages", "names"),
    [
        (("en", "fr"), ("parallel/en-fr.en", "parallel/en-fr.fr")),
        (("fr", "en"), ("parallel/fr-en.fr.gz", "parallel/fr-en.en.gz")),
        (("en", "fr"), ("parallel/fr-en.en", "parallel/fr-en.fr")),
        (("en", "fr"), ("eval/tatoeba/tatoeba.fra-eng.eng.gz", "eval/tatoeba/tatoeba.fra-eng.fra.gz")),
        (("zh", "en"), ("eval/tatoeba/tatoeba.cmn-eng.cmn", "eval/tatoeba/tatoeba.cmn-eng.eng")),
        (("xx", "en-x"), ("parallel/xx-en-x.xx", "parallel/xx-en-x.en-x")),
    ],
)
def test_sentences_are_found_in_the_order_of_the_languages(
    languages: tuple[str, str], names: tuple[str, str], tmp_path: Path
) -> None:
    with pytest.raises(MissingDataError):
        read_pair_text(languages, data=tmp_path)
    put(tmp_path, names[0], LINES)
    with pytest.raises(MissingDataError):
        read_pair_text(languages, data=tmp_path)
    put(tmp_path, names[1], ciphered(LINES))
    text = read_pair_text(languages, data=tmp_path)
    assert ([*text.lines.a], [*text.lines.b]) == (LINES, ciphered(LINES))
    assert all(str(tmp_path / name) in text.origin for name in names)


def test_own_files_come_before_xnli_and_xnli_before_tatoeba(tmp_path: Path) -> None:
    sets = (
        ("eval/tatoeba/tatoeba.fra-eng.eng", "eval/tatoeba/tatoeba.fra-eng.fra", 1),
        ("eval/xnli/xnli.dev.en.tsv", "eval/xnli/xnli.dev.fr.tsv", 2),
        ("parallel/en-fr.en", "parallel/en-fr.fr", 3),
    )
    for a, b, seed in sets:
        lines = drawn_lines(120, seed=seed)
        if "xnli" in a:
            rows = [f"{one}\t{two}\tneutral" for one, two in zip(lines[::2], lines[1::2], strict=True)]
            put(tmp_path, a, rows)
            put(tmp_path, b, ["\t".join([*ciphered(row.split("\t")[:2]), "neutral"]) for row in rows])
        else:
            put(tmp_path, a, lines)
            put(tmp_path, b, ciphered(lines))
        text = read_pair_text(("en", "fr"), data=tmp_path)
        assert {*text.lines.a} == {*lines}, a
        assert [*text.lines.b] == ciphered([*text.lines.a])


def test_tatoeba_of_two_languages_other_than_english_are_no_translations(tmp_path: Path) -> None:
    for name in ("fra-eng.fra", "fra-eng.eng", "deu-eng.deu", "deu-eng.eng"):
        put(tmp_path, f"eval/tatoeba/tatoeba.{name}", LINES)
    with pytest.raises(MissingDataError, match="no parallel sentences of fr and de"):
        read_pair_text(("fr", "de"), data=tmp_path)


def test_a_dictionary_is_in_lower_case_and_every_fifth_word_is_a_test(tmp_path: Path) -> None:
    put(tmp_path, "parallel/en-fr.en", LINES)
    put(tmp_path, "parallel/en-fr.fr", ciphered(LINES))
    assert read_pair_text(("en", "fr"), data=tmp_path).entries == []
    put(tmp_path, "eval/muse/en-fr.txt.gz", [f"{word.capitalize()}\t{CIPHER[word]}" for word in WORDS])
    text = read_pair_text(("en", "fr"), data=tmp_path)
    assert [*text.entries] == [*CIPHER.items()]
    fit, test = text.fit_and_test
    assert sorted([*fit, *test]) == sorted(text.entries)
    assert len(test) == len(WORDS) // 5
    # All translations of a word go together, and a word that is spelled alike is not asked for.
    put(
        tmp_path,
        "dictionaries/en-fr.txt",
        ["a 1", "b 2", "c c", "c 3", "d 4", "e 5", "e c", "a 6", "f 7", "g 8", "h 9", "i 0", "j j", "j 1"],
    )
    fit, test = read_pair_text(("en", "fr"), data=tmp_path).fit_and_test
    assert "".join(a + b for a, b in fit) == "a1b2ccc3d4a6f7g8h9i0"
    assert test == [("e", "5")]
