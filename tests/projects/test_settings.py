"""What a project file may say; every mistake is named."""

import pytest
from dagster._core.definitions.utils import is_valid_owner
from pydantic import ValidationError

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects import ProjectSettings, load_project, load_projects
from agreement_pipeline.ratings import Scale, Trains
from agreement_pipeline.readers import Columns, Limits

SAID = {"project": "p", "inbox": "i", "scale": {"categories": ["a", "b"]}, "policy": "strict"}
MISREAD = "d@example.o|g"
"""No address, but Dagster accepts it."""
OWNERS = [
    MISREAD,
    *(
        "dana@example.org",
        "d.a-n+a_1%@a.b-c.example",
        "x@y.museum",
        "team:nlp",
        "team: ",
        "team:\n",
    ),
    *("", "Dana", "dana@example", "dana@example.o", "dana@example.toolongtld", "@example.org"),
    *("%d@example.org", ".d@example.org", "d@ex ample.org", "team:", "Team:nlp"),
    *(
        "d@example.org ",
        "d@example.org\n",
        "d\u00e9@example.org",
        "d@@example.org",
        "-@example.org",
    ),
]


@pytest.fixture
def saved(tmp_path):
    """Save a project file beside the policy that it names."""
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "configs/policies").mkdir()
    (tmp_path / "configs/policies/strict.yaml").touch()

    def save(text, name="p"):
        path = tmp_path / f"configs/projects/{name}.yaml"
        path.write_text(text)
        return path

    return save


def test_columns_limits_and_scale_are_the_objects_that_read():
    found = ProjectSettings(
        **SAID, columns={"item": "post", "raters": ["x", "y"]}, limits={"rows": 5}
    )
    assert found.scale == Scale(("a", "b"))
    assert found.columns == Columns(item="post", raters=("x", "y"))
    assert found.limits == Limits(rows=5)
    assert ProjectSettings(**found.model_dump()) == found
    assert ProjectSettings(**{**SAID, "columns": Columns(item="post")}).columns.item == "post"


def test_a_project_names_the_label_that_trains(saved):
    head = "project: p\ninbox: i\npolicy: strict\nscale: {categories: [a, b]}\n"
    assert load_project(saved(head)).trains is None
    assert load_project(saved(f"{head}trains: majority\n")).trains == Trains("majority")
    found = load_project(saved(f"{head}trains: {{label: one_rater, overlap: random_sample}}\n"))
    assert found.trains == Trains("one_rater", "random_sample")
    assert ProjectSettings(**found.model_dump()) == found
    assert found.reading_digest == load_project(saved(head)).reading_digest


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("trains: median", r"found median on the nominal level; expected an ordered scale"),
        ("trains: best", r"p\.yaml:5: trains.*found 'best'; expected one of plurality, majority"),
        (
            "trains: {label: majority, overlap: random_sample}",
            "found overlap beside label majority",
        ),
        (
            "trains: {label: one_rater, overlap: chosen}",
            "'chosen'; expected one of random_sample",
        ),
        ("trains: {labels: majority}", "labels"),
        ("trains: 3", "trains"),
    ],
)
def test_a_label_that_cannot_train_is_refused(saved, key, message):
    head = "project: p\ninbox: i\npolicy: strict\nscale: {categories: [a, b]}\n"
    with pytest.raises(ProjectError, match=message):
        load_project(saved(f"{head}{key}\n"))


def test_the_labels_of_a_certified_classifier_train_alone():
    with pytest.raises(ValidationError, match="found trains beside certified_by"):
        ProjectSettings(**SAID, classifiers=["m"], certified_by="q", trains="majority")


def test_categories_that_are_numbers_keep_every_digit():
    found = ProjectSettings(**{**SAID, "scale": {"categories": [12345678901234567890, 1.5, "b"]}})
    assert found.scale.names == ("12345678901234567890", "1.5", "b")


def test_settings_are_not_changed_once_they_are_checked():
    settings = ProjectSettings(**SAID)
    with pytest.raises(ValidationError, match="frozen"):
        settings.policy = "other"


def test_every_mistake_of_a_project_file_is_named_at_once(saved):
    path = saved(
        """project: Reviews
inbxo: inbox
scale:
  level: nomial
  categories: [yes, no]
policy: ../strict
columns: {rather: worker, item: 3}
schedule: weekly
overdue_after_days: true
limits: {rows: true}
owners: [Dana]
"""
    )
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    said = str(caught.value).split(f"{path}:")
    starts = [
        "1: project: found 'Reviews'; expected a lower case letter, then letters, digits or ",
        "1: found neither inbox nor rounds_from; expected one of the two. Name ",
        "2: inbxo: found an unknown key; expected one of ['project', 'inbox', 'rounds_from', ",
        "4: level: found 'nomial'; expected 'nominal', 'ordinal', 'interval', 'ratio' or ",
        "5: categories[0]: found True; expected text, a whole number or a number. Put yes, no, ",
        "5: categories[1]: found False; expected text, a whole number or a number. Put yes, no, ",
        "6: policy: found '../strict'; expected a name in configs/: letters, digits, dots, ",
        "7: rather: found an unknown key; expected one of ['item', 'rater', 'label', 'round', ",
        "7: item: found 3; expected text. Correct the value.",
        "8: schedule: found 'weekly'; expected a cron expression of five fields, as 0 6 * * 1",
        "9: overdue_after_days: found True; expected a number. Correct the value.",
        "10: rows: found True; expected a whole number from 1. Correct the value.",
        "11: owners: found ['Dana']; expected an e-mail address, or a team's name after team:. ",
    ]
    assert said[0] == ""
    assert len(said) == len(starts) + 1
    assert {start for start in starts if not any(each.startswith(start) for each in said)} == set()
    assert [int(each.split(":")[0]) for each in said[1:]] == sorted(
        int(each.split(":")[0]) for each in said[1:]
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("scale", {"categories": None, "level": "ordinal"}, "found no list of categories; expe"),
        ("scale", {"categories": ["a", "b"], "declared": False}, "found no list of categories"),
        ("scale", {"categories": "ab"}, "valid tuple"),
        (
            "scale",
            {"level": "nominal"},
            "found no categories; expected a list of them on the nominal",
        ),
        ("columns", {"raters": "ana"}, "valid tuple"),
        ("columns", {"item": "a", "rater": "a"}, "for two of them; expected a column for each"),
        ("classifiers", "gpt", "valid tuple"),
        ("classifiers", [4], "valid string"),
        ("settle_seconds", float("nan"), "found nan; expected a number from 0 to 86400"),
        ("settle_seconds", False, "found False; expected a number"),
        ("overdue_after_days", 10_001, "found 10001; expected a number from 1 to 10000"),
        ("overdue_after_days", 1.5, "valid integer"),
        ("limits", {"rows": "many"}, "found 'many'; expected a whole number from 1"),
        ("limits", {"rows": True}, "found True; expected a whole number from 1"),
        ("inbox", "a\0b", "expected a path or a URL of signs that print"),
        ("store", "x" * 201, "expected a path or a URL of signs that print"),
        ("layout", "broad", "'long' or 'wide'"),
    ],
)
def test_a_mistake_in_python_is_refused_too(key, value, words):
    with pytest.raises(ValidationError, match=words):
        ProjectSettings(**{**SAID, key: value})


@pytest.mark.parametrize("owner", OWNERS)
def test_the_owners_that_dagster_accepts_are_accepted_and_no_others(owner):
    if is_valid_owner(owner) and owner != MISREAD:
        assert ProjectSettings(**SAID, owners=[owner]).owners == (owner,)
        return
    with pytest.raises(ValidationError, match="expected an e-mail address, or a team's name after"):
        ProjectSettings(**SAID, owners=[owner])


def test_a_name_and_a_policy_that_do_not_fit_are_named_together(saved):
    path = saved("project: q\ninbox: i\nscale: {categories: [a, b]}\npolicy: other\n")
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    assert str(caught.value) == (
        f"{path}:1: project: found 'q' in p.yaml; expected 'p'. Name the file after the project. "
        f"{path}:4: policy: found 'other'; expected one of ['strict'], those in "
        f"{path.parents[1] / 'policies'}, or of the bundled ['classifier-standard', "
        "'exploratory', 'replicated', 'silver-standard', 'standard']. Correct the name, or write "
        "that policy."
    )


def test_a_list_as_a_category_is_refused_with_its_line(saved):
    path = saved("project: p\ninbox: i\nscale:\n  categories: [a, []]\npolicy: strict\n")
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    (found,) = str(caught.value).splitlines()
    assert found.startswith(f"{path}:4: ")
    assert found.endswith(
        "categories[1]: found []; expected text, a whole number or a number. Correct the value."
    )


def test_a_folder_without_a_project_is_refused_with_what_it_holds(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ProjectError, match=r"found \['notes.txt'\]; expected a project's YAML fi"):
        load_projects(tmp_path)


def test_a_silver_project_of_two_classifiers_is_told_to_be_two():
    two = {"classifiers": ["a", "b"], "certified_by": "people"}
    with pytest.raises(
        ValidationError, match=r"beside 2 classifiers; .* Give each its own project"
    ):
        ProjectSettings(**SAID, **two)
