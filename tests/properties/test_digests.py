"""A digest binds the ratings.

The digest does not depend on the order of the ratings or on the names of the raters.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("a", "b", "c"))
LABELS = st.sampled_from(SCALE.names)
quickly = settings(max_examples=20)


@st.composite
def frames(draw):
    """Long tables of up to four raters and a model, some items met again."""
    places = draw(
        st.lists(
            st.tuples(
                st.integers(0, 4), st.sampled_from(["r0", "r1", "r2", "r3"]), st.integers(1, 2)
            ),
            unique=True,
            min_size=2,
            max_size=20,
        )
    )
    rows = [
        (f"i{u}", rater, draw(LABELS), occurrence, draw(st.sampled_from([0.5, 0.9])))
        for u, rater, occurrence in places
    ]
    rows += [(f"i{u}", "model", draw(LABELS), 1, 0.5) for u in range(draw(st.integers(1, 4)))]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "confidence"])


def ratings_of(frame, model="model"):
    return Ratings.from_frame(frame, SCALE, classifiers=(model,))


@quickly
@given(frame=frames(), data=st.data())
def test_the_digest_is_the_same_for_any_order_of_rows_and_any_names_of_raters(frame, data):
    digest = ratings_of(frame).digest
    assert ratings_of(frame.iloc[data.draw(st.permutations(range(len(frame))))]).digest == digest
    names = sorted(frame["rater"].unique())
    renaming = dict(
        zip(
            names,
            data.draw(st.permutations([f"person {n}" for n in range(len(names))])),
            strict=True,
        )
    )
    renamed = frame.assign(rater=frame["rater"].map(renaming))
    assert ratings_of(renamed, renaming["model"]).digest == digest


CHANGES = {
    "label": lambda old: SCALE.names[SCALE.names.index(old) - 1],
    "item": lambda old: "elsewhere",
    "occurrence": lambda old: 9,
    "confidence": lambda old: 0.1,
    "earlier": lambda old: True,
}


@pytest.mark.parametrize("column", [*CHANGES, "no such row"])
@settings(max_examples=8)
@given(frame=frames(), data=st.data())
def test_the_digest_is_changed_by_any_change_of_a_rating(column, frame, data):
    row, frame = data.draw(st.integers(0, len(frame) - 1)), frame.assign(earlier=False)
    changed = frame.copy()
    if column in CHANGES:
        changed.loc[row, column] = CHANGES[column](frame.loc[row, column])
    else:
        assume((frame["rater"] == "model").sum() > 1 or frame.loc[row, "rater"] != "model")
        changed = frame.drop(index=row)
    assert ratings_of(changed).digest != ratings_of(frame).digest


def test_the_digest_tells_apart_scale_panel_contents_and_who_said_what_together():
    rows = pd.DataFrame(
        [
            ("i1", "ana", "a"),
            ("i2", "ana", "b"),
            ("i1", "ben", "b"),
            ("i2", "ben", "a"),
            ("i1", "eve", "a"),
            ("i2", "eve", "a"),
        ],
        columns=["item", "rater", "label"],
    )
    crossed = rows.assign(
        label=["a", "a", "b", "b", "a", "a"]
    )  # the same labels on each item, given by other raters together
    made = [
        Ratings.from_frame(rows, SCALE),
        Ratings.from_frame(rows, Scale(SCALE.names, "ordinal")),
        Ratings.from_frame(rows, Scale((*SCALE.names, "d"))),
        Ratings.from_frame(rows, SCALE, classifiers=("eve",)),
        Ratings.from_frame(rows.assign(text=rows["item"]), SCALE),
        Ratings.from_frame(rows.assign(gold="yes"), SCALE),
        Ratings.from_frame(crossed, SCALE),
    ]
    assert len({ratings.digest for ratings in made}) == len(made)


def test_the_digest_does_not_run_names_together():
    one = pd.DataFrame([("ab", "x", "a"), ("c", "x", "a")], columns=["item", "rater", "label"])
    other = one.assign(item=["a", "bc"])
    assert Ratings.from_frame(one, SCALE).digest != Ratings.from_frame(other, SCALE).digest


def estimates_by_scope(ratings, back):
    """Every estimate by measure and scope, the raters in it called by their old names."""
    found = {}
    for e in measure_ratings(ratings, MEASURES, Inference(n_resamples=50)):
        name = " and ".join(sorted(back.get(part, part) for part in e.scope.name.split(" and ")))
        found[e.measure, e.scope.kind, name] = (
            e.value,
            e.interval,
            e.observed,
            e.expected,
            e.undefined,
            e.n_items,
            e.n_raters,
            e.n_ratings,
        )
    return found


@settings(max_examples=6)
@given(frame=frames(), data=st.data())
def test_estimates_are_the_same_to_the_last_digit_for_any_order_of_rows_and_any_names_of_raters(
    frame, data
):
    names = sorted(frame["rater"].unique())
    renaming = dict(
        zip(names, data.draw(st.permutations([f"p{n}" for n in range(len(names))])), strict=True)
    )
    shuffled = frame.assign(rater=frame["rater"].map(renaming)).iloc[
        data.draw(st.permutations(range(len(frame))))
    ]
    before = estimates_by_scope(ratings_of(frame), {})
    assert (
        estimates_by_scope(
            ratings_of(shuffled, renaming["model"]), {new: old for old, new in renaming.items()}
        )
        == before
    )


@pytest.mark.parametrize("seed", range(3))
def test_estimates_of_a_full_panel_are_the_same_to_the_last_digit_under_other_names(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{u}", f"r{r}", SCALE.names[rng.integers(3)], n)
        for u in range(12)
        for r in range(4)
        for n in (1, 2)
        if n == 1 or rng.random() < 0.5
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"]).assign(
        rater=lambda f: f["rater"].replace("r3", "model")
    )
    back = {"zoe": "r0", "max": "r1", "ada": "r2"}
    renamed = frame.assign(rater=frame["rater"].replace({old: new for new, old in back.items()}))
    assert estimates_by_scope(
        ratings_of(renamed.sample(frac=1, random_state=seed)), back
    ) == estimates_by_scope(ratings_of(frame), {})
