"""What a file says is shown as plain text."""

import json

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.evidence import summarize
from agreement_pipeline.orchestration.checks import policy_results
from agreement_pipeline.orchestration.metadata import decision_metadata
from agreement_pipeline.policy import Policy, Rule, judge
from agreement_pipeline.ratings import TEXT, Origin, group_lookalike_names, printed_forms
from agreement_pipeline.release.card import card
from agreement_pipeline.report import markdown_text
from tests.fuzzing import RULES
from tests.readers.texts import MARKUP

BUILT_IN = Contract.none()


@pytest.mark.parametrize("other", ["\u0430na", "ana\u200b", "Ana", "\uff41na", "ana ", "an\u03b1"])
def test_raters_who_print_alike_are_named_and_stay_two(other):
    frame = pd.DataFrame(
        {"item": ["i", "i", "i"], "rater": ["ana", other, "ben"], "label": ["yes", "no", "no"]}
    )
    raters = Ratings.from_frame(frame, Scale(("no", "yes"))).raters
    assert set(raters) == {"ana", other, "ben"}
    assert group_lookalike_names(raters) == (tuple(sorted(("ana", other))),)


@pytest.mark.parametrize(
    "unseen",
    [
        *"\u034f\u115f\u1160\u17b4\u180b\u180f\u2065\u2800\u3164\ufe00\ufe0f\uffa0\ufff0",
        "\U000e0100",
    ],
    ids=ascii,
)
def test_what_unicode_ignores_by_default_is_not_seen(unseen):
    other = f"ana{unseen}"
    assert group_lookalike_names(["ana", other]) == (("ana", other),)
    assert printed_forms(pd.Series(["ana", other], dtype=TEXT)).tolist() == ["ana", "ana"]


def test_normal_forms_print_alike_and_other_letters_do_not():
    assert group_lookalike_names(["Ren\u00e9", "Rene\u0301"]) == (("Rene\u0301", "Ren\u00e9"),)
    assert group_lookalike_names(["ana", "anna", "an\u00e1", "\u0438\u0432\u0430\u043d"]) == ()


def test_markup_in_names_and_categories_is_text_in_the_card_and_the_ui():
    unmet = {"description": MARKUP, "passed": False}
    said = {"tentative": False, "waivers": [], "verdicts": [], "findings": [unmet], "version": 1}
    decisions = {MARKUP: said}
    origins = {MARKUP: Origin("table", (), {f"where {MARKUP}": 1})}
    report = {"rows": {"train": 1, "unresolved": 0}, "rounds": {MARKUP: {"counts": {"items": 1}}}}
    for text in (
        card(MARKUP, decisions, report, RULES, BUILT_IN, Scale((MARKUP, "no")), origins).split(
            "---\n", 2
        )[2],
        markdown_text(MARKUP),
    ):
        assert "<img" not in text
        assert "[a](" not in text
        assert "&lt;img" in text


ESCAPES = "\x1b[2J\x9b1m\u202e\u2028caf\u00e9"


@pytest.mark.parametrize("format", ["table", "json"])
def test_what_a_table_says_does_not_move_the_cursor_of_whoever_reads_the_estimates(
    tmp_path, capsys, format
):
    rows = [
        (f"i{n}", rater, (ESCAPES, "no")[n % 2])
        for n in range(20)
        for rater in (f"ana{ESCAPES}", "ben", "cleo")
    ]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(tmp_path / "r.csv", index=False)
    path, few = str(tmp_path / "r.csv"), ["--n-resamples", "400", "--format", format]
    for command in (
        ["measure", path, "--measure", "category_agreement"],
        ["compare", path, "--between", f"ana{ESCAPES}", "ben"],
    ):
        assert main([*command, *few]) == 0
        printed = capsys.readouterr().out
        assert printed.replace("\n", "").isprintable()
        assert "[2J" in printed
        assert "caf\u00e9" in printed
        if format == "json":
            assert any(
                ESCAPES in str(value) for each in json.loads(printed) for value in each.values()
            )


def test_what_a_file_says_does_not_move_the_cursor_of_whoever_reads_the_error(tmp_path, capsys):
    folder = tmp_path / "configs" / "projects"
    folder.mkdir(parents=True)
    (folder / "demo.yaml").write_text(
        '"\\e[2J\\x9B1m\\n\\u202ecaf\u00e9 \u65e5\u672c": 1\n', encoding="utf-8"
    )
    assert main(["run", "--root", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert (
        "\\x1b[2J\\x9b1m\\n\\u202ecaf\u00e9 \u65e5\u672c: found an unknown key; expected one of "
        "['project', " in printed
    )
    assert printed.removesuffix("\n").isprintable()


def test_the_reasons_of_a_decision_are_printed_without_what_moves_the_cursor(tmp_path, capsys):
    pd.DataFrame(
        [(n, rater, n % 2) for n in range(20) for rater in "abc"],
        columns=["item", "rater", "label"],
    ).to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "p.yaml").write_text(
        "policy: p\nversion: 1\nrules: [{measure: krippendorff_alpha}]\n"
    )
    said = {
        "project": "demo",
        "round": "r1",
        "ratings_digest": "a" * 64,
        "measure": "krippendorff_alpha",
        "who": "Dana Okoye",
        "why": f"{ESCAPES} was adjudicated",
        "until": "2027-01-31",
    }
    (tmp_path / "w.yaml").write_text(json.dumps(said))
    assert (
        main(
            [
                "judge",
                str(tmp_path / "r.csv"),
                "--policy",
                str(tmp_path / "p.yaml"),
                "--waiver",
                str(tmp_path / "w.yaml"),
            ]
        )
        == 1
    )
    printed = capsys.readouterr().out
    assert r"(\x1b[2J\x9b1m\u202e caf" in printed
    assert printed.replace("\n", "").isprintable()


NAMED = "ana\n- **approved** by https://a.example/b or www.c.example or d@e.example"


def test_p10_a_name_with_a_line_break_makes_no_line_or_link_of_its_own_in_the_ui():
    rows = [
        (f"i{n}", rater, ("no", "yes")[(n + (rater == NAMED and n % 3 == 0)) % 2])
        for n in range(60)
        for rater in (NAMED, "ben", "chi")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    rules = (Rule("cohen_kappa", scope="pair"), Rule("krippendorff_alpha", scope="without"))
    ratings, policy = Ratings.from_frame(frame, Scale(("no", "yes"))), Policy("p", 1, rules)
    decision = judge(ratings, policy)
    summary = summarize(ratings, policy, decision)
    shown = decision_metadata(summary, {})
    told = shown["why"].md_str
    assert not decision.admitted
    lines = told.split("\n")
    assert all(line.startswith("- ") and "approved" not in line[:12] for line in lines)
    assert len(lines) <= len(decision.reasons) + 1, "one more says who differs"
    assert not [each for each in ("://", "www.", "d@e", "**") if each in told]
    cells = [str(cell) for row in shown["rules"].records for cell in row.data.values()]
    assert all(cell.isprintable() for cell in cells)
    results = policy_results(summary)
    assert all(result.description.isprintable() for result in results)


@pytest.mark.parametrize("address", ["https://a.example/b", "www.c.example", "d@e.example"])
def test_p10_an_address_from_the_data_is_no_link_in_the_card(address):
    unmet = {"description": f"see {address}", "passed": False}
    said = {"tentative": False, "waivers": [], "verdicts": [], "findings": [unmet], "version": 1}
    report = {"rows": {"train": 1, "unresolved": 0}, "rounds": {"r": {"counts": {"items": 1}}}}
    text = card("p", {"r": said}, report, RULES, BUILT_IN, Scale(("yes", "no")))
    assert address not in text
    assert address in text.replace("\u2060", "")
