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
from agreement_pipeline.counting import counting_of
from agreement_pipeline.errors import MISREAD, CertificateError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.measures import alternative_annotator_test
from agreement_pipeline.models.anchors import FEWEST_ANCHORS, Anchored, anchored
from agreement_pipeline.models.identity import Identity, told_of
from agreement_pipeline.policy import Policy, Verdict, waiver_from_mapping
from agreement_pipeline.ratings import (
    STRATUM,
    Ratings,
    Scale,
    dichotomize,
    like_models,
    lookalikes,
    measure_gold,
)
from agreement_pipeline.release import (
    EACH,
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
from agreement_pipeline.text import called, chained, counted, listed
from agreement_pipeline.version import __version__

SCHEMA = "agreement-certificate/1"
LONGEST = 366
WORDS: Paths = frozenset(
    {
        ("statement",),
        ("warnings",),
        ("rounds", EACH, "verdicts", EACH, "reason"),
    }
)
BOUND = ("decision", "ratings_digest", "policy_digest", "contract_digest")
NOT_SHOWN = "not shown that it may stand in for a rater (alternative-annotator test)"
UNSAID = "its export does not say which labels began as a suggestion, perhaps this classifier's own"
PARTS = tuple(each.name for each in fields(Identity))
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
        return not any(self._said("hold", met=False))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._said("hold", met=self.certified))

    @property
    def digest(self) -> str:
        return digest_of(as_json(self.to_mapping()))

    @property
    def statement(self) -> str:
        name, cut = self.identity.name, self.policy.cut
        panel = f"the panel of rounds {listed(self.rounds)}"
        if cut is not None:
            panel += f" on the cut at {cut}, and not on the scale,"
        if not self.certified:
            return f"{name} is not shown to agree with {panel}"
        return (
            f"{name} agrees with {panel} on items like these until "
            f"{self.expires}; this does not say that it is right, unbiased or fair"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warned())

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
                "waivers": [each.to_mapping() for each in self.terms.waivers],
            },
            "earlier": [dict(each) for each in self.earlier],
            "reason": self.reason,
            "left_out": list(self.left_out),
            "written_by": __version__,
        }

    def refuse_others(self, ratings: Ratings) -> None:
        name, here = self.identity.name, domain_of(ratings, self.identity.name)
        domains = [each["domain"] for each in self.rounds.values()]
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
        for column in sorted({*here}.union(*domains)):
            found = {*here.get(column, ())}
            known = {value for each in domains for value in each.get(column, ())}
            if found - known or bool(found) != bool(known):
                of_labels, strange = column == "label", listed(sorted(found - known))
                what = column if of_labels else f"stratum {column.removeprefix(STRATUM)}"
                some = f"some of {listed(sorted(known))}, on which it was certified"
                step = "Certify it on rounds with such items"
                if not found:
                    step = "Name its column as a stratum, or certify it on rounds without"
                raise CertificateError(
                    f"classifier {name}: found {f'{what} {strange}' if found else f'no {what}'}; "
                    f"expected {some if known else 'none, as when it was certified'}. {step}.",
                    "certificate_other_labels" if of_labels else "certificate_other_strata",
                )

    def _warned(self) -> Iterator[str]:
        yield from self._said("warn", met=False)
        for name, each in self.rounds.items():
            if not each["alternative_annotator_test"]["passed"]:
                yield f"round {name}: {NOT_SHOWN}"
            if not each["says_assisted"]:
                yield f"round {name}: {UNSAID}"
        for waiver in self.terms.waivers:
            by = f"{waiver.who}, until {waiver.until}: {waiver.why}"
            yield f"round {waiver.subject.round}: its panel has a {waiver.kind} by {by}"
        if absent := self.identity.absent:
            yield f"not known of it: {listed(absent)}"
        name, earlier = self.identity.name, self.earlier
        mine = {each["identity_digest"] for each in earlier if _alike(each["classifier"], name)}
        if namesakes := mine - {self.identity.digest}:
            others = counted(len(namesakes), "other classifier")
            yield f"{others} had the name {name}, with another digest"
        if earlier:
            held = sum(each["decision"] == "held" for each in earlier)
            yield (
                f"after {counted(len(earlier), 'earlier attempt')} under this name or on these "
                f"rounds, of which {held} held{self.reason and f': {self.reason}'}"
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

    def _said(self, effect: str, *, met: bool) -> Iterator[str]:
        for name, each in self.rounds.items():
            for verdict in each["verdicts"]:
                admitted = verdict["verdict"] in self.policy.admit
                if verdict["effect"] == effect and admitted is met:
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
        A round is not admitted, its raters are models, the classifier did not label all of its
        items, or there was an attempt before and no reason is given.
    """
    refuse_expiry(expires, today(), LONGEST)
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
        _refuse_again(store, _earlier(history, identity, rounds), identity, reason)
        _refuse_before_drift(history, identity, rounds)
        told = {each["round"] for each in of_event("decided", history) if "silver" in each}
        if silver := sorted(told & {*rounds}):
            raise CertificateError(
                f"rounds {listed(silver)}: found that a classifier gave their labels; expected "
                "rounds of people, which certify it first. Name the store of these.",
                "certificate_round_silver",
            )
        judged, _ = decide(store, list(dict.fromkeys(rounds)), terms)
    found = _certificate(project, identity, expires, rules, terms, judged, reason.strip())
    with store.locked():
        refuse_replaced(store, [each.version for each in judged])
        for each in judged:
            if not is_last_decision(store, each.version, each.facts):
                raise _not_admitted(each.version.round, "judged again meanwhile")
        found = _beside(found, store.history())
        _refuse_again(store, found.earlier, identity, reason)
        written = as_json(found.to_mapping())
        digest, reasons = digest_of(written), list(found.reasons)
        store.storage.keep(f"certificates/{digest}.json", written)
        facts = _facts(found)
        store.record("certified", _name(identity), certificate=digest, reasons=reasons, **facts)
    return found


def open_certificate(
    store: Store, identity: Identity, ratings: Ratings | None = None, *, on: date | None = None
) -> Certificate:
    """The certificate that answers for a classifier, derived again from the store's bytes.

    The last attempt with this identity counts. If `ratings` are given, it must answer for them.

    If none answers, the `code` of the error says why.
    """
    found = _in_force(store, identity, on or today())[0]
    if (seen := found.anchored) and seen.drifted:
        raise CertificateError(
            f"classifier {identity.name}: found that it drifted ({seen.in_words}); expected "
            "agreement that stays. Find out what changed, and certify it on fresh rounds.",
            "certificate_drifted",
        )
    if ratings is not None:
        found.refuse_others(ratings)
    return found


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
        found, entry, panel, looks = _in_force(store, identity, day)
        sides = _at_cut(ratings, found.policy)
        if sides.scale != found.scale or found.scale.continuous:
            raise CertificateError(
                f"classifier {name}: found labels that are {sides.scale.in_words}; expected "
                f"categories as certified, {found.scale.in_words}. Read them on that scale.",
                "certificate_other_labels",
            )
        said = sides.first(["item", "label"], raters=[name]).to_pydict()
        labels = dict(zip(said["item"], said["label"], strict=True))
        earlier = _labels_in(store, looks)
        known = {*(earlier[0] if earlier else panel.given)}
        strange, missing = sorted({*labels} - known), sorted(known - {*labels}) if earlier else []
        if strange or missing or len(labels) < FEWEST_ANCHORS:
            without = f", without {listed(missing)}" if missing else ""
            beside = f", of which {listed(strange)} are others" if strange else ""
            right = "those of the first look" if earlier else "items of its certified rounds"
            raise CertificateError(
                f"classifier {name}: found {counted(len(labels), 'anchor')}{without}{beside}; "
                f"expected {right}, {FEWEST_ANCHORS} or more. Give its labels of these.",
                "certificate_other_anchors",
            )
        content = as_json(labels)
        facts = {"labels": digest_of(content), "day": day.isoformat()}
        if found.anchored and facts.items() <= looks[-1].items():
            return found.anchored
        store.storage.keep(f"anchors/{facts['labels']}.json", content)
        seen = panel.seen([*earlier, labels])
        facts |= {"certificate": entry["certificate"], "classifier": name}
        store.record("anchored", entry["round"], **facts, drifted=seen.drifted)
    return seen


def domain_of(ratings: Ratings, name: str) -> dict[str, list[str]]:
    """The labels that a classifier or the panel gave, and the strata of its items.

    Numbers without categories are no labels here.
    """
    items = _values_of(ratings, "item", [name])
    columns = [f"{STRATUM}{column}" for column in ratings.strata]
    known = ratings.items(columns, names=items)
    strata = {column: sorted(known[column].drop_null().unique().to_pylist()) for column in columns}
    if ratings.scale.continuous:
        return {"label": [], **strata}
    both = [name, *ratings.raters]
    return {"label": sorted(map(str, _values_of(ratings, "label", both, items))), **strata}


def _values_of(
    ratings: Ratings, column: str, raters: Collection[str], items: Collection[str] | None = None
) -> set[str]:
    return {*ratings.first([column], raters=raters, items=items)[column].unique().to_pylist()}


def refuse_expiry(expires: date, on: date, longest: int | None = None) -> None:
    for what, each in (("last day", expires), ("day", on)):
        if type(each) is not date:
            raise CertificateError(
                f"certificate: found the {what} {each!r}; expected a day without a time, as "
                "date(2027, 1, 31). Give its date()."
            )
    if expires < on:
        raise CertificateError(
            f"certificate: found the last day {expires}, which is past; expected {on} or later. "
            "Certify the classifier again, on rounds of today.",
            "certificate_expired",
        )
    if longest is not None and expires > on + timedelta(days=longest):
        raise CertificateError(
            f"certificate: found the last day {expires}; expected at most {longest} days after "
            f"{on}, since models and items change. Name an earlier day."
        )


def _certificate(
    project: str,
    identity: Identity,
    expires: date,
    rules: Policy,
    terms: Terms,
    judged: Sequence[Judged],
    reason: str,
) -> Certificate:
    for each in judged:
        if not each.decision.admitted:
            raise _not_admitted(each.version.round, chained(each.decision.reasons))
    judged = [replace(each, ratings=_at_cut(each.ratings, rules)) for each in judged]
    scales = {each.ratings.scale for each in judged}
    if len(scales) > 1:
        raise CertificateError(
            f"classifier {identity.name}: found {len(scales)} different scales; expected one in a "
            "certificate. Certify it on each scale."
        )
    names = {each.version.round for each in judged}
    about = replace(
        terms, waivers=tuple(each for each in terms.waivers if each.subject.round in names)
    )
    found = {each.version.round: _evidence(each, identity, rules) for each in judged}
    scale = next(iter(scales))
    tentative = tuple(each.version.round for each in judged if each.decision.tentative)
    made = Certificate(project, identity, expires, rules, about, found, scale, (), reason)
    return replace(made, tentative=tentative)


def _at_cut(ratings: Ratings, rules: Policy) -> Ratings:
    return ratings if rules.cut is None else dichotomize(ratings, rules.cut)


def _evidence(judged: Judged, identity: Identity, rules: Policy) -> dict[str, Any]:
    name, ratings = identity.name, judged.ratings.unassisted
    whole = measure_gold(judged.ratings)
    _refuse_panel(judged, whole, identity)
    verdicts = _verdicts(ratings, name, rules)
    if judged.ratings.gold or judged.ratings.n_assisted:
        beside = {(each.rule, each.scope): each for each in _verdicts(whole, name, rules)}
        verdicts = tuple(
            _met_with_all(rules, each, beside.get((each.rule, each.scope))) for each in verdicts
        )
    test = alternative_annotator_test(counting_of(ratings).by_rater(ratings, (name,)).against(name))
    said = ("winning_rate", "passed", "epsilon", "undefined")
    return {
        "ratings_digest": judged.version.ratings_digest,
        "items": ratings.n_items,
        "raters": len(ratings.raters),
        "says_assisted": ratings.is_assistance_known,
        "verdicts": [each.to_mapping() for each in verdicts],
        "alternative_annotator_test": {each: getattr(test, each) for each in said},
        "domain": domain_of(ratings, name),
    }


def _verdicts(ratings: Ratings, name: str, rules: Policy) -> tuple[Verdict, ...]:
    under = rules.of_classifiers
    found = measure_ratings(ratings, under.measures, under.inference, scopes=("classifier",))
    return under.judge([each for each in found if each.scope.name == name])


def _met_with_all(rules: Policy, verdict: Verdict, other: Verdict | None) -> Verdict:
    """An inconclusive verdict if what is left out is what the classifier gets wrong."""
    known = other is not None and other.estimate is not None and other.estimate.value is not None
    if other is None or not known or verdict.kind not in rules.admit or other.kind in rules.admit:
        return verdict
    where = "with the gold items and the labels that began as a suggestion"
    return verdict.taken_back(where, other, code="dissent_left_out")


def _refuse_panel(judged: Judged, ratings: Ratings, identity: Identity) -> None:
    name, where = identity.name, f"round {judged.version.round}"
    labelled = _values_of(ratings, "item", [name])
    if name not in ratings.classifiers or not labelled:
        raise CertificateError(
            f"{where}: found classifiers {listed(ratings.classifiers)}; expected {name!r} among "
            "them. Correct the name, or let it label the round.",
            "certificate_classifier_absent",
        )
    refuse_models(ratings, identity, where)
    rated = _values_of(ratings, "item", ratings.raters)
    if missing := sorted(rated - labelled):
        raise CertificateError(
            f"{where}: found {counted(len(missing), 'item')} without a label of {name}, as "
            f"{missing[0]!r}; expected one for each item of the panel, since those that it leaves "
            "out may be the hard ones. Let it label them; an abstention is a category.",
            "certificate_items_missing",
        )


def refuse_models(ratings: Ratings, identity: Identity, where: str) -> None:
    for told in told_of(ratings):
        if told.name == identity.name:
            told.beside(identity).refuse_other(identity)
    raters = ratings.raters
    selves = [each for each in (identity.name, identity.model) if each]
    models = {
        *like_models(raters),
        *(rater for rater in raters if any(_alike(rater, each) for each in selves)),
    }
    if models:
        raise CertificateError(
            f"{where}: found raters {listed(sorted(models))}, whose names are those of models; "
            "expected people, since models that agree show nothing about people. Name models as "
            "classifiers of the project, and read the round again.",
            "certificate_panel_models",
        )


def _earlier(
    history: Sequence[Entry], identity: Identity, rounds: Collection[str]
) -> tuple[Entry, ...]:
    kept = ("certificate", "classifier", "identity_digest", "decision")
    return tuple(
        {key: entry[key] for key in kept}
        for entry in of_event("certified", history)
        if _alike(entry["classifier"], identity.name) or {*entry["rounds"]} & {*rounds}
    )


def _alike(name: str, other: str) -> bool:
    """Judge is no new name beside judge."""
    return name == other or bool(lookalikes([name, other]))


def _beside(found: Certificate, history: Sequence[Entry]) -> Certificate:
    arrived = Counter(entry["round"] for entry in of_event("ingested", history))
    return replace(
        found,
        earlier=_earlier(history, found.identity, found.rounds),
        left_out=tuple(sorted(arrived.keys() - found.rounds.keys())),
        again=tuple(name for name in found.rounds if arrived[name] > 1),
    )


def _refuse_again(store: Store, earlier: Sequence[Entry], identity: Identity, reason: str) -> None:
    mine = [each for each in earlier if _alike(each["classifier"], identity.name)]
    if mine and not any(map(str.isalnum, reason)):
        raise CertificateError(
            f"{store.root}: found {counted(len(mine), 'earlier attempt')} under the name "
            f"{identity.name}, the last one {mine[-1]['decision']}; expected one, since the best "
            "of several is no evidence. Say why there must be another (--reason).",
            "certificate_again",
        )


def _name(identity: Identity) -> str:
    return f"classifier-{identity.digest[:12]}"


def _facts(found: Certificate) -> dict[str, Any]:
    return {
        "classifier": found.identity.name,
        "identity_digest": found.identity.digest,
        "decision": "certified" if found.certified else "held",
        "rounds": {name: each["ratings_digest"] for name, each in found.rounds.items()},
        "expires": found.expires.isoformat(),
        "policy": found.policy.to_mapping(),
        "policy_digest": found.policy.digest,
    }


def _entry_of(store: Store, history: Sequence[Entry], identity: Identity) -> Entry:
    certified = of_event("certified", history)[::-1]
    attempts = [each for each in certified if each["classifier"] == identity.name]
    for entry in attempts:
        if entry["identity_digest"] == identity.digest:
            return entry
    for entry in attempts:
        if entry["decision"] == "certified":
            identity.refuse_other(_identity_in(_certificate_in(store, entry)))
    raise CertificateError(
        f"classifier {identity.name}: found no certificate of {identity.digest[:12]} in the log; "
        "expected one. Certify it: "
        "agreement-pipeline certify PROJECT.yaml CLASSIFIER.yaml --expires DAY.",
        "certificate_absent",
    )


@contextmanager
def _usable(what: str) -> Iterator[None]:
    try:
        yield
    except MISREAD as why:
        raise _not_derived(f"{what} that cannot be used ({why})") from None


def _identity_in(said: Mapping[str, Any]) -> Identity:
    with _usable("a classifier"):
        return Identity.from_mapping({key: said["classifier"][key] for key in PARTS})


def _certificate_in(store: Store, entry: Entry) -> dict[str, Any]:
    return _document(store, "certificates", entry)


def _labels_in(store: Store, looks: Iterable[Entry]) -> list[dict[str, str]]:
    return [_document(store, "anchors", each) for each in looks]


def _document(store: Store, kind: str, entry: Entry) -> dict[str, Any]:
    digest = entry["certificate" if kind == "certificates" else "labels"]
    file = f"{kind}/{digest}.json"
    content = store.storage.read(file)
    if content is None and any(each["event"] == "erased" for each in store.history("log")):
        raise CertificateError(
            f"{store.root}: found that a rater or an item was erased from what classifier "
            f"{entry['classifier']} was certified on; expected a certificate of the rounds that "
            "are left. Certify the classifier again.",
            "certificate_withdrawn",
        )
    if content is None or digest_of(content) != digest:
        what = "no such file" if content is None else "other bytes than those in the log"
        raise CertificateError(
            f"{store.root / file}: found {what}; expected what was written for the certificate. "
            "Restore it, or certify the classifier again.",
            "certificate_edited",
        )
    with _usable("content"):
        said = json.loads(content)
        if not isinstance(said, dict):
            raise TypeError("no JSON object")
        return said


def _in_force(
    store: Store, identity: Identity, on: date
) -> tuple[Certificate, Entry, "_Panel", list[dict[str, Any]]]:
    """The certificate, its entry in the log, its panel, and the looks at its anchors."""
    history = store.history()
    entry = _entry_of(store, history, identity)
    before = history[: entry["number"] - 1]
    if entry["decision"] != "certified":
        raise CertificateError(
            f"classifier {identity.name}: found that it was held ({chained(entry['reasons'])}); "
            "expected a certificate. Improve the classifier, and certify it again.",
            "certificate_held",
        )
    said = _certificate_in(store, entry)
    with _usable("a last day"):
        expires = date.fromisoformat(entry["expires"])
    refuse_expiry(expires, on, LONGEST)
    since = of_event("decided", history[len(before) :])
    held = {each["round"] for each in since if each["decision"] != "admitted"}
    for name, digest in entry["rounds"].items():
        if name in held or store.present(name).ratings_digest != digest:
            raise CertificateError(
                f"round {name}: found that it {'was held' if name in held else 'came again'} since "
                "it was part of a certificate; expected the round that was admitted. Certify the "
                "classifier again.",
                "certificate_withdrawn",
            )
    found, judged = _derived(store, said, entry, before, identity)
    _refuse_before_drift(before, identity, entry["rounds"])
    panel, anchored = _Panel(found, judged), of_event("anchored", history)
    looks = [each for each in anchored if each["certificate"] == entry["certificate"]]
    if looks:
        found = replace(found, anchored=panel.seen(_labels_in(store, looks)))
    return found, entry, panel, looks


class _Panel:
    def __init__(self, certified: Certificate, judged: Sequence[Judged]) -> None:
        self.rules = certified.policy
        self.first, self.given = dict[str, str](), dict[str, Counter[str]]()
        for each in judged:
            ratings = _at_cut(each.ratings, self.rules).unassisted
            columns = ratings.first(["item", "rater", "label"]).to_pydict()
            for item, rater, label in zip(*columns.values(), strict=True):
                if rater == certified.identity.name:
                    self.first[item] = label
                elif rater in ratings.raters:
                    self.given.setdefault(item, Counter())[label] += 1

    def seen(self, looks: Sequence[Mapping[str, str]]) -> Anchored:
        items = sorted(looks[0])
        if any({*each} != {*items} for each in looks) or not {*items} <= self.given.keys():
            raise _not_derived("other anchors than the first, or none of its items")
        first, *again = (
            [self.given[item][labels[item]] / self.given[item].total() for item in items]
            for labels in (self.first, *looks)
        )
        lost, tail = self.rules.most_lost, self.rules.inference.tail
        return anchored(np.array(first), np.array(again), lost, tail)


def _refuse_before_drift(
    history: Sequence[Entry], identity: Identity, rounds: Collection[str]
) -> None:
    """Refuse rounds that first came before the classifier was seen to drift, under any name.

    It was another one then.
    """
    drifted = [
        entry["number"]
        for entry in of_event("anchored", history)
        if entry["drifted"] and entry["round"] == _name(identity)
    ]
    arrived = [(each["round"], each["ratings_digest"]) for each in of_event("ingested", history)]
    until = len(of_event("ingested", history[: max(drifted, default=0)]))
    before = {each for of in arrived[:until] for each in of}
    if old := sorted({of[0] for of in arrived if of[0] in rounds and {*of} & before}):
        fresh = sorted({*rounds} - {*old})
        step = "Deliver fresh rounds with its labels"
        if fresh:
            step = f"Certify it on {called('round', fresh)} alone (--round)"
        raise CertificateError(
            f"classifier {identity.name}: found that it drifted since rounds {listed(old)} came; "
            f"expected rounds that it labelled after that. {step}.",
            "certificate_drifted",
        )


def _derived(
    store: Store, said: Mapping[str, Any], entry: Entry, before: Sequence[Entry], identity: Identity
) -> tuple[Certificate, list[Judged]]:
    with _usable("content"):
        panel = said["panel"]
        terms = Terms(
            Policy.from_mapping(panel["policy"]),
            Contract.from_mapping(panel["contract"]),
            waivers=tuple(map(waiver_from_mapping, panel["waivers"])),
        )
        rules = Policy.from_mapping(said["policy"])
        expires, reason = date.fromisoformat(said["expires"]), str(said["reason"])
        project, logged_on = str(said["project"]), datetime.fromisoformat(entry["time"]).date()
    identity.refuse_other(_identity_in(said))
    refuse_expiry(expires, logged_on, LONGEST)
    judged = [judge_version(store, store.present(name), terms) for name in entry["rounds"]]
    found = _beside(_certificate(project, identity, expires, rules, terms, judged, reason), before)
    ours = said.get("written_by") == __version__
    other = difference(
        dict(said),
        json.loads(as_json(found.to_mapping())),
        "certificate",
        frozenset({("written_by",)}) | (frozenset() if ours else WORDS),
    )
    if other or any(entry[key] != value for key, value in _facts(found).items()):
        raise _not_derived(other or "facts that the log has otherwise")
    gate = {each["round"]: each for each in of_event("decided", before)}
    for each in judged:
        name, facts = each.version.round, each.facts
        if name not in gate or any(gate[name][key] != facts[key] for key in BOUND):
            raise _not_derived(
                f"rules for the panel of round {name} that the gate did not judge by"
            )
    return found, judged


def _not_derived(found: str) -> CertificateError:
    return CertificateError(
        f"certificate: found {found}; expected what the rounds in the store give. Do not rely on "
        "it; certify the classifier again.",
        "certificate_not_derived",
    )


def _not_admitted(name: str, why: str) -> CertificateError:
    return CertificateError(
        f"round {name}: found a round that is not admitted ({why}); expected an admitted panel. "
        "Correct what the reasons name.",
        "certificate_round_held",
    )
