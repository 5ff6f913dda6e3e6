"""Tables that somebody else counted: items by categories, and two raters."""

import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from agreement_pipeline import measure, read_contingency, read_counts, survey
from agreement_pipeline.cli import main
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings, Scale

FEW = Inference(n_resamples=1000)
COUNTS = pd.DataFrame(
    [
        ("a", 3, 0, 0),
        ("b", 2, 1, 0),
        ("c", 0, 3, 0),
        ("d", 0, 1, 2),
        ("e", 0, 0, 3),
        ("f", 3, 0, 0),
    ],
    columns=["item", "x", "y", "z"],
)
TABLE = pd.DataFrame(
    [("x", 20, 3, 1), ("y", 2, 15, 4), ("z", 0, 2, 13)], columns=["", "x", "y", "z"]
)


def of_counts():
    rows = [
        (row["item"], str(rater), category)
        for row in COUNTS.to_dict("records")
        for rater, category in enumerate(c for c in "xyz" for _ in range(row[c]))
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(tuple("xyz"))
    )


def of_table():
    rows = []
    for row in TABLE.to_dict("records"):
        for column in "xyz":
            for _ in range(row[column]):
                item = f"i{len(rows)}"
                rows += [(item, "rows", row[""]), (item, "columns", column)]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(tuple("xyz"))
    )


def test_counts_have_the_values_and_limits_of_the_ratings_behind_them():
    names = ["fleiss_kappa", "krippendorff_alpha", "specific_agreement", "gwet_ac1"]
    found = survey(read_counts(COUNTS), names, FEW, scopes=("round", "category"))
    assert found == survey(of_counts(), names, FEW, scopes=("round", "category"))
    assert found[0].value == pytest.approx(fleiss_kappa(COUNTS[["x", "y", "z"]].to_numpy()))


def test_a_table_of_two_raters_has_those_of_the_ratings_behind_it():
    names = ["cohen_kappa", "krippendorff_alpha", "light_kappa"]
    found = survey(read_contingency(TABLE), names, FEW)
    assert found == survey(of_table(), names, FEW)
    expected = cohens_kappa(TABLE[["x", "y", "z"]].to_numpy()).kappa
    assert next(e for e in found if e.measure == "cohen_kappa").value == pytest.approx(expected)


def test_categories_may_be_in_another_order_and_more_than_the_table_has():
    scale = Scale(tuple("zyxw"), "ordinal")
    assert measure(read_counts(COUNTS, scale=scale), "percent_agreement", FEW).value > 0
    found = measure(read_contingency(TABLE, scale=scale), "cohen_kappa", FEW)
    assert found.value == pytest.approx(cohens_kappa(TABLE[["x", "y", "z"]].to_numpy()).kappa)
    assert found.categories == ("z", "y", "x", "w")


@pytest.mark.parametrize("name", ["cohen_kappa", "icc_1_1", "light_kappa", "self_agreement"])
def test_a_measure_that_needs_raters_by_name_says_so(name):
    numbers = COUNTS.set_axis(["item", "1", "2", "3"], axis=1)
    level = "interval" if name.startswith("icc") else "nominal"
    with pytest.raises(RatingsError, match="found no raters; expected raters by name"):
        measure(read_counts(numbers, level=level), name, FEW)


@pytest.mark.parametrize(
    ("cell", "found"),
    [(2.5, "2.5"), (-1, "-1"), ("many", "'many'"), (None, "nothing"), ("", "nothing")],
)
def test_a_cell_that_is_no_whole_number_is_refused_with_its_row_and_column(tmp_path, cell, found):
    table = COUNTS.astype(object)
    table.loc[3, "y"] = cell
    with pytest.raises(RatingsError, match="row 4, column 'y': found") as refused:
        read_counts(table)
    path = tmp_path / "counts.csv"
    table.to_csv(path, index=False)
    with pytest.raises(RatingsError, match=r"counts.csv: row 5, column 'y': found") as of_file:
        read_counts(path)
    assert "expected a whole number from 0" in str(of_file.value)
    if cell:
        assert found.strip("'") in str(refused.value)


def test_a_whole_number_that_is_too_large_is_told_the_largest():
    table = COUNTS.astype(object)
    table.loc[3, "y"] = 2**60
    with pytest.raises(RatingsError, match="expected a whole number from 0 to 9007199254740992"):
        read_counts(table)


def test_a_table_of_names_alone_is_refused():
    with pytest.raises(RatingsError, match="found no column beside 'item'; expected a column of"):
        read_counts(COUNTS[["item"]])


@pytest.mark.parametrize(
    ("table", "read", "words"),
    [
        (
            COUNTS.assign(item="a"),
            read_counts,
            "row 2, column 'item': found 'a', which is in row 1 too",
        ),
        (COUNTS.assign(item=None), read_counts, "row 1, column 'item': found no name"),
        (
            COUNTS.assign(Total=3),
            read_counts,
            "column 'Total': found the sum of all others; expected no totals",
        ),
        (
            TABLE.set_axis(["", "x", "y", "w"], axis=1),
            read_contingency,
            "first column: scale: found label 'z'",
        ),
    ],
)
def test_what_is_no_table_of_counts_is_refused(table, read, words):
    with pytest.raises(RatingsError) as refused:
        read(table)
    assert words in str(refused.value)


def test_a_number_is_one_category_in_any_spelling():
    table = TABLE.set_axis(["", "1", "2", "3"], axis=1).assign(**{"": ["1.0", "2.0", "3.0"]})
    assert measure(read_contingency(table, level="interval"), "icc_1_1", FEW).value > 0


def test_the_command_line_reads_both_and_leaves_out_what_needs_raters(tmp_path, capsys):
    counts, table = tmp_path / "counts.csv", tmp_path / "table.csv"
    COUNTS.to_csv(counts, index=False)
    TABLE.to_csv(table, index=False)
    few = ["--n-resamples", "1000"]
    assert main(["measure", str(counts), "--layout", "counts", *few]) == 0
    said = capsys.readouterr()
    assert "fleiss_kappa" in said.out
    assert "cohen_kappa" not in said.out
    assert "measures need raters by name, and are left out" in said.err
    arguments = ["measure", str(table), "--layout", "contingency", "--measure", "cohen_kappa"]
    assert main([*arguments, *few]) == 0
    assert f"{cohens_kappa(TABLE[['x', 'y', 'z']].to_numpy()).kappa:.5f}" in capsys.readouterr().out
    assert main([*arguments, "--classifier", "a"]) == 2
    assert "found --classifier with --layout contingency" in capsys.readouterr().err
    assert main(["compare", str(counts), str(counts), "--layout", "counts"]) == 2
    assert "since only `measure` reads" in " ".join(capsys.readouterr().err.split())
