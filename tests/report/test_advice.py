"""What to do now, who rated and who differs: in the same words wherever they stand."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.estimates import standing_out
from agreement_pipeline.policy import Policy, Rule, judge
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import Round, who_rated
from agreement_pipeline.report.advice import coincidences, like_models, most_confused
from agreement_pipeline.statistics import CategoryCounts

SCALE, RATERS = Scale(("safe", "rude", "hateful")), ("ana", "ben", "cyd", "dan", "eve")
ALPHA = Rule("krippendorff_alpha", min_items=30)


def ratings_of(n_items=300, errors=0.02, odd=0.02, raters=RATERS, again=0, **more):
    """Everybody makes some errors, and the first rater others; some items come back to all."""
    rng = np.random.default_rng(7)
    rows = []
    for item in range(n_items):
        for place, rater in enumerate(raters):
            wrong = rng.random() < (odd if place == 0 else errors)
            said = SCALE.names[(item + wrong) % 2]
            rows += [
                (f"i{item:03}", rater, said, meeting) for meeting in (1, 2)[: 1 + (item < again)]
            ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(frame, SCALE, **more)


def judged(ratings, *rules, **more):
    policy = Policy("standard", 1, rules or (ALPHA,), n_resamples=1000)
    return Round(ratings, policy, judge(ratings, policy), **more)


def test_a_round_held_for_disagreement_names_who_differs_and_what_to_settle():
    held = judged(ratings_of(odd=0.5, raters=RATERS[:3]), project="p q", name="w1")
    assert held.who_differs.startswith("ana differs from the rest: ")
    first, second = held.steps
    assert first.what == "Settle safe or rude in the guideline."
    assert first.why.startswith("100% of differing labels are between them, on ")
    assert first.by == "agreement-pipeline disputed 'p q' w1"
    assert second.what == "Then label fresh items."
    assert second.by == (
        "agreement-pipeline plan --policy standard --expected 0.85 --prevalence 0.48,0.52 "
        "--labels-an-item 3"
    )


def test_without_replicates_nobody_is_named_and_the_step_is_to_bring_items_back():
    again = Rule("self_agreement_unbiased", min_items=20)
    ratings = ratings_of(odd=0.12)
    held = judged(ratings, ALPHA, again, name="labels.csv")
    assert [each.code for each in held.decision.unmet] == ["undefined"]
    assert standing_out_finds(ratings) == "raters"
    assert held.who_differs == ""
    (step,) = held.steps
    assert step.what == "Let raters meet some items again."
    assert "about 62 pairs in all, to each rater" in step.why
    assert step.by == "docs/guide/replicates.md"


def standing_out_finds(ratings):
    from agreement_pipeline.counting import counting_of

    return standing_out(counting_of(ratings).by_rater(ratings)).finding


def test_too_few_items_name_nobody_and_say_how_many_more():
    held = judged(ratings_of(n_items=25, odd=0.5))
    assert held.who_differs == ""
    (step,) = held.steps
    assert step.what == "Label about 5 more items, drawn as these were."
    assert step.by.startswith("agreement-pipeline plan --policy standard --expected 0.")


def test_a_value_over_the_cut_off_asks_for_the_items_that_its_reason_counts():
    held = judged(ratings_of(n_items=60, errors=0.03, odd=0.03))
    (reason,), (step,) = held.decision.reasons, held.steps
    many = reason.partition("about ")[2].partition(" more items")[0]
    assert step.what == f"Label about {many} more items, drawn as these were."
    assert held.who_differs == ""


def test_what_the_contract_found_comes_first_and_there_are_three_steps_at_most():
    again = Rule("self_agreement_unbiased", min_items=20)
    few = Rule("krippendorff_alpha", scope="rater", min_raters=9, effect="hold")
    held = judged(ratings_of(odd=0.5, raters=("ana", "ana ", "cyd")), ALPHA, again, few)
    assert held.decision.broken or held.steps[0].what.startswith("Settle")
    assert len(held.steps) == 3


def test_an_admitted_round_has_nothing_to_do():
    admitted = judged(ratings_of(errors=0.0, odd=0.0))
    assert admitted.decision.admitted
    assert admitted.steps == ()
    assert admitted.who_differs == ""


def test_who_rated_tells_people_from_models():
    ratings = ratings_of(
        n_items=40, raters=("ana", "ben", "gpt-4o", "judge"), classifiers=["judge"]
    )
    assert who_rated(ratings) == (
        "Labelled by 3 raters (ana, ben and gpt-4o): 40 items, 3 labels an item. Beside them "
        "1 model (judge). Is gpt-4o a model? Then name it as a classifier."
    )
    assert like_models(["claude", "Claudette", "claude-3-opus", "Abbot", "robot", "qwen2"]) == (
        "claude-3-opus",
        "qwen2",
    )


def test_most_confused_are_the_two_categories_that_differing_pairs_share_most():
    said = CategoryCounts([[2, 1, 0], [1, 0, 1], [0, 3, 0]], [5, 2, 7], scale=SCALE)
    found = most_confused(said)
    together = coincidences(said)
    assert (found.one, found.other, found.n_items) == ("safe", "rude", 5)
    assert found.share == pytest.approx(together[0, 1] / np.triu(together, 1).sum())
    assert most_confused(CategoryCounts([[3, 0, 0]], scale=SCALE)) is None
