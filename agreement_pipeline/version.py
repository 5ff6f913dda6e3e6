"""The version of this package: decisions and releases name it."""

__version__ = "0.6.0"
EARLIER = ("0.4.0", "0.5.0", *(f"0.6.0.dev{build}" for build in range(1, 11)))
"""A log must vouch for their releases."""
