"""Labels that a classifier gave to a population, beside those of a panel for a drawn part of it."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import face

if TYPE_CHECKING:
    from agreement_pipeline.classifiers.correction import (
        Corrected as Corrected,
        Design as Design,
        correct as correct,
    )
    from agreement_pipeline.classifiers.draw import (
        Draw as Draw,
        draw as draw,
        draw_of as draw_of,
        draws as draws,
    )
else:
    __getattr__, __dir__, __all__ = face(__name__)
