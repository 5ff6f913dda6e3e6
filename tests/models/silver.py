"""A certified classifier, and rounds that it labelled and of which people labelled a drawn part."""

from datetime import UTC, datetime, timedelta
from functools import cache

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale, Store
from agreement_pipeline.errors import CertificateError
from agreement_pipeline.models import CertifiedBy, Identity, ModelsAuditor, certify, draw
from agreement_pipeline.policy import Policy, Rule, Silver
from agreement_pipeline.release import release_round
from tests.release.forging import CONTRACT, POLICY

JUDGE = Identity(
    "judge",
    model="m-large",
    version="3",
    prompt_digest="a" * 64,
    rubric_digest="b" * 64,
    parameters={"temperature": 0},
)
RULES = Policy(
    "for classifiers",
    1,
    POLICY.rules,
    classifiers=(Rule("vanbelle_albert_kappa", "classifier", min_items=30),),
    n_resamples=1000,
)
SCALE = Scale(("no", "yes"))
TODAY = datetime.now(UTC).date()
SOON = TODAY + timedelta(days=90)


def make_ratings(wrong=1, raters="abc", prefix="i", name="judge", n=90, labelled=90, strata="de"):
    """A panel that agrees but on two items, and a classifier that is wrong on the first few."""
    rows = []
    for item in range(n):
        said = ("no", "yes")[item % 2]
        other = ("no", "yes")[(item + 1) % 2]
        known = {"item": f"{prefix}{item:03}", "language": strata[item % len(strata)]}
        rows += [
            known | {"rater": rater, "label": other if item < 2 and rater == "c" else said}
            for rater in raters
        ]
        if item < labelled:
            rows.append(known | {"rater": name, "label": other if item < wrong else said})
    return Ratings.from_frame(
        pd.DataFrame(rows).rename(columns={"language": "stratum:language"}),
        SCALE,
        classifiers=[name],
    )


def certified(store, rounds=("r1",), identity=JUDGE, rules=RULES, **how):
    how = {"policy": POLICY, "contract": CONTRACT, "project": "demo", "expires": SOON} | how
    return certify(store, rounds, identity, rules, **how)


def refused(code, call, *given, **how):
    with pytest.raises(CertificateError) as caught:
        call(*given, **how)
    assert caught.value.code == code
    return str(caught.value)


SILVER = Policy(
    "silver", 1, (Rule("krippendorff_alpha"),), n_resamples=1000, silver=Silver(most_wrong=0.05)
)
N, DRAWN, RATERS = 400, 80, ("ana", "ben", "chi")


def certifying(folder, original):
    """A store of people's rounds, with the certificate of the classifier."""
    people = Store(folder / "people", salt=b"a salt for tests")
    people.ingest("r1", make_ratings(), original)
    assert certified(people, project="people").certified
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
    by = ModelsAuditor(certified_by=CertifiedBy(identity, people))
    return release_round(store, name, policy, CONTRACT, project="silver", auditor=by)
