"""What could not be run, and what a check does not touch."""

import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from random import Random

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract, validation
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings
from tests.contract.tables import (
    DEFAULT,
    SCALE,
    check,
    contract_of,
    entry,
    failing,
    good_table,
    with_cell,
)

UNUSUAL = entry(
    "unusual", "expect_column_median_to_be_between", {"column": "occurrence", "min_value": 1}
)
"""Only Great Expectations can answer it."""


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


def test_a_regex_finds_what_python_finds():
    random, pieces = (
        Random(3),
        [*"ab@.+*?^$[]{}|-", "[^a]", "[a@]", "{2}", "{0,2}", r"\.", r"\s", r"\@"],
    )
    texts = {"".join(random.choices("ab@. +{", k=random.randint(1, 6))) for _ in range(60)}
    names = sorted(text for text in texts if text == text.strip() != "")
    table = pd.DataFrame({"item": names, "rater": "ann", "label": "no"})
    patterns = {"".join(random.choices(pieces, k=random.randint(1, 5))) for _ in range(900)}
    known = {}
    for pattern in sorted(patterns):
        with suppress(re.error, FutureWarning):
            known[f"c{len(known)}"] = re.compile(pattern)
    kind = "expect_column_values_to_not_match_regex"
    found = check(
        table,
        contract_of(
            *(
                entry(name, kind, {"column": "item", "regex": each.pattern})
                for name, each in known.items()
            )
        ),
    )
    assert len(known) > 300
    for name, each in known.items():
        failing = sum(each.search(text) is not None for text in names)
        assert dict(found[name].observed)["unexpected"] == failing, each.pattern


@pytest.mark.parametrize(
    "table",
    [
        good_table(),
        good_table(30, n_replicated=0),
        with_cell("confidence", None),
        with_cell("item", "ann@example.org"),
        with_cell("rater", "bob@example.org"),
        with_cell("rater", "d0"),
        good_table().drop(columns="confidence"),
        good_table(2).assign(cluster="c"),
    ],
)
def test_what_was_found_under_other_names_stands_where_a_check_finds_it_again(table, monkeypatch):
    texts = {"column": "rater", "regex": "^[a-z]"}
    more = entry("raters_begin_small", "expect_column_values_to_match_regex", texts)
    given = DEFAULT.to_mapping()
    contract = Contract.from_mapping({**given, "rows": [*given["rows"], more, UNUSUAL]})
    ratings = Ratings.from_frame(table, SCALE)
    new = [{}, {"ann": "z-1", "bob": "a-1"}, {"ann": "Zoe", "cy": "cy@example.org"}]
    renamed = [ratings.renamed(names) for names in new]
    before, expected = contract.check(ratings), [contract.check(each) for each in renamed]
    told, asked = validation.answers, []
    monkeypatch.setattr(validation, "answers", lambda s, *a: asked.extend(s) or told(s, *a))
    assert [contract.check(each, before) for each in renamed] == expected
    assert {"raters_begin_small", "rating_unique"} <= {*asked}
    assert not {"items_present", "label_present"} & {*asked}


def test_a_result_that_does_not_come_back_is_a_failed_error(monkeypatch):
    monkeypatch.setattr(validation, "answers", lambda *_: {})
    found = check(good_table())
    assert {(f.passed, f.severity) for f in found.values()} == {(False, "error")}
    assert "no result came back" in found["raters_per_item"].description


def test_ratings_that_cannot_be_read_fail_every_check_as_an_error(monkeypatch):
    def broken(*_):
        raise OSError("the file is gone")

    monkeypatch.setattr(Ratings, "iterate_ratings", broken)
    found = check(good_table())
    assert len(found) == len(DEFAULT.expectations)
    assert {(f.passed, f.severity) for f in found.values()} == {(False, "error")}
    assert "could not be run (OSError: the file is gone)" in found["rows_present"].description


def test_personal_data_in_an_exception_are_redacted(monkeypatch):
    def broken(*_):
        raise ValueError("cannot read bob@example.org")

    monkeypatch.setattr(validation, "answers", broken)
    assert check(good_table())["rows_present"].description.startswith(
        "rows_present: could not be run ((redacted));"
    )


def test_an_end_of_the_program_inside_great_expectations_fails_every_check(monkeypatch):
    from great_expectations.validator.validator import Validator

    def ended(*_, **__):
        raise SystemExit(0)

    monkeypatch.setattr(Validator, "graph_validate", ended)
    found = check(good_table(), contract_of(UNUSUAL, entry("usual")))
    assert len(found) == 3
    rows = [each for each in found.values() if each.table == "rows"]
    assert {(each.passed, each.severity) for each in rows} == {(False, "error")}
    assert "ends the program (status 0)" in found["usual"].description


def test_warnings_raised_inside_great_expectations_fail_nothing(monkeypatch):
    import great_expectations as gx

    open_context = gx.get_context

    def warning_context(**arguments):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return open_context(**arguments)

    monkeypatch.setattr(gx, "get_context", warning_context)
    assert failing(good_table(), contract=contract_of(UNUSUAL)) == set()


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
        Contract.load(tmp_path).check(Ratings.from_frame(good_table(), SCALE))


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
        check(good_table().drop(columns="confidence"), contract=contract)


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


def test_a_contract_is_read_without_great_expectations(tmp_path):
    code = (
        "import sys\nfrom agreement_pipeline.contract.contract import Contract\n"
        "print(len(Contract.default().expectations), 'great_expectations' in sys.modules, "
        "'dagster' in sys.modules)"
    )
    said = run_python(code, tmp_path).stdout.split()
    assert said == [str(len(DEFAULT.expectations)), "False", "False"]


WATCHED = """
import os, sys
touched = []
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "os.mkdir", "os.rename"):
        touched.append((event, arguments))
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.append((event, arguments))

import pandas as pd
from agreement_pipeline.contract.contract import Contract
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale

frame = pd.DataFrame({"item": ["a", "a"], "rater": ["x", "y"], "label": ["no", "yes"]})
ratings = Ratings.from_frame(frame, Scale(("no", "yes")))
sys.addaudithook(watch)
findings = Contract.default().check(ratings)
assert "great_expectations" not in sys.modules
unusual = Contract.from_mapping({"rows": [UNUSUAL], "items": [USUAL]}).check(ratings)
assert "great_expectations" in sys.modules
assert all(each.passed for each in unusual)
print(len(findings), touched)
with open(sys.argv[0]) as file: pass
open(os.devnull, "w").close()
assert touched, "the watch sees nothing"
"""


def test_a_check_opens_no_connection_writes_nothing_and_says_nothing(tmp_path):
    done = run_python(f"UNUSUAL, USUAL = {UNUSUAL!r}, {entry()!r}\n{WATCHED}", tmp_path)
    assert done.stdout.strip() == f"{len(DEFAULT.expectations)} []"
    assert done.stderr == ""


def test_a_cloud_account_in_the_environment_changes_nothing(monkeypatch):
    for name in ("ACCESS_TOKEN", "ORGANIZATION_ID", "BASE_URL"):
        monkeypatch.setenv(f"GX_CLOUD_{name}", "set")
    assert failing(good_table(), contract=contract_of(UNUSUAL)) == set()
