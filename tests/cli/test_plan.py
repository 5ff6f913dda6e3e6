import pytest

from agreement_pipeline.cli import main


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
