"""A release, and its files: a pure function of ratings, policy and contract."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract import Contract
from agreement_pipeline.large_files import Content, Files, iterate_content_parts
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import (
    EXTRAS,
    BatchRows,
    PanelLabels,
    Ratings,
    TrainingRows,
    Trains,
    arrow_to_pandas,
    content_columns,
    write_parquet_content,
)
from agreement_pipeline.release.card import card, croissant
from agreement_pipeline.release.objects import ReleasedObjects, labels_by_unit
from agreement_pipeline.release.publication import UNDATED, Edition
from agreement_pipeline.release.tables import ANNOTATIONS, TRAIN, Member, table_by_path
from agreement_pipeline.release.training_table import Column, TrainingTable, groups_of_items
from agreement_pipeline.store import Folder, digest_of
from agreement_pipeline.text import counted
from agreement_pipeline.version import __version__

OLDEST_SCHEMA, *_, SCHEMA = SCHEMAS = tuple(f"agreement-release/{form}" for form in (1, 2, 3, 4))
"""The forms of a release, the present one last. Only a log can prove one of the oldest form."""

REPORT = "agreement_report.json"
POLICY = "policy.json"
DECISION = "decision.json"
CROISSANT = "croissant.json"
README = "README.md"
MANIFEST = "manifest.json"
WITHDRAWN = "WITHDRAWN.json"

ANY_KEY = "*"

Paths = frozenset[tuple[str, ...]]

VERSION: Paths = frozenset({(ANY_KEY, "code_version")})
WORDING: Paths = VERSION | {
    (ANY_KEY, "reasons"),
    (ANY_KEY, "verdicts", ANY_KEY, "reason"),
    (ANY_KEY, "findings", ANY_KEY, "description"),
    ("rounds", ANY_KEY, "estimates", ANY_KEY, "method"),
    ("rounds", ANY_KEY, "estimates", ANY_KEY, "undefined"),
    ("rounds", ANY_KEY, "estimates", ANY_KEY, "convention"),
}
DOCUMENTS: Mapping[str, Paths | None] = {
    DECISION: WORDING,
    REPORT: WORDING,
    POLICY: frozenset(),
    README: None,
    CROISSANT: None,
}
"""The files without tables and manifest, with how a proof compares them.

Some are JSON, in which these places hold words. Of None the whole file is words.
"""


@dataclass(frozen=True, eq=False)
class Release:
    """The training data of admitted rounds.

    Attributes
    ----------
    edition
        Its day, licence and citation, which it says of itself. Releases up to form 3 do not.
    labels
        The rows of all items, in arrays: labels of the panel in releases up to form 3. An item may
        have no label.
    decided
        The decisions of an earlier version, which a log proves. None: they are derived.
    manifest_digest
        SHA-256 of the manifest, which lists the digest of every other file. The log has it. Empty
        until the files are made.
    """

    path: Folder
    project: str
    policy: Policy
    contract: Contract
    members: tuple[Member, ...]
    labels: TrainingRows | PanelLabels
    manifest_digest: str = ""
    written_by: str = __version__
    schema: str = SCHEMA
    edition: Edition = UNDATED
    decided: Mapping[str, dict[str, Any]] | None = None

    @property
    def trains(self) -> Trains | None:
        """The label that the project names. None: the rule of the release's day."""
        return self.members[0].trains

    @property
    def what_trains(self) -> tuple[str, ...]:
        """What trains and what does not. Releases up to form 3 keep their words."""
        if isinstance(self.labels, PanelLabels):
            return ()
        return (
            *self.labels.describe(),
            *(
                f"{counted(count, 'item')} of round {name} {'is' if count == 1 else 'are'} gold in "
                f"another round, so {'it does' if count == 1 else 'they do'} not train."
                for name, count in self.n_gold_elsewhere.items()
            ),
        )

    @cached_property
    def n_gold_elsewhere(self) -> dict[str, int]:
        """The number of items that are left out since another round calls them gold, by round."""
        counts = {}
        for name, ratings in self.ratings.items():
            own_gold = replace(ratings, also_gold=frozenset()).gold
            counts[name] = len(ratings.rated_items(items=ratings.gold - own_gold))
        return {name: count for name, count in counts.items() if count}

    @property
    def form(self) -> int:
        return SCHEMAS.index(self.schema) + 1

    @property
    def rounds(self) -> tuple[str, ...]:
        return tuple(member.round for member in self.members)

    @property
    def ratings(self) -> dict[str, Ratings]:
        return {member.round: member.ratings for member in self.members}

    @cached_property
    def decisions(self) -> dict[str, dict[str, Any]]:
        if self.decided is not None:
            return dict(self.decided)
        return {member.round: member.assessment.decision.to_mapping() for member in self.members}

    @cached_property
    def tables(self) -> dict[str, BatchRows]:
        objects = self.objects
        return table_by_path(self.members, self.labels, objects.place_by_unit) | objects.tables

    @cached_property
    def objects(self) -> ReleasedObjects:
        """What raters marked, ticked or compared, by document. Releases up to form 3 have none."""
        if isinstance(self.labels, PanelLabels):
            return ReleasedObjects((), {})
        rounds = [member.ratings for member in self.members]
        groups = groups_of_items(self.labels)
        return ReleasedObjects(rounds, labels_by_unit(self.labels), groups)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the training table. Releases up to form 3 do not describe theirs."""
        table = self.tables[TRAIN]
        return table.columns if isinstance(table, TrainingTable) else ()

    @cached_property
    def train(self) -> pd.DataFrame:
        """The training rows, as in the Parquet file."""
        return self.first_training_rows(len(self.labels))

    @cached_property
    def train_arrow(self) -> pa.Table:
        """The training rows, as in the Parquet file, in a table of Arrow."""
        return pa.Table.from_batches(self.tables[TRAIN].to_batches(), self.train_schema)

    @property
    def train_schema(self) -> pa.Schema:
        """The columns of the training rows, with their types."""
        return self.tables[TRAIN].schema

    def first_training_rows(self, count: int) -> pd.DataFrame:
        labels = self.labels
        if isinstance(labels, PanelLabels):
            return labels.select_rows(labels.rows_with_label[:count]).to_frame()
        table: TrainingTable = self.tables[TRAIN]  # type: ignore[assignment]
        return replace(table, places=table.places[:count]).to_pandas()

    @cached_property
    def annotations(self) -> pd.DataFrame:
        rows = self.tables[ANNOTATIONS]
        frame: pd.DataFrame = arrow_to_pandas(pa.Table.from_batches(rows.to_batches(), rows.schema))
        return frame

    @property
    def held_today(self) -> dict[str, tuple[str, ...]]:
        """The rounds that today's code would hold, by the release's own rules, and why."""
        reasons_by_round = {
            member.round: member.assessment.decision.why_held for member in self.members
        }
        return {name: reasons for name, reasons in reasons_by_round.items() if reasons}

    @property
    def tentative(self) -> bool:
        return any(decision["tentative"] for decision in self.decisions.values())


def contents(release: Release) -> dict[str, Content]:
    data: dict[str, Content] = {
        name: write_parquet_content(rows) for name, rows in release.tables.items()
    }
    data |= release.objects.texts
    data |= documents(release, {name: digest_of(content) for name, content in data.items()})
    manifest = {
        **identity(release),
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
    return {**data, MANIFEST: as_json(manifest)}


def documents(release: Release, digests: Mapping[str, str]) -> dict[str, bytes]:
    project, policy, decisions = release.project, release.policy, release.decisions
    scale, report = release.members[0].ratings.scale, _build_report(release)
    n_raters = release.labels.n_raters if len(release.labels) else np.zeros(1, dtype=int)
    schemas = {name: (rows.schema, digests[name]) for name, rows in release.tables.items()}
    classifiers = {name for ratings in release.ratings.values() for name in ratings.classifiers}
    origins = {name: ratings.origin for name, ratings in release.ratings.items()}
    has_croissant_1_1 = release.form > 2
    judged_by = {
        "policy": policy.to_mapping(),
        "contract": release.contract.to_mapping(),
        "scale": scale.to_mapping(),
        "waivers": _waivers_by_round(release),
    }
    edition, train_digest = release.edition, digests[TRAIN]
    described = croissant(
        project,
        schemas,
        decisions,
        raters_per_item=(int(n_raters.min()), int(n_raters.max())),
        classifiers=sorted(classifiers),
        training={member.audit.labelled_by for member in release.members} - {None},
        rows=report["rows"] if has_croissant_1_1 else {},
        version="1.1" if has_croissant_1_1 else "1.0",
        published=edition.croissant(train_digest),
        trains=release.trains,
    )
    return {
        REPORT: as_json(report),
        POLICY: as_json(judged_by),
        DECISION: as_json(decisions),
        README: card(
            project,
            decisions,
            report,
            policy,
            release.contract,
            scale,
            origins,
            release.form,
            release.objects.loading_lines,
            release.columns,
            edition,
            edition.version(train_digest),
            release.labels if isinstance(release.labels, TrainingRows) else None,
        ).encode(),
        CROISSANT: as_json(described),
    }


def identity(release: Release) -> dict[str, Any]:
    rounds = []
    for member in release.members:
        ratings = member.ratings
        optional_facts = {
            "adjudicated": dict(member.adjudicated.labels),
            "origin": ratings.origin and ratings.origin.to_mapping(),
            **member.audit.facts,
            "sealed_digest": member.sealed_digest,
            "delivery": member.delivery and dict(member.delivery),
            "gold_elsewhere": {
                name: gold.to_mapping() for name, gold in member.gold_elsewhere.items()
            },
        }
        extras = [name for name in EXTRAS if name in ratings.has]
        rounds.append(
            {
                "round": member.round,
                "ratings_digest": ratings.digest,
                "original_digest": member.original_digest,
                "version": member.version,
                "columns": [*extras, *content_columns(ratings.has)],
                **{name: fact for name, fact in optional_facts.items() if fact},
            }
        )
    edition_facts = release.edition.to_mapping()
    return {
        "schema": release.schema,
        **({"dataset": edition_facts} if edition_facts else {}),
        "project": release.project,
        "rounds": rounds,
        "policy_digest": release.policy.digest,
        "contract_digest": release.contract.digest,
        **({"trains": release.trains.to_mapping()} if release.trains else {}),
        "waivers": _waivers_by_round(release),
    }


def _waivers_by_round(release: Release) -> dict[str, list[dict[str, str]]]:
    return {name: decision["waivers"] for name, decision in release.decisions.items()}


def _build_report(release: Release) -> dict[str, Any]:
    labels, rounds = release.labels, {}
    for member in release.members:
        ratings = member.ratings
        rounds[member.round] = {
            "estimates": [estimate.to_mapping() for estimate in member.assessment.estimates],
            "counts": {
                "items": ratings.n_rated,
                "raters": len(ratings.raters),
                "classifiers": len(ratings.classifiers),
                "ratings": len(ratings),
                "earlier_ratings": ratings.n_earlier,
                "repeated_ratings": ratings.n_repeated,
                "gold_items": len(ratings.rated_items(items=ratings.gold)),
            },
        }
    rows = {
        "train": len(labels.rows_with_label),
        "unresolved": int(labels.rows_without_label.sum()),
    }
    count_by_kind = {
        "adjudicated": sum(len(member.adjudicated.labels) for member in release.members),
        "relabelled": int(labels.is_resolved_as("relabelled").sum()),
        "silver": int(labels.is_resolved_as("silver").sum()),
        "in_conflict": int(labels.is_resolved_as("conflict").sum()),
    }
    rows |= {name: count for name, count in count_by_kind.items() if count}
    if not rows.keys().isdisjoint(("adjudicated", "relabelled")):
        rows["overruled"] = sum(member.overruled[0] for member in release.members)
    n_elsewhere = release.n_gold_elsewhere
    elsewhere = {"gold_in_another_round": n_elsewhere} if n_elsewhere else {}
    return {"rounds": rounds, "rows": rows, **elsewhere}


def document(data: Files, name: str) -> bytes:
    return b"".join(iterate_content_parts(data[name]))


def as_json(data: object) -> bytes:
    """Equal data give equal bytes."""
    return (
        json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()
