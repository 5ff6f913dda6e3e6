"""The proof of a release from its own bytes.

Everything it says is derived again from its annotations, its policy and its contract.
"""

import json
from collections.abc import Mapping, Set
from dataclasses import replace
from datetime import date
from itertools import chain
from reprlib import repr as shortened
from typing import Any

import pyarrow as pa

from agreement_pipeline.classifiers import Identity
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError, ReleaseInvalidError
from agreement_pipeline.large_files import Content
from agreement_pipeline.policy import DIGEST, Policy, Waiver
from agreement_pipeline.ratings import (
    EXTRAS,
    Adjudicated,
    Cells,
    Origin,
    ParquetRows,
    Ratings,
    Scale,
    content_columns,
    ratings_of,
    stored_cells,
)
from agreement_pipeline.release.contents import (
    BEFORE,
    DECISION,
    DOCUMENTS,
    MANIFEST,
    OLDER,
    POLICY,
    SCHEMA,
    VERSION,
    WORDING,
    Paths,
    Release,
    as_json,
    document,
    documents,
    identity,
)
from agreement_pipeline.release.decisions import Terms
from agreement_pipeline.release.folder import difference, json_in, read_of, same_rows
from agreement_pipeline.release.silver import Audit
from agreement_pipeline.release.tables import (
    ANNOTATIONS,
    TRAIN,
    UNRESOLVED,
    Member,
    gold_in,
    labels_of,
)
from agreement_pipeline.store import Folder, check_round_name, digest_of
from agreement_pipeline.version import EARLIER, __version__

UNDERIVED: Paths = frozenset({("written_by",), ("files",)})


def prove(
    data: Mapping[str, Content], path: Folder, on: date, logged: Set[str] | None = None
) -> Release:
    """The release in these files, if all of it is the same when it is derived again.

    A waiver in the release must hold on the given day. What an earlier version of this package
    wrote may come out in other numbers and words. Then its manifest must be among the `logged`
    ones: those of releases that are in force in a log, and that followed an admitting decision.
    """
    manifest = json_in(data, MANIFEST, path)
    writers = manifest.get("written_by")
    if not isinstance(writers, dict) or not all(isinstance(each, str) for each in writers.values()):
        raise ReleaseInvalidError(  # the versions of writers cannot be derived
            f"{path / MANIFEST}: found written_by {shortened(writers)}; "
            "expected the versions of libraries by name. Fetch the release again.",
            "release_not_derived",
        )
    release = _derived(data, manifest, path, on)
    if release.written_by in EARLIER and release.manifest_digest in (logged or ()):
        return _as_decided(data, release)
    if release.schema != OLDER:
        _refuse_otherwise_derived(data, manifest, release)
    elif logged is not None:
        raise ReleaseInvalidError(
            f"{path}: found a release of agreement_pipeline {release.written_by} that the log does "
            "not have in force, byte for byte; expected one that it let out, since only the log "
            "can prove it. Do not train on it; ask for the present release.",
            "release_not_in_log",
        )
    else:
        raise ReleaseInvalidError(
            f"{path}: found a release in the form {manifest['schema']}, which agreement_pipeline "
            f"{release.written_by} wrote; expected a store whose log has it, since its numbers and "
            "words were found in another way. Name the store with --store; "
            "`agreement-pipeline store migrate` reads the store of an older version.",
            "release_not_derived",
        )
    return release


def _as_decided(data: Mapping[str, Content], release: Release) -> Release:
    decided = json_in(data, DECISION, release.path)
    admitted = {
        name
        for name, each in decided.items()
        if isinstance(each, dict) and each.get("decision") == "admitted"
    }
    if admitted != {*release.rounds} or admitted != decided.keys():
        found = sorted({*release.rounds, *decided} - admitted) or sorted(decided)
        raise _not_admitted(release.path, f"rounds {found} in {DECISION}")
    _refuse_other_rows(data, release, logged=True)
    return replace(release, decided=decided)


def _refuse_otherwise_derived(
    data: Mapping[str, Content], manifest: Mapping[str, Any], release: Release
) -> None:
    path = release.path
    again = {**identity(release), "written_by": {}, "files": {}}
    _refuse_other(path, MANIFEST, manifest, again, UNDERIVED)
    _refuse_other(path, DECISION, json_in(data, DECISION, path), release.decisions, WORDING)
    for name, reasons in release.held_today.items():
        raise _not_admitted(path, f"round {name}, which is not admitted ({'; '.join(reasons)})")
    derived = documents(release, {name: digest_of(data[name]) for name in release.tables})
    for name, words in DOCUMENTS.items():
        if words is not None:
            _refuse_other(path, name, json_in(data, name, path), json.loads(derived[name]), words)
    _refuse_other_rows(data, release)
    _refuse_reworded(path, data, derived, manifest["written_by"])


def _not_admitted(path: Folder, found: str) -> ReleaseInvalidError:
    return ReleaseInvalidError(
        f"{path}: found {found}; expected an admitted round. Do not train on it.",
        "release_not_admitted",
    )


def _derived(
    data: Mapping[str, Content], manifest: Mapping[str, Any], path: Folder, on: date
) -> Release:
    terms, scale = _judged_by(data, path, on)
    try:
        with read_of(path, ANNOTATIONS):
            annotations = stored_cells(ParquetRows(data[ANNOTATIONS]), ANNOTATIONS)
        if manifest["schema"] not in (SCHEMA, BEFORE, OLDER):
            raise KeyError("schema")
        project = check_round_name(manifest["project"], "project")
        table = annotations.relation
        named = table.ask(f"SELECT DISTINCT round FROM {table}")["round"].to_pylist()
        if {*named} != {each["round"] for each in manifest["rounds"]}:
            raise KeyError("rounds")
        rounds = [_ratings(annotations, entry, scale) for entry in manifest["rounds"]]
        del annotations, table
        gold = gold_in(rounds)
        members = tuple(
            _member(ratings.with_gold(gold), entry, terms)
            for ratings, entry in zip(rounds, manifest["rounds"], strict=True)
        )
        labels = labels_of(members)
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
    judged_by, digest = (terms.policy, terms.contract), digest_of(data[MANIFEST])
    writer = manifest["written_by"].get("agreement_pipeline", "")
    written = digest, writer, manifest["schema"]
    return Release(path, project, *judged_by, members, labels, *written)


def _ratings(annotations: Cells, entry: Mapping[str, Any], scale: Scale) -> Ratings:
    table, name = annotations.relation, check_round_name(entry["round"])
    optional = [*EXTRAS, *content_columns(annotations.names)]
    absent = [each for each in optional if each not in entry["columns"]]
    kept = [table.session.column(each) for each in annotations.names if each not in absent]
    here = table.view(
        f"SELECT {', '.join(kept)} FROM {table} WHERE round = {table.session.literal(name)}"
    )
    origin = Origin.from_mapping(entry["origin"]) if "origin" in entry else None
    return ratings_of(replace(annotations, relation=here), scale, origin)


def _member(ratings: Ratings, entry: Mapping[str, Any], terms: Terms) -> Member:
    if not isinstance(digest := entry["original_digest"], str) or not DIGEST.fullmatch(digest):
        raise KeyError("original_digest")
    if not isinstance(version := entry.get("version", 1), int) or version < 1 or version is True:
        raise KeyError("version")
    judged = ratings, terms.policy, terms.contract, terms.of(entry["round"])
    audit = Audit.from_mapping(entry["silver"]) if "silver" in entry else None
    if audit is not None and terms.on > audit.expires:
        raise ReleaseInvalidError(
            f"round {entry['round']}: found labels of {audit.identity.name}, whose certificate "
            f"ended on {audit.expires}; expected one that holds. Ask for the next release.",
            "release_certificate_ended",
        )
    known = tuple(map(Identity.from_mapping, entry.get("classifiers", ())))
    member = Member.assessed(
        entry["round"], digest, *judged, version=version, audit=audit, identities=known
    )
    return replace(member, adjudicated=Adjudicated.released(entry))


def _judged_by(data: Mapping[str, Content], path: Folder, on: date) -> tuple[Terms, Scale]:
    found = json_in(data, POLICY, path)
    try:
        scale = Scale.from_mapping(found["scale"])
        terms = Terms(
            Policy.from_mapping(found["policy"]),
            Contract.from_mapping(found["contract"]),
            on,
            tuple(map(Waiver.from_mapping, chain.from_iterable(found["waivers"].values()))),
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
    if ended := [str(each) for each in terms.waivers if on > each.until]:
        raise ReleaseInvalidError(
            f"{path}: found a release admitted under a {'; '.join(ended)}, which has ended; "
            "expected a waiver that holds. Ask for the next release.",
            "release_waiver_ended",
        )
    return terms, scale


def _refuse_other_rows(
    data: Mapping[str, Content], release: Release, *, logged: bool = False
) -> None:
    """A footer of a file that a log proves may be written as another version wrote it."""
    # no decision rests on what is in no rating, but the trainer gets the whole table
    of_labels = "the consensus of the annotations does not give; expected exactly its rows"
    for name, due in (
        (ANNOTATIONS, "are not as the ratings in them are written; expected exactly those"),
        (TRAIN, of_labels),
        (UNRESOLVED, of_labels),
    ):
        with read_of(release.path, name):
            same = same_rows(ParquetRows(data[name]), release.tables[name], any_footer=logged)
        if not same:
            raise ReleaseInvalidError(
                f"{release.path}: found rows of {name} that {due}. Fetch the release again.",
                "release_not_derived",
            )


def _refuse_reworded(
    path: Folder,
    data: Mapping[str, Content],
    derived: Mapping[str, bytes],
    writers: Mapping[str, str],
) -> None:
    """The numbers were compared before."""
    for name, words in DOCUMENTS.items():
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
                f"{shortened(writers)}.",
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
