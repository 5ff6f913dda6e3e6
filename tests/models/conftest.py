"""A classifier that is certified on a round, in a store that each test may change."""

import shutil

import pytest

from agreement_pipeline.models import certificates
from agreement_pipeline.release import decisions
from tests.models import silver
from tests.release.conftest import delivered


@pytest.fixture
def same_day(monkeypatch):
    """A test that began before midnight ends on the day on which it began."""
    for module in (certificates, decisions):
        monkeypatch.setattr(module, "today", lambda: silver.TODAY)


@pytest.fixture(scope="session")
def certifies_once(tmp_path_factory):
    store = delivered(tmp_path_factory.mktemp("certifies"), r1=silver.make_ratings())
    silver.certified(store)
    return store.root


@pytest.fixture
def certifies(store, certifies_once):
    """The store of the test, with a classifier that is certified on round r1."""
    shutil.copytree(certifies_once, store.root, dirs_exist_ok=True)
    return store
