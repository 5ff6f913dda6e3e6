"""Labels that began as a suggestion: judged or left out, with the values of both beside slow loops.

The exports are those of the readers' tests.
"""

import json
from dataclasses import replace
from operator import ne

import pandas as pd
import pytest

from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.integrity import AtMost, Integrity
from agreement_pipeline.policy import Policy, Rule, assess, judge
from agreement_pipeline.policy.decision import DEFAULT_MEASURE
from agreement_pipeline.ratings import Origin, Ratings, Scale
from agreement_pipeline.readers import Columns, Rules, read
from tests.measures.loops import slow_alpha
from tests.readers.exports_of_tools import ALL_ROUNDS, CASES
from tests.readers.test_exports import SENTIMENT
from tests.release.forging import CONTRACT

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
WITHOUT = replace(POLICY, assisted="leave_out")
SCALE = Scale(("n", "y"))
SUGGESTED = {
    501: {"parent_prediction": 9001},
    504: {"last_action": "propagated_annotation"},
    508: {"parent_annotation": 507},
}
ROWS = [
    (f"i{item:02}", rater, "ny"[(item * place + item // 3) % 2], (item + place) % 4 == 0)
    for item in range(60)
    for place, rater in enumerate(["ana", "ben", "chi"], 1)
]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label", "assisted"])


def ratings_of(frame, **settings):
    return Ratings.from_frame(frame, SCALE, **settings)


def alpha_of(rows):
    """Nominal alpha, pair by pair, of (item, label)."""
    labels = {}
    for item, label in rows:
        labels.setdefault(item, []).append(label)
    return slow_alpha(labels.values(), ne)[0]


def found_of(decision):
    return next((each for each in decision.findings if each.check == "assisted"), None)


@pytest.fixture
def suggested(tmp_path):
    """An export of Label Studio in which three answers began as a suggestion, as it writes them."""
    case = CASES["label_studio"]
    tasks = json.loads(case.file.read_text())
    for task in tasks:
        for annotation in task["annotations"]:
            annotation.update(SUGGESTED.get(annotation["id"], {}))
    path = tmp_path / "round.json"
    path.write_text(json.dumps(tasks))
    return read(path, case.columns, scale=SENTIMENT, rules=case.rules)


def test_an_export_carries_what_began_as_a_suggestion(suggested):
    table = suggested.to_pandas()
    assert table["assisted"].dtype == "boolean"
    began = table[table["assisted"].fillna(False)]
    assert sorted(zip(began["item"], began["rater"], strict=True)) == [
        ("doc-001", "11"),
        ("doc-002", "11"),
        ("doc-003", "12"),
    ]
    assert suggested.is_assistance_known


def test_a_decision_tells_the_values_with_and_without_as_a_slow_loop_finds_them(suggested):
    table = suggested.to_pandas()
    table = table[~table["rater"].isin(suggested.classifiers)]
    every = list(zip(table["item"], table["label"], strict=True))
    rest = [
        row for row, began in zip(every, table["assisted"].fillna(False), strict=True) if not began
    ]
    expected = f"{alpha_of(every):.3f} with them and {alpha_of(rest):.3f} without them"
    assert round(alpha_of(every), 4) == 0.3478
    for policy, done in [(POLICY, "counted"), (WITHOUT, "left out")]:
        finding = found_of(judge(suggested, policy, CONTRACT))
        assert expected in finding.description
        assert (
            f"3 of {len(table)} labels began as a suggestion, and are {done}" in finding.description
        )
        assert not finding.holds


@pytest.mark.parametrize("policy", [POLICY, WITHOUT])
def test_the_values_of_many_labels_are_those_of_a_slow_loop(policy):
    every = [(item, label) for item, _, label, _ in ROWS]
    rest = [(item, label) for item, _, label, began in ROWS if not began]
    finding = found_of(judge(ratings_of(FRAME), policy, CONTRACT))
    assert f"{alpha_of(every):.3f} with them and {alpha_of(rest):.3f}" in finding.description
    judged = assess(ratings_of(FRAME), policy, CONTRACT).estimates[0]
    assert judged.value == pytest.approx(alpha_of(rest if policy is WITHOUT else every), abs=1e-12)


def test_what_is_left_out_might_as_well_never_have_been_there():
    left = FRAME[~FRAME["assisted"]].drop(columns="assisted")
    assert (
        assess(ratings_of(FRAME), WITHOUT, CONTRACT).estimates
        == assess(ratings_of(left), POLICY, CONTRACT).estimates
    )


def test_a_decision_is_bound_to_all_labels_and_to_which_began_as_a_suggestion():
    whole = ratings_of(FRAME)
    assert judge(whole, WITHOUT, CONTRACT).ratings_digest == whole.digest
    other = FRAME.assign(assisted=~FRAME["assisted"])
    assert len({whole.digest, ratings_of(other).digest, whole.without_assisted.digest}) == 3


def test_nothing_is_told_if_no_label_began_as_a_suggestion():
    decision = judge(ratings_of(FRAME.assign(assisted=False)), WITHOUT, CONTRACT)
    assert found_of(decision) is None
    assert "not_shown" not in decision.codes


@pytest.mark.parametrize("name", ["argilla", "argilla_rest", "mturk", "doccano"])
def test_an_export_that_cannot_show_it_is_held_if_it_shall_be_left_out(name):
    case = CASES[name]
    ratings = read(case.file, case.columns, scale=SENTIMENT, rules=case.rules)
    assert "assisted" not in ratings.has
    decision = judge(ratings, WITHOUT, CONTRACT)
    assert not decision.admitted
    assert "not_shown" in decision.codes
    assert "which cannot show ['assisted']" in decision.reasons[0]
    assert "not_shown" not in judge(ratings, POLICY, CONTRACT).codes


def test_one_label_of_which_it_is_not_known_is_enough_to_hold():
    unknown = FRAME.astype({"assisted": object})
    unknown.loc[7, "assisted"] = None
    assert "not_shown" in judge(ratings_of(unknown), WITHOUT, CONTRACT).codes
    claims = replace(ratings_of(unknown), origin=Origin.build("tool", ["assisted"], {}))
    assert "not_shown" in judge(claims, WITHOUT, CONTRACT).codes


def test_of_a_models_answers_nothing_is_left_out_or_unknown():
    model = [(f"i{item:02}", "gpt", "y", None) for item in range(60)]
    frame = pd.DataFrame([*ROWS, *model], columns=FRAME.columns)
    ratings = ratings_of(frame, classifiers=["gpt"])
    assert ratings.is_assistance_known
    assert ratings.without_assisted.classifiers == ("gpt",)
    assert len(ratings.without_assisted.first_ratings(["item"], raters=["gpt"])) == 60
    assert "of 180 labels" in found_of(judge(ratings, POLICY, CONTRACT)).description


def test_a_round_of_suggestions_alone_has_no_value():
    decision = judge(ratings_of(FRAME.assign(assisted=True)), WITHOUT, CONTRACT)
    assert not decision.admitted
    assert decision.verdicts[0].kind == "not_evaluated"
    assert "and undefined without them" in found_of(decision).description


def test_a_rating_met_again_keeps_what_is_known_of_it():
    first = ratings_of(FRAME)
    both = ratings_of(FRAME.assign(assisted=False)).preceded_by([first])
    assert both.n_assisted == FRAME["assisted"].sum()
    assert (
        not ratings_of(FRAME)
        .preceded_by([ratings_of(FRAME.drop(columns="assisted"))])
        .is_assistance_known
    )


def test_a_column_of_a_table_says_it_once_it_is_named(tmp_path):
    path = tmp_path / "round.csv"
    path.write_text("item,rater,label,suggested\ni,ana,n,yes\ni,ben,y,no\nj,ana,y,\nj,ben,y,no\n")
    assert "assisted" not in read(path).has
    named = read(path, Columns(assisted="suggested"), rules=Rules(requires=("assisted",)))
    assert named.to_pandas()["assisted"].tolist() == [True, False, pd.NA, False]
    assert not named.is_assistance_known
    path.write_text("item,rater,label,suggested\ni,ana,n,gpt-4\ni,ben,y,no\n")
    with pytest.raises(RatingsError, match="row 2, column 'suggested': found"):
        read(path, Columns(assisted="suggested"))


def test_a_policy_may_bound_the_share():
    bound = Integrity(labels_not_suggested=AtMost(0.2, "hold"))
    policy = replace(POLICY, integrity=bound)
    decision = judge(ratings_of(FRAME), policy)
    assert "contract:labels_not_suggested" in decision.codes
    n_began = sum(began for *_, began in ROWS)
    assert any(f"{n_began} of 180 labels" in each.description for each in decision.findings)
    unknown = judge(ratings_of(FRAME.drop(columns="assisted")), policy)
    assert "contract:labels_not_suggested" not in unknown.codes


def test_a_policy_that_counts_them_keeps_its_digest():
    assert "assisted" not in POLICY.to_mapping()
    assert Policy.from_mapping(WITHOUT.to_mapping()) == WITHOUT
    assert WITHOUT.digest != POLICY.digest
    with pytest.raises(PolicyError, match="assisted: found"):
        replace(POLICY, assisted="forget")


def test_label_studio_tells_it_of_rules_that_require_it():
    case = CASES["label_studio"]
    found = read(case.file, case.columns, rules=replace(ALL_ROUNDS, requires=("assisted",)))
    assert found.is_assistance_known


def test_labels_that_differ_cannot_be_left_out_as_suggestions():
    """77 labels differ, by each rater in turn. Without them alpha is 1."""
    rows = [
        (f"i{item:03}", rater, "ny"[(item + differs) % 2], differs)
        for item in range(300)
        for place, rater in enumerate(["ana", "ben", "chi"])
        for differs in [item < 77 and item // 2 % 3 == place]
    ]
    ratings = ratings_of(pd.DataFrame(rows, columns=FRAME.columns))
    decision = judge(ratings, WITHOUT, CONTRACT)
    assert (decision.admitted, decision.codes) == (False, ("dissent_left_out",))
    value = alpha_of([(item, label) for item, _, label, _ in rows])
    words = (
        f"with the labels that began as a suggestion it is inconclusive: {DEFAULT_MEASURE} "
        f"{value:.3f}"
    )
    assert words in decision.reasons[0]


def test_labels_that_agree_are_left_out_without_another_word():
    rows = [
        (f"i{item:03}", rater, "ny"[(item + (item % 50 == place)) % 2], item % 4 == 3)
        for item in range(300)
        for place, rater in enumerate(["ana", "ben", "chi"])
    ]
    ratings = ratings_of(pd.DataFrame(rows, columns=FRAME.columns))
    assert judge(ratings, WITHOUT, CONTRACT).admitted
