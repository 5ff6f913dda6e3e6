"""Positions: runs of equal positions say what the positions say one by one."""

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import counting_for
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.units import Marked, Segment, UnitSettings, units_of

from .drawn import spans

ONE = Scale(("none", "unit"))
NAMES = Scale(("none", "PER", "ORG"))


def value(ratings, name):
    statistic = counting_for(ratings).labels(ratings)
    measure = MEASURES[name]
    return float(measure(statistic.counts() if measure.needs == "counts" else statistic).value)


def test_positions_of_two_raters_give_the_alpha_that_dkpro_tests():
    """Example A of Krippendorff (1995), p. 57. `test_reproduction.py` has its kappa and its pi."""
    marked = [
        spans("tokens", "i", (2, 10, "unit"), (14, 20, "unit")),
        spans("tokens", "j", (4, 8, "unit"), (15, 17, "unit")),
    ]
    found = units_of(marked, UnitSettings("spans"), ONE).ratings
    assert value(found, "krippendorff_alpha") == pytest.approx(0.329, abs=0.001)


def some_documents(seed=3, n=12):
    rng = np.random.default_rng(seed)
    marked = []
    for document in range(n):
        length = int(rng.integers(1, 40))
        for rater in "abc":
            if rng.random() < 0.2:
                continue
            cuts = np.unique(rng.integers(0, length + 1, 6))
            said = [
                (int(start), int(end), str(rng.choice(NAMES.names[1:])))
                for start, end in pairwise(cuts)
                if rng.random() < 0.5
            ]
            marked.append(spans(f"d{document}", rater, *said, length=length))
    return marked


def one_by_one(marked):
    """A rating for each character."""
    rows = []
    for each in marked:
        label = ["none"] * int(each.extent[0])
        for span in each.objects:
            label[span.start : span.end] = [span.category] * (span.end - span.start)
        rows += [(f"{each.item} {n}", each.rater, said, each.item) for n, said in enumerate(label)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "cluster"])
    return Ratings.from_frame(frame, NAMES)


def test_runs_are_the_same_statistic_as_characters_one_by_one():
    marked = some_documents()
    runs = units_of(marked, UnitSettings("spans"), NAMES).ratings
    each = one_by_one(marked)
    found, slow = (counting_for(one).labels(one) for one in (runs, each))
    assert len(runs) < len(each) / 2
    assert found.raters == slow.raters
    assert found.codes.tolist() == slow.codes.tolist()
    assert found.weights.tolist() == slow.weights.tolist()
    assert found.clusters.n == slow.clusters.n
    assert found.n_items == sum({m.item: int(m.extent[0]) for m in marked}.values())


def test_the_order_of_raters_files_and_objects_changes_nothing():
    marked = some_documents(n=4)
    digests = set()
    rng = np.random.default_rng(1)
    for _ in range(5):
        shuffled = [
            Marked(m.item, m.rater, tuple(rng.permutation(np.array(m.objects))), m.extent)
            for m in rng.permutation(np.array(marked))
        ]
        digests.add(units_of(shuffled, UnitSettings("spans"), NAMES).ratings.digest)
    for names in permutations("abc"):
        renamed = dict(zip("abc", names, strict=True))
        turned = [Marked(m.item, renamed[m.rater], m.objects, m.extent) for m in marked]
        digests.add(units_of(turned, UnitSettings("spans"), NAMES).ratings.digest)
    assert len(digests) == 1


def test_who_marked_nothing_says_none_and_who_never_opened_it_is_missing():
    marked = [spans("d", "ana", (0, 3, "PER"), length=5), spans("d", "ben", length=5)]
    rows = units_of([*marked, spans("e", "ana", length=2)], UnitSettings("spans"), NAMES).rows
    said = rows[["item", "rater", "label", "weight"]].to_numpy().tolist()
    assert said == [
        ["d 0-3", "ana", "PER", 3],
        ["d 0-3", "ben", "none", 3],
        ["d 3-5", "ana", "none", 2],
        ["d 3-5", "ben", "none", 2],
        ["e 0-2", "ana", "none", 2],
    ]


def test_an_item_without_content_is_no_unit_and_no_cluster():
    marked = [spans("d", rater, (0, 3, "PER"), length=5) for rater in ("ana", "ben")]
    empty = [spans("e", rater, length=0) for rater in ("ana", "ben")]
    for kind, rule in (("spans", "positions"), ("spans", "matched")):
        settings = UnitSettings(kind, rule=rule)
        found = units_of([*marked, *empty], settings, NAMES).rows
        assert found.equals(units_of(marked, settings, NAMES).rows)
        assert set(found["cluster"]) == {"d"}


def test_marking_and_naming_are_apart():
    marked = [
        spans("d", "ana", (0, 4, "PER"), (6, 8, "PER")),
        spans("d", "ben", (0, 4, "ORG"), (7, 8, "PER")),
    ]
    units = units_of(marked, UnitSettings("spans"), NAMES)
    assert value(units.marking, "percent_agreement") == pytest.approx(23 / 24)
    assert value(units.naming, "percent_agreement") == pytest.approx(1 / 5)
    only = Scale(("PER", "ORG"))
    for part, scale in (("marking", None), ("naming", only)):
        asked = units_of(marked, UnitSettings("spans", part=part), scale).ratings
        assert asked.digest == getattr(units, part).digest


def test_two_entities_side_by_side_are_two_runs_and_the_agreement_is_that_of_one():
    cut = [spans("d", "ana", (0, 3, "PER"), (3, 6, "PER"), length=9), spans("d", "ben", length=9)]
    whole = [spans("d", "ana", (0, 6, "PER"), length=9), spans("d", "ben", length=9)]
    of_cut, of_whole = (units_of(each, UnitSettings("spans"), NAMES) for each in (cut, whole))
    of_ana = of_cut.rows[of_cut.rows["rater"] == "ana"]
    assert of_ana["item"].tolist() == ["d 0-3", "d 3-6", "d 6-9"]
    assert of_ana["label"].tolist() == ["PER", "PER", "none"]
    assert of_ana["drawn"].tolist()[:2] == ["[0, 3]", "[3, 6]"]
    assert of_ana["drawn"].isna().tolist() == [False, False, True]
    alphas = [value(each.ratings, "krippendorff_alpha") for each in (of_cut, of_whole)]
    assert alphas[0] == alphas[1]


def test_the_units_say_the_whole_object_that_each_rater_drew():
    marked = [
        spans("d", "ana", (0, 5, "PER"), length=9),
        spans("d", "ben", (0, 6, "PER"), (6, 8, "PER"), length=9),
    ]
    rows = units_of(marked, UnitSettings("spans"), NAMES).rows
    drawn = rows.dropna(subset="drawn").groupby("rater")["drawn"].unique()
    assert [*drawn["ana"]] == ["[0, 5]"]
    assert [*drawn["ben"]] == ["[0, 6]", "[6, 8]"]


def test_a_step_makes_positions_longer():
    def seconds(rater, *said):
        return Marked("r", rater, tuple(Segment(*each) for each in said), (10.0,))

    marked = [seconds("ana", (0.4, 4.1, "PER")), seconds("ben", (0.0, 3.9, "PER"))]
    by_second = units_of(marked, UnitSettings("segments"), NAMES)
    by_tenth = units_of(marked, UnitSettings("segments", step=0.1), NAMES)
    assert value(by_second.ratings, "percent_agreement") == 1
    assert value(by_tenth.ratings, "percent_agreement") == pytest.approx(0.94)


def test_an_end_that_was_rounded_up_does_not_reach_into_the_next_item():
    end = 10.5000004  # of 10.5 seconds, which are 10 positions
    marked = [
        Marked(item, rater, said, (10.5,))
        for item in ("d1", "d2")
        for rater, said in (("ana", (Segment(8.0, end, "PER"),)), ("ben", ()))
    ]
    rows = units_of(marked, UnitSettings("segments"), NAMES).rows
    of_ana = rows[rows["rater"] == "ana"][["item", "label", "weight"]]
    assert of_ana.to_numpy().tolist() == [
        ["d1 0-8", "none", 8],
        ["d1 8-10", "PER", 2],
        ["d2 0-8", "none", 8],
        ["d2 8-10", "PER", 2],
    ]


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            [spans("d", "ana", (0, 4, "PER"), (2, 6, "ORG"))],
            "a span: found 'ORG' at 2-6 over 'PER' at 0-4; expected one category at a position",
        ),
        (
            [spans("d", "ana", (0, 9, "PER"), (1, 2, "PER"), (5, 6, "ORG"))],
            "found 'ORG' at 5-6 over 'PER' at 0-9",
        ),
        ([Marked("d", "ana", ())], "found item 'd' without a length; expected one"),
        (
            [spans("d", "ana", length=5), spans("d", "ben", length=6)],
            "found item 'd' of size \\[6\\], and \\[5\\] elsewhere; expected one size",
        ),
    ],
)
def test_what_positions_refuse(marked, message):
    with pytest.raises(RatingsError, match=message):
        units_of(marked, UnitSettings("spans"), NAMES)
