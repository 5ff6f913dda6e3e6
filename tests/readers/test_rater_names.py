"""One rater under several names, and several raters whose names print alike."""

import re
import unicodedata

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import SAME_LABEL_TWICE, Origin
from agreement_pipeline.readers import Columns, Rules, read

JOSE = [unicodedata.normalize(form, "Jos\u00e9") for form in ("NFC", "NFD")]
PAIRS = {
    "capitals": ("Ana", "ana"),
    "all capitals": ("ANA", "ana"),
    "a blank before": (" ana", "ana"),
    "a blank after": ("ana", "ana "),
    "two blanks inside": ("ana maria", "ana  maria"),
    "a tab": ("ana maria", "ana\tmaria"),
    "a no-break space": ("ana maria", "ana\u00a0maria"),
    "normal forms": (JOSE[0], JOSE[1]),
    "a Cyrillic letter": ("ana", "\u0430na"),
    "full width": ("ana", "\uff41na"),
    "an invisible character": ("ana", "an\u200ba"),
    "a mark of order": ("ana", "\ufeffana"),
    "a ligature": ("steffi", "ste\ufb00i"),
    "capitals of an address": ("Ana@x.org", "ana@x.org"),
    "a sharp s": ("Gro\u00df", "GROSS"),
    "a Greek letter": ("bo", "b\u03bf"),
    "a Turkish i": ("Yildiz", "Y\u0131ld\u0131z"),
    "capitals of a code": ("A17", "a17"),
    "a soft hyphen": ("ana-maria", "ana-ma\u00adria"),
    "a blank of a thousand": ("rater 1", "rater\u20091"),
}
"""How one name comes to be written in two ways."""


def frame_of(names, n_items=6):
    rows = [
        (f"i{item}", name, "yn"[item % 2]) for item in range(n_items) for name in (*names, "ben")
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def alike(ratings):
    """What the contract's fact says of the names."""
    from agreement_pipeline.integrity.facts import raters_that_print_alike
    from agreement_pipeline.integrity.panel import Panel

    return raters_that_print_alike(Panel(ratings)).value


@pytest.mark.parametrize("names", PAIRS.values(), ids=PAIRS)
def test_two_spellings_are_two_raters_until_settings_say_otherwise(names):
    frame = frame_of(names)
    plain = read(frame)
    assert (len(plain.raters), alike(plain)) == (3, 2)
    one = read(frame, rules=Rules(same_rater=(names,)))
    assert {*one.raters} == {names[0], "ben"}
    assert (alike(one), one.origin.left_out) == (0, {SAME_LABEL_TWICE: 6})
    assert one.digest == read(frame_of(names[:1])).digest
    two = read(frame, rules=Rules(different_raters=(names,)))
    assert ({*two.raters}, alike(two)) == ({*names, "ben"}, 0)
    assert two.digest == plain.digest


def test_names_that_nobody_can_type_apart_are_meant_together():
    """An editor may write a name in another normal form than the table has."""
    rows = [("i1", JOSE[0], "y"), ("i2", JOSE[1], "n"), ("i3", "JOSE", "y"), ("i1", "ben", "y")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    found = read(frame, rules=Rules(same_rater=((JOSE[0], "JOSE"),)))
    assert found.n_by_rater == {JOSE[0]: 3, "ben": 1}


def test_other_labels_of_one_rater_need_a_choice():
    rows = [("i1", "Ana", "y"), ("i1", "ana", "n"), ("i1", "ben", "y"), ("i2", "ben", "n")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    rules = Rules(same_rater=(("Ana", "ana"),))
    with pytest.raises(RatingsError, match="found 2 labels of rater 'Ana' for item 'i1'"):
        read(frame, rules=rules)
    last = Rules(same_rater=rules.same_rater, duplicates="last")
    said = read(frame, rules=last).first_ratings(["rater", "label"], items=["i1"]).to_pylist()
    assert said == [{"rater": "Ana", "label": "n"}, {"rater": "ben", "label": "y"}]


def test_columns_of_a_wide_table_are_merged():
    frame = pd.DataFrame(
        {"item": ["i1", "i2"], "Ana": ["y", None], "ana": [None, "n"], "ben": ["y", "n"]}
    )
    columns = Columns(raters=("Ana", "ana", "ben"))
    found = read(frame, columns, layout="wide", rules=Rules(same_rater=(("Ana", "ana"),)))
    assert found.n_by_rater == {"Ana": 2, "ben": 2}


def test_merged_names_are_told_if_none_is_there():
    rules = Rules(same_rater=(("anna", "Anna"),))
    with pytest.raises(RatingsError, match="found no rater 'anna', whom same_rater names"):
        read(frame_of(["annna"]), rules=rules)
    assert len(read(frame_of(["chi"]), rules=rules).raters) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"same_rater": (("Ana",),)}, "same_rater: found a group without two names"),
        ({"same_rater": (("Ana", "ana"), ("ana", "A"))}, "same_rater: found ['ana'] twice"),
        (
            {"same_rater": (("Ana", "ana"),), "different_raters": (("ana", "Ana"),)},
            "same_rater: found ['Ana', 'ana'] in different_raters too",
        ),
    ],
)
def test_groups_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ProjectError, match=re.escape(words)):
        Rules(**settings)


def test_names_of_a_declaration_go_with_the_raters():
    """A release has no names of raters, and an erased rater leaves none."""
    frame = frame_of(["Ana", "ana"])
    found = read(frame, rules=Rules(different_raters=(("ana", "Ana", "ANA"), ("Chi", "chi"))))
    assert found.origin.different_raters == (("Ana", "ana"),)
    assert Origin.from_mapping(found.origin.to_mapping()) == found.origin
    renamed = found.renamed({"Ana": "rater-1", "ana": "rater-2"})
    assert renamed.origin.different_raters == (("rater-1", "rater-2"),)
    assert found.origin.without_rater("ana").different_raters == ()
