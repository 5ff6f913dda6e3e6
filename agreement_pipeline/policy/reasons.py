"""The reason of a verdict in words and numbers, and the advice that goes with it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from agreement_pipeline.estimates import Estimate, quote_if_ambiguous
from agreement_pipeline.intervals import Interval
from agreement_pipeline.text import (
    DIGITS,
    WHOLE_PERCENT,
    counted,
    in_words,
    interval,
    listed,
    p_in_words,
)


class Reason(NamedTuple):
    """Why a round is held under a code, and what helps.

    `asked_by` is the policy, or the gate itself. `on_the_page` goes on after what helps, where
    there is room for more, with links.
    """

    asked_by: Literal["policy", "gate"]
    why: str
    helps: str
    on_the_page: str = ""


REASONS: Mapping[str, Reason] = {
    "tentative": Reason(
        "policy",
        "the lower limit reaches only the lower cut-off",
        (
            "a fresh round of more items, if the value itself is above the upper cut-off; "
            "otherwise better agreement"
        ),
    ),
    "inconclusive": Reason(
        "policy",
        "the interval lies on both sides of the lower cut-off: the data cannot tell",
        "more items; `plan` says how many make it likely",
        (". More items in the same round are a second look ([intervals.md](proofs/intervals.md))"),
    ),
    "unreliable": Reason(
        "policy",
        "the whole interval is under the lower cut-off",
        (
            "a better guideline, other raters or other categories; more items of the same kind do "
            "not help"
        ),
        (
            ". If the reason says that nearly all labels are one category: a round with more "
            "items of the others ([measures.md](measures.md), question 4)"
        ),
    ),
    "not_together": Reason(
        "policy",
        (
            "the rule would pass by itself, but not if all verdicts must be right together "
            "(`familywise: holm`)"
        ),
        "more items; the reason gives the level that the verdict had to meet",
    ),
    "flattered": Reason(
        "policy",
        (
            "a few extreme labels, unused categories or items with the same text make agreement "
            "look high; without these, the rule does not pass"
        ),
        (
            "look at the items that the reason counts; declare only categories that the guideline "
            "has"
        ),
    ),
    "dissent_left_out": Reason(
        "policy",
        (
            "the rule does not pass with what was left out: labels that began as a suggestion "
            "(`assisted: leave_out`), or gold items on which raters differ more"
        ),
        (
            "look at the labels that were left out because they are gold or began as a "
            "suggestion: raters differ there; the reason gives both values"
        ),
    ),
    "labels_copied": Reason(
        "policy",
        (
            "the labels of all raters were copied from item to item, and the rule does not pass "
            "without the copies ([copied labels](proofs/copied-labels.md))"
        ),
        (
            "an export in which every item has the labels that raters gave it; or the texts of "
            "the items, if they are really alike"
        ),
    ),
    "weak_part": Reason(
        "policy",
        (
            "the value of the whole round hides a part on which raters agree less than the policy "
            "admits, beyond chance: a stratum, a criterion, a label of a set, short documents, "
            "labels without a suggestion, or the items that came first in one delivery; or the "
            "order in which alternatives were shown explains all labels"
        ),
        (
            "fix the guideline of the part that the reason names, or make it a question of its "
            "own; or add a rule on the scope stratum that says what is enough"
        ),
        "([guide/strata.md](guide/strata.md))",
    ),
    "undefined": Reason(
        "policy",
        "the measure has no value on these ratings",
        (
            "deliver what the reason says is missing, such as a second rating of each item, items "
            "of other categories, or replicates; gold items do not count"
        ),
    ),
    "no_estimate": Reason(
        "policy",
        "the rule is about something that the round does not have, such as a classifier",
        "deliver it, or remove the rule from the policy",
    ),
    "too_few_items": Reason(
        "policy",
        "the estimate rests on fewer items than the rule asks for",
        "more items with two ratings",
    ),
    "too_few_raters": Reason(
        "policy",
        "the estimate rests on fewer raters than the rule asks for",
        "more raters",
    ),
    "ratings_chosen": Reason(
        "policy",
        (
            "items with more ratings agree more, or less, than the others, and this biases the "
            "measure"
        ),
        "the same number of ratings for every item, or a rule on `krippendorff_alpha`",
        "([intervals.md](proofs/intervals.md))",
    ),
    "raters_left_out": Reason(
        "policy",
        "the rule asks for evidence from every rater, and some have none",
        "replicates for the raters that the reason names",
    ),
    "no_rule": Reason(
        "policy",
        "no rule gave a verdict",
        "a rule that holds",
    ),
    "too_many_versions": Reason(
        "gate",
        (
            "more different ratings came under the name of the round than `most_versions` of the "
            "policy allows"
        ),
        "a fresh round under another name",
    ),
    "read_otherwise": Reason(
        "gate",
        (
            "the round was read under other settings (columns, scale, classifiers, layout, "
            "replicates, limits) than the project has now"
        ),
        "put its file into the inbox, so that it is read again",
    ),
    "deliveries_not_declared": Reason(
        "gate",
        (
            "over half of the items came in an earlier round with the same labels, and the "
            "project does not say how its deliveries follow each other, so good old items may "
            "hide bad new ones"
        ),
        (
            "`deliveries: cumulative` in the project if each export contains all earlier ones, or "
            "`deliveries: independent` if it does not; `init` asks"
        ),
        "([guide/deliveries.md](guide/deliveries.md))",
    ),
    "words_do_not_meet": Reason(
        "gate",
        (
            "some raters use words that nobody else uses, such as `0` and `1` beside `no` and "
            "`yes`, so their labels cannot agree with those of others"
        ),
        "say in `same_label` which labels mean the same; before that, nobody is compared",
        "([guide/files-and-columns.md](guide/files-and-columns.md))",
    ),
    "placeholders_not_declared": Reason(
        "gate",
        (
            "labels such as `n/a`, `-` or `skipped` may mean that there is no label, nobody has "
            "declared what they mean, and without them the decision is another one"
        ),
        (
            "what the labels mean: `missing` lists those that say nothing, and `categories` those "
            "that raters may choose"
        ),
        "([guide/files-and-columns.md](guide/files-and-columns.md))",
    ),
    "first_labels_not_known": Reason(
        "gate",
        (
            "the policy says `first_labels: required`, and it is not known of each label whether "
            "it is the first that its rater gave"
        ),
        (
            "an export with the history of annotations, or a table with the columns that the "
            "settings `first_label` and `changed_at` name"
        ),
        "([guide/tools.md](guide/tools.md))",
    ),
    "times_not_read": Reason(
        "gate",
        (
            "the policy has a rule on replicates, and some times could not be read, so it is not "
            "known whether a rater saw the item again too soon. Elsewhere it is a warning"
        ),
        "`time_format` among the columns of the project (`--time-format`), or ISO times",
        "([guide/files-and-columns.md](guide/files-and-columns.md)), delivered again",
    ),
    "labels_given_again": Reason(
        "gate",
        (
            "raters changed labels of items on which they differ, more often than slips and "
            "chance explain, and the first labels are not known. Or more labels than slips "
            "explain were changed late beside others, and the rule would not pass if the changed "
            "labels had differed before. Or labels differ in this way from those of an earlier "
            "delivery of the round"
        ),
        (
            "a fresh random sample of items, labelled once; or, after raters relabelled the items, "
            "a sample of these and a remedy ([guide/waivers.md](guide/waivers.md)); settled labels "
            "go in as adjudicated ones"
        ),
        (
            "([guide/in-dagster.md](guide/in-dagster.md)), which train and do not count for "
            "agreement"
        ),
    ),
    "disputed_items_dropped": Reason(
        "gate",
        (
            "labels that an earlier delivery of the round has are gone, alone or with their "
            "items, and more often where raters differed than chance explains"
        ),
        (
            "the items and labels that are gone, delivered again; or a waiver that says why they "
            "went"
        ),
        "([guide/waivers.md](guide/waivers.md))",
    ),
    "overlap_not_declared": Reason(
        "gate",
        (
            "items with one label are to train (`trains: one_rater`), and the project does not say "
            "that the items with several are a random sample"
        ),
        "`overlap: random_sample`, if they are one; or another label in `trains`",
        "([guide/what-trains.md](guide/what-trains.md))",
    ),
    "overlap_too_small": Reason(
        "gate",
        "items with one label are to train, and fewer than 30 have several",
        "more items, drawn by chance, by several raters",
    ),
    "overlap_not_random": Reason(
        "gate",
        (
            "items with one label are to train, and the others are no random sample of the round: "
            "raters, strata, lengths of texts, categories or times differ"
        ),
        (
            "a random part of the single items, labelled by other raters too; or another label in "
            "`trains`"
        ),
        "([proofs/overlap.md](proofs/overlap.md))",
    ),
    "not_shown": Reason(
        "gate",
        (
            "the policy `requires` something that the round's export cannot show, such as drafts "
            "or gold answers; a rule alone may require it too; or the policy says `assisted: "
            "leave_out`, and it is not known of each label whether it began as a suggestion"
        ),
        "an export in another format",
        "([guide/tools.md](guide/tools.md)), delivered again",
    ),
    "duplicates_not_declared": Reason(
        "gate",
        (
            "under a policy with a rule on self-agreement, some rows repeat the item, rater and "
            "label of another one, and it is not known whether raters met these items again"
        ),
        "a column that numbers repetitions, or `duplicates: first` or `last` if they are none",
        "([guide/files-and-columns.md](guide/files-and-columns.md))",
    ),
    "silver_no_limit": Reason(
        "gate",
        (
            "a classifier gave the labels (`certified_by`), and the policy has no limit of wrong "
            "ones"
        ),
        "a limit in the policy, as `silver: {most_wrong: 0.05}`",
        "([guide/model-labels.md](guide/model-labels.md))",
    ),
    "silver_not_audited": Reason(
        "gate",
        (
            "the policy is for silver rounds (`silver:`), and there is no proof of a certificate, "
            "a recorded draw and few wrong labels, as for a table alone"
        ),
        (
            "a project that says `certified_by`; or a policy without `silver` if people gave the "
            "labels"
        ),
        "([guide/model-labels.md](guide/model-labels.md))",
    ),
    "silver_undefined": Reason(
        "gate",
        (
            "the share of wrong labels has no value: a drawn item has too few ratings for a "
            "majority, labels are numbers, or whole clusters were drawn"
        ),
        "as many ratings of each drawn item as the policy's majority has raters",
    ),
    "silver_wrong_labels": Reason(
        "gate",
        "the upper limit of the share of wrong labels is not under the policy's",
        "a better classifier, certified again; or a larger draw, which `plan` names",
    ),
    "silver_labels_given_again": Reason(
        "gate",
        (
            "in an earlier delivery of these items, too many labels of a silver round's "
            "classifier were wrong, and people's labels have changed since then; nobody can waive "
            "this"
        ),
        "a draw from fresh items; settled labels go in as adjudicated ones, which train",
    ),
    "draw_again": Reason(
        "gate",
        (
            "there was more than one draw from the items of a silver round, or from a population "
            "that shares more than a tenth of them"
        ),
        "fresh items, and one draw from them",
    ),
    "draw_after_labels": Reason(
        "gate",
        (
            "people's labels of some of these items were delivered before the draw, under any "
            "name of a round"
        ),
        "fresh items, and a draw before anybody labels them",
    ),
}
"""The codes of decisions. Steps, the page of reason codes and its tests read them here."""


Kind = Literal["reliable", "tentative", "unreliable", "inconclusive", "not_evaluated"]


def describe_scope_kind(kind: str) -> str:
    """What a rule on a kind of scope is about.

    >>> describe_scope_kind("round"), describe_scope_kind("without")
    ('the round', 'the round without each rater')
    """
    of_round = {
        "round": "the round",
        "without": "the round without each rater",
        "label": "the label that trains",
    }
    return of_round.get(kind, f"each {kind}")


def explain_undefined(estimate: Estimate) -> str:
    return f"{describe_subject(estimate)}: undefined, since {estimate.undefined}"


def explain_not_evaluated(estimate: Estimate, value: float, cause: str) -> str:
    return f"{describe_subject(estimate)} {in_words(value)}: not evaluated, since {cause}"


def explain_verdict(
    estimate: Estimate,
    value: float,
    limits: Interval,
    kind: Kind,
    reliable: float,
    tentative: float,
) -> str:
    finding_phrase = {
        "reliable": f"the lower limit reaches {reliable:g}",
        "tentative": f"the lower limit reaches {tentative:g} but not {reliable:g}",
        "unreliable": f"the upper limit is under {tentative:g}",
        "inconclusive": f"{tentative:g} lies inside the interval, so the data cannot decide",
    }[kind]
    looks_phrase, prevailing_phrase = "", ""
    if estimate.looks is not None:
        looks_phrase = " (for all looks of the plan)"
    elif estimate.always_valid_at is not None:
        tightest = f", tightest at {estimate.always_valid_at}" if estimate.without_limits else ""
        looks_phrase = f" (always valid{tightest})"
    if kind != "reliable" and estimate.prevailing is not None:
        category, share = estimate.prevailing
        # Limits that lie under a cut-off show that raters do not tell the others apart.
        more_items_phrase = (
            ""
            if kind == "unreliable"
            else "; more items of the other categories would show if raters tell them apart"
        )
        prevailing_phrase = (
            f"; {in_words(share, '.0%')} of the labels are {category!r}, so chance alone gives "
            f"nearly this agreement{more_items_phrase}"
        )
    p_value, cutoffs = estimate.p_value(reliable), (tentative, reliable)
    # The finding speaks of the lower cut-off alone, and p of the upper one.
    of_cutoff = f" at {reliable:g}" if kind in ("unreliable", "inconclusive") else ""
    interval_text = interval(*limits, cutoffs=cutoffs)
    parts = [
        f"{describe_subject(estimate)} {'at least ' if estimate.at_least else ''}",
        f"{in_words(value, cutoffs=cutoffs)}, ",
        f"{100 * estimate.confidence_level:g}% interval {interval_text}{looks_phrase} ",
        f"on {describe_items(estimate)}: {finding_phrase}",
        "" if p_value is None else f" ({p_in_words(p_value)}{of_cutoff})",
        describe_what_more_items_show(estimate, value, kind, reliable),
        prevailing_phrase,
        f"; {estimate.misled}" if estimate.misled else "",
    ]
    return "".join(parts)


def describe_subject(estimate: Estimate) -> str:
    scope_phrase = {"round": "", "without": f" {estimate.scope}"}.get(
        estimate.scope.kind, f" of {estimate.scope}"
    )
    details = [f"lowest: {quote_if_ambiguous(estimate.lowest)}"] if estimate.lowest else []
    marking_share = estimate.on_marking
    if marking_share in (0, 1):
        details.append(f"all of the disagreement on {'marking' if marking_share else 'naming'}")
    elif marking_share is not None:
        marking, naming = (
            in_words(marking_share, WHOLE_PERCENT),
            in_words(1 - marking_share, WHOLE_PERCENT),
        )
        details.append(f"{marking} of the disagreement on marking and {naming} on naming")
    detail_text = ", ".join(details)
    return f"{estimate.measure}{scope_phrase}{f' ({detail_text})' if details else ''}"


def describe_items(estimate: Estimate) -> str:
    dropped_phrase = (
        f" of {estimate.n_items} items (the others have {' or '.join(estimate.dropped)})"
    )
    clusters_phrase = "" if estimate.n_clusters is None else f" in {estimate.n_clusters} clusters"
    items_phrase = (
        f"{estimate.n_used}{dropped_phrase if estimate.dropped else ' items'}{clusters_phrase}"
    )
    if estimate.raters_left_out:
        return f"{items_phrase}, leaving out {listed(estimate.raters_left_out)}"
    return items_phrase


def describe_what_more_items_show(
    estimate: Estimate, value: float, kind: Kind, reliable: float
) -> str:
    """Whether more items (or clusters) would help. How many is said with the steps that follow.

    For raters at large nobody knows: a part of their interval comes from differences between
    raters, and more items do not make that part narrower.
    """
    plural = "items" if estimate.n_clusters is None else "clusters of items"
    if kind not in ("tentative", "inconclusive"):
        return ""
    is_without_limits = kind == "inconclusive" and estimate.without_limits
    if not is_without_limits and round(value - reliable, DIGITS) <= 0:
        not_enough_phrase = (
            f"with more {plural} like these, the lower limit would not reach {reliable:g}"
        )
        return f"; {estimate.at_least or not_enough_phrase}"
    sentences = []
    if is_without_limits:
        sentences.append(f"no limits: {estimate.without_limits}")
    if estimate.population == "raters at large":
        sentences.append(
            "for raters at large more items may never be enough, "
            "and more raters would narrow the interval"
        )
    elif estimate.looks is not None and not sentences:
        next_look = estimate.looks.next_look_after(estimate.judged_on or 0)
        last_look_phrase = "this was the last look of the plan, so only a fresh round can decide"
        sentences.append(
            last_look_phrase if next_look is None else f"the next look is at {next_look} {plural}"
        )
    return "".join(f"; {sentence}" for sentence in sentences)


def describe_limits_of_agreement(n_gold: int) -> str:
    """What agreement cannot see, and what can."""
    if n_gold:
        gold_sentence = (
            f"{counted(n_gold, 'gold item')} may show it: look at how often raters are right there."
        )
    else:
        gold_sentence = "Gold items would show them, or an expert who labels items drawn by chance."
    return (
        "Agreement does not see an error that raters share, so it proves no label right. "
        f"{gold_sentence} Nor does it see ratings that were deleted before they were delivered, "
        "if no gap is left."
    )
