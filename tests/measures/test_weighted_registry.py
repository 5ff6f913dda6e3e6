import pytest

from agreement_pipeline import MEASURES
from agreement_pipeline.measures._registry import measure
from agreement_pipeline.measures._weights import LINEAR


def test_a_weighted_measure_is_registered_once_under_each_name_and_described_by_its_function():
    record = MEASURES["gwet_ac2_linear"]
    assert record.name == "gwet_ac2_linear"
    assert record.title == "Gwet's AC2, linear weights"
    assert record.description.startswith("AC1 with credit for near misses")
    assert record.levels == LINEAR.levels
    assert "gwet_ac2" not in MEASURES


def test_a_name_is_registered_once():
    settings = {"question": "inter-rater", "needs": "counts", "bounds": (0, 1), "undefined": (), "source": "none", "convention": "none"}
    with pytest.raises(ValueError, match="measure 'fleiss_kappa': a new name in lower case"):
        measure("Again", weightings={"fleiss_kappa": LINEAR}, **settings)(lambda counts: counts)
