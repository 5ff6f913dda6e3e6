"""What OpenTelemetry hears: decisions and their numbers, and what waits for a team.

No metric is about a rater, and no attribute grows with the rounds. A fault of OpenTelemetry fails
neither a decision nor a tick: it comes back as a sentence.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, get_args

from agreement_pipeline.evidence import Summary
from agreement_pipeline.projects import Notice, NoticeKind
from agreement_pipeline.report import printable
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

METER_PROVIDER = "OTEL_PYTHON_METER_PROVIDER"
"""The environment's name for a provider that OpenTelemetry loads when it is first asked."""
IMPERSONAL_SCOPES = ("round", "category", "stratum", "label")
GAUGES = {
    "value": "What a rule's measure gives for the round that was judged last.",
    "low": "The lower limit of its interval.",
    "high": "The upper limit of its interval.",
}


def record_decision(summary: Summary) -> str:
    """Count a decision, and set the gauges of its rules. Returns a fault in words, or ""."""

    def record(meter: "Meter") -> None:
        meter.create_counter("agreement.decisions", "1", "Decisions on rounds.").add(
            1,
            {
                "project": summary.project,
                "decision": summary.decision.outcome,
                "policy": summary.policy.policy,
                "policy_version": summary.policy.version,
            },
        )
        for name, description in GAUGES.items():
            gauge = meter.create_gauge(f"agreement.{name}", "1", description)
            for result in summary.results:
                number = getattr(result, name)
                if number is not None and result.scope_kind in IMPERSONAL_SCOPES:
                    gauge.set(
                        number,
                        {
                            "project": summary.project,
                            "measure": result.measure,
                            "scope": result.scope,
                        },
                    )

    return _with_meter(record)


def record_notices(project: str, notices: Sequence[Notice]) -> str:
    """Set how many things of each kind wait for the team. Returns a fault in words, or ""."""
    n_by_kind = Counter(notice.what for notice in notices)

    def record(meter: "Meter") -> None:
        gauge = meter.create_gauge("agreement.notices", "1", "What a team must hear of now.")
        for kind in get_args(NoticeKind):
            if kind != "up again":
                gauge.set(n_by_kind[kind], {"project": project, "what": kind})

    return _with_meter(record)


def _with_meter(record: Callable[["Meter"], None]) -> str:
    # Without a provider nobody listens, and to load the package takes longer than a small round.
    if "opentelemetry.metrics" not in sys.modules and METER_PROVIDER not in os.environ:
        return ""
    try:
        from opentelemetry.metrics import get_meter

        record(get_meter("agreement_pipeline", __version__))
    except Exception as error:  # whatever a provider or an exporter raises: the decision stands
        return printable(f"not told to OpenTelemetry: {type(error).__name__}, {error}")
    return ""
