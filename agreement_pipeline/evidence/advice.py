"""Who rated, who differs, and what to do now: the same words on pages, in the UI and elsewhere."""

import math
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.counting import counting_for, is_too_wide
from agreement_pipeline.estimates import (
    DEFAULT_OF_ROUNDS,
    Estimate,
    Scope,
    build_round_statistic,
    find_registered_measure,
    measure_ratings,
    standing_out,
)
from agreement_pipeline.integrity import find_raters_too_near
from agreement_pipeline.intervals import Looks, share_interval
from agreement_pipeline.policy import (
    BUNDLED,
    REASONS,
    UNDECIDED,
    Decision,
    Policy,
    Rule,
    Verdict,
    downgrade_for_weak_part,
    find_min_items,
    select_judged_ratings,
)
from agreement_pipeline.ratings import (
    Array,
    Ratings,
    describe_lookalikes,
    group_lookalike_names,
    names_like_models,
)
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import WHOLE_PERCENT, count_to_one_decimal, counted, in_words, joined
from agreement_pipeline.units import CHOICES, NONE

MOST_STEPS, MOST_ASSUMED, MAX_NAMES_LISTED = 3, 5, 5
QUOTED = "'{}'"
NOBODY_COMPARED = "Raters are not compared, because some use other words for the same labels."
MAX_RATINGS_IN_PARTS = 2_000_000
"""To measure each part of a column takes a query of all ratings, so many parts take long."""
ENOUGH_PAIRS = 62
"""So many replicated pairs show self-agreement of 0.8 if 0.9 is observed."""
BETTER, BEST = 0.05, 0.95
"""How far over its cut-off agreement is expected, and the best that is. If a cut-off leaves less
room, it is expected halfway between the cut-off and 1.
"""
FALSE_ALARM_RATE, ENOUGH_ITEMS = 0.05, 1_000
# how often two of many categories may stand out by luck, and how many items are enough to tell
OF_ANSWERS = {"criterion": "criteria", "member": "labels"}


class Step(NamedTuple):
    what: str
    why: str
    by: str


@dataclass(frozen=True)
class HeldRound:
    """What the next steps follow from, and what commands call it.

    Of a table, `name` is its file and options. `policy_name` is the policy's file or its bundled
    name. `is_stored`: the project's store has these ratings.
    """

    ratings: Ratings
    policy: Policy
    decision: Decision
    project: str = ""
    name: str = ""
    policy_name: str = ""
    is_stored: bool = True

    @property
    def who_differs(self) -> str:
        unmet = (verdict.to_mapping() for verdict in self.decision.unmet)
        measure = find_measure_that_holds(unmet, self.policy)
        return describe_who_differs(self.ratings, measure) if measure else ""

    @property
    def steps(self) -> tuple[Step, ...]:
        return () if self.decision.admitted else tuple(_iterate_steps(self))[:MOST_STEPS]

    @property
    def command_for_disputed(self) -> str:
        if not self.is_stored:
            return "agreement-pipeline guide in-dagster"
        if self.project:
            return f"agreement-pipeline disputed {shlex.join([self.project, self.name])}"
        return f"agreement-pipeline report {self.name} {self.under} --output page.html"

    @property
    def again(self) -> str:
        if not self.is_stored:
            place = f"configs/projects/{self.project}.yaml"
            return f"agreement-pipeline judge {shlex.join([place, '--of-round', self.name])}"
        if self.project:
            return command_of_report(self.project, self.name)
        return f"agreement-pipeline judge {self.name} {self.under}"

    def plan(self, expected: float, *, like_this: bool = False) -> str:
        """A command assumes categories without order, and items that come one by one."""
        if like_this and not self.project:
            return f"agreement-pipeline plan {self.name} {self.under}"
        counts = (
            _category_counts_or_none(self.ratings)
            if self.ratings.scale.level == "nominal"
            else None
        )
        used = counts.weights @ counts.counts if counts else np.zeros(0)
        in_clusters, n_used = "cluster" in self.ratings.has, np.count_nonzero(used)
        if counts is None or in_clusters or not 2 <= n_used <= MOST_ASSUMED:
            return "agreement-pipeline guide planning"
        hundredths = np.maximum(np.rint(100 * used[used > 0] / used.sum()), 1)
        hundredths[hundredths.argmax()] += 100 - hundredths.sum()
        shares = ",".join(f"{hundredth / 100:.2f}" for hundredth in hundredths)
        use = counts.pairable
        mean = np.average(counts.sizes[use], weights=counts.weights[use]) if use.any() else 2
        assumed = f"--prevalence {shares} --labels-an-item {round(float(mean))}"
        return f"agreement-pipeline plan {self.under} --expected {round(expected, 3):g} {assumed}"

    @property
    def under(self) -> str:
        name = self.policy.policy
        policy_argument = name if name in BUNDLED else f"configs/policies/{name}.yaml"
        return f"--policy {shlex.quote(self.policy_name or policy_argument)}"


def command_of_report(project: str, round_name: str) -> str:
    """The command that prints the page of a round.

    >>> command_of_report("moderation", "week 1")
    "agreement-pipeline report configs/projects/moderation.yaml 'week 1'"
    """
    place = f"configs/projects/{project}.yaml"
    return f"agreement-pipeline report {shlex.join([place, round_name])}"


def describe_who_rated(ratings: Ratings, models: Collection[str] | None = None) -> str:
    """The panel and the categories in a line. `models` have names that are likely those of models,
    if it is known already.
    """
    likely_models = names_like_models(ratings.raters) if models is None else models
    counts = _category_counts_or_none(ratings)
    sizes = counts.sizes @ counts.weights / (counts.weights.sum() or 1.0) if counts else None
    size = "" if sizes is None else count_to_one_decimal(float(sizes))
    labels = size and f", {size} label{'s' * (size != '1')} an item"
    classifiers, items = ratings.classifiers, ratings.n_items
    as_classifiers = "it as a classifier" if len(likely_models) == 1 else "them as classifiers"
    if classifiers:  # which may have labelled items that nobody else did
        items = len(ratings.first_ratings(["item"], raters=ratings.raters)["item"].unique())
    n_items = counted(items, "item")
    if counts and "weight" in ratings.has:
        runs = counted(items, "run")
        n_items = f"{counted(round(counts.weights.sum()), 'item')} in {runs} of equal labels"
    sentences = (
        f"Labelled by {counted(len(ratings.raters), 'rater')} "
        f"({joined(sorted(ratings.raters))}): "
        f"{n_items}{labels}.",
        f"Compared with {counted(len(classifiers), 'model')} ({joined(classifiers)})."
        if classifiers
        else "",
        _describe_categories(ratings),
        f"{ask_whether_models(likely_models)} Then name {as_classifiers}." if likely_models else "",
    )
    return " ".join(filter(None, sentences))


def _describe_categories(ratings: Ratings) -> str:
    names = ratings.scale.names
    if not ratings.scale.declared and names:
        occurring = joined(map(QUOTED.format, names), MAX_NAMES_LISTED)
        return f"The categories are those that occur: {occurring}."
    used = {names[place] for place in ratings.places_of_used_categories} if names else set()
    unused = [name for name in names if name not in used]
    if not unused:
        return ""
    unused_text = joined(map(QUOTED.format, unused), MAX_NAMES_LISTED)
    return f"Of {counted(len(names), 'category')}, nobody used {unused_text}."


def ask_whether_models(names: Collection[str]) -> str:
    """The question whether raters are models.

    >>> ask_whether_models(["gpt-4o"]), ask_whether_models(["claude-3", "gpt-4o"])
    ('Is gpt-4o a model?', 'Are claude-3 and gpt-4o models?')
    """
    is_one = len(names) == 1
    return f"{'Is' if is_one else 'Are'} {joined(names)} {'a model' if is_one else 'models'}?"


def describe_who_differs(ratings: Ratings, measure: str = DEFAULT_OF_ROUNDS) -> str:
    """Who differs, by the measure of a rule if it is one of a fixed panel, and else by alpha."""
    if ratings.foreign_words:
        return NOBODY_COMPARED
    if is_too_wide(ratings.n_items, len(ratings.raters)):
        return f"{len(ratings.raters):,} raters are too many to compare each with the others."
    panel = counting_for(ratings).by_rater(ratings)
    result = standing_out(panel, measure)
    named = {rater.name for rater in result.raters}
    # A rater beside a copy of them makes the others seem to differ. Whoever is named must be so
    # without either, and without all but one of those who never differ.
    near, same = find_raters_too_near(ratings) if named else (set(), set())
    copies = [sorted(same)[1:]] if same else []
    for left_out in [*([rater] for rater in sorted(near)), *copies]:
        panel_without = panel.select_raters([name for name in panel.raters if name not in left_out])
        still_named = {rater.name for rater in standing_out(panel_without, measure).raters}
        if not named - {*left_out} <= still_named:
            return (
                "Some raters agree far more with each other than with the rest, so it cannot be "
                "told who differs, and nobody is named. See the check raters_independent."
            )
    return result.sentence


def find_measure_that_holds(verdicts: Iterable[Mapping[str, Any]], policy: Policy) -> str | None:
    """The measure of the first verdict that holds the round for disagreement. None if none does.

    Nobody is named where replicates are missing, or where items are too few.
    """
    cutoffs: dict[tuple[str, str], float] = {
        (rule.measure, rule.scope): rule.reliable for rule in _iterate_rules_on_agreement(policy)
    }
    for verdict in verdicts:
        rule_key = verdict["measure"], Scope.parse(verdict["scope"]).kind
        if (
            verdict["effect"] == "hold"
            and verdict["verdict"] not in ("reliable", "not_evaluated")
            and verdict["value"] < cutoffs.get(rule_key, -np.inf)
        ):
            return str(verdict["measure"])
    return None


def find_measure_of_policy(policy: Policy) -> str:
    """The measure of the first rule that can hold a round for disagreement between raters."""
    measures = (rule.measure for rule in _iterate_rules_on_agreement(policy))
    return next(measures, DEFAULT_OF_ROUNDS)


def _iterate_rules_on_agreement(policy: Policy) -> Iterator[Rule]:
    for rule in policy.rules:
        measure = find_registered_measure(rule.measure)
        if rule.effect == "hold" and measure.question == "inter-rater":
            yield rule


def _category_counts_or_none(ratings: Ratings) -> CategoryCounts | None:
    if ratings.scale.continuous:
        return None
    counts: CategoryCounts = counting_for(ratings).counts(ratings).with_scale(ratings.scale)
    return counts


def coincidences(category_counts: CategoryCounts) -> Array:
    r"""Krippendorff's coincidence matrix: an item of m ratings adds each ordered pair of them with
    the weight 1/(m - 1).
    """
    use = category_counts.pairable
    counts, m = category_counts.counts[use], category_counts.sizes[use]
    weighted = counts * (category_counts.weights[use] / (m - 1))[:, None]
    matrix = counts.T @ weighted
    matrix[np.diag_indices_from(matrix)] -= weighted.sum(0)
    return np.asarray(matrix)


class ConfusedCategories(NamedTuple):
    """The two categories that raters take for each other most often.

    `share` is that of all pairs of differing labels, and `n_items` have both labels. They stand out
    if the use of categories does not explain it. Of two categories alone, all differing labels are
    between them.
    """

    one: str
    other: str
    share: float
    n_items: int
    stands_out: bool
    are_alone: bool = False


def most_confused(category_counts: CategoryCounts) -> ConfusedCategories | None:
    coincidence_matrix = coincidences(category_counts)
    disagreements = np.triu(coincidence_matrix, 1)
    if not disagreements.any():
        return None
    i, j = np.unravel_index(int(disagreements.argmax()), disagreements.shape)
    used, names, share = (
        coincidence_matrix.sum(0),
        category_counts.scale.names,
        float(disagreements[i, j] / disagreements.sum()),
    )
    by_luck = np.triu(np.outer(used, used), 1)
    was_given = category_counts.counts > 0
    has_both = was_given[:, i] & was_given[:, j]
    n = min(round(float(category_counts.weights[was_given.sum(1) > 1].sum())), ENOUGH_ITEMS)
    n_pairs = np.count_nonzero(by_luck)
    low = share_interval(round(share * n), n, 1 - 2 * FALSE_ALARM_RATE / n_pairs).low if n else 0.0
    stands_out = n_pairs == 1 or low > by_luck[i, j] / by_luck.sum()
    n_items = round(float(category_counts.weights[has_both].sum()))
    return ConfusedCategories(names[i], names[j], share, n_items, bool(stands_out), n_pairs == 1)


def _iterate_steps(held_round: HeldRound) -> Iterator[Step]:
    decision, handled = held_round.decision, {"words_do_not_meet"}  # a check that failed says it
    if decision.broken:
        failed_finding = decision.broken[0]
        reason = REASONS.get(failed_finding.check)
        need = f"Needed: {reason.helps}" if reason else failed_finding.description
        reason_text = f"{need.removeprefix(f'{failed_finding.check}: ').removesuffix('.')}."
        n_other_failed = len(decision.broken) - 1
        other_failures = (
            f" {counted(n_other_failed, 'more check')} failed too." if n_other_failed else ""
        )
        command = " ".join([held_round.again, *_mending_options(held_round, failed_finding.check)])
        yield Step(
            f"Correct what failed: {failed_finding.check}.",
            f"{reason_text}{other_failures}",
            command,
        )
    kinds = [(_advice_key(verdict), verdict) for verdict in decision.unmet]
    for kind, _ in sorted(kinds, key=lambda kind_and_verdict: kind_and_verdict[0] != "low"):
        # more items of a round decide nothing where agreement is low
        if kind not in handled and not (kind in UNDECIDED and "low" in handled):
            handled.add(kind)
            yield from _steps_against_kind(
                [verdict for verdict_kind, verdict in kinds if verdict_kind == kind],
                kind,
                held_round,
            )
    if decision.codes == ("no_rule",):
        yield Step(
            "Give the policy a rule.",
            f"It needs {REASONS['no_rule'].helps}.",
            "agreement-pipeline guide policy",
        )


def _mending_options(held_round: HeldRound, check: str) -> Iterator[str]:
    """How a table is read if what failed means what it usually means. A project says it itself."""
    if held_round.project:
        return
    ratings = held_round.ratings
    if check == "rater_names_differ":
        for group in group_lookalike_names(ratings.raters, numbers_alike=True):
            yield f"--same-rater {shlex.quote(','.join(group))}"
    elif check == "placeholders_not_declared":
        for label in ratings.undeclared_placeholders:
            yield f"--missing {shlex.quote(label)}"
    elif check == "words_do_not_meet":
        for words in ratings.foreign_words:
            for label, translated in words.translation.items():
                yield f"--same-label {shlex.quote(f'{translated}={label}')}"
    elif check == "duplicates_not_declared":
        yield "--duplicates first"


def _advice_key(verdict: Verdict) -> str:
    """The code of a verdict, or *low* agreement between raters.

    Or items that raters did not meet *again* often enough. If their agreement with themselves is
    under its cut-off, no further meeting helps: that is *unreliable*.
    """
    estimate, question = verdict.estimate, find_registered_measure(verdict.rule.measure).question
    low = (
        verdict.kind != "not_evaluated"
        and estimate is not None
        and (estimate.value or 0.0) < verdict.rule.reliable
    )
    if question == "intra-rater":
        return "unreliable" if low else "again"
    return "low" if low and question == "inter-rater" else verdict.code


def _n_units_lacking(verdict: Verdict) -> int:
    estimate = verdict.estimate if verdict.code == "too_few_items" else None
    return verdict.rule.min_items - estimate.n_apart if estimate else 0


def _items_needed(verdict: Verdict) -> tuple[int, int]:
    """How many items are missing before the rule is judged, and then before it decides."""
    fresh_round = verdict.fresh_round
    return _n_units_lacking(verdict), (fresh_round.n or 0) if fresh_round else 0


def _steps_against_kind(
    verdicts: Sequence[Verdict], kind: str, held_round: HeldRound
) -> Iterator[Step]:
    verdict = max(verdicts, key=_items_needed)
    rule, estimate = verdict.rule, verdict.estimate
    if kind == "low":
        strata = [
            str(stratum_verdict.scope)
            for stratum_verdict in verdicts
            if stratum_verdict.scope.kind == "stratum"
        ]
        low_strata = strata if len(strata) == len(verdicts) else []
        yield from _steps_against_low_agreement(
            _expected_value_for_plan(held_round.policy), estimate, held_round, low_strata
        )
    elif kind == "again":
        left_out = estimate.raters_left_out if estimate else ()
        rater_names = [
            rater_verdict.scope.name
            for rater_verdict in verdicts
            if rater_verdict.scope.kind == "rater"
        ]
        rater_list = joined(left_out or rater_names) if left_out or rater_names else "each rater"
        n = max(rule.min_items, ENOUGH_PAIRS)
        yield Step(
            "Show raters some items a second time.",
            f"Repeat about {n} labels in all, by {rater_list}, unannounced, and a day or more "
            "later. A column occurrence says which time it is: 1 or 2.",
            "agreement-pipeline guide replicates",
        )
    elif kind in (*UNDECIDED, "too_few_items"):
        if kind != "too_few_items" and (weak := _describe_weak_part(verdict, held_round)):
            yield Step(
                "Fix the weak part first.",
                f"{weak[0].upper()}{weak[1:]}. With more items like these, this holds the round.",
                "agreement-pipeline guide strata",
            )
            return
        yield _label_more(verdict, kind, held_round)
    else:
        reason = REASONS.get(kind)
        yield Step(
            f"Meet the rule on {rule.measure}.",
            f"What helps: {reason.helps}." if reason else f"{verdict.reason}.",
            "agreement-pipeline guide reasons",
        )


def _label_more(verdict: Verdict, kind: str, held_round: HeldRound) -> Step:
    """A fresh round, of as many items as decide in most cases. More items of the same round are
    asked for where it was too small to be judged, or where the policy plans how often it is judged.
    """
    rule, estimate, fresh_round = verdict.rule, verdict.estimate, verdict.fresh_round
    unit = "items" if estimate is None or estimate.n_clusters is None else "clusters of items"
    of_scope = f" of {verdict.scope}" if verdict.scope.kind == "stratum" else ""
    n_missing = _count_missing_for_full_agreement(verdict, held_round)
    too_few = ""
    if n_missing and estimate:
        min_units = estimate.n_apart + n_missing
        too_few = f"Under {min_units} {unit}, not even full agreement would be enough."
    amount = f"about {n_missing:,} more {unit}" if n_missing else f"more {unit}"
    reason_text = too_few or f"{REASONS[kind].helps.capitalize()}."
    if estimate and estimate.looks and estimate.judged_on is not None:
        following = estimate.looks.next_look_after(estimate.judged_on)
        if following is None:
            last_look = "This was the last look of the plan, so only a fresh round can decide."
            return Step("Label a fresh round.", last_look, "agreement-pipeline guide planning")
        n_to_look = following - estimate.judged_on
        amount = f"about {max(n_to_look, n_missing):,} more {unit}"
        if n_missing <= n_to_look:
            reason_text = f"The next look is at {following} {unit}. {too_few}".rstrip()
    elif kind == "too_few_items" and estimate:
        amount = f"about {max(_n_units_lacking(verdict), n_missing):,} more {unit}"
        reason_text = f"{REASONS[kind].helps.capitalize()}. {too_few}".rstrip()
    elif fresh_round is not None and fresh_round.is_too_small:
        amount = f"a fresh round of more {unit}"
        reason_text = f"These {unit} are too few to say how many would decide. {too_few}".rstrip()
    elif fresh_round is not None and fresh_round.more_than is not None:
        return Step(
            "Discuss the items on which raters differ.",
            f"More than {fresh_round.more_than:,} {unit} would be needed, if agreement stays the "
            "same.",
            held_round.command_for_disputed,
        )
    elif fresh_round is not None and fresh_round.n is not None:
        is_open = held_round.ratings.scale.continuous
        chance = (
            f"a chance of {in_words(fresh_round.chance, WHOLE_PERCENT)}, if agreement is over "
            f"{rule.reliable:g}{' and no error is larger than here' if is_open else ''}"
        )
        if held_round.policy.always_valid_at is None:
            amount = f"a fresh round of about {fresh_round.n:,} {unit}"
            looks = _describe_planned_looks(fresh_round.n, held_round.policy)
            reason_text = f"A round of this size decides with {chance}. {too_few}"
            reason_text = f"{reason_text.rstrip()} {looks}"
        else:
            amount = f"about {max(1, fresh_round.n - fresh_round.n_now):,} more {unit}"
            reason_text = f"With {fresh_round.n:,} in all, it decides with {chance}. {too_few}"
    value = estimate.value if estimate and estimate.value is not None else rule.reliable + BETTER
    expected = min(max(BEST, (1 + rule.reliable) / 2), max(value, rule.reliable + 0.01))
    like_this = kind != "too_few_items" and (fresh_round is None or fresh_round.n is not None)
    plan = held_round.plan(expected, like_this=like_this)
    return Step(f"Label {amount}{of_scope}, drawn in the same way.", reason_text.rstrip(), plan)


def _describe_planned_looks(n: int, policy: Policy) -> str:
    """The lines of a policy under which the next round may be judged halfway too."""
    looks = Looks((math.ceil(n / 2), n))
    n_resamples = replace(policy.inference, looks=looks).min_resamples()
    more_resamples = (
        f" and `n_resamples: {n_resamples}`" if policy.n_resamples < n_resamples else ""
    )
    return (
        "It may be judged halfway too if the policy says so before its first item is labelled: "
        f"`looks: {{at: [{looks.at[0]}, {looks.at[1]}]}}`{more_resamples}."
    )


def _count_missing_for_full_agreement(verdict: Verdict, held_round: HeldRound) -> int:
    """How many more items there must be before full agreement would be enough."""
    rule, estimate = verdict.rule, verdict.estimate
    if estimate is None or rule.scope != "round":
        return 0
    statistic = estimate.statistic or build_round_statistic(held_round.ratings, rule.measure)
    if statistic is None:
        return 0
    inference = replace(estimate.inference or held_round.policy.inference, judged_on=None)
    min_units = find_min_items(rule.measure, rule.reliable, statistic, inference)
    return max(0, (min_units or 0) - estimate.n_apart)


def _expected_value_for_plan(policy: Policy) -> float:
    highest_cutoff = max(rule.reliable for rule in _iterate_rules_on_agreement(policy))
    return min(highest_cutoff + BETTER, (1 + highest_cutoff) / 2)


def _describe_weak_part(verdict: Verdict, held_round: HeldRound) -> str:
    reliable = replace(verdict, kind="reliable")
    with_parts = downgrade_for_weak_part(
        reliable, select_judged_ratings(held_round.ratings, held_round.policy), held_round.policy
    )
    return with_parts.reason.rpartition("; but ")[2] if with_parts.code == "weak_part" else ""


def _lowest_part(held_round: HeldRound) -> tuple[str, str] | None:
    ratings = held_round.ratings
    for column, plural in OF_ANSWERS.items():
        if column not in ratings.strata:
            continue
        if len(ratings.strata[column]) * ratings.n_rated > MAX_RATINGS_IN_PARTS:
            return None
        names = {Scope.of_stratum(column, name): name for name in ratings.strata[column]}
        estimates = measure_ratings(
            ratings, [DEFAULT_OF_ROUNDS], held_round.policy.inference, scopes=("stratum",)
        )
        with_interval = [
            estimate
            for estimate in estimates
            if estimate.scope in names and estimate.interval is not None
        ]
        lowest = min(with_interval, key=lambda estimate: estimate.value or 0.0, default=None)
        # one of them is always the lowest
        if lowest and any(
            (estimate.low or -1.0) > (lowest.high or 1.0) for estimate in with_interval
        ):
            alpha_text = in_words(lowest.value or 0.0)
            return names[
                lowest.scope
            ], f"Of {len(with_interval)} {plural}, it has the lowest alpha ({alpha_text})."
    return None


def _steps_against_low_agreement(
    expected: float, estimate: Estimate | None, held_round: HeldRound, low_strata: Sequence[str]
) -> Iterator[Step]:
    counts = _category_counts_or_none(held_round.ratings)
    pair = most_confused(counts) if counts else None
    alike = pair is not None and group_lookalike_names(pair[:2])
    items = "The most disputed ones come first."
    low = f"Agreement is low on {joined(low_strata, MAX_NAMES_LISTED)}. " if low_strata else ""
    if part := _lowest_part(held_round):
        reason_text = f"{part[1]} {items}"
        yield Step(
            f'Settle "{part[0]}" in the guideline.', reason_text, held_round.command_for_disputed
        )
    elif (
        pair is None or not (pair.stands_out or alike) or held_round.ratings.scale.names == CHOICES
    ):
        action = "Discuss the items on which raters differ."
        yield Step(action, f"{low}{items}", held_round.command_for_disputed)
    else:
        share, on = in_words(pair.share, WHOLE_PERCENT), counted(pair.n_items, "item")
        reason_text = (
            f"Raters differ on {on}."
            if pair.are_alone
            else f"{share} of disagreements are between these two, on {on}."
        )
        if alike:
            title = (
                f"Write labels that print alike as one, such as {describe_lookalikes(pair[:2])}."
            )
            yield Step(title, reason_text, held_round.again)
            return
        action = " or ".join(f'"{name}"' for name in pair[:2])
        if NONE in pair[:2]:
            action = f'what counts as "{pair.other if pair.one == NONE else pair.one}"'
        title = f"Settle {action} in the guideline."
        yield Step(
            title,
            f"{low}{reason_text} Discuss the most disputed ones.",
            held_round.command_for_disputed,
        )
    draw_advice = "Draw them in the same way."
    by = held_round.plan(expected)
    if estimate and estimate.prevailing:
        draw_advice = (
            f"Draw more items of other categories than {estimate.prevailing[0]}; agreement is "
            "then that of the new mix."
        )
        by = "agreement-pipeline guide planning"
    reason_text = f"{draw_advice} New labels on these items would not count for agreement."
    yield Step("Then label fresh items.", reason_text, by)
