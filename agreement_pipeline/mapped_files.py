"""Files as if they were in memory. The system reads what is looked at.

What was looked at counts as memory of this process until it lets go of it.
"""

from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from typing import BinaryIO
from weakref import WeakSet

_maps: WeakSet[mmap] = WeakSet()


def mapped(file: BinaryIO) -> mmap | bytes:
    """The content of a file that nobody writes to any more. It stays when the file is closed."""
    file.flush()
    if not file.seek(0, 2):
        return b""
    found = mmap(file.fileno(), 0, access=ACCESS_READ)
    _maps.add(found)
    return found


def let_go() -> None:
    """Let go of what was looked at. It is read again if it is looked at again.

    Call it between parts of a large file, so that one part is in memory.
    """
    for each in list(_maps):
        each.madvise(MADV_DONTNEED)
