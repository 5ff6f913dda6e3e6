"""A draw is in the log before labels exist, and nobody chooses what is drawn."""

import hashlib
import json
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import count

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import DrawError, RatingsError, StoreError
from agreement_pipeline.evidence import event_table
from agreement_pipeline.models import Draw, correct, draw, drawn_before, draws
from agreement_pipeline.models.draw import refuse_moved_contents
from agreement_pipeline.store import Store
from tests.events import record, sealed
from tests.models.tables import ratings_of, simulated

drawing = import_module(Draw.__module__)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def rows():
    return simulated(np.random.default_rng(1))[0]


@pytest.fixture
def population(rows):
    return ratings_of(rows)


def labels_of(items, rater="ana", label="yes"):
    return ratings_of([(item, rater, label) for item in items], classifiers=())


def test_a_draw_is_an_entry_of_the_log(store, population):
    found = draw(store, "march", population, 50)
    (entry,) = store.history("march")
    assert entry["event"] == "drawn"
    assert entry["items"] == [*found.items]
    assert (entry["population_items"], entry["strata"]) == (400, {"": 50})
    assert len({*found.items}) == 50
    assert draws(store) == (found,)
    assert event_table([entry])["what"].tolist() == ["50 of 400 items"]
    assert Store(store.root).rounds() == ()


def test_anybody_can_draw_again_by_hand(store, rows, population):
    record(store, "released", "r")
    head = store.log.head
    found = draw(store, "march", population, 50)
    items = sorted(item for item, *_ in rows)
    digest = hashlib.sha256(json.dumps({"": items}).encode()).hexdigest()
    seed = hashlib.sha256(f"{head}\n{digest}".encode()).hexdigest()
    order = sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{item}".encode()).digest())
    assert (found.population_digest, found.seed) == (digest, seed)
    assert [*found.items] == sorted(order[:50])


def test_a_stratified_draw_has_neyman_shares(store, rows, population):
    found = draw(store, "march", population, 60, design="stratified", right={"yes": 0.5})
    label = {item: said for item, _, said in rows}
    sizes = Counter(label.values())
    weights = {"no": sizes["no"] * 0.3, "yes": sizes["yes"] * 0.5}
    drawn = Counter(label[item] for item in found.items)
    assert drawn == found.strata
    assert sum(drawn.values()) == 60
    assert drawn["yes"] == pytest.approx(60 * weights["yes"] / sum(weights.values()), abs=1)


def test_a_rare_label_has_two_items_or_all(store, rows):
    others = [(f"z{place}", "model", label) for place, label in enumerate("aab")]
    population = ratings_of([*rows, *others], Scale(("no", "yes", "a", "b")))
    found = draw(store, "march", population, 20, design="stratified")
    assert (found.strata["a"], found.strata["b"]) == (2, 1)


def test_each_item_is_drawn_equally_often(tmp_path, monkeypatch):
    heads = count()
    monkeypatch.setattr(drawing, "_draw_seed", lambda head, digest: f"{next(heads)}{digest}")
    population = ratings_of([(f"i{place}", "model", "no") for place in range(10)])
    times = Counter()
    for place in range(100):
        times.update(draw(Store(tmp_path / f"{place}"), "march", population, 3).items)
    assert sum(times.values()) == 300
    assert min(times.values()) > 12
    assert max(times.values()) < 48


@pytest.mark.parametrize("n", [1, 401, 10_001])
def test_too_few_and_too_many_items_are_refused(store, population, n):
    with pytest.raises(DrawError, match=r"expected from 2 to 400 of a population of 400"):
        draw(store, "march", population, n)
    assert store.history() == ()


def test_names_are_those_of_rounds(store, population):
    with pytest.raises(StoreError, match="found a name that is not allowed"):
        draw(store, "../march", population, 50)


def test_a_population_that_people_labelled_is_refused(store):
    population, panel = simulated(np.random.default_rng(1))
    with pytest.raises(DrawError, match=r"found labels of \['r0', 'r1', 'r2'\]"):
        draw(store, "march", ratings_of(population + panel), 50)


def test_expected_shares_are_for_labels_in_strata(store, population):
    with pytest.raises(DrawError, match="found shares of labels"):
        draw(store, "march", population, 50, right={"yes": 0.8})
    with pytest.raises(DrawError, match="found shares of label 'maybe'"):
        draw(store, "march", population, 50, design="stratified", right={"maybe": 0.8})


def test_another_design_is_refused(store, population):
    with pytest.raises(DrawError, match="expected one of simple, stratified, clustered"):
        draw(store, "march", population, 50, design="systematic")


def test_whole_clusters_are_drawn_and_labels_of_others_are_refused(store, rows):
    cluster = {item: f"d{int(item[1:]) // 5:02}" for item, *_ in rows}
    population = ratings_of(rows, cluster=cluster)
    found = draw(store, "march", population, 30, design="clustered")
    drawn = {cluster[item] for item in found.items}
    assert (len(drawn), len(found.items)) == (30, 150)
    assert {*found.items} == {item for item, of in cluster.items() if of in drawn}
    assert found.in_words == "150 of 400 items of march, clustered (30 clusters)"
    found.refuse_others(labels_of(found.items), population)
    with pytest.raises(DrawError, match="1 item without a label"):
        found.refuse_others(labels_of(found.items[1:]), population)
    panel = [(item, "ana", label) for item, _, label in rows if item in {*found.items}]
    numbers = correct(ratings_of(panel, classifiers=()), population, design=found.design)
    assert {each.n_labels for each in numbers} == {150}
    renamed = ratings_of(rows, cluster={item: name + "x" for item, name in cluster.items()})
    found.refuse_others(labels_of(found.items), renamed)
    others = ratings_of(rows, cluster=dict.fromkeys(cluster, "one") | {rows[0][0]: "two"})
    with pytest.raises(DrawError, match="found a population with other clusters or items"):
        found.refuse_others(labels_of(found.items), others)


def test_clusters_that_are_drawn_are_known_and_enough(store, rows, population):
    with pytest.raises(DrawError, match="found no clusters"):
        draw(store, "march", population, 30, design="clustered")
    cluster = {item: f"d{int(item[1:]) // 5:02}" for item, *_ in rows}
    with pytest.raises(DrawError, match="found 81 clusters to draw; expected from 2 to 80"):
        draw(store, "march", ratings_of(rows, cluster=cluster), 81, design="clustered")


# Whoever wants another draw


def test_a_second_draw_needs_a_reason_and_shows_the_first(store, population):
    first = draw(store, "march", population, 50)
    for reason in ("", "  "):
        with pytest.raises(DrawError, match="found an earlier draw of 50 items, of march") as error:
            draw(store, "march", population, 50, reason=reason)
        assert error.value.code == "draw_open"
    second = draw(store, "march", population, 50, reason="the texts were cut off")
    assert second.items != first.items
    assert (second.earlier, second.reasons) == ((first.seed,), ("the texts were cut off",))
    assert event_table(store.history())["why"].tolist() == ["", "the texts were cut off"]


def test_a_third_draw_shows_both_reasons(store, population):
    draw(store, "march", population, 50)
    draw(store, "march", population, 50, reason="the texts were cut off")
    third = draw(store, "march", population, 50, reason="the guideline changed")
    assert third.reasons == ("the texts were cut off", "the guideline changed")
    assert third.in_words.endswith(
        "; after 2 earlier draws: the texts were cut off; the guideline changed"
    )
    assert draws(store)[-1] == third


@pytest.mark.parametrize(
    "changed",
    [
        lambda rows: rows[:-1],
        lambda rows: [*rows, ("new", "model", "no")],
        lambda rows: [(item, rater, "no") for item, rater, _ in rows],
        lambda rows: rows[:250],
        lambda rows: rows[::-1],
    ],
    ids=["an item fewer", "an item more", "other labels", "a part", "another order"],
)
def test_neither_another_name_nor_a_few_other_items_make_another_population(store, rows, changed):
    draw(store, "march", ratings_of(rows), 50)
    with pytest.raises(DrawError) as error:
        draw(store, "april", ratings_of(changed(rows)), 50)
    assert error.value.code == "draw_open"


@pytest.mark.parametrize("design", ["simple", "stratified"])
def test_the_rest_of_a_population_is_no_other_population(store, rows, design):
    first = draw(store, "march", ratings_of(rows), 50, design=design)
    rest = ratings_of([each for each in rows if each[0] not in first.items])
    with pytest.raises(DrawError) as error:
        draw(store, "the-rest", rest, 50)
    assert error.value.code == "draw_open"
    second = draw(store, "the-rest", rest, 50, reason="looks bad")
    assert (second.earlier, second.reasons) == ((first.seed,), ("looks bad",))


@pytest.mark.parametrize(("n_of_rest", "earlier"), [(40, 0), (41, 1)])
def test_a_tenth_of_another_population_makes_no_second_draw(store, rows, n_of_rest, earlier):
    first = draw(store, "march", ratings_of(rows), 50)
    rest = [each for each in rows if each[0] not in first.items][:n_of_rest]
    fresh = [(f"fresh-{n:03}", "model", "yes") for n in range(400 - n_of_rest)]
    found = draw(store, "april", ratings_of(rest + fresh), 50, reason="some came again")
    assert len(found.earlier) == earlier


def test_a_list_of_a_population_that_is_gone_or_edited_is_refused(store, rows, population):
    draw(store, "march", population, 50)
    other = ratings_of([(f"other-{item}", rater, label) for item, rater, label in rows])
    (path,) = (store.root / "populations").iterdir()
    path.write_bytes(path.read_bytes().replace(b"i0001", b"x0001"))
    for _ in range(2):
        with pytest.raises(DrawError) as error:
            draw(store, "april", other, 50)
        assert error.value.code == "draw_edited"
        path.unlink(missing_ok=True)


def test_of_a_draw_of_an_older_version_only_the_drawn_items_are_known(store, rows, population):
    first = draw(store, "march", population, 50)
    sealed(store, lambda entry: entry.pop("listed"))
    (older,) = draws(store)
    assert older == replace(first, listed=False)
    assert Draw.from_mapping(older.to_mapping()) == older
    assert "listed" not in older.to_mapping()
    rest = ratings_of([each for each in rows if each[0] not in first.items])
    assert draw(store, "the-rest", rest, 50).earlier == ()
    with pytest.raises(DrawError, match="found an earlier draw"):
        draw(store, "march", population, 50)


def test_the_reason_of_a_first_draw_is_none(store, population):
    assert draw(store, "march", population, 50, reason="to be sure").reasons == ()


# Whoever wants other items


@pytest.mark.parametrize(
    ("n_missing", "n_added", "code"),
    [(1, 0, "draw_missing"), (0, 1, "draw_added"), (1, 1, "draw_replaced")],
)
def test_missing_added_and_replaced_items_are_refused(
    store, rows, population, n_missing, n_added, code
):
    found = draw(store, "march", population, 50)
    others = sorted({item for item, *_ in rows} - {*found.items})
    labels = labels_of([*found.items[n_missing:], *others[:n_added]])
    with pytest.raises(DrawError) as error:
        found.refuse_others(labels, population)
    assert error.value.code == code
    assert f"'{found.items[0]}'" in str(error.value) or not n_missing
    assert f"'{others[0]}'" in str(error.value) or not n_added
    assert ("Label the missing" in str(error.value)) == bool(n_missing)
    assert ("Leave the others out" in str(error.value)) == bool(n_added)


def test_the_contents_of_a_population_are_digests_by_item_that_anybody_can_compute(store, rows):
    texts = {item: f"Is {item} rude?\n" for item, *_ in rows}
    found = draw(store, "march", ratings_of(rows, text=texts), 50)
    digest_by_item = {
        item: hashlib.sha256(text.strip().encode()).hexdigest()[:32] for item, text in texts.items()
    }
    content = json.dumps(digest_by_item, sort_keys=True).encode()
    assert found.contents == {"text": hashlib.sha256(content).hexdigest()}
    assert (store.root / f"contents/{found.contents['text']}.json").read_bytes() == content
    (entry,) = store.history("march")
    assert entry["contents"] == found.contents
    assert draws(store) == (found,)


def test_a_draw_without_texts_is_written_as_by_older_versions(store, population):
    found = draw(store, "march", population, 50)
    (entry,) = store.history("march")
    assert "contents" not in entry
    assert "contents" not in found.to_mapping()
    assert not (store.root / "contents").exists()


def test_items_that_only_another_classifier_labelled_have_no_place_in_a_draw(store, rows):
    texts = {item: f"Is {item} rude?" for item, *_ in rows} | {"i9999": "Is i9999 rude?"}
    found = draw(store, "march", ratings_of(rows, text=texts), 50)
    more = [*rows, ("i0000", "other", "no"), ("i9999", "other", "no")]
    both = ratings_of(more, classifiers=("model", "other"), text=texts)
    same = "Each item has the same text as in the draw"
    assert found.compare_contents(both, store, "model") == same
    moved = ratings_of(more, classifiers=("model", "other"), text=texts | {"i0007": "Is it?"})
    with pytest.raises(DrawError, match=r"another text of 1 of 400 items, \['i0007'\],"):
        found.compare_contents(moved, store, "model")


def test_of_an_item_that_was_drawn_twice_the_text_of_the_last_draw_counts(store, rows):
    """The texts were cut off at first, so people labelled whole ones afterwards."""
    cut = {item: f"Is {item}" for item, *_ in rows}
    whole = {item: f"Is {item} rude?" for item, *_ in rows}
    first = draw(store, "march", ratings_of(rows, text=cut), 50)
    second = draw(store, "again", ratings_of(rows, text=whole), 50, reason="the texts were cut off")

    def refuse_moved(names, texts):
        labels = [(name, "ana", "yes") for name in names]
        refuse_moved_contents(store, ratings_of(labels, classifiers=(), text=texts), "round r1")

    refuse_moved(second.items, whole)
    twice, once = min({*first.items} & {*second.items}), min({*first.items} - {*second.items})
    with pytest.raises(DrawError, match=rf"'{twice}'\], than they had when they .* from again;"):
        refuse_moved(second.items, whole | {twice: cut[twice]})
    refuse_moved([*second.items, once], whole | {once: cut[once]})
    with pytest.raises(DrawError, match=rf"'{once}'\], than they had when they .* from march;"):
        refuse_moved([*second.items, once], whole)


def test_tasks_are_not_written_again_with_other_texts(store, rows):
    texts = {item: f"Is {item} rude?" for item, *_ in rows}
    population = ratings_of(rows, text=texts)
    found = draw(store, "march", population, 50)
    assert drawn_before(store, "march", population, 50, "simple") == found
    moved = ratings_of(rows, text=texts | {"i0003": "Is i0004 rude?"})
    with pytest.raises(DrawError, match=r"another text of 1 of 400 items, \['i0003'\],") as error:
        drawn_before(store, "march", moved, 50, "simple")
    assert error.value.code == "draw_other_contents"
    file = store.root / f"contents/{found.contents['text']}.json"
    file.chmod(0o600)
    file.write_bytes(b"{}")
    with pytest.raises(DrawError, match="found no list of the contents of march") as error:
        drawn_before(store, "march", moved, 50, "simple")
    assert error.value.code == "draw_edited"


def test_the_order_of_a_population_changes_nothing(tmp_path, rows):
    turned = np.random.default_rng(2).permutation(len(rows))
    for design in ("simple", "stratified"):
        found = [
            draw(Store(tmp_path / f"{design}{at}"), "march", ratings_of(some), 50, design=design)
            for at, some in enumerate((rows, [rows[place] for place in turned]))
        ]
        assert found[0] == found[1]


def test_labels_of_a_model_and_suggestions_are_none(store, rows, population):
    found = draw(store, "march", population, 50)
    frame = pd.DataFrame({"item": found.items, "rater": "ana", "label": "yes"})
    frame["assisted"] = frame.index < 3
    with pytest.raises(DrawError, match="found 3 items without a label"):
        found.refuse_others(Ratings.from_frame(frame, population.scale), population)


def test_another_population_is_refused(store, rows, population):
    found = draw(store, "march", population, 50)
    with pytest.raises(DrawError) as error:
        found.refuse_others(labels_of(found.items), ratings_of(rows[:-1]))
    assert error.value.code == "draw_other_population"


def test_a_simple_draw_is_for_any_classifier_and_a_stratified_one_is_not(store, rows, population):
    other = ratings_of([(item, rater, "no") for item, rater, _ in rows])
    simple = draw(store, "march", population, 50)
    simple.refuse_others(labels_of(simple.items), other)
    strata = draw(store, "march", population, 50, design="stratified", reason="a rare label")
    with pytest.raises(DrawError, match="with other labels or items"):
        strata.refuse_others(labels_of(strata.items), other)


def test_items_that_were_chosen_by_hand_do_not_follow_from_the_seed(store, rows, population):
    found = draw(store, "march", population, 50)
    others = sorted({item for item, *_ in rows} - {*found.items})
    chosen = replace(found, items=tuple(sorted([*found.items[1:], others[0]])))
    with pytest.raises(DrawError) as error:
        chosen.refuse_others(labels_of(chosen.items), population)
    assert error.value.code == "draw_not_derived"


def test_a_seed_that_was_chosen_does_not_follow_from_the_log(store, population):
    draw(store, "march", population, 50)
    sealed(store, lambda entry: entry.update(seed="0" * 64))
    with pytest.raises(DrawError) as error:
        draws(Store(store.root))
    assert error.value.code == "draw_not_derived"


def test_a_draw_is_read_from_a_segment(store, population):
    found = draw(store, "march", population, 50)
    for place in range(40):
        record(store, "released", f"r{place}")
    again = draw(store, "march", population, 50, reason="the guideline changed")
    assert draws(Store(store.root)) == (found, again)
    assert isinstance(draws(store)[0], Draw)


def test_the_classifier_of_several_is_named(store, rows):
    both = ratings_of(
        [*rows, *((i, "other", s) for i, _, s in rows)], classifiers=("model", "other")
    )
    with pytest.raises(RatingsError, match="Name the classifier"):
        draw(store, "march", both, 50)
    assert draw(store, "march", both, 50, classifier="other").classifier == "other"
