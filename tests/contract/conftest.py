"""Tests of contracts ask Great Expectations each time."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def answered_once():
    """Nothing is remembered here."""
