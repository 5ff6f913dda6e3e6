"""What the store keeps, what it refuses, and what it mends."""

import json
import subprocess
import threading

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import StoreError
from agreement_pipeline.ratings import TEXT, parquet_bytes
from agreement_pipeline.store import Store, digest_of, local
from agreement_pipeline.store.local import LocalStorage

PATHS = [
    "",
    ".",
    "..",
    "../r",
    "a/b",
    "/etc/passwd",
    "a\\b",
    "a..b",
    ".hidden",
    "-r",
    "a b",
    "a\n",
    "a\0",
    "x" * 101,
    "é",
]


def make_ratings(label="yes", raters=("ana", "ben")):
    rows = [
        (item, rater, label if (item, rater) == ("i1", raters[0]) else "no")
        for item in ("i1", "i2")
        for rater in raters
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "export 1.csv"
    path.write_bytes(b"item,rater,label\r\n\xff")
    return path


def everything(store):
    return {
        path.relative_to(store.root).as_posix(): path.read_bytes()
        for path in store.root.rglob("*")
        if path.is_file()
    }


def stored_table(store):
    return next(store.root.glob("rounds/*/*.parquet"))


def test_a_round_is_read_back_as_it_was_ingested(store, original):
    ratings = make_ratings()
    version = store.ingest("2026-11", ratings, original)
    assert (version.round, version.source, version.ratings_digest) == (
        "2026-11",
        "export 1.csv",
        ratings.digest,
    )
    assert store.ratings("2026-11").digest == ratings.digest
    pd.testing.assert_frame_equal(store.ratings("2026-11").to_pandas(), ratings.to_pandas())
    assert (store.rounds(), store.present("2026-11")) == (("2026-11",), version)


def test_all_that_is_known_of_ratings_and_items_is_read_back(store, original):
    frame = pd.DataFrame(
        {
            "item": ["i1", "i1", "i2", "unrated"],
            "rater": ["ana", "model", "ana", None],
            "label": [1, 2.5, 1, None],
            "occurrence": [2, 1, 1, 1],
            "earlier": [False, False, True, False],
            "confidence": [0.1, None, 1 / 3, None],
            "timestamp": pd.to_datetime(
                ["2026-11-01T10:00:00.123Z", "2026-11-02", None, None], utc=True, format="ISO8601"
            ),
            "text": pd.array(
                ['a "quoted", text\n', 'a "quoted", text\n', None, "never seen"], dtype=TEXT
            ),
            "gold": ["no", "no", "yes", "no"],
        }
    )
    ratings = Ratings.from_frame(frame, Scale((1, 2, 2.5), "ratio"), classifiers=["model"])
    store.ingest("r", ratings, original)
    found = store.ratings("r")
    assert (found.digest, found.scale, found.classifiers) == (
        ratings.digest,
        ratings.scale,
        ratings.classifiers,
    )
    pd.testing.assert_frame_equal(found.to_pandas(), ratings.to_pandas())
    assert found.items(["text", "gold"]) == ratings.items(["text", "gold"])
    assert found.items(["text"])["text"].to_pylist() == ['a "quoted", text\n', None, "never seen"]


DAY = pd.Timestamp("2026-11-01")


@pytest.mark.parametrize(
    "timestamps",
    [
        [DAY.tz_localize("UTC"), DAY.tz_localize("Europe/Berlin"), None, None],
        [DAY, DAY.date(), DAY, DAY],
        [1, "noon", 1, 1],
        [10**40, 1, 1, 1],
        [1j, 1j, 1j, 1j],
    ],
    ids=["time zones", "days and times", "number and text", "large", "complex"],
)
def test_times_of_several_kinds_are_kept_as_the_text_that_they_print_as(
    store, original, timestamps
):
    frame = make_ratings().to_pandas().assign(timestamp=pd.Series(timestamps, dtype=object))
    ratings = Ratings.from_frame(frame, Scale(("no", "yes")))
    texts = frame["timestamp"].map(str, na_action="ignore")
    assert ratings.digest == Ratings.from_frame(frame.assign(timestamp=texts), ratings.scale).digest
    store.ingest("r", ratings, original)
    found = store.ratings("r")
    assert found.digest == ratings.digest
    assert found.to_pandas()["timestamp"].dropna().tolist() == texts.dropna().tolist()


def test_an_original_that_is_not_the_one_its_ratings_were_read_from_is_refused(store, original):
    digest = digest_of(original.read_bytes())
    original.write_bytes(b"delivered again")
    with pytest.raises(
        StoreError, match=r"export 1\.csv: found other bytes than when its ratings were read"
    ):
        store.ingest("r", make_ratings(), original, original_digest=digest)
    assert everything(store) == {}


def test_a_key_that_was_emptied_is_not_taken_for_one(tmp_path):
    store = Store(tmp_path / "store")
    store.pseudonyms(make_ratings())
    (store.root / "salt").write_bytes(b"")
    with pytest.raises(
        StoreError, match="salt: found 0 bytes; expected the key of the raters' pseudonyms"
    ):
        Store(store.root).pseudonyms(make_ratings())


def test_the_original_file_is_kept_byte_for_byte_under_its_digest(store, original):
    version = store.ingest("r", make_ratings(), original)
    assert (
        version.original_digest
        == subprocess.run(["sha256sum", original], capture_output=True, check=True)
        .stdout.decode()
        .lstrip("\\")
        .split()[0]
    )
    assert (
        store.root / "originals" / version.original_digest / "export 1.csv"
    ).read_bytes() == original.read_bytes()


def test_an_original_folder_is_kept_with_all_that_is_in_it(store, tmp_path):
    folder = tmp_path / "job"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.json").write_text("{}")
    (folder / "b.json").write_text("[]")
    version = store.ingest("r", make_ratings(), folder)
    kept = store.root / "originals" / version.original_digest / "job"
    assert {path.relative_to(kept).as_posix() for path in kept.rglob("*.json")} == {
        "deep/a.json",
        "b.json",
    }
    (folder / "b.json").rename(folder / "c.json")
    assert store.ingest("r", make_ratings(), folder).original_digest != version.original_digest


def test_the_same_bytes_again_change_nothing(store, original):
    version = store.ingest("r", make_ratings(), original)
    before = everything(store)
    assert store.ingest("r", make_ratings(), original) == version
    assert everything(store) == before


def test_a_changed_round_becomes_present_and_its_former_version_stays(store, original):
    one = store.ingest("r", make_ratings(), original)
    original.write_bytes(b"other")
    two = store.ingest("r", make_ratings("no"), original)
    assert store.present("r") == two
    assert store.versions("r") == (one, two)
    assert store.ratings_of(one).digest == make_ratings().digest
    assert store.ingest("r", make_ratings("no"), original) == two
    assert [entry["event"] for entry in store.history("r")] == ["ingested", "ingested"]


def test_a_rater_renamed_in_the_export_is_a_new_version_although_the_digest_forgets_names(
    store, original
):
    one = store.ingest("r", make_ratings(), original)
    two = store.ingest("r", make_ratings(raters=("anna", "ben")), original)
    assert one.ratings_digest == two.ratings_digest
    assert store.ratings("r").raters == ("anna", "ben")
    assert store.ratings_of(one).raters == ("ana", "ben")


@pytest.mark.parametrize("name", PATHS)
def test_a_name_that_could_be_a_path_is_refused_before_anything_is_written(store, original, name):
    for step in (
        lambda: store.ingest(name, make_ratings(), original),
        lambda: store.present(name),
        lambda: store.ratings(name),
        lambda: store.record("decided", name),
        lambda: store.release_folder(name, "v"),
        lambda: store.release_folder("r", name),
    ):
        with pytest.raises(StoreError, match="found a name that is not allowed"):
            step()
    assert not store.root.exists()


def test_a_round_of_a_file_whose_name_no_round_can_have_says_to_rename_the_file(store, original):
    with pytest.raises(StoreError, match=r"'Week 1'.*\. Rename the round, or the file that it is "):
        store.ingest("Week 1", make_ratings(), original)


def test_an_unknown_round_is_named_with_those_there_are(store, original):
    store.ingest("r1", make_ratings(), original)
    with pytest.raises(
        StoreError, match=r"found no round 'r2' among \['r1'\].*`judge` stores nothing"
    ):
        store.ratings("r2")


def test_a_thread_that_reads_another_round_meanwhile_changes_nothing(store, original, monkeypatch):
    store.ingest("r2", make_ratings("no"), original)
    store.ingest("r1", make_ratings(), original)
    real = store.kept_table

    def meanwhile(version):
        monkeypatch.undo()
        other = threading.Thread(target=store.ratings, args=("r2",))
        other.start()
        other.join()
        return real(version)

    monkeypatch.setattr(store, "kept_table", meanwhile)
    assert store.ratings("r1").digest == make_ratings().digest


def test_ratings_that_were_read_before_are_refused_once_their_bytes_change(store, original):
    version = store.ingest("r", make_ratings(), original)
    seen = store.ratings("r")
    assert store.ratings("r") is seen
    assert store.ratings_of(version) is not seen
    again = store.ratings("r")
    path = stored_table(store)
    path.write_bytes(path.read_bytes() + b" ")
    assert again.digest == version.ratings_digest
    with pytest.raises(StoreError, match="the ratings were edited"):
        store.ratings("r")


def test_edited_ratings_are_refused(store, original):
    store.ingest("r", make_ratings(), original)
    path = stored_table(store)
    table = pq.read_table(path)
    path.write_bytes(parquet_bytes(table.set_column(3, "label", [["no"] * len(table)])))
    for step in (lambda: store.ratings("r"), lambda: store.ingest("r", make_ratings(), original)):
        with pytest.raises(StoreError, match="the ratings were edited"):
            step()


def test_edited_ratings_are_refused_even_where_the_log_was_edited_with_them(store, original):
    store.ingest("r", make_ratings(), original)
    path, entry, seal = (
        stored_table(store),
        store.root / "log" / "00000001.json",
        next(store.root.glob("log/seals/*")),
    )
    table = pq.read_table(path)
    edited = parquet_bytes(table.set_column(3, "label", [["no"] * len(table)]))
    (path.parent / f"{digest_of(edited)}.parquet").write_bytes(edited)
    entry.write_text(
        json.dumps({**json.loads(entry.read_text()), "table_digest": digest_of(edited)})
    )
    seal.rename(seal.with_name(f"00000001-{digest_of(entry.read_bytes())}"))
    with pytest.raises(StoreError, match=r"found digest \w+ instead of \w+ when read back"):
        store.ratings("r")


def test_an_edited_rater_name_is_refused_although_the_digest_forgets_names(store, original):
    store.ingest("r", make_ratings(), original)
    path = stored_table(store)
    path.write_bytes(path.read_bytes().replace(b"ana", b"eva"))
    with pytest.raises(StoreError, match="the ratings were edited"):
        store.ratings("r")


def test_missing_ratings_and_an_edited_original_are_refused_and_mended_by_ingesting_again(
    store, original
):
    version = store.ingest("r", make_ratings(), original)
    kept = store.root / "originals" / version.original_digest / original.name
    kept.write_bytes(b"edited")
    with pytest.raises(StoreError, match="the original was edited"):
        store.ingest("r", make_ratings(), original)
    stored_table(store).unlink()
    with pytest.raises(StoreError, match="found no such file; expected the ratings of round r"):
        store.ratings("r")
    kept.unlink()
    assert store.ingest("r", make_ratings(), original) == version == store.present("r")
    assert store.ratings("r").digest == make_ratings().digest
    assert len(store.history()) == 1


def test_an_original_that_is_gone_is_named(store, tmp_path):
    with pytest.raises(StoreError, match=r"gone\.csv: found no such file; expected the original"):
        store.ingest("r", make_ratings(), tmp_path / "gone.csv")
    assert not store.root.exists()


def test_deleting_the_delivered_file_changes_nothing_that_was_ingested(store, original):
    version = store.ingest("r", make_ratings(), original)
    before = everything(store)
    original.unlink()
    assert (store.present("r"), store.ratings("r").digest) == (version, make_ratings().digest)
    assert everything(store) == before


def test_a_second_writer_draws_no_second_salt(tmp_path, monkeypatch):
    names, read, blind = Store(tmp_path).pseudonyms(make_ratings()), LocalStorage.read, [True]
    monkeypatch.setattr(
        LocalStorage,
        "read",
        lambda storage, name: None if blind and blind.pop() else read(storage, name),
    )
    assert Store(tmp_path).pseudonyms(make_ratings()) == names


def test_pseudonyms_are_the_same_in_every_round_and_need_the_salt(tmp_path):
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    names = one.pseudonyms(make_ratings())
    assert names == Store(tmp_path / "one").pseudonyms(make_ratings("no"))
    assert set(names.values()).isdisjoint(other.pseudonyms(make_ratings()).values())
    assert (tmp_path / "one" / "salt").stat().st_mode & 0o777 == 0o600


def test_classifiers_keep_their_names(tmp_path):
    rows = pd.DataFrame({"item": ["i", "i"], "rater": ["ana", "model"], "label": ["no", "no"]})
    ratings = Ratings.from_frame(rows, Scale(("no", "yes")), classifiers=["model"])
    assert set(Store(tmp_path).pseudonyms(ratings)) == {"ana"}


def test_an_original_that_changes_while_it_is_kept_is_refused(store, original, monkeypatch):
    real = local.copy

    def later(source, path):
        source.write_bytes(b"written on")
        real(source, path)

    monkeypatch.setattr(local, "copy", later)
    with pytest.raises(StoreError, match=r"export 1\.csv: found other bytes than when its ratings"):
        store.ingest("r", make_ratings(), original)
    assert store.rounds() == ()
    assert store.storage.names("originals") == ()
