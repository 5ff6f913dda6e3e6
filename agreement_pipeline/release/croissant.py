"""The description of a release in Croissant 1.0, with the properties for responsible AI.

The vocabulary comes from two specifications:

- Croissant format 1.0 (http://mlcommons.org/croissant/1.0)
- Croissant RAI 1.0 (http://mlcommons.org/croissant/RAI/1.0)

No property takes a coefficient of agreement. So the coefficients are given in words.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
PARQUET = "application/x-parquet"

PROTOCOL = (
    "The label of an item is the one that more raters gave than any other, "
    "or the mean on an interval or ratio scale; ties are not broken."
)

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(
    project: str,
    tables: Mapping[str, tuple[pa.Schema, str]],
    decisions: Mapping[str, Mapping[str, Any]],
    *,
    raters_per_item: tuple[int, int],
    classifiers: Sequence[str],
) -> dict[str, Any]:
    """The description as plain data.

    Parameters
    ----------
    project
        The name of the project.
    tables
        The schema and the digest of each Parquet file, by name.
    decisions
        The decision on each round.
    raters_per_item
        The smallest and the largest number of raters of an item.
    classifiers
        The models that were compared with the raters.
    """
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": project,
        "description": "Training labels and the annotations they come from; "
        f"rounds {', '.join(decisions)}.",
        "conformsTo": CONFORMS_TO,
        "isLiveDataset": False,
        "rai:annotationsPerItem": f"{raters_per_item[0]} to {raters_per_item[1]}",
        "rai:dataAnnotationProtocol": PROTOCOL,
        "rai:dataAnnotationAnalysis": [
            f"{name}: {verdict['reason']}"
            for name, decision in decisions.items()
            for verdict in decision["verdicts"]
        ],
        "rai:machineAnnotationTools": [
            f"{name}: compared with the raters, and not part of any label" for name in classifiers
        ],
        "distribution": [_file_object(name, digest) for name, (_, digest) in tables.items()],
        "recordSet": [_record_set(name, schema) for name, (schema, _) in tables.items()],
    }


def _file_object(name: str, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": PARQUET,
        "sha256": digest,
    }


def _record_set(name: str, schema: pa.Schema) -> dict[str, Any]:
    of = name.rsplit("-", 3)[0].replace("/", "_")
    return {
        "@type": "cr:RecordSet",
        "@id": of,
        "name": of,
        "field": list(_fields(of, name, schema)),
    }


def _fields(of: str, name: str, schema: pa.Schema) -> Iterator[dict[str, Any]]:
    for column in schema:
        listed = pa.types.is_fixed_size_list(column.type)
        yield {
            "@type": "cr:Field",
            "@id": f"{of}/{column.name}",
            "name": column.name,
            "dataType": _data_type(column.type.value_type if listed else column.type),
            **({"repeated": True} if listed else {}),
            "source": {"fileObject": {"@id": name}, "extract": {"column": column.name}},
        }


def _data_type(kind: pa.DataType) -> str:
    known = (
        (pa.types.is_integer, "sc:Integer"),
        (pa.types.is_floating, "sc:Float"),
        (pa.types.is_boolean, "sc:Boolean"),
        (pa.types.is_temporal, "sc:DateTime"),
    )
    return next((name for holds, name in known if holds(kind)), "sc:Text")
