"""How often a round was judged, and what a decision says of it."""

from agreement_pipeline.contract import Finding
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference
from agreement_pipeline.policy.policy import Policy

USUAL_RESAMPLES = Inference.n_resamples
OF_THE_GATE = "gate"
"""The table of a finding that is about the round as a whole, and not about its ratings."""


def manner(policy: Policy, version: int | None) -> str:
    """How a version of a round is judged: how often, and with which confidence.

    `version` is as in `Decision`.
    """
    judged = "Judged once." if version == 1 else "The limits hold for one look."
    if policy.always_valid_at is not None:
        judged = (
            "Judged at any time, with always valid limits that are tightest at "
            f"{policy.always_valid_at} items (or clusters)."
        )
    if policy.looks is not None:
        judged = f"Judged at {policy.looks} items (or clusters), and at no other size."
    level = f"{100 * policy.confidence_level:g} % confidence"
    few = policy.n_resamples < USUAL_RESAMPLES and policy.interval_method == DEFAULT_METHOD
    chance = f" {policy.n_resamples:,} resamples leave close cases to chance." if few else ""
    if policy.familywise == "none":
        by_stratum = any(rule.scope == "stratum" for rule in policy.rules)
        strata = " Those on the strata of one rule have it together." if by_stratum else ""
        return f"{judged} Each verdict has its own {level}.{strata}{chance}"
    return f"{judged} All verdicts together have {level} (Holm).{chance}"


def recorded_manner(policy: Policy, version: int | None) -> str:
    """The manner as a decision records it.

    These words never change, because verifying a release must give the same words again.
    """
    judged = "once" if version == 1 else "as at one look"
    if policy.always_valid_at is not None:
        tightest = f"tightest at {policy.always_valid_at} items (or clusters)"
        judged = f"at any time, always valid, {tightest}"
    if policy.looks is not None:
        judged = f"as planned, at {policy.looks} items (or clusters)"
    if policy.familywise == "none":
        return f"judged {judged}; each verdict holds by itself"
    return f"judged {judged}; the verdicts hold together (Holm)"


def of_version(version: int | None) -> str:
    """The words for a round that came more than once. Empty for its first version.

    >>> of_version(90), of_version(1)
    ('This is version 90 of the round. ', '')
    """
    return f"This is version {version} of the round. " if (version or 0) > 1 else ""


def too_often(policy: Policy, version: int | None) -> list[Finding]:
    """What holds a round that came more often than the policy allows."""
    if policy.most_versions is None or (version or 0) <= policy.most_versions:
        return []
    words = (
        f"found version {version} of the round; expected {policy.most_versions} at most, since "
        "each further look may admit by chance. Collect a fresh round."
    )
    return [Finding("too_many_versions", OF_THE_GATE, False, "error", words)]
