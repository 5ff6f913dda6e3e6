"""Whether the items with several ratings are a random sample of the round."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact, norm

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.integrity import FALSE_ALARM_RATE, compare_overlap
from agreement_pipeline.policy import find_overlap_mistakes
from agreement_pipeline.ratings import Trains

SCALE = Scale(("no", "yes"))
SINGLES_TRAIN = Trains("one_rater", "random_sample")


def overlap_round(
    seed=0,
    n_items=1_000,
    n_overlap=200,
    raters=("ana", "ben", "cem", "dia"),
    of_overlap=None,
    chosen=None,
    is_yes=None,
    error_by_rater=None,
    **columns,
):
    """Each item has one rater, and `n_overlap` random ones (or the `chosen`) have three."""
    random = np.random.default_rng(seed)
    truth = random.random(n_items) < 0.4 if is_yes is None else is_yes
    overlap = random.permutation(n_items)[:n_overlap] if chosen is None else chosen
    several = np.isin(np.arange(n_items), overlap)
    rows = []
    for item in range(n_items):
        pool = (of_overlap or raters) if several[item] else raters
        size = 3 if several[item] else 1
        for rater in random.choice(pool, size=size, replace=False):
            error = (error_by_rater or {}).get(rater, 0.05)
            label = bool(truth[item]) ^ bool(random.random() < error)
            given = {name: values[item] for name, values in columns.items()}
            rows.append((f"i{item:04}", rater, ("no", "yes")[label], given))
    frame = pd.DataFrame([row[:3] for row in rows], columns=["item", "rater", "label"])
    more = pd.DataFrame([row[3] for row in rows])
    return Ratings.from_frame(pd.concat([frame, more], axis=1), SCALE)


def codes(ratings, trains=SINGLES_TRAIN):
    return [finding.check for finding in find_overlap_mistakes(ratings, trains)]


def subjects(ratings):
    return {difference.subject for difference in compare_overlap(ratings).differences}


def test_single_labels_train_only_with_a_word_on_the_overlap():
    ratings = overlap_round()
    assert codes(ratings, None) == codes(ratings, Trains("majority")) == []
    (finding,) = find_overlap_mistakes(ratings, Trains("one_rater"))
    assert (finding.check, finding.holds) == ("overlap_not_declared", True)
    assert finding.description.startswith(
        "found 800 of 1,000 items with one label, which are to train, and no word of how"
    )
    (finding,) = find_overlap_mistakes(ratings, SINGLES_TRAIN)
    assert (finding.check, finding.holds, finding.passed) == ("overlap_random", False, True)
    assert finding.description.startswith(
        "800 of 1,000 items have one label, and train: the other 200 are a random sample"
    )


def test_without_single_labels_nothing_is_asked():
    assert codes(overlap_round(n_items=60, n_overlap=60), Trains("one_rater")) == []


def test_an_overlap_of_few_items_shows_too_little():
    assert codes(overlap_round(n_overlap=29)) == ["overlap_too_small"]
    assert codes(overlap_round(n_overlap=30)) == ["overlap_random"]


def test_an_overlap_from_one_stratum_is_found():
    language = np.array(["en", "de"])[np.arange(1_000) % 2]
    ratings = overlap_round(chosen=np.arange(0, 400, 2), **{"stratum:language": language})
    assert subjects(ratings) == {"the language"}
    (finding,) = find_overlap_mistakes(ratings, SINGLES_TRAIN)
    assert (finding.check, finding.holds) == ("overlap_not_random", True)
    assert "the language is 'de' in 62% of the items with one label and in 0% of the" in (
        finding.description
    )
    assert "Draw some of the items with one label by chance" in finding.description


def test_an_overlap_of_short_texts_is_found():
    text = ["a" * (5 + n % 97) for n in range(1_000)]
    short = [n for n in range(1_000) if n % 97 < 30][:200]
    assert subjects(overlap_round(chosen=short, text=text)) == {"the length of the text"}


def test_an_overlap_of_the_first_days_is_found():
    times = 1.7e9 + 60.0 * np.arange(1_000)
    assert subjects(overlap_round(chosen=np.arange(200), timestamp=times)) == {"times"}
    assert subjects(overlap_round(timestamp=times)) == set()


def test_an_overlap_in_the_middle_of_the_work_is_found():
    times = 1.7e9 + 60.0 * np.arange(1_000)
    assert subjects(overlap_round(chosen=np.arange(400, 600), timestamp=times)) == {"times"}


def test_an_overlap_of_one_category_is_found():
    is_yes = np.arange(1_000) % 2 > 0
    chosen = np.r_[np.arange(0, 300, 2), np.arange(1, 101, 2)]
    assert subjects(overlap_round(chosen=chosen, is_yes=is_yes)) == {"categories"}


def test_raters_who_are_not_in_the_overlap_are_found():
    experts = ("ana", "ben", "cem")
    ratings = overlap_round(raters=(*experts, "temp"), of_overlap=experts)
    assert "raters" in subjects(ratings)
    (finding,) = find_overlap_mistakes(ratings, SINGLES_TRAIN)
    assert "temp gave 2" in finding.description
    assert "of the single labels, and 0% of those of the other items" in finding.description


def test_one_poor_rater_of_most_single_labels_is_found():
    """Three raters share the overlap, and the worst of them rated nearly all other items."""
    ratings = overlap_round(
        n_overlap=300,
        raters=("ana", "ben", "cem", *["dia"] * 9),
        of_overlap=("ana", "ben", "cem", "dia"),
        error_by_rater={"dia": 0.3},
    )
    assert "raters" in subjects(ratings)


def test_unequal_numbers_of_single_labels_do_no_harm():
    ratings = overlap_round(
        raters=("ana", *["ben"] * 3, *["cem"] * 6), of_overlap=("ana", "ben", "cem")
    )
    assert subjects(ratings) == set()


def test_names_of_raters_do_not_count():
    ratings = overlap_round(raters=tuple(f"r{n}" for n in range(40)), n_overlap=60)
    names = {name: f"x{99 - int(name[1:])}" for name in ratings.raters}
    first, second = (
        compare_overlap(each).comparisons for each in (ratings, ratings.renamed(names))
    )
    assert [each.p_value for each in first] == pytest.approx([each.p_value for each in second])


def test_documents_drawn_as_a_whole_are_compared_as_a_whole():
    """All items of a document are of one category, so its items are no independent draws."""
    document = np.arange(1_000) // 20
    random = np.random.default_rng(5)
    of_documents = random.random(50) < 0.5
    language = np.array(["en", "de"])[of_documents[document].astype(int)]
    more = {"cluster": [f"d{n:02}" for n in document], "stratum:language": language}
    found = 0
    for seed in range(40):
        drawn = np.random.default_rng(seed).permutation(50)[:10]
        chosen = np.flatnonzero(np.isin(document, drawn))
        ratings = overlap_round(seed, chosen=chosen, is_yes=of_documents[document], **more)
        found += bool(subjects(ratings))
    assert found == 0


def test_shares_of_a_stratum_are_compared_by_the_exact_test():
    language = np.array(["en", "de", "fr"])[np.random.default_rng(7).integers(3, size=1_000)]
    ratings = overlap_round(**{"stratum:language": language})
    frame = ratings.to_pandas()
    n_raters = frame.groupby("item", observed=True)["rater"].size()
    several, language = n_raters > 1, pd.Series(language, index=n_raters.index)
    for comparison in compare_overlap(ratings).comparisons:
        if comparison.subject == "the language":
            name = comparison.in_words.split("'")[1]
            table = pd.crosstab(several, language == name)
            one_sided = [
                fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")
            ]
            assert comparison.p_value == pytest.approx(min(1, 2 * min(one_sided)))


def test_categories_are_compared_within_raters():
    """Of one rater and two labels an item, the test is that of Mantel and Haenszel, with the
    variance of items that have ratings which all depend on each other.
    """
    ratings = overlap_round(raters=("ana", "ben", "cem"))
    frame = ratings.to_pandas()
    frame["yes"] = frame["label"].astype(str) == "yes"
    frame["several"] = frame.groupby("item", observed=True)["rater"].transform("size") > 1
    difference, deviations = 0.0, dict.fromkeys(frame["item"], 0.0)
    for _, own in frame.groupby("rater", observed=True):
        n, n_several = len(own), own["several"].sum()
        spread = own["yes"].std()
        for row in own.itertuples():
            weight = -(n - n_several) / n if row.several else n_several / n
            difference += weight * (row.yes - own["yes"].mean())
            deviations[row.item] += abs(weight) * spread
    z = difference / np.sqrt(sum(value**2 for value in deviations.values()))
    (found,) = [
        each.p_value
        for each in compare_overlap(ratings).comparisons
        if each.subject == "categories" and "'yes'" in each.in_words
    ]
    assert found == pytest.approx(2 * norm.sf(abs(z)))


def test_random_overlaps_are_hardly_ever_refused():
    """The rate over all comparisons is .005, so two of 60 rounds would be a chance of 4 %."""
    sizes = itertools.cycle([(400, 60), (600, 200)])
    raters = tuple(f"r{n:02}" for n in range(12))
    times = 1.7e9 + np.arange(600.0)
    refused = 0
    for seed, (n_items, n_overlap) in zip(range(60), sizes, strict=False):
        ratings = overlap_round(seed, n_items, n_overlap, raters, timestamp=times)
        refused += bool(compare_overlap(ratings).differences)
    assert FALSE_ALARM_RATE == 0.005
    assert refused < 2


def test_one_expert_and_a_check_by_another():
    """The expert rates all items, and the other one a random part of them."""
    random = np.random.default_rng(1)
    checked = random.permutation(600)[:150]
    rows = []
    for item in range(600):
        truth = random.random() < 0.4
        for rater in ("expert", "second") if item in checked else ("expert",):
            rows.append((f"i{item:03}", rater, ("no", "yes")[truth ^ (random.random() < 0.05)]))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    assert codes(Ratings.from_frame(frame, SCALE)) == ["overlap_random"]
