"""One bad file, a passing fault or a display keeps no other round from being judged."""

import os
import re
import time

import dagster as dg
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.evidence import Figure
from agreement_pipeline.orchestration import assets, metadata, sensors
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metadata import rendered
from agreement_pipeline.orchestration.runs import DECISION
from agreement_pipeline.release import verify_release
from tests.orchestration.checks import materialized
from tests.orchestration.conftest import Line, ratings_frame
from tests.orchestration.test_sensors import at_rest, tick
from tests.releases import current_release

BROKEN = 'item,rater,label\n"i1,ana,safe\n'


def asked_for(found) -> list[str]:
    return sorted(request.partition_key for request in found.run_requests)


def test_a_file_that_cannot_be_read_holds_up_only_itself(tmp_path, instance):
    """Its rounds are not even known, since a column names them."""
    line = Line(tmp_path, instance, columns={"round": "week"})
    for name in ("w1", "w2"):
        at_rest(line.deliver(name, ratings_frame(0.99).assign(week=name)))
    (line.root / "inbox/bad.csv").write_text(BROKEN)
    (line.root / "inbox/none.csv").write_text("item,rater,label\ni1,ana,safe\n")
    for name in ("bad", "none"):
        at_rest(line.root / f"inbox/{name}.csv")
    assert asked_for(tick(line)) == ["w1", "w2"]
    assert set(line.project.look().refused) == {"bad", "none"}
    assert line.run("w1", "annotations").success
    assert line.run("w1", "training_data").success
    assert current_release(line.project.store, "w1")
    found = assets.agreement_history(Host(line.project))
    files = found.metadata["files_refused"].records
    assert [(row.data["file"], "none.csv" in row.data["why"]) for row in files] == [
        ("bad", False),
        ("none", True),
    ]


def test_a_round_in_two_files_holds_up_only_itself(line):
    for name in ("w1", "w2"):
        at_rest(line.deliver(name, ratings_frame(0.99)))
    (line.root / "inbox/w1.tsv").write_text(ratings_frame(0.99).to_csv(index=False, sep="\t"))
    assert asked_for(tick(line)) == ["w2"]
    assert line.run("w2", "annotations").success
    assert not line.run("w1", "annotations").success
    assert current_release(line.project.store, "w1") is None


def test_a_link_in_the_inbox_is_refused_unread(line):
    (line.root / "secret").write_text("the secret,of,others\n")
    (line.root / "inbox/w1.csv").symlink_to(line.root / "secret")
    (line.root / "inbox/w2.csv").symlink_to(line.root / "nowhere")
    found = tick(line)
    assert "w1.csv: found a link; expected the file itself" in found.skip_message
    assert "w2.csv: found a link; expected the file itself" in found.skip_message
    assert "the secret" not in found.skip_message
    with pytest.raises(ProjectError, match="found a link") as refusal:
        line.project.delivered("w1")
    assert "the secret" not in str(refusal.value)


def test_a_file_with_a_date_in_the_future_is_not_written_for_ever(line):
    path = line.deliver("w1", ratings_frame(0.99))
    os.utime(path, (time.time() + 10**8,) * 2)
    line.settings = line.settings.model_copy(update={"settle_seconds": 0.2})
    time.sleep(0.3)
    assert asked_for(tick(line)) == ["w1"]


def test_a_round_whose_run_failed_is_tried_again_later_and_not_at_once(line, monkeypatch):
    """As after a full disk: nothing about the file has changed."""
    now = time.time()
    monkeypatch.setattr(sensors.time, "time", lambda: now)
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    first = tick(line)
    fail(line, first)
    waits, cursor = [], first.cursor
    for tries in range(1, 5):
        found = tick(line, cursor)
        assert isinstance(found, dg.SkipReason), tries
        wait = 20 * 2 ** (tries - 1)
        now += wait - 1
        assert isinstance(tick(line, cursor), dg.SkipReason)
        now += 1
        found = tick(line, cursor)
        assert found.run_requests[0].run_key != first.run_requests[0].run_key
        fail(line, found)
        first, cursor = found, found.cursor
        waits.append(wait)
    assert waits == [20, 40, 80, 160]
    line.run("w1", "annotations")
    line.run("w1", "acceptability")
    now += 10_000
    assert isinstance(tick(line, cursor), dg.SkipReason)


def fail(line, found) -> None:
    """A run of the first request that ended in a failure."""
    (request,) = found.run_requests
    tags = {**request.tags, "dagster/partition": request.partition_key}
    run = line.instance.create_run_for_job(job_of(line), tags=tags)
    line.instance.report_run_failed(run)


def job_of(line):
    return line.definitions.resolve_job_def("reviews_round")


def test_a_reset_cursor_asks_under_a_key_that_dagster_has_not_seen(line):
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    first = tick(line)
    fail(line, first)
    again = tick(line, None)
    assert again.run_requests[0].run_key != first.run_requests[0].run_key


def test_a_reset_cursor_does_not_ask_twice_while_a_run_waits(line):
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    first = tick(line)
    (request,) = first.run_requests
    tags = {**request.tags, "dagster/partition": "w1"}
    line.instance.create_run_for_job(job_of(line), tags=tags, status=dg.DagsterRunStatus.STARTED)
    assert isinstance(tick(line, None), dg.SkipReason)


@pytest.mark.parametrize("shown", ["disputed", "patterns", "survey", "details"])
def test_a_display_that_crashes_keeps_no_round_from_being_judged(line, monkeypatch, shown):
    def crash(*_, **__):
        raise ZeroDivisionError("a display")

    monkeypatch.setattr(assets, shown, crash)
    line.deliver("w1", ratings_frame(0.99))
    result = line.run("w1")
    assert not result.success
    assert current_release(line.project.store, "w1")
    assert line.instance.get_run_by_id(result.run_id).tags[DECISION] == "admitted"
    assert materialized(result, "rating_patterns" if shown == "disputed" else "disputed_items")


def test_what_decides_rests_on_the_annotations_alone_and_comes_first(line):
    host = Host(line.project)
    of_round, *_ = assets.build_assets(host)
    assert of_round.asset_deps[host.key("acceptability")] == {host.key("annotations")}
    line.deliver("w1", ratings_frame(0.99))
    events = line.run("w1").get_asset_materialization_events()
    first = [event.asset_key.path[-1] for event in events if event.asset_key][:3]
    assert first == ["annotations", "acceptability", "training_data"]


def test_a_plot_that_crashes_is_shown_as_such(monkeypatch):
    def crash(*_: object) -> str:
        raise RuntimeWarning("a glyph is missing")

    monkeypatch.setattr(metadata, "svg_data_url", crash)
    said = rendered({"plot": Figure("intervals", "limits", "", ()), "items": 3})
    assert said["items"] == 3
    assert said["plot"].startswith("plot: found RuntimeWarning while it was drawn (a glyph is")


def test_a_round_of_gold_alone_is_shown_and_held(line):
    line.settings = line.settings.model_copy(
        update={"columns": line.settings.columns.__class__(gold="gold")}
    )
    line.deliver("w1", ratings_frame(0.99).assign(gold="yes"))
    result = line.run("w1", "annotations")
    assert result.success
    assert line.run("w1", "disputed_items").success
    assert not line.run("w1", "acceptability").success


def test_s20_a_raters_column_that_nobody_named_is_named(tmp_path, instance):
    """Without the one who dissents, the others agree."""
    line = Line(tmp_path, instance, layout="wide", columns={"raters": ("ana", "ben")})
    wide = ratings_frame(0.99).pivot(index="item", columns="rater", values="label")
    line.deliver("w1", wide.reset_index().assign(remark="seen"))
    found, _ = assets.annotations(line.project, "w1")
    (advice,) = [each for each in found.check_results if each.check_name == "contract_advice"]
    assert not advice.passed
    assert "found labels that are not read in column 'chi'" in advice.description
    line.deliver("w1", wide.drop(columns="chi").reset_index().assign(remark="seen"))
    assert all(each.passed for each in line.project.left_out(line.project.delivered("w1")[0]))


def test_s20_the_card_says_how_many_columns_were_not_read_and_names_nobody(tmp_path, instance):
    line = Line(tmp_path, instance, layout="wide", columns={"raters": ("ana", "ben")})
    wide = ratings_frame(0.99).pivot(index="item", columns="rater", values="label")
    line.deliver("w1", wide.reset_index().assign(remark="seen"))
    line.run("w1", "annotations", "acceptability", "training_data")
    released = current_release(line.project.store, "w1")
    assert verify_release(released).ratings["w1"].origin.left_out == {
        "columns of labels not read": 1
    }
    card = (released / "README.md").read_text()
    assert "- w1, read as table. No ratings: columns of labels not read 1." in card
    assert "chi" not in re.findall(r"\w+", card)


def test_s12_a_named_column_of_clusters_that_is_gone_is_refused(tmp_path, instance):
    line = Line(tmp_path, instance, columns={"cluster": "batch"})
    line.deliver("w1", ratings_frame(0.99))
    with pytest.raises(RatingsError, match=r"found no column 'batch'"):
        line.project.delivered("w1")


def test_p16_a_file_with_a_date_in_the_future_is_said(line):
    path = line.deliver("w1", ratings_frame(0.99))
    os.utime(path, (time.time() + 10**8,) * 2)
    found = tick(line)
    assert isinstance(found, dg.SkipReason)
    assert "w1.csv: found a date in the future" in found.skip_message
