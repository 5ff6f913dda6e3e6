"""A rater or an item is erased on request, and the rest goes on proving itself."""

import shutil
from functools import partial
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Store, verify_release
from agreement_pipeline.classifiers import draw, draws
from agreement_pipeline.cli import main
from agreement_pipeline.errors import ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.release import judge_round, open_release, release_dataset, release_round
from agreement_pipeline.store import erase, names_in
from tests.classifiers.tables import ratings_of
from tests.killing import killed
from tests.release.rounds import CONTRACT, bytes_of, make_ratings
from tests.store.test_crashes import PRIMITIVES

GONE = "chiara"
POLICY = Policy("named", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
HELD = Policy("named", 2, (Rule("krippendorff_alpha", scope="without", reliable=0.999),))
OTHERS = ("ana-maria", "benedikt", "dora")


def delivered(folder, name, ratings):
    path = folder / f"{name}.csv"
    ratings.to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """A store whose round r1 came in two versions of a rater, and whose r2 knows nobody of it."""
    folder = tmp_path_factory.mktemp("old")
    store = Store(folder / "store")
    first, second = make_ratings(4), make_ratings(2)
    store.ingest("r1", first, delivered(folder, "first", first))
    judge_round(store, "r1", HELD, CONTRACT)
    store.ingest("r1", second, delivered(folder, "second", second))
    others = make_ratings(2, prefix="j", raters=OTHERS)
    store.ingest("r2", others, delivered(folder, "others", others))
    for name in ("r1", "r2"):
        release_round(store, name, POLICY, CONTRACT, project="demo")
    release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo")
    return store.root


@pytest.fixture(scope="module")
def new(old, tmp_path_factory):
    """The store without the rater."""
    place = tmp_path_factory.mktemp("new") / "store"
    asked = ["store", "erase", f"{old}", f"{place}", "--rater", GONE, "--by", "her", "--why", "it"]
    assert main(asked) == 0
    return place


def words_in(store):
    """All that the files of a store hold, tables too."""
    for name in names_in(store):
        yield name, (store / name).read_bytes()
        if name.endswith(".parquet"):
            table = pq.read_table(store / name)
            columns = [each for each in table.columns if pa.types.is_string(each.type)]
            yield name, "\n".join(str(each.to_pylist()) for each in columns).encode()


def of(store, called):
    (entry,) = [each for each in store.history() if each.get("release", "").startswith(called)]
    return store.root / "releases" / entry["release"]


def test_no_byte_of_the_new_store_has_the_name(old, new):
    def there(store):
        return {name.partition("/")[0] for name, held in words_in(store) if GONE.encode() in held}

    assert there(old) >= {"rounds", "originals", "log"}
    assert there(new) == set()


def test_the_log_says_what_was_erased_and_all_that_happened_before(old, new, capsys):
    before, now = Store(old).history(), Store(new).history()
    assert [(each["event"], each["time"]) for each in now[: len(before)]] == [
        (each["event"], each["time"]) for each in before
    ]
    erased, *withdrawn = now[len(before) :]
    assert erased["subject"] == Store(old).pseudonym("rater", GONE)
    assert (erased["by"], erased["why"], erased["head"]) == ("her", "it", Store(old).log.head)
    assert len(erased["versions"]) == 2
    assert {each["round"] for each in withdrawn} == {"r1"}
    assert main(["history", "--store", f"{new}"]) == 0
    assert "as her asked: it" in capsys.readouterr().out


def test_a_release_without_the_rater_is_the_same_and_in_force(old, new):
    store = Store(new)
    path = of(store, "r2/")
    assert bytes_of(path) == bytes_of(old / path.relative_to(new))
    assert open_release(path, store=store).rounds == ("r2",)


@pytest.mark.parametrize("called", ["r1/", "demo.dataset/"])
def test_a_release_with_the_rater_is_a_notice_alone(called, old, new):
    assert verify_release(of(Store(old), called))
    path = of(Store(new), called)
    assert [each.name for each in path.iterdir()] == ["WITHDRAWN.json"]
    with pytest.raises(ReleaseInvalidError, match="was erased, as her asked: it") as refusal:
        verify_release(path)
    assert refusal.value.code == "release_withdrawn"


def test_the_round_is_judged_and_released_again_without_the_rater(new):
    store = Store(new)
    assert store.ratings("r1").raters == ("ana-maria", "benedikt")
    release = release_round(store, "r1", POLICY, CONTRACT, project="demo")
    assert verify_release(release.path).ratings["r1"].n_items == 90


def test_the_rater_does_not_come_back(old, new):
    ratings = make_ratings(1)
    with pytest.raises(StoreError, match=r"was erased from .* on request; expected no such rater"):
        Store(new).ingest("r3", ratings, delivered(new.parent, "again", ratings))
    assert "r3" not in Store(new).rounds()


def test_an_item_is_erased_and_does_not_come_back(old, tmp_path):
    found = erase(old, tmp_path / "new", "item", "i007", "Kim", "a person is named in it")
    assert found.rounds == ("r1",)
    assert len(found.releases) == 2
    assert all(b"i007" not in held for _, held in words_in(tmp_path / "new"))
    store = Store(tmp_path / "new")
    assert store.ratings("r1").n_items == 89
    ratings = make_ratings(1)
    with pytest.raises(StoreError, match="expected no such item"):
        store.ingest("r3", ratings, delivered(tmp_path, "again", ratings))


def test_what_is_killed_is_finished_by_the_next(old, tmp_path):
    """Until then nobody can use the new store, and no release opens that had the rater."""
    ask = partial(erase, old, what="rater", name=GONE, by="her", why="it")
    ask(tmp_path / "whole")
    files = set(names_in(tmp_path / "whole"))
    n_cut = 0
    for n in sorted(Random(5).sample(range(1, 110), 8)):
        new = tmp_path / f"{n}"
        n_cut += killed(partial(ask, new), n, PRIMITIVES)
        for path in new.glob("releases/r1/*"):
            with pytest.raises(ReleaseInvalidError):
                verify_release(path)
        ask(new)
        assert {each.rpartition("-")[0] or each for each in names_in(new)} == {
            each.rpartition("-")[0] or each for each in files
        }
        assert [each["event"] for each in Store(new).history()[-3:]] == [
            "erased",
            "withdrawn",
            "withdrawn",
        ]
        assert all(GONE.encode() not in held for _, held in words_in(new))
    assert n_cut >= 6


def test_who_is_not_there_or_all_there_is_is_not_erased(old, tmp_path):
    with pytest.raises(StoreError, match="found no rater 'nobody' in any round"):
        erase(old, tmp_path / "new", "rater", "nobody", "her", "it")
    store, alone = Store(tmp_path / "old"), make_ratings(0, raters=(GONE,))
    store.ingest("r1", alone, delivered(tmp_path, "alone", alone))
    with pytest.raises(StoreError, match="round r1, without rater-"):
        erase(store.root, tmp_path / "other", "rater", GONE, "her", "it")
    assert main(["store", "erase", f"{old}", f"{tmp_path / 'b'}", "--rater", GONE]) == 2


def test_an_item_leaves_the_list_that_a_draw_was_from_and_the_draw_stays_one(old, tmp_path):
    """A draw from the rest is then known by the drawn items alone."""
    store = Store(shutil.copytree(old, tmp_path / "old"))
    for name, first in (("march", 0), ("april", 100)):
        rows = [(f"i{at:03}", "model", "yes") for at in range(first, first + 60)]
        draw(store, name, ratings_of(rows, classifiers=("model",)), 30)
    erase(store.root, tmp_path / "new", "item", "i007", "Kim", "a person is named in it")
    march, april = draws(Store(tmp_path / "new"))
    assert (march.listed, april.listed) == (False, True)
    assert [each.endswith(".json") for each in names_in(tmp_path / "new" / "populations")] == [True]
    assert all(b"i007" not in held for _, held in words_in(tmp_path / "new"))
