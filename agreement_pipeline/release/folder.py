"""The files in the folder of a release: all that its manifest lists, and no other."""

import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.errors import AgreementError, ReleaseInvalidError
from agreement_pipeline.large_files import Content
from agreement_pipeline.ratings import Cells, InTurn, ParquetRows, Rows, stored_cells
from agreement_pipeline.release.contents import (
    DOCUMENTS,
    EACH,
    MANIFEST,
    WITHDRAWN,
    Paths,
    as_json,
    document,
)
from agreement_pipeline.release.tables import ANNOTATIONS, TRAIN, UNRESOLVED
from agreement_pipeline.store import Folder, digest_of, storage_at
from agreement_pipeline.text import listed

MOST_SAID, MOST_BYTES = 100_000_000, 100_000_000_000
"""The most bytes of a manifest or a notice, and of another file."""
REQUIRED = frozenset({TRAIN, UNRESOLVED, ANNOTATIONS, *DOCUMENTS})


def read_folder(path: Folder) -> dict[str, Content]:
    """Copies of the files of a release by name, checked against its manifest.

    Raises
    ------
    ReleaseInvalidError
        There is no manifest, the release was withdrawn, or a file is missing, extra or changed.
    """
    storage = storage_at(path)
    found = set(storage.names())
    _refuse_other_kinds(path, found & {WITHDRAWN, MANIFEST})
    _refuse_large(path, dict.fromkeys(found & {WITHDRAWN, MANIFEST}, MOST_SAID))
    if WITHDRAWN in found:
        raise _withdrawn(path, storage.read(WITHDRAWN) or b"")
    manifest = storage.read(MANIFEST)
    if manifest is None:
        raise ReleaseInvalidError(
            f"{path}: found no {MANIFEST}; expected one, since it is written last. "
            "Ask for the complete folder.",
            "release_unfinished",
        )
    promised = json_in({MANIFEST: manifest}, MANIFEST, path).get("files")
    if not isinstance(promised, dict) or not promised.keys() >= REQUIRED:
        raise ReleaseInvalidError(
            f"{path / MANIFEST}: found no list of all files of a release; expected one. "
            "Fetch the release again."
        )
    _refuse_other_files(path, set(promised), found - {MANIFEST})
    _refuse_unknown_files(path, set(promised))
    _refuse_other_kinds(path, found)
    _refuse_large(path, {name: _promised_bytes(said) for name, said in promised.items()})
    data = {name: storage.copied(name) or b"" for name in sorted(promised)}
    _refuse_changed_files(path, promised, data)
    return {MANIFEST: manifest, **data}


def cells_of(data: Mapping[str, Content], name: str, path: Folder) -> Cells:
    """The ratings in a Parquet file of a release, not checked yet.

    Raises
    ------
    ReleaseInvalidError
        The bytes are not a Parquet file.
    """
    try:
        return stored_cells(ParquetRows(data[name]), name)
    except AgreementError as cause:
        raise ReleaseInvalidError(f"{path / name}: {cause}") from None


def holds_rows(data: Mapping[str, Content], name: str, path: Folder, derived: Rows) -> bool:
    """True if a Parquet file of a release has these rows, as `same_rows` compares them.

    Raises
    ------
    ReleaseInvalidError
        The bytes are not a Parquet file.
    """
    try:
        return same_rows(ParquetRows(data[name]), derived)
    except AgreementError as cause:
        raise ReleaseInvalidError(f"{path / name}: {cause}") from None


def json_in(data: Mapping[str, Content], name: str, path: Folder) -> dict[str, Any]:
    """The object in a JSON file of a release.

    Written again, the object must give the same bytes. So no key is in the file twice, and
    all readers read the same.

    Raises
    ------
    ReleaseInvalidError
        The bytes are not an object in JSON as releases write it.
    """
    written = document(data, name)
    found = _parsed(written, name, path)
    try:
        same = as_json(found) == written
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise ReleaseInvalidError(
            f"{path / name}: found JSON that is not written as releases write it, "
            "for example with a key that stands in it twice; "
            "expected the very bytes that its data give. Fetch the release again."
        )
    return found


def _parsed(content: bytes, name: str, path: Folder) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as cause:
        raise ReleaseInvalidError(
            f"{path / name}: found no readable JSON ({cause}); expected what was released. "
            "Fetch the release again."
        ) from None
    if not isinstance(found, dict):
        raise ReleaseInvalidError(
            f"{path / name}: found {type(found).__name__}; expected a JSON object. "
            "Fetch the release again."
        )
    return found


def _withdrawn(path: Folder, data: bytes) -> ReleaseInvalidError:
    notice = _parsed(data, WITHDRAWN, path)
    said = notice.get("reasons")
    reasons = "; ".join(map(str, said)) if isinstance(said, list) else str(said)
    return ReleaseInvalidError(
        f"{path}: found a release withdrawn on {notice.get('time')}, "
        f"for round {notice.get('round')} ({reasons}); expected a release in force. "
        "Do not train on it; ask for the next release.",
        "release_withdrawn",
    )


def _refuse_other_files(path: Folder, promised: set[str], found: set[str]) -> None:
    if promised - found:
        raise ReleaseInvalidError(
            f"{path}: found no file {listed(sorted(promised - found))}; "
            "expected all files that the manifest lists. Fetch the release again.",
            "release_file_missing",
        )
    if found - promised:
        raise ReleaseInvalidError(
            f"{path}: found extra file {listed(sorted(found - promised))}; "
            "expected only what the manifest lists. Remove it.",
            "release_file_extra",
        )


def _refuse_unknown_files(path: Folder, promised: set[str]) -> None:
    """Refuse listed files that no release has.

    Nothing derives them. A trainer that loads `data/*` would train on them.
    """
    if promised - REQUIRED:
        raise ReleaseInvalidError(
            f"{path}: found files {listed(sorted(promised - REQUIRED))} in the manifest; "
            "expected only those that every release has. Fetch the release again.",
            "release_file_extra",
        )


def _refuse_other_kinds(path: Folder, found: set[str]) -> None:
    """Refuse links, since a writer elsewhere can change their files later, and pipes."""
    kinds = [
        name
        for name in sorted(found)
        if isinstance(path, Path) and not stat.S_ISREG((path / name).lstat().st_mode)
    ]
    if kinds:
        raise ReleaseInvalidError(
            f"{path}: found links, or things of another kind, {listed(kinds)}; "
            "expected the files themselves. Copy the folder with what its links lead to."
        )


def _promised_bytes(said: object) -> int:
    """How many bytes a manifest promises of a file, and no more than a file can have."""
    found = said.get("bytes") if isinstance(said, dict) else None
    return min(found, MOST_BYTES) if isinstance(found, int) else 0


def _refuse_large(path: Folder, most: Mapping[str, int]) -> None:
    """Refuse files that are larger than they may be, before they are read."""
    large = [
        name
        for name, size in most.items()
        if isinstance(path, Path) and (path / name).lstat().st_size > size
    ]
    if large:
        raise ReleaseInvalidError(
            f"{path}: found more bytes in {listed(large)} than the manifest lists, or than a "
            "release can have; expected those that were released. Fetch the release again.",
            "release_file_changed",
        )


def _refuse_changed_files(
    path: Folder, promised: Mapping[str, object], data: Mapping[str, Content]
) -> None:
    changed = [
        name
        for name, content in data.items()
        if promised[name] != {"sha256": digest_of(content), "bytes": len(content)}
    ]
    if changed:
        raise ReleaseInvalidError(
            f"{path}: found other bytes in {listed(changed)}; "
            "expected those that were released. Fetch the release again.",
            "release_file_changed",
        )


TOLERANCE = 1e-9


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def same_rows(found: ParquetRows, derived: Rows) -> bool:
    """True for the same rows under the same schema, in a file whose footer adds nothing.

    The last digits of a number may differ, unless the number is a label. Labels are added up
    exactly.
    """
    same_columns = (
        found.schema.equals(derived.schema) and found.schema.metadata == derived.schema.metadata
    )
    plain = found.has_plain_footer(derived.schema.metadata or {})
    if not (same_columns and plain) or len(found) != len(derived):
        return False
    again = InTurn(derived)
    same = all(_same_part(part, again.take(len(part))) for part in found.parts())
    return same and not len(again.take(1))


def difference(
    found: object, derived: object, at: str, passed_over: Paths = frozenset()
) -> str | None:
    """The first place where plain data differ, in words. None if they are the same.

    Numbers may differ within the tolerance. Values under the paths in `passed_over` may
    differ, but both must be there and have the same type. A missing key is not a null, and
    a true is not a one.
    """
    if () in passed_over and type(found) is type(derived):
        return None
    if isinstance(found, dict) and isinstance(derived, dict):
        names = sorted(found.keys() | derived.keys())
        parts = [
            (
                found.get(name, NOTHING),
                derived.get(name, NOTHING),
                f"{at}, {name}",
                _under(passed_over, name),
            )
            for name in names
        ]
        return next((words for part in parts if (words := difference(*part))), None)
    if isinstance(found, list) and isinstance(derived, list) and len(found) == len(derived):
        inside = _under(passed_over, EACH)
        return next(
            (
                words
                for n, pair in enumerate(zip(found, derived, strict=True), 1)
                if (words := difference(*pair, f"{at} {n}", inside))
            ),
            None,
        )
    return (
        None
        if _same(found, derived)
        else f"{at} is {shortened(found)} and comes out as {shortened(derived)}"
    )


def _under(paths: Paths, name: str) -> Paths:
    """The rest of each path that leads through a key."""
    return frozenset(path[1:] for path in paths if path and path[0] in (name, EACH))


def _same(found: object, derived: object) -> bool:
    if isinstance(found, float) and isinstance(derived, float):
        return math.isclose(found, derived, rel_tol=0, abs_tol=TOLERANCE)
    return found == derived and (
        type(found) is type(derived) or {type(found), type(derived)} == {int, float}
    )


def _same_part(found: pa.Table, derived: pa.Table) -> bool:
    return all(
        _same_column(name, found[name].combine_chunks(), derived[name].combine_chunks())
        for name in derived.column_names
    )


def _same_column(name: str, found: pa.Array, derived: pa.Array) -> bool:
    return bool(found.equals(derived)) if name == "label" else _same_values(found, derived)


def _same_values(found: pa.Array, derived: pa.Array) -> bool:
    if not found.is_null().equals(derived.is_null()):
        return False
    if pa.types.is_fixed_size_list(found.type):
        return _same_values(found.flatten(), derived.flatten())
    if pa.types.is_floating(found.type):
        return np.allclose(
            found.to_numpy(zero_copy_only=False),
            derived.to_numpy(zero_copy_only=False),
            rtol=0,
            atol=TOLERANCE,
            equal_nan=True,
        )
    return bool(found.equals(derived))
