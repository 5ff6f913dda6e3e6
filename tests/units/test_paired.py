"""F1 of pairs is what a loop over pairs counts, and the number of raters changes nothing."""

from itertools import combinations

import numpy as np
import pytest
from pydantic import ValidationError

from agreement_pipeline.estimates import build_round_statistic, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import (
    Marked,
    UnitSettings,
    group_similar_areas,
    objects_of,
    units_of,
)
from benchmarks.populations import with_other_ends

from .drawn import boxes, random_image, spans

AB = Scale(("none", "A", "B"))
IN_PAIRS = UnitSettings("boxes", rule="paired")
FEW = Inference(n_resamples=1000)


def f1(marked, settings, scale=None):
    units = units_of(marked, settings, scale).marking
    found = survey(units, ["specific_agreement"], FEW, scopes=("category",))
    return next(each for each in found if each.scope.name == "marked")


def counted_by_hand(marked):
    """Both found, and all that either found, over all pairs of raters of each image."""
    both = either = 0
    for item in sorted({each.item for each in marked}):
        for one, other in combinations([each for each in marked if each.item == item], 2):
            drawn = [(each.rater, area) for each in (one, other) for area in each.objects]
            groups = group_similar_areas(drawn, UnitSettings("boxes"))
            both += sum(len({*()}.union(*(node.raters for node in g))) == 2 for g in groups)
            either += len(one.objects) + len(other.objects)
    return 2 * both / either


def several_images(n, raters):
    rng, marked = np.random.default_rng(3), []
    for number in range(n):
        drawn = random_image(rng, raters)
        marked += [Marked(f"i{number}", one.rater, one.objects, one.extent) for one in drawn]
    return marked


@pytest.mark.parametrize("raters", ["ab", "abc", "abcde"])
def test_it_is_the_f1_score_that_a_loop_over_pairs_counts(raters):
    marked = several_images(12, raters)
    assert f1(marked, IN_PAIRS, AB).value == pytest.approx(counted_by_hand(marked), abs=1e-12)


def test_of_two_raters_the_units_are_the_matched_ones():
    marked = several_images(12, "ab")
    both = [units_of(marked, UnitSettings("boxes", rule=r), AB).rows for r in ("paired", "matched")]
    found = [{tuple(row) for row in rows.fillna("").to_numpy().tolist()} for rows in both]
    assert found[0] == found[1]


def test_raters_of_one_behaviour_have_one_value_whatever_their_number():
    settings = UnitSettings("spans", rule="paired")
    found = [f1(with_other_ends(300, n), settings) for n in (2, 4, 8)]
    values = [each.value for each in found]
    assert max(values) - min(values) <= 0.02
    assert all(each.interval.low < values[-1] < each.interval.high for each in found)
    assert [each.n_clusters for each in found][-1] > 250


def test_a_category_counts_where_both_gave_it():
    marked = [spans("d", "a", (0, 9, "A")), spans("d", "b", (0, 9, "B")), spans("d", "c")]
    settings = UnitSettings("spans", rule="paired")
    units = units_of(marked, settings, AB)
    assert sorted(units.rows["item"].unique()) == ["d 0-9", "d 0-9 (2)", "d 0-9 (3)"]
    counts = build_round_statistic(units.ratings, "specific_agreement").without_rater_names()
    assert MEASURES["specific_agreement"](counts).value.tolist() == [0.0, 0.0, 0.0]
    more = [spans("e", name, (0, 9, "A")) for name in "ab"]
    assert f1([*marked, *more], settings, AB).value == pytest.approx(4 / 6)


def test_pairs_that_marked_nothing_are_one_unit_and_one_rater_alone_is_kept():
    nobody = [spans("d", name) for name in "abc"]
    rows = units_of([*nobody, spans("e", "a", (0, 3, "A"))], UnitSettings("spans", rule="paired"))
    said = rows.rows[["item", "rater", "label"]].to_numpy().tolist()
    nothing = [["d nothing marked", name, "none"] for name in "abc"]
    assert said == [*nothing, ["e 0-3", "a", "A"]]


def test_replicates_do_not_count_and_objects_come_back_once():
    marked = several_images(3, "abc")
    again = [boxes("i0", "a", (30, 30, 2, 2, "A"), occurrence=2)]
    assert f1([*marked, *again], IN_PAIRS, AB) == f1(marked, IN_PAIRS, AB)
    found = objects_of(units_of(marked, IN_PAIRS, AB).ratings)
    before = {(each.item, each.rater): {*each.objects} for each in marked}
    assert {(each.item, each.rater): {*each.objects} for each in found.marked} == before


def test_a_project_refuses_units_that_would_train_more_than_once():
    said = {"project": "p", "inbox": "i", "scale": {"categories": ["none", "A"]}, "policy": "s"}
    with pytest.raises(ValidationError, match="found units of pairs of raters; expected units"):
        ProjectSettings(**said, units=IN_PAIRS)
