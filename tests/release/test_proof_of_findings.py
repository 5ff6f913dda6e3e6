"""`verify` derives from a release's own files whatever would have held its rounds."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Rule, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.ratings import EarlierDelivery, Origin, mark_first_deliveries
from agreement_pipeline.readers import Columns, read
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store.local import LocalStorage
from tests.release.forging import ANNOTATIONS, edit, edit_table, refused
from tests.release.rounds import contents_of

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
CONTRACT = Contract.none()
MAST = Path(__file__).parents[1] / "cases" / "copied_blocks" / "mast_high.csv"
RATERS = ("ana", "ben", "cleo")


def frame_of(accuracy, n_items=200, first=0, words=(("no", "yes"),) * 3, seed=3):
    draw = np.random.default_rng([seed, first])
    truth = draw.integers(0, 2, n_items)
    rows = []
    for rater, own in zip(RATERS, words, strict=True):
        right = draw.random(n_items) < accuracy
        answers = np.where(right, truth, draw.integers(0, 2, n_items))
        rows += [(f"i{first + n}", rater, own[answer]) for n, answer in enumerate(answers)]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def words_that_do_not_meet():
    return read(frame_of(0.99, words=[("no", "yes"), ("no", "yes"), ("0", "1")]))


def placeholders():
    items = [f"none{n}" for n in range(300)]
    nothing = pd.DataFrame([(item, rater, "n/a") for item in items for rater in RATERS])
    return read(pd.concat([frame_of(0.9), nothing.set_axis(["item", "rater", "label"], axis=1)]))


def copied_rows():
    raters = tuple(f"r{n}" for n in range(6))
    return read(MAST, Columns(raters=raters), layout="wide")


def cumulative(accuracy_of_new, deliveries):
    """A delivery of 400 good items that came before, and of 100 new ones."""
    before = frame_of(0.99, 400)
    whole = read(pd.concat([before, frame_of(accuracy_of_new, 100, first=400)]))
    whole = whole.with_origin(Origin.build("table", (), {}))
    earlier = [EarlierDelivery("w1", read(before))]
    return mark_first_deliveries(whole, earlier, "w2", deliveries)


HELD = {
    "words_do_not_meet": words_that_do_not_meet,
    "placeholders_not_declared": placeholders,
    "labels_copied": copied_rows,
    "deliveries_not_declared": lambda: cumulative(0.99, None),
    "weak_part": lambda: cumulative(0.5, "independent"),
}


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """Releases of rounds that are held, whose decisions say that they are admitted."""
    folder = tmp_path_factory.mktemp("forged")
    for code, make in HELD.items():
        member = Member("w2", "0" * 64, make(), POLICY, CONTRACT)
        LocalStorage(folder).keep_folder(code, contents_of("demo", member, POLICY, CONTRACT))
    return folder


@pytest.mark.parametrize("code", HELD)
def test_a_release_of_a_round_that_is_held_is_refused_with_its_reason(forged, tmp_path, code):
    copy = shutil.copytree(forged / code, tmp_path / code)
    decision = json.loads((copy / "decision.json").read_text())["w2"]
    assert (decision["decision"], code in decision["codes"]) == ("held", True)
    refused(copy, "found round w2, which is not admitted")
    assert main(["verify", str(copy)]) != 0

    def admit(said):
        said["w2"].update(decision="admitted", codes=[], reasons=[])

    edit(copy, "decision.json", admit)
    refused(copy, rf"codes is \[\] and comes out as \[.*'{code}'")


def admit_wholly(said):
    """Also what found that the round is to be held says that it did not."""
    for finding in said["w2"]["findings"]:
        finding["passed"] = True
    for verdict in said["w2"]["verdicts"]:
        verdict.update(verdict="reliable", code="reliable")
    said["w2"].update(decision="admitted", codes=[], reasons=[])


@pytest.mark.parametrize("code", HELD)
def test_findings_that_say_that_they_passed_come_out_again(forged, tmp_path, code):
    copy = shutil.copytree(forged / code, tmp_path / code)
    edit(copy, "decision.json", admit_wholly)
    refused(copy, "comes out as")
    assert main(["verify", str(copy)]) != 0


def test_a_release_without_the_part_in_which_items_came_first_is_refused(tmp_path):
    """With the stratum the bad week holds the round, and without it the round would be admitted."""
    ratings = cumulative(0.99, "independent")
    member = Member("w2", "0" * 64, ratings, POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("honest", contents_of("demo", member, POLICY, CONTRACT))
    honest = tmp_path / "honest"
    assert verify_release(honest).ratings["w2"].strata["first_delivered"] == ("w1", "w2")

    def one_delivery(table):
        names = [name for name in table.column_names if "first_delivered" in name]
        assert names
        return table.drop_columns(names)

    without = shutil.copytree(honest, tmp_path / "without")
    edit_table(without, ANNOTATIONS, one_delivery)
    refused(without, "comes out as|do not give rounds|rows of")
    bad = replace(member, ratings=cumulative(0.5, "independent"))
    LocalStorage(tmp_path).keep_folder("bad", contents_of("demo", bad, POLICY, CONTRACT))
    edit_table(tmp_path / "bad", ANNOTATIONS, one_delivery)
    edit(tmp_path / "bad", "decision.json", admit_wholly)
    refused(tmp_path / "bad", "comes out as|do not give rounds|rows of")
