"""Whatever is killed in a deployment: no round is lost, doubled or stuck, and none gets out.

The instance is that of `deploy/dagster.yaml`, on PostgreSQL. The store is in a bucket.
"""

import logging
import os
import signal
import time
from types import SimpleNamespace

import dagster as dg
import pytest
from dagster._serdes import serialize_value

from agreement_pipeline.orchestration.compat import (
    ENDED,
    IN_PROGRESS,
    CanCancelExecutionResult,
    CodeServerUnreachable,
    WorkerStatus,
)
from agreement_pipeline.orchestration.launcher import WatchedRunLauncher
from tests.deployment.services import (
    STUCK_SECONDS,
    Watched,
    deployed,
    postgres_programs,
    stop_pages,
    wait_until,
)
from tests.orchestration.checks import BAD, GOOD

LOG = logging.getLogger(__name__)


@pytest.mark.slow
@pytest.mark.skipif(postgres_programs() is None, reason="needs the server of PostgreSQL")
def test_whatever_is_killed_every_round_is_decided_once_and_nothing_is_stuck(monkeypatch):
    with deployed("reviews", "chats") as deployment:
        for name, value in deployment.env.items():
            monkeypatch.setenv(name, value)
        stop_pages(deployment.url, *deployment.names)
        seen, took = Watched(deployment), {}
        reviews = deployment.code["reviews"]

        seen.deliver("reviews", "r1", GOOD)
        seen.deliver("chats", "c1", GOOD)
        seen.wait_for_a_run("r1")
        for pid in reviews.children:
            os.kill(pid, signal.SIGKILL)
        took["a run"] = seen.wait_for_a_decision("reviews", "r1")

        seen.deliver("reviews", "r2", GOOD)
        seen.deliver("chats", "c2", BAD)
        seen.wait_for_a_run("r2")
        run, pids, killed = seen.running("r2"), reviews.children, time.monotonic()
        reviews.end()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        reviews.start()
        seen.deliver("reviews", "r3", BAD)

        seen.deliver("chats", "c3", GOOD)  # goes on beside the project that waits
        seen.wait_for_a_run("c3")
        deployment.daemon.end()
        deployment.daemon.start()
        took["the daemon"] = seen.wait_for_a_decision("chats", "c2", "c3")

        seen.deliver("chats", "c4", GOOD)
        seen.wait_for_a_run("c4")
        deployment.postgres.end(signal.SIGQUIT)
        time.sleep(5)
        deployment.postgres.start()
        took["PostgreSQL"] = seen.wait_for_a_decision("chats", "c4")

        seen.deliver("chats", "c5", GOOD)
        seen.wait_for_a_run("c5")
        deployment.bucket.send(signal.SIGSTOP)
        time.sleep(10)
        deployment.bucket.send(signal.SIGCONT)
        took["the bucket"] = seen.wait_for_a_decision("chats", "c1", "c5")

        seen.wait_for_a_decision("reviews", "r2", "r3")
        took["the code server and its run"] = time.monotonic() - killed
        good = {"reviews": ("r1", "r2"), "chats": ("c1", "c3", "c4", "c5")}
        held = {"reviews": ("r3",), "chats": ("c2",)}
        for name in deployment.names:
            said = seen.events(name)
            wanted = {("ingested", each): 1 for each in (*good[name], *held[name])}
            wanted |= {("decided", each): 1 for each in (*good[name], *held[name])}
            wanted |= {("released", each): 1 for each in good[name]}
            assert {key: said[key] for key in wanted} == wanted
            assert not any(said["released", each] for each in held[name])
        wait_until(
            lambda: not seen.instance.get_runs_count(dg.RunsFilter(statuses=IN_PROGRESS)),
            STUCK_SECONDS,
            "no run left",
        )
        assert seen.instance.get_run_by_id(run.run_id).status is dg.DagsterRunStatus.FAILURE
        for each in ("r3", "c2"):
            ended = dg.RunsFilter(tags={"dagster/partition": each}, statuses=ENDED)
            assert (
                len({run.root_run_id or run.run_id for run in seen.instance.get_runs(ended)}) == 1
            )
    LOG.info("seconds until a decision, after the end of: %s", took)


@pytest.mark.parametrize(
    ("known", "silent", "status"),
    [
        (True, 900.0, WorkerStatus.RUNNING),  # a long step that says nothing
        (False, 10.0, WorkerStatus.RUNNING),  # its code server was killed, and it works on
        (False, 900.0, WorkerStatus.FAILED),
        (None, 900.0, WorkerStatus.RUNNING),  # no code server answers
    ],
)
def test_a_run_is_called_dead_only_if_its_code_server_and_its_log_agree(
    monkeypatch, known, silent, status
):
    class Server:
        def can_cancel_execution(self, request):
            assert request.run_id == "some"
            if known is None:
                raise CodeServerUnreachable("nobody there")
            return serialize_value(CanCancelExecutionResult(can_cancel=known))

    launcher = WatchedRunLauncher()
    monkeypatch.setattr(launcher, "_get_grpc_client_for_termination", lambda _: Server())
    monkeypatch.setattr(launcher, "_silent_for", lambda _: silent)
    run = SimpleNamespace(run_id="some")
    assert launcher.check_run_worker_health(run).status is status
