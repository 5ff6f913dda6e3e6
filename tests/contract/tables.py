"""Small tables, checked against a contract."""

import pandas as pd

from agreement_pipeline.contract import Contract
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
