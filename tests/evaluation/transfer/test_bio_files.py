"""Files of words and tags are read as they are released, and a fault is refused with its line."""

import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.bio_files import TaggedSentence, bio_text, read_bio
from tests.corpora.readers.compressed_texts import WRITTEN

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def sentence(pairs: str) -> TaggedSentence:
    """Paris/B-LOC ./O"""
    words, tags = zip(*(pair.rsplit("/", 1) for pair in pairs.split()), strict=True)
    return TaggedSentence(words=words, tags=tags)


def read(folder: Path, text: str) -> list[TaggedSentence]:
    path = folder / "ner.bio"
    path.write_bytes(text.encode())
    return read_bio(path)


@pytest.mark.parametrize("kind", WRITTEN)
def test_columns_with_tabs(tmp_path: Path, kind: str) -> None:
    text = "\n\nAnn\tB-PER\r\nsaw\tO\r\n\r\n \t \r\n#\tO\n½\tI-LOC\nParis\tB-LOC\t \n"
    path = tmp_path / f"ner.bio.{kind}"
    path.write_bytes(WRITTEN[kind](text.encode()))
    assert read_bio(path) == [sentence("Ann/B-PER saw/O"), sentence("#/O ½/I-LOC Paris/B-LOC")]
    assert read_bio(str(path)) == read_bio(path)


def test_the_four_columns_of_conll(tmp_path: Path) -> None:
    text = (
        "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n. . O O\n"
        "-DOCSTART- -X- O\n\u2028 NNP B-NP B-PER\nPeter NNP B-NP I-PER \n10\xa0000 CD B-NP O\n\n"
    )
    # Only line ends end a line, and only single spaces a column; the word that is white space is left out.
    expected = [
        sentence("EU/B-ORG rejects/O ./O"),
        TaggedSentence(words=("Peter", "10\xa0000"), tags=("I-PER", "O")),
    ]
    assert read(tmp_path, text) == expected
    assert read(tmp_path, text.replace(" ", "\t")) == expected


def test_the_language_before_every_word_is_taken_off(tmp_path: Path) -> None:
    assert read(tmp_path, "en:Paris\tB-LOC\nen::\tO\n\nen:en:x\tO\n") == [
        sentence("Paris/B-LOC :/O"),
        sentence("en:x/O"),
    ]
    assert read(tmp_path, "zh-yue:香\tB-LOC\nzh-yue:港\tI-LOC\n") == [sentence("香/B-LOC 港/I-LOC")]
    for other in ("Paris", "fr:Paris", "e", "ene:x", ":en:"):
        words = ("en:a", other, "en:b")
        text = "".join(f"{word}\tB-LOC\n" for word in words)
        assert [tagged.words for tagged in read(tmp_path, text)] == [words]
    for prefix in ("http:", "EN:", "e:", "2nd:", ":"):
        assert read(tmp_path, f"{prefix}x\tO\n") == [sentence(f"{prefix}x/O")]


def test_words_of_white_space_are_left_out(tmp_path: Path) -> None:
    text = "zh:作\tB-PER\nzh:\u3000\tI-PER\nzh:\tO\nzh:曲\tI-PER\n\nzh:\tO\n\nzh:\xa0\tO\n\nzh:。\tO\n"
    assert read(tmp_path, text) == [sentence("作/B-PER 曲/I-PER"), sentence("。/O")]
    assert read(tmp_path, "\u3000 O\n作 B-PER\n") == [sentence("作/B-PER")]


@pytest.mark.parametrize(
    ("iob1", "iob2"),
    [
        ("I-PER I-PER O I-LOC", "B-PER I-PER O B-LOC"),
        # Another type is another span, where a repair would see one.
        ("I-PER I-LOC I-LOC", "B-PER B-LOC I-LOC"),
        ("I-PER B-PER I-PER B-PER", "B-PER B-PER I-PER B-PER"),
        ("I-ORG B-ORG I-PER", "B-ORG B-ORG B-PER"),
        ("I-ORG | I-ORG I-ORG B-ORG", "B-ORG | B-ORG I-ORG B-ORG"),
    ],
)
def test_iob1_becomes_iob2(tmp_path: Path, iob1: str, iob2: str) -> None:
    text = "".join(f"x\t{tag}\n" if tag != "|" else "\n" for tag in iob1.split())
    assert [tag for tagged in read(tmp_path, text) for tag in tagged.tags] == iob2.replace("|", "").split()


@pytest.mark.parametrize(
    "tags",
    [
        "B-PER O I-PER",
        "I-PER O B-PER",
        "B-PER I-LOC I-LOC",
        "I-PER I-PER B-LOC",
        "B-PER B-PER I-PER O",
        "I-PER B-PER O | B-PER",
        "I-PER | B-PER O",
        "O O",
    ],
)
def test_a_b_that_separates_nothing_shows_that_a_file_is_iob2_and_its_tags_stay(tmp_path: Path, tags: str) -> None:
    text = "".join(f"x\t{tag}\n" if tag != "|" else "\n" for tag in tags.split())
    assert [tag for tagged in read(tmp_path, text) for tag in tagged.tags] == tags.replace("|", "").split()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Paris\tB-LOC\n\nParis\n", ":3: one column, 'Paris'; a word, a tab and its BIO tag expected"),
        ("Paris\n", ":1: one column, 'Paris'; a word, a tab"),
        ("Paris\t\n", ":1: one column, 'Paris'; a word, a tab"),
        ("Paris\tB-LOC\n.\tSENT\tO\n", ":2: 3 columns with tabs between, but the first word's line has 2"),
        ("Paris B-LOC\nNew York B-LOC\n", ":2: 3 columns with spaces between, but the first word's line has 2"),
        ("a NN O\nb NN O\nc NN  O\n", ":3: 4 columns with spaces"),
        ("a\tO\nb O\n", ":2: one column, 'b O'"),
        ("a\tO\n\n\tO\n", ":3: the word is missing"),
        ("a O\n O\n", ":2: the word is missing"),
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
def tagged_sentences(draw: st.DrawFn) -> TaggedSentence:
    pairs = draw(st.lists(st.tuples(words, st.sampled_from(TAGS)), min_size=1, max_size=5))
    return TaggedSentence(words=tuple(word for word, _ in pairs), tags=tuple(tag for _, tag in pairs))


@given(sentences=st.lists(tagged_sentences(), max_size=4))
def test_what_is_written_is_read_again(sentences: list[TaggedSentence]) -> None:
    # The first sentence shows that the file is IOB2, and that no prefix is common to its words.
    sentences = [sentence("a/O b/B-PER"), *sentences]
    with TemporaryDirectory() as folder:
        assert read(Path(folder), bio_text(sentences)) == sentences


def test_what_is_written_has_a_tab_and_a_blank_line_after_each_sentence() -> None:
    assert bio_text([sentence("Ann/B-PER saw/O"), sentence("x/O")]) == "Ann\tB-PER\nsaw\tO\n\nx\tO\n\n"
    assert bio_text([]) == ""
    with pytest.raises(ValueError, match="zip"):
        bio_text([TaggedSentence(words=("a", "b"), tags=("O",))])


def described_files() -> dict[str, tuple[str, str, dict[str, str]]]:
    """Sentences, words and entities of each file by the description that lies beside them."""
    readme = DATA / "eval/README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    rows = re.findall(r"\| `ner/(\S+)` \|.*\| (\d+) sentences, (\d+) tokens, entities \{(.*)\} \|", text)
    return {
        name: (size, num_words, dict(re.findall(r"'(\w+)': (\d+)", types))) for name, size, num_words, types in rows
    }


@pytest.mark.real_data
def test_real_files_have_the_counts_that_their_description_says() -> None:
    described = described_files()
    if not described:
        pytest.skip(f"no entities in {DATA / 'eval'}; set ISOGLOT_DATA")
    assert described.keys() == {path.name for path in (DATA / "eval/ner").iterdir()}
    for name, (num_sentences, num_words, entities) in described.items():
        sentences = read_bio(DATA / "eval/ner" / name)
        begun = Counter(tag[2:] for tagged in sentences for tag in tagged.tags if tag.startswith("B-"))
        assert str(len(sentences)) == num_sentences, name
        assert str(sum(len(tagged.words) for tagged in sentences)) == num_words, name
        assert {kind: str(count) for kind, count in begun.items()} == entities, name
