import json
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.report import markdown_text
from tests.cli.rounds import SEROLOGY, WIDE, policy, unanimous


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("rows=29", "31 lines"),
        ("columns=2", "3 columns"),
        ("name_length=3", "4 characters in the name of a column"),
        ("categories=1", "2 different labels"),
    ],
)
def test_a_limit_on_what_is_read_can_be_set(tmp_path, capsys, limit, found):
    name, most = limit.split("=")
    path = str(unanimous(tmp_path, 10))
    for command in (
        ["measure", path],
        ["compare", path, path],
        ["judge", path, "--policy", str(policy(tmp_path))],
        ["plan", path, "--policy", str(policy(tmp_path))],
    ):
        assert main([*command, "--limit", "rows=1000", "--limit", limit]) == 2
        said = capsys.readouterr().err
        assert f"found {found}; expected" in said
        assert (
            f"; expected at most {most}. "
            f"Check that the export is the right one, or raise the limit {name}." in said
        )
    assert main(["measure", path, "--n-resamples", "400", "--limit", "rows=31"]) == 0


@pytest.mark.parametrize("limit", ["rows", "rows=", "rows=-1", "rows=many", "row=5", "=5"])
def test_a_limit_that_is_none_is_refused(capsys, limit):
    assert main(["measure", str(SEROLOGY), "--limit", limit]) == 2
    said = capsys.readouterr().err
    assert f"--limit: found {limit}; expected a limit and a whole number, as rows=50000000." in said
    assert main(["measure", str(SEROLOGY), "--limit", "rows=0"]) == 2
    assert "rows: found 0; expected a whole number from 1." in capsys.readouterr().err


def test_labels_that_print_alike_are_told(tmp_path, capsys):
    """The second has a Cyrillic letter."""
    path = tmp_path / "round.csv"
    labels = ("ok", "\N{CYRILLIC SMALL LETTER O}k", "no")
    rows = [f"i{at},{rater},{labels[at % 3]}" for at in range(60) for rater in "ab"]
    path.write_text("\n".join(["item,rater,label", *rows]))
    main(["judge", str(path), "--policy", "standard"])
    printed = capsys.readouterr()
    assert "warning: round.csv: labels 'ok' and '\\u043ek' print alike" in printed.err
    assert "look_alike" not in printed.out
    main(["judge", str(path), "--policy", "standard", "--categories", ",".join(labels)])
    printed = capsys.readouterr()
    assert "warning: labels_that_look_alike: 'ok' and '\\u043ek'" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("pair", ["status", "=submitted"])
def test_a_row_that_is_chosen_by_no_field_is_refused(capsys, pair):
    assert main(["measure", str(SEROLOGY), "--where", pair]) == 2
    assert f"found {pair}; expected a field and a value, as status=" in capsys.readouterr().err


@pytest.mark.parametrize(
    "twice",
    [
        ("judge", str(SEROLOGY), *WIDE, "--policy", "lax.yaml", "--policy", "strict.yaml"),
        ("measure", str(SEROLOGY), *WIDE, "--n-resamples", "10000", "--n-resamples", "1000"),
        ("measure", str(SEROLOGY), *WIDE, "--categories", "1,2", "--categories", "1,2"),
        ("plan", "--policy", "p.yaml", "--expected", "0.85", "--expected", "0.9"),
    ],
)
def test_an_option_of_one_value_is_given_once(capsys, twice):
    assert main(list(twice)) == 2
    said = capsys.readouterr().err
    assert f"error: {twice[-2]}: found twice; expected once at most. Leave one of them out." in said


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["report"], "--output"),
        (["judge", "--policy", "standard"], "--statement"),
        (["draw", "--n", "5"], "--output"),
    ],
)
def test_a_file_that_is_read_is_never_written(tmp_path, capsys, command, output, linked):
    path = target = unanimous(tmp_path, 10)
    if linked:
        target = tmp_path / "page.html"
        target.symlink_to(path)
    before = path.read_bytes()
    assert main([*command, str(path), output, str(target)]) == 2
    said = capsys.readouterr().err
    assert f"error: {output}: found {target}, which is read; expected another file." in said
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", [["measure"], ["compare", str(SEROLOGY)]])
def test_limits_that_the_draws_cannot_tell_are_refused(capsys, command):
    asked = [*command, str(SEROLOGY), *WIDE, "--confidence-level", "0.99", "--n-resamples", "1999"]
    assert main(asked) == 2
    assert (
        "expected 2000 or more, so that ten resamples lie beyond each limit. Raise n_resamples."
        in capsys.readouterr().err
    )
    assert main([*asked[:-1], "2000", "--measure", "fleiss_kappa"]) == 0


def test_one_of_several_rounds_of_a_table_is_chosen_by_name(tmp_path, capsys):
    rows = [
        (name, i, rater, "yes" if (i % 2) != (name == "w2" and rater == "b" and i < 3) else "no")
        for name in ("w1", "w2")
        for i in range(40)
        for rater in "ab"
    ]
    path = tmp_path / "table.csv"
    pd.DataFrame(rows, columns=["round", "item", "rater", "label"]).to_csv(path, index=False)
    arguments = [
        "measure",
        str(path),
        "--measure",
        "percent_agreement",
        "--scope",
        "round",
        "--n-resamples",
        "400",
        "--format",
        "json",
    ]
    assert main(arguments) == 2
    assert "found 2 rounds, ['w1', 'w2']; expected one" in capsys.readouterr().err
    for name, agreed in (("w1", 40), ("w2", 37)):
        assert main([*arguments, "--of-round", name]) == 0
        assert json.loads(capsys.readouterr().out)[0]["value"] == agreed / 40
    policy = Path(__file__).parents[2] / "configs/policies/standard.yaml"
    assert main(["plan", "--policy", str(policy), "--of-round", "w1"]) == 2
    assert "['--of-round']" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("categories", "names"),
    [
        ("-2,-1,0", ["-2", "-1", "0"]),
        ('"yes, sure",no', ["yes, sure", "no"]),
        ('no ,"say ""no"""', ["no ", 'say "no"']),
    ],
)
def test_categories_are_a_row_of_csv_and_are_printed_as_they_are(
    tmp_path, capsys, categories, names
):
    rows = [(item, rater, names[item % 2]) for item in range(20) for rater in "ab"]
    path = tmp_path / "t.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    command = ["measure", str(path), "--categories", categories, "--measure", "specific_agreement"]
    assert main([*command, "--scope", "category", "--format", "json"]) == 0
    found = [each["scope"] for each in json.loads(capsys.readouterr().out)]
    assert found == [f"category {name}" for name in names]
    assert main([*command, "--scope", "category"]) == 0
    assert f"  category {names[0]}  " in capsys.readouterr().out


def test_categories_with_an_open_quote_are_refused(tmp_path, capsys):
    assert main(["measure", str(tmp_path / "t.csv"), "--categories", 'yes,"no']) == 2
    assert "--categories: found 'yes,\"no' (unexpected end of data); expected names between" in (
        capsys.readouterr().err
    )


COPIES = (
    "item,rater,label,replicate\n"
    + "".join(f"i{n},{rater},yes,1\n" for n in range(3) for rater in ("ana", "ben"))
    + "i0,ana,no,2\n"
)
TOLD = (
    "warning: labels.csv: column 'replicate' is read as occurrence; if it is none, name another "
    "with --occurrence"
)


@pytest.mark.parametrize("engine", ["auto", "duckdb"])
def test_a_column_that_is_read_as_something_else_is_told_once(tmp_path, capsys, engine):
    path = tmp_path / "labels.csv"
    path.write_text(COPIES)
    measured = ["measure", str(path), "--measure", "alpha", "--n-resamples", "400"]
    assert main([*measured, "--engine", engine]) == 0
    assert capsys.readouterr().err.splitlines() == [TOLD]
    main(["judge", str(path), "--policy", str(policy(tmp_path))])
    assert capsys.readouterr().err.splitlines() == [TOLD]


def test_a_column_that_is_named_is_not_told(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text(COPIES)
    judged = ["judge", str(path), "--policy", str(policy(tmp_path))]
    main([*judged, "--occurrence", "replicate"])
    path.write_text(COPIES.replace("replicate", "occurrence"))
    main(judged)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["measure", "judge"])
def test_a_seldom_label_that_resembles_a_common_one_is_told(tmp_path, capsys, command):
    path = tmp_path / "labels.csv"
    rows = [f"{n},{rater},spam" for n in range(20) for rater in ("ana", "ben")]
    path.write_text("\n".join(["item,rater,label", *rows, "21,ana,spma", "21,ben,ham", ""]))
    usual = [command, str(path), *(["--policy", "standard"] if command == "judge" else [])]
    main(usual)
    told = "warning: labels.csv: label 'spma' (1 time) resembles 'spam' (40 times); correct it,"
    assert told in capsys.readouterr().err
    path.write_text(path.read_text().replace("ben,ham", "ben,NA"))
    main(usual)
    told = "label 'NA' counts as a label. If 'NA' says that nobody gave a label: --missing NA ("
    assert told in capsys.readouterr().err
    path.write_text(path.read_text().replace("ana,spam", "ana,Spam"))
    main(usual)
    told = "labels.csv: labels 'Spam' and 'spam' print alike; if they mean the same, write one"
    assert told in capsys.readouterr().err
    path.write_text(path.read_text().replace("ana,Spam", "ana,spam"))
    main([*usual, "--categories", "spam,spma,NA,ham"])
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (("1", "2", "3"), "whole numbers, and their order counts; if they are names, give --level"),
        (("1", "2.5", "3"), "numbers, and their distances count; if they are names, give --level"),
        (("1,5", "2", "3,25"), "interval, and --decimal , for a comma; else --level nominal"),
        (("0", "1", "0"), ""),
        (("5%", "20%", "33%"), "interval, and take off the sign %; else --level nominal"),
        (
            ("71|166", "74|171", "80|180"),
            "give --level 'multivariate interval'; else --level nominal",
        ),
        (("01", "02", "03"), ""),
        (("1", "2", "high"), ""),
    ],
)
def test_numbers_that_count_as_names_are_told(tmp_path, capsys, labels, told):
    path = tmp_path / "labels.csv"
    rows = [f'{n},{rater},"{labels[n % 3]}"' for n in range(20) for rater in ("ana", "ben")]
    path.write_text("\n".join(["item,rater,label", *rows, ""]))
    usual = ["measure", str(path), "--measure", "alpha", "--n-resamples", "400"]
    assert main(usual) == 0
    said = capsys.readouterr().err
    assert told in said if told else said == ""
    assert main([*usual, "--level", "nominal"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_a_rater_with_the_name_of_a_model_is_told(tmp_path, capsys, command):
    path = tmp_path / "labels.csv"
    rows = [f"{n},{who},{'yn'[n % 2]}" for n in range(20) for who in ("ana", "ben", "model_a")]
    path.write_text("\n".join(["item,rater,label", *rows, ""]))
    asked = [command, *[str(path)] * (1 + (command == "compare"))]
    told = (
        "warning: labels.csv: the raters are taken for people. "
        "Is model_a a model? Then give --classifier model_a.\n"
    )
    measured = ["--measure", "alpha", "--n-resamples", "400"]
    assert main([*asked, *measured]) == 0
    assert told in capsys.readouterr().err
    assert main([*asked, *measured, "--classifier", "model_a"]) == 0
    assert capsys.readouterr().err == ""


SCORES = [
    (item, rater, 1 + (item + (rater == "ben" and item % 3 == 0)) % 5)
    for item in range(90)
    for rater in ("ana", "ben")
]
"""On the ordinal and on the nominal level, agreement differs."""


def alpha_of(printed: str) -> str:
    return printed.partition("krippendorff_alpha ")[2][:30]


@pytest.mark.parametrize(
    ("labels", "level"),
    [
        ([1, 2, 3, 4, 5], "ordinal"),
        ([1.5, 2, 3, 4, 5], "interval"),
        (["01", "02", "03", "04", "05"], "nominal"),
        ([*"abcde"], "nominal"),
        ([*range(1, 13)], "interval"),
    ],
)
@pytest.mark.parametrize("header", ["item,rater,label", "post_id,annotator,score"])
def test_judge_reads_a_table_as_the_project_of_init_does(tmp_path, capsys, labels, level, header):
    """One level, the same columns and the same agreement, and what was guessed is told."""
    path = tmp_path / "inbox" / "labels.csv"
    path.parent.mkdir()
    rows = [
        f"{item},{rater},{labels[(item + (rater == 'ben' and item % 7 == 0)) % len(labels)]}"
        for item in range(120)
        for rater in ("ana", "ben")
    ]
    path.write_text("\n".join([header, *rows, ""]))
    assert main(["init", str(path), "--root", str(tmp_path), "--name", "scores"]) == 0
    project = tmp_path / "configs/projects/scores.yaml"
    assert f"level: {level}" in project.read_text()
    capsys.readouterr()
    main(["judge", str(project)])
    of_project = capsys.readouterr().out
    main(["judge", str(path), "--policy", str(tmp_path / "configs/policies/scores.yaml")])
    of_table = capsys.readouterr()
    assert alpha_of(of_table.out) == alpha_of(of_project) != ""
    is_guessed = header != "item,rater,label"
    assert ("column 'score' is read as label" in of_table.err) is is_guessed
    assert ("--level" in of_table.err) is (level != "nominal")


def test_categories_of_numbers_are_in_order_unless_a_level_is_named(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    pd.DataFrame(SCORES, columns=["item", "rater", "label"]).to_csv(path, index=False)
    usual = ["measure", str(path), "--measure", "alpha", "--categories", "1,2,3,4,5"]
    values = []
    for level in ([], ["--level", "ordinal"], ["--level", "nominal"]):
        assert main([*usual, *level]) == 0
        values.append(alpha_of(capsys.readouterr().out))
    assert values[0] == values[1] != values[2]


def test_what_is_doubtful_stands_in_json_and_on_the_page_as_well(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    rows = [f"{n},{rater},{1 + n % 5}" for n in range(40) for rater in ("ana", "ben")]
    path.write_text("\n".join(["post,annotator,label", *rows, "41,ana,spma", "41,ben,spam", ""]))
    rows = [f"{n},{rater},{'spam' if n % 2 else 'ham'}" for n in range(40) for rater in "ab"]
    typo = tmp_path / "typo.csv"
    typo.write_text("\n".join(["post,annotator,label", *rows, "41,a,spma", "41,b,spam", ""]))
    page = tmp_path / "page.html"
    for table in (path, typo):
        judged = ["judge", str(table), "--policy", "standard"]
        main([*judged, "--format", "json"])
        printed = capsys.readouterr()
        warnings = json.loads(printed.out)["warnings"]
        assert warnings
        lines = [f"warning: {table.name}: {sentence}" for sentence in warnings]
        assert printed.err.splitlines() == lines
        main([*judged, "--format", "markdown"])
        printed = capsys.readouterr().out
        assert main(["report", str(table), "--policy", "standard", "--output", str(page)]) == 0
        assert capsys.readouterr().err.splitlines() == lines
        shown = unescape(page.read_text())
        for sentence in warnings:
            assert f"Warning: {sentence}." in shown
            assert markdown_text(sentence) in printed


def test_two_tables_are_compared_on_one_level(tmp_path, capsys):
    path, other = tmp_path / "one.csv", tmp_path / "other.csv"
    for table, labels in ((path, (1, 2, 3, 4)), (other, (1, 2.5, 3, 4))):
        rows = [
            f"{n},{rater},{labels[(n + (n % 9 == 0 and rater == 'b')) % 4]}"
            for n in range(80)
            for rater in "ab"
        ]
        table.write_text("\n".join(["item,rater,label", *rows, ""]))
    for first, second in ((path, other), (other, path)):
        measured = ["--measure", "alpha", "--n-resamples", "400"]
        assert main(["compare", str(first), str(second), *measured]) == 0
        assert "krippendorff_alpha" in capsys.readouterr().out
