"""Raters who use other words are told so before anybody is said to differ."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.estimates import survey
from agreement_pipeline.evidence import describe_who_differs, details
from agreement_pipeline.policy import load_policy
from agreement_pipeline.readers import Rules, read
from agreement_pipeline.report import report_page

CELLS = {path.name: path for path in Path(__file__).parents[1].glob("cases/*/*")}
PAIRS = [
    *(("no|yes", "0|1"), ("no|yes", "False|True"), ("no|yes", "n|y"), ("no|yes", "non|oui")),
    *(("I|C", "0|1"), ("fail|pass", "0|1"), ("negative|positive", "0|1"), ("a|b|c", "1|2|3")),
    *(("ham|spam", "kein Spam|Spam!"), ("left|right", "L|R"), ("no|yes", "\u274c|\u2705")),
    *(("low|mid|high", "niedrig|mittel|hoch"), ("neg|neutral|pos", "neg.|neutr.|pos.")),
    *(("no|yes", "2026-01-01|2026-01-02"), ("false|true", "0|1"), ("A|B|C|D", "w|x|y|z")),
    *(("negative|neutral|positive", "negativ|neutral|positiv"), ("unsafe|safe", "-1|1")),
    *(("no|yes|n/a", "0|1|n/a"), ("no|yes", "rejected|accepted"), ("B|W", "black|white")),
]

NOT_COMPARED = "Raters are not compared, because some use other words for the same labels."


def labels_of(draw, n_items: int, n_labels: int, n_raters: int, correct: float = 0.9):
    """The places of labels: raters who give the right one, or else any."""
    truth = draw.integers(0, n_labels, n_items)
    right = draw.random((n_raters, n_items)) < correct
    return np.where(right, truth, draw.integers(0, n_labels, (n_raters, n_items)))


def table_of(answers, words: list[list[str]], names: list[str]) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {"item": range(len(given)), "rater": name, "label": np.array(own, object)[given]}
        )
        for given, own, name in zip(answers, words, names, strict=True)
    ]
    return pd.concat(parts, ignore_index=True).astype(str)


def judged(path: Path, capsys, *more: str) -> dict:
    asked = [*more, "--policy", "exploratory", "--format", "json"]
    main(["judge", str(path), *asked])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("usual", "other"), PAIRS)
@pytest.mark.parametrize("n_others", [1, 2])
def test_raters_with_other_words_are_found_and_mapped(usual, other, n_others):
    """Once mapped by the proposed setting, the ratings are those in which all used one word."""
    usual, other = usual.split("|"), other.split("|")
    names = ["ana", "ben", "cleo", "dan"][: 2 + n_others]
    answers = labels_of(np.random.default_rng(len(usual)), 120, len(usual), len(names))
    table = table_of(answers, [usual] * 2 + [other] * n_others, names)
    (found,) = read(table).foreign_words
    own = names[2:]
    assert {*found.raters} in ({*own}, {*names} - {*own})  # of two against two, either is odd
    expected = {one: two for one, two in zip(other, usual, strict=True) if one != two != "n/a"}
    if found.raters[0] not in own:
        expected = {two: one for one, two in expected.items()}
    assert found.translation == expected
    groups = tuple((two, one) for one, two in found.translation.items())
    mapped = read(table, rules=Rules(same_label=groups))
    kept = usual if found.raters[0] in own else other
    alike = read(table_of(answers, [kept] * len(names), names))
    assert mapped.digest == alike.digest
    assert mapped.foreign_words == ()


@pytest.mark.parametrize("n_others", [1, 2])
def test_a_round_of_words_that_do_not_meet_is_held_and_names_nobody(n_others, tmp_path, capsys):
    answers = labels_of(np.random.default_rng(8), 120, 2, 5)
    names, path = ["ana", "ben", "cleo", "dan", "eva"], tmp_path / "table.csv"
    words = [["no", "yes"]] * (5 - n_others) + [["0", "1"]] * n_others
    table_of(answers, words, names).to_csv(path, index=False)
    answer = judged(path, capsys)
    assert answer["codes"] == ["words_do_not_meet"]
    assert {each["verdict"] for each in answer["verdicts"]} == {"not_evaluated"}
    (told,) = [each for each in answer["findings"] if each["check"] == "words_do_not_meet"]
    assert '--same-label "no=0" --same-label "yes=1"' in told["description"]
    others = [each["description"] for each in answer["findings"] if each is not told]
    assert not any(repr(name) in words for name in names for words in others)
    mapped = judged(path, capsys, "--same-label", "no=0", "--same-label", "yes=1")
    assert mapped["decision"] == "admitted"


@pytest.mark.parametrize(
    ("file", "how"),
    [
        ("yesTrue.csv", "--layout wide --item item --raters ana --raters ben"),
        ("mixed.json", "--label score"),
        ("bool_yes.jsonl", "--label ok"),
    ],
)
def test_the_rounds_that_were_found_are_told(file, how, capsys):
    measure = ["--measure", "krippendorff_alpha" if "bool" not in file else "shah_s"]
    assert main(["measure", str(CELLS[file]), *how.split(), *measure]) == 0
    assert "which nobody else uses" in capsys.readouterr().err


def test_words_are_mapped_to_the_value_that_was_computed_elsewhere(capsys):
    """krippendorff 0.9.0 gives .70175 once the words are one."""
    asked = "--layout wide --item item --raters ana --raters ben --measure krippendorff_alpha"
    same = ["--same-label", "yes=True", "--same-label", "no=False", "--format", "json"]
    assert main(["measure", str(CELLS["yesTrue.csv"]), *asked.split(), *same]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.70175, abs=5e-6)


OF_RATERS = (
    "Each rater beside the others",
    "Pairs who agree least",
    "Share of items with the same label",
    "Classifiers beside the raters",
)


@pytest.mark.parametrize("models", [(), ("dan",)])
def test_page_and_ui_show_nothing_of_raters_while_words_do_not_meet(models):
    answers = labels_of(np.random.default_rng(5), 200, 2, 4, 0.8)
    words = [["no", "yes"]] * 3 + [["0", "1"]]
    table = table_of(answers, words, ["ana", "ben", "cleo", "dan"])
    policy = load_policy("exploratory")
    groups = (("no", "0"), ("yes", "1"))
    for rules, is_shown in ((Rules(), False), (Rules(same_label=groups), True)):
        ratings = read(table, rules=rules, classifiers=models)
        page = report_page(ratings, policy, names={})
        titles = [title for title in OF_RATERS if title in page]
        expected = [title for title in OF_RATERS if models or "Classifiers" not in title]
        assert titles == (expected if is_shown else [])
        assert (NOT_COMPARED in page) != is_shown
        measures = ("schouten_kappa", "krippendorff_alpha")
        estimates = survey(ratings, measures, scopes=("round", "rater", "pair", "without"))
        for question in ("inter-rater", "intra-rater", "classifier"):
            shown = details(question, ratings, policy, estimates)
            text = " ".join(
                each.to_string() if isinstance(each, pd.DataFrame) else str(each)
                for each in shown.values()
            )
            assert any(name in text for name in ratings.names) is is_shown


def test_nobody_is_named_while_words_do_not_meet(tmp_path):
    answers = labels_of(np.random.default_rng(5), 200, 2, 4)
    words = [["no", "yes"]] * 3 + [["0", "1"]]
    path = tmp_path / "table.csv"
    table_of(answers, words, ["ana", "ben", "cleo", "dan"]).to_csv(path, index=False)
    assert describe_who_differs(read(path)) == NOT_COMPARED


def test_a_slip_into_the_words_of_others_hides_nothing(tmp_path):
    answers = labels_of(np.random.default_rng(6), 200, 2, 3)
    table = table_of(answers, [["no", "yes"]] * 2 + [["0", "1"]], ["ana", "ben", "cleo"])
    table.loc[[3, 450], "label"] = ["1", "yes"]
    (found,) = read(table).foreign_words
    assert found.raters == ("cleo",)
    assert found.labels == ("0", "1")


HONEST = {
    "one rater never uses two of the categories": lambda draw: (
        labels_of(draw, 60, 4, 3) * [[1], [1], [0]]
        + np.minimum(labels_of(draw, 60, 4, 3), 1) * [[0], [0], [1]],
        [list("abcd")] * 3,
    ),
    "one rater always gives one label": lambda draw: (
        labels_of(draw, 60, 3, 3) * [[1], [1], [0]],
        [list("abc")] * 3,
    ),
    "raters who are lost": lambda draw: (labels_of(draw, 30, 5, 3, 0.1), [list("abcde")] * 3),
    "many categories on few items": lambda draw: (
        labels_of(draw, 20, 40, 2, 0.5),
        [[f"c{n}" for n in range(40)]] * 2,
    ),
}


@pytest.mark.parametrize("kind", HONEST)
def test_honest_raters_have_words_in_common(kind):
    for seed in range(10):
        answers, words = HONEST[kind](np.random.default_rng(seed))
        table = table_of(answers, words, ["ana", "ben", "cleo"][: len(words)])
        assert read(table).foreign_words == ()


def test_teams_that_share_no_item_may_use_words_of_their_own():
    draw = np.random.default_rng(7)
    english = table_of(labels_of(draw, 80, 2, 2), [["no", "yes"]] * 2, ["ana", "ben"])
    german = table_of(labels_of(draw, 80, 2, 2), [["nein", "ja"]] * 2, ["uwe", "ute"])
    german["item"] = "g" + german["item"]
    assert read(pd.concat([english, german], ignore_index=True)).foreign_words == ()


def test_truth_values_and_their_texts_are_one_label_in_a_workbook(capsys):
    ratings = read(CELLS["bool_mixed.xlsx"])
    assert ratings.scale.names == ("False", "True")
    file = str(CELLS["bool_mixed.xlsx"])
    assert main(["measure", file, "--measure", "percent_agreement", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.95)


def test_groups_that_share_a_word_are_one():
    """Whoever follows two proposals after each other maps a word to another that is mapped too."""
    draw = np.random.default_rng(4)
    answers = labels_of(draw, 120, 2, 3)
    table = table_of(answers, [["no", "yes"], ["no", "yes"], ["0", "1"]], ["ana", "ben", "cleo"])
    shouted = table["rater"].eq("ben") & (draw.random(len(table)) < 0.1)
    table["label"] = table["label"].mask(shouted, table["label"].str.upper())
    pairs = (("no", "0"), ("yes", "1"), ("NO", "no"), ("YES", "yes"))
    expected = read(table_of(answers, [["no", "yes"]] * 3, ["ana", "ben", "cleo"]))
    for groups in (pairs, (("no", "NO", "0"), ("yes", "YES", "1"))):
        assert read(table, rules=Rules(same_label=groups)).digest == expected.digest
