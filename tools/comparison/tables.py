"""Random rounds: who labelled what how, and what else their columns say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from tools.comparison.cases import Reading

Rng = np.random.Generator

LEVELS = ("nominal", "ordinal", "interval", "ratio", "multivariate interval")
SIZES = (3, 5, 12, 31, 40, 60, 90, 150, 300)
SHARES = (0.08, 0.08, 0.15, 0.17, 0.16, 0.14, 0.1, 0.07, 0.05)
LABELS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "nominal": (
        ("no", "maybe", "yes"),
        ("safe", "unsafe"),
        ("hate speech", "not hate", "un sure"),
        ("é", "e\u0301", "日本語"),
        ("1", "2", "3"),
        ("1", "1.0", "2"),
        ("01", "1", "2"),
        ("-1", "0", "+1"),
        (1, 2, 3),
        (1.0, 2.5, 3.0),
        (2**53, 2**53 + 1, -(2**63)),
        (True, False),
        ("joy", "joy|anger", "anger|joy", "|"),
        ("a,b", 'say "x"', "it's"),
        ("NA", "null", "nan", "None"),
        ("Yes", "yes", "YES"),
        (" lead", "trail ", "\u00a0x"),
        ("new\nline", "tab\tx", "x;y"),
        ("a", "b", "c", "d", "e", "f", "g"),
    ),
    "ordinal": (
        (1, 2, 3, 4, 5),
        ("1", "2", "3", "4"),
        ("low", "mid", "high"),
        (0, 0.5, 1),
        ("1", "1.0", "2"),
        (-2, -1, 0, 1, 2),
    ),
    "interval": (
        (-3, -2, -1, 0, 1, 2, 3),
        (0.5, 1.0, 1.5),
        ("1", "1.0", "1e0", "2", "+3"),
        (10, 20, 40),
    ),
    "ratio": ((0, 1, 2, 5, 10), (0.25, 0.5, 1.0), ("1", "01", "3.0", "7")),
    "multivariate interval": (
        ("1|2", "2|2", "3|1", "2.5|1"),
        ("0|0|1", "1|0|0", "0|1|0"),
        ("1|2", "1.0|2", "3|4"),
    ),
}
NAMES = {
    "item": ("item", "post id", "Aufgabe", "ITEM"),
    "rater": ("rater", "annotator", "wer?", "coder.name"),
    "label": ("label", "Answer", "q1: label", "étiquette"),
}
RATERS = (
    ("ana", "ben", "chi", "dan", "eva", "fay"),
    ("1", "2", "3", "4", "5", "6"),
    ("Ana Müller", "O'Ben", "chi, jr", "d@x.org", "eva;", "日本"),
    ("r10", "r9", "R9", "r 9", "r-9", "r_9"),
)
ITEMS: tuple[Callable[[int], Any], ...] = (
    lambda at: f"i{at}",
    lambda at: f"{at:05}",
    lambda at: at + 1,
    lambda at: f"post {at}, é",
    lambda at: f"https://example.org/{at}?x=1#y",
)
AGREEMENT = (0.2, 0.6, 0.85, 0.95, 1.0)
TIMES = pd.date_range("2026-01-05", periods=4_000, freq="7min")


@dataclass(frozen=True)
class Table:
    """A random round, how it is read, and which policy judges it.

    Parameters
    ----------
    frame
        One row a rating, or one row an item if its layout is wide. Cells are Python's objects.
    reading, policy
        How it is read and judged.
    traits
        What is special about it, in words.
    """

    frame: pd.DataFrame
    reading: Reading
    policy: str = "standard"
    traits: tuple[str, ...] = ()

    def with_columns(self, trait: str, columns: dict[str, Any], **cells: Any) -> "Table":
        """The table with more columns, some of which are named as what they are."""
        reading = replace(self.reading, columns={**self.reading.columns, **columns})
        return replace(
            self, frame=self.frame.assign(**cells), reading=reading, traits=(*self.traits, trait)
        )

    def with_rules(self, **rules: Any) -> "Table":
        """The table, read by more rules."""
        both = {**self.reading.rules, **rules}
        return replace(self, reading=replace(self.reading, rules=both))

    def column(self, name: str) -> str:
        """What the column of an item, a rater or a label is called here."""
        return str(self.reading.columns.get(name, name))


def chosen(rng: Rng, choices: Sequence[Any], shares: Sequence[float] | None = None) -> Any:
    """One of some things, which need not be of one kind."""
    return choices[int(rng.choice(len(choices), p=shares))]


def random_table(rng: Rng, level: str, layout: str) -> Table:
    """A round on a level, in a layout, with a few other columns."""
    long = _long(rng, level)
    if layout == "long":
        for trait in rng.permutation(len(OF_LONG)).tolist():
            share, add = OF_LONG[trait]
            if rng.random() < share:
                long = add(rng, long)
        long = _of_items(rng, long)
        return replace(long, frame=_shuffled(rng, long.frame))
    return _of_items(rng, _wide(rng, long))


def plain_table(rng: Rng) -> Table:
    """A small sound round without anything odd, for mistakes to be put into it."""
    reading = Reading()
    items, raters = [f"i{at}" for at in range(8)], ["ana", "ben", "chi"]
    return Table(_labelled(rng, items, raters, ("no", "yes"), reading, 0.8, 0.0), reading)


def _long(rng: Rng, level: str) -> Table:
    labels = chosen(rng, LABELS[level])
    ordered_words = level == "ordinal" and isinstance(labels[0], str) and labels[0].isalpha()
    declared = ordered_words or (rng.random() < 0.4 and _may_be_declared(labels, level))
    categories = list(labels) if declared else None
    canonical = rng.random() < 0.5
    columns = {} if canonical else {name: str(chosen(rng, each)) for name, each in NAMES.items()}
    reading = Reading(columns=columns, categories=categories, level=level)
    n_raters = int(rng.integers(2, 7))
    raters = list(chosen(rng, RATERS)[:n_raters])
    item = chosen(rng, ITEMS)
    items = [item(at) for at in range(chosen(rng, SIZES, SHARES))]
    agreement, missing = chosen(rng, AGREEMENT), chosen(rng, (0.0, 0.0, 0.1, 0.4))
    frame = _labelled(rng, items, raters, labels, reading, agreement, missing)
    table = Table(frame, reading, traits=(f"labels {labels[0]!r}",))
    if level in ("interval", "ratio") and categories is None and rng.random() < 0.6:
        return _continuous(rng, table)
    return table


def _may_be_declared(labels: Sequence[Any], level: str) -> bool:
    """False if a scale cannot name the labels: vectors, truth values, or one in two spellings."""
    if level.startswith("multivariate") or isinstance(labels[0], bool):
        return False
    numeric = level in ("interval", "ratio")
    return len({_as_read(label, numeric) for label in labels}) == len(labels)


def _as_read(label: Any, numeric: bool) -> Any:
    """One label for all spellings of a number or of a set."""
    text = str(label)
    if not numeric and ("|" in text or text.startswith("0")):
        return tuple(sorted(text.split("|")))
    try:
        return float(text)
    except ValueError:
        return text


def _labelled(
    rng: Rng,
    items: Sequence[Any],
    raters: Sequence[str],
    labels: Sequence[Any],
    reading: Reading,
    agreement: float,
    missing: float,
) -> pd.DataFrame:
    """Labels of raters who follow the item or guess, some of them missing."""
    truth = rng.integers(len(labels), size=len(items))
    guess = rng.integers(len(labels), size=(len(items), len(raters)))
    follow = rng.random(guess.shape) < agreement
    code = np.where(follow, truth[:, None], guess)
    item, rater = np.nonzero(rng.random(guess.shape) >= missing)
    by_item, by_rater = item.tolist(), rater.tolist()
    columns = {name: reading.columns.get(name, name) for name in NAMES}
    return pd.DataFrame(
        {
            columns["item"]: pd.Series([items[at] for at in by_item], dtype=object),
            columns["rater"]: pd.Series([raters[at] for at in by_rater], dtype=object),
            columns["label"]: pd.Series(
                [labels[at] for at in code[item, rater]], index=range(len(item)), dtype=object
            ),
        }
    )


def _continuous(rng: Rng, table: Table) -> Table:
    """Numbers from a narrow or a wide range in place of labels."""
    n, item = len(table.frame), table.column("item")
    of_item = table.frame[item].map(hash_of).to_numpy() % 97 / 10.0
    numbers = of_item + rng.normal(scale=chosen(rng, (0.1, 1.0, 5.0)), size=n)
    if rng.random() < 0.3:
        numbers = numbers * 10.0 ** rng.integers(-6, 7, n)
    if rng.random() < 0.5:
        numbers = np.round(numbers, int(rng.integers(0, 3)))
    said = pd.Series(np.abs(numbers).tolist(), index=table.frame.index, dtype=object)
    return replace(
        table,
        frame=table.frame.assign(**{table.column("label"): said}),
        traits=(*table.traits, "open scale"),
    )


def hash_of(value: Any) -> int:
    """A number of a name that is the same in every process."""
    return sum(at * ord(sign) for at, sign in enumerate(str(value), 1))


def _wide(rng: Rng, long: Table) -> Table:
    """One column a rater. Columns of no rater stay out of the ratings."""
    item, rater, label = (long.column(name) for name in NAMES)
    said = long.frame.set_index([item, rater])[label].unstack()
    raters = [str(name) for name in said.columns]
    frame = said.reset_index()
    frame.columns = pd.Index([item, *raters])
    columns = {"raters": raters} if item == "item" else {"item": item, "raters": raters}
    classifiers = [raters[-1]] if len(raters) > 2 and rng.random() < 0.4 else []
    reading = replace(long.reading, layout="wide", columns=columns, classifiers=classifiers)
    return replace(
        long,
        frame=frame.assign(**{"settled label": "yes"}).astype(object),
        reading=reading,
        traits=(*long.traits, "wide"),
    )


def _again(rng: Rng, table: Table) -> Table:
    """Some items met again, numbered."""
    if "occurrence" in table.frame:
        return table
    n = len(table.frame)
    again = table.frame[rng.random(n) < 0.3]
    label = table.column("label")
    other = again[label].where(rng.random(len(again)) < 0.8, table.frame[label].iloc[0])
    both = pd.concat(
        [table.frame.assign(occurrence=1), again.assign(**{label: other}, occurrence=2)],
        ignore_index=True,
    )
    name = chosen(rng, ("occurrence", "replicate", "time met"))
    named = {"occurrence": name} if name == "time met" else {}
    return replace(table, frame=both.rename(columns={"occurrence": name})).with_columns(
        "met again", named
    )


def _confident(rng: Rng, table: Table) -> Table:
    sure = pd.Series(np.round(rng.random(len(table.frame)), 3), index=table.frame.index)
    cells = sure.astype(object).where(rng.random(len(sure)) < chosen(rng, (0.9, 1.0)), None)
    name = chosen(rng, ("confidence", "sure"))
    named = {"confidence": name} if name == "sure" else {}
    return table.with_columns("confidence", named, **{name: cells})


def _timed(rng: Rng, table: Table) -> Table:
    at = rng.choice(len(TIMES), len(table.frame), replace=len(table.frame) > len(TIMES))
    form = chosen(rng, ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "seconds"))
    moments = TIMES[at]
    if form == "seconds":
        cells: Any = (moments.astype("int64") // 10**9).tolist()
    else:
        cells = moments.strftime(form).tolist()
    return table.with_columns("timestamps", {}, timestamp=pd.Series(cells, table.frame.index))


def _assisted(rng: Rng, table: Table) -> Table:
    flags = np.where(rng.random(len(table.frame)) < 0.4, *chosen(rng, (("yes", "no"), ("1", "0"))))
    policy = chosen(rng, ("standard", "assisted"))
    found = table.with_columns("assisted", {"assisted": "suggested"}, suggested=flags)
    return replace(found, policy=policy)


def _classified(rng: Rng, table: Table) -> Table:
    """The last raters are models."""
    raters = sorted(set(table.frame[table.column("rater")]))
    models = raters[-int(rng.integers(1, 3)) :] if len(raters) > 3 else raters[-1:]
    if len(raters) < 3 or table.reading.columns.get("models"):
        return table
    reading = replace(table.reading, classifiers=[*map(str, models)])
    return replace(table, reading=reading, policy="parts", traits=(*table.traits, "classifiers"))


def _modelled(rng: Rng, table: Table) -> Table:
    """A model whose label for the item stands in a column of its own."""
    item, label = table.column("item"), table.column("label")
    first = table.frame.drop_duplicates(item).set_index(item)[label]
    cells = table.frame[item].map(first)
    return table.with_columns("models", {"models": {"gpt": "by gpt"}}, **{"by gpt": cells})


def _rounds(rng: Rng, table: Table) -> Table:
    """Some rows are of another round, which may or may not be read."""
    item = table.column("item")
    late = table.frame[item].map(hash_of) % 5 == 0
    found = table.with_columns("rounds", {}, round=np.where(late, "w2", "w1"))
    if rng.random() >= 0.5:
        return found.with_rules(all_rounds=True)
    return replace(found, reading=replace(found.reading, round_name=chosen(rng, ("w1", "w2"))))


def _where(rng: Rng, table: Table) -> Table:
    """Only rows with some status count."""
    status = np.where(rng.random(len(table.frame)) < 0.9, "done", "draft")
    return table.with_rules(where={"status": ["done"]}).with_columns("where", {}, status=status)


def _excluded(rng: Rng, table: Table) -> Table:
    raters = [*map(str, dict.fromkeys(table.frame[table.column("rater")]))]
    if len(raters) < 3 or table.reading.classifiers:
        return table
    return table.with_rules(exclude_raters=[raters[0]]).with_columns("a rater left out", {})


def _linked(rng: Rng, table: Table) -> Table:
    """Some items are repetitions of the first ones, under names of their own."""
    if "met again" in table.traits:
        return table
    item = table.column("item")
    names = list(dict.fromkeys(table.frame[item]))
    n = max(1, len(names) // 4)
    first = dict(zip(names[-n:], names[:n], strict=True)) if len(names) > 2 * n else {}
    cells = table.frame[item].map(lambda name: first.get(name, ""))
    return table.with_rules(replicate_of="repeats").with_columns("linked", {}, repeats=cells)


def _shared(rng: Rng, table: Table) -> Table:
    """Items with one text are one item."""
    if "met again" in table.traits or "linked" in table.traits:
        return table
    item = table.column("item")
    place = {name: at for at, name in enumerate(dict.fromkeys(table.frame[item]))}
    n = max(2, int(0.8 * len(place)))
    cells = table.frame[item].map(lambda name: f"text {place[name] % n}")
    return table.with_rules(replicates_share="content").with_columns("shared", {}, content=cells)


def _of_items(rng: Rng, table: Table) -> Table:
    """Clusters, gold items and their right labels, strata and texts."""
    item = table.column("item")
    number = table.frame[item].map(hash_of)
    if {"linked", "shared"} & {*table.traits} and rng.random() < 0.9:
        return table
    if rng.random() < 0.25:
        name = chosen(rng, ("cluster", "doc"))
        named = {} if name == "cluster" else {"cluster": name}
        table = table.with_columns("clusters", named, **{name: "d" + (number % 7).astype(str)})
    if rng.random() < 0.2:
        yes, no = chosen(rng, (("yes", "no"), ("true", ""), ("1", "0"), ("Yes ", "No")))
        table = table.with_columns("gold", {"gold": "known"}, known=np.where(number % 6, no, yes))
        countable = table.reading.categories is not None
        if (countable or table.reading.level in LEVELS[:2]) and rng.random() < 0.6:
            table = _right(table, number % 6 == 0)
    if rng.random() < 0.25:
        table = replace(table.with_rules(strata=["language"]), policy="strata")
        language = (number % 3).map({0: "de", 1: "en", 2: "fr CH"})
        table = table.with_columns("strata", {}, language=language)
    if rng.random() < 0.2:
        table = table.with_columns("texts", {}, text="What is " + table.frame[item].astype(str))
    return table


def _right(table: Table, known: Any) -> Table:
    """The right labels of gold items: what the first rater said."""
    item = table.column("item")
    if table.reading.layout == "wide":
        first = table.frame[table.reading.columns["raters"][0]]
    else:
        said = table.frame.drop_duplicates(item).set_index(item)[table.column("label")]
        first = table.frame[item].map(said)
    cells = first.astype(object).where(known, None)
    return table.with_columns("right labels", {"gold_label": "truth"}, truth=cells)


def _shuffled(rng: Rng, frame: pd.DataFrame) -> pd.DataFrame:
    if rng.random() < 0.5:
        return frame.reset_index(drop=True)
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


OF_LONG: tuple[tuple[float, Callable[[Rng, Table], Table]], ...] = (
    (0.2, _again),
    (0.15, _confident),
    (0.15, _timed),
    (0.1, _assisted),
    (0.2, _classified),
    (0.05, _modelled),
    (0.08, _rounds),
    (0.06, _where),
    (0.05, _excluded),
    (0.06, _linked),
    (0.04, _shared),
)
"""What a long table may have beside its three columns, with the share of tables that do."""
