from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agreement_pipeline.contract import NONE, Contract
from agreement_pipeline.errors import (
    EXPECTED,
    AgreementError,
    CertificateError,
    PolicyError,
    ProjectError,
    RatingsError,
    error_in_a_sentence,
)
from agreement_pipeline.evidence import admitted_rounds, blind_tasks, tasks, write_tasks_as_text
from agreement_pipeline.integrity import Finding
from agreement_pipeline.models import (
    CertifiedBy,
    Draw,
    Identity,
    ModelsAuditor,
    draw,
    draws,
    load_identity,
)
from agreement_pipeline.policy import BUNDLED, AnyWaiver, Policy, build_gate_finding, load_policy
from agreement_pipeline.projects.adjudicated import (
    AdjudicationServer,
    Exchange,
    read_adjudicated,
    read_answers,
    refuse_as_round,
)
from agreement_pipeline.projects.deliveries import find_deliveries_before, split_delivery
from agreement_pipeline.projects.inbox import Delivery, Inbox, InboxContents
from agreement_pipeline.projects.settings import (
    ProjectSettings,
    iterate_wrong_places,
    load_project,
    load_waivers_by_file,
)
from agreement_pipeline.projects.standing import RoundStatusIndex
from agreement_pipeline.ratings import (
    COLUMNS_NOT_READ,
    Adjudicated,
    Ratings,
    category_text,
    group_lookalike_names,
)
from agreement_pipeline.readers import (
    COLUMNS,
    DeliveredTable,
    Rules,
    find_unnamed_label_columns,
    read,
    read_delivered,
)
from agreement_pipeline.release import (
    OfTheGate,
    Release,
    Terms,
    found_by_gate,
    release_dataset,
    release_round,
)
from agreement_pipeline.sources import (
    ENDINGS,
    DeliveryFolder,
    LabelStudio,
    RoundSource,
    write_table,
)
from agreement_pipeline.store import (
    GOLD_ITEMS,
    Folder,
    RoundVersion,
    Store,
    check_round_name,
    digest_of,
    folder_at,
    of_event,
)
from agreement_pipeline.text import called, listed, natural_sort_key, suggest_name
from agreement_pipeline.version import __version__


class PulledRounds(NamedTuple):
    """The names that a source has, those that were written now, and why others could not be."""

    rounds: tuple[str, ...]
    pulled: tuple[str, ...]
    failed: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Project:
    """One project's settings, and the steps that they configure.

    Policy, contract, waivers, classifiers and adjudicated labels are read again each time, since
    the reviewed files decide.
    """

    settings: ProjectSettings

    @property
    def name(self) -> str:
        return self.settings.project

    @cached_property
    def root(self) -> Path:
        return Path(self.settings.root).resolve()

    @cached_property
    def inbox(self) -> Folder:
        """Where deliveries lie as files. Those of a source are written there."""
        if self.settings.inbox is None:
            return self.root / ".agreement" / "deliveries" / self.name
        return self._resolve_place(self.settings.inbox)

    @cached_property
    def _inbox(self) -> Inbox:
        return Inbox(self.inbox, self.settings, self.root)

    @cached_property
    def store(self) -> Store:
        place = self._resolve_place(self.settings.store or f".agreement/store/{self.name}")
        return Store(place, project=self.name)

    def _resolve_place(self, place: str) -> Folder:
        return folder_at(place) if "://" in place else self.root / place

    @cached_property
    def statuses(self) -> RoundStatusIndex:
        return RoundStatusIndex(self.store)

    @property
    def configs(self) -> Path:
        return self.root / "configs"

    @property
    def policy(self) -> Policy:
        """A file with the name of a bundled policy must decide as that one does.

        Else that one would replace the file without a word on the day that the file is lost.
        """
        policy_name = self.settings.policy
        policy_path = self.configs / "policies" / f"{policy_name}.yaml"
        if not policy_path.exists() and policy_name in BUNDLED:
            return load_policy(policy_name)
        policy = load_policy(policy_path)
        if policy_name in BUNDLED and policy.digest != load_policy(policy_name).digest:
            raise PolicyError(
                f"{policy_path}: found a policy that decides otherwise than the bundled policy "
                f"{policy_name!r}; expected another name. Rename the file and the policy."
            )
        return policy

    @property
    def contract(self) -> Contract:
        contract_name = self.settings.contract
        if contract_name in (None, NONE):
            return Contract.none()
        return Contract.load(self.configs / "contracts" / contract_name)

    @property
    def judged_by(self) -> str:
        """SHA-256 of settings, engine, policy, contract and code: all that a delivery is read and
        judged by.
        """
        digests = (self.settings.reading_digest, self.policy.digest, self.contract.digest)
        by = (self.settings.engine, __version__)
        return digest_of(" ".join((*digests, *by)).encode())

    @property
    def waivers(self) -> tuple[AnyWaiver, ...]:
        all_waivers = load_waivers_by_file(self.configs).values()
        return tuple(waiver for waiver in all_waivers if waiver.project == self.name)

    @property
    def certified_by(self) -> CertifiedBy | None:
        project_name = self.settings.certified_by
        if project_name is None:
            return None
        certifying_project = Project(
            load_project(self.configs / "projects" / f"{project_name}.yaml")
        )
        return CertifiedBy(self._identity(self.settings.classifiers[0]), certifying_project.store)

    @property
    def identities(self) -> tuple[Identity, ...]:
        names = (*self.settings.classifiers, *self.settings.optional_classifiers)
        defined_names = [name for name in names if self._identity_file(name).is_file()]
        return tuple(map(self._identity, defined_names))

    def found_by_gate(self, round_name: str, ratings: Ratings, on: date) -> OfTheGate:
        terms = Terms(on=on, **self.terms)
        return found_by_gate(self.store, self.store.present(round_name), terms, ratings)

    def _identity_file(self, name: str) -> Path:
        return self.configs / "classifiers" / f"{name}.yaml"

    def _identity(self, name: str) -> Identity:
        identity = load_identity(self._identity_file(name))
        if identity.name != name:
            raise CertificateError(
                f"{self._identity_file(name)}: name: found {identity.name!r}; expected {name!r}, "
                "as the project names its classifier. Correct the name."
            )
        return identity

    @property
    def judged_under(self) -> dict[str, Any]:
        return {
            "waivers": self.waivers,
            "settings_digest": self.settings.reading_digest,
            "auditor": ModelsAuditor(self.identities, self.certified_by),
            "trains": self.settings.trains,
        }

    @property
    def terms(self) -> dict[str, Any]:
        return {"policy": self.policy, "contract": self.contract, **self.judged_under}

    @property
    def images(self) -> Path | None:
        folder = self.settings.images
        return None if folder is None else self.root / folder

    def adjudicated(self, rounds: Collection[str]) -> Mapping[str, Adjudicated]:
        """No file of another round is read. So a broken file stops its own round alone."""
        if self.settings.adjudicated is not None:
            folder = self.root / self.settings.adjudicated
            return read_adjudicated(folder, self.settings.scale, rounds)
        question = self.settings.columns.label
        return {
            name: read_answers(
                path, self.settings.scale, None if question == COLUMNS.label else question
            )
            for name, path in self._server_answers(rounds).items()
        }

    def _server_answers(self, rounds: Collection[str]) -> dict[str, Path]:
        """The files with answers that came from a labelling server, by round."""
        server = self.adjudication_server
        if server is None:
            return {}
        paths = {name: server.answers_path(name, self._present_digest(name)) for name in rounds}
        return {name: path for name, path in paths.items() if path.is_file()}

    def awaiting_release(self) -> list[str]:
        """Admitted rounds without a release, or whose answers of a server came after it."""
        admitted = admitted_rounds(self.store)
        answers = self._server_answers(admitted)
        released_at = {
            name: max((entry["time"] for entry in self.store.in_force(name)), default="")
            for name in admitted
        }
        return [
            name
            for name in admitted
            if not released_at[name]
            or (
                name in answers
                and answers[name].stat().st_mtime
                > datetime.fromisoformat(released_at[name]).timestamp()
            )
        ]

    @cached_property
    def adjudication_server(self) -> AdjudicationServer | None:
        adjudicate_in = self.settings.adjudicate_in
        if adjudicate_in is None:
            return None
        assert isinstance(self.source, LabelStudio)
        folder = DeliveryFolder(self.root / ".agreement" / "adjudicated" / self.name)
        return AdjudicationServer(self.source, adjudicate_in, folder, self.settings.columns)

    def exchange_disputed(self) -> Exchange:
        """Put disputed items of admitted rounds onto the server once, and take its answers home."""
        if self.adjudication_server is None:
            return Exchange({}, {})
        digests = {name: self._present_digest(name) for name in admitted_rounds(self.store)}
        return self.adjudication_server.exchange(
            digests, lambda name: tasks(self.store.ratings(name)), self._delivery_path
        )

    def _present_digest(self, round_name: str) -> str:
        return self.store.present(round_name).ratings_digest

    def _delivery_path(self, round_name: str) -> Path:
        assert isinstance(self.inbox, Path)
        assert self.source is not None
        name = self.name if self.delivers_whole else round_name
        return self.inbox / f"{name}{self.source.ending}"

    def unused_waivers(self) -> dict[str, str]:
        """One names a round that never arrived, or another project and is bound to ratings of this
        one.
        """
        problem_by_file: dict[str, str] = {}
        for file, waiver in load_waivers_by_file(self.configs).items():
            round_name, digest = waiver.subject.round, waiver.subject.ratings_digest
            if waiver.project == self.name and not self.times_arrived(round_name):
                problem_by_file[file] = (
                    f"found round {round_name!r}; expected one of {listed(self.store.rounds())}. "
                    "Correct the waiver."
                )
            elif waiver.project != self.name and self.store.has(digest):
                arrived = of_event("ingested", self.store.history())
                bound = [entry["round"] for entry in arrived if entry["ratings_digest"] == digest]
                if bound:
                    problem_by_file[file] = (
                        f"found project {waiver.project!r}; expected {self.name!r}, whose round "
                        f"{bound[-1]} has these ratings. Correct the waiver."
                    )
        return problem_by_file

    def checked(self) -> "Project":
        for key, mistake in iterate_wrong_places(self.settings, self.configs):
            raise ProjectError(f"project {self.name}: {key}: {mistake}")
        _ = self.terms
        if wrong := self.no_inbox():
            raise ProjectError(f"project {self.name}: inbox: {wrong}")
        return self

    def no_inbox(self) -> str:
        if self.settings.rounds_from is not None or self._inbox.is_there():
            return ""
        kind, make = (
            ("folder or file", "folder") if isinstance(self.inbox, Path) else ("bucket", "bucket")
        )
        return (
            f"{self.inbox}: found no such {kind}; expected the inbox of {self.name}. "
            f"Correct inbox in the project, or make the {make}."
        )

    @property
    def delivers_whole(self) -> bool:
        """True if a source gives all rounds in one delivery, whose rows name their rounds."""
        return self.settings.rounds_from is not None and self.settings.has_rounds_in_rows

    def deliver_table(self, table: Any, round_name: str | None = None) -> int:
        """Write what a source gave as the delivery of a round, or of all. How many rows it has."""
        name = self.name if round_name is None else round_name
        with self._deliveries.writing(name, ".parquet") as path:
            return write_table(table, path, self._source_name(round_name))

    @cached_property
    def source(self) -> RoundSource | None:
        """What rounds are pulled from. None for an inbox, and if an asset is handed over."""
        source = self.settings.rounds_from
        return None if source is None else source.open(is_whole=self.delivers_whole)

    def pull_round(self, round_name: str | None = None) -> None:
        """Write a round, or the file of all rounds, as the source has it now."""
        assert self.source is not None
        name = self.name if round_name is None else check_round_name(round_name)
        with self._deliveries.writing(name, self.source.ending) as path:
            self.source.write(round_name, path)

    def pull(self) -> PulledRounds:
        """Write each round of the source whose version is another than that of its file."""
        if self.source is None:
            raise ProjectError(
                f"project {self.name}: found {self.settings.rounds_from or 'an inbox'}; expected "
                "rounds_from with a query or a labelling server. Name one, or put files into the "
                "inbox."
            )
        pulled, failed = list[str](), dict[str, str]()
        versions = self.source.list_versions()
        for name, version in sorted(
            versions.items(), key=lambda name_and_version: natural_sort_key(name_and_version[0])
        ):
            file_name = name or self.name
            if version and self._deliveries.has_version(file_name, version):
                continue
            try:
                self.pull_round(name or None)
            except EXPECTED as error:
                failed[file_name] = error_in_a_sentence(error)
                continue
            self._deliveries.note_version(file_name, version)
            pulled.append(file_name)
        return PulledRounds(tuple(versions), tuple(pulled), failed)

    @cached_property
    def _deliveries(self) -> DeliveryFolder:
        assert isinstance(self.inbox, Path)
        return DeliveryFolder(self.inbox)

    def _source_name(self, round_name: str | None = None) -> str:
        of_round = f", round {round_name}" if round_name and not self.delivers_whole else ""
        return f"{self.settings.rounds_from}{of_round}"

    def look(self, only_round: str = "") -> InboxContents:
        """What was delivered. If `only_round` is named, others may be missing."""
        contents = self._inbox.look(only_round)
        if self.settings.rounds_from is None:
            return contents
        refusals = {
            name: self._name_source(message, self.inbox / name, name)
            for name, message in contents.refused.items()
        }
        return InboxContents(contents.deliveries, refusals)

    def due(
        self,
        requested: Mapping[str, str] = MappingProxyType({}),
        contents: InboxContents | None = None,
    ) -> tuple[Delivery, ...]:
        """The rounds in the inbox whose delivered bytes are not decided under these settings.

        Rounds that were `requested` with the same digest are left out.
        """
        all_deliveries = (contents or self.look()).deliveries.values()
        waiting = [
            delivery
            for delivery in all_deliveries
            if requested.get(delivery.round) != delivery.digest
        ]
        decided = self.statuses.refresh().decided if waiting else {}
        settings = self.settings.reading_digest
        return tuple(
            delivery
            for delivery in waiting
            if decided.get(delivery.round) != (delivery.digest, settings)
        )

    def unjudged(self, due: Iterable[Delivery] | None = None) -> dict[str, str]:
        reason_by_round = {}
        for delivery in self.due() if due is None else due:
            try:
                check_round_name(delivery.round)
                self._read_fetched(delivery)
                reason_by_round[delivery.round] = "delivered, and not judged yet"
            except AgreementError as error:
                reason_by_round[delivery.round] = str(error)
        return reason_by_round

    def is_released(self, round_name: str) -> bool:
        """True if a release that contains the round's present version is in force."""
        rows = self.statuses.refresh().rows.get(round_name, ())
        return any(row["release"] == "released" for row in rows)

    def gold_withdrawals(self) -> list[Mapping[str, Any]]:
        """The log entries of releases that were withdrawn since they trained on items that another
        round calls gold.
        """
        with self.store.reading():
            return of_event("withdrawn", self.store.log.about(GOLD_ITEMS))

    def release_without_gold(self) -> dict[str, Release | str]:
        """Release anew the admitted rounds whose release was withdrawn since it trained on gold
        items. By round, the release or why there is none.
        """
        withdrawn = dict.fromkeys(entry["round"] for entry in self.gold_withdrawals())
        admitted = admitted_rounds(self.store) if withdrawn else ()
        releases = dict[str, Release | str]()
        for name in withdrawn:
            if name in admitted and not self.is_released(name):
                try:
                    releases[name] = self.release(name)
                except EXPECTED as error:
                    releases[name] = error_in_a_sentence(error)
        return releases

    def times_arrived(self, round_name: str) -> int:
        return len(of_event("ingested", self.store.history(round_name)))

    def delivered(
        self, round_name: str, not_stored: Mapping[str, Ratings] = MappingProxyType({})
    ) -> tuple[Delivery, Ratings]:
        """A round of the inbox with its ratings, split by what came before it.

        `not_stored` are the ratings of rounds that come before it, as if they were stored.
        """
        contents = self.look(check_round_name(round_name))
        if round_name in contents.refused:
            raise ProjectError(contents.refused[round_name], may_pass=True)
        if round_name not in contents.deliveries:
            round_names = listed(self.look().deliveries)
            place, step = str(self.inbox), "Put its file into the inbox."
            if self.settings.rounds_from is not None:
                place, step = self._source_name(), "Let the source deliver it."
            raise RatingsError(
                f"{place}: found no round {round_name!r} among {round_names}; "
                f"expected a delivered round. {step}",
                may_pass=True,
            )
        return self._read_fetched(contents.deliveries[round_name], not_stored)

    def delivered_table(self, round_name: str) -> DeliveredTable | None:
        """What the suite of the project is asked of, also where the delivery is no round."""
        delivery = self._inbox.look(check_round_name(round_name)).deliveries.get(round_name)
        if delivery is None:
            return None
        with self._inbox.fetched(delivery) as fetched:
            return self._delivered_table(fetched)

    def left_out(self, delivery: Delivery) -> list[Finding]:
        if self.settings.layout != "wide":
            return []
        columns = self._columns_left_out(delivery)
        words = (
            f"found labels that are not read in {called('column', columns)}; expected every "
            "rater's column among columns.raters. Name those of raters, or leave the others out of "
            "the table."
        )
        return [build_gate_finding("columns_left_out", words, "warning", passed=not columns)]

    def keep(self, delivery: Delivery, ratings: Ratings) -> RoundVersion:
        bucket = delivery.in_bucket

        def refuse_late() -> None:
            current_delivery = self._inbox.look(delivery.round).deliveries.get(delivery.round)
            # Other bytes may have been in its place while it was read, and be gone again.
            if current_delivery is None or (current_delivery.digest, current_delivery.files) != (
                delivery.digest,
                delivery.files,
            ):
                raise ProjectError(
                    f"{self.inbox}: found another delivery of round {delivery.round} than the one "
                    "that was read, which came meanwhile; expected the one that was read. Run the "
                    "round again.",
                    may_pass=True,
                )
            deliveries_before = find_deliveries_before(
                self.store, delivery.round, delivery.file_digest
            )
            if delivery.before is not None and deliveries_before != delivery.before:
                raise ProjectError(
                    f"{self.inbox}: found that another round came while round {delivery.round} was "
                    "read; expected the rounds that it was compared with. Run the round again.",
                    may_pass=True,
                )

        return self.store.ingest(
            delivery.round,
            ratings,
            delivery.here,
            original_digest=None if bucket else delivery.file_digest,
            delivered_table=None if delivery.table is None else delivery.table.to_parquet(),
            settings_digest=self.settings.reading_digest,
            delivered_as=delivery.file_digest if bucket else None,
            predictions_digest=delivery.predictions_digest,
            refuse_late=refuse_late,
        )

    def ingest(self, round_name: str) -> None:
        """Store a round as it lies in the inbox, unless these bytes are decided already.

        A stored round whose file is gone from the inbox stays as it is.
        """
        inbox = self._inbox.look(check_round_name(round_name))
        is_there = round_name in inbox.deliveries or round_name in inbox.refused
        if not is_there and self.times_arrived(round_name):
            return
        if round_name in inbox.deliveries and not self.due(contents=inbox):
            return
        self.keep(*self.delivered(round_name))

    def release(self, round_name: str | None = None) -> Release:
        """Release the training data of a stored round, or of all admitted rounds together."""
        rounds = admitted_rounds(self.store) if round_name is None else (round_name,)
        terms = {
            **self.terms,
            "project": self.name,
            "adjudicated": self.adjudicated(rounds),
            "publication": self.settings.dataset,
        }
        if round_name is None:
            return release_dataset(self.store, rounds, **terms)
        return release_round(self.store, round_name, **terms)

    def _columns_left_out(self, delivery: Delivery) -> tuple[str, ...]:
        project_settings = self.settings
        if project_settings.layout != "wide":
            return ()
        return find_unnamed_label_columns(
            delivery.here, project_settings.columns, project_settings.scale, project_settings.limits
        )

    def _read_fetched(
        self, delivery: Delivery, not_stored: Mapping[str, Ratings] = MappingProxyType({})
    ) -> tuple[Delivery, Ratings]:
        project_settings = self.settings
        with self._inbox.fetched(delivery) as fetched, self._named_source(fetched):
            refuse_as_round(fetched.here)
            table = self._delivered_table(fetched)
            ratings = self._read_as_configured(
                fetched.here, fetched.round, project_settings.classifiers
            )
            if ratings.origin is not None:
                n_left_out = len(self._columns_left_out(fetched))
                ratings = ratings.with_origin(
                    ratings.origin.with_left_out(COLUMNS_NOT_READ, n_left_out)
                )
            with self.store.reading():
                deliveries_before = find_deliveries_before(
                    self.store, delivery.round, delivery.file_digest
                )
                ratings = split_delivery(
                    ratings,
                    delivery.round,
                    deliveries_before,
                    self.store,
                    project_settings,
                    not_stored,
                )
            if project_settings.replicates == "across":
                is_cumulative = project_settings.deliveries == "cumulative"
                ratings = with_earlier_rounds(
                    ratings, fetched.round, self.store, exported_again=is_cumulative
                )
            return replace(fetched, before=deliveries_before, table=table), ratings

    def _delivered_table(self, delivery: Delivery) -> DeliveredTable | None:
        """What the suite of the project is asked of. None if it has no suite."""
        suite, settings = self.contract.suite, self.settings
        if suite is None:
            return None
        return read_delivered(
            delivery.here,
            suite.needed_columns,
            settings.columns,
            layout=settings.layout,
            round_name=delivery.round if settings.has_rounds_in_rows else None,
            limits=settings.limits,
            rules=settings.rules,
            memory_limit=settings.memory_limit,
        )

    @contextmanager
    def _named_source(self, delivery: Delivery) -> Iterator[None]:
        """Errors name the source of a delivery, not the file that was written for it."""
        try:
            yield
        except AgreementError as error:
            if self.settings.rounds_from is not None:
                error.args = (self._name_source(str(error), delivery.path, delivery.round),)
            raise

    def _name_source(self, message: str, path: Folder, round_name: str) -> str:
        name, source = path.name, self._source_name(round_name)
        for ending in ENDINGS:
            name = name.removesuffix(ending)
        for ending in ENDINGS:
            for file_name in (f"{self.inbox}/{name}{ending}", f"{name}{ending}"):
                message = message.replace(file_name, source)
        return message

    def draws(self) -> Iterator[tuple[Path, Draw | str]]:
        """A population has one draw. Only `draw` with a reason makes another one, which then
        counts.
        """
        folder = self.root / (self.settings.populations or "")
        if not folder.is_dir():
            raise ProjectError(
                f"{folder}: found no such folder; expected the populations of {self.name}. "
                "Make the folder, or correct populations in the project."
            )
        for file in sorted(path for path in folder.iterdir() if not path.is_dir()):
            try:
                yield file, self._read_draw(file)
            except AgreementError as error:
                yield file, str(error)

    def _read_draw(self, file: Path) -> Draw:
        labels, columns = self.labels_of_classifiers(file), self.settings.columns
        earlier_draws = [stored for stored in draws(self.store) if stored.is_from(labels)]
        current_draw = (
            earlier_draws[-1]
            if earlier_draws
            else draw(self.store, file.stem, labels, self.settings.draw)
        )
        tasks = file.parent / "tasks" / f"{file.stem}-{current_draw.seed[:12]}.csv"
        if not tasks.exists():
            current_draw.compare_contents(labels, self.store, current_draw.classifier)
            names = {role: getattr(columns, role) or role for role in ("item", "rater", "label")}
            blind = blind_tasks(labels, current_draw.items, current_draw.seed)
            tasks.parent.mkdir(exist_ok=True)
            tasks_text = write_tasks_as_text(blind, labels.scale.names, "csv", names)
            unfinished = tasks.with_name(f"{tasks.name}.part")
            unfinished.write_text(tasks_text, encoding="utf-8")
            unfinished.replace(tasks)
        return current_draw

    def _rules_of_round(self, round_name: str) -> Rules:
        predictions = {
            model: predicted.path_of_round(round_name, self.root)
            for model, predicted in self.settings.predictions.items()
        }
        return replace(self.settings.rules, predictions=predictions)

    def labels_of_classifiers(self, file: Path) -> Ratings:
        return self._read_as_configured(file, file.stem, (), usable=False)

    def _read_as_configured(
        self, file: Path, round_name: str, required: Collection[str], *, usable: bool = True
    ) -> Ratings:
        project_settings = self.settings
        all_classifiers = (*project_settings.classifiers, *project_settings.optional_classifiers)
        return read(
            file,
            project_settings.columns,
            layout=project_settings.layout,
            scale=project_settings.scale,
            classifiers=partial(
                classifiers_among, required=required, project=self.name, optional=all_classifiers
            ),
            round_name=round_name if project_settings.has_rounds_in_rows else None,
            limits=project_settings.limits,
            rules=self._rules_of_round(round_name),
            engine=project_settings.engine,
            memory_limit=project_settings.memory_limit,
            usable=usable,
            in_order=True,
        )


def with_earlier_rounds(
    ratings: Ratings, round_name: str, store: Store, *, exported_again: bool = False
) -> Ratings:
    """A round is earlier if its name comes before `round_name`, with numbers in names by size:
    week-2 comes before week-10. If old ratings are `exported_again`, they are no replicates.
    """
    with store.reading():
        earlier = [store.ratings(name) for name in _earlier_rounds(round_name, store)]
    return ratings.preceded_by(earlier, exported_again=exported_again) if earlier else ratings


def round_before(round_name: str, store: Store) -> tuple[str, Ratings] | None:
    """The round of the store whose name comes last before `round_name`, with its ratings."""
    with store.reading():
        earlier = _earlier_rounds(round_name, store)
        last_name = max(earlier, key=natural_sort_key, default=None)
        return None if last_name is None else (last_name, store.ratings(last_name))


def _earlier_rounds(round_name: str, store: Store) -> list[str]:
    sort_key = natural_sort_key(round_name)
    return sorted(
        (name for name in store.rounds() if natural_sort_key(name) < sort_key), key=natural_sort_key
    )


def classifiers_among(
    raters: Iterable[object],
    source: str,
    required: Collection[str],
    project: str,
    optional: Collection[str] = (),
) -> tuple[str, ...]:
    """The classifiers among the raters of a round, under the names of the ratings.

    A column of numbers holds the rater 2 as the float 2.0. Both `2` and `2.0` name that rater.
    One that is `required` and rated nothing may be misspelt, and the model would count as a rater
    of the panel.

    >>> classifiers_among([1.0, 2.0], "w1.parquet", ["2.0"], "reviews", optional=["gpt"])
    ('2',)
    """
    names_of_raters = [(category_text(rater), str(rater)) for rater in raters]
    all_names = {*required, *optional}
    models = {name for name, printed_name in names_of_raters if {name, printed_name} & all_names}
    panel = {name for name, _ in names_of_raters} - models
    for group in group_lookalike_names(panel | all_names):
        raters_alike, models_alike = panel & set(group), all_names & set(group)
        if raters_alike and models_alike:
            rater, model = (
                " and ".join(map(ascii, sorted(names))) for names in (raters_alike, models_alike)
            )
            raise RatingsError(
                f"{source}: found rater {rater} in the panel, who prints like classifier {model}; "
                f"expected the classifier's name as the ratings have it. "
                f"Correct classifiers in project {project}, or rename the rater."
            )
    spellings = {spelling for names in names_of_raters for spelling in names}
    if absent := [name for name in required if name not in spellings]:
        hint = suggest_name(absent[0], sorted(panel), otherwise="")
        raise RatingsError(
            f"{source}: found no rating by {called('classifier', absent)} among those of the "
            f"raters {listed(sorted(panel))}; expected ratings by every classifier. Correct "
            f"classifiers in project {project}, or name it in "
            f"optional_classifiers.{' ' * bool(hint)}{hint}"
        )
    return tuple(sorted(models))
