"""What stands for a unit that a rater did not mark."""

NONE = "none"
"""The label of a rater who saw a unit and marked nothing there."""
