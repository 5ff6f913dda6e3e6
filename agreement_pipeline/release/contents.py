"""What stands in the folder of a release, as bytes: a pure function of ratings, policy and contract."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import NONE, Assessment, Policy, Waivers, assess
from agreement_pipeline.ratings import (
    CONTENT,
    EXTRAS,
    Ratings,
    Scale,
    consensus,
    parquet_bytes,
    ratings_table,
    resolved,
    unresolved,
)
from agreement_pipeline.release.card import card
from agreement_pipeline.release.croissant import croissant
from agreement_pipeline.store import files
from agreement_pipeline.text import listed
from agreement_pipeline.version import __version__

SCHEMA = "agreement-release/1"

TRAIN = "data/train-00000-of-00001.parquet"
UNRESOLVED = "data/unresolved-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"
REPORT = "agreement_report.json"
POLICY = "policy.json"
DECISION = "decision.json"
CROISSANT = "croissant.json"
README = "README.md"
MANIFEST = "manifest.json"
WITHDRAWN = "WITHDRAWN.json"


@dataclass(frozen=True, eq=False)
class Member:
    """A round of a release.

    Attributes
    ----------
    round, original_digest
        Its name, and the digest of the file it was delivered in.
    ratings
        Its ratings, under the raters' pseudonyms; an item that is gold in any round of the release is gold in it.
    assessment
        What the policy says of these ratings.
    """

    round: str
    original_digest: str
    ratings: Ratings
    assessment: Assessment

    @classmethod
    def assessed(
        cls,
        round_name: str,
        original_digest: str,
        ratings: Ratings,
        policy: Policy,
        contract: Contract,
        waivers: Waivers = NONE,
    ) -> "Member":
        """The round, judged from its ratings."""
        return cls(round_name, original_digest, ratings, assess(ratings, policy, contract, waivers))


def contents(
    project: str, members: Sequence[Member], policy: Policy, contract: Contract
) -> dict[str, bytes]:
    """The files of a release by name, in the order they are written; the manifest is the last.

    Raises
    ------
    ReleaseHeldError
        The rounds do not go together, since their scales differ or one item has two texts; or no item has a label.
    """
    scale = _one_scale(members)
    labels = labels_of(members)
    _refuse_unlabelled(members, labels)
    tables = tables_of(members, labels, scale)
    data = {name: parquet_bytes(table) for name, table in tables.items()}
    described = {
        name: (table.schema, files.digest_of(data[name])) for name, table in tables.items()
    }
    data |= documents(project, members, labels, policy, contract, scale, described)
    return {
        **data,
        MANIFEST: as_json(
            {
                **identity(project, members, policy, contract),
                "written_by": _writers(),
                "files": _listed(data),
            }
        ),
    }


def tables_of(members: Sequence[Member], labels: pd.DataFrame, scale: Scale) -> dict[str, pa.Table]:
    """The tables of a release by name: what to train on, what has no label, and all that both come from."""
    return {
        TRAIN: labels_table(resolved(labels), scale),
        UNRESOLVED: labels_table(unresolved(labels), scale),
        ANNOTATIONS: annotations_table(members),
    }


def documents(
    project: str,
    members: Sequence[Member],
    labels: pd.DataFrame,
    policy: Policy,
    contract: Contract,
    scale: Scale,
    tables: Mapping[str, tuple[pa.Schema, str]],
) -> dict[str, bytes]:
    """The files beside the tables and the manifest; of the tables, their schemas and the digests of their files."""
    decisions, report = decisions_of(members), report_of(members, labels)
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
        README: card(project, decisions, report, policy, scale).encode(),
        CROISSANT: as_json(
            croissant(
                project,
                tables,
                decisions,
                raters_per_item=(int(labels["n_raters"].min()), int(labels["n_raters"].max()))
                if len(labels)
                else (0, 0),
                classifiers=sorted(
                    {name for member in members for name in member.ratings.classifiers}
                ),
            )
        ),
    }


def identity(
    project: str, members: Sequence[Member], policy: Policy, contract: Contract
) -> dict[str, Any]:
    """What makes a release the one it is."""
    return {
        "schema": SCHEMA,
        "project": project,
        "rounds": [
            {
                "round": member.round,
                "ratings_digest": member.ratings.digest,
                "original_digest": member.original_digest,
                "columns": [
                    name
                    for name in (*EXTRAS, *CONTENT)
                    if name in member.ratings.table or name in member.ratings.contents
                ],
            }
            for member in members
        ],
        "policy_digest": policy.digest,
        "contract_digest": contract.digest,
        "waivers": _waivers(members),
    }


def _waivers(members: Sequence[Member]) -> dict[str, list[dict[str, str]]]:
    """The waivers that each round is admitted under, raters under their pseudonyms."""
    return {
        member.round: [waiver.to_mapping() for waiver in member.assessment.decision.waived]
        for member in members
    }


def decisions_of(members: Sequence[Member]) -> dict[str, dict[str, Any]]:
    """The decision on each round, as plain data."""
    return {member.round: member.assessment.decision.to_mapping() for member in members}


def report_of(members: Sequence[Member], labels: pd.DataFrame) -> dict[str, Any]:
    """All estimates of each round, what they rest on, and what became of the items."""
    return {
        "rounds": {
            member.round: {
                "estimates": [estimate.to_mapping() for estimate in member.assessment.estimates],
                "counts": _counts(member.ratings),
            }
            for member in members
        },
        "rows": {"train": len(resolved(labels)), "unresolved": len(unresolved(labels))},
    }


def gold_in(rounds: Iterable[Ratings]) -> frozenset[str]:
    """The items that are gold in any of the rounds of a release: they are gold in all of them."""
    return frozenset().union(*(ratings.gold for ratings in rounds))


def labels_of(members: Sequence[Member]) -> pd.DataFrame:
    """The consensus on every item; of an item met in several rounds the first round's.

    Raises
    ------
    ReleaseHeldError
        An item has different texts in two rounds: they are two items, and one would be lost.
    """
    _refuse_two_texts(members)
    rows = pd.concat(
        [consensus(member.ratings, member.round) for member in members], ignore_index=True
    )
    return rows[~rows["id"].duplicated()].sort_values("id", kind="stable").reset_index(drop=True)


def labels_table(labels: pd.DataFrame, scale: Scale) -> pa.Table:
    """The consensus as it is released: a category is its position on the scale, and the metadata give the categories to Hugging Face `datasets`."""
    kinds = _kinds(scale)
    columns = [name for name in kinds if name in labels]
    values = {name: list(labels[name]) for name in columns}
    if not scale.numeric:
        positions = {name: position for position, name in enumerate(scale.names)}
        values["label"] = [positions.get(label) for label in labels["label"]]
    arrays = {
        name: pa.array(values[name], kinds[name][0], from_pandas=name == "text") for name in columns
    }
    features = {name: kinds[name][1] for name in columns}
    return pa.table(arrays).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )


def as_json(data: object) -> bytes:
    """Plain data as bytes; equal data give equal bytes."""
    return (
        json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()


def _kinds(scale: Scale) -> dict[str, tuple[pa.DataType, dict[str, Any]]]:
    """The type of each column in Parquet, and what Hugging Face `datasets` calls it."""
    text, whole, real = (
        (pa.string(), _value("string")),
        (pa.int64(), _value("int64")),
        (pa.float64(), _value("float64")),
    )
    by_category = {
        "soft_label": (pa.list_(pa.float64(), len(scale.names)), _by_category("float64", scale)),
        "votes": (pa.list_(pa.int64(), len(scale.names)), _by_category("int64", scale)),
    }
    label = (
        real if scale.numeric else (pa.int64(), {"names": list(scale.names), "_type": "ClassLabel"})
    )
    return {
        "id": text,
        "round": text,
        "text": text,
        "label": label,
        **by_category,
        "n_raters": whole,
        "entropy_bits": real,
        "resolution": text,
    }


def _value(kind: str) -> dict[str, Any]:
    return {"dtype": kind, "_type": "Value"}


def _by_category(kind: str, scale: Scale) -> dict[str, Any]:
    return {"feature": _value(kind), "length": len(scale.names), "_type": "Sequence"}


def annotations_table(members: Sequence[Member]) -> pa.Table:
    """The ratings of all rounds as they are released, one row each."""
    tables = [
        (table := ratings_table(member.ratings)).add_column(
            0, "round", pa.array([member.round] * len(table), pa.string())
        )
        for member in members
    ]
    try:
        return pa.concat_tables(tables, promote_options="default")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as cause:
        raise ReleaseHeldError(
            f"rounds {listed([member.round for member in members])}: columns of different kinds found ({cause}); one kind, and one time zone of times, "
            "is required in all of them. Ingest them again with that column as text in each."
        ) from None


def _one_scale(members: Sequence[Member]) -> Scale:
    scales = {member.ratings.scale for member in members}
    if len(scales) > 1:
        raise ReleaseHeldError(
            f"rounds {listed([member.round for member in members])}: {len(scales)} different scales found; one is required in a release. "
            "Release them apart, or ingest them again with one scale."
        )
    return scales.pop()


def _refuse_two_texts(members: Sequence[Member]) -> None:
    texts = pd.concat(
        [member.ratings.contents.get("text", pd.Series(dtype=object)) for member in members]
    )
    n_texts = texts.groupby(texts.index).nunique()
    differing = list(n_texts.index[n_texts > 1])
    if differing:
        raise ReleaseHeldError(
            f"rounds {listed([member.round for member in members])}: items {listed(differing)} have different texts in different rounds; "
            "one text an item is required, or one of them would be lost. Give each text its own item."
        )


def _refuse_unlabelled(members: Sequence[Member], labels: pd.DataFrame) -> None:
    if resolved(labels).empty:
        raise ReleaseHeldError(
            f"rounds {listed([member.round for member in members])}: {len(labels)} items without a label found; at least one with a label is required. "
            "Let at least two raters label each item, and break ties by a further one."
        )


def _counts(ratings: Ratings) -> dict[str, int]:
    table = ratings.table
    return {
        "items": int(table["item"].nunique()),
        "raters": len(ratings.raters),
        "classifiers": len(ratings.classifiers),
        "ratings": len(table),
        "earlier_ratings": int(table["earlier"].sum()),
        "repeated_ratings": int((table["occurrence"] > 1).sum()),
        "gold_items": len(ratings.gold & frozenset(table["item"])),
    }


def _listed(data: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    return {
        name: {"sha256": files.digest_of(content), "bytes": len(content)}
        for name, content in sorted(data.items())
    }


def _writers() -> dict[str, str]:
    return {
        "agreement_pipeline": __version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "pyarrow": pa.__version__,
    }
