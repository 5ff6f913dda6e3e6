"""What the command line reads from text: numbers, names, files."""

import csv
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.shell_completion import CompletionItem

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.readers import Limits

if TYPE_CHECKING:
    from agreement_pipeline.units import UnitSettings

FEWEST_REPETITIONS, MOST_REPETITIONS = 100, 1_000_000
SHORT = {"alpha": "krippendorff_alpha"}
NUMBERS = {"at_least", "step"}
"""The settings of units that are numbers."""
LIMITED = tuple(each.name for each in fields(Limits))


class ReadBy(click.ParamType[Any]):
    """Text that a function reads. Its `ValueError` says what was found and what was expected.

    Attributes
    ----------
    read
        The function.
    completes
        What a shell completes the text to, if anything.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[str], Any],
        completes: Literal["file", "dir"] | None = None,
    ) -> None:
        self.name = name
        self.read = read
        self.completes = completes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of the text. A default stays as it is."""
        try:
            return self.read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave files and folders to the shell."""
        return [CompletionItem(incomplete, type=self.completes)] if self.completes else []


class OneOf(click.Choice[str]):
    """One of several words."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """What was found, and every word that was expected."""
        return f"found {value!r}; expected one of {', '.join(self.choices)}."


class MeasureName(click.ParamType[str]):
    """The name of a measure, in full or in short."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The full name."""
        return full_name(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of measures that begin with the text."""
        names = sorted({*MEASURES, *SHORT})
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def full_name(text: str) -> str:
    """The full name of a measure.

    >>> full_name("alpha"), full_name("fleiss_kappa")
    ('krippendorff_alpha', 'fleiss_kappa')
    """
    return SHORT.get(text, text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"found {text!r}; expected a number.") from None


def _share(text: str) -> float:
    share = _number(text)
    if not 0 < share < 1:
        raise ValueError(f"found {text}; expected a share between 0 and 1.")
    return share


def _shares(text: str) -> tuple[float, ...]:
    return tuple(_number(share) for share in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    """Names between commas, as a row of CSV: a name in quotes may hold a comma."""
    try:
        (names,) = csv.reader([text], strict=True)
    except csv.Error as error:
        raise ValueError(
            f"found {text!r} ({error}); expected names between commas, with quotes around a name "
            "that holds a comma."
        ) from None
    return tuple(names)


def _repetitions(text: str) -> int:
    number = _number(text)
    if not (FEWEST_REPETITIONS <= number <= MOST_REPETITIONS and number.is_integer()):
        expected = f"a whole number from {FEWEST_REPETITIONS} to {MOST_REPETITIONS:,}"
        raise ValueError(f"found {text}; expected {expected}.")
    return int(number)


def _several(text: str) -> int:
    number = _number(text)
    if number < 2 or not number.is_integer():
        raise ValueError(
            f"found {text}; expected a whole number from 2, since agreement compares labels."
        )
    return int(number)


def _agreement(text: str) -> float:
    value = _number(text)
    if not value <= 1:
        raise ValueError(f"found {text}; expected at most 1, which is perfect agreement.")
    return value


def _image(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".svg" or not path.parent.is_dir():
        raise ValueError(f"found {text}; expected a name ending in .svg, in an existing folder.")
    return path


def _limit(text: str) -> tuple[str, int]:
    name, _, most = text.partition("=")
    if name not in LIMITED or not most.isdecimal():
        expected = "a limit and a whole number, as rows=50000000"
        raise ValueError(f"found {text}; expected {expected}. The limits are {', '.join(LIMITED)}.")
    return name, int(most)


def _where(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError(f"found {text}; expected a field and a value, as status=submitted.")
    return name, value


def _requires(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(text.split(","))


def _units(text: str) -> "UnitSettings":
    """Units of objects: the kind, then settings.

    >>> _units("boxes,at_least=0.7").at_least
    0.7
    """
    from agreement_pipeline.units import UnitSettings

    kind, *pairs = _names(text)
    said = dict(_where(pair) for pair in pairs)
    settings: dict[str, Any] = {**said, **{name: _number(said[name]) for name in NUMBERS & {*said}}}
    if "members" in said:
        settings["members"] = tuple(said["members"].split("|"))
    if "sigmas" in said:
        settings["sigmas"] = tuple(map(_number, said["sigmas"].split("|")))
    unknown = sorted({*settings} - {each.name for each in fields(UnitSettings)})
    if unknown or "kind" in settings:
        raise ValueError(
            f"found {', '.join(unknown) or 'kind'}; expected settings of units, as at_least=0.7."
        )
    return UnitSettings(kind, **settings)


SHARE = ReadBy("share", _share)
NAMES = ReadBy("names", _names)
SHARES = ReadBy("shares", _shares)
REPETITIONS = ReadBy("n", _repetitions)
SEVERAL = ReadBy("n", _several)
AGREEMENT = ReadBy("value", _agreement)
LIMIT = ReadBy("name=n", _limit)
FILE = ReadBy("file", Path, "file")
SOURCE = ReadBy("file", lambda text: text if "://" in text else Path(text), "file")
IMAGE = ReadBy("file", _image, "file")
FOLDER = ReadBy("folder", Path, "dir")
PLACE = ReadBy("url", str, "dir")
WHERE = ReadBy("field=value", _where)
REQUIRES = ReadBy("a,b", _requires)
UNITS = ReadBy("units", _units)
