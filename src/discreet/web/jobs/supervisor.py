"""The server's thread that runs jobs: takes them from the queue in turns, starts a process for each, and records the outcome.

Only this thread changes the row of a running job. A data directory and a database have one supervisor at a time, which holds the
lock of both (:mod:`discreet.web.db.server_lock`); while it has lost the database's, it starts no job.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select as sockets
import threading
import time
from typing import Any

from sqlalchemy import exc, select, update
from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import DiscreetError
from discreet.web.db import staging, sweeping
from discreet.web.db.ballast import Ballast
from discreet.web.db.server_lock import ServerLock
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs
from discreet.web.errors import DiskFull
from discreet.web.jobs import outcomes
from discreet.web.jobs.fairness import EXPORT_KINDS, FairTurns, Waiting
from discreet.web.jobs.inputs import gather_inputs
from discreet.web.jobs.messages import format_traceback
from discreet.web.jobs.process import WorkerProcess
from discreet.web.jobs.running import RunningJob
from discreet.web.projects import publication, purging, quotas
from discreet.web.settings import Settings

log = logging.getLogger("discreet.web.jobs")
QUEUE_POLL_SECONDS = 0.5
PROGRESS_SECONDS = 0.3
PARTIAL_RESULT_SECONDS = 1.0
RETENTION_SECONDS = 3600.0
LOCK_SECONDS = 60.0
"""Seconds between checks of the queue, between writes of progress or of intermediate results, between purges of what is older
than its project's retention period, and between checks of the server's lock, whose connection an idle database may close."""


class Supervisor:
    """Runs jobs while the server is running."""

    def __init__(self, settings: Settings, store: Store, lock: ServerLock | None = None) -> None:
        """``lock`` is that of the server; default: taken at the start, and released at the end."""
        self.settings = settings
        self.store = store
        self._running: dict[str, RunningJob] = {}
        self._ended: list[tuple[RunningJob, int]] = []
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._wake: tuple[int, int] | None = None
        self._server_lock, self._own_lock = lock, lock is None
        self._turns = FairTurns(settings.jobs)
        self._ballast = Ballast(settings.home)

    def start(self) -> None:
        """Recover the jobs of an earlier server process, and start the thread."""
        if self._thread is not None:
            raise RuntimeError("the supervisor is already running")
        self._server_lock = self._server_lock or ServerLock.acquire(self.settings)
        try:
            outcomes.recover_jobs(self.store)
            sweeping.delete_orphaned_files(self.settings, self.store)
            publication.drop_unpublished(self.store, self.settings)
        except BaseException:
            self._release_lock()
            raise
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        self._stopping.clear()
        self._ballast.keep()
        self._thread = threading.Thread(target=self._run, name="discreet-jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and kill all job processes; running jobs go back to the queue for the next start."""
        thread = self._thread
        if thread is None:
            return
        self._stopping.set()
        self.wake()
        thread.join()
        self._thread = None
        for end in self._wake or ():
            os.close(end)
        self._wake = None
        self._release_lock()

    def wake(self) -> None:
        """Check the queue now."""
        if self._wake is not None:
            with contextlib.suppress(OSError):
                os.write(self._wake[1], b"!")

    def _run(self) -> None:
        last_check, last_purge = -QUEUE_POLL_SECONDS, time.monotonic() - RETENTION_SECONDS
        last_lock_check = time.monotonic()
        while not self._stopping.is_set():
            try:
                if time.monotonic() - last_check >= QUEUE_POLL_SECONDS or self._drain_wake_pipe():
                    last_check = time.monotonic()
                    self._check_queue()
                if time.monotonic() - last_purge >= RETENTION_SECONDS:
                    last_purge = time.monotonic()
                    purging.apply_retention(self.store, self.settings)
                    staging.delete_abandoned(self.settings, self.store)
                if self._server_lock is not None and time.monotonic() - last_lock_check >= LOCK_SECONDS:
                    last_lock_check = time.monotonic()
                    self._server_lock.is_held()
                self._read_processes()
                self._save_progress()
                self._record_outcomes()
            except (SQLAlchemyError, DiskFull) as error:
                # nothing is lost: ended jobs stay in self._ended until they are recorded, queued jobs stay in the queue
                log.warning("the database does not respond (%s); jobs wait", type(error).__name__)
                self._stopping.wait(1.0)
            except Exception as error:  # noqa: BLE001 - the other jobs must continue
                log.error(
                    "internal error in the job supervisor, which continues: %s\n%s",
                    type(error).__name__,
                    format_traceback(error),
                )
                self._stopping.wait(1.0)
        self._requeue_running()

    # the queue

    def _check_queue(self) -> None:
        columns = (jobs.c.id, jobs.c.project_id, jobs.c.user_id, jobs.c.kind, jobs.c.state, jobs.c.cancelling, jobs.c.created)
        with self.store.read() as connection:
            rows = connection.execute(select(*columns).where(jobs.c.state.in_(("queued", "running")))).all()
        running_rows = {row.id: row for row in rows if row.state == "running"}
        for job_id, running in self._running.items():
            if job_id not in running_rows and not running.killed:
                running.killed = True  # its project was deleted
                running.process.kill()
            elif job_id in running_rows and running_rows[job_id].cancelling:
                running.stop()
            elif running.seconds_run > running.max_seconds and not running.timed_out:
                running.timed_out = True
                running.stop()
        queued = [Waiting(row.id, row.user_id, row.project_id, row.kind, row.created) for row in rows if row.state == "queued"]
        busy_projects = {row.project_id for row in running_rows.values() if row.kind not in EXPORT_KINDS}
        if queued and (self._server_lock is None or not self._server_lock.is_held()):
            log.warning("the database's lock is lost, perhaps to another server; no job is started until it is back")
            return
        for step in self._turns.plan_steps(queued, list(self._running.values()), busy_projects):
            if step.pause is not None:
                self._running[step.pause].pause()
            if step.job in self._running:
                self._running[step.job].resume()
            else:
                self._start_job(step.job)

    def _start_job(self, job_id: str) -> None:
        with self.store.write() as connection:
            claim = {
                "state": "running", "started": now(), "attempts": jobs.c.attempts + 1, "what": "starting", "done": 0, "total": 0,
                "partial": None, "cancelling": False,
            }  # fmt: skip
            this_job = jobs.c.id == job_id
            if not connection.execute(update(jobs).where(this_job, jobs.c.state == "queued").values(**claim)).rowcount:
                return
            job = connection.execute(select(jobs).where(this_job)).one()
            try:
                inputs = gather_inputs(connection, self.settings, job)
                max_seconds = quotas.job_seconds(connection, self.settings, job)
                inputs["limits"] = quotas.job_limits(connection, self.settings, job.project_id)
            except DiscreetError as error:
                outcomes.finish_job(connection, job_id, "failed", str(error))
                return
            connection.execute(update(jobs).where(this_job).values(parameters=inputs["parameters"]))
        try:
            process = WorkerProcess(job_id, inputs)
        except OSError as error:
            with self.store.write() as connection:
                outcomes.finish_job(connection, job_id, "failed", f"the job's process could not be started: {error.strerror}")
            return
        self._running[job_id] = RunningJob(
            job_id, job.kind, process, {"pid": process.popen.pid}, user_id=job.user_id, created=job.created,
            max_seconds=max_seconds, ran_before=job.ran,
        )  # fmt: skip

    # the processes

    def _drain_wake_pipe(self) -> bool:
        assert self._wake is not None
        with contextlib.suppress(OSError):
            return bool(os.read(self._wake[0], 4096))
        return False

    def _read_processes(self) -> None:
        """Wait for output of a process, a wake-up or the next check of the queue; then handle messages and ended processes."""
        assert self._wake is not None
        output_pipes = [pipe for running in self._running.values() for pipe in running.process.output_pipes]
        pause = PROGRESS_SECONDS if self._running or self._ended else QUEUE_POLL_SECONDS
        poller = sockets.poll()
        for pipe in (self._wake[0], *output_pipes):
            poller.register(pipe, sockets.POLLIN)
        ready = poller.poll(pause * 1000)
        if self._running and ready and self._wake[0] not in [pipe for pipe, _ in ready]:
            time.sleep(0.02)  # messages come in bursts: read them together
        for running in list(self._running.values()):
            for message in running.process.exchange():
                running.handle_message(message)
            if running.process.overdue:
                running.process.kill()
            code = running.process.exit_code()
            if code is not None:
                for message in running.process.exchange():
                    running.handle_message(message)
                running.process.close()
                del self._running[running.job]
                self._ended.append((running, code))

    def _save_progress(self) -> None:
        for running in self._running.values():
            current_time = time.monotonic()
            values: dict[str, Any] = {}
            if running.progress and current_time - running.progress_saved_at >= PROGRESS_SECONDS:
                values |= running.progress
            if running.has_new_points and current_time - running.points_saved_at >= PARTIAL_RESULT_SECONDS:
                values["partial"] = list(running.points)
            if values:
                with self.store.write() as connection:
                    connection.execute(update(jobs).where(jobs.c.id == running.job, jobs.c.state == "running").values(**values))
                if running.progress and running.progress.keys() <= values.keys():
                    running.progress_saved_at, running.progress = current_time, {}
                if "partial" in values:
                    running.points_saved_at, running.has_new_points = current_time, False

    def _record_outcomes(self) -> None:
        while self._ended:
            ended, code = self._ended[0]
            try:
                with self.store.write() as connection:
                    outcomes.record_outcome(connection, ended, code)
            except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError, DiskFull):
                raise  # the database is unavailable: the result is recorded later
            except Exception as error:  # noqa: BLE001 - a result that cannot be stored fails the job, not the server
                log.error(
                    "the result of job %s could not be stored: %s\n%s", ended.job, type(error).__name__, format_traceback(error)
                )
                with self.store.write() as connection:
                    outcomes.finish_job(connection, ended.job, "failed", outcomes.describe_program_error(type(error).__name__))
            self._ended.pop(0)
            sweeping.delete_job_leftovers(self.settings, self.store, ended.job)
            self.wake()

    # start and stop

    def _release_lock(self) -> None:
        if self._own_lock and self._server_lock is not None:
            self._server_lock.release()
            self._server_lock = None

    def _requeue_running(self) -> None:
        for running in self._running.values():
            running.process.kill()
        for running in self._running.values():
            running.process.close()
        try:
            self._record_outcomes()
            with self.store.write() as connection:
                for job_id in self._running:
                    job = connection.execute(select(jobs).where(jobs.c.id == job_id, jobs.c.state == "running")).one_or_none()
                    if job is not None:
                        text = "the server was stopped while the job was running; it is queued again"
                        outcomes.requeue_job(connection, job, text, job.attempts - 1)
                        ran = self._running[job_id].seconds_run
                        connection.execute(update(jobs).where(jobs.c.id == job_id).values(ran=ran))
        except (SQLAlchemyError, DiskFull) as error:
            log.warning("the database does not respond (%s); running jobs are recovered at the next start", type(error).__name__)
        self._running.clear()
