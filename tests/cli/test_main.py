import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import load_policy
from agreement_pipeline.readers import Columns, read_ratings
from agreement_pipeline.release import release_round
from agreement_pipeline.store import Store
from tests.releases import withdraw

ROOT = Path(__file__).parents[2]
SEROLOGY = ROOT / "configs/rounds/serology/williams-1976.csv"
OBSERVERS = ROOT / "../shared/data/ref_krippendorff_4x12.csv"
WIDE = (
    "--layout",
    "wide",
    "--item",
    "specimen",
    *(f"--raters={name}" for name in ("T", "Ref-1", "Ref-2", "Ref-3")),
)
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


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main(["measure", *arguments, "--format", "json", "--n-resamples", "1000"]) == 0
    return json.loads(capsys.readouterr().out)


def of(found: list[dict], measure: str, scope: str = "round") -> dict:
    return next(each for each in found if each["measure"] == measure and each["scope"] == scope)


def test_measure_reproduces_the_serology_figures(capsys):
    found = measured(capsys, str(SEROLOGY), *WIDE, "--classifier", "T")

    assert of(found, "shah_kappa_s")["value"] == pytest.approx(0.67908, abs=5e-6)
    assert of(found, "fleiss_kappa")["value"] == pytest.approx(0.67614, abs=5e-6)
    assert of(found, "shah_s", "classifier T")["value"] == pytest.approx(0.63576, abs=5e-6)
    assert of(found, "vanbelle_albert_kappa", "classifier T")["value"] == pytest.approx(
        0.55128, abs=5e-6
    )
    assert all(set(each) >= FIELDS for each in found)


@pytest.mark.parametrize(
    ("level", "alpha"),
    [("nominal", 0.74342), ("ordinal", 0.81539), ("interval", 0.84911), ("ratio", 0.79740)],
)
def test_measure_reproduces_krippendorffs_example_at_every_level(capsys, level, alpha):
    if not OBSERVERS.exists():
        pytest.skip("the shared reference data are not beside the project")
    found = measured(capsys, str(OBSERVERS), "--level", level, "--measure", "krippendorff_alpha")

    assert of(found, "krippendorff_alpha")["value"] == pytest.approx(alpha, abs=5e-6)


def test_a_limit_that_is_none_is_null_in_json(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = [
        (item, rater, "abc"[(item + (place if item < 6 else 0)) % 3])
        for item in range(7)
        for place, rater in enumerate(("r", "s", "t", "model"))
    ]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    assert (
        main(
            [
                "measure",
                str(path),
                "--classifier",
                "model",
                "--measure",
                "shah_s",
                "--n-resamples",
                "1000",
                "--format",
                "json",
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "Infinity" not in printed
    assert of(json.loads(printed), "shah_s", "classifier model")["low"] is None


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


def policy(tmp_path: Path, *, tentative: float = 0.667, reliable: float = 0.8) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(
        f"policy: p\nversion: 1\nrules:\n  - {{measure: krippendorff_alpha, reliable: {reliable}, tentative: {tentative}}}\n"
    )
    return path


def unanimous(tmp_path: Path, n_items: int) -> Path:
    path = tmp_path / "table.csv"
    pd.DataFrame(
        [(i, rater, "yes" if i % 2 else "no") for i in range(n_items) for rater in "abc"],
        columns=["item", "rater", "label"],
    ).to_csv(path, index=False)
    return path


def test_judge_says_by_its_exit_status_what_it_decided(tmp_path, capsys):
    assert main(["judge", str(unanimous(tmp_path, 500)), "--policy", str(policy(tmp_path))]) == 0
    assert main(["judge", str(SEROLOGY), *WIDE, "--policy", str(policy(tmp_path))]) == 1
    assert "could be under 0.667" in capsys.readouterr().out


def warnings_of(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if "warning" in line]


def test_judge_shows_the_warnings_of_the_contract_that_hold_nothing(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = [
        (i, rater, "yes" if i % 2 else "no", 1)
        for i in range(800)
        for rater in ("ana", "ben")[: 2 if i < 200 else 1]
    ]
    rows += [(i, "ana", "yes" if i % 2 else "no", 2) for i in range(80)]
    pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"]).to_csv(path, index=False)

    assert main(["judge", str(path), "--policy", str(policy(tmp_path))]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("admitted\n")
    (warning,) = warnings_of(printed)
    assert warning.startswith("  warning: raters_per_item: 600 of 800 ")
    assert warning.endswith("; at least 2 raters are required on 95% of the items")
    assert main(["judge", str(path), "--policy", str(policy(tmp_path)), "--format", "json"]) == 0
    failed = [
        finding["check"]
        for finding in json.loads(capsys.readouterr().out)["findings"]
        if not finding["passed"]
    ]
    assert failed == ["raters_per_item"]


def test_judge_names_raters_who_look_alike_and_nothing_where_all_is_well(tmp_path, capsys):
    for names, expected in (
        (("ana", "ben", "ben "), ["  warning: raters_that_look_alike: 'ben' and 'ben '"]),
        (("ana", "ben", "cleo"), []),
    ):
        path = tmp_path / "table.csv"
        rows = [
            (i, rater, "yes" if i % 2 else "no", time)
            for i in range(500)
            for rater in names
            for time in (1, 2)[: 1 + (i < 50)]
        ]
        pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"]).to_csv(
            path, index=False
        )
        assert main(["judge", str(path), "--policy", str(policy(tmp_path))]) == 0
        assert warnings_of(capsys.readouterr().out) == expected


def test_judge_that_cannot_judge_ends_with_status_2_and_says_why(tmp_path, capsys):
    assert main(["judge", str(tmp_path / "absent.csv"), "--policy", str(policy(tmp_path))]) == 2
    assert "absent.csv" in capsys.readouterr().err
    assert main(["judge", str(SEROLOGY), *WIDE, "--policy", str(tmp_path / "no.yaml")]) == 2


def test_ten_unanimous_items_are_not_enough(tmp_path, capsys):
    assert main(["judge", str(unanimous(tmp_path, 10)), "--policy", str(policy(tmp_path))]) == 1
    said = capsys.readouterr().out
    assert "could be under 0.667 and could be above" in said
    assert "more items at this agreement would decide" in said


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("rows=29", "lines"),
        ("columns=2", "3 columns"),
        ("name_length=3", "4 characters"),
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
        assert f"{found} " in said
        assert (
            f"at most {most} are required. Check that the export is what it should be, or raise the limit {name}."
            in said
        )
    assert main(["measure", path, "--n-resamples", "400", "--limit", "rows=31"]) == 0


def test_more_is_read_than_usual_where_the_limit_is_raised(tmp_path, capsys):
    path = tmp_path / "table.csv"
    rows = [(item, rater, f"label {item}") for item in range(1001) for rater in "ab"]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    command = [
        "measure",
        str(path),
        "--measure",
        "percent_agreement",
        "--n-resamples",
        "400",
        "--format",
        "json",
    ]
    assert main(command) == 2
    assert (
        "at most 1000 are required. Check that the export is what it should be, or raise the limit categories."
        in capsys.readouterr().err
    )
    assert main([*command, "--limit", "categories=1001"]) == 0
    assert of(json.loads(capsys.readouterr().out), "percent_agreement")["value"] == 1


@pytest.mark.parametrize("limit", ["rows", "rows=", "rows=-1", "rows=many", "row=5", "=5"])
def test_a_limit_that_is_none_is_refused(capsys, limit):
    with pytest.raises(SystemExit, match="2"):
        main(["measure", str(SEROLOGY), "--limit", limit])
    assert "a limit and a whole number are required, as rows=50000000" in capsys.readouterr().err
    assert main(["measure", str(SEROLOGY), "--limit", "rows=0"]) == 2
    assert "limits: rows 0 found; a whole number from 1 is required" in capsys.readouterr().err


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
    with pytest.raises(SystemExit, match="2"):
        main(list(twice))
    assert (
        f"argument {twice[-2]}: found twice; it is required once at most. Leave one of them out."
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("command", [["measure"], ["compare", str(SEROLOGY)]])
def test_limits_that_the_draws_cannot_tell_are_refused(capsys, command):
    asked = [*command, str(SEROLOGY), *WIDE, "--confidence-level", "0.99", "--n-resamples", "1999"]
    assert main(asked) == 2
    assert (
        "2000 or more is required, so that ten draws lie beyond each limit. Raise --n-resamples, or lower"
        in capsys.readouterr().err
    )
    assert main([*asked[:-1], "2000", "--measure", "fleiss_kappa"]) == 0


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
    found = measured(
        capsys, str(SEROLOGY), *WIDE, "--measure", "fleiss_kappa", "--measure", "schouten_kappa"
    )
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
    with pytest.raises(SystemExit, match="2"):
        main(["measure", str(SEROLOGY), *WIDE, "--scope", "raters"])
    assert "argument --scope: invalid choice: 'raters'" in capsys.readouterr().err


@pytest.mark.parametrize("demand", ["self_agreement>=0.5", "alpha>=80", "alfa>=0.8"])
def test_a_demand_that_is_none_is_refused_by_its_own_words(tmp_path, capsys, demand):
    assert main(["verify", str(tmp_path), "--require", "alpha>=0.8", "--require", demand]) == 2
    assert f"error: --require {demand}: " in capsys.readouterr().err


def test_alpha_is_krippendorffs_wherever_a_measure_is_named(capsys):
    long, short = (
        measured(capsys, str(SEROLOGY), *WIDE, "--measure", name, "--scope", "round")
        for name in ("krippendorff_alpha", "alpha")
    )
    assert long == short


def test_labels_that_print_alike_are_said_under_a_decision(tmp_path, capsys):
    path, standard = tmp_path / "table.csv", ROOT / "configs/policies/standard.yaml"
    path.write_text(
        "item,rater,label\n"
        + "".join(
            f"{i},{rater},{'yes' if i else ' Yes'}\n{i + 9},{rater},no\n"
            for i in range(9)
            for rater in "ab"
        )
    )
    main(["judge", str(path), "--policy", str(standard)])
    assert "  warning: labels_that_look_alike: ' Yes' and 'yes'\n" in capsys.readouterr().out


@pytest.mark.parametrize("names", [("T", "Ref-1"), ("nobody", "T")])
def test_a_classifier_is_not_compared_with_who_is_none(capsys, names):
    assert main(["compare", str(SEROLOGY), *WIDE, "--classifier", "T", "--between", *names]) == 2
    other = next(name for name in names if name != "T")
    words = f"classifier ['T'] beside ['{other}'], which is none, found; two classifiers, or two raters of the panel, are required."
    assert words in capsys.readouterr().err


def test_who_compares_raters_by_a_measure_of_the_round_is_told_of_another(capsys):
    assert (
        main(["compare", str(SEROLOGY), *WIDE, "--between", "Ref-1", "Ref-2", "--measure", "alpha"])
        == 2
    )
    assert "Choose another, such as schouten_kappa." in capsys.readouterr().err


def test_a_measure_that_the_level_forbids_is_refused(capsys):
    assert (
        main(["measure", str(SEROLOGY), *WIDE, "--level", "interval", "--measure", "fleiss_kappa"])
        == 2
    )
    assert capsys.readouterr().err.startswith("error: ")


def test_a_misspelt_measure_is_answered_with_the_name_that_was_meant(capsys):
    assert main(["measure", str(SEROLOGY), *WIDE, "--measure", "fleis_kappa"]) == 2
    assert "Did you mean 'fleiss_kappa'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        ("--confidence-level", "95"),
        ("--confidence-level", "0"),
        ("--n-resamples", "0"),
        ("--n-resamples", "-1"),
    ],
)
def test_a_share_or_a_number_of_draws_that_cannot_be_is_refused(capsys, option):
    with pytest.raises(SystemExit, match="2"):
        main(["measure", str(SEROLOGY), *option])
    assert "is required" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (
            ("--rounds", "5"),
            "--rounds: 5 found; a whole number from 100 to 1000000 is required. The help says which is usual.",
        ),
        (
            ("--rounds", "200.5"),
            "--rounds: 200.5 found; a whole number from 100 to 1000000 is required.",
        ),
        (("--rounds", "many"), "--rounds: 'many' found; a number is required. Correct it."),
        (
            ("--probability", "90"),
            "--probability: 90 found; a share between 0 and 1 is required. The help says which is usual.",
        ),
        (
            ("--probability", "nan"),
            "--probability: nan found; a share between 0 and 1 is required.",
        ),
        (
            ("--labels-an-item", "two"),
            "--labels-an-item: 'two' found; a number is required. Correct it.",
        ),
        (
            ("--prevalence", "0.5,half"),
            "--prevalence: 'half' found; a number is required. Correct it.",
        ),
    ],
)
def test_a_number_that_cannot_be_planned_with_is_refused_in_words(capsys, option, words):
    with pytest.raises(SystemExit, match="2"):
        main(["plan", "--policy", "policy.yaml", *option])
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["measure", "x" * 5000 + ".csv"], ["verify", "x" * 5000], ["history", "--store", "x" * 5000]],
    ids=lambda said: said[0],
)
def test_a_path_that_the_system_refuses_is_an_error_in_one_line(capsys, command):
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: [Errno 36] File name too long")
    assert line.endswith(
        "files that can be read and written are required. Check the path, its permissions and the disk."
    )


def test_a_reader_who_goes_away_is_told_nothing_more():
    command = [
        sys.executable,
        "-m",
        "agreement_pipeline",
        "measure",
        str(SEROLOGY),
        *WIDE,
        "--n-resamples",
        "1000",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 2


@pytest.mark.parametrize(
    "command",
    [["verify", "foo://bucket"], ["history", "--store", "foo://bucket"]],
    ids=lambda said: said[0],
)
def test_a_url_that_nothing_here_reads_is_refused(capsys, command):
    assert main(command) == 2
    assert (
        "foo://bucket: found a URL that cannot be used (Unsupported filesystem: 'foo'); "
        "expected a folder, or a URL such as s3://bucket/folder" in capsys.readouterr().err
    )


def test_verify_refuses_what_is_no_release(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 10
    assert "refused (release_unfinished)" in capsys.readouterr().out


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
    assert "2 rounds found, ['w1', 'w2']; one is required" in capsys.readouterr().err
    for name, agreed in (("w1", 40), ("w2", 37)):
        assert main([*arguments, "--of-round", name]) == 0
        assert json.loads(capsys.readouterr().out)[0]["value"] == agreed / 40
    policy = Path(__file__).parents[2] / "configs/policies/standard.yaml"
    assert main(["plan", "--policy", str(policy), "--of-round", "w1"]) == 2
    assert "['--of-round']" in capsys.readouterr().err


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
    arguments[4] = "specific_agreement"
    assert main([*arguments, "--category", "yes"]) == 0
    assert f"specific_agreement of category yes of {tables[0]}" in capsys.readouterr().out
    assert main([*arguments, "--category", "maybe"]) == 2
    assert "category 'maybe' found; one of no, yes is required" in capsys.readouterr().err


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
            "--category: two classifiers found; two tables or raters are required"
            in capsys.readouterr().err
        )


def test_compare_asks_for_a_second_table_or_for_two_names(tmp_path, capsys):
    path = str(unanimous(tmp_path, 10))
    for arguments, found in (
        ([], "neither a second table nor --between found"),
        ([path, "--between", "a", "b"], "a second table and --between found"),
    ):
        assert main(["compare", path, *arguments]) == 2
        assert found in capsys.readouterr().err


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


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A store, in the place where projects have theirs, with a round that was admitted, released and withdrawn."""
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / ".agreement/store/demo")
    store.ingest("r1", read_ratings(unanimous(tmp_path, 500), Columns()), tmp_path / "table.csv")
    release_round(store, "r1", load_policy(policy(tmp_path)), Contract.default(), project="demo")
    withdraw(store, "r1", ["a mistake in the guideline"])
    return store


def test_history_prints_every_entry(stored, capsys):
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["entry", "time", "event", "round", "what", "why"]
    assert [line.split()[:5:3] for line in lines[2:] if line[0] != " "] == [
        ["1", "ingested"],
        ["2", "decided"],
        ["3", "released"],
        ["4", "withdrawn"],
    ]
    assert "table.csv" in lines[2]
    assert lines[-1].endswith("a mistake in the guideline")


def test_history_of_one_round_as_json_is_what_the_log_says(stored, capsys):
    stored.ingest("r2", stored.ratings("r1"), Path("table.csv"))
    for name, numbers in (("r1", [1, 2, 3, 4]), ("r2", [5])):
        assert main(["history", name, "--store", str(stored.root), "--format", "json"]) == 0
        assert [entry["number"] for entry in json.loads(capsys.readouterr().out)] == numbers


def test_history_of_an_edited_log_is_refused(stored, capsys):
    path = stored.root / "log" / "00000004.json"
    path.write_text(path.read_text().replace("mistake", "success"))
    assert main(["history"]) == 2
    said = capsys.readouterr()
    assert "found entry 4, which is not the one that was written" in said.err
    assert not said.out


def test_history_names_what_is_missing(stored, tmp_path, capsys):
    for arguments, found in (
        (["history", "r9"], "no entry of round 'r9' found"),
        (["history", "--store", str(tmp_path / "nothing")], "no entry found in the log"),
    ):
        assert main(arguments) == 2
        assert found in capsys.readouterr().err
    (tmp_path / ".agreement/store/another").mkdir()
    assert main(["history"]) == 2
    assert "another" in capsys.readouterr().err
