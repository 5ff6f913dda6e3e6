"""The errors of the package.

AgreementError
├── RatingsError(ValueError)          the ratings, or their file, are not valid
├── ContractError(ValueError)         a data contract cannot be read or checked
├── PolicyError(ValueError)           a policy cannot be read or judged by
├── WaiverError(ValueError)           a waiver is not valid
├── ProjectError(ValueError)          a project file is not valid
├── DrawError(ValueError)             a random draw cannot be made, or labels are of other items
├── CertificateError(RuntimeError)    no certificate answers for a classifier
├── StoreError(RuntimeError)          the store lacks what was asked for, or was edited
├── ReleaseHeldError(RuntimeError)    a round is not admitted for training
├── ReleaseInvalidError(RuntimeError) a release does not prove itself
└── MissingExtraError(ImportError)    an optional library is not installed

Each error has a `code`: a stable name for machines. `docs/reasons.md` lists all codes.
An undefined value is no error. It is a value with a reason (`Estimate.undefined`).
Its verdict is *not_evaluated*.
Every message reads `<where>: found X; expected Y. <next step>.`
"""

import sys
from contextlib import suppress
from errno import ENAMETOOLONG
from pathlib import Path
from traceback import extract_tb


class AgreementError(Exception):
    """The parent of every error that this package raises on purpose.

    Attributes
    ----------
    code
        The stable name of the error.
    mistakes
        The path to each wrong value of some settings, and what is wrong with it.
    may_pass
        True if the same call may succeed later without a change, as after a full disk.
    """

    code: str = "refused"
    mistakes: tuple[tuple[tuple[str | int, ...], str], ...] = ()

    def __init__(self, message: str = "", code: str = "", *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.may_pass = may_pass


PASSING = (OSError, MemoryError, RecursionError)
"""Nothing is wrong with the program, and another machine may do better."""
EXPECTED = (AgreementError, *PASSING)
MISREAD = (
    AgreementError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What data that somebody else wrote may raise."""


def may_pass_later(error: BaseException) -> bool:
    """True if the same may succeed later: a disk, a network or the memory may be better then.

    The number of an `OSError` is the system's. A library that finds damaged bytes raises one
    without a number.

    >>> may_pass_later(OSError(28, "No space left")), may_pass_later(RatingsError("found no"))
    (True, False)
    """
    if isinstance(error, AgreementError):
        below = error.__context__
        return error.may_pass or (isinstance(below, OSError) and below.errno is not None)
    return isinstance(error, OSError | MemoryError)


def machine_fault_sentence(error: BaseException) -> str:
    """What a disk, a network or the memory did not give, in a sentence.

    >>> machine_fault_sentence(MemoryError())
    'found too little memory; expected enough. Give more memory, or read a smaller table.'
    """
    if isinstance(error, MemoryError):
        return (
            "found too little memory; expected enough. Give more memory, or read a smaller table."
        )
    if isinstance(error, RecursionError):
        return (
            "found data that are nested too deeply; expected a few levels. "
            "Check that the file is the right one."
        )
    if isinstance(error, OSError) and error.errno == ENAMETOOLONG and error.filename:
        return (
            f"found a path of {len(str(error.filename)):,} characters, "
            f"{str(error.filename)[:40]!r}…; expected one that the disk takes. Shorten it."
        )
    return (
        f"found {error}; expected files that can be read and written. "
        "Check the path, its permissions and the disk."
    )


def error_in_a_sentence(error: BaseException) -> str:
    return str(error) if isinstance(error, AgreementError) else machine_fault_sentence(error)


CRASHED = 70
"""It is no verdict: not 0, which admits, and not 1, which holds."""


def report_crash(error: BaseException) -> int:
    """Say in one line what nobody raised on purpose, and where; and return the exit status."""
    message = " ".join(str(error).split())
    printable_message = "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in message
    )
    place = "in no known place"
    if frames := extract_tb(error.__traceback__):
        file = "/".join(Path(frames[-1].filename).parts[-2:])
        place = f"in {file}, line {frames[-1].lineno}"
    with suppress(OSError):
        sys.stderr.write(
            f"error: found {type(error).__name__} ({printable_message}) {place}; expected no such "
            "error. Nothing was judged. This is a mistake of the program: report this line.\n"
        )
    return CRASHED


class RatingsError(AgreementError, ValueError):
    code = "ratings_refused"


class ContractError(AgreementError, ValueError):
    code = "contract_unreadable"


class PolicyError(AgreementError, ValueError):
    code = "policy_unreadable"


class WaiverError(AgreementError, ValueError):
    code = "waiver_unreadable"


class ProjectError(AgreementError, ValueError):
    code = "project_unreadable"


class DrawError(AgreementError, ValueError):
    code = "draw_refused"


class CertificateError(AgreementError, RuntimeError):
    code = "certificate_refused"


class StoreError(AgreementError, RuntimeError):
    code = "store_refused"


class ReleaseHeldError(AgreementError, RuntimeError):
    """Training data of a held round were requested."""

    code = "held"


class ReleaseInvalidError(AgreementError, RuntimeError):
    """A release cannot be verified, so it must not be used."""

    code = "release_invalid"


class MissingExtraError(AgreementError, ImportError):
    code = "extra_missing"

    @classmethod
    def for_feature(cls, feature: str, library: str, extra: str) -> "MissingExtraError":
        return cls(
            f"{feature}: found no {library}; expected it to be installed. "
            f"Install agreement-pipeline[{extra}]."
        )
