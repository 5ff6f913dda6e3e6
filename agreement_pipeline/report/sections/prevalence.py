"""How often each category was given."""

from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.shares import shares_of
from agreement_pipeline.text import PERCENT, in_words

MOST = 20
RARE = 0.05
RARE_SAID = (
    "One category holds nearly all labels. Then chance agreement is high, and a few "
    "disagreements make a measure such as alpha low. Read agreement by category as well."
)


@section("Prevalence", "How often was each category given?", place=70)
def prevalence(judged: JudgedRound) -> Answer | None:
    """The share of each category among the labels of the panel."""
    if judged.ratings.scale.continuous:
        return None
    shares = sorted(shares_of(judged.ratings).items(), key=lambda each: -each[1])
    most = shares[0][1]
    rows: list[Row] = [[each, Cell(in_words(share, PERCENT), share)] for each, share in shares]
    return Answer(
        (_most_frequent(shares), *([RARE_SAID] if most > 1 - RARE else [])),
        (_figure(shares),),
        (grid("Share of each category", ("category", "share of labels"), rows, "categories"),),
    )


def _most_frequent(shares: list[tuple[str, float]]) -> str:
    most = shares[0][1]
    names = [name for name, share in shares if share == most]
    share = f"{in_words(most, PERCENT)} of all labels"
    if len(names) == 1:
        return f"The most frequent category is {names[0]} ({share})."
    return f"The most frequent categories are {', '.join(names)} ({share} each)."


def _figure(shares: list[tuple[str, float]]) -> Figure:
    rest = sum(share for _, share in shares[MOST:])
    marks = [Mark(name, share) for name, share in shares[:MOST]]
    if rest:
        marks.append(Mark(f"{len(shares) - MOST} other categories", rest))
    return Figure(
        "bars",
        "Share of each category",
        "Labels of the panel are counted, without classifiers and without gold items.",
        (Series("categories", tuple(marks)),),
        axis="share of labels",
        bounds=(0.0, 1.0),
        form=PERCENT,
    )
