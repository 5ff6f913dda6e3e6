"""Two names of one person are no panel until somebody says that they are two."""

from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.readers import Rules, read

CASES = Path(__file__).parents[1] / "cases"
ALIASES = CASES / "rater_aliases" / "alias_same.csv"


def test_names_that_print_alike_are_held():
    decision = judge(read(ALIASES), load_policy("standard"))
    assert decision.codes == ("contract:rater_names_differ",)
    said = " ".join(decision.reasons)
    assert "same_rater: [[Ana, ana]]" in said
    assert "different_raters: [[Ana, ana]]" in said


def test_names_that_are_declared_apart_are_judged():
    apart = read(ALIASES, rules=Rules(different_raters=(("Ana", "ana"),)))
    assert judge(apart, load_policy("standard")).admitted


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 1), (("--same-rater", "Ana,ana"), 2), (("--different-raters", "Ana,ana"), 0)],
)
def test_command_takes_both_declarations(options, status, capsys):
    assert main(["judge", str(ALIASES), "--policy", "standard", *options]) == status
    if status == 2:
        assert "found ratings by 1 rater" in capsys.readouterr().err


def test_init_asks_about_names(tmp_path, capsys):
    assert main(["init", str(ALIASES), "--root", str(tmp_path)]) == 0
    told = 'write same_rater: [["Ana", "ana"]], else different_raters: [["Ana", "ana"]]'
    assert told in capsys.readouterr().out
    project = tmp_path / "configs" / "projects" / "alias_same.yaml"
    declared = project.read_text() + 'different_raters: [["Ana", "ana"]]\n'
    project.write_text(declared)
    assert main(["judge", str(project)]) == 0
