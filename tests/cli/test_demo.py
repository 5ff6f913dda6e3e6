from agreement_pipeline.cli import main


def test_a_worse_export_without_an_export_runs_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--worse"]) == 2
    said = capsys.readouterr().err
    assert "found --worse without --export; expected both. Add --export FILE." in said
    assert list(tmp_path.iterdir()) == []
