"""A certified classifier, and rounds that it labelled and of which people labelled a drawn part."""

from functools import cache

import pandas as pd

from agreement_pipeline import Ratings, Store
from agreement_pipeline.classifiers import draw
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.policy.policy import Silver
from agreement_pipeline.release import CertifiedBy, certify, release_round
from tests.release.forging import CONTRACT, POLICY
from tests.release.test_certificates import JUDGE, RULES, SCALE, SOON, make_ratings

SILVER = Policy(
    "silver", 1, (Rule("krippendorff_alpha"),), n_resamples=1000, silver=Silver(most_wrong=0.05)
)
N, DRAWN, RATERS = 400, 80, ("ana", "ben", "chi")


def certifying(folder, original):
    """A store of people's rounds, with the certificate of the classifier."""
    people = Store(folder / "people", salt=b"a salt for tests")
    people.ingest("r1", make_ratings(), original)
    found = certify(
        people,
        ["r1"],
        JUDGE,
        RULES,
        policy=POLICY,
        contract=CONTRACT,
        project="people",
        expires=SOON,
    )
    assert found.certified
    return people


def items(n=N, prefix="s"):
    return [f"{prefix}{at:04}" for at in range(n)]


def said_of(item):
    return ("no", "yes")[int(item[1:]) % 2]


def rows_of(names, rater, said=said_of):
    return [
        {"item": item, "rater": rater, "label": said(item), "stratum:language": "d"}
        for item in names
    ]


def ratings_of(labelled=(), raters=RATERS, names=None, said=said_of, classifier="judge", **more):
    """A round that a classifier labelled whole, and people the `labelled` items."""
    rows = rows_of(names or items(), classifier)
    for rater in raters:
        rows += rows_of(sorted(labelled), rater, said)
    frame = pd.DataFrame(rows).assign(**more)
    return Ratings.from_frame(frame, SCALE, classifiers=[classifier])


def other_on(wrong):
    """What people say if they give another label than the classifier to some items."""
    other = {"no": "yes", "yes": "no"}
    return lambda item: other[said_of(item)] if item in wrong else said_of(item)


whole = cache(ratings_of)
"""The round before people labelled a part of it. No test changes ratings."""


def drawn(store, n=DRAWN, **how):
    return draw(store, "s1", whole(), n, **how)


def released(store, people, policy=SILVER, identity=JUDGE, name="s1"):
    by = CertifiedBy(identity, people)
    return release_round(store, name, policy, CONTRACT, project="silver", certified_by=by)
