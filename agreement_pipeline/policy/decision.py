"""The decision: may these ratings become training data?"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from agreement_pipeline.contract import OF_DELIVERY, OF_ROUND, Contract, not_checked
from agreement_pipeline.counting import require_ratings
from agreement_pipeline.errors import ContractError, PolicyError, RatingsError
from agreement_pipeline.estimates import (
    ROUND,
    SCOPE_KINDS,
    Estimate,
    Scope,
    columns_without_difference,
    find_registered_measure,
    judge_parts_of_round,
    measure_ratings,
    measure_strata,
    value_by_scope,
)
from agreement_pipeline.integrity import (
    SEVERITY_BY_EFFECT,
    CheckEffect,
    Finding,
    LabelChanges,
    Panel,
    check_integrity,
    drop_copied_rows,
    find_late_changes,
    relabel_late_changes,
)
from agreement_pipeline.intervals import (
    METHODS,
    Inference,
    Percentiles,
    estimate_repeat_range,
    estimate_repeat_rate,
)
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.policy import reasons
from agreement_pipeline.policy.policy import Policy, Rule, Verdict, apply_holm
from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.policy.waivers import (
    GATE_TABLE,
    HISTORY_CHECKS,
    NO_WAIVERS,
    AnyWaiver,
    Waivers,
    build_gate_finding,
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
    as_number_array,
    as_whole_numbers_or_missing,
    cluster_by_text,
    describe_leaving_out_placeholders,
    drop_stratum,
    find_unread_times,
    labels_of_sets,
    measure_gold,
)
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import DIGITS, counted, in_words, interval, joined, listed
from agreement_pipeline.version import __version__

USUAL_RESAMPLES = Inference.n_resamples
DEFAULT_MEASURE = "krippendorff_alpha"
CONFIDENCE_OF_LOOKS = 0.95
PASSED_BY_LOOKS = {2: 6, 3: 8, 5: 10, 10: 15}
"""The most that a round at the cut-off passed at one of so many looks that nobody planned, in
percent (`unplanned_looks` in `benchmarks/`).
"""
MAX_FAR_ITEM_SHARE = 0.25
MIN_CARRIED_SHARE = 0.5
"""At most so many items carry at least so much of the expected disagreement, if they are few."""
MIN_DISTANCE_RATIO = 5
MIN_DISTANCE_RATIO_OF_THREE = 50
"""How many times the range of the others lies between a far number and them.

Two others may be neighbours by chance.
"""
CONTRACT_KEYS = ("contract", "version")
AUDITED = "silver_labels"
ASSISTED_PHRASE = "with the labels that began as a suggestion"
"""What a policy leaves out may be what differs, so the verdict must be admitted with it too."""
RECHECKED_SCOPE_KINDS = ("round", "stratum", "label")
MAX_PARTS_DESCRIBED = 3
LABEL_SET_MEASURES = ("alpha_masi", "alpha_jaccard")
"""These measures read how sets of labels overlap."""
EXPLANATION_BY_COLUMN = {
    "criterion": "within each criterion all labels are alike",
    "member": "each label of the sets is always ticked, or never",
    "shown": "the order in which alternatives were shown explains all labels",
}
RECHECK_BY_FAILED_CHECK: dict[str, tuple[str, Callable[[Ratings], Ratings], str]] = {
    "gold_items_not_disputed": (
        "dissent_left_out",
        measure_gold,
        "with the gold items, on which raters differ more,",
    ),
    "labels_not_copied": (
        "labels_copied",
        drop_copied_rows,
        "without items that copy the labels of others",
    ),
    "item_texts_differ": (
        "flattered",
        cluster_by_text,
        "with all items of one text as one cluster",
    ),
}


@dataclass(frozen=True)
class Decision(Tabular):
    """Admitted or held, with everything that led to this.

    `unmet` are the verdicts that hold the round, `waived` the waivers that overrode a verdict, and
    `refused` the waivers that are not valid, in words. `manner` says how often the round was judged
    and with which confidence; `recorded_manner` are the words for the record. `version` counts the
    different ratings that came under the round's name, with these; it is None outside a store.
    `repeat_rate` is the share of rounds like this one with the same decision; None if not known.
    It is a mean, and lies in `repeat_range` at eight in ten of the true values that are left open.
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
    repeat_range: tuple[float, float] | None = None

    @property
    def holding_verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.rule.effect == "hold")

    @property
    def repeat_rate_sentence(self) -> str:
        if self.repeat_rate is None or self.repeat_range is None:
            return ""
        few, often, many = (
            min(99, max(1, round(100 * rate)))
            for rate in (self.repeat_range[0], self.repeat_rate, self.repeat_range[1])
        )
        sentence = "Another round of this size by the same raters would get the same decision in "
        if round(100 * self.repeat_range[0]) == 100:
            return f"{sentence}over 99 of 100 cases."
        return (
            f"{sentence}{few} to {many} of 100 cases, depending on their true agreement; the mean "
            f"is {often}."
        )

    @property
    def tentative(self) -> bool:
        """True if the round is admitted on a tentative verdict. The release then says so."""
        return self.admitted and any(
            verdict.kind == "tentative" for verdict in self.holding_verdicts
        )

    @property
    def outcome(self) -> str:
        return "admitted" if self.admitted else "held"

    @property
    def word(self) -> str:
        return "admitted (tentative)" if self.tentative else self.outcome

    def waives(self, verdict_or_finding: Verdict | Finding) -> bool:
        return any(waiver.applies_to(verdict_or_finding) for waiver in self.waived)

    @property
    def broken(self) -> tuple[Finding, ...]:
        return tuple(
            finding for finding in self.findings if finding.holds and not self.waives(finding)
        )

    @property
    def met(self) -> tuple[Finding, ...]:
        gate_findings = (finding for finding in self.findings if finding.table == GATE_TABLE)
        return tuple(
            finding for finding in gate_findings if finding.passed and finding.severity == "error"
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        rule_verdicts = self.holding_verdicts if self.admitted else self.unmet
        failures = [
            f"{'' if finding.table == GATE_TABLE else 'contract: '}{finding.description}"
            for finding in self.broken
        ]
        waiver_texts = map(str, self.waived if self.admitted else ())
        satisfied = (
            satisfied_finding.description for satisfied_finding in self.met if self.admitted
        )
        return (
            *failures,
            *(verdict.reason for verdict in rule_verdicts),
            *satisfied,
            *waiver_texts,
            *self.refused,
        )

    @property
    def why_held(self) -> tuple[str, ...]:
        return () if self.admitted else self.reasons

    @property
    def codes(self) -> tuple[str, ...]:
        """The reason codes of a held round, which `docs/reasons.md` lists."""
        if self.admitted:
            return ()
        failed_checks = [
            finding.check if finding.table == GATE_TABLE else f"contract:{finding.check}"
            for finding in self.broken
        ]
        return tuple(
            dict.fromkeys([*failed_checks, *(verdict.code for verdict in self.unmet)])
        ) or ("no_rule",)

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
            **(
                {"contract": dict(zip(CONTRACT_KEYS, self.contract, strict=True))}
                if self.contract
                else {}
            ),
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
    ratings: Ratings,
    policy: Policy,
    contract: Contract | None = None,
    waivers: Waivers = NO_WAIVERS,
) -> Decision:
    """Judge ratings by a policy, and by a contract if one is given.

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
    return assess(ratings, policy, contract or Contract.none(), waivers).decision


def assess(
    ratings: Ratings,
    policy: Policy,
    contract: Contract,
    waivers: Waivers = NO_WAIVERS,
    gate_findings: Sequence[Finding] = (),
    version: int | None = None,
    checked: Sequence[Finding] | None = None,
    trains: Trains | None = None,
) -> Assessment:
    """Nothing but the arguments is read, so the same ones and the same version of this package give
    the same decision. `gate_findings` are those of the gate itself, and `trains` is the label of
    which rules with the scope label speak.
    """
    estimates = estimate_policy(select_judged_ratings(ratings, policy), policy, trains)
    check_findings = check_round(ratings, policy, contract) if checked is None else checked
    if contract.suite is not None and not any(
        gate_finding.table == OF_DELIVERY for gate_finding in gate_findings
    ):
        gate_findings = (
            *gate_findings,
            not_checked("found ratings alone; expected the delivery of the suite."),
        )
    failed_checks = {finding.check for finding in check_findings if not finding.passed}
    n_late, recheck = build_recheck(ratings, policy, failed_checks, trains)
    word_mismatches = ratings.foreign_words
    if word_mismatches:
        recheck = withdraw_for_word_mismatch

    decision = decide(
        estimates,
        policy,
        waivers=waivers,
        findings=(
            *check_findings,
            *(
                build_gate_finding("words_do_not_meet", gate_finding.sentence)
                for gate_finding in word_mismatches
            ),
            *(
                ()
                if word_mismatches
                else find_placeholder_mistakes(
                    ratings, policy, failed_checks, estimates, recheck, trains
                )
            ),
            *find_label_mistakes(ratings, policy, n_late),
            *find_duplicates(ratings, policy),
            *find_undeclared_label_sets(ratings, policy),
            *gate_findings,
            *find_round_mistakes(policy, gate_findings, version),
        ),
        ratings_digest=ratings.digest,
        contract_digest=contract.digest,
        contract=(contract.contract, contract.version) if contract.contract else None,
        code_version=__version__,
        recheck=recheck,
        version=version,
    )
    return Assessment(estimates, decision)


def check_round(
    ratings: Ratings,
    policy: Policy,
    contract: Contract,
    recorded_findings: Sequence[Finding] | None = None,
) -> tuple[Finding, ...]:
    """What the policy's bounds on facts find in the ratings.

    A contract of an earlier version may have such bounds of its own. What it found in rows and
    items beside is `recorded`, and cannot be found again.
    """
    if recorded_findings is None and contract.is_of_earlier_version:
        raise ContractError(
            f"contract {contract.contract}, version {contract.version}: found one of an earlier "
            "version, which is asked no more; expected a suite of Great Expectations, or none. "
            "Judge the round under such a contract."
        )
    panel, recorded = Panel(ratings), recorded_findings or ()
    if contract.bounds_of_round:
        return (*recorded, *check_integrity(panel, contract.bounds_of_round, OF_ROUND))
    known_checks = {finding.check for finding in recorded}
    checks = [check for check in policy.integrity.checks if check.name not in known_checks]
    return (*recorded, *check_integrity(panel, checks))


def withdraw_for_word_mismatch(verdict: Verdict) -> Verdict:
    """Raters whose words do not meet never agree, whatever they saw."""
    rule = verdict.rule
    scope_phrase = (
        "" if verdict.scope.kind == "round" else f" of {reasons.describe_scope_kind(rule.scope)}"
    )
    reason = f"{rule.measure}{scope_phrase}: not evaluated, since the words of raters do not meet"
    return Verdict(rule, verdict.scope, "not_evaluated", reason, code="words_do_not_meet")


def estimate_policy(part: Ratings, policy: Policy, trains: Trains | None) -> tuple[Estimate, ...]:
    rules_by_scope_kind = {
        kind: [rule for rule in policy.rules if rule.scope == kind] for kind in SCOPE_KINDS
    }
    return tuple(
        estimate
        for rules in rules_by_scope_kind.values()
        for estimate in estimate_rules(part, policy, rules, trains)
    )


def build_recheck(
    ratings: Ratings, policy: Policy, failed_checks: Collection[str], trains: Trains | None
) -> tuple[int, Callable[[Verdict], Verdict]]:
    """How many labels were changed late, and what takes back a verdict that stands on ratings only
    as they are.
    """
    part = select_judged_ratings(ratings, policy)
    variants = [] if part is ratings else [(ratings, "dissent_left_out", ASSISTED_PHRASE)]
    variants += [
        (transform(part), code, words)
        for check, (code, transform, words) in RECHECK_BY_FAILED_CHECK.items()
        if check in failed_checks
    ]
    late_change_effect = policy.integrity.labels_given_again
    n_late, ratings_if_changed = (
        late_change_effect != "not_asked" and relabel_late_changes(part)
    ) or (0, part)
    if n_late and late_change_effect == "hold":
        words = f"if the {counted(n_late, 'label')} that were changed late had differed before,"
        variants.append((ratings_if_changed, "labels_given_again", words))
    judge_on = cache(partial(judge_rule_on, policy, trains))

    def doubted(verdict: Verdict) -> Verdict:
        standing = withdraw_if_not_shown_by_items(verdict, part)
        standing = recheck_without_flattery(standing, ratings=part, policy=policy, trains=trains)
        for variant, code, words in variants:
            if standing.scope.kind in RECHECKED_SCOPE_KINDS and standing.kind in policy.admit:
                transform = judge_on(standing.rule, variant).get(standing.scope)
                if transform is not None and transform.kind not in policy.admit:
                    standing = standing.take_back(words, transform, code=code)
        return downgrade_for_weak_part(standing, part, policy, trains)

    return n_late, doubted


def find_placeholder_mistakes(
    ratings: Ratings,
    policy: Policy,
    failed_checks: Collection[str],
    estimates: Sequence[Estimate],
    recheck: Callable[[Verdict], Verdict],
    trains: Trains | None,
) -> Iterator[Finding]:
    """Labels such as `n/a` that nobody declared. A decision must be the same without each of them,
    and without all.
    """
    effect = policy.integrity.placeholders_not_declared
    if effect == "not_asked" or not (counts := ratings.undeclared_placeholders):
        return
    verdicts = [recheck(verdict) for verdict in policy.judge(estimates)]
    difference = None
    for labels in ([*counts], *([label] for label in counts if len(counts) > 1)):
        verdicts_without = judge_without_labels(ratings, labels, policy, failed_checks, trains)
        difference = difference or describe_first_difference(
            verdicts, verdicts_without, labels, policy
        )
    n_labels = sum(ratings.n_by_category.values()) if ratings.scale.categories else len(ratings)
    placeholder_counts = joined(
        f"{label!r} ({n:,} of {n_labels:,} labels)" for label, n in counts.items()
    )
    is_single = len(counts) == 1
    next_step = (
        f"{describe_leaving_out_placeholders(counts).strip()} If "
        f"{'it is a category' if is_single else 'they are ones'}, "
        "name all categories (--categories, or scale in a project)."
    )
    if difference is None:
        words = (
            f"{placeholder_counts} may say that nobody gave a label, and "
            f"{'counts' if is_single else 'count'} as "
            f"{'a category' if is_single else 'categories'} that nobody declared. The decision is "
            "the "
            f"same without {'it' if is_single else 'them'}. {next_step}"
        )
        yield build_gate_finding("placeholders_counted", words, "warning")
        return
    words = (
        f"{placeholder_counts} may say that nobody gave a label, and nobody declared "
        f"{'it' if is_single else 'them'}. The decision rests on that: {difference}. {next_step}"
    )
    yield build_gate_finding("placeholders_not_declared", words, SEVERITY_BY_EFFECT[effect])


def judge_without_labels(
    ratings: Ratings,
    labels: Collection[str],
    policy: Policy,
    failed_checks: Collection[str],
    trains: Trains | None,
) -> dict[tuple[Rule, Scope], Verdict] | str:
    """Or why there are none."""
    try:
        remaining = ratings.without_labels(labels)
    except RatingsError:
        return "the others are fewer than two categories"
    _, recheck = build_recheck(remaining, policy, failed_checks, trains)
    verdicts = policy.judge(
        estimate_policy(select_judged_ratings(remaining, policy), policy, trains)
    )
    return {(verdict.rule, verdict.scope): recheck(verdict) for verdict in verdicts}


def describe_first_difference(
    verdicts: Sequence[Verdict],
    verdicts_without: "dict[tuple[Rule, Scope], Verdict] | str",
    labels: Sequence[str],
    policy: Policy,
) -> str | None:
    """The first verdict that is met with some labels and not without them, or not met with them."""
    without = f"without {joined(map(repr, labels))}"
    for verdict in verdicts:
        if verdict.rule.effect != "hold":
            continue
        is_met = verdict.kind in policy.admit
        if isinstance(verdicts_without, str):
            if is_met:
                return (
                    f"{verdict.rule.measure} cannot be judged {without}, since {verdicts_without}"
                )
            continue
        counterpart = verdicts_without.get((verdict.rule, verdict.scope))
        if counterpart is not None and (counterpart.kind in policy.admit) != is_met:
            return f"{describe_verdict(verdict)}, and {without} {describe_verdict(counterpart)}"
    return None


def describe_verdict(verdict: Verdict) -> str:
    estimate, scope = verdict.estimate, verdict.scope
    scope_phrase = "" if scope.kind == "round" else f" of {scope}"
    value = None if estimate is None else estimate.value
    value_text = "undefined" if value is None else in_words(value)
    return (
        f"{verdict.rule.measure}{scope_phrase} is {value_text} ({verdict.kind.replace('_', ' ')})"
    )


def decide(
    estimates: Sequence[Estimate],
    policy: Policy,
    *,
    findings: Sequence[Finding],
    ratings_digest: str,
    contract_digest: str,
    code_version: str,
    waivers: Waivers = NO_WAIVERS,
    recheck: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    version: int | None = None,
    contract: tuple[str, int] | None = None,
) -> Decision:
    verdicts = tuple(recheck(verdict) for verdict in policy.judge(estimates))
    holding = [verdict for verdict in verdicts if verdict.rule.effect == "hold"]
    unmet_before_waivers = [verdict for verdict in holding if verdict.kind not in policy.admit]
    waived, refusals = waivers.sort_valid_and_refused(
        verdicts, findings, policy, ratings_digest, contract_digest
    )

    def is_not_waived(verdict_or_finding: Verdict | Finding) -> bool:
        return not any(waiver.applies_to(verdict_or_finding) for waiver in waived)

    unmet = tuple(filter(is_not_waived, unmet_before_waivers))
    has_failed_finding = any(finding.holds and is_not_waived(finding) for finding in findings)
    is_by_rules_alone = not has_failed_finding and not waived and not policy.is_for_model_labels
    admission_rates = estimate_admission_rates(holding, policy) if is_by_rules_alone else None
    admitted = bool(holding) and not unmet and not has_failed_finding
    repeat_rate, repeat_range = None, None
    if admission_rates is not None:
        few, mean, many = admission_rates if admitted else (1 - rate for rate in admission_rates)
        repeat_rate, repeat_range = round(mean, 2), (min(few, many), max(few, many))
    return Decision(
        admitted=admitted,
        verdicts=verdicts,
        findings=tuple(findings),
        unmet=unmet,
        waived=waived,
        refused=refusals,
        manner=describe_manner(policy, version),
        recorded_manner=describe_manner_for_record(policy, version),
        ratings_digest=ratings_digest,
        policy_digest=policy.digest,
        contract_digest=contract_digest,
        code_version=code_version,
        version=version,
        contract=contract,
        repeat_rate=repeat_rate,
        repeat_range=repeat_range,
    )


def estimate_admission_rates(
    holding: Sequence[Verdict], policy: Policy
) -> tuple[float, float, float] | None:
    """How likely another round of as many such items, from the same raters, is to be admitted.

    The mean stands between the ends of its range. None unless it follows from limits of one look
    alone, of which each rule reads its own.
    """
    is_per_verdict = policy.familywise == "none" and policy.inference.several_looks is None
    distributions_and_cutoffs = []
    for verdict in holding:
        rule, estimate = verdict.rule, verdict.estimate
        distribution = None if estimate is None else estimate.distribution
        is_judged_alone = (
            is_per_verdict and rule.scope != "stratum" and verdict.code == verdict.kind
        )
        if not is_judged_alone or not isinstance(distribution, Percentiles):
            return None
        distributions_and_cutoffs.append(
            (distribution, rule.tentative if "tentative" in policy.admit else rule.reliable)
        )
    if not distributions_and_cutoffs:
        return None
    tail = policy.inference.tail
    mean = estimate_repeat_rate(distributions_and_cutoffs, tail)
    ends = estimate_repeat_range(distributions_and_cutoffs, tail)
    return None if mean is None or ends is None else (ends[0], mean, ends[1])


def estimate_rules(
    ratings: Ratings, policy: Policy, rules: Sequence[Rule], trains: Trains | None
) -> Iterator[Estimate]:
    kinds = {rule.scope for rule in rules}
    measures = [rule.measure for rule in rules if rule.if_too_few != "pool"]
    if "stratum" in kinds:
        ratings = drop_stratum(ratings, FIRST_DELIVERED)
    yield from measure_ratings(ratings, measures, policy.inference, scopes=kinds, trains=trains)
    for rule in rules:
        if rule.if_too_few == "pool":
            yield from measure_strata(ratings, [rule.measure], policy.inference, rule.min_items)


def judge_rule_on(
    policy: Policy, trains: Trains | None, rule: Rule, ratings: Ratings
) -> dict[Scope, Verdict]:
    return {
        verdict.scope: verdict
        for verdict in rule.judge(estimate_rules(ratings, policy, [rule], trains))
    }


def select_judged_ratings(ratings: Ratings, policy: Policy) -> Ratings:
    leaves_out = policy.assisted == "leave_out" and ratings.n_assisted > 0
    return ratings.without_assisted if leaves_out else ratings


def downgrade_for_weak_part(
    verdict: Verdict, ratings: Ratings, policy: Policy, trains: Trains | None = None
) -> Verdict:
    """A verdict is inconclusive if raters surely agree less on a part of the round.

    A part is weak if its value is under the cut-off that the policy admits, at the level of the
    policy for all parts together (Holm). Strata on which the policy has rules are left to these.
    What came in one delivery first is a part too, so a bad week does not hide behind good ones.
    """
    estimate, rule, effect = verdict.estimate, verdict.rule, policy.integrity.weak_part
    if effect == "not_asked" or not is_admitted_as_a_whole(verdict, policy) or estimate is None:
        return verdict
    cutoff = rule.tentative if "tentative" in policy.admit else rule.reliable
    has_rule = any(part_or_rule.scope == "stratum" for part_or_rule in policy.rules)
    # No rule speaks of deliveries, since their names are not known when a policy is written.
    left_out = {*ratings.strata} - {FIRST_DELIVERED} if has_rule else set()
    parts = judge_parts_of_round(
        ratings, rule.measure, cutoff, policy.inference, left_out=left_out, trains=trains
    )
    judged_parts = [part for part in parts if part.is_judged]
    levels = apply_holm([part.p for part in judged_parts], policy.inference.tail)
    weak_parts = [
        part for part, (is_under, _) in zip(judged_parts, levels, strict=True) if is_under
    ]
    descriptions = [
        f"on {part.name} it is {in_words(part.value, cutoffs=[cutoff])}, {interval(*part.limits)}"
        for part in sorted(weak_parts, key=lambda part_or_rule: part_or_rule.p)[
            :MAX_PARTS_DESCRIBED
        ]
        if part.value is not None and part.limits is not None
    ]
    descriptions += [EXPLANATION_BY_COLUMN[column] for column in columns_without_difference(parts)]
    if not descriptions:
        return verdict
    parts_phrase = (
        f"{len(weak_parts)} of {len(judged_parts)} parts under {cutoff:g}: " if weak_parts else ""
    )
    return verdict.doubt(
        f"but {parts_phrase}{'; '.join(descriptions)}", code="weak_part", effect=effect
    )


def is_admitted_as_a_whole(verdict: Verdict, policy: Policy) -> bool:
    return verdict.scope.kind in ("round", "label") and verdict.kind in policy.admit


def recheck_without_flattery(
    verdict: Verdict, *, ratings: Ratings, policy: Policy, trains: Trains | None = None
) -> Verdict:
    """Disagreement is read as a share of what chance gives. A few far labels raise that, and so do
    declared categories that nobody uses. So a verdict that the policy admits must stand without
    them.
    """
    estimate, effect = verdict.estimate, policy.integrity.flattered
    if effect == "not_asked" or not is_admitted_as_a_whole(verdict, policy) or estimate is None:
        return verdict
    for left_out_phrase, variant, sufficient_kinds in iterate_flattery_variants(ratings, policy):
        counterpart = judge_rule_on(policy, trains, verdict.rule, variant)[verdict.scope]
        same_value = (  # then only the draws of its limits differ
            estimate.value is not None
            and counterpart.estimate is not None
            and counterpart.estimate.value is not None
            and round(estimate.value - counterpart.estimate.value, DIGITS) == 0
        )
        if counterpart.kind not in sufficient_kinds and not same_value:
            return verdict.take_back(
                f"without {left_out_phrase}", counterpart, code="flattered", effect=effect
            )
    return verdict


def iterate_flattery_variants(
    ratings: Ratings, policy: Policy
) -> Iterator[tuple[str, Ratings, tuple[Kind, ...]]]:
    """What may flatter, the ratings without it, and the verdicts on them that suffice.

    The other items alone may be too few or too much alike to tell. That takes nothing back.
    """
    for items, share in find_far_items(ratings):
        carry = "carries" if len(items) == 1 else "carry"
        left_out_phrase = (
            f"{counted(len(items), 'item')} that {carry} {in_words(share, '.0%')} "
            "of the expected disagreement"
        )
        variant = restrict_to_used_categories(ratings.with_gold(items).without_gold)
        yield (
            left_out_phrase,
            variant,
            (*policy.admit, "inconclusive", "tentative", "not_evaluated"),
        )
    variant = restrict_to_used_categories(ratings)
    if variant is not ratings:
        n_unused = len(ratings.scale.categories or ()) - len(variant.scale.categories or ())
        left_out_phrase = "1 category" if n_unused == 1 else f"{n_unused} categories"
        yield f"{left_out_phrase} that nobody uses", variant, policy.admit


def find_far_items(ratings: Ratings) -> Iterator[tuple[frozenset[str], float]]:
    """The few items that carry most of the expected disagreement, and their share of it.

    Then all items with a number that lies far from all others, such as 999.
    """
    if not ratings.scale.numeric:
        return
    rated = ratings.first_ratings(["item", "at", "number"])
    item_places, numbers = (
        as_whole_numbers_or_missing(rated["at"]),
        as_number_array(rated["number"]),
    )
    n_items = int(item_places.max(initial=-1)) + 1
    numbers = numbers.reshape(len(rated), -1)
    squared_distance = ((numbers - numbers.mean(axis=0)) ** 2).sum(axis=1)
    distance_by_item = np.bincount(item_places, squared_distance)
    order = np.argsort(-distance_by_item, kind="stable")
    shares = np.cumsum(distance_by_item[order]) / max(distance_by_item.sum(), np.finfo(float).tiny)
    n_carrying = int(np.searchsorted(shares, MIN_CARRIED_SHARE)) + 1
    carries_most = np.zeros(n_items, dtype=bool)
    if n_carrying <= MAX_FAR_ITEM_SHARE * n_items:
        carries_most = distance_by_item >= distance_by_item[order[n_carrying - 1]]
    is_distant = np.bincount(item_places, mask_distant_numbers(numbers), n_items) > 0
    if carries_most.sum() > MAX_FAR_ITEM_SHARE * n_items:
        carries_most[:] = False
    for is_far in (carries_most, is_distant & (carries_most != is_distant).any()):
        if is_far.any() and not is_far.all():
            names = rated["item"].take(np.searchsorted(item_places, np.flatnonzero(is_far)))
            yield (
                frozenset(names.to_pylist()),
                float(distance_by_item[is_far].sum() / distance_by_item.sum()),
            )


def mask_distant_numbers(numbers: Array) -> Codes:
    values = np.unique(numbers)
    if numbers.shape[1] > 1 or len(values) < 3:
        return np.zeros(len(numbers), dtype=bool)
    min_ratio = MIN_DISTANCE_RATIO if len(values) > 3 else MIN_DISTANCE_RATIO_OF_THREE
    is_far = np.zeros(len(numbers), dtype=bool)
    for extreme, remaining in ((values[-1], values[:-1]), (values[0], values[1:])):
        if np.abs(extreme - remaining).min() >= min_ratio * (remaining[-1] - remaining[0]):
            is_far |= numbers[:, 0] == extreme
    return is_far


def restrict_to_used_categories(ratings: Ratings) -> Ratings:
    scale = ratings.scale
    if scale.categories is None or not scale.declared:
        return ratings
    used_categories = tuple(scale.categories[place] for place in ratings.places_of_used_categories)
    if not 1 < len(used_categories) < len(scale.categories):
        return ratings
    return replace(ratings, scale=replace(scale, categories=used_categories))


def withdraw_if_not_shown_by_items(verdict: Verdict, ratings: Ratings) -> Verdict:
    missing, estimate = find_missing_capabilities(ratings, verdict.rule.requires), verdict.estimate
    if not missing or estimate is None or estimate.value is None:
        return verdict
    cause = (
        f"the rule requires what is not shown: {describe_missing_capabilities(ratings, missing)}"
    )
    reason = reasons.explain_not_evaluated(estimate, estimate.value, cause)
    return replace(verdict, kind="not_evaluated", reason=reason, code="not_shown")


def find_label_mistakes(ratings: Ratings, policy: Policy, n_late: int) -> Iterator[Finding]:
    """What the export cannot show, which labels began as a suggestion, which times could not be
    read, which labels were changed, and which came before.
    """
    if (origin := ratings.origin) and 2 * origin.unchanged > ratings.n_items:
        message = (
            f"found that {origin.unchanged:,} of {counted(ratings.n_items, 'item')} came in an "
            "earlier round with the same labels; expected a project that says how its deliveries "
            "follow each other. If each export also contains the earlier ones, say `deliveries: "
            "cumulative`: then a round is what is new. If items come back on purpose, say "
            "`deliveries: independent`."
        )
        yield build_gate_finding("deliveries_not_declared", message)
    missing = find_missing_capabilities(ratings, policy.requires)
    if policy.assisted == "leave_out" and not ratings.is_assistance_known:
        missing = tuple(dict.fromkeys([*missing, "assisted"]))
    if missing:
        message = (
            f"found {describe_missing_capabilities(ratings, missing)}; expected what the "
            "policy requires. Export another format, and deliver the round again."
        )
        yield build_gate_finding("not_shown", message)
    if ratings.n_assisted:
        message = describe_assisted_labels(ratings, policy)
        yield build_gate_finding("assisted", message, "warning")
    if policy.first_labels == "required" and not ratings.are_first_labels_known:
        message = (
            f"found that {describe_first_labels(ratings, in_a_sentence=True)}; expected the first "
            "labels, "
            "as the policy requires. Export the history of the annotations, or name the columns "
            "first_label and changed_at."
        )
        yield build_gate_finding("first_labels_not_known", message)
    if unread := find_unread_times(ratings):
        rests_on_times = ratings.n_repeated + ratings.n_earlier > 0 and any(
            rule.effect == "hold" and find_registered_measure(rule.measure).needs == "replicates"
            for rule in policy.rules
        )
        message = (
            f"{unread.n} of {counted(unread.n_times, 'time')} could not be read, such "
            "as "
            f"{value_in_message(unread.example)}, so no check of replicates counts them; expected "
            "times of "
            "one form that tells day and month apart. Name the form with time_format among the "
            "columns of the project (--time-format '%d/%m/%Y %H:%M'), or deliver ISO times."
        )
        severity = "error" if rests_on_times else "warning"
        yield build_gate_finding("times_not_read", message, severity)
    effect = policy.integrity.labels_given_again
    changes = None if effect == "not_asked" else find_late_changes(ratings)
    if changes is not None and changes.is_aimed:
        if ratings.are_first_labels_known:
            message = f"{changes.in_words}; agreement rests on the first labels"
            yield build_gate_finding("labels_given_again", message, "warning")
        else:
            yield build_given_again_finding(changes, effect)
    elif n_late:
        message = (
            f"{n_late} of {ratings.n_of_panel} labels were changed late, beside others that "
            "stayed, and what they were first is not known"
        )
        if effect == "hold":
            message += "; a verdict must stand as if they had differed then"
        yield build_gate_finding("labels_given_again", message, "warning")


def find_duplicates(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """Rows that repeat another one's item and rater. Under a rule on self-agreement they may be
    repetitions, which such a rule reads, so they hold the round until the settings say what they
    are.
    """
    left_out = ratings.origin.left_out if ratings.origin else {}
    n_same, n_declared = (left_out.get(name, 0) for name in (SAME_LABEL_TWICE, DUPLICATE))
    reads_repetitions = any(
        find_registered_measure(rule.measure).question == "intra-rater" for rule in policy.rules
    )
    if n_same and reads_repetitions and not ratings.n_repeated:
        message = (
            f"found {counted(n_same, 'rating')} with the item, rater and label of another one, "
            "under a rule on self-agreement; expected it stated whether raters met these items "
            f"again. If they did, number the repetitions ({HOW_OF_OCCURRENCES}). If the rows are "
            f"duplicates, name the one that counts ({HOW_OF_DUPLICATES})."
        )
        yield build_gate_finding("duplicates_not_declared", message)
    elif n_same:
        message = (
            f"{counted(n_same, 'rating')} had the item, rater and label of another one, and each "
            "such label counts once; if raters met these items again, number the repetitions "
            f"({HOW_OF_OCCURRENCES})"
        )
        yield build_gate_finding("duplicates", message, "warning")
    if n_declared:
        message = (
            f"{counted(n_declared, 'rating')} had the item and rater of another one, and "
            f"{'was' if n_declared == 1 else 'were'} left out, as `duplicates` says"
        )
        yield build_gate_finding("duplicates_left_out", message, "warning")


def find_undeclared_label_sets(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """Whether each combination of several labels counts as a category of its own."""
    scale = ratings.scale
    if scale.level != "nominal" or any(rule.measure in LABEL_SET_MEASURES for rule in policy.rules):
        return
    if labels := labels_of_sets(scale.names):
        message = (
            f"cells hold several of {counted(len(labels), 'label')} "
            f"({joined(labels, MAX_PARTS_DESCRIBED)}),"
            f" and each of {len(scale.names)} combinations counts as a category of its own; "
            "--units sets (units: {kind: sets} in a project) judges each label by itself"
        )
        yield build_gate_finding("cells_hold_several_labels", message, "warning")


def describe_assisted_labels(ratings: Ratings, policy: Policy) -> str:
    measures = [rule.measure for rule in policy.rules if rule.scope == "round"] or [DEFAULT_MEASURE]
    comparisons = []
    for measure in dict.fromkeys(measures):
        if find_registered_measure(measure).defined_on(ratings.scale):
            values_with_and_without = [
                value_by_scope(ratings_variant, measure, "round").get(ROUND)
                for ratings_variant in (ratings, ratings.without_assisted)
            ]
            with_them, without = (
                "undefined" if x is None else in_words(x) for x in values_with_and_without
            )
            comparisons.append(f"{measure} is {with_them} with them and {without} without them")
    treatment = "left out" if policy.assisted == "leave_out" else "counted"
    return (
        f"{ratings.n_assisted} of {ratings.n_of_panel} labels began as a suggestion, and are "
        f"{treatment}; {'; '.join(comparisons)}"
    )


def build_given_again_finding(changes: LabelChanges, effect: CheckEffect) -> Finding:
    message = (
        f"found that {changes.in_words}; expected labels that raters gave before they knew where "
        "they differ. Have a fresh random sample of items labelled, or deliver the first labels. "
        "If retrained raters labelled the items again, let them label a random sample of these "
        "once more (agreement-pipeline draw --relabelled ROUND), and write a remedy, or write a "
        "waiver (agreement-pipeline guide waivers). "
        "Deliver settled labels as adjudicated ones: they train, and do not count for agreement."
    )
    return build_gate_finding("labels_given_again", message, SEVERITY_BY_EFFECT[effect])


def describe_first_labels(ratings: Ratings, *, in_a_sentence: bool = False) -> str:
    """Whether labels were given again, and which ones agreement rests on.

    >>> import pandas as pd
    >>> from agreement_pipeline import Scale
    >>> frame = pd.DataFrame([("i1", "a", "no")], columns=["item", "rater", "label"])
    >>> describe_first_labels(Ratings.from_frame(frame, Scale(("no", "yes"))))
    'This file has no edit history, so later edits cannot be ruled out.'
    """
    n_with_first_label, n_without_first_label = ratings.n_edited_labels
    if n_without_first_label:
        were = (
            "was changed and its first label is"
            if n_without_first_label == 1
            else ("were changed and their first labels are")
        )
        sentence = f"{counted(n_without_first_label, 'label')} {were} not known"
    elif not ratings.are_first_labels_known:
        sentence = "This file has no edit history, so later edits cannot be ruled out"
    elif n_with_first_label:
        were = (
            "was changed later, and only trains"
            if n_with_first_label == 1
            else ("were changed later, and only train")
        )
        sentence = f"Agreement rests on first labels: {counted(n_with_first_label, 'label')} {were}"
    else:
        sentence = "No label was edited"
    return f"{sentence[0].lower()}{sentence[1:]}" if in_a_sentence else f"{sentence}."


def find_missing_capabilities(ratings: Ratings, required: tuple[str, ...]) -> tuple[str, ...]:
    return required if ratings.origin is None else ratings.origin.missing_capabilities(required)


def describe_missing_capabilities(ratings: Ratings, lacking: tuple[str, ...]) -> str:
    origin = ratings.origin
    source_phrase = (
        f"an export read as {origin.reader}" if origin else "ratings of an unknown export"
    )
    capabilities = "; ".join(f"{name}: {CAPABILITIES[name]}" for name in lacking)
    return f"{source_phrase}, which cannot show {listed(lacking)} ({capabilities})"


def find_round_mistakes(
    policy: Policy, gate_findings: Sequence[Finding], version: int | None
) -> Iterator[Finding]:
    is_audited = any(finding.check == AUDITED and finding.passed for finding in gate_findings)
    is_held = any(
        finding.holds and finding.check not in HISTORY_CHECKS for finding in gate_findings
    )
    if policy.is_for_model_labels and not is_audited and not is_held:
        message = (
            f"found policy {policy.policy} for rounds that a classifier labelled, and no proof of "
            "a certificate, a recorded draw and few wrong labels; expected all three. Judge the "
            "round in a project that says certified_by, or judge people's labels by a policy "
            "without silver."
        )
        yield build_gate_finding("silver_not_audited", message)
    if policy.most_versions is not None and (version or 0) > policy.most_versions:
        message = (
            f"found version {version} of the round; expected {policy.most_versions} at most, since "
            "each further look may admit by chance. Collect a fresh round."
        )
        yield build_gate_finding("too_many_versions", message)


def describe_manner(policy: Policy, version: int | None) -> str:
    version_sentence = f"This is version {version} of the round. " if (version or 0) > 1 else ""
    look_sentence = (
        "Judged once." if version == 1 else "The limits are valid for a round that is judged once."
    )
    if policy.always_valid_at is not None:
        look_sentence = (
            "Judged at any time, with always valid limits that are tightest at "
            f"{policy.always_valid_at} items (or clusters)."
        )
    if policy.looks is not None:
        look_sentence = f"Judged at {policy.looks} items (or clusters), and at no other size."
    confidence = f"{100 * policy.confidence_level:g} % confidence"
    is_resampled = METHODS[policy.interval_method].scheme is not None
    is_resampled_sparsely = policy.n_resamples < USUAL_RESAMPLES and is_resampled
    resamples_sentence = (
        f" {policy.n_resamples:,} resamples are few, so close cases depend on chance."
        if is_resampled_sparsely
        else ""
    )
    if policy.familywise == "none":
        by_stratum = any(rule.scope == "stratum" for rule in policy.rules)
        strata_sentence = " Those on the strata of one rule have it together." if by_stratum else ""
        confidence_sentence = f"Each verdict by itself has {confidence}.{strata_sentence}"
    else:
        confidence_sentence = f"All verdicts together have {confidence} (Holm)."
    return (
        f"{version_sentence}{look_sentence} {confidence_sentence}{resamples_sentence}"
        f"{_describe_risk_of_looks(policy, version or 1)}"
    )


def _describe_risk_of_looks(policy: Policy, n_looks: int) -> str:
    if n_looks == 1 or policy.inference.several_looks:
        return ""
    n_bounded = next((n for n in PASSED_BY_LOOKS if n >= n_looks), None)
    risk = "more often than one judged once"
    if policy.confidence_level == CONFIDENCE_OF_LOOKS and n_bounded:
        risk = f"in up to {PASSED_BY_LOOKS[n_bounded]:g} % of cases, instead of 2.5 %"
    return (
        f" In simulations, a round exactly at the cut-off that grows and is judged {n_looks} times "
        f"passes {risk}. Plan further looks in the policy, as `looks: {{at: [500, 1000]}}` or "
        "`always_valid_at: 500`, or judge a fresh round."
    )


def describe_manner_for_record(policy: Policy, version: int | None) -> str:
    """These words never change, because verifying a release must give the same words again."""
    looks_phrase = "once" if version == 1 else "as at one look"
    if policy.always_valid_at is not None:
        tightest = f"tightest at {policy.always_valid_at} items (or clusters)"
        looks_phrase = f"at any time, always valid, {tightest}"
    if policy.looks is not None:
        looks_phrase = f"as planned, at {policy.looks} items (or clusters)"
    if policy.familywise == "none":
        return f"judged {looks_phrase}; each verdict holds by itself"
    return f"judged {looks_phrase}; the verdicts hold together (Holm)"
