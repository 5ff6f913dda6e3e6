"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.certificates import (
    Certificate as Certificate,
    certify as certify,
    look_again as look_again,
    open_certificate as open_certificate,
)
from agreement_pipeline.release.contents import (
    Release as Release,
)
from agreement_pipeline.release.decisions import (
    Checked as Checked,
    Judged as Judged,
    OfTheGate as OfTheGate,
    Reassessed as Reassessed,
    Terms as Terms,
    found_by_gate as found_by_gate,
    judge_delivered as judge_delivered,
    reassess as reassess,
)
from agreement_pipeline.release.lock import (
    judge_round as judge_round,
    release_dataset as release_dataset,
    release_round as release_round,
)
from agreement_pipeline.release.opening import (
    Demands as Demands,
    counts as counts,
    open_release as open_release,
    superseded as superseded,
    verify_release as verify_release,
)
from agreement_pipeline.release.statements import (
    Signed as Signed,
    statement_of as statement_of,
    statement as statement,
)
from agreement_pipeline.release.silver import (
    CertifiedBy as CertifiedBy,
)
