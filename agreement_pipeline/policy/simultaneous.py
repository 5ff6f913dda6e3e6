"""Verdicts that are right together, with one confidence level for all of them.

Admission needs no correction for several rules, since all of them must be met. Suppose that one
true value is under its cut-off. Then the round is admitted only if this one rule is met by chance.
More rules cannot make that more probable. This is an intersection-union test (Berger 1982).

Single verdicts do need a correction: of many verdicts, some are wrong by chance. Holm's (1979)
procedure takes back the verdicts that are too uncertain. If each p-value is valid, any verdict is
then wrong in no more rounds than the level says, however many verdicts there are.

References
----------
Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics
24(4), 295-300. https://doi.org/10.1080/00401706.1982.10487790
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
Statistics 6(2), 65-70. https://www.jstor.org/stable/4615733
"""

from collections.abc import Sequence
from dataclasses import replace

from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.text import SIGNIFICANT, in_words


def levels_met(p: Sequence[float], tail: float) -> list[tuple[bool, float]]:
    """Whether Holm's procedure refutes each hypothesis, and the level that its p had to meet.

    The smallest p of m must be at most tail/m, the next at most tail/(m - 1), and so on. If one
    fails, all larger ones fail too.

    >>> levels_met([0.01, 0.5, 0.02], 0.06)
    [(True, 0.02), (False, 0.06), (True, 0.03)]
    """
    found, left, going = {}, len(p), True
    for place in sorted(range(len(p)), key=lambda place: p[place]):
        level = tail / left
        going = going and p[place] <= level
        found[place] = going, level
        left -= going
    return [found[place] for place in range(len(p))]


def together(verdicts: Sequence[Verdict], tail: float) -> tuple[Verdict, ...]:
    r"""The verdicts of one decision. Verdicts that are too uncertain together are taken back.

    Only verdicts of rules that can hold a release are counted and taken back. `tail` is half of one
    minus the confidence level. Of m verdicts:

    - *reliable* verdicts are kept by Holm's procedure on the p of the upper cut-off;
    - of the d verdicts that are then not reliable, one is kept as *tentative* if the p of the lower
      cut-off is at most tail/d;
    - *unreliable* verdicts are kept by Holm's procedure on the p of the hypothesis that the true
      value is at the lower cut-off or above.

    Each side spends at most `tail`. On the lower side, at most d hypotheses are true. On one scope,
    the p of the lower cut-off is at most that of the upper one.

    The smallest p that counts is the share of ten resamples. A verdict *not_evaluated* counts as a
    verdict that fails.
    """
    holding = [place for place, verdict in enumerate(verdicts) if verdict.rule.effect == "hold"]
    mine = [verdicts[place] for place in holding]
    reliable = levels_met(
        [_under(each, each.rule.reliable) if each.kind == "reliable" else 1.0 for each in mine],
        tail,
    )
    unreliable = levels_met(
        [_over(each, each.rule.tentative) if each.kind == "unreliable" else 1.0 for each in mine],
        tail,
    )
    left = tail / max(1, sum(not met for met, _ in reliable))
    found = list(verdicts)
    for place, each, upper, lower in zip(holding, mine, reliable, unreliable, strict=True):
        found[place] = _standing(each, upper, left, lower, len(mine))
    return tuple(found)


def _standing(
    verdict: Verdict,
    reliable: tuple[bool, float],
    tentative: float,
    unreliable: tuple[bool, float],
    m: int,
) -> Verdict:
    """The verdict, or the weaker verdict that it is taken back to."""
    if verdict.kind == "unreliable":
        return (
            verdict
            if unreliable[0]
            else _taken_back(
                verdict, "inconclusive", _over(verdict, verdict.rule.tentative), unreliable[1], m
            )
        )
    if verdict.kind not in ("reliable", "tentative") or (
        verdict.kind == "reliable" and reliable[0]
    ):
        return verdict
    stands = _under(verdict, verdict.rule.tentative) <= tentative
    if verdict.kind == "reliable":
        return _taken_back(
            verdict,
            "tentative" if stands else "inconclusive",
            _under(verdict, verdict.rule.reliable),
            reliable[1],
            m,
        )
    return (
        verdict
        if stands
        else _taken_back(
            verdict, "inconclusive", _under(verdict, verdict.rule.tentative), tentative, m
        )
    )


def _taken_back(verdict: Verdict, kind: Kind, p: float, level: float, m: int) -> Verdict:
    said = (
        f"taken back to {kind}, since of {m} verdicts that hold together this one had to meet "
        f"{in_words(level, SIGNIFICANT)}, and at {verdict.kind} its p is {in_words(p, SIGNIFICANT)}"
    )
    return replace(
        verdict,
        kind=kind,
        code="not_together",
        reason=f"{verdict.reason}; {said}{_coarse(verdict, p)}",
    )


def _coarse(verdict: Verdict, p: float) -> str:
    known = verdict.estimate.distribution if verdict.estimate else None
    return (
        ", the least that so many resamples can tell; raise n_resamples"
        if known and p <= known.finest
        else ""
    )


def _under(verdict: Verdict, cutoff: float) -> float:
    """The p-value, at least the smallest that counts; 1 if nothing is known."""
    known = verdict.estimate.distribution if verdict.estimate else None
    return 1.0 if known is None else max(known.under(cutoff), known.finest)


def _over(verdict: Verdict, cutoff: float) -> float:
    known = verdict.estimate.distribution if verdict.estimate else None
    return 1.0 if known is None else max(known.over(cutoff), known.finest)
