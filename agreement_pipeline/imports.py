"""Imports of large libraries, in a program that soon ends."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the collector still, now and later: what an import makes is no garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
