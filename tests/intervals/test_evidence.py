"""Measures under blocks of weights beside the same measures under the whole table of weights."""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.intervals import compute_points, evidence
from agreement_pipeline.intervals.draws import PRIOR_MASS
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater

NAMES = [
    name
    for name, record in MEASURES.items()
    if record.needs in ("patterns", "panel") and "ordinal" in record.levels
]
SCALE = Scale(tuple("abc"), level="ordinal")


def labels(missing):
    """Twelve items of five raters, some rows of which stand for several items."""
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, (12, 1))
    codes = np.where(rng.random((12, 5)) < 0.7, truth, rng.integers(0, 3, (12, 5)))
    codes[rng.random(codes.shape) < missing] = -1
    raters = tuple(f"r{place}" for place in range(5))
    return LabelsByRater(codes, rng.integers(1, 5, 12), scale=SCALE, raters=raters)


def point(name, missing):
    record, statistic = MEASURES[name], labels(missing)
    if record.needs == "panel":
        statistic = statistic.with_rater_apart("r0")
    if name.startswith("cohen"):
        statistic = statistic.select_raters(("r0", "r1"))
    return compute_points([record], statistic)[0]


def forms_of(point):
    categories = range(3) if point.record.per_category else [None]
    return [point.basis.with_unseen(PRIOR_MASS, category) for category in categories]


def plainly(point, weights_of):
    """The values of each form under the whole table of its weights, with nothing known of it."""
    found = []
    for place, form in enumerate(forms_of(point)):
        plain = form.with_weights(weights_of(place, form))
        value = point.record(plain).value
        found.append(value[..., place] if point.record.per_category else value)
    return np.stack(found, axis=-1) if point.record.per_category else found[0]


def block_of(point, size=6):
    seen, form = point.basis.weights, forms_of(point)[0]
    weights = np.random.default_rng(2).dirichlet(form.weights, size) * seen.sum()
    return weights, len(seen)


def with_each(point, seen, mass):
    def weights(_, form):
        unseen = form.weights.shape[-1] - len(seen)
        return np.hstack([np.tile(seen, (unseen, 1)), mass * np.eye(unseen)])

    return plainly(point, weights)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cells", [1, 10**8])
def test_each_unseen_row_alone_counts_as_in_the_whole_table(monkeypatch, name, missing, cells):
    monkeypatch.setattr(evidence, "MAX_CELLS", cells)
    here = point(name, missing)
    seen = here.basis.weights
    for weights, mass in ((seen, 1.0), (0.9 * seen, 0.1 * seen.sum())):
        found = evidence.compute_with_each_unseen([(here, forms_of(here))], weights, mass)[name]
        expected = with_each(here, weights, mass)
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_a_block_is_read_as_the_whole_table_of_its_weights(name, missing):
    here = point(name, missing)
    possible = evidence.build_possible_forms([here])
    drawn, n = block_of(here)
    raised_at = np.argmax(
        np.nan_to_num(with_each(here, here.basis.weights, 1.0), nan=-np.inf), axis=0
    )

    def unseen(_, form):
        kept = 5 / np.maximum(here.basis.times_seen(form), 5)
        return np.hstack([drawn[:, :n], drawn[:, n:] * kept])

    def raised(place, form):
        weights = drawn.copy()
        weights[:, n:] = 0.0
        weights[:, n + np.atleast_1d(raised_at)[place]] = drawn[:, n:].sum(1) / PRIOR_MASS
        return weights

    readings = evidence.compute_drawn_values(possible, [drawn.copy()], upper=True)
    found = [values[name] for values in readings]
    assert found[0] == pytest.approx(plainly(here, unseen), abs=1e-12, nan_ok=True)
    alone = here.record(here.basis.with_weights(drawn[:, :n])).value
    assert found[1] == pytest.approx(alone, abs=1e-12, nan_ok=True)
    assert found[2] == pytest.approx(plainly(here, raised), abs=1e-12, nan_ok=True)
