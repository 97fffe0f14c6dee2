"""The page in a real browser: it opens from disk, asks for nothing, says its numbers, and all its links work."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copy, which
from typing import Any

import pytest
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.exhibits import cells
from isoglot.report.writing import write_report
from isoglot.store import Store
from isoglot.study.study_file import parse_study
from tests.report.made_up_measurements import measured, transferred, with_open_gates
from tests.report.test_layer_figures import of_figure_7

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: make setup brings it", exc_type=ImportError
)
CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")

MARKUP = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
DESK, PHONE = (1280, 900), (390, 844)
ROOT = Path(__file__).parents[2]
PATIENCE = 120_000
"""Milliseconds, for a machine that is busy."""
STUDY = parse_study(TINY_STUDY, origin=f"tiny.toml {MARKUP}")
RETRIEVED = [
    *measured("default", [10.0, 80.5]),
    *measured("default", [1.0, 5.0], variant=UNTRAINED),
    *measured("no-anchors", [10.0, 30.0]),
    *measured("no-anchors", [1.0, 5.0], variant=UNTRAINED),
]
FOUND = [
    *with_open_gates(
        [
            each
            for seed, gain in ((0, 0.0), (1, 4.0), (2, 2.0))
            for name, score in (("default", 60.0), ("no-anchors", 50.0), ("sep-emb-l1-6", 1.0))
            for each in transferred(name, {"oru": score + gain}, task="parsing", metric="las", seed=seed)
        ]
    ),
    *RETRIEVED,
    *of_figure_7(),
    # A word of the user's that comes into the page's text, tables and pictures.
    *(replace(each, languages=("ela", MARKUP), language=MARKUP) for each in RETRIEVED[:4]),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, timeout=PATIENCE)
        yield found
        found.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = Store(tmp_path_factory.mktemp("page") / "store")
    # With a record and a log to link to.
    stage = cells(STUDY)[-1].stage
    for folder in (store.log_folder(stage), store.folder(stage)):
        folder.mkdir(parents=True)
    (store.folder(stage) / "record.json").touch()
    found = [replace(each, stage=stage.digest) if each.condition == "sep-emb-l1-6" else each for each in FOUND]
    return write_report(STUDY, found, store=store, failures=[f"words of de: {MARKUP}"]).page


@contextmanager
def opened(browser: Any, path: Path, size: tuple[int, int] = DESK, **how: Any) -> Iterator[Any]:
    """The page; in the end there must have been no error and no request but for the page itself.

    A page that is too large to hold its pictures asks for those beside it.
    """
    beside = [f"{path.parent.as_uri()}/figures/"] if 'src="figures/' in path.read_text() else []
    its_own = ("data:image/svg+xml,", *beside)
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **how)
    page.set_default_timeout(PATIENCE)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    try:
        yield page
        assert [each for each in troubles if not each.startswith(its_own)] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    finally:
        page.close()


def drawn(page: Any) -> Any:
    """The charts of retrieval, once they are there."""
    page.locator("#retrieval").scroll_into_view_if_needed()
    charts = page.locator("#retrieval .chart svg")
    charts.first.wait_for()
    return charts


def test_it_opens_from_disk_draws_its_charts_and_fits_a_phone(browser: Any, path: Path) -> None:
    with opened(browser, path, PHONE, color_scheme="dark") as page:
        assert page.title() == "tiny: ela and oru"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert all(chart.bounding_box()["width"] > 300 for chart in drawn(page).all())
        assert not page.locator("#retrieval .still").first.is_visible()
        page.locator("#retrieval [aria-roledescription='point']").first.hover(force=True)
        assert page.locator("#vg-tooltip-element").inner_text().startswith("Model")


@pytest.mark.parametrize("size", [DESK, pytest.param(PHONE, marks=pytest.mark.campaign)])
def test_every_picture_is_saved_as_png_without_a_file_beside_the_page(
    browser: Any, path: Path, size: tuple[int, int], tmp_path: Path
) -> None:
    alone = Path(copy(path, tmp_path / path.name))
    with opened(browser, alone, size) as page:
        page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        assert page.locator("button.png").count() == page.locator("figure").count() > 2
        for figure in page.locator("figure").all():
            button = figure.locator("button.png")
            # Not by the mouse: charts that are drawn late move the button away from under it.
            with page.expect_download() as saved:
                button.dispatch_event("click")
            assert saved.value.suggested_filename == f"{button.get_attribute('data-name')}.png"
            content = saved.value.path().read_bytes()
            drawing = figure.locator(".still svg")
            size_of_drawing = [float(drawing.get_attribute(side)) for side in ("width", "height")]
            # The header of a PNG has its width and height.
            assert [int.from_bytes(content[place : place + 4]) for place in (16, 20)] == [
                2 * round(side) for side in size_of_drawing
            ]
            assert len(content) > 5000, "a blank canvas"


@pytest.mark.campaign
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_largest_published_page_never_scrolls_sideways(browser: Any, size: tuple[int, int]) -> None:
    with opened(browser, ROOT / "results" / "replication" / "report.html", size) as page:
        page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        assert page.locator(".table-1").count() > 1
        for section in page.locator("section").all():
            section.scroll_into_view_if_needed()
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], section.get_attribute("id")
        # A legend of several rows is seen to its end.
        page.locator("#figure-5").scroll_into_view_if_needed()
        page.locator("#figure-5 .chart .role-legend-label").last.wait_for()
        rows = set()
        for chart in page.locator("#figure-5 .chart svg").all():
            end = chart.bounding_box()["y"] + chart.bounding_box()["height"]
            entries = [each.bounding_box() for each in chart.locator(".role-legend-label text").all()]
            assert len(entries) == 5
            assert all(entry["y"] + entry["height"] <= end + 1 for entry in entries)
            rows.add(len({entry["y"] for entry in entries}))
        assert max(rows) > 1


@pytest.mark.campaign
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_it_says_first_what_keeps_transfer_alive_in_the_colours_of_the_theme(
    browser: Any, path: Path, size: tuple[int, int]
) -> None:
    with opened(browser, path, size, color_scheme="light") as page:
        headline = page.locator(".headline")
        # No one suffers.
        assert headline.inner_text() == "Transfer survives ● under No anchors. It dies ✕ under Sep Emb + L1-6."
        box = headline.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < size[1]
        drawn(page)
        for scheme, line in (("light", "#0060a8"), ("dark", "#5ab4ff"), ("light", "#0060a8")):
            page.emulate_media(color_scheme=scheme)
            page.locator(f"#retrieval .chart svg [stroke='{line}']").first.wait_for(state="attached")


@pytest.mark.campaign
def test_table_1_has_the_right_cells_and_names_show_as_text(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        rows = page.locator("table.table-1 tr").all()
        cells = {row.locator("th").first.inner_text(): row.locator("td.score, td.delta").all() for row in rows}
        default, lost = cells["Default"], cells["Sep Emb + L1-6"]
        assert default[0].locator(".mean").inner_text() == "62.0"
        assert default[0].locator(".seeds").inner_text() == "60.0 64.0 62.0"
        assert lost[1].locator(".mean").inner_text() == "-59.0"
        assert lost[0].locator(".mean").evaluate("each => getComputedStyle(each).textDecorationLine") == "line-through"
        drawn(page)
        assert page.title() == "tiny: ela and oru"
        assert page.locator("img").count() == 0
        assert MARKUP in page.locator("#missing").inner_text()
        assert "<script>" in page.locator("#retrieval").inner_text()
        assert MARKUP in page.locator("#provenance").inner_text()


@pytest.mark.campaign
def test_lines_are_picked_and_the_papers_numbers_put_away_and_back(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        share, switch = page.locator("#survival span.published").first, page.locator("#claims button[data-switch]")
        assert share.is_visible()
        switch.click()
        assert not share.is_visible()
        assert page.locator("#survival button[data-switch]").get_attribute("aria-pressed") == "false"
        switch.focus()
        page.keyboard.press("Enter")
        assert share.is_visible()
        drawn(page)
        figure = page.locator("#retrieval figure").first
        lines = figure.locator("[aria-roledescription='line mark']")
        assert [line.get_attribute("opacity") for line in lines.all()] == ["1", "1"]
        figure.locator(".role-legend-label text").first.click(force=True)
        page.wait_for_function("document.querySelectorAll(\"#retrieval path[opacity='0.06']\").length > 0")
        assert [line.get_attribute("opacity") for line in lines.all()] == ["1", "0.06"]


@pytest.mark.campaign
def test_it_works_without_a_script_and_prints(browser: Any, path: Path) -> None:
    with opened(browser, path, java_script_enabled=False) as page:
        assert page.locator("#survival span.published").first.is_visible()
        assert not page.locator("button.switch").first.is_visible()
        assert page.locator("#retrieval .still svg").first.is_visible()
        page.locator("#retrieval summary").first.click()
        assert page.locator("#retrieval table").first.is_visible()
    with opened(browser, path, color_scheme="dark") as page:
        drawn(page)
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
        assert page.locator("#retrieval .still svg").first.is_visible()
        assert not page.locator("#retrieval .chart").first.is_visible()
