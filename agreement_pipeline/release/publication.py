"""A release as a publication: its day and version, licence and citation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, ClassVar

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.mistakes import CLOSED, Value, is_instance_of, refuse_mistakes

MAX_LICENSE_LENGTH, MAX_TEXT_LENGTH, MAX_SOURCES = 200, 2_000, 100
LICENSE_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


def _is_text_up_to(length: int, value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= length


def _are_sources(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) <= MAX_SOURCES
        and all(_is_text_up_to(MAX_TEXT_LENGTH, source) for source in value)
    )


LICENSE = Value(
    f"the identifier, the URL or the name of a licence on one line, {MAX_LICENSE_LENGTH} "
    "characters at most",
    lambda value: _is_text_up_to(MAX_LICENSE_LENGTH, value) and len(value.splitlines()) == 1,
    "Write it as CC-BY-4.0.",
)
CITATION = Value(
    f"a text of {MAX_TEXT_LENGTH} characters at most",
    lambda value: _is_text_up_to(MAX_TEXT_LENGTH, value),
    "Write the citation as a text or as BibTeX.",
)
TEXT = Value(
    f"a text of {MAX_TEXT_LENGTH} characters at most",
    lambda value: _is_text_up_to(MAX_TEXT_LENGTH, value),
    "Write it in a sentence or two.",
)
SOURCES = Value(
    f"a list of URLs or names, {MAX_SOURCES} at most",
    _are_sources,
    "Write each as a text.",
    read=lambda value: tuple(value) if isinstance(value, list) else value,
)
PASSPORT = {
    "use_cases": ("rai:dataUseCases", "Use it for"),
    "limitations": ("rai:dataLimitations", "Limitations"),
    "biases": ("rai:dataBiases", "Biases"),
    "social_impact": ("rai:dataSocialImpact", "Social impact"),
    "personal_data": ("rai:personalSensitiveInformation", "Personal and sensitive data"),
}
"""The property of the Responsible-AI vocabulary of Croissant for a text, and its name on a card."""


@dataclass(frozen=True)
class Publication:
    """What a team says of its dataset, for those who use it.

    Parameters
    ----------
    license
        Under which licence others may use it: an identifier of SPDX, a URL, or a name.
    cite_as
        How to cite it, as a text or as BibTeX.
    use_cases, limitations, biases, social_impact, personal_data
        What the dataset is for and what it is not for; which biases it may have; whom it may help
        or harm; and which personal or sensitive data are in it.
    synthetic_data
        True if texts or labels of it were generated, False if none were.
    derived_from
        The datasets it was made from, by URL or name.
    collected
        How its items were collected.

    Raises
    ------
    ProjectError
        A value is not one of those described above.
    """

    __pydantic_config__: ClassVar = CLOSED

    license: Annotated[str | None, LICENSE] = None
    cite_as: Annotated[str | None, CITATION] = None
    use_cases: Annotated[str | None, TEXT] = None
    limitations: Annotated[str | None, TEXT] = None
    biases: Annotated[str | None, TEXT] = None
    social_impact: Annotated[str | None, TEXT] = None
    personal_data: Annotated[str | None, TEXT] = None
    synthetic_data: Annotated[bool | None, Value("true or false", is_instance_of(bool))] = None
    derived_from: Annotated[tuple[str, ...] | None, SOURCES] = None
    collected: Annotated[str | None, TEXT] = None

    def __post_init__(self) -> None:
        if isinstance(self.derived_from, list):
            object.__setattr__(self, "derived_from", tuple(self.derived_from))
        refuse_mistakes(self, ProjectError)

    def to_mapping(self) -> dict[str, Any]:
        settings = {name: value for name, value in vars(self).items() if value is not None}
        if self.derived_from is not None:
            settings["derived_from"] = list(self.derived_from)
        return settings

    @property
    def in_words(self) -> dict[str, str]:
        """What a card says below the licence and the citation, by caption."""
        texts = {caption: getattr(self, name) for name, (_, caption) in PASSPORT.items()}
        if self.synthetic_data is not None:
            texts["Generated texts or labels"] = "yes" if self.synthetic_data else "none"
        texts["Derived from"] = ", ".join(self.derived_from or ())
        texts["How items were collected"] = self.collected
        return {caption: text for caption, text in texts.items() if text}

    def croissant(self) -> dict[str, Any]:
        """The properties of the Responsible-AI vocabulary and of PROV-O that the team filled."""
        properties = {field: getattr(self, name) for name, (field, _) in PASSPORT.items()}
        properties["rai:hasSyntheticData"] = self.synthetic_data
        if self.derived_from:
            properties["prov:wasDerivedFrom"] = [
                {"@id": source} if "://" in source else {"prov:label": source}
                for source in self.derived_from
            ]
        if self.collected:
            properties["prov:wasGeneratedBy"] = [
                {
                    "@type": "prov:Activity",
                    "prov:label": "Collection",
                    "description": self.collected,
                },
                {
                    "@type": "prov:Activity",
                    "prov:label": "Annotation",
                    "description": "See rai:dataAnnotationProtocol and rai:dataAnnotationAnalysis.",
                },
            ]
        return {name: value for name, value in properties.items() if value is not None}


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
    def from_mapping(cls, facts: Mapping[str, Any]) -> "Edition":
        """What a manifest says. KeyError or TypeError of anything else."""
        publication_facts = {name: facts[name] for name in facts if name != "released_at"}
        day = date.fromisoformat(facts["released_at"]) if "released_at" in facts else None
        return cls(day, Publication(**publication_facts))

    def to_mapping(self) -> dict[str, Any]:
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
        license_text = self.publication.license
        if license_text is None:
            return {}
        if LICENSE_IDENTIFIER.fullmatch(license_text):
            return {"license": license_text.lower()}
        name = "license_link" if "://" in license_text else "license_name"
        return {"license": "other", name: license_text}

    def croissant(self, train_digest: str) -> dict[str, Any]:
        """The properties of schema.org that Croissant recommends, and those of responsible AI."""
        day = self.released_at
        properties = {
            "citeAs": self.publication.cite_as,
            "datePublished": day.isoformat() if day else None,
            "license": self.publication.license,
            "version": self.version(train_digest),
        }
        dated = {name: text for name, text in properties.items() if text is not None}
        return dated | self.publication.croissant()


UNDATED = Edition()
