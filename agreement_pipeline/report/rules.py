"""The rules of a policy with what a round showed of each."""

import pandas as pd

from agreement_pipeline.policy import Decision, Verdict
from agreement_pipeline.text import in_words, interval


def rule_rows(decision: Decision) -> pd.DataFrame:
    """A row for each verdict with its interval. What holds the round comes first."""
    unmet = {(verdict.rule.name, verdict.scope) for verdict in decision.unmet}
    ordered = sorted(
        decision.verdicts,
        key=lambda verdict: (
            (verdict.rule.name, verdict.scope) not in unmet,
            verdict.rule.effect != "hold",
        ),
    )
    return pd.DataFrame(
        {
            "rule": f"{verdict.rule.measure}, {verdict.scope}",
            "value": _value(verdict),
            "verdict": verdict.kind.replace("_", " "),
            "effect": "holds" if verdict.rule.effect == "hold" else "warns",
        }
        for verdict in ordered
    )


def _value(verdict: Verdict) -> str:
    said = verdict.to_mapping()
    if said["value"] is None:
        return ""
    return f"{in_words(said['value'])} ({interval(said['low'], said['high'], between=' … ')})"
