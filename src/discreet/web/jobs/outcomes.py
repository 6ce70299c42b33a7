"""The final states of jobs (done, failed, cancelled, interrupted) with a sentence for people, and requeueing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, select, update

from discreet.errors import DiscreetError
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs, users
from discreet.web.jobs.job_types import REPEATABLE
from discreet.web.jobs.results import store_result
from discreet.web.operation.logs import current_request_id

if TYPE_CHECKING:
    from discreet.web.jobs.running import RunningJob

log = logging.getLogger("discreet.web.jobs")
MAX_ATTEMPTS = 2
"""How often a job is started if the server stops while it runs."""


def record_outcome(connection: Connection, running: RunningJob, code: int) -> None:
    """Record how a job ended, from its last message and its exit code."""
    condition = (jobs.c.id == running.job, jobs.c.state == "running")
    job = connection.execute(select(jobs).where(*condition).with_for_update()).one_or_none()
    if job is None:
        return
    current_request_id.set(job.request_id)  # what the result submits, such as an analysis, belongs to the same request
    values: dict[str, Any] = {"ran": running.seconds_run} | ({"partial": list(running.points)} if running.points else {})
    event = (running.final_message or {}).get("event")
    if event == "result":
        assert running.final_message is not None
        user_name = connection.execute(select(users.c.name).where(users.c.id == job.user_id)).scalar_one()
        try:
            with connection.begin_nested():
                result, sentence = store_result(connection, job, running.final_message, user_name)
        except DiscreetError as error:
            finish_job(connection, running.job, "failed", str(error), **values)
            return
        total = max(job.total, 1.0)
        finish_job(connection, running.job, "done", sentence, result=result, done=total, total=total, **values)
    elif running.timed_out:
        hours = running.max_seconds / 3600
        finish_job(
            connection, running.job, "failed", f"stopped after {hours:.3g} hours, the time that this job may run", **values
        )
    elif event == "cancelled" or running.process.stop_requested_at is not None:
        suffix = "" if event == "cancelled" else "; it did not stop when asked, so its process was killed"
        finish_job(connection, running.job, "cancelled", f"cancelled{suffix}", **values)
    elif event == "failed":
        assert running.final_message is not None
        finish_job(connection, running.job, "failed", str(running.final_message.get("sentence")), **values)
    elif event == "error":
        assert running.final_message is not None
        log.error(
            "job %s (%s): %s\n%s",
            running.job,
            running.kind,
            running.final_message.get("type"),
            running.final_message.get("trace"),
        )
        reason = running.final_message.get("sentence") or describe_program_error(str(running.final_message.get("type")))
        finish_job(connection, running.job, "failed", str(reason), **values)
    else:
        log.error("job %s (%s) ended with code %s", running.job, running.kind, code)
        log.debug("job %s wrote: %s", running.job, bytes(running.process.stderr_tail).decode(errors="replace"))
        finish_job(connection, running.job, "failed", describe_exit(code), **values)


def finish_job(connection: Connection, job_id: str, state: str, what: str, **values: Any) -> None:
    """Write the final state of a job."""
    text = to_one_line(what)
    final = {"state": state, "what": text, "finished": now(), "cancelling": False, "pid": None}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(**final, **values))
    log.info("job %s is %s", job_id, state, extra=describe_job(connection, job_id))


def describe_job(connection: Connection, job_id: str) -> dict[str, Any]:
    """The fields of a job's log line; its request id is that of the request that submitted it."""
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        return {"job_id": job_id}
    return {
        "job_id": job_id, "job_type": row.kind, "job_state": row.state, "user_id": row.user_id, "request_id": row.request_id,
        "wait_seconds": None if row.started is None else round(row.started - row.created, 3), "run_seconds": round(row.ran, 3),
    }  # fmt: skip


def recover_jobs(store: Store) -> None:
    """Requeue the jobs that were running when an earlier server process died, or mark them as interrupted."""
    with store.write() as connection:
        for job in connection.execute(select(jobs).where(jobs.c.state == "running")).all():
            if job.cancelling:
                finish_job(connection, job.id, "cancelled", "cancelled; the server stopped before the job had")
            elif job.kind in REPEATABLE and job.attempts < MAX_ATTEMPTS:
                requeue_job(connection, job, "the server stopped while the job was running; it is queued again", job.attempts)
            else:
                reason = "the server stopped while the job was running" + (" for the second time" if job.attempts > 1 else "")
                finish_job(connection, job.id, "interrupted", f"{reason}; submit it again if it is still needed")


def requeue_job(connection: Connection, job: Row[Any], text: str, attempts: int) -> None:
    """Put a job back into the queue."""
    values = {"state": "queued", "what": text, "attempts": attempts, "pid": None, "done": 0, "total": 0, "partial": None}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(**values))


def to_one_line(text: str) -> str:
    """A sentence as stored in the database: one printable line of at most 400 characters."""
    printable = "".join(character if character.isprintable() else " " for character in text).strip()
    return printable if len(printable) <= 400 else printable[:399] + "…"


def describe_program_error(kind: str) -> str:
    """The message of a job that failed with an unexpected exception."""
    return f"internal error ({kind}); the details are in the server's log, and the data are unchanged"


def describe_exit(code: int) -> str:
    """The message of a job whose process ended without a result."""
    if code in (-6, -9):
        return (
            f"the job's process was ended by signal {-code}, probably because it needed more memory than it may use; "
            "other jobs are not affected"
        )
    if code < 0:
        return f"the job's process was ended by signal {-code}; other jobs are not affected"
    return f"the job's process ended before the job was done (exit code {code}); other jobs are not affected"
