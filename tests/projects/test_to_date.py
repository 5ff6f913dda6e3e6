"""The project to date is the sum of what was counted in each round."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import readers
from agreement_pipeline.counting import counting_for
from agreement_pipeline.errors import StoreError
from agreement_pipeline.estimates import survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.projects import to_date
from agreement_pipeline.ratings import Scale
from agreement_pipeline.store import Store
from tests.counting.tables import plain

SCALE = Scale(("no", "maybe", "yes"))
INFERENCE = Inference(n_resamples=100)
MEASURES = ("krippendorff_alpha", "shah_kappa_s", "shah_s", "fleiss_kappa")


def rated(first, items, raters, seed):
    """Labels of some raters and of a model, on items numbered from `first`."""
    rng = np.random.default_rng(seed)
    names = [*raters, "model"]
    said = rng.choice(SCALE.categories, (items, len(names)), p=(0.6, 0.1, 0.3))
    return pd.DataFrame(
        [
            (f"i{first + item:05}", name, said[item, place])
            for item in range(items)
            for place, name in enumerate(names)
            if (item + place) % 5
        ],
        columns=["item", "rater", "label"],
    )


def ratings_of(frame):
    return readers.read(frame, scale=SCALE, classifiers=["model"])


def filled(folder, frames):
    """A store with a round for each frame."""
    store = Store(folder / "store")
    for number, frame in enumerate(frames):
        path = folder / f"{number:04}.csv"
        frame.to_csv(path, index=False)
        store.ingest(f"r{number:04}", ratings_of(frame), path)
    return store


def found(ratings):
    scopes = ("round", "category", "classifier")
    return [
        (each.measure, str(each.scope), each.value, plain(each.interval), each.n_items)
        for each in survey(ratings, MEASURES, INFERENCE, scopes=scopes)
    ]


def test_rounds_with_other_items_give_what_one_table_gives(tmp_path):
    panels = (("ana", "ben"), ("ben", "cleo"), ("ana", "cleo", "dan"))
    frames = [rated(100 * n, 40, panel, n) for n, panel in enumerate(panels)]
    whole = ratings_of(pd.concat(frames))
    assert found(to_date(filled(tmp_path, frames))) == found(whole)


def test_more_rounds_than_are_added_at_once_and_none_is_read_again(tmp_path, monkeypatch):
    """Each four rounds become one sum here, and each four sums."""
    monkeypatch.setattr(sys.modules[to_date.__module__], "MAX_PARTS_PER_SUM", 4)
    frames = [rated(10 * n, 4, ("ana", "ben"), n) for n in range(18)]
    store, whole = filled(tmp_path, frames), ratings_of(pd.concat(frames))
    total = to_date(store)
    assert plain(counting_for(total).counts(total)) == plain(counting_for(whole).counts(whole))
    first, read = found(total), []
    monkeypatch.setattr(Store, "ratings_of", lambda *_: pytest.fail("a round was read again"))
    bytes_of = type(store.storage).read
    monkeypatch.setattr(
        type(store.storage), "read", lambda self, name: read.append(name) or bytes_of(self, name)
    )
    assert found(to_date(store)) == first
    assert len([name for name in read if name.startswith("counted/")]) == 1 + 2


def test_a_round_that_came_again_is_counted_as_it_is_now(tmp_path):
    frames = [rated(10 * n, 8, ("ana", "ben"), n) for n in range(3)]
    store = filled(tmp_path, frames)
    to_date(store)
    frames[1] = rated(10, 8, ("ana", "ben"), 99)
    frames[1].to_csv(tmp_path / "again.csv", index=False)
    store.ingest("r0001", ratings_of(frames[1]), tmp_path / "again.csv")
    assert found(to_date(store)) == found(ratings_of(pd.concat(frames)))


def test_what_came_from_earlier_rounds_is_counted_there(tmp_path):
    frames = [rated(0, 12, ("ana", "ben"), n) for n in range(2)]
    store = filled(tmp_path, frames[:1])
    frames[1].to_csv(tmp_path / "two.csv", index=False)
    second = ratings_of(frames[1])
    store.ingest("two", second.preceded_by([ratings_of(frames[0])]), tmp_path / "two.csv")
    apart = [frames[0], frames[1].assign(item="again-" + frames[1]["item"])]
    assert found(to_date(store)) == found(ratings_of(pd.concat(apart)))


def test_a_store_without_rounds_has_no_sum(tmp_path):
    with pytest.raises(StoreError, match="found no round"):
        to_date(Store(tmp_path / "store"))


def claiming(n_numbers):
    """Statistics whose header claims so many numbers, in a few bytes."""
    header, found = io.BytesIO(), io.BytesIO()
    said = {"descr": "<i8", "fortran_order": False, "shape": (n_numbers,)}
    np.lib.format.write_array_header_1_0(header, said)
    with zipfile.ZipFile(found, "w") as packed:
        packed.writestr("said.npy", header.getvalue())
    return found.getvalue()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", claiming(2**50)])
def test_kept_statistics_that_were_damaged_are_refused(tmp_path, data):
    store = filled(tmp_path, [rated(0, 8, ("ana", "ben"), 1)])
    to_date(store)
    (kept,) = Path(store.root).glob("counted/*/*.npz")
    kept.chmod(0o644)
    kept.write_bytes(data)
    with pytest.raises(StoreError, match="found no statistics that can be read"):
        to_date(store)
