"""Asset checks: they show what was found and stop a run early. Each asks a question.

The lock on a release is not here. It is in `release_round`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.contract import Suite, failed_rows
from agreement_pipeline.errors import CertificateError
from agreement_pipeline.estimates import ChartedRound
from agreement_pipeline.evidence import (
    NUMBERS,
    RuleResult,
    Summary,
    build_verdict_grid,
    describe_health,
    describe_last_round_on_chart,
    describe_policy_change,
    rounds_not_admitted,
    rounds_out_of_limits,
)
from agreement_pipeline.integrity import Finding
from agreement_pipeline.models import open_certificate
from agreement_pipeline.orchestration.compat import check_spec
from agreement_pipeline.orchestration.host import ASSETS, Host
from agreement_pipeline.orchestration.metadata import (
    OF_DATA,
    first_of,
    in_cell,
    number,
    rendered,
    table,
)
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.projects import Project
from agreement_pipeline.release import DeliveryCheck
from agreement_pipeline.report import printable
from agreement_pipeline.text import counted, join_sentences

ADMITTED, NO_ROUND_HELD, IN_FORCE = "admitted", "no_round_held", "in_force"
IN_TIME, LIKE_BEFORE, SAME_POLICY = "in_time", "like_before", "by_todays_policy"
RELEASED_TOGETHER = "released_together"
EVERY_ROUND_JUDGED, CERTIFICATES = "every_round_judged", "certificates_answer"
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR
CONTRACT_KEPT, ADVICE, SILVER = "contract_kept", "contract_advice", "silver_labels"
MOST_RULES = 16
"""A round has twenty checks at most. Rules beyond these stand in the table of the decision."""

FINDING_COLUMNS = {
    "check": "The check: a bound of the policy's integrity.",
    "passed": "Whether the check is met.",
    "found": "What the check found, in words.",
    "observed": "The numbers that the check found.",
}
ASKS = {
    CONTRACT_KEPT: (
        "annotations",
        "Does the round pass every check of the policy's integrity that holds a release?",
    ),
    ADVICE: (
        "annotations",
        "Does the round pass the checks of integrity that only warn? A failure holds nothing.",
    ),
    IN_FORCE: ("training_data", "Is the latest release of this round in force?"),
    RELEASED_TOGETHER: ("release", "Are all admitted rounds released together?"),
    NO_ROUND_HELD: ("agreement_history", "Is every round admitted?"),
    IN_TIME: ("agreement_history", "Did a round come in the last {days}?"),
    LIKE_BEFORE: ("agreement_history", "Is the latest round like those before?"),
    SAME_POLICY: ("agreement_history", "Is every admitted round admitted by today's policy?"),
    CERTIFICATES: ("agreement_history", "Is every certificate of its classifiers valid today?"),
    EVERY_ROUND_JUDGED: (
        "reassessment",
        "Was every stored round judged again, and released if it is admitted now?",
    ),
}


def build_check_specs(host: Host, asset: str) -> list[dg.AssetCheckSpec]:
    """What follows in the same run waits for `admitted`."""
    asks = {
        name: question for name, (check_asset, question) in ASKS.items() if check_asset == asset
    }
    if IN_TIME in asks:
        days = counted(host.project.settings.overdue_after_days, "day")
        asks[IN_TIME] = asks[IN_TIME].format(days=days)
        if not _has_classifiers(host.project):
            del asks[CERTIFICATES]
    if asset == "acceptability":
        policy = host.project.policy
        asks[ADMITTED] = f"Does policy {policy.policy}, version {policy.version}, admit this round?"
        if host.project.settings.certified_by:
            asks[SILVER] = "Is the classifier certified, and are few of its labels wrong?"
        asks |= {rule.name: rule.question for rule in _rules_with_check(policy)}
    if asset == "annotations" and (suite := host.project.contract.suite):
        asks |= {entry.check: entry.question for entry in suite.entries}
    by_round = ASSETS[asset].by_round
    return [
        check_spec(
            name,
            asset=host.key(asset),
            description=question,
            partitions=host.partitions if by_round else None,
            blocking=name == ADMITTED,
        )
        for name, question in asks.items()
    ]


def contract_results(findings: Sequence[Finding]) -> Iterator[dg.AssetCheckResult]:
    for name, severity in ((CONTRACT_KEPT, ERROR), (ADVICE, WARN)):
        of_severity = [
            finding
            for finding in findings
            if (finding.severity == "error") is (name == CONTRACT_KEPT)
        ]
        failed = [finding.description for finding in of_severity if not finding.passed]
        rows = pd.DataFrame(
            {
                "check": finding.check,
                "passed": "yes" if finding.passed else "no",
                "found": finding.description,
                "observed": "; ".join(
                    f"{name}: {in_cell(value)}" for name, value in finding.observed
                ),
            }
            for finding in of_severity
        )
        answer = _answer_in_words(not failed, failed)
        yield _build_result(
            name, not failed, answer, severity, table("findings", rows, FINDING_COLUMNS)
        )


def suite_results(
    suite: Suite | None, check: DeliveryCheck | None
) -> Iterator[dg.AssetCheckResult]:
    """What each expectation found in the delivery, with the first rows that fail and its rule."""
    if suite is None or check is None:
        return
    rows = failed_rows(suite, check.result) if check.result else {}
    finding_by_check = {finding.check: finding for finding in check.findings}
    for entry in suite.entries:
        finding = finding_by_check.get(entry.check) or check.findings[0]
        counts = {name: value for name, value in finding.observed if value is not None}
        checked = counts.get("element_count", 0) - counts.get("missing_count", 0)
        if checked and "unexpected_count" in counts:
            counts["unexpected_percent"] = number(100 * counts["unexpected_count"] / checked)
        failed = pd.DataFrame(rows.get(entry.check, ()))
        delivered = dict.fromkeys(map(str, failed), OF_DATA)
        metadata = {
            **counts,
            "rule": dg.MetadataValue.json(entry.rule),
            **({} if failed.empty else table("failed_rows", failed, delivered)),
        }
        severity = ERROR if finding.severity == "error" else WARN
        answer = _answer_in_words(finding.passed, [finding.description])
        yield _build_result(entry.check, finding.passed, answer, severity, metadata)


def results_of_loaded_checks(
    results: Iterable[dg.AssetCheckResult], loaded: Iterable[str]
) -> list[dg.AssetCheckResult]:
    """An answer to each check that was loaded, and to no other: a suite may have changed since."""
    by_name = {str(result.check_name): result for result in results}
    return [by_name.get(name) or result_without_expectation(name) for name in loaded]


def result_without_expectation(name: str) -> dg.AssetCheckResult:
    return _build_result(name, False, "The suite has no such check now. Reload the definitions.")


def policy_results(
    summary: Summary, silver: Finding | None = None
) -> Iterator[dg.AssetCheckResult]:
    decision, grid = summary.decision, rendered({"verdicts": build_verdict_grid(summary.results)})
    answer = _answer_in_words(decision.admitted, decision.reasons)
    yield _build_result(ADMITTED, decision.admitted, answer, ERROR, grid)
    if silver is not None:
        numbers = {name: number(value) for name, value in silver.observed if value is not None}
        answer = _answer_in_words(silver.passed, [silver.description])
        yield _build_result(SILVER, silver.passed, answer, ERROR, numbers)
    for rule in _rules_with_check(summary.policy):
        results = [result for result in summary.results if result.rule == rule.name]
        # A stratum of few items may only be told of, under a rule that holds.
        relevant = (result for result in results if result.holds == (rule.effect == "hold"))
        is_met = all(result.is_met for result in relevant)
        grid = rendered({"verdicts": build_verdict_grid(results)})
        answer = _answer_in_words(is_met, [result.reason for result in results])
        yield _build_result(
            rule.name, is_met, answer, metadata={**grid, **_numbers_of_only_result(results)}
        )


def result_without_rule(name: str) -> dg.AssetCheckResult:
    return _build_result(name, False, "The policy has no such rule now. Reload the definitions.")


def released_result() -> dg.AssetCheckResult:
    return _build_result(IN_FORCE, True, "Yes: released, and not withdrawn.", ERROR)


def released_together_result() -> dg.AssetCheckResult:
    return _build_result(RELEASED_TOGETHER, True, "Yes: released, and not withdrawn.", ERROR)


def not_released_result(asset: str, reason: str) -> dg.AssetCheckResult:
    """Of a release that could not be made, or that was withdrawn."""
    name = RELEASED_TOGETHER if asset == "release" else IN_FORCE
    return _build_result(name, False, reason, ERROR, {"release": reason})


def reassessed_result(failed: Mapping[str, str]) -> dg.AssetCheckResult:
    reasons = [f"round {name}: {reason}" for name, reason in failed.items()]
    return _build_result(
        EVERY_ROUND_JUDGED, not failed, _answer_in_words(not failed, reasons), ERROR
    )


def history_results(
    rounds: pd.DataFrame,
    policy: Policy,
    unused: Mapping[str, str],
    late: str,
    chart: Sequence[ChartedRound],
) -> Iterator[dg.AssetCheckResult]:
    problems = [*rounds_not_admitted(rounds), *(f"unused waiver {name}" for name in unused)]
    good = "no round yet" if rounds.empty else "every round is admitted"
    answer = printable("; ".join(problems)) or good
    yield _build_result(
        NO_ROUND_HELD, not problems, answer, metadata={"health": describe_health(rounds, late)}
    )
    yield _build_result(IN_TIME, not late, _answer_in_words(not late, [late] if late else []))
    yield like_before(chart)
    policy_note = describe_policy_change(rounds, policy)
    yield _build_result(
        SAME_POLICY,
        not policy_note,
        _answer_in_words(not policy_note, [policy_note] if policy_note else []),
    )


def certificates(project: Project) -> Iterator[dg.AssetCheckResult]:
    if not _has_classifiers(project):
        return
    by, statements, ended = project.certified_by, list[str](), list[str]()
    for identity in project.identities:
        try:
            certificate = open_certificate(by.store if by else project.store, identity)
            statements += [
                certificate.statement,
                *([certificate.anchored.in_words] if certificate.anchored else []),
            ]
        except CertificateError as error:
            if error.code != "certificate_absent":
                ended.append(f"{error.code}: {error}")
    words = printable("; ".join((*ended, *statements))) or "no classifier is certified"
    yield _build_result(CERTIFICATES, not ended, words)


def _has_classifiers(project: Project) -> bool:
    return bool(project.settings.classifiers or project.settings.optional_classifiers)


def like_before(chart: Sequence[ChartedRound]) -> dg.AssetCheckResult:
    """It never holds a round."""
    fallen_rounds = rounds_out_of_limits(chart[-1:])
    return _build_result(
        LIKE_BEFORE,
        not fallen_rounds,
        "; ".join(fallen_rounds) or describe_last_round_on_chart(chart),
    )


def _build_result(
    name: str,
    passed: bool,
    description: str,
    severity: dg.AssetCheckSeverity = WARN,
    metadata: Mapping[str, Any] | None = None,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=name,
        passed=passed,
        severity=severity,
        description=description,
        metadata=metadata,
    )


def _rules_with_check(policy: Policy) -> Sequence[Rule]:
    holding = sorted(policy.rules, key=lambda rule: rule.effect != "hold")
    return holding[:MOST_RULES]


def _answer_in_words(passed: bool, reasons: Iterable[str]) -> str:
    text = printable(join_sentences(first_of(list(reasons))))
    return f"{'Yes' if passed else 'No'}{f': {text}' if text else '.'}"


def _numbers_of_only_result(results: Sequence[RuleResult]) -> dict[str, float | str]:
    if len(results) != 1:
        return {}
    numbers = ((name, getattr(results[0], name)) for name in NUMBERS)
    return {name: number(value) for name, value in numbers if value is not None}
