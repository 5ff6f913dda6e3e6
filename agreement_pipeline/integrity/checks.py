"""The checks that every round is asked: a fact, its bound, and what follows beyond it.

The bounds are data of a policy, and all of them have a default.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.integrity.facts import EMAIL, FACTS
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.mistakes import CLOSED, Value, is_number, one_of_value, refuse_mistakes
from agreement_pipeline.text import one_line

OF_INTEGRITY = "integrity"
"""The table of a finding that a bound of the policy gives."""
REDACTED = "(redacted)"
CheckEffect = Literal["hold", "warn", "not_asked"]
EFFECT = one_of_value(get_args(CheckEffect))
SEVERITY_BY_EFFECT = {"hold": "error", "warn": "warning"}
BOUND = Value("a finite number from 0", lambda bound: is_number(bound) and 0 <= bound < math.inf)
SHARE_IN_WORDS = {0.1: "a tenth", 0.25: "a quarter", 0.5: "half"}


@dataclass(frozen=True)
class Finding:
    """What a check found. `description` says it in words and numbers, and `observed` more as plain
    data.
    """

    check: str
    table: str
    passed: bool
    severity: str
    description: str
    observed: tuple[tuple[str, Any], ...] = ()

    @property
    def holds(self) -> bool:
        return not self.passed and self.severity not in ("warning", "info")

    def to_mapping(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "observed"}


class Check(NamedTuple):
    """A fact of `facts.py` must lie between two bounds. One without a value does."""

    name: str
    fact: str
    sentence: str
    severity: str
    at_least: float = -math.inf
    at_most: float = math.inf


@dataclass(frozen=True)
class AtMost:
    __pydantic_config__ = CLOSED

    at_most: Annotated[float, BOUND]
    effect: Annotated[CheckEffect, EFFECT]

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError)


@dataclass(frozen=True)
class AtLeast:
    __pydantic_config__ = CLOSED

    at_least: Annotated[float, BOUND]
    effect: Annotated[CheckEffect, EFFECT]

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError)


@dataclass(frozen=True)
class Integrity:
    """What a policy asks of the facts about a round.

    Each field is a check, which bounds a fact, or something that the gate itself looks at. hold: a
    round is held. warn: it is only said. not_asked: nothing is looked at.

    A verdict must also stand with the items of one text as one cluster, without copied labels, and
    with the gold items, where `item_texts_differ`, `labels_not_copied` or `gold_items_not_disputed`
    fail. `flattered` takes back verdicts that rest on a few far numbers or on categories that
    nobody uses, and `weak_part` those that a part of the round does not meet.

    Raises
    ------
    PolicyError
        A bound or an effect is impossible.
    """

    __pydantic_config__ = CLOSED

    item_without_email: AtMost = AtMost(0, "warn")
    rater_without_email: AtMost = AtMost(0, "warn")
    raters_per_item: AtLeast = AtLeast(2, "warn")
    items_not_repeated: AtMost = AtMost(0.4, "hold")
    item_texts_differ: AtMost = AtMost(0.1, "warn")
    item_names_not_repeated: AtMost = AtMost(0.02, "hold")
    item_names_differ: AtMost = AtMost(0, "warn")
    labels_not_copied: AtMost = AtMost(0, "warn")
    raters_not_copied: AtMost = AtMost(0, "hold")
    raters_independent: AtMost = AtMost(0, "warn")
    rater_names_differ: AtMost = AtMost(0, "hold")
    raters_are_people: AtMost = AtMost(0, "warn")
    raters_rate_alike: AtMost = AtMost(0, "warn")
    gold_items_few: AtMost = AtMost(0.5, "warn")
    gold_items_not_disputed: AtMost = AtMost(0.1, "warn")
    raters_complete: AtMost = AtMost(0.05, "warn")
    clusters_hold_items: AtLeast = AtLeast(1.05, "warn")
    categories_used: AtMost = AtMost(0.75, "warn")
    replicates_apart: AtMost = AtMost(0.05, "hold")
    replicates_not_back_to_back: AtMost = AtMost(0.05, "hold")
    replicates_in_order: AtMost = AtMost(0.05, "hold")
    replicates_looked_at: AtLeast = AtLeast(0.1, "warn")
    occurrences_in_order: AtMost = AtMost(0, "warn")
    ratings_missing_at_random: AtMost = AtMost(0, "hold")
    classifiers_look_alone: AtMost = AtMost(0, "warn")
    labels_given: AtMost = AtMost(0.1, "warn")
    labels_not_suggested: AtMost = AtMost(0.5, "not_asked")
    labels_not_changed_late: AtMost = AtMost(0.1, "not_asked")
    changes_not_on_disputes: AtMost = AtMost(0, "not_asked")
    further_raters_not_on_disputes: AtMost = AtMost(0, "not_asked")
    flattered: Annotated[CheckEffect, EFFECT] = "hold"
    weak_part: Annotated[CheckEffect, EFFECT] = "hold"
    labels_given_again: Annotated[CheckEffect, EFFECT] = "hold"
    disputed_items_dropped: Annotated[CheckEffect, EFFECT] = "hold"
    placeholders_not_declared: Annotated[CheckEffect, EFFECT] = "hold"

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError)

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(self._iterate_checks())

    def _iterate_checks(self) -> Iterator[Check]:
        for name, (fact, sentence) in SENTENCES.items():
            bound: AtMost | AtLeast = getattr(self, name)
            if bound.effect != "not_asked":
                severity = SEVERITY_BY_EFFECT[bound.effect]
                words = _add_bound_to_sentence(name, sentence, bound)
                limits = {key: value for key, value in vars(bound).items() if key != "effect"}
                yield Check(name, fact, words, severity, **limits)

    def to_mapping(self) -> dict[str, Any]:
        """What is not as usual."""
        usual_values = asdict(USUAL_INTEGRITY)
        return {name: value for name, value in asdict(self).items() if value != usual_values[name]}


USUAL_INTEGRITY = Integrity()


def check_integrity(
    panel: Panel, checks: Sequence[Check], table: str = OF_INTEGRITY
) -> Iterator[Finding]:
    """A finding for each check. Words with an address are not shown.

    If a fact cannot be found, nothing was checked: that is a failed error, whatever the severity.
    """
    for check in checks:
        severity, observed = check.severity, dict[str, Any]()
        try:
            fact = FACTS[check.fact](panel)
        except Exception as error:
            reason = one_line(f"{type(error).__name__}: {error}")
            words, passed, severity = f"could not be run ({reason})", False, "error"
        else:
            words, value = fact.words, fact.value
            passed = value is None or check.at_least <= value <= check.at_most
            observed["value"] = None if value is None else float(value)
        if EMAIL.search(words):
            words = REDACTED
        description = f"{check.name}: {words}; {check.sentence}"
        yield Finding(check.name, table, passed, severity, description, tuple(observed.items()))


def _add_bound_to_sentence(name: str, sentence: str, bound: AtMost | AtLeast) -> str:
    """The sentence of a check, which names another bound than the usual one too."""
    limit = bound.at_most if isinstance(bound, AtMost) else bound.at_least
    text = sentence.format(
        limit=f"{limit:g}",
        share=SHARE_IN_WORDS.get(limit, f"{limit:g}"),
        rest=SHARE_IN_WORDS.get(1 - limit, f"{1 - limit:g}"),
    )
    is_bound_stated = "{" in sentence or bound == getattr(USUAL_INTEGRITY, name)
    return text if is_bound_stated else f"{text} (the policy's bound is {limit:g})"


SENTENCES: Mapping[str, tuple[str, str]] = {
    "item_without_email": (
        "ratings_with_an_address_as_item",
        "no item may be named by an e-mail address, which is personal data",
    ),
    "rater_without_email": (
        "ratings_with_an_address_as_rater",
        "no rater may be named by an e-mail address, which is personal data",
    ),
    "raters_per_item": (
        "raters_of_nearly_all_items",
        "at least {limit} raters are required on 95% of the items",
    ),
    "items_not_repeated": (
        "items_with_a_shared_text",
        "at most {limit} of the items may have the text of another one, or the round is smaller "
        "than it looks",
    ),
    "item_texts_differ": (
        "items_with_a_shared_text",
        "if over {limit} of the items have the text of another one, the verdict must stand with "
        "items of one text as one",
    ),
    "item_names_not_repeated": (
        "items_that_print_alike",
        "at most {limit} of the items may have an identifier that prints as that of another one",
    ),
    "item_names_differ": (
        "items_that_print_alike",
        "no two items may have identifiers that print alike",
    ),
    "labels_not_copied": (
        "items_with_copied_labels",
        "if the labels of all raters were copied from item to item, the verdict must stand with "
        "each copy left out",
    ),
    "raters_not_copied": (
        "pairs_of_identical_raters",
        "no two raters may agree on every item if both leave the majority again and again; raters "
        "must work independently",
    ),
    "raters_independent": (
        "pairs_of_raters_too_near",
        "no two raters may agree far beyond what both do with everybody else, unless both are "
        "right; raters must work independently",
    ),
    "rater_names_differ": (
        "raters_that_print_alike",
        "no two raters may have names that print alike unless the project says that they are one "
        "rater, as same_rater: [[Ana, ana]] (--same-rater Ana,ana), or several, as "
        "different_raters: [[Ana, ana]] (--different-raters Ana,ana)",
    ),
    "raters_are_people": (
        "raters_named_like_models",
        "a panel is of people, and models must be named as classifiers",
    ),
    "raters_rate_alike": (
        "raters_with_few_items",
        "raters of a panel must rate about as many items as the others, or they may have rated "
        "what is easy",
    ),
    "gold_items_few": (
        "share_of_gold",
        "at most {share} of the items may be gold, since agreement is not read on them",
    ),
    "gold_items_not_disputed": (
        "dispute_on_gold",
        "if gold items are disputed more than others by over {limit}, the verdict must stand with "
        "them too",
    ),
    "raters_complete": (
        "items_with_fewer_raters",
        "at most {limit} of the items may have fewer raters than is usual, since a missing rating "
        "may be the one that differs",
    ),
    "clusters_hold_items": (
        "items_of_a_cluster",
        "a cluster must hold more than one item on average, or clusters change no interval",
    ),
    "categories_used": (
        "share_of_unused_categories",
        "at least {rest} of the declared categories must be used, since unused ones raise some "
        "measures",
    ),
    "replicates_apart": (
        "replicates_of_the_same_minute",
        "at most {limit} of the replicates may follow within a minute, or raters may remember "
        "their label",
    ),
    "replicates_not_back_to_back": (
        "replicates_back_to_back",
        "at most {limit} of the replicates may follow without another item in between",
    ),
    "replicates_in_order": (
        "replicates_back_in_time",
        "at most {limit} of the replicates may be dated before the rating that they repeat",
    ),
    "replicates_looked_at": (
        "change_in_replicates",
        "replicates must change {share} as often as two raters differ, or raters may not have "
        "looked again",
    ),
    "occurrences_in_order": (
        "occurrences_out_of_order",
        "occurrences must be numbered 1, 2, … by rater and item",
    ),
    "ratings_missing_at_random": (
        "dispute_where_ratings_lack",
        "raters must differ as often where ratings are missing as elsewhere, or they may have "
        "skipped what is hard",
    ),
    "classifiers_look_alone": (
        "classifiers_that_copy",
        "a classifier must not always say what one rater says, or what most raters say",
    ),
    "labels_given": (
        "share_of_missing_labels",
        "at most {limit} of the ratings may come without a label, since raters may have left out "
        "what is hard",
    ),
    "labels_not_suggested": (
        "share_assisted",
        "at most {share} of the labels may have begun as a suggestion",
    ),
    "labels_not_changed_late": (
        "labels_changed_late",
        "at most {share} of the labels may have been changed when another rater had labelled the "
        "item",
    ),
    "changes_not_on_disputes": (
        "changes_on_disputed_items",
        "labels may not have been changed on disputed items beyond chance",
    ),
    "further_raters_not_on_disputes": (
        "dispute_before_further_raters",
        "items may not have further raters because the first two differ",
    ),
}
"""The fact that each check bounds, and what it asks in words."""
