"""A store, an original, and a release that each test may change."""

import shutil

import pytest

from agreement_pipeline.release import release_dataset
from agreement_pipeline.store import Store
from tests.release.forging import CONTRACT, POLICY, make_ratings


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", salt=b"a salt for tests")


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "export.csv"
    path.write_bytes(b"as delivered")
    return path


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    for name in ("r1", "r2"):
        store.ingest(name, make_ratings(name), folder / "export.csv")
    return release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo").path


@pytest.fixture
def copy(released, tmp_path):
    return shutil.copytree(released, tmp_path / "downloaded")
