import inspect
import re
from pathlib import Path

import pytest

import agreement_pipeline
from agreement_pipeline import errors
from agreement_pipeline.evidence.page import OF_ROUND
from agreement_pipeline.integrity import Integrity
from agreement_pipeline.measures import MEASURES, WEIGHTINGS, find_measure
from agreement_pipeline.policy import REASONS, Policy, Rule
from agreement_pipeline.projects import ProjectSettings
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns
from agreement_pipeline.statistics import LabelsByRater
from tools.pages import measures_page, reproduction_page

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = {
    "measures.md": measures_page,
    "proofs/reproduction.md": reproduction_page,
}
PAGES = [
    *DOCS.rglob("*.md"),
    DOCS.parent / "README.md",
    DOCS.parent / "CONTRIBUTING.md",
    DOCS.parent / "SECURITY.md",
]
WORDS = {"rater", "pair", "measure", "measures"}
every_generated_page = pytest.mark.parametrize(
    ("name", "module"), GENERATED.items(), ids=list(GENERATED)
)


@every_generated_page
def test_a_page_is_what_the_code_says(name, module):
    assert module.main(["--check", str(DOCS / name)]) == 0


@every_generated_page
def test_a_page_that_somebody_changed_is_stale_until_it_is_written_again(
    name, module, tmp_path, capsys
):
    path = tmp_path / Path(name).name
    path.write_text(
        (DOCS / name)
        .read_text()
        .replace("<!-- end of measures -->", "more <!-- end of measures -->")
        + ("more" * (name != "measures.md"))
    )
    assert module.main(["--check", str(path)]) == 1
    assert f"Run python -m {module.__name__} {path}" in capsys.readouterr().err
    assert module.main([str(path)]) == 0
    assert module.main(["--check", str(path)]) == 0
    assert path.read_text() == (DOCS / name).read_text()


def test_the_page_of_a_family_that_is_gone_must_go_too(tmp_path, capsys):
    path = tmp_path / "measures.md"
    path.write_text((DOCS / "measures.md").read_text())
    measures_page.main([str(path)])
    (tmp_path / "measures" / "gone.md").write_text("# Gone")
    assert measures_page.main(["--check", str(path)]) == 1
    assert "gone.md" in capsys.readouterr().err


def test_a_page_without_a_place_for_the_list_of_measures_is_refused(tmp_path):
    (tmp_path / "measures.md").write_text("# Measures")
    with pytest.raises(ValueError, match="expected both around what is written"):
        measures_page.main([str(tmp_path / "measures.md")])


def test_every_measure_is_in_the_list_and_on_the_page_of_its_family():
    listed = measures_page.list_of_measures("measures")
    of_families = "".join(measures_page.family_pages().values())
    assert [
        name
        for name in MEASURES
        if f"`{name}`" not in listed or not re.search(rf"(## |`){name}\b", of_families)
    ] == []


def test_no_page_holds_what_only_sphinx_would_render():
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        found = re.findall(r":\w+:`|^\.\. \w+::|(?<!`)``(?!`)", text, flags=re.MULTILINE)
        assert found == [], page


def test_no_inline_formula_holds_what_markdown_would_take_for_its_own():
    """Markdown reads a page before formulas are read.

    - The backslash of an escaped sign is dropped.
    - A bar ends the cell of a table.
    - A leading underscore begins emphasis.
    """
    code = re.compile(r"^```.*?^```|\$`[^`\n]*`\$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
    formula, wrong = re.compile(r"\$([^$\n]+)\$"), re.compile(r"\\[^A-Za-z]|\*|(?<![A-Za-z0-9])_")
    for page in PAGES:
        text = code.sub("", page.read_text())
        assert [each for each in formula.findall(text) if wrong.search(each)] == [], page
        in_tables = "".join(re.findall(r"^\|.*\n", text, flags=re.MULTILINE))
        assert [each for each in formula.findall(in_tables) if "|" in each] == [], page


def test_the_guide_to_measures_names_measures_that_exist():
    guide = (DOCS / "measures.md").read_text().split("## All measures")[0]
    named = set(re.findall(r"`([a-z][a-z0-9_]*)`", guide))
    assert {name for name in named if find_measure(name) is None} <= WORDS


def test_the_guide_names_every_measure_of_the_items_that_all_rated():
    (bullet,) = re.findall(
        r"^- Some use only the items that every rater rated.*?(?=\n- |\n\n)",
        (DOCS / "measures.md").read_text(),
        flags=re.MULTILINE | re.DOTALL,
    )
    assert set(re.findall(r"`(\w+)`", bullet)) == {
        name for name, record in MEASURES.items() if record.crossed
    }


def pitfalls():
    guide = (DOCS / "measures.md").read_text()
    tables = re.findall(
        r"^\| table \|(.+)\|\n\|[ -|]+\n((?:\| \d.+\n)+)", guide, flags=re.MULTILINE
    )
    return [(head, row) for head, rows in tables for row in rows.splitlines()]


@pytest.mark.parametrize(("head", "row"), pitfalls())
def test_a_pitfall_has_the_values_that_the_measures_give(head, row):
    table, *printed = (cell.strip() for cell in row.strip("|").split("|"))
    patterns = LabelsByRater(
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [int(n) for n in re.findall(r"\d+", table)],
        scale=Scale(("no", "yes")),
        raters="ab",
    )
    records = [MEASURES[name.strip()] for name in head.split("|")]
    ours = [
        float(record(patterns.counts() if record.needs == "counts" else patterns).value)
        for record in records
    ]
    assert [float(value) for value in printed] == pytest.approx(ours, abs=5e-4)


def test_the_guide_shows_pitfalls():
    assert len(pitfalls()) == 4


@pytest.mark.parametrize(
    ("name", "of", "family"),
    [("conger_kappa", "shah_kappa_s", "fixed_panel"), ("brennan_prediger", "bennett_s", "bennett")],
)
def test_another_name_of_a_measure_is_one_line_under_it(name, of, family):
    section = measures_page.family_pages()[family].split(f"## {of}\n")[1].split("\n## ")[0]
    assert len(re.findall(rf"^- `{name}`: another name of `{of}`; ", section, re.MULTILINE)) == 1


def test_every_distance_is_in_the_list_with_its_formula():
    listed = measures_page.list_of_measures("measures")
    found = re.findall(r"^- `(\w+)`: \$d_\{xy\} = .+\$", listed, re.MULTILINE)
    assert found == list(WEIGHTINGS)


def test_a_weighted_family_leads_to_the_distances():
    pages = "".join(measures_page.family_pages().values())
    families = re.findall(r"^- `(\w+)_circular` and so on: ", pages, re.MULTILINE)
    assert set(families) == {
        name.removesuffix("_linear") for name in MEASURES if name.endswith("_linear")
    }


def test_every_measure_gives_its_formula_its_source_and_an_example():
    for name, record in MEASURES.items():
        text = inspect.getdoc(record.function) or ""
        assert all(part in text for part in ("math::", "References\n", ">>> ")), name


def test_every_key_of_a_project_is_in_the_guide():
    guide = (DOCS / "guide" / "project.md").read_text()
    keys = set(ProjectSettings.model_fields) - {"root"} | set(Columns.__dataclass_fields__) - {
        "raters"
    }

    assert {key for key in keys if f"`{key}`" not in guide} == set()


@pytest.mark.parametrize("of", [Policy, Rule, Integrity])
def test_every_key_of_a_policy_and_its_parts_is_in_the_guide(of):
    guide = (DOCS / "guide" / "policy.md").read_text()

    assert {key for key in of.__dataclass_fields__ if f"`{key}`" not in guide} == set()


@pytest.mark.parametrize(
    ("page", "form", "names"),
    [("policy", "| `{}` |", vars(Integrity())), ("report", "| {} |", OF_ROUND)],
    ids=["bounds", "sections"],
)
def test_every_bound_and_every_section_has_a_line_in_the_guide(page, form, names):
    guide = (DOCS / "guide" / f"{page}.md").read_text()

    assert {name for name in names if form.format(name) not in guide} == set()


def test_every_public_name_is_on_the_page_of_python():
    page = (DOCS / "guide" / "python.md").read_text(encoding="utf-8")
    missing = [
        name
        for name in agreement_pipeline.__all__
        if name != "__version__" and f"`{name}" not in page
    ]
    assert missing == []


def test_what_a_team_needs_names_what_there_is():
    page = (DOCS / "guide" / "essentials.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    known_by_section = {
        "Keys of a project": {*ProjectSettings.model_fields},
        "Measures": {*MEASURES},
        "Codes of held rounds": {*REASONS},
    }
    for section, known in known_by_section.items():
        rows = [row.split("|")[1] for row in sections[section].splitlines() if "| `" in row]
        names = [name for row in rows for name in re.findall("`(.*?)`", row)]
        assert 9 <= len(names) <= 12
        assert {*names} <= known


def test_the_guide_leads_to_each_of_its_pages():
    guide = (DOCS / "guide.md").read_text()

    assert {page.name for page in (DOCS / "guide").glob("*.md")} == set(
        re.findall(r"\]\(guide/([^)]+)\)", guide)
    )


def test_the_tree_of_exceptions_is_drawn_in_full():
    raised = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, Exception)
    }

    assert {name for name in raised if not re.search(rf"\b{name}\b", errors.__doc__)} == set()


def test_links_between_pages_lead_somewhere():
    links = [
        (page, link.split("#")[0])
        for page in PAGES
        for link in re.findall(r"\]\(([^)#]+[^)]*)\)", page.read_text())
        if "://" not in link
    ]

    assert [
        f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()
    ] == []


def test_pictures_have_one_home_and_each_is_shown_and_small():
    shown = "".join(page.read_text() for page in PAGES)
    pictures = [path for path in DOCS.rglob("*") if path.suffix in (".png", ".svg")]
    assert {path.parent.relative_to(DOCS).as_posix() for path in pictures} == {"images"}
    assert [path.name for path in pictures if f"images/{path.name})" not in shown] == []
    assert [path.name for path in pictures if path.stat().st_size > 200_000] == []


def anchors_of(text):
    """The names by which links lead to the headings of a page, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_into_pages_lead_to_a_heading():
    links = [
        (page, *link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)#([^)]+)\)", page.read_text())
    ]

    assert len(links) > 20
    assert [
        f"{page.name}: {path}#{name}"
        for page, path, name in links
        if name not in anchors_of((page.parent / path).read_text())
    ] == []


def test_a_page_that_the_package_names_is_there():
    package = DOCS.parent / "agreement_pipeline"
    named = {
        page
        for path in package.rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 1  # what users read names topics: tests/cli/test_guide.py
    assert {page for page in named if not (DOCS.parent / page).exists()} == set()
