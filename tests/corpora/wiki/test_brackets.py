import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.corpora.wiki.dump import is_disambiguation
from isoglot.corpora.wiki.markup import paragraphs

DISAMBIGUATION = (
    "{{disambig}},{{Disambiguation|geo}},{{hndis|Ada}},{{Human name disambiguation}},{{ Homonymie }},__DISAMBIG__,"
    "{{Homonymie de personnes}},{{Begriffsklärung}},{{неоднозначность}},{{消歧义}},{{消歧義頁}}"
)
MENTIONS = "{{about|x||Mercury (disambiguation)}},{{disambiguation needed|date=May}},a disambig,{{dabbling}},{{x|dab}}"


def test_disambiguation_pages_are_known_by_their_template() -> None:
    for mark in DISAMBIGUATION.split(","):
        assert is_disambiguation(f"'''Mercury''' may mean:\n* [[a]]\n{mark}"), mark
    for mark in MENTIONS.split(","):
        assert not is_disambiguation(mark), mark


Marked = tuple[str, list[str]]
"""Wikitext, and the words of it that a reader sees."""
Wrapping = Callable[[Marked], Marked]
one_word = st.text("abcdexyz", min_size=2, max_size=6).map(lambda word: (f" {word} ", [word]))


def shown(before: str, after: str) -> Wrapping:
    return lambda inner: (before + inner[0] + after, inner[1])


def unseen(before: str, after: str) -> Wrapping:
    return lambda inner: (before + inner[0] + after, [])


TEMPLATES = [unseen("{{box|a=", "}}"), unseen("{{#if:", "\n|}}")]
IN_A_LINE = [
    *TEMPLATES,
    shown(" ''", "'' "),
    shown(" '''", "''' "),
    shown("<small class=a>", "</small>"),
    unseen("[[Datei:a b.jpg|thumb|", "]]"),
]
INNERMOST = [
    shown("[[Some (page)|", "]]"),
    shown("[http://a.org/b ", "]"),
    shown(" -{zh-hant:a;zh-hans:", "}- "),
    unseen("<ref name=d>", "</ref>"),
    unseen("<!--", "-->"),
    unseen("<math>", "</math>"),
]
TABLES = [unseen("\n{| class=c\n|-\n|", "\n|}\n"), unseen("<table><tr><td>", "</td></tr></table>")]
LINES = [shown("\n", "\n"), shown("\n\n", "\n"), unseen("\n== ", " ==\n"), unseen("\n* ", "\n"), unseen("\n#: ", "\n")]


def joined(parts: list[Marked]) -> Marked:
    return "".join(text for text, _ in parts), [word for _, words in parts for word in words]


def some(part: st.SearchStrategy[Marked]) -> st.SearchStrategy[Marked]:
    return st.lists(part, min_size=1, max_size=4).map(joined)


def wrapped(part: st.SearchStrategy[Marked], wrappings: list[Wrapping]) -> st.SearchStrategy[Marked]:
    return st.tuples(some(part), st.sampled_from(wrappings)).map(lambda drawn: drawn[1](drawn[0]))


inner = one_word | wrapped(one_word, IN_A_LINE + INNERMOST)
line = inner | wrapped(inner, IN_A_LINE)
table = wrapped(line, TABLES)
block = wrapped(line, LINES) | table | wrapped(line | table, TEMPLATES + TABLES)


@settings(deadline=None)
@given(some(block))
def test_the_words_of_well_nested_markup_are_kept_and_nothing_else(marked: Marked) -> None:
    wikitext, words = marked
    assert " ".join(paragraphs(wikitext)).split() == words


MARKS = (
    "[[ ]] {{ }} {{{ }}} {| |} | ''' '' -{ }- [ ] == <ref> </ref> <ref <!-- --> <nowiki> </nowiki> <table> <math> "
    "http:// [http:// &amp; &#1; __ * : ; ( ) , a zh-hans: __A_ {{lang| [[File:"
)
WITH_SPACES = ("\n{|", "\n|}", "\n==", "\n", "\n\n", " ")


@given(st.lists(st.sampled_from([*MARKS.split(), *WITH_SPACES]), max_size=60).map("".join) | st.text())
def test_any_text_and_mixture_of_marks_gives_tidy_lines_with_letters(wikitext: str) -> None:
    start = time.process_time()
    lines = paragraphs(wikitext)
    assert time.process_time() - start < 2
    for line in lines:
        assert line == " ".join(line.split())
        assert any(map(str.isalpha, line))


# On an idle machine each takes well under a second; what grows with the square of the page would take minutes.
REPEATED = ("{{", "[[", "<ref", "<!--", "( , ", ", ", "\n=", "[[a\n\n", "-{a;", "http://(", "{{}} [[")


@pytest.mark.parametrize(
    "page",
    [
        *(marks * 50_000 for marks in REPEATED),
        "[[a|" * 40_000 + "b]]" * 40_000,
        "{{nowrap|a" * 20_000 + "}}" * 20_000,
        "<ref>" * 40_000 + "</ref>",
        "[[" * 50_000 + "}} " * 50_000,
    ],
    ids=lambda page: repr(page[:9]),
)
def test_time_grows_no_faster_than_the_page(page: str) -> None:
    start = time.process_time()
    paragraphs(page)
    is_disambiguation(page)
    assert time.process_time() - start < 3
