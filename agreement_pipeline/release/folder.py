"""The files in the folder of a release: all that its manifest lists, and no other."""

import json
import math
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os.path import lexists
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.errors import MISREAD, AgreementError, ReleaseInvalidError
from agreement_pipeline.large_files import Content, Files
from agreement_pipeline.ratings import BatchRows, ParquetRows, RowQueue
from agreement_pipeline.release.contents import (
    ANY_KEY,
    DOCUMENTS,
    MANIFEST,
    SCHEMAS,
    WITHDRAWN,
    Paths,
    as_json,
    document,
)
from agreement_pipeline.release.objects import OBJECT_FILES
from agreement_pipeline.release.tables import ANNOTATIONS, TRAIN, UNRESOLVED
from agreement_pipeline.release.tables_to_form_3 import UNRESOLVED_TO_FORM_3
from agreement_pipeline.store import Folder, digest_of, storage_at
from agreement_pipeline.text import counted, joined, listed

MAX_RELEASES_NAMED = 5
MAX_DOCUMENT_BYTES = 100_000_000
MAX_FILE_BYTES = 100_000_000_000
REQUIRED = frozenset({TRAIN, UNRESOLVED, ANNOTATIONS, *DOCUMENTS})
REQUIRED_TO_FORM_3 = REQUIRED - {UNRESOLVED} | {UNRESOLVED_TO_FORM_3}

FOREIGN_FILES = frozenset(
    {".gitattributes", ".gitignore", ".DS_Store", "Thumbs.db", "desktop.ini", "CACHEDIR.TAG"}
)
"""What a Hub, git or a desktop puts into a folder. No pattern of a program that trains takes it."""
FOREIGN_FOLDERS = frozenset({".cache", ".git"})
FOREIGN_SUFFIXES = (".metadata", ".lock", ".incomplete")


def is_foreign(name: str) -> bool:
    """True for a file that a Hub, git or a desktop adds to a folder, and that nobody trains on.

    >>> is_foreign("data/.DS_Store"), is_foreign(".cache/huggingface/download/README.md.metadata")
    (True, True)
    >>> is_foreign("data/more.parquet"), is_foreign(".cache/more.parquet"), is_foreign(".git/HEAD")
    (False, False, True)
    >>> is_foreign(".git/more.parquet")
    False
    """
    folder, _, _ = name.partition("/")
    file = name.rpartition("/")[2]
    # a pattern such as **/*.parquet may take it, and half of a file of macOS too
    if file.endswith(".parquet"):
        return False
    if folder in FOREIGN_FOLDERS and folder != file:
        return folder == ".git" or file in FOREIGN_FILES or file.endswith(FOREIGN_SUFFIXES)
    return file in FOREIGN_FILES or file.startswith("._")


def foreign_files(path: Folder) -> tuple[str, ...]:
    """The files in the folder of a release that a Hub, git or a desktop added."""
    return tuple(sorted(filter(is_foreign, storage_at(path).names())))


def read_folder(path: Folder) -> dict[str, Content]:
    storage = storage_at(path)
    file_names = set(storage.names())
    # A folder is no file, but it would keep the place of the notice.
    if isinstance(path, Path) and lexists(path / WITHDRAWN):
        file_names.add(WITHDRAWN)
    control_files = file_names & {WITHDRAWN, MANIFEST}
    _refuse_unreadable(path, control_files, dict.fromkeys(control_files, MAX_DOCUMENT_BYTES))
    if WITHDRAWN in file_names:
        notice = _parse_object(storage.read(WITHDRAWN) or b"", WITHDRAWN, path)
        reasons = notice.get("reasons")
        reasons_text = "; ".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons)
        raise ReleaseInvalidError(
            f"{path}: found a release withdrawn on {notice.get('time')}, "
            f"for round {notice.get('round')} ({reasons_text}); expected a release in force. "
            "Do not train on it; ask for the next release.",
            "release_withdrawn",
        )
    manifest = storage.read(MANIFEST)
    if manifest is None:
        releases = sorted(
            name.removesuffix(f"/{MANIFEST}")
            for name in file_names
            if name.endswith(f"/{MANIFEST}")
        )
        if releases:
            names = joined((f"{path}/{name}" for name in releases), MAX_RELEASES_NAMED)
            problem = (
                f"found {counted(len(releases), 'release')} in this folder; expected the folder of "
                f"one release itself. Name it: {names}."
            )
        elif file_names:
            problem = (
                f"found no {MANIFEST}; expected one, since it is written last. "
                "Ask for the complete folder."
            )
        else:
            problem = "found no folder with files; expected that of a release. Check the path."
        raise ReleaseInvalidError(f"{path}: {problem}", "release_unfinished")
    manifest_json = read_canonical_json({MANIFEST: manifest}, MANIFEST, path)
    promised = manifest_json.get("files")
    is_older = manifest_json.get("schema") in SCHEMAS[:-1]
    required = REQUIRED_TO_FORM_3 if is_older else REQUIRED
    if not isinstance(promised, dict) or not promised.keys() >= required:
        raise ReleaseInvalidError(
            f"{path / MANIFEST}: found no list of all files of a release; expected one. "
            "Fetch the release again."
        )
    foreign = {name for name in file_names - promised.keys() if is_foreign(name)}
    file_names -= foreign
    data_files, listed_there = file_names - {MANIFEST}, promised.keys()
    if missing := listed_there - data_files:
        raise ReleaseInvalidError(
            f"{path}: found no file {listed(sorted(missing))}; "
            "expected all files that the manifest lists. Fetch the release again.",
            "release_file_missing",
        )
    if extra := data_files - listed_there:
        raise ReleaseInvalidError(
            f"{path}: found extra file {listed(sorted(extra))}; "
            "expected only what the manifest lists. Remove it.",
            "release_file_extra",
        )
    # nothing derives other files, and a trainer that loads data/* would train on them
    if unknown := listed_there - required - OBJECT_FILES:
        raise ReleaseInvalidError(
            f"{path}: found files {listed(sorted(unknown))} in the manifest; "
            "expected only those that releases have. Fetch the release again.",
            "release_file_extra",
        )
    _refuse_unreadable(
        path, file_names, {name: _promised_size(entry) for name, entry in promised.items()}
    )
    data = {name: storage.copied(name) or b"" for name in sorted(promised)}
    changed_names = [
        name
        for name, content in data.items()
        if promised[name] != {"sha256": digest_of(content), "bytes": len(content)}
    ]
    if changed_names:
        raise ReleaseInvalidError(
            f"{path}: found other bytes in {listed(changed_names)}; "
            "expected those that were released. Fetch the release again.",
            "release_file_changed",
        )
    return {MANIFEST: manifest, **data}


def _promised_size(entry: object) -> int:
    n_bytes = entry.get("bytes") if isinstance(entry, dict) else None
    return min(n_bytes, MAX_FILE_BYTES) if isinstance(n_bytes, int) else 0


def _refuse_unreadable(path: Folder, names: set[str], max_bytes_by_name: Mapping[str, int]) -> None:
    """Refuse large files, pipes, and links, whose files others can change, before reading."""
    if not isinstance(path, Path):
        return
    kinds = [name for name in sorted(names) if not stat.S_ISREG((path / name).lstat().st_mode)]
    if kinds:
        raise ReleaseInvalidError(
            f"{path}: found links, or things of another kind, {listed(kinds)}; "
            "expected the files themselves. Copy the folder with what its links lead to."
        )
    large = [
        name for name, size in max_bytes_by_name.items() if (path / name).lstat().st_size > size
    ]
    if large:
        raise ReleaseInvalidError(
            f"{path}: found more bytes in {listed(large)} than the manifest lists, or than a "
            "release can have; expected those that were released. Fetch the release again.",
            "release_file_changed",
        )


@contextmanager
def refusing_unread_file(path: Folder, name: str) -> Iterator[None]:
    try:
        yield
    except AgreementError as cause:
        raise ReleaseInvalidError(f"{path / name}: {cause}") from None


def read_canonical_json(data: Files, name: str, path: Folder) -> dict[str, Any]:
    """Written again, the object must give the same bytes.

    So no key is in the file twice, and all readers read the same.
    """
    content = document(data, name)
    json_object = _parse_object(content, name, path)
    try:
        if as_json(json_object) == content:
            return json_object
    except MISREAD:
        pass
    raise ReleaseInvalidError(
        f"{path / name}: found JSON that is not written as releases write it, "
        "for example with a key that stands in it twice; "
        "expected the very bytes that its data give. Fetch the release again."
    )


def _parse_object(content: bytes, name: str, path: Folder) -> dict[str, Any]:
    try:
        json_object = json.loads(content)
    except MISREAD as cause:
        raise ReleaseInvalidError(
            f"{path / name}: found no readable JSON ({cause}); expected what was released. "
            "Fetch the release again."
        ) from None
    if not isinstance(json_object, dict):
        raise ReleaseInvalidError(
            f"{path / name}: found {type(json_object).__name__}; expected a JSON object. "
            "Fetch the release again."
        )
    return json_object


TOLERANCE = 1e-9
KEYS_ADDED_SINCE = {"repeat_rate"}
"""Documents of earlier versions do not have these keys."""


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def has_same_rows(stored: ParquetRows, derived: BatchRows, *, any_footer: bool = False) -> bool:
    """The last digits of a number may differ, unless the number is a label. Labels are added up
    exactly.
    """
    same_columns = (
        stored.schema.equals(derived.schema) and stored.schema.metadata == derived.schema.metadata
    )
    plain = any_footer or stored.describes_only_rows(derived.schema.metadata or {})
    if not (same_columns and plain) or len(stored) != len(derived):
        return False
    derived_rows = RowQueue(derived)
    for part in stored.iterate_row_groups():
        due = derived_rows.take_next(len(part))
        for name in due.column_names:
            stored_column, derived_column = part[name].combine_chunks(), due[name].combine_chunks()
            if not (
                stored_column.equals(derived_column)
                if name == "label"
                else _are_same_columns(stored_column, derived_column)
            ):
                return False
    return not len(derived_rows.take_next(1))


def difference(
    stored: object, derived: object, location: str, passed_over: Paths = frozenset()
) -> str | None:
    """Numbers may differ within the tolerance. Values under `passed_over` paths may differ, but
    must have the same type. A missing key is not a null, but one of `KEYS_ADDED_SINCE` may.
    """
    if () in passed_over and type(stored) is type(derived):
        return None
    pairs: Iterator[tuple[object, object, str, str]]
    if isinstance(stored, dict) and isinstance(derived, dict):
        names = sorted(stored.keys() | derived.keys() - KEYS_ADDED_SINCE)
        pairs = (
            (stored.get(name, NOTHING), derived.get(name, NOTHING), f"{location}, {name}", name)
            for name in names
        )
    elif isinstance(stored, list) and isinstance(derived, list) and len(stored) == len(derived):
        numbered_pairs = enumerate(zip(stored, derived, strict=True), 1)
        pairs = (
            (stored_value, derived_value, f"{location} {n}", ANY_KEY)
            for n, (stored_value, derived_value) in numbered_pairs
        )
    elif _are_same_values(stored, derived):
        return None
    else:
        return f"{location} is {shortened(stored)} and comes out as {shortened(derived)}"
    for stored_value, derived_value, place, name in pairs:
        passed_over_inside = frozenset(
            path[1:] for path in passed_over if path and path[0] in (name, ANY_KEY)
        )
        if words := difference(stored_value, derived_value, place, passed_over_inside):
            return words
    return None


def _are_same_values(stored: object, derived: object) -> bool:
    if isinstance(stored, float) and isinstance(derived, float):
        return math.isclose(stored, derived, rel_tol=0, abs_tol=TOLERANCE)
    return stored == derived and (
        type(stored) is type(derived) or {type(stored), type(derived)} == {int, float}
    )


def _are_same_columns(stored: pa.Array, derived: pa.Array) -> bool:
    if not stored.is_null().equals(derived.is_null()):
        return False
    if pa.types.is_list(stored.type) and not stored.value_lengths().equals(derived.value_lengths()):
        return False
    if pa.types.is_list(stored.type) or pa.types.is_fixed_size_list(stored.type):
        return _are_same_columns(stored.flatten(), derived.flatten())
    if pa.types.is_floating(stored.type):
        return np.allclose(
            stored.to_numpy(zero_copy_only=False),
            derived.to_numpy(zero_copy_only=False),
            rtol=0,
            atol=TOLERANCE,
            equal_nan=True,
        )
    return bool(stored.equals(derived))
