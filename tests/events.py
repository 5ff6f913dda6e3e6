"""Complete log entries, for tests that look at some of their facts."""

from agreement_pipeline.store import Store

FACTS = {
    "ingested": {
        "ratings_digest": "a",
        "original_digest": "b",
        "source": "r.csv",
        "table_digest": "c",
    },
    "decided": {
        "decision": "held",
        "ratings_digest": "a",
        "policy_digest": "b",
        "contract_digest": "c",
        "code_version": "0",
        "waivers": [],
        "tentative": False,
        "verdicts": [],
        "findings": [],
    },
    "released": {"release": "r/v", "rounds": {"r": "a"}, "manifest_digest": "d"},
    "withdrawn": {"releases": ["r/v"], "reasons": []},
}


def record(store: Store, event: str, round_name: str, **facts: object) -> None:
    store.record(event, round_name, **{**FACTS[event], **facts})
