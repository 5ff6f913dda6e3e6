"""A release under a waiver: let out while the waiver holds, and refused afterwards."""

import json
import shutil
from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from itertools import combinations

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.estimates import Scope
from agreement_pipeline.policy import Policy, Rule, Waiver
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import (
    decisions,
    judge_round,
    open_release,
    opening,
    release_round,
    verify_release,
)
from agreement_pipeline.release.contents import SCHEMAS, documents
from agreement_pipeline.store import Store
from tests.release.rounds import CONTRACT, make_ratings
from tests.releases import current_release

POLICY = Policy(
    "standard",
    1,
    (Rule("krippendorff_alpha"), Rule("schouten_kappa", scope="rater")),
    n_resamples=1000,
)
DAY = date(2027, 1, 31)
DIGESTS = defaultdict(str)


THREE = {"raters": ("ana", "ben", "chiara"), "scale": Scale(("no", "yes"))}
# Chiara differs on some items. The round is tentative, and the rule about Chiara is not met.
RATINGS = make_ratings(disagreements=12, **THREE)


def waiver(measure, scope, **changes):
    made = Waiver(
        "demo", "r1", RATINGS.digest, measure, "Dana Okoye", "adjudicated | by hand", DAY, scope
    )
    return replace(made, **changes)


SCOPES = (
    ("krippendorff_alpha", "round"),
    *(("schouten_kappa", f"rater {name}") for name in ("ana", "ben", "chiara")),
)
ENOUGH = tuple(waiver(*each) for each in SCOPES)


@pytest.fixture(autouse=True)
def today(monkeypatch):
    """The day on which waivers are read; a test may set another."""
    day = {"is": DAY}
    for module in (decisions, opening):
        monkeypatch.setattr(module, "today", lambda: day["is"])
    return day


@pytest.fixture
def store(tmp_path):
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    made = Store(tmp_path / "store", salt=b"a salt for tests")
    made.ingest("r1", RATINGS, tmp_path / "export.csv")
    return made


def released(store, waivers=ENOUGH):
    return release_round(store, "r1", POLICY, CONTRACT, project="demo", waivers=waivers)


def test_it_is_let_out_and_says_who_answers_for_it(store):
    with pytest.raises(ReleaseHeldError, match="round r1: held"):
        released(store, ())
    found = released(store)
    assert verify_release(found.path).decisions["r1"]["decision"] == "admitted"
    card = (found.path / "README.md").read_text()
    assert (
        "**Under a waiver.** Dana Okoye answers for krippendorff\\_alpha of round in round r1 "
        "until 2027-01-31: adjudicated \\| by hand" in card
    )
    assert "met at its lower cut-off only. A waiver admits this, and conclusions" in card
    described = json.loads((found.path / "croissant.json").read_text())
    assert {
        "r1: admitted under a waiver of krippendorff_alpha of round by Dana Okoye until "
        "2027-01-31: adjudicated | by hand",
        "r1: admitted on a tentative verdict, so conclusions from these labels are tentative too",
    } <= {*described["rai:dataAnnotationAnalysis"]}
    older = json.loads(documents(replace(found, schema=SCHEMAS[1]), DIGESTS)["croissant.json"])
    assert older["rai:dataAnnotationAnalysis"] == [
        f"r1: {each['reason']}" for each in found.decisions["r1"]["verdicts"]
    ]
    assert store.history()[-2]["waivers"][0]["who"] == "Dana Okoye"
    assert "chiara" not in "".join(
        file.read_text(errors="ignore")
        for file in found.path.rglob("*")
        if file.suffix in (".json", ".md")
    )


def test_from_the_day_after_readers_are_refused_and_judging_withdraws_it(store, today):
    found = released(store)
    today["is"] = DAY + timedelta(1)
    with pytest.raises(
        ReleaseInvalidError,
        match=r"found a release admitted under a waiver by Dana Okoye until 2027-01-31"
        r".*which has ended",
    ) as refused:
        verify_release(found.path)
    assert refused.value.code == "release_waiver_ended"
    judged, withdrawn = judge_round(store, "r1", POLICY, CONTRACT, waivers=ENOUGH)
    assert (judged.decision.admitted, withdrawn, current_release(store, "r1")) == (
        False,
        True,
        None,
    )
    longer = tuple(replace(each, until=DAY + timedelta(30)) for each in ENOUGH)
    again = released(store, longer)
    assert again.path != found.path
    assert verify_release(again.path).rounds == ("r1",)


@pytest.mark.parametrize(
    "names",
    [("ana", "ben", "chiara"), ("ana and chi", "ben", "chi and ana")],
    ids=["plain", "with and in them"],
)
def test_a_waiver_of_a_pair_holds_under_the_raters_pseudonyms(store, tmp_path, names):
    rows = [
        (f"i{n:03}", names[r], ("no", "yes")[(n + (n < 12 and r == 2)) % 2])
        for n in range(90)
        for r in range(3)
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )
    store.ingest("r1", ratings, tmp_path / "export.csv")
    policy = replace(POLICY, rules=(Rule("cohen_kappa", scope="pair"),))
    pairs = [str(Scope.of_pair(*pair)) for pair in (names[:2], names[::2], names[1:])]
    waivers = [waiver("cohen_kappa", pair, ratings_digest=ratings.digest) for pair in pairs]
    for short in (waivers[:1], waivers[:2], waivers[::2]):
        with pytest.raises(ReleaseHeldError, match="round r1: held"):
            release_round(store, "r1", policy, CONTRACT, project="demo", waivers=short)
    found = release_round(store, "r1", policy, CONTRACT, project="demo", waivers=waivers)
    assert verify_release(found.path).decisions["r1"]["decision"] == "admitted"
    waived = json.loads((found.path / "policy.json").read_text())["waivers"]["r1"]
    assert {each["scope"] for each in waived} <= {
        str(Scope.of_pair(*pair)) for pair in combinations(store.pseudonyms(ratings).values(), 2)
    }
    assert len(waived) == 2


def test_a_waiver_that_is_taken_back_takes_the_release_back(store):
    found = released(store)
    assert judge_round(store, "r1", POLICY, CONTRACT)[1]
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(found.path)


def test_other_bytes_are_not_waived(store, tmp_path):
    found = released(store)
    (tmp_path / "export.csv").write_bytes(b"delivered again")
    store.ingest("r1", make_ratings(disagreements=13, **THREE), tmp_path / "export.csv")
    with pytest.raises(ReleaseHeldError, match="is refused, since it is bound to ratings"):
        released(store)
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(found.path)


def test_a_waiver_written_into_a_release_afterwards_is_seen(store, tmp_path):
    copy = shutil.copytree(released(store).path, tmp_path / "copy")
    policy = json.loads((copy / "policy.json").read_text())
    policy["waivers"]["r1"][0]["until"] = "2999-01-01"
    (copy / "policy.json").write_text(json.dumps(policy))
    with pytest.raises(ReleaseInvalidError) as refused:
        verify_release(copy)
    assert refused.value.code == "release_file_changed"


def test_what_a_trainer_requires_is_not_waived(store):
    path = released(store).path
    with pytest.raises(ReleaseHeldError, match="under policy required"):
        open_release(
            path,
            require=Policy(
                "required", 1, (Rule("krippendorff_alpha", reliable=0.9),), n_resamples=1000
            ),
        )


def test_the_command_line_asks_the_log_and_the_trainers_own_demand(store, tmp_path, capsys):
    path = released(store).path
    assert main(["verify", str(path), "--store", str(store.root)]) == 0
    assert main(["verify", str(path), "--require", "alpha>=0.667"]) == 0
    assert main(["verify", str(path), "--require", "alpha>=0.9"]) == 19
    assert main(["verify", str(path), "--require", "alpha=0.9"]) == 2
    copy = shutil.copytree(path, tmp_path / "copy")
    judge_round(store, "r1", POLICY, CONTRACT)
    assert main(["verify", str(path)]) == 11
    assert main(["verify", str(copy)]) == 0
    assert main(["verify", str(copy), "--store", str(store.root)]) == 18
    assert "refused (release_not_in_log)" in capsys.readouterr().out


def test_a_waived_check_stands_on_card_and_in_the_log_and_verifies(tmp_path, today, capsys):
    raters = [*"abcde", "twin"]
    rows = [
        (f"i{n:03}", rater, ("no", "yes")[(n + (n % 31 == raters.index(rater) % 5)) % 2])
        for n in range(1200)
        for rater in raters
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale(("no", "yes")))
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    store = Store(tmp_path / "store", salt=b"a salt for tests")
    store.ingest("r1", ratings, tmp_path / "export.csv")
    policy = Policy("usual", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
    contract = Contract.none()
    with pytest.raises(ReleaseHeldError, match="raters_not_copied: 1 of 15 pairs"):
        release_round(store, "r1", policy, contract, project="demo")
    named = Waiver.from_mapping(
        {
            "project": "demo",
            "round": "r1",
            "ratings_digest": ratings.digest,
            "policy_digest": policy.digest,
            "check": "raters_not_copied",
            "who": "Dana Okoye",
            "why": "both were seen at work",
            "until": "2027-01-31",
        }
    )
    made = release_round(store, "r1", policy, contract, project="demo", waivers=[named])
    card = (made.path / "README.md").read_text()
    assert "Dana Okoye answers for check raters\\_not\\_copied of round in round r1" in card
    decided = [each for each in store.history() if each["event"] == "decided"][-1]
    assert decided["waivers"] == [named.to_mapping()]
    assert verify_release(made.path, store=store).rounds
    assert main(["verify", str(made.path)]) == 0
    assert "until 2027-01-31: check raters_not_copied of round (both" in capsys.readouterr().out
    today["is"] = DAY + timedelta(1)
    with pytest.raises(ReleaseInvalidError, match="which has ended"):
        verify_release(made.path)
