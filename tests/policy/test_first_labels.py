"""What decisions say of labels that were given again, and what a policy may ask for."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.integrity import relabel_late_changes
from agreement_pipeline.policy import Policy, Rule, assess, describe_first_labels, load_policy
from agreement_pipeline.ratings import Ratings, Scale
from benchmarks.studies.relabelling import (
    CORRECTED,
    HONEST,
    guessed_anew,
    looked_again,
    overwritten,
    rounds,
    slips,
)
from benchmarks.studies.relabelling import (
    decided as decided_by_standard,
)

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
ASKING = replace(POLICY, first_labels="required")
SCALE = Scale(("no", "yes"))
ROWS = [
    (f"i{at:02}", rater, SCALE.names[at % 2]) for at in range(60) for rater in ("ana", "ben", "chi")
]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
CANNOT = "This file has no edit history, so later edits cannot be ruled out."


def decided(frame, policy=POLICY):
    ratings = frame if isinstance(frame, Ratings) else Ratings.from_frame(frame, SCALE)
    return assess(ratings, policy, Contract.none(), checked=()).decision


def changed(n, **columns):
    """The table in which the first labels of so many rows were changed."""
    few = FRAME.index < n
    return FRAME.assign(
        **{name: [to if each else None for each in few] for name, to in columns.items()}
    )


@pytest.mark.parametrize(
    ("frame", "words", "asked"),
    [
        (FRAME, CANNOT, False),
        (FRAME.assign(changed_at=None), "No label was edited.", True),
        (
            changed(1, changed_at="2026-01-01"),
            "1 label was changed and its first label is not known.",
            False,
        ),
        (
            changed(2, changed_at="2026-01-01"),
            "2 labels were changed and their first labels are not known.",
            False,
        ),
        (
            changed(4, last_label="yes", changed_at="2026-01-01"),
            "Agreement rests on first labels: 3 labels were changed later, and only train.",
            True,
        ),
    ],
)
def test_a_sentence_says_what_is_known_and_a_policy_may_ask_for_it(frame, words, asked):
    assert describe_first_labels(Ratings.from_frame(frame, SCALE)) == words
    assert decided(frame).admitted
    found = decided(frame, ASKING)
    assert found.admitted is asked
    assert found.codes == (() if asked else ("first_labels_not_known",))
    if not asked:
        assert words[1:-1] in found.reasons[0]


def test_a_policy_that_does_not_ask_has_the_digest_that_it_had():
    assert "first_labels" not in POLICY.to_mapping()
    assert Policy.from_mapping(ASKING.to_mapping()) == ASKING
    assert ASKING.digest != POLICY.digest
    assert load_policy("standard").first_labels == "not_asked"
    with pytest.raises(PolicyError, match="first_labels"):
        replace(POLICY, first_labels="yes")


def test_changes_on_disputed_items_hold_a_round_unless_first_labels_are_known():
    found = next(e for e in rounds(guessed_anew, 9) if decided(e.ratings("nothing")).admitted)
    of_times = decided(found.ratings("times"))
    assert of_times.codes[0] == "labels_given_again"
    assert "Have a fresh random sample of items labelled" in of_times.reasons[0]
    of_first = decided(found.ratings("first labels"))
    assert "labels_given_again" not in of_first.codes
    (told,) = (each for each in of_first.findings if each.check == "labels_given_again")
    assert (told.passed, told.holds) == (False, False)
    assert not of_first.admitted
    (honest,) = rounds(slips, 1)
    for carried in ("times", "first labels"):
        ratings = honest.ratings(carried)
        assert not any(each.check == "labels_given_again" for each in decided(ratings).findings)


@pytest.mark.parametrize("made", [looked_again, overwritten])
def test_a_verdict_must_stand_if_the_labels_that_were_changed_late_had_differed(made):
    found = [decided(each.ratings("times")) for each in rounds(made, 6)]
    assert not any(each.admitted for each in found)
    words = "labels that were changed late had differed before, it is tentative"
    assert any(words in reason for each in found for reason in each.reasons)


@pytest.mark.parametrize("name", HONEST)
def test_changes_of_whole_items_and_few_slips_take_no_verdict_back(name):
    for each in rounds(HONEST[name], 3):
        assert "labels_given_again" not in decided(each.ratings("times")).codes


def test_what_would_be_if_they_had_differed_is_told_of_labels_that_changed_beside_others():
    """Of 60 items, ana changed 12, and all raters changed one. Ben changed each `yes` of his."""
    by_ana = (FRAME["rater"] == "ana") & (FRAME["item"] < "i12")
    by_ben = (FRAME["rater"] == "ben") & (FRAME["label"] == "yes")
    whole = FRAME["item"] == "i58"
    at = (by_ana | by_ben | whole).map({True: "2026-01-01", False: None})
    n, others = relabel_late_changes(Ratings.from_frame(FRAME.assign(changed_at=at), SCALE))
    said = others.to_pandas()[["item", "rater", "label"]].astype(str)
    expected = FRAME.assign(
        label=FRAME["label"].where(~by_ana, FRAME["label"].map({"no": "yes", "yes": "no"}))
    )
    assert n == 12
    assert said.to_numpy().tolist() == expected.to_numpy().tolist()
    few = at.where(by_ana & (FRAME["item"] < "i09"))
    assert relabel_late_changes(Ratings.from_frame(FRAME.assign(changed_at=few), SCALE)) is None


def test_the_command_says_it_in_every_format(tmp_path, capsys):
    table = tmp_path / "round.csv"
    FRAME.to_csv(table, index=False)
    asked = ["judge", str(table), "--policy", "standard"]
    main(asked)
    assert f"\n  {CANNOT}\n" in capsys.readouterr().out
    main([*asked, "--format", "markdown"])
    assert f"\n- {CANNOT}\n" in capsys.readouterr().out
    main([*asked, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["first_labels"] == CANNOT


def test_a_table_tells_first_labels_by_the_columns_that_are_named(tmp_path, capsys):
    table = tmp_path / "round.csv"
    changed(6, was="no", edited="2026-01-01T10:00:00").to_csv(table, index=False)
    asked = ["judge", str(table), "--policy", "standard"]
    main([*asked, "--first-label", "was", "--changed-at", "edited"])
    said = "Agreement rests on first labels: 3 labels were changed later, and only train."
    assert said in capsys.readouterr().out
    main(asked)
    assert CANNOT in capsys.readouterr().out


def test_a_large_correction_is_held_and_says_how_it_may_be_admitted():
    (of,) = rounds(CORRECTED["a bug had swapped 60 labels of a rater, and was corrected"], 1)
    by_times, by_deliveries = (
        decided_by_standard(of, carried) for carried in ("times", "two deliveries")
    )
    assert by_times.codes == ("labels_given_again",)
    assert "if the 60 labels that were changed late had differed before" in by_times.reasons[0]
    assert "labels_given_again" in by_deliveries.codes
    for way_out in ("deliver the first labels", "random sample", "waiver"):
        assert way_out in by_deliveries.reasons[0]
