"""Student's distribution agrees with its definition, computed by mpmath with 40 digits."""

import math

import mpmath
import pytest

from agreement_pipeline.students_t import lower_tail_probability, quantile


def tail_by_definition(t, df):
    """The integral of the density, over the angle whose tangent is the value over its root."""
    with mpmath.workdps(40):
        t, df = mpmath.mpf(t), mpmath.mpf(df)
        start, step = mpmath.atan(abs(t) / mpmath.sqrt(df)), 1 / mpmath.sqrt(df)
        places = [start + step * k for k in (0, 0.5, 1, 2, 4, 8, 16, 32)]
        ends = [place for place in places if place < mpmath.pi / 2] + [mpmath.pi / 2]
        constant = mpmath.exp(mpmath.loggamma((df + 1) / 2) - mpmath.loggamma(df / 2))
        beyond = mpmath.quad(lambda angle: mpmath.cos(angle) ** (df - 1), ends)
        tail = constant / mpmath.sqrt(mpmath.pi) * beyond
        return float(tail if t < 0 else 1 - tail)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 29, 30, 99, 1000, 100_001, 1_000_000])
def test_the_lower_tail_is_that_of_the_definition(df):
    values = (-300.0, -40.0, -3.2, -1.0, -0.01, 0.0, 0.5, 2.0, 12.0)
    assert [lower_tail_probability(t, df) for t in values] == pytest.approx(
        [tail_by_definition(t, df) for t in values], rel=1e-11, abs=1e-13
    )
    assert (lower_tail_probability(-math.inf, df), lower_tail_probability(math.inf, df)) == (
        0.0,
        1.0,
    )


@pytest.mark.parametrize("df", [1, 2, 3, 4, 29, 199, 200, 1000, 1_000_000])
def test_the_quantile_has_its_probability_below_it(df):
    shares = (1e-9, 1e-4, 0.025, 0.4, 0.9, 0.975, 0.9995)
    assert [tail_by_definition(quantile(p, df), df) for p in shares] == pytest.approx(
        shares, rel=1e-9
    )
    assert quantile(0.5, df) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "df", "table"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.95, 10, 1.812),
        (0.995, 30, 2.750),
        (0.9, 120, 1.289),
    ],
)
def test_the_quantile_is_that_of_a_printed_table(p, df, table):
    assert quantile(p, df) == pytest.approx(table, abs=5e-4)
    assert quantile(1 - p, df) == pytest.approx(-table, abs=5e-4)


def test_what_is_no_number_has_no_tail():
    with pytest.raises(ValueError, match="found NaN"):
        lower_tail_probability(math.nan, 9)
