"""A round judged every night.

Looking often has a cost. Always valid limits pay for it.
"""

from pathlib import Path

import pytest


@pytest.fixture
def looking(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import looking

    return looking


@pytest.mark.slow
def test_a_limit_of_one_night_is_ever_above_the_truth_far_more_often_than_an_always_valid_one(
    looking,
):
    """An 80 % interval may miss on one side in a tenth of 100 rounds.

    By chance up to sixteen rounds may miss, which is two standard errors more.
    """
    found = looking.looked_at(
        looking.POPULATIONS["3 raters, 2 categories, careless raters"],
        rounds=100,
        draws=3_000,
        confidence_level=0.8,
    )
    assert found.last_night <= 16
    assert found.any_night >= 20
    assert found.always_valid <= 16


def test_the_script_prints_a_line_a_population(looking, monkeypatch, capsys):
    monkeypatch.setattr(looking, "NIGHTS", range(40, 81, 20))
    monkeypatch.setattr(
        looking, "looked_at", lambda population, *, rounds, draws: looking.Missed(rounds, 1, 2, 0)
    )
    looking.main(["--rounds", "4"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(looking.POPULATIONS)
    assert (
        "last night  25.0 % ± 21.7; any night  50.0 % ± 25.0; always valid   0.0 % ± 0.0"
        in lines[1]
    )
