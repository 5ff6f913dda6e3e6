"""Releases that each test may change."""

import shutil

import pytest

from agreement_pipeline.release import release_dataset
from agreement_pipeline.store import Store
from tests.release import rounds
from tests.release.forging import CONTRACT, POLICY, make_ratings
from tests.releases import current_release


def delivered(folder, **rounds):
    """A store of some rounds."""
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    for name, ratings in rounds.items():
        store.ingest(name, ratings, folder / "export.csv")
    return store


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    made = {name: make_ratings(name) for name in ("r1", "r2")}
    store = delivered(tmp_path_factory.mktemp("store"), **made)
    return release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo").path


@pytest.fixture
def copy(released, tmp_path):
    return shutil.copytree(released, tmp_path / "downloaded")


@pytest.fixture(scope="session")
def let_out_once(tmp_path_factory):
    store = delivered(tmp_path_factory.mktemp("let out"), r1=rounds.make_ratings())
    rounds.released(store)
    return store.root


@pytest.fixture
def let_out(store, let_out_once):
    """The release of a round r1, in the store of the test."""
    shutil.copytree(let_out_once, store.root, dirs_exist_ok=True)
    return current_release(store, "r1")
