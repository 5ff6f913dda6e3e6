"""A project says what the units of its label objects are."""

import pytest
from pydantic import ValidationError

from agreement_pipeline.projects import ProjectSettings
from agreement_pipeline.units import UnitSettings

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


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"units": {"kind": "words"}}, "found 'words'; expected one of spans"),
        ({"units": {"kind": "spans", "colour": 1}}, "colour"),
        ({"units": {"kind": "spans", "rule": "pairs"}}, "found 'pairs'; expected one of"),
        (
            {"units": {"kind": "spans"}, "columns": {"round": "week"}},
            "found units beside a column of rounds",
        ),
        ({"units": {"kind": "spans"}, "layout": "wide"}, "or a wide layout"),
    ],
)
def test_units_that_cannot_be_are_refused(more, message):
    with pytest.raises(ValidationError, match=message):
        settings(**more)
