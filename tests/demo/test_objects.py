"""The bundled rounds of spans and of boxes."""

import hashlib
from pathlib import Path

import pytest

from agreement_pipeline.demo.objects import WRITE_ROUNDS_BY_PROJECT
from agreement_pipeline.policy import judge
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.readers import read

PROJECTS = Path(__file__).parents[2] / "configs" / "projects"


@pytest.fixture(scope="module", params=["entities", "cells"])
def judged(request, tmp_path_factory):
    """The decision on each round of a project, and the verdicts in words."""
    project = Project(load_project(PROJECTS / f"{request.param}.yaml"))
    said = project.settings
    found = {}
    for path in WRITE_ROUNDS_BY_PROJECT[request.param](tmp_path_factory.mktemp(request.param)):
        ratings = read(path, said.columns, scale=said.scale, rules=said.rules)
        found[path.stem] = judge(ratings, project.policy).verdicts
    return request.param, found


def test_the_first_round_is_admitted_and_the_second_is_held(judged):
    _, found = judged
    verdicts = {name: {each.kind for each in said} for name, said in found.items()}
    assert verdicts["2026-W01"] == {"reliable"}
    assert verdicts["2026-W02"] != {"reliable"}


def test_the_reason_names_the_category_and_what_the_disagreement_is_about(judged):
    project, found = judged
    whole, by_category = (each.reason for each in found["2026-W02"])
    if project == "entities":
        assert "the lower limit reaches 0.8" in whole
        assert "lowest: DOSE, 90% of the disagreement on marking" in by_category
    else:
        assert "the upper limit is under 0.667" in whole
        assert "(lowest: cell, all of the disagreement on naming)" in by_category


def test_a_seed_gives_the_same_bytes(tmp_path):
    digests = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("one", "other")
        for path in WRITE_ROUNDS_BY_PROJECT["entities"](tmp_path / folder)
    ]
    assert digests[:2] == digests[2:]
    assert len(set(digests)) == 2
