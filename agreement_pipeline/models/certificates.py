"""Certificates: a classifier agrees with a panel on items like these, until a date.

An entry of the log has the digest of the document, which is derived again from the stored bytes of
the rounds each time that somebody relies on it. An attempt that is held stays in the log too, since
the best of several is no evidence.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from typing import Any, Unpack

import numpy as np

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import counting_for
from agreement_pipeline.errors import MISREAD, CertificateError, ContractError, DrawError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.measures import alternative_annotator_test
from agreement_pipeline.models.anchors import FEWEST_ANCHORS, Anchored, compare_with_anchors
from agreement_pipeline.models.draw import refuse_moved_contents
from agreement_pipeline.models.identity import Identity, exported_identities
from agreement_pipeline.policy import Policy, Verdict, waiver_from_mapping
from agreement_pipeline.ratings import (
    STRATUM,
    Ratings,
    Scale,
    dichotomize,
    group_lookalike_names,
    measure_gold,
    names_like_models,
)
from agreement_pipeline.release import (
    ANY_KEY,
    Judged,
    Paths,
    Terms,
    Under,
    as_json,
    decide,
    difference,
    is_last_decision,
    judge_version,
    refuse_replaced,
    refuse_reused,
    today,
)
from agreement_pipeline.store import Store, digest_of, of_event
from agreement_pipeline.text import called, counted, join_sentences, listed
from agreement_pipeline.version import __version__

SCHEMA = "agreement-certificate/1"
MAX_VALIDITY_DAYS = 366
WORDS: Paths = frozenset(
    {
        ("statement",),
        ("warnings",),
        ("rounds", ANY_KEY, "verdicts", ANY_KEY, "reason"),
    }
)
BOUND = ("decision", "ratings_digest", "policy_digest", "contract_digest")
NOT_SHOWN = "not shown that it may stand in for a rater (alternative-annotator test)"
UNSAID = "its export does not say which labels began as a suggestion, perhaps this classifier's own"
UNRELATED = (
    "items are taken as unrelated; if several are of one document or author, name its column as "
    "cluster"
)
OTHER_CONTENTS = "certificate_other_contents"
PARTS = tuple(field.name for field in fields(Identity))
Entry = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a classifier was certified for, or why it was not.

    Attributes
    ----------
    terms
        What the rounds were admitted by.
    rounds
        What was found on each round: digests, verdicts, and the domain.
    earlier
        Earlier attempts under this name or on these rounds, in the order of the log.
    reason
        Why there is one more attempt under this name.
    left_out
        Other rounds that the store had then.
    again, tentative
        Its rounds that had come before with other ratings, and those that were admitted on a
        tentative verdict.
    anchored
        What it gave to anchors since. None if it labelled none again. Not in the document.
    """

    project: str
    identity: Identity
    expires: date
    policy: Policy
    terms: Terms
    rounds: Mapping[str, dict[str, Any]]
    scale: Scale
    earlier: tuple[Entry, ...]
    reason: str
    left_out: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    tentative: tuple[str, ...] = ()
    anchored: Anchored | None = None

    @property
    def certified(self) -> bool:
        return not any(self._iterate_reasons("hold", admitted=False))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._iterate_reasons("hold", admitted=self.certified))

    @property
    def digest(self) -> str:
        return digest_of(as_json(self.to_mapping()))

    @property
    def statement(self) -> str:
        name, cutoff = self.identity.name, self.policy.cut
        panel = f"the panel of rounds {listed(self.rounds)}"
        if cutoff is not None:
            panel += f" on the cut at {cutoff}, and not on the scale,"
        if not self.certified:
            return f"{name} is not shown to agree with {panel}"
        return (
            f"{name} agrees with {panel} on items like these until "
            f"{self.expires}; this does not say that it is right, unbiased or fair"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._iterate_warnings())

    def to_mapping(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "classifier",
            "statement": self.statement,
            "warnings": list(self.warnings),
            "project": self.project,
            "classifier": {**self.identity.to_mapping(), "digest": self.identity.digest},
            "decision": "certified" if self.certified else "held",
            "expires": self.expires.isoformat(),
            "scale": self.scale.to_mapping(),
            "rounds": dict(self.rounds),
            "policy": self.policy.to_mapping(),
            "panel": {
                "policy": self.terms.policy.to_mapping(),
                "contract": self.terms.contract.to_mapping(),
                "waivers": [waiver.to_mapping() for waiver in self.terms.waivers],
            },
            "earlier": [dict(entry) for entry in self.earlier],
            "reason": self.reason,
            "left_out": list(self.left_out),
            "written_by": __version__,
        }

    def refuse_others(self, ratings: Ratings) -> None:
        name, domain = self.identity.name, domain_of(ratings, self.identity.name)
        domains = [evidence["domain"] for evidence in self.rounds.values()]
        if ratings.scale != self.scale:
            alike = (ratings.scale.level, ratings.scale.names) == (
                self.scale.level,
                self.scale.names,
            )
            step = (
                "Name the categories where they are read" if alike else "Certify it on this scale"
            )
            raise CertificateError(
                f"classifier {name}: found another scale, {ratings.scale.in_words}; expected the "
                f"one that it was certified on, {self.scale.in_words}. {step}.",
                "certificate_other_labels",
            )
        for column in sorted({*domain}.union(*domains)):
            values = {*domain.get(column, ())}
            certified_values = {
                value for certified_domain in domains for value in certified_domain.get(column, ())
            }
            strange = values - certified_values
            if strange or bool(values) != bool(certified_values):
                of_labels = column == "label"
                column_name = column if of_labels else f"stratum {column.removeprefix(STRATUM)}"
                values_phrase = f"no {column_name}"
                if values:
                    values_phrase = f"{column_name} {listed(sorted(strange))}"
                expected_phrase = "none, as when it was certified"
                if certified_values:
                    expected_phrase = (
                        f"some of {listed(sorted(certified_values))}, on which it was certified"
                    )
                step = "Certify it on rounds with such items"
                if not values:
                    step = "Name its column as a stratum, or certify it on rounds without"
                raise CertificateError(
                    f"classifier {name}: found {values_phrase}; expected {expected_phrase}. "
                    f"{step}.",
                    "certificate_other_labels" if of_labels else "certificate_other_strata",
                )

    def _iterate_warnings(self) -> Iterator[str]:
        yield from self._iterate_reasons("warn", admitted=False)
        for name, evidence in self.rounds.items():
            if not evidence["alternative_annotator_test"]["passed"]:
                yield f"round {name}: {NOT_SHOWN}"
            if not evidence["says_assisted"]:
                yield f"round {name}: {UNSAID}"
        if taken_as_unrelated := [
            name for name, evidence in self.rounds.items() if "in_clusters" not in evidence
        ]:
            yield f"rounds {listed(taken_as_unrelated)}: {UNRELATED}"
        for waiver in self.terms.waivers:
            by = f"{waiver.who}, until {waiver.until}: {waiver.why}"
            yield f"round {waiver.subject.round}: its panel has a {waiver.kind} by {by}"
        if absent := self.identity.absent:
            yield f"not known of it: {listed(absent)}"
        name, earlier = self.identity.name, self.earlier
        mine = {
            entry["identity_digest"]
            for entry in earlier
            if _are_alike_names(entry["classifier"], name)
        }
        if namesakes := mine - {self.identity.digest}:
            namesakes_phrase = counted(len(namesakes), "other classifier")
            yield f"{namesakes_phrase} had the name {name}, with another digest"
        if earlier:
            n_held = sum(entry["decision"] == "held" for entry in earlier)
            yield (
                f"after {counted(len(earlier), 'earlier attempt')} under this name or on these "
                f"rounds, of which {n_held} held{self.reason and f': {self.reason}'}"
            )
        if self.again:
            yield (
                f"rounds {listed(self.again)} came before with other ratings, which it does not "
                "count"
            )
        if self.tentative:
            yield (
                f"rounds {listed(self.tentative)} were admitted on a tentative verdict, so what "
                "follows from them is tentative too"
            )
        if self.left_out:
            yield f"not part of it: rounds {listed(self.left_out)} of the same store"

    def _iterate_reasons(self, effect: str, *, admitted: bool) -> Iterator[str]:
        """The reasons of verdicts with an effect, which the policy admits or does not."""
        for name, evidence in self.rounds.items():
            for verdict in evidence["verdicts"]:
                is_admitted = verdict["verdict"] in self.policy.admit
                if verdict["effect"] == effect and is_admitted is admitted:
                    yield f"round {name}: {verdict['reason']}"


def certify(
    store: Store,
    rounds: Sequence[str],
    identity: Identity,
    rules: Policy,
    *,
    policy: Policy,
    contract: Contract,
    project: str,
    expires: date,
    reason: str = "",
    **under: Unpack[Under],
) -> Certificate:
    """Judge a classifier beside the panels of admitted rounds, and record what was found.

    Every one of the `rounds` must meet the `rules`. The panels are admitted as for `release_round`.
    The certificate expires at most 366 days from today. Certified or held, it is in the log.

    Raises
    ------
    CertificateError
        A round is not admitted, its raters are models, its items have other texts than when they
        were drawn, the classifier did not label all of its items, or there was an attempt before
        and no reason is given.
    """
    refuse_expiry(expires, today(), MAX_VALIDITY_DAYS)
    if not rounds:
        raise CertificateError(
            f"classifier {identity.name}: found no round in {store.root}; expected at least one "
            "that is admitted. Deliver a round with its labels, and run the project in Dagster "
            "or with `agreement-pipeline run`."
        )
    if not rules.classifiers:
        raise CertificateError(
            f"classifier {identity.name}: found no rules for classifiers; expected at least one. "
            "Name a policy with rules under classifiers, as classifier-standard."
        )
    terms = Terms(policy, contract, **under)
    with store.reading():
        store.log.give_to(project)
        refuse_reused(store, rules, contract)
        history = store.history()
        _require_reason_for_another(
            store, _find_earlier_attempts(history, identity, rounds), identity, reason
        )
        _refuse_before_drift(history, identity, rounds)
        silver_rounds = {
            entry["round"] for entry in of_event("decided", history) if "silver" in entry
        }
        if silver := sorted(silver_rounds & {*rounds}):
            raise CertificateError(
                f"rounds {listed(silver)}: found that a classifier gave their labels; expected "
                "rounds of people, which certify it first. Name the store of these.",
                "certificate_round_silver",
            )
        judged_rounds, _ = decide(store, list(dict.fromkeys(rounds)), terms)
        for judged_round in judged_rounds:
            try:
                refuse_moved_contents(
                    store, judged_round.ratings, f"round {judged_round.version.round}"
                )
            except DrawError as error:
                code = OTHER_CONTENTS if error.code == "draw_other_contents" else error.code
                raise CertificateError(str(error), code) from None
    certificate = _build_certificate(
        project, identity, expires, rules, terms, judged_rounds, reason.strip()
    )
    with store.locked():
        refuse_replaced(store, [judged_round.version for judged_round in judged_rounds])
        for judged_round in judged_rounds:
            if not is_last_decision(store, judged_round.version, judged_round.facts):
                raise _not_admitted_error(judged_round.version.round, "judged again meanwhile")
        certificate = _add_history(certificate, store.history())
        _require_reason_for_another(store, certificate.earlier, identity, reason)
        content = as_json(certificate.to_mapping())
        digest, reasons = digest_of(content), list(certificate.reasons)
        store.storage.keep(f"certificates/{digest}.json", content)
        facts = _log_facts(certificate)
        store.record(
            "certified", _name_in_log(identity), certificate=digest, reasons=reasons, **facts
        )
    return certificate


def open_certificate(
    store: Store, identity: Identity, ratings: Ratings | None = None, *, on: date | None = None
) -> Certificate:
    """The certificate that answers for a classifier, derived again from the store's bytes.

    The last attempt with this identity counts. If `ratings` are given, it must answer for them.

    If none answers, the `code` of the error says why.
    """
    certificate = _load_in_force(store, identity, on or today())[0]
    if (anchor_agreement := certificate.anchored) and anchor_agreement.drifted:
        raise CertificateError(
            f"classifier {identity.name}: found that it drifted ({anchor_agreement.in_words}); "
            "expected agreement that stays. Find out what changed, and certify it on fresh rounds.",
            "certificate_drifted",
        )
    if ratings is not None:
        certificate.refuse_others(ratings)
    return certificate


def look_again(store: Store, identity: Identity, ratings: Ratings) -> Anchored:
    """Record what a certified classifier says now on items that it was certified on: its anchors.

    The items of the first look are the anchors of all later ones. The same labels on the same day
    are one look. Items of other rounds are left aside. If agreement with the panel drifted over all
    looks, the certificate answers nothing.

    Raises
    ------
    CertificateError
        No certificate is in force, the scale is another one, or the items are not its anchors
        (`certificate_other_anchors`).
    """
    name, day = identity.name, today()
    with store.locked():
        certificate, entry, panel, looks = _load_in_force(store, identity, day)
        sides = _dichotomize_at_cut(ratings, certificate.policy)
        if sides.scale != certificate.scale or certificate.scale.continuous:
            raise CertificateError(
                f"classifier {name}: found labels that are {sides.scale.in_words}; expected "
                f"categories as certified, {certificate.scale.in_words}. Read them on that scale.",
                "certificate_other_labels",
            )
        columns = sides.first_ratings(["item", "label"], raters=[name]).to_pydict()
        labels = dict(zip(columns["item"], columns["label"], strict=True))
        earlier = _read_labels_of_looks(store, looks)
        anchor_items = {*(earlier[0] if earlier else panel.counts_by_item)}
        strange = sorted({*labels} - anchor_items)
        missing = sorted(anchor_items - {*labels}) if earlier else []
        if strange or missing or len(labels) < FEWEST_ANCHORS:
            missing_phrase = f", without {listed(missing)}" if missing else ""
            strange_phrase = f", of which {listed(strange)} are others" if strange else ""
            right = "those of the first look" if earlier else "items of its certified rounds"
            raise CertificateError(
                f"classifier {name}: found "
                f"{counted(len(labels), 'anchor')}{missing_phrase}{strange_phrase}; "
                f"expected {right}, {FEWEST_ANCHORS} or more. Give its labels of these.",
                "certificate_other_anchors",
            )
        content = as_json(labels)
        facts = {"labels": digest_of(content), "day": day.isoformat()}
        if certificate.anchored and facts.items() <= looks[-1].items():
            return certificate.anchored
        store.storage.keep(f"anchors/{facts['labels']}.json", content)
        anchor_agreement = panel.compare_looks([*earlier, labels])
        facts |= {"certificate": entry["certificate"], "classifier": name}
        store.record("anchored", entry["round"], **facts, drifted=anchor_agreement.drifted)
    return anchor_agreement


def domain_of(ratings: Ratings, name: str) -> dict[str, list[str]]:
    """The labels that a classifier or the panel gave, and the strata of its items.

    Numbers without categories are no labels here.
    """
    items = _distinct_values(ratings, "item", [name])
    columns = [f"{STRATUM}{column}" for column in ratings.strata]
    item_table = ratings.items(columns, names=items)
    strata = {
        column: sorted(item_table[column].drop_null().unique().to_pylist()) for column in columns
    }
    if ratings.scale.continuous:
        return {"label": [], **strata}
    labellers = [name, *ratings.raters]
    return {
        "label": sorted(map(str, _distinct_values(ratings, "label", labellers, items))),
        **strata,
    }


def _distinct_values(
    ratings: Ratings, column: str, raters: Collection[str], items: Collection[str] | None = None
) -> set[str]:
    return {
        *ratings.first_ratings([column], raters=raters, items=items)[column].unique().to_pylist()
    }


def refuse_expiry(expires: date, on: date, max_days: int | None = None) -> None:
    for day_name, day in (("last day", expires), ("day", on)):
        if type(day) is not date:
            raise CertificateError(
                f"certificate: found the {day_name} {day!r}; expected a day without a time, as "
                "date(2027, 1, 31). Give its date()."
            )
    if expires < on:
        raise CertificateError(
            f"certificate: found the last day {expires}, which is past; expected {on} or later. "
            "Certify the classifier again, on rounds of today.",
            "certificate_expired",
        )
    if max_days is not None and expires > on + timedelta(days=max_days):
        raise CertificateError(
            f"certificate: found the last day {expires}; expected at most {max_days} days after "
            f"{on}, since models and items change. Name an earlier day."
        )


def _build_certificate(
    project: str,
    identity: Identity,
    expires: date,
    rules: Policy,
    terms: Terms,
    judged_rounds: Sequence[Judged],
    reason: str,
) -> Certificate:
    for judged_round in judged_rounds:
        if not judged_round.decision.admitted:
            raise _not_admitted_error(
                judged_round.version.round, join_sentences(judged_round.decision.reasons)
            )
    judged_rounds = [
        replace(judged_round, ratings=_dichotomize_at_cut(judged_round.ratings, rules))
        for judged_round in judged_rounds
    ]
    scales = {judged_round.ratings.scale for judged_round in judged_rounds}
    if len(scales) > 1:
        raise CertificateError(
            f"classifier {identity.name}: found {len(scales)} different scales; expected one in a "
            "certificate. Certify it on each scale."
        )
    names = {judged_round.version.round for judged_round in judged_rounds}
    terms_of_rounds = replace(
        terms, waivers=tuple(waiver for waiver in terms.waivers if waiver.subject.round in names)
    )
    evidence_by_round = {
        judged_round.version.round: _build_evidence(judged_round, identity, rules)
        for judged_round in judged_rounds
    }
    scale = next(iter(scales))
    tentative = tuple(
        judged_round.version.round
        for judged_round in judged_rounds
        if judged_round.decision.tentative
    )
    certificate = Certificate(
        project, identity, expires, rules, terms_of_rounds, evidence_by_round, scale, (), reason
    )
    return replace(certificate, tentative=tentative)


def _dichotomize_at_cut(ratings: Ratings, rules: Policy) -> Ratings:
    return ratings if rules.cut is None else dichotomize(ratings, rules.cut)


def _build_evidence(judged_round: Judged, identity: Identity, rules: Policy) -> dict[str, Any]:
    name, ratings = identity.name, judged_round.ratings.without_assisted
    all_ratings = measure_gold(judged_round.ratings)
    _refuse_panel(judged_round, all_ratings, identity)
    verdicts = _judge_classifier(ratings, name, rules)
    if judged_round.ratings.gold or judged_round.ratings.n_assisted:
        verdict_with_all = {
            (verdict.rule, verdict.scope): verdict
            for verdict in _judge_classifier(all_ratings, name, rules)
        }
        verdicts = tuple(
            _withdraw_if_all_labels_dissent(
                rules, verdict, verdict_with_all.get((verdict.rule, verdict.scope))
            )
            for verdict in verdicts
        )
    test = alternative_annotator_test(
        counting_for(ratings).by_rater(ratings, (name,)).with_rater_apart(name)
    )
    test_fields = ("winning_rate", "passed", "epsilon", "undefined")
    return {
        "ratings_digest": judged_round.version.ratings_digest,
        "items": ratings.n_items,
        "raters": len(ratings.raters),
        **({"in_clusters": True} if "cluster" in ratings.has else {}),
        "says_assisted": ratings.is_assistance_known,
        "verdicts": [verdict.to_mapping() for verdict in verdicts],
        "alternative_annotator_test": {field: getattr(test, field) for field in test_fields},
        "domain": domain_of(ratings, name),
    }


def _judge_classifier(ratings: Ratings, name: str, rules: Policy) -> tuple[Verdict, ...]:
    classifier_policy = rules.restricted_to_classifiers
    estimates = measure_ratings(
        ratings, classifier_policy.measures, classifier_policy.inference, scopes=("classifier",)
    )
    return classifier_policy.judge(
        [estimate for estimate in estimates if estimate.scope.name == name]
    )


def _withdraw_if_all_labels_dissent(
    rules: Policy, verdict: Verdict, verdict_with_all: Verdict | None
) -> Verdict:
    """An inconclusive verdict if what is left out is what the classifier gets wrong."""
    has_value = (
        verdict_with_all is not None
        and verdict_with_all.estimate is not None
        and verdict_with_all.estimate.value is not None
    )
    if (
        verdict_with_all is None
        or not has_value
        or verdict.kind not in rules.admit
        or verdict_with_all.kind in rules.admit
    ):
        return verdict
    left_out_phrase = "with the gold items and the labels that began as a suggestion"
    return verdict.take_back(left_out_phrase, verdict_with_all, code="dissent_left_out")


def _refuse_panel(judged_round: Judged, ratings: Ratings, identity: Identity) -> None:
    name, location = identity.name, f"round {judged_round.version.round}"
    labelled = _distinct_values(ratings, "item", [name])
    if name not in ratings.classifiers or not labelled:
        raise CertificateError(
            f"{location}: found classifiers {listed(ratings.classifiers)}; expected {name!r} among "
            "them. Correct the name, or let it label the round.",
            "certificate_classifier_absent",
        )
    refuse_raters_named_like_models(ratings, identity, location)
    rated = _distinct_values(ratings, "item", ratings.raters)
    if missing := sorted(rated - labelled):
        raise CertificateError(
            f"{location}: found {counted(len(missing), 'item')} without a label of {name}, as "
            f"{missing[0]!r}; expected one for each item of the panel, since those that it leaves "
            "out may be the hard ones. Let it label them; an abstention is a category.",
            "certificate_items_missing",
        )


def refuse_raters_named_like_models(ratings: Ratings, identity: Identity, location: str) -> None:
    for exported_identity in exported_identities(ratings):
        if exported_identity.name == identity.name:
            exported_identity.beside(identity).refuse_other(identity)
    raters = ratings.raters
    classifier_names = [
        classifier_name for classifier_name in (identity.name, identity.model) if classifier_name
    ]
    models = {
        *names_like_models(raters),
        *(
            rater
            for rater in raters
            if any(_are_alike_names(rater, classifier_name) for classifier_name in classifier_names)
        ),
    }
    if models:
        raise CertificateError(
            f"{location}: found raters {listed(sorted(models))}, whose names are those of models; "
            "expected people, since models that agree show nothing about people. Name models as "
            "classifiers of the project, and read the round again.",
            "certificate_panel_models",
        )


def _find_earlier_attempts(
    history: Sequence[Entry], identity: Identity, rounds: Collection[str]
) -> tuple[Entry, ...]:
    entry_keys = ("certificate", "classifier", "identity_digest", "decision")
    return tuple(
        {key: entry[key] for key in entry_keys}
        for entry in of_event("certified", history)
        if _are_alike_names(entry["classifier"], identity.name) or {*entry["rounds"]} & {*rounds}
    )


def _are_alike_names(name: str, other_name: str) -> bool:
    """Judge is no new name beside judge."""
    return name == other_name or bool(group_lookalike_names([name, other_name]))


def _add_history(certificate: Certificate, history: Sequence[Entry]) -> Certificate:
    """With what the log has of earlier attempts, of other rounds, and of rounds that came again."""
    arrived = Counter(entry["round"] for entry in of_event("ingested", history))
    return replace(
        certificate,
        earlier=_find_earlier_attempts(history, certificate.identity, certificate.rounds),
        left_out=tuple(sorted(arrived.keys() - certificate.rounds.keys())),
        again=tuple(name for name in certificate.rounds if arrived[name] > 1),
    )


def _require_reason_for_another(
    store: Store, earlier: Sequence[Entry], identity: Identity, reason: str
) -> None:
    mine = [entry for entry in earlier if _are_alike_names(entry["classifier"], identity.name)]
    if mine and not any(map(str.isalnum, reason)):
        raise CertificateError(
            f"{store.root}: found {counted(len(mine), 'earlier attempt')} under the name "
            f"{identity.name}, the last one {mine[-1]['decision']}; expected one, since the best "
            "of several is no evidence. Say why there must be another (--reason).",
            "certificate_again",
        )


def _name_in_log(identity: Identity) -> str:
    return f"classifier-{identity.digest[:12]}"


def _log_facts(certificate: Certificate) -> dict[str, Any]:
    return {
        "classifier": certificate.identity.name,
        "identity_digest": certificate.identity.digest,
        "decision": "certified" if certificate.certified else "held",
        "rounds": {
            name: evidence["ratings_digest"] for name, evidence in certificate.rounds.items()
        },
        "expires": certificate.expires.isoformat(),
        "policy": certificate.policy.to_mapping(),
        "policy_digest": certificate.policy.digest,
    }


def _find_entry(store: Store, history: Sequence[Entry], identity: Identity) -> Entry:
    certified = of_event("certified", history)[::-1]
    attempts = [attempt for attempt in certified if attempt["classifier"] == identity.name]
    for entry in attempts:
        if entry["identity_digest"] == identity.digest:
            return entry
    for entry in attempts:
        if entry["decision"] == "certified":
            identity.refuse_other(_read_identity(_read_certificate(store, entry)))
    raise CertificateError(
        f"classifier {identity.name}: found no certificate of {identity.digest[:12]} in the log; "
        "expected one. Certify it: "
        "agreement-pipeline certify PROJECT.yaml CLASSIFIER.yaml --expires DAY.",
        "certificate_absent",
    )


@contextmanager
def _refuse_unusable(content_name: str) -> Iterator[None]:
    try:
        yield
    except MISREAD as error:
        raise _not_derived_error(f"{content_name} that cannot be used ({error})") from None


def _read_identity(document: Mapping[str, Any]) -> Identity:
    with _refuse_unusable("a classifier"):
        return Identity.from_mapping({key: document["classifier"][key] for key in PARTS})


def _read_certificate(store: Store, entry: Entry) -> dict[str, Any]:
    return _read_document(store, "certificates", entry)


def _read_labels_of_looks(store: Store, looks: Iterable[Entry]) -> list[dict[str, str]]:
    return [_read_document(store, "anchors", look) for look in looks]


def _read_document(store: Store, kind: str, entry: Entry) -> dict[str, Any]:
    digest = entry["certificate" if kind == "certificates" else "labels"]
    file = f"{kind}/{digest}.json"
    content = store.storage.read(file)
    if content is None and any(
        log_entry["event"] == "erased" for log_entry in store.history("log")
    ):
        raise CertificateError(
            f"{store.root}: found that a rater or an item was erased from what classifier "
            f"{entry['classifier']} was certified on; expected a certificate of the rounds that "
            "are left. Certify the classifier again.",
            "certificate_withdrawn",
        )
    if content is None or digest_of(content) != digest:
        mismatch = "no such file" if content is None else "other bytes than those in the log"
        raise CertificateError(
            f"{store.root / file}: found {mismatch}; expected what was written for the "
            "certificate. Restore it, or certify the classifier again.",
            "certificate_edited",
        )
    with _refuse_unusable("content"):
        document = json.loads(content)
        if not isinstance(document, dict):
            raise TypeError("no JSON object")
        return document


def _load_in_force(
    store: Store, identity: Identity, on: date
) -> tuple[Certificate, Entry, "_Panel", list[dict[str, Any]]]:
    """The certificate, its entry in the log, its panel, and the looks at its anchors."""
    history = store.history()
    entry = _find_entry(store, history, identity)
    earlier_history = history[: entry["number"] - 1]
    if entry["decision"] != "certified":
        raise CertificateError(
            f"classifier {identity.name}: found that it was held "
            f"({join_sentences(entry['reasons'])}); "
            "expected a certificate. Improve the classifier, and certify it again.",
            "certificate_held",
        )
    document = _read_certificate(store, entry)
    with _refuse_unusable("a last day"):
        expires = date.fromisoformat(entry["expires"])
    refuse_expiry(expires, on, MAX_VALIDITY_DAYS)
    later_decisions = of_event("decided", history[len(earlier_history) :])
    held_rounds = {
        decision["round"] for decision in later_decisions if decision["decision"] != "admitted"
    }
    for name, digest in entry["rounds"].items():
        if name in held_rounds or store.present(name).ratings_digest != digest:
            raise CertificateError(
                f"round {name}: found that it "
                f"{'was held' if name in held_rounds else 'came again'} since "
                "it was part of a certificate; expected the round that was admitted. Certify the "
                "classifier again.",
                "certificate_withdrawn",
            )
    certificate, judged_rounds = _derive_certificate(
        store, document, entry, earlier_history, identity
    )
    _refuse_before_drift(earlier_history, identity, entry["rounds"])
    panel, anchored = _Panel(certificate, judged_rounds), of_event("anchored", history)
    looks = [look for look in anchored if look["certificate"] == entry["certificate"]]
    if looks:
        certificate = replace(
            certificate, anchored=panel.compare_looks(_read_labels_of_looks(store, looks))
        )
    return certificate, entry, panel, looks


class _Panel:
    """What the panel of the certified rounds labelled, and the classifier when it was certified."""

    def __init__(self, certified: Certificate, judged_rounds: Sequence[Judged]) -> None:
        self.rules = certified.policy
        self.certified_labels, self.counts_by_item = dict[str, str](), dict[str, Counter[str]]()
        for judged_round in judged_rounds:
            ratings = _dichotomize_at_cut(judged_round.ratings, self.rules).without_assisted
            columns = ratings.first_ratings(["item", "rater", "label"]).to_pydict()
            for item, rater, label in zip(*columns.values(), strict=True):
                if rater == certified.identity.name:
                    self.certified_labels[item] = label
                elif rater in ratings.raters:
                    self.counts_by_item.setdefault(item, Counter())[label] += 1

    def compare_looks(self, looks: Sequence[Mapping[str, str]]) -> Anchored:
        """Agreement with the panel on the items of the first look, over all looks."""
        items = sorted(looks[0])
        if any({*look} != {*items} for look in looks) or not {*items} <= self.counts_by_item.keys():
            raise _not_derived_error("other anchors than the first, or none of its items")
        certified_shares, *shares_by_look = (
            [
                self.counts_by_item[item][labels[item]] / self.counts_by_item[item].total()
                for item in items
            ]
            for labels in (self.certified_labels, *looks)
        )
        lost, tail = self.rules.most_lost, self.rules.inference.tail
        return compare_with_anchors(
            np.array(certified_shares), np.array(shares_by_look), lost, tail
        )


def _refuse_before_drift(
    history: Sequence[Entry], identity: Identity, rounds: Collection[str]
) -> None:
    """Refuse rounds that first came before the classifier was seen to drift, under any name.

    It was another one then.
    """
    drifted = [
        entry["number"]
        for entry in of_event("anchored", history)
        if entry["drifted"] and entry["round"] == _name_in_log(identity)
    ]
    deliveries = [
        (entry["round"], entry["ratings_digest"]) for entry in of_event("ingested", history)
    ]
    until = len(of_event("ingested", history[: max(drifted, default=0)]))
    delivered_before_drift = {
        name_or_digest for delivery in deliveries[:until] for name_or_digest in delivery
    }
    if old := sorted(
        {
            delivery[0]
            for delivery in deliveries
            if delivery[0] in rounds and {*delivery} & delivered_before_drift
        }
    ):
        fresh = sorted({*rounds} - {*old})
        step = "Deliver fresh rounds with its labels"
        if fresh:
            step = f"Certify it on {called('round', fresh)} alone (--round)"
        raise CertificateError(
            f"classifier {identity.name}: found that it drifted since rounds {listed(old)} came; "
            f"expected rounds that it labelled after that. {step}.",
            "certificate_drifted",
        )


def _derive_certificate(
    store: Store,
    document: Mapping[str, Any],
    entry: Entry,
    earlier_history: Sequence[Entry],
    identity: Identity,
) -> tuple[Certificate, list[Judged]]:
    with _refuse_unusable("content"):
        panel = document["panel"]
        terms = Terms(
            Policy.from_mapping(panel["policy"]),
            Contract.from_mapping(panel["contract"]),
            waivers=tuple(map(waiver_from_mapping, panel["waivers"])),
        )
        rules = Policy.from_mapping(document["policy"])
        expires, reason = date.fromisoformat(document["expires"]), str(document["reason"])
        project, logged_on = str(document["project"]), datetime.fromisoformat(entry["time"]).date()
    identity.refuse_other(_read_identity(document))
    refuse_expiry(expires, logged_on, MAX_VALIDITY_DAYS)
    try:
        judged_rounds = [
            judge_version(store, store.present(name), terms) for name in entry["rounds"]
        ]
    except ContractError:
        raise _not_derived_error("a contract that the gate did not judge by") from None
    certificate = _add_history(
        _build_certificate(project, identity, expires, rules, terms, judged_rounds, reason),
        earlier_history,
    )
    ours = document.get("written_by") == __version__
    first_difference = difference(
        dict(document),
        json.loads(as_json(certificate.to_mapping())),
        "certificate",
        frozenset({("written_by",)}) | (frozenset() if ours else WORDS),
    )
    if first_difference or any(
        entry[key] != value for key, value in _log_facts(certificate).items()
    ):
        raise _not_derived_error(first_difference or "facts that the log has otherwise")
    gate = {decision["round"]: decision for decision in of_event("decided", earlier_history)}
    for judged_round in judged_rounds:
        name, facts = judged_round.version.round, judged_round.facts
        if name not in gate or any(gate[name][key] != facts[key] for key in BOUND):
            raise _not_derived_error(
                f"rules for the panel of round {name} that the gate did not judge by"
            )
    return certificate, judged_rounds


def _not_derived_error(mismatch: str) -> CertificateError:
    return CertificateError(
        f"certificate: found {mismatch}; expected what the rounds in the store give. Do not rely "
        "on it; certify the classifier again.",
        "certificate_not_derived",
    )


def _not_admitted_error(name: str, reason: str) -> CertificateError:
    return CertificateError(
        f"round {name}: found a round that is not admitted ({reason}); expected an admitted panel. "
        "Correct what the reasons name.",
        "certificate_round_held",
    )
