"""Silver rounds: a certified classifier gave the labels, and a panel labelled a drawn part.

The gate admits one if a certificate answers for the classifier and these items, if the policy
admits the panel on the drawn items, and if the upper limit of wrong labels there is under the
policy's.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Annotated, Any

import pandas as pd

from agreement_pipeline.errors import CertificateError, DrawError, RatingsError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.mistakes import Value, day_value
from agreement_pipeline.models.certificates import (
    Certificate,
    open_certificate,
    refuse_expiry,
    refuse_raters_named_like_models,
)
from agreement_pipeline.models.correction import WrongLabels, wrong_labels
from agreement_pipeline.models.draw import Draw, draw_of
from agreement_pipeline.models.identity import Identity
from agreement_pipeline.policy import AUDITED, Policy, build_gate_finding, is_digest
from agreement_pipeline.ratings import Ratings, arrow_to_pandas
from agreement_pipeline.store import RoundVersion, Store
from agreement_pipeline.text import counted, in_words, listed
from agreement_pipeline.yaml_files import validate_settings

PERCENT = ".2%"


@dataclass(frozen=True)
class SilverAudit:
    classifier: Identity
    certificate: Annotated[str, Value("a digest", is_digest)]
    expires: Annotated[date, day_value()]
    draw: Draw

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> "SilverAudit":
        return validate_settings(cls, data, "silver", CertificateError)

    def to_mapping(self) -> dict[str, Any]:
        return {
            "classifier": self.classifier.to_mapping(),
            "certificate": self.certificate,
            "expires": self.expires.isoformat(),
            "draw": self.draw.to_mapping(),
        }

    def finding(self, ratings: Ratings, policy: Policy, store: Store | None = None) -> Finding:
        """What the drawn items say of the classifier's labels. Only ratings and policy are read.

        The store of the draw can name items whose texts are other ones now.
        """
        if policy.silver is None:
            words = (
                f"found no limit of wrong labels in policy {policy.policy}; expected one, since a "
                "classifier gave the labels. Write silver: {most_wrong: 0.05} into the policy."
            )
            return build_gate_finding("silver_no_limit", words)
        name = self.classifier.name
        try:
            self.draw.refuse_others(ratings, ratings, name)
            self.draw.refuse_relabelled(ratings, name)
            comparison = self.draw.compare_contents(ratings, store, name)
            result = wrong_labels(
                ratings,
                policy.silver.majority_of,
                classifier=name,
                design=self.draw.design,
                confidence_level=policy.confidence_level,
            )
        except DrawError as error:
            return build_gate_finding(error.code, str(error))
        except RatingsError as error:
            return build_gate_finding("silver_undefined", str(error))
        if self.draw.design == "clustered":
            words = (
                "found a draw of whole clusters; expected one of items, since nobody studied how "
                "often few wrong clusters hide many wrong labels. Draw items from fresh ones."
            )
            return build_gate_finding("silver_undefined", words)
        if self.draw.earlier:
            words = (
                f"draw of {self.draw.in_words}; expected one draw, since the best of several is "
                "no random sample. Deliver fresh items, and draw from these."
            )
            return build_gate_finding("draw_again", words)
        return self._judge_wrong_share(result, policy.silver.most_wrong, comparison)

    def _judge_wrong_share(
        self, result: WrongLabels, max_wrong_share: float, comparison: str
    ) -> Finding:
        numbers = result.value, result.upper, result.perfect, result.apart
        if None in numbers:
            words = (
                f"found no share of wrong labels, since {result.undefined}; expected "
                f"{result.majority_of} ratings of each drawn item. Have the drawn items labelled."
            )
            return build_gate_finding("silver_undefined", words)
        value, upper, perfect, single_disagreement = (
            in_words(number or 0.0, PERCENT, [max_wrong_share]) for number in numbers
        )
        is_within_limit = (result.upper or 0.0) < max_wrong_share
        words = (
            f"found {value} of the labels of {self.classifier.name} wrong, with an upper limit of "
            f"{upper}, on {result.n_labels:,} drawn of {result.n_items:,} items: a majority of "
            f"{result.majority_of} of {counted(result.n_raters, 'rater')} would give another "
            f"label. A perfect classifier would score {perfect} here, and single raters differ "
            f"from it on {single_disagreement}"
        )
        observed = tuple(vars(result).items())
        if is_within_limit:
            certified = f"Certified until {self.expires}: {self.classifier.in_words}"
            message = f"{words}. {comparison}. {certified}"
            return build_gate_finding(AUDITED, message, passed=True, observed=observed)
        step = (
            "Improve the classifier and certify it, or draw more of fresh items: "
            "agreement-pipeline plan says how many."
        )
        limit = in_words(max_wrong_share, PERCENT)
        message = f"{words}; expected a limit under {limit}. {step}"
        return build_gate_finding("silver_wrong_labels", message, observed=observed)


@dataclass(frozen=True, eq=False)
class CertifiedBy:
    identity: Identity
    store: Store
    _labelled: dict[str, dict[str, frozenset[str]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def judged(
        self, store: Store, round_name: str, ratings: Ratings, policy: Policy, on: date
    ) -> tuple[Finding, SilverAudit | None]:
        """The round need not be in the store. Its draw is in the store's log."""
        try:
            audit = self._build_audit(store, round_name, ratings, on)
            earlier = [*self._iterate_deliveries_since(store, ratings, audit.draw)]
            earlier += self._iterate_first_labels(ratings, earlier, audit.draw)
        except (CertificateError, DrawError) as error:
            return build_gate_finding(error.code, str(error)), None
        finding = audit.finding(ratings, policy, store)
        # Labels came first whatever texts their delivery had beside them.
        audit_of_labels = replace(audit, draw=replace(audit.draw, contents={}))
        for name, labels in earlier if finding.passed else ():
            earlier_finding = audit_of_labels.finding(labels, policy)
            if earlier_finding.check == "silver_wrong_labels":
                wrong = in_words(dict(earlier_finding.observed)["value"], PERCENT)
                words = (
                    f"found other labels of people than in a delivery of round {name}, by which "
                    f"{wrong} of the labels of {self.identity.name} were wrong; expected the "
                    "labels that they gave first, since who sees where a classifier differs may "
                    "come to agree with it. Deliver settled labels as adjudicated ones, or draw "
                    "from fresh items."
                )
                return build_gate_finding("silver_labels_given_again", words), None
        return finding, audit

    def _build_audit(
        self, store: Store, round_name: str, ratings: Ratings, on: date
    ) -> SilverAudit:
        name, location = self.identity.name, f"round {round_name}"
        if name not in ratings.classifiers:
            raise CertificateError(
                f"{location}: found classifiers {listed(ratings.classifiers)}; expected {name!r}, "
                "which is certified. Correct the name, or let it label the round.",
                "certificate_classifier_absent",
            )
        refuse_raters_named_like_models(ratings, self.identity, location)
        certificate = self._certificate
        refuse_expiry(certificate.expires, on)
        certificate.refuse_others(ratings)
        draw = draw_of(store, ratings)
        return SilverAudit(self.identity, certificate.digest, certificate.expires, draw)

    def _iterate_deliveries_since(
        self, store: Store, ratings: Ratings, draw: Draw
    ) -> Iterator[tuple[str, Ratings]]:
        items, drawn_at, delivered_at = _items_labelled_by(ratings, ratings.everyone), "", ""
        if ratings.digest not in self._labelled:
            self._labelled[ratings.digest] = self._list_items_by_labeller(ratings)
        for entry in store.history():
            drawn_at = entry["time"] if entry.get("seed") == draw.seed else drawn_at
            if not self._is_labelled(store, entry, items, ratings):
                continue
            if not drawn_at:
                raise DrawError(
                    f"draw of {draw.population}: found labels of people in an earlier delivery, of "
                    f"round {entry['round']}; expected a draw that is older than all labels, since "
                    "who knows labels may choose a draw. Deliver fresh items, and draw before they "
                    "are labelled.",
                    "draw_after_labels",
                )
            if entry["ratings_digest"] == ratings.digest:
                delivered_at = delivered_at or entry["time"]
            else:
                yield entry["round"], store.ratings_of(RoundVersion.from_entry(entry))
        for entry in self.store.history():
            in_time = drawn_at < entry["time"] < (delivered_at or "9")
            if in_time and self._is_labelled(self.store, entry, items, ratings):
                version = RoundVersion.from_entry(entry)
                yield f"{version.round} of the certifying project", self.store.ratings_of(version)

    def _is_labelled(
        self, store: Store, entry: Mapping[str, Any], items: Set[str], ratings: Ratings
    ) -> bool:
        if entry["event"] != "ingested":
            return False
        digest = entry["ratings_digest"]
        if digest not in self._labelled:
            delivered = store.ratings_of(RoundVersion.from_entry(entry))
            self._labelled[digest] = self._list_items_by_labeller(delivered)
        labelled = self._labelled[digest]
        people = {"", *ratings.raters} & {*labelled}
        return not all(labelled[labeller].isdisjoint(items) for labeller in people)

    def _list_items_by_labeller(self, delivered: Ratings) -> dict[str, frozenset[str]]:
        """What people labelled, as "", and each other classifier, who may be a person elsewhere."""
        other_classifiers = [
            classifier for classifier in delivered.classifiers if classifier != self.identity.name
        ]
        items_by_classifier = {
            name: _items_labelled_by(delivered, [name]) for name in other_classifiers
        }
        return {**items_by_classifier, "": _items_labelled_by(delivered, delivered.raters)}

    def _iterate_first_labels(
        self, ratings: Ratings, earlier: Iterable[tuple[str, Ratings]], draw: Draw
    ) -> Iterator[tuple[str, Ratings]]:
        """The first labels of the drawn items, over all deliveries, if a later one has others. Then
        those of the first raters alone, if others joined.

        A delivery that lacks an item or a rater is no audit alone, but its labels were first. So
        were those that it calls suggestions, and those of people whom it calls classifiers.
        """
        model, columns = self.identity.name, ["item", "rater", "label"]

        def read_panel_labels(delivery: Ratings) -> pd.DataFrame:
            people = {*delivery.raters, *ratings.raters} - {model}
            panel = [rater for rater in delivery.everyone if rater in people]
            labels: pd.DataFrame = arrow_to_pandas(
                delivery.first_ratings(columns, items=draw.items, raters=panel)
            )
            return labels[labels["label"].isin(ratings.scale.names)]

        deliveries = list(earlier)
        if ratings.scale.continuous or not deliveries:
            return
        current_labels = read_panel_labels(ratings.without_assisted)
        earlier_labels = pd.concat([read_panel_labels(delivery) for _, delivery in deliveries])
        first_labels = pd.concat([earlier_labels, current_labels]).drop_duplicates(columns[:2])
        labels_of_first_raters = first_labels[first_labels["rater"].isin(earlier_labels["rater"])]
        names = " or ".join(dict.fromkeys(name for name, _ in deliveries))
        of_model = arrow_to_pandas(ratings.first_ratings(columns, raters=[model]))
        for settled_labels, compared_labels in (
            (first_labels, current_labels),
            (labels_of_first_raters, first_labels),
        ):
            n_equal = len(settled_labels.merge(compared_labels))
            if not len(settled_labels) == len(compared_labels) == n_equal:
                labels_with_model = pd.concat([of_model, settled_labels])
                settled = Ratings.from_frame(labels_with_model, ratings.scale, classifiers=[model])
                yield names, settled

    @cached_property
    def _certificate(self) -> Certificate:
        return open_certificate(self.store, self.identity)


def _items_labelled_by(ratings: Ratings, raters: Collection[str]) -> frozenset[str]:
    return frozenset(ratings.first_ratings(["item"], raters=raters)["item"].to_pylist())
