"""The version of this package: decisions and releases name it."""

__version__ = "0.6.0.dev5"
EARLIER = ("0.4.0", "0.5.0", "0.6.0.dev1", "0.6.0.dev2", "0.6.0.dev3", "0.6.0.dev4")
"""A log must vouch for their releases."""
