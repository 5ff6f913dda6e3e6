"""How the round was judged: the policy, the measures and the digests."""

from agreement_pipeline.estimates import registered
from agreement_pipeline.policy import Policy, manner
from agreement_pipeline.report.answer import Answer, Grid, grid
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.sections.record import section

KRIPPENDORFF = (
    "A verdict reads the interval and not the value. Data are reliable if the lower limit reaches "
    "the cut-off, and tentative if it reaches the lower one."
)


@section("Method and policy", "By which rules, measures and intervals was it judged?", place=90)
def method(judged: JudgedRound) -> Answer:
    """The policy in words, its measures with their sources, and what the decision rests on."""
    found, scale = judged.decision, judged.ratings.scale
    facts = [
        ["level of measurement", scale.level],
        ["categories", "none" if scale.categories is None else ", ".join(scale.names)],
        ["digest of the ratings", found.ratings_digest],
        ["digest of the policy", found.policy_digest],
        ["digest of the contract", found.contract_digest],
        ["version of this package", found.code_version],
    ]
    made = grid("What the decision rests on", ("what", "value"), facts)
    return Answer(_words(judged.policy), tables=(_measures(judged.policy), made))


@section("Method and policy", "By which rules were rounds judged?", place=90, of="project")
def policy(judged: JudgedProject) -> Answer:
    """The present policy in words, and its measures with their sources."""
    return Answer(_words(judged.policy), tables=(_measures(judged.policy),))


def _words(policy: Policy) -> tuple[str, ...]:
    return (
        f"Policy {policy.policy}, version {policy.version}, admits {' and '.join(policy.admit)}.",
        *([policy.description] if policy.description else []),
        manner(policy, None),
        _intervals(policy),
        KRIPPENDORFF,
    )


def _intervals(policy: Policy) -> str:
    """The method of the intervals, and the resamples of a method that draws some."""
    said = f"Intervals come from the {policy.interval_method.replace('_', ' ')}"
    if policy.inference.interval_method.scheme is None:
        return f"{said}."
    return f"{said} with {policy.n_resamples:,} resamples, and fewer for expensive measures."


def _measures(policy: Policy) -> Grid:
    rows = [
        [
            rule.measure,
            rule.question,
            registered(rule.measure).convention,
            registered(rule.measure).source,
        ]
        for rule in policy.rules
    ]
    columns = ("measure", "what the rule asks", "missing ratings", "source")
    return grid("The rules and their measures", columns, rows, "rules")
