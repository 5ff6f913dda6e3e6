"""What a check of the data contract found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """What a check of the data contract found.

    Attributes
    ----------
    check, table
        The check's name, and its table: rows, items or round.
    passed
        True if the check held.
    severity
        error: a failure holds the release. warning: a failure is shown and holds nothing.
    description
        What was found, in words and numbers.
    observed
        More of what was found, as plain data.
    """

    check: str
    table: str
    passed: bool
    severity: str
    description: str
    observed: tuple[tuple[str, Any], ...] = ()

    @property
    def holds(self) -> bool:
        """True if it holds the release: any failure but a warning does."""
        return not self.passed and self.severity != "warning"

    def to_mapping(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "check": self.check,
            "table": self.table,
            "passed": self.passed,
            "severity": self.severity,
            "description": self.description,
        }
