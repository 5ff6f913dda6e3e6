"""What a release proves from its own bytes: all that it says is derived again from its annotations, its policy and its contract."""

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError, ReleaseInvalidError
from agreement_pipeline.policy import DIGEST, Policy, Waiver, Waivers
from agreement_pipeline.ratings import (
    CONTENT,
    EXTRAS,
    Ratings,
    Scale,
    parquet_table,
    ratings_of,
    resolved,
)
from agreement_pipeline.release.contents import (
    ANNOTATIONS,
    CROISSANT,
    DECISION,
    MANIFEST,
    POLICY,
    README,
    REPORT,
    SCHEMA,
    TRAIN,
    UNRESOLVED,
    WITHDRAWN,
    Member,
    as_json,
    decisions_of,
    documents,
    gold_in,
    identity,
    labels_of,
    tables_of,
)
from agreement_pipeline.release.same import EACH, Paths, difference, same_rows
from agreement_pipeline.store import Folder, check_round_name, files, storage_at
from agreement_pipeline.text import listed
from agreement_pipeline.version import __version__

REQUIRED = frozenset({TRAIN, UNRESOLVED, ANNOTATIONS, REPORT, POLICY, DECISION, README, CROISSANT})
UNDERIVED: Paths = frozenset({("written_by",), ("files",)})
VERSION: Paths = frozenset({(EACH, "code_version")})
WORDING: Paths = VERSION | {
    (EACH, "reasons"),
    (EACH, "verdicts", EACH, "reason"),
    (EACH, "findings", EACH, "description"),
    ("rounds", EACH, "estimates", EACH, "method"),
    ("rounds", EACH, "estimates", EACH, "undefined"),
}


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has proved itself.

    Attributes
    ----------
    path
        Its folder.
    project, rounds
        Whose it is, and the rounds in it.
    policy, contract
        What it was judged by.
    decisions
        The decision on each round, as `Decision.to_mapping` gives it.
    train
        One row an item that has a label; the columns are those of `consensus`.
    annotations
        One row a rating, the raters under pseudonyms.
    ratings
        The ratings of each round, under the same pseudonyms.
    manifest_digest
        SHA-256 of the manifest, and so of every byte in the folder; the log of its store has it.
    """

    path: Folder
    project: str
    rounds: tuple[str, ...]
    policy: Policy
    contract: Contract
    decisions: dict[str, dict[str, Any]]
    train: pd.DataFrame
    annotations: pd.DataFrame
    ratings: dict[str, Ratings]
    manifest_digest: str

    @property
    def tentative(self) -> bool:
        """Is a round in it admitted on a tentative verdict?"""
        return any(decision["tentative"] for decision in self.decisions.values())


class _JudgedBy(NamedTuple):
    """What a release says it was judged by, and the day on which its waivers are read."""

    policy: Policy
    contract: Contract
    scale: Scale
    waivers: dict[str, tuple[Waiver, ...]]
    on: date


def read_folder(path: Folder) -> dict[str, bytes]:
    """The files of a release by name, once they are seen to be those that its manifest lists.

    Raises
    ------
    ReleaseInvalidError
        There is no manifest, the release was withdrawn, or a file is missing, extra or changed.
    """
    storage = storage_at(path)
    found = set(storage.names())
    _refuse_other_kinds(path, found & {WITHDRAWN, MANIFEST})
    if WITHDRAWN in found:
        raise _withdrawn(path, storage.read(WITHDRAWN) or b"")
    manifest = storage.read(MANIFEST)
    if manifest is None:
        raise ReleaseInvalidError(
            f"{path}: no {MANIFEST} found; a release has one, written last. Ask for the complete folder.",
            "release_unfinished",
        )
    promised = _json({MANIFEST: manifest}, MANIFEST, path).get("files")
    if not isinstance(promised, dict) or not promised.keys() >= REQUIRED:
        raise ReleaseInvalidError(
            f"{path / MANIFEST}: no list of all files of a release found; one is required. Fetch the release again."
        )
    _refuse_other_files(path, set(promised), found - {MANIFEST})
    _refuse_unknown_files(path, set(promised))
    _refuse_other_kinds(path, found)
    data = {name: storage.read(name) or b"" for name in sorted(promised)}
    changed = [
        name
        for name, content in data.items()
        if promised[name] != {"sha256": files.digest_of(content), "bytes": len(content)}
    ]
    if changed:
        raise ReleaseInvalidError(
            f"{path}: other bytes in {listed(changed)} found; those that were released are required. Fetch the release again.",
            "release_file_changed",
        )
    return {MANIFEST: manifest, **data}


def prove(data: Mapping[str, bytes], path: Folder, on: date) -> Release:
    """Derive the decisions, the report and the training rows again from the annotations, and compare. A waiver in it must hold on that day.

    Raises
    ------
    ReleaseInvalidError
        A file is not what it must be, something comes out otherwise, or a round is not admitted.
    """
    manifest = _json(data, MANIFEST, path)
    _refuse_other_writers(path, manifest.get("written_by"))
    by = _judged_by(data, path, on)
    _refuse_ended(path, by)
    annotations, members, labels = _derived(data, manifest, by, path)
    project, policy, contract = manifest["project"], by.policy, by.contract
    derived_manifest = {
        **identity(project, members, policy, contract),
        "written_by": {},
        "files": {},
    }
    _refuse_other(path, MANIFEST, manifest, derived_manifest, UNDERIVED)
    _refuse_other(path, DECISION, _json(data, DECISION, path), decisions_of(members), WORDING)
    _refuse_held(path, members)
    tables = tables_of(members, labels, by.scale)
    written = {name: (table.schema, files.digest_of(data[name])) for name, table in tables.items()}
    derived = documents(project, members, labels, policy, contract, by.scale, written)
    _refuse_other(path, REPORT, _json(data, REPORT, path), json.loads(derived[REPORT]), WORDING)
    _refuse_other(path, POLICY, _json(data, POLICY, path), json.loads(derived[POLICY]))
    _refuse_unread(path, annotations, tables[ANNOTATIONS])
    for name in (TRAIN, UNRESOLVED):
        _refuse_other_rows(path, name, _table(data, name, path), tables[name])
    _refuse_other_words(path, data, derived, manifest)
    return Release(
        path=path,
        project=project,
        rounds=tuple(member.round for member in members),
        policy=policy,
        contract=contract,
        decisions=decisions_of(members),
        train=resolved(labels),
        annotations=annotations.to_pandas(),
        ratings={member.round: member.ratings for member in members},
        manifest_digest=files.digest_of(data[MANIFEST]),
    )


def _derived(
    data: Mapping[str, bytes], manifest: Mapping[str, Any], by: _JudgedBy, path: Folder
) -> tuple[pa.Table, list[Member], pd.DataFrame]:
    annotations = _table(data, ANNOTATIONS, path)
    try:
        if manifest["schema"] != SCHEMA:
            raise KeyError("schema")
        check_round_name(manifest["project"], "project")
        rounds = [_ratings(annotations, entry, by) for entry in manifest["rounds"]]
        gold = gold_in(rounds)
        members = [
            _member(replace(ratings, also_gold=gold), entry, by)
            for ratings, entry in zip(rounds, manifest["rounds"], strict=True)
        ]
        if set(annotations["round"].to_pylist()) != {member.round for member in members}:
            raise KeyError("rounds")
        return annotations, members, labels_of(members)
    except (
        AgreementError,
        KeyError,
        OverflowError,
        TypeError,
        ValueError,
        pa.ArrowException,
    ) as cause:
        raise ReleaseInvalidError(
            f"{path}: {ANNOTATIONS} and {MANIFEST} do not give rounds that can be judged ({cause}); those released are required. Fetch the release again.",
            "release_not_derived",
        ) from None


def _ratings(annotations: pa.Table, entry: Mapping[str, Any], by: _JudgedBy) -> Ratings:
    rows = annotations.filter(pc.equal(annotations["round"], check_round_name(entry["round"])))
    absent = [
        name
        for name in (*EXTRAS, *CONTENT)
        if name in rows.column_names and name not in entry["columns"]
    ]
    return ratings_of(rows.drop_columns(["round", *absent]), by.scale, source=ANNOTATIONS)


def _member(ratings: Ratings, entry: Mapping[str, Any], by: _JudgedBy) -> Member:
    if not isinstance(digest := entry["original_digest"], str) or not DIGEST.fullmatch(digest):
        raise KeyError("original_digest")
    waivers = Waivers(by.waivers.get(entry["round"], ()), by.on)
    return Member.assessed(
        entry["round"], entry["original_digest"], ratings, by.policy, by.contract, waivers
    )


def _judged_by(data: Mapping[str, bytes], path: Folder, on: date) -> _JudgedBy:
    found = _json(data, POLICY, path)
    try:
        waivers = {
            name: tuple(Waiver.from_mapping(each) for each in written)
            for name, written in found["waivers"].items()
        }
        return _JudgedBy(
            Policy.from_mapping(found["policy"]),
            Contract.from_mapping(found["contract"]),
            Scale.from_mapping(found["scale"]),
            waivers,
            on,
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
            f"{path / POLICY}: not readable ({cause}); a policy, a contract and a scale are required. Fetch the release again."
        ) from None


def _withdrawn(path: Folder, data: bytes) -> ReleaseInvalidError:
    notice = _parsed(data, WITHDRAWN, path)
    said = notice.get("reasons")
    reasons = "; ".join(map(str, said)) if isinstance(said, list) else str(said)
    return ReleaseInvalidError(
        f"{path}: withdrawn on {notice.get('time')}, for round {notice.get('round')} ({reasons}); a release in force is required. "
        "Do not train on it; ask for the next release.",
        "release_withdrawn",
    )


def _refuse_other_files(path: Folder, promised: set[str], found: set[str]) -> None:
    if promised - found:
        raise ReleaseInvalidError(
            f"{path}: no file {listed(sorted(promised - found))} found; the manifest lists it. Fetch the release again.",
            "release_file_missing",
        )
    if found - promised:
        raise ReleaseInvalidError(
            f"{path}: extra file {listed(sorted(found - promised))} found; only what the manifest lists is required. Remove it.",
            "release_file_extra",
        )


def _refuse_unknown_files(path: Folder, promised: set[str]) -> None:
    """Refuse what the manifest lists and nothing can be derived for: a trainer who loads `data/*` would train on it."""
    if promised - REQUIRED:
        raise ReleaseInvalidError(
            f"{path}: files {listed(sorted(promised - REQUIRED))} found in the manifest; only those that every release has are required. "
            "Fetch the release again.",
            "release_file_extra",
        )


def _refuse_other_kinds(path: Folder, found: set[str]) -> None:
    """Refuse what stands elsewhere, since whoever may write there changes the release afterwards; and what has no end, as a pipe."""
    kinds = [
        name
        for name in sorted(found)
        if isinstance(path, Path) and not stat.S_ISREG((path / name).lstat().st_mode)
    ]
    if kinds:
        raise ReleaseInvalidError(
            f"{path}: links, or things of another kind, {listed(kinds)} found; the files themselves are required. Copy the folder with what its links lead to."
        )


def _refuse_other_writers(path: Folder, found: object) -> None:
    """Refuse what no release says of its writers; their versions cannot be derived."""
    if not isinstance(found, dict) or not all(
        isinstance(version, str) for version in found.values()
    ):
        raise ReleaseInvalidError(
            f"{path / MANIFEST}: written_by {shortened(found)} found; the versions of libraries by name are required. Fetch the release again.",
            "release_not_derived",
        )


def _refuse_ended(path: Folder, by: _JudgedBy) -> None:
    ended = [
        str(waiver) for written in by.waivers.values() for waiver in written if by.on > waiver.until
    ]
    if ended:
        raise ReleaseInvalidError(
            f"{path}: admitted under a {'; '.join(ended)}, which has ended; one that holds is required. Ask for the next release.",
            "release_waiver_ended",
        )


def _refuse_held(path: Folder, members: list[Member]) -> None:
    for member in members:
        decision = member.assessment.decision
        if not decision.admitted:
            raise ReleaseInvalidError(
                f"{path}: round {member.round} is not admitted ({'; '.join(decision.reasons)}); an admitted one is required. Do not train on it.",
                "release_not_admitted",
            )


def _refuse_other(
    path: Folder, name: str, found: object, derived: object, passed_over: Paths = frozenset()
) -> None:
    differing = difference(found, json.loads(as_json(derived)), name, passed_over)
    if differing:
        raise ReleaseInvalidError(
            f"{path}: {differing} when derived again from the annotations; what they give is required. Fetch the release again, "
            "and verify it with the versions of the libraries that its manifest names.",
            "release_not_derived",
        )


def _refuse_other_words(
    path: Folder,
    data: Mapping[str, bytes],
    derived: Mapping[str, bytes],
    manifest: Mapping[str, Any],
) -> None:
    """Refuse what a person reads in the release and nothing in it gives; its numbers are compared before."""
    reworded = [
        difference(_json(data, name, path), json.loads(derived[name]), name, VERSION)
        for name in (DECISION, REPORT)
    ]
    found = [each for each in reworded if each] + [
        f"{name} is another text" for name in (README, CROISSANT) if data[name] != derived[name]
    ]
    if found:
        raise ReleaseInvalidError(
            f"{path}: {found[0]} when worded again by agreement_pipeline {__version__}; the words that its annotations give are required. "
            f"Fetch the release again, or verify it with the versions that wrote it, {shortened(manifest.get('written_by'))}.",
            "release_reworded",
        )


def _refuse_unread(path: Folder, found: pa.Table, derived: pa.Table) -> None:
    """Refuse annotations of which a part enters no rating, and so no decision: a trainer is handed the whole table."""
    if not same_rows(found, derived):
        raise ReleaseInvalidError(
            f"{path}: rows of {ANNOTATIONS} found that are not as the ratings in them are written; exactly those are required. Fetch the release again.",
            "release_not_derived",
        )


def _refuse_other_rows(path: Folder, name: str, found: pa.Table, derived: pa.Table) -> None:
    if not same_rows(found, derived):
        raise ReleaseInvalidError(
            f"{path}: rows of {name} found that the consensus of the annotations does not give; exactly those are required. Fetch the release again.",
            "release_not_derived",
        )


def _table(data: Mapping[str, bytes], name: str, path: Folder) -> pa.Table:
    try:
        return parquet_table(data[name])
    except AgreementError as cause:
        raise ReleaseInvalidError(f"{path / name}: {cause}") from None


def _json(data: Mapping[str, bytes], name: str, path: Folder) -> dict[str, Any]:
    """What a JSON file of a release says, to every reader alike: written again it gives the very bytes, so that no key stands in it twice."""
    found = _parsed(data[name], name, path)
    try:
        same = as_json(found) == data[name]
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise ReleaseInvalidError(
            f"{path / name}: JSON found that is not written as releases write it, as with a key that stands in it twice; "
            "the very bytes that its data give are required. Fetch the release again."
        )
    return found


def _parsed(content: bytes, name: str, path: Folder) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as cause:
        raise ReleaseInvalidError(
            f"{path / name}: not readable as JSON ({cause}); what was released is required. Fetch the release again."
        ) from None
    if not isinstance(found, dict):
        raise ReleaseInvalidError(
            f"{path / name}: {type(found).__name__} found; a JSON object is required. Fetch the release again."
        )
    return found
