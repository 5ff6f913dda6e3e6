import inspect
import re
from pathlib import Path

import pytest

from agreement_pipeline import errors
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures._weights import IDENTITY
from agreement_pipeline.orchestration.project import ColumnSettings, ProjectSettings
from agreement_pipeline.policy import Rule
from agreement_pipeline.report.measures_page import main, measures_page

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_measures_is_what_the_registry_says(tmp_path, capsys):
    assert main(["--check", str(DOCS / "measures.md")]) == 0
    (tmp_path / "stale.md").write_text(measures_page() + "more")
    assert main(["--check", str(tmp_path / "stale.md")]) == 1


@pytest.mark.parametrize(("name", "of"), [("conger_kappa", "shah_kappa_s"), ("brennan_prediger", "bennett_s")])
def test_another_name_of_a_measure_is_one_line_that_leads_to_it(name, of):
    page = measures_page()
    assert f"\n### {name}\n\nAnother name of [`{of}`](#{of}).\n\n###" in page
    assert re.search(rf"^\| \[`{name}`\]\(#{name}\) \|.*\| Another name of \[`{of}`\]\(#{of}\)\. \|$", page, re.MULTILINE)
    assert f"\n### {of}\n" in page


def test_a_weighted_measure_says_how_its_categories_are_weighted():
    weights = re.findall(r"\n### (\w+)\n(?:(?!\n###).)*?\n- \*\*Weights:\*\* ", measures_page(), re.DOTALL)
    assert set(weights) == {name for name, record in MEASURES.items() if record.weighting not in (None, IDENTITY)}


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_measure_gives_its_formula_its_source_and_an_example(name):
    text = inspect.getdoc(MEASURES[name].function) or ""

    assert "math::" in text
    assert "References\n" in text
    assert ">>> " in text


def test_every_key_of_a_project_is_in_the_guide():
    guide = (DOCS / "guide.md").read_text()
    keys = set(ProjectSettings.model_fields) - {"root"} | set(ColumnSettings.model_fields) - {"raters"}

    assert {key for key in keys if f"`{key}`" not in guide} == set()


def test_every_key_of_a_rule_is_in_the_guide():
    guide = (DOCS / "guide.md").read_text()

    assert {field for field in Rule.__dataclass_fields__ if field not in guide} <= {"min_raters"}


def test_the_tree_of_exceptions_is_drawn_in_full():
    raised = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}

    assert {name for name in raised if not re.search(rf"\b{name}\b", errors.__doc__)} == set()


def test_links_between_pages_lead_somewhere():
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"]
    links = [(page, link.split("#")[0]) for page in pages for link in re.findall(r"\]\(([^)#]+[^)]*)\)", page.read_text()) if "://" not in link]

    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
