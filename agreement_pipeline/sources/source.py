"""What a source must do for rounds to be pulled from it."""

from pathlib import Path
from typing import Protocol


class RoundSource(Protocol):
    """A place where rounds lie, and from which each is taken as a file."""

    @property
    def ending(self) -> str:
        """How the names of its files end."""

    @property
    def interval_seconds(self) -> int:
        """How long to wait between two looks."""

    def list_versions(self) -> dict[str, str]:
        """The version of each round, which changes with its rows. Empty if it is not known.

        If one file has all rounds, it stands under the empty name.
        """

    def write(self, round_name: str | None, path: Path) -> None:
        """Write the round, or the file of all rounds, as it is now."""
