"""Thrift's compact form is read within bounds, and refused where it has no meaning."""

import pytest

from agreement_pipeline.ratings import footer
from agreement_pipeline.ratings.footer import Compact, FooterError


@pytest.mark.parametrize(
    ("name", "data", "fields"),
    [
        ("Empty", "00", {}),
        ("TimeType", "11 1c 1c 00 00 00", {"isAdjustedToUTC": True, "unit": {"MILLIS": {}}}),
        ("IntType", "13 40 12 00", {"bitWidth": 64, "isSigned": False}),
        ("DecimalType", "15 01 15 80 01 00", {"scale": -1, "precision": 64}),
        ("DecimalType", "05 02 04 05 04 06 00", {"scale": 2, "precision": 3}),
        ("KeyValue", "18 02 68 69 00", {"key": b"hi"}),
        ("GeospatialStatistics", "29 25 02 04 00", {"geospatial_types": [1, 2]}),
        ("GeospatialStatistics", "29 f5 03 02 02 02 00", {"geospatial_types": [1, 1, 1]}),
        ("BoundingBox", "17 00 00 00 00 00 00 f0 3f 00", {"xmin": bytes([*[0] * 6, 0xF0, 0x3F])}),
    ],
)
def test_values_are_those_of_the_specification(name, data, fields):
    assert Compact(bytes.fromhex(data)).struct(name) == fields


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("Empty", "", "an end in the middle"),
        ("KeyValue", "18", "an end in the middle"),
        ("KeyValue", "18 01 61 08 02 01 61 00", "field key of KeyValue twice"),
        ("KeyValue", "18 7f 00", "127 bytes where 1 are left"),
        ("KeyValue", "00", "no field key in KeyValue"),
        ("KeyValue", "15 02 00", "field key of kind 5"),
        ("KeyValue", "18 01 61 25 02 00", "field 3 of KeyValue, which the format does not know"),
        ("Empty", "05 82 80 08 00", "a number of more than 16 bits"),
        ("DecimalType", "15 80 80 80 80 10 15 02 00", "a number of more than 32 bits"),
        ("DecimalType", "16 02 15 02 00", "field scale of kind 6"),
        ("IntType", "15 40 11 00", "field bitWidth of kind 5"),
        ("DictionaryPageHeader", "15 01 15 00 00", "num_values of -1"),
        (
            "GeospatialStatistics",
            "29 f5 ff ff ff ff 0f 00",
            "a list of 4294967295 values in 1 byte",
        ),
        ("GeospatialStatistics", "29 16 02 00", "field geospatial_types of values of kind 6"),
        ("Statistics", "36" + " ff" * 10 + " 01 00", "a number of more than 10 bytes"),
        ("FileMetaData", "8c 00", "encryption"),
    ],
)
def test_what_has_no_meaning_is_refused(name, data, words):
    with pytest.raises(FooterError, match=words):
        Compact(bytes.fromhex(data)).struct(name)


def test_values_are_counted_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(footer, "MOST_VALUES", 100)
    data = bytes.fromhex("29 f5 c8 01") + bytes(200) + b"\0"
    with pytest.raises(FooterError, match="more than 100 values"):
        Compact(data).struct("GeospatialStatistics")
