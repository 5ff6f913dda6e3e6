"""Stores and releases that older versions of the package wrote, kept for tests."""
