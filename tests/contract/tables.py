"""Small tables, checked against a contract."""

from unittest.mock import patch

import pandas as pd

from agreement_pipeline.contract import Contract
from agreement_pipeline.contract.validation import DERIVED
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("no", "yes"))


DEFAULT = Contract.default()


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
    ratings = Ratings.from_frame(table, scale, classifiers=classifiers)
    return {finding.check: finding for finding in contract.check(ratings)}


def failing(table, **more):
    return {name for name, finding in check(table, **more).items() if not finding.passed}


def findings_in_rows(table, contract=DEFAULT, scale=SCALE):
    """What is found in rows that no reader lets through, beside good tables of items and round."""
    texts = [name for name in ("item", "rater", "label") if name in table]
    coded = [name for name in texts if table[name].dtype == object]
    rows = table.reset_index(drop=True).astype(dict.fromkeys(coded, "category"))
    good = Ratings.from_frame(good_table().assign(label=scale.names[0]), scale)
    broken = DERIVED["rows"]._replace(of=lambda *_: rows)
    with patch.dict(DERIVED, rows=broken):
        return contract.check(good)


def check_rows(table, **more):
    return {each.check: each for each in findings_in_rows(table, **more) if each.table == "rows"}


def failing_rows(table, **more):
    return {name for name, finding in check_rows(table, **more).items() if not finding.passed}


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
