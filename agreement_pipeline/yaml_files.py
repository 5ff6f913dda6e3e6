"""Reading the YAML files that people write: policies, waivers, contracts, projects. Every value keeps its line, so that errors can name it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from agreement_pipeline.errors import AgreementError

LARGEST = 1_000_000
DEEPEST = 50


@dataclass(frozen=True)
class Place:
    """Where plain data were read: a file, a path of keys in it, and the line that each path stands on.

    >>> place = Place("standard.yaml", {("rules",): 4, ("rules", 0): 5})
    >>> str(place / "rules" / 0), str(place / "rules" / 0 / "measure")
    ('standard.yaml:5', 'standard.yaml:5')
    """

    file: str
    lines: Mapping[tuple[object, ...], int] = field(default_factory=dict)
    path: tuple[object, ...] = ()

    def __truediv__(self, key: object) -> "Place":
        return replace(self, path=(*self.path, key))

    def __str__(self) -> str:
        known = [
            self.lines[self.path[:n]]
            for n in range(len(self.path), -1, -1)
            if self.path[:n] in self.lines
        ]
        return f"{self.file}:{known[0]}" if known else self.file


def read_yaml(path: Path, error: type[AgreementError]) -> tuple[Any, Place]:
    """The plain data in a YAML file, and the line of every value.

    Anchors and aliases, tags, a key written twice, more than 50 levels and files over 1 MB are refused: none has a place in these files,
    and each can make a file say something else than it seems to.

    Raises
    ------
    AgreementError
        Of the kind `error`: the file is absent, too large, or no such YAML; the message names file and line.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise error(
                f"{path}: {path.stat().st_size} bytes found; at most {LARGEST} are required. Keep data out of this file."
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise error(
            f"{path}: cannot be read ({cause}); a UTF-8 text file is required. Check its name and encoding."
        ) from None
    lines: dict[tuple[object, ...], int] = {}
    try:
        _refuse_hidden(text, path, error)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.load(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as cause:
        mark = cause.problem_mark if isinstance(cause, yaml.MarkedYAMLError) else None
        where = str(path) if mark is None else f"{path}:{mark.line + 1}"
        raise error(
            f"{where}: not readable as YAML ({' '.join(str(getattr(cause, 'problem', None) or cause).split())}); plain YAML is required. Correct the line."
        ) from None
    _note_lines(node, (), lines, path, error)
    return data, Place(str(path), lines)


def _refuse_hidden(text: str, path: Path, error: type[AgreementError]) -> None:
    """Refuse what lets a value be another than the one written at its place."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        line = event.start_mark.line + 1 if event.start_mark else 1
        if depth > DEEPEST:
            raise error(
                f"{path}:{line}: values nested {depth} deep found; at most {DEEPEST} are required. Write the value flat."
            )
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise error(
                f"{path}:{line}: an anchor or alias found; values written out are required. Write the value itself."
            )
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)) and event.tag:
            raise error(
                f"{path}:{line}: tag {event.tag!r} found; values without a tag are required. Leave the tag out, and put texts in quotes."
            )


def _note_lines(
    node: yaml.Node | None,
    at: tuple[object, ...],
    lines: dict[tuple[object, ...], int],
    path: Path,
    error: type[AgreementError],
) -> None:
    if node is None:
        return
    lines[at] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _note_lines(value, (*at, number), lines, path, error)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if (*at, key.value) in lines:
                raise error(
                    f"{path}:{key.start_mark.line + 1}: key {key.value!r} found twice; each is required once. Remove one."
                )
            _note_lines(value, (*at, key.value), lines, path, error)
            lines[(*at, key.value)] = key.start_mark.line + 1
