"""Several rounds released together."""

import hashlib
import json
from datetime import date

import pandas as pd
import pytest

from agreement_pipeline import Policy, Ratings, ReleaseHeldError, Rule, Scale
from agreement_pipeline.errors import StoreError
from agreement_pipeline.policy import Waiver
from agreement_pipeline.release import open_release, release_dataset, release_round, verify_release
from tests.release.forging import CONTRACT, POLICY
from tests.releases import current_release

SCALE = Scale(("no", "yes"))


@pytest.fixture
def ingest(store, tmp_path):
    """Ingest a round of three raters who agree on all items except those in `split`.

    Even items are yes.
    """
    (tmp_path / "export.csv").write_bytes(b"as delivered")

    def make(name, items, split=(), scale=SCALE, raters="abc", **more):
        label = {
            (item, rater): scale.names[(item % 2 == 0) != (item in split and rater == raters[-1])]
            for item in items
            for rater in raters
        }
        frame = pd.DataFrame(
            [(f"i{item:03}", rater, said) for (item, rater), said in label.items()],
            columns=["item", "rater", "label"],
        )
        columns = {
            column: frame["item"].map(values) if callable(values) else values
            for column, values in more.items()
        }
        return store.ingest(
            name, Ratings.from_frame(frame.assign(**columns), scale), tmp_path / "export.csv"
        )

    return make


def dataset(store, rounds):
    return release_dataset(store, rounds, POLICY, CONTRACT, project="demo")


def test_items_met_in_several_rounds_keep_the_first_rounds_row(store, ingest):
    one, two = ingest("r1", range(60)), ingest("r2", range(50, 110))
    found = dataset(store, ["r2", "r1", "r2"])
    assert found.rounds == ("r2", "r1")
    assert found.train.groupby("round")["id"].agg(["min", "max", "count"]).to_dict("index") == {
        "r1": {"min": "i000", "max": "i049", "count": 50},
        "r2": {"min": "i050", "max": "i109", "count": 60},
    }
    assert len(found.annotations) == 2 * 60 * 3
    members = json.dumps([["r2", two.ratings_digest], ["r1", one.ratings_digest]], indent=2) + "\n"
    assert (
        found.path
        == store.root
        / "releases"
        / "demo.dataset"
        / f"{hashlib.sha256(members.encode()).hexdigest()[:12]}-{POLICY.digest[:12]}"
    )
    assert current_release(store, "demo.dataset") == found.path
    assert dataset(store, ["r1", "r2"]).path != found.path


def test_a_tie_of_one_round_is_settled_by_the_ratings_of_another(store, ingest):
    ingest("r1", range(60), split=[7], raters="ab")
    ingest("r2", range(7, 67), raters="ab")
    found = dataset(store, ["r1", "r2"])
    assert len(found.train) == 67
    row = found.train.set_index("id").loc["i007"]
    assert (row["resolution"], row["n_raters"], row["n_ratings"]) == ("plurality", 2, 4)
    assert sorted(row["votes"])[-2:] == [1, 3]
    assert list(row["rounds"]) == ["r1", "r2"]


def test_what_is_gold_in_one_round_is_training_data_in_none(store, ingest):
    ingest("r1", range(60), gold=lambda item: item == "i003")
    ingest("r2", range(60, 120))
    ingest("r3", range(60), text=lambda item: f"text of {item}")
    found = dataset(store, ["r3", "r1", "r2"])
    assert "i003" not in set(verify_release(found.path).train["id"])
    assert found.train.set_index("id").loc[["i004", "i061"], "text"].isna().tolist() == [
        False,
        True,
    ]


def test_a_held_round_holds_them_all_and_every_one_is_named(store, ingest):
    for name, split in (("r1", ()), ("r2", range(40)), ("r3", range(50))):
        ingest(name, range(60), split=split)
    with pytest.raises(
        ReleaseHeldError,
        match=r"round r2: held, since .*; round r3: held, since .*expected an admitted decision",
    ):
        dataset(store, ["r1", "r2", "r3"])
    assert not (store.root / "releases").exists()
    assert [store.history(name)[-1]["decision"] for name in ("r1", "r2", "r3")] == [
        "admitted",
        "held",
        "held",
    ]


def test_no_round_and_unknown_rounds_are_refused(store, ingest):
    ingest("r1", range(60))
    with pytest.raises(
        ReleaseHeldError, match="found no round; expected at least one admitted round"
    ):
        dataset(store, [])
    with pytest.raises(StoreError, match="found no round 'r9' among"):
        dataset(store, ["r1", "r9"])


def test_rounds_of_different_scales_are_refused(store, ingest):
    ingest("r1", range(60))
    ingest("r2", range(60), scale=Scale(("no", "yes", "perhaps")))
    with pytest.raises(ReleaseHeldError, match="found 2 different scales; expected one"):
        dataset(store, ["r1", "r2"])


def test_one_item_with_two_texts_is_refused_since_one_would_be_lost(store, ingest):
    ingest("r1", range(60), text=lambda item: f"a text of {item}")
    ingest("r2", range(59, 119), text=lambda item: f"another text of {item}")
    with pytest.raises(
        ReleaseHeldError, match=r"found items \['i059'\] with different texts in different rounds"
    ):
        dataset(store, ["r1", "r2"])


@pytest.mark.parametrize(
    "other",
    [pd.Timestamp("2026-11-01"), 0.5],
    ids=["time without a zone", "number"],
)
def test_columns_of_different_kinds_are_refused_and_go_together_as_text(store, ingest, other):
    time = pd.Timestamp("2026-11-01", tz="UTC")
    ingest("r1", range(60), timestamp=time)
    ingest("r2", range(60, 120), timestamp=other)
    with pytest.raises(
        ReleaseHeldError,
        match=r"found columns of different kinds \(.*timestamp"
        ".*Ingest them again with that column as text in each",
    ):
        dataset(store, ["r1", "r2"])
    ingest("r1", range(60), timestamp=str(time))
    ingest("r2", range(60, 120), timestamp=str(other))
    assert dataset(store, ["r1", "r2"]).rounds == ("r1", "r2")


@pytest.mark.parametrize(
    "other",
    ["yesterday", pd.Timestamp("2026-11-01", tz="Europe/Berlin")],
    ids=["text", "another time zone"],
)
def test_times_of_any_zone_are_text_and_go_together(store, ingest, other):
    ingest("r1", range(60), timestamp=pd.Timestamp("2026-11-01", tz="UTC"))
    ingest("r2", range(60, 120), timestamp=other)
    assert verify_release(dataset(store, ["r1", "r2"]).path).rounds == ("r1", "r2")


def test_columns_that_only_some_rounds_have_do_not_disturb_the_proof(store, ingest):
    ingest("r1", range(60), confidence=0.5, timestamp=pd.Timestamp("2026-11-01", tz="UTC"))
    at = pd.Timestamp("2026-11-01T12:00:00.5", tz="UTC")
    ingest("r2", range(60), text=lambda item: f"a text of {item}", timestamp=at)
    assert verify_release(dataset(store, ["r1", "r2"]).path).rounds == ("r1", "r2")


def test_labels_on_an_interval_scale_are_means(store, ingest, tmp_path):
    frame = pd.DataFrame(
        [(f"i{i}", rater, i % 5 + (rater == "c" and i < 2)) for i in range(80) for rater in "abc"],
        columns=["item", "rater", "label"],
    )
    store.ingest(
        "r1", Ratings.from_frame(frame, Scale((0, 1, 2, 3, 4), "interval")), tmp_path / "export.csv"
    )
    found = verify_release(dataset(store, ["r1"]).path).train.set_index("id")
    assert found.loc[["i0", "i1", "i9"], "label"].tolist() == [
        pytest.approx(1 / 3),
        pytest.approx(4 / 3),
        4.0,
    ]


def test_a_round_without_any_resolved_item_is_no_training_data(store, ingest):
    version = ingest("r1", range(60), split=range(60), raters="ab")
    waiver = Waiver(
        "demo",
        "r1",
        version.ratings_digest,
        "krippendorff_alpha",
        "Dana",
        "to see what comes of it",
        date.today(),
    )
    with pytest.raises(
        ReleaseHeldError,
        match="found 60 items without a label; expected at least one with a label",
    ):
        release_dataset(store, ["r1"], POLICY, CONTRACT, project="demo", waivers=[waiver])


def test_a_round_of_gold_items_alone_is_held_and_says_so(store, ingest):
    ingest("r1", range(60), gold=True)
    with pytest.raises(
        ReleaseHeldError,
        match="round r1: held, since krippendorff_alpha: undefined, "
        "since no item has two ratings, gold items apart",
    ):
        dataset(store, ["r1"])


def test_agreement_on_gold_items_lets_no_other_item_out(store, ingest):
    """Alpha is 0.98 on all items, and under 0 on the twenty that would be released."""
    ingest("r1", range(320), split=range(20), gold=lambda item: item >= "i020")
    with pytest.raises(
        ReleaseHeldError, match=r"round r1: held, since krippendorff_alpha -0\.\d+, .* on 20 items"
    ):
        release_round(store, "r1", POLICY, CONTRACT, project="demo")
    ingest("r1", range(320), split=range(20), gold="no")
    assert len(release_round(store, "r1", POLICY, CONTRACT, project="demo").train) == 320


def test_agreement_on_what_is_gold_in_another_round_lets_no_other_item_out(store, ingest):
    ingest("r1", range(320), split=range(20))
    ingest("r2", range(20, 400), gold=lambda item: item < "i320")
    assert len(dataset(store, ["r2"]).train) == 80
    found = (
        "round r1: found it admitted by itself, and held without the items that are gold "
        r"in another round \(krippendorff_alpha -0\.\d+, .* on 20 items"
    )
    for rounds in (["r1"], ["r1", "r2"]):
        with pytest.raises(ReleaseHeldError, match=found):
            dataset(store, rounds)
    assert store.history("r1")[-1]["decision"] == "admitted"


def test_each_round_of_a_release_is_judged_without_what_is_gold_in_any(store, ingest):
    ingest("r1", range(100), split=range(2))
    ingest("r2", range(40, 200), gold=lambda item: item < "i060")
    found = verify_release(dataset(store, ["r1", "r2"]).path)
    assert sorted(found.train["id"]) == [
        f"i{item:03}" for item in range(200) if not 40 <= item < 60
    ]
    assert [found.decisions[name]["verdicts"][0]["n_items"] for name in ("r1", "r2")] == [80, 140]
    with pytest.raises(ReleaseHeldError, match="on 80 items"):
        open_release(
            found.path,
            require=Policy(
                "required", 1, (Rule("krippendorff_alpha", min_items=90),), n_resamples=1000
            ),
        )


def test_t3_an_item_with_another_label_in_another_round_is_unresolved(store, ingest):
    ingest("w1", range(40))
    made = {
        (f"i{item:03}", rater): SCALE.names[item % 2 == 1] for item in range(30) for rater in "abc"
    }
    frame = pd.DataFrame(
        [(*key, said) for key, said in made.items()], columns=["item", "rater", "label"]
    )
    store.ingest("0000", Ratings.from_frame(frame, SCALE), store.root.parent / "export.csv")
    release = dataset(store, ["0000", "w1"])
    assert list(release.train["id"]) == [f"i{item:03}" for item in range(30, 40)]
    unresolved = pd.read_parquet(release.path / "unresolved")
    assert unresolved["id"].tolist() == [f"i{item:03}" for item in range(30)]
    assert set(unresolved["resolution"]) == {"conflict"}
    report = json.loads((release.path / "agreement_report.json").read_text())
    assert report["rows"] == {"train": 10, "unresolved": 30, "in_conflict": 30}
    card = (release.path / "README.md").read_text()
    assert "30 items do not train, because two rounds, or two adjudicators, give different" in card
    assert verify_release(release.path).rounds == ("0000", "w1")


def test_rounds_in_conflict_are_refused_if_the_policy_says_so(store, ingest):
    ingest("w1", range(40))
    frame = pd.DataFrame(
        [("i000", rater, "no") for rater in "abc"]
        + [(f"j{n}", r, SCALE.names[n % 2]) for n in range(40) for r in "abc"],
        columns=["item", "rater", "label"],
    )
    store.ingest("w2", Ratings.from_frame(frame, SCALE), store.root.parent / "export.csv")
    strict = Policy.from_mapping(
        {**POLICY.to_mapping(), "policy": "strict", "items_in_conflict": "refuse"}
    )
    with pytest.raises(
        ReleaseHeldError, match=r"found 1 item with different labels in different rounds"
    ):
        release_dataset(store, ["w1", "w2"], strict, CONTRACT, project="demo")
    assert len(dataset(store, ["w1", "w2"]).train) == 79


def test_rounds_that_agree_on_an_item_are_not_in_conflict(store, ingest):
    ingest("w1", range(40))
    ingest("w2", range(20, 60), split=(25,))
    release = dataset(store, ["w1", "w2"])
    assert len(release.train) == 60
    assert not release.labels.is_resolved_as("conflict").any()


def test_t4_items_that_another_round_calls_gold_are_counted(store, ingest):
    ingest("w1", range(60))
    ingest("w2", range(100), gold=lambda item: item < "i020")
    release = dataset(store, ["w1", "w2"])
    report = json.loads((release.path / "agreement_report.json").read_text())
    assert report["gold_in_another_round"] == {"w1": 20}
    assert (
        "20 items of round w1 are left out, since another round calls them gold."
        in (release.path / "README.md").read_text()
    )
