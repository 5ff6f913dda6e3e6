"""The default contract: what each check finds, and what there is nothing to check on."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract.answers import EMAIL
from agreement_pipeline.ratings import Ratings, Scale
from tests.contract.tables import (
    DEFAULT,
    SCALE,
    check,
    check_rows,
    contract_of,
    entry,
    failing,
    failing_rows,
    good_table,
    renamed,
    with_cell,
)


def test_a_good_table_passes_every_default_check():
    assert failing(good_table()) == set()


def test_what_is_looked_for_in_names_is_told_by_one_letter():
    looked_for = {each.kwargs["regex"] for each in DEFAULT.rows if "regex" in each.kwargs}
    assert looked_for == {EMAIL}


def test_ratings_from_a_frame_pass_every_default_check():
    ratings = Ratings.from_frame(good_table(), SCALE)
    assert [f.check for f in DEFAULT.check(ratings) if not f.passed] == []


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(good_table().iloc[:0], {"rows_present"}, id="no rows"),
        pytest.param(good_table().drop(columns="earlier"), {"columns_present"}, id="no earlier"),
        pytest.param(
            good_table().drop(columns="item"),
            {"columns_present", "item_present", "rating_unique", "item_without_email"},
            id="no column item",
        ),
        pytest.param(
            good_table().drop(columns="rater"),
            {"columns_present", "rater_present", "rating_unique", "rater_without_email"},
            id="no column rater",
        ),
        pytest.param(
            good_table().drop(columns="label"),
            {"columns_present", "label_present", "label_on_scale"},
            id="no column label",
        ),
        pytest.param(
            good_table().drop(columns="occurrence"),
            {"columns_present", "occurrence_present", "rating_unique"},
            id="no column occurrence",
        ),
        pytest.param(with_cell("item", None), {"item_present"}, id="no item"),
        pytest.param(with_cell("rater", None), {"rater_present"}, id="no rater"),
        pytest.param(with_cell("label", None), {"label_present"}, id="no label"),
        pytest.param(with_cell("occurrence", None), {"occurrence_present"}, id="no occurrence"),
        pytest.param(with_cell("label", "maybe"), {"label_on_scale"}, id="a label off the scale"),
        pytest.param(
            pd.concat([good_table(), good_table().tail(1)]), {"rating_unique"}, id="a rating twice"
        ),
        pytest.param(
            with_cell("confidence", 1.5), {"confidence_between_0_and_1"}, id="confidence above 1"
        ),
        pytest.param(
            with_cell("confidence", -0.5), {"confidence_between_0_and_1"}, id="confidence under 0"
        ),
    ],
)
def test_each_default_check_of_rows_fails_on_its_bad_table_and_no_other_does(table, expected):
    assert failing_rows(table) == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            renamed("item", "i01", "ann@example.org"),
            {"item_without_email"},
            id="an e-mail address for an item",
        ),
        pytest.param(
            renamed("rater", "bob", "bob@example.org"),
            {"rater_without_email"},
            id="an e-mail address for a rater",
        ),
        pytest.param(good_table(n_replicated=0), set(), id="nothing replicated"),
        pytest.param(good_table().query("rater == 'ann'"), {"raters_per_item"}, id="one rater"),
        pytest.param(
            good_table().assign(earlier=True),
            {"items_present"},
            id="earlier ratings only",
        ),
    ],
)
def test_each_default_check_fails_on_its_bad_round_and_no_other_does(table, expected):
    assert failing(table) == expected


def test_a_round_without_a_rating_fails():
    empty = Ratings.from_frame(good_table().assign(assisted=True), SCALE).without_assisted
    assert {finding.check for finding in DEFAULT.check(empty) if not finding.passed} == {
        "rows_present",
        "items_present",
    }


def test_every_default_check_of_rows_and_items_is_shown_failing_above():
    shown = [
        case.values[1]
        for test in (
            test_each_default_check_of_rows_fails_on_its_bad_table_and_no_other_does,
            test_each_default_check_fails_on_its_bad_round_and_no_other_does,
        )
        for mark in test.pytestmark
        if mark.name == "parametrize"
        for case in mark.args[1]
    ]
    assert set().union(*shown) - {"occurrences_in_order"} == {
        each.check for each in (*DEFAULT.rows, *DEFAULT.items)
    }


def test_a_warning_never_holds_and_an_error_does():
    assert not check(good_table().query("rater == 'ann'"))["raters_per_item"].holds
    assert check_rows(with_cell("label", "maybe"))["label_on_scale"].holds


def test_ratings_by_classifiers_alone_are_no_round():
    assert failing(good_table(), classifiers=("ann", "bob", "cy")) == {"items_present"}


def test_a_classifier_does_not_count_among_the_raters_of_an_item():
    table = good_table().query("rater != 'cy'")
    assert failing(table) == set()
    assert failing(table, classifiers=("bob",)) == {"raters_per_item"}


@pytest.mark.parametrize(("n_alone", "passed"), [(1, True), (2, False)])
def test_raters_per_item_allows_one_item_in_twenty_a_single_rater(n_alone, passed):
    table = good_table(n_items=20)
    alone = table["item"].isin([f"i{i:02}" for i in range(n_alone)]) & (table["rater"] != "ann")
    assert check(table[~alone])["raters_per_item"].passed is passed


def test_the_items_table_is_what_a_slow_loop_over_the_rows_counts():
    rng = np.random.default_rng(3)
    rows = sorted(
        {(f"i{rng.integers(8)}", f"r{rng.integers(4)}", int(rng.integers(1, 4))) for _ in range(70)}
    )
    table = pd.DataFrame(
        [(i, r, rng.choice(["no", "yes"]), o, bool(rng.random() < 0.4)) for i, r, o in rows],
        columns=["item", "rater", "label", "occurrence", "earlier"],
    )
    first, met = {}, defaultdict(int)
    for row in table.itertuples():
        if row.rater == "r3":
            continue
        met[row.item, row.rater] += 1
        if not row.earlier:
            first.setdefault((row.item, row.rater), row.label)
    items = {item for item, _ in first}
    n_labels = sum(len({label for (i, _), label in first.items() if i == item}) for item in items)
    replicated = sum(any(met[item, f"r{r}"] > 1 for r in range(3)) for item in items)
    assert 0 < replicated < len(items)

    sums = [
        entry(name, "expect_column_sum_to_be_between", {"column": name, "min_value": 0})
        for name in ("n_raters", "n_labels")
    ] + [
        entry(
            "replicated",
            "expect_column_mean_to_be_between",
            {"column": "replicated", "min_value": 0},
        ),
        entry("n_items"),
    ]
    ratings = Ratings.from_frame(table, SCALE, classifiers=("r3",))
    found = {f.check: dict(f.observed) for f in contract_of(entry(), items=sums).check(ratings)}
    assert found["n_items"]["observed_value"] == len(items)
    assert found["n_raters"]["observed_value"] == len(first)
    assert found["n_labels"]["observed_value"] == n_labels
    assert found["replicated"]["observed_value"] == pytest.approx(replicated / len(items))


def test_confidence_that_was_not_delivered_passes_and_says_so():
    finding = check(good_table().drop(columns="confidence"))["confidence_between_0_and_1"]
    assert finding.passed
    assert finding.description.startswith(
        "confidence_between_0_and_1: column confidence was not delivered, so nothing was checked; "
    )


def test_labels_on_a_continuous_scale_pass_and_say_that_nothing_was_checked():
    table = good_table().assign(label=0.25)
    finding = check(table, scale=Scale(None, "interval"))["label_on_scale"]
    assert finding.passed
    assert "the scale has no list of categories, so nothing was checked" in finding.description


def test_labels_on_a_scale_of_numbers_are_compared_as_numbers():
    scale = Scale((1, 2, 3), "interval")
    assert failing(good_table().assign(label=2.0), scale=scale) == set()
    off = good_table().assign(label=4.0)
    assert failing_rows(off, scale=scale) == {"label_on_scale"}


def test_confidence_delivered_as_text_is_read_as_numbers():
    assert failing(good_table().assign(confidence="0.9")) == set()


def test_confidence_in_words_could_not_be_checked_and_holds():
    words = good_table().assign(confidence="high")
    finding = check_rows(words)["confidence_between_0_and_1"]
    assert finding.holds
    assert "could not be run" in finding.description
