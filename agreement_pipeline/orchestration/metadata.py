"""The sections of a report as Dagster metadata. The UI plots numbers and shows tables in place."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg
import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.evidence import (
    RULE_COLUMNS,
    Content,
    Figure,
    Grid,
    ProjectState,
    RoundLine,
    Section,
    Summary,
    Tone,
    build_verdict_grid,
    cut_text,
    rule_rows,
)
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Release
from agreement_pipeline.report import (
    markdown_text,
    printable,
    steps_as_markdown,
    strip_data_url,
    svg_data_url,
)
from agreement_pipeline.text import DIGITS, counted, interval

MAX_ROWS = 40

IN_PLACE = 999
"""The UI shows Markdown of so many characters in place. Longer Markdown opens by a click."""

MAX_LINES = 20
"""So many rounds or projects have a line of their own. The table below has more."""

MAX_STEP_LENGTH = 220
HARD_BREAK = "  \n"
SIGNS: dict[Tone, str] = {"good": "●", "partly": "▲", "bad": "■", "unknown": "○", "plain": "○"}
FIXED_KEYS = frozenset(
    {
        "health",
        "policy_changed",
        "decisions",
        "shown",
        "plot",
        "rules",
        "rules_left_out",
        "control_chart",
        "rounds",
        "held_rounds",
        "not_judged",
        "page",
        "files_refused",
        "waivers_unused",
        "need_somebody",
        "projects",
        "n_need_somebody",
    }
)
"""Keys beside which no round and no project can stand under its own name."""

NOT_KNOWN = "not_known"
PLACES = 4

ABOUT = (
    "project",
    "round",
    "measure",
    "of",
    "rule",
    "rater",
    "scope",
    "stratum",
    "classifier",
    "check",
)
READINGS = ("state", "decision", "verdict", "reading", "reads", "place", "passed", "now")
PATTERNS, FIRST_ROWS = "most_common", "first_rows"
OF_DATA = "What was delivered under this name."
DATA_COLUMNS = {
    "round": "The round.",
    "id": "The item.",
    "item": "The item.",
    "rater": "The rater.",
    "label": "The label of the rater, or the one that trains.",
    "text": "The text of the item.",
    "occurrence": "1 if the rater sees the item for the first time, 2 for the second, and so on.",
    "earlier": "True for a rating of an earlier round.",
    "timestamp": "When the rating was given.",
    "confidence": "How sure the rater was.",
    "assisted": "True for a label that began as a suggestion.",
    "drawn": "The object as the rater drew it.",
    "last_label": "The label after the rater's last edit, if there was one.",
    "changed_at": "When the rater last edited the label.",
    "gold": "True for an item whose right label is known.",
    "gold_label": "The right label of the item.",
    "cluster": "The group of the item, such as its document.",
    "weight": "How many equal items this row counts for.",
    "votes": "How many ratings in each category the label rests on, in the order of the scale.",
    "soft_label": "The share of the votes in each category, in the order of the scale.",
    "n_raters": "How many different raters rated the item.",
    "n_ratings": "How many ratings the item has, over all rounds.",
    "entropy_bits": "The entropy of the soft label, in bits: 0 if one category has all.",
    "label_id": "The position of the label on the scale, from 0.",
    "rounds": "All rounds that have the item.",
    "spread": "The standard deviation of the ratings of the item.",
    "split": "train, validation or test, drawn by the name of the cluster.",
    "resolution": "How the label follows from those of the raters.",
}
"""What the columns of ratings and of training data hold."""
REFUSED_COLUMNS = {
    "file": "The file.",
    "round": "The round.",
    "why": "The reason, in words.",
}

NARROW = 6
"""A table of more columns would move the page's own text out of sight. It opens by a click."""


def rendered(section: Section, *, in_place: bool = True) -> dict[str, Any]:
    """With `in_place`, narrow tables stand on the page. They widen it where texts stand above."""
    metadata: dict[str, Any] = {}
    for name, content in section.items():
        metadata |= _render_content(name, content, in_place)
    return metadata


def _render_content(name: str, value: Content, in_place: bool) -> dict[str, Any]:
    if isinstance(value, Grid):
        left_out = {f"{name}_left_out": value.left_out} if value.left_out else {}
        return {**_render_table(name, value.to_frame(), value.descriptions, in_place), **left_out}
    if isinstance(value, pd.DataFrame):
        return _render_table(name, value, {}, in_place)
    content: Any = _render_plot(name, value) if isinstance(value, Figure) else value
    if isinstance(content, float):
        content = number(content)
    return {} if content is None else {name: content}


def _render_table(
    name: str, frame: pd.DataFrame, descriptions: Mapping[str, str], in_place: bool
) -> dict[str, Any]:
    if in_place and len(frame.columns) <= NARROW:
        return table(name, frame, descriptions)
    return opened_table(name, frame)


def number(value: float) -> float | str:
    """A number as people write it, with four digits or decimals. Infinity and NaN become text.

    >>> number(0.9667469433123379), number(1234.56789), number(-1e-17), number(0.00012345678)
    (0.9667, 1234.5679, 0.0, 0.0001235)
    """
    if not math.isfinite(value):
        return str(value)
    rounded = round(float(value), DIGITS) + 0.0
    return round(rounded, PLACES) if abs(rounded) >= 1 else float(f"{rounded:.{PLACES}g}")


def refused(name: str, reason_by_name: Mapping[str, str], subject: str) -> dict[str, Any]:
    rows = pd.DataFrame(reason_by_name.items(), columns=[subject, "why"])
    return table(name, rows, REFUSED_COLUMNS) if reason_by_name else {}


def _render_plot(name: str, figure: Figure) -> Any:
    """A plot never fails its asset."""
    try:
        address = svg_data_url(figure)
    except Exception as error:  # whatever a drawing raises: the numbers stand beside it
        return f"{name}: found {type(error).__name__} while it was drawn ({error}); see the table"
    return dg.MetadataValue.md(f"![{markdown_text(figure.title)}]({address})")


def round_lines_metadata(lines: Sequence[RoundLine], key: dg.AssetKey) -> dict[str, Any]:
    """Each of the latest rounds under its name: the decision, which leads to the asset of this key,
    the numbers with their picture, and what helps.
    """
    metadata = {}
    for line in lines[:MAX_LINES]:
        status = f"[{SIGNS[line.tone]} {markdown_text(line.decision)}]({_address(key, line.round)})"
        name = f"round {line.round}" if line.round in FIXED_KEYS else line.round
        metadata[name] = _line(status, line, markdown_text(line.step))
    return metadata


def project_lines_metadata(
    states: Sequence[ProjectState], keys: Mapping[str, tuple[dg.AssetKey, dg.AssetKey]]
) -> dict[str, Any]:
    """Each project under its name: its state, the numbers of the round that matters with their
    picture and the trend, what helps, and links to the assets of its keys, which are its history
    and its decisions.
    """
    metadata = {}
    for state in states[:MAX_LINES]:
        history_key, decision_key = keys[state.name]
        links = [f"[Rounds]({_address(history_key)})"]
        line = state.line
        if line is not None:
            links.append(f"[{markdown_text(line.round)}]({_address(decision_key, line.round)})")
        status = f"{SIGNS[state.tone]} **{markdown_text(state.words)}**"
        step = markdown_text(cut_text(state.step, MAX_STEP_LENGTH))
        shown_line = line or RoundLine("", "", state.tone)
        name = f"project {state.name}" if state.name in FIXED_KEYS else state.name
        metadata[name] = _line(
            status, shown_line, " ".join(filter(None, [step, " · ".join(links)])), state.trend
        )
    return metadata


def _line(status: str, line: RoundLine, end: str, trend: Sequence[float] = ()) -> Any:
    """Markdown that is too long to stand in place loses the trend first, and then the picture."""
    numbers = line.numbers.replace(" .", "\N{NO-BREAK SPACE}.", 1)  # no line breaks there
    title = " · ".join(filter(None, [status, numbers]))
    for address in (strip_data_url(line, trend), strip_data_url(line), None):
        limits = interval(line.low, line.high)
        picture = f"![{limits}]({address})" if address else ""
        text = HARD_BREAK.join(filter(None, [title, picture, end]))
        if len(text) <= IN_PLACE:
            break
    return dg.MetadataValue.md(text)


def _address(key: dg.AssetKey, round_name: str = "") -> str:
    """Where the UI shows an asset, or a round of it."""
    path = "/".join(quote(part, safe="") for part in key.path)
    view = f"?view=partitions&partition={quote(round_name, safe='')}" if round_name else ""
    return f"/assets/{path}{view}"


def decision_metadata(summary: Summary, page: Mapping[str, Any]) -> dict[str, Any]:
    decision = summary.decision
    rated = " ".join(filter(None, (summary.who_rated, summary.what_is_new)))
    numbered = "\n".join(steps_as_markdown(summary.steps))
    reasons = [*decision.reasons, *filter(None, [summary.who_differs])]
    waivers = printable("; ".join(map(str, decision.waived)))
    # A waiver names the digest of the ratings, so digests are shown in full.
    digest_by_name = {"ratings": decision.ratings_digest, "policy": decision.policy_digest}
    digests = pd.DataFrame(digest_by_name.items(), columns=["of", "digest"])
    return {
        "decision": decision.word,
        "why": dg.MetadataValue.md(_as_bullet_list(reasons)),
        **({"what_to_do": dg.MetadataValue.md(numbered)} if numbered else {}),
        **table("rules", rule_rows(summary.results), RULE_COLUMNS),
        **page,
        **(
            {NOT_KNOWN: printable(summary.not_known)}
            if summary.not_known
            else {"who_rated": printable(rated), "later_edits": summary.first_labels}
        ),
        **({"waivers": waivers} if waivers else {}),
        "reason_codes": ", ".join(decision.codes),
        "confidence": decision.manner,
        **(
            {"same_decision_again": decision.repeat_rate_sentence}
            if decision.repeat_rate_sentence
            else {}
        ),
        "version": decision.version or 1,
        **opened_table("reasons_by_rule", build_verdict_grid(summary.results).to_frame()),
        **opened_table("digests", digests),
        "code_version": decision.code_version,
    }


def _as_bullet_list(reasons: Sequence[str]) -> str:
    lines = [f"- {markdown_text(reason)}" for reason in reasons]
    n = len(lines)
    while n > 1 and len("\n".join(lines[:n])) > IN_PLACE - len("\n- and 0000000 more"):
        n -= 1
    overflow = [f"- and {len(lines) - n} more"] if n < len(lines) else []
    return "\n".join([*lines[:n], *overflow])


def row_count(count: int, *, by_round: bool) -> dict[str, int]:
    """Dagster tells the rows of a partition from those of the whole table."""
    return {f"dagster/{'partition_row_count' if by_round else 'row_count'}": count}


def release_metadata(released: Release, *, by_round: bool) -> dict[str, Any]:
    sample_rows = released.first_training_rows(20)
    return {
        "path": dg.MetadataValue.path(str(released.path)),
        "rounds": ", ".join(released.rounds),
        **row_count(len(released.labels.rows_with_label), by_round=by_round),
        "tentative": released.tentative,
        **({"trains": released.trains.label} if released.trains else {}),
        "what_trains": dg.MetadataValue.md("\n\n".join(released.what_trains)),
        **first_rows(sample_rows, released.train_schema),
    }


def first_of(texts: Sequence[str]) -> list[str]:
    n_more = len(texts) - MAX_ROWS
    return [*texts[:MAX_ROWS], *([f"and {n_more} more"] if n_more > 0 else [])]


def table(name: str, frame: pd.DataFrame, descriptions: Mapping[str, str]) -> dict[str, Any]:
    frame = _order_readable_columns(name, frame)
    records = [
        dg.TableRecord({str(key): printable(in_cell(value)) for key, value in row.items()})
        for row in frame.head(MAX_ROWS).to_dict("records")
    ]
    kinds = {str(column): "string" for column in (frame if records else ["nothing"])}
    schema = _build_table_schema(kinds, {**descriptions, "nothing": "There are no rows."})
    left_out_note = f"the first {MAX_ROWS} of {len(frame)} rows are shown"
    return {
        name: dg.MetadataValue.table(records, schema=schema),
        **({f"{name}_left_out": left_out_note} if len(frame) > MAX_ROWS else {}),
    }


def opened_table(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """A click opens the table in a window of its own, with a row for each record."""
    if frame.empty:
        return {name: "nothing"}
    readable = _order_readable_columns(name, frame).head(MAX_ROWS)
    cells = [list(readable.columns), *readable.astype(object).values.tolist()]
    texts = ([markdown_text(" ".join(in_cell(value).split())) for value in row] for row in cells)
    head, *rows = (f"| {' | '.join(row)} |" for row in texts)
    left_out = len(frame) - len(readable)
    overflow_note = f"\n\nand {counted(left_out, 'more row')}" if left_out else ""
    text = "\n".join([head, "|---" * len(frame.columns) + "|", *rows]) + overflow_note
    return {name: dg.MetadataValue.md(text.ljust(IN_PLACE + 1))}


def first_rows(frame: pd.DataFrame, schema: pa.Schema | None = None) -> dict[str, Any]:
    """The first rows of a table, and its columns: of these rows, if no `schema` tells them."""
    if schema is None:
        schema = pa.Schema.from_pandas(frame, preserve_index=False)
    type_by_column = {field.name: _name_of_type(field.type) for field in schema}
    columns = _build_table_schema(type_by_column, DATA_COLUMNS, OF_DATA)
    return {**opened_table(FIRST_ROWS, frame), "dagster/column_schema": columns}


def _name_of_type(arrow_type: pa.DataType) -> str:
    if pa.types.is_dictionary(arrow_type):
        return _name_of_type(arrow_type.value_type)
    if pa.types.is_list(arrow_type):
        return f"list<{_name_of_type(arrow_type.value_type)}>"
    return str(arrow_type).removeprefix("large_")


def _order_readable_columns(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns tell first what a row is about, and then how it reads in words.

    Columns that the data name keep their order.
    """
    if name in (PATTERNS, FIRST_ROWS):
        return frame
    order = sorted(
        range(len(frame.columns)),
        key=lambda index: (frame.columns[index] not in ABOUT, frame.columns[index] not in READINGS),
    )
    return frame.iloc[:, order]


def _build_table_schema(
    kinds: Mapping[str, str], descriptions: Mapping[str, str], default: str | None = None
) -> dg.TableSchema:
    return dg.TableSchema(
        [
            dg.TableColumn(name, kind, description=descriptions.get(name, default))
            for name, kind in kinds.items()
        ]
    )


def in_cell(value: Any) -> str:
    if isinstance(value, (list, tuple, np.ndarray)):
        return f"[{', '.join(map(in_cell, value))}]"
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return str(number(value) if isinstance(value, float) else value)


def link(project: Project, name: str) -> dict[str, Any]:
    folder, url = project.settings.pages, project.settings.pages_url
    if folder is None:
        return {}
    if url is None:
        return {"page": dg.MetadataValue.path(str(project.root / folder / name))}
    return {"page": dg.MetadataValue.url(f"{url.rstrip('/')}/{quote(name)}")}


def write_page(project: Project, name: str, text: str) -> None:
    """Who reads the page meanwhile sees the old one or the new one."""
    path = project.root / Path(project.settings.pages or "") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
