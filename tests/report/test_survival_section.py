"""The first section of the page: a sentence that says it all, bars that are as long as they say, and what to doubt."""

import re

from isoglot.report.html.survival_section import survival_section
from isoglot.scales import DEMO
from tests.report.html_pages import Element, parsed_page
from tests.report.made_up_measurements import transferred


def shown(**scores: float) -> Element:
    """Of NER scores by condition."""
    found = [each for name, score in scores.items() for each in transferred(name.replace("_", "-"), {"oru": score})]
    section = survival_section(found, scale=DEMO)
    assert section is not None
    return parsed_page(section.html())


def test_the_sentence_names_every_condition_under_what_it_does() -> None:
    page = shown(default=80.0, no_anchors=78.0, sep_l1_3=70.0, sep_emb=40.0, sep_emb_l1_6=1.0)
    (headline,) = page.find_all("p", class_="headline")
    assert headline.text == (
        "Transfer survives ● under No anchors and Sep L1-3 . It suffers ◐ under Sep Emb . "
        "It dies ✕ under Sep Emb + L1-6 ."
    )
    groups = page.find_all("div", class_="outcome")
    assert [group.find_all("b")[0].text for group in groups] == ["No anchors", "Sep Emb", "Sep Emb + L1-6", "Default"]


def test_bars_are_as_long_as_their_share() -> None:
    page = shown(default=80.0, no_anchors=92.0, sep_emb=40.0, sep_emb_l1_6=-4.0)
    lengths = [float(re.sub("[^0-9.]", "", str(bar.attributes["style"]))) for bar in page.find_all("i", class_="left")]
    assert lengths == [92.0, 40.0, 0.0, 80.0]
    assert "115%" in page.text
    assert "-5%" in page.text


def test_what_makes_shares_doubtful_is_said() -> None:
    assert "NER in oru (12.0 points)" in shown(default=12.0, no_anchors=9.0).text
    assert "shares are rough" not in shown(default=80.0, no_anchors=9.0).text
    assert "One seed" in shown(default=80.0, no_anchors=9.0).text
