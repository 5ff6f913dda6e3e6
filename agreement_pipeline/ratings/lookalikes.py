"""Names that look the same in print, or nearly, although they are different text. They
never merge.
"""

import json
import re
import shlex
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agreement_pipeline.text import counted

if TYPE_CHECKING:
    import pandas as pd

LATIN = str.maketrans(
    {
        **dict(zip("асԁеһіјӏорԛѕԝухүѵ", "acdehijlopqswyxyv", strict=True)),
        **dict(zip("вкмнт", "bkmht", strict=True)),
        **dict(zip("αβεικνορτυχω", "abeikvoptuxw", strict=True)),
        **dict(zip("ɑɡıℓ", "agil", strict=True)),
    }
)
MODEL = re.compile(
    r"gpt|claude[- ]?(?:\d|opus|sonnet|haiku)|gemini|llama|mistral|qwen|deepseek"
    r"|(?<![a-z])(?:llm|model|bot)(?![a-z])",
    re.I,
)
UNSEEN: dict[int, str | None] = {0x2800: " "} | dict.fromkeys(
    code
    for first, last in (
        (0x34F, 0x34F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x2065, 0x2065),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFF8),
        (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)
"""What Unicode calls ignorable by default and no format character. A blank of Braille is blank."""
WHOLE_NUMBER = (r"^0*([0-9]+)(?:\.0+)?$", r"\1")
"""The pattern of a whole number, and what all its spellings become."""
AS_PERCENT = re.compile(r"[+-]?[0-9.,]+\s*%")
MAX_GROUPS_SHOWN = 4
MAX_SLIP_COUNT, MIN_TIMES_AS_COMMON, MIN_WORD_LENGTH = 2, 10, 4
"""A slip occurs so often at most, what was meant so many times as often, and in words so long."""


def group_lookalike_names(
    names: Iterable[str], *, numbers_alike: bool = False
) -> tuple[tuple[str, ...], ...]:
    r"""Groups of different names that print alike.

    They differ only in letters of other scripts, normal forms, capitals, invisible characters or
    blanks. With `numbers_alike`, also in zeros that a spreadsheet adds to a whole number, or takes.

    >>> group_lookalike_names(["ana", "ben", "\u0430na"]) == (("ana", "\u0430na"),)
    True
    >>> group_lookalike_names(["7", "007", "7.0", "7.1"], numbers_alike=True)
    (('007', '7', '7.0'),)
    """
    alike: dict[str, set[str]] = {}
    for name in names:
        printed = printed_form(name)
        form = re.sub(*WHOLE_NUMBER, printed) if numbers_alike else printed
        alike.setdefault(form, set()).add(name)
    return tuple(tuple(sorted(group)) for group in alike.values() if len(group) > 1)


def group_lookalike_labels(labels: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    r"""Groups of labels that print alike. For a name, `ss` is also another spelling of a sharp s.

    >>> group_lookalike_labels(["OK", "ok", "Gruss", "Gru\xdf"])
    (('OK', 'ok'),)
    """
    alike: dict[str, set[str]] = {}
    for label in labels:
        alike.setdefault(printed_form(label.replace("\xdf", "\x00")), set()).add(label)
    return tuple(tuple(sorted(group)) for group in alike.values() if len(group) > 1)


def find_misspelt(counts: Mapping[str, int]) -> dict[str, str]:
    """Rare labels that resemble a common one, each with the words that say so. `counts` says how
    often each label occurs.

    They print alike, or a letter is wrong, missing, too much, or changed places with its neighbour.
    Digits tell labels apart.

    >>> find_misspelt({"spam": 58, "spma": 1, "ham": 121, "level1": 99, "level2": 1})
    {'spma': "label 'spma' (1 time) resembles 'spam' (58 times)"}
    """
    words_by_label = dict[str, str]()
    for name in sorted(name for name, times in counts.items() if 1 <= times <= MAX_SLIP_COUNT):
        common = [
            other_label
            for other_label, times in counts.items()
            if times >= MIN_TIMES_AS_COMMON * counts[name] and _resemble(name, other_label)
        ]
        if common:
            common_label = max(common, key=lambda other_label: counts[other_label])
            printed_words = zip(
                _quote_telling_apart([name, common_label]), (name, common_label), strict=True
            )
            mentions = (f"{text} ({counted(counts[word], 'time')})" for text, word in printed_words)
            words_by_label[name] = f"label {' resembles '.join(mentions)}"
    return words_by_label


def describe_doubtful_labels(labels: Collection[str], slips: Collection[str] = ()) -> Iterator[str]:
    """Labels that may be another, in words: that print alike, and several in one.

    Labels of which all but one are `slips` were told as these, so that one typo has one line. Those
    that print alike have one line together, since capitals slip in all labels of a rater.

    >>> list(describe_doubtful_labels(["joy", "fear", "joy, fear"]))
    ["label 'joy, fear' counts as one label; if it is several ones, write them as joy|fear"]
    """
    parts = {name: re.findall(r"[^][;,'\"]+", name) for name in labels}
    bare = {
        name: [part.strip() for part in found_parts if part.strip()]
        for name, found_parts in parts.items()
    }
    single = {found_parts[0] for found_parts in bare.values() if len(found_parts) == 1}
    several = [
        name
        for name, found_parts in bare.items()
        if len(found_parts) > 1 and {*found_parts} <= single
    ]
    if several:
        name = min(several)
        yield (
            f"label {name!r} counts as one label; if it is several ones, write them as "
            f"{'|'.join(bare[name])}"
        )
    groups = [
        group for group in group_lookalike_labels(labels) if len({*group}.difference(slips)) > 1
    ]
    if groups:
        shown_groups = groups[:MAX_GROUPS_SHOWN]
        n_hidden = len(groups) - len(shown_groups)
        remainder = f" and {counted(n_hidden, 'more group')}" if n_hidden else ""
        setting = json.dumps(shown_groups, ensure_ascii=False)
        options = " ".join(
            f"--same-label {shlex.quote('='.join(group[:2]))}" for group in shown_groups
        )
        yield (
            f"labels {', '.join(map(describe_lookalikes, shown_groups))}{remainder} print alike; "
            "if they "
            f"mean the same, write one, or {options} (same_label: {setting} in a project)"
        )


def _resemble(name: str, other_name: str) -> bool:
    """True if names print alike, or a letter is wrong, missing, too much or in the wrong place."""
    first_text, second_text = printed_form(name).casefold(), printed_form(other_name).casefold()
    if first_text == second_text:
        return True
    if len(second_text) < MIN_WORD_LENGTH or re.sub(r"\d", "", first_text) == re.sub(
        r"\d", "", second_text
    ):
        return False
    while first_text[:1] == second_text[:1] != "":
        first_text, second_text = first_text[1:], second_text[1:]
    while first_text[-1:] == second_text[-1:] != "":
        first_text, second_text = first_text[:-1], second_text[:-1]
    return max(len(first_text), len(second_text)) <= 1 or (
        len(first_text) == 2 and first_text == second_text[::-1]
    )


def printed_forms(texts: "pd.Series[str]") -> "pd.Series[str]":
    r"""Texts that print alike become equal.

    >>> import pandas as pd
    >>> from agreement_pipeline.ratings import TEXT
    >>> printed_forms(pd.Series(["Ana  B", "\u0430na b ", "ben"], dtype=TEXT)).tolist()
    ['ana b', 'ana b', 'ben']
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    from agreement_pipeline.ratings.frames import TEXT

    texts_column = pa.array(texts.array, pa.large_string())
    blank = r"^\s|\s$|\s\s|[\t\n\x0b\x0c\r\x1c-\x1f\x7f]"
    printed_texts = pd.Series(pd.array(pc.ascii_lower(texts_column), dtype=TEXT), index=texts.index)
    odd = pc.or_(
        pc.match_substring_regex(texts_column, blank), pc.invert(pc.string_is_ascii(texts_column))
    )
    places = odd.to_numpy(zero_copy_only=False)
    if places.any():
        distinct = texts[places].drop_duplicates()
        printed_by_text = dict(zip(distinct, map(printed_form, distinct), strict=True))
        printed_texts[places] = texts[places].map(printed_by_text).astype(TEXT)
    return printed_texts


def whole_numbers_alike(texts: "pd.Series[str]") -> "pd.Series[str]":
    """Texts that are one whole number become equal, whatever zeros they have.

    >>> import pandas as pd
    >>> from agreement_pipeline.ratings import TEXT
    >>> whole_numbers_alike(pd.Series(["0012", "12.0", "12.10", "a12.0"], dtype=TEXT)).tolist()
    ['12', '12', '12.10', 'a12.0']
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    from agreement_pipeline.ratings.frames import TEXT

    texts_column = pa.array(texts.array, pa.large_string())
    alike = pc.replace_substring_regex(texts_column, *WHOLE_NUMBER)
    return pd.Series(pd.array(alike, dtype=TEXT), index=texts.index)


def describe_lookalikes(group: Iterable[str]) -> str:
    r"""Names in their own letters. Where these look the same, unusual characters are written out.

    >>> describe_lookalikes(["ana", "\u0430na"]), describe_lookalikes(["Gru\xdf", "gru\xdf"])
    ("'ana' and '\\u0430na'", "'Gruß' and 'gruß'")
    >>> describe_lookalikes(["\u2764 n\xe9", "\u2764 ne\u0301"])
    "'❤ n\\xe9' and '❤ ne\\u0301'"
    """
    return " and ".join(_quote_telling_apart(list(group)))


def _quote_telling_apart(names: Sequence[str]) -> list[str]:
    """The names in quotes, with unusual characters written out where they look the same."""
    by_shape: dict[str, list[str]] = {}
    for name in names:
        by_shape.setdefault(_visible_shape(name), []).append(name)
    return [_write_unusual_characters(name, by_shape[_visible_shape(name)]) for name in names]


def _write_unusual_characters(name: str, same_shape: Sequence[str]) -> str:
    """A name whose characters are written out where other names of its shape have not the same."""
    if len(same_shape) < 2:
        return repr(name)
    if any({*name} == {*other_name} for other_name in same_shape if other_name != name):
        return ascii(name)
    common = {*name}.intersection(*same_shape)
    letters = (
        letter if letter.isascii() or letter in common else ascii(letter)[1:-1]
        for letter in repr(name)
    )
    return "".join(letters)


def _visible_shape(name: str) -> str:
    """What a reader sees of a name. Capitals are seen, letters of other scripts are not."""
    letters = (
        letter.lower().translate(LATIN).upper() if letter.isupper() else letter.translate(LATIN)
        for letter in _without_invisible(unicodedata.normalize("NFKC", name))
    )
    return unicodedata.normalize("NFC", " ".join("".join(letters).split()))


def printed_form(name: str) -> str:
    r"""What two names that print alike have in common. Empty if nothing prints.

    >>> printed_form("\u0410na "), printed_form("\u200b ")
    ('ana', '')
    """
    visible = _without_invisible(unicodedata.normalize("NFKC", name))
    return unicodedata.normalize("NFC", " ".join(visible.casefold().translate(LATIN).split()))


def typed_form(name: str) -> str:
    r"""A name as people type it: names that only normal forms, invisible characters and blanks tell
    apart become equal, and capitals still count.

    >>> typed_form(" Jose\u0301") == typed_form("Jos\u00e9"), typed_form("Ana") == typed_form("ana")
    (True, False)
    """
    return " ".join(_without_invisible(unicodedata.normalize("NFC", name)).split())


def _without_invisible(text: str) -> str:
    visible = (character for character in text if unicodedata.category(character) != "Cf")
    return "".join(visible).translate(UNSEEN)


def names_like_models(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are more likely those of models.

    >>> names_like_models(["ana", "gpt-4o", "model_a", "Botha"])
    ('gpt-4o', 'model_a')
    """
    return tuple(name for name in names if MODEL.search(name.replace("_", " ")))
