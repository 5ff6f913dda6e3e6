"""Columns of strata in tables and in exports of tools, and where they are refused."""

import json

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.readers import Columns, Rules, read

FRAME = pd.DataFrame(
    [("i1", "ana", "yes", "de"), ("i1", "ben", "no", "de"), ("i2", "ana", "no", "en")],
    columns=["item", "rater", "label", "language"],
)
BY_LANGUAGE = Rules(strata=("language",))


def test_a_column_of_a_long_table_tells_strata_apart(tmp_path):
    path = tmp_path / "round.csv"
    FRAME.to_csv(path, index=False)
    for source in (FRAME, path):
        assert read(source, rules=BY_LANGUAGE).strata == {"language": ("de", "en")}
    assert read(FRAME).strata == {}


def test_a_column_of_a_wide_table_tells_strata_apart_and_may_be_the_cluster_too():
    wide = pd.DataFrame({"item": ["i1", "i2"], "ana": ["a", "b"], "ben": ["a", "a"], "day": [1, 2]})
    columns = Columns(raters=("ana", "ben"), cluster="day")
    found = read(wide, columns, layout="wide", rules=Rules(strata=("day",)))
    assert (found.strata, found.cluster_names) == ({"day": ("1", "2")}, {"1", "2"})


def test_two_strata_of_an_item_are_refused_with_both_values():
    other = FRAME.assign(language=["de", "en", "en"])
    with pytest.raises(RatingsError, match=r"column 'language': found item 'i1' in strata"):
        read(other, rules=BY_LANGUAGE)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(RatingsError, match=r"found no column 'tongue'"):
        read(FRAME, rules=Rules(strata=("tongue",)))


@pytest.mark.parametrize(
    ("rules", "columns"),
    [
        (Rules(strata=("language", "Language")), Columns()),
        (Rules(where={"language": ("de",), "Language": ("x",)}), Columns()),
        (Rules(), Columns(models={"gpt": "language", "other": "Language"})),
        (Rules(strata=("language",)), Columns(models={"other": "Language"})),
    ],
)
def test_columns_that_differ_in_capital_letters_only_are_not_taken_for_one(
    rules, columns, tmp_path
):
    path = tmp_path / "round.csv"
    both = FRAME.assign(Language="x")
    both.to_csv(path, index=False)
    for source in (both, path):
        with pytest.raises(RatingsError, match=r"found columns .*, which differ in capital lett"):
            read(source, columns, rules=rules)


@pytest.mark.parametrize("strata", [("a", "a"), ("",)])
def test_columns_of_strata_are_named_once(strata):
    with pytest.raises(ProjectError, match=r"strata: found .*; expected names of fields, each onc"):
        Rules(strata=strata)


def test_a_field_of_a_tool_tells_strata_apart(tmp_path):
    def said(label):
        return [{"type": "choices", "from_name": "ok", "value": {"choices": [label]}}]

    tasks = [
        {
            "id": n,
            "data": {"text": f"t{n}", "language": language},
            "annotations": [
                {"id": 10 * n + by, "completed_by": by, "result": said(f"l{by}")} for by in (1, 2)
            ],
        }
        for n, language in enumerate(["de", "en"], 1)
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    assert read(path, rules=BY_LANGUAGE).strata == {"language": ("de", "en")}


def test_a_folder_of_tables_has_strata_too(tmp_path):
    FRAME.to_csv(tmp_path / "one.csv", index=False)
    assert read(tmp_path, rules=BY_LANGUAGE).strata == {"language": ("de", "en")}
