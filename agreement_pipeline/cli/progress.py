"""A line on the terminal that says what takes so long."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_SECONDS, EVERY_SECONDS = 2.0, 1.0
CLEAR = "\r\x1b[K"
_done = threading.Event()


@contextmanager
def progress(command: str) -> Iterator[None]:
    """Say on a terminal, after two seconds, which command is at work and for how long.

    Nothing is said if standard error is no terminal.
    """
    _done.clear()
    if not sys.stderr.isatty():
        yield
        return
    speaker = threading.Thread(target=_speak, args=(command,), daemon=True)
    speaker.start()
    try:
        yield
    finally:
        _done.set()
        speaker.join()


def end_progress() -> None:
    """Take the line away, since a result follows."""
    if not _done.is_set():
        _done.set()
        if sys.stderr.isatty():
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _speak(command: str) -> None:
    start = time.monotonic()
    waiting = PATIENCE_SECONDS
    while not _done.wait(waiting):
        sys.stderr.write(f"{CLEAR}{command}: at work for {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
        waiting = EVERY_SECONDS
    sys.stderr.write(CLEAR)
    sys.stderr.flush()
