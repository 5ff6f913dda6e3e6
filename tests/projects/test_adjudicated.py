"""The answers of adjudicators, as they come back in a folder."""

import os
from pathlib import Path

import pytest

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects.adjudicated import read_adjudicated

HEAD = "item,label,ratings_digest,said\n"


def test_answers_are_read_by_round_and_empty_ones_are_left_out(tmp_path):
    (tmp_path / "w1.csv").write_text(f"\ufeff{HEAD}i1,yes,d1,x\ni2,,d1,x\ni1,yes,d1,y\n")
    (tmp_path / "w2.csv").write_text(HEAD)
    found = read_adjudicated(tmp_path)
    assert {name: (each.ratings_digest, each.labels) for name, each in found.items()} == {
        "w1": ("d1", {"i1": "yes"}),
        "w2": ("", {}),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,label\n", r"found no column \['ratings_digest'\]"),
        ("", r"found no column \['item', 'label', 'ratings_digest'\]"),
        (f"{HEAD}i1,yes,d,\ni1,no,d,\n", "row 3: found label 'no' of item 'i1'; expected 'yes'"),
        (f"{HEAD}i1,yes,d,\ni2,no,e,\n", r"rows \[2, 3\]: found 2 digests of ratings"),
    ],
)
def test_a_mistake_is_named_with_file_and_row(tmp_path, text, words):
    (tmp_path / "w1.csv").write_text(text)
    with pytest.raises(ProjectError, match=f"w1.csv: {words}"):
        read_adjudicated(tmp_path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ProjectError, match="found no such folder"):
        read_adjudicated(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("item,label,ratings_digest\ni1,a,d\n".encode("utf-16"), "found no readable table"),
        (b"item,label,ratings_digest\n\xff,a,d\n", "found no readable table"),
        (b'item,label,ratings_digest\n"i1,a,d\n', "found no readable table"),
        (b"item,label,ratings_digest\ni1," + b"x" * 200_000 + b",d\n", "found no readable table"),
        (b"item,label,ratings_digest\ni1,a\n", "row 2: found 2 cells; expected 3"),
        (b"item,label,ratings_digest\ni1,a,d,e\n", "row 2: found 4 cells; expected 3"),
        (b"item,item,label,ratings_digest\ni1,i2,a,d\n", "or more than one"),
    ],
)
def test_a_file_that_is_no_whole_table_is_refused_with_its_name(tmp_path, data, words):
    (tmp_path / "r1.csv").write_bytes(data)
    with pytest.raises(ProjectError, match=rf"r1\.csv: .*{words}"):
        read_adjudicated(tmp_path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make):
    make(tmp_path / "r1.csv")
    with pytest.raises(ProjectError, match=r"r1\.csv: found no readable table \(no file\)"):
        read_adjudicated(tmp_path)
