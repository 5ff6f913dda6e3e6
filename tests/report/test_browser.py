"""The page in a real browser, without a network."""

import shutil

import pytest

from agreement_pipeline.report import report_page
from tests.report.pages import HOSTILE, POLICY, a_round

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE = {"width": 400, "height": 800}
LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here to show a page in")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    page = report_page(a_round(), POLICY, name="week 1", names={})
    path = tmp_path_factory.mktemp("pages") / "page.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shown(file):
    """The page in a browser whose network is cut off, and what it asked for and complained of."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport=PHONE, offline=True)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        page.goto(file.as_uri())
        yield page
        browser.close()


PAIRS = "[aria-labelledby=raters-table-2-caption]"


def agreement_of_pairs(shown):
    cells = shown.locator(f"{PAIRS} tbody tr > :nth-child(2)")
    return [float(said) for said in cells.all_inner_texts()]


def test_a_click_on_a_head_sorts_by_number_and_a_second_click_turns_it_round(shown):
    head = shown.locator(f"{PAIRS} thead th:nth-child(2)")
    head.locator("button").press("Enter")
    upwards = agreement_of_pairs(shown)
    assert head.get_attribute("aria-sort") == "ascending"
    assert upwards == sorted(upwards)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert agreement_of_pairs(shown) == upwards[::-1]


def test_a_reader_gets_from_the_raters_to_a_pair_to_the_items_on_which_they_differ(shown):
    shown.locator("nav a", has_text="Raters").click()
    shown.locator(f"{PAIRS} tbody a").first.click()
    pair = shown.locator("#raters details[open]")
    pair.locator("summary").wait_for(state="visible")
    assert pair.locator("summary").evaluate("found => found === document.activeElement")
    assert HOSTILE in pair.locator("table").last.inner_text()


def test_a_phone_shows_why_and_what_to_do_without_moving_sideways(shown):
    for words in ("could be under 0.667", "Labelled by 4 people", "agreement-pipeline report"):
        box = shown.locator("main .top").get_by_text(words).first.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    cells = shown.locator("#rules td[data-head='why']").first.bounding_box()
    assert cells["x"] + cells["width"] <= PHONE["width"]


def test_it_fits_a_phone(shown):
    assert shown.evaluate("document.documentElement.scrollWidth") == 400


def test_on_a_desk_the_verdicts_need_not_be_moved_sideways(shown):
    shown.set_viewport_size({"width": 1100, "height": 900})
    wider = "found => found.map(each => each.scrollWidth > each.clientWidth)"
    moved = shown.locator("#rules .wide").evaluate_all(wider)
    shown.set_viewport_size(PHONE)
    assert moved
    assert not any(moved)


def test_it_prints_with_everything_open(shown, tmp_path):
    shown.emulate_media(media="print")
    shown.set_viewport_size({"width": 720, "height": 1000})
    shown.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 720
    printed = shown.pdf(path=tmp_path / "page.pdf", format="A4")
    shown.emulate_media(media="screen")
    shown.set_viewport_size(PHONE)
    assert printed.startswith(b"%PDF")
    assert shown.locator("details:not([open])").count() == 0


def test_heads_of_printed_tables_are_text_since_a_browser_repeats_no_buttons(shown):
    head = f"{PAIRS} thead th:nth-child(2)"
    name = shown.locator(f"{head} button").inner_text()
    shown.emulate_media(media="print")
    said = shown.evaluate(f"getComputedStyle(document.querySelector('{head}'), '::before').content")
    hidden = not shown.locator(f"{head} button").is_visible()
    shown.emulate_media(media="screen")
    assert (said.strip('"'), hidden) == (name, True)


@pytest.mark.parametrize(
    ("scheme", "rules"),
    [("light", LEVEL_AA), ("dark", ["color-contrast"])],
    ids=["everything in light", "contrast in dark"],
)
def test_axe_finds_no_violation_of_level_aa(shown, scheme, rules):
    from axe_playwright_python.sync_playwright import Axe

    shown.emulate_media(color_scheme=scheme)
    shown.evaluate("document.querySelectorAll('details').forEach(found => { found.open = true })")
    found = Axe().run(shown, options={"runOnly": rules})
    assert not found.response["violations"], found.generate_report()


def test_it_asked_for_nothing_and_complained_of_nothing(shown, file):
    assert {url.partition("#")[0] for url in shown.asked} == {file.as_uri()}
    assert shown.complaints == []
