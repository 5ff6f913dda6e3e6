"""A line on a terminal, or in a notebook, that says what is at work and for how long."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_SECONDS, EVERY_SECONDS = 2.0, 1.0
CLEAR = "\r\x1b[K"
_at_work, _terminal_lock = list[threading.Event](), threading.Lock()


@contextmanager
def progress(work: str) -> Iterator[None]:
    """After two seconds, and then every second, say which work is done and for how long.

    Nothing is said if nobody looks: standard error is neither a terminal nor that of a notebook.
    """
    finished = threading.Event()
    _at_work.append(finished)
    if _is_terminal():
        threading.Thread(target=_write_progress, args=(work, finished), daemon=True).start()
    try:
        yield
    finally:
        end_progress()


def end_progress() -> None:
    with _terminal_lock:
        if _at_work and _is_terminal():
            _write_to_stderr(CLEAR)
        while _at_work:
            _at_work.pop().set()


def _is_terminal() -> bool:
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")


def _write_progress(work: str, finished: threading.Event) -> None:
    start, waiting = time.monotonic(), PATIENCE_SECONDS
    while not finished.wait(waiting):
        from agreement_pipeline.readers import large_file_progress

        file_progress = large_file_progress()
        with _terminal_lock:
            if not finished.is_set():
                so_long = (
                    f"at work for {time.monotonic() - start:.0f} "
                    f"s{', ' if file_progress else ''}{file_progress}"
                )
                _write_to_stderr(f"{CLEAR}{work}: {so_long}")
        waiting = EVERY_SECONDS


def _write_to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
