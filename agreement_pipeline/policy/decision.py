"""The decision: may these ratings become training data?"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from agreement_pipeline.contract import OF_DELIVERY, Contract, not_checked
from agreement_pipeline.counting import require_ratings
from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.estimates import (
    ROUND,
    SCOPE_KINDS,
    Estimate,
    Scope,
    explained_by,
    measure_ratings,
    measure_strata,
    parts_beside,
    registered,
    values_of,
)
from agreement_pipeline.integrity import (
    SEVERITY_BY_EFFECT,
    USUAL_INTEGRITY,
    Changes,
    CheckEffect,
    Finding,
    Panel,
    changes_of,
    check_integrity,
    if_they_had_differed,
    without_copied_rows,
)
from agreement_pipeline.intervals import METHODS, Inference, Percentiles, estimate_repeat_rate
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import shown
from agreement_pipeline.policy import reasons
from agreement_pipeline.policy.policy import Policy, Rule, Verdict, levels_met
from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.policy.waivers import (
    NONE,
    OF_HISTORY,
    OF_THE_GATE,
    AnyWaiver,
    Waivers,
    of_gate,
)
from agreement_pipeline.ratings import (
    CAPABILITIES,
    DUPLICATE,
    FIRST_DELIVERED,
    HOW_OF_DUPLICATES,
    HOW_OF_OCCURRENCES,
    SAME_LABEL_TWICE,
    Array,
    Codes,
    Ratings,
    Trains,
    how_to_leave_out,
    labels_of_sets,
    numbers_in,
    whole,
)
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import DIGITS, counted, in_words, interval, joined, listed
from agreement_pipeline.version import __version__

USUAL_RESAMPLES = Inference.n_resamples
USUAL = "krippendorff_alpha"
FEW, MOST = 0.25, 0.5
APART, APART_OF_THREE = 5, 50
"""How many times the range of the others lies between a far number and them.

Two others may be neighbours by chance.
"""
NAMED = ("contract", "version")
AUDITED = "silver_labels"
ASSISTED = "with the labels that began as a suggestion"
"""What a policy leaves out may be what differs, so the verdict must be admitted with it too."""
WHOLE_OR_PART = ("round", "stratum", "label")
MOST_PARTS = 3
OF_SETS = ("alpha_masi", "alpha_jaccard")
"""These measures read how sets of labels overlap."""
EXPLAINED = {
    "criterion": "within each criterion all labels are alike",
    "member": "each label of the sets is always ticked, or never",
    "shown": "the order in which alternatives were shown explains all labels",
}
MET_WITH: dict[str, tuple[str, Callable[[Ratings], Ratings], str]] = {
    "gold_items_not_disputed": (
        "dissent_left_out",
        lambda ratings: ratings.with_gold_measured,
        "with the gold items, on which raters differ more,",
    ),
    "labels_not_copied": (
        "labels_copied",
        without_copied_rows,
        "without items that copy the labels of others",
    ),
    "item_texts_differ": (
        "flattered",
        lambda ratings: ratings.clustered_by_text,
        "with all items of one text as one cluster",
    ),
}


@dataclass(frozen=True)
class Decision(Tabular):
    """Admitted or held, with everything that led to this.

    `unmet` are the verdicts that hold the release, `waived` the waivers that overrode one, and
    `refused` those that are not valid, in words. `manner` says how often the round was judged and
    with which confidence; `recorded_manner` are the words that are recorded. `version` says how
    many different ratings came under the round's name, up to these; it is None outside a store.
    `repeat_rate` is the share of rounds like this one with the same decision; None if not known.
    """

    admitted: bool
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    unmet: tuple[Verdict, ...]
    waived: tuple[AnyWaiver, ...]
    refused: tuple[str, ...]
    manner: str
    recorded_manner: str
    ratings_digest: str
    policy_digest: str
    contract_digest: str
    code_version: str
    version: int | None = None
    contract: tuple[str, int] | None = None
    repeat_rate: float | None = None

    @property
    def holding(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.rule.effect == "hold")

    @property
    def repeated(self) -> str:
        if self.repeat_rate is None:
            return ""
        often = round(100 * self.repeat_rate)
        return (
            "If the same raters labelled other such items, as many as these, the decision would be "
            f"the same in {'over 99' if often == 100 else f'about {often}'} of 100 rounds."
        )

    @property
    def tentative(self) -> bool:
        """True if the round is admitted on a tentative verdict. The release then says so."""
        return self.admitted and any(verdict.kind == "tentative" for verdict in self.holding)

    @property
    def outcome(self) -> str:
        return "admitted" if self.admitted else "held"

    @property
    def word(self) -> str:
        return "admitted (tentative)" if self.tentative else self.outcome

    def waives(self, found: Verdict | Finding) -> bool:
        return any(waiver.turns(found) for waiver in self.waived)

    @property
    def broken(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.holds and not self.waives(each))

    @property
    def met(self) -> tuple[Finding, ...]:
        asked = (each for each in self.findings if each.table == OF_THE_GATE)
        return tuple(each for each in asked if each.passed and each.severity == "error")

    @property
    def reasons(self) -> tuple[str, ...]:
        of_rules = self.holding if self.admitted else self.unmet
        broken = [
            f"{'' if finding.table == OF_THE_GATE else 'contract: '}{finding.description}"
            for finding in self.broken
        ]
        waived = map(str, self.waived if self.admitted else ())
        met = (each.description for each in self.met if self.admitted)
        return (*broken, *(verdict.reason for verdict in of_rules), *met, *waived, *self.refused)

    @property
    def why_held(self) -> tuple[str, ...]:
        return () if self.admitted else self.reasons

    @property
    def codes(self) -> tuple[str, ...]:
        """The reason codes of a held round, which `docs/reasons.md` lists."""
        if self.admitted:
            return ()
        broken = [
            finding.check if finding.table == OF_THE_GATE else f"contract:{finding.check}"
            for finding in self.broken
        ]
        return tuple(dict.fromkeys([*broken, *(each.code for each in self.unmet)])) or ("no_rule",)

    @property
    def digest(self) -> str:
        return digest_of_plain(self.to_mapping())

    def to_mapping(self) -> dict[str, Any]:
        return {
            "decision": self.outcome,
            "tentative": self.tentative,
            "codes": list(self.codes),
            "reasons": list(self.reasons),
            "waivers": [waiver.to_mapping() for waiver in self.waived],
            "verdicts": [verdict.to_mapping() for verdict in self.verdicts],
            "manner": self.recorded_manner,
            "repeat_rate": self.repeat_rate,
            "version": self.version,
            "findings": [finding.to_mapping() for finding in self.findings],
            "ratings_digest": self.ratings_digest,
            "policy_digest": self.policy_digest,
            "contract_digest": self.contract_digest,
            **({"contract": dict(zip(NAMED, self.contract, strict=True))} if self.contract else {}),
            "code_version": self.code_version,
        }

    def __str__(self) -> str:
        return "\n  ".join([self.word, *self.reasons])

    def rows(self) -> Iterator[dict[str, Any]]:
        return (row for verdict in self.verdicts for row in verdict.rows())

    def _repr_html_(self) -> str:
        return f"<p>{self.outcome}</p>{super()._repr_html_()}"


@dataclass(frozen=True)
class Assessment:
    estimates: tuple[Estimate, ...]
    decision: Decision


def judge(
    ratings: Ratings, policy: Policy, contract: Contract | None = None, waivers: Waivers = NONE
) -> Decision:
    """The decision on ratings under a policy, and under the usual contract if none is given.

    Raises
    ------
    AgreementError
        The ratings or the policy are something else.
    """
    require_ratings(ratings)
    if not isinstance(policy, Policy):
        raise PolicyError(
            f"found {policy!r}; expected a policy. Use what load_policy gives for its name or file."
        )
    return assess(ratings, policy, contract or Contract.default(), waivers).decision


def assess(
    ratings: Ratings,
    policy: Policy,
    contract: Contract,
    waivers: Waivers = NONE,
    also: Sequence[Finding] = (),
    version: int | None = None,
    checked: Sequence[Finding] | None = None,
    trains: Trains | None = None,
) -> Assessment:
    """Nothing but the arguments is read, so the same ones and the same version of this package give
    the same decision. `also` are findings of the gate itself, and `trains` is the label of which
    rules with the scope label speak.
    """
    found = _estimates(judged_part(ratings, policy), policy, trains)
    kept = check_round(ratings, policy, contract) if checked is None else checked
    if contract.suite is not None and not any(each.table == OF_DELIVERY for each in also):
        also = (*also, not_checked("found ratings alone; expected the delivery of the suite."))
    failed = {finding.check for finding in kept if not finding.passed}
    n_late, doubted = _doubts(ratings, policy, failed, trains)
    foreign = ratings.foreign_words
    if foreign:
        doubted = _not_compared

    decision = decide(
        found,
        policy,
        waivers=waivers,
        findings=(
            *kept,
            *(of_gate("words_do_not_meet", each.sentence) for each in foreign),
            *(() if foreign else _of_placeholders(ratings, policy, failed, found, doubted, trains)),
            *_of_labels(ratings, policy, n_late),
            *_of_duplicates(ratings, policy),
            *_of_label_sets(ratings, policy),
            *also,
            *_of_round(policy, also, version),
        ),
        ratings_digest=ratings.digest,
        contract_digest=contract.digest,
        contract=(contract.contract, contract.version) if contract.contract else None,
        code_version=__version__,
        doubted=doubted,
        version=version,
    )
    return Assessment(found, decision)


def check_round(
    ratings: Ratings, policy: Policy, contract: Contract, before: Sequence[Finding] = ()
) -> tuple[Finding, ...]:
    """What the contract and the policy's bounds on facts find in the ratings.

    A contract that was written before policies had such bounds may have its own.
    """
    found = contract.check(ratings, before)
    if not contract.round:
        return (*found, *check_integrity(Panel(ratings), policy.integrity.checks))
    if policy.integrity != USUAL_INTEGRITY:
        raise PolicyError(
            f"policy {policy.policy}: found integrity, beside a contract that bounds facts of the "
            "round itself; expected these bounds in one place. Remove round.yaml from the contract."
        )
    return found


def _not_compared(verdict: Verdict) -> Verdict:
    """Raters whose words do not meet never agree, whatever they saw."""
    rule = verdict.rule
    of = "" if verdict.scope.kind == "round" else f" of {reasons.each_of(rule.scope)}"
    reason = f"{rule.measure}{of}: not evaluated, since the words of raters do not meet"
    return Verdict(rule, verdict.scope, "not_evaluated", reason, code="words_do_not_meet")


def _estimates(part: Ratings, policy: Policy, trains: Trains | None) -> tuple[Estimate, ...]:
    by_kind = {kind: [rule for rule in policy.rules if rule.scope == kind] for kind in SCOPE_KINDS}
    return tuple(
        estimate for rules in by_kind.values() for estimate in _judged(part, policy, rules, trains)
    )


def _doubts(
    ratings: Ratings, policy: Policy, failed: Collection[str], trains: Trains | None
) -> tuple[int, Callable[[Verdict], Verdict]]:
    """How many labels were changed late, and what takes back a verdict that stands on ratings only
    as they are.
    """
    part = judged_part(ratings, policy)
    beside = [] if part is ratings else [(ratings, "dissent_left_out", ASSISTED)]
    beside += [
        (other(part), code, words)
        for check, (code, other, words) in MET_WITH.items()
        if check in failed
    ]
    effect = policy.integrity.labels_given_again
    n_late, if_late = (effect != "not_asked" and if_they_had_differed(part)) or (0, part)
    if n_late and effect == "hold":
        words = f"if the {counted(n_late, 'label')} that were changed late had differed before,"
        beside.append((if_late, "labels_given_again", words))
    again = cache(partial(_judged_again, policy, trains))

    def doubted(verdict: Verdict) -> Verdict:
        stands = _if_shown(verdict, part)
        stands = unflattered(stands, ratings=part, policy=policy, trains=trains)
        for others, code, words in beside:
            if stands.scope.kind in WHOLE_OR_PART and stands.kind in policy.admit:
                other = again(stands.rule, others).get(stands.scope)
                if other is not None and other.kind not in policy.admit:
                    stands = stands.taken_back(words, other, code=code)
        return met_in_parts(stands, part, policy, trains)

    return n_late, doubted


def _of_placeholders(
    ratings: Ratings,
    policy: Policy,
    failed: Collection[str],
    estimates: Sequence[Estimate],
    doubted: Callable[[Verdict], Verdict],
    trains: Trains | None,
) -> Iterator[Finding]:
    """Labels such as `n/a` that nobody declared. A decision must be the same without each of them,
    and without all.
    """
    effect = policy.integrity.placeholders_not_declared
    if effect == "not_asked" or not (counts := ratings.undeclared_placeholders):
        return
    verdicts = [doubted(verdict) for verdict in policy.judge(estimates)]
    differing = None
    for labels in ([*counts], *([label] for label in counts if len(counts) > 1)):
        rest = _verdicts_without(ratings, labels, policy, failed, trains)
        differing = differing or _first_that_differs(verdicts, rest, labels, policy)
    n_labels = sum(ratings.n_by_category.values()) if ratings.scale.categories else len(ratings)
    shown = joined(f"{label!r} ({n:,} of {n_labels:,} labels)" for label, n in counts.items())
    one = len(counts) == 1
    either = (
        f"{how_to_leave_out(counts).strip()} If {'it is a category' if one else 'they are ones'}, "
        "name all categories (--categories, or scale in a project)."
    )
    if differing is None:
        words = (
            f"{shown} may say that nobody gave a label, and {'counts' if one else 'count'} as "
            f"{'a category' if one else 'categories'} that nobody declared. The decision is the "
            f"same without {'it' if one else 'them'}. {either}"
        )
        yield of_gate("placeholders_counted", words, "warning")
        return
    words = (
        f"{shown} may say that nobody gave a label, and nobody declared "
        f"{'it' if one else 'them'}. The decision rests on that: {differing}. {either}"
    )
    yield of_gate("placeholders_not_declared", words, SEVERITY_BY_EFFECT[effect])


def _verdicts_without(
    ratings: Ratings,
    labels: Collection[str],
    policy: Policy,
    failed: Collection[str],
    trains: Trains | None,
) -> dict[tuple[Rule, Scope], Verdict] | str:
    """Or why there are none."""
    try:
        rest = ratings.without_labels(labels)
    except RatingsError:
        return "the others are fewer than two categories"
    _, doubted = _doubts(rest, policy, failed, trains)
    judged = policy.judge(_estimates(judged_part(rest, policy), policy, trains))
    return {(verdict.rule, verdict.scope): doubted(verdict) for verdict in judged}


def _first_that_differs(
    verdicts: Sequence[Verdict],
    rest: "dict[tuple[Rule, Scope], Verdict] | str",
    labels: Sequence[str],
    policy: Policy,
) -> str | None:
    """The first verdict that is met with some labels and not without them, or not met with them."""
    without = f"without {joined(map(repr, labels))}"
    for verdict in verdicts:
        if verdict.rule.effect != "hold":
            continue
        is_met = verdict.kind in policy.admit
        if isinstance(rest, str):
            if is_met:
                return f"{verdict.rule.measure} cannot be judged {without}, since {rest}"
            continue
        other = rest.get((verdict.rule, verdict.scope))
        if other is not None and (other.kind in policy.admit) != is_met:
            return f"{_said_briefly(verdict)}, and {without} {_said_briefly(other)}"
    return None


def _said_briefly(verdict: Verdict) -> str:
    estimate, scope = verdict.estimate, verdict.scope
    of = "" if scope.kind == "round" else f" of {scope}"
    value = None if estimate is None else estimate.value
    shown = "undefined" if value is None else in_words(value)
    return f"{verdict.rule.measure}{of} is {shown} ({verdict.kind.replace('_', ' ')})"


def decide(
    estimates: Sequence[Estimate],
    policy: Policy,
    *,
    findings: Sequence[Finding],
    ratings_digest: str,
    contract_digest: str,
    code_version: str,
    waivers: Waivers = NONE,
    doubted: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    version: int | None = None,
    contract: tuple[str, int] | None = None,
) -> Decision:
    verdicts = tuple(doubted(verdict) for verdict in policy.judge(estimates))
    holding = [verdict for verdict in verdicts if verdict.rule.effect == "hold"]
    short = [verdict for verdict in holding if verdict.kind not in policy.admit]
    waived, refused = waivers.sorted_out(
        verdicts, findings, policy, ratings_digest, contract_digest
    )

    def stand(found: Verdict | Finding) -> bool:
        return not any(waiver.turns(found) for waiver in waived)

    unmet = tuple(filter(stand, short))
    broken = any(finding.holds and stand(finding) for finding in findings)
    by_rules = not broken and not waived and not policy.is_for_model_labels
    likely = _likely(holding, policy) if by_rules else None
    admitted = bool(holding) and not unmet and not broken
    again = f"This is version {version} of the round. " if (version or 0) > 1 else ""
    return Decision(
        admitted=admitted,
        verdicts=verdicts,
        findings=tuple(findings),
        unmet=unmet,
        waived=waived,
        refused=refused,
        manner=f"{again}{manner(policy, version)}",
        recorded_manner=recorded_manner(policy, version),
        ratings_digest=ratings_digest,
        policy_digest=policy.digest,
        contract_digest=contract_digest,
        code_version=code_version,
        version=version,
        contract=contract,
        repeat_rate=None if likely is None else round(likely if admitted else 1 - likely, 2),
    )


def _likely(holding: Sequence[Verdict], policy: Policy) -> float | None:
    """How likely another round of as many such items, from the same raters, is to be admitted.

    None unless it follows from limits of one look alone, of which each rule reads its own.
    """
    by_itself = policy.familywise == "none" and policy.inference.several_looks is None
    asked = []
    for verdict in holding:
        rule, found = verdict.rule, verdict.estimate
        known = None if found is None else found.distribution
        judged_alone = by_itself and rule.scope != "stratum" and verdict.code == verdict.kind
        if not judged_alone or not isinstance(known, Percentiles):
            return None
        asked.append((known, rule.tentative if "tentative" in policy.admit else rule.reliable))
    return estimate_repeat_rate(asked, policy.inference.tail) if asked else None


def _judged(
    ratings: Ratings, policy: Policy, rules: Sequence[Rule], trains: Trains | None
) -> Iterator[Estimate]:
    kinds = {rule.scope for rule in rules}
    asked = [rule.measure for rule in rules if rule.if_too_few != "pool"]
    if "stratum" in kinds:
        ratings = ratings.without_stratum(FIRST_DELIVERED)
    yield from measure_ratings(ratings, asked, policy.inference, scopes=kinds, trains=trains)
    for rule in rules:
        if rule.if_too_few == "pool":
            yield from measure_strata(ratings, [rule.measure], policy.inference, rule.min_items)


def _judged_again(
    policy: Policy, trains: Trains | None, rule: Rule, others: Ratings
) -> dict[Scope, Verdict]:
    return {each.scope: each for each in rule.judge(_judged(others, policy, [rule], trains))}


def judged_part(ratings: Ratings, policy: Policy) -> Ratings:
    leaves_out = policy.assisted == "leave_out" and ratings.n_assisted > 0
    return ratings.unassisted if leaves_out else ratings


def met_in_parts(
    verdict: Verdict, ratings: Ratings, policy: Policy, trains: Trains | None = None
) -> Verdict:
    """A verdict is inconclusive if raters surely agree less on a part of the round.

    A part is weak if its value is under the cut-off that the policy admits, at the level of the
    policy for all parts together (Holm). Strata on which the policy has rules are left to these.
    What came in one delivery first is a part too, so a bad week does not hide behind good ones.
    """
    found, rule, effect = verdict.estimate, verdict.rule, policy.integrity.weak_part
    if effect == "not_asked" or not _is_met_as_a_whole(verdict, policy) or found is None:
        return verdict
    cutoff = rule.tentative if "tentative" in policy.admit else rule.reliable
    has_rule = any(each.scope == "stratum" for each in policy.rules)
    # No rule speaks of deliveries, since their names are not known when a policy is written.
    left_out = {*ratings.strata} - {FIRST_DELIVERED} if has_rule else set()
    parts = parts_beside(
        ratings, rule.measure, cutoff, policy.inference, left_out=left_out, trains=trains
    )
    judged = [part for part in parts if part.is_judged]
    met = levels_met([part.p for part in judged], policy.inference.tail)
    weak = [part for part, (under, _) in zip(judged, met, strict=True) if under]
    said = [
        f"on {part.name} it is {in_words(part.value, cutoffs=[cutoff])}, {interval(*part.limits)}"
        for part in sorted(weak, key=lambda each: each.p)[:MOST_PARTS]
        if part.value is not None and part.limits is not None
    ]
    said += [EXPLAINED[column] for column in explained_by(parts)]
    if not said:
        return verdict
    n = f"{len(weak)} of {len(judged)} parts under {cutoff:g}: " if weak else ""
    return verdict.doubted(f"but {n}{'; '.join(said)}", code="weak_part", effect=effect)


def _is_met_as_a_whole(verdict: Verdict, policy: Policy) -> bool:
    return verdict.scope.kind in ("round", "label") and verdict.kind in policy.admit


def unflattered(
    verdict: Verdict, *, ratings: Ratings, policy: Policy, trains: Trains | None = None
) -> Verdict:
    """Disagreement is read as a share of what chance gives. A few far labels raise that, and so do
    declared categories that nobody uses. So a verdict that the policy admits must stand without
    them.
    """
    found, effect = verdict.estimate, policy.integrity.flattered
    if effect == "not_asked" or not _is_met_as_a_whole(verdict, policy) or found is None:
        return verdict
    for what, rest, stands in _without(ratings, policy):
        other = _judged_again(policy, trains, verdict.rule, rest)[verdict.scope]
        same_value = (  # then only the draws of its limits differ
            found.value is not None
            and other.estimate is not None
            and other.estimate.value is not None
            and round(found.value - other.estimate.value, DIGITS) == 0
        )
        if other.kind not in stands and not same_value:
            return verdict.taken_back(f"without {what}", other, code="flattered", effect=effect)
    return verdict


def _without(ratings: Ratings, policy: Policy) -> Iterator[tuple[str, Ratings, tuple[Kind, ...]]]:
    """What may flatter, the ratings without it, and the verdicts on them that suffice.

    The other items alone may be too few or too much alike to tell. That takes nothing back.
    """
    for items, share in _far_items(ratings):
        carry = "carries" if len(items) == 1 else "carry"
        what = (
            f"{counted(len(items), 'item')} that {carry} {in_words(share, '.0%')} "
            "of the expected disagreement"
        )
        rest = _on_used(ratings.with_gold(items).without_gold)
        yield what, rest, (*policy.admit, "inconclusive", "tentative", "not_evaluated")
    rest = _on_used(ratings)
    if rest is not ratings:
        n_unused = len(ratings.scale.categories or ()) - len(rest.scale.categories or ())
        what = "1 category" if n_unused == 1 else f"{n_unused} categories"
        yield f"{what} that nobody uses", rest, policy.admit


def _far_items(ratings: Ratings) -> Iterator[tuple[frozenset[str], float]]:
    """The few items that carry most of the expected disagreement, and their share of it.

    Then all items with a number that lies far from all others, such as 999.
    """
    if not ratings.scale.numeric:
        return
    rated = ratings.first(["item", "at", "number"])
    at, numbers = whole(rated["at"]), numbers_in(rated["number"])
    n_items = int(at.max(initial=-1)) + 1
    numbers = numbers.reshape(len(rated), -1)
    beyond = ((numbers - numbers.mean(axis=0)) ** 2).sum(axis=1)
    carried = np.bincount(at, beyond)
    order = np.argsort(-carried, kind="stable")
    shares = np.cumsum(carried[order]) / max(carried.sum(), np.finfo(float).tiny)
    n_far = int(np.searchsorted(shares, MOST)) + 1
    few = np.zeros(n_items, dtype=bool)
    if n_far <= FEW * n_items:
        few = carried >= carried[order[n_far - 1]]
    apart = np.bincount(at, _lies_apart(numbers), n_items) > 0
    if few.sum() > FEW * n_items:
        few[:] = False
    for far in (few, apart & (few != apart).any()):
        if far.any() and not far.all():
            names = rated["item"].take(np.searchsorted(at, np.flatnonzero(far)))
            yield frozenset(names.to_pylist()), float(carried[far].sum() / carried.sum())


def _lies_apart(numbers: Array) -> Codes:
    values = np.unique(numbers)
    if numbers.shape[1] > 1 or len(values) < 3:
        return np.zeros(len(numbers), dtype=bool)
    times = APART if len(values) > 3 else APART_OF_THREE
    far = np.zeros(len(numbers), dtype=bool)
    for end, rest in ((values[-1], values[:-1]), (values[0], values[1:])):
        if np.abs(end - rest).min() >= times * (rest[-1] - rest[0]):
            far |= numbers[:, 0] == end
    return far


def _on_used(ratings: Ratings) -> Ratings:
    scale = ratings.scale
    if scale.categories is None or not scale.declared:
        return ratings
    used = tuple(scale.categories[place] for place in ratings.given)
    if not 1 < len(used) < len(scale.categories):
        return ratings
    return replace(ratings, scale=replace(scale, categories=used))


def _if_shown(verdict: Verdict, ratings: Ratings) -> Verdict:
    lacking, found = _lacking(ratings, verdict.rule.requires), verdict.estimate
    if not lacking or found is None or found.value is None:
        return verdict
    why = f"the rule requires what is not shown: {_cannot_show(ratings, lacking)}"
    reason = reasons.not_evaluated(found, found.value, why)
    return replace(verdict, kind="not_evaluated", reason=reason, code="not_shown")


def _of_labels(ratings: Ratings, policy: Policy, n_late: int) -> Iterator[Finding]:
    """What the export cannot show, which labels began as a suggestion, which times could not be
    read, which labels were changed, and which came before.
    """
    if (origin := ratings.origin) and 2 * origin.unchanged > ratings.n_items:
        words = (
            f"found that {origin.unchanged:,} of {counted(ratings.n_items, 'item')} came in an "
            "earlier round with the same labels; expected a project that says how its deliveries "
            "follow each other. If each export holds all before it, say `deliveries: cumulative`: "
            "then a round is what is new. If each stands for itself, say `deliveries: independent`."
        )
        yield of_gate("deliveries_not_declared", words)
    lacking = _lacking(ratings, policy.requires)
    if policy.assisted == "leave_out" and not ratings.says_assisted:
        lacking = tuple(dict.fromkeys([*lacking, "assisted"]))
    if lacking:
        words = (
            f"found {_cannot_show(ratings, lacking)}; expected what the "
            "policy requires. Export another format, and deliver the round again."
        )
        yield of_gate("not_shown", words)
    if ratings.n_assisted:
        words = _with_and_without(ratings, policy)
        yield of_gate("assisted", words, "warning")
    if policy.first_labels == "required" and not ratings.tells_first_labels:
        words = (
            f"found that {first_labels(ratings, in_a_sentence=True)}; expected the first labels, "
            "as the policy requires. Export the history of the annotations, or name the columns "
            "first_label and changed_at."
        )
        yield of_gate("first_labels_not_known", words)
    if unread := ratings.unread_times:
        rests_on_times = ratings.n_repeated + ratings.n_earlier > 0 and any(
            rule.effect == "hold" and registered(rule.measure).needs == "replicates"
            for rule in policy.rules
        )
        words = (
            f"{unread.n} of {counted(unread.n_times, 'time')} could not be read, such as "
            f"{shown(unread.example)}, so no check of replicates counts them; expected times of "
            "one form that tells day and month apart. Name the form with time_format among the "
            "columns of the project (--time-format '%d/%m/%Y %H:%M'), or deliver ISO times."
        )
        severity = "error" if rests_on_times else "warning"
        yield of_gate("times_not_read", words, severity)
    effect = policy.integrity.labels_given_again
    changes = None if effect == "not_asked" else changes_of(ratings)
    if changes is not None and changes.aimed:
        if ratings.tells_first_labels:
            words = f"{changes.words}; agreement rests on the first labels"
            yield of_gate("labels_given_again", words, "warning")
        else:
            yield given_again(changes, effect)
    elif n_late:
        words = (
            f"{n_late} of {ratings.n_of_panel} labels were changed late, beside others that "
            "stayed, and what they were first is not known"
        )
        if effect == "hold":
            words += "; a verdict must stand as if they had differed then"
        yield of_gate("labels_given_again", words, "warning")


def _of_duplicates(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """Rows that repeat another one's item and rater. Under a rule on self-agreement they may be
    repetitions, which such a rule reads, so they hold the round until the settings say what they
    are.
    """
    left_out = ratings.origin.left_out if ratings.origin else {}
    n_same, n_declared = (left_out.get(name, 0) for name in (SAME_LABEL_TWICE, DUPLICATE))
    reads_repetitions = any(
        registered(rule.measure).question == "intra-rater" for rule in policy.rules
    )
    if n_same and reads_repetitions and not ratings.n_repeated:
        words = (
            f"found {counted(n_same, 'rating')} with the item, rater and label of another one, "
            "under a rule on self-agreement; expected it stated whether raters met these items "
            f"again. If they did, number the repetitions ({HOW_OF_OCCURRENCES}). If the rows are "
            f"duplicates, name the one that counts ({HOW_OF_DUPLICATES})."
        )
        yield of_gate("duplicates_not_declared", words)
    elif n_same:
        words = (
            f"{counted(n_same, 'rating')} had the item, rater and label of another one, and each "
            "such label counts once; if raters met these items again, number the repetitions "
            f"({HOW_OF_OCCURRENCES})"
        )
        yield of_gate("duplicates", words, "warning")
    if n_declared:
        words = (
            f"{counted(n_declared, 'rating')} had the item and rater of another one, and "
            f"{'was' if n_declared == 1 else 'were'} left out, as `duplicates` says"
        )
        yield of_gate("duplicates_left_out", words, "warning")


def _of_label_sets(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """Whether each combination of several labels counts as a category of its own."""
    scale = ratings.scale
    if scale.level != "nominal" or any(rule.measure in OF_SETS for rule in policy.rules):
        return
    if labels := labels_of_sets(scale.names):
        words = (
            f"cells hold several of {counted(len(labels), 'label')} ({joined(labels, MOST_PARTS)}),"
            f" and each of {len(scale.names)} combinations counts as a category of its own; "
            "--units sets (units: {kind: sets} in a project) judges each label by itself"
        )
        yield of_gate("cells_hold_several_labels", words, "warning")


def _with_and_without(ratings: Ratings, policy: Policy) -> str:
    names = [rule.measure for rule in policy.rules if rule.scope == "round"] or [USUAL]
    values = []
    for name in dict.fromkeys(names):
        if registered(name).defined_on(ratings.scale):
            found = [
                values_of(each, name, "round").get(ROUND) for each in (ratings, ratings.unassisted)
            ]
            with_them, without = ("undefined" if x is None else in_words(x) for x in found)
            values.append(f"{name} is {with_them} with them and {without} without them")
    done = "left out" if policy.assisted == "leave_out" else "counted"
    return (
        f"{ratings.n_assisted} of {ratings.n_of_panel} labels began as a suggestion, and are "
        f"{done}; {'; '.join(values)}"
    )


def given_again(changes: Changes, effect: CheckEffect) -> Finding:
    words = (
        f"found that {changes.words}; expected labels that raters gave before they knew where "
        "they differ. Have a fresh random sample of items labelled, or deliver the first labels. "
        "If retrained raters labelled the items again, let them label a random sample of these "
        "once more (agreement-pipeline draw --relabelled ROUND), and write a remedy, or write a "
        "waiver (agreement-pipeline guide waivers). "
        "Deliver settled labels as adjudicated ones: they train, and do not count for agreement."
    )
    return of_gate("labels_given_again", words, SEVERITY_BY_EFFECT[effect])


def first_labels(ratings: Ratings, *, in_a_sentence: bool = False) -> str:
    """Whether labels were given again, and which ones agreement rests on.

    >>> import pandas as pd
    >>> from agreement_pipeline import Scale
    >>> frame = pd.DataFrame([("i1", "a", "no")], columns=["item", "rater", "label"])
    >>> first_labels(Ratings.from_frame(frame, Scale(("no", "yes"))))
    'This format cannot show whether labels were given again.'
    """
    known, unknown = ratings.n_given_again
    if unknown:
        were = (
            "was changed and its first label is"
            if unknown == 1
            else ("were changed and their first labels are")
        )
        said = f"{counted(unknown, 'label')} {were} not known"
    elif not ratings.tells_first_labels:
        said = "This format cannot show whether labels were given again"
    elif known:
        were = (
            "was changed later, and only trains"
            if known == 1
            else ("were changed later, and only train")
        )
        said = f"Agreement rests on first labels: {counted(known, 'label')} {were}"
    else:
        said = "No label was given again"
    return f"{said[0].lower()}{said[1:]}" if in_a_sentence else f"{said}."


def _lacking(ratings: Ratings, required: tuple[str, ...]) -> tuple[str, ...]:
    return required if ratings.origin is None else ratings.origin.lacks(required)


def _cannot_show(ratings: Ratings, lacking: tuple[str, ...]) -> str:
    origin = ratings.origin
    read = f"an export read as {origin.reader}" if origin else "ratings of an unknown export"
    shown = "; ".join(f"{name}: {CAPABILITIES[name]}" for name in lacking)
    return f"{read}, which cannot show {listed(lacking)} ({shown})"


def _of_round(policy: Policy, also: Sequence[Finding], version: int | None) -> Iterator[Finding]:
    audited = any(each.check == AUDITED and each.passed for each in also)
    held = any(each.holds and each.check not in OF_HISTORY for each in also)
    if policy.is_for_model_labels and not audited and not held:
        words = (
            f"found policy {policy.policy} for rounds that a classifier labelled, and no proof of "
            "a certificate, a recorded draw and few wrong labels; expected all three. Judge the "
            "round in a project that says certified_by, or judge people's labels by a policy "
            "without silver."
        )
        yield of_gate("silver_not_audited", words)
    if policy.most_versions is not None and (version or 0) > policy.most_versions:
        words = (
            f"found version {version} of the round; expected {policy.most_versions} at most, since "
            "each further look may admit by chance. Collect a fresh round."
        )
        yield of_gate("too_many_versions", words)


def manner(policy: Policy, version: int | None) -> str:
    judged = "Judged once." if version == 1 else "The limits hold for one look."
    if policy.always_valid_at is not None:
        judged = (
            "Judged at any time, with always valid limits that are tightest at "
            f"{policy.always_valid_at} items (or clusters)."
        )
    if policy.looks is not None:
        judged = f"Judged at {policy.looks} items (or clusters), and at no other size."
    level = f"{100 * policy.confidence_level:g} % confidence"
    draws = METHODS[policy.interval_method].scheme is not None
    few = policy.n_resamples < USUAL_RESAMPLES and draws
    chance = f" {policy.n_resamples:,} resamples leave close cases to chance." if few else ""
    if policy.familywise == "none":
        by_stratum = any(rule.scope == "stratum" for rule in policy.rules)
        strata = " Those on the strata of one rule have it together." if by_stratum else ""
        return f"{judged} Each verdict has its own {level}.{strata}{chance}"
    return f"{judged} All verdicts together have {level} (Holm).{chance}"


def recorded_manner(policy: Policy, version: int | None) -> str:
    """These words never change, because verifying a release must give the same words again."""
    judged = "once" if version == 1 else "as at one look"
    if policy.always_valid_at is not None:
        tightest = f"tightest at {policy.always_valid_at} items (or clusters)"
        judged = f"at any time, always valid, {tightest}"
    if policy.looks is not None:
        judged = f"as planned, at {policy.looks} items (or clusters)"
    if policy.familywise == "none":
        return f"judged {judged}; each verdict holds by itself"
    return f"judged {judged}; the verdicts hold together (Holm)"
