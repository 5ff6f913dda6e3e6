import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.estimates import MAX_SHOWN
from tests.cli.rounds import SEROLOGY, WIDE, measured, of, unanimous

FIELDS = {
    "measure",
    "scope",
    "value",
    "low",
    "high",
    "confidence_level",
    "method",
    "n_items",
    "n_raters",
    "n_ratings",
    "undefined",
}


def test_measure_reproduces_the_serology_figures(capsys):
    found = measured(capsys, str(SEROLOGY), *WIDE, "--classifier", "T", "--all")

    assert of(found, "shah_kappa_s")["value"] == pytest.approx(0.67908, abs=5e-6)
    assert of(found, "fleiss_kappa")["value"] == pytest.approx(0.67614, abs=5e-6)
    assert of(found, "shah_s", "classifier T")["value"] == pytest.approx(0.63576, abs=5e-6)
    assert of(found, "vanbelle_albert_kappa", "classifier T")["value"] == pytest.approx(
        0.55128, abs=5e-6
    )
    assert all(set(each) >= FIELDS for each in found)


def test_measure_prints_a_table_with_a_line_for_every_estimate(capsys):
    assert (
        main(
            ["measure", str(SEROLOGY), *WIDE, "--measure", "fleiss_kappa", "--n-resamples", "1000"]
        )
        == 0
    )
    printed = capsys.readouterr().out.splitlines()

    assert printed[0].split() == [
        "measure",
        "scope",
        "value",
        "interval",
        "items",
        "raters",
        "ratings",
        "note",
    ]
    assert printed[2].startswith("fleiss_kappa  round")


def test_a_method_that_draws_nothing_needs_no_draws(capsys):
    asked = [
        "measure",
        str(SEROLOGY),
        *WIDE,
        "--measure",
        "fleiss_kappa",
        "--interval-method",
        "jackknife_t",
    ]
    assert main([*asked, "--confidence-level", "0.9999", "--scope", "round"]) == 0


def test_measure_prints_the_scopes_asked_for(capsys):
    two = ("--measure", "fleiss_kappa", "--measure", "schouten_kappa")
    found = measured(capsys, str(SEROLOGY), *WIDE, *two, "--all")
    asked = measured(
        capsys,
        str(SEROLOGY),
        *WIDE,
        "--measure",
        "fleiss_kappa",
        "--measure",
        "schouten_kappa",
        "--scope",
        "round",
        "--scope",
        "rater",
    )
    assert asked == [each for each in found if each["scope"].split()[0] in ("round", "rater")]
    assert 0 < len(asked) < len(found)
    assert main(["measure", str(SEROLOGY), *WIDE, "--scope", "raters"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        "error: --scope: found 'raters'; expected one of round, category, rater,"
    )


def test_alpha_is_krippendorffs_wherever_a_measure_is_named(capsys):
    long, short = (
        measured(capsys, str(SEROLOGY), *WIDE, "--measure", name, "--scope", "round")
        for name in ("krippendorff_alpha", "alpha")
    )
    assert long == short


def test_a_measure_that_the_level_forbids_is_refused(capsys):
    assert (
        main(["measure", str(SEROLOGY), *WIDE, "--level", "interval", "--measure", "fleiss_kappa"])
        == 2
    )
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("--confidence-level", "95", "a share between 0 and 1"),
        ("--confidence-level", "0", "a share between 0 and 1"),
        ("--n-resamples", "0", "a whole number from 100 to 1,000,000"),
        ("--n-resamples", "-1", "a whole number from 100 to 1,000,000"),
    ],
)
def test_a_share_or_a_number_of_draws_that_cannot_be_is_refused(capsys, name, text, expected):
    assert main(["measure", str(SEROLOGY), name, text]) == 2
    assert f"{name}: found {text}; expected {expected}." in capsys.readouterr().err


def test_measure_takes_an_interval_method(capsys):
    found = measured(
        capsys,
        str(SEROLOGY),
        *WIDE,
        "--interval-method",
        "two_way_jackknife_log",
        "--measure",
        "shah_kappa_s",
    )

    assert of(found, "shah_kappa_s")["method"].endswith("raters at large")


def test_of_a_large_panel_some_raters_are_printed_and_a_scope_that_is_asked_for_is_whole(
    tmp_path, capsys
):
    n, path = MAX_SHOWN + 2, tmp_path / "table.csv"
    rows = [(i, f"r{r:02}", "ny"[(i + (i * r) % 5 // 4) % 2]) for i in range(12) for r in range(n)]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    asked = ["measure", str(path), "--measure", "schouten_kappa", "--n-resamples", "400"]
    raters = {}
    for scope in (["--all"], ["--scope", "rater"]):
        assert main([*asked, *scope, "--format", "json"]) == 0
        said = capsys.readouterr()
        raters[len(json.loads(said.out))] = said.err
    assert raters[n] == ""
    assert raters[MAX_SHOWN].startswith(f"shown are {MAX_SHOWN} of {n} raters, those who agree")
    assert "--scope rater" in raters[MAX_SHOWN]


def test_duckdb_leaves_without_a_word(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("item,rater,label\n1,a,x\n1,b,y\n")
    command = [sys.executable, "-m", "agreement_pipeline", "measure", str(path)]
    asked = ["--measure", "alpha", "--engine", "duckdb", "--memory-limit", "300MB"]
    done = subprocess.run([*command, *asked], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_by_default_a_measure_has_one_line_and_all_is_asked_for(capsys):
    lines = {}
    for asked in ([], ["--all"]):
        assert main(["measure", str(SEROLOGY), *WIDE, "--n-resamples", "400", *asked]) == 0
        table = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[2:]]
        lines[bool(asked)] = table
    usual = ["krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1"]
    assert lines[False] == usual
    assert {*usual, "self_agreement_unbiased", "shah_kappa_s"} < {*lines[True]}
    assert len(lines[True]) > 10 * len(usual)


def test_what_is_undefined_and_what_else_there_is_is_said_in_a_line_each(capsys):
    assert main(["measure", str(SEROLOGY), *WIDE, "--n-resamples", "400"]) == 0
    undefined, others = capsys.readouterr().err.splitlines()
    assert undefined == "undefined: self_agreement_unbiased, since no rater met an item twice"
    assert re.match(r"\d+ more measures, some of them undefined .*: --all prints them", others)
    few = ["--n-resamples", "400", "--measure", "self_agreement_unbiased"]
    assert main(["measure", str(SEROLOGY), *WIDE, *few]) == 0
    printed = capsys.readouterr()
    assert "undefined: no rater met an item twice" in printed.out
    assert printed.err == ""


def test_all_measures_are_printed_in_one_scope(capsys):
    found = measured(capsys, str(SEROLOGY), *WIDE, "--all", "--scope", "round")
    assert {each["scope"] for each in found} == {"round"}
    assert {"conger_kappa", "shah_kappa_s"} <= {each["measure"] for each in found}


def test_of_a_name_that_several_families_share_all_are_told(capsys):
    assert main(["measure", str(SEROLOGY), *WIDE, "--measure", "kappa"]) == 2
    assert "There are several: cohen_kappa, fleiss_kappa, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "example"), [("Ana=ana", "as Ana,ana."), ("Bo", "as Ana,ana."), ("B b=c,", "as ")]
)
def test_names_of_one_rater_are_asked_for_in_the_form_of_the_option(capsys, names, example):
    assert main(["measure", str(SEROLOGY), *WIDE, "--same-rater", names]) == 2
    said = capsys.readouterr().err
    assert f"--same-rater: found {names!r}; expected two names or more with commas" in said
    assert example in said
    assert "[[" not in said


@pytest.mark.parametrize(
    "option",
    [["--rater", "who"], ["--units", "spans"], ["--stratum", "language"], ["--all-rounds"]],
)
def test_a_table_of_counts_refuses_options_of_single_ratings(tmp_path, capsys, option):
    path = tmp_path / "counts.csv"
    path.write_text("item,no,yes\ni1,2,1\ni2,0,3\n")
    assert main(["measure", str(path), "--layout", "counts", *option]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"found {option[0]} with --layout counts; expected it for ratings only." in said


def test_strata_are_asked_for_with_their_column(capsys):
    assert main(["measure", str(SEROLOGY), *WIDE, "--scope", "stratum"]) == 2
    assert "found --scope stratum without --stratum" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["alfa", "aplha", "Alpha", "alphas"])
def test_a_misspelt_short_name_is_answered_with_the_full_one(capsys, name):
    assert main(["measure", str(SEROLOGY), *WIDE, "--measure", name]) == 2
    said = capsys.readouterr().err
    assert f"found {name!r}; expected one of the" in said
    assert "Did you mean 'krippendorff_alpha'?" in said


def test_the_deciding_measure_is_first_and_people_are_before_models(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    rows = [f"{n},{rater},{'xy'[n % 2]}" for n in range(9) for rater in ("ana", "ben", "gpt")]
    path.write_text("\n".join(["item,rater,label", *rows, ""]))
    few = ["--n-resamples", "1000", "--format", "json"]
    assert main(["measure", str(path), "--classifier", "gpt", *few]) == 0
    found = [(each["measure"], each["scope"]) for each in json.loads(capsys.readouterr().out)]
    assert found[0] == ("krippendorff_alpha", "round")
    of_models = [scope == "classifier gpt" for _, scope in found]
    assert of_models == sorted(of_models)
    assert any(of_models)


BOTH = (("a", 0), ("b", 0.25))


def test_on_an_open_scale_it_is_said_that_policies_find_limits_in_another_way(tmp_path, capsys):
    path = tmp_path / "sizes.csv"
    rows = [f"{item},{who},{item + more}" for item in range(200) for who, more in BOTH]
    path.write_text("\n".join(["item,rater,label", *rows]))
    policies, by = "those of bundled policies by tail_adaptive_bootstrap", "--interval-method"
    numbers = ["measure", str(path), "--measure", "alpha", "--level", "interval"]
    assert main(numbers) == 0
    assert policies in capsys.readouterr().err
    assert main([*numbers, by, "tail_adaptive_bootstrap"]) == 0
    assert main([*numbers[:-1], "nominal"]) == 0
    assert capsys.readouterr().err == ""


def test_the_label_that_trains_is_measured_in_words_and_as_json(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    others = [(f"i{n}", who, n % 2) for n in range(200) for who in "bc"]
    first = [(f"i{n}", "a", n % 2 ^ (n % 9 == 0)) for n in range(200)]
    rows = [f"{item},{who},{label:d}" for item, who, label in first + others]
    path.write_text("\n".join(["item,rater,label", *rows]))
    words = ["measure", str(path), "--panel-label"]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith(
        "Another panel of 3 would give the same label on at least "
    )
    assert main([*words, "--panel-size", "1", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["panel_size"], found["n_items"]) == (1, 200)
    assert found["same_label"]["least"] == pytest.approx(1 - 23 / 200 * 2 / 3)


@pytest.mark.parametrize(
    "words",
    [["--panel-size", "3"], ["--panel-label", "--all"], ["--panel-label", "--measure", "alpha"]],
)
def test_the_label_that_trains_is_measured_alone(tmp_path, capsys, words):
    assert main(["measure", str(unanimous(tmp_path, 20)), *words]) == 2
    assert "--panel-label" in capsys.readouterr().err
