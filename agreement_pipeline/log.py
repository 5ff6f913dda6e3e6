"""The store's log: one line an event, each carrying the digest of the line before it."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agreement_pipeline import files
from agreement_pipeline.errors import StoreError, listed

SUBJECTS = {"ingested": "ratings", "decided": "decision", "released": "release", "withdrawn": "release"}
DECIDING = ("decision", "ratings_digest", "policy_digest", "contract_digest", "code_version")
OWN = ("number", "time", "event", "round", "previous")


def entries(path: Path) -> tuple[dict[str, Any], ...]:
    """All entries, in order.

    Raises
    ------
    StoreError
        An entry was edited, moved or removed.
    """
    return tuple(_checked(path, _lines(path)))


def append(path: Path, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
    """Add an entry, unless the last one on the same subject says the same.

    A decision is the same when what it rests on is: names and words follow from that.

    Raises
    ------
    StoreError
        The event is unknown, a fact has a name of the log's own, or the log was edited.
    """
    _refuse_unknown(event, facts)
    lines = _lines(path)
    before = _checked(path, lines)
    told = json.loads(json.dumps(dict(facts), allow_nan=False))
    if _said_before(before, event, round_name, told):
        return
    entry = {
        "number": len(lines) + 1,
        "time": datetime.now(UTC).isoformat(),
        "event": event,
        "round": round_name,
        **told,
        "previous": files.digest_of(lines[-1]) if lines else "",
    }
    _note_end(path, lines)
    lines.append(json.dumps(entry, ensure_ascii=False).encode())
    files.write(path, b"".join(line + b"\n" for line in lines))
    _note_end(path, lines)


def _refuse_unknown(event: str, facts: Mapping[str, Any]) -> None:
    if event not in SUBJECTS:
        raise StoreError(f"log: event {event!r} found; one of {', '.join(SUBJECTS)} is required. Correct the event.")
    taken = sorted(set(OWN) & set(facts))
    if taken:
        raise StoreError(f"log: facts called {listed(taken)} found; these names are the log's own. Rename the facts.")


def _said_before(before: list[dict[str, Any]], event: str, round_name: str, told: dict[str, Any]) -> bool:
    same_subject = [entry for entry in before if entry["round"] == round_name and SUBJECTS[entry["event"]] == SUBJECTS[event]]
    if not same_subject or same_subject[-1]["event"] != event:
        return False
    last = {name: value for name, value in same_subject[-1].items() if name not in OWN}
    names = DECIDING if event == "decided" else {*last, *told}
    return all(last.get(name) == told.get(name) for name in names)


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def _checked(path: Path, lines: list[bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    previous = ""
    for number, line in enumerate(lines, 1):
        entry = _entry(line)
        if entry.get("number") != number or entry.get("previous") != previous:
            raise _broken(path, f"entry {number} does not follow the one before it")
        previous = files.digest_of(line)
        found.append(entry)
    _refuse_other_end(path, lines)
    return found


def _entry(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _refuse_other_end(path: Path, lines: list[bytes]) -> None:
    """The end is noted after the entry, so that it may be one behind."""
    number, _, digest = _end(path).read_text(encoding="utf-8").strip().partition(" ") if _end(path).exists() else ("0", "", "")
    if number not in (str(len(lines)), str(len(lines) - 1)):
        raise _broken(path, f"{len(lines)} entries found where {number} were written")
    if int(number) and files.digest_of(lines[int(number) - 1]) != digest:
        raise _broken(path, f"entry {number} is not the one that was written")


def _note_end(path: Path, lines: list[bytes]) -> None:
    """Note the number and digest of the last entry: without them, nobody would miss it."""
    if lines:
        files.write(_end(path), f"{len(lines)} {files.digest_of(lines[-1])}\n".encode())


def _end(path: Path) -> Path:
    return path.with_suffix(".end")


def _broken(path: Path, found: str) -> StoreError:
    return StoreError(f"{path}: {found}; every entry as it was written is required. Restore the log, with its .end file, from a backup.")
