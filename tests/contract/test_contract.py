import json
import os
import subprocess
import sys
import warnings
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract, validation
from agreement_pipeline.contract.expectations import Meta, Spec
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("no", "yes"))
DEFAULT = Contract.default()
ON_ITEMS = {"items_present", "raters_per_item", "replicated_items"}


def good_table(n_items=4, n_replicated=1):
    rows = [
        (f"i{i:02}", rater, "yes" if i % 2 else "no", 1, False, 0.5)
        for i in range(n_items)
        for rater in ("ann", "bob", "cy")
    ]
    rows += [(f"i{i:02}", "ann", "yes", 2, False, 0.5) for i in range(n_replicated)]
    table = pd.DataFrame(
        rows, columns=["item", "rater", "label", "occurrence", "earlier", "confidence"]
    )
    return table.astype({"item": object, "rater": object, "label": object})


def with_cell(column, value, row=1):
    table = good_table().astype({column: object})
    table.at[row, column] = value
    return table


def renamed(column, old, new):
    table = good_table()
    return table.assign(**{column: table[column].replace(old, new)})


def check(table, contract=DEFAULT, scale=SCALE, classifiers=()):
    return {
        finding.check: finding for finding in contract.check(Ratings(table, scale, classifiers))
    }


def failing(table, **more):
    return {name for name, finding in check(table, **more).items() if not finding.passed}


def entry(check="extra", type="expect_table_row_count_to_be_between", kwargs=None, **more):
    meta = {"check": check} | more.pop("meta", {})
    return {
        "type": type,
        "kwargs": kwargs or {"min_value": 1},
        "description": "this must hold",
        "meta": meta,
    } | more


def contract_of(*rows, items=None):
    return Contract.from_mapping({"rows": list(rows), "items": items or [entry("on_items")]})


# ---- the default contract


def test_a_good_table_passes_every_default_check():
    assert failing(good_table()) == set()


def test_ratings_from_a_frame_pass_every_default_check():
    ratings = Ratings.from_frame(good_table(), SCALE)
    assert [f.check for f in DEFAULT.check(ratings) if not f.passed] == []


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            good_table().iloc[:0],
            {"rows_present", "items_present", "replicated_items"},
            id="no rows",
        ),
        pytest.param(
            good_table().drop(columns="earlier"),
            {"columns_present"} | ON_ITEMS,
            id="no column earlier",
        ),
        pytest.param(
            good_table().drop(columns="item"),
            {"columns_present", "item_present", "rating_unique", "item_without_email"} | ON_ITEMS,
            id="no column item",
        ),
        pytest.param(
            good_table().drop(columns="rater"),
            {"columns_present", "rater_present", "rating_unique", "rater_without_email"} | ON_ITEMS,
            id="no column rater",
        ),
        pytest.param(
            good_table().drop(columns="label"),
            {"columns_present", "label_present", "label_on_scale"} | ON_ITEMS,
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
        pytest.param(good_table(n_replicated=0), {"replicated_items"}, id="nothing replicated"),
        pytest.param(good_table().query("rater == 'ann'"), {"raters_per_item"}, id="one rater"),
        pytest.param(
            good_table().assign(earlier=True),
            {"items_present", "replicated_items"},
            id="earlier ratings only",
        ),
    ],
)
def test_each_default_check_fails_on_its_bad_table_and_no_other_does(table, expected):
    assert failing(table) == expected


def test_every_default_check_is_shown_failing_above():
    cases = next(
        mark
        for mark in test_each_default_check_fails_on_its_bad_table_and_no_other_does.pytestmark
        if mark.name == "parametrize"
    ).args[1]
    assert set().union(*(case.values[1] for case in cases)) == {
        spec.check for spec in DEFAULT.specs
    }


def test_a_warning_never_holds_and_an_error_does():
    assert not check(good_table(n_replicated=0))["replicated_items"].holds
    assert check(with_cell("label", "maybe"))["label_on_scale"].holds


def test_ratings_by_classifiers_alone_are_no_round():
    assert failing(good_table(), classifiers=("ann", "bob", "cy")) == {
        "items_present",
        "replicated_items",
    }


def test_a_classifier_does_not_count_among_the_raters_of_an_item():
    table = good_table().query("rater != 'cy'")
    assert failing(table) == set()
    assert failing(table, classifiers=("bob",)) == {"raters_per_item"}


@pytest.mark.parametrize(("n_alone", "passed"), [(1, True), (2, False)])
def test_raters_per_item_allows_one_item_in_twenty_a_single_rater(n_alone, passed):
    table = good_table(n_items=20)
    alone = table["item"].isin([f"i{i:02}" for i in range(n_alone)]) & (table["rater"] != "ann")
    assert check(table[~alone])["raters_per_item"].passed is passed


@pytest.mark.parametrize(("n_items", "passed"), [(20, True), (21, False)])
def test_replicated_items_asks_for_one_item_in_twenty(n_items, passed):
    assert check(good_table(n_items=n_items))["replicated_items"].passed is passed


def test_a_rating_of_an_earlier_round_makes_an_item_replicated():
    table = good_table()
    table["earlier"] = (
        (table["rater"] == "ann") & (table["item"] == "i00") & (table["occurrence"] == 1)
    )
    assert check(table)["replicated_items"].passed


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
    found = {
        f.check: dict(f.observed)
        for f in contract_of(entry(), items=sums).check(Ratings(table, SCALE, ("r3",)))
    }
    assert found["n_items"]["observed_value"] == len(items)
    assert found["n_raters"]["observed_value"] == len(first)
    assert found["n_labels"]["observed_value"] == n_labels
    assert found["replicated"]["observed_value"] == pytest.approx(replicated / len(items))


# ---- what there is nothing to check on


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
    assert failing(good_table().assign(label=4.0), scale=scale) == {"label_on_scale"}


def test_confidence_delivered_as_text_is_read_as_numbers():
    assert failing(good_table().assign(confidence="0.9")) == set()
    assert failing(good_table().assign(confidence="9")) == {"confidence_between_0_and_1"}


def test_confidence_in_words_could_not_be_checked_and_holds():
    finding = check(good_table().assign(confidence="high"))["confidence_between_0_and_1"]
    assert finding.holds
    assert "could not be run" in finding.description


# ---- findings


def test_a_finding_says_how_many_fail_and_where():
    finding = check(with_cell("label", "maybe"))["label_on_scale"]
    assert (
        finding.description == "label_on_scale: 1 of 13 rows fail, first [('i00', 'bob')]; "
        "every label must be a category of the scale"
    )
    assert dict(finding.observed) == {
        "checked": 13,
        "missing": 0,
        "unexpected": 1,
        "failing": (("i00", "bob"),),
    }


def test_failing_keys_are_those_of_the_rows_whatever_the_index_of_the_table():
    table = with_cell("label", "maybe", row=4)
    table.index = pd.Index([7] * len(table))
    assert dict(check(table)["label_on_scale"].observed)["failing"] == (
        (table["item"].iloc[4], table["rater"].iloc[4]),
    )


def test_a_finding_names_five_failing_keys_and_keeps_twenty():
    finding = check(good_table(n_items=30, n_replicated=2).assign(label="maybe"))["label_on_scale"]
    assert "92 of 92 rows fail" in finding.description
    assert finding.description.count("('i") == 5
    assert len(dict(finding.observed)["failing"]) == 20


def test_a_finding_on_items_names_items():
    table = good_table()
    table = table[(table["item"] != "i03") | (table["rater"] == "ann")]
    finding = check(table)["raters_per_item"]
    assert (
        finding.description == "raters_per_item: 1 of 4 items fail, first ['i03']; "
        "at least 2 raters are required on 95% of the items"
    )


def test_a_finding_says_how_many_rows_had_no_value_to_check():
    assert (
        "0 of 12 rows fail, 1 without a value"
        in check(with_cell("confidence", np.nan))["confidence_between_0_and_1"].description
    )


def test_an_aggregate_finding_says_what_was_found():
    assert check(good_table())["replicated_items"].description.startswith(
        "replicated_items: 0.25 found; "
    )
    assert (
        check(good_table())["rows_present"].description
        == "rows_present: 13 found; at least one rating must be present"
    )


def test_an_aggregate_over_nothing_has_no_value():
    finding = check(good_table().iloc[:0])["replicated_items"]
    assert finding.observed == (("observed_value", None),)
    assert "no value reported" in finding.description


@pytest.mark.parametrize(
    ("type_", "kwargs", "found"),
    [
        (
            "expect_column_distinct_values_to_be_in_set",
            {"column": "label", "value_set": ["no"]},
            "no value reported",
        ),
        (
            "expect_column_unique_value_count_to_be_between",
            {"column": "rater", "min_value": 4},
            "3 found",
        ),
        ("expect_column_stdev_to_be_between", {"column": "confidence", "min_value": 1}, "0 found"),
        ("expect_column_to_exist", {"column": "absent"}, "no value reported"),
        (
            "expect_table_columns_to_match_ordered_list",
            {"column_list": ["a"]},
            "['item', 'rater', 'label', 'occurrence', 'earlier', 'confidence'] found",
        ),
        (
            "expect_column_pair_values_a_to_be_greater_than_b",
            {"column_A": "confidence", "column_B": "occurrence"},
            "13 of 13 rows fail, first [('i00', 'ann'), ",
        ),
        (
            "expect_multicolumn_sum_to_equal",
            {"column_list": ["occurrence", "confidence"], "sum_total": 1.5},
            "1 of 13 rows fail, first [('i00', 'ann')]",
        ),
    ],
)
def test_whatever_great_expectations_reports_is_worded(type_, kwargs, found):
    finding = check(
        good_table(), contract=contract_of(entry("odd", type_, kwargs, severity="warning"))
    )["odd"]
    assert (finding.passed, finding.severity) == (False, "warning")
    assert finding.description.startswith(f"odd: {found}")


def test_personal_data_stand_in_no_finding_whichever_check_failed():
    table = renamed("rater", "bob", "bob@example.org")
    table.at[1, "label"] = "maybe"
    findings = DEFAULT.check(Ratings(table, SCALE))
    assert {f.check for f in findings if not f.passed} == {"label_on_scale", "rater_without_email"}
    assert "bob" not in repr(findings)
    assert dict(next(f for f in findings if f.check == "label_on_scale").observed)["failing"] == (
        ("i00", "(redacted)"),
    )


@pytest.mark.parametrize(
    "table",
    [
        good_table(),
        good_table().assign(label="maybe", confidence=2.0),
        good_table().iloc[:0],
        with_cell("item", None),
    ],
)
def test_observed_values_are_plain_python(table):
    def types(value):
        return (
            set().union(*map(types, value)) if isinstance(value, tuple) and value else {type(value)}
        )

    for finding in check(table).values():
        assert type(finding.passed) is bool
        for name, value in finding.observed:
            assert types(value) <= {str, int, float, type(None), tuple}, name
        json.dumps(finding.observed, allow_nan=False)


def test_findings_stand_in_the_order_of_the_contract_whatever_it_is():
    backwards = Contract.from_mapping(
        {table: entries[::-1] for table, entries in DEFAULT.to_mapping().items()}
    )
    for contract in (DEFAULT, backwards):
        findings = contract.check(Ratings(with_cell("label", "maybe").drop(columns="item"), SCALE))
        assert [(f.check, f.table) for f in findings] == [
            (s.check, s.table) for s in contract.specs
        ]
    assert [s.check for s in backwards.specs] != [s.check for s in DEFAULT.specs]


def test_the_same_ratings_give_the_same_findings():
    table = with_cell("label", "maybe").drop(columns="item")
    assert DEFAULT.check(Ratings(table, SCALE)) == DEFAULT.check(Ratings(table.copy(), SCALE))


def test_the_ratings_are_left_as_they_were():
    table = with_cell("label", "maybe")
    before = table.copy()
    check(table)
    pd.testing.assert_frame_equal(table, before)


# ---- what could not be run


@pytest.mark.parametrize(
    ("type_", "kwargs"),
    [
        ("expect_column_values_to_be_between", {"column": "absent", "min_value": 0}),
        ("expect_column_mean_to_be_between", {"column": "label", "min_value": 0}),
        ("expect_column_values_to_match_regex", {"column": "item", "regex": "("}),
    ],
)
def test_an_expectation_that_raises_is_a_failed_error_whatever_was_declared(type_, kwargs):
    contract = contract_of(
        entry("before"), entry("raises", type_, kwargs, severity="warning"), entry("after")
    )
    found = check(good_table(), contract=contract)
    assert [(f.check, f.passed) for f in found.values()] == [
        ("before", True),
        ("raises", False),
        ("after", True),
        ("on_items", True),
    ]
    assert found["raises"].severity == "error"
    assert found["raises"].description.startswith("raises: could not be run (")


def test_a_result_that_does_not_come_back_is_a_failed_error(monkeypatch):
    monkeypatch.setattr(validation, "_results", lambda *_: {})
    found = check(good_table())
    assert {(f.passed, f.severity) for f in found.values()} == {(False, "error")}
    assert "no result came back" in found["raters_per_item"].description


def test_a_run_that_breaks_off_fails_every_check_of_its_table_as_an_error():
    found = check(pd.concat([good_table(), good_table()[["item"]]], axis=1))
    assert len(found) == len(DEFAULT.specs)
    assert {(f.passed, f.severity) for f in found.values()} == {(False, "error")}


def test_personal_data_in_an_exception_are_redacted(monkeypatch):
    def broken(*_):
        raise ValueError("cannot read bob@example.org")

    monkeypatch.setattr(validation, "_results", broken)
    assert check(good_table())["rows_present"].description.startswith(
        "rows_present: could not be run ((redacted));"
    )


def test_warnings_raised_inside_great_expectations_fail_nothing(monkeypatch):
    import great_expectations as gx

    open_context = gx.get_context

    def warning_context(**arguments):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return open_context(**arguments)

    monkeypatch.setattr(gx, "get_context", warning_context)
    assert failing(good_table()) == set()


# ---- bad contracts


@pytest.mark.parametrize(
    ("type_", "kwargs"),
    [
        ("expect_column_values_to_be_betwixt", {"column": "label", "min_value": 0}),
        ("expect_column_values_to_be_between", {"column": "label", "minimum": 0}),
        ("expect_column_values_to_be_between", {"column": "label"}),
        ("expect_column_values_to_not_be_null", {"columns": "label"}),
        ("expect_column_values_to_not_be_null", {"column": "label", "mostly": 3}),
    ],
)
def test_what_great_expectations_does_not_know_is_refused_and_not_dropped(tmp_path, type_, kwargs):
    (tmp_path / "rows.yaml").write_text(
        f"# rows\n- {json.dumps(entry())}\n- {json.dumps(entry('odd', type_, kwargs))}\n"
    )
    (tmp_path / "items.yaml").write_text(f"- {json.dumps(entry('on_items'))}\n")
    with pytest.raises(
        ContractError,
        match=rf"rows.yaml:3: found {type_} with .* \(.*\); expected an expectation that Great",
    ):
        Contract.load(tmp_path).check(Ratings(good_table(), SCALE))


def test_an_unknown_expectation_is_refused_even_where_there_is_nothing_to_check():
    contract = contract_of(
        entry(
            "odd",
            "expect_column_values_to_be_betwixt",
            {"column": "confidence"},
            meta={"when": "confidence"},
        )
    )
    with pytest.raises(ContractError, match="betwixt not found"):
        contract.check(Ratings(good_table().drop(columns="confidence"), SCALE))


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (
            entry(severity="fatal"),
            "severity: found 'fatal'; expected one of critical, warning, info",
        ),
        (entry(severity=["warning"]), "severity: found .*; expected one of critical, warning"),
        (
            entry(severty="warning"),
            r"rows\[0\].severty: found an unknown key; expected one of \['type', 'kwargs', "
            r"'description', 'meta', 'severity'\]. Did you mean 'severity'",
        ),
        (
            entry(meta={"wen": "confidence"}),
            r"meta.wen: found an unknown key; expected one of \['check', 'when', 'redact'\]",
        ),
        (
            entry(meta={"when": "confidance"}),
            "meta.when: found 'confidance'; expected one of confidence, timestamp, cluster",
        ),
        (entry(meta={"when": "label"}), "meta.when: found 'label'; expected one of confidence"),
        (
            entry(meta={"when": "cluster"}),
            "meta.when: found 'cluster'; expected confidence or timestamp in table rows",
        ),
        (entry(meta={"redact": True}), "kwargs: found .*; expected .* since meta.redact is true"),
        (entry(meta={"redact": "yes"}), "meta.redact: found 'yes'; expected true or false"),
        (
            entry(
                type="expect_column_values_to_not_match_regex",
                kwargs={"column": "item", "regex": "("},
                meta={"redact": True},
            ),
            "kwargs: found .*; expected .* with a valid regex, since meta.redact is true",
        ),
        (
            entry(
                type="expect_column_values_to_match_regex",
                kwargs={"column": "item", "regex": "p"},
                meta={"redact": True},
            ),
            "expected expect_column_values_to_not_match_regex .* since meta.redact is true",
        ),
        (
            entry(check="two words"),
            "meta.check: found 'two words'; expected a name of letters, digits and _",
        ),
        (entry(check="newline\n"), "meta.check: found .*; expected a name of letters"),
        (entry(check=3), "meta.check: found 3; expected a name of letters"),
        (entry(description=" "), "description: found ' '; expected a sentence"),
        (entry(type=None), "type: found None; expected an expectation on a table"),
        (
            entry(type="unexpected_rows_expectation"),
            "type: found 'unexpected_rows_expectation'; "
            "expected an expectation on a table or its columns",
        ),
        (entry(type="expect_query_results_to_match_comparison"), "type: found 'expect_query"),
        (entry(type="expect_table_row_count_to_equal_other_table"), "type: found 'expect_table"),
        (entry(type="expect_column_values_to_match_json_schema"), "type: found 'expect_column"),
        (entry(kwargs=["column"]), "kwargs: found .*; expected a mapping"),
        (
            entry(kwargs={"min_value": 1, "row_condition": "@pd.eval('1')"}),
            "kwargs: found .*; expected no key of row_condition",
        ),
        (
            entry(kwargs={"min_value": 1, "severity": "warning"}),
            "kwargs: found .*; expected no key of .* severity",
        ),
        (
            entry(kwargs={"min_value": {"$PARAMETER": "vocabulry"}}),
            "kwargs: found .*vocabulry.*; expected no .PARAMETER other than vocabulary",
        ),
        (
            entry(kwargs={"min_value": float("nan")}),
            "kwargs: found .*; expected a mapping of text, finite numbers, lists and mappings",
        ),
        (entry(kwargs={"min_value": pd.Timestamp(0)}), "Put dates in quotes"),
        (
            {key: value for key, value in entry().items() if key != "meta"},
            "meta: found nothing; expected a value",
        ),
        (entry() | {"meta": {}}, "meta.check: found nothing; expected a value"),
        (entry() | {"meta": "extra"}, "meta: found 'extra'; expected a mapping"),
        (
            "expect_table_row_count_to_be_between",
            r"rows\[0\]: found 'expect_table_row_.*; expected a mapping of keys and values",
        ),
        ({**entry(), "where": "elsewhere"}, r"rows\[0\].where: found an unknown key"),
    ],
)
def test_a_bad_entry_is_refused(bad, match):
    with pytest.raises(ContractError, match=match):
        contract_of(bad)


def test_items_have_no_column_that_may_be_missing():
    with pytest.raises(ContractError, match="when: found 'confidence'; expected cluster in table"):
        contract_of(entry(), items=[entry("on_items", meta={"when": "confidence"})])


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({}, "^mine: rows: found nothing; .* mine: items: found nothing; expected a value"),
        ({"rows": [entry()]}, "^mine: items: found nothing; expected a value"),
        (
            {"rows": [], "items": [entry()]},
            r"^mine: rows: found \[\]; expected a list of at least one expectation",
        ),
        (
            {"rows": [entry()], "items": None},
            "^mine: items: found None; expected a list",
        ),
        (
            {"rows": [entry()], "items": [entry("b")], "raters": []},
            r"^mine: raters: found an unknown key; expected one of \['rows', 'items'\]",
        ),
        ([entry()], "^mine: found .*; expected a mapping of keys and values"),
    ],
)
def test_a_contract_without_both_tables_or_with_another_is_refused(data, match):
    with pytest.raises(ContractError, match=match):
        Contract.from_mapping(data, source="mine")


def test_an_empty_contract_is_refused_however_it_is_made():
    with pytest.raises(ContractError, match=r"^rows: found \[\]; .* items: found \[\]; expected a"):
        Contract((), ())
    with pytest.raises(ContractError, match=r"^items: found \[\]; expected a list of at least one"):
        Contract(DEFAULT.rows, ())


def test_an_expectation_made_in_python_is_refused_with_every_mistake():
    with pytest.raises(ContractError) as caught:
        replace(DEFAULT.rows[0], type="pass", kwargs={"meta": 1}, severity="fatal")
    assert str(caught.value).startswith("type: found 'pass'; expected an expectation on a table")
    assert "kwargs: found {'meta': 1}; expected no key of" in str(caught.value)
    assert "severity: found 'fatal'; expected one of critical" in str(caught.value)
    with pytest.raises(ContractError, match=r"check: found 'a b'; .* redact: found 'yes'"):
        Meta("a b", redact="yes")


def test_a_name_twice_is_refused_within_a_table_and_across_tables():
    twice = r"rows\[0\].meta.check: found 'extra' more than once; expected a name of its own"
    with pytest.raises(ContractError, match=twice):
        contract_of(entry(), entry())
    with pytest.raises(
        ContractError, match=rf"{twice}.* items\[0\].meta.check: found 'extra' more"
    ):
        contract_of(entry(), items=[entry()])


# ---- files


ONE_CHECK = (
    "- {type: expect_table_row_count_to_be_between, kwargs: {min_value: 1}, "
    "description: some, meta: {check: n}}"
)


def written(
    folder,
    rows,
    items=ONE_CHECK,
):
    (folder / "rows.yaml").write_text(rows)
    (folder / "items.yaml").write_text(items)
    return folder


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("- type: [\n- a\n", r"rows.yaml:2: found text that is not readable as YAML"),
        ("", r"rows.yaml: rows: found None; expected a list"),
        ("[]", r"rows.yaml:1: rows: found \[\]; expected a list of at least one expectation"),
        ("expectations: []\n", "rows.yaml:1: rows: found {'expectations': .*; expected a list"),
        (
            "- type: expect_x\n  kwargs: {}\n  description: x\n  severity: fatal\n"
            "  meta: {check: x}\n",
            r"rows.yaml:4: rows\[0\].severity: found 'fatal'",
        ),
        (
            "- type: expect_x\n  kwargs: {}\n  description: x\n  meta:\n    check: x\n    wen: y\n",
            r"rows.yaml:6: rows\[0\].meta.wen: found an unknown key",
        ),
        ("- type: expect_x\n  kwargs: {}\n  kwargs: {}\n", "rows.yaml:3: found key 'kwargs' twice"),
    ],
)
def test_a_bad_file_is_refused_by_name_and_line(tmp_path, rows, match):
    with pytest.raises(ContractError, match=match):
        Contract.load(written(tmp_path, rows))


def test_a_name_in_both_files_is_refused_naming_both(tmp_path):
    both = r"items.yaml:1: items\[0\].meta.check: found 'n' .*rows.yaml:1: rows\[0\].meta.check: fo"
    with pytest.raises(ContractError, match=both):
        Contract.load(written(tmp_path, ONE_CHECK, ONE_CHECK))


def test_every_mistake_of_both_files_is_named(tmp_path):
    rows = "- type: pass\n  kwargs: {}\n  description: x\n  meta: {check: a b}\n- other\n"
    with pytest.raises(ContractError) as caught:
        Contract.load(written(tmp_path, rows, "- {type: expect_x, kwargs: []}\n"))
    for words in (
        "rows.yaml:1: rows[0].type: found 'pass'; expected",
        "rows.yaml:4: rows[0].meta.check: found 'a b'; expected",
        "rows.yaml:5: rows[1]: found 'other'; expected",
        "items.yaml:1: items[0].kwargs: found []; expected",
        "items.yaml:1: items[0].description: found nothing; expected",
    ):
        assert words in str(caught.value)


def test_a_missing_file_is_refused_by_name(tmp_path):
    written(tmp_path, "[]")
    (tmp_path / "rows.yaml").unlink()
    with pytest.raises(ContractError, match=r"rows.yaml: found a file that cannot be read"):
        Contract.load(tmp_path)


# ---- as plain data


def test_a_contract_survives_json():
    again = Contract.from_mapping(json.loads(json.dumps(DEFAULT.to_mapping())))
    assert again == DEFAULT
    assert again.digest == DEFAULT.digest


def test_changing_what_to_mapping_gave_changes_no_contract():
    before = DEFAULT.digest
    DEFAULT.to_mapping()["rows"][0]["kwargs"]["min_value"] = 0
    assert DEFAULT.digest == before


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e["kwargs"].update(min_value=2),
        lambda e: e.update(severity="warning"),
        lambda e: e.update(description="other"),
        lambda e: e["meta"].update(check="other"),
        lambda e: e["meta"].update(when="confidence"),
    ],
)
def test_the_digest_changes_with_the_contract(change):
    mapping = DEFAULT.to_mapping()
    change(mapping["rows"][0])
    assert Contract.from_mapping(mapping).digest != DEFAULT.digest


def test_specs_give_the_severities_of_the_gate():
    contract = contract_of(
        entry("a"),
        entry("b", severity="critical"),
        entry("c", severity="warning"),
        entry("d", severity="info"),
    )
    assert [spec.severity for spec in contract.specs] == [
        "error",
        "error",
        "warning",
        "warning",
        "error",
    ]
    assert contract.specs[0] == Spec("a", "rows", "error", "this must hold")


def test_default_findings_have_the_severity_of_their_spec():
    assert [f.severity for f in DEFAULT.check(Ratings(good_table(), SCALE))] == [
        s.severity for s in DEFAULT.specs
    ]


# ---- what it does not touch


def run_python(code, tmp_path):
    env = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    file = tmp_path / "code.py"
    file.write_text(code)
    folder = tmp_path / "here"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return done


def test_specs_are_read_without_great_expectations(tmp_path):
    code = (
        "import sys\nfrom agreement_pipeline.contract.contract import Contract\n"
        "print(len(Contract.default().specs), 'great_expectations' in sys.modules, "
        "'dagster' in sys.modules)"
    )
    assert run_python(code, tmp_path).stdout.split() == [str(len(DEFAULT.specs)), "False", "False"]


WATCHED = """
import os, sys
touched = []
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "os.mkdir", "os.rename"):
        touched.append((event, arguments))
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.append((event, arguments))
sys.addaudithook(watch)

import pandas as pd
from agreement_pipeline.contract.contract import Contract
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale

frame = pd.DataFrame({"item": ["a", "a"], "rater": ["x", "y"], "label": ["no", "yes"]})
findings = Contract.default().check(Ratings.from_frame(frame, Scale(("no", "yes"))))
assert "great_expectations" in sys.modules
print(len(findings), touched)
with open(sys.argv[0]) as file: pass
open(os.devnull, "w").close()
assert touched, "the watch sees nothing"
"""


def test_a_check_opens_no_connection_writes_nothing_and_says_nothing(tmp_path):
    done = run_python(WATCHED, tmp_path)
    assert done.stdout.strip() == f"{len(DEFAULT.specs)} []"
    assert done.stderr == ""


def test_a_cloud_account_in_the_environment_changes_nothing(monkeypatch):
    for name in ("ACCESS_TOKEN", "ORGANIZATION_ID", "BASE_URL"):
        monkeypatch.setenv(f"GX_CLOUD_{name}", "set")
    assert failing(good_table()) == set()
