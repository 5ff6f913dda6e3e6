"""The page in a real browser, without a network."""

import re
import shutil

import pandas as pd
import pytest

from agreement_pipeline.demo.rounds import CATEGORIES, simulate_round
from agreement_pipeline.evidence import JudgedProject, build_project_page
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import render_html, report_page
from tests.report.pages import HOSTILE, POLICY, a_round
from tests.report.test_page import row_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1400, "height": 900}
LEVEL_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here to show a page in")


REPLICATED = Policy.from_mapping(
    {
        "policy": "replicated",
        "version": 1,
        "n_resamples": 1000,
        "rules": [{"measure": "krippendorff_alpha"}, {"measure": "self_agreement_unbiased"}],
    }
)
PEOPLE = ("ana", "ben", "chloe", "dmitri", "esra")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    page = report_page(a_round(), POLICY, name="week 1", names={})
    path = tmp_path_factory.mktemp("pages") / "page.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    """One browser for all pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def shown(browser, file):
    """The page in a browser whose network is cut off, and what it asked for and complained of."""
    page = browser.new_context(viewport=PHONE, offline=True).new_page()
    page.set_default_timeout(20_000)
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
    page.goto(file.as_uri())
    return page


def of_round(policy=POLICY, n_items=150, raters=PEOPLE, **settings):
    frame = simulate_round("r", seed=3, n_items=n_items, raters=raters, classifiers={}, **settings)
    return report_page(Ratings.from_frame(frame, Scale(CATEGORIES)), policy, name="r", names={})


def of_project():
    """Five rounds. The control chart of so few tells nothing."""
    values = enumerate((0.96, 0.75, 0.58, 0.71, 0.9), 1)
    rows = [
        row_of(f"w{n}", "held", "none", "krippendorff_alpha", "tentative", v, v - 0.05, v + 0.03)
        for n, v in values
    ]
    found = pd.DataFrame(rows).assign(scope="round", confidence_level=0.95)
    return render_html(build_project_page(JudgedProject("p", "", POLICY, found, {}, {})))


MADE = {
    "alike": lambda: of_round(accuracy=0.82),
    "camps": lambda: of_round(split=("ben", "esra"), raters=PEOPLE, n_items=300),
    "never again": lambda: of_round(REPLICATED, replicated=0, n_items=300),
    "models": lambda: of_round(raters=("ana", "ben", "chloe", "claude-3", "gpt-4o")),
    "project": of_project,
}
"""The rounds over which a new user stumbled."""


@pytest.fixture(scope="module", params=MADE)
def each(request, others):
    return others(request.param)


@pytest.fixture(scope="module")
def others(browser):
    """A function that shows a page of the name, on a desk."""
    pages = {}

    def page_of(name):
        if name not in pages:
            pages[name] = browser.new_page(viewport=DESK)
            pages[name].set_content(MADE[name]())
        return pages[name]

    return page_of


PAIRS = "[aria-labelledby=raters-table-2-caption]"


def agreement_of_pairs(shown):
    cells = shown.locator(f"{PAIRS} tbody tr > :nth-child(2)")
    return [float(said) for said in cells.all_inner_texts()]


def test_a_click_on_a_head_sorts_by_number_and_a_second_click_turns_it_round(shown):
    shown.set_viewport_size(DESK)
    head = shown.locator(f"{PAIRS} thead th:nth-child(2)")
    head.locator("button").press("Enter")
    upwards = agreement_of_pairs(shown)
    assert head.get_attribute("aria-sort") == "ascending"
    assert upwards == sorted(upwards)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert agreement_of_pairs(shown) == upwards[::-1]
    shown.set_viewport_size(PHONE)


def test_a_reader_gets_from_the_raters_to_a_pair_to_the_items_on_which_they_differ(shown):
    shown.locator("nav a", has_text="Raters").click()
    link = shown.locator(f"{PAIRS} tbody a").first
    link.click()
    pair = shown.locator(link.get_attribute("href"))
    pair.locator("summary").wait_for(state="visible")
    assert pair.locator("summary").evaluate("found => found === document.activeElement")
    assert HOSTILE in pair.locator("table").last.inner_text()


def test_a_phone_shows_why_and_what_to_do_without_moving_sideways(shown):
    for words in (
        "0.667 lies inside the interval",
        "Labelled by 4 raters",
        "The section Items lists them",
    ):
        box = shown.locator("main .top").get_by_text(words).first.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    cells = shown.locator("#rules td[data-head='why']").first.bounding_box()
    assert cells["x"] + cells["width"] <= PHONE["width"]


def test_it_fits_a_phone(shown):
    assert shown.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_on_a_desk_the_verdicts_need_not_be_moved_sideways(shown):
    shown.set_viewport_size({"width": 1100, "height": 900})
    wider = "found => found.map(each => each.scrollWidth > each.clientWidth)"
    moved = shown.locator("#rules .wide").evaluate_all(wider)
    shown.set_viewport_size(PHONE)
    assert moved
    assert not any(moved)


def test_names_of_categories_without_a_blank_fit_a_phone(browser):
    frame = simulate_round("r", seed=3, n_items=60, accuracy=0.8, classifiers={})
    longer = frame.assign(label=frame["label"] + 150 * "x")
    scale = Scale(tuple(f"{name}{150 * 'x'}" for name in CATEGORIES))
    page = browser.new_page(viewport=PHONE)
    page.set_content(report_page(Ratings.from_frame(longer, scale), POLICY))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_no_violation_on_the_index(others, scheme, size):
    from axe_playwright_python.sync_playwright import Axe

    page = others("project")
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    found = Axe().run(page, options={"runOnly": LEVEL_AA})
    page.set_viewport_size(DESK)
    assert not found.response["violations"], found.generate_report()


def test_the_index_prints_whole(others, tmp_path):
    page = others("project")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    cut = page.evaluate(CUT_OFF), page.evaluate("document.documentElement.scrollWidth")
    page.emulate_media(media="screen")
    page.set_viewport_size(DESK)
    assert cut == (0, 720)


def test_the_keyboard_reaches_everything_that_can_be_clicked(others):
    """From the link over the contents on, each stop is seen and has an outline."""
    page = others("camps")
    clickable = {*page.evaluate(CLICKABLE)}
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    stops, unseen = set(), []
    for _ in range(len(clickable) + 30):
        page.keyboard.press("Tab")
        place, seen = page.evaluate(FOCUSED)
        stops.add(place)
        unseen += [] if seen else [place]
    # a part that can be moved is a stop too
    assert clickable
    assert clickable <= stops
    assert unseen == []


def test_it_asked_for_nothing_and_complained_of_nothing(shown, file):
    assert {url.partition("#")[0] for url in shown.asked} == {file.as_uri()}
    assert shown.complaints == []


FIRST = "main .top"


@pytest.mark.parametrize(
    ("name", "said", "accused"),
    [
        ("alike", "No rater is known to differ from the rest", 0),
        ("camps", "Two camps: ana, chloe and dmitri against ben and esra", 0),
        ("never again", "no rater met an item twice", 0),
    ],
)
def test_the_first_screen_names_nobody_whom_the_labels_do_not_tell(others, name, said, accused):
    first = others(name).locator(FIRST).inner_text()
    assert said in first
    assert first.count("differs from the rest") == accused


def test_the_first_screen_asks_of_raters_who_may_be_models(others):
    first = others("models").locator(FIRST).inner_text()
    assert "Labelled by 5 raters (ana, ben, chloe, claude-3 and gpt-4o)" in first
    assert "Are claude-3 and gpt-4o models? Then name them as classifiers." in first


@pytest.mark.parametrize("name", ["alike", "camps", "never again"])
def test_a_held_round_says_what_to_do_beside_the_decision_and_its_report_is_short(others, name):
    page = others(name)
    cards = [card.bounding_box() for card in page.locator(f"{FIRST} .card").all()]
    assert [card["y"] for card in cards] == [cards[0]["y"]] * 2
    assert cards[1]["x"] >= DESK["width"] / 2
    assert cards[1]["x"] + cards[1]["width"] > 0.9 * DESK["width"]
    steps = page.locator(f"{FIRST} .steps code").all_inner_texts()
    assert all(step.startswith("agreement-pipeline ") for step in steps)
    assert steps
    assert len(page.locator("body").inner_text().split()) < 1_800
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) <= 8


def test_a_chart_of_few_rounds_tells_nothing_and_no_agreement_is_over_one(others):
    chart = others("project").locator("#change-over-time")
    said = chart.inner_text()
    assert "At least 8 rounds are needed" in said
    assert "within the limits" not in said
    assert all(float(number) <= 1 for number in re.findall(r"\d\.\d{3}", said))


STRUCK = """() => [...document.querySelectorAll("svg.figure")].flatMap(figure => {
  const sheet = figure.getBoundingClientRect();
  const strokes = [...figure.querySelectorAll(".span, .cutoff, .mark, .cross")]
    .map(found => found.getBoundingClientRect());
  return [...figure.querySelectorAll("text")].filter(found => {
    const box = found.getBoundingClientRect();
    const outside = box.left < sheet.left - 1 || box.right > sheet.right + 1
      || box.top < sheet.top - 1 || box.bottom > sheet.bottom + 1;
    return outside || strokes.some(at => at.left < box.right - 1 && at.right > box.left + 1
      && at.top < box.bottom - 3 && at.bottom > box.top + 3);
  }).map(found => `${figure.querySelector("title").textContent}: ${found.textContent}`);
})"""
"""The texts of figures that a stroke runs through, or that are cut off."""


CLICKABLE = """() => {
  const all = [...document.querySelectorAll("*")];
  const found = [...document.querySelectorAll("a[href], button, summary")];
  return found.filter(each => each.checkVisibility()).map(each => all.indexOf(each));
}"""
FOCUSED = """() => {
  const found = document.activeElement, all = [...document.querySelectorAll("*")];
  if (found === document.body) return [-1, true];
  const drawn = found.matches("svg a") ? found.querySelector(".cell") : found;
  const style = getComputedStyle(drawn);
  const box = found.getBoundingClientRect();
  const marked = style.outlineStyle !== "none" || parseFloat(style.strokeWidth) > 1;
  return [all.indexOf(found), marked && box.width > 0 && box.right > 0];
}"""
"""Where the focus is in the page, and whether a reader sees that it is there."""

CUT_OFF = """() => [...document.querySelectorAll("svg.strip")].filter(found => {
  const at = found.getBoundingClientRect(), cell = found.closest("td").getBoundingClientRect();
  return at.right > cell.right + 1 || at.width / at.height < 4;
}).length + [...document.querySelectorAll(".wide")].filter(
  found => found.scrollWidth > found.clientWidth).length"""
"""How many strips and tables a reader does not see whole without moving them."""


def test_no_table_is_cut_off_on_a_phone_or_on_a_desk(each):
    each.set_viewport_size(PHONE)
    cut = each.evaluate(CUT_OFF), each.evaluate("document.documentElement.scrollWidth")
    each.set_viewport_size({"width": 1000, "height": 900})
    cut_on_a_small_desk = each.evaluate(CUT_OFF)
    each.set_viewport_size(DESK)
    assert cut == (0, PHONE["width"])
    assert (cut_on_a_small_desk, each.evaluate(CUT_OFF)) == (0, 0)


def test_the_index_says_of_each_round_what_it_reached_and_what_helps(others):
    rows = others("project").locator("#rounds tbody tr").all()
    assert len(rows) == 5
    for row in rows:
        assert "α ." in row.locator("td[data-head=agreement]").inner_text()
        assert row.locator("td[data-head=agreement] svg").count() == 1
        assert row.locator("td[data-head='what helps']").inner_text()


def test_a_cell_of_the_matrix_leads_to_the_items_by_the_keyboard_alone(others):
    page = others("camps")
    cell = page.locator("#raters svg.figure a").first
    pair = cell.get_attribute("aria-label").partition(":")[0].split(", ")
    cell.press("Enter")
    opened = page.locator(cell.get_attribute("href"))
    assert opened.get_attribute("open") is not None
    summary = opened.locator("summary")
    assert all(name in summary.inner_text() for name in pair)
    assert summary.evaluate("found => found === document.activeElement")
    assert "They differ on" in opened.inner_text()
    assert page.locator("#raters svg.figure a").count() == 20  # five raters beside four each


@pytest.mark.parametrize("size", [DESK, {"width": 1000, "height": 900}, PHONE])
def test_no_stroke_runs_through_a_text_of_a_figure_and_no_text_is_cut_off(each, size):
    each.set_viewport_size(size)
    struck = each.evaluate(STRUCK)
    each.set_viewport_size(DESK)
    assert struck == []
