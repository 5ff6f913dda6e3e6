"""Readers: one labelling tool a file, each from an export to canonical rows."""
