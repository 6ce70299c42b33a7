"""The server's thread that runs the jobs: takes them from the queue in order, gives each a process, and says how it went.

It alone changes what the database says of a running job. A database has one server; should there be two, a job is still
claimed by one of them only.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import select as sockets
import threading
import time
from typing import Any

from sqlalchemy import exc, select, update
from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import DiscreetError, SourceError
from discreet.web.db import sweeping
from discreet.web.db.store import Store, now
from discreet.web.db.tables import jobs
from discreet.web.jobs import outcomes
from discreet.web.jobs.inputs import brief
from discreet.web.jobs.messages import trace
from discreet.web.jobs.process import Process
from discreet.web.jobs.running import Running
from discreet.web.settings import Settings

log = logging.getLogger("discreet.web.jobs")
LOOK = 0.5
TELL = 0.3
TELL_PARTIAL = 1.0
"""Seconds between looks at the queue, between writes of progress, and between writes of results so far."""


class Supervisor:
    """Runs jobs while the server lives."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self._running: dict[str, Running] = {}
        self._over: list[tuple[Running, int]] = []
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._wake: tuple[int, int] | None = None
        self._lock: int | None = None

    def start(self) -> None:
        """Take up what an earlier server left, and begin."""
        if self._thread is not None:
            raise RuntimeError("the supervisor runs already")
        self._lock = self._take_home()
        try:
            outcomes.recover(self.store)
            sweeping.sweep(self.settings, self.store)
        except BaseException:
            self._leave_home()
            raise
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="discreet-jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End every job's process and the thread; jobs that ran wait for the next start."""
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
        self._leave_home()

    def wake(self) -> None:
        """Look at the queue now."""
        if self._wake is not None:
            with contextlib.suppress(OSError):
                os.write(self._wake[1], b"!")

    def _run(self) -> None:
        looked = -LOOK
        while not self._stopping.is_set():
            try:
                if time.monotonic() - looked >= LOOK or self._woken():
                    looked = time.monotonic()
                    self._look()
                self._listen()
                self._tell()
                self._settle()
            except SQLAlchemyError as error:
                # nothing is lost: what ended waits to be told, what is queued waits to be taken
                log.warning("the database does not answer (%s); jobs wait", type(error).__name__)
                self._stopping.wait(1.0)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other jobs go on
                log.error(
                    "the jobs' supervisor met an error of the program and goes on: %s\n%s", type(error).__name__, trace(error)
                )
                self._stopping.wait(1.0)
        self._put_back()

    # the queue

    def _look(self) -> None:
        with self.store.read() as connection:
            states = connection.execute(
                select(jobs.c.id, jobs.c.project_id, jobs.c.state, jobs.c.cancelling)
                .where(jobs.c.state.in_(("queued", "running")))
                .order_by(jobs.c.created, jobs.c.id)
            ).all()
        here = {row.id: row for row in states if row.state == "running"}
        for identity, one in self._running.items():
            if identity not in here and not one.stopped:
                one.stopped = True  # its project was deleted
                one.process.kill()
            elif identity in here and here[identity].cancelling:
                one.process.ask_to_stop()
        busy = {row.project_id for row in here.values()}
        for row in states:
            if len(self._running) >= self.settings.jobs:
                break
            if row.state == "queued" and row.project_id not in busy:
                busy.add(row.project_id)
                self._begin(row.id)

    def _begin(self, identity: str) -> None:
        with self.store.write() as connection:
            claim = {
                "state": "running", "started": now(), "attempts": jobs.c.attempts + 1, "what": "starting", "done": 0, "total": 0,
                "partial": None, "cancelling": False,
            }  # fmt: skip
            this = jobs.c.id == identity
            if not connection.execute(update(jobs).where(this, jobs.c.state == "queued").values(**claim)).rowcount:
                return
            job = connection.execute(select(jobs).where(this)).one()
            try:
                told = brief(connection, self.settings, job)
            except DiscreetError as error:
                outcomes.end(connection, identity, "failed", str(error))
                return
            connection.execute(update(jobs).where(this).values(parameters=told["parameters"]))
        try:
            process = Process(identity, told)
        except OSError as error:
            with self.store.write() as connection:
                outcomes.end(connection, identity, "failed", f"its process could not be started: {error.strerror}")
            return
        self._running[identity] = Running(identity, job.kind, process, {"pid": process.popen.pid})

    # the processes

    def _woken(self) -> bool:
        assert self._wake is not None
        with contextlib.suppress(OSError):
            return bool(os.read(self._wake[0], 4096))
        return False

    def _listen(self) -> None:
        """Wait until a process says something, somebody wakes us, or it is time to look again."""
        assert self._wake is not None
        heard = [pipe for one in self._running.values() for pipe in one.process.heard]
        pause = TELL if self._running or self._over else LOOK
        watched = sockets.poll()
        for pipe in (self._wake[0], *heard):
            watched.register(pipe, sockets.POLLIN)
        found = watched.poll(pause * 1000)
        if self._running and found and self._wake[0] not in [pipe for pipe, _ in found]:
            time.sleep(0.02)  # lines come in crowds
        for one in list(self._running.values()):
            for message in one.process.pump():
                one.hear(message)
            if one.process.overdue:
                one.process.kill()
            code = one.process.ended()
            if code is not None:
                for message in one.process.pump():
                    one.hear(message)
                one.process.close()
                del self._running[one.job]
                self._over.append((one, code))

    def _tell(self) -> None:
        for one in self._running.values():
            at = time.monotonic()
            values: dict[str, Any] = {}
            if one.news and at - one.told_at >= TELL:
                values |= one.news
            if one.new_points and at - one.told_points_at >= TELL_PARTIAL:
                values["partial"] = list(one.points)
            if values:
                with self.store.write() as connection:
                    connection.execute(update(jobs).where(jobs.c.id == one.job, jobs.c.state == "running").values(**values))
                if one.news and one.news.keys() <= values.keys():
                    one.told_at, one.news = at, {}
                if "partial" in values:
                    one.told_points_at, one.new_points = at, False

    def _settle(self) -> None:
        while self._over:
            one, code = self._over[0]
            try:
                with self.store.write() as connection:
                    outcomes.conclude(connection, one, code)
            except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError):
                raise  # the database is away: the result waits for it
            except Exception as error:  # noqa: BLE001 - a result that cannot be kept is a failed job, not a failed server
                log.error("the result of job %s could not be kept: %s\n%s", one.job, type(error).__name__, trace(error))
                with self.store.write() as connection:
                    outcomes.end(connection, one.job, "failed", outcomes.program_error(type(error).__name__))
            self._over.pop(0)
            sweeping.after(self.settings, self.store, one.job)
            self.wake()

    # coming and going

    def _take_home(self) -> int:
        """One server on a data directory; the system gives it free when the server ends, however it ends."""
        place = os.open(self.settings.home / ".server.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(place)
            raise SourceError(f"{self.settings.home}: another server runs on this data directory; stop it first") from None
        return place

    def _leave_home(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _put_back(self) -> None:
        for one in self._running.values():
            one.process.kill()
        for one in self._running.values():
            one.process.close()
        try:
            self._settle()
            with self.store.write() as connection:
                for identity in self._running:
                    job = connection.execute(select(jobs).where(jobs.c.id == identity, jobs.c.state == "running")).one_or_none()
                    if job is not None:
                        text = "the server was stopped while this ran; it waits to run again"
                        outcomes.requeue(connection, job, text, job.attempts - 1)
        except SQLAlchemyError as error:
            log.warning("the database does not answer (%s); the next start will say what became of jobs", type(error).__name__)
        self._running.clear()
