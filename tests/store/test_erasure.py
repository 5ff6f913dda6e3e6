"""A rater or an item is erased on request, and the rest goes on proving itself."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Store, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.errors import DrawError, ReleaseInvalidError, StoreError
from agreement_pipeline.models import ModelsAuditor, draw, draws
from agreement_pipeline.policy import Policy, Rule, Waiver
from agreement_pipeline.ratings import Origin
from agreement_pipeline.release import (
    judge_delivered,
    judge_round,
    open_release,
    release_dataset,
    release_round,
)
from agreement_pipeline.store import erase, names_in
from tests.events import record
from tests.killing import killed
from tests.models.tables import ratings_of
from tests.release.rounds import CONTRACT, bytes_of, make_ratings
from tests.store.test_crashes import PRIMITIVES

GONE = "chiara"
POLICY = Policy("named", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
HELD = Policy(
    "named",
    2,
    (Rule("krippendorff_alpha", scope="without", reliable=0.999),),
    n_resamples=1000,
)
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


def test_an_item_that_was_only_drawn_from_ends_no_round_and_the_command_names_none(
    tmp_path, capsys
):
    store, rows = Store(tmp_path / "old"), [(f"i{at:03}", "model", "yes") for at in range(60)]
    draw(store, "march", ratings_of(rows, classifiers=("model",)), 30)
    asked = ["store", "erase", f"{store.root}", f"{tmp_path / 'new'}", "--item", "i007"]
    assert main([*asked, "--by", "Kim", "--why", "request 12"]) == 0
    said = capsys.readouterr().out
    assert "erased: item-" in said
    assert "Judge again" not in said
    assert "Withdrawn" not in said


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
    ask = partial(erase, old, kind="rater", name=GONE, by="her", reason="it")
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


@pytest.mark.parametrize("place", ["store/new", "."])
def test_the_new_store_does_not_lie_in_the_old_one_nor_this_in_it(old, tmp_path, place):
    """The old one is to be deleted."""
    here = shutil.copytree(old, tmp_path / "store")
    before = set(names_in(here))
    with pytest.raises(StoreError, match=r"found one store inside the other, .*; expected a place"):
        erase(here, tmp_path / place, "rater", GONE, "her", "it")
    assert set(names_in(here)) == before


def test_who_is_not_there_or_all_there_is_is_not_erased(old, tmp_path):
    with pytest.raises(StoreError, match="found no rater 'nobody' in any round"):
        erase(old, tmp_path / "new", "rater", "nobody", "her", "it")
    store, alone = Store(tmp_path / "old"), make_ratings(0, raters=(GONE,))
    store.ingest("r1", alone, delivered(tmp_path, "alone", alone))
    with pytest.raises(StoreError, match="round r1, without rater-"):
        erase(store.root, tmp_path / "other", "rater", GONE, "her", "it")
    assert main(["store", "erase", f"{old}", f"{tmp_path / 'b'}", "--rater", GONE]) == 2


def drawn_from(store, name, first, n=60, **how):
    rows = [(f"i{at:03}", "model", "yes") for at in range(first, first + n)]
    return draw(store, name, ratings_of(rows, classifiers=("model",)), 30, **how)


def test_an_item_leaves_the_list_that_a_draw_was_from_and_the_rest_cannot_be_drawn_from(
    old, tmp_path
):
    store = Store(shutil.copytree(old, tmp_path / "old"))
    march, april = (drawn_from(store, name, at) for name, at in (("march", 0), ("april", 100)))
    rest = next(item for item in (f"i{at:03}" for at in range(60)) if item not in march.items)
    erase(store.root, tmp_path / "new", "item", rest, "Kim", "a person is named in it")
    new = Store(tmp_path / "new")
    left, same = draws(new)
    assert (left.items, left.population_items, left.listed) == (march.items, 59, True)
    assert same == april
    assert len(names_in(tmp_path / "new" / "populations")) == 2
    assert all(rest.encode() not in held for _, held in words_in(new.root))
    rows = [
        (f"i{at:03}", "model", "yes") for at in range(60) if f"i{at:03}" not in (rest, *march.items)
    ]
    population = ratings_of(rows, classifiers=("model",))
    with pytest.raises(DrawError, match="found an earlier draw"):
        draw(new, "rest", population, 5)
    with pytest.raises(StoreError, match=r"was erased from .* on request; expected no such item"):
        drawn_from(new, "march", 0, reason="another")


def test_the_digest_of_a_text_leaves_with_its_item(old, tmp_path):
    store = Store(shutil.copytree(old, tmp_path / "old"))
    rows = [(f"i{at:03}", "model", "yes") for at in range(60)]
    texts = {item: f"text of {item}" for item, *_ in rows}
    before = draw(store, "march", ratings_of(rows, classifiers=("model",), text=texts), 30)
    erase(store.root, tmp_path / "new", "item", "i007", "Kim", "a person is named in it")
    new = Store(tmp_path / "new")
    (after,) = draws(new)
    assert after.contents["text"] != before.contents["text"]
    (file,) = (tmp_path / "new" / "contents").iterdir()
    assert (file.stem, len(json.loads(file.read_text()))) == (after.contents["text"], 59)
    left = ratings_of([row for row in rows if row[0] != "i007"], classifiers=("model",), text=texts)
    assert after.compare_contents(left, new) == "Each item has the same text as in the draw"
    erase(store.root, tmp_path / "other", "rater", GONE, "Kim", "it")
    assert draws(Store(tmp_path / "other"))[0].contents == before.contents


def test_an_item_that_was_drawn_and_never_rated_is_erased(old, tmp_path):
    """The draw names its pseudonym, so nobody makes it good by what they erase."""
    store = Store(shutil.copytree(old, tmp_path / "old"))
    item = drawn_from(store, "april", 200).items[0]
    found = erase(store.root, tmp_path / "new", "item", item, "Kim", "a person is named in it")
    assert (found.rounds, found.releases) == ((), ())
    assert found.subject in draws(Store(tmp_path / "new"))[0].items
    assert all(item.encode() not in held for _, held in words_in(tmp_path / "new"))
    store.storage.forget([f"populations/{draws(store)[0].population_digest}.json"])
    with pytest.raises(StoreError, match="found no list of what draw april was from"):
        erase(store.root, tmp_path / "other", "item", item, "Kim", "it")


def test_drawn_items_that_are_called_as_a_rater_or_begin_as_an_item_stay(tmp_path):
    store = Store(tmp_path / "old")
    ratings = make_ratings(2, raters=("7", "8", "9"))
    store.ingest("r1", ratings, delivered(tmp_path, "of", ratings))
    names = [str(at) for at in range(60)] + ["i007-2", "i007-3"]
    said = [(each, "9-model", "yes") for each in names]
    population = ratings_of(said, classifiers=("9-model",))
    before = draw(store, "march", population, 62)
    for what, name in (("rater", "7"), ("rater", "9"), ("item", "i007")):
        erase(store.root, tmp_path / name, what, name, "Kim", "it")
        assert draws(Store(tmp_path / name)) == (before,)


def test_equal_ratings_under_two_names_are_both_without_the_rater(tmp_path):
    store, ratings = Store(tmp_path / "old"), make_ratings(2)
    for name in ("r1", "r2"):
        store.ingest(name, ratings, delivered(tmp_path, name, ratings))
        release_round(store, name, POLICY, CONTRACT, project="demo")
    found = erase(store.root, tmp_path / "new", "rater", GONE, "Kim", "it")
    assert (found.rounds, len(found.releases)) == (("r1", "r2"), 2)
    assert not Store(tmp_path / "new").in_force()
    assert all(GONE.encode() not in held for _, held in words_in(tmp_path / "new"))


def test_a_delivery_whose_keeping_was_stopped_is_not_carried_over(old, tmp_path):
    store = Store(shutil.copytree(old, tmp_path / "old"))
    store.storage.keep(f"originals/{'0' * 64}/late.csv", GONE.encode())
    erase(store.root, tmp_path / "new", "rater", GONE, "Kim", "it")
    assert all(GONE.encode() not in held for _, held in words_in(tmp_path / "new"))


@pytest.mark.parametrize("said", [{"by": GONE}, {"reason": f"{GONE.title()} left"}])
def test_who_asks_and_why_name_nobody_who_is_erased(old, tmp_path, said):
    with pytest.raises(StoreError, match="found the name of the rater in who asks, or why"):
        erase(old, tmp_path / "new", "rater", GONE, **{"by": "Kim", "reason": "it", **said})
    assert Store(tmp_path / "new").history() == ()


@pytest.mark.parametrize(
    ("by", "words"), [("Dr O.+K", "found the name of the rater"), ("Oakk", "found no rater")]
)
def test_a_name_is_looked_for_as_it_is_written(old, tmp_path, by, words):
    with pytest.raises(StoreError, match=words):
        erase(old, tmp_path / "new", "rater", "o.+k", by, "it")


def test_why_something_was_waived_names_nobody_who_was_erased(tmp_path):
    store, ratings = Store(tmp_path / "old"), make_ratings(40)
    store.ingest("r1", ratings, delivered(tmp_path, "r1", ratings))
    why = f"{GONE.title()} read an older guideline"
    until = datetime.now(UTC).date() + timedelta(30)
    waiver = Waiver(
        project="demo",
        round="r1",
        ratings_digest=ratings.digest,
        measure="krippendorff_alpha",
        scope="round",
        who="Kim",
        why=why,
        until=until,
    )
    judge_round(store, "r1", POLICY, CONTRACT, waivers=[waiver])
    erase(store.root, tmp_path / "new", "rater", GONE, "Kim", "it")
    (said,) = [each for each in Store(tmp_path / "new").history() if each["event"] == "decided"]
    assert said["waivers"][0]["why"].startswith("left out, since it may name rater-")


def test_a_classifier_leaves_the_log_and_what_its_export_told_too(tmp_path):
    store = Store(tmp_path / "old")
    ratings = make_ratings(2, classifiers=(GONE,), raters=OTHERS)
    told = Origin("inspect", ("raters",), classifiers=({"name": GONE, "model": "m"},))
    ratings = replace(ratings, origin=told)
    store.ingest("r1", ratings, delivered(tmp_path, "r1", ratings))
    judge_round(store, "r1", POLICY, CONTRACT, auditor=ModelsAuditor())
    assert any(each.get("classifiers") for each in store.history())
    erase(store.root, tmp_path / "new", "rater", GONE, "Kim", "it")
    assert all(GONE.encode() not in held for _, held in words_in(tmp_path / "new"))
    assert Store(tmp_path / "new").ratings("r1").origin.classifiers == ()


def test_erasures_follow_each_other_whatever_the_names(tmp_path):
    """The log is long enough for a segment."""
    short, odd = "7", 'Łucja \\d+ ("王") o\'brien'
    store = Store(tmp_path / "old")
    for at in range(4):
        each = make_ratings(at % 3 if at else 2, raters=(short, odd, *OTHERS))
        store.ingest(f"n{at}", each, delivered(tmp_path, f"n{at}", each))
        if at < 3:
            release_round(store, f"n{at}", POLICY, CONTRACT, project="demo")
            judge_round(store, f"n{at}", HELD, CONTRACT)
    for at in range(24):
        record(store, "withdrawn", "n9", releases=[f"n9/{at}"])
    assert len(store.history()) > 32
    first = erase(store.root, tmp_path / "one", "rater", short, "Kim", "request")
    second = erase(tmp_path / "one", tmp_path / "two", "rater", odd, "Kim", "request")
    third = erase(tmp_path / "two", tmp_path / "three", "item", "i003", "Kim", "request")
    new = Store(tmp_path / "three")
    assert not new.in_force()
    assert [each["subject"] for each in new.history() if each["event"] == "erased"] == [
        first.subject,
        second.subject,
        third.subject,
    ]
    written = [form for each in (odd, "i003") for form in {each, json.dumps(each)[1:-1]}]
    for _, held in words_in(new.root):
        assert not any(each.encode() in held for each in written)
    for name in (short, odd):
        back = make_ratings(1, prefix="z", raters=(name, OTHERS[0], "zoe"))
        with pytest.raises(StoreError, match="on request; expected no such rater"):
            new.ingest("r3", back, delivered(tmp_path, "again", back))
    assert new.ratings("n1").raters == OTHERS


def test_a_table_with_the_rater_is_not_judged_as_if_it_could_come(new):
    with pytest.raises(StoreError, match=r"round r1: found rater-\w+, which was erased"):
        judge_delivered(Store(new), "r1", make_ratings(2), POLICY, CONTRACT)


def erase_her(old, new):
    return erase(old, new, "rater", GONE, "me", "request 12")


def test_a_place_with_other_files_is_left_as_it_was(old, tmp_path):
    new = tmp_path / "papers"
    for name in ("letters/may.txt", "rounds/none.parquet", "todo.md"):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text("mine")
    before = names_in(new)
    with pytest.raises(StoreError) as refused:
        erase_her(old, new)
    assert str(refused.value) == (
        f"{new}: found ['letters', 'todo.md']; expected an empty place, or a store that an "
        "earlier attempt began. Name another place."
    )
    assert names_in(new) == before


def test_what_a_disk_puts_into_a_new_volume_is_no_store(old, tmp_path):
    new = tmp_path / "volume"
    for name in (".DS_Store", "lost+found/#12"):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text("")
    assert erase_her(old, new) == erase_her(old, tmp_path / "other")
