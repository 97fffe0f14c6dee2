"""The report as files: readable without isoglot, and whole however far the study is."""

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import claims
from isoglot.report.figures.bars import transfer_picture
from isoglot.report.findings.published import published_measurements
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.page import rendering
from isoglot.report.page.section import SECTION_WORDS
from isoglot.report.report_files import read_report
from isoglot.report.writing import Other, write_report
from isoglot.store import Store
from isoglot.study.exhibit_names import Filters
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study
from tests.report.html_pages import Element, parsed_page
from tests.report.made_up_measurements import measured, measurement, scored, transferred, with_open_gates
from tests.report.svg_pictures import marks

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
FOUND = [
    *measured("default", [10.04, 80.0]),
    *measured("default", [1.0, 5.0], metric="retrieval_p1", variant=UNTRAINED),
    *measured("sep-emb", [11.0, 12.0]),
    *measured("sep-emb", [1.0, 2.0], metric="retrieval_p1", variant=UNTRAINED),
    measurement("default", 0.2, metric="retrieval_p1_chance"),
]
PARSING = partial(transferred, task="parsing", metric="las")
UNTRAINED_CKA = measured("default", [0.9, 0.8], metric="cka", exhibit="figure-7", variant=UNTRAINED)
TRANSFER = [
    *PARSING("default", {"ela": 91.0, "oru": 55.0}),
    *PARSING("default", {"ela": 93.0, "oru": 57.0}, seed=1),
    *transferred("default", {"ela": 93.0, "oru": 66.0}, task="parsing", metric="uas"),
    *PARSING("sep-emb-l1-6", {"ela": 90.0, "oru": 2.5}),
    *PARSING("default", {"ela": 20.0, "oru": 3.0}, variant=FROZEN),
]


def page_of(found: list[Measurement], folder: Path, *, study: Study = STUDY, **more: object) -> Element:
    path = write_report(study, found, store=Store(folder / "store"), **more).page
    return parsed_page(path.read_text(encoding="utf-8"))


def first_table(page: Element) -> Element:
    return page.by_id("table-1").find_all("table", class_="table-1")[0]


def row_of(page: Element, label: str) -> list[str]:
    (found,) = (row for row in first_table(page).rows() if row[0] == label)
    return found


def test_the_page_has_the_numbers_and_says_what_they_are(tmp_path: Path) -> None:
    page = page_of(FOUND, tmp_path)
    retrieval = page.by_id("retrieval")
    assert ["Default", "10.0", "80.0", "80.0", "5.0"] in retrieval.rows()
    assert ["Sep Emb", "11.0", "12.0", "12.0", "2.0"] in retrieval.rows()
    assert "Chance is 0.2%" in retrieval.text
    assert "4 layers of width 16, 10,240 tokens a model; seeds 0, 1" in page.text
    assert "scale.merges 200" in " ".join(page.by_id("provenance").text.split())


@pytest.mark.parametrize("found", [[], FOUND[:2], FOUND[2:4], FOUND[-1:], TRANSFER[:1], TRANSFER[-1:], UNTRAINED_CKA])
def test_a_study_hardly_begun_has_a_page_too(found: list[Measurement], tmp_path: Path) -> None:
    page = page_of(found, tmp_path, pending=cells(STUDY))
    assert page.find_all("h1")[0].text.startswith("tiny ")
    assert f"0 of {len(cells(STUDY))} results are there" in page.text
    assert cells(STUDY)[0].stage.title in page.by_id("missing").text


def test_what_the_table_alone_does_not_say_stands_below_it(tmp_path: Path) -> None:
    long = transferred("default", {"ela": 3.0, "oru": 12.0}, task="parsing", metric="in_parts")
    text = page_of([*TRANSFER, *long], tmp_path).by_id("table-1").text
    assert f"longer than a window of pretraining ({STUDY.scale.window} tokens)," in text
    assert "Models are named as in the paper, where they have 8 layers; these have 4." in text


def test_what_is_pending_or_failed_stands_where_its_number_would(tmp_path: Path) -> None:
    pending = [cell for cell in cells(STUDY) if cell.condition == "no-anchors"]
    assert row_of(page_of(TRANSFER, tmp_path, pending=pending), "No anchors")[6:] == ["pending", "-", "-"]
    failed = [cell for cell in pending if cell.task == "parsing"]
    reason = f"{failed[0].stage.title}: no room on the disk"
    page = page_of(TRANSFER, tmp_path, pending=failed[:1], failures=[reason])
    assert row_of(page, "No anchors")[6] == "failed"
    assert reason in page.by_id("missing").text
    assert all(section.id != "missing" for section in page_of(TRANSFER, tmp_path).find_all("section"))


def test_the_papers_delta_stands_beside_one_over_its_own_targets_alone(tmp_path: Path) -> None:
    """As in the tables beside the page."""
    papers = [each for each in published_measurements() if each.exhibit == TABLE_1 and each.task == "parsing"]
    for num_targets, shown in ((3, "+0.0 paper +0.0"), (1, "+0.0")):
        targets = ("fr", "ru", "zh")[:num_targets]
        page = page_of([each for each in papers if each.language in targets], tmp_path)
        assert row_of(page, "Default")[6 + num_targets] == shown
        assert page.by_id("table-1").find_all("button"), "by which it is put away"
    page = page_of(TRANSFER, tmp_path)
    assert "paper" not in first_table(page).text
    assert not page.by_id("table-1").find_all("button")


def test_only_conditions_that_an_exhibit_shows_are_told_of(tmp_path: Path) -> None:
    def told(only: Filters, *exhibits: str) -> list[str]:
        page = page_of(FOUND, tmp_path, study=replace(STUDY, only=only, exhibits=exhibits))
        return [row[0] for row in page.by_id("conditions").rows()[1:]]

    narrow = {"table-1": {"conditions": ("default",)}, "emergence": {"conditions": ("no-anchors",)}}
    assert told({}, "table-1") == [condition.label for condition in STUDY.conditions]
    assert told(narrow, "emergence") == ["No anchors"]
    assert told(narrow, "table-1", "emergence") == ["Default", "No anchors"]
    assert told(narrow, "emergence", "figure-5") == ["Default", "No anchors"], "of all it shows Default alone"


def test_a_condition_that_table_1_is_not_about_has_no_row_there(tmp_path: Path) -> None:
    only = {"table-1": {"conditions": ("default", "sep-emb-l1-6")}, "emergence": {"seeds": (0,)}}
    page = page_of(TRANSFER, tmp_path, study=replace(STUDY, only=only))
    labels = {row[0] for row in first_table(page).rows()}
    assert {"Default", "Sep Emb + L1-6"} <= labels
    assert "No anchors" not in labels
    assert "seeds 0, 1 (not all of them for emergence)" in page.text


def test_how_near_the_order_comes_to_the_papers_stands_below_table_1(tmp_path: Path) -> None:
    scores = {"default": 70.0, "no-anchors": 60.0, "sep-emb": 65.0, "sep-emb-l1-6": 3.0}
    found = scored(scores)
    section = page_of(found, tmp_path).by_id("table-1")
    assert ["NER", "0.80", "4", "oru"] in section.rows()
    assert "Spearman's rho with the paper's order of conditions: NER 0.80 (4 conditions; oru)." in section.text
    assert SECTION_WORDS["ranks"]["explanation"] in section.text
    assert "Spearman" not in page_of(found[1:], tmp_path).text, "three conditions are too few"


def test_bars_are_pale_where_every_condition_was_scored_without_pretraining() -> None:
    def floors(found: list[Measurement]) -> list[float | None]:
        conditions = ["default", "no-anchors", "sep-emb-l1-6"]
        picture = transfer_picture(list(transfer_scores(found)), conditions=conditions, missing=lambda *_: "pending")
        assert picture is not None
        assert ("pale" in picture.legend) == any(row.get("floor") for row in marks(picture))
        return [row.get("floor") for row in marks(picture)]

    # Default's alone would make its transfer look the smaller.
    assert floors(TRANSFER) == [None, None, None]
    first, second = (PARSING(name, {"oru": 2.0}, variant=UNTRAINED) for name in ("no-anchors", "sep-emb-l1-6"))
    assert floors([*TRANSFER, *first, *second]) == [3.0, None, 2.0]


def test_every_link_leads_to_a_file_or_a_place_on_the_page(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    stage = cells(STUDY)[-1].stage
    store.log_folder(stage).mkdir(parents=True)
    store.folder(stage).mkdir(parents=True)
    (store.folder(stage) / "record.json").touch()
    linked = [replace(each, stage=stage.digest) if each.condition == "sep-emb-l1-6" else each for each in TRANSFER]
    path = write_report(STUDY, [*FOUND, *linked], store=store).page
    page = parsed_page(path.read_text(encoding="utf-8"))
    places = {each.id for tag in ("section", "figure", "li") for each in page.find_all(tag)}
    addresses = [str(link.attributes["href"]) for link in page.find_all("a")]
    assert any(address.endswith("record.json") for address in addresses)
    assert "Each of them leads to the record of its artifact." in page.by_id("table-1").text
    for address in addresses:
        assert address[1:] in places if address.startswith("#") else (path.parent / address).exists(), address
        assert not Path(address).is_absolute()
    assert {"measurements.jsonl", "provenance.json", "table-1.csv", "figures/figure-3.svg"} <= {*addresses}


def test_runs_that_end_together_may_all_write_the_report(tmp_path: Path) -> None:
    def write(_: int) -> Path:
        return write_report(STUDY, FOUND, store=Store(tmp_path / "store")).page

    with ThreadPoolExecutor(4) as runs:
        (path,) = set(runs.map(write, range(8)))
    assert not list(path.parent.rglob("*.partial"))
    parsed_page(path.read_text(encoding="utf-8"))


def test_a_page_that_grows_too_large_loads_its_still_pictures_from_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = page_of(FOUND, tmp_path)
    assert [len(whole.find_all(tag)) for tag in ("svg", "img")] == [1, 0]
    assert len(whole.find_all("button", class_="png")) == 1
    monkeypatch.setattr(rendering, "MOST_BYTES", 10)
    smaller = page_of(FOUND, tmp_path / "smaller")
    assert not smaller.find_all("svg")
    # A picture from another file cannot be turned into pixels.
    assert not smaller.find_all("button", class_="png")
    assert [img.attributes["src"] for img in smaller.find_all("img")] == ["figures/retrieval.ela-oru.svg"]


def test_the_page_holds_all_that_its_charts_need(tmp_path: Path) -> None:
    path = write_report(STUDY, FOUND, store=Store(tmp_path / "store")).page
    page = parsed_page(path.read_text(encoding="utf-8"))
    data, script = page.find_all("script")
    charts = json.loads(str(data.children[0]))["charts"]
    assert {each.attributes["data-chart"] for each in page.find_all("div", class_="chart")} == set(charts)
    assert "vegaEmbed" in str(script.children[0])
    digest = b64encode(sha256(str(script.children[0]).encode()).digest()).decode()
    (policy,) = (each for each in page.find_all("meta") if "http-equiv" in each.attributes)
    assert f"script-src 'sha256-{digest}'" in str(policy.attributes["content"])
    without = write_report(STUDY, [], store=Store(tmp_path / "empty")).page
    assert without.stat().st_size < 100_000 < path.stat().st_size < rendering.MOST_BYTES


def test_what_differs_from_another_report_stands_on_the_page(tmp_path: Path) -> None:
    other = write_report(STUDY.replace(seeds=[0]), TRANSFER[:1], store=Store(tmp_path / "other")).page
    changed = [replace(TRANSFER[0], value=99.0), *TRANSFER[1:]]
    against = Other(name="<the other>", content=read_report(other.parent))
    section = page_of(changed, tmp_path, against=against).by_id("difference")
    assert section.find_all("h2")[0].text.startswith("Compared with <the other>")
    assert ["seeds", "0", "0, 1", ""] in section.rows()
    (row,) = (row for row in section.rows() if row[0] == "Default, ela-oru, Parsing las of ela")
    assert row[1:] == ["91.0", "96.0 (93-99)", "+5"]
    assert "are in one report alone" in section.text


def test_claims_stand_on_the_page_with_verdict_and_numbers(tmp_path: Path) -> None:
    measurements = with_open_gates(TRANSFER)
    section = page_of(measurements, tmp_path).by_id("claims")
    found = claims(measurements)
    assert {claim.verdict for claim in found} == {Verdict.AGREES, Verdict.NOT_TESTED}
    for claim in found:
        line = section.by_id(f"claim-{claim.key}").text
        assert all(" ".join(part.split()) in line for part in (claim.sentence, claim.numbers, claim.test, claim.source))
        contradicted = "The numbers that the paper itself prints disagree with this." in line
        assert contradicted is (claim.key in ("chance", "distance"))
        assert "The same test on the paper's numbers" + (" disagrees: " if contradicted else "") in line
        assert claim.word in line
    agreeing = section.by_id("claim-domain-modest").text
    assert "The same test on the paper's numbers agrees: Wiki-CC +49.3 keeps 94% of Default +52.6" in agreeing
    untested = sum(claim.verdict is Verdict.NOT_TESTED for claim in found)
    assert f"{untested} claims that this study does not test" in section.text


def test_a_page_shows_nothing_of_what_its_study_does_not_ask_for(tmp_path: Path) -> None:
    page = page_of(TRANSFER[-2:], tmp_path, study=STUDY.replace(exhibits=("baselines",)))
    rows = first_table(page).rows()
    assert [row[0] for row in rows if row[-1] == "20.0"] == ["Default, untrained and frozen"]
    assert not any(row[0] == "Default" for row in rows)
    assert "Figure 3" not in page.text
    page = page_of([], tmp_path, study=STUDY.replace(exhibits=["vocabulary"]))
    assert "no model was asked for" in page.text
    assert "tokens a model" not in page.text
    assert all(section.id != "claims" for section in page.find_all("section"))


def test_models_without_pretraining_are_folded_away_where_there_are_others(tmp_path: Path) -> None:
    nli = transferred("default", {"ela": 60.0, "oru": 50.0}, task="nli", metric="accuracy")
    section = page_of([*TRANSFER, *nli], tmp_path).by_id("table-1")
    first, second = section.find_all("table", class_="table-1")
    assert not any("untrained" in row[0] for row in first.rows())
    assert [row[0] for row in second.rows() if row[-1] == "20.0"] == ["Default, untrained and frozen"]
    # None of them learned NLI.
    assert "NLI" in first.text
    assert "NLI" not in second.text
    (folded,) = [each for each in section.find_all("details") if each.find_all("table", class_="table-1")]
    assert folded.text.startswith("The same models without pretraining")
