"""The sections of a report as Dagster metadata. The UI plots numbers and shows tables in place."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Finding
from agreement_pipeline.errors import MissingExtraError
from agreement_pipeline.policy import Decision
from agreement_pipeline.report import (
    Content,
    Plot,
    Section,
    decision_word,
    printable,
    verdict_rows,
)
from agreement_pipeline.text import unlinked

MAX_ROWS = 100


def rendered(section: Section) -> dict[str, Any]:
    """A section as metadata. Names without content are left out."""
    shown: dict[str, Any] = {}
    for name, found in section.items():
        shown |= (
            table(name, found) if isinstance(found, pd.DataFrame) else {name: _content(name, found)}
        )
    return {name: content for name, content in shown.items() if content is not None}


def _content(name: str, found: Content) -> Any:
    if callable(found):
        return _plot(name, found)
    return number(found) if isinstance(found, float) else found


def number(value: float) -> Any:
    """A number as the UI accepts it. Infinity and NaN become text."""
    return float(value) if math.isfinite(value) else str(value)


def refused_files(name: str, refused: Mapping[str, str]) -> dict[str, Any]:
    """A table of files that are not used, each with the reason. No files: no table."""
    found = pd.DataFrame({"file": list(refused), "why": list(refused.values())})
    return table(name, found) if refused else {}


def _plot(name: str, draw: Plot) -> Any:
    """An image, or a text that says why there is none. A plot never fails its asset."""
    try:
        image = draw()
    except MissingExtraError as error:
        return str(error)
    except Exception as error:  # whatever a library of plots raises: the numbers stand beside it
        return f"{name}: found {type(error).__name__} while it was drawn ({error}); see the table"
    return image and dg.MetadataValue.md(f"![{markdown_text(name)}]({image})")


def decision_metadata(decision: Decision) -> dict[str, Any]:
    """The decision with its reasons and verdicts, and the digests of its inputs."""
    reasons = "\n".join(f"- {markdown_text(reason)}" for reason in first_of(decision.reasons))
    waivers = printable("; ".join(map(str, decision.waived)))
    return {
        "decision": decision_word("admitted" if decision.admitted else "held", decision.tentative),
        "reason_codes": ", ".join(decision.codes),
        "reasons": dg.MetadataValue.md(reasons),
        **table("verdicts", verdict_rows(decision.verdicts)),
        **({"waivers": waivers} if waivers else {}),
        "manner": decision.manner,
        "version": decision.version or 1,
        "ratings_digest": decision.ratings_digest,
        "policy_digest": decision.policy_digest[:12],
        "code_version": decision.code_version,
    }


def finding_rows(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings of the contract with the values that they observed, one row each."""
    return pd.DataFrame(
        {
            "check": finding.check,
            "passed": "yes" if finding.passed else "no",
            "found": finding.description,
            "observed": "; ".join(f"{name}: {value}" for name, value in finding.observed),
        }
        for finding in findings
    )


def first_of(said: Sequence[str]) -> list[str]:
    """The first hundred of several texts, and how many more there are."""
    more = len(said) - MAX_ROWS
    return [*said[:MAX_ROWS], *([f"and {more} more"] if more > 0 else [])]


def table(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A frame as a table under its name. If it is long, a text says how many rows are shown."""
    shown = f"the first {MAX_ROWS} of {len(frame)} rows are shown"
    return {
        name: frame_table(frame),
        **({f"{name}_left_out": shown} if len(frame) > MAX_ROWS else {}),
    }


def frame_table(frame: pd.DataFrame) -> dg.TableMetadataValue:
    """The first hundred rows of a frame as a table."""
    return _table(
        {str(key): printable(str(value)) for key, value in row.items()}
        for row in frame.head(MAX_ROWS).to_dict("records")
    )


def _table(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue:
    records = [dg.TableRecord(dict(row)) for row in rows]
    if records:
        return dg.MetadataValue.table(records)
    return dg.MetadataValue.table(
        [], schema=dg.TableSchema(columns=[dg.TableColumn("nothing", "string")])
    )


def markdown_text(text: str) -> str:
    """Text from the data, on one line, escaped so that nothing in it is Markdown or a link."""
    escaped = (
        unlinked(printable(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )
    return "".join(
        f"\\{character}" if character in "\\`*_[]()#!|" else character for character in escaped
    )
