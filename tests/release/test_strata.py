"""A release under a rule on strata proves it from its own bytes."""

import pytest

from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.release import open_release
from agreement_pipeline.release.contents import MANIFEST
from agreement_pipeline.release.folder import read_canonical_json
from tests.release.rounds import bytes_of, make_ratings, released

ALPHA = "krippendorff_alpha"
POLICY = Policy("by_language", 1, (Rule(ALPHA, scope="stratum"),), n_resamples=1000)
HALVES = {"stratum:language": [name for name in ("de", "en") for _ in range(3 * 45)]}


def test_a_release_holds_its_strata_and_is_judged_by_them_again(store, original):
    store.ingest("r1", make_ratings(**HALVES), original)
    path = released(store, POLICY).path
    assert read_canonical_json(bytes_of(path), MANIFEST, path)["rounds"][0]["columns"] == [
        "text",
        "stratum:language",
    ]
    opened = open_release(path)
    assert opened.ratings["r1"].strata == {"language": ("de", "en")}
    scopes = [each["scope"] for each in opened.decisions["r1"]["verdicts"]]
    assert scopes == ["stratum language=de", "stratum language=en"]


def test_a_round_that_is_bad_in_one_stratum_alone_is_not_released(store, original):
    ratings = make_ratings(disagreements=9, **HALVES)
    store.ingest("r1", ratings, original)
    assert released(store, Policy("whole", 1, (Rule(ALPHA),), n_resamples=1000))
    with pytest.raises(ReleaseHeldError, match="krippendorff_alpha of stratum language=de"):
        released(store, POLICY)
