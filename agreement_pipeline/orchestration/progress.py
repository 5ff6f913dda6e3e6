"""Lines in the log of a run that say which step takes so long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS, EVERY_SECONDS = 5.0, 30.0


@contextmanager
def progress(say: Callable[[str], object], what: str) -> Iterator[None]:
    """Say after five seconds, and then every half minute, that a step is at work.

    At the end of a step that took so long, its time is said.
    """
    done, start = threading.Event(), time.monotonic()
    speaker = threading.Thread(target=_speak, args=(say, what, done, start), daemon=True)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join()
    if (seconds := time.monotonic() - start) > PATIENCE_SECONDS:
        say(f"{what}: done after {seconds:.0f} s")


def _speak(say: Callable[[str], object], what: str, done: threading.Event, start: float) -> None:
    waiting = PATIENCE_SECONDS
    while not done.wait(waiting):
        say(f"{what}: at work for {time.monotonic() - start:.0f} s")
        waiting = EVERY_SECONDS
