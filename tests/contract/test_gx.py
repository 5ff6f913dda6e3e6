"""What is asked of distinct values is the same as what the whole table says."""

from functools import cache
from unittest.mock import Mock

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
    _increase,
    is_usual,
)
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.yaml_files import Place
from tests.contract.tables import contract_of, entry, findings_in_rows

pytestmark = pytest.mark.slow

SCALE = Scale(("no", "yes", "maybe"))
NAMES = ["", " ", "a", "b@example.org", "7", "2024-01-31", '{"a": 1}', "é", "yes", "no", "maybe"]
ODD = [3, 2.5, True, pd.Timestamp("2024-01-31")]
COLUMNS = ("item", "rater", "label")
MOSTLY = [{}, {"mostly": 0.0}, {"mostly": 0.5}, {"mostly": 0.9}]
NUMBERS = [1, 2.5, 3, -1, 0, 7]
BETWEEN = [
    {"min_value": 1},
    {"max_value": 3, "strict_max": True},
    {"min_value": 0, "max_value": 3, "strict_min": True},
    {"min_value": "2024-01-01"},
    {"min_value": 5, "max_value": 2},
]
LENGTHS = [{"min_value": 1}, {"max_value": 3}, {"min_value": 2, "max_value": 4}]
SETS = [
    {"value_set": {"$PARAMETER": "vocabulary"}},
    {"value_set": []},
    {"value_set": ["a", "no", 3, None]},
    {"value_set": [1, 2]},
]
LISTS = [
    {"regex_list": ["^[a-z]*$", "@"]},
    {"regex_list": ["("]},
    {"regex_list": ["a", "e"], "match_on": "all"},
]
REGEX = [{"regex": r"[^\s@]@[^\s@]+\.[^\s@]"}, {"regex": "^.?$"}, {"regex": "("}]
KWARGS = {
    "expect_column_values_to_be_null": [{}],
    "expect_column_values_to_not_be_null": [{}],
    "expect_column_values_to_match_regex": REGEX,
    "expect_column_values_to_not_match_regex": REGEX,
    "expect_column_values_to_match_regex_list": LISTS,
    "expect_column_values_to_not_match_regex_list": LISTS[:2],
    "expect_column_values_to_be_in_set": SETS,
    "expect_column_values_to_not_be_in_set": SETS,
    "expect_column_values_to_be_between": BETWEEN,
    "expect_column_value_lengths_to_be_between": LENGTHS,
    "expect_column_value_lengths_to_equal": [{"value": 2}],
    "expect_column_values_to_match_strftime_format": [{"strftime_format": "%Y-%m-%d"}],
    "expect_column_values_to_be_dateutil_parseable": [{}],
    "expect_column_values_to_be_json_parseable": [{}],
}
OF_TABLES = [
    ("expect_column_values_to_be_unique", {"column": "item"}),
    ("expect_column_values_to_match_like_pattern", {"column": "item", "like_pattern": "%"}),
    ("expect_column_values_to_be_of_type", {"column": "item", "type_": "str"}),
    ("expect_column_values_to_be_in_type_list", {"column": "rater", "type_list": ["str"]}),
    ("expect_column_values_to_be_increasing", {"column": "occurrence"}),
    ("expect_column_distinct_values_to_be_in_set", {"column": "label", "value_set": ["no"]}),
    ("expect_multicolumn_values_to_be_equal", {"column_list": ["item", "rater"]}),
    ("expect_table_row_count_to_be_between", {"min_value": 5}),
    ("expect_column_mean_to_be_between", {"column": "occurrence", "min_value": 1.5}),
    ("expect_column_mean_to_be_between", {"column": "earlier", "max_value": 0.3}),
    ("expect_column_mean_to_be_between", {"column": "confidence", "min_value": 0.5}),
    ("expect_column_mean_to_be_between", {"column": "absent", "min_value": 0.5}),
]
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


def entries():
    """Each expectation, in turn on each column of codes and with each `mostly`."""
    some = [(kind, kwargs) for kind, each in KWARGS.items() for kwargs in each]
    asked = [
        (kind, {"column": COLUMNS[number % 3], **kwargs, **MOSTLY[number % 4]})
        for number, (kind, kwargs) in enumerate(some)
    ]
    asked += [(kind, {"column": "absent", **each[0]}) for kind, each in list(KWARGS.items())[::4]]
    lists = [
        ["item", "rater", "occurrence"],
        ["item", "rater"],
        ["item", "rater", "label"],
        ["rater", "occurrence"],
        ["label", "earlier"],
        ["rater", "confidence"],
        ["rater", "absent"],
    ]
    ignored = ("all_values_are_missing", "any_value_is_missing", "never")
    asked += [
        (
            "expect_compound_columns_to_be_unique",
            {"column_list": names, "ignore_row_if": ignored[n % 3], **MOSTLY[n % 4]},
        )
        for n, names in enumerate(lists)
    ]
    return [entry(f"check_{n}", *each) for n, each in enumerate([*asked, *OF_TABLES])]


def usual(turn):
    """Each expectation that is answered here, on every second column of rows.

    The next turn has the other columns, and another `mostly`. So few are asked of Great
    Expectations, and each expectation is asked of each column and in each turn.
    """
    bounds = [{"min_value": 1}, {"max_value": 0.5}, {"min_value": 0, "max_value": 1}]
    said = {
        "expect_column_values_to_be_in_set": SETS[:1],
        "expect_column_values_to_not_be_null": [{}],
        "expect_column_values_to_not_match_regex": REGEX[:2],
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


def entries_of(at):
    """What is asked of a table. The last one has the items and raters of another.

    What asks no distinct values is asked of every third table.
    """
    some = [
        each
        for number, each in enumerate(entries())
        if each["type"] in gx.OF_VALUES or number % 3 == at % 3
    ]
    return [each for each in some if at < len(TABLES) - 1 or "label" in str(each["kwargs"])]


@cache
def said_of_the_whole(at):
    with pytest.MonkeyPatch.context() as patched:
        contract = contract_of(*entries_of(at), items=ITEMS)
        return findings(contract, TABLES[at], patched, reference)


@pytest.fixture
def every_table_is_large(monkeypatch):
    """Distinct values are asked. Memory, which large tables would fill, is not given back."""
    monkeypatch.setattr(gx, "MANY", 0)
    monkeypatch.setattr(gx, "gc", Mock())


@pytest.mark.usefixtures("every_table_is_large")
@pytest.mark.parametrize("at", range(len(TABLES)))
def test_the_findings_are_those_of_the_whole_table(monkeypatch, at):
    """Also of a large table, for which distinct values are asked."""
    contract = contract_of(*entries_of(at), items=ITEMS)
    assert findings(contract, TABLES[at], monkeypatch, gx.answers) == said_of_the_whole(at)


def test_the_findings_of_a_small_table_are_those_of_the_whole_table(monkeypatch):
    """No distinct values are asked there. All else is asked as of a large table."""
    monkeypatch.setattr(gx, "_of_distinct", None)
    asked = [each for each in entries() if each["type"] in gx.OF_VALUES]
    names = {each["meta"]["check"] for each in (*asked, *ITEMS)}
    found = findings(contract_of(*asked, items=ITEMS), TABLES[3], monkeypatch, gx.answers)
    known = [each for each in said_of_the_whole(3) if each.check in names]
    assert [each for each in found if each.table != "round"] == known


@pytest.mark.usefixtures("every_table_is_large")
@pytest.mark.parametrize("at", [0, 70, 138])
def test_rows_that_are_not_in_order_are_looked_through(at):
    """Only order shows without a look at all rows that none is there twice."""
    table = pd.DataFrame([(f"i{n // 2:02}", "ab"[n % 2]) for n in range(140)], columns=COLUMNS[:2])
    table = table.astype("category")
    assert _increase(table, COLUMNS[:2])
    swapped = table.iloc[[*range(at), at + 1, at, *range(at + 2, 140)]]
    assert not _increase(swapped, COLUMNS[:2])
    twice = pd.concat([table, table.iloc[[at]]], ignore_index=True)
    built = entry("c", UNIQUE, {"column_list": [*COLUMNS[:2]]})
    suite = {"c": gx.suite_of(contract_of(built).rows, Place("contract"))["c"]}
    assert gx.answers(suite, table, [])["c"].success
    assert not gx.answers(suite, twice, [])["c"].success


@pytest.mark.usefixtures("every_table_is_large")
def test_what_holds_for_distinct_values_is_not_asked_of_all_rows(monkeypatch):
    asked, ask = [], gx._asked

    def watched(suite, *of):
        asked.append((len(of[0]), [*suite]))
        return ask(suite, *of)

    monkeypatch.setattr(gx, "_asked", watched)
    table = pd.DataFrame(
        [(f"i{n // 3}", "abc"[n % 3], ["no", "yes"][n % 2]) for n in range(30)],
        columns=["item", "rater", "label"],
    )
    lengths = "expect_column_value_lengths_to_equal"
    rows = [entry(name, lengths, {"column": name, "value": 2}) for name in ("item", "rater")]
    contract_of(*rows).check(Ratings.from_frame(table, SCALE))
    assert [each for each in asked if each[1]] == [(10, [""]), (3, [""]), (30, ["rater"])]


@pytest.mark.parametrize(("turn", "table"), [*enumerate(TABLES)])
def test_the_usual_expectations_are_answered_as_great_expectations_does(monkeypatch, turn, table):
    contract = contract_of(*usual(turn), items=ITEMS)
    slow = findings(contract, table, monkeypatch, reference)
    assert all(map(is_usual, contract.expectations))
    assert findings(contract, table, monkeypatch, gx.answers) == slow


def test_each_expectation_of_values_is_compared():
    assert set(KWARGS) >= gx.OF_VALUES
