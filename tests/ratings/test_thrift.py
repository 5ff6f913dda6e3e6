"""Thrift's compact form is read within bounds, and refused where it has no meaning."""

import pytest

from agreement_pipeline.ratings import thrift
from agreement_pipeline.ratings.thrift import Compact, FooterError


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        ("00", {}),
        ("15 02 00", {1: 1}),
        ("15 01 00", {1: -1}),
        ("16 80 01 00", {1: 64}),
        ("11 12 00", {1: True, 2: False}),
        ("05 28 7f 00", {20: -64}),
        ("18 02 68 69 00", {1: b"hi"}),
        ("19 25 02 04 00", {1: [1, 2]}),
        ("19 f6 03 02 02 02 00", {1: [1, 1, 1]}),
        ("1c 15 02 00 15 04 00", {1: {1: 1}, 2: 2}),
        ("17 00 00 00 00 00 00 f0 3f 00", {1: bytes.fromhex("000000000000f03f")}),
    ],
)
def test_values_are_those_of_the_specification(data, fields):
    assert Compact(bytes.fromhex(data)).struct() == fields


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "an end in the middle"),
        ("15", "an end in the middle"),
        ("15 02 15 02", "an end in the middle"),
        ("15 02 05 02 04 00", "field 1 twice"),
        ("18 7f 00", "127 bytes where 1 are left"),
        ("19 f6 ff ff ff ff 0f 00", "a list of 4294967295 values in 1 bytes"),
        ("16 ff ff ff ff ff ff ff ff ff ff 01 00", "a number of more than 10 bytes"),
        ("1b 00 00", "a value of kind 11"),
        ("1d 00", "a value of kind 13"),
        ("1c" * 30, "more than 24 deep"),
        ("19" * 30, "more than 24 deep"),
    ],
)
def test_what_has_no_meaning_is_refused(data, words):
    with pytest.raises(FooterError, match=words):
        Compact(bytes.fromhex(data)).struct()


def test_values_are_counted_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(thrift, "MOST_VALUES", 100)
    data = bytes.fromhex("19 f6 c8 01") + bytes(200) + b"\0"
    with pytest.raises(FooterError, match="more than 100 values"):
        Compact(data).struct()
