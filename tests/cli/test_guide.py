"""The guide comes with the package, and every topic that the package names is there."""

import ast
import re
from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.cli.guide import PACKAGE, guide_pages

DOCS = PACKAGE.parent / "docs"
NAMED = re.compile(r"(?:agreement-pipeline |`)guide ([a-z-]+)")
TOPICS = {
    topic
    for path in PACKAGE.rglob("*.py")
    for topic in NAMED.findall(re.sub(r'"\s*f?"', "", path.read_text()))
}


def test_every_topic_that_the_package_names_has_a_page():
    assert len(TOPICS) > 8
    assert {*dict(guide_pages())} >= TOPICS


def test_the_list_names_each_page_by_its_title(capsys):
    assert main(["guide"]) == 0
    told = capsys.readouterr().out
    assert "<!--" not in told
    assert "A deployment in which everything ends" in told


def sentences(path: Path) -> set[str]:
    """The texts of a module that are no docstrings."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in said)
    return {node.value for node in texts if isinstance(node.value, str)}


def test_no_sentence_of_the_package_names_a_file_that_a_wheel_does_not_have():
    found = {text for path in PACKAGE.rglob("*.py") for text in sentences(path)}
    assert len(found) > 5000
    assert not {text for text in found if re.search(r"docs/[a-z/-]+\.md", text)}


def test_a_page_is_printed_as_it_stands(capsys):
    assert main(["guide", "planning"]) == 0
    assert capsys.readouterr().out == (DOCS / "guide/planning.md").read_text()


def test_all_pages_are_listed_with_their_titles(capsys):
    assert main(["guide"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^replicates +Replicates$", said, re.MULTILINE)
    assert len(said.splitlines()) == len(guide_pages()) + 2


def test_a_page_that_is_not_there_is_refused_with_the_nearest(capsys):
    assert main(["guide", "planing"]) == 2
    assert "Did you mean 'planning'?" in capsys.readouterr().err


def test_a_topic_names_one_page():
    names = [name for name, _ in guide_pages()]
    assert len({*names}) == len(names)


@pytest.mark.parametrize("name", ["guide", "reasons"])
def test_the_wheel_has_the_pages(name):
    settings = (PACKAGE.parent / "pyproject.toml").read_text()
    assert f'"docs/{name}' in settings
    assert Path(DOCS, f"{name}.md").exists()
