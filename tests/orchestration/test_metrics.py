"""What OpenTelemetry hears, and that its faults fail nothing."""

import sys

import dagster as dg
import pytest

from agreement_pipeline.errors import ProjectError
from tests.orchestration.checks import materialized
from tests.orchestration.conftest import POLICY, ratings_frame


@pytest.fixture
def points(monkeypatch):
    """Every point of a metric now: its name, its attributes and its value."""
    metrics = pytest.importorskip("opentelemetry.metrics")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    monkeypatch.setattr(metrics, "get_meter", MeterProvider([reader]).get_meter)
    return lambda: [
        (metric.name, dict(point.attributes), point.value)
        for of_resource in reader.get_metrics_data().resource_metrics
        for of_scope in of_resource.scope_metrics
        for metric in of_scope.metrics
        for point in metric.data.data_points
    ]


def test_decisions_and_estimates_are_those_of_the_log_and_name_no_rater_and_no_round(line, points):
    rule = {"measure": "krippendorff_alpha", "min_items": 20}
    rules = [{**rule, "scope": "round"}, {**rule, "scope": "without", "effect": "warn"}]
    line.write_policy({**POLICY, "rules": rules})
    for name, agreement in (("good", 0.97), ("poor", 0.7)):
        line.deliver(name, ratings_frame(agreement))
        line.run(name, "annotations", "acceptability")
        (logged,) = [e for e in line.project.store.history(name) if e["event"] == "decided"]
        (verdict,) = [each for each in logged["verdicts"] if each["scope"] == "round"]
        about = {
            "project": line.project.name,
            "measure": "krippendorff_alpha",
            "scope": "round",
        }
        assert [point for point in points() if point[0] != "agreement.decisions"] == [
            (f"agreement.{what}", about, verdict[what]) for what in ("value", "low", "high")
        ]
    decided = [point for point in points() if point[0] == "agreement.decisions"]
    assert {(found["decision"], n) for _, found, n in decided} == {("admitted", 1), ("held", 1)}
    assert {key for _, found, _ in decided for key in found} == {
        "project",
        "decision",
        "policy",
        "policy_version",
    }


def test_a_tick_of_the_alerts_says_how_much_waits_for_the_team(make_line, points):
    """Even if it fails, since the webhook is not set."""
    line = make_line(alerts_url_from="A_VARIABLE_THAT_IS_NOT_SET")
    for name, agreement in (("poor", 0.7), ("worse", 0.5), ("good", 0.97)):
        line.deliver(name, ratings_frame(agreement))
        line.run(name, "annotations", "acceptability", "training_data")

    def notices_now() -> dict[str, int]:
        with dg.build_sensor_context(instance=line.instance) as context:
            sensor = line.definitions.resolve_sensor_def("reviews_alerts")
            with pytest.raises(ProjectError, match="A_VARIABLE_THAT_IS_NOT_SET: found nothing"):
                sensor(context)
        told = [point for point in points() if point[0] == "agreement.notices"]
        assert {attributes["project"] for _, attributes, _ in told} == {line.project.name}
        return {attributes["what"]: n for _, attributes, n in told}

    waiting = notices_now()
    assert waiting == {
        "held": 2,
        "not judged": 0,
        "overdue": 0,
        "not released": 0,
        "withdrawn": 0,
        "down": 0,
    }
    (line.root / "inbox").rename(line.root / "away")
    assert notices_now() == {**dict.fromkeys(waiting, 0), "down": 1}


def test_a_fault_of_opentelemetry_is_told_and_fails_no_decision(line, monkeypatch):
    metrics = pytest.importorskip("opentelemetry.metrics")

    def fails(*_):
        raise OSError("no collector")

    monkeypatch.setattr(metrics, "get_meter", fails)
    line.deliver("good", ratings_frame(0.97))
    found = line.run("good", "annotations", "acceptability", "training_data")
    assert found.success
    made = materialized(found, "acceptability")
    assert made.metadata["metrics"].text == "not told to OpenTelemetry: OSError, no collector"
    assert line.project.store.in_force("good")


@pytest.mark.parametrize("named", [True, False])
def test_opentelemetry_is_loaded_where_a_provider_may_listen(line, monkeypatch, named):
    pytest.importorskip("opentelemetry.metrics")
    monkeypatch.delitem(sys.modules, "opentelemetry.metrics")
    if named:
        monkeypatch.setenv("OTEL_PYTHON_METER_PROVIDER", "that_nobody_installed")
    line.deliver("good", ratings_frame(0.97))
    found = line.run("good", "annotations", "acceptability")
    made = materialized(found, "acceptability")
    assert ("metrics" in made.metadata) is named
    assert ("opentelemetry.metrics" in sys.modules) is named
