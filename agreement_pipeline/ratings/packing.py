"""Labels of an item packed into whole numbers."""

from dataclasses import dataclass

WORD = 60
"""The bits of a whole number that hold labels."""


@dataclass(frozen=True)
class Packing:
    """Where the label of each rater stands in the whole numbers of an item.

    A rater's label takes a few bits, so the labels of an item are one number, or a few. `BIT_OR`
    gathers them whatever their order. Items with equal numbers are then counted, and only distinct
    rows leave the engine.

    Parameters
    ----------
    raters, labels
        How many of them there are.
    """

    raters: int
    labels: int

    @property
    def bits(self) -> int:
        """The bits of a label. 0 stands for a missing one."""
        return self.labels.bit_length()

    @property
    def a_word(self) -> int:
        """How many raters stand in one number."""
        return WORD // self.bits

    @property
    def words(self) -> int:
        """How many numbers an item has."""
        return -(-self.raters // self.a_word)

    @property
    def columns(self) -> list[str]:
        """The names of the numbers."""
        return [f"w{word}" for word in range(self.words)]

    def word(self, place: int) -> int:
        """The number in which a rater's label stands."""
        return place // self.a_word

    def unit(self, place: int) -> int:
        """What a label is multiplied with to stand in its place."""
        return 1 << (self.bits * (place % self.a_word))

    @property
    def packed(self) -> list[str]:
        """The query for each number of an item, over its first ratings."""
        if self.words == 1:
            return ["BIT_OR(code * unit) AS w0"]
        return [
            f"BIT_OR(CASE WHEN word = {at} THEN code * unit ELSE 0 END) AS {column}"
            for at, column in enumerate(self.columns)
        ]
