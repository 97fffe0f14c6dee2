"""Rules on many lines at once give what re.sub gives line by line."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isoglot.corpora.splitters.moses import LONGEST_REMEMBERED, Rule, local_rewriting, rewriting

RULES: list[Rule] = [
    (" +", " "),
    ("a", "bb"),
    (r"\(", " ("),
    (r"\.b", "."),
    (r"\r", ""),
    (r"(\d) %", r"\g<1>%"),
    (r"\) ([ab.])", r")\1"),
    (r'(\.+)"(\s*[^<])', r'"\1\2'),
    (r"b\s*", "."),
    (r"([^a])", r"<\1>"),
    (r"a\.+b", "X"),
    ("a*b", "X"),
    # Nothing is known of what these need; they must still match what they match.
    ("a|b", "X"),
    ("(ab)*1", "X"),
    ("(ab)?1", "X"),
    ("a?b", "X"),
    ("a{2}", "X"),
    ("^a", "X"),
    ("b$", "X"),
    (r"\ba", "X"),
    (".%", "X"),
    (re.compile(r"(a)b"), r"\1"),
    ("a", r"\\"),
]
CHARACTERS = "aaabb1   %().\"<\r'\u00a0,"
LINES = st.lists(st.text(st.sampled_from(CHARACTERS), max_size=12), min_size=1, max_size=6)

NEIGHBOUR_RULES: list[Rule] = [
    (r"([^a])'([^a])", r"\1 ' \2"),
    (r"([^a1])'(a)", r"\1 ' \2"),
    (r"(a)'([^a])", r"\1 ' \2"),
    (r"(a)'(a)", r"\1 '\2"),
]
COMMA_RULES: list[Rule] = [(r"([^1]),", r"\1 , "), (r",([^1])", r" , \1"), (r"(1),$", r"\1 , ")]


def line_by_line(lines: list[str], *, rules: list[Rule]) -> list[str]:
    for pattern, template in rules:
        lines = [re.sub(pattern, template, line) for line in lines]
    return lines


def framed(lines: list[str]) -> str:
    return "".join(f"\n{line}" for line in lines) + "\n"


@pytest.mark.parametrize("rule", RULES, ids=str)
@settings(max_examples=40)
@given(lines=LINES)
@example(lines=["a   b", '..".."..a..".<', '."<..."  '])
def test_one_rule(rule: Rule, lines: list[str]) -> None:
    assert rewriting([rule])(framed(lines)) == framed(line_by_line(lines, rules=[rule]))


@pytest.mark.parametrize(
    ("rules", "marks", "characters"),
    [(NEIGHBOUR_RULES, "'(?:[^\n]?')*", "''aab1 "), (COMMA_RULES, ",,*", ",,a11 ")],
    ids=["apostrophes", "commas"],
)
@settings(max_examples=150)
@given(data=st.data())
def test_rules_about_neighbours(rules: list[Rule], marks: str, characters: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.text(st.sampled_from(characters), max_size=LONGEST_REMEMBERED + 6), min_size=1))
    assert local_rewriting(rules, marks=marks)(framed(lines)) == framed(line_by_line(lines, rules=rules))
