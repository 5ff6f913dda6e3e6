"""Assets of a round, from the delivered file to training data."""

import datetime
from dataclasses import replace

import dagster as dg
import pandas as pd
import pytest
import yaml

from agreement_pipeline.errors import (
    ProjectError,
    RatingsError,
    ReleaseHeldError,
    StoreError,
    WaiverError,
)
from agreement_pipeline.orchestration.assets import acceptability, annotations, training_data
from agreement_pipeline.policy import decision as decision_module
from agreement_pipeline.projects import project as project_module
from agreement_pipeline.release import verify_release
from agreement_pipeline.store import Store
from agreement_pipeline.store import store as store_module
from tests.orchestration.checks import BAD, GOOD, check, materialized
from tests.orchestration.conftest import POLICY, ratings_frame

pytestmark = pytest.mark.slow

RATERS = list(enumerate(("ana", "ben", "chi")))
SOON = datetime.date.today() + datetime.timedelta(30)


def succeeded(result: dg.ExecuteInProcessResult) -> set[str]:
    return {
        event.asset_key.path[-1]
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }


def test_a_good_round_goes_all_the_way_to_training_data(line):
    line.deliver("w1", GOOD)
    result = line.run("w1")

    assert result.success
    assert succeeded(result) == {
        "annotations",
        "rating_patterns",
        "inter_rater_agreement",
        "intra_rater_agreement",
        "classifier_agreement",
        "disputed_items",
        "acceptability",
        "training_data",
    }
    assert len(line.released()) == 1


def test_measured_numbers_go_all_the_way_without_a_list_of_them(make_line):
    line = make_line(scale={"level": "interval"})
    sizes = [(f"i{at:03}", rater, at + 0.125 * r) for at in range(150) for r, rater in RATERS]
    line.deliver("w1", pd.DataFrame(sizes, columns=["item", "rater", "label"]))
    result = line.run("w1")
    assert result.success
    assert "rating_patterns" in succeeded(result)
    (release,) = line.released()
    train = pd.read_parquet(release / "data")
    assert sorted(train["label"]) == [at + 0.125 for at in range(150)]
    assert verify_release(release).rounds == ("w1",)


def test_a_run_reads_the_delivery_once_and_the_stored_round_once_more(line, monkeypatch):
    read, checked = [], []
    real_read, real_check = project_module.read, decision_module.check_integrity
    real_stored, stored = store_module.table_ratings, []

    def counted_check(panel, *asked):
        checked.append(panel.ratings)
        return real_check(panel, *asked)

    monkeypatch.setattr(
        project_module, "read", lambda *a, **b: read.append(1) or real_read(*a, **b)
    )
    monkeypatch.setattr(
        store_module, "table_ratings", lambda *a: stored.append(1) or real_stored(*a)
    )
    monkeypatch.setattr(decision_module, "check_integrity", counted_check)
    line.deliver("w1", GOOD)
    assert line.run("w1").success
    assert (len(read), len(stored)) == (1, 1)
    names = [set(ratings.raters) for ratings in checked]
    delivered = {"ana", "ben", "chi"}
    assert names[:2] == [delivered, delivered]
    assert [len(each & delivered) for each in names[2:]] == [0]


def test_what_a_run_hands_from_asset_to_asset_never_opens_the_lock(line):
    """Somebody who writes good ratings into the memory of a run is shown an admitted round."""
    line.deliver("w1", BAD)
    line.deliver("w2", GOOD)
    project = line.project
    (_, bad), (_, good) = (annotations(project, name) for name in ("w1", "w2"))
    judged, _ = acceptability(project, "w1", replace(good, version=bad.version))
    assert judged.decision.admitted
    with pytest.raises(ReleaseHeldError):
        training_data(project, "w1")
    assert line.released() == []
    last = [each for each in line.project.store.history("w1") if each["event"] == "decided"][-1]
    assert last["decision"] == "held"


def test_a_file_that_is_delivered_again_while_its_ratings_are_read_is_not_kept_for_them(line):
    line.deliver("w1", GOOD)
    delivery, ratings = line.project.delivered("w1")
    line.deliver("w1", BAD)
    with pytest.raises(
        StoreError,
        match=r"w1\.csv: found other bytes than when its ratings were read; "
        "expected a file that does not",
    ):
        line.project.keep(delivery, ratings)
    assert line.project.store.rounds() == ()


def test_a_run_that_waits_for_the_store_keeps_no_delivery_that_was_followed_by_another(
    line, monkeypatch
):
    """The store has the bytes of the first delivery, so they are not copied again."""
    line.deliver("w1", GOOD)
    assert line.decide("w1").success
    project, real, waiting = line.project, Store.locked, [True]
    read = project.delivered("w1")

    def locked(store):
        if waiting and waiting.pop():
            line.deliver("w1", BAD)
            assert not line.decide("w1").success
        return real(store)

    monkeypatch.setattr(Store, "locked", locked)
    with pytest.raises(ProjectError, match="found another delivery of round w1") as refused:
        project.keep(*read)
    assert refused.value.may_pass
    assert line.released() == []
    assert line.project.due() == ()


def test_a_bad_round_is_measured_and_shown_but_gives_no_training_data(line):
    line.deliver("w1", BAD)
    result = line.run("w1")

    assert not result.success
    assert "training_data" not in succeeded(result)
    assert "acceptability" in succeeded(result)
    admitted = check(result, "admitted")
    assert not admitted.passed
    assert admitted.severity == dg.AssetCheckSeverity.ERROR
    assert (admitted.description or "").startswith("No: krippendorff_alpha 0.")
    assert line.released() == []


def test_a_worse_delivery_of_an_admitted_round_withdraws_its_release(line):
    line.deliver("w1", GOOD)
    line.decide("w1")
    assert len(line.released()) == 1
    line.deliver("w1", BAD)
    result = line.decide("w1")

    assert line.released() == []
    metadata = materialized(result, "acceptability").metadata
    assert metadata["release_withdrawn"].value is True


def test_a_stricter_policy_withdraws_what_it_no_longer_admits(line):
    line.deliver("w1", GOOD)
    line.decide("w1")
    assert len(line.released()) == 1
    line.write_policy(
        {
            **POLICY,
            "version": 2,
            "rules": [{"measure": "krippendorff_alpha", "reliable": 0.999, "tentative": 0.998}],
        }
    )
    line.run("w1", "acceptability")

    assert line.released() == []


def test_a_file_with_mistakes_fails_once_and_leaves_what_was_there(line):
    line.deliver("w1", GOOD)
    line.decide("w1")
    line.deliver("w1", GOOD.assign(label=GOOD["label"].replace("hateful", "hatefull")))
    result = line.decide("w1")

    assert not result.success
    failure = next(event for event in result.all_events if event.is_step_failure)
    assert "hatefull" in str(failure.event_specific_data)
    assert len(line.released()) == 1
    assert line.project.store.present("w1").source == "w1.csv"


def test_labels_from_earlier_rounds_speak_for_self_agreement_alone(make_line):
    line = make_line(replicates="across")
    first = ratings_frame(0.99)
    second = first.assign(label=first["label"].where(first["item"] != "i000", "offensive"))
    line.deliver("w1", first)
    line.deliver("w2", second)
    line.run("w1", "annotations")
    line.run("w2", "annotations")
    ratings = line.project.store.ratings("w2")

    same = (first["label"].to_numpy() == second["label"].to_numpy()).mean()
    from agreement_pipeline.counting import RatingsCounting
    from agreement_pipeline.measures import MEASURES

    assert float(
        MEASURES["self_agreement_unbiased"](RatingsCounting().replicates(ratings)).value
    ) == pytest.approx(same)
    assert ratings.first_ratings(["item"]).num_rows == len(second)


def test_one_table_may_hold_many_rounds(make_line):
    line = make_line(columns={"round": "week"})
    both = pd.concat([GOOD.assign(week="w1"), BAD.assign(week="w2")])
    both.to_csv(line.root / "inbox" / "all.csv", index=False)

    assert set(line.project.look().deliveries) == {"w1", "w2"}
    assert line.decide("w1").success
    assert not line.decide("w2").success


def test_a_file_of_several_rounds_is_not_one_round(line):
    pd.concat([GOOD.assign(round="w1"), BAD.assign(round="w2")]).to_csv(
        line.root / "inbox" / "all.csv", index=False
    )
    with pytest.raises(RatingsError, match=r"all\.csv: column 'round': found 2 rounds"):
        line.project.delivered("all")


def test_a_waiver_in_the_configuration_lets_the_round_it_is_bound_to_through_and_shows(line):
    line.deliver("w1", BAD)
    line.decide("w1")
    waiver = {
        "project": "reviews",
        "round": "w1",
        "ratings_digest": line.project.store.present("w1").ratings_digest,
        "measure": "krippendorff_alpha",
    }
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/w1.yaml").write_text(
        yaml.safe_dump({**waiver, "who": "Dana", "why": "adjudicated by hand", "until": SOON})
    )
    result = line.decide("w1")

    assert result.success
    assert len(line.released()) == 1
    assert check(result, "krippendorff_alpha_of_round").passed
    assert (
        f"waiver by Dana until {SOON}"
        in materialized(result, "acceptability").metadata["waivers"].value
    )


def test_a_mistake_in_a_waiver_stops_the_project_from_loading_with_file_and_line(line):
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/w1.yaml").write_text("project: reviews\nround: w1\nwho_: Dana\n")
    with pytest.raises(
        WaiverError, match=r"w1\.yaml:3: who_: found an unknown key; expected one of"
    ):
        line.decide("w1")


def test_a_round_of_few_documents_is_held_for_its_documents(make_line):
    line = make_line(columns={"cluster": "document"})
    second = [f"i{number:03d}" for number in range(60, 120)]
    line.deliver(
        "w1", GOOD.assign(document=GOOD["item"].isin(second).map({True: "d2", False: "d1"}))
    )
    line.deliver("w2", GOOD.assign(document="d1"))
    result = line.decide("w1")
    line.decide("w2")

    annotations = next(
        event
        for event in result.get_asset_materialization_events()
        if event.asset_key.path[-1] == "annotations"
    )
    assert annotations.materialization.metadata["clusters"].value == 2
    two, one = (line.project.store.history(name)[-1] for name in ("w1", "w2"))
    assert (two["decision"], one["decision"]) == ("held", "held")
    assert "it rests on 2 clusters of items and the policy asks for 20" in two["reasons"][0]
    assert (
        "agreement is read on items of 1 cluster; 2 are required for an interval"
        in one["reasons"][0]
    )
    assert line.released() == []


@pytest.mark.parametrize("written", ["GPT-4", " gpt-4", "\uff47pt-4", "g\u0440t-4"])
def test_a_rater_who_prints_like_a_named_classifier_is_not_taken_for_one_of_the_panel(
    make_line, written
):
    line = make_line(classifiers=["gpt-4"])
    line.deliver("w1", GOOD.assign(rater=GOOD["rater"].replace("chi", written)))
    with pytest.raises(
        RatingsError,
        match=r"w1\.csv: found rater .* in the panel, who prints like classifier .gpt-4.; "
        "expected .* in project reviews",
    ):
        line.project.delivered("w1")
    assert not line.decide("w1").success
    assert line.project.store.rounds() == ()


def test_a_second_name_beside_that_of_a_classifier_is_refused_too(make_line):
    line = make_line(classifiers=["gpt-4"])
    models = [GOOD[GOOD["rater"] == "chi"].assign(rater=name) for name in ("gpt-4", "GPT-4")]
    line.deliver("w1", pd.concat([GOOD, *models]))
    with pytest.raises(
        RatingsError, match="found rater 'GPT-4' in the panel, who prints like classifier 'gpt-4'"
    ):
        line.project.delivered("w1")


@pytest.mark.parametrize("named", ["2", "2.0"])
def test_a_classifier_of_a_column_of_numbers_is_known_however_the_number_is_written(
    make_line, named
):
    line = make_line(classifiers=[named])
    GOOD.assign(rater=GOOD["rater"].map({"ana": 0.0, "ben": 1.0, "chi": 2.0})).to_parquet(
        line.root / "inbox" / "w1.parquet"
    )
    _, ratings = line.project.delivered("w1")

    assert (ratings.raters, ratings.classifiers) == (("0", "1"), ("2",))


def test_a_round_without_a_named_classifier_is_refused(make_line):
    line = make_line(classifiers=["chi", "dee"])
    line.deliver("w1", GOOD)
    assert not line.decide("w1").success
    assert line.project.store.rounds() == ()
    assert "found no rating by classifier 'dee'" in line.project.unjudged()["w1"]


def test_a_round_may_lack_an_optional_model_and_says_so(make_line):
    line = make_line(classifiers=["chi"], optional_classifiers=["dee"])
    line.deliver("w1", GOOD)
    (event,) = line.run("w1", "annotations").get_asset_materialization_events()
    line.deliver("w2", pd.concat([GOOD, GOOD[GOOD["rater"] == "chi"].assign(rater="dee")]))
    (complete,) = line.run("w2", "annotations").get_asset_materialization_events()

    said = event.materialization.metadata["classifiers_without_ratings"].value
    assert said == "['dee']; if one is misspelt, it stands among the panel's raters ['ana', 'ben']"
    assert "classifiers_without_ratings" not in complete.materialization.metadata
