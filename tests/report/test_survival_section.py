"""The first section of the page: a sentence that says it all, bars that are as long as they say, and what to doubt."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from isoglot.pipeline.cells import EMERGENCE, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.page.rendering import section_html
from isoglot.report.page.section import Place
from isoglot.report.page.survival_section import survival_section
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import FAILED, NO_DATA, PENDING
from isoglot.study.scales import DEMO
from tests.report.html_pages import Element, parsed_page
from tests.report.made_up_measurements import measured, scored

PAIR = ("ela", "oru")


def shown(
    *found: Measurement, absent: Mapping[Place, str] = MappingProxyType({}), **of_ner: float | tuple[float, ...]
) -> Element:
    """The section for these measurements, and for NER scores by condition and seed."""
    more = [
        each
        for name, scores in of_ner.items()
        for seed, score in enumerate(scores if isinstance(scores, tuple) else (scores,))
        for each in scored({name.replace("_", "-"): score}, seed=seed)
    ]
    section = survival_section(ReportScores([*found, *more]), scale=DEMO, absences=absent)
    assert section is not None
    return parsed_page(section_html(section))


def headline(page: Element) -> str:
    (found,) = page.find_all("p", class_="headline")
    return found.text


def test_the_sentence_names_every_condition_under_what_it_does() -> None:
    page = shown(default=80.0, no_anchors=78.0, sep_l1_3=70.0, sep_emb=40.0, sep_emb_l1_6=1.0)
    assert headline(page) == (
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
    longer = shown(default=40.0, extra_anchors=80.0, sep_emb=10.0).find_all("i", class_="left")
    assert [bar.attributes["style"] for bar in longer] == ["width:100.0%", "width:12.5%", "width:50.0%"]


def test_what_makes_shares_doubtful_is_said() -> None:
    assert "NER in oru (12.0 points)" in shown(default=12.0, no_anchors=9.0).text
    plain = shown(default=80.0, no_anchors=9.0).text
    assert "shares are rough" not in plain
    assert "One seed: another could" in plain
    assert "thin line" not in plain
    some = shown(default=(80.0, 82.0), no_anchors=78.0).text
    assert "One seed of No anchors: another could" in some
    assert "The thin line goes from the lowest seed to the highest." in some
    assert "seeds disagree: 25% to 75%" in shown(default=(80.0, 80.0), sep_emb=(20.0, 60.0)).text


def test_a_study_under_way_says_from_how_much_it_speaks() -> None:
    absent: dict[Place, str] = {
        (TABLE_1, "default", PAIR, "nli"): PENDING,
        (TABLE_1, "no-anchors", PAIR, "nli"): FAILED,
        (TABLE_1, "sep-emb", PAIR, "ner"): PENDING,
        (TABLE_1, "sep-emb", PAIR, "nli"): NO_DATA,
        ("figure-7", "default", PAIR, None): PENDING,
    }
    page = shown(absent=absent, default=80.0, no_anchors=78.0)
    assert headline(page).startswith("So far, from 2 of 5 scores: Transfer survives")
    # Said once, as it is so for all of them.
    assert not page.find_all("span", class_="lacking")
    assert "Not there for any condition yet: NLI in oru." in page.text
    some = {(TABLE_1, "sep-emb", PAIR, "ner"): PENDING}
    page = shown(absent=some, default=80.0, no_anchors=78.0, sep_emb=60.0)
    assert headline(page).startswith("So far, not with all seeds: ")
    assert not page.find_all("span", class_="lacking")
    # A study that is finished speaks plainly.
    page = shown(absent={(TABLE_1, "sep-emb", PAIR, "ner"): NO_DATA}, default=80.0, no_anchors=78.0)
    assert headline(page).startswith("Transfer survives")
    assert "without" not in page.find_all("div", class_="survival")[0].text


def test_tests_that_some_are_without_are_named_where_they_are_wanting() -> None:
    absent = {(TABLE_1, "no-anchors", PAIR, "nli"): PENDING}
    page = shown(*scored({"default": 90.0}, task="nli"), absent=absent, default=80.0, no_anchors=78.0)
    assert [each.text for each in page.find_all("span", class_="lacking")] == ["without NLI in oru"]
    assert "Not there" not in page.text
    absent = {(TABLE_1, "default", PAIR, "nli"): PENDING}
    text = shown(*scored({"no-anchors": 60.0}, task="nli"), absent=absent, default=80.0, no_anchors=78.0).text
    assert "Left out, as Default's own score is not there yet: NLI in oru." in text
    assert "Not there for any" not in text


def test_an_untrained_model_is_no_score_of_the_one_that_is_pending() -> None:
    found = [
        *measured("default", [10.0, 80.0]),
        *measured("no-anchors", [10.0, 70.0]),
        *(each for name in ("default", "no-anchors", "sep-emb") for each in measured(name, [5.0], variant=UNTRAINED)),
    ]
    page = shown(*found, absent={(EMERGENCE, "sep-emb", PAIR, None): PENDING})
    assert headline(page).startswith("So far, from 2 of 3 scores: Cross-lingual structure survives")


def test_what_default_reaches_without_pretraining_is_said_where_it_cannot_be_taken_off() -> None:
    of_default = scored({"default": 41.6}, variant=UNTRAINED)
    of_both = [*of_default, *scored({"no-anchors": 8.0}, variant=UNTRAINED)]
    told = "what Default reaches without pretraining, NER in oru (41.6 of 80.0)."
    for baselines, is_said in ([], False), (of_default, True), (of_both, False):
        assert (told in shown(*baselines, default=80.0, no_anchors=60.0).text) is is_said
