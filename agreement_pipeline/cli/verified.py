"""What a verified release is, in words and as plain data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agreement_pipeline.policy import Rule
from agreement_pipeline.text import in_words as number
from agreement_pipeline.text import interval

if TYPE_CHECKING:
    from agreement_pipeline.release import Release

NUMBERS = ("measure", "scope", "value", "low", "high", "n_items", "verdict")
WAIVED = ("round", "measure", "scope", "who", "why", "until")


def mapping(release: "Release", superseded: Sequence[str] | None) -> dict[str, Any]:
    """A verified release as plain data. `superseded` is None if no store was asked."""
    from agreement_pipeline.release import counts

    rules: dict[tuple[str, str], Rule] = {
        (rule.measure, rule.scope): rule for rule in release.policy.rules
    }
    return {
        "verified": True,
        "project": release.project,
        "policy": release.policy.policy,
        "policy_version": release.policy.version,
        "policy_digest": release.policy.digest,
        "training_rows": len(release.labels.resolved),
        "adjudicated": int(release.labels.adjudicated.sum()),
        "tentative": release.tentative,
        "rounds": {
            name: {
                **counts(release.ratings[name]),
                "ratings_digest": release.ratings[name].digest,
                **({} if superseded is None else {"present": name not in superseded}),
                "verdicts": [
                    {
                        **{key: verdict[key] for key in NUMBERS},
                        "reliable": rules[_asked(verdict)].reliable,
                        "tentative": rules[_asked(verdict)].tentative,
                    }
                    for verdict in decision["verdicts"]
                    if verdict["effect"] == "hold"
                ],
                "waivers": [{key: waiver[key] for key in WAIVED} for waiver in decision["waivers"]],
            }
            for name, decision in release.decisions.items()
        },
    }


def in_words(said: Mapping[str, Any]) -> Iterator[str]:
    """A verified release in lines of text: what it is, and what it rests on."""
    tentative = "; admitted as tentative" if said["tentative"] else ""
    yield (
        f"verified: rounds {', '.join(said['rounds'])}; "
        f"{said['training_rows']} training rows{tentative}"
    )
    if said["adjudicated"]:
        yield f"  {said['adjudicated']} labels are an adjudicator's; the card says more"
    yield f"  project {said['project']}; policy {said['policy']}, version {said['policy_version']}"
    for name, found in said["rounds"].items():
        yield f"  round {name}: {found['items']} items, {found['raters']} raters{_present(found)}"
        for verdict in found["verdicts"]:
            yield f"    {_verdict(verdict)}"
        for waiver in found["waivers"]:
            yield (
                f"    waived by {waiver['who']} until {waiver['until']}: "
                f"{waiver['measure']} of {waiver['scope']} ({waiver['why']})"
            )


def _verdict(verdict: Mapping[str, Any]) -> str:
    value = "undefined" if verdict["value"] is None else number(verdict["value"])
    return (
        f"{verdict['measure']} of {verdict['scope']} {value}, "
        f"{interval(verdict['low'], verdict['high'])}: {verdict['verdict']} "
        f"(cut-offs {verdict['reliable']:g} and {verdict['tentative']:g})"
    )


def _present(found: Mapping[str, Any]) -> str:
    if "present" not in found:
        return ""
    return "; the present version" if found["present"] else "; superseded by a newer version"


def _asked(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """The measure and the kind of scope that a verdict is about."""
    return verdict["measure"], verdict["scope"].partition(" ")[0]
