"""A line on the terminal that says what takes so long."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_SECONDS, EVERY_SECONDS = 2.0, 1.0
CLEAR = "\r\x1b[K"
_done, _terminal = threading.Event(), threading.Lock()


@contextmanager
def progress(command: str) -> Iterator[None]:
    """Say on a terminal, after two seconds, which command is at work and for how long.

    Nothing is said if standard error is no terminal.
    """
    _done.clear()
    if sys.stderr.isatty():
        threading.Thread(target=_speak, args=(command,), daemon=True).start()
    try:
        yield
    finally:
        end_progress()


def end_progress() -> None:
    """Take the line away, since a result follows."""
    with _terminal:
        if not _done.is_set() and sys.stderr.isatty():
            _write(CLEAR)
        _done.set()


def _speak(command: str) -> None:
    start = time.monotonic()
    waiting = PATIENCE_SECONDS
    while not _done.wait(waiting):
        with _terminal:
            if not _done.is_set():
                _write(f"{CLEAR}{command}: {_state(time.monotonic() - start)}")
        waiting = EVERY_SECONDS


def _state(seconds: float) -> str:
    """For how long the command is at work, and how far a large file has been read."""
    from agreement_pipeline.readers import how_far

    far = how_far()
    return f"at work for {seconds:.0f} s{', ' if far else ''}{far}"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
