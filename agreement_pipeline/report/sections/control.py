"""Which rounds of a project differ from those before."""

from agreement_pipeline.estimates import Charted
from agreement_pipeline.report.answer import Answer, grid
from agreement_pipeline.report.cells import title_of
from agreement_pipeline.report.control import COLUMNS, charted, control_rows, fallen_out, headline
from agreement_pipeline.report.figure import Figure, Mark, Series, Tone
from agreement_pipeline.report.judged import JudgedProject
from agreement_pipeline.report.sections.record import section

MOST_DRAWN = 60
CHART = (
    "This is a control chart. Each round is compared with those before it. "
    "Its limits follow its own standard error, so a small round has wide limits."
)
LEGEND: tuple[tuple[Tone, str], ...] = (
    ("plain", "within the limits"),
    ("bad", "lower than before"),
    ("partly", "higher than before"),
)


@section("Change over time", "Does a round differ from those before?", place=25, of="project")
def control(judged: JudgedProject) -> Answer | None:
    """The control chart of the headline measure. None if no rule reads whole rounds."""
    measure, chart = headline(judged.policy), charted(judged.rounds, judged.policy)
    if measure is None or not chart:
        return None
    said = fallen_out(chart) or ("No round falls out of the chart.",)
    rows = control_rows(chart)[::-1]
    table = grid(
        "Each round against those before, the latest first",
        COLUMNS,
        [list(row) for row in rows.itertuples(index=False)],
        "rounds",
    )
    marks = tuple(map(_mark, chart[-MOST_DRAWN:]))
    figure = Figure(
        "course",
        f"{title_of(measure)} of each round",
        "The line of a round is what the rounds before let one expect.",
        (Series("rounds", marks),),
        axis=title_of(measure),
        legend=LEGEND,
    )
    return Answer((*said, CHART), (figure,), (table,))


def _mark(each: Charted) -> Mark:
    low, high = (None, None) if each.limits is None else each.limits
    tone: Tone = "plain"
    if each.out:
        tone = "bad" if each.lower else "partly"
    return Mark(each.reading.round, each.reading.value, low, high, tone=tone)
