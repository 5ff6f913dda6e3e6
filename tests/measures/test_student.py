import pytest
from scipy.stats import t as student

from agreement_pipeline.measures._student import lower_tail, quantile


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 29, 30, 99, 1000, 100_001])
@pytest.mark.parametrize(
    "t", [float("-inf"), -300.0, -40.0, -3.2, -1.0, -0.01, 0.0, 0.5, 2.0, 12.0]
)
def test_the_lower_tail_is_scipys(t, df):
    assert lower_tail(t, df) == pytest.approx(student.cdf(t, df), abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 29, 199, 200, 1000, 1_000_000])
@pytest.mark.parametrize("p", [1e-4, 0.025, 0.4, 0.5, 0.9, 0.975, 0.9995])
def test_the_quantile_is_scipys(p, df):
    assert quantile(p, df) == pytest.approx(student.ppf(p, df), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("t", [-3.2, -0.01, 2.0])
def test_the_lower_tail_of_a_million_degrees_of_freedom_is_scipys_too(t):
    assert lower_tail(t, 1_000_000) == pytest.approx(student.cdf(t, 1_000_000), abs=1e-12)
