"""Sections: one axis for all pairs, notes and remarks that are said once, and names that stay text."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.line_charts import LineChart
from isoglot.report.figures.picture import NOT_IN_XML, Picture
from isoglot.report.findings.layer_scores import Line
from isoglot.report.findings.published import published_measurements
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.page.figure_sections import emergence_sections, figure_sections
from isoglot.report.page.section import Figure, Section
from isoglot.report.page.text_sections import claims_section, conditions_section
from isoglot.report.report_scores import ReportScores
from isoglot.study.searches import NewVectors
from isoglot.study.study_file import read_study
from tests.report.html_pages import Element, parsed_page, section_html
from tests.report.made_up_measurements import measured, with_open_gates
from tests.report.test_layer_figures import of_figure_6

MARK = re.compile(r'class="margin[^>]*left:([-\d.]+)%" title="[^"]*: ([-+\d.]+) times the noise">(.)</i>')
OF_TABLE_1 = [each for each in published_measurements() if each.exhibit == TABLE_1]


def parsed(section: Section) -> Element:
    return parsed_page(section_html(section))


def test_names_and_settings_of_conditions_are_explained() -> None:
    text = parsed(conditions_section(read_study("demo").replace(exhibits=["emergence"]))).text
    assert "0*: each language has embeddings of its own" in text
    assert "Models are named as in the paper, where they have 8 layers; these have 4." in text
    alone = read_study("demo").replace(exhibits=["emergence"], conditions=["default"])
    assert "0*" not in parsed(conditions_section(alone)).text


def test_pairs_of_one_figure_have_one_axis() -> None:
    low = [replace(each, value=each.value / 10) for each in of_figure_6(("en", "zh"))]
    (section,) = figure_sections([*of_figure_6(), *low], new_vectors=NewVectors.CENTRED)
    first, second = (picture.charts[0]["layer"][0]["encoding"]["y"]["scale"]["domain"] for picture in section.pictures)
    assert first == second
    assert first[1] > 80


def test_models_of_one_seed_are_named_below_means_of_others() -> None:
    found = [
        each
        for condition, seeds in (("default", (0, 1)), ("sep-emb", (0,)))
        for seed in seeds
        for variant in (None, UNTRAINED)
        for each in measured(condition, [1.0, 2.0 + seed], variant=variant, seed=seed)
    ]
    means = "Means over seeds; thin lines go from the lowest seed to the highest."
    (section,) = emergence_sections(found, is_made_up=False)
    assert f"{means} Of one seed: Sep Emb." in parsed(section).text
    (section,) = emergence_sections([each for each in found if each.condition == "default"], is_made_up=False)
    assert means in parsed(section).text
    assert "Of one seed" not in parsed(section).text
    (section,) = emergence_sections([each for each in found if each.seed == 0], is_made_up=False)
    assert "Means over seeds" not in parsed(section).text


def figure(name: str, *notes: str) -> Figure:
    picture = Picture(name=name, title=name, charts=(), chart_width=1)
    return Figure(picture, notes=notes)


def test_a_note_of_all_is_said_once_and_others_stay_with_their_picture() -> None:
    figures = [figure("fr", "of all", "9 pairs"), figure("ru", "of all", "8 pairs")]
    page = parsed(Section(anchor="figure-6", figures=figures))
    (side_by_side,) = page.find_all("div", class_="beside")
    assert page.text.count("of all") == 1
    assert "of all" not in side_by_side.text
    assert "9 pairs" in page.by_id("picture-fr").text
    assert "8 pairs" in page.by_id("picture-ru").text
    # Each picture is one place of the grid, with all that stands below it.
    first, second = (child.text for child in side_by_side.children if isinstance(child, Element))
    assert "9 pairs" in first
    assert "8 pairs" in second
    # One alone keeps its notes and the whole width.
    page = parsed(Section(anchor="figure-6", figures=figures[:1]))
    assert page.find_all("div", class_="beside") == []
    assert "of all" in page.by_id("picture-fr").text


@given(st.text())
def test_whatever_a_name_holds_is_text_on_the_page(text: str) -> None:
    for name in (text, f"<script>{text}</script>", f'"><img src=x onerror={text}>', f"&lt;{text}'"):
        chart = LineChart(title="", y_title="", series=[Line.of(name, [])], caption=name, columns={name: [name]})
        shown = replace(figure("fr", name), charts=[chart])
        page = parsed(Section(anchor="figure-6", title=name, figures=[shown]))
        # What a browser does to spaces and the ends of lines it does to all text.
        expected = " ".join(NOT_IN_XML.sub("\ufffd", name).split())
        (row,) = page.find_all("tbody")[0].rows()
        assert row == [expected, expected]
        assert len(page.find_all("img")) == 1, "the picture"
        assert not page.find_all("script")


def claims_html(*scores: tuple[Measurement, int]) -> str:
    return section_html(claims_section(with_seeds(*scores)))


def with_seeds(*scores: tuple[Measurement, int]) -> ReportScores:
    """Scores that each have so many seeds, which lie 4 points apart."""
    found = [replace(each, seed=seed, value=each.value + 4.0 * seed) for each, seeds in scores for seed in range(seeds)]
    return ReportScores(with_open_gates(found))


def test_few_seeds_have_no_colour_and_noise_is_told_once() -> None:
    body = claims_html(*((each, 2) for each in OF_TABLE_1))
    assert body.count("Noise is 8.2 points for two single scores, in place of 3") == 1
    # All of the paper's 90 but one: NER in zh under Sep Emb + L1-6, 1.0 and 5.0 here, is no transfer.
    assert (
        "(89 scores of several seeds that show transfer; each condition has its own, drawn towards that of all)" in body
    )
    assert "agrees in these two runs" in body
    assert 'class="chip agrees"' not in body
    # Where claims stand on different seeds, each of few says so.
    body = claims_html(*((each, 1 if each.condition == "wiki-cc" else 3) for each in OF_TABLE_1))
    lines = {line.split('"')[0]: line for line in body.split('id="claim-')[1:]}
    assert " in this run</span>" in lines["domain-modest"]
    assert '<span class="chip agrees">' in lines["no-anchors-transfer"]
    assert "this run" not in lines["no-anchors-transfer"]
    assert "this run" not in claims_html()


def test_each_comparison_of_a_claim_is_a_mark_by_its_margin() -> None:
    scores = with_seeds(*((each, 2) for each in OF_TABLE_1))
    lines = section_html(claims_section(scores)).split('id="claim-')
    drawn = {line.split('"')[0]: MARK.findall(line) for line in lines[1:]}
    symbols = {Verdict.AGREES: "●", Verdict.DISAGREES: "✕", Verdict.TOO_CLOSE: "≈"}
    found = {claim.key: claim.margins for claim in scores.claims}
    assert drawn == {
        key: [
            (f"{50 + max(-3, min(3, each.noises)) / 6.4 * 100:.1f}", f"{each.noises:+.1f}", symbols[each.verdict])
            for each in margins
        ]
        for key, margins in found.items()
    }
    # Who cannot hover finds them in a list, which is unfolded on paper.
    for key, margins in found.items():
        (line,) = [line for line in lines if line.startswith(f'{key}"')]
        listed = line.partition('<details class="on-paper">')[2].partition("</ul>")[0]
        assert [f"{each.noises:+.1f} times the noise</li>" in listed for each in margins] == [True] * len(margins)
        assert (f'aria-label="{len(margins)} comparisons, listed under the claim"' in line) is bool(margins)
    marks = [each for margins in found.values() for each in margins]
    assert {each.verdict for each in marks} == {*symbols}
    for each in marks:
        assert {Verdict.AGREES: each.noises > 1, Verdict.DISAGREES: each.noises < -1}.get(each.verdict, True)
