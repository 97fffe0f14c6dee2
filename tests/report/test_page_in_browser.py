"""The page in a real browser: it opens from disk, asks for nothing, says its numbers, and shows names as text."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.report.writing import write_report
from isoglot.store import Store
from isoglot.study.study import parse_study
from tests.report.made_up_measurements import measured, transferred
from tests.report.test_layer_figures import of_figure_7

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: make setup brings it", exc_type=ImportError
)
CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")

MARKUP = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
DESK, PHONE = (1280, 900), (390, 844)
PATIENCE = 120_000
"""Milliseconds, for a machine that is busy."""
STUDY = parse_study(TINY_STUDY, origin=f"tiny.toml {MARKUP}")
FOUND = [
    *(
        measurement
        for seed, gain in ((0, 0.0), (1, 4.0))
        for condition, score in (("default", 60.0), ("no-anchors", 50.0), ("sep-emb-l1-6", 1.0))
        for measurement in transferred(
            condition, {"ela": 90.0, "oru": score + gain}, task="parsing", metric="las", seed=seed
        )
    ),
    *measured("default", [10.0, 80.5]),
    *measured("default", [1.0, 5.0], metric="retrieval_p1" + UNTRAINED),
    *measured("no-anchors", [10.0, 30.0]),
    *measured("no-anchors", [1.0, 5.0], metric="retrieval_p1" + UNTRAINED),
    *of_figure_7(),
    # A word of the user's that comes into the page's text, tables and pictures.
    *(replace(each, languages=("ela", MARKUP), language=MARKUP) for each in measured("default", [3.0, 4.0])),
    *(
        replace(each, languages=("ela", MARKUP), language=MARKUP)
        for each in measured("default", [1.0, 2.0], metric="retrieval_p1" + UNTRAINED)
    ),
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
    return write_report(STUDY, FOUND, store=store, failures=[f"words of de: {MARKUP}"]).page


@contextmanager
def opened(browser: Any, path: Path, size: tuple[int, int] = DESK, **how: Any) -> Iterator[Any]:
    """The page; in the end there must have been no error and no request but for the page itself."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **how)
    page.set_default_timeout(PATIENCE)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url) if request.url != path.as_uri() else None)
    page.goto(path.as_uri())
    try:
        yield page
        assert [each for each in troubles if not each.startswith("data:image/svg+xml,")] == []
    finally:
        page.close()


def bring_into_view(page: Any, mark: Any) -> None:
    """And wait until the page has heard of it, with a frame to come, and has put away what it showed."""
    mark.scroll_into_view_if_needed()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_without_errors_or_requests_and_fits(
    browser: Any, path: Path, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, path, size, color_scheme=scheme) as page:
        assert page.title() == "tiny: ela and oru"
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        # One of the two drawings of each figure is shown, and its letters can be read.
        shown = page.locator("#retrieval svg:visible").all()
        assert len(shown) == 2
        size_of_text = "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width * 13"
        assert all(svg.evaluate(size_of_text) > 9 for svg in shown)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_what_keeps_transfer_alive_is_on_the_first_screen(browser: Any, path: Path, size: tuple[int, int]) -> None:
    with opened(browser, path, size) as page:
        headline = page.locator(".headline")
        assert headline.inner_text() == (
            "Transfer survives ● under No anchors. It dies ✕ under Sep Emb + L1-6."  # no one suffers
        )
        box = headline.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < size[1]


def test_table_1_has_the_right_cells(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        rows = page.locator("table.table-1 tr").all()
        cells = {row.locator("th").first.inner_text(): row.locator("td.score, td.delta").all() for row in rows}
        default, lost = cells["Default"], cells["Sep Emb + L1-6"]
        assert default[0].locator(".mean").inner_text() == "62.0"
        assert default[0].locator(".seeds").inner_text() == "60.0 64.0"
        assert lost[1].locator(".mean").inner_text() == "-59.0"
        assert lost[0].locator(".mean").evaluate("each => getComputedStyle(each).textDecorationLine") == "line-through"


def test_notes_of_settings_are_hidden_with_their_columns(browser: Any, path: Path) -> None:
    for size, shown in ((DESK, True), (PHONE, False)):
        with opened(browser, path, size) as page:
            assert page.locator(".table-1 td.setting").first.is_visible() is shown
            assert page.get_by_text("A dash in the left half").is_visible() is shown
            assert page.locator("#table-1 > ul").first.is_visible()


def test_a_figure_answers_to_hover_touch_and_keys(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        tooltip = page.locator("#tooltip")
        mark = page.locator("#retrieval [data-said='Default, L1: 80.5%']:visible").first
        bring_into_view(page, mark)
        assert not tooltip.is_visible()
        box = mark.bounding_box()
        assert box is not None
        # Near is enough.
        page.mouse.move(box["x"] + box["width"] + 6, box["y"] + 2)
        assert tooltip.inner_text() == "Default, L1: 80.5%"
        page.mouse.move(5, 5)
        assert not tooltip.is_visible()
        page.locator("#retrieval svg:visible").first.focus()
        page.keyboard.press("ArrowRight")
        first = tooltip.inner_text()
        page.keyboard.press("ArrowRight")
        assert tooltip.is_visible()
        assert tooltip.inner_text() != first
        page.keyboard.press("Escape")
        assert not tooltip.is_visible()
    with opened(browser, path, PHONE, has_touch=True) as page:
        # A narrow picture has its words from the wide one.
        mark = page.locator("#retrieval .narrow [data-said='Default, L1: 80.5%']").first
        bring_into_view(page, mark)
        mark.tap(force=True)
        assert page.locator("#tooltip").inner_text() == "Default, L1: 80.5%"


def test_pictures_of_one_kind_stand_beside_each_other_but_not_on_a_phone_or_on_paper(browser: Any, path: Path) -> None:
    def tops(page: Any) -> list[float]:
        return [svg.bounding_box()["y"] for svg in page.locator("#retrieval svg:visible").all()]

    with opened(browser, path) as page:
        assert page.locator("#retrieval .narrow svg:visible").count() == 2
        assert len(set(tops(page))) == 1
        page.emulate_media(media="print")
        assert page.locator("#retrieval .wide svg:visible").count() == 2
        assert len(set(tops(page))) == 2
    with opened(browser, path, PHONE) as page:
        assert len(set(tops(page))) == 2


def test_long_names_leave_a_phone_room_for_scores(browser: Any, tmp_path: Path) -> None:
    untrained = transferred("sep-emb-l1-6", {"oru": 1.0}, task="parsing", metric="las", suffix=UNTRAINED + FROZEN)
    path = write_report(STUDY, [*FOUND, *untrained], store=Store(tmp_path)).page
    with opened(browser, path, PHONE) as page:
        page.get_by_text("The same models without pretraining").click()
        name = page.get_by_role("rowheader", name="untrained and frozen")
        assert name.bounding_box()["width"] < 0.45 * PHONE[0]


def test_every_mark_of_a_narrow_picture_says_what_it_does_in_the_wide_one(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        said = page.evaluate(
            """() => [...document.querySelectorAll("figure")].map((figure) => [".wide", ".narrow"].map((width) =>
                [...figure.querySelectorAll(`${width} [data-said]`)].map((mark) => mark.dataset.said)))"""
        )
        assert len(said) >= 5
        for wide, narrow in said:
            assert wide == narrow != []


def test_the_papers_numbers_can_be_put_away_and_back(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        share = page.locator("#survival span.published").first
        switch = page.locator("#claims button[data-switch]")
        assert share.is_visible()
        switch.click()
        assert not share.is_visible()
        assert page.locator("#survival button[data-switch]").get_attribute("aria-pressed") == "false"
        switch.focus()
        page.keyboard.press("Enter")
        assert share.is_visible()


def test_names_show_as_text(browser: Any, path: Path) -> None:
    with opened(browser, path) as page:
        assert page.title() == "tiny: ela and oru"
        assert page.locator("img, body script:not(:last-child)").count() == 0
        assert MARKUP in page.locator("#missing").inner_text()
        assert "<script>" in page.locator("#retrieval").inner_text()
        assert MARKUP in page.locator("#provenance").inner_text()


def test_it_works_without_a_script_and_prints(browser: Any, path: Path) -> None:
    with opened(browser, path, java_script_enabled=False) as page:
        assert page.locator("#survival span.published").first.is_visible()
        assert not page.locator("button.switch").first.is_visible()
        page.locator("#retrieval summary").first.click()
        assert page.locator("#retrieval table").first.is_visible()
    with opened(browser, path, color_scheme="dark") as page:
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
