"""Shares and means of a population that a classifier labelled, corrected by a drawn panel."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agreement_pipeline.errors import AgreementError, RatingsError
from agreement_pipeline.estimates import WithLimits
from agreement_pipeline.intervals import Interval, Population
from agreement_pipeline.models.prediction_powered import (
    OfRaters,
    Stratum,
    estimates,
    lowest_mean,
    prediction_powered,
)
from agreement_pipeline.ratings import (
    Array,
    Codes,
    Ratings,
    as_number_array,
    as_whole_numbers_or_missing,
    describe_lookalikes,
    group_lookalike_names,
    numbers_as_arrow,
)
from agreement_pipeline.tables import Table
from agreement_pipeline.text import called, counted, listed

if TYPE_CHECKING:
    import pyarrow as pa

Design = Literal["simple", "stratified", "clustered"]
UNITS: dict[Design, str] = {"simple": "item", "stratified": "item", "clustered": "cluster"}
PAIRS = "pairs"
NO_ENDS = "the scale has no lowest and highest number, which limits need; name its categories"
MAX_DRAWN_UNITS = 10_000
MIN_LABELLED_UNITS = 2
MIN_RATERS_AT_LARGE = 3
"""Fewer raters say nothing of others."""


@dataclass(frozen=True)
class Corrected(WithLimits):
    """A share of the population, or its mean, corrected for the classifier's errors.

    Attributes
    ----------
    category, classifier
        The category whose share it is, or None for a mean; and who labelled all items.
    target
        *pairs*: the mean over items of an item's mean over its raters. *majority of R*: the share
        of items for which more than half of R raters of this panel would give the category.
    value, interval
        The prediction-powered estimate inside the ends of the scale.
    n_items, n_labels, n_ratings, n_raters
        The items of the population; those with labels of the panel; these labels; who gave them.
    classical, classical_interval
        What the drawn items say without the classifier.
    tuning
        The weight λ of the classifier's labels in each stratum, from 0 to 1.
    effective_labels
        How many labelled items would give an estimate with so small a variance without the
        classifier, of these raters. On few labels it is rough, and the interval narrows less. None
        if undefined, or if the labels do not vary, as `why_not_effective` says.
    """

    category: str | None
    classifier: str
    target: str
    value: float | None
    interval: Interval | None
    confidence_level: float
    design: Design
    raters: Population
    n_items: int
    n_labels: int
    n_ratings: int
    n_raters: int
    uncorrected: float
    classical: float | None = None
    classical_interval: Interval | None = None
    tuning: tuple[float, ...] = ()
    effective_labels: float | None = None
    undefined: str | None = None

    @property
    def why_not_effective(self) -> str | None:
        if self.effective_labels is None and self.undefined is None:
            return "the corrected labels do not vary"
        return None if self.effective_labels is not None else self.undefined

    def rows(self) -> Iterator[dict[str, Any]]:
        low, high = self.classical_interval or (None, None)
        yield {
            **self.attributes("category", "target", "value", "low", "high", "classical"),
            "classical_low": low,
            "classical_high": high,
            **self.attributes("uncorrected", "effective_labels", "n_labels", "n_items"),
            **self.attributes("undefined"),
        }

    def to_mapping(self) -> dict[str, Any]:
        (row,) = self.rows()
        extra_fields = (
            "classifier",
            "confidence_level",
            "design",
            "raters",
            "n_raters",
            "n_ratings",
        )
        extra_values = self.attributes(*extra_fields, "why_not_effective")
        return row | extra_values | {"tuning": list(self.tuning)}


def correct(
    ratings: Ratings,
    population: Ratings | None = None,
    *,
    classifier: str | None = None,
    design: Design = "simple",
    majority_of: int | None = None,
    raters: Population = "these raters",
    confidence_level: float = 0.95,
) -> Table[Corrected]:
    """The share of each category in a population, or its mean on a numeric scale.

    Labels that began as a suggestion do not count, and neither do gold items. The labelled items
    must be drawn at random. `draw` records a draw, and `Draw.refuse_others` refuses other items.
    The classifier must not have learnt from their labels, nor be the best of several on them. Items
    without its label are no part of the population. Who of the panel labels an item must not depend
    on what they would say.

    Parameters
    ----------
    population
        The classifier's labels of all items, the drawn ones too. None: they are among `ratings`.
    classifier
        Who labelled the population. None: its only classifier.
    design
        How items were drawn: *simple*; *stratified* by the classifier's labels; or *clustered*,
        whole clusters at random. The limits of the last need clusters of which none is very large.
    majority_of
        None for the target *pairs*, or the odd number R of raters of a majority.
    raters
        Are the intervals about *these raters*, or about *raters at large*, of whom these are a
        random sample? The latter needs three raters, and another rating of each item.

    Raises
    ------
    RatingsError
        The classifier or the design is not known, an item has no label of the classifier, or the
        labels are not of one kind or not spelt in one way. Or R is even.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline.ratings import Scale
    >>> rows = [(f"i{n}", "model", "yes" if n % 3 else "no") for n in range(90)]
    >>> rows += [(f"i{n}", "ana", "yes" if n % 4 else "no") for n in range(30)]
    >>> frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    >>> ratings = Ratings.from_frame(frame, Scale(("no", "yes")), classifiers=["model"])
    >>> result = correct(ratings)[1]
    >>> result.category, result.n_items, result.n_labels, round(result.uncorrected, 3)
    ('yes', 90, 30, 0.667)
    """
    if majority_of is not None and (majority_of < 1 or majority_of % 2 == 0):
        raise RatingsError(
            f"majority of {majority_of}: found no odd number; expected 1, 3, 5 or more, since an "
            "even panel may be divided. Name an odd number."
        )
    evidence = _Evidence(ratings, ratings if population is None else population, classifier, design)
    return Table(evidence.iterate_corrected(majority_of, raters, confidence_level))


@dataclass(frozen=True)
class WrongLabels:
    """The share of a classifier's labels that a majority of the panel would not give.

    Attributes
    ----------
    value, upper
        The share in the population, from the drawn items, and its upper limit. The limit holds by
        itself on one side, with half of one minus the confidence level. None if undefined.
    perfect
        The share that is wrong of each drawn item's leading label. A classifier that always gives
        this label scores no better. It is 0 if exactly so many raters labelled each item as are
        asked, and none of them are tied.
    apart
        How often single raters give another label than the leading one of their item.
    """

    majority_of: int
    n_items: int
    n_labels: int
    n_raters: int
    value: float | None = None
    upper: float | None = None
    perfect: float | None = None
    apart: float | None = None
    undefined: str | None = None


def wrong_labels(
    ratings: Ratings,
    majority_of: int,
    *,
    classifier: str | None = None,
    design: Design = "simple",
    confidence_level: float = 0.95,
) -> WrongLabels:
    """How often a classifier's labels of all items are wrong, from the panel's labels of some.

    The share of right labels is a mean over the drawn items, of the share of majorities that give
    the classifier's label. Its lower limit is that of Gaffke, as in `correct`. If the draw is
    simple and no majority depends on which raters are drawn, it is that of Clopper and Pearson,
    which is the same without chance in its digits.

    The arguments and errors are those of `correct`.

    >>> import pandas as pd
    >>> from agreement_pipeline.ratings import Scale
    >>> rows = [(f"i{n}", "model", "yes" if n % 3 else "no") for n in range(90)]
    >>> rows += [(f"i{n}", who, "yes") for n in range(1, 60, 2) for who in ("ana", "ben", "eva")]
    >>> frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    >>> ratings = Ratings.from_frame(frame, Scale(("no", "yes")), classifiers=["model"])
    >>> result = wrong_labels(ratings, 3)
    >>> round(result.value, 3), round(result.upper, 2), result.perfect
    (0.333, 0.53, 0.0)
    """
    return _Evidence(ratings, ratings, classifier, design).measure_wrong_labels(
        majority_of, confidence_level
    )


def items_to_draw(
    most_wrong: float,
    wrong: float,
    *,
    probability: float = 0.9,
    confidence_level: float = 0.95,
) -> int | None:
    """The fewest items of a simple draw on which few wrong labels are likely to show as few.

    As many labels may be wrong as Clopper and Pearson's upper limit allows under `most_wrong`. With
    a share of `wrong` labels in the population, no more are drawn with this `probability`. Each
    drawn item has as many ratings as the majority asks for. None if more than 10,000 were needed.

    >>> items_to_draw(0.05, 0.02), items_to_draw(0.05, 0.0), items_to_draw(0.05, 0.05)
    (390, 72, None)
    """
    from scipy.stats import binom

    n = np.arange(1, MAX_DRAWN_UNITS + 1)
    allowed = binom.ppf((1 - confidence_level) / 2, n, most_wrong) - 1
    enough = n[binom.cdf(allowed, n, wrong) >= probability]
    return int(enough[0]) if len(enough) else None


class _Evidence:
    """The classifier's labels of all items (N,), and the panel's of some of them.

    A category is its place among `names`. `drawn` are the places of the labelled items, and
    `item_places` are the places among them of the items of the panel's labels, `panel_labels`.
    """

    def __init__(
        self, ratings: Ratings, population: Ratings, classifier: str | None, design: Design
    ) -> None:
        refuse_design(population, design, "correct", RatingsError)
        self.panel, self.population, self.design = ratings.without_assisted, population, design
        self.classifier = only_classifier(population, classifier)
        self.scales = population.scale, ratings.scale
        self._refuse_other_labels()
        self.names = tuple(dict.fromkeys(name for scale in self.scales for name in scale.names))
        self._refuse_other_spellings()
        self.numeric = population.scale.numeric
        classifier_table, self.predicted = self._read_labels(population, [self.classifier])
        panel_table, self.panel_labels = self._read_labels(self.panel, self.panel.raters)
        items, labelled = classifier_table["item"], panel_table["item"]
        self.rater = np.unique(
            as_whole_numbers_or_missing(panel_table["place"]), return_inverse=True
        )[1]
        self.n_raters = int(self.rater.max(initial=-1)) + 1
        places = places_of_items_among(labelled, items)
        strange = labelled.take(numbers_as_arrow(np.flatnonzero(places < 0))).unique().to_pylist()
        if strange:
            raise RatingsError(
                f"correct: found {called('item', strange)} with labels of the panel and none of "
                f"{self.classifier!r}; expected items of the population. Give the classifier's "
                "labels of all items, or leave these out."
            )
        self.items = items
        self.drawn, self.item_places = np.unique(places, return_inverse=True)
        self.n_given = np.bincount(self.item_places, minlength=len(self.drawn))
        self.unit = (
            clusters_of(population, items) if design == "clustered" else np.arange(len(items))
        )
        self.sizes = np.bincount(self.unit)
        self.n_labelled = np.bincount(self.unit[self.drawn], minlength=len(self.sizes))
        of_units = self.predicted if design == "stratified" else np.zeros(len(self.sizes))
        self.strata = {
            name: np.flatnonzero(of_units == name) for name in np.unique(of_units).tolist()
        }

    def _refuse_other_labels(self) -> None:
        scales = self.scales
        weighted = "weight" in self.population.has | self.panel.has
        several = any(scale.dimensions > 1 for scale in scales)
        if weighted or several or scales[0].numeric != scales[1].numeric:
            raise RatingsError(
                "correct: found items that stand for several, or labels of different kinds or of "
                "several numbers; expected a category for each item, or a number. Read both tables "
                "on one scale."
            )

    def _refuse_other_spellings(self) -> None:
        for alike in group_lookalike_names(self.names):
            if not any({*alike} <= {*scale.names} for scale in self.scales):
                raise RatingsError(
                    f"correct: found labels that print alike, and are different: "
                    f"{describe_lookalikes(alike)}; expected one spelling by the panel and by "
                    f"{self.classifier!r}. Correct the labels of one table."
                )

    def _read_labels(self, ratings: Ratings, raters: Collection[str]) -> "tuple[pa.Table, Array]":
        """The first ratings by some raters, and their labels: numbers, or places among `names`."""
        label_column = "number" if self.numeric else "code"
        table = ratings.first_ratings(["item", "place", label_column], raters=raters)
        if self.numeric:
            return table, as_number_array(table[label_column])
        places = np.array([self.names.index(name) for name in ratings.scale.names])
        return table, places[as_whole_numbers_or_missing(table[label_column])].astype(float)

    def iterate_corrected(
        self, majority_of: int | None, raters: Population, confidence_level: float
    ) -> Iterator[Corrected]:
        names: Sequence[str | None] = (None,) if self.numeric else self.names
        for place, name in enumerate(names):
            predicted, panel_labels = (
                labels if name is None else (labels == place).astype(float)
                for labels in (self.predicted, self.panel_labels)
            )
            common_fields = {
                "category": name,
                "classifier": self.classifier,
                "target": PAIRS if majority_of is None else f"majority of {majority_of}",
                "confidence_level": confidence_level,
                "design": self.design,
                "raters": raters,
                "n_items": len(predicted),
                "n_labels": len(self.drawn),
                "n_ratings": len(panel_labels),
                "n_raters": self.n_raters,
                "uncorrected": float(predicted.mean()),
            }
            yield self._correct_category(predicted, panel_labels, majority_of, common_fields)

    def measure_wrong_labels(self, majority_of: int, confidence_level: float) -> WrongLabels:
        counts = majority_of, len(self.predicted), len(self.drawn), self.n_raters
        if undefined_reason := self._why_undefined(majority_of, at_large=False):
            return WrongLabels(*counts, undefined=undefined_reason)
        nobody, everyone = np.zeros(len(self.predicted)), np.full(len(self.panel_labels), True)

        def agreeing(label: Array, majority_of: int | None) -> list[Stratum]:
            agreements = (self.panel_labels == label[self.item_places]).astype(float)
            return self._build_strata(nobody, agreements, everyone, majority_of)

        counts_by_label = (
            _sum_by_place(self.panel_labels == label, self.item_places, len(self.drawn))
            for label in range(len(self.names))
        )
        leading = np.argmax([*counts_by_label], axis=0).astype(float)
        of_classifier = agreeing(self.predicted[self.drawn], majority_of)
        shares = of_classifier, agreeing(leading, majority_of), agreeing(leading, None)
        value, perfect, single_disagreement = (1 - estimates(strata)[1] for strata in shares)
        upper = 1 - lowest_mean(of_classifier, confidence_level)
        return WrongLabels(*counts, value, upper, perfect, single_disagreement)

    def _correct_category(
        self,
        predicted: Array,
        panel_labels: Array,
        majority_of: int | None,
        common_fields: Mapping[str, Any],
    ) -> Corrected:
        scale_ends, at_large = self._scale_ends(), common_fields["raters"] == "raters at large"
        undefined_reason = self._why_undefined(majority_of, at_large)
        if undefined_reason or scale_ends is None:
            return Corrected(
                value=None, interval=None, undefined=undefined_reason or NO_ENDS, **common_fields
            )
        predicted, panel_labels = (
            (labels - scale_ends.low) / (scale_ends.high - scale_ends.low)
            for labels in (predicted, panel_labels)
        )
        everyone = np.full(len(panel_labels), True)
        strata = self._build_strata(predicted, panel_labels, everyone, majority_of)
        of_raters = None
        if at_large:
            strata_by_rater = (
                self._build_strata(predicted, panel_labels, self.rater != rater, majority_of)
                for rater in range(self.n_raters)
            )
            of_raters = OfRaters.without_each(
                [estimates(strata_without) for strata_without in strata_by_rater]
            )
        result = prediction_powered(strata, common_fields["confidence_level"], of_raters)

        def on_the_scale(number: float) -> float:
            return scale_ends.low + (scale_ends.high - scale_ends.low) * number

        return Corrected(
            value=on_the_scale(result.corrected.value),
            interval=Interval(*map(on_the_scale, result.corrected.interval)),
            classical=on_the_scale(result.classical.value),
            classical_interval=Interval(*map(on_the_scale, result.classical.interval)),
            tuning=result.tuning,
            effective_labels=result.times and result.times * len(self.drawn),
            **common_fields,
        )

    def _build_strata(
        self, predicted: Array, panel_labels: Array, label_mask: np.ndarray, majority_of: int | None
    ) -> list[Stratum]:
        """The strata in drawn units, with those of the panel's labels that the mask leaves."""
        n, item_places = len(self.sizes), self.item_places[label_mask]
        label_sums = _sum_by_place(panel_labels[label_mask], item_places, len(self.drawn))
        n_given = np.bincount(item_places)
        labels = (
            majority_shares(label_sums, n_given, majority_of)
            if majority_of
            else label_sums / n_given
        )
        predicted_sums = _sum_by_place(predicted, self.unit, n)
        drawn_sums = _sum_by_place(labels, self.unit[self.drawn], n)
        strata = []
        for members in self.strata.values():
            drawn_units = np.flatnonzero(self.n_labelled[members])
            sizes = self.sizes[members].astype(float)
            strata.append(
                Stratum(
                    sizes, predicted_sums[members], drawn_units, drawn_sums[members[drawn_units]]
                )
            )
        return strata

    def _scale_ends(self) -> Interval | None:
        if not self.numeric:
            return Interval(0.0, 1.0)
        if any(scale.continuous or not scale.declared for scale in self.scales):
            return None
        scores = np.concatenate([scale.scores for scale in self.scales])
        return Interval(float(scores.min()), float(scores.max()))

    def _why_undefined(self, majority_of: int | None, at_large: bool) -> str | None:
        if majority_of and self.numeric:
            return "numbers have no majority"
        if at_large and self.n_raters < MIN_RATERS_AT_LARGE:
            return (
                f"{counted(self.n_raters, 'rater')}, and others need {MIN_RATERS_AT_LARGE} to be "
                "known"
            )
        min_ratings = (majority_of or 1) + at_large
        sparse_items = np.flatnonzero(self.n_given < min_ratings)
        if sparse_items.size:
            has = "has" if sparse_items.size == 1 else "have"
            first_item = self.items[int(self.drawn[sparse_items[0]])].as_py()
            return (
                f"{counted(sparse_items.size, 'labelled item')} {has} fewer than {min_ratings} "
                f"ratings, as {first_item!r}"
            )
        partly_labelled = (self.n_labelled > 0) & (self.n_labelled < self.sizes)
        if partly_labelled.any():
            return (
                f"{counted(int(partly_labelled.sum()), 'cluster')} labelled in part, and not as a "
                "whole"
            )
        for place, members in self.strata.items():
            n = int((self.n_labelled[members] > 0).sum())
            min_units = min(MIN_LABELLED_UNITS, len(members))
            if n < min_units:
                units_phrase = counted(n, f"labelled {UNITS[self.design]}")
                among = f" among those labelled {self.names[int(place)]!r}"
                return (
                    f"{units_phrase}{among * (self.design == 'stratified')}, and "
                    f"{min_units} {'is' if min_units == 1 else 'are'} needed"
                )
        return None


def refuse_design(
    population: Ratings, design: str, location: str, error: type[AgreementError]
) -> None:
    if design not in UNITS:
        raise error(
            f"{location}: found design {design!r}; expected one of {', '.join(UNITS)}. "
            "Say how the items are drawn."
        )
    if design == "clustered" and "cluster" not in population.has:
        raise error(
            f"{location}: found no clusters in the population; expected the cluster of each item, "
            "since clusters are drawn. Name their column (--cluster)."
        )
    if design == "stratified" and population.scale.continuous:
        raise error(
            f"{location}: found numbers without categories; expected categories, since strata are "
            "the classifier's labels. Draw a simple sample, or name the categories (--categories)."
        )


def only_classifier(population: Ratings, name: str | None) -> str:
    classifiers = [rater for rater in population.everyone if rater in population.classifiers]
    if name is None and len(classifiers) == 1:
        return classifiers[0]
    if name not in classifiers:
        raise RatingsError(
            f"population: found classifiers {listed(classifiers)}; expected "
            f"{'one of them' if name is None else repr(name)}, whose labels all items have. "
            "Name the classifier that labelled the population (--classifier), and leave others out."
        )
    return str(name)


def clusters_of(population: Ratings, items: "pa.ChunkedArray") -> Codes:
    item_table = population.items(["cluster_at"])
    clusters = as_whole_numbers_or_missing(item_table["cluster_at"])[
        places_of_items_among(items, item_table["item"])
    ]
    return np.asarray(np.unique(clusters, return_inverse=True)[1])


def places_of_items_among(items: "pa.ChunkedArray", among: "pa.ChunkedArray") -> Codes:
    from pyarrow.compute import index_in

    return as_whole_numbers_or_missing(index_in(items, value_set=among))


def _sum_by_place(values: Array, places: Codes, n: int) -> Array:
    return np.bincount(places, values, minlength=n).astype(float)


def majority_shares(n_giving: Array, n: Codes, majority_of: int) -> Array:
    r"""The share of majorities that give a category, over all choices of R of an item's raters.

    For s of n raters it is
    :math:`\sum_{j > R/2} \binom{s}{j} \binom{n - s}{R - j} / \binom{n}{R}`, an unbiased estimate of
    what R raters drawn from this panel's population would say (Hoeffding 1948,
    https://doi.org/10.1214/aoms/1177730196).

    >>> majority_shares(np.array([2.0, 1.0]), np.array([3, 5]), 3).tolist()
    [1.0, 0.0]
    """
    majority_sizes = range(majority_of // 2 + 1, majority_of + 1)
    pairs = [*zip(n_giving.astype(int).tolist(), n.tolist(), strict=True)]
    shares = {
        (s, m): sum(math.comb(s, j) * math.comb(m - s, majority_of - j) for j in majority_sizes)
        / math.comb(m, majority_of)
        for s, m in {*pairs}
    }
    return np.array([shares[pair] for pair in pairs])
