"""What a suite found in the delivered table of a round.

A result that the log names is trusted. Any other is found again in the kept table: if the suite
changed, and not if the version of Great Expectations did.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agreement_pipeline.contract import (
    Contract,
    Suite,
    as_json,
    findings_of,
    not_checked,
    validate_delivery,
)
from agreement_pipeline.errors import StoreError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.ratings import LIMITS, Limits, Scale
from agreement_pipeline.readers import (
    COLUMNS,
    RULES,
    Columns,
    DeliveredTable,
    Layout,
    Rules,
    Source,
    read_delivered,
)
from agreement_pipeline.store import RoundVersion, Store, digest_of, of_event
from agreement_pipeline.text import called

FACTS = ("suite_digest", "delivery_digest", "results_digest", "great_expectations")
READ_AGAIN_STEP = "Run the round again (its asset `annotations`), so that its delivery is read."


@dataclass(frozen=True, eq=False)
class DeliveryCheck:
    """The findings of a suite, and what the log says of them.

    Attributes
    ----------
    facts
        The digests of what was asked, of the delivered table and of the kept result, and the
        version of Great Expectations. Only the first is there if nothing could be asked.
    result
        In Great Expectations' own form.
    unkept
        The bytes of a result that is not in the store yet.
    """

    findings: tuple[Finding, ...]
    facts: Mapping[str, str]
    result: Mapping[str, Any] = field(default_factory=dict)
    unkept: bytes | None = None

    @property
    def passed(self) -> bool:
        """True if no critical expectation fails, and each could be run."""
        return not any(finding.holds for finding in self.findings)

    def keep(self, store: Store) -> None:
        """Call only while the store is locked."""
        if self.unkept is not None:
            store.storage.keep(_path_of_kept_check(self.facts), self.unkept)


def check_delivery(
    source: str | Source,
    suite: Suite | Path | str,
    columns: Columns = COLUMNS,
    *,
    layout: Layout = "long",
    scale: Scale | None = None,
    round_name: str | None = None,
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    memory_limit: str | None = None,
) -> DeliveryCheck:
    """Run a suite of Great Expectations on a delivery, even if the delivery cannot be judged.

    Parameters
    ----------
    source, columns, layout, limits, rules, memory_limit
        As of `read_ratings`. Rules that choose rows or raters are not followed.
    suite
        A file in the form of `ExpectationSuite.to_json_dict()`, in JSON or YAML.
    scale
        Its categories are the vocabulary of the suite.
    round_name
        The round to read, if the source names more than one.

    Raises
    ------
    ContractError
        The suite could run code, is none, or needs more memory than there is.
    RatingsError
        The source cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> rule = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "label"}}
    >>> rows = pd.DataFrame({"item": ["i1", "i2"], "rater": "ana", "label": ["yes", None]})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ours.json")
    ...     _ = path.write_text(json.dumps({"expectations": [rule]}))
    ...     check = check_delivery(rows, path)
    >>> check.passed, check.findings[0].description[:33]
    (False, 'label_not_null: 1 of 2 rows fail;')
    """
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    table = read_delivered(
        source,
        loaded.needed_columns,
        columns,
        layout=layout,
        round_name=round_name,
        limits=limits,
        rules=rules,
        memory_limit=memory_limit,
    )
    return check_table(loaded, table, None if scale is None else scale.categories)


def check_kept_delivery(
    store: Store, version: RoundVersion, contract: Contract, vocabulary: Sequence[Any] | None
) -> DeliveryCheck | None:
    """None if the contract has no suite."""
    suite = contract.suite
    if suite is None:
        return None
    suite_digest = _digest_of_questions(suite, vocabulary)
    if not version.delivery_digest:
        message = (
            "found no delivered table of this round, since it came before the project had a "
            f"suite, or without a file; expected one. {READ_AGAIN_STEP}"
        )
        return DeliveryCheck((not_checked(message),), {"suite_digest": suite_digest})
    for facts in _logged_facts(store, version, suite_digest):
        content = store.storage.read(_path_of_kept_check(facts))
        if content is not None and digest_of(content) == facts["results_digest"]:
            result = json.loads(content)
            return DeliveryCheck(findings_of(suite, result), facts, result)
    table = DeliveredTable.from_parquet(store.kept_delivery(version))
    delivered_at = datetime.fromisoformat(store.arrived_at(version))
    return check_table(suite, table, vocabulary, delivered_at, version.delivery_digest)


def check_table(
    suite: Suite,
    table: DeliveredTable,
    vocabulary: Sequence[Any] | None,
    delivered_at: datetime | None = None,
    delivery_digest: str | None = None,
) -> DeliveryCheck:
    """A table that was not kept counts as delivered now."""
    suite_digest = _digest_of_questions(suite, vocabulary)
    if lacking := table.missing_columns(suite.needed_columns):
        message = (
            f"found no {called('column', lacking)} in the delivered table that was kept, which "
            f"the suite named later; expected every column that it names. {READ_AGAIN_STEP}"
        )
        return DeliveryCheck((not_checked(message),), {"suite_digest": suite_digest})
    delivered_at = delivered_at or datetime.now(UTC)
    result = validate_delivery(suite, table, vocabulary, delivered_at)
    content = as_json(result)
    facts = {
        "suite_digest": suite_digest,
        "delivery_digest": delivery_digest or digest_of(table.to_parquet()),
        "results_digest": digest_of(content),
        "great_expectations": str(result["meta"].get("great_expectations_version", "")),
    }
    return DeliveryCheck(findings_of(suite, result), facts, result, content)


def _digest_of_questions(suite: Suite, vocabulary: Sequence[Any] | None) -> str:
    reads_vocabulary = any("vocabulary" in entry.parameters for entry in suite.entries)
    if not reads_vocabulary:
        return suite.digest
    return digest_of_plain([suite.digest, None if vocabulary is None else list(vocabulary)])


def _logged_facts(
    store: Store, version: RoundVersion, suite_digest: str
) -> Iterator[Mapping[str, str]]:
    for entry in reversed(of_event("decided", store.history(version.round))):
        facts = entry.get("delivery", {})
        expected_digests = suite_digest, version.delivery_digest
        if (facts.get("suite_digest"), facts.get("delivery_digest")) == expected_digests:
            if not {*FACTS} <= {*facts}:
                raise StoreError(
                    f"round {version.round}: found a decision without {FACTS}; expected what the "
                    "suite found. Restore the log."
                )
            yield facts


def _path_of_kept_check(facts: Mapping[str, str]) -> str:
    name = f"{facts['delivery_digest']}-{facts['results_digest']}"
    return f"contracts/{facts['suite_digest']}/{name}.json"
