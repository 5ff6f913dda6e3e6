"""Columns as codes, and their order."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement_pipeline.ratings.coding import coded, numbers_in
from agreement_pipeline.ratings.row_order import order_of
from agreement_pipeline.ratings.text_order import order_of_texts
from agreement_pipeline.ratings.texts import TEXT


@pytest.mark.parametrize("spread", [1, 3, 1000])
def test_keys_are_put_in_order_whether_they_lie_dense_or_not(spread):
    keys = np.random.default_rng(3).permutation(500) * spread
    assert order_of(keys).tolist() == sorted(range(500), key=keys.__getitem__)


@pytest.mark.parametrize("keys", [[4, 0, 4, 1], [90_000, 0, 90_000]])
def test_keys_that_are_there_twice_have_no_order(keys):
    assert order_of(np.array(keys)) is None


def test_no_keys_are_in_order():
    assert order_of(np.empty(0, dtype=np.int64)).tolist() == []


def test_codes_that_are_sorted_already_are_kept_with_their_texts():
    column = pd.Series(["b", "a", None, "b"], dtype=TEXT).astype("category")
    found = coded(column)
    assert found.texts is column.cat.categories
    assert found.codes.tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize("names", [["b", "a", "c"], ["a", "b", "c"]])
def test_categories_that_no_row_holds_have_no_code(names):
    column = pd.Series(pd.Categorical(["c", None, "b"], categories=names))
    found = coded(column)
    assert found.texts.tolist() == ["b", "c"]
    assert found.codes.tolist() == [1, -1, 0]


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@given(st.text("aé", max_size=9), st.lists(TEXTS, unique=True, max_size=30), st.integers(0, 3))
def test_texts_are_put_in_the_order_of_their_bytes(start, ends, skipped):
    texts = [start + end for end in ends]
    assert [
        texts[skipped:][place]
        for place in order_of_texts(pa.array(texts, pa.large_string()).slice(skipped))
    ] == sorted(texts[skipped:], key=str.encode)


@pytest.mark.parametrize("chunks", [[["a", "b"], ["b", "c"], ["d"]], [["d"], ["b", "a"], ["c"]]])
def test_the_texts_of_a_column_in_chunks_are_in_one(chunks):
    found = coded(pd.Series(pd.array(pa.chunked_array(chunks, pa.large_string()), dtype=TEXT)))
    whole = pa.chunked_array(pa.array(found.texts))
    assert whole.num_chunks == 1
    assert whole.to_pylist() == ["a", "b", "c", "d"]


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 makes a Python object of each category")
def test_no_python_object_is_made_of_each_text():
    column = pd.Series([f"item {number}" for number in range(20_000)], dtype=TEXT)[::-1]
    tracemalloc.start()
    found = coded(column).categorical()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0] == "item 19999"
    assert kept < 20 * 20_000


def test_a_text_is_the_nearest_number():
    random = np.random.default_rng(7)
    numbers = random.uniform(-1, 1, 3_000) * 10.0 ** random.integers(-8, 8, 3_000)
    for kind in (object, TEXT):
        texts = pd.Series([*map(repr, numbers.tolist()), " 1e2 ", "one", None], dtype=kind)
        assert numbers_in(texts)[:-2].tolist() == [*numbers.tolist(), 100.0]
        assert np.isnan(numbers_in(texts)[-2:]).all()
    mixed = pd.Series([1, True, None, "one", *map(repr, numbers.tolist())], dtype=object)
    assert numbers_in(mixed)[:2].tolist() == [1.0, 1.0]
    assert numbers_in(mixed)[4:].tolist() == numbers.tolist()
