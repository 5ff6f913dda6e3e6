"""The tables of a release: training rows, unresolved items, and annotations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.contract import Contract, findings_recorded
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import (
    NO_WAIVERS,
    Assessment,
    Policy,
    Remedy,
    Waivers,
    assess,
    check_round,
    find_overlap_mistakes,
)
from agreement_pipeline.ratings import (
    NOT_ADJUDICATED,
    Adjudicated,
    BatchRows,
    LabelledRound,
    PanelLabels,
    Ratings,
    RatingsRows,
    Scale,
    TrainingRows,
    Trains,
    arrow_to_pandas,
    count_overruled,
    count_overruled_singles,
)
from agreement_pipeline.release.auditing import NO_MODELS, Audit
from agreement_pipeline.release.gold import (
    GOLD_CODE,
    GOLD_IS_KNOWN,
    GoldElsewhere,
    codes_of_gold,
)
from agreement_pipeline.release.tables_to_form_3 import UNRESOLVED_TO_FORM_3, LabelRowsToForm3
from agreement_pipeline.release.training_table import (
    NOWHERE,
    TrainingTable,
    UnitPlaces,
    in_document_order,
    label_type,
    places_are_whole,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import number_names_of_units


@dataclass(frozen=True, eq=False)
class Member:
    """A round of a release, as it was judged. Its ratings have pseudonyms.

    An item that is gold in any round of the project is gold here. No decision reads the
    `adjudicated` labels. The `audit` is of the models that labelled the round. `table_findings`
    are those in rows and items that a decision of an earlier version records.

    `delivery` is what its suite found in the delivered table, in counts, and the digests of both.

    `gold_elsewhere` are its items that are gold in other rounds of the project, by that round, as
    far as no round of the release calls them gold.

    The labels of gold items are sealed (`seal_gold`). Then their `sealed_digest` proves the
    ratings, whose digest is that of the round as it was judged.
    """

    round: str
    original_digest: str
    ratings: Ratings
    policy: Policy
    contract: Contract
    waivers: Waivers = NO_WAIVERS
    version: int = 1
    adjudicated: Adjudicated = NOT_ADJUDICATED
    audit: Audit = NO_MODELS
    table_findings: Sequence[Finding] | None = None
    sealed_digest: str = ""
    trains: Trains | None = None
    delivery: Mapping[str, Any] | None = None
    gold_elsewhere: Mapping[str, GoldElsewhere] = field(default_factory=dict)

    @property
    def recorded(self) -> tuple[Finding, ...]:
        """What the suite found in the delivery. A release has no more of it than these counts."""
        if self.contract.suite is None or self.delivery is None:
            return ()
        return findings_recorded(self.contract.suite, self.delivery["findings"])

    @cached_property
    def assessment(self) -> Assessment:
        gate_findings = [*self.audit.find(self.ratings, self.policy)]
        gate_findings += find_overlap_mistakes(self.ratings, self.trains)
        gate_findings += self.recorded
        remedies = (waiver for waiver in self.waivers.written if isinstance(waiver, Remedy))
        gate_findings += (
            remedy.finding_if_proved() for remedy in remedies
        )  # the lock looked at their samples
        by = self.policy, self.contract, self.waivers
        check_findings = self.check_under(self.policy)
        return assess(self.ratings, *by, gate_findings, self.version, check_findings, self.trains)

    def check_under(self, policy: Policy) -> tuple[Finding, ...]:
        return check_round(self.ratings, policy, self.contract, self.table_findings)

    @property
    def labelled(self) -> LabelledRound:
        return LabelledRound(self.round, self.ratings, self.adjudicated, self.audit.labelled_by)

    @cached_property
    def labels_to_form_3(self) -> PanelLabels:
        panel_labels = PanelLabels.from_ratings(self.ratings, self.round, self.adjudicated)
        classifier = self.audit.labelled_by
        return (
            panel_labels
            if classifier is None
            else panel_labels.labels_of_classifier(self.ratings, classifier)
        )

    @cached_property
    def overruled(self) -> tuple[int, int]:
        may_be = self.adjudicated.labels or "last_label" in self.ratings.has
        return count_overruled(self.ratings, self.adjudicated) if may_be else (0, 0)


def gold_items_in(rounds: Iterable[Ratings]) -> frozenset[str]:
    return frozenset().union(*(ratings.gold for ratings in rounds))


def quoted_round_names(members: Sequence[Member]) -> str:
    return f"rounds {listed([member.round for member in members])}"


TRAIN = "data/train-00000-of-00001.parquet"
UNRESOLVED = "unresolved/unresolved-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"
OF_LABELS = frozenset({"label", "last_label", "gold_label"})
MAX_OVERRULED_SHARE = 0.1
"""So large a share of the items on which all raters agree may be overruled. Of items with one
rating, so large a share more than that on which two raters differ."""


def table_by_path(
    members: Sequence[Member],
    labels: TrainingRows | PanelLabels,
    place_by_unit: Mapping[str, Sequence[float]],
) -> dict[str, BatchRows]:
    """The tables by path. Labels of the panel stand in releases up to form 3."""
    numbers: tuple[str, ...] = ()
    if all("cluster" in member.ratings.has for member in members):
        items = (member.ratings.items()["item"] for member in members)
        numbers = number_names_of_units(
            name for item_names in items for name in item_names.to_pylist()
        )
    rounds = tuple(member.round for member in members)
    typed_scale = None if isinstance(labels, PanelLabels) else labels.scale
    ratings = tuple(RatingsRows(member.ratings) for member in members)
    unit_places = UnitPlaces(numbers, place_by_unit)
    annotations = AnnotationRows(rounds, ratings, unit_places, typed_scale)
    try:
        _ = annotations.schema
    except (pa.ArrowInvalid, pa.ArrowTypeError) as cause:
        raise ReleaseHeldError(
            f"{quoted_round_names(members)}: found columns of different kinds ({cause}); "
            "expected one kind, and one time zone of times, in all rounds. "
            "Ingest them again with that column as text in each."
        ) from None
    unresolved = np.flatnonzero(labels.rows_without_label)
    if isinstance(labels, PanelLabels):
        return {
            TRAIN: LabelRowsToForm3(labels, labels.rows_with_label, unit_places),
            UNRESOLVED_TO_FORM_3: LabelRowsToForm3(labels, unresolved, unit_places),
            ANNOTATIONS: annotations,
        }
    are_whole = places_are_whole(labels, unit_places)

    def table_of(places: np.ndarray[Any, Any]) -> TrainingTable:
        return TrainingTable(labels, in_document_order(labels, places), unit_places, are_whole)

    return {
        TRAIN: table_of(labels.rows_with_label),
        UNRESOLVED: table_of(unresolved),
        ANNOTATIONS: annotations,
    }


def build_training_rows(members: Sequence[Member]) -> TrainingRows:
    """The training rows of the rounds together."""
    _refuse_lost_texts(members)
    for member in members:
        _refuse_singles_overruled_too_often(member)
    return TrainingRows.build([member.labelled for member in members], members[0].trains)


def labels_to_form_3(members: Sequence[Member]) -> PanelLabels:
    """The labels of releases up to form 3, where the first round of an item counts."""
    _refuse_lost_texts(members)
    return PanelLabels.combine_first_of([member.labels_to_form_3 for member in members])


def _refuse_lost_texts(members: Sequence[Member]) -> None:
    """Refuse different texts of an item, of which one would be lost, and too many labels against
    all raters.
    """
    text_tables = [
        member.ratings.items(["text"]) for member in members if "text" in member.ratings.has
    ]
    if len(text_tables) > 1:
        texts = arrow_to_pandas(pa.concat_tables(text_tables))
        texts = texts[texts["item"].duplicated(keep=False)].groupby("item")["text"].nunique()
        differing = list(texts.index[texts > 1])
        if differing:
            raise ReleaseHeldError(
                f"{quoted_round_names(members)}: found items {listed(differing)} with different "
                "texts "
                "in different rounds; expected one text for each item, or one would be lost. "
                "Give each text its own item."
            )
    for member in members:
        count, agreed = member.overruled
        if count > MAX_OVERRULED_SHARE * agreed:
            later = ["later"] if member.ratings.n_edited_labels[0] else []
            resolved_by = ["adjudicated"] * bool(member.adjudicated.labels) + later
            raise ReleaseHeldError(
                f"round {member.round}: found {' and '.join(resolved_by)} labels against all "
                f"raters on {count} of the {agreed} items on which they agree; expected "
                f"{MAX_OVERRULED_SHARE:.0%} of them at most. Adjudicate the items on which raters "
                "differ, or have the round labelled again."
            )


def _refuse_singles_overruled_too_often(member: Member) -> None:
    """The raters' agreement says nothing of labels that an adjudicator put in the place of theirs.

    An adjudicator as good as the raters differs from one of them as often as these do.
    """
    singles = count_overruled_singles(member.ratings, member.adjudicated)
    max_share = MAX_OVERRULED_SHARE + singles.pair_difference
    if singles.n_overruled > max_share * singles.n_training:
        raise ReleaseHeldError(
            f"round {member.round}: found adjudicated labels against the only rater on "
            f"{singles.n_overruled} of the {singles.n_training} items that several raters or an "
            f"adjudicator settled; expected {max_share:.1%} at most, which is "
            f"{MAX_OVERRULED_SHARE:.0%} "
            f"and the {singles.pair_difference:.1%} on which two raters differ. "
            "Let another rater label "
            "these items, and judge the round again."
        )


@dataclass(frozen=True, eq=False)
class AnnotationRows:
    """The ratings of all rounds. With a `typed_scale`, labels are as in the training table."""

    rounds: tuple[str, ...]
    ratings_rows: tuple[RatingsRows, ...]
    unit_places: UnitPlaces = NOWHERE
    typed_scale: Scale | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        column = pa.field("round", pa.string())
        schemas = [rows.schema.insert(0, column) for rows in self.ratings_rows]
        places = pa.schema([(name, pa.float64()) for name in self.unit_places.numbers])
        schema = pa.unify_schemas([*schemas, places], promote_options="default")
        scale = self.typed_scale
        if scale is None:
            return schema
        if not scale.numeric:
            kind = label_type(scale)
            for name in OF_LABELS & {*schema.names}:
                schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        if any(rows.ratings.gold for rows in self.ratings_rows):
            schema = schema.append(pa.field(GOLD_CODE, pa.int64()))
            place = schema.get_field_index("gold_label")
            if place >= 0:
                schema = schema.set(place, pa.field(GOLD_IS_KNOWN, pa.bool_()))
        return schema

    def __len__(self) -> int:
        return sum(map(len, self.ratings_rows))

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        for name, rows in zip(self.rounds, self.ratings_rows, strict=True):
            for part in rows.to_batches():
                rating_columns = dict(zip(part.schema.names, part.columns, strict=True))
                if GOLD_CODE in self.schema.names:
                    rating_columns = codes_of_gold(part, rows.ratings.gold, rows.ratings.scale)
                places = self.unit_places.columns(part.column("item"))
                columns = {"round": pa.repeat(name, len(part)), **rating_columns}
                columns |= {
                    number: pa.array(places[number], pa.float64())
                    for number in self.unit_places.numbers
                }
                arrays = [
                    self._cast(columns[field.name], field)
                    if field.name in columns
                    else pa.nulls(len(part), field.type)
                    for field in self.schema
                ]
                yield pa.record_batch(arrays, schema=self.schema)

    def _cast(self, column: pa.Array, field: pa.Field) -> pa.Array:
        scale = self.typed_scale
        if field.name not in OF_LABELS or scale is None or scale.numeric:
            return column.cast(field.type)
        ids = pc.index_in(column, pa.array(scale.names, column.type))
        return pa.array(scale.label_values, field.type).take(ids)
