"""One code location decides for a store: it may change its policy, and another is refused."""

from types import SimpleNamespace

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import StoreError
from agreement_pipeline.orchestration.runs import bind_store_to_code_location
from agreement_pipeline.store import Store
from tests.events import record


def at(root, location):
    store = Store(root)
    store.log.location = location
    return store


def locations(root):
    return [entry.get("location") for entry in Store(root).history()]


def test_another_code_location_is_refused_until_the_store_is_adopted(tmp_path, capsys):
    record(at(tmp_path, "one"), "ingested", "r1")
    record(at(tmp_path, "one"), "decided", "r1")
    with pytest.raises(StoreError, match="code location 'one' decides for; expected 'two', since"):
        record(at(tmp_path, "two"), "ingested", "r2")
    assert main(["store", "adopt", str(tmp_path), "two", "--by", "Kim Lee"]) == 0
    assert "adopted: code location two decides for" in capsys.readouterr().out
    record(at(tmp_path, "two"), "ingested", "r2")
    with pytest.raises(StoreError, match="agreement-pipeline store adopt STORE LOCATION"):
        record(at(tmp_path, "one"), "ingested", "r3")
    assert locations(tmp_path) == ["one", "one", "two", "two"]
    assert main(["history", "--store", str(tmp_path)]) == 0
    assert "by code location two, as Kim Lee asked" in capsys.readouterr().out


def test_the_same_code_location_and_those_without_a_name_may_write(tmp_path):
    record(at(tmp_path, None), "ingested", "r1")
    record(at(tmp_path, "one"), "ingested", "r2")
    for n in range(40):
        record(at(tmp_path, "one" if n % 2 else None), "ingested", f"s{n}")
    assert locations(tmp_path) == [None, *["one"] * 41]


def test_a_run_names_its_code_location(tmp_path):
    store = Store(tmp_path)
    origin = SimpleNamespace(code_location_origin=SimpleNamespace(location_name="here"))
    run = SimpleNamespace(remote_job_origin=SimpleNamespace(repository_origin=origin))
    bind_store_to_code_location(SimpleNamespace(run=run), store)
    assert store.log.location == "here"
    bind_store_to_code_location(SimpleNamespace(run=SimpleNamespace(remote_job_origin=None)), store)
    assert store.log.location is None


@pytest.mark.parametrize("name", ["", "  ", "one\ntwo"])
def test_a_store_is_adopted_by_a_name_that_is_seen(tmp_path, capsys, name):
    record(at(tmp_path, "one"), "ingested", "r1")
    assert main(["store", "adopt", str(tmp_path), name]) != 0
    assert "expected its name in visible letters" in capsys.readouterr().err
    assert locations(tmp_path) == ["one"]


def test_a_place_without_a_store_is_not_adopted(tmp_path, capsys):
    assert main(["store", "adopt", str(tmp_path / "none"), "one"]) != 0
    assert "found no store" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
