"""Parallel files that are not what they should be."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.errors import IsoglotError
from tests.corpora.readers.parallel_files import EN_FR, OFFICIAL_HEADER, sentence, word, written

CAT = sentence("n1", "A cat.")
OFFICIAL = f"{OFFICIAL_HEADER}\nen\tneutral\t\tP\tH\t1\t1\tfiction\nfr\tneutral\t\tp\th\t1\t1\tfiction\n"


@pytest.mark.parametrize(
    ("source", "target", "complaint"),
    [
        ("one\ntwo\nthree\n", "un\n", r"/a:2: no line of .*/b goes with this one; they have 3 and 1 lines"),
        ("one\n", "un\ndeux\n", r"/b:2: no line of .*/a goes with this one; they have 2 and 1 lines"),
        ("one\n\n", "un\ndeux\n", "/b:2: no line"),
        ("one\n \nthree\n", "un\ndeux\ntrois\n", "/a:2: blank, but .*/b has a sentence in this line"),
        ("one\ntwo\n", "un\n\n", "/a:2: no line"),
        ("one\ntwo\nthree\n", "un\n\ntrois\n", "/b:2: blank, but .*/a has a sentence in this line"),
        ("one\n2\ttwo\n", "un\ndeux\n", "/a:2: a tab within the line"),
        (" \n\n", "un\n", "/a: all lines are blank"),
        ("", "un\n", "/a: the file is empty"),
        ("P\tH\tneutral\n", "un\n", "/a holds premises, hypotheses and labels and .*/b a sentence a line"),
        ("one\n", CAT, "/a holds a sentence a line and .*/b a treebank in CoNLL-U"),
        ("P\tH\tneutral\n" * 2, "p\th\tneutral\n", "/a:2: no line of"),
        ("P\tH\tneutral\n", "p\th\tentailment\n", "/b:1: the label is entailment, but neutral in .*/a;"),
        ("P\tH\tneutral\n" * 2, "p\th\tneutral\np\th\n", "/b:2: premise, hypothesis and label .* not 2 columns"),
        ("P\tH\tneutral\n" * 2, "p\th\tneutral\np\th\tperhaps\n", "/b:2: the label is 'perhaps', none of entail"),
        ("P\tH\tneutral\n" * 2, "p\th\tneutral\n\th\tneutral\n", "/b:2: the premise is blank"),
        ("P\tH\tneutral\n" * 2, "p\th\tneutral\np\t \tneutral\n", "/b:2: the hypothesis is blank"),
        ("premise\thypo\tlabel\n", "premise\thypo\tlabel\n", "line number: the two languages have none in common"),
        (CAT, sentence("n2", "Un chien."), "/a and .*/b: sent_id: the two languages have none in common"),
        (CAT, CAT + f"# sent_id = n2\n{word(1, 'x')}\n", "/b:8: the sentence that begins here has no `# text = ` line"),
        (CAT, CAT + f"{word(1, 'x')}\n", "/b:8: the sentence that begins here has no `# sent_id = ` line"),
        (CAT, sentence("n1", " "), "/b:1: the sentence that begins here has no `# text = ` line"),
        (CAT, CAT + CAT, "/b:8: a second sentence 'n1'"),
    ],
)
def test_two_files_that_do_not_fit(tmp_path: Path, source: str, target: str, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        read_parallel(written(tmp_path, source, target), languages=EN_FR)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("one\nun\n", "/a:1: no tab in the first line; one file of two languages has"),
        ("one\tun\ntwo\n", "/a:2: 1 columns, but the first line has 2"),
        ("one\tun\ntwo\tdeux\tx\n", "/a:2: 3 columns, but the first line has 2"),
        ("one\tun\ntwo\t\n", "/a:2: one of the two sentences is blank"),
        ("one\tun\n \tdeux\n", "/a:2: one of the two sentences is blank"),
        (
            "en\tde\nA cat.\tEine Katze.\n",
            "/a:1: the header should name one column 'fr', and .* it has en, de",
        ),
        ("ar\tde\tzh\na\tb\tc\n", "/a:1: the header should name one column 'en', and .* it has ar, de, zh"),
        ("en\tfra\tfr-CA\na\tb\tc\n", "/a:1: the header should name one column 'fr', and names 2 such"),
        ("en\tfr\nA cat.\tUn chat.\tx\n", "/a:2: 3 columns, but the first line has 2"),
        ("en\tfr\n\nA cat.\t\n", "/a:3: one of the two sentences is blank"),
        ("en\tfr\n", "/a: no sentences"),
        ("one\tun\tein\n", "/a:1: 3 columns, and the first line does not name them"),
        ("P\tH\tneutral\n", "/a:1: 3 columns, and the first line does not name them"),
        (OFFICIAL.replace("\nfr", "\nde"), "/a: no rows of the language 'fr'; it has en, de"),
        (OFFICIAL_HEADER, "/a: no rows of the language 'en'; it has no rows"),
        (OFFICIAL + "fr\tneutral\n", "/a:4: 2 columns, but the header has 8"),
        (OFFICIAL + "fr\tneutral\t\tp\th\t1\t1\tfiction\n", "/a:4: a second pair '1' of 'fr'"),
        (OFFICIAL + "fr\t-\t\tp\th\t1\t2\tfiction\n", "/a:4: the label is '-'"),
        (OFFICIAL + "fr\tneutral\t\tp\t\t1\t2\tfiction\n", "/a:4: the hypothesis is blank"),
        (
            OFFICIAL.replace("1\t1\tfiction\n", "1\t2\tfiction\n", 1),
            "/a: pairID: the two languages have none in",
        ),
        ("", "/a: the file is empty"),
    ],
)
def test_one_file_that_is_not_right(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        read_parallel(written(tmp_path, content), languages=EN_FR)


def test_the_number_of_files_and_languages(tmp_path: Path) -> None:
    paths = written(tmp_path, "one\n", "un\n")
    with pytest.raises(IsoglotError, match="in one file or in two, not in 3"):
        read_parallel([*paths, paths[0]], languages=EN_FR)
    with pytest.raises(IsoglotError, match="in one file or in two, not in 0"):
        read_parallel([], languages=EN_FR)
    with pytest.raises(IsoglotError, match="two languages, not 'en' twice"):
        read_parallel(paths, languages=("en", "en"))
    with pytest.raises(IsoglotError, match="no such file"):
        read_parallel([paths[0], tmp_path / "absent"], languages=EN_FR)


pieces = st.sampled_from(
    [
        "en",
        "fr",
        "label",
        "neutral",
        "entailment",
        "# sent_id = 1",
        "# text = x",
        word(1, "x"),
        OFFICIAL_HEADER,
        "\t",
        " ",
    ]
)
contents = st.lists(
    st.lists(pieces | st.text(max_size=3), max_size=4).flatmap(
        lambda row: st.sampled_from(["\t", ""]).map(lambda tab: tab.join(row))
    )
).map(lambda lines: "\n".join(lines).encode(errors="surrogatepass"))


@given(st.lists(contents | st.binary(), min_size=1, max_size=2))
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    paths = [folder / name for name, _ in zip("ab", content, strict=False)]
    for path, side in zip(paths, content, strict=True):
        path.write_bytes(side)
    try:
        parallel = read_parallel(paths, languages=EN_FR)
    except IsoglotError as error:
        assert str(error).startswith(str(folder))  # noqa: PT017
    else:
        assert len(parallel.sentences["en"]) == len(parallel.sentences["fr"]) == len(parallel) > 0
        assert all(text and text == text.strip() for side in parallel.sentences.values() for text in side)
