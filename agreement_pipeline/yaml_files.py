"""Reading the YAML files that people write.

Every value keeps its line, so that an error can name the line.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

import yaml

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.mistakes import KeyPath, key_in_message, value_in_message
from agreement_pipeline.text import counted, listed, suggest_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C is ten times as fast, but PyYAML may be built without it."""

KINDS_BY_KEY = {
    "inbox": "a project",
    "rounds_from": "a project",
    "rules": "a policy",
    "until": "a waiver",
    "model": "a classifier",
}
MAX_BYTES = 1_000_000
MAX_DEPTH = 50
MAX_WORDS, MAX_MISTAKES = 40_000, 50
"""So many keys and values are read of a file in a second, and so many mistakes are named."""

NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
AMBIGUOUS_NUMBER = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-9]+)+(\.[0-9_]*)?)")
"""YAML 1.1 reads 010 as 8 and 1:30 as 90. YAML 1.2 reads 10 and a text."""

UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
TEXT, NUMBER, WHOLE_NUMBER, MAPPING = (
    "text",
    "a number",
    "a whole number",
    "a mapping of keys and values",
)
EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dataclass_type": MAPPING,
    "dict_type": MAPPING,
    "finite_number": "a finite number",
    "float_parsing": NUMBER,
    "float_type": NUMBER,
    "greater_than": "a number over {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "int_from_float": WHOLE_NUMBER,
    "int_parsing": WHOLE_NUMBER,
    "int_type": WHOLE_NUMBER,
    "invalid_key": "a key that is text",
    "less_than": "a number under {lt}",
    "less_than_equal": "a number of at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": MAPPING,
    "string_type": TEXT,
    "tuple_type": "a list",
}

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Place:
    """Where plain data were read: a file and a path of keys in it.

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
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def line(self) -> int:
        """The nearest value around a path tells its line; 0 if no line is known."""
        enclosing_paths = (self.path[:n] for n in range(len(self.path), -1, -1))
        return next((self.lines[path] for path in enclosing_paths if path in self.lines), 0)


def read_yaml(path: Path, error: type[AgreementError], expected_key: str = "") -> tuple[Any, Place]:
    """The plain data in a YAML file, and the line of every value.

    Anchors, aliases, tags and keys that are written twice are refused, since they let a file say
    something else than it seems to. So are more than 50 levels, more than 40,000 keys and
    values, and files over 1 MB.
    """
    text = _read_text(path, error)
    lines: dict[tuple[object, ...], int] = {}
    try:
        _refuse_invisible_characters(text, path, error)
        node = yaml.compose(text, Loader=LOADER)
        data = yaml.load(text, Loader=LOADER)
    except AgreementError:
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as cause:
        mark = cause.problem_mark if isinstance(cause, yaml.MarkedYAMLError) else None
        location = str(path) if mark is None else f"{path}:{mark.line + 1}"
        cause_text = " ".join(str(getattr(cause, "problem", None) or cause).split())
        raise error(
            f"{location}: found text that is not readable as YAML ({cause_text}); expected plain "
            "YAML. Correct the line."
        ) from None
    _note_line_of_each_key(node, (), lines, path, error)
    kinds = [kind for key, kind in KINDS_BY_KEY.items() if isinstance(data, dict) and key in data]
    if expected_key and kinds and KINDS_BY_KEY[expected_key] not in kinds:
        raise error(
            f"{path}: found the file of {kinds[0]}; expected that of {KINDS_BY_KEY[expected_key]}. "
            "Name another file."
        )
    return data, Place(str(path), lines)


def validate_settings(
    kind: type[Settings], data: object, source: str | Place, error: type[AgreementError]
) -> Settings:
    """Settings from data that were read at a place.

    One error of the kind `error` lists every mistake as
    `<file>:<line>: <key>: found X; expected Y. <next step>`, in the order of the lines.
    """
    from pydantic import ValidationError

    try:
        settings: Settings = _build_adapter(cast(Any, kind)).validate_python(data)
        return settings
    except ValidationError as cause:
        details = cause.errors(include_url=False)
    place = source if isinstance(source, Place) else Place(source)
    raise error(" ".join(_iterate_mistakes(details, kind, data, place)))


@cache
def _build_adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _iterate_mistakes(
    details: Iterable["ErrorDetails"], kind: type, data: object, place: Place
) -> Iterator[str]:
    by_path: dict[KeyPath, list[ErrorDetails]] = {}
    for detail in details:
        by_path.setdefault(_find_path(data, detail), []).append(detail)
    n_more = len(by_path) - MAX_MISTAKES
    mistakes = [
        (replace(place, path=(*place.path, *path)), path, words)
        for data_path, path_details in islice(by_path.items(), MAX_MISTAKES)
        for path, words in _iterate_field_mistakes(data_path, path_details, kind)
    ]
    named_keys = set[str]()
    for location, path, words in sorted(mistakes, key=lambda mistake: mistake[0].line):
        keys = _describe_keys(_list_keys_at(kind, path[:-1]))
        shortened_words = (
            words.replace(keys, "one of the same keys") if keys in named_keys else words
        )
        if keys in words:
            named_keys.add(keys)
        yield f"{location}: {f'{key_in_message(path)}: ' if path else ''}{shortened_words}"
    if n_more > 0:
        yield f"And {counted(n_more, 'more mistake')}."


def _iterate_field_mistakes(
    path: KeyPath, details: list["ErrorDetails"], kind: type
) -> Iterator[tuple[KeyPath, str]]:
    cause = details[0].get("ctx", {}).get("error")
    if isinstance(cause, AgreementError) and cause.mistakes:
        yield from (((*path, *field_path), words) for field_path, words in cause.mistakes)
        return
    words = _describe_mistake(details, path, kind)
    name, _, message = words.partition(": ")
    if name in _list_keys_at(kind, path):
        yield (*path, name), message
    else:
        yield path, words.removeprefix(f"{path[-1]}: " if path else "")


def _find_path(data: Any, details: "ErrorDetails") -> KeyPath:
    path: list[str | int] = []
    for step in details["loc"]:
        is_list_index = isinstance(data, list) and isinstance(step, int)
        if is_list_index or (isinstance(data, Mapping) and step in data):
            data = data[step]
        elif details["type"] != "missing" or step is not details["loc"][-1]:
            continue
        path.append(step)
    return tuple(path)


def _describe_mistake(details: list["ErrorDetails"], path: KeyPath, kind: type) -> str:
    detail = details[0]
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    if detail["type"] == "missing":
        return f"found nothing; expected a value. Add the key {path[-1]}."
    if detail["type"] in UNKNOWN:
        keys = _list_keys_at(kind, path[:-1])
        matches = get_close_matches(str(path[-1]), keys, n=1)
        hint = (
            f"Did you mean {matches[0]!r}?"
            if matches
            else "Correct the spelling, or remove the key."
        )
        return f"found an unknown key; expected {_describe_keys(keys)}. {hint}"
    *other_kinds, last_kind = dict.fromkeys(map(_describe_expected, details))
    expected = f"{', '.join(other_kinds)} or {last_kind}" if other_kinds else last_kind
    quotes = value_in_message(detail["input"]) in ("True", "False") and TEXT in (
        *other_kinds,
        last_kind,
    )
    step = "Put yes, no, true and false in quotes." if quotes else "Correct the value."
    return f"found {value_in_message(detail['input'])}; expected {expected}. {step}"


def _describe_keys(keys: Sequence[str]) -> str:
    return f"one of {listed(keys, 30)}"


def _describe_expected(details: "ErrorDetails") -> str:
    words = EXPECTED.get(details["type"])
    if words is None:
        return details["msg"].removeprefix("Input should be ")
    return words.format(**details.get("ctx", {}))


def _list_keys_at(kind: type, path: KeyPath) -> list[str]:
    annotation: object = _find_settings_type(kind)
    for step in path:
        if isinstance(step, str) and step in _list_fields(annotation):
            annotation = _find_settings_type(get_type_hints(annotation)[step])
    return list(_list_fields(annotation))


def _find_settings_type(annotation: object) -> object:
    if _list_fields(annotation):
        return annotation
    inner = (_find_settings_type(argument) for argument in get_args(annotation))
    return next((candidate for candidate in inner if candidate is not None), None)


def _list_fields(kind: object) -> Collection[str]:
    model_fields = getattr(kind, "model_fields", None)
    return model_fields or (
        [settings_field.name for settings_field in fields(kind) if settings_field.init]
        if is_dataclass(kind)
        else ()
    )


def _read_text(path: Path, error: type[AgreementError]) -> str:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise error(
                f"{path}: found {size} bytes; expected at most {MAX_BYTES}. "
                "Keep data out of this file."
            )
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        yaml_names = sorted(file.name for file in path.parent.glob("*.y*ml"))
        step = suggest_name(path.name, yaml_names, "Check the path.")
        raise error(f"{path}: found no such file; expected a YAML file. {step}") from None
    except (OSError, UnicodeDecodeError) as cause:
        raise error(
            f"{path}: found a file that cannot be read ({cause}); expected a UTF-8 text file. "
            "Check its name and encoding."
        ) from None


def _refuse_invisible_characters(text: str, path: Path, error: type[AgreementError]) -> None:
    depth = n_words = 0
    for event in yaml.parse(text, Loader=LOADER):
        n_words += isinstance(event, yaml.ScalarEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 1
        message = ""
        if depth > MAX_DEPTH:
            message = (
                f"found values nested {depth} deep; expected at most {MAX_DEPTH}. "
                "Write the value flat."
            )
        elif n_words > MAX_WORDS:
            message = (
                f"found more than {MAX_WORDS:,} keys and values; expected at most so many. "
                "Keep data out of this file."
            )
        elif isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            message = (
                "found an anchor or alias; expected values written out. Write the value itself."
            )
        elif tag := getattr(event, "tag", None):
            message = (
                f"found tag {tag!r}; expected values without a tag. "
                "Leave the tag out, and put texts in quotes."
            )
        if message:
            raise error(f"{path}:{line}: {message}")


def _note_line_of_each_key(
    node: yaml.Node | None,
    key_path: tuple[object, ...],
    lines: dict[tuple[object, ...], int],
    path: Path,
    error: type[AgreementError],
) -> None:
    if node is None:
        return
    lines[key_path] = node.start_mark.line + 1
    _refuse_ambiguous_number(node, path, error)
    if isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            _note_line_of_each_key(value, (*key_path, number), lines, path, error)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if (*key_path, key.value) in lines:
                raise error(
                    f"{path}:{key.start_mark.line + 1}: found key {key.value!r} twice; "
                    "expected each key once. Remove one."
                )
            _refuse_ambiguous_number(key, path, error)
            _note_line_of_each_key(value, (*key_path, key.value), lines, path, error)
            lines[(*key_path, key.value)] = key.start_mark.line + 1


def _refuse_ambiguous_number(node: yaml.Node, path: Path, error: type[AgreementError]) -> None:
    if node.tag not in NUMBER_TAGS or not AMBIGUOUS_NUMBER.fullmatch(node.value):
        return
    number = yaml.load(node.value, Loader=LOADER)
    decimal = number if ":" in node.value else int(node.value)
    step = f"{number}" if decimal == number else f"{decimal} or {number}, whichever you mean"
    raise error(
        f"{path}:{node.start_mark.line + 1}: found {node.value}, which YAML 1.1 reads as "
        f"{number}; expected a number that everybody reads alike. "
        f"Write {step}, or put a text in quotes."
    )
