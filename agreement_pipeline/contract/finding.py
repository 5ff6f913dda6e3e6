"""What a check of the data contract found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """What a check of the data contract found.

    Attributes
    ----------
    check, table
        The check's name, and the table it looked at: rows or items.
    passed
        Did it hold?
    severity
        error: a failure holds the release. warning: it is shown and holds nothing.
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
        """Does it hold the release? Anything but a warning does."""
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
