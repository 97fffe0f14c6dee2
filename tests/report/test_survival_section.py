"""The first section of the page: a sentence that says it all, bars that are as long as they say, and what to doubt."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from isoglot.pipeline.cells import EMERGENCE, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.page.section import Place
from isoglot.report.page.survival_section import survival_section
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import FAILED, NO_DATA, PENDING
from isoglot.study.scales import DEMO
from tests.report.html_pages import Element, parsed_page, section_html
from tests.report.made_up_measurements import measured, scored, with_open_gates

PAIR = ("ela", "oru")


def shown(
    *found: Measurement, absent: Mapping[Place, str] = MappingProxyType({}), **of_ner: float | tuple[float, ...]
) -> Element:
    """The section for these measurements, and for NER scores by condition and seed whose gates are open."""
    more = [
        each
        for name, scores in of_ner.items()
        for seed, score in enumerate(scores if isinstance(scores, tuple) else (scores,))
        for each in scored({name.replace("_", "-"): score}, seed=seed)
    ]
    section = survival_section(ReportScores([*found, *with_open_gates(more)]), scale=DEMO, absences=absent)
    assert section is not None
    return parsed_page(section_html(section))


def headline(page: Element) -> str:
    (found,) = page.find_all("p", class_="headline")
    return found.text


def test_the_sentence_names_every_condition_under_what_it_does() -> None:
    scores = {"default": 80.0, "no_anchors": 78.0, "sep_l1_3": 70.0, "sep_emb": 40.0, "sep_emb_l1_6": 1.0}
    page = shown(**{name: (score,) * 3 for name, score in scores.items()})
    assert headline(page) == (
        "Transfer survives ● under No anchors and Sep L1-3 . It suffers ◐ under Sep Emb . "
        "It dies ✕ under Sep Emb + L1-6 ."
    )
    groups = page.find_all("div", class_="outcome")
    assert [group.find_all("b")[0].text for group in groups] == ["No anchors", "Sep Emb", "Sep Emb + L1-6", "Default"]
    assert [span.attributes.get("class") for span in page.find_all("p", class_="headline")[0].find_all("span")] == [
        *("survives", "suffers", "dies")
    ]
    assert "Trained on" in page.text
    assert "% of the paper's 82G. What dies here may only be late" in page.text
    assert "late" not in shown(default=(80.0,) * 3, no_anchors=(78.0,) * 3).text


def test_few_seeds_are_of_these_runs_and_have_no_colours() -> None:
    page = shown(default=(80.0, 80.0), no_anchors=(78.0, 79.0), sep_emb=(2.0, 1.0))
    assert headline(page).startswith("In these two runs, transfer survives ● under No anchors . It dies ✕ under")
    assert not any(page.find_all("div", class_=f"outcome {outcome}") for outcome in ("survives", "dies"))
    assert not any(page.find_all("span", class_=outcome) for outcome in ("survives", "dies"))
    assert "Fewer than three seeds: another run could put" in page.text
    assert headline(shown(default=80.0, no_anchors=78.0)).startswith("In this run, transfer survives")
    assert "Fewer than three seeds" not in shown(default=(80.0,) * 3, no_anchors=(78.0,) * 3).text


def test_bars_are_as_long_as_their_points_on_an_axis_that_ends() -> None:
    page = shown(default=77.0, no_anchors=68.0, sep_emb=40.0, sep_emb_l1_6=-4.0)
    lengths = [float(re.sub("[^0-9.]", "", str(bar.attributes["style"]))) for bar in page.find_all("i", class_="left")]
    assert lengths == [85.0, 50.0, 0.0, 96.2], "of 80 points"
    assert "80 points" in page.text
    assert [each.text for each in page.find_all("span", class_="share")] == [
        "88% of Default's",
        "52% of Default's",
        "-5% of Default's",
    ]
    # A floor that is near Default's score makes no ratio of hundreds of percent.
    found = [
        *with_open_gates(scored({"default": 57.0}), untrained=55.0),
        *with_open_gates(scored({"no-anchors": 47.0}), untrained=2.0),
    ]
    page = shown(*found)
    assert headline(page).startswith("No verdict : pretraining lifts Default above its floor by no more than noise")
    assert not page.find_all("span", class_="share")
    assert "Default +2.0 points, floor 55.0 (untrained)" in page.text


def test_what_a_verdict_lacks_is_said_with_the_way_to_it() -> None:
    page = shown(*scored({"default": 80.0, "no-anchors": 60.0}))
    assert headline(page) == (
        'No verdict : models were not scored without pretraining (add "baselines" to the exhibits of the study, for '
        "all its tasks)."
    )
    assert "No verdict, as models were not scored without pretraining: NER in oru. What to do: " in page.text
    assert not page.find_all("div", class_="survives")
    assert "10% of the way from its floor to 100, or 90." in page.text


def test_a_study_under_way_says_from_how_much_it_speaks() -> None:
    absent: dict[Place, str] = {
        (TABLE_1, "default", PAIR, "nli"): PENDING,
        (TABLE_1, "no-anchors", PAIR, "nli"): FAILED,
        (TABLE_1, "sep-emb", PAIR, "ner"): PENDING,
        (TABLE_1, "sep-emb", PAIR, "nli"): NO_DATA,
        ("figure-7", "default", PAIR, None): PENDING,
    }
    page = shown(absent=absent, default=80.0, no_anchors=78.0)
    assert headline(page).startswith("So far, from 2 of 5 scores: In this run, transfer survives")
    # Said once, as it is so for all of them.
    assert not page.find_all("span", class_="lacking")
    assert "Not there for any condition yet: NLI in oru." in page.text
    some = {(TABLE_1, "sep-emb", PAIR, "ner"): PENDING}
    page = shown(absent=some, default=80.0, no_anchors=78.0, sep_emb=60.0)
    assert headline(page).startswith("So far, not with all seeds: ")
    assert not page.find_all("span", class_="lacking")
    # A study that is finished speaks plainly.
    page = shown(absent={(TABLE_1, "sep-emb", PAIR, "ner"): NO_DATA}, default=80.0, no_anchors=78.0)
    assert headline(page).startswith("In this run, transfer survives")
    assert "without" not in page.find_all("div", class_="survival")[0].text


def test_tests_that_some_are_without_are_named_where_they_are_wanting() -> None:
    absent = {(TABLE_1, "no-anchors", PAIR, "nli"): PENDING}
    nli = with_open_gates(scored({"default": 90.0}, task="nli"))
    page = shown(*nli, absent=absent, default=80.0, no_anchors=78.0)
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
    assert headline(page).startswith("So far, from 2 of 3 scores: In this run, cross-lingual structure survives")
