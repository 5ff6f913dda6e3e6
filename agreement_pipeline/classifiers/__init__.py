"""Which classifier it is, and the labels that it gave to a population, beside those of a panel."""

from agreement_pipeline.classifiers.anchors import (
    FEWEST_ANCHORS as FEWEST_ANCHORS,
    Anchored as Anchored,
    anchored as anchored,
)
from agreement_pipeline.classifiers.correction import (
    Corrected as Corrected,
    Design as Design,
    WrongLabels as WrongLabels,
    correct as correct,
    items_to_draw as items_to_draw,
    wrong_labels as wrong_labels,
)
from agreement_pipeline.classifiers.draw import (
    Draw as Draw,
    draw as draw,
    draw_of as draw_of,
    drawn_before as drawn_before,
    draws as draws,
)
from agreement_pipeline.classifiers.identity import (
    Identity as Identity,
    identified as identified,
    known_in as known_in,
    told_of as told_of,
    load_identity as load_identity,
)
