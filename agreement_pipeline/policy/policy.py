"""What a policy asks of a round, and the verdicts that it gives.

By Krippendorff's rule, a verdict reads the interval and not the value. Data are reliable if the
lower limit reaches the cut-off. Data whose lower limit is under 0.667 are never admitted by a rule.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import (
    SCOPE_KINDS,
    Estimate,
    Scope,
    ScopeKind,
    find_registered_measure,
)
from agreement_pipeline.integrity import USUAL_INTEGRITY, CheckEffect, Integrity
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference, Looks
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import (
    CLOSED,
    Requirement,
    Value,
    is_number,
    is_text,
    is_whole_number_between,
    one_of_value,
    refuse_mistakes,
    value_in_message,
)
from agreement_pipeline.policy import reasons
from agreement_pipeline.policy.fresh_round import FreshRound, plan_fresh_round
from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.ratings import CAPABILITIES
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import SIGNIFICANT, counted, in_words, listed, suggest_name
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings

RELIABLE, TENTATIVE = 0.800, 0.667

Effect = Literal["hold", "warn"]
IfTooFew = Literal["hold", "tell", "pool"]
MEASURE = Value("a registered measure", lambda name: bool(find_registered_measure(name)))
CUTOFF = Value("a number", is_number)
COUNT = Value("a whole number from 1", is_whole_number_between(1))
FLAG = Value("true or false", lambda value: isinstance(value, bool))
CAPABLE = Value(
    f"a list of some of {', '.join(CAPABILITIES)}",
    lambda names: all(name in CAPABILITIES for name in names) and len(names) == len({*names}),
    nested=True,
)


@dataclass(frozen=True)
class Rule:
    """A rule on one measure.

    Parameters
    ----------
    scope
        round, category, rater, without (a rater left out), pair, classifier, stratum, or label: the
        label that trains, for label_reliability and label_agreement alone. Each estimate of this
        scope is judged on its own. Those on strata hold together (Holm).
    reliable, tentative
        The cut-offs for the lower limit, at least 0.667 in a rule that can hold a release.
    min_items, min_raters
        The fewest items (or clusters) with a value, and the fewest raters of one of them. An
        estimate with fewer is not evaluated.
    if_too_few
        What happens to a stratum of fewer items. hold: it holds the release. tell: its verdict is
        only shown. pool: all such strata of a column are judged as one.
    every_rater
        True if the estimate is only evaluated if every rater counts in it. One does not if their
        replicates, or their confidence, are missing or show nothing.
    requires
        What the export must show, or the rule is not evaluated.
    effect
        hold: the round is held if this rule is not met. warn: the verdict is only shown.

    Raises
    ------
    PolicyError
        A value is impossible, or does not suit the measure or the scope.
    """

    __pydantic_config__ = CLOSED

    measure: Annotated[str, MEASURE]
    scope: Annotated[ScopeKind, one_of_value(SCOPE_KINDS)] = "round"
    reliable: Annotated[float, CUTOFF] = RELIABLE
    tentative: Annotated[float, CUTOFF] = TENTATIVE
    min_items: Annotated[int, COUNT] = 2
    min_raters: Annotated[int, COUNT] = 1
    if_too_few: Annotated[IfTooFew, one_of_value(get_args(IfTooFew))] = "hold"
    every_rater: Annotated[bool, FLAG] = False
    requires: Annotated[tuple[str, ...], CAPABLE] = ()
    effect: Annotated[Effect, one_of_value(get_args(Effect))] = "hold"

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError, self._needs())

    def _needs(self) -> Iterator[Requirement]:
        measure, holds = find_registered_measure(self.measure), self.effect == "hold"
        cannot_hold_reason = measure.cannot_hold
        yield Requirement(
            "effect",
            not (cannot_hold_reason and holds),
            f"'warn' for {self.measure}, since {cannot_hold_reason}",
            "",
        )
        lower, upper = (TENTATIVE if holds else measure.bounds[0]), measure.bounds[1]
        bounds_phrase = f"{lower:g} to {upper:g} for {self.measure}"
        if holds:
            bounds_phrase += " in a rule that can hold a release"
        for key in ("reliable", "tentative"):
            cutoff = getattr(self, key)
            is_percent = 1 < cutoff <= 100 and lower <= cutoff / 100 <= upper
            step = f"Did you mean {cutoff / 100:g}?" if is_percent else "Correct the value."
            yield Requirement(key, lower <= cutoff <= upper, bounds_phrase, step)
        max_phrase = f"at most the reliable cut-off, {self.reliable!r}"
        yield Requirement("tentative", not self.tentative > self.reliable, max_phrase, "Swap them.")
        can_leave_out = measure.needs in ("replicates", "confidence") and self.scope in (
            "round",
            "category",
        )
        expected_phrase = (
            f"false for {self.measure} of the {self.scope}, since only a measure of replicates or "
            "confidence, of the round or category, can leave out a rater"
        )
        yield Requirement("every_rater", not self.every_rater or can_leave_out, expected_phrase)
        is_of_label = measure.needs == "label"
        scopes = "label" if is_of_label else "another scope than label"
        yield Requirement(
            "scope", is_of_label == (self.scope == "label"), f"{scopes} for {self.measure}"
        )
        scope_phrase = (
            f"hold for the scope {self.scope}, since only strata may be told of or pooled"
        )
        yield Requirement(
            "if_too_few", self.if_too_few == "hold" or self.scope == "stratum", scope_phrase
        )

    @property
    def name(self) -> str:
        """Letters, digits and underscores that no other rule of a policy has."""
        return f"{self.measure}_of_{self.scope}"

    @property
    def cutoffs(self) -> tuple[float, float]:
        return self.tentative, self.reliable

    @property
    def question(self) -> str:
        title = find_registered_measure(self.measure).title
        return (
            f"Does the lower limit of {title} of {reasons.describe_scope_kind(self.scope)} "
            f"reach {self.reliable:g} "
            f"(tentative: {self.tentative:g})? "
            f"The rule {'holds a release' if self.effect == 'hold' else 'only warns'}."
        )

    def judge(self, estimates: Iterable[Estimate]) -> tuple["Verdict", ...]:
        """A verdict on each estimate of the rule's measure and scope.

        If there is no such estimate, the one verdict is *not_evaluated*.
        """
        mine = [e for e in estimates if e.measure == self.measure and e.scope.kind == self.scope]
        if not mine:
            reason = (
                f"{self.measure} of {reasons.describe_scope_kind(self.scope)}: not evaluated, "
                "since this round has no such estimate of it"
            )
            return (Verdict(self, Scope(self.scope), "not_evaluated", reason, code="no_estimate"),)
        return tuple(map(self._judge_estimate, mine))

    def _judge_estimate(self, estimate: Estimate) -> "Verdict":
        is_only_told = self.if_too_few == "tell" and estimate.n_apart < self.min_items
        rule = replace(self, effect="warn") if is_only_told else self
        value, interval, scope = estimate.value, estimate.interval, estimate.scope
        if estimate.undefined is not None or interval is None or value is None:
            reason = reasons.explain_undefined(estimate)
            return Verdict(rule, scope, "not_evaluated", reason, code="undefined")
        if missing := rule._missing_evidence_code_and_reason(estimate):
            code, missing_reason = missing
            reason = reasons.explain_not_evaluated(estimate, value, missing_reason)
            return Verdict(rule, scope, "not_evaluated", reason, code, estimate)
        kind: Kind = "unreliable" if interval.high < self.tentative else "inconclusive"
        if interval.low >= self.tentative:
            kind = "reliable" if interval.low >= self.reliable else "tentative"
        reason = reasons.explain_verdict(
            estimate, value, interval, kind, self.reliable, self.tentative
        )
        return Verdict(rule, scope, kind, reason, kind, estimate)

    def _missing_evidence_code_and_reason(self, estimate: Estimate) -> tuple[str, str] | None:
        message_template = "it rests on {} and the policy asks for {}"
        if (n := estimate.n_apart) < self.min_items:
            clustered = estimate.n_clusters is not None
            count_phrase = f"{counted(n, 'cluster')} of items" if clustered else counted(n, "item")
            return "too_few_items", message_template.format(count_phrase, self.min_items)
        if estimate.n_raters < self.min_raters:
            count_phrase = counted(estimate.n_raters, "rater")
            return "too_few_raters", message_template.format(count_phrase, self.min_raters)
        if self.effect == "hold" and estimate.misled is not None:
            return "ratings_chosen", estimate.misled
        if self.every_rater and estimate.raters_left_out:
            replicated = find_registered_measure(self.measure).needs == "replicates"
            return "raters_left_out", (
                f"it leaves out {listed(estimate.raters_left_out)}, whose "
                f"{'replicates' if replicated else 'statements of confidence'} "
                "are missing or show nothing, and the policy asks for every rater"
            )
        return None


@dataclass(frozen=True)
class Verdict(Tabular):
    """What a rule says about an estimate.

    Attributes
    ----------
    kind
        *reliable*: the lower limit reaches the upper cut-off. *tentative*: only the lower one.
        *unreliable*: the upper limit is under the lower cut-off. *inconclusive*: none of these.
        *not_evaluated*: there is no value, or evidence is missing.
    reason, code
        Why, in words and numbers, and under a stable name.
    estimate
        The estimate. None if there is none, or if its value is undefined.
    n_together
        With how many verdicts, itself among them, it holds together.
    """

    rule: Rule
    scope: Scope
    kind: Kind
    reason: str
    code: str
    estimate: Estimate | None = None
    n_together: int = field(default=1, repr=False, compare=False)

    @cached_property
    def fresh_round(self) -> FreshRound | None:
        """How large a fresh round must be to decide. None if the verdict does not depend on that.

        Computed when it is asked for, which takes up to a second.
        """
        if self.estimate is None or self.code not in UNDECIDED:
            return None
        return plan_fresh_round(
            self.estimate,
            self.rule.reliable,
            min_units=self.rule.min_items,
            n_together=self.n_together,
        )

    def take_back(
        self,
        condition_phrase: str,
        variant_verdict: "Verdict",
        *,
        code: str,
        effect: CheckEffect = "hold",
    ) -> "Verdict":
        """One that the policy lets stand only says why it would be taken back."""
        return self.doubt(
            f"{condition_phrase} it is {variant_verdict.kind}: {variant_verdict.reason}",
            code=code,
            effect=effect,
        )

    def doubt(self, doubt: str, *, code: str, effect: CheckEffect) -> "Verdict":
        doubtful_verdict = replace(self, reason=f"{self.reason}; {doubt}")
        return (
            doubtful_verdict
            if effect == "warn"
            else replace(doubtful_verdict, kind="inconclusive", code=code)
        )

    def to_mapping(self) -> dict[str, Any]:
        numbers: dict[str, Any] = dict.fromkeys(
            ("value", "low", "high", "p_reliable", "p_tentative", "n_items")
        )
        if estimate := self.estimate:
            numbers |= {
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "p_reliable": estimate.p_value(self.rule.reliable),
                "p_tentative": estimate.p_value(self.rule.tentative),
                "n_items": estimate.n_used,
            }
        return {
            "measure": self.rule.measure,
            "scope": str(self.scope),
            "effect": self.rule.effect,
            "verdict": self.kind,
            "code": self.code,
            "reason": self.reason,
            **numbers,
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        values_by_name = self.to_mapping()
        columns = ("measure", "scope", "verdict", "value", "low", "high", "reason")
        yield {name: values_by_name[name] for name in columns}


Familywise = Literal["none", "holm"]
InConflict = Literal["unresolved", "refuse"]
GoldItems = Literal["leave_out", "refuse"]
OfAssisted = Literal["count", "leave_out"]
OfFirstLabels = Literal["not_asked", "required"]
FEWEST_ITEMS, MOST_ITEMS = 10, 1_000_000
FEWEST_RESAMPLES, MOST_RESAMPLES = 1_000, 1_000_000
ADMISSIBLE = ("reliable", "tentative")
BUNDLED = {path.stem: path for path in sorted(Path(__file__).with_name("bundled").glob("*.yaml"))}
WAIVER_DAYS, MOST_WAIVER_DAYS = 366, 3_660
USUAL_VALUES: dict[str, Any] = {
    "items_in_conflict": "unresolved",
    "items_gold_elsewhere": "leave_out",
    "passed_by_guessing": "",
    "waiver_days": WAIVER_DAYS,
    "most_versions": None,
    "requires": [],
    "assisted": "count",
    "first_labels": "not_asked",
    "if_too_few": "hold",
    "classifiers": [],
    "silver": None,
    "waived_by": [],
    "cut": None,
    "most_lost": 0.05,
}
"""Keys that are left out of plain data where they say nothing: older policies keep their digest."""
DECIDING = tuple(name for name, method in METHODS.items() if method.decides)
TEXT = Value("text", lambda value: isinstance(value, str))
ADMIT = Value(
    "[reliable] or [reliable, tentative]",
    lambda kinds: "reliable" in kinds and all(kind in ADMISSIBLE for kind in kinds),
    "Nothing else may be admitted.",
    nested=True,
)
CONFIDENCE_LEVEL = Value(
    "0.8 or more, and under 1",
    lambda level: is_number(level) and 0.8 <= level < 1,
    "0.95 is usual.",
)
RESAMPLES = Value(
    f"a whole number from {FEWEST_RESAMPLES} to {MOST_RESAMPLES}",
    is_whole_number_between(FEWEST_RESAMPLES, MOST_RESAMPLES),
    "10000 is usual.",
)
FIXED_RATER_NEEDS = ("strata", "gold", "label")
"""The estimates of measures that need these are about these raters only."""
METHOD = Value(
    " or ".join(DECIDING),
    lambda name: name in DECIDING,
    "Limits of other methods failed too often in a study: see agreement-pipeline guide coverage.",
)
AT_ANY_TIME = Value(
    f"a whole number of items (or clusters) from {FEWEST_ITEMS} to {MOST_ITEMS}",
    is_whole_number_between(FEWEST_ITEMS, MOST_ITEMS),
)
DAYS = Value(
    f"a whole number of days from 1 to {MOST_WAIVER_DAYS}",
    is_whole_number_between(1, MOST_WAIVER_DAYS),
)
NOBODY = "nobody"
PEOPLE = Value(
    "a list of names, or nobody alone",
    lambda names: (
        isinstance(names, tuple | list)
        and all(map(is_text, names))
        and (NOBODY not in names or len(names) == 1)
    ),
    nested=True,
    read=lambda names: (NOBODY,) if names == NOBODY else names,
)
RULES = Value(
    "a list of rules",
    lambda rules: isinstance(rules, tuple | list) and all(isinstance(each, Rule) for each in rules),
    nested=True,
)
VERSIONS = Value("a whole number from 1", is_whole_number_between(1))
UNDER_HALF = Value(
    "a share over 0 and under 0.5", lambda share: is_number(share) and 0 < share < 0.5
)
CUT_CATEGORY = Value(
    "a category, as text or a number",
    lambda cut: is_number(cut) or is_text(cut),
)
ODD_PANEL_SIZE = Value(
    "an odd number from 3 to 99", lambda n: is_whole_number_between(3, 99)(n) and n % 2 == 1
)
SUGGESTED_MEASURE_BY_KEY = {"rules": "krippendorff_alpha", "classifiers": "vanbelle_albert_kappa"}
NO_DEFAULT = object()
INCONCLUSIVE: Kind = "inconclusive"
UNDECIDED = ("tentative", "inconclusive", "not_together")
"""The codes of verdicts that more items may decide."""


@dataclass(frozen=True)
class Silver:
    """What is asked of a round whose labels a classifier gave.

    Parameters
    ----------
    most_wrong
        The upper limit of the share of wrong labels must be under this, with half of one minus the
        policy's confidence level. A label is wrong if a majority of the panel would not give it.
    majority_of
        How many raters make a majority. Each drawn item needs so many.
    """

    __pydantic_config__ = CLOSED

    most_wrong: Annotated[float, UNDER_HALF]
    majority_of: Annotated[int, ODD_PANEL_SIZE] = 3

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError)


@dataclass(frozen=True)
class Policy:
    """The rules that judge a round.

    Parameters
    ----------
    rules
        At least one rule that can hold a release. No two have the same measure and scope.
    admit
        The verdicts that admit a round: *reliable*, or also *tentative*.
    confidence_level, n_resamples
        The level of the intervals that the rules read, and the number of their resamples.
    interval_method
        The method of the intervals. *smoothed_bayesian_bootstrap* is about these raters, and so is
        *tail_adaptive_bootstrap*, which costs less on scales without a list of categories.
        *two_way_jackknife_log* is about raters at large. Others failed too often in a study.
    familywise
        none: each verdict has the confidence level by itself. holm: all verdicts of rules that can
        hold a release have it together, and those too uncertain for that are taken back.
    always_valid_at
        None: a round is judged once. A number: a round may be judged at any time while it fills,
        and the limits are tightest at this number of items, or of clusters.
    looks
        The sizes at which a growing round is judged, named beforehand. The limits are valid at
        these together. At any other size the round is held.
    description
        The reasons for the cut-offs: they follow from the cost of an error.
    items_in_conflict
        unresolved: an item with different labels in different rounds of a release has no label.
        refuse: such rounds are not released together.
    items_gold_elsewhere
        leave_out: items that another round of the project calls gold do not train. refuse: a round
        with such items is not released. In any case a release that trains on them is withdrawn.
    passed_by_guessing
        The reason why raters who guess may pass. Required if guessing can pass each rule that can
        hold a release.
    waiver_days
        For how many days from the judgement a waiver may hold.
    waived_by
        The people who may waive, as waivers name them. Without a name everybody may, and with
        [nobody] nobody may.
    most_versions
        How many versions of a round are judged. Later ones are held.
    requires
        What an export must show, for example drafts and gold, or the round is held.
    assisted
        count: labels that began as a suggestion are judged as others are. leave_out: the round is
        judged without them, and is held if its export cannot show them.
    classifiers
        The rules for a certificate of a classifier, all on the scope classifier. At least one can
        hold it, if there are any.
    cut
        None: a classifier is judged on the scale. A category of an ordered scale: it is judged on
        two sides, labels under it and those from it on, since a good scale can be a bad flag.
    most_lost
        How much agreement with the panel a certified classifier may lose on anchors that it labels
        again. Then its certificate ends.
    silver
        What is asked of a round whose labels a classifier gave. None: it is held.
    integrity
        The bounds on facts about the round, such as copied labels, and what follows beyond them.
    first_labels
        required: a round is held if it is not known of each label whether it is the first that its
        rater gave. not_asked: the decision only says so.

    Raises
    ------
    PolicyError
        A value is not one of those described above.
    """

    __pydantic_config__ = CLOSED

    policy: Annotated[str, Value("text", is_text, "Name the policy.")]
    version: Annotated[int, Value("a whole number", is_whole_number_between())]
    rules: Annotated[tuple[Rule, ...], RULES]
    admit: Annotated[tuple[Kind, ...], ADMIT] = ("reliable",)
    confidence_level: Annotated[float, CONFIDENCE_LEVEL] = Inference.confidence_level
    n_resamples: Annotated[int, RESAMPLES] = Inference.n_resamples
    interval_method: Annotated[str, METHOD] = DEFAULT_METHOD
    familywise: Annotated[Familywise, one_of_value(get_args(Familywise))] = "none"
    always_valid_at: Annotated[int | None, AT_ANY_TIME] = None
    looks: Looks | None = None
    description: Annotated[str, TEXT] = ""
    items_in_conflict: Annotated[InConflict, one_of_value(get_args(InConflict))] = "unresolved"
    items_gold_elsewhere: Annotated[GoldItems, one_of_value(get_args(GoldItems))] = "leave_out"
    passed_by_guessing: Annotated[str, TEXT] = ""
    waiver_days: Annotated[int, DAYS] = WAIVER_DAYS
    most_versions: Annotated[int | None, VERSIONS] = None
    requires: Annotated[tuple[str, ...], CAPABLE] = ()
    assisted: Annotated[OfAssisted, one_of_value(get_args(OfAssisted))] = "count"
    classifiers: tuple[Rule, ...] = ()
    first_labels: Annotated[OfFirstLabels, one_of_value(get_args(OfFirstLabels))] = "not_asked"
    silver: Silver | None = None
    waived_by: Annotated[tuple[str, ...], PEOPLE] = ()
    cut: Annotated[str | float | None, CUT_CATEGORY] = None
    most_lost: Annotated[float, UNDER_HALF] = 0.05
    integrity: Integrity = USUAL_INTEGRITY

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError, self._needs())
        self.inference.require_enough_resamples()

    def _needs(self) -> Iterator[Requirement]:
        rule_groups = [("rules", self.rules, "everything would be admitted")]
        if self.classifiers:
            rule_groups += [
                ("classifiers", self.classifiers, "every classifier would be certified")
            ]
        for key, rules, consequence in rule_groups:
            yield Requirement(
                key,
                any(rule.effect == "hold" for rule in rules),
                f"at least one, or {consequence}",
                "Give a rule effect: hold.",
                found="no rule that can hold a release",
            )
            n_by_rule_name = Counter(rule.name for rule in rules)
            repeated_names = sorted(name for name, n in n_by_rule_name.items() if n > 1)
            yield Requirement(
                key,
                not repeated_names,
                "one rule for a measure and a scope",
                "Keep the stricter one.",
                found=f"two rules {listed(repeated_names)}",
            )
            holding_measures = sorted({rule.measure for rule in rules if rule.effect == "hold"})
            yield Requirement(
                "passed_by_guessing",
                bool(self.passed_by_guessing.strip())
                or not holding_measures
                or not all(
                    find_registered_measure(name).passed_by_guessing for name in holding_measures
                ),
                "a rule that can hold a release with a measure that raters cannot pass without "
                "looking, or a sentence that says why this does no harm",
                f"Add a rule on {SUGGESTED_MEASURE_BY_KEY[key]}, or write the sentence.",
                found=(
                    f"only {listed(holding_measures)} to hold a release, which raters who never "
                    "look can pass"
                ),
            )
        may_have_cut = self.cut is None or bool(self.classifiers)
        yield Requirement(
            "cut",
            may_have_cut,
            "none without rules for classifiers",
            found=value_in_message(self.cut),
        )
        for place, rule in enumerate(self.classifiers):
            is_plain_classifier_rule = rule.scope == "classifier" and not rule.requires
            expected_phrase = "a rule on the scope classifier, without requires"
            yield Requirement(
                ("classifiers", place, "scope"),
                is_plain_classifier_rule,
                expected_phrase,
                found=repr(rule.scope),
            )
        is_for_raters_at_large = METHODS[self.interval_method].population == "raters at large"
        these_raters_measures = sorted(
            {
                name
                for name in self.measures
                if find_registered_measure(name).needs in FIXED_RATER_NEEDS
            }
        )
        yield Requirement(
            "interval_method",
            not (is_for_raters_at_large and these_raters_measures),
            f"a method about these raters for {listed(these_raters_measures)}, which is about no "
            "others",
            "Choose another method, or another measure.",
        )
        for key in ("always_valid_at", "looks"):
            yield Requirement(
                key,
                getattr(self, key) is None or not is_for_raters_at_large,
                f"none with {self.interval_method}, since a round gains items while it fills and "
                "not raters",
                f"Leave {key} out.",
            )
        yield Requirement(
            "looks",
            self.looks is None or self.always_valid_at is None,
            "none beside always_valid_at, whose limits hold at every look",
            "Leave one of them out.",
        )

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "policy") -> "Policy":
        return validate_settings(cls, data, source, PolicyError)

    def to_mapping(self) -> dict[str, Any]:
        plain: dict[str, Any] = asdict(self, dict_factory=drop_unset_settings)
        bounds = self.integrity.to_mapping()
        del plain["integrity"]
        return {**plain, **({"integrity": bounds} if bounds else {})}

    @property
    def digest(self) -> str:
        """SHA-256 of everything that affects a decision: all but the description."""
        plain = self.to_mapping()
        del plain["description"]
        return digest_of_plain(plain)

    @cached_property
    def inference(self) -> Inference:
        return Inference(
            self.confidence_level,
            self.n_resamples,
            self.interval_method,
            self.always_valid_at,
            self.looks,
        )

    @property
    def restricted_to_classifiers(self) -> "Policy":
        rules = replace(self, rules=self.classifiers, classifiers=(), cut=None)
        return replace(rules, looks=None, requires=(), silver=None)

    @property
    def is_for_model_labels(self) -> bool:
        return self.silver is not None

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(sorted({rule.measure for rule in self.rules}))

    def judge(self, estimates: Sequence[Estimate]) -> tuple[Verdict, ...]:
        half_alpha, is_holm = self.inference.tail, self.familywise == "holm"
        verdicts_by_rule = [rule.judge(estimates) for rule in self.rules]
        verdicts = tuple(
            verdict
            for rule, rule_verdicts in zip(self.rules, verdicts_by_rule, strict=True)
            for verdict in (
                apply_holm_to_verdicts(rule_verdicts, half_alpha)
                if rule.scope == "stratum" and not is_holm
                else rule_verdicts
            )
        )
        return apply_holm_to_verdicts(verdicts, half_alpha) if is_holm else verdicts


def load_policy(path: Path | str) -> Policy:
    """Load a policy from a YAML file, or the bundled one of that name.

    An error names every mistake with its line.

    >>> load_policy("standard").rules[0].reliable
    0.8
    """
    file = BUNDLED.get(str(path), Path(path))
    if not file.exists():
        project_path = Path(f"configs/policies/{path}.yaml")
        step = suggest_name(file.stem, BUNDLED, "Check the path.")
        raise PolicyError(
            f"{path}: found no such file, and no bundled policy of that name; expected a YAML "
            f"file, or one of {', '.join(BUNDLED)}. "
            f"{f'Did you mean {str(project_path)!r}?' if project_path.exists() else step}"
        )
    data, place = read_yaml(file, PolicyError, expected_key="rules")
    policy = Policy.from_mapping(data, source=place)
    if policy.policy in BUNDLED and file != BUNDLED[policy.policy]:
        bundled = load_policy(policy.policy)
        if policy.version == bundled.version and policy.digest != bundled.digest:
            raise PolicyError(
                f"{place / 'policy'}: found {policy.policy!r}, version {policy.version}, which "
                "decides otherwise than the bundled policy of that name; expected a name of its "
                "own, since pages name a policy. Rename it."
            )
    return policy


def apply_holm(p_values: Sequence[float], half_alpha: float) -> list[tuple[bool, float]]:
    """Whether Holm's procedure refutes each hypothesis, and the level that its p had to meet.

    The smallest p of m must be at most half_alpha/m, the next at most half_alpha/(m - 1), and so
    on. If one fails, all larger ones fail too.

    >>> apply_holm([0.01, 0.5, 0.02], 0.06)
    [(True, 0.02), (False, 0.06), (True, 0.03)]
    """
    results_by_place, n_left, is_refuted_so_far = {}, len(p_values), True
    for place in sorted(range(len(p_values)), key=lambda place: p_values[place]):
        level = half_alpha / n_left
        is_refuted_so_far = is_refuted_so_far and p_values[place] <= level
        results_by_place[place] = is_refuted_so_far, level
        n_left -= is_refuted_so_far
    return [results_by_place[place] for place in range(len(p_values))]


def apply_holm_to_verdicts(verdicts: Sequence[Verdict], half_alpha: float) -> tuple[Verdict, ...]:
    """The verdicts of one decision. Verdicts that are too uncertain together are taken back.

    Admission needs no correction: all rules must be met (an intersection-union test, Berger 1982).
    Single verdicts do. After Holm's (1979) procedure, any is wrong in no more rounds than the level
    says. `half_alpha` is half of one minus the level.

    - *reliable* is kept by Holm's procedure on the p of the upper cut-off;
    - of the d verdicts that are then not reliable, one is kept as *tentative* if the p of the lower
      cut-off is at most half_alpha/d. At most d hypotheses are true there;
    - *unreliable* is kept by Holm's procedure on the p of a value at the lower
      cut-off or above.

    Only verdicts of rules that can hold a release count, *not_evaluated* as a failure.

    References: https://doi.org/10.1080/00401706.1982.10487790, https://www.jstor.org/stable/4615733
    """
    holding_verdicts = [verdict for verdict in verdicts if verdict.rule.effect == "hold"]
    reliable = apply_holm(
        [
            p_value_of_verdict(verdict, verdict.rule.reliable)
            if verdict.kind == "reliable"
            else 1.0
            for verdict in holding_verdicts
        ],
        half_alpha,
    )
    unreliable = apply_holm(
        [
            p_value_of_verdict(verdict, verdict.rule.tentative, is_upper_tail=True)
            if verdict.kind == "unreliable"
            else 1.0
            for verdict in holding_verdicts
        ],
        half_alpha,
    )
    tentative_level = half_alpha / max(1, sum(not is_met for is_met, _ in reliable))
    levels = zip(reliable, unreliable, strict=True)
    return tuple(
        take_back_if_too_uncertain(
            replace(verdict, n_together=len(holding_verdicts)), tentative_level, *next(levels)
        )
        if verdict.rule.effect == "hold"
        else verdict
        for verdict in verdicts
    )


def take_back_if_too_uncertain(
    verdict: Verdict,
    tentative_level: float,
    reliable_result: tuple[bool, float],
    unreliable_result: tuple[bool, float],
) -> Verdict:
    rule, kind = verdict.rule, INCONCLUSIVE
    if verdict.kind == "unreliable":
        (is_kept, level), p = (
            unreliable_result,
            p_value_of_verdict(verdict, rule.tentative, is_upper_tail=True),
        )
    elif verdict.kind == "reliable":
        (is_kept, level), p = reliable_result, p_value_of_verdict(verdict, rule.reliable)
        kind = (
            "tentative" if p_value_of_verdict(verdict, rule.tentative) <= tentative_level else kind
        )
    elif verdict.kind == "tentative":
        level, p = tentative_level, p_value_of_verdict(verdict, rule.tentative)
        is_kept = p <= level
    else:
        return verdict
    if is_kept:
        return verdict
    distribution = verdict.estimate.distribution if verdict.estimate else None
    is_finest = distribution is not None and p <= distribution.finest_tail
    resamples_hint = (
        ", the least that so many resamples can tell; raise n_resamples" if is_finest else ""
    )
    reason = (
        f"{verdict.reason}; taken back to {kind}, since of {verdict.n_together} verdicts that hold "
        "together this "
        f"one had to meet {in_words(level, SIGNIFICANT)}, and at {verdict.kind} its p is "
        f"{in_words(p, SIGNIFICANT)}{resamples_hint}"
    )
    return replace(verdict, kind=kind, code="not_together", reason=reason)


def p_value_of_verdict(verdict: Verdict, cutoff: float, *, is_upper_tail: bool = False) -> float:
    distribution = verdict.estimate.distribution if verdict.estimate else None
    if distribution is None:
        return 1.0
    return max(
        distribution.confidence_over(cutoff)
        if is_upper_tail
        else distribution.confidence_under(cutoff),
        distribution.finest_tail,
    )


def drop_unset_settings(items: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in items}
    return {
        key: value for key, value in plain.items() if value != USUAL_VALUES.get(key, NO_DEFAULT)
    }
