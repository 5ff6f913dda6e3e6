"""What the folder configs/ holds for a project: its policy, its contract and its waivers."""

from collections.abc import Iterator
from pathlib import Path

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import BUNDLED, Policy, Waiver, load_policy, load_waiver
from agreement_pipeline.projects.deliveries import times_arrived
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.store import Store
from agreement_pipeline.text import listed


def policy_of(settings: ProjectSettings, configs: Path) -> Policy:
    """The policy that a project names: a file of configs/policies, or a bundled policy.

    Raises
    ------
    PolicyError
        A file has the name of a bundled policy, and decides otherwise. Else a file that is lost
        would be replaced by the bundled policy without a word.
    """
    own = configs / "policies" / f"{settings.policy}.yaml"
    if not own.exists() and settings.policy in BUNDLED:
        return load_policy(settings.policy)
    policy = load_policy(own)
    if settings.policy in BUNDLED and policy.digest != load_policy(settings.policy).digest:
        raise PolicyError(
            f"{own}: found a policy that decides otherwise than the bundled policy "
            f"{settings.policy!r}; expected another name. Rename the file and the policy."
        )
    return policy


def contract_of(settings: ProjectSettings, configs: Path) -> Contract:
    """The contract that a project names, else the built-in one."""
    if settings.contract is None:
        return Contract.default()
    return Contract.load(configs / "contracts" / settings.contract)


def waivers_of(settings: ProjectSettings, configs: Path) -> tuple[Waiver, ...]:
    """The waivers that name the project."""
    waivers = written_waivers(configs).values()
    return tuple(waiver for waiver in waivers if waiver.project == settings.project)


def written_waivers(configs: Path) -> dict[str, Waiver]:
    """All waivers of configs/, by the name of their file."""
    return {path.name: load_waiver(path) for path in sorted((configs / "waivers").glob("*.yaml"))}


def unused_waivers(settings: ProjectSettings, configs: Path, store: Store) -> dict[str, str]:
    """Why waivers speak of nothing in a project, by the name of their file.

    The whole log is read only if one does.

    One names a round that never arrived. Or it names another project, and is bound to ratings of
    this one.
    """
    written = {
        name: waiver
        for name, waiver in written_waivers(configs).items()
        if (
            store.has(waiver.ratings_digest)
            if waiver.project != settings.project
            else not times_arrived(waiver.round, store)
        )
    }
    arrived = {
        entry["ratings_digest"]: entry["round"]
        for entry in (store.history() if written else ())
        if entry["event"] == "ingested"
    }
    found: dict[str, str] = {}
    for name, waiver in written.items():
        bound, mine = waiver.ratings_digest in arrived, waiver.project == settings.project
        if bound and not mine:
            found[name] = (
                f"found project {waiver.project!r}; expected {settings.project!r}, whose round "
                f"{arrived[waiver.ratings_digest]} has these ratings. Correct the waiver."
            )
        elif mine and waiver.round not in arrived.values():
            found[name] = (
                f"found round {waiver.round!r}; expected one of "
                f"{listed(sorted(set(arrived.values())))}. Correct the waiver."
            )
    return found


def absent_configs(settings: ProjectSettings, configs: Path) -> Iterator[tuple[str, str]]:
    """The keys that name a file or folder that configs/ does not hold, each with the mistake."""
    for key, folder, suffix in (("policy", "policies", ".yaml"), ("contract", "contracts", "")):
        named, place = getattr(settings, key), configs / folder
        there = sorted(path.name.removesuffix(suffix) for path in place.glob(f"*{suffix}"))
        bundled = sorted(BUNDLED) if key == "policy" else []
        if named is not None and named not in (*there, *bundled):
            also = f", or of the bundled {listed(bundled)}" if bundled else ""
            yield (
                key,
                f"found {named!r}; expected one of {listed(there, 20)}, those in {place}{also}. "
                f"Correct the name, or write that {key}.",
            )
