"""Decisions on rounds: judged again from their stored bytes, recorded, and acted upon.

The log has the digest of all that a decision follows from, so `reassess` decides anew only where
one differs. A release is withdrawn by a notice in it, and then by an entry in the log.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial
from itertools import takewhile
from typing import Any, NamedTuple, TypedDict, Unpack

from agreement_pipeline.contract import Contract, findings_of_tables
from agreement_pipeline.errors import (
    EXPECTED,
    MISREAD,
    StoreError,
    WaiverError,
    error_in_a_sentence,
)
from agreement_pipeline.integrity import (
    SEVERITY_BY_EFFECT,
    Finding,
    find_changes_since,
    find_dropped_since,
)
from agreement_pipeline.policy import (
    AnyWaiver,
    Decision,
    Policy,
    Remedy,
    Waivers,
    assess,
    build_gate_finding,
    build_given_again_finding,
    check_round,
    describe_new_items,
    find_overlap_mistakes,
    select_round_waivers,
)
from agreement_pipeline.ratings import FIRST_DELIVERED, Adjudicated, Ratings, Trains
from agreement_pipeline.readers import DeliveredTable
from agreement_pipeline.release.auditing import NO_AUDITOR, Audit, Auditor
from agreement_pipeline.release.contents import WITHDRAWN, as_json
from agreement_pipeline.release.current import dataset_of, forget_current, point_to_last_in_force
from agreement_pipeline.release.delivery import DeliveryCheck, check_kept_delivery, check_table
from agreement_pipeline.release.gold_elsewhere import (
    GoldNames,
    count_gold_trained,
    gold_names_of,
)
from agreement_pipeline.release.relabelling import check_remedy
from agreement_pipeline.store import (
    DECIDING_FACTS,
    UNKNOWN_SETTINGS,
    RoundVersion,
    Store,
    are_texts,
    arrival_of,
    of_event,
    terms_name,
)
from agreement_pipeline.text import counted, join_sentences
from agreement_pipeline.version import __version__

IN_THE_LOG = "the store's log has the reasons"


class Under(TypedDict, total=False):
    """What rounds are judged under, beside policy and contract.

    Attributes
    ----------
    settings_digest
        A round is held if it was read under other settings. None: under any.
    adjudicated
        Labels that stand instead of the panel's. They change no decision.
    auditor
        Who answers for the models that labelled rounds.
    trains
        The label that trains. The round is held if single labels shall train and the items with
        several ones are no random sample. None: the plurality, or the mean of numbers.
    """

    waivers: Sequence[AnyWaiver]
    settings_digest: str | None
    adjudicated: Mapping[str, Adjudicated]
    auditor: Auditor
    trains: Trains | None


@dataclass(frozen=True, eq=False)
class Terms:
    policy: Policy
    contract: Contract
    on: date = field(default_factory=lambda: today())  # noqa: PLW0108  # looked up each time
    waivers: Sequence[AnyWaiver] = ()
    settings_digest: str | None = None
    adjudicated: Mapping[str, Adjudicated] = field(default_factory=dict)
    auditor: Auditor = NO_AUDITOR
    trains: Trains | None = None

    def of(self, round_name: str) -> Waivers:
        return select_round_waivers(self.waivers, round_name, self.on)

    def read_otherwise(self, version: RoundVersion) -> bool:
        """An older version of this package did not say under which settings, so nothing is held
        against it.
        """
        if version.settings_digest == UNKNOWN_SETTINGS:
            return False
        return self.settings_digest not in (None, version.settings_digest)


@dataclass(frozen=True, eq=False)
class Checked:
    """What was found in a version of a round, under a policy and a contract of these `digests`."""

    version: RoundVersion
    ratings: Ratings
    digests: tuple[str, str]
    findings: tuple[Finding, ...]
    delivery: DeliveryCheck | None = None


class OfTheGate(NamedTuple):
    """`number` says how many different ratings came under the round's name, up to this version."""

    number: int
    findings: Sequence[Finding]
    audit: Audit
    delivery: DeliveryCheck | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    version: RoundVersion
    decision: Decision
    gate: OfTheGate
    ratings: Ratings
    policy: Policy
    trains: Trains | None = None

    @cached_property
    def facts(self) -> dict[str, Any]:
        by: dict[str, Any] = {
            "settings_digest": self.version.settings_digest,
            "policy": self.policy.to_mapping(),
        }
        by |= self.gate.audit.facts
        if self.gate.delivery is not None:
            by["delivery"] = dict(self.gate.delivery.facts)
        if sentence := describe_new_items(self.ratings, self.policy):
            by["what_is_new"] = sentence
        if self.trains:
            by["trains"] = self.trains.to_mapping()
        if n_gold := len(self.ratings.gold):
            by["gold_items"] = n_gold
        return {**self.decision.to_mapping(), **by}


def decide(
    store: Store,
    rounds: Sequence[str],
    terms: Terms,
    *,
    checked_later: bool = False,
    checked: Checked | None = None,
) -> tuple[list[Judged], bool]:
    """Judge the present versions of rounds, record the decisions, and withdraw releases.

    If the caller checks later that nothing changed, nothing is locked for known decisions. True if
    a release that contains one of the rounds was withdrawn.
    """
    with store.reading():
        refuse_reused(store, terms.policy, terms.contract)
        judgements = [judge_version(store, store.present(name), terms, checked) for name in rounds]
        former = {
            version: _reasons_held_since(store, version, terms)
            for version in _find_released_versions(store, judgements)
        }
        if (
            checked_later
            and all(
                judgement.decision.admitted
                and is_last_decision(store, judgement.version, judgement.facts)
                for judgement in judgements
            )
            and not any(former.values())
            and not _find_disagreeing_withdrawals(store, rounds)
        ):
            return judgements, False
    with store.locked():
        reconcile_notices_and_log(store, rounds)
        refuse_replaced(store, [judgement.version for judgement in judgements])
        for version in _find_released_versions(store, judgements):
            if version not in former:
                raise StoreError(
                    f"round {version.round}: found a release of a former version, made meanwhile; "
                    "expected none. Judge the round again.",
                    may_pass=True,
                )
        # before the decisions, so that nobody who is stopped in between has done half
        of_gold = [judgement.version for judgement in judgements if judgement.ratings.gold]
        rounds_trained_on_gold = _withdraw_training_on_gold(store, gold_names_of(store, of_gold))
        for judgement in judgements:
            if judgement.gate.delivery is not None:
                judgement.gate.delivery.keep(store)
            store.record("decided", judgement.version.round, **judgement.facts)
        ended: list[tuple[RoundVersion, Sequence[RoundVersion], Sequence[str], Ratings | None]] = [
            (version, [version], reasons, None) for version, reasons in former.items() if reasons
        ]
        ended += [
            (
                judgement.version,
                store.versions(judgement.version.round),
                judgement.decision.reasons,
                judgement.ratings,
            )
            for judgement in judgements
            if not judgement.decision.admitted
        ]
        withdrawn = not rounds_trained_on_gold.isdisjoint(rounds)
        for version, versions, reasons, ratings in ended:
            reworded = partial(_reword_reasons, store, version, terms, ratings)
            withdrawn |= withdraw_versions(store, version.round, versions, reasons, reworded)
        return judgements, withdrawn


def is_last_decision(store: Store, version: RoundVersion, facts: Mapping[str, Any]) -> bool:
    """Whether the last decision in the log on this round follows from the same `facts`."""
    last_decision = (of_event("decided", store.history(version.round)) or [{}])[-1]
    return all(last_decision.get(name) == facts.get(name) for name in DECIDING_FACTS)


def refuse_replaced(store: Store, versions: Iterable[RoundVersion]) -> None:
    """Refuse versions that are no longer the present ones of their rounds."""
    for version in versions:
        if store.present(version.round) != version:
            raise StoreError(
                f"round {version.round}: found another version, ingested meanwhile; "
                "expected the version that was judged. Judge it again.",
                may_pass=True,
            )


def refuse_reused(store: Store, policy: Policy, contract: Contract) -> None:
    """Refuse a policy or contract that changed, and kept the name and version of a former one."""
    for kind, name, document, asks in (
        ("policy", policy.policy, policy, "rules"),
        ("contract", contract.contract, contract, "checks"),
    ):
        first_entry = next(store.log.about(terms_name(kind, name, document.version)), None)
        if first_entry is not None and first_entry[f"{kind}_digest"] != document.digest:
            raise StoreError(
                f"{kind} {name}, version {document.version}: found other {asks} than those that "
                f"round {first_entry['round']} was first judged by, under this name and version; "
                f"expected the same {asks}. Give the {kind} a new version."
            )


def today() -> date:
    return datetime.now(UTC).date()


def refuse_clock_behind(store: Store, on: date) -> None:
    """By a clock that was put back, a waiver would seem to last longer than a policy allows."""
    last_decision = store.log.latest("decided")
    if not last_decision:
        return
    decided_on = datetime.fromisoformat(last_decision["time"]).date()
    if decided_on > on + timedelta(1):
        raise WaiverError(
            f"log: found entry {last_decision['number']} of {decided_on}, and the clock of this "
            "machine at "
            f"{on}; expected a clock that does not stand before the log, since a waiver ends by "
            "date. Correct the clock. If the time of the entry is wrong, judge the round without "
            "its waiver.",
            may_pass=True,
        )


def judge_version(
    store: Store,
    version: RoundVersion,
    terms: Terms,
    checked: Checked | None = None,
    ratings: Ratings | None = None,
    number: int | None = None,
) -> Judged:
    renamed, findings, delivery = ratings is not None, None, None
    if checked and checked.version == version:
        ratings = checked.ratings
        if checked.digests == (terms.policy.digest, terms.contract.digest):
            findings, delivery = checked.findings, checked.delivery
    if ratings is None:
        ratings = store.ratings_of(version)
    if findings is None and terms.contract.is_of_earlier_version:
        table_findings = _logged_table_findings(store, version, terms.contract)
        findings = check_round(ratings, terms.policy, terms.contract, table_findings)
    gate = found_by_gate(store, version, terms, ratings, number, renamed=renamed, delivery=delivery)
    waivers = terms.of(version.round)
    if terms.waivers:
        refuse_clock_behind(store, terms.on)
    assessment = assess(
        ratings,
        terms.policy,
        terms.contract,
        waivers,
        gate.findings,
        version=gate.number,
        checked=findings,
        trains=terms.trains,
    )
    return Judged(version, assessment.decision, gate, ratings, terms.policy, terms.trains)


def _logged_table_findings(
    store: Store, version: RoundVersion, contract: Contract
) -> tuple[Finding, ...] | None:
    """What the last decision on these ratings under a contract of an earlier version records."""
    expected_digests = version.ratings_digest, contract.digest
    for entry in reversed(of_event("decided", store.history(version.round))):
        if (entry["ratings_digest"], entry["contract_digest"]) == expected_digests:
            return findings_of_tables(contract.earlier_tables, entry["findings"])
    return None


def found_by_gate(
    store: Store,
    version: RoundVersion,
    terms: Terms,
    ratings: Ratings,
    number: int | None = None,
    *,
    renamed: bool = False,
    delivery: DeliveryCheck | None = None,
) -> OfTheGate:
    """Ratings that were `renamed` are read again where they are compared with earlier ones. What
    the suite found in the `delivery` is looked for in the store if it is not known.
    """
    findings = list[Finding]()
    if terms.read_otherwise(version):
        words = (
            "found ratings that were read under other settings than the project has now; "
            "expected the same columns, scale, classifiers, layout, replicates and limits. "
            "Put the round's file into the inbox, so that it is read again."
        )
        findings = [build_gate_finding("read_otherwise", words)]
    own_names = None if renamed else ratings
    findings += _compare_with_earlier_versions(
        store, version, terms.policy, ratings, renamed=renamed
    )
    findings += _check_remedies(store, version, terms, own_names)
    audit = terms.auditor.audit_round(store, version.round, ratings, terms.policy, terms.on)
    findings += audit.findings
    findings += find_overlap_mistakes(ratings, terms.trains)
    if delivery is None:
        vocabulary = ratings.scale.categories
        delivery = check_kept_delivery(store, version, terms.contract, vocabulary)
    if delivery is not None:
        findings += delivery.findings
    number = number or _version_number(store, version)
    return OfTheGate(number, findings, audit, delivery)


def judge_delivered(
    store: Store,
    round_name: str,
    ratings: Ratings,
    policy: Policy,
    contract: Contract,
    *,
    delivered: DeliveredTable | None = None,
    **under: Unpack[Under],
) -> Judged:
    """The decision that `judge_round` would take if the round came with these ratings now, as they
    were `delivered`.

    Nothing is kept and nothing is recorded.
    """
    terms = Terms(policy, contract, **under)
    settings_digest = terms.settings_digest or UNKNOWN_SETTINGS
    version = RoundVersion(round_name, ratings.digest, "", "", "", settings_digest)
    delivery = None
    if contract.suite is not None and delivered is not None:
        delivery = check_table(contract.suite, delivered, ratings.scale.categories)
    digests = policy.digest, contract.digest
    checked = Checked(version, ratings, digests, check_round(ratings, policy, contract), delivery)
    with store.reading():
        refuse_reused(store, policy, contract)
        store.refuse_erased(ratings, f"round {round_name}")
        arrived = {stored.ratings_digest for stored in store.versions(round_name)}
        number = len(arrived | {ratings.digest})
        return judge_version(store, version, terms, checked, number=number)


def _compare_with_earlier_versions(
    store: Store, version: RoundVersion, policy: Policy, ratings: Ratings, *, renamed: bool
) -> Iterator[Finding]:
    asks_again = policy.integrity.labels_given_again != "not_asked"
    asks_dropped = policy.integrity.disputed_items_dropped != "not_asked"
    earlier_versions = takewhile(
        lambda stored: stored.ratings_digest != version.ratings_digest,
        store.versions(version.round) if asks_again or asks_dropped else (),
    )
    earlier_ratings, not_compared = _read_versions(store, earlier_versions)
    yield from not_compared
    returned_items = [*_versions_of_returned_items(store, version, ratings)] if asks_again else []
    if not earlier_ratings and not returned_items:
        return
    if renamed:
        ratings = store.ratings_of(version)
    if asks_again:
        yield from _find_labels_given_again(store, policy, ratings, earlier_ratings, returned_items)
    if not earlier_ratings:
        return
    dropped = find_dropped_since(ratings, earlier_ratings)
    if dropped is not None and dropped.is_aimed and asks_dropped:
        words = (
            f"found that {dropped.in_words}; expected all that was delivered before. Deliver it "
            "again, or have a fresh random sample of items labelled under another name."
        )
        severity = SEVERITY_BY_EFFECT[policy.integrity.disputed_items_dropped]
        yield build_gate_finding("disputed_items_dropped", words, severity)
    all_raters = {*ratings.raters}.union(*(earlier.raters for earlier in earlier_ratings))
    if missing_raters := all_raters - {*ratings.raters}:
        words = (
            f"{len(missing_raters)} of {counted(len(all_raters), 'rater')} have no label in this "
            "version and "
            "had some in an earlier one; who differs from others may have been left out. Say why "
            "they are gone"
        )
        yield build_gate_finding("raters_gone", words, "warning")


def _find_labels_given_again(
    store: Store,
    policy: Policy,
    ratings: Ratings,
    earlier_ratings: Sequence[Ratings],
    returned_items: Iterable[Iterable[RoundVersion]],
) -> Iterator[Finding]:
    # against all earlier versions, and against the last one alone, if these differ
    bases = (earlier_ratings, earlier_ratings[-1:])[: len(earlier_ratings)]
    all_changes = [find_changes_since(ratings, base) for base in bases]
    for versions in returned_items:
        base, not_compared = _read_versions(store, versions)
        yield from not_compared
        all_changes.append(find_changes_since(ratings, base, leaves_out_unchanged=True))
    aimed_changes = next(
        (changes for changes in all_changes if changes is not None and changes.is_aimed), None
    )
    if aimed_changes is not None:
        yield build_given_again_finding(aimed_changes, policy.integrity.labels_given_again)


def _read_versions(
    store: Store, versions: Iterable[RoundVersion]
) -> tuple[list[Ratings], list[Finding]]:
    """The ratings of these versions, and a warning for each that cannot be read."""
    ratings, findings = list[Ratings](), list[Finding]()
    for version in versions:
        try:
            ratings.append(store.ratings_of(version))
        except StoreError as cause:
            words = f"an earlier version was not compared: {error_in_a_sentence(cause)}"
            findings.append(build_gate_finding("earlier_not_compared", words, "warning"))
    return ratings, findings


def _versions_of_returned_items(
    store: Store, version: RoundVersion, ratings: Ratings
) -> Iterator[list[RoundVersion]]:
    """Of each earlier round of which items came back in a cumulative delivery, its versions before
    this one, in order.

    Only a cumulative delivery leaves out the items without a new rating, and says so. Elsewhere an
    item that comes back may be rated anew on purpose.
    """
    origin = ratings.origin
    if origin is None or not origin.items_before:
        return
    stored_rounds = {*store.rounds()} - {version.round}
    names = {*ratings.strata.get(FIRST_DELIVERED, ())} - {origin.delivery}
    if not names <= stored_rounds or FIRST_DELIVERED not in ratings.strata:
        names |= {*origin.items_before}
    arrival = arrival_of(store, version.round, version.ratings_digest)
    for name in sorted(names & stored_rounds):
        yield [
            RoundVersion.from_entry(entry)
            for entry in of_event("ingested", store.history(name))
            if arrival is None or entry["number"] < arrival["number"]
        ]


def _check_remedies(
    store: Store, version: RoundVersion, terms: Terms, ratings: Ratings | None
) -> Iterator[Finding]:
    """The sample of a remedy is judged anew too, by its own labels and without any waiver."""
    written_waivers = terms.of(version.round).written
    remedies = [waiver for waiver in written_waivers if isinstance(waiver, Remedy)]
    if remedies and ratings is None:
        ratings = store.ratings_of(version)
    by_itself = replace(terms, waivers=())
    for remedy in remedies:
        assert ratings is not None
        yield check_remedy(
            store,
            version,
            ratings,
            remedy,
            lambda sample: judge_version(store, sample, by_itself).decision,
        )


def _version_number(store: Store, version: RoundVersion) -> int:
    history = store.history(version.round)
    arrived = [entry["ratings_digest"] for entry in of_event("ingested", history)]
    later = arrived[::-1].index(version.ratings_digest)
    return len(set(arrived[: len(arrived) - later]))


def _reword_reasons(
    store: Store, version: RoundVersion, terms: Terms, ratings: Ratings | None = None
) -> Sequence[str]:
    try:
        ratings = store.ratings_of(version) if ratings is None else ratings
        names = store.pseudonyms(ratings)
    except StoreError:
        return ()
    renamed = tuple(waiver.renamed(names) for waiver in terms.of(version.round).written)
    renamed_terms = replace(terms, waivers=renamed)
    judgement = judge_version(store, version, renamed_terms, ratings=ratings.renamed(names))
    return judgement.decision.why_held


def _find_released_versions(store: Store, judgements: Iterable[Judged]) -> list[RoundVersion]:
    former_versions: dict[tuple[str, str], RoundVersion] = {}
    for judgement in judgements:
        name, present = judgement.version.round, judgement.version.ratings_digest
        released = {entry["rounds"][name] for entry in store.in_force(name)} - {present}
        for version in store.versions(name) if released else ():
            if version.ratings_digest in released:
                former_versions[name, version.ratings_digest] = version
    return list(former_versions.values())


def _reasons_held_since(store: Store, version: RoundVersion, terms: Terms) -> Sequence[str]:
    try:
        return judge_version(store, version, terms).decision.why_held
    except StoreError as cause:
        return [str(cause)]


def withdraw_versions(
    store: Store,
    round_name: str,
    versions: Sequence[RoundVersion],
    reasons: Sequence[str],
    reworded: Callable[[], Sequence[str]],
) -> bool:
    """True if there was one to withdraw. Call only while the store is locked.

    The data stay under other names, with a notice that gives the reasons `reworded`, without names
    of raters, or points to the log. The log entry is written last.
    """
    digests = {version.ratings_digest for version in versions}
    releases = list(
        dict.fromkeys(
            entry["release"]
            for entry in store.in_force(round_name)
            if entry["rounds"][round_name] in digests
        )
    )
    notice_reasons = (reworded() or [IN_THE_LOG]) if releases else []
    forget_current(store, releases)
    for release in releases:
        _write_notice(store, release, round_name, notice_reasons, datetime.now(UTC).isoformat())
    if releases:
        store.record("withdrawn", round_name, releases=releases, reasons=list(reasons))
        point_to_last_in_force(store, map(dataset_of, releases))
    return bool(releases)


def _withdraw_training_on_gold(store: Store, gold: GoldNames) -> Set[str]:
    """Withdraw the releases that train on gold items. Call only while the store is locked.

    The rounds of the withdrawn releases come back. The log says in `gold_in` which rounds call the
    items gold.
    """
    in_force = store.in_force() if gold else ()
    trained = {
        entry["release"]: (entry, counts)
        for entry in in_force
        if (counts := count_gold_trained(store, entry["release"], gold))
    }
    forget_current(store, trained)
    for release, (entry, counts) in trained.items():
        reasons = [
            f"{counted(count, 'item')} of {release} {'is' if count == 1 else 'are'} gold in round "
            f"{name}, so it may not be trained on"
            for name, count in counts.items()
        ]
        of_round = next((name for name in entry["rounds"] if name not in counts), None)
        round_name = of_round or next(iter(entry["rounds"]))
        _write_notice(store, release, round_name, reasons, datetime.now(UTC).isoformat())
        store.record(
            "withdrawn", round_name, releases=[release], reasons=reasons, gold_in=sorted(counts)
        )
    point_to_last_in_force(store, map(dataset_of, trained))
    return {name for entry, _ in trained.values() for name in entry["rounds"]}


def reconcile_notices_and_log(store: Store, rounds: Iterable[str]) -> None:
    """What only the notice or only the log has is written into the other, while the store is
    locked.
    """
    disagreeing = _find_disagreeing_withdrawals(store, rounds)
    forget_current(store, [entry["release"] for entry, _ in disagreeing])
    for entry, withdrawal in disagreeing:
        release = entry["release"]
        if withdrawal is not None:
            _write_notice(store, release, withdrawal["round"], [IN_THE_LOG], withdrawal["time"])
            continue
        try:
            notice = json.loads(store.storage.read(f"releases/{release}/{WITHDRAWN}") or b"")
        except MISREAD:
            notice = None
        notice_facts = notice if isinstance(notice, dict) else {}
        round_name, reasons = notice_facts.get("round"), notice_facts.get("reasons")
        if not isinstance(round_name, str) or round_name not in entry["rounds"]:
            round_name = next(iter(entry["rounds"]))
        if not are_texts(reasons):
            reasons = [f"a {WITHDRAWN} that cannot be read"]
        _rename_withdrawn_tables(store, release)
        store.record("withdrawn", round_name, releases=[release], reasons=reasons)
    point_to_last_in_force(store, [dataset_of(entry["release"]) for entry, _ in disagreeing])


def _find_disagreeing_withdrawals(
    store: Store, rounds: Iterable[str]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    released = {entry["release"]: entry for name in rounds for entry in store.releases_with(name)}
    withdrawn = store.withdrawn(list(released))
    notices = store.storage.fetched(f"releases/{release}/{WITHDRAWN}" for release in released)
    return [
        (entry, withdrawn.get(release))
        for (release, entry), notice in zip(released.items(), notices.values(), strict=True)
        if (notice is None) == (release in withdrawn)
    ]


def _write_notice(
    store: Store, release: str, round_name: str, reasons: Sequence[str], time: str
) -> None:
    store.storage.keep(
        f"releases/{release}/{WITHDRAWN}",
        as_json({"round": round_name, "reasons": list(reasons), "time": time}),
    )
    _rename_withdrawn_tables(store, release)


def _rename_withdrawn_tables(store: Store, release: str) -> None:
    """Give the tables of a withdrawn release names that no pattern for Parquet files takes."""
    tables = [
        name for name in store.storage.names(f"releases/{release}") if name.endswith(".parquet")
    ]
    for name in tables:
        path = f"releases/{release}/{name}"
        content = store.storage.copied(path)
        if content is not None and store.storage.keep(f"{path}.withdrawn", content):
            store.storage.forget([path])


@dataclass(frozen=True, eq=False)
class Reassessed:
    """`before` is the last decision on the present version. `judged` is None if that stands, or if
    the round could not be judged. `unreleased` says that the round is admitted, and no release of
    its own in force has its present version.
    """

    round: str
    before: str
    judged: Judged | None = None
    withdrawn: bool = False
    error: str = ""
    unreleased: bool = False

    @property
    def changed(self) -> bool:
        return self.judged is not None and (self.withdrawn or self.before != self.row["now"])

    @property
    def row(self) -> dict[str, str]:
        outcome, reason = "not judged" if self.error else self.before, self.error
        if self.judged is not None:
            outcome = self.judged.decision.word
            reason = join_sentences(self.judged.decision.reasons)
        return {
            "round": self.round,
            "before": self.before or "not decided",
            "now": outcome,
            "why": reason,
            "release": "withdrawn" if self.withdrawn else "",
        }


def reassess(
    store: Store,
    policy: Policy,
    contract: Contract,
    **under: Unpack[Under],
) -> Iterator[Reassessed]:
    """Look at every round of a store again, and judge it as `judge_round` does where that is due.

    An error of one round ends nothing.
    """
    terms = Terms(policy, contract, **under)
    entries_by_round: dict[str, list[Mapping[str, Any]]] = {}
    with store.reading():
        refuse_reused(store, policy, contract)
        for entry in store.history():
            for name in {entry["round"], *entry.get("rounds", ())}:
                entries_by_round.setdefault(name, []).append(entry)
        withdrawn, names = store.withdrawn().keys(), store.storage.names("releases")
    noticed = {name.removesuffix(f"/{WITHDRAWN}") for name in names if name.endswith(WITHDRAWN)}
    for name, entries in sorted(entries_by_round.items()):
        if of_event("ingested", entries):
            yield _reassess_round(store, name, entries, withdrawn, noticed, terms)


def _reassess_round(
    store: Store,
    name: str,
    entries: Sequence[Mapping[str, Any]],
    withdrawn: Set[str],
    noticed: Set[str],
    terms: Terms,
) -> Reassessed:
    arrived = [*map(RoundVersion.from_entry, of_event("ingested", entries))]
    last_decision = (of_event("decided", entries) or [{}])[-1]
    present = arrived[-1].ratings_digest
    former_outcome = ""
    if last_decision.get("ratings_digest") == present:
        former_outcome = (
            "admitted (tentative)" if last_decision["tentative"] else str(last_decision["decision"])
        )
    released = [entry for entry in of_event("released", entries) if name in entry["rounds"]]
    own_releases = {entry["release"] for entry in released if entry["rounds"] == {name: present}}
    torn = any(
        (entry["release"] in withdrawn) != (entry["release"] in noticed) for entry in released
    )
    in_force = {entry["rounds"][name] for entry in released if entry["release"] not in withdrawn}
    try:
        if not torn and _still_stands(arrived, last_decision, in_force, terms):
            # refuses a table that was edited since, though no digest in the log differs
            store.kept_table(arrived[-1])
            unreleased = last_decision["decision"] == "admitted" and not own_releases - withdrawn
            return Reassessed(name, former_outcome, unreleased=unreleased)
        judgements, is_withdrawn = decide(store, [name], terms)
        unreleased = judgements[0].decision.admitted and (
            is_withdrawn or not own_releases - withdrawn
        )
        return Reassessed(name, former_outcome, judgements[0], is_withdrawn, unreleased=unreleased)
    except EXPECTED as error:
        return Reassessed(name, former_outcome, error=error_in_a_sentence(error))


def _still_stands(
    arrived: Sequence[RoundVersion],
    decided: Mapping[str, Any],
    released: Set[str],
    terms: Terms,
) -> bool:
    present = arrived[-1]
    facts = {
        "ratings_digest": present.ratings_digest,
        "policy_digest": terms.policy.digest,
        "contract_digest": terms.contract.digest,
        "settings_digest": present.settings_digest,
        "code_version": __version__,
        "waivers": [],
        "version": len({version.ratings_digest for version in arrived}),
    }
    checks = {finding["check"] for finding in decided.get("findings", ())}
    admitted = {present.ratings_digest} if decided.get("decision") == "admitted" else set()
    return (
        all(decided.get(name) == fact for name, fact in facts.items())
        and not terms.of(present.round).written
        and terms.auditor.may_stand(decided)
        and decided.get("trains") == (terms.trains and terms.trains.to_mapping())
        and ("read_otherwise" in checks) == terms.read_otherwise(present)
        and released <= admitted
    )
