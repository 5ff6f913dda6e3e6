"""Measure what a store with many rounds costs.

`python -m benchmarks.store_growth` makes an empty store and one with 10,000 rounds, in a folder
and in a bucket. The bucket is a server on this machine. It prints:

- the CPU time of ingest, judge and release of one more round, and the ratio to an empty store;
- the requests to the bucket for it, the median and the largest number;
- what it costs to read and check the whole log, and to judge a round again;
- in the folder, what it costs to make the table of all rounds, and to judge all of them again.

Each round is handled by a store that was opened anew. CPU time is that of this process alone.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import aiobotocore.httpsession
import fsspec

from agreement_pipeline.evidence import charted, history, table_of_rows
from agreement_pipeline.orchestration.metadata import rendered
from agreement_pipeline.projects.standing import RoundStatusIndex
from agreement_pipeline.release import judge_round, reassess
from agreement_pipeline.store import Store
from benchmarks.asked import asked
from benchmarks.grown_store import CONTRACT, POLICY, SALT, grown, one_more
from benchmarks.measuring import seconds

REQUESTS: list[str] = []


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked(__doc__, arguments, rounds=10_000, more=12)
    _count_requests()
    with tempfile.TemporaryDirectory() as folder, _server() as bucket:
        root = Path(folder)
        original = root / "export.csv"
        for kind, place in (("folder", str(root / "store")), ("bucket", f"{bucket}/store")):
            original.write_bytes(b"as delivered")
            empty = f"{place}-empty"
            start = time.perf_counter()
            grown(place, options.rounds, original)
            print(f"{kind}: {options.rounds} rounds made in {time.perf_counter() - start:.0f} s")
            _added(place, empty, original, options.more)
            _whole(place)
            if kind == "folder":
                _all(place, original)


def _added(place: str, empty: str, original: Path, n_more: int) -> None:
    """One more round in a store with many rounds and in one with none, in turn."""
    for step in one_more(Store(empty, salt=SALT), "warm-up", original).values():
        step()
    cost: dict[str, list[tuple[float, int]]] = {"empty": [], "grown": []}
    for number in range(n_more):
        for kind, at in (("empty", f"{empty}-{number}"), ("grown", place)):
            original.write_text(f"{kind} {number}")
            steps = one_more(Store(at, salt=SALT), f"more-{number}", original)
            found = [_measured(step) for step in steps.values()]
            cost[kind].append((sum(cpu for cpu, *_ in found), sum(sent for *_, sent in found)))
    middle = {kind: statistics.median(cpu for cpu, _ in found) for kind, found in cost.items()}
    for kind, found in cost.items():
        sent = [number for _, number in found]
        print(
            f"  one more round, {kind}: {middle[kind]:.3f} CPU s; "
            f"requests {statistics.median(sent):g}, at most {max(sent)}"
        )
    print(f"  ratio of medians: {middle['grown'] / middle['empty']:.2f}")


def _whole(place: str) -> None:
    def again() -> None:
        judge_round(Store(place, salt=SALT), "round-00000", POLICY, CONTRACT)

    _say("history", lambda: Store(place, salt=SALT).history())
    _say("one old round judged again", again)


def _all(place: str, original: Path) -> None:
    """The table of all rounds, and the store judged again, also by a policy that changed."""

    def again(version: int, most: int | None = None) -> None:
        policy = replace(POLICY, version=version)
        for _ in islice(reassess(Store(place, salt=SALT), policy, CONTRACT), most):
            pass

    _say("the table of all rounds, made whole", lambda: _table(place))
    for step in one_more(Store(place, salt=SALT), "one-more", original).values():
        step()
    _say("the table after one more round", lambda: _table(place))
    _say("all judged again, nothing changed", lambda: again(1))
    _say("100 of them by another policy, and the others looked for", lambda: again(2, 100))
    _say("100 more after that was ended", lambda: again(2, 200))


def _table(place: str) -> None:
    """The table of all rounds, as `agreement_history` shows it."""
    statuses = RoundStatusIndex(Store(place, salt=SALT))
    standing = statuses.refresh()
    rounds = table_of_rows(standing.rows)
    chart = charted(rounds, POLICY, standing.chart)
    rendered(history(rounds, POLICY, chart))
    statuses.save(replace(standing, chart=chart))


def _say(name: str, work: Callable[[], object]) -> None:
    cpu, wall, sent = _measured(work)
    print(f"  {name}: {cpu:.2f} CPU s, {wall:.2f} s, {sent} requests", flush=True)


def _measured(work: Callable[[], object]) -> tuple[float, float, int]:
    REQUESTS.clear()
    cpu, wall, _ = seconds(work)
    return cpu, wall, len(REQUESTS)


def _count_requests() -> None:
    session = aiobotocore.httpsession.AIOHTTPSession
    real = session.send

    async def send(self, request):
        REQUESTS.append(request.url)
        return await real(self, request)

    session.send = send


@contextmanager
def _server() -> Iterator[str]:
    """An empty bucket on this machine."""
    server = Path(__file__).parents[1] / "tests/store/server.py"
    with subprocess.Popen(
        [sys.executable, server], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{process.stdout.readline().strip()}",
        }
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("bucket")
        try:
            yield "s3://bucket"
        finally:
            process.kill()


if __name__ == "__main__":
    main()
