"""What keeps single labels from training: an overlap that is no random sample of the round."""

from collections.abc import Iterator

import numpy as np

from agreement_pipeline.integrity import FALSE_ALARM_RATE, Finding, compare_overlap
from agreement_pipeline.policy.waivers import of_gate
from agreement_pipeline.ratings import Ratings, Trains, whole
from agreement_pipeline.text import counted, joined

MIN_ITEMS_IN_OVERLAP = 30
MAX_DIFFERENCES_DESCRIBED = 4


def find_overlap_mistakes(ratings: Ratings, trains: Trains | None) -> Iterator[Finding]:
    """What keeps single labels from training, if `trains` says that they should."""
    if trains is None or trains.label != "one_rater":
        return
    items = whole(ratings.first(["at"], raters=ratings.raters)["at"])
    n_raters = np.bincount(items)
    n_items, n_single = len(n_raters), int((n_raters == 1).sum())
    if not n_single:
        return
    singles = (
        f"{n_single:,} of {counted(n_items, 'item')} with one label, which "
        f"{'is' if n_single == 1 else 'are'} to train"
    )
    otherwise = (
        "Or say another label in `trains`, such as plurality: then single labels do not train."
    )
    if trains.overlap is None:
        words = (
            f"found {singles}, and no word of how the other items were chosen; expected a random "
            "sample of the round, since only then does their agreement speak of the rest. If they "
            "were drawn by chance, say so: `trains: {label: one_rater, overlap: random_sample}`. "
            f"{otherwise}"
        )
        yield of_gate("overlap_not_declared", words)
        return
    n_overlap = n_items - n_single
    if n_overlap < MIN_ITEMS_IN_OVERLAP:
        words = (
            f"found {singles}, beside {counted(n_overlap, 'item')} with several; expected "
            f"{MIN_ITEMS_IN_OVERLAP} or more. Have more items, drawn by chance, labelled by "
            f"several raters. {otherwise}"
        )
        yield of_gate("overlap_too_small", words)
        return
    found = compare_overlap(ratings)
    rate = f"{FALSE_ALARM_RATE:.1%} of random samples"
    if found.differences:
        described = found.differences[:MAX_DIFFERENCES_DESCRIBED]
        more = len(found.differences) - len(described)
        differences = "; ".join(difference.in_words for difference in described)
        rest = f"; and {counted(more, 'more difference')}" if more else ""
        words = (
            f"found {singles}, and {counted(n_overlap, 'item')} with several labels that are no "
            f"random sample of the round, as {rate} would look at most: {differences}{rest}. "
            "Expected a random sample, labelled by the raters of the other items among the rest "
            "of their work. Draw some of the items with one label by chance, have other raters "
            f"label them too, and deliver the round again. {otherwise}"
        )
        yield of_gate("overlap_not_random", words)
        return
    words = (
        f"{n_single:,} of {counted(n_items, 'item')} have one label, and train: the other "
        f"{n_overlap:,} are a random sample, as the project says. "
        f"{counted(len(found.comparisons), 'comparison')} of {joined(found.subjects)} show no "
        f"difference that fewer than {rate} would have. None can show whether raters were more "
        "careful on them, or chose what is easy in another way"
    )
    yield of_gate("overlap_random", words, passed=True)
