from agreement_pipeline.cli import main


def test_a_folder_without_projects_is_refused(tmp_path, capsys):
    assert main(["demo", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert not said.out
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert str(tmp_path) in line


def test_a_worse_export_without_an_export_runs_nothing(tmp_path, capsys):
    assert main(["demo", "--root", str(tmp_path), "--worse"]) == 2
    said = capsys.readouterr().err
    assert "found --worse without --export; expected both. Add --export FILE." in said
