"""A release as a publication: its day and version, licence and citation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, ClassVar

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.mistakes import CLOSED, Value, refuse_mistakes

MAX_LICENSE_LENGTH, MAX_CITATION_LENGTH = 200, 2_000
LICENSE_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


def _is_text_up_to(length: int, value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= length


LICENSE = Value(
    f"the identifier, the URL or the name of a licence on one line, {MAX_LICENSE_LENGTH} "
    "characters at most",
    lambda value: _is_text_up_to(MAX_LICENSE_LENGTH, value) and len(value.splitlines()) == 1,
    "Write it as CC-BY-4.0.",
)
CITATION = Value(
    f"a text of {MAX_CITATION_LENGTH} characters at most",
    lambda value: _is_text_up_to(MAX_CITATION_LENGTH, value),
    "Write the citation as a text or as BibTeX.",
)


@dataclass(frozen=True)
class Publication:
    """What a team says of its dataset, for those who use it.

    Parameters
    ----------
    license
        Under which licence others may use it: an identifier of SPDX, a URL, or a name.
    cite_as
        How to cite it, as a text or as BibTeX.

    Raises
    ------
    ProjectError
        A value is not one of those described above.
    """

    __pydantic_config__: ClassVar = CLOSED

    license: Annotated[str | None, LICENSE] = None
    cite_as: Annotated[str | None, CITATION] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)

    def to_mapping(self) -> dict[str, str]:
        said = {"license": self.license, "cite_as": self.cite_as}
        return {name: text for name, text in said.items() if text is not None}


UNPUBLISHED = Publication()
"""Of a team that says nothing of its dataset."""


@dataclass(frozen=True)
class Edition:
    """Which edition of a dataset a release is.

    Attributes
    ----------
    released_at
        The day on which it was let out first. None if the release does not say it.
    """

    released_at: date | None = None
    publication: Publication = UNPUBLISHED

    @classmethod
    def from_mapping(cls, said: Mapping[str, Any]) -> "Edition":
        """What a manifest says. KeyError or TypeError of anything else."""
        known = {name: said[name] for name in said if name != "released_at"}
        day = date.fromisoformat(said["released_at"]) if "released_at" in said else None
        return cls(day, Publication(**known))

    def to_mapping(self) -> dict[str, str]:
        day = {"released_at": self.released_at.isoformat()} if self.released_at else {}
        return day | self.publication.to_mapping()

    def version(self, train_digest: str) -> str | None:
        """The day and the digest of the training table, in the form of Semantic Versioning.

        >>> Edition(date(2026, 11, 28)).version("9f86d081884c7d65")
        '2026.11.28+9f86d081884c'
        """
        day = self.released_at
        return f"{day.year}.{day.month}.{day.day}+{train_digest[:12]}" if day else None

    def front_matter(self) -> dict[str, str]:
        """The licence as Hugging Face reads it: an identifier, or another one by its name."""
        said = self.publication.license
        if said is None:
            return {}
        if LICENSE_IDENTIFIER.fullmatch(said):
            return {"license": said.lower()}
        name = "license_link" if "://" in said else "license_name"
        return {"license": "other", name: said}

    def croissant(self, train_digest: str) -> dict[str, str]:
        """The properties of schema.org that Croissant recommends."""
        day = self.released_at
        said = {
            "citeAs": self.publication.cite_as,
            "datePublished": day.isoformat() if day else None,
            "license": self.publication.license,
            "version": self.version(train_digest),
        }
        return {name: text for name, text in said.items() if text is not None}


UNDATED = Edition()
