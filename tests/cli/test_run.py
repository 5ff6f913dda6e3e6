import pytest
import yaml

from agreement_pipeline.cli import main
from tests.orchestration.conftest import ratings_frame

PROJECT = (
    "project: {}\ninbox: {}\npolicy: exploratory\n"
    "scale: {{categories: [safe, offensive, hateful]}}\n"
)


@pytest.fixture
def two_projects(tmp_path, monkeypatch):
    """A folder with the projects `posts` and `reviews`, each with one good round."""
    projects = tmp_path / "configs/projects"
    projects.mkdir(parents=True)
    for name in ("posts", "reviews"):
        (tmp_path / name).mkdir()
        (projects / f"{name}.yaml").write_text(PROJECT.format(name, name))
        ratings_frame(0.99).to_csv(tmp_path / name / "w1.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_without_projects_is_refused(tmp_path, capsys):
    assert main(["run", "--root", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert not said.out
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert str(tmp_path) in line


@pytest.mark.parametrize("named", ["posts", "configs/projects/posts.yaml"])
def test_one_project_is_run_and_no_other(two_projects, capsys, named):
    assert main(["run", named]) == 0
    said = capsys.readouterr().out
    assert said.startswith("posts\n")
    assert "reviews" not in said
    stores = two_projects / ".agreement/store"
    assert [each.name for each in stores.iterdir()] == ["posts"]
    assert len([*stores.glob("posts/releases/w1/*/manifest.json")]) == 1


def test_a_name_without_a_project_is_refused(two_projects, capsys):
    assert main(["run", "post"]) == 2
    assert "Did you mean 'posts'?" in capsys.readouterr().err
    assert not (two_projects / ".agreement").exists()


def datasets(root, project="posts"):
    return [*root.glob(f".agreement/store/{project}/releases/{project}.dataset/*/manifest.json")]


def test_all_admitted_rounds_are_released_together(two_projects):
    assert main(["run", "posts"]) == 0
    assert len(datasets(two_projects)) == 1
    assert main(["run", "posts"]) == 0
    assert len(datasets(two_projects)) == 1


def test_a_project_that_releases_by_hand_waits_for_release(two_projects):
    with (two_projects / "configs/projects/posts.yaml").open("a") as file:
        file.write("release: by_hand\n")
    assert main(["run", "posts"]) == 0
    assert datasets(two_projects) == []
    assert main(["run", "posts", "--release"]) == 0
    assert len(datasets(two_projects)) == 1


def test_a_project_s_suite_is_asked_of_its_deliveries(two_projects, capsys):
    project = two_projects / "configs/projects/posts.yaml"
    project.write_text(f"{PROJECT.format('posts', 'posts')}contract: ours.yaml\n")
    rule = {
        "type": "expect_column_values_to_be_in_set",
        "kwargs": {"column": "language", "value_set": ["de"]},
    }
    contracts = two_projects / "configs/contracts"
    contracts.mkdir()
    (contracts / "ours.yaml").write_text(yaml.safe_dump({"expectations": [rule]}))
    table = ratings_frame(0.99).assign(language=["de"] * 359 + ["x"])
    table.to_csv(two_projects / "posts/w1.csv", index=False)
    assert main(["judge", str(project)]) == 1
    assert "language_in_set: 1 of 360 rows fail" in capsys.readouterr().out
    assert main(["run", "posts"]) == 1
    assert "language_in_set: 1 of 360 rows fail" in capsys.readouterr().out
    table.assign(language="de").to_csv(two_projects / "posts/w1.csv", index=False)
    assert main(["run", "posts"]) == 0
    (manifest,) = two_projects.glob(".agreement/store/posts/releases/w1/*/manifest.json")
    assert main(["verify", str(manifest.parent)]) == 0
    assert "1 check of the delivery, of which 0 failed" in capsys.readouterr().out
