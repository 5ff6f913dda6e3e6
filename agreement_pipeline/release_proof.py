"""What a release proves from its own bytes: all that it says is derived again from its annotations, its policy and its contract."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline import files
from agreement_pipeline.consensus import resolved, unresolved
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError, ReleaseInvalidError, listed
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import CONTENT, Ratings
from agreement_pipeline.release_contents import (
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
    annotations_table,
    decisions_of,
    identity,
    labels_of,
    labels_table,
    report_of,
)
from agreement_pipeline.scale import Scale
from agreement_pipeline.storage import Folder, storage_at
from agreement_pipeline.tables import EXTRAS, parquet_table, ratings_of
from agreement_pipeline.waivers import Waiver, Waivers

REQUIRED = frozenset({TRAIN, UNRESOLVED, ANNOTATIONS, REPORT, POLICY, DECISION, README, CROISSANT})
TOLERANCE = 1e-9
WORDING = frozenset({"reason", "reasons", "description", "method", "undefined", "code_version"})


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
    if WITHDRAWN in found:
        raise _withdrawn(path, storage.read(WITHDRAWN) or b"")
    manifest = storage.read(MANIFEST)
    if manifest is None:
        raise ReleaseInvalidError(f"{path}: no {MANIFEST} found; a release has one, written last. Ask for the complete folder.", "release_unfinished")
    promised = _json({MANIFEST: manifest}, MANIFEST, path).get("files")
    if not isinstance(promised, dict) or not promised.keys() >= REQUIRED:
        raise ReleaseInvalidError(f"{path / MANIFEST}: no list of all files of a release found; one is required. Fetch the release again.")
    _refuse_other_files(path, set(promised), found - {MANIFEST})
    data = {name: storage.read(name) or b"" for name in sorted(promised)}
    changed = [name for name, content in data.items() if promised[name] != {"sha256": files.digest_of(content), "bytes": len(content)}]
    if changed:
        raise ReleaseInvalidError(
            f"{path}: other bytes in {listed(changed)} found; those that were released are required. Fetch the release again.", "release_file_changed"
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
    by = _judged_by(data, path, on)
    policy, contract, scale = by.policy, by.contract, by.scale
    _refuse_ended(path, by)
    annotations, members, labels = _derived(data, manifest, by, path)
    _refuse_other(
        path, MANIFEST, {name: manifest.get(name) for name in identity("", members, policy, contract)}, identity(manifest["project"], members, policy, contract)
    )
    _refuse_other(path, DECISION, _json(data, DECISION, path), decisions_of(members))
    _refuse_held(path, members)
    _refuse_other(path, REPORT, _json(data, REPORT, path), report_of(members, labels))
    _refuse_unread(path, annotations, annotations_table(members))
    _refuse_other_rows(path, TRAIN, _table(data, TRAIN, path), labels_table(resolved(labels), scale))
    _refuse_other_rows(path, UNRESOLVED, _table(data, UNRESOLVED, path), labels_table(unresolved(labels), scale))
    return Release(
        path=path,
        project=manifest["project"],
        rounds=tuple(member.round for member in members),
        policy=policy,
        contract=contract,
        decisions=decisions_of(members),
        train=resolved(labels),
        annotations=annotations.to_pandas(),
        ratings={member.round: member.ratings for member in members},
    )


def _derived(data: Mapping[str, bytes], manifest: Mapping[str, Any], by: _JudgedBy, path: Folder) -> tuple[pa.Table, list[Member], pd.DataFrame]:
    annotations = _table(data, ANNOTATIONS, path)
    try:
        if manifest["schema"] != SCHEMA or not isinstance(manifest["project"], str):
            raise KeyError("schema")
        members = [_member(annotations, entry, by) for entry in manifest["rounds"]]
        if set(annotations["round"].to_pylist()) != {member.round for member in members}:
            raise KeyError("rounds")
        return annotations, members, labels_of(members)
    except (AgreementError, KeyError, TypeError, ValueError, pa.ArrowException) as cause:
        raise ReleaseInvalidError(
            f"{path}: {ANNOTATIONS} and {MANIFEST} do not give rounds that can be judged ({cause}); those released are required. Fetch the release again.",
            "release_not_derived",
        ) from None


def _member(annotations: pa.Table, entry: Mapping[str, Any], by: _JudgedBy) -> Member:
    rows = annotations.filter(pc.equal(annotations["round"], entry["round"]))
    absent = [name for name in (*EXTRAS, *CONTENT) if name in rows.column_names and name not in entry["columns"]]
    ratings = ratings_of(rows.drop_columns(["round", *absent]), by.scale, source=ANNOTATIONS)
    waivers = Waivers(by.waivers.get(entry["round"], ()), by.on)
    return Member.assessed(entry["round"], entry["original_digest"], ratings, by.policy, by.contract, waivers)


def _judged_by(data: Mapping[str, bytes], path: Folder, on: date) -> _JudgedBy:
    found = _json(data, POLICY, path)
    try:
        waivers = {name: tuple(Waiver.from_mapping(each) for each in written) for name, written in found["waivers"].items()}
        return _JudgedBy(Policy.from_mapping(found["policy"]), Contract.from_mapping(found["contract"]), Scale.from_mapping(found["scale"]), waivers, on)
    except (AgreementError, AttributeError, KeyError, TypeError, ValueError) as cause:
        raise ReleaseInvalidError(f"{path / POLICY}: not readable ({cause}); a policy, a contract and a scale are required. Fetch the release again.") from None


def _withdrawn(path: Folder, data: bytes) -> ReleaseInvalidError:
    notice = _json({WITHDRAWN: data}, WITHDRAWN, path)
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
            f"{path}: no file {listed(sorted(promised - found))} found; the manifest lists it. Fetch the release again.", "release_file_missing"
        )
    if found - promised:
        raise ReleaseInvalidError(
            f"{path}: extra file {listed(sorted(found - promised))} found; only what the manifest lists is required. Remove it.", "release_file_extra"
        )


def _refuse_ended(path: Folder, by: _JudgedBy) -> None:
    ended = [str(waiver) for written in by.waivers.values() for waiver in written if by.on > waiver.until]
    if ended:
        raise ReleaseInvalidError(
            f"{path}: admitted under a {'; '.join(ended)}, which has ended; one that holds is required. Ask for the next release.", "release_waiver_ended"
        )


def _refuse_held(path: Folder, members: list[Member]) -> None:
    for member in members:
        decision = member.assessment.decision
        if not decision.admitted:
            raise ReleaseInvalidError(
                f"{path}: round {member.round} is not admitted ({'; '.join(decision.reasons)}); an admitted one is required. Do not train on it.",
                "release_not_admitted",
            )


def _refuse_other(path: Folder, name: str, found: object, derived: object) -> None:
    difference = _difference(found, derived, name)
    if difference:
        raise ReleaseInvalidError(
            f"{path}: {difference} when derived again from the annotations; what they give is required. Fetch the release again, "
            "and verify it with the versions of the libraries that its manifest names.",
            "release_not_derived",
        )


def _refuse_unread(path: Folder, found: pa.Table, derived: pa.Table) -> None:
    """Refuse annotations of which a part enters no rating, and so no decision: a trainer is handed the whole table."""
    if not _same_rows(found, derived):
        raise ReleaseInvalidError(
            f"{path}: rows of {ANNOTATIONS} found that are not as the ratings in them are written; exactly those are required. Fetch the release again.",
            "release_not_derived",
        )


def _refuse_other_rows(path: Folder, name: str, found: pa.Table, derived: pa.Table) -> None:
    if not _same_rows(found, derived):
        raise ReleaseInvalidError(
            f"{path}: rows of {name} found that the consensus of the annotations does not give; exactly those are required. Fetch the release again.",
            "release_not_derived",
        )


def _same_rows(found: pa.Table, derived: pa.Table) -> bool:
    same_columns = found.schema.equals(derived.schema) and found.schema.metadata == derived.schema.metadata
    return (
        same_columns
        and len(found) == len(derived)
        and all(_same_values(found[name].combine_chunks(), derived[name].combine_chunks()) for name in derived.column_names)
    )


def _same_values(found: pa.Array, derived: pa.Array) -> bool:
    if not found.is_null().equals(derived.is_null()):
        return False
    if pa.types.is_fixed_size_list(found.type):
        return _same_values(found.flatten(), derived.flatten())
    if pa.types.is_floating(found.type):
        return np.allclose(found.to_numpy(zero_copy_only=False), derived.to_numpy(zero_copy_only=False), rtol=0, atol=TOLERANCE, equal_nan=True)
    return bool(found.equals(derived))


def _difference(found: object, derived: object, at: str) -> str | None:
    """The first place where they differ, in words; numbers may within the tolerance, wordings may."""
    if isinstance(found, Mapping) and isinstance(derived, Mapping):
        pairs = [(found.get(name), derived.get(name), f"{at}, {name}") for name in sorted(found.keys() | derived.keys()) if name not in WORDING]
        return next((words for pair in pairs if (words := _difference(*pair))), None)
    if isinstance(found, list) and isinstance(derived, list) and len(found) == len(derived):
        return next((words for n, pair in enumerate(zip(found, derived, strict=True), 1) if (words := _difference(*pair, f"{at} {n}"))), None)
    if isinstance(found, float) and isinstance(derived, float) and math.isclose(found, derived, rel_tol=0, abs_tol=TOLERANCE):
        return None
    return None if found == derived else f"{at} is {shortened(found)} and comes out as {shortened(derived)}"


def _table(data: Mapping[str, bytes], name: str, path: Folder) -> pa.Table:
    try:
        return parquet_table(data[name])
    except AgreementError as cause:
        raise ReleaseInvalidError(f"{path / name}: {cause}") from None


def _json(data: Mapping[str, bytes], name: str, path: Folder) -> dict[str, Any]:
    try:
        found = json.loads(data[name])
    except ValueError as cause:
        raise ReleaseInvalidError(f"{path / name}: not readable as JSON ({cause}); what was released is required. Fetch the release again.") from None
    if not isinstance(found, dict):
        raise ReleaseInvalidError(f"{path / name}: {type(found).__name__} found; a JSON object is required. Fetch the release again.")
    return found
