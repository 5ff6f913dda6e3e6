"""Which classifier it is: what tells a model, its prompt and its rubric from others."""

import datetime
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path
from typing import Annotated, Any

from agreement_pipeline.errors import CertificateError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import (
    CLOSED,
    Value,
    day_value,
    is_text,
    refuse_mistakes,
    value_in_message,
)
from agreement_pipeline.policy import build_gate_finding, is_digest
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.store import digest_at
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings

FILES = {"prompt": "prompt_digest", "rubric": "rubric_digest"}


def _are_plain_values(values: object) -> bool:
    try:
        json.dumps(values, sort_keys=True, allow_nan=False)
    except (RecursionError, TypeError, ValueError):
        return False
    return isinstance(values, Mapping) and all(map(is_text, values))


TEXT = Value("text", is_text)
IF_KNOWN = Value("text", is_text, "Leave the key out if it is not known.")
DIGEST = Value(
    "SHA-256, which has 64 hexadecimal digits in lower case",
    is_digest,
    "Name the file instead, as prompt: judge.txt, and its digest is taken.",
)
PARAMETERS = Value(
    "texts, finite numbers, true or false, and lists of these, by name", _are_plain_values
)


@dataclass(frozen=True)
class Identity:
    """Which classifier it is. What is None is not known, and the certificate says so.

    Nothing in ratings shows that this classifier gave the labels. Whoever writes the identity
    answers for that.

    Parameters
    ----------
    model, version, date
        As its maker names them.
    prompt_digest, rubric_digest
        SHA-256 of the bytes of its prompt, and of its rubric.
    parameters
        What it is called with, such as temperature and seed. 0 and 0.0 are the same.

    Raises
    ------
    CertificateError
        A value is not one of those described above.
    """

    __pydantic_config__ = CLOSED

    name: Annotated[str, TEXT]
    model: Annotated[str | None, IF_KNOWN] = None
    version: Annotated[str | None, IF_KNOWN] = None
    prompt_digest: Annotated[str | None, DIGEST] = None
    rubric_digest: Annotated[str | None, DIGEST] = None
    parameters: Annotated[Mapping[str, Any] | None, PARAMETERS] = None
    date: Annotated[datetime.date | None, day_value()] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, CertificateError)

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "identity") -> "Identity":
        return validate_settings(cls, data, source, CertificateError)

    def to_mapping(self) -> dict[str, Any]:
        parameters = None if self.parameters is None else dict(self.parameters)
        return {
            **vars(self),
            "parameters": _normalize_parameters(parameters),
            "date": self.date and self.date.isoformat(),
        }

    @property
    def digest(self) -> str:
        """Another digest is another classifier."""
        return digest_of_plain(self.to_mapping())

    @property
    def absent(self) -> tuple[str, ...]:
        """What is not known is bound to nothing."""
        return tuple(name for name, value in self.to_mapping().items() if value is None)

    @property
    def in_words(self) -> str:
        parts = ", ".join(
            f"{name} {value}"
            for name in ("model", "version")
            if (value := getattr(self, name)) is not None
        )
        absent = f"; not known of it: {listed(self.absent)}" if self.absent else ""
        return (
            f"classifier {self.name}{f' ({parts})' if parts else ''} with the digest "
            f"{self.digest[:12]}{absent}"
        )

    def beside(self, other: "Identity") -> "Identity":
        """Of the parts that both know, this one's. The rest is that of the other, known or not."""
        mine, theirs = vars(self), vars(other)
        unknown = [part for part in mine if mine[part] is None or theirs[part] is None]
        return replace(self, **{part: theirs[part] for part in unknown})

    def refuse_other(self, certified: "Identity") -> None:
        """Refuse to be taken for a classifier that was certified, if a part is another.

        What is known of only one of them is another too. The code of the error is
        `certificate_other_<part>`, of the first part that differs.
        """
        mine, theirs = self.to_mapping(), certified.to_mapping()
        for part, expected in theirs.items():
            # JSON tells false from 0, and Python does not.
            if digest_of_plain(mine[part]) != digest_of_plain(expected):
                part_name = part.removesuffix("_digest")
                stated_as, certified_as = (
                    f"no {part}" if value is None else f"{part} {value_in_message(value)}"
                    for value in (mine[part], expected)
                )
                raise CertificateError(
                    f"classifier {self.name}: found {stated_as}; expected {certified_as}, as it "
                    f"was certified. Another {part_name.removesuffix('s')} is another classifier, "
                    "so certify it.",
                    f"certificate_other_{part_name}",
                )


def exported_identities(ratings: Ratings) -> tuple[Identity, ...]:
    """The classifiers that the export of the ratings describes."""
    exported = ratings.origin.classifiers if ratings.origin else ()
    return tuple(map(Identity.from_mapping, exported))


def identities_in(
    ratings: Ratings, identities: Iterable[Identity]
) -> Iterator[tuple[Identity, Collection[str]]]:
    """Each comes with the digests of others of its name that the export tells, in short."""
    exported = exported_identities(ratings)
    identity_by_name = {
        candidate.name: candidate
        for candidate in (*exported[::-1], *identities)
        if candidate.name in ratings.classifiers
    }
    for name, identity in identity_by_name.items():
        mine = {
            exported_identity.beside(identity).digest[:12]
            for exported_identity in exported
            if exported_identity.name == name
        }
        yield identity, mine - {identity.digest[:12]}


def identity_finding(identity: Identity, other_digests: Collection[str] = ()) -> Finding:
    """Others, by their digests, are a warning, since another digest is another classifier."""
    words = f"labels of {identity.in_words}"
    if other_digests:
        words = (
            f"found {words}; expected one classifier of a name, and "
            f"{listed(sorted(other_digests))} had it too. Do not compare their numbers, or give "
            "each a name of its own."
        )
    return build_gate_finding("classifier_known", words, "warning", passed=not other_digests)


def load_identity(path: Path | str) -> Identity:
    """The identity in a YAML file, whose keys are the fields of `Identity`.

    `prompt` and `rubric` may name files, from the folder of the YAML file. Their digests are taken.
    """
    file = Path(path)
    data, place = read_yaml(file, CertificateError, expected_key="model")
    if not isinstance(data, dict):
        return Identity.from_mapping(data, source=place)
    for key in FILES.keys() & data.keys():
        file_name = data.pop(key)
        # A Path raises an error for a whole prompt, since that is too long for a name.
        if not is_text(file_name) or not isfile(file.parent / file_name) or FILES[key] in data:
            raise CertificateError(
                f"{place / key}: {key}: found {value_in_message(file_name)}; expected the path of "
                "a file from "
                f"{file.parent.resolve()}, and no {FILES[key]} beside it. Correct the path."
            )
        data[FILES[key]] = digest_at(file.parent / file_name)
    return Identity.from_mapping(data, source=place)


def _normalize_parameters(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _normalize_parameters(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_normalize_parameters(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
