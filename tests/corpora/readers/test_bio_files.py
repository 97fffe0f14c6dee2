"""Files of tagged words are read as they are released, and refused with the line at fault."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers import bio_files as bio
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import WRITTEN

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def sentence(pairs: str) -> bio.TaggedSentence:
    """Paris/B-LOC ./O"""
    words, tags = zip(*(pair.rsplit("/", 1) for pair in pairs.split(" ")), strict=True)
    return bio.TaggedSentence(words=words, tags=tags)


def read(folder: Path, text: str) -> list[bio.TaggedSentence]:
    path = folder / "ner.bio"
    path.write_bytes(text.encode())
    return bio.read_bio(path)


CONLL = (
    "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n. . O O\n"
    "-DOCSTART- -X- O\n\u2028 NNP B-NP B-PER\nPeter NNP B-NP I-PER \n10\xa0000 CD B-NP O\n\n"
)
OF_CONLL = "EU/B-ORG rejects/O ./O | Peter/I-PER 10\xa0000/O"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n\nAnn\tB-PER\r\nsaw\tO\r\n\r\n \t \r\n#\tO\n½\tI-LOC\t \n", "Ann/B-PER saw/O | #/O ½/I-LOC"),
        # Only line ends end a line, and only single spaces a column; the word that is white space is left out.
        (CONLL, OF_CONLL),
        (CONLL.replace(" ", "\t"), OF_CONLL),
        ("zh:作\tB-PER\nzh:\u3000\tI-PER\nzh:\tO\nzh:曲\tI-PER\n\nzh:\tO\n\nzh:\xa0\tO\n", "作/B-PER 曲/I-PER"),
        # The language before every word is taken off, and nothing that only looks like one.
        ("en:Paris\tB-LOC\nen::\tO\n\nen:en:x\tO\n", "Paris/B-LOC :/O | en:x/O"),
        ("zh-yue:香\tB-LOC\nzh-yue:港\tI-LOC\n", "香/B-LOC 港/I-LOC"),
        *((f"en:a\tB-X\n{other}\tO\n", f"en:a/B-X {other}/O") for other in ("Paris", "fr:x", "e", "ene:x", ":en:")),
        *((f"{prefix}x\tO\n", f"{prefix}x/O") for prefix in ("http:", "EN:", "e:", "2nd:", ":")),
    ],
)
def test_files_as_they_are_released(tmp_path: Path, text: str, expected: str) -> None:
    assert read(tmp_path, text) == [sentence(each) for each in expected.split(" | ")]
    for kind, written in WRITTEN.items():
        (tmp_path / kind).write_bytes(written(text.encode()))
        assert bio.read_bio(str(tmp_path / kind)) == bio.read_bio(tmp_path / "ner.bio")


IOB2_TAGS = ("B-PER O I-PER", "B-PER I-LOC I-LOC", "I-PER I-PER B-LOC", "B-PER B-PER I-PER O", "I-PER | B-PER O", "O O")


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("I-PER I-PER O I-LOC", "B-PER I-PER O B-LOC"),
        # Another type is another span, where a repair would see one.
        ("I-PER I-LOC I-LOC", "B-PER B-LOC I-LOC"),
        ("I-ORG B-ORG I-PER", "B-ORG B-ORG B-PER"),
        ("I-ORG | I-ORG I-ORG B-ORG", "B-ORG | B-ORG I-ORG B-ORG"),
        # A B that separates nothing shows that a file is IOB2, and its tags stay.
        *zip(IOB2_TAGS, IOB2_TAGS, strict=True),
    ],
)
def test_iob1_becomes_iob2(tmp_path: Path, tags: str, expected: str) -> None:
    text = "".join(f"x\t{tag}\n" if tag != "|" else "\n" for tag in tags.split())
    assert [tag for tagged in read(tmp_path, text) for tag in tagged.tags] == expected.replace("|", "").split()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Paris\tB-LOC\n\nParis\n", ":3: one column, 'Paris'; a word, a tab and its BIO tag expected"),
        ("Paris\t\n", ":1: one column, 'Paris'; a word, a tab"),
        ("Paris\tB-LOC\n.\tSENT\tO\n", ":2: 3 columns with tabs between, but the first word's line has 2"),
        ("Paris B-LOC\nNew York B-LOC\n", ":2: 3 columns with spaces between, but the first word's line has 2"),
        ("a\tO\nb O\n", ":2: one column, 'b O'"),
        ("a\tO\n\n\tO\n", ":3: the word is missing"),
        ("a\tO\nb\tE-PER\n", ":2: the tag is 'E-PER', not O, or B- or I- with a type"),
        ("-DOCSTART- O\n\na\tB-\n", ":3: the tag is 'B-', not O"),
        ("B-PER\tAnn\n", ":1: the tag is 'Ann', not O"),
        ("", ": the file is empty"),
        (" \n\n-DOCSTART- -X- O O\n\n", ": no sentences; each line should be a word, a tab and its BIO tag"),
        ("en:\tO\nen: \tO\n", ": no sentences"),
    ],
)
def test_faults_are_refused_with_their_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=f"^{re.escape(f'{tmp_path}/ner.bio{complaint}')}"):
        read(tmp_path, text)


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n"), min_size=1, max_size=6).filter(
    lambda word: word.strip() and not word.startswith(("-DOCSTART-", "\ufeff"))
)


@st.composite
def tagged_sentences(draw: st.DrawFn) -> bio.TaggedSentence:
    pairs = draw(st.lists(st.tuples(words, st.sampled_from(TAGS)), min_size=1, max_size=5))
    return bio.TaggedSentence(words=tuple(word for word, _ in pairs), tags=tuple(tag for _, tag in pairs))


@given(sentences=st.lists(tagged_sentences(), max_size=4))
def test_what_is_written_is_read_again(sentences: list[bio.TaggedSentence]) -> None:
    # The first sentence shows that the file is IOB2, and that no prefix is common to its words.
    sentences = [sentence("a/O b/B-PER"), *sentences]
    with TemporaryDirectory() as folder:
        assert read(Path(folder), bio.bio_text(sentences)) == sentences
    assert bio.bio_text(sentences[:1] * 2) == "a\tO\nb\tB-PER\n\n" * 2
