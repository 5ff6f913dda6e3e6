"""Some forty rounds in the deployment of `deploy/`, whose parts are killed, paused and changed.

::

    make deployment        # prints docs/proofs/thirty-rounds.md, in about a quarter of an hour

It needs the server of PostgreSQL, and root for a small disk in memory. Each event names how long it
took until every round that it met was decided. At the end each round must have been kept, decided
and released as often as it should, and no run may be left.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
from dagster_graphql import DagsterGraphQLClient

from agreement_pipeline import verify_release
from agreement_pipeline.orchestration.compat import IN_PROGRESS
from benchmarks.live_rounds import fill, small_disk
from tests.deployment.services import RULE, STUCK_SECONDS, Deployment, Watched, deployed, wait_until
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.conftest import CATEGORIES, ratings_frame

BEST, MIDDLING = ratings_frame(0.999), ratings_frame(0.95)
STRICTER = "{measure: krippendorff_alpha, min_items: 30, reliable: 0.93, tentative: 0.9}"
WEAKER = "{measure: krippendorff_alpha, min_items: 30, reliable: 0.7}"
SLOW = f"{RULE}\n  - {{measure: krippendorff_alpha, scope: pair, effect: warn}}"
LONGEST = 900.0
PAGE = """\
<!-- written by `make deployment` -->

# A deployment in which everything ends

Three projects run in the processes of [`deploy/`](../deployment.md).
These are PostgreSQL, a bucket, three code servers, the webserver and the daemon.
{rounds} rounds came while parts were killed, paused or deployed anew.
At the end each round was kept once and decided once a policy.
Those that the policy admits had one release that verifies. No run was left.

| what happened | rounds | until all of them were decided | |
| --- | ---: | ---: | --- |
{lines}
"""


def crowd(n_raters: int = 20) -> pd.DataFrame:
    """A round whose pairs of raters take minutes to measure with a million resamples."""
    draws = np.random.default_rng(20)
    return pd.DataFrame(
        [
            (f"i{item:03}", f"r{rater:02}", CATEGORIES[(item + int(draws.random() < 0.02)) % 3])
            for item in range(400)
            for rater in range(n_raters)
        ],
        columns=["item", "rater", "label"],
    )


@dataclass
class Thirty:
    """What was delivered to each project, in order, and a line of the table for each event."""

    deployment: Deployment
    seen: Watched
    delivered: dict[str, list[pd.DataFrame]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def deliver(self, name: str, *frames: pd.DataFrame) -> list[str]:
        """Deliver rounds to a project. Their names."""
        there, rounds = self.delivered.setdefault(name, []), list[str]()
        for frame in frames:
            there.append(frame)
            rounds.append(f"{name[0]}{len(there):02}")
            self.seen.deliver(name, rounds[-1], frame)
        return rounds

    def event(
        self,
        what: str,
        name: str,
        frames: Sequence[pd.DataFrame],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """Deliver rounds, do something while the first is run, and wait for all decisions."""
        rounds = self.deliver(name, *frames)
        self.seen.wait_for_a_run(rounds[0])
        start = time.monotonic()
        meanwhile()
        self.seen.wait_for_a_decision(name, *rounds, within=LONGEST)
        self.say(what, len(rounds), time.monotonic() - start)

    def say(self, what: str, n_rounds: int, seconds: float, then: str = "") -> None:
        """A line of the table."""
        self.lines.append(f"| {what} | {n_rounds or ''} | {seconds:.0f} s | {then} |")
        sys.stderr.write(f"{self.lines[-1]}\n")

    def redeploy(self, name: str, version: int, rule: str) -> None:
        """Start the code server of a project again, under another policy."""
        self.deployment.write_policy(name, version, rule)
        part = self.deployment.code[name]
        part.end(signal.SIGTERM)
        part.start()

    def changed_policy(self, what: str, version: int, rule: str) -> set[str]:
        """Redeploy the reviews under another policy, and judge them again: what is in force."""
        before = self.in_force("reviews")
        self.redeploy("reviews", version, rule)
        seconds, after = self.judge_again("reviews"), self.in_force("reviews")
        self.say(
            what, 0, seconds, f"rounds with a release: {len(before)} before, {len(after)} after"
        )
        return after

    def judge_again(self, name: str) -> float:
        """Run `reassessment` as the button of the UI does. How long it took."""
        client = DagsterGraphQLClient("127.0.0.1", port_number=self.deployment.web.port)
        start = time.monotonic()
        wait_until(lambda: client.reload_repository_location(name), 60, f"location {name}")
        job = f"{name}_reassessment"
        run = client.submit_job_execution(job, repository_location_name=name)
        ended = dg.DagsterRunStatus.SUCCESS
        wait_until(lambda: client.get_run_status(run) is ended, LONGEST, job)
        return time.monotonic() - start

    def in_force(self, name: str) -> set[str]:
        """The rounds with a release in force."""
        return {each["round"] for each in self.seen.store(name).in_force()} - {f"{name}.dataset"}


def _kill_run(at: Thirty, name: str) -> None:
    for pid in at.deployment.code[name].children:
        os.kill(pid, signal.SIGKILL)


def _kill_code_server(at: Thirty, name: str) -> None:
    part = at.deployment.code[name]
    pids = part.children
    part.end()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    part.start()


def _kill_daemon(at: Thirty) -> None:
    at.deployment.daemon.end()
    at.deployment.daemon.start()


def _without_postgres(at: Thirty) -> None:
    at.deployment.postgres.end(signal.SIGQUIT)
    time.sleep(20)
    at.deployment.postgres.start()


def _without_bucket(at: Thirty) -> None:
    at.deployment.bucket.send(signal.SIGSTOP)
    time.sleep(30)
    at.deployment.bucket.send(signal.SIGCONT)


def _outage(at: Thirty, name: str, seconds: float, begin: Callable[[], object]) -> int:
    """Begin an outage of the bucket, and wait. How many messages came before."""
    n_before = len(at.deployment.webhook.whats(name))
    begin()
    time.sleep(seconds)
    return n_before


def _without_bucket_for_two_minutes(at: Thirty) -> None:
    bucket = at.deployment.bucket
    n_before = _outage(at, "chats", 120, lambda: bucket.send(signal.SIGSTOP))
    bucket.send(signal.SIGCONT)
    _wait_for_one_alert_and_its_end(at, "chats", n_before)


def _without_key(at: Thirty) -> None:
    refuse = at.deployment.refuse_keys_of_the_bucket
    n_before = _outage(at, "reviews", 120, lambda: refuse(refused=True))
    refuse(refused=False)
    _wait_for_one_alert_and_its_end(at, "reviews", n_before)


def _wait_for_one_alert_and_its_end(at: Thirty, name: str, n_before: int) -> None:
    def messages() -> list[str]:
        return at.deployment.webhook.whats(name)[n_before:]

    wait_until(lambda: "up again" in messages(), STUCK_SECONDS, f"{name} is up again")
    if messages() != ["down", "up again"]:
        raise RuntimeError(f"{name}: the webhook was told {messages()}")


def _without_database(at: Thirty) -> None:
    at.deployment.lose_the_database()
    at.seen = Watched(at.deployment)


def run(at: Thirty, disk: Path) -> None:
    """Every event, one after the other."""
    first, second, third = [GOOD, BAD, GOOD], [GOOD, GOOD, BAD], [BAD, GOOD, GOOD]
    at.event("nothing", "reviews", first)
    at.event("`kill -9` of a run", "reviews", second, lambda: _kill_run(at, "reviews"))
    both = "`kill -9` of a code server and its run"
    at.event(both, "chats", first, lambda: _kill_code_server(at, "chats"))
    at.event("`kill -9` of the daemon", "chats", second, lambda: _kill_daemon(at))
    at.event("PostgreSQL gone for 20 s", "reviews", third, lambda: _without_postgres(at))
    at.event("a bucket that does not answer for 30 s", "chats", third, lambda: _without_bucket(at))
    at.event(
        "a bucket that does not answer for two minutes, with one alert and its end",
        "chats",
        third,
        lambda: _without_bucket_for_two_minutes(at),
    )
    at.event(
        "a bucket that refuses the key for two minutes, with one alert and its end",
        "reviews",
        first,
        lambda: _without_key(at),
    )
    at.event("the database made anew", "chats", first, lambda: _without_database(at))

    place = at.deployment.folder / "notes/configs/projects/notes.yaml"
    place.write_text(place.read_text().replace("s3://rounds/notes", f"{disk}/store"))
    at.redeploy("notes", 1, RULE)
    ballast = fill(disk)

    def freed() -> None:
        time.sleep(30)
        ballast.unlink()

    at.event("a full disk under a store for 30 s", "notes", first, freed)

    judged_again = "policy, and all rounds judged again"
    if at.changed_policy(f"a redeploy with a stricter {judged_again}", 2, STRICTER):
        raise RuntimeError("a release of a round that the stricter policy holds is in force")
    best = f"r{len(at.delivered['reviews']) + 1:02}"
    at.event("new rounds under the stricter policy", "reviews", [BEST, GOOD, BAD])
    if at.in_force("reviews") != {best}:
        raise RuntimeError("not just the best round was released under the stricter policy")
    at.changed_policy(f"a redeploy with a weaker {judged_again}", 3, WEAKER)
    at.event("new rounds under the weaker policy", "reviews", [MIDDLING, GOOD, BAD])

    at.deployment.write_policy("notes", 2, SLOW)
    policy = at.deployment.folder / "notes/configs/policies/strict.yaml"
    policy.write_text(policy.read_text().replace("n_resamples: 1000", "n_resamples: 1000000"))
    part = at.deployment.code["notes"]
    part.end(signal.SIGTERM)
    part.start()
    at.event("a round whose decision takes minutes", "notes", [crowd()])
    at.redeploy("notes", 3, RULE)
    at.event("rounds after it", "notes", [BAD, GOOD])


def refuse_what_is_wrong(at: Thirty) -> None:
    """Every round must be kept once, decided once a policy, and released if it is good."""
    wait_until(
        lambda: not at.seen.instance.get_runs_count(dg.RunsFilter(statuses=IN_PROGRESS)),
        LONGEST,
        "no run left",
    )
    for name, frames in at.delivered.items():
        store = at.seen.store(name)
        rounds = {f"{name[0]}{nth:02}": frame for nth, frame in enumerate(frames, 1)}
        good = {called for called, frame in rounds.items() if frame is not BAD}
        if at.in_force(name) != good:
            raise RuntimeError(f"{name}: {at.in_force(name)} in force; expected {good}")
        for called in rounds:
            happened = store.history(called)
            kept = [each for each in happened if each["event"] == "ingested"]
            decided = [each["policy_digest"] for each in happened if each["event"] == "decided"]
            if len(kept) != 1 or not decided or len({*decided}) != len(decided):
                raise RuntimeError(f"{called}: kept {len(kept)} times, decided as {decided}")
        for entry in store.in_force():
            verify_release(store.root / "releases" / entry["release"], store=store)


def main() -> None:
    """Print the page.

    A shell lets what it runs in the background ignore SIGINT, and Dagster then ignores SIGTERM.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with small_disk(None) as disk, deployed("reviews", "chats", "notes") as deployment:
        os.environ.update(deployment.env)
        at = Thirty(deployment, Watched(deployment))
        run(at, disk)
        refuse_what_is_wrong(at)
    n_rounds = sum(map(len, at.delivered.values()))
    sys.stdout.write(PAGE.format(rounds=n_rounds, lines="\n".join(at.lines)))


if __name__ == "__main__":
    main()
