"""The collector is still while large libraries are imported, and at work afterwards."""

import gc

import pytest

from agreement_pipeline.imports import without_collection


@pytest.fixture(autouse=True)
def thawed():
    yield
    gc.unfreeze()


def test_what_an_import_makes_is_never_looked_at_again():
    gc.unfreeze()
    with without_collection():
        assert not gc.isenabled()
        made = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() > len(made)


def test_the_collector_works_again_after_an_import_that_failed():
    with pytest.raises(ImportError), without_collection():
        raise ImportError
    assert gc.isenabled()
