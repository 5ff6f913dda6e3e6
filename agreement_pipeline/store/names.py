"""The names of rounds and releases, and the versions of a round."""

import re
from dataclasses import dataclass

from agreement_pipeline.errors import StoreError
from agreement_pipeline.mistakes import shown

DATASET = ".dataset"
RESERVED = ("index", "log", "originals", "releases", "rounds", "salt", "segments")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_round_name(name: str, what: str = "round") -> str:
    """`name`, if it is safe as the name of a file or folder.

    Raises
    ------
    StoreError
        The name is no such name.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        raise StoreError(
            f"{what} {shown(name)}: found a name that is not allowed; expected 1 to 100 "
            "letters, digits, dots, underscores and hyphens, the first a letter or digit, without "
            f"two dots in a row. Rename the {what}."
        )
    return name


def refuse_reserved(round_name: str) -> None:
    """Refuse a round with a name that the store needs itself.

    Raises
    ------
    StoreError
        The name is one of a folder of the store, or that of a dataset.
    """
    if round_name.lower() in RESERVED or round_name.lower().endswith(DATASET):
        raise StoreError(
            f"round {round_name!r}: found a name that the store needs itself; expected another "
            f"than {', '.join(RESERVED)} and names that end in {DATASET}. Rename the round."
        )


@dataclass(frozen=True)
class RoundVersion:
    """One version of a round.

    Attributes
    ----------
    round, source
        The name of the round, and of the file or folder as delivered.
    ratings_digest
        `Ratings.digest`: what was rated and how.
    original_digest
        SHA-256 of the file as delivered. For a folder: of the names and digests of its files.
    table_digest
        SHA-256 of the stored table, which holds the names of the raters.
    settings_digest
        SHA-256 of the settings that the original was read under.
    """

    round: str
    ratings_digest: str
    original_digest: str
    source: str
    table_digest: str
    settings_digest: str
