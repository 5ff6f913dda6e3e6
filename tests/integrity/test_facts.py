"""What a round tells about itself: every attack on a round's data by name, and honest rounds."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.integrity import AtLeast, Integrity, check_integrity
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.ratings import Ratings, Scale

pytestmark = pytest.mark.slow

YES_NO = Scale(("no", "yes"))
CHECKS = Integrity().checks
OF_COPIES = [each for each in CHECKS if each.name == "raters_not_copied"]
"""What is asked of raters who may be one rater under several names."""


def latent(n_items, raters, guess, seed=1, categories=("no", "yes")):
    """Items clear to all raters with probability 1 - guess, and guessed by each otherwise."""
    random = np.random.default_rng(seed)
    truth = random.integers(len(categories), size=n_items)
    clear = random.random(n_items) >= guess
    rows = [
        (f"i{i:05}", rater, categories[truth[i] if clear[i] else random.integers(len(categories))])
        for i in range(n_items)
        for rater in raters
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def independent(n_items, errors, seed=1):
    """Raters with the mistakes of their own, each as often as said."""
    random = np.random.default_rng(seed)
    truth = random.integers(2, size=n_items)
    rows = [
        (f"i{i:05}", rater, YES_NO.names[truth[i] ^ (random.random() < error)])
        for i in range(n_items)
        for rater, error in errors.items()
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def copied(frame, rater, copies, changed=0.0, seed=2):
    """A frame with copies of a rater, in which a share of the labels is changed."""
    random, own = np.random.default_rng(seed), frame[frame["rater"] == rater]
    parts = [frame]
    for name in copies:
        flipped = own["label"].map({"no": "yes", "yes": "no"})
        label = own["label"].where(random.random(len(own)) >= changed, flipped)
        parts.append(own.assign(rater=name, label=label))
    return pd.concat(parts, ignore_index=True)


def findings(frame, scale=YES_NO, checks=CHECKS, **more):
    panel = Panel(Ratings.from_frame(frame, scale, **more))
    return {each.check: each for each in check_integrity(panel, checks)}


def failed(frame, scale=YES_NO, **more):
    return {check for check, found in findings(frame, scale, **more).items() if not found.passed}


def test_s1_the_same_items_ten_times_under_other_names_are_held():
    frame = latent(120, "abc", 0.2).assign(text=lambda made: "text of " + made["item"])
    again = pd.concat([frame.assign(item=frame["item"] + f"-{n}") for n in range(10)])
    found = findings(again)["items_not_repeated"]
    assert found.holds
    assert found.description.startswith(
        "items_not_repeated: 1080 of 1200 items have the text of another one, such as "
        "'i00000-1' that of 'i00000-0'"
    )
    assert failed(frame) == set()


def test_items_without_a_text_are_no_copies_of_each_other():
    frame = latent(120, "abc", 0.2).assign(text=lambda made: "text of " + made["item"])
    known = frame["item"] < "i00060"
    again = frame.assign(item=frame["item"] + "b", text=frame["text"].where(known, None))
    found = findings(pd.concat([frame, again]))["items_not_repeated"]
    assert "60 of 180 items have the text of another one" in found.description


@pytest.mark.parametrize(
    "way",
    [" {}", "{} ", "{}  x", "{} X", "\u00e9{}", "e\u0301{}", "{}\u200b", "\ufb01 {}", "fi {}"],
)
def test_texts_that_differ_in_blanks_case_or_form_are_copies(way):
    plain = {" {}": "{}", "{}  x": "{} x", "{} X": "{} x", "e\u0301{}": "\u00e9{}"}
    frame = latent(40, "abc", 0.1).assign(text=lambda made: "on " + made["item"])
    other = frame.assign(item=frame["item"] + "b", text=frame["text"].map(way.format))
    original = frame.assign(
        text=frame["text"].map(plain.get(way, way.replace("\u200b", "").strip()).format)
    )
    assert "items_not_repeated" in failed(pd.concat([original, other]))


def test_s1_identifiers_that_differ_in_trailing_blanks_are_held():
    frame = latent(120, "abc", 0.2)
    again = pd.concat([frame.assign(item=frame["item"] + " " * n) for n in range(10)])
    assert findings(again)["item_names_not_repeated"].holds


@pytest.mark.parametrize(
    ("form", "holds"), [("{}.0", True), ("000{}", True), ("{}.5", False), ("{}0", False)]
)
def test_zeros_of_a_spreadsheet_hide_no_dissent_of_one_rater(form, holds):
    """Under other identifiers they would be single ratings, beside items on which all agree."""
    frame = latent(120, "abc", 0.2).assign(item=lambda made: made["item"].str[1:].astype(int) + 900)
    frame["item"] = frame["item"].astype(str)
    is_cleo = frame["rater"] == frame["rater"].iloc[-1]
    frame.loc[is_cleo, "item"] = frame.loc[is_cleo, "item"].map(form.format)
    assert findings(frame)["item_names_not_repeated"].holds is holds


@pytest.mark.parametrize(("names", "passed"), [(("7", "7.0"), False), (("7", "70"), True)])
def test_a_number_in_two_spellings_is_one_rater(names, passed):
    frame = independent(100, {**dict.fromkeys(names, 0.1), "8": 0.1})
    assert findings(frame)["rater_names_differ"].passed is passed


def test_i5_identifiers_in_two_normal_forms_are_named():
    frame = latent(100, "abc", 0.1)
    twins = frame[frame["item"] == "i00000"]
    twins = [twins.assign(item=name) for name in ("caf\u00e9", "cafe\u0301", "CAF\u00c9")]
    found = findings(pd.concat([frame, *twins]))
    assert not found["item_names_differ"].passed
    assert "'caf\\xe9' that of 'CAF\\xc9'" in found["item_names_differ"].description
    assert found["item_names_not_repeated"].passed


def test_s5_items_of_two_texts_are_held():
    frame = pd.DataFrame(
        [
            (f"i{i}", rater, "yes" if i % 2 else "no", f"text {i % 2}")
            for i in range(1500)
            for rater in "ab"
        ],
        columns=["item", "rater", "label", "text"],
    )
    assert findings(frame)["items_not_repeated"].holds


def test_copies_are_found_in_a_sample_of_very_many_items(monkeypatch):
    from agreement_pipeline.integrity import facts

    frame = latent(2000, "ab", 0.2).assign(text=lambda made: "Text of " + made["item"])
    copies = frame.assign(item="x" + frame["item"], text=frame["text"].str.lower() + "  ")
    monkeypatch.setattr(facts, "MAX_TEXTS_COMPARED", 300)
    monkeypatch.setattr(facts, "TEXTS_PER_BLOCK", 64)
    found = findings(pd.concat([frame, copies]))["items_not_repeated"]
    assert found.holds
    n_copies, of, n_items, *_ = found.description.split(": ")[1].split()
    assert int(n_copies) * 2 == int(n_items) < 1500
    assert of == "of"


def test_s2_one_rater_under_nine_names_is_named_and_held_only_where_two_others_tell():
    """Nine who are always right and one who errs look the same, so that holds nothing."""
    names = [f"r{n}" for n in range(8)]
    alone = findings(copied(independent(120, {"a": 0.0, "other": 0.35}), "a", names))
    assert alone["raters_not_copied"].passed
    assert "36 of 45 pairs of raters differ too seldom" in alone["raters_independent"].description
    errors = {"a": 0.15, "other": 0.15, "third": 0.15}
    found = findings(copied(independent(400, errors), "a", names))["raters_not_copied"]
    assert found.holds
    assert "36 of 55 pairs of raters never differ" in found.description


@pytest.mark.parametrize(
    "errors",
    [
        {**dict.fromkeys("abcdef", 0.0), "other": 0.15},
        {**dict.fromkeys("abcdef", 0.002), "other": 0.15},
        {**dict.fromkeys("abcdef", 0.005), "other": 0.15},
        {**dict.fromkeys("abcde", 0.0), "other": 0.1},
        {**dict.fromkeys("abcde", 0.0), "other": 0.15, "third": 0.15},
        {**dict.fromkeys("abc", 0.0), "x": 0.2, "y": 0.2, "z": 0.2},
    ],
)
def test_raters_who_are_right_are_not_taken_for_copies(errors):
    for seed in range(4):
        frame = independent(600, errors, seed)
        assert findings(frame, checks=OF_COPIES)["raters_not_copied"].passed


@pytest.mark.parametrize(
    ("names", "error", "n_items", "copies"),
    [
        ("abcd", 0.1, 400, ["twin"]),
        ("abc", 0.1, 1000, ["twin"]),
        ("abcd", 0.04, 1500, ["twin"]),
        ("abc", 0.1, 1500, ["c1", "c2", "c3", "c4"]),
    ],
)
def test_copies_of_a_rater_with_errors_are_held(names, error, n_items, copies):
    for seed in range(4):
        frame = independent(n_items, dict.fromkeys(names, error), seed)
        twins = copied(frame, "a", copies)
        assert findings(frame, checks=OF_COPIES)["raters_not_copied"].passed
        assert findings(twins, checks=OF_COPIES)["raters_not_copied"].holds


def test_two_identical_columns_among_ordinary_raters_are_held():
    frame = copied(independent(200, dict.fromkeys("abcd", 0.1)), "a", ["twin"])
    assert "'a' and 'twin' on 0 of 200 items" in findings(frame)["raters_not_copied"].description


def test_s4_near_copies_of_a_rater_are_named():
    frame = independent(300, {"a": 0.05, "other": 0.3})
    frame = copied(frame, "a", [f"r{n}" for n in range(8)], changed=0.01)
    found = findings(frame)
    assert not found["raters_independent"].passed
    assert not found["raters_independent"].holds


@pytest.mark.parametrize("error", [0.0, 0.03, 0.3])
@pytest.mark.parametrize("n_raters", [2, 3, 5, 10])
def test_honest_raters_are_not_taken_for_copies(error, n_raters):
    for seed in range(5):
        frame = independent(300, {f"r{n}": error for n in range(n_raters)}, seed)
        assert failed(frame) == set()


def test_s3_raters_that_print_alike_are_named():
    frame = independent(100, {"ana": 0.1, "Ana ": 0.1, "ben": 0.1})
    assert not findings(frame)["rater_names_differ"].passed


def test_pairs_are_counted_as_a_loop_counts_them():
    random = np.random.default_rng(4)
    frame = latent(60, "abcdef", 0.4)
    frame = frame[random.random(len(frame)) < 0.6]
    frame = frame.assign(gold=frame["item"] < "i00010")
    labels = {(row.item, row.rater): row.label for row in frame.itertuples() if not row.gold}
    met, differed = {}, {}
    for item in {item for item, _ in labels}:
        here = sorted(rater for each, rater in labels if each == item)
        for k, first in enumerate(here):
            for second in here[k + 1 :]:
                met[first, second] = met.get((first, second), 0) + 1
                other = labels[item, first] != labels[item, second]
                differed[first, second] = differed.get((first, second), 0) + other
    panel = Panel(Ratings.from_frame(frame, YES_NO))
    pairs = panel.pairs
    names = [
        (panel.raters[a], panel.raters[b]) for a, b in zip(pairs.first, pairs.second, strict=True)
    ]
    assert dict(zip(names, pairs.n_shared, strict=True)) == met
    assert dict(zip(names, pairs.n_differing, strict=True)) == differed


def test_copies_are_found_where_raters_met_very_often(monkeypatch):
    from agreement_pipeline.integrity import panel

    frame = copied(independent(2000, dict.fromkeys("abcd", 0.1)), "a", ["twin"])
    monkeypatch.setattr(panel, "MAX_PAIRS_OF_RATINGS", 5000)
    assert "'a' and 'twin' on 0 of " in findings(frame)["raters_not_copied"].description


def test_s6_disputed_items_called_gold_are_named():
    """What is decided then, `tests/policy/test_left_out.py` has."""
    frame = latent(500, "abc", 0.4)
    disputed = frame.groupby("item")["label"].transform("nunique") > 1
    assert not findings(frame.assign(gold=disputed))["gold_items_not_disputed"].passed
    assert "gold_items_not_disputed" not in failed(frame.assign(gold=frame["item"] < "i00050"))


def test_disputed_items_on_a_scale_of_numbers_called_gold_are_named():
    random = np.random.default_rng(5)
    truth, spread = random.normal(size=400), np.where(np.arange(400) % 5, 0.1, 3.0)
    rows = [
        (f"i{i:03}", r, truth[i] + spread[i] * random.normal(), i % 5 == 0)
        for i in range(400)
        for r in "abc"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "gold"])
    scale = Scale(None, "interval")
    assert not findings(frame, scale)["gold_items_not_disputed"].passed
    assert "gold_items_not_disputed" not in failed(frame.assign(gold=frame["item"] < "i050"), scale)


def test_more_gold_than_other_items_is_named():
    frame = latent(100, "abc", 0.1)
    found = findings(frame.assign(gold=frame["item"] < "i00060"))["gold_items_few"]
    assert not found.passed
    assert "60 of 100 items are gold" in found.description


def test_s7_dissent_that_was_deleted_is_named():
    """Where all other ratings agree, no measure can tell that 77 ratings are gone."""
    frame = latent(300, "abc", 0.0)
    number, rater = frame["item"].str[1:].astype(int), frame["rater"].map("abc".index)
    found = findings(frame[(number >= 77) | ((number + rater) % 3 > 0)])["raters_complete"]
    assert (found.passed, found.holds) == (False, False)
    assert "77 of 300 items have fewer raters than 3" in found.description


@pytest.mark.parametrize(("n_items", "n_fewer"), [(300, 15), (300, 91), (29, 8), (40, 0)])
def test_few_missing_ratings_or_no_usual_number_of_raters_are_not_named(n_items, n_fewer):
    frame = latent(n_items, "abc", 0.1)
    gone = (frame["item"].str[1:].astype(int) < n_fewer) & (frame["rater"] == "c")
    assert "raters_complete" not in failed(frame[~gone])


def test_s12_a_cluster_for_each_item_is_named():
    frame = latent(100, "abc", 0.1)
    assert "clusters_hold_items" in failed(frame.assign(cluster="c" + frame["item"]))
    assert "clusters_hold_items" not in failed(frame.assign(cluster=frame["item"].str[:-1]))


def test_s16_declared_categories_that_nobody_uses_are_named():
    scale = Scale(tuple(f"c{n}" for n in range(50)))
    frame = latent(100, "abc", 0.1, categories=scale.names[:5])
    assert (
        "45 of 50 categories are never used"
        in findings(frame, scale)["categories_used"].description
    )
    assert "categories_used" in failed(frame, scale)


def test_n3_models_in_the_panel_are_named():
    frame = independent(100, {"ana": 0.1, "gpt-4o-1": 0.1, "gpt-4o-2": 0.1})
    found = findings(frame)["raters_are_people"]
    assert (found.passed, found.holds) == (False, False)
    assert "2 of 3 raters have a name like a model's, such as 'gpt-4o-1'" in found.description
    named = findings(frame, classifiers=("gpt-4o-1", "gpt-4o-2"))["raters_are_people"]
    assert named.passed


def test_n3_a_rater_who_answers_forty_of_three_hundred_is_named():
    frame = independent(300, dict.fromkeys(["ana", "ben", "chi", "judge"], 0.1))
    frame = frame[(frame["rater"] != "judge") | (frame["item"] < "i00040")]
    found = findings(frame)["raters_rate_alike"]
    assert (found.passed, found.holds) == (False, False)
    assert "1 of 4 raters rated less than half of the usual 300 items: 'judge' rated 40" in str(
        found.description
    )


def test_raters_of_a_crowd_may_rate_as_much_as_they_like():
    random = np.random.default_rng(8)
    frame = independent(600, {f"r{n:02}": 0.1 for n in range(12)})
    weight = np.linspace(10, 1, 12)[frame["rater"].str[1:].astype(int)]
    key = pd.Series(random.exponential(size=len(frame)) / weight, frame.index)
    assert failed(frame[key.groupby(frame["item"]).rank() <= 3]) == set()


def replicated(hours, n_items=60, changes=0.1):
    """Three raters who rate an item every ten minutes, and meet each again after some hours."""
    random = np.random.default_rng(6)
    start = pd.Timestamp("2026-03-01T09:00:00Z")
    rows = []
    for i in range(n_items):
        for r in "abc":
            label = random.choice(YES_NO.names)
            then = start + pd.Timedelta(minutes=10 * i)
            rows.append((f"i{i:03}", r, label, 1, then))
            again = "yes" if (label == "yes") ^ (random.random() < changes) else "no"
            rows.append((f"i{i:03}", r, again, 2, then + pd.Timedelta(hours=hours)))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "timestamp"])
    return frame.assign(timestamp=frame["timestamp"].map(pd.Timestamp.isoformat))


def test_honest_replicates_pass():
    assert failed(replicated(24.05)) == set()


def test_s18_replicates_of_the_same_minute_are_held():
    found = findings(replicated(0.01))
    assert found["replicates_apart"].holds
    assert found["replicates_not_back_to_back"].holds


def test_replicates_back_to_back_are_held():
    found = findings(replicated(0.1))
    assert found["replicates_apart"].passed
    assert found["replicates_not_back_to_back"].holds


def test_s18_replicates_dated_six_years_earlier_are_held():
    assert findings(replicated(-6 * 365 * 24))["replicates_in_order"].holds


def test_times_may_be_numbers_of_any_unit():
    frame = replicated(0.01)
    seconds = frame["timestamp"].map(lambda time: pd.Timestamp(time).timestamp())
    for unit in (1, 1e3, 1e6, 1e9):
        assert findings(frame.assign(timestamp=seconds * unit))["replicates_apart"].holds


def test_days_alone_do_not_tell_minutes():
    frame = replicated(0.01).assign(timestamp="2026-03-01")
    assert findings(frame)["replicates_apart"].passed


def test_copied_replicates_are_named():
    assert "replicates_looked_at" in failed(replicated(24.05, changes=0.0))
    assert "replicates_looked_at" not in failed(replicated(24.05, changes=0.1))


def test_s19_occurrences_that_do_not_begin_at_1_are_named():
    assert "occurrences_in_order" in failed(latent(50, "abc", 0.1).assign(occurrence=2))


@pytest.mark.parametrize(
    ("column", "check", "addresses"),
    [
        ("item", "item_without_email", ["ann@example.org"]),
        ("rater", "rater_without_email", ["bob@example.org", "x@y.de"]),
    ],
)
def test_an_address_as_a_name_is_told_with_the_ratings_that_have_it(column, check, addresses):
    frame = latent(40, "abc", 0.1)
    names = frame[column].unique()[: len(addresses)]
    frame[column] = frame[column].replace(dict(zip(names, addresses, strict=True)))
    n_rows = int(frame[column].isin(addresses).sum())
    found = findings(frame)
    assert {"item_without_email", "rater_without_email"} & failed(frame) == {check}
    assert found[check].severity == "warning"
    assert found[check].description.startswith(f"{check}: {n_rows} of 120 rows fail; no {column}")
    assert not any(name in each.description for name in addresses for each in found.values())


@pytest.mark.parametrize("name", ["ana@home", "@x.de", "a b@ c.de", "a@.", "at example.org"])
def test_what_is_no_address_is_none(name):
    frame = latent(40, ["ben", "chi", name], 0.1)
    assert "rater_without_email" not in failed(frame)


def test_ratings_by_classifiers_and_of_earlier_rounds_may_have_no_addresses_either():
    frame = latent(40, ["a", "b", "m@example.org"], 0.1)
    assert "rater_without_email" in failed(frame, classifiers=("m@example.org",))
    earlier = frame["rater"] == "m@example.org"
    assert "rater_without_email" in failed(frame.assign(earlier=earlier))


@pytest.mark.parametrize(("n_alone", "passed"), [(1, True), (2, False)])
def test_raters_per_item_allows_one_item_in_twenty_a_single_rater(n_alone, passed):
    frame = latent(20, "abc", 0.1)
    alone = frame["item"].isin(frame["item"].unique()[:n_alone]) & (frame["rater"] != "a")
    assert findings(frame[~alone])["raters_per_item"].passed is passed


def test_classifiers_and_earlier_ratings_are_no_raters_of_an_item():
    frame = latent(40, "ab", 0.1)
    assert "raters_per_item" not in failed(frame)
    found = findings(frame, classifiers=("b",))["raters_per_item"]
    assert not found.passed
    assert found.description == (
        "raters_per_item: 40 of 40 items have one rater; at least 2 raters are required on 95% of "
        "the items"
    )
    assert "raters_per_item" in failed(frame.assign(earlier=frame["rater"] == "b"))


@pytest.mark.parametrize("seed", range(5))
def test_so_many_raters_have_nearly_all_items_as_a_slow_loop_counts(seed):
    random = np.random.default_rng(seed)
    frame = latent(200, "abcdef", 0.1, seed)
    frame = frame[random.random(len(frame)) < 0.8]
    raters = frame.groupby("item")["rater"].nunique().tolist()
    number = max(n for n in range(7) if sum(each >= n for each in raters) / len(raters) >= 0.95)
    found = findings(frame)["raters_per_item"]
    assert dict(found.observed)["value"] == number
    for least in (number, number + 1):
        bound = AtLeast(least, "hold")
        (asked,) = (
            each for each in Integrity(raters_per_item=bound).checks if each.name == found.check
        )
        assert findings(frame, checks=[asked])[found.check].holds is (least > number)
