"""What may differ between a release and what is derived again, and what may not."""

import math
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline import Ratings, ReleaseInvalidError, Rule, Scale, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.policy import Assessment, decide
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store.local import LocalStorage
from tests.release.forging import (
    CONTRACT,
    POLICY,
    TRAIN,
    edit,
    edit_table,
    forge,
    make_ratings,
    refused,
)
from tests.release.rounds import contents_of

REWORDINGS = {
    "README.md": [
        lambda text: text.replace(
            "Admitted under policy standard", "Admitted by the board under policy standard"
        ),
        lambda text: text.replace(
            "180 items have a training label", "1800 items have a training label"
        ),
        lambda text: text + "\nReviewed by the board.\n",
    ],
    "croissant.json": [
        lambda text: text.replace("ties are not broken", "ties are broken by experts"),
        lambda text: text.replace('"isLiveDataset": false', '"isLiveDataset": true'),
        lambda text: text.replace(
            '"contentUrl": "data/train', '"contentUrl": "https://example.org/train'
        ),
    ],
    "decision.json": [
        lambda text: text.replace(
            '"reason": "krippendorff_alpha', '"reason": "beyond doubt: krippendorff_alpha', 1
        )
    ],
    "agreement_report.json": [lambda text: text.replace('"method": "', '"method": "exact ', 1)],
}


def test_numbers_may_differ_in_the_last_digits(copy):
    def change(said):
        verdict = said["r1"]["verdicts"][0]
        verdict.update(value=verdict["value"] + 1e-12)

    edit(copy, "decision.json", change)
    assert verify_release(copy).rounds == ("r1", "r2")


@pytest.mark.parametrize("towards", [0, 1])
def test_a_last_digit_that_another_machine_adds_up_otherwise_changes_no_word(tmp_path, towards):
    """One of four raters differs on 12 of 96 items, so 0.9375 of the pairs agree.

    This value lies between two numbers of three digits.
    """
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[(item + (item < 12 and rater == "d")) % 2])
        for item in range(96)
        for rater in "abcd"
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )
    policy = replace(
        POLICY,
        rules=(*POLICY.rules, Rule("percent_agreement", effect="warn")),
        admit=("reliable", "tentative"),
    )
    here = Member("r1", "0" * 64, ratings, policy, CONTRACT)
    (value,) = (
        each.value for each in here.assessment.estimates if each.measure == "percent_agreement"
    )
    assert value == 0.9375
    elsewhere = [
        replace(each, value=math.nextafter(each.value, towards))
        if each.measure == "percent_agreement"
        else each
        for each in here.assessment.estimates
    ]
    said = here.assessment.decision
    judged = {
        "ratings_digest": said.ratings_digest,
        "contract_digest": said.contract_digest,
        "contract": said.contract,
        "code_version": said.code_version,
        "version": 1,
    }
    decision = decide(elsewhere, policy, findings=said.findings, **judged)
    there = replace(here)
    vars(there)["assessment"] = Assessment(tuple(elsewhere), decision)  # as found there
    LocalStorage(tmp_path).keep_folder("release", contents_of("demo", there, policy, CONTRACT))
    assert verify_release(tmp_path / "release").decisions["r1"]["verdicts"][1]["value"] == value


def test_the_version_that_decided_may_be_another(copy):
    edit(copy, "decision.json", lambda said: said["r1"].update(code_version="0.0.1"))
    assert verify_release(copy).rounds == ("r1", "r2")


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name, changes in REWORDINGS.items() for change in changes],
)
def test_words_that_the_annotations_do_not_give_are_refused_whatever_the_manifest_says(
    copy, name, change
):
    text = (copy / name).read_text()
    assert change(text) != text
    forge(copy, name, change(text).encode())
    with pytest.raises(
        ReleaseInvalidError, match=rf"{name}.* when worded again by agreement_pipeline"
    ) as refusal:
        verify_release(copy)
    assert refusal.value.code == "release_reworded"
    assert main(["verify", str(copy)]) == 20


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "manifest.json",
            lambda said: said.update(reason="Approved"),
            "reason is 'Approved' and comes out as nothing",
        ),
        (
            "manifest.json",
            lambda said: said.update(code_version="9"),
            "code_version is '9' and comes out as nothing",
        ),
        (
            "manifest.json",
            lambda said: said["rounds"][0].update(method="x"),
            "rounds 1, method is 'x' and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said.update(reasons=["Approved"]),
            r"reasons is \['Approved'\] and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said.update(description="Approved"),
            "description is 'Approved' and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said["policy"].pop("confidence_level"),
            "policy, confidence_level is nothing and comes out as 0.95",
        ),
        (
            "decision.json",
            lambda said: said.update(code_version="approved by board"),
            "code_version is 'approved by board' and comes out as nothing",
        ),
        (
            "decision.json",
            lambda said: said["r1"].update(code_version={"a": [1]}),
            r"r1, code_version is \{'a': \[1\]\} and comes out as",
        ),
        (
            "decision.json",
            lambda said: said["r1"].pop("code_version"),
            "r1, code_version is nothing and comes out as",
        ),
        (
            "decision.json",
            lambda said: said["r1"]["verdicts"][0].update(method="x"),
            "r1, verdicts 1, method is 'x' and comes out as nothing",
        ),
        ("decision.json", lambda said: said.update(r3=None), "r3 is None and comes out as nothing"),
        (
            "decision.json",
            lambda said: said["r1"].update(tentative=0),
            "r1, tentative is 0 and comes out as False",
        ),
        (
            "agreement_report.json",
            lambda said: said.update(method="exact"),
            "method is 'exact' and comes out as nothing",
        ),
    ],
)
def test_what_is_worded_or_dated_is_passed_over_where_a_release_has_it_and_nowhere_else(
    copy, name, change, said
):
    edit(copy, name, change)
    refused(copy, f"{name}, {said}")


def test_a_round_that_is_called_like_a_word_is_compared_like_any(tmp_path):
    """A decision says `code_version` of each round, and a round may have that very name."""
    member = Member("code_version", "0" * 64, make_ratings(), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("release", contents_of("demo", member, POLICY, CONTRACT))
    assert verify_release(tmp_path / "release").rounds == ("code_version",)
    edit(
        tmp_path / "release",
        "decision.json",
        lambda said: said["code_version"].update(tentative=True),
    )
    refused(
        tmp_path / "release",
        "decision.json, code_version, tentative is True and comes out as False",
    )


def test_labels_of_any_size_are_compared_to_the_last_digit(tmp_path):
    """Measurements of 1e-11 are no less labels than others."""
    rows = [
        (f"i{item:03}", rater, (item + 1) * 1e-11 * (1 + 0.001 * place))
        for item in range(60)
        for place, rater in enumerate("abc")
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(None, "interval")
    )
    member = Member("r1", "0" * 64, ratings, POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("release", contents_of("demo", member, POLICY, CONTRACT))
    path = tmp_path / "release"
    assert verify_release(path).rounds == ("r1",)
    for forged in (
        [0.0] * 60,
        [math.nextafter(label, 1) for label in verify_release(path).train["label"]],
    ):
        copy = shutil.copytree(path, tmp_path / f"copy {forged[0]}")
        edit_table(
            copy,
            TRAIN,
            lambda table, forged=forged: table.set_column(
                table.column_names.index("label"), "label", [forged]
            ),
        )
        refused(copy, f"found rows of {TRAIN} that the consensus of the annotations does not give")
