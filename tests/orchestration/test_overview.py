"""All projects of a code location on one page."""

import re
from urllib.parse import unquote

import dagster as dg
import pytest

from agreement_pipeline.orchestration import overview, project_definitions
from agreement_pipeline.orchestration.metadata import HARD_BREAK, IN_PLACE
from agreement_pipeline.orchestration.overview import AllProjects, overview_definitions
from agreement_pipeline.projects import projects_page
from tests.orchestration.conftest import POLICY, Line, ratings_frame


@pytest.fixture
def code_location(tmp_path, instance, monkeypatch):
    """Makes projects of one code location."""
    assets: list[dg.AssetsDefinition] = []
    # A job that is executed in process knows no code location.
    monkeypatch.setattr(overview, "definitions_around", lambda _: assets)
    monkeypatch.setattr(overview, "definitions_of_location", lambda _: assets)

    def make(name: str) -> Line:
        line = Line(tmp_path / name, instance)
        line.settings = line.settings.model_copy(update={"project": name})
        assets.extend(project_definitions(line.settings).resolve_asset_graph().assets_defs)
        return line

    return make


def shown(instance) -> tuple[dict[str, str], list[dict], dg.AssetCheckEvaluation]:
    """The lines of the projects, the rows of the table, and the answer of the check."""
    job = overview_definitions().resolve_job_def("all_projects_page")
    result = job.execute_in_process(instance=instance)
    [made] = result.asset_materializations_for_node("all_projects")
    [answer] = result.get_asset_check_evaluations()
    first, *names = list(made.metadata)
    lines = {
        name: made.metadata[name].md_str.replace("\N{NO-BREAK SPACE}", " ")
        for name in names[: names.index("projects")]
    }
    assert first == "need_somebody"
    assert all(len(line) <= IN_PLACE for line in lines.values())
    head, _, *rows = made.metadata["projects"].md_str.strip().splitlines()
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in (head, *rows)]
    return lines, [dict(zip(cells[0], row, strict=False)) for row in cells[1:]], answer


def test_each_project_has_a_row_and_those_that_need_somebody_come_first(code_location, instance):
    _, chats, mails, reviews = map(code_location, ("calls", "chats", "mails", "reviews"))
    reviews.deliver("w1", ratings_frame(0.99))
    assert reviews.decide("w1").success
    reviews.deliver("w2", ratings_frame(0.55))
    reviews.decide("w2")
    chats.deliver("2026-W01", ratings_frame(0.99))
    mails.root.joinpath("inbox").rmdir()

    lines, rows, answer = shown(instance)

    assert [(row["project"], row["state"]) for row in rows] == [
        ("mails", "cannot be read"),
        ("reviews", "1 held"),
        ("chats", "1 waiting"),
        ("calls", "no round yet"),
    ]
    assert [*lines] == ["mails", "reviews", "chats", "calls"]
    assert "found no such folder" in lines["mails"]
    status, picture, end = lines["reviews"].split(HARD_BREAK)
    assert re.fullmatch(r"■ \*\*1 held\*\* · α \.\d{3}, needs \.800", status)
    assert picture.startswith("![0.")
    assert end.startswith("w2: With more items like these, the lower limit would not reach 0.8")
    assert "[Rounds](/assets/reviews/agreement_history) · [w2](/assets/reviews/accept" in end
    assert "view=partitions&partition=w2)" in end
    assert lines["chats"].startswith("▲ **1 waiting**")
    assert lines["calls"].startswith("○ **no round yet**")
    assert not answer.passed
    assert "mails: cannot be read, reviews: 1 held and chats: 1 waiting" in answer.description


def test_projects_in_order_pass_the_check(code_location, instance):
    reviews = code_location("reviews")
    reviews.deliver("w1", ratings_frame(0.99))
    assert reviews.decide("w1").success

    lines, _, answer = shown(instance)

    assert lines["reviews"].startswith("● **every round is admitted** · α ")
    assert ", passes .800" in lines["reviews"]
    assert answer.passed


def test_the_page_is_written_again_when_a_project_changes(code_location, instance):
    definitions = overview_definitions()
    sensor = definitions.resolve_sensor_def("all_projects_changed")

    def tick(cursor: str | None) -> dg.SensorResult | dg.SkipReason:
        return sensor(dg.build_sensor_context(instance, cursor, definitions=definitions))

    reviews = code_location("reviews")
    first = tick(None)
    assert len(first.run_requests) == 1
    without_instance = dg.build_sensor_context(cursor=first.cursor, definitions=definitions)
    assert isinstance(sensor(without_instance), dg.SkipReason)
    reviews.deliver("w1", ratings_frame(0.99))
    second = tick(first.cursor)
    assert len(second.run_requests) == 1
    reviews.root.joinpath("inbox", "w1.csv").unlink()
    reviews.root.joinpath("inbox").rmdir()
    third = tick(second.cursor)
    assert third.cursor not in (first.cursor, second.cursor)
    reviews.write_policy({**POLICY, "rules": []})
    fourth = tick(third.cursor)
    assert len(fourth.run_requests) == 1
    job = definitions.resolve_job_def("all_projects_page")
    run = instance.create_run_for_job(job)
    assert "about to be written" in tick(None).skip_message
    instance.report_run_canceled(run)
    assert isinstance(tick(fourth.cursor), dg.SkipReason)


def test_a_project_of_dg_has_it_as_a_component():
    made = AllProjects.resolve_from_yaml("{}")
    loaded = dg.build_defs_for_component(made)
    assert [spec.key.to_user_string() for spec in loaded.resolve_all_asset_specs()] == [
        "all_projects"
    ]


def test_the_last_round_is_told_by_its_number_and_one_being_judged_is_not_held(
    code_location, instance
):
    reviews = code_location("reviews")
    for name, agreement in (("w2", 0.55), ("w9", 0.99), ("w10", 0.55)):
        reviews.deliver(name, ratings_frame(agreement))
        reviews.decide(name)
    lines, [row], _ = shown(instance)
    assert (row["last round"], row["held"]) == ("w10: held", "w10, w2")
    assert "[w10](" in lines["reviews"]
    assert "width='352'" in unquote(lines["reviews"])  # the trend of three rounds

    reviews.deliver("w11", ratings_frame(0.99))
    reviews.run("w11", "annotations")
    _, [row], _ = shown(instance)
    assert (row["state"], row["waiting"]) == ("2 held, 1 waiting", "w11")


def test_ratings_that_cannot_be_read_hide_no_held_round(code_location, instance):
    reviews = code_location("reviews")
    reviews.deliver("w1", ratings_frame(0.55))
    reviews.decide("w1")
    next(reviews.root.rglob("rounds/**/*.parquet")).unlink()
    _, [row], _ = shown(instance)
    assert (row["state"], row["held"]) == ("1 held", "w1")
    page = projects_page([reviews.project], 0.0)
    assert "w1: held; its ratings cannot be read" in page


def test_a_project_whose_policy_changed_is_not_called_in_order(code_location, instance):
    reviews = code_location("reviews")
    reviews.deliver("w1", ratings_frame(0.99))
    assert reviews.decide("w1").success
    reviews.write_policy({**POLICY, "version": 2, "n_resamples": 1001})
    lines, [row], answer = shown(instance)
    assert row["state"] == "another policy"
    assert "w1 \\(strict, version 1\\)" in lines["reviews"]
    assert answer.description == "No: reviews: another policy"
