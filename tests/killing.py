"""Kill a process at the n-th point of its writing."""

import os
import signal
from itertools import count

from agreement_pipeline.large_files import iterate_content_parts
from agreement_pipeline.store import local

HALF = "half of the bytes are written"


def killed(work, n, patched):
    """Do `work` in a process that dies at point `n` of its writing. True if it died.

    A point is before a primitive, or halfway through its bytes. `patched` gives the
    primitives as (owner, name). The state after one primitive is the state before the next.
    """
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, (
            "the work failed instead of being killed"
        )
        return os.WIFSIGNALED(status)
    status = 1
    try:
        signal.alarm(60)
        _arm(n, patched)
        work()
        status = 0
    finally:
        os._exit(status)


def _arm(n, patched):
    points, put = count(1), local.put

    def point():
        if next(points) == n:
            os.kill(os.getpid(), signal.SIGKILL)

    def armed(real):
        def step(*arguments, **options):
            point()
            if real is put:
                path, content, mode = arguments
                data = b"".join(iterate_content_parts(content))
                real(path, data[: len(data) // 2], mode)
                point()
                path.unlink()
            return real(*arguments, **options)

        return step

    for owner, name in patched:
        setattr(owner, name, armed(getattr(owner, name)))
