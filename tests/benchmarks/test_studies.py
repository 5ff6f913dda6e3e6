"""The studies run, and the populations by which plans are tried have their true α, by hand."""

import numpy as np
import pytest

from agreement_pipeline.intervals import Inference
from benchmarks.populations import Errors
from benchmarks.studies import __main__ as program
from benchmarks.studies import admissions, failures
from benchmarks.studies.study import STUDIES, Asked, with_error

LONG = {"units", "power", "planned_sizes", "corrected_shares", "ways_to_plan", "made_plans"}
"""Their first lines take minutes."""
SIMULATED = {name for name, each in STUDIES.items() if not each.real}


@pytest.mark.parametrize("name", sorted(SIMULATED - LONG))
def test_a_study_has_a_line_with_a_cell_for_each_column(name, monkeypatch):
    monkeypatch.setattr(failures, "NIGHTS", range(40, 81, 20))
    n_resamples = 2_000 if name == "planned_looks" else 60
    line = next(STUDIES[name].lines(Asked(2, Inference(n_resamples=n_resamples))))
    assert len(line) == len(STUDIES[name].columns.split(" | "))


def test_a_study_is_written_between_the_marks_of_its_page(monkeypatch, tmp_path, capsys):
    marks = "<!-- gate: written by x -->", "<!-- end of gate -->"
    page, plot = tmp_path / "page.md", tmp_path / "gate.png"
    page.write_text("before\n{}\n\nold\n\n{}\nafter".format(*marks))
    monkeypatch.setattr(program, "PAGE", page)
    monkeypatch.setattr(admissions, "PLOT", plot)
    program.main(["gate", "--rounds", "2", "--draws", "50", "--write"])
    table = capsys.readouterr().out.rstrip()
    assert page.read_text() == f"before\n{marks[0]}\n\n{table}\n\n{marks[1]}\nafter"
    assert len(table.splitlines()) == 2 + 9
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize("option", [["--seed", "1"], ["--write"], ["--folder", "."]])
def test_an_option_that_would_do_nothing_is_refused(option, capsys):
    with pytest.raises(SystemExit):
        program.main(["holm_price", "--rounds", "2", *option])
    assert f"{option[0]}: found holm_price; expected a study " in capsys.readouterr().err


def test_a_study_of_real_rounds_reads_those_of_its_folder(tmp_path, capsys):
    with pytest.raises(SystemExit):
        program.main(["real_rounds"])
    assert "real_rounds: found no --folder; expected" in capsys.readouterr().err
    rows = [f"1,i{item},{rater},{item % 2},1" for item in range(20) for rater in "abc"]
    (tmp_path / "bits.csv").write_text("\n".join(["round,item,rater,label,replicate", *rows]))
    (tmp_path / "bits.json").write_text('{"scale": "nominal", "label_columns": ["label"]}')
    program.main(["real_rounds", "--folder", str(tmp_path)])
    assert "| bits | 1 | 60 | " in capsys.readouterr().out


def test_a_seed_draws_other_rounds(monkeypatch, capsys):
    monkeypatch.setattr(failures, "GROWING", dict([*failures.GROWING.items()][:1]))
    seeds = []
    monkeypatch.setattr(
        failures,
        "looked_at",
        lambda population, asked: seeds.append(asked.seed) or np.zeros((2, 1, 3)),
    )
    program.main(["looking", "--rounds", "1"])
    program.main(["looking", "--rounds", "1", "--seed", "3"])
    assert seeds == [0, 3]


def test_a_share_has_one_standard_error():
    assert with_error(np.array([True, False, False, False])) == "25.0 % ± 21.7"


def test_the_exact_test_of_open_numbers_admits_a_fortieth_of_rounds_at_the_cutoff():
    drawn = (
        Errors("alike", 0.8).drawn(40, np.random.default_rng(number)).values[:, :, 0]
        for number in range(4_000)
    )
    admitted = np.mean([admissions._is_admitted_exactly(numbers) for numbers in drawn])
    assert admitted == pytest.approx(0.025, abs=0.0075)


def test_camps_of_one_mind_read_as_many_items_in_two_ways_as_the_expected_alpha_says():
    """Of the six pairs of four raters, four differ on such an item, and chance differs in half."""
    population = admissions.as_expected(admissions.of_one_mind)
    assert population.share[-1] == pytest.approx((1 - 0.85) * (1 / 2) / (4 / 6))


def test_every_population_has_the_expected_alpha():
    for population in (
        admissions.as_assumed(),
        admissions.careless(),
        admissions.as_expected(admissions.camps),
        admissions.as_expected(admissions.of_one_mind),
    ):
        codes, likely = population.ways
        share = np.array([likely @ (codes == k).mean(1) for k in (0, 1)])
        differing = likely @ (2 * (codes == 0).sum(1) * (codes == 1).sum(1) / 12)
        assert 1 - differing / (2 * share.prod()) == pytest.approx(0.85), population.name


def test_rounds_that_decide_are_counted_with_their_number():
    population, asked = admissions.as_assumed(), Asked(20)
    assert admissions.deciding(population, 5_000, asked).sum() == 20
    assert admissions.deciding(population, 20, asked).sum() < 20
