"""The version of this package: decisions and releases name it."""

__version__ = "0.6.0.dev1"
