"""What is known of the export that ratings came from."""

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES, Origin

SAID = {"reader": "argilla", "shows": ["raters", "drafts"], "left_out": {"draft": 2}}


def test_plain_data_give_the_origin_again():
    found = Origin.from_mapping(SAID)
    assert found == Origin("argilla", ("raters", "drafts"), {"draft": 2})
    assert found.to_mapping() == SAID


def test_the_order_in_which_it_is_said_does_not_matter():
    one = Origin.build("argilla", ["drafts", "raters"], {"skipped": 1, "draft": 2})
    other = Origin.build("argilla", ["raters", "drafts"], {"draft": 2, "skipped": 1})
    assert list(one.to_mapping()["left_out"]) == list(other.to_mapping()["left_out"])
    assert one == other


def test_what_is_not_shown_is_lacking():
    found = Origin.from_mapping(SAID)
    assert found.missing_capabilities(["gold", "drafts", "times"]) == ("gold", "times")
    assert {*found.missing_capabilities()} == {*CAPABILITIES} - {"raters", "drafts"}


@pytest.mark.parametrize(
    "change",
    [
        {"shows": ["raters", "mind reading"]},
        {"shows": None},
        {"left_out": {"draft": 0}},
        {"left_out": {"draft": "2"}},
        {"left_out": ["draft"]},
        {"reader": 1},
        {"more": 1},
    ],
)
def test_anything_else_is_refused(change):
    with pytest.raises(RatingsError, match="origin: found"):
        Origin.from_mapping(SAID | change)


def test_nothing_is_refused():
    with pytest.raises(RatingsError, match="origin: found "):
        Origin.from_mapping({})
