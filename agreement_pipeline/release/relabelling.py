"""Whether the items of a held round may train with the labels that its raters gave again.

Where raters know on which items they differed, agreement on new labels says nothing. So the raters
label a random sample of the items once more, and its round judges them. The sample follows from
the relabelled ratings and the store (`store.order_of_items`), and comes under a name of its own, so
that nobody can choose it. Labels that come again give another one, so a held sample counts as long
as the labels are nearly the same.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import takewhile

from agreement_pipeline.errors import RatingsError, StoreError, error_in_a_sentence
from agreement_pipeline.integrity import (
    Finding,
    are_dated_anew,
    are_nearly_the_same,
    compare_with_sample,
    count_labels_before,
    count_labels_not_kept,
)
from agreement_pipeline.policy import Decision, Remedy, RoundRatings
from agreement_pipeline.ratings import CONTENT_PREFIX, Ratings, contents_by_item
from agreement_pipeline.store import RoundVersion, Store, arrival_of, of_event, order_of_items
from agreement_pipeline.text import counted, join_sentences


class _RefutedRemedyError(Exception):
    """Why a remedy does not hold."""


def sample_name(relabelled: RoundRatings) -> str:
    """The only name under which the sample may come, so that its versions tell how often it did.

    >>> sample_name(RoundRatings("forum-3", "1a2b3c4d" * 8))
    'forum-3-sample-1a2b3c4d'
    """
    return f"{relabelled.round}-sample-{relabelled.ratings_digest[:8]}"


def find_relabelled_version(store: Store, round_name: str, ratings: Ratings) -> RoundVersion | None:
    """The version of a round whose sample has this name, if these items were drawn from it."""
    relabelled_name = round_name.rpartition("-sample-")[0]
    if not relabelled_name or relabelled_name not in store.rounds():
        return None
    labelled = _item_names(ratings)
    for version in store.versions(relabelled_name):
        if sample_name(RoundRatings(version.round, version.ratings_digest)) == round_name:
            order = order_of_items(store, version, store.ratings_of(version))
            return version if {*order[: len(labelled)]} == labelled else None
    return None


def refuse_stale_sample(
    store: Store, version: RoundVersion, round_name: str, sample: Ratings
) -> None:
    """Refuse a sample of a relabelled version that has the labels of before.

    A sample counts as if its items had not come before, so that they would pass under its name
    without a remedy.
    """
    relabelled, drawn_after = store.ratings_of(version), _time_of_arrival(store, version)
    problem = _describe_stale_labels(relabelled, sample, drawn_after)
    if n := count_labels_before(sample, drawn_after):
        problem = f"{counted(n, 'label')} {'is' if n == 1 else 'are'} dated before the draw"
    if problem is not None:
        raise RatingsError(
            f"round {round_name}: found labels of round {version.round}: {problem}; "
            "expected labels that raters gave after the draw and without those of before. "
            "Let each of them alone label the tasks that `agreement-pipeline draw "
            f"--relabelled {version.round}` writes, and deliver the time of each label too "
            "(columns: timestamp)."
        )


def _describe_stale_labels(
    relabelled: Ratings, sample: Ratings, drawn_after: datetime
) -> str | None:
    """How a sample repeats the labels of before. None if labels or times show a second look.

    Good raters may give nearly the same labels again, and then only times tell.
    """
    compared = compare_with_sample(relabelled, sample)
    changes_text = (
        f"raters changed {compared.n_changed:,} of {counted(compared.n_labels, 'label')} of their "
        "own in the sample"
    )
    if compared.are_copied:
        expected_text = f"about {compared.n_expected:.0f} of as many"
        return f"{changes_text}, and two raters differ on {expected_text}"
    if compared.are_those_of_before and not are_dated_anew(sample, relabelled, drawn_after):
        return f"{changes_text}, and not each label has a time of its own after the draw"
    return None


def check_remedy(
    store: Store,
    version: RoundVersion,
    ratings: Ratings,
    remedy: Remedy,
    judge_sample: Callable[[RoundVersion], Decision],
) -> Finding:
    """Whether the sample judges the raters of this version. `judge_sample` is without waivers."""
    if remedy.remedied_by != RoundRatings(version.round, version.ratings_digest):
        return remedy.finding_if_refuted(
            f"it is bound to {remedy.remedied_by}, and these are "
            f"{RoundRatings(version.round, version.ratings_digest)}"
        )
    try:
        _require_held(store, remedy, version, ratings)
        _require_first_sample(store, version, ratings, judge_sample)
        sample_version, sample = _read_sample(store, remedy)
        detail = _require_drawn(store, version, ratings, sample)
        _require_same_raters(ratings, sample)
        _require_same_contents(ratings, sample)
        _require_labelled_once(store, sample_version, sample)
        _require_labels_of_a_second_look(store, version, ratings, sample)
        _require_labels_of_same_raters(ratings, sample)
        decision = judge_sample(sample_version)
        if not decision.admitted:
            raise _RefutedRemedyError(
                f"the sample is held by itself: {join_sentences(decision.reasons)}"
            )
    except _RefutedRemedyError as reason:
        return remedy.finding_if_refuted(str(reason))
    except StoreError as cause:
        return remedy.finding_if_refuted(error_in_a_sentence(cause))
    return remedy.finding_if_proved(detail)


def _version_of(store: Store, ratings: RoundRatings) -> RoundVersion | None:
    versions = store.versions(ratings.round)
    matches = (version for version in versions if version.ratings_digest == ratings.ratings_digest)
    return next(matches, None)


def _require_held(store: Store, remedy: Remedy, version: RoundVersion, ratings: Ratings) -> None:
    """The round that the remedy names was held, and came first.

    No item of it may be gone, nor one of an earlier version of the relabelled round that was held.
    """
    held_ratings, relabelled = remedy.held_ratings, remedy.remedied_by
    held_version = _version_of(store, held_ratings)
    arrivals = [
        arrival_of(store, *vars(round_ratings).values())
        for round_ratings in (held_ratings, relabelled)
    ]
    if held_version is None or not _is_held(store, held_version):
        raise _RefutedRemedyError(f"the log has no decision that holds {held_ratings}")
    if arrivals[0] is None or arrivals[1] is None or arrivals[0]["number"] > arrivals[1]["number"]:
        raise _RefutedRemedyError(
            f"{held_ratings} came after {relabelled}, which should have its items labelled anew"
        )
    own_items = _item_names(ratings)
    for former in (held_version, *_versions_before(store, version)):
        if former != held_version and not _is_held(store, former):
            continue
        items = _item_names(store.ratings_of(former))
        if (missing_items := items - own_items) and (former == held_version or items & own_items):
            raise _RefutedRemedyError(
                f"{len(missing_items):,} of {counted(len(items), 'item')} of "
                f"{RoundRatings(former.round, former.ratings_digest)} have no "
                f"label in {relabelled}, and which ones are left may have been chosen"
            )


def _is_held(store: Store, version: RoundVersion) -> bool:
    decided = [
        entry["decision"]
        for entry in of_event("decided", store.history(version.round))
        if entry["ratings_digest"] == version.ratings_digest
    ]
    return decided[-1:] == ["held"]


def _versions_before(store: Store, version: RoundVersion) -> Iterator[RoundVersion]:
    return takewhile(
        lambda stored: stored.ratings_digest != version.ratings_digest,
        store.versions(version.round),
    )


def _require_first_sample(
    store: Store,
    version: RoundVersion,
    ratings: Ratings,
    judge_sample: Callable[[RoundVersion], Decision],
) -> None:
    """Else a held sample could be drawn anew, as soon as a label is changed."""
    for former in _versions_before(store, version):
        former_ratings = RoundRatings(former.round, former.ratings_digest)
        name = sample_name(former_ratings)
        if (
            name in store.rounds()
            and are_nearly_the_same(ratings, store.ratings_of(former))
            and not judge_sample(store.present(name)).admitted
        ):
            raise _RefutedRemedyError(
                f"the sample {name} of nearly the same labels was held; expected labels that "
                "raters gave anew since, since the best of several samples is no evidence"
            )


def _read_sample(store: Store, remedy: Remedy) -> tuple[RoundVersion, Ratings]:
    sample, due = remedy.sample, sample_name(remedy.remedied_by)
    if sample.round != due:
        raise _RefutedRemedyError(
            f"its sample is called {sample.round}; expected {due}, the one name under which the "
            "sample of these labels may come"
        )
    version = _version_of(store, sample)
    if version is None:
        raise _RefutedRemedyError(f"the store has no {sample}")
    if store.present(sample.round).ratings_digest != sample.ratings_digest:
        raise _RefutedRemedyError(f"{sample} is not the present version of the sample")
    return version, store.ratings_of(version)


def _require_drawn(store: Store, version: RoundVersion, ratings: Ratings, sample: Ratings) -> str:
    """How many items of how many were drawn, in words."""
    order, labelled = order_of_items(store, version, ratings), _item_names(sample)
    drawn_items = {*order[: len(labelled)]}
    if drawn_items != labelled:
        undrawn_items = labelled - drawn_items
        raise _RefutedRemedyError(
            f"{len(undrawn_items):,} of the {counted(len(labelled), 'item')} of the sample "
            f"{'was' if len(undrawn_items) == 1 else 'were'} not drawn, such as "
            f"{min(undrawn_items)!r}; expected the first {len(labelled):,} that "
            "`agreement-pipeline draw --relabelled` writes, all of them and no others"
        )
    return f" ({len(labelled):,} of {counted(len(order), 'item')})"


def _require_labelled_once(store: Store, version: RoundVersion, sample: Ratings) -> None:
    """A sample may grow, but nobody may label it until it is good."""
    for former in _versions_before(store, version):
        n_changed, n_labels = count_labels_not_kept(sample, store.ratings_of(former))
        if n_changed:
            raise _RefutedRemedyError(
                f"{n_changed:,} of {counted(n_labels, 'label')} of the sample are others, or gone, "
                "than when it first came; expected a sample that is labelled once"
            )


def _require_same_contents(ratings: Ratings, sample: Ratings) -> None:
    """Raters who read other texts show nothing of the texts that train."""
    items = _item_names(sample)
    contents = contents_by_item(ratings, items)
    for column, text_by_item in contents_by_item(sample, items).items():
        others = sorted(
            item
            for item, text in contents.get(column, {}).items()
            if text_by_item.get(item, text) != text
        )
        if others:
            raise _RefutedRemedyError(
                f"{len(others):,} of the {counted(len(items), 'item')} of the sample "
                f"{'has' if len(others) == 1 else 'have'} another "
                f"{column.removeprefix(CONTENT_PREFIX)} than the relabelled items, such as "
                f"{others[0]!r}; expected the same"
            )


def _require_labels_of_a_second_look(
    store: Store, version: RoundVersion, ratings: Ratings, sample: Ratings
) -> None:
    drawn_after = _time_of_arrival(store, version)
    n_early = count_labels_before(sample, drawn_after)
    if n_early:
        raise _RefutedRemedyError(
            f"{counted(n_early, 'label')} of the sample {'is' if n_early == 1 else 'are'} dated "
            "before it could be drawn; expected labels that raters gave after it was"
        )
    if problem := _describe_stale_labels(ratings, sample, drawn_after):
        raise _RefutedRemedyError(
            f"{problem}; expected labels that they gave without those of before, with the time of "
            "each label (columns: timestamp)"
        )


def _time_of_arrival(store: Store, version: RoundVersion) -> datetime:
    arrival = arrival_of(store, version.round, version.ratings_digest)
    assert arrival is not None
    return datetime.fromisoformat(arrival["time"])


def _require_same_raters(ratings: Ratings, sample: Ratings) -> None:
    relabelling_raters, sample_raters = {*ratings.raters}, {*sample.raters}
    if relabelling_raters != sample_raters:
        raise _RefutedRemedyError(
            f"{len(relabelling_raters - sample_raters)} of "
            f"{counted(len(relabelling_raters), 'rater')} who labelled the items again "
            f"have no label in the sample, and {len(sample_raters - relabelling_raters)} in the "
            "sample labelled none of them; expected the same raters, since the sample judges these "
            "and no others"
        )


def _require_labels_of_same_raters(ratings: Ratings, sample: Ratings) -> None:
    compared = compare_with_sample(ratings, sample)
    if compared.are_of_others:
        raise _RefutedRemedyError(
            f"raters gave another label than before to {compared.n_changed:,} of "
            f"{counted(compared.n_labels, 'label')} in the sample, and differ "
            "more from their own labels than from each other; expected relabelled items with the "
            "labels that their raters give"
        )


def _item_names(ratings: Ratings) -> set[str]:
    return {*ratings.first_ratings(["item"], raters=ratings.raters)["item"].to_pylist()}
