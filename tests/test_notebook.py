"""The notebook of the documentation runs, and says what other implementations say."""

from pathlib import Path

import krippendorff
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
RATERS = ["Ref-1", "Ref-2", "Ref-3"]


@pytest.fixture(scope="module")
def outputs():
    """What each cell of code shows last, as text and as HTML, by its source."""
    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    NotebookClient(notebook, resources={"metadata": {"path": ROOT / "docs"}}).execute()
    return {
        cell.source: cell.outputs[-1].data
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.outputs
    }


def shown(outputs, ending):
    """The one output of the cell whose source ends so."""
    (data,) = (data for source, data in outputs.items() if source.endswith(ending))
    return data


def alpha_of_another_implementation():
    table = pd.read_csv(ROOT / "configs/rounds/serology/williams-1976.csv")
    return krippendorff.alpha(
        value_counts=[
            [row.count(label) for label in ("NR", "BL", "RE")]
            for row in table[RATERS].to_numpy().tolist()
        ],
        level_of_measurement="nominal",
    )


def test_alpha_is_shown_as_a_table_with_its_interval(outputs):
    data = shown(outputs, 'measure(ratings, "krippendorff_alpha")')
    (table,) = pd.read_html(data["text/html"])
    (row,) = table.to_dict("records")
    assert row["measure"] == "krippendorff_alpha"
    assert row["value"] == pytest.approx(alpha_of_another_implementation(), abs=5e-6)
    assert row["low"] < row["value"] < row["high"]
    assert (row["items"], row["raters"], row["ratings"]) == (28, 3, 84)
