"""Tests of contracts look at ratings each time."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def checked_once():
    """Nothing is remembered here."""
