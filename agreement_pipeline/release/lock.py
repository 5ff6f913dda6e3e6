"""The lock: the only module that releases training data. It reads and judges every round again."""

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Any, Unpack

from agreement_pipeline.contract import Contract, recorded
from agreement_pipeline.errors import MISREAD, ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.large_files import Content, Files
from agreement_pipeline.policy import Policy, Waivers
from agreement_pipeline.ratings import NOT_ADJUDICATED, TrainingRows
from agreement_pipeline.release.auditing import DECISIVE, Auditor
from agreement_pipeline.release.contents import (
    MANIFEST,
    WITHDRAWN,
    Release,
    as_json,
    contents,
    document,
    identity,
)
from agreement_pipeline.release.current import point_to_release
from agreement_pipeline.release.decisions import (
    Checked,
    Judged,
    Terms,
    Under,
    decide,
    is_last_decision,
    refuse_replaced,
)
from agreement_pipeline.release.gold import GoldElsewhere, seal_gold, with_digest
from agreement_pipeline.release.gold_elsewhere import (
    GoldNames,
    find_gold_elsewhere,
    gold_names_of,
    gold_names_of_other_rounds,
)
from agreement_pipeline.release.opening import verify_release
from agreement_pipeline.release.publication import UNPUBLISHED, Edition, Publication
from agreement_pipeline.release.tables import (
    Member,
    build_training_rows,
    gold_items_in,
    quoted_round_names,
)
from agreement_pipeline.store import RoundVersion, Store, check_round_name, digest_of
from agreement_pipeline.text import counted, join_sentences, listed
from agreement_pipeline.version import __version__


def release_round(
    store: Store,
    round_name: str,
    policy: Policy,
    contract: Contract,
    *,
    project: str,
    publication: Publication = UNPUBLISHED,
    **under: Unpack[Under],
) -> Release:
    """Release the training data of a round, if the policy admits it.

    The decision is always recorded, as it is taken `under` more (`Under`). If the round is held,
    every release that contains it is withdrawn.

    An item that another round of the store calls gold is left out, or the release is refused, as
    the policy says (`items_gold_elsewhere`). Earlier releases that train on it are withdrawn.

    Parameters
    ----------
    publication
        The licence and the citation, which stand in the release.

    Returns
    -------
    Release
        In the folder `releases/<round>/<ratings digest>-<policy digest>` of the store. If it is
        there already, it is verified and returned. A withdrawn release, or one in the words of
        another version, stays: the next one gets the suffix -2, -3, ….

    Raises
    ------
    ReleaseHeldError
        The round is not admitted. The message gives every reason.
    ReleaseInvalidError
        The folder holds anything but a release that stands in the log.
    StoreError
        The store does not have the round, its bytes were edited, or it came again meanwhile.
    """
    terms = Terms(policy, contract, **under)
    return _release(store, round_name, [round_name], terms, project, publication)


def release_dataset(
    store: Store,
    rounds: Sequence[str],
    policy: Policy,
    contract: Contract,
    *,
    project: str,
    publication: Publication = UNPUBLISHED,
    **under: Unpack[Under],
) -> Release:
    """Release the training data of several rounds together, as `<project>.dataset`.

    The row of an item comes from the first of its rounds. If another round has another label for
    it, it is unresolved. The rest is as for `release_round`.

    Raises
    ------
    ReleaseHeldError
        No round was given, a round is not admitted, or the rounds do not fit together.
    """
    terms = Terms(policy, contract, **under)
    return _release(
        store, f"{project}.dataset", list(dict.fromkeys(rounds)), terms, project, publication
    )


def judge_round(
    store: Store,
    round_name: str,
    policy: Policy,
    contract: Contract,
    *,
    checked: Checked | None = None,
    **under: Unpack[Under],
) -> tuple[Judged, bool]:
    """Judge a round again, record the decision, and withdraw what is no longer admitted.

    Releases that train on what the round calls gold are withdrawn too.

    If the round is admitted, its former versions are judged too. A version that this process has
    `checked` is not read again; no release rests on it. True if a release that contains it was
    withdrawn.
    """
    terms = Terms(policy, contract, **under)
    judgements, withdrawn = decide(store, [round_name], terms, checked=checked)
    return judgements[0], withdrawn


def _release(
    store: Store,
    name: str,
    rounds: Sequence[str],
    terms: Terms,
    project: str,
    publication: Publication,
) -> Release:
    """The store is locked for the last step alone."""
    with store.reading():
        store.log.give_to(check_round_name(project, "project"))
        if not rounds:
            raise ReleaseHeldError(
                f"release {name}: found no round; expected at least one admitted round. "
                "Release it when a round is admitted."
            )
        judgements, _ = decide(store, rounds, terms, checked_later=True)
        gold_of_others = gold_names_of_other_rounds(store, rounds)
        own_gold = gold_names_of(
            store, [judgement.version for judgement in judgements if judgement.ratings.gold]
        )
        standing = _manifests_in_force(store, name, [judgement.version for judgement in judgements])
    held_rounds = [judgement for judgement in judgements if not judgement.decision.admitted]
    if held_rounds:
        message = "; ".join(
            f"round {judgement.version.round}: held, since "
            f"{join_sentences(judgement.decision.reasons)}"
            for judgement in held_rounds
        )
        raise ReleaseHeldError(
            f"{message}; expected an admitted decision for training data. "
            "Correct what the reasons name, and ingest the round again."
        )
    decisions = [(judgement.version, judgement.facts) for judgement in judgements]
    ready, data = _build_release(
        store,
        name,
        judgements,
        terms,
        project,
        publication,
        standing,
        {**own_gold, **gold_of_others},
    )
    with store.locked():
        refuse_replaced(store, [version for version, _ in decisions])
        if gold_names_of_other_rounds(store, rounds).keys() != gold_of_others.keys():
            raise StoreError(
                f"release {name}: found a round with gold items that was judged meanwhile; "
                "expected the rounds whose gold items it leaves out. Release it again.",
                may_pass=True,
            )
        for version, facts in decisions:
            if not is_last_decision(store, version, facts):
                raise StoreError(
                    f"round {version.round}: found another decision, taken meanwhile; "
                    "expected the decision that the release rests on. Release it again.",
                    may_pass=True,
                )
        return _publish_release(store, name, ready, data, terms.auditor)


def _build_release(
    store: Store,
    name: str,
    judgements: list[Judged],
    terms: Terms,
    project: str,
    publication: Publication,
    standing: Sequence[bytes],
    gold_names: GoldNames,
) -> tuple[Release, dict[str, Content]]:
    """The list is emptied, since ratings need memory.

    The version is the digest of the ratings, and the digest of the policy. For several rounds, the
    first digest is that of their names and digests, in order.
    """
    own_gold = gold_items_in(judgement.ratings for judgement in judgements)
    elsewhere = {
        judgement.version.round: find_gold_elsewhere(
            judgement.version.round, judgement.ratings, gold_names, own_gold
        )
        for judgement in judgements
    }
    gold = own_gold.union(
        *(by_round.items for of_round in elsewhere.values() for by_round in of_round.values())
    )
    members: tuple[Member, ...] = ()
    while judgements:
        judgement = judgements.pop(0)
        gold_of_others = elsewhere[judgement.version.round]
        members += (_build_member(store, judgement, terms, gold, gold_of_others),)
        del judgement
    labels = _build_training_rows(members, terms.policy)
    content = members[0].ratings.digest
    if name != members[0].round:
        rounds = [[member.round, member.ratings.digest] for member in members]
        content = digest_of(as_json(rounds))
    path = store.release_folder(name, f"{content[:12]}-{terms.policy.digest[:12]}")
    edition = Edition(terms.on, publication)
    release = Release(path, project, terms.policy, terms.contract, members, labels, edition=edition)
    if day := _day_of_equal_release(release, standing):
        release = replace(release, edition=replace(edition, released_at=day))
    data = contents(release)
    return replace(release, manifest_digest=digest_of(data[MANIFEST])), data


def _manifests_in_force(store: Store, name: str, versions: Iterable[RoundVersion]) -> list[bytes]:
    """The manifests of releases in force of these ratings under this name, the last one first."""
    digests = {version.round: version.ratings_digest for version in versions}
    entries = [
        entry
        for entry in reversed(store.in_force(next(iter(digests))))
        if (entry["round"], entry["rounds"]) == (name, digests)
    ]
    manifests = (store.storage.read(f"releases/{entry['release']}/{MANIFEST}") for entry in entries)
    return [manifest for manifest in manifests if manifest is not None]


def _day_of_equal_release(ready: Release, standing: Iterable[bytes]) -> date | None:
    """The day of a release that rests on the same. If there is one, it stays."""
    decisive = _decisive_facts(
        {**identity(ready), "written_by": {"agreement_pipeline": __version__}}
    )
    for manifest in standing:
        try:
            manifest_json = json.loads(manifest)
            if _decisive_facts(manifest_json) == decisive:
                return Edition.from_mapping(manifest_json["dataset"]).released_at
        except MISREAD:
            continue
    return None


def _build_training_rows(members: Sequence[Member], policy: Policy) -> TrainingRows:
    scales = {member.ratings.scale for member in members}
    if len(scales) > 1:
        raise ReleaseHeldError(
            f"{quoted_round_names(members)}: found {len(scales)} different scales; "
            "expected one in a release. Release them apart, or ingest them again with one scale."
        )
    labels = build_training_rows(members)
    if labels.rows_without_label.all():
        raise ReleaseHeldError(
            f"{quoted_round_names(members)}: found {counted(len(labels), 'item')} without a label; "
            "expected at least one with a label. "
            "Let at least two raters label each item, and have ties adjudicated."
        )
    names = labels.items[labels.is_resolved_as("conflict")]
    if policy.items_in_conflict == "refuse" and len(names):
        raise ReleaseHeldError(
            f"{quoted_round_names(members)}: found {counted(len(names), 'item')} with "
            f"different labels in different rounds ({listed(names)}); expected one label of each "
            "item. Adjudicate these items, or set items_in_conflict: unresolved in the policy."
        )
    return labels


def _build_member(
    store: Store,
    judgement: Judged,
    terms: Terms,
    gold: frozenset[str],
    gold_elsewhere: Mapping[str, GoldElsewhere],
) -> Member:
    pseudonyms, version = store.pseudonyms(judgement.ratings), judgement.version
    own_gold, gate = judgement.ratings.gold, judgement.gate
    n_elsewhere = len(judgement.ratings.rated_items(items=gold - own_gold))
    if terms.policy.items_gold_elsewhere == "refuse" and n_elsewhere:
        raise ReleaseHeldError(
            f"round {version.round}: found {counted(n_elsewhere, 'item')} that another round calls "
            "gold; expected none, since the policy says items_gold_elsewhere: refuse. "
            "Deliver the round without them, or set items_gold_elsewhere: leave_out."
        )
    renamed_ratings = judgement.ratings.renamed(pseudonyms).with_gold(gold)
    ratings = seal_gold(renamed_ratings)
    sealed_digest = "" if ratings is renamed_ratings else ratings.digest
    if sealed_digest:
        ratings = with_digest(ratings, renamed_ratings.digest)
    waivers = Waivers(judgement.decision.waived, terms.on).renamed(pseudonyms)
    adjudicated = terms.adjudicated.get(version.round, NOT_ADJUDICATED)
    if adjudicated.labels and adjudicated.ratings_digest != version.ratings_digest:
        raise ReleaseHeldError(
            f"round {version.round}: found adjudicated labels of ratings "
            f"{adjudicated.ratings_digest[:12]}; expected those of {version.ratings_digest[:12]}, "
            "the present ones. Adjudicate the present version, or remove the labels."
        )
    answers = {item: label for item, label in adjudicated.labels.items() if item not in gold}
    adjudicated = replace(adjudicated, labels=answers)
    del judgement, renamed_ratings
    by = terms.policy, terms.contract, waivers, gate.number, adjudicated, gate.audit
    member = Member(version.round, version.original_digest, ratings, *by)
    member = replace(
        member,
        sealed_digest=sealed_digest,
        trains=terms.trains,
        gold_elsewhere=gold_elsewhere,
    )
    if (delivery := gate.delivery) is not None:
        known_by_suite = {**delivery.facts, "findings": recorded(delivery.findings)}
        member = replace(member, delivery=known_by_suite)
    decision = member.assessment.decision
    if not decision.admitted and ratings.gold != own_gold:
        raise ReleaseHeldError(
            f"round {version.round}: found it admitted by itself, and held without the items "
            f"that are gold in another round ({join_sentences(decision.reasons)}); "
            "expected a round that is admitted on what it releases. Have more items labelled."
        )
    if not decision.admitted:
        raise ReleaseHeldError(
            f"round {version.round}: found it admitted under the raters' names, and held under "
            f"their pseudonyms ({join_sentences(decision.reasons)}); "
            "expected one that does not depend on names, since a release has none. Judge it again."
        )
    return member


def _publish_release(
    store: Store, name: str, ready: Release, data: Files, auditor: Auditor
) -> Release:
    """A writer that is killed after the log entry leaves no files. The next run writes them."""
    version = ready.path.name
    names = (version if number == 1 else f"{version}-{number}" for number in count(1))
    fitting = (
        _find_equal_release_at(store, f"{name}/{folder_name}", ready, data, auditor)
        for folder_name in names
    )
    release = next(candidate for candidate in fitting if candidate)
    release_name = f"{name}/{release.path.name}"
    digests = {round_name: ratings.digest for round_name, ratings in release.ratings.items()}
    store.record(
        "released",
        name,
        release=release_name,
        rounds=digests,
        manifest_digest=release.manifest_digest,
        tentative=release.tentative,
    )
    if release.manifest_digest == ready.manifest_digest and not store.storage.keep_folder(
        f"releases/{release_name}", data
    ):
        raise StoreError(
            f"{release.path}: found a part of a release; expected the whole release or nothing. "
            "Remove the folder, and release it again."
        )
    let_out = release.manifest_digest == ready.manifest_digest
    manifest = document(data, MANIFEST) if let_out else None
    point_to_release(store, release_name, digests, manifest)
    return release


def _find_equal_release_at(
    store: Store, release_name: str, ready: Release, data: Files, auditor: Auditor
) -> Release | None:
    if release_name in store.withdrawn([release_name]):
        return None
    standing = frozenset(store.storage.names(f"releases/{release_name}"))
    if _is_another_release(store, release_name, standing, data):
        return None
    path = store.root / "releases" / release_name
    is_complete = standing == data.keys() and _holds_same_bytes(store, release_name, standing, data)
    if MANIFEST not in standing or is_complete:
        return replace(ready, path=path)
    try:
        release = verify_release(path, auditor=auditor)
    except ReleaseInvalidError as refusal:
        if refusal.code != "release_reworded":
            raise
        return None
    # some facts do not follow from the annotations: only the log can confirm them
    if release.manifest_digest not in {
        entry["manifest_digest"]
        for entry in store.in_force(release.rounds[0])
        if entry["release"] == release_name
    }:
        raise ReleaseInvalidError(
            f"{path}: found a release that the log of {store.root} did not let out; "
            "expected the one that it let out, or none. Do not train on it; "
            "find out who wrote it, remove the folder, and release the round again.",
            "release_not_in_log",
        )
    return release


def _is_another_release(store: Store, release_name: str, standing: Set[str], data: Files) -> bool:
    """Whether the folder has a withdrawn release, or one that rests on something else."""
    if WITHDRAWN in standing or MANIFEST not in standing:
        return not _holds_same_bytes(store, release_name, standing, data)
    try:
        stored_facts = _decisive_facts(
            json.loads(store.storage.read(f"releases/{release_name}/{MANIFEST}") or b"")
        )
    except MISREAD:
        return False
    return stored_facts != _decisive_facts(json.loads(document(data, MANIFEST)))


def _holds_same_bytes(store: Store, release_name: str, names: Set[str], data: Files) -> bool:
    return names <= data.keys() and all(
        store.storage.holds(f"releases/{release_name}/{name}", data[name]) for name in sorted(names)
    )


def _decisive_facts(manifest: Mapping[str, Any]) -> tuple[Any, ...]:
    rounds = [
        (
            entry["round"],
            entry["ratings_digest"],
            entry.get("adjudicated"),
            entry.get(DECISIVE),
            {name: gold["items"] for name, gold in entry.get("gold_elsewhere", {}).items()},
        )
        for entry in manifest["rounds"]
    ]
    edition_facts = {
        key: text for key, text in manifest.get("dataset", {}).items() if key != "released_at"
    }
    return (
        edition_facts,
        manifest["project"],
        manifest["policy_digest"],
        manifest["contract_digest"],
        manifest.get("trains"),
        manifest["waivers"],
        rounds,
        manifest["written_by"]["agreement_pipeline"],
    )
