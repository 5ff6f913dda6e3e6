"""The files of a release: a pure function of ratings, policy and contract."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.large_files import Content, parts_of
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import (
    EXTRAS,
    PanelLabels,
    Ratings,
    Scale,
    content_columns,
    parquet_of,
)
from agreement_pipeline.release.card import card, croissant
from agreement_pipeline.release.tables import Member, called, labels_of, tables_of
from agreement_pipeline.store import digest_of
from agreement_pipeline.text import listed
from agreement_pipeline.version import __version__

SCHEMA = "agreement-release/2"

REPORT = "agreement_report.json"
POLICY = "policy.json"
DECISION = "decision.json"
CROISSANT = "croissant.json"
README = "README.md"
MANIFEST = "manifest.json"
WITHDRAWN = "WITHDRAWN.json"

EACH = "*"

Paths = frozenset[tuple[str, ...]]
"""Places in plain data, key by key. `EACH` stands for every key and every list entry."""

VERSION: Paths = frozenset({(EACH, "code_version")})
WORDING: Paths = VERSION | {
    (EACH, "reasons"),
    (EACH, "verdicts", EACH, "reason"),
    (EACH, "findings", EACH, "description"),
    ("rounds", EACH, "estimates", EACH, "method"),
    ("rounds", EACH, "estimates", EACH, "undefined"),
    ("rounds", EACH, "estimates", EACH, "convention"),
}
DOCUMENTS: Mapping[str, Paths | None] = {
    DECISION: WORDING,
    REPORT: WORDING,
    POLICY: frozenset(),
    README: None,
    CROISSANT: None,
}
"""Every file of a release that `documents` makes, with how a proof compares it.

A set of places: the file is JSON, and these places hold words. None: the whole file is words.
"""


def contents(
    project: str, members: Sequence[Member], policy: Policy, contract: Contract
) -> tuple[dict[str, Content], PanelLabels]:
    """The files of a release by name, in the order of writing, and the labels in them.

    The manifest is the last file.
    """
    scales = {member.ratings.scale for member in members}
    if len(scales) > 1:
        raise ReleaseHeldError(
            f"{called(members)}: found {len(scales)} different scales; "
            "expected one in a release. Release them apart, or ingest them again with one scale."
        )
    labels = labels_of(members)
    if labels.unresolved.all():
        raise ReleaseHeldError(
            f"{called(members)}: found {len(labels)} items without a label; "
            "expected at least one with a label. "
            "Let at least two raters label each item, and have ties adjudicated."
        )
    names = labels.items[labels.in_conflict]
    if policy.items_in_conflict == "refuse" and len(names):
        raise ReleaseHeldError(
            f"{called(members)}: found {len(names)} items with other labels in other rounds "
            f"({listed(names)}); expected one label of each item. "
            "Adjudicate these items, or set items_in_conflict: unresolved in the policy."
        )
    tables = tables_of(members, labels)
    data: dict[str, Content] = {name: parquet_of(rows) for name, rows in tables.items()}
    described = {name: (rows.schema, digest_of(data[name])) for name, rows in tables.items()}
    data |= documents(project, members, labels, policy, contract, scales.pop(), described)
    manifest = {
        **identity(project, members, policy, contract),
        "written_by": {
            "agreement_pipeline": __version__,
            "numpy": np.__version__,
            "pandas": pd.__version__,
            "pyarrow": pa.__version__,
        },
        "files": {
            name: {"sha256": digest_of(content), "bytes": len(content)}
            for name, content in sorted(data.items())
        },
    }
    return {**data, MANIFEST: as_json(manifest)}, labels


def documents(
    project: str,
    members: Sequence[Member],
    labels: PanelLabels,
    policy: Policy,
    contract: Contract,
    scale: Scale,
    tables: Mapping[str, tuple[pa.Schema, str]],
) -> dict[str, bytes]:
    """The files of a release without its tables and its manifest.

    `tables` gives the schema of each table and the digest of its file.
    """
    decisions, report = decisions_of(members), report_of(members, labels)
    n_raters = labels.n_raters if len(labels) else np.zeros(1, dtype=int)
    return {
        REPORT: as_json(report),
        POLICY: as_json(
            {
                "policy": policy.to_mapping(),
                "contract": contract.to_mapping(),
                "scale": scale.to_mapping(),
                "waivers": _waivers(members),
            }
        ),
        DECISION: as_json(decisions),
        README: card(
            project,
            decisions,
            report,
            policy,
            scale,
            {member.round: member.ratings.origin for member in members},
        ).encode(),
        CROISSANT: as_json(
            croissant(
                project,
                tables,
                decisions,
                raters_per_item=(int(n_raters.min()), int(n_raters.max())),
                classifiers=sorted(
                    {name for member in members for name in member.ratings.classifiers}
                ),
            )
        ),
    }


def identity(
    project: str, members: Sequence[Member], policy: Policy, contract: Contract
) -> dict[str, Any]:
    """The part of the manifest that tells one release from another."""
    return {
        "schema": SCHEMA,
        "project": project,
        "rounds": [
            {
                "round": member.round,
                "ratings_digest": member.ratings.digest,
                "original_digest": member.original_digest,
                "version": member.version,
                "columns": [
                    *(name for name in EXTRAS if name in member.ratings.has),
                    *content_columns(member.ratings.has),
                ],
                **({"adjudicated": dict(labels)} if (labels := member.adjudicated.labels) else {}),
                **({"origin": origin.to_mapping()} if (origin := member.ratings.origin) else {}),
            }
            for member in members
        ],
        "policy_digest": policy.digest,
        "contract_digest": contract.digest,
        "waivers": _waivers(members),
    }


def decisions_of(members: Sequence[Member]) -> dict[str, dict[str, Any]]:
    """The decision on each round, as plain data."""
    return {member.round: member.assessment.decision.to_mapping() for member in members}


def report_of(members: Sequence[Member], labels: PanelLabels) -> dict[str, Any]:
    """All estimates of each round with their counts, and the numbers of released rows."""
    elsewhere = _gold_elsewhere(members)
    adjudicated = sum(len(member.adjudicated.labels) for member in members)
    against = sum(member.overruled[0] for member in members)
    return {
        "rounds": {
            member.round: {
                "estimates": [estimate.to_mapping() for estimate in member.assessment.estimates],
                "counts": _counts(member.ratings),
            }
            for member in members
        },
        "rows": {
            "train": len(labels.resolved),
            "unresolved": int(labels.unresolved.sum()),
            **({"adjudicated": adjudicated, "overruled": against} if adjudicated else {}),
            **({"in_conflict": int(labels.in_conflict.sum())} if labels.in_conflict.any() else {}),
        },
        **({"gold_in_another_round": elsewhere} if elsewhere else {}),
    }


def document(data: Mapping[str, Content], name: str) -> bytes:
    """The bytes of a file that is small."""
    return b"".join(parts_of(data[name]))


def as_json(data: object) -> bytes:
    """Plain data as JSON. Equal data give equal bytes."""
    return (
        json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()


def _waivers(members: Sequence[Member]) -> dict[str, list[dict[str, str]]]:
    """The waivers of each round that turned a verdict. Raters have their pseudonyms."""
    return {
        member.round: [waiver.to_mapping() for waiver in member.assessment.decision.waived]
        for member in members
    }


def _counts(ratings: Ratings) -> dict[str, int]:
    return {
        "items": ratings.n_rated,
        "raters": len(ratings.raters),
        "classifiers": len(ratings.classifiers),
        "ratings": len(ratings),
        "earlier_ratings": ratings.n_earlier,
        "repeated_ratings": ratings.n_repeated,
        "gold_items": len(ratings.rated(items=ratings.gold)),
    }


def _gold_elsewhere(members: Sequence[Member]) -> dict[str, int]:
    """How many rated items of each round are left out because they are gold in another."""
    found = {}
    for member in members:
        own = replace(member.ratings, also_gold=frozenset()).gold
        found[member.round] = len(member.ratings.rated(items=member.ratings.gold - own))
    return {name: count for name, count in found.items() if count}
