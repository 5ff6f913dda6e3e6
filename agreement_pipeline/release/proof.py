"""The proof of a release from its own bytes.

Everything it says is derived again from its annotations, its policy and its contract.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from reprlib import repr as shortened
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError, ReleaseInvalidError
from agreement_pipeline.large_files import Content
from agreement_pipeline.policy import DIGEST, Policy, Waiver, Waivers
from agreement_pipeline.ratings import (
    EXTRAS,
    Adjudicated,
    Cells,
    Origin,
    PanelLabels,
    Ratings,
    Rows,
    Scale,
    content_columns,
    in_pandas,
    ratings_of,
)
from agreement_pipeline.release.contents import (
    DECISION,
    DOCUMENTS,
    MANIFEST,
    POLICY,
    SCHEMA,
    VERSION,
    WORDING,
    Paths,
    as_json,
    decisions_of,
    document,
    documents,
    identity,
)
from agreement_pipeline.release.folder import cells_of, difference, holds_rows, json_in
from agreement_pipeline.release.tables import (
    ANNOTATIONS,
    TRAIN,
    UNRESOLVED,
    Member,
    gold_in,
    labels_of,
    tables_of,
)
from agreement_pipeline.store import Folder, check_round_name, digest_of
from agreement_pipeline.version import __version__

UNDERIVED: Paths = frozenset({("written_by",), ("files",)})


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has proved itself.

    Attributes
    ----------
    path
        The folder of the release.
    project, rounds
        The name of the project, and the names of the rounds in the release.
    policy, contract
        The policy and the data contract that the rounds were judged by.
    decisions
        The decision on each round, as `Decision.to_mapping` gives it.
    labels
        The label of each item, in arrays.
    rows
        One row for each rating, made a part at a time. Raters have pseudonyms.
    ratings
        The ratings of each round, under the same pseudonyms.
    manifest_digest
        SHA-256 of the manifest. The manifest lists the digest of every other file. The log
        of the store has it.
    """

    path: Folder
    project: str
    rounds: tuple[str, ...]
    policy: Policy
    contract: Contract
    decisions: dict[str, dict[str, Any]]
    labels: PanelLabels
    rows: Rows
    ratings: dict[str, Ratings]
    manifest_digest: str

    @classmethod
    def of(
        cls,
        path: Folder,
        data: Mapping[str, Content],
        project: str,
        members: Sequence[Member],
        labels: PanelLabels,
        policy: Policy,
        contract: Contract,
    ) -> "Release":
        """The release of some judged rounds, whose files are known to follow from them."""
        return cls(
            path=path,
            project=project,
            rounds=tuple(member.round for member in members),
            policy=policy,
            contract=contract,
            decisions=decisions_of(members),
            labels=labels,
            rows=tables_of(members, labels)[ANNOTATIONS],
            ratings={member.round: member.ratings for member in members},
            manifest_digest=digest_of(data[MANIFEST]),
        )

    @cached_property
    def train(self) -> pd.DataFrame:
        """One row for each item that has a label, with the columns of `consensus`."""
        return self.labels.take(self.labels.resolved).frame()

    @cached_property
    def annotations(self) -> pd.DataFrame:
        """One row for each rating. Raters have pseudonyms."""
        whole = pa.Table.from_batches(self.rows.to_batches(), self.rows.schema)
        frame: pd.DataFrame = in_pandas(whole)
        return frame

    @property
    def tentative(self) -> bool:
        """True if a round is admitted on a tentative verdict."""
        return any(decision["tentative"] for decision in self.decisions.values())


class _JudgedBy(NamedTuple):
    """What a release says it was judged by, and the day on which its waivers must hold."""

    policy: Policy
    contract: Contract
    scale: Scale
    waivers: dict[str, tuple[Waiver, ...]]
    on: date
    writers: dict[str, Any]


def prove(
    data: Mapping[str, Content],
    path: Folder,
    on: date,
) -> Release:
    """Derive everything again from the annotations, and compare.

    These are derived: the decisions, the report, the training rows, and the words. A waiver
    in the release must hold on the given day.
    """
    manifest = json_in(data, MANIFEST, path)
    by = _judged_by(data, manifest.get("written_by"), path, on)
    members, labels = _derived(data, manifest, by, path)
    project, policy, contract = manifest["project"], by.policy, by.contract
    derived_manifest = {
        **identity(project, members, policy, contract),
        "written_by": {},
        "files": {},
    }
    _refuse_other(path, MANIFEST, manifest, derived_manifest, UNDERIVED)
    _refuse_other(path, DECISION, json_in(data, DECISION, path), decisions_of(members), WORDING)
    for member in members:
        decision = member.assessment.decision
        if not decision.admitted:
            raise ReleaseInvalidError(
                f"{path}: found round {member.round}, which is not admitted "
                f"({'; '.join(decision.reasons)}); expected an admitted round. "
                "Do not train on it.",
                "release_not_admitted",
            )
    tables = tables_of(members, labels)
    written = {name: (rows.schema, digest_of(data[name])) for name, rows in tables.items()}
    derived = documents(project, members, labels, policy, contract, by.scale, written)
    for name, words in DOCUMENTS.items():
        if words is not None:
            found, again = json_in(data, name, path), json.loads(derived[name])
            _refuse_other(path, name, found, again, words)
    _compare(path, data, tables, derived, by)
    return Release.of(path, data, project, members, labels, policy, contract)


def _derived(
    data: Mapping[str, Content],
    manifest: Mapping[str, Any],
    by: _JudgedBy,
    path: Folder,
) -> tuple[list[Member], PanelLabels]:
    try:
        annotations = cells_of(data, ANNOTATIONS, path)
        if manifest["schema"] != SCHEMA:
            raise KeyError("schema")
        check_round_name(manifest["project"], "project")
        table = annotations.relation
        named = table.ask(f"SELECT DISTINCT round FROM {table}")["round"].to_pylist()
        if {*named} != {each["round"] for each in manifest["rounds"]}:
            raise KeyError("rounds")
        rounds = [_ratings(annotations, entry, by) for entry in manifest["rounds"]]
        del annotations, table
        gold = gold_in(rounds)
        members = [
            _member(ratings.with_gold(gold), entry, by)
            for ratings, entry in zip(rounds, manifest["rounds"], strict=True)
        ]
        return members, labels_of(members)
    except ReleaseInvalidError:
        raise
    except (
        AgreementError,
        KeyError,
        OverflowError,
        TypeError,
        ValueError,
        pa.ArrowException,
    ) as cause:
        raise ReleaseInvalidError(
            f"{path}: found {ANNOTATIONS} and {MANIFEST} that do not give rounds that can be "
            f"judged ({cause}); expected those released. Fetch the release again.",
            "release_not_derived",
        ) from None


def _ratings(annotations: Cells, entry: Mapping[str, Any], by: _JudgedBy) -> Ratings:
    table, name = annotations.relation, check_round_name(entry["round"])
    optional = [*EXTRAS, *content_columns(annotations.names)]
    absent = [each for each in optional if each not in entry["columns"]]
    kept = [table.session.column(each) for each in annotations.names if each not in absent]
    here = table.view(
        f"SELECT {', '.join(kept)} FROM {table} WHERE round = {table.session.literal(name)}"
    )
    origin = Origin.from_mapping(entry["origin"]) if "origin" in entry else None
    return ratings_of(replace(annotations, relation=here), by.scale, origin)


def _member(
    ratings: Ratings,
    entry: Mapping[str, Any],
    by: _JudgedBy,
) -> Member:
    if not isinstance(digest := entry["original_digest"], str) or not DIGEST.fullmatch(digest):
        raise KeyError("original_digest")
    if not isinstance(version := entry["version"], int) or version < 1 or version is True:
        raise KeyError("version")
    judged = (ratings, by.policy, by.contract, Waivers(by.waivers.get(entry["round"], ()), by.on))
    member = Member.assessed(entry["round"], digest, *judged, version=version)
    return replace(member, adjudicated=Adjudicated.released(entry))


def _judged_by(data: Mapping[str, Content], writers: object, path: Folder, on: date) -> _JudgedBy:
    if not isinstance(writers, dict) or not all(isinstance(each, str) for each in writers.values()):
        raise ReleaseInvalidError(  # the versions of writers cannot be derived
            f"{path / MANIFEST}: found written_by {shortened(writers)}; "
            "expected the versions of libraries by name. Fetch the release again.",
            "release_not_derived",
        )
    found = json_in(data, POLICY, path)
    try:
        waivers = {
            name: tuple(Waiver.from_mapping(each) for each in written)
            for name, written in found["waivers"].items()
        }
        by = _JudgedBy(
            Policy.from_mapping(found["policy"]),
            Contract.from_mapping(found["contract"]),
            Scale.from_mapping(found["scale"]),
            waivers,
            on,
            writers,
        )
    except (
        AgreementError,
        AttributeError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as cause:
        raise ReleaseInvalidError(
            f"{path / POLICY}: found content that cannot be used ({cause}); "
            "expected a policy, a contract and a scale. Fetch the release again."
        ) from None
    ended = [str(each) for written in by.waivers.values() for each in written if on > each.until]
    if ended:
        raise ReleaseInvalidError(
            f"{path}: found a release admitted under a {'; '.join(ended)}, which has ended; "
            "expected a waiver that holds. Ask for the next release.",
            "release_waiver_ended",
        )
    return by


def _compare(
    path: Folder,
    data: Mapping[str, Content],
    tables: Mapping[str, Rows],
    derived: Mapping[str, bytes],
    by: _JudgedBy,
) -> None:
    """Refuse rows and words that the annotations do not give."""
    # no decision rests on what is in no rating, but the trainer gets the whole table
    for name, due in (
        (ANNOTATIONS, "are not as the ratings in them are written; expected exactly those"),
        (TRAIN, "the consensus of the annotations does not give; expected exactly its rows"),
        (UNRESOLVED, "the consensus of the annotations does not give; expected exactly its rows"),
    ):
        if not holds_rows(data, name, path, tables[name]):
            raise ReleaseInvalidError(
                f"{path}: found rows of {name} that {due}. Fetch the release again.",
                "release_not_derived",
            )
    for name, words in DOCUMENTS.items():  # the numbers were compared before
        if words is None:
            same = document(data, name) == derived[name]
            reworded = None if same else f"{name} is another text"
        else:
            found, again = json_in(data, name, path), json.loads(derived[name])
            reworded = difference(found, again, name, VERSION) if words else None
        if reworded:
            raise ReleaseInvalidError(
                f"{path}: found that {reworded} when worded again by agreement_pipeline "
                f"{__version__}; expected the words that its annotations give. "
                "Fetch the release again, or verify it with the versions that wrote it, "
                f"{shortened(by.writers)}.",
                "release_reworded",
            )


def _refuse_other(
    path: Folder, name: str, found: object, derived: object, passed_over: Paths = frozenset()
) -> None:
    differing = difference(found, json.loads(as_json(derived)), name, passed_over)
    if differing:
        raise ReleaseInvalidError(
            f"{path}: found that {differing} when derived again from the annotations; "
            "expected what they give. Fetch the release again, "
            "and verify it with the versions of the libraries that its manifest names.",
            "release_not_derived",
        )
