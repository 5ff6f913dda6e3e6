"""A project says what the units of its label objects are."""

import json
from functools import partial

import pytest
from pydantic import ValidationError

from agreement_pipeline.projects import ProjectSettings
from agreement_pipeline.readers import read, read_rounds
from agreement_pipeline.units import UnitSettings
from tests.readers.drawings import label_studio_spans

SAID = {
    "project": "people",
    "inbox": "in",
    "policy": "standard",
    "scale": {"categories": ["none", "PER"], "level": "nominal"},
}


def settings(**more):
    return ProjectSettings.model_validate({**SAID, **more})


def test_units_are_settings_of_reading():
    said = settings(units={"kind": "boxes", "at_least": 0.7})
    assert said.rules.units == UnitSettings("boxes", at_least=0.7)
    assert settings().rules.units is None
    digests = {
        each.reading_digest for each in (said, settings(), settings(units={"kind": "boxes"}))
    }
    assert len(digests) == 3


def test_a_field_of_rounds_parts_objects_as_it_parts_ratings(tmp_path):
    path = label_studio_spans(tmp_path)
    tasks = json.loads(path.read_text())
    for task, week in zip(tasks, ("w1", "w1", "w2"), strict=True):
        task["data"]["week"] = week
    path.write_text(json.dumps(tasks))
    said = settings(units={"kind": "spans"}, columns={"item": "name", "round": "week"}, requires=[])
    assert read_rounds(path, said.columns) == ("w1", "w2")
    read_round = partial(read, path, said.columns, rules=said.rules, usable=False)
    assert {name.split()[0] for name in read_round(round_name="w1").to_pandas()["item"]} == {
        "d1",
        "d2",
    }
    assert {name.split()[0] for name in read_round(round_name="w2").to_pandas()["item"]} == {"d3"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"units": {"kind": "words"}}, "found 'words'; expected one of spans"),
        ({"units": {"kind": "spans", "colour": 1}}, "colour"),
        ({"units": {"kind": "spans", "rule": "pairs"}}, "found 'pairs'; expected one of"),
        ({"units": {"kind": "spans"}, "layout": "wide"}, "found units beside a wide layout"),
    ],
)
def test_units_that_cannot_be_are_refused(more, message):
    with pytest.raises(ValidationError, match=message):
        settings(**more)
