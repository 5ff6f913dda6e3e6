import json

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from tests.cli.rounds import SEROLOGY, WIDE, unanimous


@pytest.mark.parametrize("names", [("T", "Ref-1"), ("nobody", "T")])
def test_a_classifier_is_not_compared_with_who_is_none(capsys, names):
    assert main(["compare", str(SEROLOGY), *WIDE, "--classifier", "T", "--between", *names]) == 2
    other = next(name for name in names if name != "T")
    words = (
        f"found classifier 'T' beside '{other}', which is none; "
        "expected two classifiers, or two raters of the panel."
    )
    assert words in capsys.readouterr().err


def test_who_compares_raters_by_a_measure_of_the_round_is_told_of_another(capsys):
    assert (
        main(["compare", str(SEROLOGY), *WIDE, "--between", "Ref-1", "Ref-2", "--measure", "alpha"])
        == 2
    )
    assert "Choose another, such as schouten_kappa." in capsys.readouterr().err


def read_estimate(capsys, table):
    """What `measure` says the value of the round is."""
    assert (
        main(
            [
                "measure",
                str(table),
                "--measure",
                "krippendorff_alpha",
                "--scope",
                "round",
                "--n-resamples",
                "400",
                "--format",
                "json",
            ]
        )
        == 0
    )
    return json.loads(capsys.readouterr().out)[0]["value"]


def test_compare_prints_how_far_two_rounds_differ(tmp_path, capsys):
    tables = []
    for name, share in (("one", 10), ("other", 3)):
        rows = [
            (i, rater, "yes" if (i % 2) != (rater == "c" and i % share == 0) else "no")
            for i in range(60)
            for rater in "abc"
        ]
        tables.append(tmp_path / f"{name}.csv")
        pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(tables[-1], index=False)
    arguments = [
        "compare",
        *map(str, tables),
        "--measure",
        "krippendorff_alpha",
        "--n-resamples",
        "1000",
    ]

    assert main([*arguments, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["n_shared"] == 60
    assert 0 < found["low"] < found["difference"] < found["high"]
    assert main(arguments) == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header.split("  ")[0] == "one"
    assert row.startswith(f"krippendorff_alpha of {tables[0]}  krippendorff_alpha of {tables[1]}  ")
    values = [read_estimate(capsys, table) for table in tables]
    assert found["values"] == values
    assert f"{values[0]:.5f} and {values[1]:.5f}" in row
    assert main([*arguments, "--common-prevalence", "--format", "json"]) == 0
    _, common = json.loads(capsys.readouterr().out)
    assert sorted(common["common_prevalence"]) == ["no", "yes"]
    arguments[4] = "specific_agreement"
    assert main([*arguments, "--category", "yes"]) == 0
    assert f"specific_agreement of category yes of {tables[0]}" in capsys.readouterr().out
    assert main([*arguments, "--category", "maybe"]) == 2
    assert "found category 'maybe'; expected one of no, yes." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "classifiers", "shared"),
    [(("good", "bad"), ("good", "bad"), 59), (("ana", "cleo"), (), 60)],
)
def test_compare_prints_how_far_two_classifiers_or_raters_differ(
    tmp_path, capsys, names, classifiers, shared
):
    wrong = {"ana": 0, "ben": 0, "cleo": 3, "good": 10, "bad": 2}
    rows = [
        (i, who, "yes" if (i % 2) != (every > 0 and i % every == 1) else "no")
        for i in range(60)
        for who, every in wrong.items()
        if (i, who) != (7, "bad")
    ]
    path = tmp_path / "table.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    options = [part for name in classifiers for part in ("--classifier", name)]

    assert (
        main(
            [
                "compare",
                str(path),
                "--between",
                *names,
                *options,
                "--n-resamples",
                "1000",
                "--format",
                "json",
            ]
        )
        == 0
    )
    (found,) = json.loads(capsys.readouterr().out)
    kind = "classifier" if classifiers else "rater"
    assert [found[side] for side in ("one", "other")] == [
        f"schouten_kappa of {kind} {name}" for name in names
    ]
    assert found["n_shared"] == shared
    assert 0 < found["low"] < found["difference"] < found["high"]
    if classifiers:
        assert main(["compare", str(path), "--between", *names, *options, "--category", "yes"]) == 2
        assert (
            "schouten_kappa of category yes of classifier good: found category 'yes'; "
            "expected none, since the measure has no value for each category."
            in capsys.readouterr().err
        )


def test_compare_asks_for_a_second_table_or_for_two_names(tmp_path, capsys):
    path = str(unanimous(tmp_path, 10))
    for arguments, found in (
        ([], "found neither another round nor two names; expected one of them."),
        (
            [path, "--between", "a", "b"],
            "found both another round and two names; expected one of them.",
        ),
    ):
        assert main(["compare", path, *arguments]) == 2
        assert found in capsys.readouterr().err


def test_the_option_before_each_of_two_names_says_how_both_are_named(capsys):
    assert main(["compare", "labels.csv", "--between", "ana", "--between", "ben"]) == 2
    assert "expected both names after one, as --between ana ben" in capsys.readouterr().err
