"""How often a bucket is asked when one more round comes to a store with hundreds."""

from agreement_pipeline.store import Store
from benchmarks.grown_store import SALT, grown, one_more

MOST = 41


def test_ingest_judge_and_release_of_one_more_round_take_few_requests(bucket, tmp_path, requests):
    """894 entries: the first round that is added fills a segment, the second does not."""
    original = tmp_path / "export.csv"
    original.write_bytes(b"as delivered")
    assert len(grown(bucket, 298, original).history()) == 894
    for name, n_segments in (("one", 28), ("two", 28)):
        original.write_text(name)
        requests.clear()
        for step in one_more(Store(bucket, salt=SALT), name, original).values():
            step()
        assert len(requests) <= MOST, requests
        assert len(Store(bucket).storage.names("segments")) == n_segments
    assert len(Store(bucket).history()) == 900
