"""A bad week does not hide behind the good weeks before it, however the tool exports them."""

import csv
import json
import random
import statistics

import pandas as pd
import pytest

from agreement_pipeline import measure
from agreement_pipeline.cli import main
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.evidence import round_table, rounds_in_words
from agreement_pipeline.policy import load_policy
from agreement_pipeline.projects import Project, project_page
from agreement_pipeline.projects.settings import load_project
from agreement_pipeline.ratings import drop_stratum
from agreement_pipeline.release import judge_delivered, judge_round, open_release, release_round
from agreement_pipeline.report import render_text

PEOPLE = ("kim", "lee", "noa")
LABELS = ("negative", "neutral", "positive")
PROJECT = """project: reviews
inbox: {inbox}
scale: {{level: nominal, categories: [negative, neutral, positive]}}
policy: quick
"""
GOOD, BAD = 0.97, 0.45


def week(first, n, accuracy, seed=5, people=PEOPLE):
    """Items, each with a label by each person."""
    rng = random.Random(f"{seed} {first} {accuracy}")
    found = {}
    for at in range(first, first + n):
        truth = rng.choice(LABELS)
        found[at] = {
            person: truth if rng.random() < accuracy else rng.choice(LABELS) for person in people
        }
    return found


def write_table(path, items):
    with path.with_suffix(".csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "rater", "label"])
        rows.writerows(
            (f"t{at}", person, label)
            for at, labels in items.items()
            for person, label in labels.items()
        )


def write_label_studio(path, items):
    def annotation(at, number, person, label):
        result = {"from_name": "label", "to_name": "text", "type": "choices"}
        return {
            "id": 10 * at + number,
            "completed_by": {"id": number, "email": person},
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2026-11-03T10:00:00Z",
            "updated_at": "2026-11-03T10:00:00Z",
            "result": [{**result, "id": f"r{at}-{number}", "value": {"choices": [label]}}],
        }

    tasks = [
        {
            "id": 1000 + at,
            "data": {"text": f"Review {at}"},
            "predictions": [],
            "drafts": [],
            "annotations": [
                annotation(at, number, person, label)
                for number, (person, label) in enumerate(labels.items())
            ],
        }
        for at, labels in items.items()
    ]
    path.with_suffix(".json").write_text(json.dumps(tasks))


WRITERS = {"table": write_table, "label_studio": write_label_studio}
W1, BAD_WEEK, GOOD_WEEK = week(0, 600, GOOD), week(600, 60, BAD), week(600, 60, GOOD)


@pytest.fixture
def project(tmp_path):
    def made(*settings, inbox="inbox"):
        (tmp_path / "inbox").mkdir(exist_ok=True)
        (tmp_path / "configs/projects").mkdir(parents=True, exist_ok=True)
        (tmp_path / "configs/policies").mkdir(exist_ok=True)
        policy = "policy: quick\nversion: 1\nrules:\n  - measure: krippendorff_alpha\n"
        (tmp_path / "configs/policies/quick.yaml").write_text(f"{policy}n_resamples: 1000\n")
        file = tmp_path / "configs/projects/reviews.yaml"
        file.write_text(PROJECT.format(inbox=inbox) + "\n".join(settings))
        return Project(load_project(file))

    made.inbox = tmp_path / "inbox"
    return made


def deliver(project, name):
    """Keep a round as the asset `annotations` does, and judge it as `acceptability` does."""
    delivery, ratings = project.delivered(name)
    project.keep(delivery, ratings)
    return judge_round(project.store, name, **project.terms)[0]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
class TestOfATool:
    """The same facts for an export of Label Studio and for a table."""

    def test_a_delivery_of_all_tasks_is_held_until_the_project_says_what_it_is(
        self, project, write
    ):
        own = project()
        write(project.inbox / "w1", W1)
        write(project.inbox / "w2", W1 | GOOD_WEEK)
        assert deliver(own, "w1").decision.admitted
        held = deliver(own, "w2").decision
        assert held.codes == ("deliveries_not_declared",)
        assert "600 of 660 items came in an earlier round with the same labels" in held.reasons[0]
        for declared, n_items in (("cumulative", 60), ("independent", 660)):
            own = project(f"deliveries: {declared}")
            judged = deliver(own, "w2")
            assert judged.decision.admitted
            assert judged.ratings.n_items == n_items

    def test_a_bad_week_is_held_whatever_is_said(self, project, write):
        project()
        write(project.inbox / "w1", W1)
        write(project.inbox / "w2", W1 | BAD_WEEK)
        for said in ((), ("deliveries: independent",), ("deliveries: cumulative",)):
            own = project(*said)
            if not own.store.rounds():
                deliver(own, "w1")
            assert not deliver(own, "w2").decision.admitted

    def test_a_bad_week_holds_no_later_one_that_is_cumulative(self, project, write):
        own = project("deliveries: cumulative")
        everything = dict(W1)
        weeks = {"w1": {}, "w2": BAD_WEEK, "w3": week(700, 60, GOOD), "w4": week(800, 60, GOOD)}
        admitted = {}
        for name, new in weeks.items():
            everything |= new
            write(project.inbox / name, everything)
            admitted[name] = deliver(own, name)
        decided = {name: judged.decision.admitted for name, judged in admitted.items()}
        assert decided == {"w1": True, "w2": False, "w3": True, "w4": True}
        assert [judged.ratings.n_items for judged in admitted.values()] == [600, 60, 60, 60]
        assert dict(admitted["w4"].ratings.origin.items_before) == {"w1": 600, "w2": 60, "w3": 60}

    def test_a_bad_week_does_not_hide_in_the_delivery_after_it(self, project, write):
        own = project("deliveries: independent")
        later = week(700, 60, GOOD)
        for name, items in (("w1", W1), ("w2", BAD_WEEK), ("w3", W1 | BAD_WEEK | later)):
            write(project.inbox / name, items)
            decision = deliver(own, name).decision
        assert decision.codes == ("weak_part",)
        assert "1 of 3 parts" in decision.reasons[0]
        assert "the items that came first in w2" in decision.reasons[0]

    def test_one_file_that_grows_in_place(self, project, write):
        own = project()
        write(project.inbox / "reviews", W1)
        first = deliver(own, "reviews")
        released = release_round(own.store, "reviews", project="reviews", **own.terms)
        assert first.decision.admitted
        write(project.inbox / "reviews", W1 | BAD_WEEK)
        second = deliver(own, "reviews")
        assert second.decision.codes == ("weak_part",)
        assert "that came first in reviews, delivery 2 it is" in second.decision.reasons[0]
        assert own.store.withdrawn([f"reviews/{released.path.name}"])
        # the same rows in another file hide nothing either
        write(project.inbox / "reviews", dict(reversed((W1 | BAD_WEEK).items())))
        third = deliver(own, "reviews")
        assert third.version.ratings_digest == second.version.ratings_digest
        assert third.decision.codes == ("weak_part",)
        write(project.inbox / "reviews", W1 | BAD_WEEK | week(700, 30, GOOD))
        assert deliver(own, "reviews").decision.codes == ("weak_part",)

    def test_one_file_that_grows_by_good_weeks_is_admitted(self, project, write):
        own = project()
        everything = dict(W1)
        for at in range(3):
            write(project.inbox / "reviews", everything)
            assert deliver(own, "reviews").decision.admitted
            everything |= week(600 + 60 * at, 60, GOOD)


def test_the_split_is_in_the_digest_and_the_release_proves_it(project):
    own = project("deliveries: cumulative")
    write_table(project.inbox / "w1", W1)
    corrected = {at: dict.fromkeys(PEOPLE, "neutral") for at in range(20)}
    write_table(project.inbox / "w2", W1 | corrected | week(600, 200, GOOD))
    deliver(own, "w1")
    judged = deliver(own, "w2")
    n_changed = sum(W1[at] != labels for at, labels in corrected.items())
    assert judged.ratings.strata["first_delivered"] == ("w1", "w2")
    assert judged.ratings.n_items == 200 + n_changed
    release = release_round(own.store, "w2", project="reviews", **own.terms)
    assert open_release(release.path).ratings["w2"].strata["first_delivered"] == ("w1", "w2")
    without = drop_stratum(judged.ratings, "first_delivered")
    assert without.digest != judged.ratings.digest


def test_history_says_how_many_items_are_new_and_compares_like_with_like(project, capsys):
    """The values are those of the two parts alone."""
    own = project()
    write_table(project.inbox / "w1", W1)
    write_table(project.inbox / "w2", W1 | BAD_WEEK)
    deliver(own, "w1")
    whole = deliver(own, "w2").ratings
    old, new = (
        measure(whole.select_strata("first_delivered", [name])).value for name in ("w1", "w2")
    )
    expected = (
        f"{len(W1)} items came before, with krippendorff_alpha {old:.3f}; "
        f"{len(BAD_WEEK)} items are new, with krippendorff_alpha {new:.3f}"
    )
    assert main(["history", "--store", str(own.store.root)]) == 0
    assert expected in " ".join(capsys.readouterr().out.split())
    sentences = own.store.decisions().set_index("round")["what_is_new"]
    assert sentences["w2"] == f"{expected}."
    assert pd.isna(sentences["w1"])
    for text in (
        project_page(own, render=render_text),
        rounds_in_words(round_table(own.store)).to_string(),
    ):
        assert expected.replace(" ", "") in "".join(text.split())
    deliver(project("deliveries: cumulative"), "w2")
    assert main(["history", "w2", "--store", str(own.store.root)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{len(BAD_WEEK)} items are new or have new ratings. {len(W1)} items more" in printed


def test_what_did_not_come_before_is_read_as_ever(project):
    own = project()
    write_table(project.inbox / "w1", W1)
    write_table(project.inbox / "w2", GOOD_WEEK)
    deliver(own, "w1")
    second = deliver(own, "w2")
    _, alone = Project(load_project(own.configs / "projects/reviews.yaml")).delivered("w2")
    assert second.ratings.digest == alone.digest
    assert (second.ratings.strata, second.ratings.origin.unchanged) == ({}, 0)


def test_the_same_bytes_are_split_in_the_same_way_each_time(project):
    own = project("deliveries: cumulative")
    for name, items in (("w1", W1), ("w2", W1 | GOOD_WEEK)):
        write_table(project.inbox / name, items)
        deliver(own, name)
    for name in ("w1", "w2", "w1"):
        entries = len(own.store.history())
        delivery, ratings = own.delivered(name)
        own.keep(delivery, ratings)
        assert len(own.store.versions(name)) == 1
        assert len(own.store.history()) == entries


def test_earlier_is_what_came_earlier_and_not_what_is_called_so(project):
    own = project("deliveries: cumulative")
    write_table(project.inbox / "w2", W1 | GOOD_WEEK)
    write_table(project.inbox / "w1", W1)
    assert deliver(own, "w2").ratings.n_items == 660
    with pytest.raises(RatingsError, match="600 items with the same labels as in round 'w2'"):
        own.delivered("w1")


@pytest.mark.parametrize(
    ("n_settled", "n_slips", "codes"),
    [(60, 0, ("labels_given_again",)), (0, 9, ()), (0, 0, ())],
)
def test_a_held_week_that_raters_settled_does_not_return_in_the_next_export(
    project, n_settled, n_slips, codes
):
    """In the tool its labels are edited, so the next export has them as if they were new."""
    own = project("deliveries: cumulative")
    later = week(700, 400, GOOD)
    settled = {
        at: dict.fromkeys(PEOPLE, statistics.mode(labels.values()))
        for at, labels in [*BAD_WEEK.items()][:n_settled]
    }
    slips = {
        at: dict.fromkeys(PEOPLE, statistics.mode(labels.values()))
        for at, labels in [pair for pair in W1.items() if len({*pair[1].values()}) > 1][:n_slips]
    }
    weeks = {"w1": W1, "w2": W1 | BAD_WEEK, "w3": W1 | BAD_WEEK | settled | slips | later}
    for name, items in weeks.items():
        write_table(project.inbox / name, items)
        judged = deliver(own, name)
    assert judged.decision.codes == codes
    assert judged.ratings.n_items > 400 if n_settled or n_slips else judged.ratings.n_items == 400
    weeks = W1 | BAD_WEEK | settled | slips | later | week(2000, 400, GOOD)
    write_table(project.inbox / "w4", weeks)
    assert deliver(own, "w4").decision.admitted


def test_a_correction_of_an_earlier_round_is_compared_with_what_came_before_it_alone(project):
    own = project("deliveries: cumulative")
    for name, items in (("w1", W1), ("w2", W1 | GOOD_WEEK)):
        write_table(project.inbox / name, items)
        deliver(own, name)
    corrected = W1 | {0: dict.fromkeys(PEOPLE, "neutral")}
    write_table(project.inbox / "w1", corrected)
    again = deliver(own, "w1")
    assert (again.ratings.n_items, again.ratings.strata) == (600, {})


def test_a_round_that_comes_while_another_is_read_is_compared_with_it_after_all(project):
    own = project()
    write_table(project.inbox / "w1", W1)
    write_table(project.inbox / "w2", W1 | BAD_WEEK)
    late = own.delivered("w2")
    deliver(own, "w1")
    with pytest.raises(ProjectError, match="another round came while round w2 was read"):
        own.keep(*late)
    assert not deliver(own, "w2").decision.admitted


def test_a_preview_knows_what_is_in_the_store(project):
    own = project()
    write_table(project.inbox / "w1", W1)
    write_table(project.inbox / "w2", W1 | BAD_WEEK)
    deliver(own, "w1")
    _, ratings = own.delivered("w2")
    preview = judge_delivered(own.store, "w2", ratings, **own.terms).decision
    assert preview.codes == deliver(own, "w2").decision.codes
    assert {*preview.codes} == {"deliveries_not_declared", "weak_part"}


def test_half_of_the_items_are_not_over_half(project):
    own = project()
    write_table(project.inbox / "w1", week(0, 100, GOOD))
    write_table(project.inbox / "w2", week(0, 100, GOOD) | week(300, 100, GOOD))
    write_table(project.inbox / "w3", week(0, 100, GOOD) | week(500, 99, GOOD))
    assert deliver(own, "w1").decision.admitted
    assert deliver(own, "w2").decision.admitted
    assert deliver(own, "w3").decision.codes == ("deliveries_not_declared",)


def test_a_rule_on_strata_is_not_about_deliveries(project):
    own = project("strata: [language]", "deliveries: independent")
    rule = "  - measure: krippendorff_alpha\n    scope: stratum\n    min_items: 50\n"
    policy = own.configs / "policies/quick.yaml"
    policy.write_text(policy.read_text().replace("n_resamples", f"{rule}n_resamples"))
    for name, items in (("w1", W1), ("w2", W1 | week(600, 12, GOOD)), ("w3", W1 | BAD_WEEK)):
        path = project.inbox / f"{name}.csv"
        write_table(path, items)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([f"{lines[0]},language", *(f"{row},en" for row in lines[1:])]))
    assert load_policy(policy).digest == own.policy.digest
    assert [deliver(own, name).decision.admitted for name in ("w1", "w2")] == [True, True]
    held = deliver(own, "w3").decision
    assert held.codes == ("weak_part",)


def test_the_name_of_the_column_is_taken(project):
    with pytest.raises(ProjectError, match="strata: found 'first_delivered'"):
        project("strata: [first_delivered]")


def write_timed(path, rows):
    lines = [f"t{at},{person},{label},{time}" for at, person, label, time in rows]
    path.with_suffix(".csv").write_text("\n".join(["item,rater,label,timestamp", *lines]))


def test_items_that_return_with_new_ratings_stay_replicates(project):
    """What was only exported again is none."""
    own = project("deliveries: cumulative", "replicates: across")
    first = [
        (at, person, label, "2026-11-02T10:00:00Z")
        for at, labels in W1.items()
        for person, label in labels.items()
    ]
    kims = [row for row in first if row[1] == "kim"][:50]
    again = [(at, person, label, "2026-11-09T10:00:00Z") for at, person, label, _ in kims]
    write_timed(project.inbox / "w1", first)
    write_timed(project.inbox / "w2", [*again, *(row for row in first if row not in kims)])
    deliver(own, "w1")
    ratings = deliver(own, "w2").ratings
    assert ratings.n_items == 50
    earlier = ratings.to_pandas().query("earlier")
    assert (len(earlier), {*earlier["rater"]}) == (50, {"kim"})
