"""What a team says of one project, in its file, and what else the folder configs/ holds for it."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.policy import BUNDLED, AnyWaiver, load_waiver
from agreement_pipeline.ratings import Deliveries, Scale, Trains
from agreement_pipeline.readers import (
    READERS,
    Bounds,
    Columns,
    Duplicates,
    EngineName,
    Layout,
    Limits,
    PredictionsFile,
    Rejected,
    RoundPeriods,
    Rules,
)
from agreement_pipeline.release import Publication
from agreement_pipeline.sources import AdjudicateIn, RoundsFrom
from agreement_pipeline.text import counted, listed
from agreement_pipeline.units import UnitSettings
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings

NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
IN_CONFIGS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PATH_CHARACTER = r"[^\x00-\x1f\x7f\ud800-\udfff/]"
PLACE = re.compile(rf"(?=.{{1,2000}}\Z){PATH_CHARACTER}{{0,200}}(/{PATH_CHARACTER}{{0,200}})*")
NO_PLAIN_PATH = re.compile(r"~|[A-Za-z0-9+]+:/(?!/)")
E_MAIL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._%+-]*@[A-Za-z0-9.-]+\.[A-Za-z]{2,7}")
SERVED = re.compile(r"https?://[!-~]{1,2000}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
TEAM = re.compile(r"team:.+", re.DOTALL)


NOT_OF_READING = {
    "automation",
    "project",
    "inbox",
    "rounds_from",
    "policy",
    "description",
    "contract",
    "store",
    "schedule",
    "overdue_after_days",
    "adjudicated",
    "adjudicate_in",
    "pages",
    "pages_url",
    "images",
    "populations",
    "draw",
    "alerts_url_from",
    "alerts_form",
    "heartbeat_url_from",
    "settle_seconds",
    "owners",
    "engine",
    "memory_limit",
    "root",
    "certified_by",
    "release",
    "dataset",
    "trains",
}
"""These settings do not change what is read of a file. All others do, also later ones."""

SIZE = re.compile(r"\d{1,9}(\.\d{1,3})? ?[KMGT]i?B")
PLACES = ("inbox", "store", "root", "adjudicated", "pages", "images", "populations")

CHECKS_BY_SETTING: tuple[tuple[tuple[str, ...], Callable[[Any], object], str], ...] = (
    (
        ("project",),
        NAME.fullmatch,
        "a lower case letter, then letters, digits or underscores, 50 at most. Rename the project "
        "and its file.",
    ),
    (
        ("certified_by",),
        NAME.fullmatch,
        "the name of a project. Correct the name.",
    ),
    (
        ("policy", "contract"),
        IN_CONFIGS.fullmatch,
        "a name in configs/: letters, digits, dots, hyphens and underscores, 100 at most. Correct "
        "the name.",
    ),
    (
        ("inbox",),
        lambda place: "://" not in place or place.startswith("s3://"),
        "a folder, a file, or a URL such as s3://bucket/folder. Correct the inbox.",
    ),
    (
        PLACES,
        PLACE.fullmatch,
        "a path or a URL of signs that print, 200 at most between slashes and 2000 at most in all. "
        "Correct the path.",
    ),
    (
        PLACES,
        lambda place: not NO_PLAIN_PATH.match(place),
        "a path without ~, or a URL with two slashes, as s3://bucket/folder. Write the place in "
        "full.",
    ),
    (
        ("reader",),
        READERS.__contains__,
        f"one of {listed(sorted(READERS), 40)}. Correct the name, or leave the reader out.",
    ),
    (
        ("schedule",),
        lambda text: len(text.split()) == 5 or text in NICKNAMES,
        "a cron expression of five fields, as 0 6 * * 1, or a name for one, as @daily. Correct the "
        "schedule.",
    ),
    (
        ("overdue_after_days",),
        lambda days: 1 <= days <= 10_000,
        "a number from 1 to 10000. Correct the value.",
    ),
    (
        ("settle_seconds",),
        lambda seconds: 0 <= seconds <= 86_400,
        "a number from 0 to 86400. Correct the value.",
    ),
    (
        ("pages_url",),
        SERVED.fullmatch,
        "a URL that begins with http:// or https://, without spaces. Correct the URL.",
    ),
    (("draw",), lambda n: 2 <= n <= 10_000, "a number from 2 to 10000. Correct the value."),
    (("memory_limit",), SIZE.fullmatch, "a size such as 500MB or 4GB. Correct the size."),
)


@dataclass(frozen=True)
class _TruthValue:
    """Pydantic would read a truth value as the number 1 or 0."""

    value: bool

    def __repr__(self) -> str:
        return repr(self.value)


class ProjectSettings(BaseModel):
    """One annotation project: its inbox, its labels and the policy that judges its rounds.

    Attributes
    ----------
    project
        Its name: lower case letters, digits and underscores.
    inbox
        A folder with a file or a folder of files for each round, on a disk or in a bucket
        (s3://bucket/folder). Or a file that names the round of each row (`columns.round`).
    rounds_from
        Where rounds come from instead of an inbox: `asset`, the key of an asset of Dagster; or
        `query`, with `rounds` and `connection_from`; or `label_studio`, projects of a server.
    scale
        What the labels may be: `level`, and the list of `categories`, unless any number may be one.
    policy
        The name of a file in configs/policies, or of a bundled policy: standard, replicated,
        exploratory, classifier-standard or silver-standard.
    description
        What is labelled, and by whom. It stands above the rounds of the project.
    columns
        What the export calls its columns, such as `item: post_id`.
    layout
        long: a row for each rating. wide: a row for each item, and a column for each rater.
    classifiers
        Raters that are models. A round in which one of them rated nothing is refused.
    optional_classifiers
        Raters that are models, and that may rate nothing in a round.
    certified_by
        The project whose rounds of people certify the only classifier. Its labels then train, and
        people label a drawn part of each round. configs/classifiers/ says which classifier it is.
    reader
        The export's format. It is found by the content if omitted.
    where
        Fields, each with the list of values whose rows count, or with bounds (`from`, `before`) of
        numbers or times in UTC.
    rounds
        Which column tells the round of each row: `column`, and `every` if it holds times (day,
        week, month, quarter or year, in UTC). An item is in the round of its first time.
    exclude_raters
        Raters whose rows do not count.
    replicate_of
        The field that names the item which an item repeats.
    replicates_share
        The field that an item and those that repeat it share, such as the text.
    duplicates
        first or last: which row counts where several have one item and one rater. If omitted, the
        same label twice counts once, and different ones are refused.
    same_rater
        Lists of names that are one rater, who is called by the first of them.
    different_raters
        Lists of names that print alike and are different raters.
    rejected
        kept or left out: whether rejected work counts.
    requires
        What an export must show, or its round is held.
    all_rounds
        Read the rounds of a file as one.
    strata
        Fields of items that tell strata apart, such as the language.
    keep
        Fields that go with the items into a release, such as a source. No measure reads them.
    same_label
        Labels that mean the same, each group a list whose first label stands for all.
    missing
        Labels that say that nobody gave one, such as `n/a`. Blanks are missing anyway.
    units
        The kind of the label objects, and the rule that makes units of them. The scale is then
        that of the units. Labels are categories if omitted.
    predictions
        Of each model, the file with its label for each item: `file`, in which {round} stands for
        the name of the round, and the columns `item` and `label`.
    replicates
        within: raters meet an item again in the same round. across: the same items come back in
        later rounds.
    deliveries
        cumulative: each delivery also contains the earlier ones, so a round is what is new, or has
        new ratings since. independent: each delivery is a round of its own, even where items come
        back. If omitted, a delivery that repeats earlier items is judged whole, and held if they
        are over half of it.
    contract
        The name of a file in configs/contracts with a suite of Great Expectations, such as
        listings.json. It is asked of the delivery. `none`, or nothing, asks nothing, and each
        decision says so.
    store
        Where rounds, decisions and releases are kept: a folder, or a URL such as
        s3://bucket/folder.
    schedule
        When everything is measured again, as a cron expression. On Mondays after 6 if omitted, at a
        minute that the project's name decides, so that projects do not all start at once.
    overdue_after_days
        A round is overdue if none came for so many days.
    automation
        What starts runs. sensor: sensors that look at the inbox or the source. eager: conditions of
        Dagster's, for an upstream asset. stopped: nothing by itself, as for a branch deployment.
    release
        by_itself: all admitted rounds are released together whenever a round is admitted or
        withdrawn. by_hand: when somebody asks for it.
    dataset
        What releases say of the dataset: its `license`, such as CC-BY-4.0, `cite_as`, and what
        Croissant asks for responsible AI, such as `use_cases` and `limitations`.
    trains
        The label that trains: plurality, majority, median, mean, shares, one_rater or adjudicated.
        `{label: one_rater, overlap: random_sample}` also trains items with one label, if those with
        several are a random sample. If omitted, the plurality of categories or the mean of numbers.
    adjudicated
        A folder with the answers of adjudicators: a CSV file a round, with item, label and
        ratings_digest.
    adjudicate_in
        The server on which adjudicators answer: label_studio is the title of its projects, as
        adjudicate {round}. Disputed items of admitted rounds are put there, and answers are read.
    pages
        A folder. Each run writes the page of its round there, and index.html for all rounds.
    pages_url
        Where that folder is served. Assets then link to the pages.
    images
        A folder with the images that raters marked. Pages show small pictures of some.
    populations
        A folder with tables that a classifier labelled. The tasks for the panel are written into
        its folder tasks.
    draw
        How many items of each population are drawn for the panel.
    alerts_url_from
        The environment variable that holds the URL of a webhook. It gets a message when a round is
        held or broken, or is overdue. No messages if omitted.
    alerts_form
        plain: the facts as JSON. slack: what an incoming webhook of Slack takes.
    heartbeat_url_from
        The environment variable that holds the URL of a monitor, which gets a message every five
        minutes while the project's rounds can be looked at and its webhook takes messages. No
        heartbeat if omitted.
    settle_seconds
        A file is complete if it has not changed for so many seconds.
    owners
        E-mail addresses, or names of teams after `team:`.
    limits
        How large a table may be, and the names in it.
    engine
        Where deliveries are put and counted: duckdb, in the process, or spark. auto means duckdb.
        The ratings, digests and decisions are the same.
    memory_limit
        The most memory that DuckDB takes, such as 500MB. The rest goes to disk. Not for Spark.
    root
        The folder that relative paths start from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    project: str
    inbox: str | None = None
    rounds_from: RoundsFrom | None = Field(None, validate_default=True)
    scale: Scale
    policy: str
    description: str = ""
    columns: Columns = Columns()
    layout: Layout = "long"
    classifiers: tuple[str, ...] = ()
    optional_classifiers: tuple[str, ...] = ()
    certified_by: str | None = None
    reader: str | None = None
    where: dict[str, tuple[str, ...] | Bounds] = {}
    rounds: RoundPeriods | None = None
    exclude_raters: tuple[str, ...] = ()
    replicate_of: str | None = None
    replicates_share: str | None = None
    duplicates: Duplicates | None = None
    same_rater: tuple[tuple[str, ...], ...] = ()
    different_raters: tuple[tuple[str, ...], ...] = ()
    rejected: Rejected = "kept"
    requires: tuple[str, ...] | None = None
    all_rounds: bool = False
    strata: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    same_label: tuple[tuple[str, ...], ...] = ()
    units: UnitSettings | None = None
    predictions: dict[str, PredictionsFile] = {}
    replicates: Literal["within", "across"] = "within"
    deliveries: Deliveries | None = None
    contract: str | None = None
    store: str | None = None
    schedule: str | None = None
    overdue_after_days: int = 8
    automation: Literal["sensor", "eager", "stopped"] = "sensor"
    release: Literal["by_itself", "by_hand"] = "by_itself"
    dataset: Publication = Publication()
    trains: Trains | None = None
    adjudicated: str | None = None
    adjudicate_in: AdjudicateIn | None = None
    pages: str | None = None
    pages_url: str | None = None
    images: str | None = None
    populations: str | None = None
    draw: int = 200
    alerts_url_from: str | None = None
    alerts_form: Literal["plain", "slack"] = "plain"
    heartbeat_url_from: str | None = None
    settle_seconds: float = 2.0
    owners: tuple[str, ...] = ()
    limits: Limits = Limits()
    engine: EngineName = "auto"
    memory_limit: str | None = None
    root: str = "."

    @property
    def has_rounds_in_rows(self) -> bool:
        """A file names the round of each row, and is none itself."""
        return bool(self.columns.round) or self.rounds is not None

    @property
    def rules(self) -> Rules:
        return Rules(
            **{rule_field.name: getattr(self, rule_field.name) for rule_field in fields(Rules)}
        )

    @model_validator(mode="after")
    def _require_agreeing_settings(self) -> "ProjectSettings":
        _ = self.rules
        if self.units is not None and self.layout == "wide" and self.units.kind != "sets":
            raise ValueError(
                "found units beside a wide layout; expected the export of a tool, since a table "
                "has no label objects but sets of labels. Leave layout out."
            )
        if self.units is not None and self.units.rule == "paired":
            raise ValueError(
                "found units of pairs of raters; expected units of all raters, since an object "
                "would train once for each pair. Measure pairs with `measure FILE --units`."
            )
        if self.rounds is not None and self.columns.round:
            raise ValueError(
                "found rounds beside columns.round; expected one of the two. Leave columns.round "
                "out."
            )
        if "://" in (self.inbox or "") and self.has_rounds_in_rows:
            # A list of a bucket names the rounds. So none of its objects is read to find them.
            raise ValueError(
                "found rounds of rows beside an inbox in a bucket; expected an object or a folder "
                "of objects for each round. Leave rounds and columns.round out, or use an inbox "
                "on a disk."
            )
        if self.rounds_from and self.rounds_from.query and self.has_rounds_in_rows:
            raise ValueError(
                "found rounds of rows beside rounds_from.query; expected one of the two, since "
                "rounds_from.rounds lists the rounds. Leave rounds and columns.round out."
            )
        if self.adjudicate_in is not None:
            self._raise_if_nobody_can_adjudicate()
        if self.certified_by == self.project:
            raise ValueError(
                "found certified_by with the project itself; expected one whose rounds people "
                "labelled. Name that project."
            )
        if self.certified_by and (len(self.classifiers) != 1 or self.optional_classifiers):
            raise ValueError(
                "found certified_by beside "
                f"{counted(len(self.classifiers + self.optional_classifiers), 'classifier')}; "
                "expected the one whose labels train, in classifiers. Give each its own project."
            )
        if self.trains is not None and self.certified_by:
            raise ValueError(
                "found trains beside certified_by; expected one of the two, since the classifier's "
                "labels train. Leave trains out."
            )
        if self.trains is not None:
            self.trains.raise_if_unsuited(self.scale)
        if self.memory_limit is not None and self.engine == "spark":
            raise ValueError(
                "found memory_limit for the engine spark; expected the engine duckdb, since Spark "
                "has limits of its own. Leave memory_limit out."
            )
        return self

    def _raise_if_nobody_can_adjudicate(self) -> None:
        source = self.rounds_from
        if source is None or source.label_studio is None:
            raise ValueError(
                "found adjudicate_in without rounds_from.label_studio; expected both, since the "
                "projects of adjudicators are made like those of the rounds. Name the server, or "
                "use the folder adjudicated."
            )
        if self.adjudicated is not None:
            raise ValueError(
                "found adjudicate_in beside adjudicated; expected one of the two. Leave one out."
            )
        if self.units is not None:
            raise ValueError(
                "found adjudicate_in beside units; expected labels of whole items, since nobody "
                "chooses a label for a unit of an object on the server. Use the folder adjudicated."
            )

    @property
    def reading_digest(self) -> str:
        """Settings left alone do not count."""
        of_reading = {*ProjectSettings.model_fields} - NOT_OF_READING
        reading_settings = self.model_dump(mode="json", include=of_reading, exclude_defaults=True)
        return digest_of_plain(reading_settings)

    @field_validator("*")
    @classmethod
    def _require_expected_form(cls, value: Any, info: ValidationInfo) -> Any:
        for names, meets, expected in CHECKS_BY_SETTING:
            if info.field_name in names and value is not None and not meets(value):
                raise ValueError(f"found {value_in_message(value)}; expected {expected}")
        return value

    @property
    def cron_schedule(self) -> str:
        """When everything is measured again.

        >>> sorted(ProjectSettings.model_construct(project=name).cron_schedule for name in "abc")
        ['15 6 * * 1', '27 6 * * 1', '41 6 * * 1']
        """
        return self.schedule or f"{crc32(self.project.encode()) % 60} 6 * * 1"

    @field_validator("rounds_from")
    @classmethod
    def _require_only_source(
        cls, value: RoundsFrom | None, info: ValidationInfo
    ) -> RoundsFrom | None:
        inbox = info.data.get("inbox", "wrong in itself")
        if (inbox is None) == (value is None):
            raise ValueError(
                f"found {'neither inbox nor rounds_from' if value is None else 'inbox beside it'}; "
                "expected one of the two. Name the inbox of files, or the source that rounds come "
                "from."
            )
        return value

    @field_validator("automation")
    @classmethod
    def _require_automation_sees_source(cls, value: str, info: ValidationInfo) -> str:
        source = info.data.get("rounds_from")
        if value == "eager" and (source is None or source.asset is None):
            raise ValueError(
                "found eager without rounds_from.asset; expected both, since no condition of "
                "Dagster's sees a new file. Use automation: sensor."
            )
        return value

    @field_validator("alerts_url_from", "heartbeat_url_from")
    @classmethod
    def _require_variable_name(cls, value: str | None) -> str | None:
        """What stands here instead may be the secret itself, so it is not repeated."""
        if value is not None and not VARIABLE.fullmatch(value):
            raise ValueError(
                "found something else than the name of an environment variable; expected letters, "
                "digits and underscores, as REVIEWS_WEBHOOK. Put the URL into the variable."
            )
        return value

    @field_validator("owners")
    @classmethod
    def _require_reachable_values(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [
            owner for owner in values if not (E_MAIL.fullmatch(owner) or TEAM.fullmatch(owner))
        ]
        if wrong:
            raise ValueError(
                f"found {listed(wrong)}; expected an e-mail address, or a team's name after team:. "
                "Correct the owners."
            )
        return values

    @field_validator("trains", mode="before")
    @classmethod
    def _read_label_alone(cls, value: object) -> object:
        return {"label": value} if isinstance(value, str) else value

    @field_validator("overdue_after_days", "settle_seconds", mode="before")
    @classmethod
    def _refuse_truth_value(cls, value: object) -> object:
        if isinstance(value, bool):
            raise ValueError(f"found {value}; expected a number. Correct the value.")
        return value

    @field_validator("scale", mode="before")
    @classmethod
    def _refuse_truth_value_as_category(cls, value: object) -> object:
        if isinstance(value, Mapping) and isinstance(value.get("categories"), list):
            categories = value["categories"]
            marked = [
                _TruthValue(category) if isinstance(category, bool) else category
                for category in categories
            ]
            return {**value, "categories": marked}
        return value

    @field_validator("scale")
    @classmethod
    def _require_named_categories(cls, scale: Scale) -> Scale:
        if not scale.declared or (scale.level == "ordinal" and scale.categories is None):
            raise ValueError(
                "found no list of categories; expected level and categories. "
                "Name every label that raters can choose."
            )
        return scale


def load_waivers_by_file(configs: Path) -> dict[str, AnyWaiver]:
    folder = configs / "waivers"
    paths = sorted(folder.glob("*.yaml"))
    _raise_for_unread_files(configs, {*folder.rglob("*.y*ml")} - {*paths})
    return {path.name: load_waiver(path) for path in paths}


def _raise_for_unread_files(configs: Path, unread: Collection[Path]) -> None:
    if unread:  # who wrote one of them takes it to be in force
        raise ProjectError(
            f"{configs}: found {listed(sorted(map(str, unread)))}, which nothing reads; "
            "expected names that end in .yaml, and no folders in waivers. Move or rename them."
        )


def iterate_wrong_places(settings: ProjectSettings, configs: Path) -> Iterator[tuple[str, str]]:
    """A store inside the inbox would be delivered as rounds."""
    inbox, store = (
        (configs.parent / (place or "")).resolve() for place in (settings.inbox, settings.store)
    )
    if settings.inbox and settings.store and (inbox == store or inbox in store.parents):
        yield (
            "store",
            f"found {settings.store!r} inside the inbox {settings.inbox!r}; expected another "
            "place. Move one of them.",
        )
    policies, contracts = configs / "policies", configs / "contracts"
    file_names = sorted(path.stem for path in policies.glob("*.yaml"))
    if settings.policy not in (*file_names, *BUNDLED):
        yield (
            "policy",
            f"found {settings.policy!r}; expected one of {listed(file_names, 20)}, those in "
            f"{policies}, or of the bundled {listed(sorted(BUNDLED))}. Correct the name, or write "
            "that policy.",
        )
    file_names = sorted(path.name for path in contracts.glob("*"))
    if settings.contract not in (None, "none", *file_names):
        yield (
            "contract",
            f"found {settings.contract!r}; expected none, or one of "
            f"{listed(file_names, 20)}, those in "
            f"{contracts}. Correct the name, or write that contract.",
        )
    if settings.certified_by is None:
        return
    project = configs / "projects" / f"{settings.certified_by}.yaml"
    identity = configs / "classifiers" / f"{settings.classifiers[0]}.yaml"
    for file, step in ((project, "Correct the name."), (identity, "Say which classifier it is.")):
        if not file.is_file():
            yield "certified_by", f"found no file {file}; expected one. {step}"


def load_project(path: Path) -> ProjectSettings:
    """Relative paths start from the folder above configs/. One error names every mistake with its
    line.
    """
    data, place = read_yaml(path, ProjectError, expected_key="inbox")
    _raise_for_templates(data, place)
    settings = validate_settings(ProjectSettings, data, place, ProjectError)
    root = (path.parent / "../..").resolve()
    places = iterate_wrong_places(settings, root / "configs")
    mistakes = [*_iterate_mistakes(settings, data, path), *places]
    if mistakes:
        raise ProjectError(" ".join(f"{place / key}: {key}: {words}" for key, words in mistakes))
    return settings.model_copy(update={"root": str(root)})


def load_projects(folder: Path) -> tuple[ProjectSettings, ...]:
    places = folder, folder.parent / "policies"
    _raise_for_unread_files(
        folder.parent, [path for place in places for path in place.rglob("*.yml")]
    )
    files = sorted(folder.glob("*.yaml"))
    if not files:
        file_names = sorted(path.name for path in folder.glob("*"))
        problem = (
            listed(file_names) if file_names else "no file" if folder.is_dir() else "no such folder"
        )
        raise ProjectError(
            f"{folder}: found {problem}; expected a project's YAML file. "
            "Write one: see agreement-pipeline guide project."
        )
    projects = [path.stem for path in files]
    for name, waiver in load_waivers_by_file(folder.parent).items():
        if waiver.project not in projects:  # nothing would ever read it
            raise ProjectError(
                f"{folder.parent / 'waivers' / name}: project: found {waiver.project!r}; "
                f"expected one of {listed(projects)}. Correct the name."
            )
    return tuple(load_project(path) for path in files)


def _iterate_mistakes(
    settings: ProjectSettings, data: object, path: Path
) -> Iterator[tuple[str, str]]:
    """What is wrong in a file that is well formed, by the key.

    The folder of its policies is reviewed, so the file must not choose it.
    """
    if path.stem != settings.project:
        yield (
            "project",
            f"found {settings.project!r} in {path.name}; expected {path.stem!r}. "
            "Name the file after the project.",
        )
    if isinstance(data, Mapping) and "root" in data:
        yield (
            "root",
            "found a folder; expected none, since the folder above configs/ is the root. "
            "Leave it out.",
        )


def _raise_for_templates(data: object, place: Place) -> None:
    """Dagster evaluates templates in a component's file, but nothing does here."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            _raise_for_templates(value, place / key)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            _raise_for_templates(value, place / number)
    elif isinstance(data, str) and ("{{" in data or "{%" in data):
        raise ProjectError(
            f"{place}: found a template; expected the value itself, since nothing in this file is "
            "evaluated. Write the value."
        )
