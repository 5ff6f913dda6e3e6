"""A release is opened for training: verified first, then checked against what is asked of it.

To verify it, everything it says is derived again from its annotations, its policy and its contract.
"""

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from reprlib import repr as shortened
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.contract import Contract, findings_of_tables
from agreement_pipeline.errors import (
    MISREAD,
    PolicyError,
    ReleaseHeldError,
    ReleaseInvalidError,
)
from agreement_pipeline.large_files import Files
from agreement_pipeline.policy import (
    BUNDLED,
    Policy,
    assess,
    describe_waived,
    is_digest,
    load_policy,
    waiver_from_mapping,
)
from agreement_pipeline.ratings import (
    EXTRAS,
    Adjudicated,
    Cells,
    Origin,
    ParquetRows,
    Ratings,
    Scale,
    Trains,
    content_columns,
    open_stored_cells,
    ratings_from_stored_cells,
)
from agreement_pipeline.release.auditing import KEYS, NO_AUDITOR, Auditor
from agreement_pipeline.release.contents import (
    DECISION,
    DOCUMENTS,
    MANIFEST,
    OLDEST_SCHEMA,
    POLICY,
    SCHEMA,
    SCHEMAS,
    VERSION,
    WORDING,
    Paths,
    Release,
    as_json,
    document,
    documents,
    identity,
)
from agreement_pipeline.release.decisions import Terms, today
from agreement_pipeline.release.delivery import FACTS as DELIVERY_FACTS
from agreement_pipeline.release.folder import (
    difference,
    has_same_rows,
    read_canonical_json,
    read_folder,
    refusing_unread_file,
)
from agreement_pipeline.release.gold import GoldElsewhere, with_digest, without_codes
from agreement_pipeline.release.objects import OBJECT_FILES
from agreement_pipeline.release.publication import UNDATED, Edition
from agreement_pipeline.release.statements import Signed
from agreement_pipeline.release.tables import (
    ANNOTATIONS,
    Member,
    build_training_rows,
    gold_items_in,
    labels_to_form_3,
)
from agreement_pipeline.store import Folder, Store, check_round_name, digest_of, folder_at
from agreement_pipeline.text import counted, join_sentences, listed
from agreement_pipeline.version import EARLIER, __version__

UNDERIVED: Paths = frozenset({("written_by",), ("files",)})


@dataclass(frozen=True)
class Demands:
    """The demands of a trainer.

    Parameters
    ----------
    rules
        A policy that the annotations must meet too, without waivers. It has a limit of wrong
        labels (`silver`) if and only if a classifier gave the labels.
    least
        The fewest `raters` and `items` of each round.
    policy
        The policy that admitted the release: a name, or a name and a version. The name of a bundled
        policy means its rules, and not what somebody else calls by this name.
    today
        True if today's code must admit the release too, by its own rules.
    signed
        The signed statement on the release, and the key that must have signed it.
    """

    rules: Policy | None = None
    least: Mapping[str, int] = field(default_factory=dict)
    policy: tuple[str, int | None] | None = None
    without_waivers: bool = False
    today: bool = False
    signed: Signed | None = None

    def __post_init__(self) -> None:
        for kind, minimum in self.least.items():
            if kind not in ("raters", "items") or type(minimum) is not int or minimum < 0:
                raise PolicyError(
                    f"required: found {kind} >= {minimum!r}; expected a whole number of raters or "
                    "items. Correct it."
                )
        name, version = self.policy or ("", None)
        if name in BUNDLED and version not in (None, (bundled_policy := load_policy(name)).version):
            raise PolicyError(
                f"required: found policy {name}, version {version}; expected version "
                f"{bundled_policy.version}, whose rules this version of the package knows. "
                "Require the "
                "measures that you need, as alpha>=0.8."
            )

    def refuse_unmet(self, release: Release) -> None:
        if self.signed is not None:
            self.signed.refuse_unsigned(release)
        waivers = [
            waiver for decision in release.decisions.values() for waiver in decision["waivers"]
        ]
        if self.without_waivers and waivers:
            raise ReleaseInvalidError(
                f"{release.path}: found {counted(len(waivers), 'waiver')}, the first of "
                f"{describe_waived(waivers[0])} by {waivers[0]['who']}; "
                "expected a release without waivers. Ask for one that the policy admits by itself.",
                "release_waived",
            )
        if self.today and release.held_today:
            held_rounds = (
                f"{name} ({'; '.join(reasons)})" for name, reasons in release.held_today.items()
            )
            raise ReleaseInvalidError(
                f"{release.path}: found round {', '.join(held_rounds)}, which agreement_pipeline "
                f"{release.written_by} admitted and {__version__} would hold; expected one that "
                "today's code admits too. Judge the round again, or do not ask for --today.",
                "release_held_today",
            )
        for member in release.members:
            unmet = list(self._unmet(release, member))
            if unmet:
                raise ReleaseHeldError(
                    f"{release.path}: found round {member.round} {'; '.join(unmet)}; "
                    "expected a release that meets what you require. "
                    "Use another release, or require what it was released under."
                )

    def _unmet(self, release: Release, member: Member) -> Iterator[str]:
        policy = release.policy
        if self.policy and self.policy not in (
            (policy.policy, None),
            (policy.policy, policy.version),
        ):
            yield f"admitted under policy {policy.policy} version {policy.version}"
        elif (
            self.policy
            and policy.policy in BUNDLED
            and policy.digest != load_policy(policy.policy).digest
        ):
            yield (
                f"admitted under a policy that is called {policy.policy}, version "
                f"{policy.version}, and "
                "has other rules than the bundled one"
            )
        for kind, count in counts(member.ratings).items():
            if count < self.least.get(kind, 0):
                yield f"with {count} {kind}, fewer than {self.least[kind]}"
        if self.rules is not None:
            ratings, audit = member.ratings, member.audit
            if audit.labelled_by and not self.rules.is_for_model_labels:
                yield (
                    "whose labels a classifier gave, and no limit of wrong labels in policy "
                    f"{self.rules.policy} (silver in a policy, --require 'wrong<0.05' of verify)"
                )
                return
            gate_findings = [*audit.find(ratings, self.rules), *member.recorded]
            decision = assess(
                ratings,
                self.rules,
                release.contract,
                gate_findings=gate_findings,
                checked=member.check_under(self.rules),
                trains=member.trains,
            ).decision
            if not decision.admitted:
                policy_name = f"policy {self.rules.policy} version {self.rules.version}"
                yield f"held under {policy_name} ({join_sentences(decision.reasons)})"


def open_release(
    path: Folder | str,
    *,
    require: Policy | Demands | None = None,
    store: Store | None = None,
    auditor: Auditor = NO_AUDITOR,
) -> Release:
    """A release for training, verified first, that meets what is required.

    Parameters
    ----------
    require
        A policy that the annotations must meet too, without waivers, or more demands.
    store
        Its log must be whole, and must say that the release is in force.
    auditor
        Who answers for models. Without one, a release that says something of them is refused.
    """
    release = verify_release(path, store=store, auditor=auditor)
    if require is not None:
        demands = Demands(require) if isinstance(require, Policy) else require
        demands.refuse_unmet(release)
    if store is not None and release.manifest_digest not in {
        entry["manifest_digest"] for entry in store.in_force()
    }:
        raise ReleaseInvalidError(
            f"{release.path}: found no such release in force in the log of {store.root}; "
            "expected a release as it was let out, and not withdrawn. "
            "Do not train on it; ask for the present release.",
            "release_not_in_log",
        )
    return release


def verify_release(
    path: Folder | str, *, store: Store | None = None, auditor: Auditor = NO_AUDITOR
) -> Release:
    """A release that has proved itself: everything in it is derived again from its annotations.

    Of a release that an earlier version of this package wrote, the log of its `store` may prove the
    bytes instead. `held_today` says what today's code would hold.
    """
    folder, logged = folder_at(path), None if store is None else _manifest_digests_in_force(store)
    return prove_release(read_folder(folder), folder, today(), logged, auditor)


def _manifest_digests_in_force(store: Store) -> set[str]:
    with store.reading():
        history, withdrawn = store.history(), store.withdrawn()
    admitted, manifest_digests = set[tuple[str, str]](), set[str]()
    for entry in history:
        if entry["event"] == "decided":
            decided = entry["round"], entry["ratings_digest"]
            (admitted.add if entry["decision"] == "admitted" else admitted.discard)(decided)
        elif (
            entry["event"] == "released"
            and entry["release"] not in withdrawn
            and admitted.issuperset(entry["rounds"].items())
        ):
            manifest_digests.add(entry["manifest_digest"])
    return manifest_digests


def superseded(release: Release, store: Store) -> tuple[str, ...]:
    with store.reading():
        return tuple(
            name
            for name, ratings in release.ratings.items()
            if store.present(name).ratings_digest != ratings.digest
        )


def counts(ratings: Ratings) -> dict[str, int]:
    """The raters of the panel, and the items that two of them rated and that are not gold."""
    n_raters = np.bincount(ratings.first_ratings(["at"], raters=ratings.raters)["at"])
    return {"raters": len(ratings.raters), "items": int((n_raters >= 2).sum())}


def prove_release(
    data: Files,
    path: Folder,
    on: date,
    logged: Set[str] | None = None,
    auditor: Auditor = NO_AUDITOR,
) -> Release:
    """The release in these files, if all of it is the same when it is derived again.

    A waiver in the release must hold on the given day. What an earlier version of this package
    wrote may come out in other numbers and words. Then its manifest must be among the `logged`
    ones: those of releases that are in force in a log, and that followed an admitting decision.
    """
    manifest = read_canonical_json(data, MANIFEST, path)
    writers = manifest.get("written_by")
    if not isinstance(writers, dict) or not all(
        isinstance(version, str) for version in writers.values()
    ):
        raise ReleaseInvalidError(  # the versions of writers cannot be derived
            f"{path / MANIFEST}: found written_by {shortened(writers)}; "
            "expected the versions of libraries by name. Fetch the release again.",
            "release_not_derived",
        )
    release = _derive_release(data, manifest, path, on, auditor)
    _refuse_other_object_files(data, release)
    if release.written_by in EARLIER and release.manifest_digest in (logged or ()):
        return _confirm_decisions(data, release)
    if release.schema != OLDEST_SCHEMA and not release.contract.is_of_earlier_version:
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
            f"{path}: found a release in the form {manifest['schema']} under "
            f"{_describe_contract(release.contract)}, which agreement_pipeline "
            f"{release.written_by} wrote; expected a store whose log has it, since its numbers, "
            "checks and words were found in another way. Name the store with --store.",
            "release_not_derived",
        )
    return release


def _confirm_decisions(data: Files, release: Release) -> Release:
    decided = read_canonical_json(data, DECISION, release.path)
    admitted = {
        name
        for name, decision in decided.items()
        if isinstance(decision, dict) and decision.get("decision") == "admitted"
    }
    if admitted != {*release.rounds} or admitted != decided.keys():
        differing_rounds = sorted({*release.rounds, *decided} - admitted) or sorted(decided)
        raise _not_admitted_error(release.path, f"rounds {differing_rounds} in {DECISION}")
    _refuse_other_rows(data, release, logged=True)
    return replace(release, decided=decided)


def _refuse_otherwise_derived(data: Files, manifest: Mapping[str, Any], release: Release) -> None:
    path = release.path
    derived_identity = {**identity(release), "written_by": {}, "files": {}}
    _refuse_unlike_derived(path, MANIFEST, manifest, derived_identity, UNDERIVED)
    _refuse_unlike_derived(
        path, DECISION, read_canonical_json(data, DECISION, path), release.decisions, WORDING
    )
    for name, reasons in release.held_today.items():
        raise _not_admitted_error(
            path, f"round {name}, which is not admitted ({join_sentences(reasons)})"
        )
    derived = documents(release, {name: digest_of(data[name]) for name in release.tables})
    for name, words in DOCUMENTS.items():
        if words is not None:
            _refuse_unlike_derived(
                path, name, read_canonical_json(data, name, path), json.loads(derived[name]), words
            )
    _refuse_other_rows(data, release)
    _refuse_other_objects(data, release)
    _refuse_reworded(path, data, derived, manifest["written_by"])


def _describe_contract(contract: Contract) -> str:
    if not contract.contract:
        return "a contract without a name"
    return f"contract {contract.contract}, version {contract.version}"


def _not_admitted_error(path: Folder, description: str) -> ReleaseInvalidError:
    return ReleaseInvalidError(
        f"{path}: found {description}; expected an admitted round. Do not train on it.",
        "release_not_admitted",
    )


def _derive_release(
    data: Files, manifest: Mapping[str, Any], path: Folder, on: date, auditor: Auditor
) -> Release:
    terms, scale = _read_terms(data, path, on, auditor)
    try:
        if "trains" in manifest:
            if manifest["schema"] != SCHEMA:
                raise KeyError("trains")
            terms = replace(terms, trains=Trains.from_mapping(manifest["trains"]))
        with refusing_unread_file(path, ANNOTATIONS):
            rows = without_codes(ParquetRows(data[ANNOTATIONS]), scale)
            annotations = open_stored_cells(rows, ANNOTATIONS)
        if manifest["schema"] not in SCHEMAS:
            raise KeyError("schema")
        says_edition = manifest["schema"] == SCHEMA and "dataset" in manifest
        edition = Edition.from_mapping(manifest["dataset"]) if says_edition else UNDATED
        project = check_round_name(manifest["project"], "project")
        table = annotations.relation
        round_names = table.query(f"SELECT DISTINCT round FROM {table}")["round"].to_pylist()
        if {*round_names} != {entry["round"] for entry in manifest["rounds"]}:
            raise KeyError("rounds")
        rounds = [_read_ratings(annotations, entry, scale) for entry in manifest["rounds"]]
        del annotations, table
        decided = dict[str, Any]()
        if terms.contract.is_of_earlier_version:
            decided = read_canonical_json(data, DECISION, path)
        own_gold, entries = gold_items_in(rounds), manifest["rounds"]
        elsewhere = [
            _read_gold_elsewhere(entry, ratings, own_gold)
            for entry, ratings in zip(entries, rounds, strict=True)
        ]
        gold = own_gold.union(
            *(by_round.items for of_round in elsewhere for by_round in of_round.values())
        )
        members = tuple(
            replace(
                _build_member(
                    ratings.with_gold(gold), entry, terms, decided.get(entry["round"], {})
                ),
                gold_elsewhere=of_round,
            )
            for ratings, entry, of_round in zip(rounds, entries, elsewhere, strict=True)
        )
        labels = (
            build_training_rows(members)
            if manifest["schema"] == SCHEMA
            else labels_to_form_3(members)
        )
    except ReleaseInvalidError:
        raise
    except (*MISREAD, pa.ArrowException) as cause:
        raise ReleaseInvalidError(
            f"{path}: found {ANNOTATIONS} and {MANIFEST} that do not give rounds that can be "
            f"judged ({cause}); expected those released. Fetch the release again.",
            "release_not_derived",
        ) from None
    judged_by, digest = (terms.policy, terms.contract), digest_of(data[MANIFEST])
    writer = manifest["written_by"].get("agreement_pipeline", "")
    release_facts = digest, writer, manifest["schema"]
    return Release(path, project, *judged_by, members, labels, *release_facts, edition)


def _read_ratings(annotations: Cells, entry: Mapping[str, Any], scale: Scale) -> Ratings:
    table, name = annotations.relation, check_round_name(entry["round"])
    optional = [*EXTRAS, *content_columns(annotations.names)]
    absent = [column for column in optional if column not in entry["columns"]]
    columns_sql = [
        table.session.column_sql(column) for column in annotations.names if column not in absent
    ]
    round_table = table.create_view(
        f"SELECT {', '.join(columns_sql)} FROM {table} WHERE round = "
        f"{table.session.literal_sql(name)}"
    )
    origin = Origin.from_mapping(entry["origin"]) if "origin" in entry else None
    return ratings_from_stored_cells(replace(annotations, relation=round_table), scale, origin)


def _read_gold_elsewhere(
    entry: Mapping[str, Any], ratings: Ratings, own_gold: Set[str]
) -> dict[str, GoldElsewhere]:
    """A KeyError if they are no items of the round, or are gold in a round of the release."""
    elsewhere = {
        check_round_name(name): GoldElsewhere.from_mapping(facts)
        for name, facts in entry.get("gold_elsewhere", {}).items()
    }
    items = frozenset().union(*(gold.items for gold in elsewhere.values()))
    n_rated = len(ratings.rated_items(items=items)) if items else 0
    if entry["round"] in elsewhere or n_rated < len(items) or not items.isdisjoint(own_gold):
        raise KeyError("gold_elsewhere")
    return elsewhere


def _build_member(
    ratings: Ratings, entry: Mapping[str, Any], terms: Terms, decided: Mapping[str, Any]
) -> Member:
    if not is_digest(digest := entry["original_digest"]):
        raise KeyError("original_digest")
    if not isinstance(version := entry.get("version", 1), int) or version < 1 or version is True:
        raise KeyError("version")
    facts = {key: entry[key] for key in KEYS if key in entry}
    audit = terms.auditor.audit_released(entry["round"], facts, terms.on)
    sealed_digest = ""
    if "sealed_digest" in entry:
        if not ratings.gold or not is_digest(digest_as_judged := entry["ratings_digest"]):
            raise KeyError("sealed_digest")
        sealed_digest = ratings.digest
        ratings = with_digest(ratings, digest_as_judged)
    adjudicated = Adjudicated.from_manifest_entry(entry)
    judgement_basis = ratings, terms.policy, terms.contract, terms.of(entry["round"])
    member = Member(entry["round"], digest, *judgement_basis, version, adjudicated, audit)
    member = replace(member, sealed_digest=sealed_digest, trains=terms.trains)
    delivery = entry.get("delivery")
    if (delivery is None) is not (terms.contract.suite is None):
        raise KeyError("delivery")
    if delivery is not None:
        if delivery.keys() != {*DELIVERY_FACTS, "findings"}:
            raise KeyError("delivery")
        member = replace(member, delivery=delivery)
    if terms.contract.is_of_earlier_version:
        table_findings = findings_of_tables(terms.contract.earlier_tables, decided["findings"])
        member = replace(member, table_findings=table_findings)
    _ = member.assessment
    return member


def _read_terms(data: Files, path: Folder, on: date, auditor: Auditor) -> tuple[Terms, Scale]:
    policy_json = read_canonical_json(data, POLICY, path)
    try:
        scale = Scale.from_mapping(policy_json["scale"])
        terms = Terms(
            Policy.from_mapping(policy_json["policy"]),
            Contract.from_mapping(policy_json["contract"]),
            on,
            tuple(map(waiver_from_mapping, chain.from_iterable(policy_json["waivers"].values()))),
            auditor=auditor,
        )
    except MISREAD as cause:
        raise ReleaseInvalidError(
            f"{path / POLICY}: found content that cannot be used ({cause}); "
            "expected a policy, a contract and a scale. Fetch the release again."
        ) from None
    if ended := [str(waiver) for waiver in terms.waivers if on > waiver.until]:
        raise ReleaseInvalidError(
            f"{path}: found a release admitted under a {'; '.join(ended)}, which has ended; "
            "expected a waiver that holds. Ask for the next release.",
            "release_waiver_ended",
        )
    return terms, scale


def _refuse_other_rows(data: Files, release: Release, *, logged: bool = False) -> None:
    """A footer of a file that a log proves may be written as another version wrote it."""
    # no decision rests on what is in no rating, but the trainer gets the whole table
    of_labels = "the consensus of the annotations does not give; expected exactly its rows"
    of_ratings = "are not as the ratings in them are written; expected exactly those"
    for name, rows in reversed(release.tables.items()):
        due = of_ratings if name == ANNOTATIONS else of_labels
        with refusing_unread_file(release.path, name):
            are_same = has_same_rows(ParquetRows(data[name]), rows, any_footer=logged)
        if not are_same:
            raise ReleaseInvalidError(
                f"{release.path}: found rows of {name} that {due}. Fetch the release again.",
                "release_not_derived",
            )


def _refuse_other_objects(data: Files, release: Release) -> None:
    """The files of objects must be those that the annotations give, and no other."""
    for name, text in release.objects.texts.items():
        if digest_of(data[name]) != digest_of(text):
            raise ReleaseInvalidError(
                f"{release.path}: found {name} with other objects than the annotations give; "
                "expected exactly those. Fetch the release again.",
                "release_not_derived",
            )


def _refuse_other_object_files(data: Files, release: Release) -> None:
    listed_there = OBJECT_FILES & data.keys()
    derived = OBJECT_FILES & {*release.tables, *release.objects.texts}
    if listed_there != derived:
        raise ReleaseInvalidError(
            f"{release.path}: found files of objects {listed(sorted(listed_there)) or 'none'}; "
            f"expected {listed(sorted(derived)) or 'none'}, which its annotations give. "
            "Fetch the release again.",
            "release_not_derived",
        )


def _refuse_reworded(
    path: Folder,
    data: Files,
    derived: Mapping[str, bytes],
    writers: Mapping[str, str],
) -> None:
    """The numbers were compared before."""
    for name, words in DOCUMENTS.items():
        if words is None:
            is_same = document(data, name) == derived[name]
            reworded = None if is_same else f"{name} is another text"
        else:
            stored_json, derived_json = (
                read_canonical_json(data, name, path),
                json.loads(derived[name]),
            )
            reworded = difference(stored_json, derived_json, name, VERSION) if words else None
        if reworded:
            raise ReleaseInvalidError(
                f"{path}: found that {reworded} when worded again by agreement_pipeline "
                f"{__version__}; expected the words that its annotations give. "
                "Fetch the release again, or verify it with the versions that wrote it, "
                f"{shortened(writers)}.",
                "release_reworded",
            )


def _refuse_unlike_derived(
    path: Folder, name: str, stored: object, derived: object, passed_over: Paths = frozenset()
) -> None:
    differing = difference(stored, json.loads(as_json(derived)), name, passed_over)
    if differing:
        raise ReleaseInvalidError(
            f"{path}: found that {differing} when derived again from the annotations; "
            "expected what they give. Fetch the release again, "
            "and verify it with the versions of the libraries that its manifest names.",
            "release_not_derived",
        )
