"""A log that is longer than a segment: what is found out when somebody changes its older part."""

import hashlib
import json
import random
import shutil
from contextlib import nullcontext
from itertools import chain, count

import pytest

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import Store, digest_of, local
from agreement_pipeline.store.local import LocalStorage
from agreement_pipeline.store.log import Tail
from tests.events import record
from tests.killing import killed

PRIMITIVES = [(local, name) for name in ("put", "link", "rename", "remove")]
LONG = 70


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with two segments of 32 entries and six entries after them."""
    store = Store(tmp_path_factory.mktemp("made") / "store")
    filled(store, LONG)
    return store.root


@pytest.fixture
def store(made, tmp_path):
    return Store(shutil.copytree(made, tmp_path / "store"))


class Folder:
    """Files in memory, as a bucket lists them. `meanwhile` happens before files are fetched."""

    def __init__(self, *numbers):
        self.files = {}
        self.meanwhile = lambda: None
        self.put(*numbers)

    def put(self, *numbers):
        self.files |= {f"log/{number:08}.json": b"%d" % number for number in numbers}

    def listed(self, folder):
        kept = self.files.items()
        return {name.removeprefix("log/"): hashlib.md5(data).hexdigest() for name, data in kept}

    def fetched(self, names):
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        return {name: self.files.get(name) for name in names}


def filled(store, n_entries):
    """Two decisions on each round."""
    with store.locked():
        for number in range(n_entries):
            record(store, "decided", f"r{number // 2:02}", ratings_digest=str(number))


def segments(store):
    return sorted((store.root / "segments").iterdir())


def index(store):
    (path,) = (store.root / "index").iterdir()
    return path


def entries_of_segments(store):
    data = b"".join(path.read_bytes() for path in segments(store))
    return data.splitlines(keepends=True)


def marks(store):
    """What names each entry of the log: its number, and the digest of its bytes."""
    lines = entries_of_segments(store)
    lines += [path.read_bytes() for path in sorted((store.root / "log").glob("*.json"))]
    return [f"{number:08}-{digest_of(line)}" for number, line in enumerate(lines, 1)]


def test_older_entries_stand_in_segments_and_are_read_as_they_were_written(store):
    digests = [entry["ratings_digest"] for entry in store.history()]
    assert digests == [str(number) for number in range(LONG)]
    assert [path.name[:8] for path in segments(store)] == ["00000032", "00000064"]
    assert all(path.name[9:] == digest_of(path.read_bytes()) for path in segments(store))
    assert [path.stem for path in sorted((store.root / "log").glob("*.json"))] == [
        f"{number:08}" for number in range(65, 71)
    ]
    lines = entries_of_segments(store)
    entries = [*map(json.loads, lines)]
    assert [entry["previous"] for entry in entries[1:]] == [*map(digest_of, lines[:-1])]


def test_the_log_goes_on_from_every_seal_although_older_seals_are_gone(store):
    seals = marks(store)
    assert len(seals) == LONG
    for number in (1, 32, 33, 64, 65, LONG):
        assert store.log.since(seals[number - 1]) == store.history()[number:]
        assert store.log.since(seals[number - 1][:-1] + "x") is None
    assert store.log.since(f"{LONG + 1:08}-{seals[0][9:]}") is None


def test_the_log_is_read_on_from_every_mark_and_only_from_there(store):
    history, known = store.history(), marks(store)
    assert store.log.mark == known[-1]
    for number, mark in enumerate(known, 1):
        assert store.log.following(mark) == history[number:]
        assert store.log.following(f"{mark[:-1]}x") is None
        assert store.log.following(f"{0:08}{mark[8:]}") is None
    assert store.log.following(f"{LONG + 1:08}-{known[-1][9:]}") is None
    segments(store)[0].unlink()
    assert Store(store.root).log.following(known[40]) == history[41:]


def test_the_last_entry_of_an_event_is_found_from_the_end(store):
    assert store.log.latest("decided")["ratings_digest"] == str(LONG - 1)
    assert store.log.latest("released") is None
    record(store, "ingested", "r99")
    for number in range(40):
        record(store, "decided", "r99", ratings_digest=str(number))
    assert store.log.latest("ingested")["round"] == "r99"


def test_one_round_is_found_among_many(store):
    for name, digests in (("r00", ["0", "1"]), ("r31", ["62", "63"]), ("r34", ["68", "69"])):
        assert [entry["ratings_digest"] for entry in store.history(name)] == digests
    assert store.history("r99") == ()


def test_what_was_said_in_a_segment_is_not_said_again(store):
    record(store, "decided", "r00", ratings_digest="1")
    assert len(store.history()) == LONG
    record(store, "decided", "r00", ratings_digest="0")
    assert len(store.history()) == LONG + 1


def edited(path):
    path.write_bytes(path.read_bytes().replace(b"held", b"Held", 1))


def renamed(path):
    """Edit a segment, and give it the name that its bytes ask for."""
    edited(path)
    path.rename(path.with_name(f"{path.name[:8]}-{digest_of(path.read_bytes())}"))


def moved(path):
    """Exchange two entries of a segment."""
    one, two, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([two, one, *rest]))


def shortened(path):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize("spoil", [edited, renamed, moved, shortened, lambda path: path.unlink()])
@pytest.mark.parametrize("at", [0, 1])
def test_a_changed_segment_is_found_by_a_check_of_all_and_by_who_reads_a_round_in_it(
    store, spoil, at
):
    spoil(segments(store)[at])
    name = ("r03", "r20")[at]
    for step in (
        store.history,
        store.rounds,
        store.in_force,
        store.withdrawn,
        lambda: store.history(name),
        lambda: record(store, "decided", name),
    ):
        with pytest.raises(
            StoreError,
            match=rf"found entries {32 * at + 1} to {32 * at + 32}, which are not the ones",
        ):
            step()


def test_segments_that_were_all_written_anew_do_not_lead_to_the_entries_after_them(store):
    """Even where the index is made to agree with them."""
    for path in segments(store):
        renamed(path)
    said = json.loads(index(store).read_bytes())
    said["segments"] = [path.name[9:] for path in segments(store)]
    data = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    index(store).rename(index(store).with_name(f"00000064-{digest_of(data)}"))
    index(store).write_bytes(data)
    for step in (store.history, lambda: record(store, "decided", "r99")):
        with pytest.raises(StoreError, match="found entr"):
            step()


def forged(store, hidden):
    """An index that does not know a round. It has the name that its bytes ask for."""
    said = json.loads(index(store).read_bytes())
    del said["names"][hidden]
    data = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    index(store).unlink()
    digest = digest_of(data)
    (store.root / "index" / f"00000064-{digest}").write_bytes(data)
    return digest


@pytest.mark.parametrize(
    "spoil",
    [
        lambda store: index(store).unlink(),
        lambda store: index(store).write_bytes(b"{}"),
        lambda store: forged(store, "r03"),
    ],
    ids=["gone", "edited", "forged"],
)
def test_an_index_that_is_not_the_one_that_was_written_is_made_again_from_the_segments(
    store, spoil
):
    spoil(store)
    fresh = Store(store.root)
    assert [entry["ratings_digest"] for entry in fresh.history("r03")] == ["6", "7"]
    assert len(fresh.history()) == LONG
    edited(segments(store)[0])
    with pytest.raises(StoreError, match="found entries 1 to 32, which are not the ones"):
        Store(store.root).history("r99")


def test_an_index_that_is_gone_with_a_segment_is_refused(store):
    index(store).unlink()
    segments(store)[1].unlink()
    with pytest.raises(StoreError, match="found segments that do not lead to entry 65"):
        Store(store.root).history("r03")


def test_a_segment_is_not_written_over_one_that_stands_there_with_other_bytes(tmp_path):
    store = Store(tmp_path / "store")
    filled(store, 32)
    other = Store(shutil.copytree(store.root, tmp_path / "other"))
    record(other, "decided", "r99")
    (named,) = segments(other)
    named = store.root / "segments" / named.name
    named.parent.mkdir(exist_ok=True)
    named.write_bytes(b"another\n")
    with pytest.raises(StoreError, match=f"found segments/{named.name} with other bytes"):
        record(store, "decided", "r99")
    assert len(list((store.root / "log").glob("*.json"))) == 32


def test_a_forged_index_is_refused_even_where_the_entry_that_names_it_was_edited(store):
    digest = forged(store, "r03")
    path = store.root / "log" / "00000065.json"
    entry = json.loads(path.read_text())
    path.write_text(json.dumps({**entry, "index": digest}) + "\n")
    (seal,) = (store.root / "log" / "seals").glob("00000065-*")
    seal.rename(seal.with_name(f"00000065-{digest_of(path.read_bytes())}"))
    for step in (Store(store.root).history, lambda: Store(store.root).history("r03")):
        with pytest.raises(StoreError, match="found entry 66, which does not follow"):
            step()


def test_a_forged_index_is_refused_by_a_check_of_all_even_if_all_later_entries_were_too(store):
    digest = forged(store, "r03")
    shutil.rmtree(store.root / "log" / "seals")
    data = b""
    for path in sorted((store.root / "log").glob("*.json")):
        entry = json.loads(path.read_text())
        named = {"index": digest} if "index" in entry else {"previous": digest_of(data)}
        data = (json.dumps({**entry, **named}) + "\n").encode()
        path.write_bytes(data)
        seal = store.root / "log" / "seals" / f"{path.stem}-{digest_of(data)}"
        seal.parent.mkdir(exist_ok=True)
        seal.write_bytes(data)
    assert not Store(store.root).history("r03")
    with pytest.raises(StoreError, match="found an index that does not follow from the entries"):
        Store(store.root).history()


@pytest.mark.parametrize(
    ("number", "found"),
    [(65, "entry 65, which does not follow"), (67, "entry 67, which does not follow")],
)
@pytest.mark.parametrize("spoil", [edited, lambda path: path.unlink()], ids=["edited", "gone"])
def test_a_change_after_the_last_segment_is_found_by_every_operation(store, number, found, spoil):
    spoil(store.root / "log" / f"{number:08}.json")
    if spoil is edited:
        found = found.replace(str(number), str(number + 1))
    for step in (store.history, lambda: record(store, "decided", "r99")):
        with pytest.raises(StoreError, match=found):
            step()


@pytest.mark.parametrize("folders", [["log"], ["log", "index"]])
def test_a_log_without_its_end_is_missed_by_its_segments(store, folders):
    for folder in folders:
        shutil.rmtree(store.root / folder)
    for step in (store.history, lambda: record(store, "decided", "r99")):
        with pytest.raises(StoreError, match="found 0 entries where 64 were written"):
            step()


def test_an_end_that_was_cut_before_a_segment_is_missed_by_a_check_of_all(store):
    """Entries 1 to 40 are put back as they once were, and the later ones removed."""
    other = Store(store.root.with_name("other"))
    lines = entries_of_segments(store)
    shutil.copytree(store.root, other.root)
    shutil.rmtree(other.root / "log")
    (other.root / "log" / "seals").mkdir(parents=True)
    for number in range(1, 31):
        (other.root / "log" / f"{number:08}.json").write_bytes(lines[number - 1])
        digest = digest_of(lines[number - 1])
        (other.root / "log" / "seals" / f"{number:08}-{digest}").touch()
    with pytest.raises(StoreError, match="found 30 entries where 64 were written"):
        other.history()


@pytest.mark.parametrize("n_entries", [32, 33, 64])
def test_a_writer_killed_at_a_segment_leaves_the_log_before_or_after(tmp_path, n_entries):
    before, place = tmp_path / "before", tmp_path / "store"
    filled(Store(before), n_entries)
    # At first files are written. Then the 32 entries of the segment are removed, one as the other.
    for n in chain(range(1, 25), count(25, 7)):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(before, place)
        if not killed(lambda: record(Store(place), "released", "r"), n, PRIMITIVES):
            break
        found = [entry["number"] for entry in Store(place).history()]
        assert found in ([*range(1, n_entries + 1)], [*range(1, n_entries + 2)]), n
        store = Store(place)
        record(store, "released", "r")
        record(store, "decided", "r")
        assert [entry["number"] for entry in Store(place).history()] == [*range(1, n_entries + 3)]
    assert n > 5


def test_what_a_writer_left_when_it_was_killed_is_removed_with_the_next_segment(store):
    for number in (3, 40):
        (store.root / "log" / f"{number:08}.json").write_text("left behind")
    with store.locked():
        for number in range(30):
            record(store, "decided", "r", ratings_digest=str(number))
    assert [path.stem for path in sorted((store.root / "log").glob("*.json"))] == [
        f"{number:08}" for number in range(97, 101)
    ]


def test_a_reader_starts_again_if_a_writer_makes_a_segment_meanwhile(tmp_path, monkeypatch):
    store, writer = Store(tmp_path), Store(tmp_path)
    filled(store, 32)
    real, late = LocalStorage.listed, [True]

    def listed(storage, folder):
        found = real(storage, folder)
        if storage is store.storage and late:
            late.clear()
            record(writer, "decided", "r", ratings_digest="last")
        return found

    monkeypatch.setattr(LocalStorage, "listed", listed)
    assert len(store.history()) == 33


def test_rounds_and_releases_are_found_as_by_a_look_at_every_entry(tmp_path):
    draw, store = random.Random(1), Store(tmp_path)
    names = [f"r{number}" for number in range(12)]
    with store.locked():
        for number in range(200):
            name = draw.choice(names)
            among = {name, *draw.sample(names, draw.randrange(3))}
            called = f"{name}/{draw.randrange(4)}"
            event = draw.choice(["ingested", "decided", "released", "withdrawn"])
            facts = {
                "ingested": {"original_digest": str(number)},
                "decided": {"ratings_digest": str(number)},
                "released": {"release": called, "rounds": dict.fromkeys(sorted(among), "d")},
                "withdrawn": {"releases": [called]},
            }
            record(store, event, name, **facts[event])
    every = store.history()
    assert len(segments(store)) >= 4
    for name in names:
        assert store.history(name) == tuple(entry for entry in every if entry["round"] == name)
        released = [
            entry for entry in every if entry["event"] == "released" and name in entry["rounds"]
        ]
        assert list(store.releases_with(name)) == released
        withdrawn = {
            called
            for entry in every
            if entry["event"] == "withdrawn"
            for called in entry["releases"]
        }
        assert [entry["number"] for entry in store.in_force(name)] == [
            entry["number"] for entry in released if entry["release"] not in withdrawn
        ]


def test_an_entry_whose_number_was_freed_by_a_segment_is_refused(tmp_path, monkeypatch):
    """Where locks do not hold: a writer that looked at the log before others made a segment."""
    monkeypatch.setattr(LocalStorage, "locked", lambda _: nullcontext())
    slow, quick = Store(tmp_path), Store(tmp_path)
    filled(slow, 31)
    with slow.locked():
        for number in range(2):
            record(quick, "decided", "r", ratings_digest=str(number))
        assert not (tmp_path / "log" / "00000032.json").exists()
        with pytest.raises(StoreError, match="found entry 32, written by another writer meanwhile"):
            record(slow, "released", "r")
    assert [entry["ratings_digest"] for entry in quick.history("r")] == ["0", "1"]
    for number in range(40):
        record(quick, "decided", "r", ratings_digest=f"more {number}")
    assert len(Store(tmp_path).history()) == 73


def test_a_thread_that_reads_the_next_segment_takes_nothing_from_one_that_reads_this_one():
    folder = Folder(*range(1, 32))
    tail = Tail(folder)
    tail.read()
    folder.put(32)

    def another_thread():
        before, folder.files = folder.files, {}
        folder.put(33)
        assert tail.read() == (33, [b"33"], set())
        folder.files = before

    folder.meanwhile = another_thread
    assert tail.read() == (1, [b"%d" % number for number in range(1, 33)], set())
