"""What keeps single labels from training: an overlap that is no random sample of the round."""

from collections.abc import Iterator

import numpy as np

from agreement_pipeline.integrity import FALSE_ALARM_RATE, Finding, compare_overlap
from agreement_pipeline.policy.waivers import build_gate_finding
from agreement_pipeline.ratings import Ratings, Trains, as_whole_numbers_or_missing
from agreement_pipeline.text import counted, joined

MIN_ITEMS_IN_OVERLAP = 30
MAX_DIFFERENCES_DESCRIBED = 4


def find_overlap_mistakes(ratings: Ratings, trains: Trains | None) -> Iterator[Finding]:
    """What keeps single labels from training, if `trains` says that they should."""
    if trains is None or trains.label != "one_rater":
        return
    item_places = as_whole_numbers_or_missing(
        ratings.first_ratings(["at"], raters=ratings.raters)["at"]
    )
    n_raters = np.bincount(item_places)
    n_items, n_single = len(n_raters), int((n_raters == 1).sum())
    if not n_single:
        return
    singles_phrase = (
        f"{n_single:,} of {counted(n_items, 'item')} with one label, which "
        f"{'is' if n_single == 1 else 'are'} to train"
    )
    alternative_sentence = (
        "Or say another label in `trains`, such as plurality: then single labels do not train."
    )
    if trains.overlap is None:
        message = (
            f"found {singles_phrase}, and no word of how the other items were chosen; expected a "
            "random "
            "sample of the round, since only then does their agreement speak of the rest. If they "
            "were drawn by chance, say so: `trains: {label: one_rater, overlap: random_sample}`. "
            f"{alternative_sentence}"
        )
        yield build_gate_finding("overlap_not_declared", message)
        return
    n_overlap = n_items - n_single
    if n_overlap < MIN_ITEMS_IN_OVERLAP:
        message = (
            f"found {singles_phrase}, beside {counted(n_overlap, 'item')} with several; expected "
            f"{MIN_ITEMS_IN_OVERLAP} or more. Have more items, drawn by chance, labelled by "
            f"several raters. {alternative_sentence}"
        )
        yield build_gate_finding("overlap_too_small", message)
        return
    overlap_comparison = compare_overlap(ratings)
    rate_phrase = f"{FALSE_ALARM_RATE:.1%} of random samples"
    if overlap_comparison.differences:
        described_differences = overlap_comparison.differences[:MAX_DIFFERENCES_DESCRIBED]
        n_undescribed = len(overlap_comparison.differences) - len(described_differences)
        differences = "; ".join(difference.in_words for difference in described_differences)
        undescribed_phrase = (
            f"; and {counted(n_undescribed, 'more difference')}" if n_undescribed else ""
        )
        message = (
            f"found {singles_phrase}, and {counted(n_overlap, 'item')} with several labels that "
            "are no "
            f"random sample of the round, as {rate_phrase} would look at most: "
            f"{differences}{undescribed_phrase}. "
            "Expected a random sample, labelled by the raters of the other items among the rest "
            "of their work. Draw some of the items with one label by chance, have other raters "
            f"label them too, and deliver the round again. {alternative_sentence}"
        )
        yield build_gate_finding("overlap_not_random", message)
        return
    message = (
        f"{n_single:,} of {counted(n_items, 'item')} have one label, and train: the other "
        f"{n_overlap:,} are a random sample, as the project says. "
        f"{counted(len(overlap_comparison.comparisons), 'comparison')} of "
        f"{joined(overlap_comparison.subjects)} show no "
        f"difference that fewer than {rate_phrase} would have. None can show whether raters were "
        "more "
        "careful on them, or chose what is easy in another way"
    )
    yield build_gate_finding("overlap_random", message, passed=True)
