"""The codes of texts are those of a loop over them, however they lie in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement_pipeline.ratings import text_codes
from agreement_pipeline.ratings.coding import coded
from agreement_pipeline.ratings.text_codes import in_codes
from agreement_pipeline.ratings.texts import TEXT

WIDTHS = (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40)


def by_loop(texts):
    """The codes of texts by the order in which each is first met, and these texts."""
    known = {}
    codes = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
    return codes, list(known)


def assert_coded(column, texts):
    codes, distinct = in_codes(column)
    assert (codes.tolist(), distinct.to_pylist()) == by_loop(texts)


@st.composite
def texts_of_one_width(draw):
    """Texts that differ in a few bytes, at any place of a common width."""
    width = draw(st.sampled_from(WIDTHS))
    letters = st.lists(st.sampled_from("ab\0"), min_size=width, max_size=width).map("".join)
    few = draw(st.lists(letters, min_size=1, max_size=5))
    return draw(st.lists(st.sampled_from(few), max_size=40))


@given(texts_of_one_width(), st.integers(0, 9), st.integers(1, 9), st.booleans())
def test_texts_of_one_width(texts, skipped, size, large):
    whole = pa.array(texts, pa.large_string() if large else pa.string())
    chunks = [whole.slice(at, size) for at in range(skipped, len(texts), size)]
    assert_coded(pa.chunked_array([whole[:0], *chunks]), texts[skipped:])


@given(st.lists(st.none() | st.text("aé\0", max_size=20), max_size=30))
def test_texts_of_any_width(texts):
    assert_coded(pa.chunked_array([pa.array(texts, pa.large_string())]), texts)


@pytest.mark.parametrize("odd", [None, "", "item-0000", "item-000000001"])
def test_one_odd_text_far_from_the_first(odd):
    texts = [f"item-{number % 7:08d}" for number in range(3000)]
    texts[2500] = odd
    assert_coded(pa.chunked_array([texts[:1000], texts[1000:]]), texts)


def test_many_texts_in_more_than_one_block(monkeypatch):
    monkeypatch.setattr(text_codes, "BLOCK", 100)
    random = np.random.default_rng(1)
    texts = [f"{number:016x}" for number in random.integers(0, 2**63, 200).repeat(5)]
    texts = [texts[place] for place in random.permutation(len(texts))]
    assert_coded(pa.chunked_array([texts]), texts)


def test_texts_whose_numbers_are_equal_are_told_apart(monkeypatch):
    monkeypatch.setattr(text_codes, "MULTIPLIER", np.uint64(1))
    one, other = "a" * 8 + "b" * 8, "b" * 8 + "a" * 8
    assert_coded(pa.chunked_array([[one, other, one], [other]]), [one, other, one, other])


@pytest.mark.parametrize("written", ["{:08d}", "{:016x}", "{:032x}", "{:040x}", "item {}"])
def test_codes_follow_the_order_of_texts(written):
    random = np.random.default_rng(2)
    texts = [written.format(number) for number in random.integers(0, 500, 4000)]
    found = coded(pd.Series(texts, dtype=TEXT))
    assert found.texts.tolist() == sorted(set(texts))
    assert found.texts[found.codes].tolist() == texts


@pytest.mark.parametrize(("distinct", "block"), [(97, 64), (97, 7), (5, 7), (5, 1)])
def test_very_many_texts_come_in_parts(monkeypatch, distinct, block):
    """A short block has no number of some parts, and Arrow drops what is empty."""
    monkeypatch.setattr(text_codes, "MANY", 0)
    monkeypatch.setattr(text_codes, "BLOCK", block)
    texts = [f"item-{n % distinct:011}" for n in range(500)]
    codes, known = in_codes(pa.chunked_array([texts]))
    assert [known.to_pylist()[code] for code in codes] == texts
    assert sorted(known.to_pylist()) == sorted(set(texts))
