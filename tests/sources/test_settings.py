"""What a project says of the source of its rounds."""

import pytest
from pydantic import ValidationError

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects import Project, ProjectSettings, load_project

SETTINGS = {"project": "p", "scale": {"categories": ["a", "b"]}, "policy": "standard"}


def test_project_has_an_inbox_or_a_source():
    for sources in ({}, {"inbox": "i", "rounds_from": {"asset": "a"}}):
        with pytest.raises(ValidationError, match="expected one of the two"):
            ProjectSettings(**SETTINGS, **sources)
    assert ProjectSettings(**SETTINGS, inbox="i").rounds_from is None
    assert ProjectSettings(**SETTINGS, rounds_from={"asset": "a/b"}).rounds_from.asset == "a/b"


@pytest.mark.parametrize(
    ("rounds_from", "words"),
    [
        ({}, "found no source"),
        ({"io_manager": "warehouse"}, "found no source"),
        ({"asset": ""}, "the key of an asset"),
        ({"asset": "a//b"}, "the key of an asset"),
        ({"asset": "/a"}, "the key of an asset"),
        ({"asset": "a\nb"}, "the key of an asset"),
        ({"assets": "a"}, "Extra inputs"),
    ],
)
def test_a_source_that_is_none_is_refused(rounds_from, words):
    with pytest.raises(ValidationError, match=words):
        ProjectSettings(**SETTINGS, rounds_from=rounds_from)


def test_mistakes_in_a_file_name_their_line(tmp_path):
    (tmp_path / "configs/projects").mkdir(parents=True)
    path = tmp_path / "configs/projects/p.yaml"
    path.write_text(
        "project: p\nscale: {categories: [a, b]}\npolicy: standard\nrounds_from:\n  aset: x\n"
    )
    with pytest.raises(ProjectError, match=r"p\.yaml:5: .*aset: .*Did you mean 'asset'"):
        load_project(path)
    path.write_text("rounds_from: {asset: x}\nproject: p\n")
    with pytest.raises(ProjectError, match=r"p\.yaml.*policy"):
        load_project(path)


def test_source_does_not_change_how_a_delivery_is_read():
    settings = [
        ProjectSettings(**SETTINGS, inbox="i"),
        ProjectSettings(**SETTINGS, rounds_from={"asset": "a"}),
    ]
    assert len({each.reading_digest for each in settings}) == 1


def test_deliveries_of_a_source_lie_beside_the_store(tmp_path):
    settings = ProjectSettings(**SETTINGS, rounds_from={"asset": "a"}, root=str(tmp_path))
    project = Project(settings).checked()
    assert project.inbox == tmp_path / ".agreement/deliveries/p"
    assert project.look().deliveries == {}
    assert project.due() == ()
