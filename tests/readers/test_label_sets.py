"""Tables whose cells hold several labels, judged as sets.

Expected units are made by a loop over ratings, labels and items.
"""

import json
import random
import re
from itertools import product
from operator import ne

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.estimates import measure
from agreement_pipeline.ratings import DUPLICATE, NO_ANSWER, SAME_LABEL_TWICE
from agreement_pipeline.readers import Columns, Limits, Rules, read
from agreement_pipeline.units import UnitSettings
from tests.measures.loops import slow_alpha

SETS = Rules(units=UnitSettings("sets"))
TAGS = ("anger", "fear", "joy")
RATERS = ("ana", "ben", "chi")


def chosen_sets(seed=1, n_items=12, tags=TAGS):
    """(item, rater, set) with at least one empty set."""
    rng = random.Random(seed)
    rows = [
        (f"i{item:02}", rater, frozenset(tag for tag in tags if rng.random() < 0.5))
        for item, rater in product(range(n_items), RATERS)
    ]
    return [(*rows[0][:2], frozenset()), *rows[1:]]


def units_by_loop(rows, tags=TAGS):
    return {
        (f"{item} {tag}", rater): "yes" if tag in held else "no"
        for item, rater, held in rows
        for tag in tags
    }


def units_in(ratings):
    found = ratings.first_ratings(["item", "rater", "label"]).to_pylist()
    return {(each["item"], each["rater"]): each["label"] for each in found}


def frame_of(rows, write):
    return pd.DataFrame(
        [(item, rater, write(held)) for item, rater, held in rows],
        columns=["item", "rater", "label"],
    )


CELLS = {
    "bars": lambda held: "|".join(sorted(held)) or "|",
    "bars the other way": lambda held: "|".join(sorted(held, reverse=True)) or "|",
    "bars and blanks": lambda held: " | ".join(sorted(held)) or "|",
    "JSON": lambda held: json.dumps(sorted(held)),
    "JSON without blanks": lambda held: json.dumps(sorted(held), separators=(",", ":")),
    "lists as Python writes them": lambda held: str(sorted(held)),
    "both forms": lambda held: json.dumps(sorted(held)) if len(held) > 1 else "|".join(held) or "|",
    "a label twice": lambda held: "|".join([*sorted(held), *sorted(held)]) or "|",
}


@pytest.mark.parametrize("write", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "frame"])
def test_units_of_texts(tmp_path, write, form):
    rows = chosen_sets()
    frame = frame_of(rows, write)
    source = frame if form == "frame" else tmp_path / f"t.{form}"
    if form == "csv":
        frame.to_csv(source, index=False)
    elif form == "jsonl":
        frame.to_json(source, orient="records", lines=True)
    elif form == "parquet":
        frame.to_parquet(source, index=False)
    ratings = read(source, rules=SETS)
    assert units_in(ratings) == units_by_loop(rows)
    assert ratings.scale.names == ("no", "yes")
    assert ratings.strata == {"member": TAGS}
    assert {*ratings.cluster_names} == {item for item, _, _ in rows}


@pytest.mark.parametrize("form", ["parquet", "jsonl", "frame of lists", "frame of arrays", "arrow"])
def test_units_of_lists(tmp_path, form):
    rows = chosen_sets(2)
    lists = frame_of(rows, sorted)
    source = {
        "frame of lists": lists,
        "frame of arrays": frame_of(rows, lambda held: np.array(sorted(held), dtype=object)),
        "arrow": pa.Table.from_pandas(lists),
    }.get(form)
    if form == "parquet":
        source = tmp_path / "lists.parquet"
        pq.write_table(pa.Table.from_pandas(lists), source)
    if form == "jsonl":
        source = tmp_path / "lists.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in lists.to_dict("records")))
    assert units_in(read(source, rules=SETS)) == units_by_loop(rows)


def test_alpha_is_that_of_the_units():
    rows = chosen_sets(3, 40)
    ratings = read(frame_of(rows, CELLS["bars"]), rules=SETS)
    units = units_by_loop(rows)
    items = sorted({item for item, _ in units})
    expected = slow_alpha([[units[item, rater] for rater in RATERS] for item in items], ne)[0]
    assert measure(ratings, "krippendorff_alpha").value == pytest.approx(expected, abs=1e-12)


def test_a_wide_table_of_sets():
    rows = chosen_sets(4)
    wide = frame_of(rows, CELLS["JSON"]).pivot(index="item", columns="rater", values="label")
    columns = Columns(raters=RATERS)
    ratings = read(wide.reset_index(), columns, layout="wide", rules=SETS)
    assert units_in(ratings) == units_by_loop(rows)


def test_members_are_named_or_those_that_occur():
    rows = [("i1", "ana", frozenset({"joy"})), ("i1", "ben", frozenset())]
    frame = frame_of(rows, CELLS["bars"])
    named = Rules(units=UnitSettings("sets", members=TAGS))
    assert units_in(read(frame, rules=named)) == units_by_loop(rows)
    other = Rules(units=UnitSettings("sets", members=("fear",)))
    words = "DataFrame: row 1, column 'label': found ['joy'] in a set; expected some of ['fear']"
    with pytest.raises(RatingsError, match=re.escape(words)):
        read(frame, rules=other)


def test_empty_cells_are_missing_if_the_empty_set_is_written():
    rows = chosen_sets(5)
    frame = frame_of(rows, CELLS["bars"])
    frame.loc[[3, 7], "label"] = None
    kept = [row for at, row in enumerate(rows) if at not in (3, 7)]
    ratings = read(frame, rules=SETS)
    assert units_in(ratings) == units_by_loop(kept)
    assert ratings.origin.left_out == {NO_ANSWER: 2}
    assert "none" in ratings.origin.shows


def test_empty_cells_are_refused_if_they_may_be_empty_sets():
    rows = [row for row in chosen_sets(6) if row[2]]
    frame = frame_of(rows, CELLS["bars"])
    assert units_in(read(frame, rules=SETS)) == units_by_loop(rows)
    frame.loc[3, "label"] = ""
    with pytest.raises(RatingsError, match=r"row 4, column 'label': found empty cells, and no em"):
        read(frame, rules=SETS)
    missing = Rules(units=UnitSettings("sets"), requires=())
    assert len(read(frame, rules=missing)) == len(TAGS) * (len(rows) - 1)


@pytest.mark.parametrize(
    "cell", ["[anger", '["anger", ""]', '["anger", null]', "[1, [2]]", "[a b]"]
)
def test_cells_that_are_no_sets_are_refused(cell):
    frame = frame_of(chosen_sets(7), CELLS["bars"])
    frame.loc[5, "label"] = cell
    if cell == "[anger":  # a label may begin so
        assert "[anger" in read(frame, rules=SETS).strata["member"]
        return
    with pytest.raises(
        RatingsError, match=r"row 6, column 'label': found .*; expected a list of l"
    ):
        read(frame, rules=SETS)


def test_a_model_and_clusters_and_strata_and_gold_stay():
    rows = chosen_sets(8)
    frame = frame_of(rows, CELLS["bars"]).assign(
        gpt="joy|fear", doc="d1", lang="de", known="no", right="joy"
    )
    columns = Columns(models={"gpt": "gpt"}, cluster="doc", gold="known", gold_label="right")
    rules = Rules(units=UnitSettings("sets"), strata=("lang",))
    ratings = read(frame, columns, rules=rules)
    model = [(item, "gpt", frozenset({"joy", "fear"})) for item in {row[0] for row in rows}]
    assert units_in(ratings) == units_by_loop([*rows, *model])
    assert ratings.classifiers == ("gpt",)
    assert ratings.strata == {"lang": ("de",), "member": TAGS}
    assert {*ratings.cluster_names} == {"d1"}
    right = {each["item"]: each["gold_label"] for each in ratings.items(["gold_label"]).to_pylist()}
    assert right["i00 joy"] == "yes"
    assert right["i00 fear"] == "no"


def test_occurrences_and_duplicates_of_sets():
    rows = chosen_sets(9)
    frame = frame_of(rows, CELLS["bars"]).assign(occurrence=1)
    again = pd.concat([frame, frame[4:5].assign(occurrence=2)])
    assert read(again, rules=SETS).n_repeated == len(TAGS)
    twice = read(pd.concat([frame, frame[4:5]]), rules=SETS)
    assert (units_in(twice), twice.origin.left_out) == (units_by_loop(rows), {SAME_LABEL_TWICE: 3})
    other = pd.concat([frame, frame[4:5].assign(label="fear" if rows[4][2] != {"fear"} else "joy")])
    with pytest.raises(RatingsError, match="found 2 labels of rater 'ben' for item 'i01 "):
        read(other, rules=SETS)
    first = read(other, rules=Rules(units=UnitSettings("sets"), duplicates="first"))
    assert (units_in(first), first.origin.left_out) == (units_by_loop(rows), {DUPLICATE: 1})


def test_other_objects_of_tables_are_refused():
    frame = frame_of(chosen_sets(), CELLS["bars"])
    with pytest.raises(RatingsError, match="found a table for units of spans; expected the export"):
        read(frame, rules=Rules(units=UnitSettings("spans")))


def test_too_many_combinations_are_told_as_sets():
    frame = frame_of(chosen_sets(1, 30, "abcdefgh"), CELLS["bars"])
    with pytest.raises(RatingsError, match="labels that are sets of 8 labels, which --units sets"):
        read(frame, limits=Limits(categories=20))


@pytest.mark.parametrize("cells", ["bars", "JSON"])
def test_commands_see_sets(tmp_path, capsys, cells):
    rows = chosen_sets(1, 40)
    path = tmp_path / "emotions.csv"
    frame_of(rows, CELLS[cells]).to_csv(path, index=False)
    words = "cells hold several of 3 labels (anger, fear and joy)"
    main(["judge", str(path), "--policy", "exploratory", "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any(words in each["description"] for each in findings)
    main(["judge", str(path), "--policy", "exploratory"])
    assert f"warning: {words}" in capsys.readouterr().out
    main(["judge", str(path), "--policy", "exploratory", "--units", "sets"])
    out = capsys.readouterr().out
    assert words not in out
    assert "120 items in 40 clusters" in out
    assert main(["init", str(path), "--root", str(tmp_path)]) == 0
    assert f"Please check: {words}" in capsys.readouterr().out
    project = tmp_path / "configs" / "projects" / "emotions.yaml"
    assert "units: {kind: sets}" in project.read_text()
    assert main(["judge", str(project)]) == 1
    assert "120 items in 40 clusters" in capsys.readouterr().out


def test_a_measure_of_sets_needs_no_hint(tmp_path, capsys):
    path = tmp_path / "emotions.csv"
    frame_of(chosen_sets(1, 40), CELLS["bars"]).to_csv(path, index=False)
    policy = tmp_path / "sets.yaml"
    policy.write_text(
        "policy: sets\nversion: 1\nadmit: [reliable]\nrules: [{measure: alpha_masi, reliable: 0.8, "
        "tentative: 0.667, min_items: 30}]\n"
    )
    main(["judge", str(path), "--policy", str(policy)])
    assert "cells hold several" not in capsys.readouterr().out


def test_a_project_of_a_wide_table_of_sets_loads(tmp_path):
    from agreement_pipeline.projects import ProjectSettings

    settings = {
        "project": "p",
        "inbox": "i",
        "policy": "standard",
        "layout": "wide",
        "scale": {"categories": ["no", "yes"]},
        "columns": {"raters": ["ana", "ben"]},
    }
    assert ProjectSettings(**settings, units={"kind": "sets"}).units.rule == "members"
    with pytest.raises((ProjectError, ValueError), match="found units beside a wide layout"):
        ProjectSettings(**settings, units={"kind": "spans"})
