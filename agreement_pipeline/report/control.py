"""The control chart of a project: which rounds differ from those before."""

from collections.abc import Hashable, Mapping, Sequence
from statistics import NormalDist

import pandas as pd

from agreement_pipeline.estimates import FEWEST_BEFORE, Charted, Reading, control_chart
from agreement_pipeline.policy import Policy
from agreement_pipeline.text import SENTENCE, interval, natural, number

COLUMNS = ("round", "value", "expected", "limits", "reads")
OUT = {True: "lower than before", False: "higher than before"}


def charted(
    rounds: pd.DataFrame, policy: Policy, known: Sequence[Charted] = ()
) -> tuple[Charted, ...]:
    """The rounds on a control chart of the measure of the first rule that reads whole rounds.

    Rounds without a value or without limits are left out. The standard error of a round is half of
    its recorded interval, divided by the normal quantile of its level. `known` is a chart that
    was made before, of the same rounds or fewer.
    """
    measure = headline(policy)
    read = rounds[(rounds["measure"] == measure) & (rounds["scope"] == "round")]
    readable = read.dropna(subset=["value", "low", "high"]).drop_duplicates("round", keep="last")
    rows = sorted(readable.to_dict("records"), key=lambda row: natural(str(row["round"])))
    return control_chart((_reading(row) for row in rows if row["low"] < row["high"]), known)


def headline(policy: Policy) -> str | None:
    """The measure of the first rule that can hold a release and reads whole rounds."""
    of_rounds = (
        rule.measure for rule in policy.rules if rule.effect == "hold" and rule.scope == "round"
    )
    return next(of_rounds, None)


def control_rows(chart: Sequence[Charted]) -> pd.DataFrame:
    """A row for each round on the chart, as text."""
    return pd.DataFrame([_row(each) for each in chart], columns=list(COLUMNS))


def fallen_out(chart: Sequence[Charted]) -> tuple[str, ...]:
    """The rounds that fall out of the chart, in words. The latest come first."""
    return tuple(
        f"round {each.reading.round} is {OUT[each.lower]}: "
        f"{number(each.reading.value, SENTENCE)}, and {_limits(each)} was expected"
        for each in reversed(chart)
        if each.out
    )


def _reading(row: Mapping[Hashable, object]) -> Reading:
    value, low, high, level = (
        float(str(row[name])) for name in ("value", "low", "high", "confidence_level")
    )
    error = (high - low) / 2 / NormalDist().inv_cdf((1 + level) / 2)
    return Reading(str(row["round"]), value, error)


def _row(each: Charted) -> tuple[str, ...]:
    reads = (
        f"fewer than {FEWEST_BEFORE} rounds before" if each.limits is None else "within the limits"
    )
    return (
        each.reading.round,
        number(each.reading.value, SENTENCE),
        number(each.centre, SENTENCE),
        _limits(each),
        OUT[each.lower] if each.out else reads,
    )


def _limits(each: Charted) -> str:
    return "" if each.limits is None else interval(*each.limits)
