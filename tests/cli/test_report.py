from shutil import copy, copytree

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.release import judge_round
from tests.cli.rounds import ROOT, SEROLOGY, WIDE, policy


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project of the serology, with its round in the store."""
    root = tmp_path_factory.mktemp("root")
    for folder in ("projects", "policies", "rounds/serology"):
        (root / "configs" / folder).mkdir(parents=True)
    copied = (
        "projects/serology.yaml",
        "policies/serology.yaml",
        f"rounds/serology/{SEROLOGY.name}",
    )
    for path in copied:
        copy(ROOT / "configs" / path, root / "configs" / path)
    file = root / "configs/projects/serology.yaml"
    made = Project(load_project(file))
    made.keep(*made.delivered(SEROLOGY.stem))
    judge_round(made.store, SEROLOGY.stem, made.policy, made.contract)
    return file


def test_a_table_gets_a_page_with_numbered_raters_or_with_their_names(tmp_path, capsys):
    page = tmp_path / "pages" / "serology.html"
    asked = ["report", str(SEROLOGY), *WIDE, "--policy", str(policy(tmp_path))]
    assert main([*asked, "--output", str(page)]) == 0
    assert capsys.readouterr().out == f"wrote {page}\n"
    hidden = page.read_text(encoding="utf-8")
    assert f"<h1>{SEROLOGY.name}</h1>" in hidden
    assert "rater-1" in hidden
    assert "Ref-1" not in hidden
    assert main([*asked, "--names", "--output", str(page)]) == 0
    assert "Ref-1" in page.read_text(encoding="utf-8")


def test_a_step_on_a_page_names_classifiers_which_have_no_other_names_there(tmp_path, capsys):
    rows = [
        (item, rater, (item + (item % 20 == 0) * (rater == "ana")) % 2)
        for item in range(60)
        for rater in ("ana", "ben", "model_a")
    ]
    table = tmp_path / "labels.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(table, index=False)
    options = ["--classifier", "model_a", "--exclude-rater", "eva"]
    assert main(["report", str(table), *options, "--policy", "standard"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"plan {table} --classifier model_a --exclude-rater … --policy standard" in said


def test_without_a_file_the_sections_are_printed_as_text(project, tmp_path, capsys):
    """Serology: the interval 0.443 to 0.856 holds both cut-offs, 0.667 and 0.8."""
    assert main(["report", str(project), SEROLOGY.stem]) == 0
    said = capsys.readouterr().out
    for words in (
        f"{SEROLOGY.stem}\n{'=' * len(SEROLOGY.stem)}\nRound of project serology\n\nNo: held\n",
        "\n\nHeld: the only rule that can hold a release is not met.",
        "0.679 (0.446 to 0.859)",
        "What to do now\n\n1. ",
        f"   agreement-pipeline disputed serology {SEROLOGY.stem}\n",
        "Labels\n------\n",
        "Method\n------\n",
    ):
        assert words in said
    [line] = [each for each in said.splitlines() if each.endswith("  0.679 (0.446 to 0.859)")]
    assert line.index(":") < line.index("?") < line.index("|")
    assert main(["report", str(project)]) == 0
    assert "0 of 1 rounds are admitted." in capsys.readouterr().out


def test_a_table_is_printed_as_text_too(tmp_path, capsys):
    asked = ["report", str(SEROLOGY), *WIDE, "--policy", str(policy(tmp_path))]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{SEROLOGY.name}\n====")
    assert "rater-1" in said
    assert "Ref-1" not in said


def test_a_folder_gets_a_page_for_the_project_and_for_each_round(project, tmp_path, capsys):
    assert main(["report", str(project), "--output", str(tmp_path / "pages")]) == 0
    index = (tmp_path / "pages/index.html").read_text(encoding="utf-8")
    of_round = (tmp_path / f"pages/{SEROLOGY.stem}.html").read_text(encoding="utf-8")
    assert f'href="{SEROLOGY.stem}.html"' in index
    assert '<a href="index.html">All rounds</a>' in of_round
    assert "0 of 1 rounds are admitted." in index
    assert "Held: the only rule that can hold a release is not met." in of_round
    assert "Round of project serology" in of_round
    assert "Ref-1" not in index + of_round


def test_the_name_of_a_folder_that_is_there_may_hold_a_point_and_a_page_may_end_in_htm(
    project, tmp_path
):
    folder, page = tmp_path / "pages.v2", tmp_path / "page.HTM"
    folder.mkdir()
    for target in (folder, page):
        assert main(["report", str(project), "--output", str(target)]) == 0
    assert (folder / "index.html").read_text(encoding="utf-8")[:15].lower() == "<!doctype html>"
    assert page.read_text(encoding="utf-8")[:15].lower() == "<!doctype html>"


def test_a_folder_of_projects_gets_a_page_that_leads_to_each(project, tmp_path, capsys):
    folder = project.parent
    assert main(["report", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "1 of 1 project needs somebody" in said
    assert f"{SEROLOGY.stem}: held" in said
    assert main(["report", str(folder), "--output", str(tmp_path / "pages")]) == 0
    index = (tmp_path / "pages/index.html").read_text(encoding="utf-8")
    of_project = (tmp_path / "pages/serology/index.html").read_text(encoding="utf-8")
    assert '<a href="serology/index.html">serology</a>' in index
    assert '<a href="../index.html">All projects</a>' in of_project
    assert (tmp_path / f"pages/serology/{SEROLOGY.stem}.html").exists()
    assert main(["report", str(folder), SEROLOGY.stem]) == 2
    assert "Name the YAML file of one project" in capsys.readouterr().err


def test_a_project_without_a_round_has_no_page_and_the_others_have_theirs(
    project, tmp_path, capsys
):
    folder = copytree(project.parents[2], tmp_path / "root") / "configs/projects"
    said = project.read_text().replace("project: serology", "project: empty")
    (folder / "empty.yaml").write_text(said + f"store: {tmp_path / 'nothing'}\n")
    assert main(["report", str(folder), "--output", str(tmp_path / "pages")]) == 0
    said = capsys.readouterr().out
    assert f"empty: no page, since {tmp_path / 'nothing'}: found no round; expected one" in said
    index = (tmp_path / "pages/index.html").read_text(encoding="utf-8")
    assert 'href="serology/index.html"' in index
    assert 'href="empty/index.html"' not in index
    assert main(["report", str(folder / "empty.yaml")]) == 0
    said = capsys.readouterr().out
    assert "no round yet" in said
    assert "every round is admitted" not in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ([], "found a table without a policy"),
        (["w1", "--policy", "p.yaml"], "found a table with round 'w1'"),
    ],
)
def test_what_a_table_cannot_have_is_refused(tmp_path, capsys, more, why):
    page = tmp_path / "page.html"
    assert main(["report", str(SEROLOGY), *more, "--output", str(page)]) == 2
    assert why in capsys.readouterr().err
    assert not page.exists()


def test_a_page_is_written_under_no_name_of_another_kind_of_file(tmp_path, capsys):
    path = tmp_path / "page.pdf"
    assert main(["report", str(SEROLOGY), "--policy", "standard", "--output", str(path)]) == 2
    assert f"found {path}; expected a name ending in .html, or a folder." in capsys.readouterr().err
    assert not path.exists()


def test_what_a_project_names_itself_is_refused(project, tmp_path, capsys):
    page = str(tmp_path / "page.html")
    assert main(["report", str(project), "--level", "ordinal", "--output", page]) == 2
    assert "found a project with ['--level']" in capsys.readouterr().err


def test_a_round_that_is_not_there_is_refused(project, tmp_path, capsys):
    assert main(["report", str(project), "w9", "--output", str(tmp_path / "page.html")]) == 2
    assert "w9" in capsys.readouterr().err


def test_reasons_on_the_page_of_a_project_name_no_rater(project, monkeypatch):
    from agreement_pipeline.projects import pages

    found = pages.round_table(Project(load_project(project)).store)
    why = "it leaves out ['Ref-1'], and Ref-2 as well"
    told = found.assign(reason=f"rule: {why}", verdict="not_evaluated", broken="Ref-1 copies Ref-3")
    monkeypatch.setattr(pages, "round_table", lambda store: told.copy())
    hidden = pages.project_page(Project(load_project(project)))
    assert "it leaves out [&#39;rater-" in hidden
    assert "Ref-" not in hidden
    assert "Ref-2" in pages.project_page(Project(load_project(project)), names=True)
