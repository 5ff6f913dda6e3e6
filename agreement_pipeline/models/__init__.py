"""Models that label: which they are, if they may stand in for people, and the labels they gave."""

from agreement_pipeline.models.anchors import (
    FEWEST_ANCHORS as FEWEST_ANCHORS,
    Anchored as Anchored,
    compare_with_anchors as compare_with_anchors,
)
from agreement_pipeline.models.auditor import ModelsAuditor as ModelsAuditor
from agreement_pipeline.models.certificates import (
    Certificate as Certificate,
    certify as certify,
    look_again as look_again,
    open_certificate as open_certificate,
)
from agreement_pipeline.models.correction import (
    Corrected as Corrected,
    Design as Design,
    WrongLabels as WrongLabels,
    correct as correct,
    items_to_draw as items_to_draw,
    wrong_labels as wrong_labels,
)
from agreement_pipeline.models.draw import (
    Draw as Draw,
    draw as draw,
    draw_of as draw_of,
    drawn_before as drawn_before,
    draws as draws,
)
from agreement_pipeline.models.identity import (
    Identity as Identity,
    identity_finding as identity_finding,
    identities_in as identities_in,
    exported_identities as exported_identities,
    load_identity as load_identity,
)
from agreement_pipeline.models.silver import CertifiedBy as CertifiedBy
