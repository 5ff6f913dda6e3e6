"""Complete log entries, for tests that look at some of their facts."""

import json
from collections.abc import Callable

from agreement_pipeline.store import Store, digest_of

FACTS = {
    "ingested": {
        "ratings_digest": "a",
        "original_digest": "b",
        "source": "r.csv",
        "table_digest": "c",
        "settings_digest": "d",
    },
    "decided": {
        "decision": "held",
        "ratings_digest": "a",
        "policy_digest": "b",
        "contract_digest": "c",
        "settings_digest": "d",
        "code_version": "0",
        "waivers": [],
        "version": 1,
        "tentative": False,
        "verdicts": [],
        "findings": [],
        "policy": {"policy": "p", "version": 1},
    },
    "released": {"release": "r/v", "rounds": {"r": "a"}, "manifest_digest": "d"},
    "withdrawn": {"releases": ["r/v"], "reasons": []},
    "drawn": {
        "population_digest": "a",
        "population_items": 3,
        "classifier": "model",
        "labels_digest": "c",
        "design": "simple",
        "strata": {"": 1},
        "seed": "b",
        "items": ["i1"],
        "earlier": [],
        "reasons": [],
    },
    "certified": {
        "certificate": "a",
        "classifier": "model",
        "identity_digest": "b",
        "decision": "held",
        "reasons": [],
        "rounds": {"r": "a"},
        "expires": "2027-01-31",
        "policy": {"policy": "p", "version": 1},
        "policy_digest": "c",
    },
    "anchored": {
        "certificate": "a",
        "classifier": "model",
        "labels": "b",
        "day": "2027-01-31",
        "drifted": False,
    },
}


def record(store: Store, event: str, round_name: str, **facts: object) -> None:
    store.record(event, round_name, **{**FACTS[event], **facts})


def sealed(store: Store, spoil: Callable[[dict], object]) -> None:
    """Change the last entry and its seal, as a person can who may write to the store."""
    path = max((store.root / "log").glob("*.json"))
    seal = max((store.root / "log" / "seals").iterdir())
    entry = json.loads(path.read_text())
    spoil(entry)
    path.write_text(json.dumps(entry))
    seal.rename(seal.with_name(f"{path.stem}-{digest_of(path.read_bytes())}"))
