import re

import pytest

from agreement_pipeline.cli import main
from tests.cli.rounds import ROOT, unanimous

STANDARD = ROOT / "configs/policies/standard.yaml"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("--rounds", "5", "found 5; expected a whole number from 100 to 1,000,000."),
        ("--rounds", "200.5", "found 200.5; expected a whole number from 100 to 1,000,000."),
        ("--rounds", "many", "found 'many'; expected a number."),
        ("--probability", "90", "found 90; expected a share between 0 and 1."),
        ("--probability", "nan", "found nan; expected a share between 0 and 1."),
        ("--labels-an-item", "two", "found 'two'; expected a number."),
        ("--prevalence", "0.5,half", "found 'half'; expected a number."),
    ],
)
def test_a_number_that_cannot_be_planned_with_is_refused_in_words(capsys, name, text, words):
    assert main(["plan", "--policy", "policy.yaml", name, text]) == 2
    said = capsys.readouterr().err
    assert said == f"error: {name}: {words} See agreement-pipeline plan --help.\n"


@pytest.mark.parametrize(
    "option",
    [
        ("--level", "nominal"),
        ("--layout", "long"),
        ("--item", "item"),
        ("--of-round", "w1"),
        ("--raters", "ana"),
        ("--confidence", "sure"),
    ],
)
def test_a_default_that_is_given_counts_as_given(capsys, option):
    assert main(["plan", "--policy", str(STANDARD), *option]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: plan without a table: found ['{option[0]}']; expected a table")


@pytest.mark.parametrize(
    "option", [("--expected", "0.85"), ("--prevalence", "0.5,0.5"), ("--labels-an-item", "3")]
)
def test_a_default_is_refused_beside_a_table_if_it_is_given(tmp_path, capsys, option):
    table = str(unanimous(tmp_path, 10))
    assert main(["plan", table, "--policy", str(STANDARD), *option]) == 2
    assert f"{table}: found a table with ['{option[0]}']; expected" in capsys.readouterr().err


def test_a_negative_value_is_read_as_a_number(capsys):
    asked = ["plan", "--policy", str(STANDARD), "--expected", "-0.5", "--rounds", "100"]
    assert main([*asked, "--format", "json"]) == 2
    assert "-0.5" in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_is_refused_before_the_simulation(tmp_path, capsys):
    asked = ["plan", "--policy", str(tmp_path / "absent.yaml")]
    assert main([*asked, "--plot", str(tmp_path / "plan.png")]) == 2
    assert "plan.png; expected a name ending in .svg" in capsys.readouterr().err


def test_a_plan_for_a_round_of_a_model_says_the_chance_of_both_rules(capsys):
    """Of 20,000 labels 2 % are wrong, so 390 drawn ones meet the limit in nine of ten rounds."""
    said = ["plan", "--policy", "silver-standard", "--wrong", "0.02", "--expected", "0.9"]
    assert main(said) == 0
    words = (
        r"draw 390 items, .* If their agreement is 0\.9, they meet the rules on agreement there "
        r"with (\d+)%, and the round meets both with about (\d+)%"
    )
    ((of_panel, of_both),) = re.findall(words, capsys.readouterr().err)
    assert int(of_panel) > 95
    assert int(of_both) == pytest.approx(0.9 * int(of_panel), abs=1)
