"""A table stands for ratings and a name for a policy; anything else says what to do."""

import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import agreement_pipeline as ap
from agreement_pipeline import estimates, progress
from agreement_pipeline.errors import AgreementError, PolicyError
from agreement_pipeline.policy import BUNDLED

ROWS = [(item, rater, "ab"[item % 2]) for item in range(9) for rater in ("ana", "ben")]
TABLE = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
POLICY = ap.load_policy("standard")


CALLS = {
    "measure": ap.measure,
    "survey": lambda table: ap.survey(table, ["alpha"], scopes=("round",)),
    "compare": lambda table: ap.compare(table, between=("ana", "ben")),
    "compare two": lambda table: ap.compare(table, TABLE),
    "judge": lambda table: ap.judge(table, "standard"),
    "plan": lambda table: ap.plan("standard", table, n_rounds=200),
    "report_page": lambda table: ap.report_page(table, "standard"),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_table_is_read_as_ratings(name, tmp_path):
    """Each call takes two of the four kinds of table, so each kind is read by three calls."""
    path = tmp_path / "labels.csv"
    TABLE.to_csv(path, index=False)
    tables = {
        "pandas": TABLE,
        "Polars": pl.from_pandas(TABLE),
        "Arrow": pa.Table.from_pandas(TABLE),
        "path": path,
    }
    call, at = CALLS[name], list(CALLS).index(name)
    expected = call(ap.read_ratings(TABLE))
    for kind in (list(tables) * 3)[at : at + 2]:
        assert call(tables[kind]) == expected, kind


@every_call
def test_what_is_no_table_is_refused_with_the_next_step(call):
    with pytest.raises(
        AgreementError, match=r"found int; expected a path, a DataFrame, or a table"
    ):
        call(3)


def test_nothing_is_refused_in_the_place_of_ratings():
    with pytest.raises(AgreementError, match=r"^ratings: found NoneType; expected what read_rat"):
        ap.measure(None)


def test_a_short_name_stands_for_a_measure():
    assert (
        ap.measure(TABLE, "alpha")
        == ap.measure(TABLE)
        == ap.measure(measure="alpha", ratings=TABLE)
    )


def test_a_policy_is_named_by_its_path_too(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(BUNDLED["standard"].read_text())
    named = [ap.judge(TABLE, each) for each in ("standard", path, str(path), POLICY)]
    assert all(each == named[0] for each in named)
    with pytest.raises(AgreementError, match=r"standrad: found no such file"):
        ap.judge(TABLE, "standrad")


def test_the_middle_takes_ratings_alone():
    with pytest.raises(AgreementError, match=r"^ratings: found DataFrame; expected what read_rat"):
        estimates.measure(TABLE)


def test_an_estimate_is_printed_in_one_line():
    said = str(ap.measure(TABLE))
    assert said.startswith("measure krippendorff_alpha, scope round, value 1, low ")
    assert said.endswith("confidence_level 0.95, items 9, raters 2, ratings 18")
    assert (
        len(str(ap.survey(TABLE, ["alpha", "fleiss_kappa"], scopes=("round",))).splitlines()) == 2
    )


def test_a_decision_is_printed_with_its_reasons():
    decided, *reasons = str(ap.judge(TABLE, "standard")).splitlines()
    assert decided == "held"
    assert reasons


def test_only_public_names_are_offered():
    offered = {name for name in dir(ap) if not name.startswith("__")}
    assert offered == {name for name in ap.__all__ if not name.startswith("__")}


class Seen(StringIO):
    """What a notebook shows of standard error."""

    __module__ = "ipykernel.iostream"


def test_long_work_says_in_a_notebook_that_it_goes_on(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(sys, "stderr", Seen())
    ap.measure(TABLE, "alpha", ap.Inference(n_resamples=200_000))
    assert "measure: at work for 0 s" in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith(progress.CLEAR)
    monkeypatch.setattr(sys, "stderr", StringIO())
    ap.measure(TABLE, "alpha", ap.Inference(n_resamples=200_000))
    assert sys.stderr.getvalue() == ""


def test_one_measure_may_stand_for_several_and_a_decision_for_no_policy():
    (found,) = ap.survey(TABLE, "alpha", scopes=("round",))
    assert found.measure == "krippendorff_alpha"
    with pytest.raises(
        PolicyError, match="found Decision; expected a policy, its name or its file"
    ):
        ap.report_page(TABLE, ap.judge(TABLE, "standard"))


NUMBERS = "a list of whole numbers, as [2, 3]"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("expected", "0.9", "a number, as 0.9"),
        ("expected", None, "a number, as 0.9"),
        ("probability", [0.9], "a number, as 0.9"),
        ("prevalence", 0.5, "a list of numbers, as [0.9, 0.1]"),
        ("prevalence", ["0.5", "0.5"], "a list of numbers, as [0.9, 0.1]"),
        ("prevalence", {"a": 0.5, "b": 0.5}, "a list of numbers, as [0.9, 0.1]"),
        ("labels_an_item", 3, NUMBERS),
        ("labels_an_item", [2.5], NUMBERS),
        ("labels_an_item", "3", NUMBERS),
        ("n_rounds", "600", "a whole number from 1"),
        ("n_rounds", 0, "a whole number from 1"),
    ],
)
def test_a_plan_that_is_asked_with_another_kind_of_value_names_it(name, given, expected):
    with pytest.raises(AgreementError) as refused:
        ap.plan("standard", **{name: given})
    words = f"{name}: found {given!r}; expected {expected}. Correct the value."
    assert str(refused.value) == words


@pytest.mark.parametrize("scopes", [3, ["rond"], "rond"])
def test_a_scope_that_there_is_none_of_is_named(scopes):
    with pytest.raises(AgreementError, match=r"^scopes: found .*; expected some of \['round', "):
        ap.survey(TABLE, "alpha", scopes=scopes)
    assert len(ap.survey(TABLE, "alpha", scopes="round")) == 1
    assert len(ap.survey(TABLE, "alpha", scopes=np.array(["round", "pair"]))) == 2


def test_what_can_be_read_only_once_is_refused_before_it_is_read():
    with pytest.raises(AgreementError, match=r"^labels_an_item: found <generator .*; expected a"):
        ap.plan("standard", labels_an_item=(each for each in (2, 3)))
    with pytest.raises(AgreementError, match=r"^scopes: found <generator .*; expected some of"):
        ap.survey(TABLE, "alpha", scopes=(each for each in ("round", "pair")))


RULE = ap.Rule("krippendorff_alpha")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ap.Columns(raters="ana"), "raters: found 'ana'; expected a list of columns."),
        (lambda: ap.Policy("p", 1, RULE), "rules: found Rule("),
        (lambda: ap.Policy("p", 1, "alpha"), "rules: found 'alpha'; expected a list of rules."),
        (lambda: ap.Inference(n_resamples="9"), "n_resamples: found '9'; expected a whole num"),
        (lambda: ap.Inference(n_resamples=9.5), "n_resamples: found 9.5; expected a whole num"),
        (lambda: ap.Inference(confidence_level="0.9"), "confidence_level: found '0.9'; expected"),
        (lambda: ap.Inference(always_valid_at="9"), "always_valid_at: found '9'; expected a numb"),
    ],
)
def test_settings_of_another_kind_are_named(make, words):
    with pytest.raises(AgreementError) as refused:
        make()
    assert str(refused.value).startswith(words)


def test_of_several_wrong_values_the_same_one_is_named_at_each_call():
    wrong = {"classifiers": "m", "limits": 1, "level": "x", "layout": "x", "rules": 1, "scale": 1}
    with pytest.raises(AgreementError, match=r"^scale: found 1; expected a Scale"):
        ap.read_ratings(TABLE, **wrong)


def test_a_path_may_be_a_text_wherever_one_is_taken(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("item,no,yes\na,3,0\nb,1,2\n")
    assert ap.read_counts(str(path)).counts.n_ratings == 6
    for absent in ("nope.csv", Path("nope.csv")):
        with pytest.raises(AgreementError, match=r"^nope.csv: found no such file; expected an"):
            ap.read_counts(absent)
    suite = tmp_path / "ours.json"
    suite.write_text('{"expectations": [{"type": "expect_column_to_exist"}]}')
    assert ap.Contract.load(str(suite)) == ap.Contract.load(suite)


@pytest.mark.parametrize("name", ["contract", "waivers"])
def test_a_judgement_by_what_is_no_contract_or_waiver_names_it(name):
    with pytest.raises(AgreementError, match=f"^{name}: found 'x'; expected "):
        ap.judge(TABLE, "standard", **{name: "x"})


def test_an_inference_that_is_none_is_named():
    with pytest.raises(AgreementError, match=r"^inference: found 5; expected an Inference, as"):
        ap.measure(TABLE, "alpha", 5)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            {"columns": {"item": "post"}},
            r"columns: found {'item': 'post'}; expected Columns, as Col",
        ),
        (
            {"scale": ["a", "b"]},
            r"scale: found \['a', 'b'\]; expected a Scale, as Scale\(\(\"no\",",
        ),
        ({"level": "ordnial"}, r"level: found 'ordnial'; expected one of \['nominal', 'ordinal',"),
        ({"classifiers": "model"}, "classifiers: found 'model'; expected a list of names, as"),
        ({"limits": 3}, r"limits: found 3; expected Limits, as Limits\(rows=50_000\)"),
        ({"rules": {"where": 1}}, r"rules: found {'where': 1}; expected Rules, as Rules\("),
        ({"layout": "Wide"}, 'layout: found \'Wide\'; expected "long" or "wide". Correct'),
    ],
)
def test_a_call_that_reads_a_table_otherwise_than_it_says_is_refused(how, words):
    with pytest.raises(AgreementError, match=words):
        ap.read_ratings(TABLE, **how)
