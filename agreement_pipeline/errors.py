"""What may be raised.

AgreementError
├── RatingsError(ValueError)         the ratings, or a file of them, are not what they must be
├── ContractError(ValueError)        a data contract cannot be read, or asks what cannot be checked
├── PolicyError(ValueError)          a policy asks what cannot be judged
├── WaiverError(ValueError)          a waiver is not what it must be
├── ProjectError(ValueError)         a project file is not what it must be
├── StoreError(RuntimeError)         the store does not hold what was asked for, or was edited
├── ReleaseHeldError(RuntimeError)   training data was asked of a round that is not admitted
├── ReleaseInvalidError(RuntimeError) a release does not prove that it deserves to exist
└── MissingExtraError(ImportError)   an optional library is not installed

Each has a `code`, its stable name for machines; docs/reasons.md lists them all.
Undefined is not among them: it is a value with a reason (`Estimate.undefined`) and a verdict (*not_evaluated*).
Every message reads `<where>: <what was found>; <what is required>. <next step>`.
"""


class AgreementError(Exception):
    """Everything this package raises on purpose.

    Attributes
    ----------
    code
        The stable name of the error.
    mistakes
        The path to each wrong value of some settings, and what is wrong with it.
    """

    code: str = "refused"
    mistakes: tuple[tuple[tuple[str | int, ...], str], ...] = ()


class RatingsError(AgreementError, ValueError):
    """The ratings, or a file of them, are not what they must be."""

    code = "ratings_refused"


class ContractError(AgreementError, ValueError):
    """A data contract cannot be read, or asks what cannot be checked."""

    code = "contract_unreadable"


class PolicyError(AgreementError, ValueError):
    """A policy asks what cannot be judged."""

    code = "policy_unreadable"


class WaiverError(AgreementError, ValueError):
    """A waiver is not what it must be."""

    code = "waiver_unreadable"


class ProjectError(AgreementError, ValueError):
    """A project file is not what it must be."""

    code = "project_unreadable"


class StoreError(AgreementError, RuntimeError):
    """The store does not hold what was asked for, or what it holds was edited."""

    code = "store_refused"


class ReleaseHeldError(AgreementError, RuntimeError):
    """Training data was asked of a round that is not admitted."""

    code = "held"


class ReleaseInvalidError(AgreementError, RuntimeError):
    """A release does not prove, from its own bytes, that it deserves to exist."""

    code = "release_invalid"

    def __init__(self, message: str, code: str = "release_invalid") -> None:
        super().__init__(message)
        self.code = code


class MissingExtraError(AgreementError, ImportError):
    """An optional library is not installed."""

    code = "extra_missing"

    @classmethod
    def of(cls, what: str, library: str, extra: str) -> "MissingExtraError":
        """Word the error for `what`, which needs `library` from the extra named `extra`."""
        return cls(
            f"{what}: {library} is not installed; it is required here. Install agreement-pipeline[{extra}]."
        )
