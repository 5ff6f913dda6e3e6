"""Tables whose cells hold several labels: each label of a set becomes a unit of its item.

A unit is an ordinary rating, `yes` or `no`, so all that follows is asked of the engine. What
distinct cells hold is found in Python.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from agreement_pipeline.engine import Relation
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    NO_ANSWER,
    PART_UNIT_OF,
    LabelSetError,
    set_members,
)
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.text import listed
from agreement_pipeline.units import (
    ANSWERS,
    MEMBER,
    PART_MEMBER,
    strata_of_members,
)

if TYPE_CHECKING:
    from agreement_pipeline.units import UnitSettings

LABEL_COLUMNS = ("label", "last_label", "gold_label")
NOT_OF_UNITS = ("text", "label", "item", "nth", "cluster")
"""Columns that are made anew, or that would say the same of each unit of an item."""


def expand_member_rows(
    rows: Rows, units: "UnitSettings", *, empty_cells_are_missing: bool = False
) -> Rows:
    """A row for each label that a set may hold, and each rating.

    An empty cell may say that a rater chose nothing, or that nobody asked. Where no cell is an
    explicit empty set, the file cannot tell, so it is refused unless they are known to be missing.
    """
    names = [name for name in LABEL_COLUMNS if name in rows.names]
    rows = rows.with_computed({name: rows.text_sql(name) for name in names})
    is_unanswered = f"rater IS NOT NULL AND {rows.is_blank_sql('label')}"
    has_unanswered = rows.has_row(is_unanswered)
    # Who was asked is not known of a wide table's empty cells.
    labelled = rows if "column" in rows.names else rows.drop_rows(is_unanswered, NO_ANSWER)
    labelled = labelled.create_view(
        f"SELECT * FROM {labelled} WHERE NOT {rows.is_blank_sql('label')}"
    )
    members_by_cell = _members_by_cell(labelled, names)
    has_empty_set = not all(map(members_by_cell.get, labelled.distinct_texts("label")))
    if has_unanswered and not (has_empty_set or empty_cells_are_missing):
        raise RatingsError(
            f"{rows.describe_place(is_unanswered, 'label')}: found empty cells, and no empty set "
            "in any other; expected it known whether the rater chose no label. Write | or [] where "
            "one did, or say that empty cells are missing ratings (--requires none; requires: [] "
            "in a project)."
        )
    count_by_member = Counter[str]()
    label = rows.text_sql("label")
    counts = labelled.relation.query(
        f"SELECT {label} AS cell, COUNT(*) AS n FROM {labelled} GROUP BY {label}"
    )
    for cell, n in zip(counts["cell"].to_pylist(), counts["n"].to_pylist(), strict=True):
        count_by_member.update(dict.fromkeys(members_by_cell[cell], n))
    members = units.members or sorted(count_by_member)
    if not members:
        raise RatingsError(
            f"{rows.source}: column {rows.source_name('label')!r}: found no label in any set; "
            "expected at least one. Name the labels that a set may hold, as units: "
            "{kind: sets, members: […]}."
        )
    _refuse_unknown_members(labelled, names, members_by_cell, members)
    stratum_by_member = strata_of_members(members, count_by_member)
    cells, answers = _load_cells_and_answers(labelled, members_by_cell, members, stratum_by_member)
    sql_by_column = {
        "item": f"CONCAT({labelled.text_sql('item')}, ' ', units.member)",
        "label": "units.answer",
        "cluster": labelled.text_sql("cluster" if "cluster" in rows.names else "item"),
        MEMBER: "units.stratum",
        PART_MEMBER: "units.member",
        PART_UNIT_OF: labelled.text_sql("item"),
        "nth": f"{labelled}.nth * {len(members)} + units.place",
    }
    joins = [
        f"JOIN {cells} AS cells ON {label} = cells.cell",
        f"JOIN {answers} AS units ON units.number = cells.number",
    ]
    for name in names[1:]:
        joins += [
            f"LEFT JOIN {cells} AS cells_{name} ON {rows.text_sql(name)} = cells_{name}.cell",
            f"LEFT JOIN {answers} AS of_{name} ON of_{name}.number = cells_{name}.number "
            f"AND of_{name}.member = units.member",
        ]
        sql_by_column[name] = f"of_{name}.answer"
    contents = {name: name for name in rows.names if name.startswith(CONTENT_PREFIX)}
    if "text" in rows.names:
        contents[f"{CONTENT_PREFIX}text"] = "text"
    # Only the first unit of an item has its contents: a long text is not there once for each.
    for content, name in contents.items():
        sql_by_column[content] = f"CASE WHEN units.place = 0 THEN {labelled.text_sql(name)} END"
    made_anew = {*NOT_OF_UNITS, *names, *contents}
    carried_names = [name for name in rows.names if name not in made_anew]
    quoted = [f"{labelled}.{rows.quote_column(name)}" for name in carried_names]
    selected = [
        *quoted,
        *(f"{sql} AS {rows.quote_column(name)}" for name, sql in sql_by_column.items()),
    ]
    return labelled.create_view(
        f"SELECT {', '.join(selected)} FROM {labelled} {' '.join(joins)}", cells, answers
    )


def _members_by_cell(rows: Rows, names: Sequence[str]) -> dict[str, frozenset[str]]:
    members_by_cell = dict[str, frozenset[str]]()
    for name in names:
        for cell in rows.distinct_texts(name):
            try:
                members_by_cell[cell] = set_members(cell)
            except LabelSetError as error:
                test = f"{rows.text_sql(name)} = {rows.value_sql(cell)}"
                raise RatingsError(f"{rows.describe_place(test, name)}: {error}") from None
    return members_by_cell


def _refuse_unknown_members(
    rows: Rows,
    names: Sequence[str],
    members_by_cell: Mapping[str, frozenset[str]],
    members: Sequence[str],
) -> None:
    for name in names:
        unknown = {
            cell: members_by_cell[cell].difference(members) for cell in rows.distinct_texts(name)
        }
        cells = [cell for cell, unknown_of_cell in unknown.items() if unknown_of_cell]
        if cells:
            tests = ", ".join(map(rows.value_sql, cells))
            unknown_members = sorted(set().union(*(unknown[cell] for cell in cells)))
            raise RatingsError(
                f"{rows.describe_place(f'{rows.text_sql(name)} IN ({tests})', name)}: found "
                f"{listed(unknown_members)} in a set; expected some of {listed(members, 12)}. "
                "Correct the label, or add it to `members` of the units."
            )


def _load_cells_and_answers(
    rows: Rows,
    members_by_cell: Mapping[str, frozenset[str]],
    members: Sequence[str],
    stratum_by_member: Mapping[str, str],
) -> tuple[Relation, Relation]:
    """The cells with their numbers; and for each number and each label that a set may hold: is it
    in the set? A cell may be long, so it is not written beside each label.
    """
    no, yes = ANSWERS
    units = [
        (number, member, place, yes if member in members_of_cell else no, stratum_by_member[member])
        for number, members_of_cell in enumerate(members_by_cell.values())
        for place, member in enumerate(members)
    ]
    names = ("number", "member", "place", "answer", "stratum")
    answers = pa.table(dict(zip(names, map(list, zip(*units, strict=True)), strict=True)))
    cells = pa.table({"cell": [*members_by_cell], "number": range(len(members_by_cell))})
    session = rows.relation.session
    return (
        session.load_batches(cells.schema, cells.to_batches()),
        session.load_batches(answers.schema, answers.to_batches()),
    )
