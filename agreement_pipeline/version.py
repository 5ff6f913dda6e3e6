"""The version of this package: decisions and releases name it."""

__version__ = "0.6.0.dev8"
EARLIER = ("0.4.0", "0.5.0", *(f"0.6.0.dev{build}" for build in range(1, 8)))
"""A log must vouch for their releases."""
