"""How estimates, verdicts and ratings look in the Dagster UI: numbers it can plot, tables it shows in place."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Finding
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.policy import Decision, Verdict
from agreement_pipeline.report import note

MAX_ROWS = 100


def estimate_numbers(estimates: Iterable[Estimate]) -> dict[str, Any]:
    """The value and the limits of every estimate that speaks of the round or a classifier, under keys the UI plots by round."""
    numbers: dict[str, Any] = {}
    for found in estimates:
        if (
            found.scope.kind not in ("round", "classifier")
            or found.value is None
            or found.interval is None
        ):
            continue
        key = (
            found.measure if found.scope.kind == "round" else f"{found.measure} {found.scope.name}"
        )
        numbers |= {
            key: found.value,
            f"{key} low": _limit(found.low),
            f"{key} high": _limit(found.high),
        }
    return numbers


def number(value: float) -> Any:
    """A number as the UI takes it; what is infinite or none becomes text."""
    return float(value) if math.isfinite(value) else str(value)


def estimate_table(estimates: Sequence[Estimate]) -> dg.TableMetadataValue:
    """All estimates as a table."""
    return table(
        {
            "measure": found.measure,
            "scope": str(found.scope),
            "value": _shown(found.value),
            "low": _shown(found.interval.low if found.interval else None),
            "high": _shown(found.interval.high if found.interval else None),
            "items": found.n_used,
            "ratings": found.n_ratings,
            "note": note(found),
        }
        for found in estimates
    )


def verdict_table(verdicts: Iterable[Verdict]) -> dg.TableMetadataValue:
    """All verdicts as a table."""
    return table(
        {
            "measure": v.rule.measure,
            "scope": str(v.scope),
            "verdict": v.kind,
            "effect": v.rule.effect,
            "reason": v.reason,
        }
        for v in verdicts
    )


def decision_metadata(decision: Decision) -> dict[str, Any]:
    """What a decision shows: the word, the reasons, the verdicts, and what it is bound to."""
    return {
        "decision": word(decision),
        "reason_codes": ", ".join(decision.codes),
        "reasons": dg.MetadataValue.md(
            "\n".join(f"- {markdown_text(reason)}" for reason in decision.reasons)
        ),
        "verdicts": verdict_table(decision.verdicts),
        **({"waivers": "; ".join(map(str, decision.waived))} if decision.waived else {}),
        "manner": decision.manner,
        "ratings_digest": decision.ratings_digest,
        "policy_digest": decision.policy_digest[:12],
        "code_version": decision.code_version,
    }


def word(decision: Decision) -> str:
    """The decision in a word or two."""
    if not decision.admitted:
        return "held"
    return "admitted (tentative)" if decision.tentative else "admitted"


def finding_metadata(finding: Finding) -> dict[str, Any]:
    """What a finding of the contract shows."""
    return {
        "found": finding.description,
        **{
            name: number(value) if isinstance(value, float) else str(value)
            for name, value in finding.observed
        },
    }


def frame_table(frame: pd.DataFrame) -> dg.TableMetadataValue:
    """The first rows of a frame as a table."""
    return table(
        {str(key): value if isinstance(value, str) else str(value) for key, value in row.items()}
        for row in frame.head(MAX_ROWS).to_dict("records")
    )


def table(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue:
    """Rows as a table shown in place, the first hundred of them."""
    kept = [dg.TableRecord(dict(row)) for _, row in zip(range(MAX_ROWS), rows, strict=False)]
    if not kept:
        return dg.MetadataValue.table(
            [], schema=dg.TableSchema(columns=[dg.TableColumn("nothing", "string")])
        )
    return dg.MetadataValue.table(kept)


def markdown_text(text: str) -> str:
    """Text from the data as Markdown shows it, with nothing in it taken as markup."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(
        f"\\{character}" if character in "\\`*_[]()#!|" else character for character in escaped
    )


def _limit(limit: float | None) -> float | str:
    return "no limit" if limit is None else limit


def _shown(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if math.isfinite(value) else "no limit"
