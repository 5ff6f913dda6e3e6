"""A labelling tool's export as a reader: one function that finds the submissions is enough.

The rules that every export needs are here:

- Drafts and skipped items are no ratings.
- Gold answers and reviewers' answers are no rater's.
- If a rater handed an item in again, the later submission counts.
- A deleted user is like nobody else.
- Models are classifiers, and never part of the panel.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.engine import Relation, Session, duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import LIMITS, STRATUM, Limits
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.drawn import Draws, Numbered, draws_of
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.gathering import CANONICAL, UNKNOWN, Gathered, gather
from agreement_pipeline.readers.registry import (
    MarkedRows,
    Reader,
    Rows,
    Source,
    reader_of,
    register,
)
from agreement_pipeline.readers.rules import (
    FIELD,
    RULES,
    LeftOut,
    Rejected,
    Rules,
    kept,
    linked,
    names_of,
    stratified,
    tally,
    with_models,
)
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.text import called, counted, listed

if TYPE_CHECKING:
    import pandas as pd

GOLD = "gold"
OF_ITEMS = ("round", "text", "cluster")
OWN = ("item", "rater")
NEEDED = ("item", "rater", "label", "status", "kind", "created", "updated", "record")
"""What of `CANONICAL` is read always."""


@dataclass(frozen=True)
class Tool:
    """The export of a labelling tool.

    Parameters
    ----------
    name, title, recognises, submissions, shows, needs, omits_none
        As in `Reader`.
    question
        The name of a question, from the name of its column.
    draws
        Finds the label objects of a kind. None if the format's objects are not read.
    kinds
        As in `Reader`.
    """

    name: str
    title: str
    recognises: Callable[[Export], bool]
    submissions: Callable[[Export], Iterator[Submission]]
    shows: frozenset[str]
    needs: Mapping[str, str] = field(default_factory=dict)
    omits_none: bool = False
    question: Callable[[str], str] = str
    draws: Draws | None = None
    kinds: tuple[str, ...] = ()

    def register(self) -> Reader:
        """The tool as a registered reader."""
        return register(
            Reader(
                self.name,
                self.title,
                self.recognises,
                self.rows,
                self.rounds,
                self.checked,
                self.shows,
                self.needs,
                self.omits_none,
                self.marked,
                self.kinds,
            )
        )

    def checked(self, export: Export) -> Iterator[Submission]:
        """All submissions. A record that is not as the tool writes it is refused.

        Raises
        ------
        RatingsError
            One is not.
        """
        try:
            yield from self.submissions(export)
        except RatingsError:
            raise
        except KeyError as error:
            raise _unlike(self.title, export, f"no {error.args[0]!r}") from error
        except (TypeError, AttributeError, ValueError, IndexError) as error:
            raise _unlike(self.title, export, f"a value of another kind ({error})") from error

    def rows(
        self,
        source: Source,
        columns: Columns = COLUMNS,
        layout: Layout = "long",
        limits: Limits = LIMITS,
        rules: Rules = RULES,
        session: Session | None = None,
    ) -> Rows:
        """The ratings of one question."""
        _refuse_wide(layout, source)
        path = Path(str(source))
        named = _fields_of(columns)
        wanted = (*named.values(), *rules.fields, *columns.models.values())
        question = None if columns.label == COLUMNS.label else self.question(columns.label)
        gathered = self._gathered(path, question, wanted, limits, session)
        _refuse_unknown(gathered, columns, rules, path.name)
        return _rated(gathered, named, columns, rules, path.name)

    def marked(
        self,
        path: Path,
        kind: str,
        columns: Columns,
        limits: Limits,
        rules: Rules,
        session: Session | None = None,
    ) -> MarkedRows:
        """The label objects of one question. All rules for submissions hold for them too."""
        draws = draws_of(self.submissions, self.draws)
        numbered = Numbered(draws, kind, columns.text or "text")
        alike = replace(self, submissions=numbered, omits_none=False)
        rows = alike.rows(path, columns, "long", limits, rules, session)
        return MarkedRows(
            rows, lambda some: numbered.marked(some.cells, some.classifiers, some.source)
        )

    def rounds(
        self,
        path: Path,
        columns: Columns = COLUMNS,
        limits: Limits = LIMITS,
        session: Session | None = None,
    ) -> tuple[str, ...]:
        """The rounds of an export, sorted. No answer is read."""
        name = columns.round or "round"
        bare = replace(self, submissions=lambda export: map(_bare, self.submissions(export)))
        gathered = bare._gathered(path, None, (name,), limits, session)
        cells, said = gathered.cells, gathered.columns[name]
        lacking = f"SELECT record FROM {cells} WHERE {said} IS NULL ORDER BY nth LIMIT 1"
        if absent := _texts(cells, lacking):
            raise RatingsError(
                f"{path.name}: {absent[0]}, field {name!r}: found no round; expected one of "
                "every item. Fill it in, or name the field that holds it."
            )
        return tuple(sorted(_texts(cells, f"SELECT DISTINCT {said} FROM {cells}")))

    def _gathered(
        self,
        path: Path,
        question: str | None,
        wanted: Iterable[str],
        limits: Limits,
        session: Session | None,
    ) -> Gathered:
        names = set(wanted)
        always = {*NEEDED, *({"assisted"} & self.shows)}
        found = gather(
            self.checked(Export(path)),
            question,
            wanted,
            path.name,
            limits,
            session or duckdb_session(),
            omits_none=self.omits_none,
            own=[name for name in CANONICAL if name in always or name in names],
        )
        _refuse_repeated(found.cells, path.name)
        _refuse_mixed_zones(found.cells, path.name)
        return found


def answers(path: Path, question: str | None = None, fields: Iterable[str] = ()) -> "pd.DataFrame":
    """Every submission of a tool's export with its answer to one question. Nothing is left out.

    Raises
    ------
    RatingsError
        The export is broken, or is a table of ratings.
    """
    import pandas as pd

    from agreement_pipeline.ratings import in_pandas

    reader = reader_of(path)
    if reader.submissions is None:
        raise RatingsError(
            f"{path.name}: found a table of ratings; expected the export of a tool. "
            "Read it with read()."
        )
    found = gather(
        reader.submissions(Export(path)),
        question,
        fields,
        path.name,
        LIMITS,
        duckdb_session(),
        omits_none=reader.omits_none,
    )
    names = ", ".join((*CANONICAL, *found.columns.values()))
    table = found.cells.ask(f"SELECT {names} FROM {found.cells} ORDER BY nth")
    frame: pd.DataFrame = in_pandas(table)
    for name in ("seconds", "confidence", "assisted"):
        frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame.set_axis([*CANONICAL, *found.columns], axis="columns")


def _bare(submission: Submission) -> Submission:
    """A submission without its answers."""
    return replace(submission, values={})


def _fields_of(columns: Columns) -> dict[str, str]:
    """The fields of the export that a project names, under their canonical names."""
    if columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)}; expected them for a wide table only. "
            "Leave them out: the export names its raters."
        )
    named = {
        name: value
        for name, value in columns.named.items()
        if name != "label" and not (name in OWN and value == getattr(COLUMNS, name))
    }
    return {**{name: name for name in OF_ITEMS if name not in named}, **named}


def _rated(
    gathered: Gathered, named: Mapping[str, str], columns: Columns, rules: Rules, source: str
) -> Rows:
    """The ratings among the submissions, under canonical names."""
    canonical = _canonical(gathered, named, (*rules.fields, *columns.models.values()))
    counting, by_rule = kept(canonical, rules, source)
    ratings, by_kind = _ratings_in(counting, rules.rejected)
    models = _models(ratings, source)
    last, earlier = _latest(ratings)
    if GOLD in (columns.gold, columns.gold_label) and GOLD not in gathered.fields:
        last = _with_gold(last, canonical, columns)
    of_models = {name: FIELD + of for name, of in columns.models.items()}
    rated = stratified(with_models(linked(last, rules, source), of_models), rules)
    names = [
        name
        for name in names_of(rated)
        if name in (*OWN, "label", "timestamp", "assisted", "occurrence", *named)
        or name.startswith(STRATUM)
    ]
    shown = ", ".join(map(rated.session.column, (*names, "row", "nth")))
    told = {"timestamp": "created", **named, "label": columns.label}
    return Rows(
        rated.view(f"SELECT {shown} FROM {rated}"),
        {name: told.get(name, name) for name in names},
        source,
        tuple(sorted({*models, *columns.models})),
        by_rule + by_kind + earlier,
    )


def _canonical(gathered: Gathered, named: Mapping[str, str], asked: Iterable[str]) -> Relation:
    """The submissions under canonical names. What a rule reads keeps a name of its own."""
    cells, column = gathered.cells, gathered.cells.session.column
    made = {name: name for name in (*NEEDED, "nth") if name != "record"}
    made |= {"row": "record", "timestamp": "created"}
    if "assisted" in names_of(cells):
        made["assisted"] = "assisted"
    for name, of in named.items():
        if (told := gathered.told(of)) is not None:
            made[name] = of if name == of and name not in gathered.fields else told
    if not _texts(cells, f"SELECT 1 FROM {cells} WHERE {made['timestamp']} IS NOT NULL LIMIT 1"):
        del made["timestamp"]
    made |= {FIELD + name: told for name in asked if (told := gathered.told(name)) is not None}
    shown = ", ".join(f"{sql} AS {column(name)}" for name, sql in made.items())
    return cells.view(f"SELECT {shown} FROM {cells}")


def _ratings_in(cells: Relation, rejected: Rejected) -> tuple[Relation, LeftOut]:
    """The rows that are ratings, and how many are none, by reason."""
    status = ("skipped", "draft", *(["rejected"] if rejected == "left out" else ()))
    tests = {
        "reviewer": "kind = 'reviewer'",
        "gold": "kind = 'gold'",
        **{name: f"status = '{name}'" for name in status},
        "no answer": "label IS NULL",
    }
    cases = " ".join(f"WHEN {test} THEN '{reason}'" for reason, test in tests.items())
    told = cells.view(f"SELECT *, CASE {cases} END AS reason FROM {cells}")
    left_out = LeftOut()
    for reason in tests:
        left_out += tally(told, f"reason = '{reason}'", reason)
    return told.view(f"SELECT * FROM {told} WHERE reason IS NULL"), left_out


def _models(cells: Relation, source: str) -> list[str]:
    """The raters that are models. People have names of their own, and one of them is known."""
    models, people = (
        {*_texts(cells, f"SELECT DISTINCT rater FROM {cells} WHERE kind = '{kind}'")} - {None}
        for kind in ("model", "human")
    )
    if both := sorted(models & people):
        raise RatingsError(
            f"{source}: found {listed(both)} as a rater and as a model; expected different names, "
            "since a model is compared with the raters. Rename the model."
        )
    if people and all(name.startswith(UNKNOWN) for name in people):
        row = cells.session.column("row")
        (first,) = _texts(
            cells, f"SELECT {row} FROM {cells} WHERE kind = 'human' ORDER BY nth LIMIT 1"
        )
        raise RatingsError(
            f"{source}: {first}: found no rater, and none in any other record; expected who gave "
            "each answer, since agreement is between raters. Export again with the raters, and "
            "rename no field."
        )
    return sorted(models)


def _latest(cells: Relation) -> tuple[Relation, LeftOut]:
    """The last submission of each rater for each item, and how many came before."""
    names = [name for name in ("round", "item", "rater") if name in names_of(cells)]
    keys = list(map(cells.session.column, names))
    if not _may_repeat(cells, keys):
        return cells, LeftOut()
    order = "COALESCE(updated, created) DESC NULLS LAST, nth DESC"
    place = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY {order}) AS place"
    found = cells.ask(
        f"SELECT nth AS earlier FROM (SELECT nth, {place} FROM {cells}) AS said WHERE place > 1"
    )
    earlier = cells.session.load(found.schema, found.to_batches())
    those = f"(SELECT earlier FROM {earlier})"
    last = cells.view(f"SELECT * FROM {cells} WHERE nth NOT IN {those}", earlier)
    return last, tally(cells, f"nth IN {those}", "superseded")


def _with_gold(cells: Relation, canonical: Relation, columns: Columns) -> Relation:
    """The rows with the gold answers to their items. An item with several has no right label."""
    answered = canonical.view(
        "SELECT item AS gold_item, CASE WHEN COUNT(DISTINCT label) = 1 THEN MIN(label) END AS "
        f"right_label FROM {canonical} WHERE kind = 'gold' AND item IS NOT NULL GROUP BY item"
    )
    asked = {"gold": "gold_item IS NOT NULL", "gold_label": "right_label"}
    made = ", ".join(
        f"{sql} AS {name}" for name, sql in asked.items() if getattr(columns, name) == GOLD
    )
    return cells.view(
        f"SELECT {cells}.*, {made} FROM {cells} LEFT JOIN {answered} ON item = gold_item", answered
    )


def _refuse_unknown(gathered: Gathered, columns: Columns, rules: Rules, source: str) -> None:
    """Refuse fields that no item has, and fields that are one column for an engine."""
    named = _fields_of(columns)
    said = [value for name, value in columns.named.items() if name in named]
    of_rules = dict.fromkeys((*rules.fields, *columns.models.values()))
    there = {*gathered.fields, *CANONICAL, GOLD}
    absent = [name for name in (*said, *of_rules) if name not in there]
    if absent:
        raise RatingsError(
            f"{source}: found no {called('field', absent)} among {listed(gathered.fields, 20)}; "
            "expected every field that you name. Correct the names."
        )
    alike = Counter(name.lower() for name in of_rules)
    twice = [name for name in of_rules if alike[name.lower()] > 1]
    if twice:
        raise RatingsError(
            f"{source}: found {called('field', twice)}, which differ in capital letters only; "
            "expected rules that read one of them. Rename the other."
        )


def _refuse_repeated(cells: Relation, source: str) -> None:
    """Refuse a record that is there twice."""
    if not _may_repeat(cells, ["record"]):
        return
    placed = "ROW_NUMBER() OVER (PARTITION BY record ORDER BY nth) AS place"
    twice = _texts(
        cells,
        f"SELECT record FROM (SELECT record, nth, {placed} FROM {cells}) AS said "
        "WHERE place = 2 ORDER BY nth",
    )
    if twice:
        raise RatingsError(
            f"{source}: found record {twice[0]!r} more than once "
            f"({counted(len(twice), 'such record')} in all); expected each once. Export "
            "again, or join the files without the repetition."
        )


def _refuse_mixed_zones(cells: Relation, source: str) -> None:
    """Refuse times of which some have a time zone and some have none."""
    zoned = "created LIKE '%Z'"
    bare = cells.ask(
        f"SELECT record, created FROM {cells} WHERE NOT {zoned} ORDER BY nth LIMIT 1"
    ).to_pylist()
    if bare and _texts(cells, f"SELECT 1 FROM {cells} WHERE {zoned} LIMIT 1"):
        raise RatingsError(
            f"{source}: {bare[0]['record']}: found time {bare[0]['created']!r} without a time "
            "zone, and others have one; expected one of the two in all records. Add the zone."
        )


def _may_repeat(cells: Relation, columns: Iterable[str]) -> bool:
    """False if no two rows are alike in some columns. A number a row takes less than a group."""
    number = cells.session.hashed(*columns)
    found = np.sort(cells.ask(f"SELECT {number} AS number FROM {cells}")["number"].to_numpy())
    return bool((found[1:] == found[:-1]).any())


def _texts(cells: Relation, sql: str) -> list[Any]:
    """The only column of an answer."""
    (column,) = cells.ask(sql).columns
    return list(column.to_pylist())


def _unlike(title: str, export: Export, found: str) -> RatingsError:
    return RatingsError(
        f"{export.at or export.name}: found {found}; expected a record as {title} writes it. "
        "Export again, and rename no field."
    )


def _refuse_wide(layout: Layout, source: Source) -> None:
    if layout == "wide":
        raise ProjectError(
            f"layout: found wide for {source}, the export of a tool; expected long. "
            "Leave the layout out."
        )
