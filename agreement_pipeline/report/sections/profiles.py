"""A profile of each rater of a round."""

import pandas as pd

from agreement_pipeline.report.answer import Answer, grid
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.profiles import COLUMNS, profiles
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import counted

FAIR = (
    "Values are drawn towards all raters: the less is known of a rater, the more. "
    "With fewer than 30 items nobody is said to differ.",
    "A rater who differs is not wrong: they may see what others miss, or have harder items. "
    "Look at the guideline and at the items first.",
)


@section("Profiles of raters", "Does a rater differ from the others?", place=42)
def rater_profiles(judged: JudgedRound) -> Answer | None:
    """Each rater beside the others and beside gold. None if raters cannot be compared."""
    found = profiles(judged.ratings, judged.policy, judged.shown)
    if found is None:
        return None
    rows = [list(row) for row in found.itertuples(index=False)]
    table = grid("Each rater beside the others", COLUMNS, rows, "raters")
    return Answer((_differing(found["reads"]), *FAIR), tables=(table,))


def _differing(reads: "pd.Series[str]") -> str:
    lower, higher = (int(reads.str.contains(word).sum()) for word in ("lower", "higher"))
    if not lower + higher:
        return "No rater differs from the others as far as anybody can tell."
    shown = counted(len(reads), "rater")
    return f"{shown} shown: {lower} below the others and {higher} above."
