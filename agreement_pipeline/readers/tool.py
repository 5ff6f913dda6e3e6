"""A labelling tool's export as a reader: one function that finds the submissions is enough."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from agreement_pipeline.engine import Session, duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import cells_of_frame, coded
from agreement_pipeline.readers.as_frame import frame_of
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.drawn import Draws, Numbered, draws_of
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.frame_rules import kept, linked, stratified, tally, with_models
from agreement_pipeline.readers.gathering import ZONED, plain, texts_of_times
from agreement_pipeline.ratings.limits import LIMITS, Limits
from agreement_pipeline.readers.registry import (
    MarkedRows,
    Reader,
    Rows,
    Source,
    reader_of,
    register,
)
from agreement_pipeline.readers.rules import FIELD, RULES, LeftOut, Rules
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tools import (
    CANONICAL,
    TIMES,
    Gathered,
    counted,
    fields_of,
    gather,
    latest,
    question_of,
    refuse_mixed_zones,
    refuse_nameless,
    refuse_repeated,
    refuse_unknown,
)
from agreement_pipeline.text import listed

GOLD = "gold"
WITHIN = ("status", "kind", "created", "updated", "record", *(ZONED + name for name in TIMES))
"""What is no longer needed of a rating."""
NEEDED = ("item", "rater", "label", "status", "kind", "created", "updated", "record")
"""What of `CANONICAL` is read always."""


@dataclass(frozen=True, eq=False)
class _FrameRows:
    """The ratings of an export as a frame. `ending` is what stands at the end of times."""

    frame: pd.DataFrame
    columns: dict[str, str]
    source: str
    classifiers: tuple[str, ...]
    left_out: LeftOut
    ending: str | None

    def loaded(self, session: Session | None) -> Rows:
        """The rows in a session."""
        frame = self.frame
        if self.ending is not None:
            frame = frame.assign(timestamp=texts_of_times(frame["timestamp"], self.ending))
        told = frame.reset_index()
        cells = (session or duckdb_session()).load(*cells_of_frame(told))
        return Rows(cells, self.columns, self.source, self.classifiers, self.left_out)


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
        named = fields_of(columns)
        wanted = (*named.values(), *rules.fields, *columns.models.values())
        gathered = self._gathered(path, question_of(columns, self.question), wanted, limits)
        said = [value for name, value in columns.named.items() if name in named]
        asked = (*said, *rules.fields, *columns.models.values())
        refuse_unknown(asked, gathered, (*CANONICAL, GOLD), path.name)
        return _rated(gathered, named, columns, rules, path.name).loaded(session)

    def marked(
        self, path: Path, kind: str, columns: Columns, limits: Limits, rules: Rules
    ) -> MarkedRows:
        """The label objects of one question. All rules for submissions hold for them too."""
        draws = draws_of(self.submissions, self.draws)
        numbered = Numbered(draws, kind, columns.text or "text")
        alike = replace(self, submissions=numbered, omits_none=False)
        rows = alike.rows(path, columns, "long", limits, rules)
        return MarkedRows(
            rows, lambda some: numbered.marked(frame_of(some), some.classifiers, some.source)
        )

    def rounds(
        self,
        path: Path,
        columns: Columns = COLUMNS,
        limits: Limits = LIMITS,
    ) -> tuple[str, ...]:
        """The rounds of an export, sorted. No answer is read."""
        name = columns.round or "round"
        bare = replace(self, submissions=lambda export: map(_bare, self.submissions(export)))
        frame = bare._gathered(path, None, (name,), limits).frame
        rounds, absent = frame[FIELD + name], frame["record"][frame[FIELD + name].isna()]
        if len(absent):
            raise RatingsError(
                f"{path.name}: {absent.iloc[0]}, field {name!r}: found no round; expected one of "
                "every item. Fill it in, or name the field that holds it."
            )
        return tuple(sorted(rounds.unique()))

    def _gathered(
        self, path: Path, question: str | None, wanted: Iterable[str], limits: Limits
    ) -> Gathered:
        submissions = self.checked(Export(path))
        names = dict.fromkeys(wanted)
        always = {*NEEDED, *({"assisted"} & self.shows)}
        own = [name for name in CANONICAL if name in always or name in names]
        found = gather(submissions, question, names, path.name, limits, self.omits_none, own)
        refuse_repeated(found.frame, path.name)
        refuse_mixed_zones(found.frame, path.name)
        return found


def answers(path: Path, question: str | None = None, fields: Iterable[str] = ()) -> pd.DataFrame:
    """Every submission of a tool's export with its answer to one question. Nothing is left out.

    Raises
    ------
    RatingsError
        The export is broken, or is a table of ratings.
    """
    reader = reader_of(path)
    if reader.submissions is None:
        raise RatingsError(
            f"{path.name}: found a table of ratings; expected the export of a tool. "
            "Read it with read()."
        )
    submissions = reader.submissions(Export(path))
    found = gather(submissions, question, tuple(fields), path.name, LIMITS, reader.omits_none)
    return plain(found.frame).rename(columns=lambda name: name.removeprefix(FIELD))


def _bare(submission: Submission) -> Submission:
    """A submission without its answers."""
    return replace(submission, values={})


def _rated(
    gathered: Gathered, named: Mapping[str, str], columns: Columns, rules: Rules, source: str
) -> "_FrameRows":
    frame = _canonical(gathered, named, rules)
    answers_of_gold = frame[(frame["kind"] == "gold").to_numpy()]
    gold = coded(answers_of_gold["item"]).texts
    frame, by_rule = kept(frame, rules, source)
    frame, by_kind = counted(frame, rules.rejected)
    models = _models(frame, source)
    refuse_nameless(frame[(frame["kind"] == "human").to_numpy()], source)
    keys = [name for name in ("round", "item", "rater") if name in frame]
    is_last = latest(frame, keys)
    earlier = tally(frame[~is_last], "superseded")
    last = frame if is_last.all() else frame[is_last]
    if columns.gold == GOLD and GOLD not in gathered.fields:
        last = last.assign(gold=last["item"].isin(gold))
    if columns.gold_label == GOLD and GOLD not in gathered.fields:
        last = last.assign(gold_label=last["item"].map(_right_labels(answers_of_gold)))
    rated = with_models(linked(last, rules, source), _fields_of_models(columns))
    rated = stratified(rated, rules)
    if "confidence" not in named and "confidence" in rated:
        rated = rated.drop(columns="confidence")
    names = {"timestamp": "created", **named, "label": columns.label}
    ending = _ending(rated)
    rated = rated[[name for name in rated if name not in WITHIN]]
    return _FrameRows(
        rated,
        {str(name): names.get(str(name), str(name)) for name in rated},
        source,
        tuple(sorted({*models, *columns.models})),
        by_rule + by_kind + earlier,
        ending=ending,
    )


def _canonical(gathered: Gathered, named: Mapping[str, str], rules: Rules) -> pd.DataFrame:
    """The submissions under canonical names. What a rule reads keeps a name of its own."""
    frame = gathered.frame.rename_axis("row")
    frame["timestamp"] = frame["created"]
    for name, of in named.items():
        if of in gathered.fields:
            frame[name] = frame[FIELD + of]
        elif of in CANONICAL:
            frame[name] = frame[of] if name == "timestamp" else _as_told(frame, of)
    for name in rules.fields:
        if name not in gathered.fields:
            frame[FIELD + name] = _as_told(frame, name)
    if "assisted" in frame and "assisted" not in named:
        frame["assisted"] = frame["assisted"].astype("boolean")
    frame.index = pd.CategoricalIndex(frame["record"].array, name="row")
    return frame.drop(columns="timestamp") if frame["timestamp"].isna().all() else frame


def _as_told(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column of `CANONICAL` as the export tells it: times are texts."""
    return plain(frame[[name, ZONED + name]])[name] if name in TIMES else frame[name]


def _ending(frame: pd.DataFrame) -> str | None:
    """The ending of times that shall be texts. None if they are no times."""
    if "timestamp" not in frame or frame["timestamp"].dtype.kind != "M":
        return None
    return "Z" if frame[ZONED + "created"].any() else ""


def _right_labels(gold: pd.DataFrame) -> "pd.Series[str]":
    """The right label of each gold item. None of an item with several: one cannot be told."""
    known = gold[["item", "label"]].dropna().drop_duplicates()
    return known[~known["item"].duplicated(keep=False)].set_index("item")["label"]


def _models(frame: pd.DataFrame, source: str) -> tuple[str, ...]:
    models, people = (set(_raters_of(frame, kind)) for kind in ("model", "human"))
    both = sorted(models & people)
    if both:
        raise RatingsError(
            f"{source}: found {listed(both)} as a rater and as a model; expected different names, "
            "since a model is compared with the raters. Rename the model."
        )
    return tuple(models)


def _raters_of(frame: pd.DataFrame, kind: str) -> pd.Index:
    return coded(frame["rater"][(frame["kind"] == kind).to_numpy()]).texts


def _fields_of_models(columns: Columns) -> dict[str, str]:
    return {name: FIELD + of for name, of in columns.models.items()}


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
