from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from agreement_pipeline.cli.options import (
    FILE,
    INPUT,
    POLICY,
    REFUSED_STATUS,
    ReadBy,
    command,
    option,
    output_option,
    say_refused,
)
from agreement_pipeline.cli.output import as_json, say
from agreement_pipeline.errors import CertificateError

if TYPE_CHECKING:
    from agreement_pipeline.models import Certificate


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"found {text}; expected a day, as 2027-01-31.") from None


@command(
    "agreement-pipeline certify configs/projects/moderation.yaml model_a.yaml --expires 2027-01-31",
    "agreement-pipeline certify configs/projects/moderation.yaml model_a.yaml --check",
    "agreement-pipeline certify configs/projects/moderation.yaml model_a.yaml --anchors again.csv",
)
@click.argument("project", type=FILE, help="A project's YAML file.")
@click.argument("identity", type=FILE, help="YAML file that says which classifier it is.")
@option(
    "--expires",
    group=INPUT,
    type=ReadBy("day", _parse_day),
    help="The last day on which the certificate is valid, at most 366 days from today.",
)
@option(
    "--round",
    "rounds",
    group=INPUT,
    metavar="NAME",
    multiple=True,
    show_default="all rounds of the store",
    help="A round that the classifier labelled. Repeat for more.",
)
@option(
    "--reason",
    group=INPUT,
    metavar="TEXT",
    default="",
    show_default="none",
    help="Why there must be another attempt under this name.",
)
@option(
    "--policy",
    group=POLICY,
    type=ReadBy("file", Path, "file"),
    default="classifier-standard",
    help="YAML file of a policy with rules for classifiers, or classifier-standard.",
)
@option(
    "--check",
    group=POLICY,
    is_flag=True,
    help="Certify nothing. Derive the certificate that is in force again.",
)
@option(
    "--anchors",
    group=POLICY,
    type=FILE,
    help="Certify nothing. Record new labels of the classifier on items that it was certified on.",
)
@output_option
def certify(
    project: Path,
    identity: Path,
    expires: date | None,
    rounds: Sequence[str],
    reason: str,
    policy: Path,
    check: bool,
    anchors: Path | None,
    output: str,
) -> int:
    """Certify, for a limited time, that a classifier agrees with a project's panel on such items.

    A certificate does not say that the classifier is right, unbiased or fair. It is based on
    admitted rounds of people, and ends when one of them is held or delivered again. A failed
    attempt stays in the log.

    The exit status is 1 if the classifier is held, or if no certificate is valid.
    """
    from agreement_pipeline.models import (
        certify as certified,
    )
    from agreement_pipeline.models import (
        load_identity,
        look_again,
        open_certificate,
    )
    from agreement_pipeline.policy import load_policy
    from agreement_pipeline.projects import Project, load_project

    if check + (expires is not None) + (anchors is not None) != 1:
        raise click.UsageError("expected one of --expires, --check and --anchors, and no other.")
    source = click.get_current_context().get_parameter_source("policy")
    if expires is None and (rounds or reason or source is not ParameterSource.DEFAULT):
        raise click.UsageError(
            "found --round, --reason or --policy without --expires; expected none, since the "
            "certificate has its own. Leave them out."
        )
    opened, classifier_identity = (
        Project(load_project(project)),
        load_identity(identity),
    )
    if opened.settings.certified_by:
        raise click.UsageError(
            f"found project {opened.name}, whose labels a classifier gave; expected rounds of "
            f"people. Name the project {opened.settings.certified_by}."
        )
    try:
        if anchors:
            look_again(
                opened.store,
                classifier_identity,
                opened.labels_of_classifiers(anchors),
            )
        certificate = (
            open_certificate(opened.store, classifier_identity)
            if expires is None
            else certified(
                opened.store,
                rounds or opened.store.rounds(),
                classifier_identity,
                load_policy(policy),
                project=opened.name,
                expires=expires,
                reason=reason,
                **opened.terms,
            )
        )
    except CertificateError as error:
        return say_refused(error, output)
    if output == "json":
        looks = {} if certificate.anchored is None else {"anchored": asdict(certificate.anchored)}
        say(as_json({**certificate.to_mapping(), **looks}))
    else:
        say("\n  ".join(_certificate_in_words(certificate)))
    return 0 if certificate.certified else REFUSED_STATUS


def _certificate_in_words(certificate: "Certificate") -> Iterator[str]:
    from agreement_pipeline.report import printable

    yield printable(f"{'certified' if certificate.certified else 'held'}: {certificate.statement}")
    yield printable(
        f"by the policy {certificate.policy.policy}, version {certificate.policy.version}"
    )
    yield from map(printable, certificate.reasons)
    if certificate.anchored:
        yield certificate.anchored.in_words
    yield from (printable(f"warning: {warning}") for warning in certificate.warnings)
