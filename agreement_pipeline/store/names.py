"""Names that are safe as the name of a file or folder."""

import re

from agreement_pipeline.errors import StoreError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_round_name(name: str, what: str = "round") -> str:
    """`name`, if it is safe as the name of a file or folder.

    Raises
    ------
    StoreError
        The name could be a path.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        raise StoreError(
            f"{what} {name!r}: found a name that could be a path; expected 1 to 100 letters, "
            "digits, dots, underscores and hyphens, the first a letter or digit, "
            f"without two dots in a row. Rename the {what}."
        )
    return name
