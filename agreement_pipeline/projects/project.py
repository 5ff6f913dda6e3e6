"""What a team says about one annotation project, and the steps of the line bound to it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.policy import Policy, Waiver, load_policy, load_waiver
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.ratings import (
    KEY,
    Ratings,
    Scale,
    category_text,
    described,
    lookalikes,
)
from agreement_pipeline.readers import (
    Columns,
    Limits,
    of_round,
    read_rounds,
    read_table,
    refuse_unusable,
)
from agreement_pipeline.store import RoundVersion, Store, check_round_name
from agreement_pipeline.text import listed


@dataclass(frozen=True)
class Delivery:
    """A round as it was delivered: its file, and the digest of the bytes that concern it."""

    round: str
    path: Path
    digest: str


@dataclass(frozen=True, eq=False)
class Project:
    """The steps of the line, bound to one project's settings."""

    settings: ProjectSettings

    @property
    def name(self) -> str:
        """The project's name."""
        return self.settings.project

    @cached_property
    def root(self) -> Path:
        """The folder that relative paths start from."""
        return Path(self.settings.root).resolve()

    @cached_property
    def inbox(self) -> Path:
        """Where its rounds arrive."""
        return self.root / self.settings.inbox

    @cached_property
    def store(self) -> Store:
        """Where its rounds, decisions and releases are kept."""
        place = self.settings.store or f".agreement/store/{self.name}"
        return Store(place if "://" in place else self.root / place)

    @property
    def scale(self) -> Scale:
        """What its labels may be."""
        return Scale(tuple(self.settings.scale.categories), self.settings.scale.level)

    @property
    def policy(self) -> Policy:
        """The policy its rounds are judged by, read anew each time: the reviewed file decides, not what was loaded once."""
        return load_policy(self.root / "configs" / "policies" / f"{self.settings.policy}.yaml")

    @property
    def contract(self) -> Contract:
        """The data contract its rounds must keep."""
        named = self.settings.contract
        return (
            Contract.load(self.root / "configs" / "contracts" / named)
            if named
            else Contract.default()
        )

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """The waivers written for its rounds, read anew each time."""
        written = (
            load_waiver(path) for path in sorted((self.root / "configs" / "waivers").glob("*.yaml"))
        )
        return tuple(waiver for waiver in written if waiver.project == self.name)

    @property
    def columns(self) -> Columns:
        """What the columns of its exports are called."""
        return Columns(
            **{**self.settings.columns.model_dump(), "raters": tuple(self.settings.columns.raters)}
        )

    @property
    def limits(self) -> Limits:
        """How large its tables may be."""
        return Limits(**self.settings.limits.model_dump())

    def checked(self) -> "Project":
        """Read the policy, waivers and contract, and give back the project.

        Raises
        ------
        AgreementError
            One of them is not there, or not what it must be.
        """
        for _, why in self.absent():
            raise ProjectError(f"project {self.name}: {why}")
        _ = (self.policy, self.waivers, self.contract)
        return self

    def absent(self) -> Iterator[tuple[str, str]]:
        """The keys that name what configs/ does not hold, each with what was found, what is required and what to do."""
        for key, folder, suffix in (("policy", "policies", ".yaml"), ("contract", "contracts", "")):
            named, place = getattr(self.settings, key), self.root / "configs" / folder
            there = sorted(path.name.removesuffix(suffix) for path in place.glob(f"*{suffix}"))
            if named is not None and named not in there:
                yield (
                    key,
                    f"{key} {named!r} found; one of {listed(there, 20)}, those in {place}, is required. Correct the name, or write that {key}.",
                )

    def deliveries(self) -> dict[str, Delivery]:
        """The rounds in the inbox, by name."""
        found = [delivery for path in self._files() for delivery in self._in_file(path)]
        names = [delivery.round for delivery in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ProjectError(
                f"{self.inbox}: rounds {listed(twice)} found in two files; one file a round is required. Remove or rename one."
            )
        return {
            delivery.round: delivery
            for delivery in sorted(found, key=lambda delivery: delivery.round)
        }

    def knows(self, delivery: Delivery) -> bool:
        """Is the delivered round what the store holds, and was it decided since it came?"""
        history = self.store.history(delivery.round)
        arrived = [entry["original_digest"] for entry in history if entry["event"] == "ingested"]
        judged = [entry["event"] for entry in history if entry["event"] in ("ingested", "decided")]
        return arrived[-1:] == [delivery.digest] and judged[-1] == "decided"

    def due(self) -> tuple[Delivery, ...]:
        """The rounds in the inbox that the store does not hold as they came, or that were not decided since."""
        return tuple(
            delivery for delivery in self.deliveries().values() if not self.knows(delivery)
        )

    def times_arrived(self, round_name: str) -> int:
        """How often a round has come, each time with other bytes than the time before."""
        return sum(entry["event"] == "ingested" for entry in self.store.history(round_name))

    def delivered(self, round_name: str) -> tuple[Delivery, Ratings]:
        """A round in the inbox, and its checked ratings.

        Raises
        ------
        RatingsError
            The round is not in the inbox, or not what it must be.
        """
        deliveries = self.deliveries()
        if check_round_name(round_name) not in deliveries:
            raise RatingsError(
                f"{self.inbox}: no round {round_name!r} among {listed(deliveries)}; a delivered round is required. Put its file into the inbox."
            )
        return deliveries[round_name], self.read(deliveries[round_name])

    def keep(self, delivery: Delivery, ratings: Ratings) -> RoundVersion:
        """Keep a delivered round in the store, unless its file has changed since it was found."""
        return self.store.ingest(
            delivery.round, ratings, delivery.path, original_digest=delivery.digest
        )

    def read(self, delivery: Delivery) -> Ratings:
        """The checked ratings of a delivered round, with what earlier rounds say of the same raters and items."""
        frame = read_table(
            delivery.path, self.columns, layout=self.settings.layout, limits=self.limits
        )
        column = self.columns.round
        frame = of_round(
            frame,
            delivery.round if column else None,
            f"{delivery.path.name}: column {column or 'round'!r}",
        )
        names = {
            name: column
            for name, column in self.settings.columns.model_dump().items()
            if isinstance(column, str)
        }
        ratings = Ratings.from_frame(
            frame,
            self.scale,
            classifiers=self._classifiers(frame, delivery.path.name),
            source=delivery.path.name,
            columns=names,
        )
        refuse_unusable(ratings, delivery.path.name)
        return (
            self._with_earlier(ratings, delivery.round)
            if self.settings.replicates == "across"
            else ratings
        )

    def _classifiers(self, frame: pd.DataFrame, source: str) -> tuple[str, ...]:
        """The named classifiers with ratings in the round, as the ratings call them: a float 2.0 is rater 2.

        Raises
        ------
        RatingsError
            A rater of the panel prints like a classifier: left in the panel, a model would decide with the people it is compared with.
        """
        named, found = set(self.settings.classifiers), frame["rater"].dropna().unique()
        models = {
            category_text(value) for value in found if {str(value), category_text(value)} & named
        }
        panel = {category_text(value) for value in found} - models
        for group in lookalikes(panel | named):
            if panel & set(group) and named & set(group):
                raise RatingsError(
                    f"{source}: rater {described(sorted(panel & set(group)))} found in the panel, who prints like classifier "
                    f"{described(sorted(named & set(group)))}; a classifier's name is required as the ratings have it. "
                    f"Correct classifiers in project {self.name}, or rename the rater."
                )
        return tuple(sorted(models))

    def _with_earlier(self, ratings: Ratings, round_name: str) -> Ratings:
        """Put before each rater's labels those she gave the same items in the rounds before."""
        before = [
            self.store.ratings(name).table for name in self.store.rounds() if name < round_name
        ]
        if not before:
            return ratings
        earlier = pd.concat([table[~table["earlier"]] for table in before])
        earlier = earlier.merge(
            ratings.table[["item", "rater"]].drop_duplicates(), on=["item", "rater"]
        )
        together = pd.concat(
            [earlier.assign(earlier=True), ratings.table.assign(earlier=False)], ignore_index=True
        )
        together["occurrence"] = together.groupby(["item", "rater"]).cumcount() + 1
        return Ratings(
            together.sort_values(list(KEY), kind="stable").reset_index(drop=True),
            ratings.scale,
            ratings.classifiers,
            ratings.contents,
        )

    def _files(self) -> list[Path]:
        if self.inbox.is_file():
            return [self.inbox]
        if not self.inbox.is_dir():
            return []
        return sorted(
            path
            for path in self.inbox.iterdir()
            if path.is_file() and not path.name.startswith(".")
        )

    def _in_file(self, path: Path) -> Iterator[Delivery]:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        names = read_rounds(path, self.columns, self.limits) if self.columns.round else (path.stem,)
        for name in names:
            yield Delivery(name, path, digest)
