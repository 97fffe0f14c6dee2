"""Parallel sentences in the formats that people have them in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.errors import IsoglotError

EN_FR = ("en", "fr")
OFFICIAL_HEADER = "language\tgold_label\tsentence1_parse\tsentence1\tsentence2\tpromptID\tpairID\tgenre"


def written(folder: Path, *contents: str) -> list[Path]:
    for name, content in zip("ab", contents, strict=False):
        (folder / name).write_text(content, encoding="utf-8", newline="")
    return [folder / name for name in "ab"[: len(contents)]]


def word(number: int, form: str) -> str:
    return "\t".join([str(number), form, *"_" * 8])


def sentence(sent_id: str, text: str) -> str:
    return f"# newdoc\n# sent_id = {sent_id}\n# text = {text}\n# text_en = other\n{word(1, 'x')}\n{word(2, 'y')}\n\n"


def pairs(paths: list[Path], languages: tuple[str, str] = EN_FR) -> list[tuple[str, str]]:
    found, num_unpaired, _ = read_parallel(paths, languages=languages)
    assert num_unpaired == 0
    return found


LINES = ["A cat. \n\nA dog.\nA cat.\n", " Un chat.\r\n \r\nUn chien.\r\nUn chat.\r\n\r\n"]
COLUMNS = "ar\tde\ten\tfr\tzh\na\tb\tc\td\te\n\nf\tg\th\ti\t\n"
PREMISES = "P\tH1\tneutral\nP\tH2\tentailment\nQ\tH3 \tcontradiction\nP\tH1\tneutral\n"
# A fourth column, and the label that training sets made by machine have.
TRANSLATED = "p\th1\tneutral\tx\np\th2\tentailment\tx\nq\th3\tcontradictory\tx\np\th1\tneutral\tx\n"
INFERENCE = [("P", "p"), ("Q", "q"), ("H1", "h1"), ("H2", "h2"), ("H3", "h3"), ("H1", "h1")]
LABELLED = "premise\thypo\tlabel\n"
OFFICIAL_ROWS = (
    "bg\tneutral\t\tX\tX1\t1\t1\tfiction\nfr\tentailment\t\tp\th2\t1\t2\tfiction\n"
    "fr\tneutral\t\tp\th1\t1\t1\tfiction\nfr\tneutral\t\tr\th9\t9\t9\tfiction\n"
    'en\tneutral\t( P )\t"P\tH1\t1\t1\tfiction\nen\tentailment\t( P )\t"P\tH2\t1\t2\tfiction\n'
)
TREES = sentence("n1", "A cat.") + sentence("n2", "A dog.") + sentence("n3", "A cow.")
OTHER_TREES = sentence("n4", "Un âne.") + sentence("n3", "Une vache.") + sentence("n1", "Un chat.").rstrip("\n")


@pytest.mark.parametrize(
    ("contents", "languages", "expected", "unpaired"),
    [
        (LINES, EN_FR, [("A cat.", "Un chat."), ("A dog.", "Un chien."), ("A cat.", "Un chat.")], 0),
        (['A "cat.\tUn chat.\n\n\t\nYes \t no\n'], EN_FR, [('A "cat.', "Un chat."), ("Yes", "no")], 0),
        # Short words are no header, though some are codes of languages.
        (["oui\tyes\n"], EN_FR, [("oui", "yes")], 0),
        (["non\tno\n"], EN_FR, [("non", "no")], 0),
        ([COLUMNS], EN_FR, [("c", "d"), ("h", "i")], 0),
        ([COLUMNS], ("fra", "eng"), [("d", "c"), ("i", "h")], 0),
        (["fra\teng\nUn chat.\tA cat.\n"], EN_FR, [("A cat.", "Un chat.")], 0),
        ([PREMISES, TRANSLATED], EN_FR, INFERENCE, 0),
        ([LABELLED + PREMISES, LABELLED + TRANSLATED.replace("\tx", "")], EN_FR, INFERENCE, 0),
        ([f"{OFFICIAL_HEADER}\n{OFFICIAL_ROWS}"], EN_FR, [('"P', "p"), ("H1", "h1"), ("H2", "h2")], 1),
        # Treebanks are paired by the ids of their sentences.
        ([TREES, OTHER_TREES], EN_FR, [("A cat.", "Un chat."), ("A cow.", "Une vache.")], 2),
    ],
)
def test_formats(
    tmp_path: Path, contents: list[str], languages: tuple[str, str], expected: list[tuple[str, str]], unpaired: int
) -> None:
    found = read_parallel(written(tmp_path, *contents), languages=languages)
    assert (found.pairs, found.num_unpaired) == (expected, unpaired)
    assert len(found.texts) == len(expected)


def test_hypotheses_are_of_the_text_of_their_premise_and_other_lines_of_their_own(tmp_path: Path) -> None:
    assert [*read_parallel(written(tmp_path, *LINES), languages=EN_FR).texts] == [0, 1, 2]
    found = read_parallel(written(tmp_path, PREMISES, TRANSLATED), languages=EN_FR)
    assert dict(zip(found.pairs, found.texts, strict=True)) == {
        **dict.fromkeys((("P", "p"), ("H1", "h1"), ("H2", "h2")), 0),
        **dict.fromkeys((("Q", "q"), ("H3", "h3")), 1),
    }


letters = st.characters(exclude_characters="\0\t\n\r\ufeff", codec="utf-8")
texts = st.text(letters, min_size=1).map(str.strip).filter(bool)
text_pairs = st.lists(st.tuples(texts, texts), min_size=1)


@given(text_pairs)
def test_written_sentences_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, expected: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    sides = ["\n".join(side) for side in zip(*expected, strict=True)]
    assert pairs(written(folder, *sides)) == expected
    rows = "".join(f"x\t{target}\t{source}\n" for source, target in expected)
    assert pairs(written(folder, "de\tfr\ten\n" + rows)) == expected
    treebanks = [
        "".join(sentence(f"s{i}", text) for i, text in enumerate(side)) for side in zip(*expected, strict=True)
    ]
    assert pairs(written(folder, *treebanks)) == expected


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
@pytest.mark.parametrize(("language", "code"), [("fr", "fra"), ("de", "deu"), ("ru", "rus"), ("zh", "cmn")])
def test_real_parallel_sentences(language: str, code: str) -> None:
    languages, evaluation = ("en", language), DATA / "eval"
    tatoeba = [evaluation / f"tatoeba/tatoeba.{code}-eng.{side}.gz" for side in ("eng", code)]
    assert len(pairs(tatoeba, languages)) == 1000
    for name in ("zh_pud", "zh_pud_simp") if language == "zh" else (f"{language}_pud",):
        treebanks = [evaluation / f"ud/{side}-ud-test.conllu.gz" for side in ("en_pud", name)]
        sentences = pairs(treebanks, languages)
        assert len(sentences) == 1000
        assert sentences[0][0].startswith("“While much of the digital transition")
    # Together as many as the official file of 10,000.
    for split, num_pairs in (("dev", 2490), ("test", 5010)):
        paths = [evaluation / f"xnli/xnli.{split}.{side}.tsv.gz" for side in languages]
        assert len(pairs(paths, languages)) == num_pairs + num_pairs // 3


CAT = sentence("n1", "A cat.")
OFFICIAL = f"{OFFICIAL_HEADER}\nen\tneutral\t\tP\tH\t1\t1\tfiction\nfr\tneutral\t\tp\th\t1\t1\tfiction\n"


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        (["one\ntwo\nthree\n", "un\n"], r"/a:2: no line of .*/b goes with this one; they have 3 and 1 lines"),
        (["one\n \nthree\n", "un\ndeux\ntrois\n"], "/a:2: the first of the two sentences is blank"),
        (["one\n2\ttwo\n", "un\ndeux\n"], "/a:2: a tab within the line"),
        ([" \n\n", "un\n"], "/a: all lines are blank"),
        (["P\tH\tneutral\n", "un\n"], "/a holds premises, hypotheses and labels and .*/b a sentence a line"),
        (["one\n", CAT], "/a holds a sentence a line and .*/b a treebank in CoNLL-U"),
        (["P\tH\tneutral\n", "p\th\tentailment\n"], "/b:1: the label is entailment, but neutral in .*/a;"),
        (["P\tH\tneutral\n" * 2, "p\th\tneutral\np\th\n"], "/b:2: 2 columns where premise, hypothesis and label were"),
        (["P\tH\tneutral\n" * 2, "p\th\tneutral\np\th\tperhaps\n"], "/b:2: the label is 'perhaps', none of entail"),
        (["P\tH\tneutral\n" * 2, "p\th\tneutral\n\th\tneutral\n"], "/b:2: the premise is blank"),
        (["P\tH\tneutral\n" * 2, "p\th\tneutral\np\t \tneutral\n"], "/b:2: the hypothesis is blank"),
        (["premise\thypo\tlabel\n", "premise\thypo\tlabel\n"], "line number: the two languages have none in common"),
        ([CAT, sentence("n2", "Un chien.")], "/a and .*/b: sent_id: the two languages have none in common"),
        ([CAT, CAT + f"# sent_id = n2\n{word(1, 'x')}\n"], "/b:8: the sentence that begins here has no `# text = `"),
        ([CAT, sentence("n1", " ")], "/b:1: the sentence that begins here has no `# text = `"),
        ([CAT, CAT + CAT], "/b:8: a second sentence 'n1'"),
        (["one\nun\n"], "/a:1: no tab in the first line; one file of two languages has"),
        (["one\tun\ntwo\n"], "/a:2: 1 columns where the first line has 2"),
        (["one\tun\ntwo\t\n"], "/a:2: the second of the two sentences is blank"),
        (["en\tde\nA cat.\tKatze.\n"], "/a:1: the header should name one column 'fr', and .* it has en, de"),
        (["en\tfra\tfr-CA\na\tb\tc\n"], "/a:1: the header should name one column 'fr', and names 2 such"),
        (["en\tfr\n\nA cat.\t\n"], "/a:3: the second of the two sentences is blank"),
        (["en\tfr\n"], "/a: no sentences"),
        (["one\tun\tein\n"], "/a:1: 3 columns without names in the first line"),
        ([OFFICIAL.replace("\nfr", "\nde")], "/a: no rows of the language 'fr'; it has en, de"),
        ([OFFICIAL + "fr\tneutral\n"], "/a:4: 2 columns where the header has 8"),
        ([OFFICIAL + "fr\tneutral\t\tp\th\t1\t1\tfiction\n"], "/a:4: a second pair '1' of 'fr'"),
        ([OFFICIAL + "fr\t-\t\tp\th\t1\t2\tfiction\n"], "/a:4: the label is '-'"),
        ([OFFICIAL.replace("1\t1\tfic", "1\t2\tfic", 1)], "/a: pairID: the two languages have none in"),
    ],
)
def test_what_is_not_right_is_refused_with_its_line(tmp_path: Path, contents: list[str], complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        read_parallel(written(tmp_path, *contents), languages=EN_FR)


def test_the_number_of_files_and_languages(tmp_path: Path) -> None:
    paths = written(tmp_path, "one\n", "un\n")
    with pytest.raises(IsoglotError, match="in one file or in two, not in 3"):
        read_parallel([*paths, paths[0]], languages=EN_FR)
    with pytest.raises(IsoglotError, match="two languages, not 'en' twice"):
        read_parallel(paths, languages=("en", "en"))


MARKS = ["en", "fr", "label", "neutral", "entailment"]
pieces = st.sampled_from([*MARKS, "# sent_id = 1", "# text = x", word(1, "x"), OFFICIAL_HEADER, "\t", " "])
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
        parallel = read_parallel(paths, languages=EN_FR).pairs
    except IsoglotError as error:
        assert str(error).startswith(str(folder))  # noqa: PT017
    else:
        assert parallel
        assert all(text and text == text.strip() for pair in parallel for text in pair)
