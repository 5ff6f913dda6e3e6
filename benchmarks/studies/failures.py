"""How often limits are on the wrong side of the truth, in populations that the design lacks."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from agreement_pipeline.estimates import Estimate, measure_ratings
from agreement_pipeline.intervals import (
    PRIOR_MASS,
    AlwaysValid,
    Inference,
    compute_points,
    gather_evidence,
    mixture_variance,
)
from agreement_pipeline.intervals.distributions import build_expanded_percentiles
from agreement_pipeline.intervals.evidence import OFTEN_SEEN_TIMES
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from agreement_pipeline.units import MARKED, Marked, Span, UnitSettings, units_of
from benchmarks.populations import (
    NAMED,
    OPEN_SCALES,
    TRUTH_OF_GUESSERS,
    TWO,
    Mixture,
    Population,
    Sample,
    guessed,
    overlooked,
    where_two_differ,
    with_guessers,
    with_other_ends,
)
from benchmarks.studies.study import (
    ALPHA,
    Asked,
    Cells,
    failed_and_admitted,
    limits,
    percent,
    seeded,
    stacked,
    study,
    with_error,
)

FAILED = "true value | items | lower limit | upper limit | admitted at 0.8"
AT_LARGE = "two_way_jackknife_log"
TAIL = 0.025


@study(f"population | measure | {FAILED}", rounds=2000, draws=400, seeded=True)
def named(asked: Asked) -> Iterator[Cells]:
    """Populations in which limits once failed, or may fail."""
    for population in NAMED:
        for number, measure in enumerate(population.measures, asked.seed):
            truth = population.truth(measure)
            for n in population.sizes:
                rounds = population.statistics(measure, n, asked.rounds, number)
                found = limits(measure, rounds, asked.inference, number)
                shares = failed_and_admitted(found, truth)
                yield population.name, f"`{measure}`", f"{truth:.3f}", n, *shares


@study(f"errors | measure | {FAILED}", rounds=1000, draws=400)
def open_scales(asked: Asked) -> Iterator[Cells]:
    """Numbers without a list of categories, which three raters see with errors.

    α and ICC(1, 1) are the share of the truth in the variance of a rating.
    """
    for errors, n in product(OPEN_SCALES, (30, 100, 200, 400, 1000)):
        drawn = [(each, 1) for each in seeded(partial(errors.drawn, n), asked.rounds, n)]
        for measure in (ALPHA, "icc_1_1"):
            shares = failed_and_admitted(limits(measure, drawn, asked.inference), errors.truth)
            yield errors.name, f"`{measure}`", f"{errors.truth:.2f}", n, *shares


@study("raters | items | lower limit held, % | admitted at 0.8, %", rounds=600)
def guessers(asked: Asked) -> Iterator[Cells]:
    """Raters at large of whom one in seven guesses. The others are always right.

    So a round of raters without a guesser shows none.
    """
    inference = replace(asked.inference, method=AT_LARGE)
    for raters, items in product((3, 5, 8, 20), (60, 300)):
        rng = np.random.default_rng([raters, items])
        drawn = ((with_guessers(items, raters, rng), 1) for _ in range(asked.rounds))
        low, _ = limits(ALPHA, drawn, inference)
        yield raters, items, *percent(low <= TRUTH_OF_GUESSERS, low >= RELIABLE)


@study("raters | items | spread | S: lower limit held | upper | κ_va: lower | upper", rounds=600)
def classifiers_at_large(asked: Asked) -> Iterator[Cells]:
    """Raters at large beside a classifier, who is a rater of average skill.

    The true value is that of all possible panels of as many raters: given an item, the labels of
    raters drawn at large are independent.
    """
    inference = replace(asked.inference, method=AT_LARGE)
    average = Population(60, 3, 2, None, "careless raters", 0.0, 0.8)
    for items, raters, spread in product((60, 250), (3, 5, 10), (0.25, 1.0)):
        alike = replace(average, n=items, raters=raters)
        differing, seed = replace(alike, spread=spread), [items, raters, int(100 * spread)]
        panels = [(each.panel(), 1) for each in differing.samples(asked.rounds, seed)]
        shares = []
        for measure in ("shah_s", "vanbelle_albert_kappa"):
            (low, high), truth = limits(measure, panels, inference), alike.truths[measure]
            shares += percent(low <= truth, high >= truth)
        yield raters, items, f"{spread:.2f}", *shares


@study(
    "documents | sentences in each | one by one: 95 % interval | its lower limit "
    "| whole documents: 95 % interval | its lower limit",
    rounds=1000,
    draws=1000,
)
def clusters(asked: Asked) -> Iterator[Cells]:
    """Items in clusters, resampled one by one and as whole clusters.

    Four raters label the sentences of documents with yes or no. Three documents in ten are hard:
    every label is a guess. All labels in other documents are right. So the true α is 0.7.
    """
    hard, raters = 0.3, "abcd"
    for documents, sentences in ((240, 1), (80, 3), (30, 8), (12, 20), (100, 8)):
        rng = np.random.default_rng([documents, sentences])
        place = np.repeat(np.arange(documents), sentences)
        alone, together = [], []
        for _ in range(asked.rounds):
            is_hard = np.repeat(rng.random(documents) < hard, sentences)[:, None]
            right = rng.integers(2, size=(len(place), 1))
            guesses = rng.integers(2, size=(len(place), len(raters)))
            codes = np.where(is_hard, guesses, right)
            labels = LabelsByRater(codes, scale=TWO, raters=raters)
            alone.append((labels, 1))
            together.append((labels.with_clusters(Clusters.from_names(place)), 1))
        shares = []
        for rounds in (alone, together):
            low, high = limits(ALPHA, rounds, asked.inference)
            shares += percent((low <= 1 - hard) & (high >= 1 - hard), low <= 1 - hard)
        yield documents, sentences, *shares


RATERS, NAMES, SHARES = "abc", ("common", "other", "rare"), (0.80, 0.17, 0.03)
EMPTY, HARD = 0.2, 0.3
OVERLOOKS, MISNAMES = (0.05, 0.35), (0.03, 0.25)
EVERY, MANY = 40, 20_000
OF_UNITS = {
    "positions: alpha": ("positions", "all", ALPHA, ""),
    "positions: alpha of naming": ("positions", "naming", ALPHA, ""),
    "positions: alpha of the rare category": ("positions", "all", "alpha_by_category", "rare"),
    "matched: alpha of naming": ("matched", "naming", ALPHA, ""),
    "matched: specific agreement of marked": (
        *("matched", "marking", "specific_agreement", "marked"),
    ),
}
"""Of each question: the rule and the part of units, the measure, and the category."""


def documents(rng: np.random.Generator, n: int) -> Iterator[Marked]:
    """What three raters marked in documents of unequal length.

    One in five holds nothing to mark, and three in ten are hard: there, raters overlook and misname
    more.
    """
    for number in range(n):
        length = EVERY * int(np.ceil(2 ** (5 * rng.random())))
        hard, empty = int(rng.random() < HARD), rng.random() < EMPTY
        places = [] if empty else [at for at in range(0, length, EVERY) if rng.random() < 0.6]
        truth = [(at, int(rng.choice(3, p=SHARES))) for at in places]
        for rater in RATERS:
            spans = tuple(
                _span(rng, at, name, hard) for at, name in truth if rng.random() >= OVERLOOKS[hard]
            )
            yield Marked(f"d{number:05d}", rater, spans, (length,))


def _span(rng: np.random.Generator, at: int, name: int, hard: int) -> Span:
    said = (name + 1) % 3 if rng.random() < MISNAMES[hard] else name
    start, end = at + int(rng.integers(0, 3)), at + 12 + int(rng.integers(0, 5))
    return Span(start, end, NAMES[said])


def _of_units(marked: list[Marked], inference: Inference) -> Iterator[Estimate | None]:
    """The estimate of each question; None where there is none."""
    scales = {"naming": Scale(NAMES), "marking": None, "all": Scale(("none", *NAMES))}
    for rule, part, measure, category in OF_UNITS.values():
        settings = UnitSettings("spans", rule=rule, part=part)
        ratings = units_of(marked, settings, scales[part]).ratings
        kind = "category" if category else "round"
        found = measure_ratings(ratings, [measure], inference, scopes=(kind,))
        yield next((each for each in found if each.scope.name == category), None)


@study(
    "documents | question | true value | 95 % interval | its lower limit | no interval",
    rounds=200,
    draws=1000,
)
def units(asked: Asked) -> Iterator[Cells]:
    """Units of spans with documents as clusters. The true value is that of 20,000 documents."""
    every = list(documents(np.random.default_rng(1), MANY))
    truths = [each.value for each in _of_units(every, Inference(n_resamples=100))]
    for n in (30, 100):
        rounds = seeded(lambda rng, n=n: list(documents(rng, n)), asked.rounds, n)
        found = [
            list(_of_units(marked, replace(asked.inference, seed=number)))
            for number, marked in enumerate(rounds)
        ]
        for question, truth, answers in zip(
            OF_UNITS, truths, zip(*found, strict=True), strict=True
        ):
            low, high = stacked((each.interval if each else None, 1) for each in answers)
            there = ~np.isnan(low)
            inside, above = (low <= truth) & (high >= truth), low <= truth
            shares = percent(inside[there], above[there])
            yield n, question, f"{truth:.3f}", *shares, len(low) - there.sum()


HARD_CLUSTERS = {
    "of 20 items": (20, 20, 0.0, 0.1),
    "of 5 items, and a tenth of 100": (5, 100, 0.1, 0.15),
}
"""The usual size, that of large clusters, their share, and the share of hard clusters."""


def in_hard_clusters(
    rng: np.random.Generator, n: int, small: int, large: int, share: float, hard: float
) -> tuple[CategoryCounts, float]:
    """Items of clusters, by three raters of two categories, and the true α.

    Raters guess one item in twelve, and all of a hard cluster.
    """
    sizes = np.where(rng.random(n) < share, large, small)
    places, is_hard = np.repeat(np.arange(n), sizes), rng.random(n) < hard
    known = (rng.random(len(places)) < 11 / 12) & ~is_hard[places]
    guessed = rng.integers(2, size=(len(places), 3))
    yes = np.where(known, 3 * guessed[:, 0], guessed.sum(1))
    clusters = Clusters(places, np.ones(n))
    counts = CategoryCounts(np.column_stack([3 - yes, yes]), scale=TWO, clusters=clusters)
    return counts.merged(), 11 / 12 * (1 - hard)


@study("clusters | number | true α | lower limit | upper limit | admitted at 0.8", rounds=1000)
def hard_clusters(asked: Asked) -> Iterator[Cells]:
    """Clusters of which a few are guessed throughout, and many rounds show none of these."""
    for (name, kind), n in product(HARD_CLUSTERS.items(), (8, 12, 30, 100)):
        every = seeded(lambda rng, n=n, kind=kind: in_hard_clusters(rng, n, *kind), asked.rounds, n)
        drawn = list(every)
        rounds, truth = [(each, 1) for each, _ in drawn], drawn[0][1]
        shares = failed_and_admitted(limits(ALPHA, rounds, asked.inference), truth)
        yield name, n, f"{truth:.3f}", *shares


@study(
    "raters | F1 of pairs | α of positions | α of matched | specific agreement of matched",
    rounds=300,
    draws=1000,
)
def panels_of_units(asked: Asked) -> Iterator[Cells]:
    """Values of units of as many documents, for panels of raters of one behaviour."""
    for n_raters in (2, 3, 5, 8, 12):
        marked = with_other_ends(asked.rounds, n_raters)
        of_rule = {
            rule: units_of(marked, UnitSettings("spans", rule=rule)).marking
            for rule in ("paired", "positions", "matched")
        }
        yield (
            n_raters,
            *(
                f"{each.value:.3f} ({each.low:.3f} to {each.high:.3f})"
                for rule, measure in (
                    ("paired", "specific_agreement"),
                    ("positions", ALPHA),
                    ("matched", ALPHA),
                    ("matched", "specific_agreement"),
                )
                for each in measure_ratings(
                    of_rule[rule],
                    [measure],
                    asked.inference,
                    scopes=("round" if measure == ALPHA else "category",),
                )
                if each.scope.name in ("", MARKED)
            ),
        )


NIGHTS, TIGHTEST = range(40, 601, 20), 300
GROWING = {
    "3 raters, 2 categories, hard items": (3, 2, None, "hard items", 0.0, RELIABLE),
    "3 raters, 2 categories, careless raters": (3, 2, None, "careless raters", 0.0, RELIABLE),
    "3 raters, one of 2 categories at 80 %": (3, 2, 0.8, "hard items", 0.0, RELIABLE),
}


def looked_at(population: Population, asked: Asked) -> np.ndarray:
    """Rounds by nights: where the lower limit is above the truth, shape (2, rounds, nights).

    The first is for rounds that are judged as if each night were the only one, the second for
    limits that are always valid.
    """
    rng = np.random.default_rng(asked.seed)
    above = [
        list(_above(Sample.drawn(population, rng), replace(asked.inference, seed=number)))
        for number in range(asked.rounds)
    ]
    return np.moveaxis(np.array(above), 2, 0)


def _above(sample: Sample, inference: Inference) -> Iterator[tuple[bool, bool]]:
    record, method, tail = MEASURES[ALPHA], inference.interval_method, inference.tail
    for n in NIGHTS:
        counts = replace(sample, codes=sample.codes[:n]).counts("nominal")
        found = gather_evidence(compute_points([record], counts), counts, inference)[ALPHA]
        once = method.distribution(found, record.bounds)
        of_many = (method.distribution_of_many or method.distribution)(found, record.bounds)
        tightest = found.n * mixture_variance(TIGHTEST, 1 - inference.confidence_level)
        always = AlwaysValid(of_many, record.bounds, tightest)
        yield once.limits(tail).low > RELIABLE, always.limits(tail).low > RELIABLE


@study(
    "population | on the last night | on any night, each judged as the only one "
    f"| on any night, always valid (tightest at {TIGHTEST})",
    rounds=250,
    draws=20_000,
    seeded=True,
)
def looking(asked: Asked) -> Iterator[Cells]:
    """How often a lower limit is above the truth if a growing round is judged every night."""
    for name, shape in GROWING.items():
        once, always = looked_at(Population(NIGHTS[-1], *shape), asked)
        yield name, *map(with_error, (once[:, -1], once.any(1), always.any(1)))


WEIGHED = (
    (guessed(0.5, 0.85, (880,), raters=3), 880),
    (guessed(0.1, 0.9, (660,), raters=3), 660),
    (guessed(0.5, 0.8, (881,), raters=3), 881),
    (guessed(0.1, 0.8, (691,), raters=3), 691),
    (guessed(0.5, 0.95, (80,), raters=3), 80),
    (guessed(0.1, 0.9, (520,), raters=5), 520),
    (guessed(0.5, 0.79, (300,), raters=3), 300),
    (guessed(0.05, 0.79, (60,), raters=5), 60),
    (guessed(0.05, 0.79, (60,), raters=10), 60),
    (guessed(0.02, 0.3, (300,), raters=10), 300),
    (overlooked(0.015, 0.5, (300,), 3), 300),
    (overlooked(0.015, 0.5, (100,), 5), 100),
    (overlooked(0.015, 0.5, (300,), 5), 300),
)


def _weights(seen: np.ndarray) -> Iterator[np.ndarray]:
    """Ways to weigh the splits of an unseen item between two categories, three items in all.

    - full: every split weighs the same.
    - the default: a split that was seen more than five times weighs less.
    - lighter: all splits together differ as much as one item that is split evenly.
    - kinds: one item each for agreement on either category, and for all splits that differ.

    With two raters, full, lighter and kinds are the same.
    """
    size = len(seen) - 1
    full = np.full(size + 1, PRIOR_MASS / (size + 1))
    times = np.concatenate([[0.0], seen[1:-1], [0.0]])
    yield full
    yield full * OFTEN_SEEN_TIMES / np.maximum(times, OFTEN_SEEN_TIMES)
    yield full * 2 * (size // 2) * (size - size // 2) / (size * (size - 1))
    yield np.concatenate([[1.0], np.full(size - 1, 1 / (size - 1)), [1.0]])


def _weighed(population: Mixture, n: int, asked: Asked) -> np.ndarray:
    """For each way, the shares of rounds in percent: a limit above the truth, and admitted."""
    size, record, truth = population.given.shape[1], MEASURES[ALPHA], population.truth(ALPHA)
    rows = np.column_stack([np.arange(size, -1, -1), np.arange(size + 1)])
    splits, yes = CategoryCounts(rows, scale=population.scale), population.ways[0].sum(1)
    found = np.zeros((4, 2))
    for number, (weights, times) in enumerate(population.rounds(n, asked.rounds, 0)):
        rng = np.random.default_rng([number, n])
        seen = np.bincount(yes, weights, minlength=size + 1)
        value = record(splits.with_weights(seen)).value
        plain, *weighed = (
            record(splits.with_weights(rng.dirichlet(seen + mass, asked.inference.n_resamples) * n))
            for mass in (1e-9, *_weights(seen))
        )
        if np.isnan(value):
            continue
        for place, each in enumerate(weighed):
            known = build_expanded_percentiles(
                each.value, float(value), record.bounds, n, seen_draws=plain.value
            )
            low = known.limits(TAIL).low
            found[place] += times * np.array([low > truth, low >= RELIABLE])
    return 100 * found / asked.rounds


@study("population | true α | items | full | the default | lighter | kinds", rounds=2000, draws=400)
def unseen_weights(asked: Asked) -> Iterator[Cells]:
    """What other weights of unseen disagreement would save, and which lower limits would fail."""
    for population, n in WEIGHED:
        shares = [", ".join(map("{:.1f}".format, of)) for of in _weighed(population, n, asked)]
        yield population.name, f"{population.truth(ALPHA):.2f}", n, *shares


CHOSEN = (
    "krippendorff_alpha",
    "alpha_by_category",
    "fleiss_kappa",
    "gwet_ac1",
    "shah_kappa_s",
    "bennett_s",
    "percent_agreement",
    "category_agreement",
    "specific_agreement",
    "kraemer_icc",
    "light_kappa",
)


@study("measure | every item has three | a third where two differ")
def chosen_ratings(_: Asked) -> Iterator[Cells]:
    """How a third rater who is asked only where two differ moves each measure. Values are exact.

    Of a measure of every category, the table has that of the lowest.
    """
    both = where_two_differ(0.235)
    for name in CHOSEN:
        record = MEASURES[name]
        of = [each.counts().merged() if record.needs == "counts" else each for each in both]
        yield f"`{name}`", *(f"{record(each).value.min():.3f}" for each in of)
