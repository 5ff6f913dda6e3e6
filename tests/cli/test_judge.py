import json
import shlex

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.cli import main
from tests.cli.rounds import ROOT, SEROLOGY, WIDE, policy, unanimous


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
        (
            ("ana", "ben", "ben "),
            [
                "  warning: rater_names_differ: 2 of 3 raters have a name that prints as another: "
                "'ben' and 'ben '; no two raters may have names that print alike"
            ],
        ),
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
    assert "more items would decide with an even chance, if agreement stays the same" in said


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


def test_judge_says_how_many_rows_of_an_export_are_no_ratings(tmp_path, capsys):
    export = ROOT / "tests/readers/exports/label_studio/label_studio.json"
    asked = ["--item", "doc_id", "--label", "sentiment", "--all-rounds"]
    assert main(["judge", str(export), *asked, "--policy", str(policy(tmp_path))]) == 1
    assert "\n  no ratings: draft 1, gold 1, skipped 1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("n_items", "errors", "commands"), [(60, 0.3, ["report", "plan"]), (90, 0.04, ["plan"])]
)
def test_each_command_that_helps_reads_the_table_as_judge_did(
    tmp_path, capsys, monkeypatch, n_items, errors, commands
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rows = [
        (f"p{item}", who, ("no", "yes")[(item + (rng.random() < errors)) % 2])
        for item in range(n_items)
        for who in ("ana", "ben", "cem")
    ]
    table = pd.DataFrame(rows, columns=["post id", "who", "label"])
    table.to_csv("my posts.csv", index=False)
    own = ["my posts.csv", "--item", "post id", "--rater", "who"]
    assert main(["judge", *own, "--policy", "standard"]) == 1
    printed = capsys.readouterr().out
    said = [shlex.split(line) for line in printed.splitlines() if "agreement-pipeline" in line]
    assert [words[1] for words in said] == commands
    rounds = {"plan": ["--rounds", "100"], "report": []}
    for _, name, *words in said:
        assert main([name, *words, *rounds[name]]) == 0, words


@pytest.mark.parametrize(
    ("more", "code", "why"),
    [
        ([], "ratings_refused", "found no such file"),
        (["--policy", "gone.yaml"], "policy_unreadable", "gone.yaml"),
        (["--nonsense"], "usage", "No such option"),
    ],
)
def test_json_also_says_why_nothing_was_judged(tmp_path, capsys, more, code, why):
    asked = ["judge", str(tmp_path / "labels.csv"), "--policy", "standard", "--format", "json"]
    if more[:1] == ["--policy"]:
        unanimous(tmp_path, 20).rename(tmp_path / "labels.csv")
        asked = [*asked[:2], *asked[4:]]
    assert main([*asked, *more]) == 2
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["code"] == code
    assert why in found["why"]
    assert said.err.startswith("error: ")
