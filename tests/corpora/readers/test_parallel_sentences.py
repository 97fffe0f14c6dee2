"""Parallel sentences in the formats that people have them in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.readers.parallel_sentences import ParallelSentences, read_parallel
from tests.corpora.readers.compressed_texts import WRITTEN
from tests.corpora.readers.parallel_files import EN_FR, OFFICIAL_HEADER, sentence, written

TATOEBA_CODES = {"fr": "fra", "de": "deu", "ru": "rus", "zh": "cmn"}


def pairs(parallel: ParallelSentences) -> list[tuple[str, str]]:
    return list(zip(*(parallel.sentences[language] for language in parallel.languages), strict=True))


@pytest.mark.parametrize("kind", WRITTEN)
def test_two_files_of_lines(tmp_path: Path, kind: str) -> None:
    paths = [tmp_path / "eng", tmp_path / "fra"]
    paths[0].write_bytes(WRITTEN[kind](b"A cat. \n\nA dog.\nA cat.\n"))
    paths[1].write_bytes(WRITTEN[kind](b" Un chat.\r\n \r\nUn chien.\r\nUn chat.\r\n\r\n"))
    parallel = read_parallel(paths, languages=EN_FR)
    assert pairs(parallel) == [("A cat.", "Un chat."), ("A dog.", "Un chien."), ("A cat.", "Un chat.")]
    assert (parallel.languages, len(parallel), parallel.unpaired) == (EN_FR, 3, 0)


def test_one_file_of_two_columns(tmp_path: Path) -> None:
    paths = written(tmp_path, 'A "cat.\tUn chat.\n\n\t\nYes \t no\n')
    assert pairs(read_parallel(paths, languages=EN_FR)) == [('A "cat.', "Un chat."), ("Yes", "no")]
    # Short words are no header, though some are codes of languages.
    for first in ("oui\tyes", "non\tno", "Ja\tYes"):
        assert len(read_parallel(written(tmp_path, f"{first}\n"), languages=EN_FR)) == 1


def test_one_file_with_a_header_of_languages(tmp_path: Path) -> None:
    paths = written(tmp_path, "ar\tde\ten\tfr\tzh\na\tb\tc\td\te\n\nf\tg\th\ti\t\n")
    assert pairs(read_parallel(paths, languages=EN_FR)) == [("c", "d"), ("h", "i")]
    assert pairs(read_parallel(paths, languages=("fra", "eng"))) == [("d", "c"), ("i", "h")]
    paths = written(tmp_path, "fra\teng\nUn chat.\tA cat.\n")
    assert pairs(read_parallel(paths, languages=EN_FR)) == [("A cat.", "Un chat.")]


def test_premises_and_hypotheses_of_two_files(tmp_path: Path) -> None:
    source = "P\tH1\tneutral\nP\tH2\tentailment\nQ\tH3 \tcontradiction\nP\tH1\tneutral\n"
    target = "p\th1\tneutral\tmade\np\th2\tentailment\tmade\nq\th3\tcontradictory\tmade\np\th1\tneutral\tmade\n"
    expected = [("P", "p"), ("Q", "q"), ("H1", "h1"), ("H2", "h2"), ("H3", "h3"), ("H1", "h1")]
    assert pairs(read_parallel(written(tmp_path, source, target), languages=EN_FR)) == expected
    header = "premise\thypo\tlabel\n"
    paths = written(tmp_path, header + source, header + target.replace("\tmade", ""))
    assert pairs(read_parallel(paths, languages=EN_FR)) == expected


def test_premises_translated_in_two_ways_are_two(tmp_path: Path) -> None:
    paths = written(tmp_path, "P\tA\tneutral\nP\tB\tneutral\n", "p\ta\tneutral\npp\tb\tneutral\n")
    assert pairs(read_parallel(paths, languages=EN_FR)) == [("P", "p"), ("P", "pp"), ("A", "a"), ("B", "b")]


def test_the_official_table_of_xnli(tmp_path: Path) -> None:
    rows = [
        OFFICIAL_HEADER,
        "bg\tneutral\t\tX\tX1\t1\t1\tfiction",
        "fr\tentailment\t\tp\th2\t1\t2\tfiction",
        "fr\tneutral\t\tp\th1\t1\t1\tfiction",
        "fr\tneutral\t\tr\th9\t9\t9\tfiction",
        'en\tneutral\t( P )\t"P\tH1\t1\t1\tfiction',
        'en\tentailment\t( P )\t"P\tH2\t1\t2\tfiction',
    ]
    parallel = read_parallel(written(tmp_path, "\n".join(rows)), languages=EN_FR)
    assert pairs(parallel) == [('"P', "p"), ("H1", "h1"), ("H2", "h2")]
    assert parallel.unpaired == 1


def test_texts_of_treebanks_are_paired_by_their_ids(tmp_path: Path) -> None:
    source = sentence("n1", "A cat.") + sentence("n2", "A dog.") + sentence("n3", "A cow.")
    same = sentence("n1", "Un chat.") + sentence("n2", "Un chien.") + sentence("n3", "Une vache.")
    parallel = read_parallel(written(tmp_path, source, same.rstrip("\n")), languages=EN_FR)
    assert pairs(parallel) == [("A cat.", "Un chat."), ("A dog.", "Un chien."), ("A cow.", "Une vache.")]
    assert parallel.unpaired == 0
    other = sentence("n4", "Un âne.") + sentence("n3", "Une vache.") + sentence("n1", "Un chat.")
    parallel = read_parallel(written(tmp_path, source, other), languages=EN_FR)
    assert pairs(parallel) == [("A cat.", "Un chat."), ("A cow.", "Une vache.")]
    assert parallel.unpaired == 2


texts = (
    st.text(st.characters(exclude_characters="\0\t\n\r\ufeff", codec="utf-8"), min_size=1).map(str.strip).filter(bool)
)
text_pairs = st.lists(st.tuples(texts, texts), min_size=1)


@given(text_pairs)
def test_written_sentences_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, expected: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    sides = ["\n".join(side) for side in zip(*expected, strict=True)]
    assert pairs(read_parallel(written(folder, *sides), languages=EN_FR)) == expected
    rows = "".join(f"x\t{target}\t{source}\n" for source, target in expected)
    assert pairs(read_parallel(written(folder, "de\tfr\ten\n" + rows), languages=EN_FR)) == expected
    treebanks = [
        "".join(sentence(f"s{number}", text) for number, text in enumerate(side))
        for side in zip(*expected, strict=True)
    ]
    assert pairs(read_parallel(written(folder, *treebanks), languages=EN_FR)) == expected


@pytest.fixture
def evaluation() -> Path:
    folder = DATA / "eval"
    if not folder.exists():
        pytest.skip(f"no parallel sentences in {folder}; set ISOGLOT_DATA")
    return folder


@pytest.mark.real_data
@pytest.mark.parametrize("language", TATOEBA_CODES)
def test_real_parallel_sentences(evaluation: Path, language: str) -> None:
    languages, code = ("en", language), TATOEBA_CODES[language]
    tatoeba = [evaluation / f"tatoeba/tatoeba.{code}-eng.{side}.gz" for side in ("eng", code)]
    assert len(read_parallel(tatoeba, languages=languages)) == 1000
    for name in ("zh_pud", "zh_pud_simp") if language == "zh" else (f"{language}_pud",):
        treebanks = [evaluation / f"ud/{side}-ud-test.conllu.gz" for side in ("en_pud", name)]
        parallel = read_parallel(treebanks, languages=languages)
        assert (len(parallel), parallel.unpaired) == (1000, 0)
        assert parallel.sentences["en"][0].startswith("“While much of the digital transition")
    # Together as many as the official file of 10,000.
    for split, num_pairs in (("dev", 2490), ("test", 5010)):
        paths = [evaluation / f"xnli/xnli.{split}.{side}.tsv.gz" for side in languages]
        assert len(read_parallel(paths, languages=languages)) == num_pairs + num_pairs // 3
