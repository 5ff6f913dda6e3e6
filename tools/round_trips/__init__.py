"""Exports that the packages of labelling tools write, for the tests of the readers."""
