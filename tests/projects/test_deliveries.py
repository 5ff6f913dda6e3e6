"""The rounds of an inbox, without Dagster."""

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.projects import Project, ProjectSettings

TABLE = pd.DataFrame(
    [(f"i{n}", rater, "ab"[n % 2]) for n in range(4) for rater in ("ana", "ben")],
    columns=["item", "rater", "label"],
)


@pytest.fixture
def project(tmp_path):
    def made(**settings):
        (tmp_path / "inbox").mkdir(exist_ok=True)
        said = {"project": "p", "inbox": "inbox", "policy": "strict", "root": str(tmp_path)}
        said["scale"] = {"categories": ["a", "b"]}
        return Project(ProjectSettings(**{**said, **settings}))

    return made


def test_a_file_is_a_round_and_a_hidden_file_or_folder_is_none(project):
    found = project()
    TABLE.to_csv(found.inbox / "w2.csv", index=False)
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    (found.inbox / ".w3.csv").touch()
    (found.inbox / "w4").mkdir()
    assert list(found.deliveries()) == ["w1", "w2"]


def test_an_inbox_may_be_one_file_or_absent(project):
    found = project(columns={"round": "week"}, inbox="all.csv")
    assert found.deliveries() == {}
    TABLE.assign(week=["w1"] * 4 + ["w2"] * 4).to_csv(found.inbox, index=False)
    assert list(found.deliveries()) == ["w1", "w2"]


def test_a_round_in_two_files_is_refused(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    TABLE.to_csv(found.inbox / "w1.tsv", index=False, sep="\t")
    with pytest.raises(
        ProjectError, match=r"inbox: found rounds \['w1'\] in two files; expected one file a round"
    ):
        found.deliveries()


def test_a_round_is_due_until_it_is_decided_and_again_when_its_bytes_change(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    assert [each.round for each in found.due()] == ["w1"]
    found.keep(*found.delivered("w1"))
    assert [each.round for each in found.due()] == ["w1"]
    assert found.times_arrived("w1") == 1


def test_a_round_that_was_not_delivered_is_refused_with_those_that_were(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    with pytest.raises(
        RatingsError, match=r"found no round 'w2' among \['w1'\]; expected a delivered round\. Put"
    ):
        found.delivered("w2")


def test_labels_of_earlier_rounds_come_before_those_of_the_round(project):
    found = project(replicates="across")
    for name, labels in (("w1", "abababab"), ("w2", "aabbaabb"), ("w3", "bbbbaaaa")):
        TABLE.assign(label=list(labels)).to_csv(found.inbox / f"{name}.csv", index=False)
        found.keep(*found.delivered(name))
    _, ratings = found.delivered("w2")
    again = ratings.table[ratings.table["item"] == "i1"]
    assert list(zip(again["rater"], again["occurrence"], again["earlier"], strict=True)) == [
        ("ana", 1, True),
        ("ana", 2, False),
        ("ben", 1, True),
        ("ben", 2, False),
    ]
    assert found.store.ratings("w3").table["occurrence"].max() == 3
