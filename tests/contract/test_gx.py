"""What is answered here is what Great Expectations says."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import gx, validation
from agreement_pipeline.contract.answers import (
    COLUMNS as COLUMNS_IN,
)
from agreement_pipeline.contract.answers import (
    FORMS,
    ROWS,
    UNIQUE,
    Answer,
    _is_increasing,
    is_usual,
)
from agreement_pipeline.ratings import Scale
from agreement_pipeline.yaml_files import Place
from tests.contract.tables import contract_of, entry, findings_in_rows

pytestmark = pytest.mark.slow

SCALE = Scale(("no", "yes", "maybe"))
NAMES = ["", " ", "a", "b@example.org", "7", "2024-01-31", '{"a": 1}', "é", "yes", "no", "maybe"]
ODD = [3, 2.5, True, pd.Timestamp("2024-01-31")]
COLUMNS = ("item", "rater", "label")
MOSTLY = [{}, {"mostly": 0.0}, {"mostly": 0.5}, {"mostly": 0.9}]
NUMBERS = [1, 2.5, 3, -1, 0, 7]
SETS = [{"value_set": {"$PARAMETER": "vocabulary"}}]
REGEX = [{"regex": r"[^\s@]@[^\s@]+\.[^\s@]"}, {"regex": "^.?$"}]
ITEMS = [
    entry("items_few", "expect_column_values_to_be_between", {"column": "n_raters", "max_value": 1})
]


def reference(suite, frame, vocabulary):
    """What Great Expectations says of the whole table, run as its handbook says."""
    built = [each.built for each in suite.values()]
    import great_expectations
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
    )

    if not suite:
        return {}
    config = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(), progress_bars={"globally": False}
    )
    context = great_expectations.get_context(mode="ephemeral", project_config=config)
    batch = (
        context.data_sources.add_pandas("ratings")
        .add_dataframe_asset("table")
        .add_batch_definition_whole_dataframe("whole")
    )
    expected = context.suites.add(
        great_expectations.ExpectationSuite(name="contract", expectations=built)
    )
    run = great_expectations.ValidationDefinition(name="contract", data=batch, suite=expected).run(
        batch_parameters={"dataframe": frame},
        expectation_parameters={"vocabulary": vocabulary},
        result_format={"result_format": "SUMMARY", "partial_unexpected_count": 20},
    )
    return {
        result.expectation_config.meta["check"]: Answer(
            bool(result.success), result.result, gx._raised(result.exception_info or {})
        )
        for result in run.results
    }


def usual(turn):
    """Each expectation that is answered here, on every second column of rows.

    The next turn has the other columns, and another `mostly`. So few are asked of Great
    Expectations, and each expectation is asked of each column and in each turn.
    """
    bounds = [{"min_value": 1}, {"max_value": 0.5}, {"min_value": 0, "max_value": 1}]
    said = {
        "expect_column_values_to_be_in_set": SETS,
        "expect_column_values_to_not_be_null": [{}],
        "expect_column_values_to_not_match_regex": REGEX,
        "expect_column_values_to_be_between": bounds,
    }
    columns = [*COLUMNS, "occurrence", "earlier", "confidence", "absent"]
    some = [(kind, kwargs) for kind, each in said.items() for kwargs in each]
    asked = [
        (kind, {"column": column, **kwargs, **MOSTLY[(turn + row + place) // 2 % 4]})
        for row, (kind, kwargs) in enumerate(some)
        for place, column in enumerate(columns)
        if (turn + row + place) % 2 == 0
    ]
    asked += [(UNIQUE, {"column_list": names}) for names in (["item", "rater"], columns[:5])]
    asked += [
        (COLUMNS_IN, {"column_set": names, "exact_match": False})
        for names in (["item", "rater"], ["label", "absent"])
    ]
    asked += [(ROWS, kwargs) for kwargs in bounds]
    assert {kind for kind, _ in asked} == {*FORMS}
    return [entry(f"check_{n}", *each) for n, each in enumerate(asked)]


def random_table(random, n_rows, names):
    """Ratings that break every rule: odd names, missing values, rows met twice, in any order."""

    def column():
        some = names[: random.integers(1, len(names) + 1)]
        values = [some[place] for place in random.integers(0, len(some), n_rows)]
        missing = random.random(n_rows) < random.choice([0, 0.1, 1], p=[0.5, 0.4, 0.1])
        return pd.Series(values, dtype=object).where(~missing, None)

    return pd.DataFrame(
        {
            "item": column(),
            "rater": column(),
            "label": column(),
            "occurrence": random.integers(1, 3, n_rows),
            "earlier": random.random(n_rows) < 0.3,
            "confidence": random.random(n_rows).round(1),
        }
    )


def on_scale(table):
    """The same table with labels in codes, of which the scale has more than were given."""
    places = pd.Index(SCALE.categories).get_indexer(list(table["label"]))
    return table.assign(label=pd.Categorical.from_codes(places, categories=SCALE.categories))


def tables():
    random = np.random.default_rng(20)
    texts = [random_table(random, n_rows, NAMES) for n_rows in (0, 1, 120)]
    odd = random_table(random, 60, [*NAMES, *ODD])
    return [*texts, odd, random_table(random, 60, NUMBERS), on_scale(texts[2])]


def findings(contract, table, monkeypatch, how):
    with monkeypatch.context() as patched:
        patched.setattr(validation, "answers", how)
        return findings_in_rows(table, contract=contract, scale=SCALE)


TABLES = tables()


@pytest.mark.parametrize("at", [0, 70, 138])
def test_rows_that_are_not_in_order_are_looked_through(at):
    """Only order shows without a look at all rows that none is there twice."""
    table = pd.DataFrame([(f"i{n // 2:02}", "ab"[n % 2]) for n in range(140)], columns=COLUMNS[:2])
    table = table.astype("category")
    assert _is_increasing(table, COLUMNS[:2])
    swapped = table.iloc[[*range(at), at + 1, at, *range(at + 2, 140)]]
    assert not _is_increasing(swapped, COLUMNS[:2])
    twice = pd.concat([table, table.iloc[[at]]], ignore_index=True)
    built = entry("c", UNIQUE, {"column_list": [*COLUMNS[:2]]})
    suite = {"c": gx.suite_of(contract_of(built).rows, Place("contract"))["c"]}
    assert gx.answers(suite, table, [])["c"].success
    assert not gx.answers(suite, twice, [])["c"].success


@pytest.mark.parametrize(("turn", "table"), [*enumerate(TABLES)])
def test_the_usual_expectations_are_answered_as_great_expectations_does(monkeypatch, turn, table):
    contract = contract_of(*usual(turn), items=ITEMS)
    slow = findings(contract, table, monkeypatch, reference)
    assert all(map(is_usual, contract.expectations))
    assert findings(contract, table, monkeypatch, gx.answers) == slow
