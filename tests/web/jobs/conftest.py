"""Fixtures for jobs: a desk that submits jobs of one user, and a supervisor whose workers can be replaced by small programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from sqlalchemy import select

from discreet.reproduce.appendix import patients
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs as job_table
from discreet.web.jobs import process, queue
from discreet.web.jobs.inputs import gather_inputs
from discreet.web.jobs.messages import MessageWriter
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.jobs.worker import run_job
from discreet.web.projects import datasets, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PRELUDE = "import sys, json, time\ndef send(**m): print(json.dumps(m), flush=True)\ninputs = json.loads(sys.stdin.readline())\n"


@dataclass(frozen=True)
class Desk:
    """Jobs of one person in one project."""

    settings: Settings
    store: Store
    user: User
    project: Project

    def submit(self, kind: str, **parameters: Any) -> queue.Job:
        with self.store.write() as connection:
            return queue.submit(connection, self.user, projects.get(connection, self.user, self.project.id), kind, parameters)

    def imported(self, content: str | None = None) -> queue.Job:
        """Submit the import of a file; default: Table A.1."""
        text = patients().frame.write_csv() if content is None else content
        uploaded = datasets.receive_upload(self.settings, self.project, iter([text.encode()]), "patients.csv")
        return self.submit("import", upload=uploaded.name, name="patients.csv")

    def read_job(self, job: queue.Job) -> queue.Job:
        with self.store.read() as connection:
            return queue.get(connection, self.project, job.id)

    def wait(self, job: queue.Job, until: Callable[[queue.Job], bool] | None = None, seconds: float = 300) -> queue.Job:
        """Wait until the job ends, or until a condition holds."""

        def ended_job() -> queue.Job | None:
            current = self.read_job(job)
            return current if (until(current) if until is not None else not current.active) else None

        ended = wait_until(ended_job, lambda: f"still {self.read_job(job).state}: {self.read_job(job).what}", seconds=seconds)
        assert ended is not None
        return ended

    def pid_of(self, job: queue.Job) -> int:
        """The process that a job has, once it has one."""

        def read_pid() -> int:
            with self.store.read() as connection:
                return int(connection.execute(select(job_table.c.pid).where(job_table.c.id == job.id)).scalar() or 0)

        return wait_until(read_pid, "no process was started", seconds=120)

    def in_process(self, kind: str, **parameters: Any) -> dict[str, Any]:
        """Run a job without a process; returns its last message."""
        job = self.submit(kind, **parameters)
        this = select(job_table).where(job_table.c.id == job.id)
        with self.store.write() as connection:
            inputs = gather_inputs(connection, self.settings, connection.execute(this).one())
        out = io.BytesIO()
        run_job(json.loads(json.dumps(inputs)), MessageWriter(out))
        with self.store.write() as connection:
            queue.cancel(connection, self.user, projects.get(connection, self.user, self.project.id), job.id)
        message: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
        return message

    @staticmethod
    def alive(pid: int) -> bool:
        """Whether a process is there and is not only remembered."""
        try:
            return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):  # it ended before, or while its state was read
            return False

    @staticmethod
    def group(leader: int) -> list[int]:
        """The processes of a group that live."""
        members = []
        for place in Path("/proc").iterdir():
            if not place.name.isdigit():
                continue
            try:
                state, _, group, *_ = (place / "stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended while the others were looked at
            if int(group) == leader and state != "Z":
                members.append(int(place.name))
        return members

    def gone(self, pid: int, seconds: float = 60) -> bool:
        """Whether a process ends within some time, which a slow machine may need."""
        try:
            return wait_until(lambda: not self.alive(pid), "it lives", seconds=seconds, pause=0.02)
        except AssertionError:
            return False


@pytest.fixture
def desk(settings: Settings, store: Store, anna: User, project: Project) -> Desk:
    """Anna's, in her project."""
    return Desk(settings, store, anna, project)


@pytest.fixture
def supervisor(settings: Settings, store: Store) -> Iterator[Supervisor]:
    started = Supervisor(settings, store)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have jobs done by a small program instead."""

    def use(program: str) -> None:
        monkeypatch.setattr(process, "COMMAND", [sys.executable, "-S", "-c", PRELUDE + program])

    return use
