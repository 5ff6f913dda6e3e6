"""A small release of two rounds, and ways to change its files."""

import hashlib
import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Policy, Ratings, ReleaseInvalidError, Rule, Scale, verify_release
from agreement_pipeline.contract import Contract
from agreement_pipeline.ratings import parquet_bytes
from agreement_pipeline.release.contents import as_json

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
STRICTER = Policy(
    "strict", 1, (Rule("krippendorff_alpha", reliable=0.99, tentative=0.98),), n_resamples=1000
)
CONTRACT = Contract.none()
TRAIN = "data/train-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"
NOT_DERIVED = "do not give rounds that can be judged|comes out as"


def make_ratings(prefix="i", disagreements=2):
    """Three raters who agree on items that are no and yes in turn, but for the first few."""
    rows = [
        (
            f"{prefix}{item:03}",
            rater,
            ("no", "yes")[(item + (item < disagreements and rater == "c")) % 2],
        )
        for item in range(90)
        for rater in "abc"
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


def forge(path, name, data):
    """Change a file and make the manifest agree with it."""
    (path / name).write_bytes(data)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (path / "manifest.json").write_bytes(as_json(manifest))


def edit(path, name, change):
    """Change plain data in a file and make the manifest agree with it."""
    data = json.loads((path / name).read_text())
    change(data)
    (path / name).write_bytes(as_json(data)) if name == "manifest.json" else forge(
        path, name, as_json(data)
    )


def edit_table(path, name, change):
    forge(path, name, parquet_bytes(change(pq.read_table(path / name))))


def refused(path, match):
    with pytest.raises(ReleaseInvalidError, match=match):
        verify_release(path)
