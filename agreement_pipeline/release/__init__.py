"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.certificates import (
    Certificate,
    certify,
    look_again,
    open_certificate,
)
from agreement_pipeline.release.contents import Release
from agreement_pipeline.release.decisions import (
    Checked,
    Judged,
    OfTheGate,
    Reassessed,
    Terms,
    found_by_gate,
    judge_delivered,
    reassess,
)
from agreement_pipeline.release.delivery import (
    DeliveryCheck,
    check_delivery,
    check_kept_delivery,
    check_table,
)
from agreement_pipeline.release.folder import foreign_files
from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import (
    Demands,
    counts,
    open_release,
    superseded,
    verify_release,
)
from agreement_pipeline.release.publication import Publication
from agreement_pipeline.release.statements import Signed, statement_of, statement
from agreement_pipeline.release.silver import CertifiedBy

__all__ = [
    "Certificate",
    "CertifiedBy",
    "Checked",
    "DeliveryCheck",
    "Demands",
    "Judged",
    "OfTheGate",
    "Publication",
    "Reassessed",
    "Release",
    "Signed",
    "Terms",
    "certify",
    "check_delivery",
    "check_kept_delivery",
    "check_table",
    "counts",
    "foreign_files",
    "found_by_gate",
    "judge_delivered",
    "judge_round",
    "look_again",
    "open_certificate",
    "open_release",
    "reassess",
    "release_dataset",
    "release_round",
    "statement",
    "statement_of",
    "superseded",
    "verify_release",
]
