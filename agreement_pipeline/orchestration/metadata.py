"""The sections of a report as Dagster metadata. The UI plots numbers and shows tables in place."""

import html
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg
import pandas as pd

from agreement_pipeline.errors import EXPECTED, in_a_sentence
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Release
from agreement_pipeline.report import (
    Content,
    Grid,
    Plot,
    Round,
    Section,
    decision_word,
    printable,
    rule_rows,
    verdict_grid,
    who_rated,
)
from agreement_pipeline.text import unlinked

MAX_ROWS = 40
"""The rows of a table, and the texts of a list, that are shown."""

IN_PLACE = 999
"""The UI shows Markdown of so many characters in place. Longer Markdown opens by a click."""

INDEX = "index.html"
NOT_KNOWN = "not_known"
SIGNS = re.compile(r"[\\`*_\[\]()#!|]")
"""What Markdown reads as more than a sign."""

NARROW = 6
"""A table of more columns would move the page's own text out of sight. It opens by a click."""


def rendered(section: Section) -> dict[str, Any]:
    """A section as metadata. Names without content are left out."""
    shown: dict[str, Any] = {}
    for name, found in section.items():
        shown |= _rendered(name, found)
    return shown


def _rendered(name: str, found: Content) -> dict[str, Any]:
    if isinstance(found, Grid):
        left_out = {f"{name}_left_out": found.left_out} if found.left_out else {}
        return {**_rendered(name, found.to_frame()), **left_out}
    if isinstance(found, pd.DataFrame):
        return opened_table(name, found) if len(found.columns) > NARROW else table(name, found)
    content: Any = _plot(name, found) if callable(found) else found
    if isinstance(content, float):
        content = number(content)
    return {} if content is None else {name: content}


def number(value: float) -> Any:
    """A number as the UI accepts it. Infinity and NaN become text."""
    return float(value) if math.isfinite(value) else str(value)


def refused(name: str, found: Mapping[str, str], what: str) -> dict[str, Any]:
    """A table of what is not used or failed, each with the reason. Nothing: no table."""
    return table(name, pd.DataFrame(found.items(), columns=[what, "why"])) if found else {}


def _plot(name: str, draw: Plot) -> Any:
    """An image, or a text that says why there is none. A plot never fails its asset."""
    try:
        image = draw()
    except Exception as error:  # whatever a drawing raises: the numbers stand beside it
        return f"{name}: found {type(error).__name__} while it was drawn ({error}); see the table"
    return image and dg.MetadataValue.md(f"![{markdown_text(name)}]({image})")


def decision_metadata(found: Round, page: Mapping[str, Any]) -> dict[str, Any]:
    """The decision, why it was made, what to do, each rule, and then all the rest.

    `page` leads to the page of the round, if it has one. What cannot be told of the ratings hides
    no decision: it says why under `NOT_KNOWN`.
    """
    decision = found.decision
    try:
        differs, steps, rated = found.who_differs, found.steps, who_rated(found.ratings)
        not_known = ""
    except EXPECTED as error:
        differs, steps, rated = "", (), ""
        not_known = f"who rated, who differs and what to do: {in_a_sentence(error)}"
    numbered = [f"{nth}. {markdown_text(' '.join(step))}" for nth, step in enumerate(steps, 1)]
    said = [*decision.reasons, *([differs] if differs else [])]
    waivers = printable("; ".join(map(str, decision.waived)))
    # A waiver names the digest of the ratings, so digests are shown in full.
    named = {"ratings": decision.ratings_digest, "policy": decision.policy_digest}
    digests = pd.DataFrame(named.items(), columns=["of", "digest"])
    return {
        "decision": decision_word("admitted" if decision.admitted else "held", decision.tentative),
        "why": dg.MetadataValue.md(_bullets(said)),
        **({"what_to_do": dg.MetadataValue.md("\n".join(numbered))} if numbered else {}),
        **table("rules", rule_rows(decision)),
        **page,
        **({NOT_KNOWN: printable(not_known)} if not_known else {"who_rated": printable(rated)}),
        **({"waivers": waivers} if waivers else {}),
        "reason_codes": ", ".join(decision.codes),
        "manner": decision.manner,
        "version": decision.version or 1,
        **opened_table("reasons_by_rule", verdict_grid(decision.verdicts).to_frame()),
        **opened_table("digests", digests),
        "code_version": decision.code_version,
    }


def _bullets(reasons: Sequence[str]) -> str:
    """The reasons as a list that stands in place, and how many more there are."""
    shown = [f"- {markdown_text(reason)}" for reason in reasons]
    n = len(shown)
    while n > 1 and len("\n".join(shown[:n])) > IN_PLACE - len("\n- and 0000000 more"):
        n -= 1
    more = [f"- and {len(shown) - n} more"] if n < len(shown) else []
    return "\n".join([*shown[:n], *more])


def release_metadata(released: Release) -> dict[str, Any]:
    """Where a release is, what is in it, and its first rows."""
    rows = released.labels.resolved
    first = released.labels.take(rows[:20]).frame()
    return {
        "path": dg.MetadataValue.path(str(released.path)),
        "rounds": ", ".join(released.rounds),
        "dagster/row_count": len(rows),
        "tentative": released.tentative,
        **first_rows(first),
    }


def first_of(said: Sequence[str]) -> list[str]:
    """The first of several texts, and how many more there are."""
    more = len(said) - MAX_ROWS
    return [*said[:MAX_ROWS], *([f"and {more} more"] if more > 0 else [])]


def table(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A frame as a table under its name. If it is long, a text says how many rows are shown."""
    records = [
        dg.TableRecord({str(key): printable(_text(value)) for key, value in row.items()})
        for row in frame.head(MAX_ROWS).to_dict("records")
    ]
    nothing = dg.TableSchema(columns=[dg.TableColumn("nothing", "string")])
    shown = f"the first {MAX_ROWS} of {len(frame)} rows are shown"
    return {
        name: dg.MetadataValue.table(records, schema=None if records else nothing),
        **({f"{name}_left_out": shown} if len(frame) > MAX_ROWS else {}),
    }


def opened_table(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A frame as a table that a click opens in a window of its own, with a row for each record."""
    if frame.empty:
        return {name: "nothing"}
    shown = frame.head(MAX_ROWS)
    cells = [list(frame.columns), *shown.astype(object).values.tolist()]
    texts = ([markdown_text(" ".join(_text(each).split())) for each in row] for row in cells)
    head, *rows = (f"| {' | '.join(row)} |" for row in texts)
    left_out = len(frame) - len(shown)
    said = f"\n\nand {left_out} more rows" if left_out else ""
    text = "\n".join([head, "|---" * len(frame.columns) + "|", *rows]) + said
    return {name: dg.MetadataValue.md(text.ljust(IN_PLACE + 1))}


def first_rows(frame: pd.DataFrame) -> dict[str, Any]:
    """The first rows, and the columns with their types, as the UI shows them beside an asset."""
    columns = [dg.TableColumn(str(name), str(frame[name].dtype)) for name in frame]
    return {**opened_table("first_rows", frame), "dagster/column_schema": dg.TableSchema(columns)}


def _text(value: Any) -> str:
    """A cell of a table as text. What is missing is empty."""
    return "" if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)


def markdown_text(text: str) -> str:
    """Text from the data, on one line, escaped so that nothing in it is Markdown or a link."""
    escaped = html.escape(unlinked(printable(text)), quote=False)
    return SIGNS.sub(r"\\\g<0>", escaped)


def page_of(round_name: str) -> str:
    """The file of a round's page."""
    return f"{round_name}.html"


def link(project: Project, name: str) -> dict[str, Any]:
    """The way to a page: a link if the project says where its pages are served, else a path.

    Nothing if the project keeps no pages.
    """
    folder, url = project.settings.pages, project.settings.pages_url
    if folder is None:
        return {}
    if url is None:
        return {"page": dg.MetadataValue.path(str(project.root / folder / name))}
    return {"page": dg.MetadataValue.url(f"{url.rstrip('/')}/{quote(name)}")}


def keep_page(project: Project, name: str, text: str) -> None:
    """Write a page under its name. Who reads it meanwhile sees the old page or the new one."""
    path = project.root / Path(project.settings.pages or "") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
