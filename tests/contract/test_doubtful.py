"""Which values Great Expectations is asked of: those that Arrow cannot pass for sure."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import asking, doubtful
from agreement_pipeline.ratings import TEXT
from agreement_pipeline.yaml_files import Place
from tests.contract.tables import contract_of, entry

EMAIL = r"[^\s@]@[^\s@]+\.[^\s@]"
NOT_MATCH = "expect_column_values_to_not_match_regex"
PIECES = (
    *"ab1@. _-^$|()?*+{}",
    *("[a-b]", "[^@]", r"[^\s@]", r"[\d.]", "[a-", "[[:alpha:]]"),
    *(r"\s", r"\w", r"\D", r"\.", r"\b", r"\1", r"\_", r"\Z", r"\x61", "(?:", "(?i)", "(?=a)"),
    *("{2}", "{1,}", "{,2}", "{2}+", "*+", "??", "&&", "--"),
)


def suite_of(kind, **kwargs):
    rows = contract_of(entry("asked", kind, {"column": "item", **kwargs})).rows
    return asking.suite_of(rows, Place("contract"))


def random_texts(random, letters, n):
    return ["".join(random.choice(letters, random.integers(0, 7))) for _ in range(n)]


def test_no_value_that_fails_is_passed_over():
    random = np.random.default_rng(5)
    letters = [*"aB1@. _-^[:?é", "\n", "\t", "\x0b", "\u2003", "\u212a", "\u017f", "\u0663"]
    texts = pd.Index(random_texts(random, letters, 300), dtype=TEXT)
    plain = np.array([bool(re.fullmatch(doubtful.PLAIN, text)) for text in texts])
    shortened = 0
    for _ in range(4000):
        pattern = "".join(random.choice(PIECES, random.integers(1, 7)))
        with warnings.catch_warnings(action="ignore"):
            try:
                search = re.compile(pattern).search
            except re.error:
                assert not doubtful._is_common(pattern), pattern
                continue
            failing = np.array([bool(search(text)) for text in texts])
        asked = np.asarray(doubtful._may_match(pattern, texts))
        assert not (failing & ~asked).any(), pattern
        shortened += asked.ndim == 1
        alone = np.broadcast_to(doubtful._may_match(pattern, texts[plain]), plain.sum())
        assert alone.tolist() == np.broadcast_to(asked, len(texts))[plain].tolist(), pattern
    assert shortened > 500


def test_plain_values_that_do_not_match_are_not_asked():
    names = pd.Index(["i1", "ana@example.org", "a b", "é", "x@y"], dtype=TEXT)
    asked = doubtful.doubtful(suite_of(NOT_MATCH, regex=EMAIL), names)
    assert names[asked].tolist() == ["ana@example.org", "é"]


@pytest.mark.parametrize("regex", ["(?i)a", r"\bana\b", "a++", "[[:alpha:]]", "("])
def test_all_values_are_asked_if_arrow_may_read_the_expression_in_another_way(regex):
    names = pd.Index(["i1", "i2"], dtype=TEXT)
    assert doubtful.doubtful(suite_of(NOT_MATCH, regex=regex), names).all()


def test_no_value_is_missing():
    names = pd.Index(["i1", "i2"], dtype=TEXT)
    assert not doubtful.doubtful(suite_of("expect_column_values_to_not_be_null"), names).any()
    assert doubtful.doubtful(suite_of("expect_column_values_to_be_null"), names).all()
