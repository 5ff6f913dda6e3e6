"""Offsets in UTF-16 code units, as Java counts them, to characters."""

from collections.abc import Mapping
from itertools import accumulate

from agreement_pipeline.errors import RatingsError

BEYOND = 0xFFFF
"""The last character that is one code unit."""


def characters_of(text: str) -> dict[int, int]:
    """The character at each code unit where one begins, and the end of the text.

    >>> characters_of("\N{GRINNING FACE}!")
    {0: 0, 2: 1, 3: 2}
    """
    units = accumulate((1 + (ord(each) > BEYOND) for each in text), initial=0)
    return {unit: place for place, unit in enumerate(units)}


def character_at(characters: Mapping[int, int], unit: int, where: str) -> int:
    """The character that begins at a code unit.

    Raises
    ------
    RatingsError
        None begins there.
    """
    if unit not in characters:
        raise RatingsError(
            f"{where}: found offset {unit}, where no character begins in a text of "
            f"{max(characters)} code units; expected one inside the text. Export again."
        )
    return characters[unit]
