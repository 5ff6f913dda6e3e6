"""A folder of a bucket whose objects are only read: they are listed, and fetched one by one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fsspec import AbstractFileSystem
from upath import UPath

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store.objects import answered, file_system


class Listed(NamedTuple):
    """What a list says of an object.

    Attributes
    ----------
    size
        How many bytes it has.
    tag
        A text that changes with the bytes: the ETag.
    modified
        When it was written, in seconds since 1970.
    """

    size: int
    tag: str
    modified: float


@dataclass(frozen=True, eq=False)
class Bucket:
    """A folder of a bucket.

    Attributes
    ----------
    url, root
        The URL. The library of the protocol finds the credentials and the endpoint.

    Raises
    ------
    MissingExtraError
        The library for the URL is not installed.
    StoreError
        The URL is of another protocol.
    """

    url: str
    root: UPath = field(init=False)
    _objects: AbstractFileSystem = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", UPath(self.url))
        object.__setattr__(self, "_objects", file_system(self.root))

    def is_there(self) -> bool:
        """True if there is such a bucket, and its objects may be listed. It takes one request."""
        bucket = self.root.path.partition("/")[0]
        try:
            with _allowed(self.root):
                self._objects.call_s3("list_objects_v2", Bucket=bucket, MaxKeys=1)
        except FileNotFoundError:
            return False
        return True

    def listed(self, start: str = "") -> dict[str, Listed]:
        """The objects whose names begin so, by name. A request lists a thousand objects.

        Names are relative to the root. The marks that some tools leave for a folder are no objects.
        """
        at = self.root.path.rstrip("/") + "/"
        try:
            with _allowed(self.root):
                found: dict[str, dict[str, Any]] = self._objects.find(at, detail=True, prefix=start)
        except FileNotFoundError:
            return {}
        return {
            path[len(at) :]: Listed(
                about["size"], about["ETag"].strip('"'), about["LastModified"].timestamp()
            )
            for path, about in sorted(found.items())
            if path.startswith(at) and not path.endswith("/")
        }

    def fetch(self, name: str, to: Path) -> None:
        """Write the bytes of an object to a file, a part at a time."""
        with _allowed(self.root):
            self._objects.get_file(f"{self.root.path.rstrip('/')}/{name}", str(to))


@contextmanager
def _allowed(root: UPath) -> Iterator[None]:
    """Refuse a bucket that does not answer, and credentials that may not read it."""
    try:
        with answered(root):
            yield
    except PermissionError as cause:
        raise StoreError(
            f"{root}: found no permission to read it ({cause}); expected credentials that may "
            "list and read the bucket. Correct them, or the policy of the bucket.",
            may_pass=True,
        ) from cause
