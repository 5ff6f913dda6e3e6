import json
import re
import shlex
from datetime import UTC, datetime, timedelta

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml

from agreement_pipeline.cli import main
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.release import judge_round
from tests.cli.rounds import ROOT, SEROLOGY, WIDE, policy, unanimous

SCHEMA = json.loads((ROOT / "docs/judgement-1.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_judge_says_by_its_exit_status_what_it_decided(tmp_path, capsys):
    assert main(["judge", str(unanimous(tmp_path, 500)), "--policy", str(policy(tmp_path))]) == 0
    assert main(["judge", str(SEROLOGY), *WIDE, "--policy", str(policy(tmp_path))]) == 1
    assert "0.667 lies inside the interval" in capsys.readouterr().out


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


def test_judge_says_how_many_rows_of_an_export_are_no_ratings(tmp_path, capsys):
    export = ROOT / "tests/readers/exports/label_studio/label_studio.json"
    asked = ["--item", "doc_id", "--label", "sentiment", "--all-rounds"]
    assert main(["judge", str(export), *asked, "--policy", str(policy(tmp_path))]) == 1
    assert "\n  no ratings: draft 1, gold 1, skipped 1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("n_items", "errors", "twin", "commands"),
    [
        (60, 0.3, False, ["report", "plan"]),
        (90, 0.04, False, ["plan"]),
        (400, 0.15, True, ["judge", "report", "plan"]),
    ],
)
def test_each_command_that_helps_reads_the_table_as_judge_did(
    tmp_path, capsys, monkeypatch, n_items, errors, twin, commands
):
    """The contract holds a twin, who copies the labels of another rater."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rows = [
        (f"p{item}", who, ("no", "yes")[(item + (rng.random() < errors)) % 2])
        for item in range(n_items)
        for who in ("ana", "ben", "cem")
    ]
    table = pd.DataFrame(rows, columns=["post id", "who", "label"])
    copied = table[table["who"] == "ben"].assign(who="twin")
    pd.concat([table, copied] if twin else [table]).to_csv("my posts.csv", index=False)
    own = ["my posts.csv", "--item", "post id", "--rater", "who"]
    assert main(["judge", *own, "--policy", "standard"]) == 1
    printed = capsys.readouterr().out
    said = [shlex.split(line) for line in printed.splitlines() if "agreement-pipeline" in line]
    assert [words[1] for words in said] == commands
    rounds = {"plan": ["--rounds", "100"]}
    for _, name, *words in said:
        assert main([name, *words, *rounds.get(name, [])]) == (name == "judge"), words


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


def answer(capsys, *arguments, status):
    """What `judge` prints as JSON, which is what its schema says."""
    assert main(["judge", *map(str, arguments), "--format", "json"]) == status
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.fixture
def tables(tmp_path):
    """A table that is admitted, one that is held, and one that cannot be read."""
    (tmp_path / "inbox").mkdir()
    names = [tmp_path / "inbox" / f"w{n}.csv" for n in (1, 2, 10)]
    for path, n_items in zip(names, (500, 12), strict=False):
        unanimous(tmp_path, n_items).rename(path)
    names[2].write_text("item,rater,label\ni1,ana\n")
    return names


def test_json_is_what_its_schema_says_of_every_answer(tables, capsys):
    good, held, broken = tables
    under = ("--policy", "standard")
    assert answer(capsys, good, *under, status=0)["decision"] == "admitted"
    assert answer(capsys, held, *under, status=1)["codes"] == ["too_few_items"]
    assert answer(capsys, SEROLOGY, *WIDE, *under, status=1)["format"] == 1
    assert answer(capsys, broken, *under, status=2)["file"] == str(broken)
    assert "file" not in answer(capsys, good, "--policy", "standrad", status=2)
    for wrong in (["--nonsense"], ["--layout", "counts"]):
        assert answer(capsys, good, *under, *wrong, status=2)["code"] == "usage"
    assert answer(capsys, status=2)["why"].startswith("found no table")
    assert main(["judge", "--format=json"]) == 2
    assert json.loads(capsys.readouterr().out)["code"] == "usage"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"format": 1, "decision": "admitted"}, SCHEMA)


def test_of_several_tables_each_is_judged_and_the_worst_decides_the_status(tables, capsys):
    good, held, broken = map(str, tables)
    under = ["--policy", "standard"]
    for asked, status in (([good, good], 0), ([held, good], 1), ([broken, held, good], 2)):
        assert main(["judge", *asked, *under]) == status
        said = capsys.readouterr()
        heads = [line for line in said.out.splitlines() if not line.startswith(" ")]
        words = {good: "admitted", held: "held"}
        assert heads == [f"{words[each]}: {each}" for each in asked if each != broken]
        assert ("w10.csv: row 2: found 2 cells" in said.err) == (status == 2)
    found = answer(capsys, broken, held, good, *under, status=2)
    assert [each.get("decision", each.get("code")) for each in found] == [
        "ratings_refused",
        "held",
        "admitted",
    ]
    assert main(["judge", broken, good, *under, "--format", "markdown"]) == 2
    printed = capsys.readouterr().out
    assert printed.startswith("### not judged: ")
    assert "\n\n### admitted: " in printed


PROJECT = """project: reviews
inbox: inbox
scale: {level: nominal, categories: ['no', 'yes']}
policy: standard
deliveries: independent
"""


@pytest.fixture
def project(tables, tmp_path):
    """A project whose inbox has the three tables."""
    path = tmp_path / "configs/projects/reviews.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(PROJECT)
    return path


def test_the_rounds_in_the_inbox_of_a_project_are_judged_and_nothing_is_stored(
    project, tmp_path, capsys
):
    before = sorted(tmp_path.rglob("*"))
    found = answer(capsys, project, status=2)
    assert [(each["file"], each.get("decision")) for each in found] == [
        ("reviews/w1", "admitted"),
        ("reviews/w2", "held"),
        ("reviews/w10", None),
    ]
    (one,) = answer(capsys, project, "--of-round", "w2", status=1)
    assert one == found[1]
    (absent,) = answer(capsys, project, "--of-round", "w3", status=2)
    assert "found no round 'w3'" in absent["why"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_round_of_a_project_is_judged_with_its_waivers(project, tmp_path, capsys):
    (before,) = answer(capsys, project, "--of-round", "w2", status=1)
    waiver = {
        "project": "reviews",
        "round": "w2",
        "ratings_digest": before["ratings_digest"],
        "measure": "krippendorff_alpha",
        "who": "Dana Okoye",
        "why": "every item was adjudicated by hand",
        "until": (datetime.now(UTC).date() + timedelta(30)).isoformat(),
    }
    (tmp_path / "configs/waivers").mkdir()
    path = tmp_path / "configs/waivers/w2.yaml"
    path.write_text(yaml.safe_dump(waiver))
    (found,) = answer(capsys, project, "--of-round", "w2", status=0)
    assert found["waivers"] == [{**waiver, "scope": "round"}]
    path.write_text(yaml.safe_dump({**waiver, "round": "w1"}))
    assert answer(capsys, project, "--of-round", "w2", status=1) == [before]


def test_a_waiver_in_force_is_named_though_the_round_is_held_for_something_else(
    tmp_path, capsys, tables
):
    rng, rows = np.random.default_rng(7), []
    for n in range(200):
        said = ["abc"[(n + (rng.random() < 0.3)) % 3] for _ in range(4)]
        rows += [(n, who, label) for who, label in zip("abcde", [*said, said[0]], strict=True)]
    file = tmp_path / "copied.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(file, index=False)
    asked = ["judge", str(file), "--policy", "standard"]
    assert main([*asked, "--format", "json"]) == 1
    before = json.loads(capsys.readouterr().out)
    waiver = {
        "project": "p",
        "round": "copied",
        "ratings_digest": before["ratings_digest"],
        "check": "raters_not_copied",
        "policy_digest": before["policy_digest"],
        "who": "Dana Okoye",
        "why": "both were seen at work",
        "until": (datetime.now(UTC).date() + timedelta(30)).isoformat(),
    }
    (tmp_path / "w.yaml").write_text(yaml.safe_dump(waiver))
    assert "contract:raters_not_copied" in before["codes"]
    assert main([*asked, "--waiver", str(tmp_path / "w.yaml")]) == 1
    said = capsys.readouterr().out
    assert "contract: raters_not_copied" not in said
    assert f"waiver by Dana Okoye until {waiver['until']} of check raters_not_copied" in said


def labels(path, second=0):
    """A table of 500 items. The second rater differs on as many of them."""
    rows = [
        (i, rater, "yn"[(i + (rater == "b" and i < second)) % 2])
        for i in range(500)
        for rater in "abc"
    ]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)


def test_a_round_of_a_project_is_judged_as_its_gate_does(project, tables, tmp_path, capsys):
    project.write_text(PROJECT.replace("standard", "own").replace("'no', 'yes'", "'n', 'y'"))
    (tmp_path / "configs/policies").mkdir()
    rules = "policy: own\nversion: 1\nmost_versions: 3\nrules: [{measure: krippendorff_alpha}]\n"
    (tmp_path / "configs/policies/own.yaml").write_text(rules)
    of = Project(load_project(project))
    told = []
    for second in (150, 20, 150, 1, 2):
        labels(tables[0], second)
        asked = [project, "--of-round", "w1"]
        assert main(["judge", *map(str, asked), "--format", "json"]) in (0, 1)
        printed = capsys.readouterr()
        assert ("found no round in" in printed.err) == (not told)
        (said,) = json.loads(printed.out)
        jsonschema.validate([said], SCHEMA)
        of.keep(*of.delivered("w1"))
        gate, _ = judge_round(of.store, "w1", of.policy, of.contract, **of.judged_under)
        assert {key: said[key] for key in gate.decision.to_mapping()} == gate.decision.to_mapping()
        told.append((said["version"], said["decision"], said["codes"]))
    again = ["labels_given_again"]
    assert told == [
        (1, "held", ["unreliable"]),
        (2, "held", again),
        (2, "held", ["unreliable"]),
        (3, "held", again),
        (4, "held", [*again, "too_many_versions"]),
    ]
    (tmp_path / "configs/policies/own.yaml").write_text(rules.replace("3", "9"))
    (refused,) = answer(capsys, *asked, status=2)
    assert "Give the policy a new version" in refused["why"]


def test_one_of_two_rounds_of_the_same_name_that_is_held_holds(project, tables, tmp_path, capsys):
    other = tmp_path / "other/configs/projects/reviews.yaml"
    other.parent.mkdir(parents=True)
    other.write_text(PROJECT)
    (tmp_path / "other/inbox").mkdir()
    tables[0].rename(tmp_path / "other/inbox/w2.csv")
    found = answer(capsys, project, other, "--of-round", "w2", status=1)
    assert [each["decision"] for each in found] == ["held", "admitted"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--policy", "standard"], "found a project with ['--policy']"),
        (["--level", "ordinal"], "found a project with ['--level']"),
        (["--waiver", "w.yaml"], "found a project with ['--waiver']"),
        (["--waiver", "w.yaml"], "Leave them out. Put the waiver into configs/waivers."),
    ],
)
def test_no_option_says_what_a_project_says(project, capsys, more, why):
    assert why in answer(capsys, project, *more, status=2)["why"]


def test_the_next_step_of_a_project_names_the_file_of_its_policy(
    project, tmp_path, capsys, monkeypatch
):
    project.write_text(PROJECT.replace("standard", "own"))
    (tmp_path / "configs/policies").mkdir()
    rules = "policy: own\nversion: 1\nrules: [{measure: krippendorff_alpha}]\n"
    (tmp_path / "configs/policies/own.yaml").write_text(rules)
    assert main(["judge", str(project), "--of-round", "w2"]) == 1
    (plan,) = re.findall("agreement-pipeline (plan .*)", capsys.readouterr().out)
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(plan), "--rounds", "100"]) == 0


def test_no_step_reads_a_round_from_a_store_that_does_not_have_it(
    project, tmp_path, capsys, monkeypatch
):
    rows = [(item, rater, (rater == "a") != (item < 4)) for item in range(40) for rater in "abc"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    frame["label"] = frame["label"].map({True: "no", False: "yes"})
    frame.to_csv(project.parents[2] / "inbox/w2.csv", index=False)
    assert main(["judge", str(project), "--of-round", "w2"]) == 1
    steps = re.findall("agreement-pipeline (.*)", capsys.readouterr().out)
    assert steps[0] == "guide in-dagster"
    monkeypatch.chdir(tmp_path)
    assert [main([*shlex.split(step)]) for step in steps] == [0, 0]


def test_a_name_of_a_policy_of_a_project_is_answered_with_its_file(
    tables, tmp_path, capsys, monkeypatch
):
    (tmp_path / "configs/policies").mkdir(parents=True)
    policy(tmp_path / "configs/policies").rename(tmp_path / "configs/policies/own.yaml")
    monkeypatch.chdir(tmp_path)
    assert main(["judge", str(tables[0]), "--policy", "own"]) == 2
    said = capsys.readouterr()
    assert "Did you mean 'configs/policies/own.yaml'?" in said.err
    assert not said.out


@pytest.mark.parametrize("output", ["table", "markdown"])
def test_who_is_left_out_is_told_with_the_decision(tmp_path, capsys, output):
    asked = ["judge", str(unanimous(tmp_path, 500)), "--policy", "standard", "--format", output]
    assert main([*asked, "--exclude-rater", "b"]) == 0
    assert "Raters left out: b." in capsys.readouterr().out
    assert main(asked) == 0
    assert "left out" not in capsys.readouterr().out


def test_who_is_left_out_of_a_project_is_told_with_the_decision(project, tables, capsys):
    labels(tables[0])
    named = PROJECT.replace("'no', 'yes'", "'n', 'y'")
    project.write_text(f"{named.rstrip()}\nexclude_raters: [c]\n")
    assert main(["judge", str(project), "--of-round", "w1"]) == 0
    assert "Raters left out: c." in capsys.readouterr().out


def test_a_table_without_a_policy_is_not_judged(tables, capsys):
    why = answer(capsys, tables[0], status=2)["why"]
    assert "expected one. Name it, as --policy standard" in why


@pytest.mark.parametrize("command", ["judge", "report", "plan", "init"])
def test_a_url_is_no_file_and_stands_there_as_it_was_given(capsys, command):
    assert main([command, "https://example.org/a.csv"]) == 2
    assert "found 'https://example.org/a.csv', a URL; expected a file" in capsys.readouterr().err


def test_a_url_is_for_spark_alone(capsys):
    assert main(["measure", "https://example.org/a.csv"]) == 2
    assert "https://example.org/a.csv: found a URL; expected a file" in capsys.readouterr().err


def test_a_folder_without_a_name_is_called_by_its_own(tmp_path, capsys, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "notes.md").write_text("no table")
    monkeypatch.chdir(tmp_path / "here")
    assert main(["judge", ".", "--policy", "standard"]) == 2
    assert "error: here: found no format that is known" in capsys.readouterr().err


def test_an_empty_inbox_is_no_admission(project, tables, capsys):
    for path in tables:
        path.unlink()
    assert "found no round; expected one" in answer(capsys, project, status=2)["why"]


def test_a_summary_says_all_that_the_terminal_says(tmp_path, capsys):
    table = str(unanimous(tmp_path, 500))
    for form, before in (("table", "  "), ("markdown", "- ")):
        assert main(["judge", table, "--policy", "standard", "--format", form]) == 0
        assert f"\n{before}The limits are valid for a round" in capsys.readouterr().out


def cumulative_tables(tmp_path):
    """Two exports of one tool. The second holds the first one and bad items."""
    rng = np.random.default_rng(9)
    rows = [
        (f"i{item:03}", rater, int(rng.random() < 0.5) if item >= 400 else item % 2)
        for item in range(460)
        for rater in ("ana", "ben", "cem")
    ]
    columns = ["item", "rater", "label"]
    for name, n_items in (("w1", 400), ("w2", 460)):
        pd.DataFrame(rows[: 3 * n_items], columns=columns).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return tmp_path / "w1.csv", tmp_path / "w2.csv"


def test_what_came_earlier_is_left_out(tmp_path, capsys):
    older, newer = cumulative_tables(tmp_path)
    under = ["--policy", str(policy(tmp_path))]
    assert main(["judge", str(newer), *under]) == 0
    capsys.readouterr()
    assert main(["judge", str(newer), "--earlier", str(older), *under]) == 1
    printed = capsys.readouterr().out
    assert "on 60 items" in printed
    assert (
        "400 items more came before without a new rating since, and count with w1.csv." in printed
    )
    assert main(["judge", str(older), "--earlier", str(newer), *under]) == 2
    assert "400 items with the same labels as in round 'w2.csv'" in capsys.readouterr().err


def test_rounds_that_no_store_has_come_in_the_order_of_their_names(tmp_path, capsys):
    for file in cumulative_tables(tmp_path):
        (tmp_path / "inbox").mkdir(exist_ok=True)
        file.rename(tmp_path / "inbox" / file.name)
    path = tmp_path / "configs/projects/reviews.yaml"
    path.parent.mkdir(parents=True)
    text = PROJECT.replace("'no', 'yes'", "0, 1").replace("deliveries: independent\n", "")
    path.write_text(text)
    for asked in ([], ["--of-round", "w2"]):
        assert main(["judge", str(path), *asked]) == 1
        printed = capsys.readouterr().out
        assert "found that 400 of 460 items came in an earlier round" in printed
        assert "400 items came before, with krippendorff_alpha 1.000; 60 items are new" in printed
    path.write_text(f"{text}deliveries: cumulative\n")
    first, second = answer(capsys, path, status=1)
    assert (first["decision"], second["decision"]) == ("admitted", "held")
    assert second["verdicts"][0]["n_items"] == 60


def test_a_suite_is_asked_of_a_table_only_if_it_is_named(tmp_path, capsys, monkeypatch):
    path = unanimous(tmp_path, 500)
    table = pd.read_csv(path).assign(language="de")
    table.loc[:2, "language"] = "x"
    table.to_csv(path, index=False)
    rule = {
        "type": "expect_column_values_to_be_in_set",
        "kwargs": {"column": "language", "value_set": ["de"]},
    }
    suite = tmp_path / "ours.json"
    suite.write_text(json.dumps({"expectations": [rule]}))
    command = ["judge", str(path), "--policy", str(policy(tmp_path))]

    assert main([*command, "--contract", str(suite)]) == 1
    assert "contract: language_in_set: 3 of " in capsys.readouterr().out
    suite.write_text(json.dumps({"expectations": [{**rule, "severity": "warning"}]}))
    assert main([*command, "--contract", str(suite)]) == 0
    assert "  warning: language_in_set: 3 of " in capsys.readouterr().out
    monkeypatch.setattr("agreement_pipeline.contract.gx.validate_frame", None)
    assert main(command) == 0
    assert "language" not in capsys.readouterr().out


def test_a_suite_is_asked_of_standard_input_too(tmp_path, capsys, monkeypatch):
    rule = {"type": "expect_table_row_count_to_equal", "kwargs": {"value": 7}}
    suite = tmp_path / "ours.json"
    suite.write_text(json.dumps({"expectations": [rule]}))
    with unanimous(tmp_path, 500).open() as file:
        monkeypatch.setattr("sys.stdin", file)
        command = ["judge", "-", "--policy", str(policy(tmp_path)), "--contract", str(suite)]
        assert main(command) == 1
    assert "contract: row_count_to_equal: " in capsys.readouterr().out
