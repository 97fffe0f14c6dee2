"""Departures are found in the code, all of them and with all they say."""

import re
from pathlib import Path

from isoglot.report.study_settings import departures, marked_sentences

ROOT = Path(__file__).parents[2]
MARKED = """
class A:
    # Departure: one sentence,
    # in two lines.
    b = 1  # Departure: is no comment of its own
    # A reason.
    # Departure: first.
    # Departure: second; so
    c = 2
# Departure: last."""


def test_a_sentence_goes_to_the_end_of_its_comment() -> None:
    assert list(marked_sentences(MARKED)) == ["one sentence, in two lines.", "first.", "second; so", "last."]


def test_every_departure_that_is_argued_is_listed_and_no_other() -> None:
    argued = re.findall(r"^\*\*`(isoglot/[\w/]+\.py)`\*\*", (ROOT / "docs/departures.md").read_text(), re.MULTILINE)
    assert sorted(each.file for each in departures()) == sorted(argued)
    assert all(re.search(r"\.$", each.sentence) for each in departures())
    assert len({each.sentence for each in departures()}) > 60
