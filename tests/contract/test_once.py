"""Great Expectations makes each object once while it checks a table, and is as ever otherwise.

That the findings are those of its handbook's way is in `test_coded.py`.
"""

from collections import Counter
from hashlib import md5
from json import dumps
from threading import Thread

import pytest

from agreement_pipeline.contract import asking
from agreement_pipeline.contract.once import made_once
from agreement_pipeline.yaml_files import Place
from tests.contract.tables import DEFAULT, good_table

GOOD = good_table()


@pytest.fixture(scope="module")
def built():
    """An expectation on a column."""
    return asking.suite_of(DEFAULT.rows, Place("contract"))["label_present"]


def test_each_expectation_is_made_and_described_once(built, monkeypatch):
    kind, calls = type(built), Counter()
    make, describe = kind.__init__, kind.dict

    def made(self, **settings):
        calls["made"] += 1
        make(self, **settings)

    def described(self, **options):
        calls["described"] += 1
        return describe(self, **options)

    monkeypatch.setattr(kind, "__init__", made)
    monkeypatch.setattr(kind, "dict", described)
    found = asking.answers({"label_present": built}, GOOD, {})
    assert found["label_present"].success
    assert calls == {"made": 2, "described": 3}  # to ask with, and to answer with


def test_what_is_made_is_the_same_object_inside_only(built):
    with made_once():
        described = built.configuration
        assert built.configuration is described
        assert described.to_domain_obj() is described.to_domain_obj()
    assert built.configuration is not built.configuration
    assert built.configuration == described
    assert described.to_domain_obj() is not described.to_domain_obj()


def test_another_thread_sees_no_difference(built):
    same = []

    def look():
        same.append(built.configuration is built.configuration)

    with made_once():
        looking = Thread(target=look)
        looking.start()
        looking.join()
    assert same == [False]


def test_an_expectation_that_was_changed_is_described_anew():
    (changed, *_) = asking.suite_of(DEFAULT.rows, Place("contract")).values()
    with made_once():
        assert changed.configuration.notes is None
    changed.notes = "changed"
    with made_once():
        assert changed.configuration.notes == "changed"


@pytest.mark.parametrize(
    "held",
    [
        {"a": None, "b": "text"},
        {"a": True, "b": 3},
        {"a": float("nan"), "b": 1.5},
        {"a": ["x", float("nan")], "b": {"c": (1, 2)}},
        {1: "a", "b": None},
    ],
)
def test_arguments_have_the_number_that_great_expectations_gives_them(built, held):
    from great_expectations.core.id_dict import IDDict
    from great_expectations.util import convert_to_json_serializable

    with made_once():
        number = IDDict(held).to_id()
    written = dumps(convert_to_json_serializable(held), sort_keys=True).encode()
    assert number == md5(written, usedforsecurity=False).hexdigest()
