"""Labels that may say that nobody gave one.

A label of blanks is missing. A placeholder such as `n/a` may be missing or a category, and only the
team knows which.
"""

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from decimal import Decimal

from agreement_pipeline.ratings.lookalikes import printed_form
from agreement_pipeline.ratings.scale import NUMBER
from agreement_pipeline.text import joined

_WORDS = """
    na|n/a|n.a|n.a.|n a|nan|nat|null|nil|none|void|undef|undefined|missing|blank|empty|n.d.|nd
    not available|not applicable|not given|not provided|not specified|not stated|not set
    no answer|no label|no response|no value|no data|no rating|no score|no annotation|no opinion
    unanswered|unlabeled|unlabelled|unrated|unscored|ungraded|unannotated|unassigned|unspecified
    not answered|not labeled|not labelled|not rated|not scored|not graded|not annotated
    skip|skipped|unknown|unk|tbd|todo|to do
    value!|ref!|div/0!|name?|num!|null!
    k.a.|k. a.|keine angabe|ohne angabe|unbekannt|leer
    inconnu|non renseigné|desconocido|sin respuesta|sin dato|desconhecido|sem resposta
"""
WORDS_FOR_NOTHING = frozenset(map(printed_form, re.split("[|\n]", _WORDS)))
"""As `as_printed` writes them, without brackets, quotes and number signs around."""
MINUS = re.compile("[-\u2010-\u2015\u2212]+")
MARKS_ALONE = re.compile(r"[-\u2010-\u2015\u2212_.?*~/\\\s]+")
AROUND_WORDS = " \t<>()[]{}\"'`#"
NUMBERS_FOR_NOTHING = frozenset(map(Decimal, (99, 999, 9999)))
MIN_TIMES_BEYOND_OTHERS = 5
"""A code such as 999 is at least so many times as large as any other label, or it is a number."""


def is_blank(label: str) -> bool:
    r"""True if nothing of a label prints.

    >>> is_blank(" \t"), is_blank("\u00a0\u200b\ufeff"), is_blank("-")
    (True, True, False)
    """
    return not printed_form(label)


def placeholders_among(labels: Iterable[str]) -> tuple[str, ...]:
    """The labels that may say that nobody gave one, in the order of texts.

    >>> placeholders_among(["ham", "N/A", "spam", "[]", "skipped"])
    ('N/A', '[]', 'skipped')
    >>> placeholders_among(["1", "2", "5", "-999"]), placeholders_among(["-", "+"])
    (('-999',), ())
    """
    distinct = {label for label in labels if not is_blank(label)}  # nothing ticked is no blank
    numbers = {text: Decimal(text) for text in distinct if NUMBER.fullmatch(text)}
    ordinary_numbers = [
        number for number in numbers.values() if abs(number) not in NUMBERS_FOR_NOTHING
    ]
    has_signs = any({*printed_form(text)} == {"+"} for text in distinct)
    return tuple(
        sorted(
            text
            for text in distinct
            if (
                _is_number_for_nothing(numbers[text], ordinary_numbers)
                if text in numbers
                else _is_word_for_nothing(text) and not (has_signs and MINUS.fullmatch(text))
            )
        )
    )


def _is_number_for_nothing(number: Decimal, ordinary_numbers: Sequence[Decimal]) -> bool:
    if abs(number) not in NUMBERS_FOR_NOTHING:
        return False
    if number < 0 and all(ordinary >= 0 for ordinary in ordinary_numbers):
        return True
    return all(
        abs(number) >= MIN_TIMES_BEYOND_OTHERS * abs(ordinary) for ordinary in ordinary_numbers
    )


def _is_word_for_nothing(text: str) -> bool:
    printed = printed_form(text)
    word = re.sub(r"[_\s]+|(?<=\w)-(?=\w)", " ", printed.strip(AROUND_WORDS)).strip()
    return not word or word in WORDS_FOR_NOTHING or bool(MARKS_ALONE.fullmatch(printed))


def describe_leaving_out_placeholders(labels: Iterable[str]) -> str:
    """How placeholders among labels are said to be none, as a sentence. Empty if there are none.

    >>> print(describe_leaving_out_placeholders(["spma", "n/a"]).strip())
    If 'n/a' says that nobody gave a label: --missing n/a (missing: ["n/a"] in a project).
    """
    if not (placeholders := placeholders_among(labels)):
        return ""
    verb = "says" if len(placeholders) == 1 else "say"
    options = " ".join(f"--missing {shlex.quote(label)}" for label in placeholders)
    in_project = json.dumps(list(placeholders), ensure_ascii=False)
    return (
        f" If {joined(map(repr, placeholders))} {verb} that nobody gave a label: {options} "
        f"(missing: {in_project} in a project)."
    )
