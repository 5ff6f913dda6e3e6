"""The benchmarks of time and memory: what is generated, measured and printed."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.cases import (
    ALPHA_WITH_INTERVAL,
    GROUPED,
    KRIPPENDORFF,
    TOPICS,
    Program,
    Round,
    Topic,
)
from benchmarks.measuring import Bench, Result, median, run
from benchmarks.page import table, three_lines
from benchmarks.rounds import LABELS, written


def test_every_rater_rates_every_item_once_a_meeting_in_shuffled_rows(tmp_path):
    frame = pd.read_csv(written(tmp_path / "round.csv", Round(300, 4, meetings=2)))
    keys = frame.groupby(["item", "rater", "occurrence"]).size()
    assert (len(frame), len(keys), frame["item"].nunique()) == (2400, 2400, 300)
    assert set(frame["label"]) == set(LABELS)
    assert not frame["item"].is_monotonic_increasing
    assert (frame["item"].str.len() == 16).all()


def test_raters_agree_on_the_clear_items_and_guess_the_labels_of_the_others(tmp_path):
    frame = pd.read_parquet(written(tmp_path / "round.parquet", Round(20_000, 3, clear=0.7)))
    unanimous = (frame.groupby("item")["label"].nunique() == 1).mean()
    assert unanimous == pytest.approx(0.7 + 0.3 / 25, abs=0.01)


def test_both_formats_hold_the_same_rows_and_some_are_missing(tmp_path):
    made = Round(5000, 4, 0.1)
    rows = pd.read_parquet(written(tmp_path / "round.parquet", made))
    assert rows.equals(pd.read_csv(written(tmp_path / "round.csv", made)).astype(rows.dtypes))
    assert len(rows) == pytest.approx(18_000, abs=200)


def test_grades_are_whole_and_numbers_hardly_ever_repeat(tmp_path):
    grades, numbers = (
        pd.read_parquet(written(tmp_path / f"{kind}.parquet", Round(1000, labels=kind)))["label"]
        for kind in ("grades", "numbers")
    )
    assert sorted(set(grades)) == [1, 2, 3, 4, 5]
    assert numbers.nunique() == 5000


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units")


@on_linux
def test_the_peak_memory_is_that_of_the_program():
    program = "x = b'1' * 300_000_000; print('{}')"
    # A process starts with the peak of the one that starts it, and that of the tests may be large.
    measured = f"""
import sys
from benchmarks.measuring import run
found, printed = run([sys.executable, "-c", {program!r}])
print(found.failed, printed.strip(), found.peak)
"""
    said = subprocess.run(
        [sys.executable, "-c", measured],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    failed, printed, peak = said.stdout.strip("\n").split(" ")
    assert (failed, printed) == ("", "{}")
    assert 300_000_000 / 2**20 < float(peak) < 500


@on_linux
@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise ValueError('no such column')", "ValueError: no such column"),
        ("x = bytearray(10 ** 14)", "out of memory"),
        ("import time; time.sleep(60)", "stopped after 1 s"),
    ],
)
def test_a_program_without_figures_says_why(program, why):
    found, _ = run([sys.executable, "-c", program], most_seconds=1)
    assert found.failed == why


def topic(*programs):
    return Topic("one", "One topic", (Round(200), Round(2000)), programs)


def counting(folder, name, failing=""):
    """A program that notes each of its runs."""
    code = f"open({str(folder / name)!r}, 'a').write('x'); print('{{{{}}}}'); {failing}"
    return Program(name, "", ("-c", code))


@on_linux
def test_what_was_measured_is_not_measured_again_unless_forgotten(tmp_path):
    bench, program = Bench(tmp_path / "data"), counting(tmp_path, "runs")
    one = topic(program)
    for repeats in (2, 2, 3):
        bench.measured(one, one.rounds[0], program, repeats)
    assert (tmp_path / "runs").read_text() == "xxx"
    bench.forget({"one"})
    bench.measured(one, one.rounds[0], program, 1)
    assert (tmp_path / "runs").read_text() == "xxxx"


@on_linux
def test_a_program_that_failed_is_not_run_on_larger_rounds(tmp_path):
    bench = Bench(tmp_path / "data")
    program = counting(tmp_path, "runs", "raise SystemExit(3)")
    one = topic(program)
    for made in one.rounds:
        bench.measured(one, made, program, 3)
    assert (tmp_path / "runs").read_text() == "x"
    assert [each.failed for each in bench.known()][1:] == ["failed on a smaller round"]


def test_a_ratio_is_one_of_medians_and_other_values_are_named():
    ours, other = Program("ours", "", ()), Program("other", "", ())
    one = topic(ours, other)
    key = one.rounds[0].name
    known = [
        Result("one", key, name, 1.0, cpu, 50.0, value)
        for name, figures, value in (("ours", (1, 2, 9), 0.5), ("other", (8, 7, 100), 0.6))
        for cpu in figures
    ]
    assert [median(known[:3]).cpu, median(known[3:]).cpu] == [2, 8]
    assert table(known, one).splitlines()[4:] == [
        "| 1,000 | ours | 2.00 | 50 | 1 |",
        "| 1,000 | other | 8.00 | 50 | 4; its value is 0.60000, not 0.50000 |",
    ]


def test_results_can_be_read_back(tmp_path):
    bench = Bench(tmp_path)
    result = Result("one", "200", "ours", 1.5, 2.5, 3.5, 0.25, "a note")
    bench.results.write_text(json.dumps(result._asdict()) + "\n")
    assert bench.known() == [result]


def test_every_round_of_a_topic_has_a_name_of_its_own():
    for each in TOPICS:
        assert len({made.name for made in each.rounds}) == len(each.rounds)
    assert len({each.name for each in TOPICS}) == len(TOPICS)


def test_the_answer_has_three_lines_of_the_largest_round_that_all_three_programs_read():
    rounds = next(each for each in TOPICS if each.name == "alpha").rounds
    names = [each.name for each in (ALPHA_WITH_INTERVAL, KRIPPENDORFF, GROUPED)]
    known = [
        Result("alpha", rounds[place].name, name, 1, 2.04 + place, 1500.4)
        for place in (0, 1, 2)
        for name in names
    ]
    known[-2] = known[-2]._replace(failed="out of memory")
    assert three_lines(known).splitlines() == [
        "| 100,000 ratings, Parquet | CPU s | MB |",
        "| --- | ---: | ---: |",
        *(f"| {name} | 3.0 | 1,500 |" for name in names),
    ]
