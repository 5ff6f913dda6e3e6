"""A launcher of runs that notices when the code server of a run has ended."""

import time
from typing import TYPE_CHECKING

from agreement_pipeline.orchestration.compat import (
    CanCancelExecutionRequest,
    CanCancelExecutionResult,
    CheckRunHealthResult,
    CodeServerUnreachable,
    DefaultRunLauncher,
    WorkerStatus,
    deserialize_value,
)

if TYPE_CHECKING:
    import dagster as dg

SILENT_SECONDS = 45.0
"""A run at work says so twice a minute. One that is silent for so long is not at work."""


class WatchedRunLauncher(DefaultRunLauncher):
    """Dagster's own launcher, whose runs are watched by its run monitoring.

    Dagster's launcher does not ask the code server whether the process of a run lives. So a run
    whose code server was killed stays *started* for ever, and its round is never judged again.

    A run is called dead if the code server at its address does not know it, and if nothing was
    logged for `SILENT_SECONDS`. A process may outlive its code server, and then it says in the log
    that it is at work. While no code server answers, nothing is known, and the run is let be. So
    code servers need a fixed address, as in `deploy/`.
    """

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: "dg.DagsterRun") -> CheckRunHealthResult:
        client = self._get_grpc_client_for_termination(run.run_id)  # type: ignore[no-untyped-call]
        if client is None:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "no code server is named")
        try:
            answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run.run_id))
        except CodeServerUnreachable:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "its code server does not answer")
        is_alive = deserialize_value(answer, CanCancelExecutionResult).can_cancel
        if is_alive or self._silent_for(run.run_id) < SILENT_SECONDS:
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, "its process ended with its code server")

    def _silent_for(self, run_id: str) -> float:
        records = self._instance.get_records_for_run(run_id, limit=1, ascending=False).records
        return time.time() - records[0].event_log_entry.timestamp if records else 0.0
