"""What the headline measures make of inputs at the edge, worked by hand; None is no value."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings, Scale
from tools.pages.degenerate_inputs import INPUTS, REFUSALS, Refusal
from tools.pages.degenerate_page import HEADLINE, main

ONES = dict.fromkeys(HEADLINE, 1)
NONE = dict.fromkeys(HEADLINE)

EXPECTED = {
    # Chance read off the labels is 1. If one category is used alone, AC1's chance is 0.
    # The chance of S is always 1/2.
    "All labels equal": NONE
    | {"percent_agreement": 1, "gwet_ac1": 1, "bennett_s": 1, "self_agreement": 1},
    # 3 of 4 items agree. Alpha: D_o = 2/8, D_e = 2·7·1 / (8·7). Fleiss: p_e = (7² + 1²) / 8².
    # Cohen: rater a is constant, p_e = 3/4. AC1: p_e = 2·7/64. ICC: between items 1/8, within 1/8.
    # The classifier is constant. Its greatest possible agreement is therefore that of chance.
    "All labels equal but one": {
        "percent_agreement": Fraction(3, 4),
        "krippendorff_alpha": 0,
        "fleiss_kappa": Fraction(-1, 7),
        "shah_kappa_s": 0,
        "cohen_kappa": 0,
        "gwet_ac1": Fraction(17, 25),
        "bennett_s": Fraction(1, 2),
        "icc_1_1": 0,
        "self_agreement": 1,
        "shah_s": None,
        "vanbelle_albert_kappa": None,
    },
    # Self-agreement: (1 + 1 + 1/2) / 3.
    # Against one rater kappa_va is Cohen's: p_o = 2/3, p_e = 4/9.
    "One rater": NONE | {"self_agreement": Fraction(5, 6), "vanbelle_albert_kappa": Fraction(2, 5)},
    # The raters disagree. Pooled chance is 1/2, which gives -1. Alpha: D_o = D_e = 1.
    # Cohen expects no agreement of one rater who gives no and one who gives yes, which gives 0.
    # ICC needs two items. The panel agrees on nothing that a classifier could hit.
    "One item": {
        "percent_agreement": 0,
        "krippendorff_alpha": 0,
        "fleiss_kappa": -1,
        "shah_kappa_s": 0,
        "cohen_kappa": 0,
        "gwet_ac1": -1,
        "bennett_s": -1,
        "icc_1_1": None,
        "self_agreement": 1,
        "shah_s": None,
        "vanbelle_albert_kappa": None,
    },
    # There is no pair of ratings. But every item has one rating, and the classifier agrees with it.
    "No item rated twice": NONE | {"vanbelle_albert_kappa": 1},
    # The items with two ratings are all no, so raters had nothing to disagree on.
    # AC1 and Bennett's S take chance from the scale. Their chance is under 1.
    "Pairable part constant": ONES
    | dict.fromkeys(
        (
            "krippendorff_alpha",
            "fleiss_kappa",
            "shah_kappa_s",
            "cohen_kappa",
            "icc_1_1",
            "self_agreement",
            "shah_s",
        )
    ),
    "Perfect agreement in two categories": ONES,
    "Perfect agreement, and a category that nobody used": ONES,
    # 3 no, 5 yes; 3 of 4 items agree. Alpha: D_o = 2/8, D_e = 2·15/56. Fleiss: p_e = 34/64.
    # Cohen: p_e = (1·2 + 3·2) / 16. AC1 over three categories: p_e = 30/64 / 2.
    # S: (3·3/4 - 1) / 2. ICC: between items 11/24, within 1/8. SA: (1 + 1 + 1/2 + 1) / 4.
    "Some disagreement, and a category that nobody used": {
        "percent_agreement": Fraction(3, 4),
        "krippendorff_alpha": Fraction(8, 15),
        "fleiss_kappa": Fraction(7, 15),
        "shah_kappa_s": Fraction(1, 2),
        "cohen_kappa": Fraction(1, 2),
        "gwet_ac1": Fraction(33, 49),
        "bennett_s": Fraction(5, 8),
        "icc_1_1": Fraction(4, 7),
        "self_agreement": Fraction(7, 8),
        "shah_s": 1,
        "vanbelle_albert_kappa": 1,
    },
    # These are the ratings from before with two categories.
    # Only the chance of AC1, 30/64, and of S, 1/2, is different.
    "Some disagreement": {
        "percent_agreement": Fraction(3, 4),
        "krippendorff_alpha": Fraction(8, 15),
        "fleiss_kappa": Fraction(7, 15),
        "shah_kappa_s": Fraction(1, 2),
        "cohen_kappa": Fraction(1, 2),
        "gwet_ac1": Fraction(9, 17),
        "bennett_s": Fraction(1, 2),
        "icc_1_1": Fraction(4, 7),
        "self_agreement": Fraction(7, 8),
        "shah_s": 1,
        "vanbelle_albert_kappa": 1,
    },
    # The two other raters are the panel. They agree on 2 of 3 items and gave 3 labels each.
    # Cohen: p_e = (2·1 + 1·2) / 9.
    "A rater who rated nothing": {
        "percent_agreement": Fraction(2, 3),
        "krippendorff_alpha": Fraction(4, 9),
        "fleiss_kappa": Fraction(1, 3),
        "shah_kappa_s": Fraction(2, 5),
        "cohen_kappa": Fraction(2, 5),
        "gwet_ac1": Fraction(1, 3),
        "bennett_s": Fraction(1, 3),
        "icc_1_1": Fraction(1, 2),
        "self_agreement": 1,
        "shah_s": 1,
        "vanbelle_albert_kappa": 1,
    },
    # The raters never agree, as Cohen expects.
    # Alpha: D_o = 1, D_e = 2·9/30. ICC: nothing between items.
    "Two raters of one category each": {
        "percent_agreement": 0,
        "krippendorff_alpha": Fraction(-2, 3),
        "fleiss_kappa": -1,
        "shah_kappa_s": 0,
        "cohen_kappa": 0,
        "gwet_ac1": -1,
        "bennett_s": -1,
        "icc_1_1": -1,
        "self_agreement": 1,
        "shah_s": None,
        "vanbelle_albert_kappa": None,
    },
    "A classifier that met none of the panel's items": ONES
    | {"shah_s": None, "vanbelle_albert_kappa": None},
    # 2 of 3 items agree. Cohen: p_e = (2·1 + 1·2) / 9.
    "No replicates": {
        "percent_agreement": Fraction(2, 3),
        "krippendorff_alpha": Fraction(4, 9),
        "fleiss_kappa": Fraction(1, 3),
        "shah_kappa_s": Fraction(2, 5),
        "cohen_kappa": Fraction(2, 5),
        "gwet_ac1": Fraction(1, 3),
        "bennett_s": Fraction(1, 3),
        "icc_1_1": Fraction(1, 2),
        "self_agreement": None,
        "shah_s": 1,
        "vanbelle_albert_kappa": 1,
    },
}
REASONS = {
    (
        "All labels equal",
        "krippendorff_alpha",
    ): "gives one and the same label, so chance alone would give full agreement",
    (
        "All labels equal",
        "fleiss_kappa",
    ): "gives one and the same label, so chance alone would give full agreement",
    ("All labels equal", "shah_s"): "no more than chance alone would give",
    ("One rater", "krippendorff_alpha"): "no item has two ratings",
    ("One item", "icc_1_1"): "fewer than two items",
    ("No item rated twice", "fleiss_kappa"): "no item has two ratings",
    ("No item rated twice", "self_agreement"): "no rater met an item twice",
    ("One rater", "cohen_kappa"): "there are not exactly two raters",
    (
        "A classifier that met none of the panel's items",
        "vanbelle_albert_kappa",
    ): "labelled no item that the panel rated",
}
BY_TITLE = {each.title: each for each in INPUTS}
CELLS = [
    pytest.param(title, name, id=f"{title}: {name}") for title in EXPECTED for name in HEADLINE
]


def test_every_input_has_answers_by_hand_for_every_headline_measure():
    assert set(BY_TITLE) == set(EXPECTED)
    assert all(set(answers) == set(HEADLINE) for answers in EXPECTED.values())


@pytest.mark.parametrize(("title", "name"), CELLS)
def test_a_headline_measure_gives_the_answer_worked_by_hand(title, name):
    found, expected = BY_TITLE[title].estimates[name], EXPECTED[title][name]
    if expected is None:
        assert found.value is None
        assert found.undefined
    else:
        assert found.undefined is None
        assert found.value == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(("title", "name"), list(REASONS))
def test_the_reason_is_the_one_that_matters(title, name):
    assert REASONS[title, name] in BY_TITLE[title].answer(name)


@pytest.mark.parametrize("each", INPUTS, ids=lambda each: each.title)
def test_every_measure_has_a_value_or_a_reason(each):
    for name in MEASURES:
        assert re.fullmatch(r"-?\d[\d.]*(e-\d+)?|undefined: \w.*", each.answer(name)), name


REQUIRED = {
    "All labels missing": "expected at least one row with a label",
    "A scale of one category": "expected at least two",
    "A label that the scale does not hold": "'maybe'",
    "+inf as a label, on a scale of numbers": "expected one of ['0', '1']",
    "+inf as a label, where any number may occur": "expected a finite non-negative number",
    "+inf as a category of a scale of numbers": "expected finite numbers",
    "A negative number on a ratio scale": "expected a finite non-negative number",
    "Two labels of one rater for one meeting with an item": (
        "expected one label for each (item, rater, occurrence)"
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.title)
def test_what_cannot_be_a_round_is_refused_and_the_error_says_what_is_required(refusal):
    with pytest.raises(RatingsError):
        refusal.attempt()
    assert REQUIRED[refusal.title] in refusal.message


def test_a_refusal_that_does_not_happen_is_not_written_down():
    with pytest.raises(AssertionError, match="accepted"):
        _ = Refusal("two categories", lambda: Scale(("no", "yes"))).message


def test_on_a_nominal_scale_inf_is_a_name(tabled):
    ratings = tabled("a b\ninf no\ninf inf", ("no", "inf"))
    assert isinstance(ratings, Ratings)
    assert set(ratings.to_pandas()["label"]) == {"no", "inf"}


def test_the_page_is_what_the_code_says_and_one_that_somebody_changed_is_stale(tmp_path, capsys):
    page = Path(__file__).parents[2] / "docs/proofs/degenerate-inputs.md"
    assert main(["--check", str(page)]) == 0
    changed = tmp_path / page.name
    changed.write_text(page.read_text() + "more")
    assert main(["--check", str(changed)]) == 1
    assert f"Run python -m tools.pages.degenerate_page {changed}" in capsys.readouterr().err
