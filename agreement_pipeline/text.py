"""Numbers and lists in words. This module decides how many digits a reader sees."""

import math
import re
from collections.abc import Collection, Iterable

DIGITS = 9
"""Machines differ in the digits of a number after these decimals."""

SENTENCE, TABLE, PROBABILITY, SIGNIFICANT, PERCENT = ".3f", ".5f", ".2f", ".2g", ".1%"
WHOLE_PERCENT = ".0%"
"""The forms of a number. `SENTENCE` is that of reasons, the history and the card of a release,
`TABLE` that of tables of estimates, and `SIGNIFICANT` that of probabilities that can be very small.
"""

NO_LIMIT = "no limit"
LINK_POSITION = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=@)(?=\w)", re.IGNORECASE)


def in_words(value: float, form: str = SENTENCE, cutoffs: Iterable[float] = ()) -> str:
    """Machines differ in dropped digits. What rounds to zero has no sign, and nothing rounds up to
    a cut-off.

    >>> in_words(0.9375), in_words(math.nextafter(0.9375, 0)), in_words(-0.0004)
    ('0.938', '0.938', '0.000')
    >>> in_words(0.7996, cutoffs=[0.8]), in_words(0.04997, ".2%", [0.05])
    ('0.7996', '4.997%')
    """
    exact = round(value, DIGITS)
    for cutoff in cutoffs:
        while exact < cutoff <= round(exact, int(form[1]) + 2 * form.endswith("%")):
            form = f".{int(form[1]) + 1}{form[2:]}"
    return format(exact, f"z{form}")


def short_number(value: float, cutoffs: Iterable[float] = ()) -> str:
    """A number under one as people write agreement, without its first zero.

    >>> short_number(0.8), short_number(-0.04), short_number(1.0), short_number(0.79996, [0.8])
    ('.800', '-.040', '1.000', '.79996')
    """
    text = in_words(value, cutoffs=cutoffs)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def p_in_words(p: float) -> str:
    """A p-value as text. Rounding never makes it a certainty.

    >>> p_in_words(0.123), p_in_words(0.004), p_in_words(1.0)
    ('p = 0.12', 'p < 0.01', 'p > 0.99')
    """
    rounded = in_words(p, PROBABILITY)
    return {"0.00": "p < 0.01", "1.00": "p > 0.99"}.get(rounded, f"p = {rounded}")


def number_in_table(value: float | None, form: str = TABLE) -> str:
    """A value in a table; empty if there is none.

    >>> number_in_table(2 / 3), number_in_table(None)
    ('0.66667', '')
    """
    return "" if value is None else in_words(value, form)


def interval(
    low: float | None,
    high: float | None,
    form: str = SENTENCE,
    separator: str = " to ",
    cutoffs: Collection[float] = (),
) -> str:
    """An interval with a word or a sign between its limits. None, NaN and infinity are no limit.

    >>> interval(0.75, None), interval(-math.inf, 0.8), interval(0.75, 0.8, TABLE, " … ")
    ('0.750 to no limit', 'no limit to 0.800', '0.75000 … 0.80000')
    """
    return separator.join(
        NO_LIMIT if limit is None or not math.isfinite(limit) else in_words(limit, form, cutoffs)
        for limit in (low, high)
    )


def count_to_one_decimal(value: float) -> str:
    """A count to one decimal. A whole count has no decimal.

    >>> count_to_one_decimal(2.94), count_to_one_decimal(3.0)
    ('2.9', '3')
    """
    return f"{round(value, 1):g}"


def suggest_name(name: object, among: Iterable[str], otherwise: str) -> str:
    """The next step after a name that is not among others: the nearest one, or what else to do.

    >>> [suggest_name(name, ["ana", "model_a"], "Correct it.") for name in ("modle_a", "x")]
    ["Did you mean 'model_a'?", 'Correct it.']
    """
    from difflib import get_close_matches

    matches = get_close_matches(str(name), [*among], n=1)
    return f"Did you mean {matches[0]!r}?" if matches else otherwise


def counted(n: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "round"), counted(2, "round")
    ('1 round', '2 rounds')
    """
    return f"{n:,} {noun if n == 1 else _plural(noun)}"


def one_line(message: object) -> str:
    """A message in one line."""
    return " ".join(str(message).split())


def join_sentences(sentences: Iterable[str]) -> str:
    return "; ".join(sentence.removesuffix(".") for sentence in sentences if sentence)


def called(noun: str, names: Iterable[object]) -> str:
    """A noun with what it names: a name in quotes, or the first of several.

    >>> called("column", ["label"]), called("category", ["no", "yes"])
    ("column 'label'", "categories ['no', 'yes']")
    """
    values = list(names)
    if len(values) == 1:
        return f"{noun} {values[0]!r}"
    return f"{_plural(noun)} {listed(values)}"


def _plural(noun: str) -> str:
    return re.sub("(?<=[^aeiou])y$", "ie", noun) + "s"


def listed(values: object, limit: int = 5) -> str:
    """The first values in quotes and the number of the others.

    >>> listed(["a", "b"]), listed(range(9), limit=2)
    ("['a', 'b']", '[0, 1, … 7 more]')
    """
    elements = list(values)  # type: ignore[call-overload]
    text = ", ".join(repr(value) for value in elements[:limit])
    return f"[{text}]" if len(elements) <= limit else f"[{text}, … {len(elements) - limit} more]"


def joined(names: Iterable[str], limit: int = 8) -> str:
    """Names as in a sentence. Of many, the first and the number of the others.

    >>> joined(["a"]), joined("abc"), joined("abcd", limit=2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    elements = list(names)
    parts = elements
    if len(elements) > limit:
        parts = [*elements[:limit], f"{len(elements) - limit} more"]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def without_links(text: str) -> str:
    r"""Text in which no reader of Markdown finds a link: an unseen joiner breaks each address.

    >>> ascii(without_links("see https://a.org or www.b.org or c@d.org"))
    "'see https:\\u2060//a.org or www\\u2060.b.org or c@\\u2060d.org'"
    """
    return LINK_POSITION.sub("\u2060", text)


def natural_sort_key(name: str) -> tuple[object, ...]:
    """A key that sorts names as people do: numbers in them by size.

    >>> sorted(["week-10", "week-2", "week-02", "week-", "2"], key=natural_sort_key)
    ['2', 'week-', 'week-02', 'week-2', 'week-10']
    """
    parts = re.split(r"([0-9]+)", name)
    sizes = [int(part) if place % 2 else part for place, part in enumerate(parts)]
    return sizes, name


def as_valid_utf_8(name: str) -> str:
    return name.encode(errors="backslashreplace").decode()
