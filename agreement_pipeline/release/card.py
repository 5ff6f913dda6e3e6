"""What a release says of itself: the card for Hugging Face, and the description in Croissant."""

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import (
    AUDITED,
    GATE_TABLE,
    Policy,
    describe_limits_of_agreement,
    describe_manner,
    describe_waived,
)
from agreement_pipeline.ratings import MEANINGS, Origin, Scale, TrainingRows, Trains
from agreement_pipeline.release.publication import UNDATED, Edition
from agreement_pipeline.release.training_table import (
    UNRESOLVED_WORDS,
    Column,
    resolution_meanings,
)
from agreement_pipeline.text import counted, in_words, interval, joined, without_links

if TYPE_CHECKING:
    from jinja2 import Environment

CROISSANT, RAI = "http://mlcommons.org/croissant/", "http://mlcommons.org/croissant/RAI/"
PROV = "http://www.w3.org/ns/prov#"
PARQUET = "application/x-parquet"
PROTOCOL = (
    "The label of an item is the one that more raters gave than any other, "
    "or the mean on an interval or ratio scale; ties are not broken."
)
OTHER_LABEL_SOURCES = {
    "adjudicated": "an adjudicator chose",
    "relabelled": "raters gave later",
    "silver": "a classifier gave",
}
TERMS = (
    "citeAs",
    "column",
    "equivalentProperty",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": CROISSANT,
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": RAI,
    "sc": "https://schema.org/",
    **{name: f"cr:{name}" for name in TERMS},
}
CONTEXT_SINCE_1_1: dict[str, Any] = {
    "arrayShape": "cr:arrayShape",
    "containedIn": "cr:containedIn",
    "description": {"@container": "@language"},
    "isArray": "cr:isArray",
    "name": {"@container": "@language"},
}
KINDS = (
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_temporal, "sc:DateTime"),
)
MAX_NAMES_LISTED = 30
CONFIGS = {
    "default": ("train", "data/train-*.parquet"),
    "annotations": ("train", "annotations/train-*.parquet"),
    "unresolved": ("unresolved", "unresolved/unresolved-*.parquet"),
}
MANNER_TO_FORM_3 = {
    "The limits are valid for a round that is judged once.": "The limits hold for one look.",
    "Each verdict by itself has": "Each verdict has its own",
    " are few, so close cases depend on chance.": " leave close cases to chance.",
}
"""How a card up to form 3 says what `describe_manner` says."""
CONFIGS_TO_FORM_3 = CONFIGS | {"unresolved": ("unresolved", "data/unresolved-*.parquet")}


def card(
    project: str,
    decisions: Mapping[str, Mapping[str, Any]],
    report: Mapping[str, Any],
    policy: Policy,
    contract: Contract,
    scale: Scale,
    origins: Mapping[str, Origin | None] = MappingProxyType({}),
    form: int = 4,
    loading_lines: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    columns: Sequence[Column] = (),
    edition: Edition = UNDATED,
    version: str | None = None,
    training_rows: TrainingRows | None = None,
) -> str:
    """The card in Markdown, with the `columns` of the training table. `loading_lines` say of each
    file of objects what it holds, and the line of Python that loads it.

    The `training_rows` tell what trains and what does not.

    Releases up to form 3 keep the words that they were written with.
    """
    findings = [
        (name, finding) for name, decision in decisions.items() for finding in decision["findings"]
    ]

    def describe_gate_findings(check: str) -> list[tuple[str, str]]:
        return [
            (name, finding["description"])
            for name, finding in findings
            if finding["passed"] and (finding["table"], finding["check"]) == (GATE_TABLE, check)
        ]

    are_first_versions = all(decision["version"] == 1 for decision in decisions.values())
    has_unresolved = report["rows"]["unresolved"] > 0
    configs = [
        {
            "config_name": name,
            **({"default": True} if name == "default" else {}),
            "data_files": [{"split": split, "path": path}],
        }
        for name, (split, path) in (CONFIGS if form > 3 else CONFIGS_TO_FORM_3).items()
        if name != "unresolved" or has_unresolved  # `datasets` refuses one without rows
    ]
    configs += [
        {"config_name": name, "data_files": [{"split": "train", "path": path}]}
        for path in loading_lines
        if path.endswith((".parquet", ".jsonl"))
        for name in [PurePosixPath(path).stem]
    ]
    front_matter: dict[str, Any] = {
        "pretty_name": project,
        **edition.front_matter(),
        "configs": configs,
    }
    if columns:
        features = [_hugging_face_feature(column) for column in columns]
        front_matter["dataset_info"] = [{"config_name": "default", "features": features}]
    manner = describe_manner(policy, 1 if are_first_versions else None)
    for words, earlier_words in MANNER_TO_FORM_3.items() if form <= 3 else ():
        manner = manner.replace(words, earlier_words)
    template = _templates().get_template("card.md.jinja" if form > 3 else "card_to_form_3.md.jinja")
    return template.render(
        project=project,
        front_matter=yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True),
        decisions=decisions,
        findings=findings,
        describe_gate_findings=describe_gate_findings,
        tentative=any(decision["tentative"] for decision in decisions.values()),
        report=report,
        rows=report["rows"],
        policy=policy,
        manner=manner,
        contract=contract,
        scale=scale,
        origins=origins,
        loading_lines=loading_lines,
        columns=columns,
        edition=edition,
        version=version,
        categories=_json_for_fence(scale.label_values),
        resolution_meanings=resolution_meanings(training_rows.trains if training_rows else None),
        what_trains=training_rows.describe() if training_rows else (),
        beyond_agreement=describe_limits_of_agreement(
            sum(
                round_report["counts"].get("gold_items", 0)
                for round_report in report["rounds"].values()
            )
        ),
        unresolved_words=UNRESOLVED_WORDS,
    )


def _hugging_face_feature(column: Column) -> dict[str, Any]:
    """A column as `dataset_info` of Hugging Face names it."""
    feature = column.feature
    if feature["_type"] == "ClassLabel":
        names = {str(place): name for place, name in enumerate(feature["names"])}
        return {"name": column.name, "dtype": {"class_label": {"names": names}}}
    if feature["_type"] == "Sequence":
        return {"name": column.name, "sequence": feature["feature"]["dtype"]}
    return {"name": column.name, "dtype": feature["dtype"]}


def _json_for_fence(values: Sequence[object]) -> str:
    """JSON on one line, which cannot end the block of code around it or be active HTML."""
    texts = (json.dumps(value, ensure_ascii=False) for value in values)
    signs = {ord(sign): f"\\u{ord(sign):04x}" for sign in "`<>&[]()"}
    return f"[{', '.join(text.translate(signs) for text in texts)}]"


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else _escape_markdown(str(value)),
    )
    environment.globals |= {
        "counted": counted,
        "in_words": in_words,
        "interval": interval,
        "joined": joined,
        "MAX_NAMES_LISTED": MAX_NAMES_LISTED,
        "waived": describe_waived,
    }
    return environment


def croissant(
    project: str,
    tables: Mapping[str, tuple[pa.Schema, str]],
    decisions: Mapping[str, Mapping[str, Any]],
    *,
    raters_per_item: tuple[int, int],
    classifiers: Sequence[str],
    training: Collection[str | None] = (),
    rows: Mapping[str, int] = MappingProxyType({}),
    version: str = "1.1",
    published: Mapping[str, Any] = MappingProxyType({}),
    trains: Trains | None = None,
) -> dict[str, Any]:
    """The description in Croissant, with the properties for responsible AI, as plain data.
    `published` are properties of schema.org, of the vocabulary of responsible AI and of PROV-O.

    No property takes a coefficient of agreement, so these are given in words. `rows` counts labels
    by who gave them. See http://mlcommons.org/croissant/1.1 and
    http://mlcommons.org/croissant/RAI/1.0.
    """
    return {
        "@context": CONTEXT
        | (CONTEXT_SINCE_1_1 if version == "1.1" else {})
        | ({"prov": PROV} if any(name.startswith("prov:") for name in published) else {}),
        "@type": "sc:Dataset",
        "name": project,
        "description": "Training labels and the annotations they come from; "
        f"rounds {', '.join(decisions)}.",
        "conformsTo": [f"{CROISSANT}{version}", f"{RAI}1.0"],
        "isLiveDataset": False,
        **published,
        "rai:annotationsPerItem": f"{raters_per_item[0]} to {raters_per_item[1]}",
        "rai:dataAnnotationProtocol": " ".join(
            [
                f"What trains is {MEANINGS[trains.label]}." if trains else PROTOCOL,
                *(
                    f"But {who_gave} {counted(rows[kind], 'label')}."
                    for kind, who_gave in OTHER_LABEL_SOURCES.items()
                    if rows.get(kind)
                ),
            ]
        ),
        "rai:dataAnnotationAnalysis": [
            f"{name}: {sentence}"
            for name, decision in decisions.items()
            for sentence in _iterate_analysis_sentences(decision, version)
        ],
        "rai:machineAnnotationTools": [
            f"{name}: its labels train where no raters' do, as their resolution says"
            if name in training
            else f"{name}: compared with the raters, and not part of any label"
            for name in classifiers
        ],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": PARQUET,
                "sha256": digest,
            }
            for name, (_, digest) in tables.items()
        ],
        "recordSet": [
            _build_record_set(name, schema, version) for name, (schema, _) in tables.items()
        ],
    }


def _iterate_analysis_sentences(decision: Mapping[str, Any], version: str) -> Iterator[str]:
    yield from (verdict["reason"] for verdict in decision["verdicts"])
    if version == "1.0":
        return
    for finding in decision["findings"]:
        if (finding["table"], finding["check"]) == (GATE_TABLE, AUDITED):
            yield finding["description"]
    for waiver in decision["waivers"]:
        kind = "remedy" if "remedied_by" in waiver else "waiver"
        yield (
            f"admitted under a {kind} of {describe_waived(waiver)} by {waiver['who']} until "
            f"{waiver['until']}: {waiver['why']}"
        )
    if decision["tentative"]:
        yield "admitted on a tentative verdict, so conclusions from these labels are tentative too"


def _build_record_set(name: str, schema: pa.Schema, version: str) -> dict[str, Any]:
    record_set_name = name.rsplit("-", 3)[0].replace("/", "_")
    fields = []
    for column in schema:
        kind: pa.DataType = column.type
        shape: dict[str, Any] = {}
        if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
            size = kind.list_size if pa.types.is_fixed_size_list(kind) else -1
            array_properties = {"isArray": True, "arrayShape": f"{size}"}
            shape = array_properties if version == "1.1" else {"repeated": True}
            kind = kind.value_type
        fields.append(
            {
                "@type": "cr:Field",
                "@id": f"{record_set_name}/{column.name}",
                "name": column.name,
                "dataType": next(
                    (croissant_type for is_kind, croissant_type in KINDS if is_kind(kind)),
                    "sc:Text",
                ),
                **shape,
                "source": {"fileObject": {"@id": name}, "extract": {"column": column.name}},
            }
        )
    return {
        "@type": "cr:RecordSet",
        "@id": record_set_name,
        "name": record_set_name,
        "field": fields,
    }


def _escape_markdown(text: str) -> str:
    """Nothing is active HTML or Markdown, and no address becomes a link."""
    one_line = without_links(re.sub(r"\s+", " ", text))
    return re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", html.escape(one_line, quote=False))
