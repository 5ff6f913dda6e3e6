"""Places that mean something else than they seem to, and files that nothing reads."""

import re
import shutil
from pathlib import Path

import pytest

from agreement_pipeline.errors import ProjectError, StoreError
from agreement_pipeline.projects import ProjectSettings, load_projects
from agreement_pipeline.store import storage_at

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("place", ["~/store", "~", "s3:/bucket/folder", "gs:/bucket"])
@pytest.mark.parametrize("key", ["inbox", "store", "root"])
def test_a_place_that_would_be_a_folder_of_an_odd_name_is_refused(key, place):
    said = {"project": "p", "inbox": "inbox", "policy": "standard", "scale": {"categories": [1, 2]}}
    with pytest.raises(ValueError, match="expected a path without ~, or a URL with two slashes"):
        ProjectSettings(**{**said, key: place})


@pytest.mark.parametrize(
    "name", ["projects/b.yml", "policies/p.yml", "waivers/w.yml", "waivers/more/w.yaml"]
)
def test_a_file_that_nothing_reads_is_refused_by_name(tmp_path, name):
    configs = shutil.copytree(ROOT / "configs", tmp_path / "configs")
    assert load_projects(configs / "projects")
    (configs / name).parent.mkdir(parents=True, exist_ok=True)
    (configs / name).write_text("project: b")
    with pytest.raises(ProjectError, match=f"{name}'\\], which nothing reads"):
        load_projects(configs / "projects")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("root: .agreement/inbox", "root: found a folder; expected none"),
        ("store: .agreement/inbox/moderation", "store: found '.agreement/inbox/moderation' inside"),
        ("store: .agreement/inbox/moderation/kept", "inside the inbox '.agreement/inbox/moderat"),
    ],
)
def test_a_project_cannot_choose_its_policies_or_keep_its_store_in_the_inbox(tmp_path, line, words):
    configs = shutil.copytree(ROOT / "configs", tmp_path / "configs")
    path = configs / "projects" / "moderation.yaml"
    path.write_text(f"{path.read_text()}\n{line}\n")
    with pytest.raises(ProjectError, match=re.escape(words)):
        load_projects(configs / "projects")


def test_a_folder_without_a_project_and_no_folder_are_told_apart(tmp_path):
    with pytest.raises(ProjectError, match="nowhere: found no such folder; expected a project's"):
        load_projects(tmp_path / "nowhere")
    (tmp_path / "projects").mkdir()
    with pytest.raises(ProjectError, match="projects: found no file; expected a project's YAML"):
        load_projects(tmp_path / "projects")


def test_p5_a_waiver_for_a_project_that_does_not_exist_is_refused(tmp_path):
    configs = shutil.copytree(ROOT / "configs", tmp_path / "configs")
    said = ["round: w1", f"ratings_digest: {'a' * 64}", "measure: gwet_ac1", "who: Dana Okoye"]
    said += ["why: adjudicated by hand", "until: 2027-01-31"]
    (configs / "waivers").mkdir()
    (configs / "waivers/w1.yaml").write_text("\n".join(["project: moderatoin", *said]))
    with pytest.raises(ProjectError, match=r"w1\.yaml: project: found 'moderatoin'; expected one"):
        load_projects(configs / "projects")
    (configs / "waivers/w1.yaml").write_text("\n".join(["project: moderation", *said]))
    assert load_projects(configs / "projects")


@pytest.mark.parametrize("place", ["gs://bucket/folder", "abfs://bucket/folder"])
def test_i11_another_bucket_than_s3_is_not_told_to_install_s3(place):
    with pytest.raises(StoreError, match=r"found no library for \w+://.*expected s3:// or a fol"):
        storage_at(place)
