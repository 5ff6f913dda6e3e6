"""First labels are the ratings, and last ones are kept beside them and train."""

import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Adjudicated, Ratings, Scale, consensus_frame, count_overruled
from agreement_pipeline.store.store import table_from_ratings, table_ratings

SCALE = Scale(("no", "yes"))
ROWS = [
    ("i1", "a", "no", None, None),
    ("i1", "b", "yes", "no", "2026-01-02T00:00:00"),
    ("i2", "a", "no", None, None),
    ("i2", "b", "no", None, None),
    ("i3", "a", "yes", "no", "2026-01-02T00:00:00"),
    ("i3", "b", "yes", None, None),
    ("i4", "a", "yes", "no", None),
    ("i4", "b", "yes", "no", None),
]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label", "last_label", "changed_at"])


def made(frame=FRAME, scale=SCALE):
    return Ratings.from_frame(frame, scale)


def test_the_consensus_is_that_of_last_labels_and_the_votes_are_the_first():
    found = consensus_frame(made()).set_index("id")
    assert found["label"].tolist() == ["no", "no", None, "no"]
    assert found["resolution"].tolist() == ["relabelled", "unanimous", "tie", "relabelled"]
    assert found["votes"].tolist() == [[1, 1], [2, 0], [0, 2], [0, 2]]
    plain = consensus_frame(made(FRAME.drop(columns=["last_label", "changed_at"])))
    assert plain["label"].tolist() == [None, "no", "yes", "yes"]


def test_an_adjudicated_label_stands_before_last_ones():
    found = consensus_frame(made(), "", Adjudicated("", {"i1": "yes"})).set_index("id")
    assert tuple(found.loc["i1", ["label", "resolution"]]) == ("yes", "adjudicated")


def test_last_labels_overrule_raters_who_agreed_as_an_adjudicator_does():
    assert count_overruled(made(), Adjudicated()) == (2, 3)


def test_the_mean_is_that_of_last_numbers():
    frame = pd.DataFrame(
        [("i", "a", 1.0, "2.5"), ("i", "b", 3.5, None), ("j", "a", 1.0, None)],
        columns=["item", "rater", "label", "last_label"],
    )
    found = consensus_frame(made(frame, Scale(None, "interval")))
    assert found["label"].tolist() == [3.0, None]
    assert found["resolution"].tolist() == ["relabelled", "single"]


def test_a_stored_table_keeps_them_and_the_digest_tells_them():
    ratings = made()
    again = table_ratings(table_from_ratings(ratings), "x")
    assert again.digest == ratings.digest
    assert again.to_pandas().equals(ratings.to_pandas())
    digests = {
        made(FRAME.drop(columns=gone)).digest
        for gone in ([], ["last_label"], ["changed_at"], ["last_label", "changed_at"])
    }
    digests.add(made(FRAME.assign(changed_at="2026-01-03T00:00:00")).digest)
    assert len(digests) == 5


def test_counts_tell_whether_first_labels_are_known():
    assert (made().n_edited_labels, made().are_first_labels_known) == ((4, 0), True)
    times = made(FRAME.drop(columns="last_label"))
    assert (times.n_edited_labels, times.are_first_labels_known) == ((0, 2), False)


@pytest.mark.parametrize("spelt", ["1", 1, 1.0])
def test_another_spelling_of_the_first_label_is_no_change(spelt):
    rows = [("i", "a", "1.0", spelt, "2026"), ("i", "b", "2.0", None, None)]
    ratings = made(pd.DataFrame(rows, columns=FRAME.columns), Scale(("1", "2")))
    assert (ratings.n_edited_labels, ratings.are_first_labels_known) == ((0, 0), True)


@pytest.mark.parametrize(
    ("frame", "scale", "words"),
    [
        (FRAME.assign(last_label="maybe"), SCALE, r"found label 'maybe'; expected one of \['no'"),
        (
            FRAME.assign(label=1.5, last_label="x"),
            Scale(None, "interval"),
            "expected one of the numbers of the scale, or nothing",
        ),
        (
            FRAME.assign(label="1|2"),
            Scale(None, "multivariate interval", dimensions=2),
            "found later labels beside vectors of numbers",
        ),
    ],
)
def test_a_last_label_that_is_none_is_refused(frame, scale, words):
    with pytest.raises(RatingsError, match=words):
        made(frame, scale)


def test_last_labels_are_on_a_scale_that_is_read_off():
    from agreement_pipeline.readers import Columns, read

    frame = FRAME.assign(was=FRAME["label"], label=FRAME["last_label"].fillna(FRAME["label"]))
    frame.loc[frame["label"] == "no", "label"] = "never"
    ratings = read(frame.drop(columns="last_label"), Columns(first_label="was"))
    assert ratings.scale.names == ("never", "no", "yes")
