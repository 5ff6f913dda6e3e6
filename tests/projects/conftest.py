"""What tests of projects share."""

import pytest


@pytest.fixture(autouse=True)
def _checked_once(checked_once):
    """Rounds of these tests are often the same."""
