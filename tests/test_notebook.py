"""The notebook of the documentation runs, and shows what another implementation finds."""

import re
from pathlib import Path
from xml.etree import ElementTree

import krippendorff
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import agreement_pipeline

ROOT = Path(__file__).parents[1]
ROUND = ROOT / "configs/rounds/serology/williams-1976.csv"
RATERS = ["Ref-1", "Ref-2", "Ref-3"]
PAGE = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown():
    """What each cell of code shows last, by its source in one line."""
    notebook = read_notebook()
    NotebookClient(notebook, resources={"metadata": {"path": ROOT / "docs"}}).execute()
    return data_by_source(notebook)


def read_notebook():
    return nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)


def data_by_source(notebook):
    return {
        " ".join(cell.source.split()): cell.outputs[-1].data
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def html_of(shown, ending):
    """The HTML that the cell with this ending shows."""
    (data,) = (data for source, data in shown.items() if source.endswith(ending))
    return data["text/html"]


def rows_of(html):
    """The rows of a table in HTML, each as text by the name of its column."""
    table = ElementTree.fromstring(html[html.index("<table") :])
    names = [cell.text for cell in table.iterfind("thead/tr/th")]
    return [
        dict(zip(names, [cell.text for cell in row], strict=True))
        for row in table.iterfind("tbody/tr")
    ]


def test_notebook_holds_what_its_cells_show_today(shown):
    """Run it anew, with `make notebook`, if this fails."""
    kept = data_by_source(read_notebook())
    assert [*kept] == [*shown]
    for source, data in kept.items():
        assert data == {kind: shown[source][kind] for kind in data}, source


def test_alpha_is_shown_as_a_table_with_its_interval(shown):
    (row,) = rows_of(html_of(shown, 'measure(ratings, "krippendorff_alpha")'))
    codes = pd.read_csv(ROUND)[RATERS].apply(lambda said: said.map({"NR": 0, "BL": 1, "RE": 2}))
    expected = krippendorff.alpha(codes.T.to_numpy(), level_of_measurement="nominal")
    assert float(row["value"]) == pytest.approx(expected, abs=5e-6)
    assert float(row["low"]) < expected < float(row["high"])
    assert (row["items"], row["raters"], row["ratings"]) == ("28", "3", "84")


def test_an_interval_is_drawn_where_its_limits_and_its_value_are(shown):
    html = html_of(shown, 'measure(ratings, "krippendorff_alpha")')
    (row,) = rows_of(html)
    left, right = map(int, re.findall(r'd="M(\d+),6H(\d+)" stroke="#38c"', html)[0])
    (dot,) = map(int, re.findall(r'cx="(\d+)"', html))
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    assert left < dot < right
    assert (dot - left) / (right - left) == pytest.approx((value - low) / (high - low), abs=0.03)


def test_a_survey_has_a_row_for_each_measure_and_category(shown):
    rows = rows_of(html_of(shown, 'scopes=("round", "category") )'))
    assert [row["scope"] for row in rows if row["measure"] == "specific_agreement"] == [
        "round",
        "category BL",
        "category NR",
        "category RE",
    ]


def test_a_decision_says_what_was_decided_and_why(shown):
    html = html_of(shown, "judge(ratings, policy)")
    assert html.startswith("<p>held</p>")
    (row,) = (row for row in rows_of(html) if row["measure"] == "shah_kappa_s")
    # Table 1 of Shah (2011) gives 0.679.
    assert row["verdict"] == "inconclusive"
    assert float(row["value"]) == pytest.approx(0.679, abs=5e-4)


def test_a_plan_and_a_comparison_are_tables_too(shown):
    (planned,) = rows_of(html_of(shown, "plan(policy, expected=0.9, n_rounds=200)"))
    assert int(float(planned["items"])) > 28
    (compared,) = rows_of(html_of(shown, 'compare(ratings, between=("Ref-1", "Ref-2"))'))
    assert compared["one"] == "schouten_kappa of rater Ref-1"
    assert float(compared["low"]) < float(compared["difference"]) < float(compared["high"])


def test_the_lines_for_a_notebook_run_and_show_the_table_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    section = PAGE.split("## In a notebook")[1]
    block = section.split("```python\n")[1].split("```")[0]
    names = {}
    *lines, last = block.strip().splitlines()
    exec("\n".join(lines), names)
    found = eval(last, names)
    assert found.measure == "krippendorff_alpha"
    head, _, printed = (line.strip("| ").split(" | ") for line in section.split("\n| ")[1:4])
    shown = dict(zip(head, printed, strict=True))
    estimated = (found.value, *found.interval)
    assert [float(shown[name]) for name in ("value", "low", "high")] == pytest.approx(
        estimated, abs=5e-6
    )
    (row,) = rows_of(found._repr_html_())
    assert found.interval.low < float(row["value"]) < found.interval.high


@pytest.mark.parametrize("name", ["measure", "survey", "compare", "judge", "plan", "report_page"])
def test_help_says_that_tables_and_names_are_taken_too(name):
    said = getattr(agreement_pipeline, name).__doc__
    assert "For ratings, you can give a table or a path, and for a measure" in said
