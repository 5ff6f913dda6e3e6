import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.options import (
    FILE,
    OUTPUT,
    PLACE,
    command,
    full_name,
    option,
    output_option,
    store_option,
)
from agreement_pipeline.cli.output import as_json, refuse_to_replace, say
from agreement_pipeline.errors import PolicyError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.policy import TENTATIVE, Policy, Rule, Silver, describe_waived
from agreement_pipeline.report import printable
from agreement_pipeline.text import counted, interval, joined
from agreement_pipeline.text import in_words as number
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from agreement_pipeline.release import Demands, Release

STATUS_BY_CODE = {
    "release_invalid": 1,
    "release_unfinished": 10,
    "release_withdrawn": 11,
    "release_file_missing": 12,
    "release_file_extra": 13,
    "release_file_changed": 14,
    "release_not_derived": 15,
    "release_not_admitted": 16,
    "release_waiver_ended": 17,
    "release_not_in_log": 18,
    "held": 19,
    "release_reworded": 20,
    "release_waived": 21,
    "release_held_today": 22,
    "release_not_signed": 24,
    "release_certificate_ended": 23,
}
DEMANDS = "Demands"
COUNT_DEMAND = re.compile(r"(?P<what>raters|items)\s*>=\s*(?P<least>[0-9]{1,9})")
OF_POLICY = re.compile(r"policy\s*=\s*(?P<name>[^@]+?)(?:@(?P<version>[0-9]{1,9}))?")
WRONG = re.compile(r"wrong\s*<\s*(?P<most>[0-9.]+)")
NUMBERS = ("measure", "scope", "value", "low", "high", "n_items", "verdict")
PRESENT = {
    None: "",
    True: "; the present version",
    False: "; superseded by a newer version",
}
VOUCHED_BY = {
    (): "The files cannot prove who released it, or that it is in force: add --store or --signed.",
    ("log",): "The log of the store has the same files, and the release is in force.",
    ("signature",): "A signature vouches for them. Only --store can tell if it is still in force.",
    ("log", "signature"): "A signature and the log of the store vouch for them; it is in force.",
}
"""What a check can prove and what it cannot, by who vouches for the bytes of a release."""
WAIVER_KEYS = (
    *("round", "measure", "check", "scope", "remedied_by", "sample", "who", "why", "until"),
)


@command(
    "agreement-pipeline verify RELEASE --require 'alpha>=0.8' --store .agreement/store/moderation",
    "agreement-pipeline verify RELEASE --require 'raters>=3' --no-waivers --format json",
    "agreement-pipeline verify RELEASE --signed release.dsse.json --signed-by team.pem",
)
@click.argument("release", type=PLACE, help="The folder or the URL of a release.")
@option(
    "--require",
    group=DEMANDS,
    multiple=True,
    metavar="DEMAND",
    help="A demand of your own: alpha>=0.8, 'cohen_kappa of pair>=0.7', raters>=3, items>=100, "
    "wrong<0.05 of a classifier's labels, policy=NAME or policy=NAME@VERSION. Repeat for more.",
)
@option(
    "--no-waivers", group=DEMANDS, is_flag=True, help="Refuse a release that rests on a waiver."
)
@option(
    "--today",
    group=DEMANDS,
    is_flag=True,
    help="Refuse a release of an older version that today's code would hold.",
)
@store_option(
    group=DEMANDS,
    help="The store of the release. Its log must say that the release is in force.",
)
@option(
    "--signed",
    group=DEMANDS,
    type=FILE,
    help="The signed statement on the release: an envelope of DSSE. Asks for --signed-by.",
)
@option(
    "--signed-by",
    group=DEMANDS,
    type=FILE,
    help="The public key of the signer as PEM: Ed25519 or ECDSA. Asks for --signed.",
)
@output_option
@option(
    "--statement",
    "target",
    group=OUTPUT,
    type=FILE,
    help="Write a statement of in-toto that the release was verified, ready to be signed.",
)
def verify(
    release: str,
    require: Sequence[str],
    no_waivers: bool,
    today: bool,
    store: str | None,
    signed: Path | None,
    signed_by: Path | None,
    output: str,
    target: Path | None,
) -> int:
    """Check a release from its own bytes.

    The exit status is 0 if the release is verified. Each reason to refuse a release has its
    own status: see `guide reasons`.
    """
    from agreement_pipeline.models import ModelsAuditor
    from agreement_pipeline.release import Signed, open_release, statement_of, superseded
    from agreement_pipeline.store import Store

    if bool(signed) != bool(signed_by):
        raise click.UsageError("found one of --signed and --signed-by; expected both or none.")
    if target and Path(release).resolve() in target.resolve().parents:
        raise click.UsageError(
            f"--statement: found {target} inside the release; expected a file beside it."
        )
    if target:
        refuse_to_replace(target)
    by = Signed(signed, signed_by) if signed and signed_by else None
    opened_store = Store(store) if store else None
    demands = replace(_parse_demands(require), without_waivers=no_waivers, today=today, signed=by)
    try:
        opened_release = open_release(
            release, require=demands, store=opened_store, auditor=ModelsAuditor()
        )
    except (ReleaseInvalidError, ReleaseHeldError) as error:
        if output == "json":
            say(as_json({"verified": False, "code": error.code, "why": str(error)}))
        else:
            say(printable(f"refused ({error.code}): {error}"))
        return STATUS_BY_CODE[error.code]
    if target:
        target.write_bytes(statement_of(opened_release, datetime.now(UTC)))
    facts = {
        **_facts_of_release(
            opened_release,
            None if opened_store is None else superseded(opened_release, opened_store),
        ),
        "vouched_by": [
            voucher for voucher, is_given in (("log", opened_store), ("signature", by)) if is_given
        ],
    }
    say(as_json(facts) if output == "json" else "\n".join(map(printable, _facts_in_words(facts))))
    return 0


def _parse_demands(texts: Sequence[str]) -> "Demands":
    """Texts such as `alpha>=0.8`, `raters>=3`, `wrong<0.05` and `policy=standard@2`."""
    from agreement_pipeline.release import Demands

    min_counts: dict[str, int] = {}
    policies: list[tuple[str, int | None]] = []
    rules: list[Rule] = []
    limits: list[Silver] = []
    for text in texts:
        if size := COUNT_DEMAND.fullmatch(text.strip()):
            noun = size["what"]
            min_counts[noun] = max(min_counts.get(noun, 0), int(size["least"]))
        elif policy := OF_POLICY.fullmatch(text.strip()):
            policies.append((policy["name"], int(policy["version"]) if policy["version"] else None))
        elif wrong := WRONG.fullmatch(text.strip()):
            limits.append(_parse_silver_limit(text, wrong["most"]))
        else:
            rules.append(_parse_rule(text))
    for several, noun in ((policies, "policies"), (limits, "limits of wrong labels")):
        if len(several) > 1:
            raise PolicyError(
                f"--require: found {len(several)} {noun}; expected one, since a release has one. "
                "Correct it."
            )
    if limits and not rules:
        raise PolicyError(
            f"--require wrong<{limits[0].most_wrong:g}: found no measure beside it; expected one, "
            "since people who do not agree show no error. Add one, as alpha>=0.8."
        )
    required = (
        Policy(
            "required of the trainer",
            1,
            tuple(rules),
            silver=limits[0] if limits else None,
            passed_by_guessing="The trainer asks for more than the release's own policy.",
        )
        if rules
        else None
    )
    return Demands(required, min_counts, policies[0] if policies else None)


def _parse_silver_limit(text: str, maximum: str) -> Silver:
    try:
        return Silver(float(maximum))
    except ValueError as error:
        raise PolicyError(f"--require {text}: {error}") from None


def _parse_rule(text: str) -> Rule:
    subject, _, cutoff = text.partition(">=")
    name, _, scope = subject.strip().partition(" of ")
    try:
        reliable = float(cutoff)
        return Rule(
            full_name(name.strip()),
            scope=scope.strip() or "round",  # type: ignore[arg-type]  # the rule refuses others
            reliable=reliable,
            tentative=min(reliable, TENTATIVE),
        )
    except PolicyError as error:
        raise PolicyError(f"--require {text}: {error}") from None
    except ValueError:
        raise PolicyError(
            f"--require {text}: found no cut-off; expected MEASURE>=NUMBER, as alpha>=0.8. "
            "Correct it."
        ) from None


def _facts_of_release(release: "Release", superseded: Sequence[str] | None) -> dict[str, Any]:
    from agreement_pipeline.release import counts, foreign_files

    cutoffs = {
        (rule.measure, rule.scope): {"reliable": rule.reliable, "tentative": rule.tentative}
        for rule in release.policy.rules
    }
    suite_findings = {member.round: member.recorded for member in release.members}
    return {
        "verified": True,
        "project": release.project,
        "policy": release.policy.policy,
        "policy_version": release.policy.version,
        "policy_digest": release.policy.digest,
        "training_rows": len(release.labels.rows_with_label),
        "adjudicated": int(release.labels.is_resolved_as("adjudicated").sum()),
        "silver": int(release.labels.is_resolved_as("silver").sum()),
        "trains": release.trains and release.trains.to_mapping(),
        "what_trains": list(release.what_trains),
        "tentative": release.tentative,
        "written_by": release.written_by,
        "ignored_files": list(foreign_files(release.path)),
        "held_today": {name: list(reasons) for name, reasons in release.held_today.items()},
        "rounds": {
            name: {
                **counts(release.ratings[name]),
                "ratings_digest": release.ratings[name].digest,
                **({} if superseded is None else {"present": name not in superseded}),
                "verdicts": [
                    {
                        **{key: verdict[key] for key in NUMBERS},
                        **cutoffs[verdict["measure"], verdict["scope"].partition(" ")[0]],
                    }
                    for verdict in decision["verdicts"]
                    if verdict["effect"] == "hold"
                ],
                "waivers": [
                    {key: waiver[key] for key in WAIVER_KEYS if key in waiver}
                    for waiver in decision["waivers"]
                ],
                **(
                    {"recorded": [finding.to_mapping() for finding in suite_findings[name]]}
                    if suite_findings[name]
                    else {}
                ),
            }
            for name, decision in release.decisions.items()
        },
    }


def _facts_in_words(facts: Mapping[str, Any]) -> Iterator[str]:
    tentative = "; admitted as tentative" if facts["tentative"] else ""
    yield (
        f"verified: rounds {', '.join(facts['rounds'])}; "
        f"{facts['training_rows']} training rows{tentative}"
    )
    if n_silver := facts["silver"]:
        are = "is" if n_silver == 1 else "are"
        yield f"  {counted(n_silver, 'label')} {are} a classifier's; the card says more"
    vouched = VOUCHED_BY[tuple(facts["vouched_by"])]
    yield f"  The decision was derived again from the files of the release. {vouched}"
    for sentence in facts["what_trains"]:
        yield f"  {sentence}"
    policy = f"policy {facts['policy']}, version {facts['policy_version']}"
    yield f"  project {facts['project']}; {policy}"
    if facts["written_by"] != __version__:
        yield f"  {_today_in_words(facts['written_by'], facts['held_today'])}"
    if ignored := facts["ignored_files"]:
        yield f"  ignored, as no part of the release: {joined(ignored)}"
    for name, round_facts in facts["rounds"].items():
        present = PRESENT[round_facts.get("present")]
        panel = (
            f"{counted(round_facts['items'], 'item')}, {counted(round_facts['raters'], 'rater')}"
        )
        yield f"  round {name}: {panel}{present}"
        for verdict in round_facts["verdicts"]:
            yield f"    {_verdict_in_words(verdict)}"
        for waiver in round_facts["waivers"]:
            sample = waiver.get("sample", {}).get("round")
            yield (
                f"    {'remedied' if sample else 'waived'} by {waiver['who']} until "
                f"{waiver['until']}: {describe_waived(waiver)} ({waiver['why']})"
                f"{f'; round {sample} judged the raters' if sample else ''}"
            )
        yield from _recorded_in_words(round_facts.get("recorded", ()))


def _recorded_in_words(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a suite found in the delivery does not follow from a release: it is only told."""
    if not findings:
        return
    failed = [finding for finding in findings if not finding["passed"]]
    yield (
        f"    recorded, and not derived again: {counted(len(findings), 'check')} of the delivery, "
        f"of which {len(failed)} failed"
    )
    for finding in failed:
        yield f"      {finding['severity']}: {finding['description']}"


def _today_in_words(writer: str, reasons_by_round: Mapping[str, Sequence[str]]) -> str:
    reasons_text = "; ".join(
        f"round {name}: {'; '.join(reasons)}" for name, reasons in reasons_by_round.items()
    )
    outcome = f"would hold it, since {reasons_text}" if reasons_by_round else "admits it too"
    return f"written by agreement_pipeline {writer}; {__version__} {outcome}"


def _verdict_in_words(verdict: Mapping[str, Any]) -> str:
    value = "undefined" if verdict["value"] is None else number(verdict["value"])
    return (
        f"{verdict['measure']} of {verdict['scope']} {value}, "
        f"{interval(verdict['low'], verdict['high'])}: {verdict['verdict']} "
        f"(cut-offs {verdict['reliable']:g} and {verdict['tentative']:g})"
    )
