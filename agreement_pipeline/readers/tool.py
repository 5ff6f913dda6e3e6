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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import LIMITS, STRATUM, category_text
from agreement_pipeline.readers.columns import COLUMNS, Columns
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.registry import Asked, Reader, Source, reader_of
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import FIELD, Rejected, arranged, kept
from agreement_pipeline.readers.submissions import (
    CANONICAL,
    UNKNOWN,
    Drawn,
    Gathered,
    Submission,
)
from agreement_pipeline.text import called, counted, listed
from agreement_pipeline.units import ChosenSet, Rubric

if TYPE_CHECKING:
    import pandas as pd

GOLD = "gold"
OF_ITEMS = ("round", "text", "cluster")
OWN = ("item", "rater")
NEEDED = ("item", "rater", "label", "status", "kind", "created", "updated", "record")
"""What of `CANONICAL` is read always."""
Finds = Callable[..., Iterator[Submission]]
"""Finds the submissions of an export. Of a kind of label objects, if it has kinds."""


@dataclass(frozen=True)
class Tool(Reader):
    """The export of a labelling tool.

    Parameters
    ----------
    name, title, recognises, shows, needs
        As in `Reader`.
    kinds
        As in `Reader`. `finds` then takes a kind too, and answers are `Drawn`. Empty if the
        format's objects are not read.
    finds
        Finds the submissions of an export.
    omits_none
        True if the export writes nothing where a rater ticked nothing.
    question
        The name of a question, from the name of its column.
    """

    finds: Finds
    omits_none: bool = False
    question: Callable[[str], str] = str

    @property
    def submissions(self) -> Finds:
        """What finds all submissions. A record that is not as the tool writes it is refused."""
        return self._checked

    def _checked(self, export: Export) -> Iterator[Submission]:
        try:
            yield from self.finds(export)
        except RatingsError:
            raise
        except KeyError as error:
            raise self._unlike(export, f"no {error.args[0]!r}") from error
        except (TypeError, AttributeError, ValueError, IndexError) as error:
            raise self._unlike(export, f"a value of another kind ({error})") from error

    def _unlike(self, export: Export, found: str) -> RatingsError:
        return RatingsError(
            f"{export.at or export.name}: found {found}; expected a record as {self.title} writes "
            "it. Export again, and rename no field."
        )

    def rows(self, source: Source, asked: Asked) -> Rows:
        """The ratings of one question."""
        columns, rules = asked.columns, asked.rules
        if asked.layout == "wide":
            raise ProjectError(
                f"layout: found wide for {source}, the export of a tool; expected long. "
                "Leave the layout out."
            )
        named = _fields_of(columns)
        others = dict.fromkeys((*rules.fields, *columns.models.values()))
        question = None if columns.label == COLUMNS.label else self.question(columns.label)
        found = self._gathered(Path(str(source)), question, (*named.values(), *others), asked)
        said = [value for name, value in columns.named.items() if name in named]
        _refuse_unknown(found, said, list(others))
        return _rated(found, named, others, asked)

    def drawn(self, path: Path, kind: str, asked: Asked) -> tuple[Rows, list[Drawn]]:
        """The label objects of one question. All rules for submissions hold for them too.

        The label of each row is the number of what is drawn, after a `#`. Who submitted nothing for
        a question drew nothing there. But a model is asked only what it answered.
        """
        numbered: list[Drawn] = []
        text = asked.columns.text or "text"

        def number(submission: Submission, question: str) -> str:
            drawn = submission.values.get(question, Drawn())
            said = submission.fields.get(text)
            if kind == "spans" and not drawn.extent and isinstance(said, str):
                drawn = replace(drawn, extent=(len(said),))
            numbered.append(drawn)
            return f"#{len(numbered) - 1}"

        def finds(export: Export) -> Iterator[Submission]:
            found = (name for each in self._objects(export, kind) for name in each.values)
            questions = dict.fromkeys(found) or {kind: None}
            for each in self._objects(export, kind):
                asked_of = each.values if each.kind == "model" else questions
                yield replace(each, values={name: number(each, name) for name in asked_of})

        return replace(self, finds=finds, omits_none=False).rows(path, asked), numbered

    def _objects(self, export: Export, kind: str) -> Iterator[Submission]:
        """The submissions with objects as answers. Sets and rubrics are in ordinary answers."""
        if kind == "sets":
            yield from (replace(each, values=_sets(each)) for each in self.finds(export))
        elif kind == "rubrics":
            yield from (replace(each, values=_rubric(each)) for each in self.finds(export))
        elif self.kinds:
            yield from self.finds(export, kind)
        else:
            raise RatingsError(
                f"{export.name}: found a format whose {kind} are not read; expected one of those "
                "that docs/guide/units.md lists. Export the objects in one of them."
            )

    def rounds(self, path: Path, asked: Asked) -> tuple[str, ...]:
        """The rounds of an export, sorted. No answer is read."""
        name = asked.columns.round or "round"

        def bare(export: Export) -> Iterator[Submission]:
            return (replace(each, values={}) for each in self.finds(export))

        found = replace(self, finds=bare)._gathered(path, None, (name,), asked)
        rows, said = found.rows, found.columns[name]
        if absent := rows.values(
            f"SELECT record FROM {rows} WHERE {said} IS NULL ORDER BY nth LIMIT 1"
        ):
            raise RatingsError(
                f"{path.name}: {absent[0]}, field {name!r}: found no round; expected one of "
                "every item. Fill it in, or name the field that holds it."
            )
        return tuple(rows.distinct(said))

    def _gathered(
        self, path: Path, question: str | None, wanted: Iterable[str], asked: Asked
    ) -> Gathered:
        names = {*NEEDED, *wanted, *({"assisted"} & self.shows)}
        found = Gathered(
            self._checked(Export(path)),
            question,
            wanted,
            path.name,
            asked.limits,
            asked.session,
            omits_none=self.omits_none,
            own=[name for name in CANONICAL if name in names],
        )
        _refuse_repeated(found.rows)
        _refuse_mixed_zones(found.rows)
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
    if not isinstance(reader, Tool):
        raise RatingsError(
            f"{path.name}: found a table of ratings; expected the export of a tool. "
            "Read it with read()."
        )
    found = Gathered(
        reader.submissions(Export(path)),
        question,
        fields,
        path.name,
        LIMITS,
        duckdb_session(),
        omits_none=reader.omits_none,
    )
    names = ", ".join((*CANONICAL, *found.columns.values()))
    table = found.rows.relation.ask(f"SELECT {names} FROM {found.rows} ORDER BY nth")
    frame: pd.DataFrame = in_pandas(table)
    for name in ("seconds", "confidence", "assisted"):
        frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame.set_axis([*CANONICAL, *found.columns], axis="columns")


def _sets(submission: Submission) -> dict[str, Drawn]:
    return {
        question: Drawn((ChosenSet(frozenset(map(category_text, said)), submission.record),))
        for question, said in submission.values.items()
        if isinstance(said, tuple | frozenset)
    }


def _rubric(submission: Submission) -> dict[str, Drawn]:
    """All plain answers together, under one name."""
    scores = {
        question: category_text(said)
        for question, said in submission.values.items()
        if isinstance(said, str | int | float)
    }
    return {"rubrics": Drawn((Rubric(scores, submission.record),))} if scores else {}


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
    gathered: Gathered, named: Mapping[str, str], others: Iterable[str], asked: Asked
) -> Rows:
    """The ratings among the submissions, under canonical names."""
    columns, rules = asked.columns, asked.rules
    submitted = _canonical(gathered, named, others)
    ratings = _ratings_in(kept(submitted, rules), rules.rejected)
    ratings = _latest(replace(ratings, classifiers=_models(ratings)))
    if GOLD in (columns.gold, columns.gold_label) and GOLD not in gathered.fields:
        ratings = _with_gold(ratings, submitted, columns)
    rated = arranged(ratings, rules, columns.models)
    names = [
        name
        for name in rated.names
        if name in (*OWN, "label", "timestamp", "assisted", "occurrence", *named)
        or name.startswith(STRATUM)
    ]
    told = {"timestamp": "created", **named, "label": columns.label}
    found = rated.view(f"SELECT {rated.with_columns({}, (*names, 'row', 'nth'))} FROM {rated}")
    return replace(found, columns={name: told.get(name, name) for name in names})


def _canonical(gathered: Gathered, named: Mapping[str, str], others: Iterable[str]) -> Rows:
    """The submissions under canonical names. What a rule reads keeps a name of its own."""
    rows = gathered.rows
    made = {name: name for name in (*NEEDED, "nth") if name != "record"}
    made |= {"row": "record", "timestamp": "created"}
    if "assisted" in rows.names:
        made["assisted"] = "assisted"
    for name, of in named.items():
        if (told := gathered.told(of)) is not None:
            made[name] = of if name == of and name not in gathered.fields else told
    if not rows.any(f"{made['timestamp']} IS NOT NULL"):
        del made["timestamp"]
    made |= {FIELD + name: told for name in others if (told := gathered.told(name)) is not None}
    return rows.view(f"SELECT {rows.with_columns(made, made)} FROM {rows}")


def _ratings_in(rows: Rows, rejected: Rejected) -> Rows:
    """The rows that are ratings. The others are counted, by the first reason that holds."""
    status = ("skipped", "draft", *(["rejected"] if rejected == "left out" else ()))
    tests = {
        "reviewer": "kind = 'reviewer'",
        "gold": "kind = 'gold'",
        **{name: f"status = '{name}'" for name in status},
        "no answer": "label IS NULL",
    }
    for reason, test in tests.items():
        rows = rows.without(test, reason)
    return rows


def _models(rows: Rows) -> tuple[str, ...]:
    """The raters that are models. People have names of their own, and one of them is known."""
    models, people = (
        {*rows.values(f"SELECT DISTINCT rater FROM {rows} WHERE kind = '{kind}'")} - {None}
        for kind in ("model", "human")
    )
    if both := sorted(models & people):
        raise RatingsError(
            f"{rows.source}: found {listed(both)} as a rater and as a model; expected different "
            "names, since a model is compared with the raters. Rename the model."
        )
    if people and all(name.startswith(UNKNOWN) for name in people):
        row = rows.quoted("row")
        (first,) = rows.values(
            f"SELECT {row} FROM {rows} WHERE kind = 'human' ORDER BY nth LIMIT 1"
        )
        raise RatingsError(
            f"{rows.source}: {first}: found no rater, and none in any other record; expected who "
            "gave each answer, since agreement is between raters. Export again with the raters, "
            "and rename no field."
        )
    return tuple(sorted(models))


def _latest(rows: Rows) -> Rows:
    """The last submission of each rater for each item. Those that came before are counted."""
    keys = [rows.quoted(name) for name in ("round", "item", "rater") if name in rows.names]
    if not _may_repeat(rows, keys):
        return rows
    order = "COALESCE(updated, created) DESC NULLS LAST, nth DESC"
    place = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY {order}) AS place"
    found = rows.relation.ask(
        f"SELECT nth AS earlier FROM (SELECT nth, {place} FROM {rows}) AS said WHERE place > 1"
    )
    earlier = rows.relation.session.load(found.schema, found.to_batches())
    return rows.without(f"nth IN (SELECT earlier FROM {earlier})", "superseded", earlier)


def _with_gold(rows: Rows, submitted: Rows, columns: Columns) -> Rows:
    """The rows with the gold answers to their items. An item with several has no right label."""
    answered = submitted.relation.view(
        "SELECT item AS gold_item, CASE WHEN COUNT(DISTINCT label) = 1 THEN MIN(label) END AS "
        f"right_label FROM {submitted} WHERE kind = 'gold' AND item IS NOT NULL GROUP BY item"
    )
    asked = {"gold": "gold_item IS NOT NULL", "gold_label": "right_label"}
    made = ", ".join(
        f"{sql} AS {name}" for name, sql in asked.items() if getattr(columns, name) == GOLD
    )
    return rows.view(
        f"SELECT {rows}.*, {made} FROM {rows} LEFT JOIN {answered} ON item = gold_item", answered
    )


def _refuse_unknown(gathered: Gathered, said: list[str], others: list[str]) -> None:
    """Refuse fields that no item has, and fields that are one column for an engine."""
    source = gathered.rows.source
    there = {*gathered.fields, *CANONICAL, GOLD}
    absent = [name for name in (*said, *others) if name not in there]
    if absent:
        raise RatingsError(
            f"{source}: found no {called('field', absent)} among {listed(gathered.fields, 20)}; "
            "expected every field that you name. Correct the names."
        )
    alike = Counter(name.lower() for name in others)
    twice = [name for name in others if alike[name.lower()] > 1]
    if twice:
        raise RatingsError(
            f"{source}: found {called('field', twice)}, which differ in capital letters only; "
            "expected rules that read one of them. Rename the other."
        )


def _refuse_repeated(rows: Rows) -> None:
    """Refuse a record that is there twice."""
    if not _may_repeat(rows, ["record"]):
        return
    placed = "ROW_NUMBER() OVER (PARTITION BY record ORDER BY nth) AS place"
    twice = rows.values(
        f"SELECT record FROM (SELECT record, nth, {placed} FROM {rows}) AS said "
        "WHERE place = 2 ORDER BY nth"
    )
    if twice:
        raise RatingsError(
            f"{rows.source}: found record {twice[0]!r} more than once "
            f"({counted(len(twice), 'such record')} in all); expected each once. Export "
            "again, or join the files without the repetition."
        )


def _refuse_mixed_zones(rows: Rows) -> None:
    """Refuse times of which some have a time zone and some have none."""
    zoned = "created LIKE '%Z'"
    bare = rows.relation.ask(
        f"SELECT record, created FROM {rows} WHERE NOT {zoned} ORDER BY nth LIMIT 1"
    ).to_pylist()
    if bare and rows.any(zoned):
        raise RatingsError(
            f"{rows.source}: {bare[0]['record']}: found time {bare[0]['created']!r} without a time "
            "zone, and others have one; expected one of the two in all records. Add the zone."
        )


def _may_repeat(rows: Rows, columns: Iterable[str]) -> bool:
    """False if no two rows are alike in some columns. A number a row takes less than a group."""
    number = rows.relation.session.hashed(*columns)
    found = np.sort(
        rows.relation.ask(f"SELECT {number} AS number FROM {rows}")["number"].to_numpy()
    )
    return bool((found[1:] == found[:-1]).any())
