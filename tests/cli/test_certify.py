"""The command `certify`."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.projects import Project, load_project
from tests.models.test_certificates import make_ratings

SOON = (datetime.now(UTC).date() + timedelta(days=90)).isoformat()


@pytest.fixture
def project(tmp_path, original):
    path = tmp_path / "configs/projects/demo.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "project: demo\ninbox: inbox\n"
        "scale: {level: nominal, categories: ['no', 'yes']}\n"
        "layout: long\ncolumns: {item: item, rater: rater, label: label}\n"
        "classifiers: [judge]\npolicy: standard\n"
    )
    of = Project(load_project(path))
    digest = of.settings.reading_digest
    of.store.ingest("r1", make_ratings(wrong=0), original, settings_digest=digest)
    (path.parent / "prompt.txt").write_text("Is it rude?")
    (path.parent / "judge.yaml").write_text("name: judge\nmodel: m\nprompt: prompt.txt\n")
    return path


def test_a_classifier_is_certified_checked_and_refused_under_another_prompt(project, capsys):
    judge = str(project.with_name("judge.yaml"))
    assert main(["certify", str(project), judge, "--expires", SOON]) == 0
    said = capsys.readouterr().out
    assert said.startswith("certified: judge agrees with the panel of rounds ['r1'] on items")
    assert "warning: not known of it: ['version', 'rubric_digest', 'parameters', 'date']" in said
    assert main(["certify", str(project), judge, "--check", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == "certified"
    project.with_name("prompt.txt").write_text("Is it very rude?")
    assert main(["certify", str(project), judge, "--check"]) == 1
    assert "refused (certificate_other_prompt)" in capsys.readouterr().err


def test_a_held_classifier_ends_with_1_and_another_attempt_says_why(project, original, capsys):
    of = Project(load_project(project))
    bad = make_ratings(wrong=40, prefix="k")
    digest = of.settings.reading_digest
    of.store.ingest("r2", bad, original, settings_digest=digest)
    arguments = ["certify", str(project), str(project.with_name("judge.yaml")), "--expires", SOON]
    assert main(arguments) == 1
    assert capsys.readouterr().out.startswith("held: judge is not shown to agree with the panel")
    assert main([*arguments, "--round", "r1"]) == 1
    assert "refused (certificate_again)" in capsys.readouterr().err
    assert main([*arguments, "--round", "r1", "--reason", "posts of one kind"]) == 0
    said = capsys.readouterr().out
    assert "of which 1 held: posts of one kind" in said
    assert "not part of it: rounds ['r2'] of the same store" in said


@pytest.mark.parametrize("given", [[], ["--check", "--expires", SOON], ["--expires", "soon"]])
def test_a_certificate_is_made_or_checked(project, given, capsys):
    assert main(["certify", str(project), str(project.with_name("judge.yaml")), *given]) == 2
    assert "expected" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["--round", "r1"], ["--reason", "x"], ["--policy", "standard"]])
def test_a_check_takes_nothing_that_it_would_not_heed(project, given, capsys):
    judge = str(project.with_name("judge.yaml"))
    assert main(["certify", str(project), judge, "--expires", SOON]) == 0
    assert "\n  by the policy classifier-standard, version 1\n" in capsys.readouterr().out
    assert main(["certify", str(project), judge, "--check", *given]) == 2
    assert "expected none, since the certificate has its own" in capsys.readouterr().err


def test_anchors_that_are_labelled_again_end_the_certificate_of_a_classifier_that_drifted(
    project, tmp_path, capsys
):
    judge = str(project.with_name("judge.yaml"))
    main(["certify", str(project), judge, "--expires", SOON])
    again = tmp_path / "again.csv"
    for wrong, status, words in [
        (1, 0, "in 1 look; it may not fall under 0.943"),
        (40, 1, "refused (certificate_drifted)"),
    ]:
        labels = make_ratings(wrong=wrong).to_pandas()
        labels[labels["rater"] == "judge"].to_csv(again, index=False)
        capsys.readouterr()
        assert main(["certify", str(project), judge, "--anchors", str(again)]) == status
        assert words in "".join(capsys.readouterr())
        assert main(["certify", str(project), judge, "--check", "--format", "json"]) == status
        said = json.loads(capsys.readouterr().out)
        assert said.get("anchored", {}).get("n_looks") == (None if status else 1)
        assert said.get("code") == ("certificate_drifted" if status else None)
    assert main(["certify", str(project), judge, "--check"]) == 1
    assert "refused (certificate_drifted)" in capsys.readouterr().err
