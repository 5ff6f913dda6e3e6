"""One number is one label, in every format."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, read

IDENTICAL = pd.DataFrame(
    {
        "item": [f"i{at:02}" for at in range(60)],
        "ana": [1, 2, 3] * 20,
        "ben": [1.0, 2.0, 3.0] * 18 + [np.nan] * 6,
    }
)
WIDE = {"layout": "wide", "columns": Columns(raters=("ana", "ben"))}
FORMS = ("csv", "tsv", "jsonl", "parquet")


def written(table, folder, form):
    path = folder / f"table.{form}"
    if form == "parquet":
        table.to_parquet(path, index=False)
    elif form == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_raters_who_say_the_same_agree_whatever_their_columns_hold(form, level, tmp_path):
    ratings = read(written(IDENTICAL, tmp_path, form), level=level, **WIDE)
    assert ratings.scale.names == ("1", "2", "3")
    (found,) = survey(ratings, ["krippendorff_alpha"], Inference(n_resamples=400), scopes=["round"])
    assert (found.value, found.n_ratings) == (1.0, 114)


def test_a_table_has_one_digest_in_every_format(tmp_path):
    digests = {read(written(IDENTICAL, tmp_path, form), **WIDE).digest for form in FORMS}
    assert digests == {read(IDENTICAL, **WIDE).digest}


@pytest.mark.parametrize("form", FORMS)
def test_declared_numbers_are_found_in_every_spelling(form, tmp_path):
    ratings = read(written(IDENTICAL, tmp_path, form), scale=Scale((1, 2, 3, 4)), **WIDE)
    assert max(ratings.first_ratings(["code"])["code"].to_pylist()) == 2


def test_a_column_of_words_and_two_spellings_is_refused_with_both(tmp_path):
    table = IDENTICAL.astype(object)
    table.loc[3, "ana"] = "unsure"
    path = written(table, tmp_path, "csv")
    with pytest.raises(
        RatingsError,
        match=r"table.csv: the columns of raters: scale: found labels \['1', '1.0'\], "
        r"which are one label in several spellings; expected one spelling\. "
        r"Write it in one way, or name the categories",
    ):
        read(path, **WIDE)
    assert read(path, scale=Scale(("1", "2", "3", "unsure")), **WIDE).scale.names[-1] == "unsure"


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_tiny_numbers_of_one_rater_are_computed_in_full(level):
    def of(unit):
        rng = np.random.default_rng(2)
        rows = [
            (f"i{at}", rater, time, (number + rng.random() / 5) * (unit if rater == "b" else 1))
            for at, number in enumerate(rng.random(30))
            for rater in "ab"
            for time in (1, 2)
        ]
        table = pd.DataFrame(rows, columns=["item", "rater", "occurrence", "label"])
        names = ["test_retest_alpha"] + ["test_retest_icc"] * (level == "interval")
        inference = Inference(n_resamples=2000)
        found = survey(read(table, level=level), names, inference, scopes=["rater"])
        return {(each.measure, each.scope.name): each for each in found}

    small, plain = of(2.0**-600), of(1.0)
    for key in small:
        assert small[key].value == pytest.approx(plain[key].value, rel=1e-12)
        assert small[key].interval.low == pytest.approx(plain[key].interval.low, abs=0.04)
        assert small[key].interval.high == pytest.approx(plain[key].interval.high, abs=0.01)
