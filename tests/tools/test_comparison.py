"""The comparison of two versions finds them equal, and finds one digit that differs."""

from pathlib import Path
from shutil import copytree

import pytest

import agreement_pipeline
from tools.comparison import __main__ as comparison
from tools.comparison.__main__ import main
from tools.comparison.compared import NOTHING, Difference, Explained, compared, said_in
from tools.comparison.forms import FORMS
from tools.comparison.generated import generate

pytestmark = pytest.mark.slow

PACKAGE = Path(agreement_pipeline.__file__).parent
ONE_DIGIT = """
import math
from dataclasses import replace

from agreement_pipeline.estimates.scopes import survey as _survey


def survey(*arguments, **settings):
    found = _survey(*arguments, **settings)
    valued = [each.value is not None for each in found]
    return [
        replace(each, value=math.nextafter(each.value, 2)) if there else each
        for each, there in zip(found, valued, strict=True)
    ]
"""


def test_a_changed_digit_is_found_and_nothing_else_differs(tmp_path, capsys, monkeypatch):
    copytree(PACKAGE, tmp_path / "agreement_pipeline")
    with (tmp_path / "agreement_pipeline/estimates/__init__.py").open("a") as file:
        file.write(ONE_DIGIT)
    versions, kept = [str(PACKAGE.parent), str(tmp_path), "--cases", "6"], tmp_path / "kept"
    assert main([*versions, "--all", "--folder", str(kept)]) == 1
    differ = capsys.readouterr().out.split("without an explanation")[1]
    assert "| krippendorff_alpha of round: value" in differ
    assert {line.rpartition(": ")[2] for line in differ.splitlines() if " | " in line} == {"value"}
    monkeypatch.setattr(comparison, "ask", lambda *_: said_in(kept / "old" / "said.jsonl"))
    assert main(versions) == 0
    printed = capsys.readouterr().out
    assert "0 differences without an explanation" in printed
    rows = [line.split() for line in printed.splitlines()[1:] if line[:1].isalpha()][:3]
    assert [kind for kind, *_ in rows] == ["table", "broken", "export"]
    assert all(values == equal != "0" for *_, values, equal in rows)


def test_cases_of_one_seed_are_the_same(tmp_path):
    folders = tmp_path / "one", tmp_path / "other"
    one, other = (generate(folder, 40, 7) for folder in folders)
    assert one == other
    named = [sorted(folder.rglob("*.csv")) for folder in folders]
    assert [path.read_bytes() for path in named[0]] == [path.read_bytes() for path in named[1]]


def test_the_usual_cases_hold_every_kind(tmp_path):
    cases = generate(tmp_path / "cases", 640, 1)
    tables = [each for each in cases if each.kind == "table"]
    assert len(cases) == 640
    assert {each.kind for each in cases} == {"table", "broken", "export", "counts"}
    assert all(any(form in each.name for each in tables) for form in FORMS)
    said = {(each.reading.layout, each.reading.level) for each in tables}
    assert len(said) == 10, "each layout on each level"


KINDS = {"a": "table", "b": "table"}
OLD = {"a": {"value": 0.1, "digest": "x"}, "b": {"error": "RatingsError: row 3"}}


def test_equal_facts_are_counted():
    found = compared(KINDS, OLD, OLD)
    assert found.values == found.equal == {"table": 3}
    assert (found.cases, found.unexplained) == ({"table": 2}, [])


def test_the_last_digit_counts():
    new = {**OLD, "a": {"value": 0.1 + 2**-56, "digest": "x"}}
    assert compared(KINDS, OLD, new).unexplained == [
        Difference("a", "value", "0.1", "0.10000000000000002")
    ]


def test_a_value_that_is_no_longer_said_differs():
    (found,) = compared(KINDS, OLD, {**OLD, "a": {"value": 0.1}}).unexplained
    assert (found.what, found.new) == ("digest", NOTHING)


def test_an_explained_difference_is_counted_apart():
    new = {**OLD, "b": {"error": "RatingsError: row 5"}}
    why = Explained("b", "error", "blank lines were not counted")
    found = compared(KINDS, OLD, new, [why])
    assert (found.unexplained, list(found.explained)) == ([], [why])
    assert compared(KINDS, OLD, new, [Explained("a*", "*", "another case")]).unexplained


def test_an_explanation_says_why():
    with pytest.raises(ValueError, match="expected a case, what differs, and why"):
        Explained("*", "*", "")
