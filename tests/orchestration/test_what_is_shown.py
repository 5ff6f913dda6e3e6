"""What the checks and tables of a run show."""

import time

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.estimates import RoundReading, build_control_chart
from agreement_pipeline.evidence import tasks, write_tasks_as_text
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.orchestration.checks import like_before
from agreement_pipeline.orchestration.metadata import HARD_BREAK, IN_PLACE, link
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.release import judge_round
from tests.orchestration.checks import BAD, GOOD, check, materialized
from tests.orchestration.conftest import CATEGORIES, POLICY, ratings_frame

pytestmark = pytest.mark.slow


def test_every_bound_of_the_policy_has_a_result(line):
    line.deliver("w1", GOOD)
    result = line.run("w1", "annotations")

    names = {
        record.data["check"]
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.asset_key.path[-1] == "annotations"
        for record in evaluation.metadata["findings"].records
    }
    bounds = {each.name for each in line.project.policy.integrity.checks}
    assert names == bounds


def test_all_checks_of_a_round_in_which_all_agree_pass(line):
    line.deliver("w1", ratings_frame(1.0))
    result = line.run("w1")

    found = result.get_asset_check_evaluations()
    assert result.success
    assert [each.check_name for each in found if not each.passed] == []


def test_of_many_rules_not_all_have_a_check_and_those_that_hold_come_first(line):
    rules = [
        {"measure": "krippendorff_alpha", "scope": scope, "effect": "warn"}
        for scope in ("category", "rater", "without", "pair")
    ]
    names = ("fleiss_kappa", "scott_pi", "bennett_s", "gwet_ac1", "percent_agreement")
    rules += [
        {"measure": name, "scope": scope, "effect": "warn"}
        for name in names
        for scope in ("round", "pair", "without")
    ]
    line.write_policy({**POLICY, "rules": [*rules, {"measure": "krippendorff_alpha"}]})
    shown = {
        spec.name
        for asset in line.definitions.resolve_asset_graph().assets_defs
        for spec in asset.check_specs
        if spec.partitions_def is not None
    }
    warning = {f"{rule['measure']}_of_{rule['scope']}" for rule in rules}
    assert "krippendorff_alpha_of_round" in shown
    assert warning & shown
    assert warning - shown


def test_every_check_asks_a_question(line):
    specs = [
        spec
        for asset in line.definitions.resolve_asset_graph().assets_defs
        for spec in asset.check_specs
    ]
    assert [spec.name for spec in specs if "?" not in spec.description] == []


def test_braces_in_the_name_of_a_policy_stand_in_its_question(line):
    line.write_policy({**POLICY, "policy": "strict {draft}"})
    asked = [
        spec.description
        for asset in line.definitions.resolve_asset_graph().assets_defs
        for spec in asset.check_specs
    ]
    assert "Does policy strict {draft}, version 1, admit this round?" in asked
    assert "Did a round come in the last 8 days?" in asked


def test_estimates_are_numbers_that_the_ui_can_plot_by_round(line):
    line.deliver("w1", GOOD)
    result = line.run("w1", "annotations", "inter_rater_agreement")

    metadata = materialized(result, "inter_rater_agreement").metadata
    low, value, high = (
        metadata[f"krippendorff_alpha{part}"].value for part in (" low", " value", " high")
    )
    assert low < value <= high <= 1


def all_that_is_shown(make_line) -> list[tuple[str, dict[str, dg.MetadataValue]]]:
    """What assets and checks show of rounds with a model, strata and replicates, by the asset."""
    line = make_line(classifiers=["bot"], strata=["language"])
    for name, frame in (("w1", GOOD), ("w2", BAD)):
        again = frame[frame["rater"] == "ana"].assign(occurrence=2)
        model = frame[frame["rater"] == "chi"].assign(rater="bot", occurrence=1)
        both = pd.concat([frame.assign(occurrence=1), again, model])
        languages = both["item"].str[-1].map(lambda digit: "de" if digit < "5" else "en")
        line.deliver(name, both.assign(language=languages, text="text of " + both["item"]))
    results = [line.run("w1"), line.run("w2")]
    history = line.definitions.resolve_job_def("reviews_history")
    results.append(history.execute_in_process(instance=line.instance))
    return [
        (each.asset_key.path[-1], each.metadata)
        for result in results
        for each in (
            *(event.materialization for event in result.get_asset_materialization_events()),
            *result.get_asset_check_evaluations(),
        )
    ]


def test_what_is_shown_is_written_for_people(make_line):
    """Every column is described, numbers have few digits, and what decides comes first."""
    shown = all_that_is_shown(make_line)
    found = [(name, value) for _, metadata in shown for name, value in metadata.items()]
    tables = [(name, value) for name, value in found if isinstance(value, dg.TableMetadataValue)]
    columns = {name: [each.name for each in value.schema.columns] for name, value in tables}
    assert {"rules", "drift", "most_disputed", "strata", "findings"} <= {*columns}
    described = {
        (name, each.name): each.description for name, of in tables for each in of.schema.columns
    }
    assert [column for column, said in described.items() if not said] == []
    assert columns["rules"][0] == "rule"
    numbers = [value.value for _, value in found if isinstance(value, dg.FloatMetadataValue)]
    assert numbers
    assert all(float(f"{number:.4g}") == number for number in numbers)
    first = {
        metadata["estimates"].md_str.splitlines()[2].split(" | ")[0]
        for asset, metadata in shown
        if asset == "inter_rater_agreement"
    }
    assert first == {r"| krippendorff\_alpha"}


def test_each_raters_agreement_with_themselves_stands_beside_that_with_the_others(line):
    again = GOOD[GOOD["rater"] == "ana"].assign(occurrence=2)
    line.deliver("w1", pd.concat([GOOD.assign(occurrence=1), again]))
    result = line.run("w1", "annotations", "intra_rater_agreement")

    records = (
        materialized(result, "intra_rater_agreement").metadata["themselves_and_others"].records
    )
    said = {record.data["scope"]: record.data["reading"] for record in records}
    assert said["rater ana"] == "agrees with themselves and with the others"
    assert said["rater ben"].startswith(
        "cannot tell: test_retest_kappa of rater ben: undefined, since the rater met no item twice"
    )


def test_who_gives_a_category_more_often_is_shown_and_how_many_pairs_are_not(line):
    others = [GOOD.assign(rater=GOOD["rater"] + end) for end in ("", "2")]
    frame = pd.concat(others, ignore_index=True)
    first, second = CATEGORIES[:2]
    place = frame["item"].str[1:].astype(int)
    turned = (frame["rater"] == "ana") & (frame["label"] == second) & (place < 80)
    frame.loc[turned, "label"] = first
    line.deliver("w1", frame)
    shown = materialized(
        line.run("w1", "annotations", "inter_rater_agreement"), "inter_rater_agreement"
    ).metadata

    wide = frame.pivot(index="item", columns="rater", values="label")
    share, less = ((wide[name] == first).mean() for name in ("ana", "ben"))
    assert "ana" in shown["use_of_scale"].text
    assert shown["use_of_scale"].text.endswith(" 4 more pairs differ like this.")
    head, _, *rows = shown["categories_given_more_often"].md_str.strip().splitlines()
    columns = [name.strip() for name in head.strip("| ").split(" | ")]
    rows = [dict(zip(columns, row.strip("| ").split(" | "), strict=True)) for row in rows]
    (row,) = [
        row
        for row in rows
        if (row["rater"], row["other"], row["category"]) == ("ana", "ben", first)
    ]
    assert (row["of the rater"], row["of the other"]) == (f"{share:.1%}", f"{less:.1%}")
    mine, theirs = wide["ana"] == first, wide["ben"] == first
    alone = [str((mine & ~theirs).sum()), str((theirs & ~mine).sum())]
    assert [row["rater alone"], row["other alone"]] == alone
    assert {"ana"} == set.intersection(*({row["rater"], row["other"]} for row in rows))

    pairs = [record.data for record in shown["categories_used_alike"].records]
    assert all("ana" in (pair["rater"], pair["other"]) for pair in pairs[:5])
    assert len(pairs) == 8
    assert shown["categories_used_alike_left_out"].text.endswith(" pairs are not shown.")


def test_of_raters_who_all_agree_no_use_of_the_scale_is_in_a_table(line):
    line.deliver("w1", ratings_frame(1.0))
    result = line.run("w1", "annotations", "inter_rater_agreement")
    shown = materialized(result, "inter_rater_agreement").metadata
    assert shown["use_of_scale"].text.startswith("No rater gives a category more often")
    assert not {"categories_given_more_often", "categories_used_alike"} & {*shown}


def test_of_numbers_the_error_of_measurement_and_the_limits_of_agreement_are_shown(make_line):
    line = make_line(scale={"level": "interval"})
    frame = pd.DataFrame(
        [
            (f"i{i}", rater, i + by + (i * 7 + place * 5) % 11 / 10)
            for i in range(40)
            for place, (rater, by) in enumerate((("ana", 0.5), ("ben", 0.0), ("chi", 0.0)))
        ],
        columns=["item", "rater", "label"],
    )
    line.deliver("w1", frame)
    result = line.run("w1", "annotations", "inter_rater_agreement")
    shown = materialized(result, "inter_rater_agreement").metadata

    wide = frame.pivot(index="item", columns="rater", values="label")
    error = wide.var(axis=1).mean() ** 0.5
    assert shown["use_of_scale"].text.startswith(
        f"The standard error of measurement is {error:.3g} ("
    )
    head, _, *rows = shown["limits_of_agreement"].md_str.strip().splitlines()
    columns = [name.strip() for name in head.strip("| ").split(" | ")]
    cells = [dict(zip(columns, row.strip("| ").split(" | "), strict=True)) for row in rows]
    bias = {(row["rater"], row["other"]): float(row["bias"]) for row in cells}
    assert bias.keys() == {("ana", "ben"), ("ana", "chi"), ("ben", "chi")}
    for (one, other), value in bias.items():
        assert value == pytest.approx((wide[one] - wide[other]).mean(), abs=0.005)


def test_disputed_items_come_with_their_share_of_all_disagreement(line):
    line.settings = ProjectSettings(
        **{**line.settings.model_dump(), "scale": {"level": "interval", "categories": [1, 2, 3]}}
    )
    line.deliver(
        "w1",
        pd.DataFrame(
            {"item": list("aabbccd"), "rater": list("xyxyxyx"), "label": [1, 3, 2, 2, 1, 2, 3]}
        ),
    )
    result = line.run("w1", "annotations", "disputed_items")

    metadata = materialized(result, "disputed_items").metadata
    assert metadata["disputed_items"].value == 2
    records = [record.data for record in metadata["most_disputed"].records]
    assert [(record["id"], record["share"]) for record in records] == [
        ("a", "80.0%"),
        ("c", "20.0%"),
    ]


def test_the_history_shows_every_round_with_its_decision(line):
    line.deliver("w1", GOOD)
    line.deliver("w2", BAD)
    line.decide("w1")
    line.decide("w2")
    result = (
        project_definitions(line.settings)
        .resolve_job_def("reviews_history")
        .execute_in_process(instance=line.instance)
    )
    held = check(result, "no_round_held")

    assert not held.passed
    assert held.description == "held: w2"
    assert held.severity == dg.AssetCheckSeverity.WARN
    assert check(result, "like_before").passed
    (event,) = result.get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert list(metadata)[:3] == ["health", "w2", "w1"]
    assert decided(metadata)[0][:2] == ("w2", "held")
    to_round = "/assets/reviews/acceptability?view=partitions&partition="
    held_line, admitted_line = (metadata[name].md_str for name in ("w2", "w1"))
    assert held_line.startswith(f"[■ held]({to_round}w2) · α\N{NO-BREAK SPACE}.")
    assert admitted_line.startswith(f"[● admitted]({to_round}w1) · α\N{NO-BREAK SPACE}.")
    assert ", needs .800" in held_line
    assert ", passes .800" in admitted_line
    assert all("](data:image/svg+xml," in line for line in (held_line, admitted_line))
    assert "control_chart" not in metadata  # two rounds cannot tell


def test_a_round_that_falls_out_of_the_chart_is_warned_of_and_never_held():
    usual = [RoundReading(f"w{n}", 0.8 + 0.01 * (n % 2), 0.02) for n in range(8)]
    found = like_before(build_control_chart([*usual, RoundReading("w8", 0.55, 0.02)]))
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert found.description.startswith("round w8 is lower than before: 0.550")
    assert like_before(build_control_chart(usual)).description == "No round is outside its limits."
    few = like_before(build_control_chart(usual[:7]))
    assert few.passed
    assert few.description.startswith("At least 8 rounds are needed")


def decided(metadata) -> list[tuple[str, ...]]:
    """The rows of the table of decisions, as the UI opens it."""
    _, _, *rows = metadata["decisions"].md_str.strip().splitlines()
    return [tuple(cell.strip() for cell in row.strip("| ").split(" | ")) for row in rows]


def history_of(line) -> tuple[dg.AssetCheckEvaluation, dict[str, dg.MetadataValue]]:
    """What the check says of all rounds, and what the table shows."""
    result = (
        project_definitions(line.settings)
        .resolve_job_def("reviews_history")
        .execute_in_process(instance=line.instance)
    )
    (event,) = result.get_asset_materialization_events()
    return check(result, "no_round_held"), event.materialization.metadata


def judge(line, round_name: str) -> None:
    """Run what the decision rests on, and the decision."""
    line.run(round_name, "annotations")
    line.run(round_name, "acceptability")


def test_a_refused_round_stands_in_the_history_as_not_judged(line):
    line.deliver("w1", GOOD)
    line.deliver("w2", GOOD.assign(label=GOOD["label"].replace("hateful", "hatefull")))
    for name in ("w1", "w2"):
        judge(line, name)
    said, shown = history_of(line)

    assert not said.passed
    assert said.description == "not judged: ['w2']; the table says why"
    assert list(shown)[:3] == ["health", "w2", "w1"]
    assert all(len(shown[name].md_str) <= IN_PLACE for name in ("w2", "w1"))
    assert [row[:2] for row in decided(shown)] == [("w2", "not judged"), ("w1", "admitted")]
    assert shown["health"].text == "1 of 2 rounds is admitted. The last one, w2, is not judged."
    assert (
        shown["rounds"].value,
        shown["held_rounds"].value,
        shown["not_judged"].value,
    ) == (2, 0, 1)
    status, reason = shown["w2"].md_str.split(HARD_BREAK)
    assert status.startswith("[○ not judged](")
    assert reason.startswith("w2.csv: rows \\[8, 9, 10, ")
    assert "column 'label': found label 'hatefull'; expected one of" in decided(shown)[0][2]


def test_a_refused_delivery_stands_beside_what_was_decided_on_the_one_before(line):
    line.deliver("w1", GOOD)
    judge(line, "w1")
    assert history_of(line)[0].description == "every round is admitted"
    line.deliver("w1", GOOD.assign(label=GOOD["label"].replace("hateful", "hatefull")))
    judge(line, "w1")
    said, shown = history_of(line)

    assert not said.passed
    assert [row[:2] for row in decided(shown)] == [("w1", "not judged"), ("w1", "admitted")]
    assert shown["w1"].md_str.startswith("[○ not judged](")


def test_a_round_that_was_kept_and_not_decided_is_pending_and_named_once(line):
    line.deliver("w1", GOOD)
    line.run("w1", "annotations")
    said, shown = history_of(line)

    assert said.description == "held: w1"
    assert [row[1] for row in decided(shown)] == ["pending"]


def test_a_refused_round_opens_with_the_decision_and_why_and_which_rule(line):
    line.deliver("w1", BAD)
    result = line.run("w1", "annotations", "acceptability")
    event = materialized(result, "acceptability")
    names = list(event.metadata)

    assert names[:4] == ["decision", "why", "what_to_do", "rules"]
    assert event.metadata["what_to_do"].md_str.startswith("1. Discuss the items ")
    assert "Labelled by 3 raters" in event.metadata["who_rated"].text
    assert event.metadata["decision"].text == "held"
    assert event.metadata["why"].md_str.startswith("- krippendorff\\_alpha ")
    assert (
        len(event.metadata["why"].md_str)
        <= IN_PLACE
        < len(event.metadata["reasons_by_rule"].md_str)
    )
    first = event.metadata["rules"].records[0].data
    assert (first["rule"], first["effect"]) == ("krippendorff_alpha, round", "holds")
    assert first["value"].count("…") == 1


def kinds_of(line) -> dict[str, set[str]]:
    return {spec.key.path[-1]: spec.kinds for spec in line.definitions.resolve_all_asset_specs()}


def test_assets_have_a_kind_an_owner_and_a_tag_to_filter_by(line):
    line.settings = line.settings.model_copy(update={"owners": ("team:nlp",)})
    specs = line.definitions.resolve_all_asset_specs()
    stored = {name for name, kinds in kinds_of(line).items() if kinds == {"parquet"}}
    assert stored == {"annotations", "training_data", "release"}
    assert all(len(spec.kinds) == 1 and spec.owners == ["team:nlp"] for spec in specs)
    assert {spec.tags["agreement_pipeline/shows"] for spec in specs} == {
        "ratings",
        "evidence",
        "decision",
        "training-data",
    }


def test_ratings_and_training_data_show_their_columns_rows_and_place(line):
    line.deliver("w1", GOOD)
    result = line.decide("w1")
    ratings, of_round = (
        materialized(result, name).metadata for name in ("annotations", "training_data")
    )
    (folder,) = line.released()
    (path,) = folder.glob("data/*.parquet")
    table = pq.read_table(path)

    types = {each.name: each.type for each in ratings["dagster/column_schema"].schema.columns}
    assert types == {
        "item": "string",
        "rater": "string",
        "label": "string",
        "occurrence": "int32",
        "earlier": "bool",
    }
    types = {each.name: each.type for each in of_round["dagster/column_schema"].schema.columns}
    assert types.keys() == {*table.column_names}
    assert [types[name] for name in ("label", "label_id", "votes", "soft_label")] == [
        "string",
        "int64",
        "list<int64>",
        "list<double>",
    ]
    assert ratings["dagster/partition_row_count"].value == len(GOOD)
    assert of_round["dagster/partition_row_count"].value == len(table)
    assert of_round["path"].value == str(folder)
    uris = {spec.metadata.get("dagster/uri") for spec in line.definitions.resolve_all_asset_specs()}
    assert uris == {None, folder.parents[1].as_uri()}

    job = line.definitions.resolve_job_def("reviews_release")
    together = materialized(job.execute_in_process(instance=line.instance), "release").metadata
    assert together["dagster/row_count"].value == len(table)
    assert not {"dagster/row_count"} & {*ratings, *of_round}


def test_the_history_says_that_the_next_round_is_overdue(line, monkeypatch):
    line.deliver("w1", GOOD)
    judge(line, "w1")
    _, shown = history_of(line)
    assert "overdue" not in shown["health"].text
    sensor = line.definitions.resolve_sensor_def("reviews_history_changed")

    def asks(cursor: str | None) -> bool:
        context = dg.build_sensor_context(instance=line.instance, cursor=cursor)
        return isinstance(sensor(context), dg.SensorResult)

    assert not asks(None)

    later = time.time() + (line.settings.overdue_after_days + 1) * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    assert asks(None)
    result = (
        project_definitions(line.settings)
        .resolve_job_def("reviews_history")
        .execute_in_process(instance=line.instance)
    )
    late = check(result, "in_time")
    assert (late.passed, late.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert late.description.startswith("No: the last one, w1, came ")
    (event,) = result.get_asset_materialization_events()
    assert "The next one is overdue: the last one, w1," in (
        event.materialization.metadata["health"].text
    )


def test_what_an_adjudicator_answers_to_the_tasks_is_released_and_moves_no_decision(make_line):
    line = make_line(adjudicated="answers")
    (line.root / "answers").mkdir()
    line.deliver("w1", GOOD)
    assert line.decide("w1").success
    ratings, before = line.project.store.ratings("w1"), line.project.store.history()
    found = [{**task, "label": "safe"} for task in tasks(ratings)[:2]]
    (line.root / "answers/w1.csv").write_text(write_tasks_as_text(found, (), "csv"))
    labels = line.project.release("w1").train.set_index("id")

    assert len(found) == 2
    assert {
        (labels.loc[task["item"], "label"], labels.loc[task["item"], "resolution"])
        for task in found
    } == {("safe", "adjudicated")}
    assert [entry for entry in line.project.store.history() if entry["event"] == "decided"] == [
        entry for entry in before if entry["event"] == "decided"
    ]


def test_answers_of_an_adjudicator_ask_for_the_training_data_of_an_admitted_round(make_line):
    line = make_line(adjudicated="answers")
    (line.root / "answers").mkdir()
    for name, frame in (("w1", GOOD), ("w2", BAD)):
        line.deliver(name, frame)
        line.decide(name)
    sensor = line.definitions.resolve_sensor_def("reviews_adjudicated")

    def tick(cursor):
        return sensor(dg.build_sensor_context(instance=line.instance, cursor=cursor))

    def answer(name, label):
        found = [{**task, "label": label} for task in tasks(line.project.store.ratings(name))[:1]]
        (line.root / f"answers/{name}.csv").write_text(write_tasks_as_text(found, (), "csv"))

    assert isinstance(tick(None), dg.SkipReason)
    answer("w1", "safe")
    answer("w2", "safe")
    first = tick(None)
    (asked,) = first.run_requests
    assert asked.partition_key == "w1"
    assert [key.path[-1] for key in asked.asset_selection] == ["training_data"]
    assert isinstance(tick(first.cursor), dg.SkipReason)
    answer("w1", "offensive")
    assert [each.partition_key for each in tick(first.cursor).run_requests] == ["w1"]
    (line.root / "answers/w1.csv").write_text("item,label\n")
    assert "found no column 'ratings_digest'; expected each of" in tick(first.cursor).skip_message
    (line.root / "answers/w1.csv").unlink()
    assert [each.partition_key for each in tick(first.cursor).run_requests] == ["w1"]


def test_a_broken_answer_file_of_one_round_stops_no_other_round(make_line):
    line = make_line(adjudicated="answers")
    (line.root / "answers").mkdir()
    for name in ("w1", "w2"):
        line.deliver(name, GOOD)
        line.decide(name)
    (task,) = tasks(line.project.store.ratings("w2"))[:1]
    (line.root / "answers/w1.csv").write_text("item,label\n")
    (line.root / "answers/unheard-of.csv").write_bytes(b"\xff")
    (line.root / "answers/w2.csv").write_text(
        write_tasks_as_text([{**task, "label": "safe"}], (), "csv")
    )
    sensor = line.definitions.resolve_sensor_def("reviews_adjudicated")
    found = sensor(dg.build_sensor_context(instance=line.instance))

    assert [each.partition_key for each in found.run_requests] == ["w2"]
    labels = line.project.release("w2").train.set_index("id")
    assert labels.loc[task["item"], "resolution"] == "adjudicated"
    with pytest.raises(ProjectError, match=r"w1\.csv: found no column 'ratings_digest'; expected"):
        line.project.release("w1")


def test_a_page_is_written_and_opens_from_the_decision_and_from_the_history(make_line):
    line = make_line(pages="pages", pages_url="https://pages.example/reviews/")
    line.deliver("w1", BAD)
    result = line.run("w1", "annotations", "acceptability", "round_page")
    decided, page = (materialized(result, name) for name in ("acceptability", "round_page"))
    _, shown = history_of(line)
    for metadata, name in (
        (decided.metadata, "w1.html"),
        (page.metadata, "w1.html"),
        (shown, "index.html"),
    ):
        assert metadata["page"].value == f"https://pages.example/reviews/{name}"
        assert (line.root / "pages" / name).read_text().startswith("<!doctype html>")
    assert {path.name for path in (line.root / "pages").iterdir()} == {"w1.html", "index.html"}
    line.settings = line.settings.model_copy(update={"pages_url": None})
    assert link(line.project, "w 1.html")["page"].value == f"{line.root}/pages/w 1.html"


def test_a_project_without_pages_has_no_asset_and_no_link(line):
    assert "round_page" not in {
        spec.key.path[-1] for spec in line.definitions.resolve_all_asset_specs()
    }
    assert link(line.project, "w1.html") == {}


def test_a_check_names_the_rounds_that_another_policy_admitted(line):
    line.deliver("w1", GOOD)
    assert line.decide("w1").success
    line.write_policy({**POLICY, "version": 2, "n_resamples": 1001})
    definitions = line.definitions
    result = definitions.resolve_job_def("reviews_history").execute_in_process(
        instance=line.instance
    )
    answers = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert not answers["by_todays_policy"].passed
    assert "w1 (strict, version 1)" in answers["by_todays_policy"].description

    line.decide("w1")
    result = definitions.resolve_job_def("reviews_history").execute_in_process(
        instance=line.instance
    )
    answers = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert answers["by_todays_policy"].passed


def test_an_admitted_round_without_a_release_is_released_by_the_next_reassessment(line):
    """The command `reassess` decides, and releases nothing."""
    rules = [{**POLICY["rules"][0], "reliable": 0.999}]
    line.write_policy({**POLICY, "rules": rules})
    line.deliver("w1", GOOD)
    line.decide("w1")
    assert not line.released()
    line.write_policy({**POLICY, "version": 2})
    project = line.project
    judge_round(
        project.store,
        "w1",
        project.policy,
        project.contract,
        settings_digest=project.settings.reading_digest,
    )
    assert not line.released()

    job = line.definitions.resolve_job_def("reviews_reassessment")
    result = job.execute_in_process(instance=line.instance)
    assert result.success
    assert len(line.released()) == 1
    answers = {each.check_name: each.passed for each in result.get_asset_check_evaluations()}
    assert answers["in_force"]
    assert len(line.released()) == 1


def test_a_release_that_failed_is_made_by_the_next_reassessment(line, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    line.write_policy({**POLICY, "rules": [{**POLICY["rules"][0], "reliable": 0.999}]})
    line.deliver("w1", GOOD)
    line.decide("w1")
    line.write_policy({**POLICY, "version": 2})
    job = line.definitions.resolve_job_def("reviews_reassessment")
    with monkeypatch.context() as disk:
        disk.setattr(Project, "release", full)
        failed = job.execute_in_process(instance=line.instance, raise_on_error=False)
    assert not failed.success
    assert not line.released()
    assert job.execute_in_process(instance=line.instance).success
    assert len(line.released()) == 1


def test_a_new_version_that_was_only_judged_again_is_released(line):
    line.deliver("w1", GOOD)
    assert line.decide("w1").success
    line.deliver("w1", ratings_frame(0.995, seed=3))
    line.run("w1", "annotations")
    job = line.definitions.resolve_job_def("reviews_reassessment")
    assert job.execute_in_process(instance=line.instance).success
    present = line.project.store.present("w1").ratings_digest[:12]
    assert present in {path.name[:12] for path in line.released()}
