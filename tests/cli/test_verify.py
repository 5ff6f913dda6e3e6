import pytest

from agreement_pipeline.cli import main


@pytest.mark.parametrize("demand", ["self_agreement>=0.5", "alpha>=80", "alfa>=0.8"])
def test_a_demand_that_is_none_is_refused_by_its_own_words(tmp_path, capsys, demand):
    assert main(["verify", str(tmp_path), "--require", "alpha>=0.8", "--require", demand]) == 2
    assert f"error: --require {demand}: " in capsys.readouterr().err


def test_two_policies_are_not_required_of_a_release(tmp_path, capsys):
    asked = ["verify", str(tmp_path), "--require", "policy=standard", "--require", "policy=strict"]
    assert main(asked) == 2
    assert "--require: found 2 policies; expected one" in capsys.readouterr().err


def test_verify_refuses_what_is_no_release(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 10
    assert "refused (release_unfinished)" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "misspelt")]) == 10
    said = "found no folder with files; expected that of a release. Check the path."
    assert said in capsys.readouterr().out


def test_a_folder_of_releases_says_which_there_are(tmp_path, capsys):
    for name in ("w1/a1", "w2/b2"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    assert main(["verify", str(tmp_path)]) == 10
    said = capsys.readouterr().out
    assert "found 2 releases in this folder; expected the folder of one release itself." in said
    assert f"Name it: {tmp_path}/w1/a1 and {tmp_path}/w2/b2." in said


def test_a_demand_without_a_cut_off_is_refused(tmp_path, capsys):
    assert main(["verify", str(tmp_path), "--require", "alpha"]) == 2
    assert capsys.readouterr().err == (
        "error: --require alpha: found no cut-off; expected MEASURE>=NUMBER, as alpha>=0.8. "
        "Correct it.\n"
    )
