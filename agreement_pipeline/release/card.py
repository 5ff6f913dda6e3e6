"""What a release says of itself: the card for Hugging Face, and the description in Croissant."""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import yaml

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import OF_THE_GATE, Policy, manner, waived
from agreement_pipeline.ratings import Origin, Scale
from agreement_pipeline.text import counted, in_words, interval, unlinked

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
CONFIGS = {
    "default": ("train", "data/train-*.parquet"),
    "annotations": ("train", "annotations/train-*.parquet"),
    "unresolved": ("unresolved", "data/unresolved-*.parquet"),
}
TENTATIVE = (
    "> **Tentative.** A rule that can hold a release was met at its lower cut-off only. "
    "The policy admits this, and conclusions from models trained on these labels "
    "are tentative too."
)


def card(
    project: str,
    decisions: Mapping[str, Mapping[str, Any]],
    report: Mapping[str, Any],
    policy: Policy,
    contract: Contract,
    scale: Scale,
    origins: Mapping[str, Origin | None] = MappingProxyType({}),
) -> str:
    """The text of the card. `origins` says of each round where its ratings came from."""
    rounds, rows = ", ".join(_safe(name) for name in decisions), report["rows"]
    tentative = [TENTATIVE] if any(decision["tentative"] for decision in decisions.values()) else []
    parts = [
        f"---\n{_front_matter(project, has_unresolved=rows['unresolved'] > 0)}---",
        f"# {_safe(project)}",
        f"Rounds: {rounds}. {rows['train']} items have a training label; "
        f"{rows['unresolved']} are unresolved.",
        *_between_rounds(report),
        *_adjudicated(rows),
        *_silver(decisions, rows),
        *tentative,
        *(_waived(waiver) for decision in decisions.values() for waiver in decision["waivers"]),
        "## Annotation process",
        _admission(policy, decisions),
        *_kept(contract),
        *_versions(decisions),
        _agreement_table(decisions),
        *_warnings(decisions),
        _counts_table(report["rounds"]),
        *_classifiers(decisions),
        *_origins(origins),
        "## Data",
        _columns(scale),
        "## How this release proves itself",
        "`manifest.json` holds the digest of every file. "
        "`agreement-pipeline verify <this folder>` checks them, computes the agreement again "
        "from the annotations in here, judges it by the policy in here, "
        "and makes the training rows again. With a `WITHDRAWN.json` it is out of force.",
    ]
    return "\n\n".join(parts) + "\n"


def croissant(
    project: str,
    tables: Mapping[str, tuple[pa.Schema, str]],
    decisions: Mapping[str, Mapping[str, Any]],
    *,
    raters_per_item: tuple[int, int],
    classifiers: Sequence[str],
    silver: Collection[str] = (),
) -> dict[str, Any]:
    """The description in Croissant 1.0, with the properties for responsible AI, as plain data.

    `tables` gives the schema and the digest of each file, `raters_per_item` the fewest and the
    most. The labels of `silver` classifiers train. No property takes a coefficient of agreement, so
    these are given in words. The vocabulary is that of http://mlcommons.org/croissant/1.0 and
    http://mlcommons.org/croissant/RAI/1.0.
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
            f"{name}: its labels train where no raters' do, as their resolution says"
            if name in silver
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
        "recordSet": [_record_set(name, schema) for name, (schema, _) in tables.items()],
    }


def _record_set(name: str, schema: pa.Schema) -> dict[str, Any]:
    of = name.rsplit("-", 3)[0].replace("/", "_")
    fields = []
    for column in schema:
        listed = pa.types.is_fixed_size_list(column.type)
        fields.append(
            {
                "@type": "cr:Field",
                "@id": f"{of}/{column.name}",
                "name": column.name,
                "dataType": _data_type(column.type.value_type if listed else column.type),
                **({"repeated": True} if listed else {}),
                "source": {"fileObject": {"@id": name}, "extract": {"column": column.name}},
            }
        )
    return {"@type": "cr:RecordSet", "@id": of, "name": of, "field": fields}


def _data_type(kind: pa.DataType) -> str:
    known = (
        (pa.types.is_integer, "sc:Integer"),
        (pa.types.is_floating, "sc:Float"),
        (pa.types.is_boolean, "sc:Boolean"),
        (pa.types.is_temporal, "sc:DateTime"),
    )
    return next((name for holds, name in known if holds(kind)), "sc:Text")


def _between_rounds(report: Mapping[str, Any]) -> list[str]:
    """What one round did to the items of another."""
    conflict, gold = report["rows"].get("in_conflict"), report.get("gold_in_another_round", {})
    said = [f"{conflict} items have other labels in other rounds, and are unresolved."]
    return [
        *(said if conflict else []),
        *(
            f"{count} items of round {_safe(name)} are left out, "
            "since another round calls them gold."
            for name, count in gold.items()
        ),
    ]


def _adjudicated(rows: Mapping[str, int]) -> list[str]:
    """How many labels are an adjudicator's or were given later, and how many no rater gave."""
    said = (
        f"{rows.get('adjudicated')} labels are those of an adjudicator. "
        f"On {rows.get('overruled')} of these items all raters gave one other label."
    )
    later = (
        f"{counted(rows.get('relabelled', 0), 'item')} got the label that raters gave later. "
        "Agreement rests on first labels."
    )
    return [said] * ("adjudicated" in rows) + [later] * ("relabelled" in rows)


def _silver(decisions: Mapping[str, Mapping[str, Any]], rows: Mapping[str, int]) -> list[str]:
    """Of which rounds a classifier gave the labels, what was found of them, and how many."""
    found = [
        f"> **Silver.** A classifier labelled round {_safe(name)}. The gate {said}."
        for name, said in _passed(decisions, "silver_labels")
    ]
    count = f"{counted(rows.get('silver', 0), 'label')} are those of a classifier (`silver`)."
    return [*found, count] if found else []


def _waived(waiver: Mapping[str, str]) -> str:
    what = f"{waived(waiver)} in round {waiver['round']}"
    return (
        f"> **Under a waiver.** {_safe(waiver['who'])} answers for {_safe(what)} "
        f"until {waiver['until']}: {_safe(waiver['why'])}"
    )


def _front_matter(project: str, *, has_unresolved: bool) -> str:
    """The configurations for Hugging Face `datasets`, which refuses one without rows."""
    configs = [
        {
            "config_name": name,
            **({"default": True} if name == "default" else {}),
            "data_files": [{"split": split, "path": path}],
        }
        for name, (split, path) in CONFIGS.items()
        if name != "unresolved" or has_unresolved
    ]
    return yaml.safe_dump(
        {"pretty_name": project, "configs": configs}, sort_keys=False, allow_unicode=True
    )


def _versions(decisions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The rounds that came more than once, with a sentence for each."""
    return [
        f"This is version {decision['version']} of round {_safe(name)}: so many different ratings "
        "came under this name. Each further look may admit by chance."
        for name, decision in decisions.items()
        if decision["version"] > 1
    ]


def _admission(policy: Policy, decisions: Mapping[str, Mapping[str, Any]]) -> str:
    said = f" {_safe(policy.description)}" if policy.description else ""
    if policy.passed_by_guessing:
        said += (
            " Raters who never look at an item can meet these rules. "
            f"The policy says why this does no harm: {_safe(policy.passed_by_guessing)}"
        )
    once = all(decision["version"] == 1 for decision in decisions.values())
    return (
        f"Admitted under policy {_safe(policy.policy)}, version {policy.version}, "
        f"which admits the verdicts {', '.join(policy.admit)}. "
        "A verdict reads the interval of an estimate, not its value: "
        "it is *reliable* when the lower limit reaches the upper cut-off, "
        f"*tentative* when it reaches the lower one. {manner(policy, 1 if once else None)}{said}"
    )


def _kept(contract: Contract) -> list[str]:
    """The data contract, and how many of its checks can hold a release. It may have no name."""
    holds = sum(each.severity == "critical" for each in contract.expectations)
    said = (
        f"The rounds keep data contract {_safe(contract.contract)}, version {contract.version}, "
        f"where {holds} of {len(contract.expectations)} checks can hold a release."
    )
    return [said] if contract.contract else []


def _agreement_table(decisions: Mapping[str, Mapping[str, Any]]) -> str:
    header = ("round", "measure", "of", "value", "interval", "items", "verdict", "in words")
    return _table(
        header,
        (
            (name, *_verdict(verdict))
            for name, decision in decisions.items()
            for verdict in decision["verdicts"]
        ),
    )


def _warnings(decisions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What checks of the data contract found and held nothing for, with a line for each."""
    found = [
        f"- {_safe(name)}: {_safe(finding['description'])}"
        for name, decision in decisions.items()
        for finding in decision["findings"]
        if not finding["passed"]
    ]
    return (
        ["Checks of the data contract that failed and hold nothing:", "\n".join(found)]
        if found
        else []
    )


def _classifiers(decisions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which classifiers labelled beside raters, with a line for each."""
    known = _passed(decisions, "classifier_known")
    return [f"Round {_safe(name)} has {said}." for name, said in known]


def _passed(decisions: Mapping[str, Mapping[str, Any]], check: str) -> Iterator[tuple[str, str]]:
    """The rounds in which the gate found nothing against a check, and what it found."""
    for name, decision in decisions.items():
        for each in decision["findings"]:
            if each["passed"] and (each["table"], each["check"]) == (OF_THE_GATE, check):
                yield name, _safe(each["description"])


def _verdict(verdict: Mapping[str, Any]) -> tuple[str, ...]:
    value, low, high = (verdict[name] for name in ("value", "low", "high"))
    found = ("undefined", "undefined") if value is None else (in_words(value), interval(low, high))
    items = "0" if verdict["n_items"] is None else str(verdict["n_items"])
    effect = "" if verdict["effect"] == "hold" else " (holds nothing)"
    return (
        verdict["measure"],
        verdict["scope"],
        *found,
        items,
        f"{verdict['verdict']}{effect}",
        verdict["reason"],
    )


def _counts_table(rounds: Mapping[str, Mapping[str, Any]]) -> str:
    names = list(next(iter(rounds.values()))["counts"])
    return _table(
        ("round", *(name.replace("_", " ") for name in names)),
        (
            (name, *(str(found["counts"][count]) for count in names))
            for name, found in rounds.items()
        ),
    )


def _origins(origins: Mapping[str, Origin | None]) -> list[str]:
    """What each round's export held that is no rating, and what it cannot show."""
    lines = [
        f"- {_safe(name)}, read as {_safe(origin.reader)}. "
        f"No ratings: {_safe(origin.words) or 'nothing'}. "
        f"The export cannot show: {', '.join(origin.lacks()) or 'nothing'}."
        for name, origin in origins.items()
        if origin
    ]
    said = "What the exports held that is no rating, and what they cannot show:"
    return [said, "\n".join(lines)] if lines else []


def _columns(scale: Scale) -> str:
    label = (
        f"a number on the {scale.level} scale"
        if scale.numeric
        else f"one of {', '.join(_safe(name) for name in scale.names)}, in this order"
    )
    return "\n".join(
        [
            f"- `default`: one row an item. `label`: {label}; "
            "`soft_label` and `votes` follow the same order.",
            "- `annotations`: one row a rating, the raters under pseudonyms. "
            "Items that nobody rated have a row without rater and label.",
            "- `unresolved`: the items that have no label, "
            "because the raters tied, only one rated them, or rounds contradict each other.",
        ]
    )


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(header), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(
        f"| {' | '.join(cell if cell == '---' else _safe(cell) for cell in line)} |"
        for line in lines
    )


def _safe(text: str) -> str:
    """Text without active HTML or Markdown, and without addresses that become links."""
    one_line = unlinked(re.sub(r"\s+", " ", text))
    return re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", html.escape(one_line, quote=False))
