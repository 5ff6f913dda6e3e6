"""Rounds of three raters, and their releases."""

from pathlib import Path

import pandas as pd

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import Release, release_round
from agreement_pipeline.release.contents import contents
from agreement_pipeline.release.tables import build_training_rows

SCALE = Scale(("no", "yes", "<b>|maybe|</b>"))
POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
LENIENT = Policy(
    "lenient", 1, (Rule("krippendorff_alpha"),), admit=("reliable", "tentative"), n_resamples=1000
)
STRICTER = Policy(
    "stricter", 1, (Rule("krippendorff_alpha", reliable=0.94, tentative=0.9),), n_resamples=1000
)
RATERS = ("ana-maria", "benedikt", "chiara")


CONTRACT = Contract.none()


def make_ratings(
    disagreements=2,
    n_items=90,
    scale=SCALE,
    prefix="i",
    raters=RATERS,
    shuffle=None,
    classifiers=(),
    **more,
):
    """Three raters who agree on all items but the first few. There the last one differs."""
    rows = [
        (
            f"{prefix}{item:03}",
            rater,
            scale.names[(item + (item < disagreements and rater == raters[-1])) % len(scale.names)],
            f"text {prefix}{item}",
        )
        for item in range(n_items)
        for rater in (*raters, *classifiers)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "text"]).assign(**more)
    return Ratings.from_frame(
        frame if shuffle is None else frame.sample(frac=1, random_state=shuffle),
        scale,
        classifiers=classifiers,
    )


def released(store, policy=POLICY, name="r1", by=CONTRACT):
    return release_round(store, name, policy, by, project="demo")


def contents_of(project, member, policy=POLICY, by=CONTRACT):
    """The files of a release of one round, which may be held."""
    return contents(Release(Path(), project, policy, by, (member,), build_training_rows([member])))


def bytes_of(path):
    return {
        file.relative_to(path).as_posix(): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file()
    }
