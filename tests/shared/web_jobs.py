"""Jobs of the web application run in the test's own process, and a small project with a policy and a plan."""

from __future__ import annotations

import io
import json
from typing import Any

import psycopg
import pytest
from sqlalchemy import select, update

import discreet
from discreet.errors import DiscreetError
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs
from discreet.web.jobs import outcomes, queue
from discreet.web.jobs.inputs import gather_inputs
from discreet.web.jobs.key_project import key_project
from discreet.web.jobs.messages import MessageWriter
from discreet.web.jobs.results import store_result
from discreet.web.jobs.worker import run_job
from discreet.web.projects import approval, projects, publication, published_tables
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

CONTENT = "name,age,town\n" + "".join(f"person{at},{20 + at},{'AB'[at % 2]}\n" for at in range(12))
STEPS: list[dict[str, Any]] = [{"method": "remove_identifiers"}, {"method": "rounding", "columns": ["age"], "base": 10}]
POLICY: dict[str, Any] = {
    "attributes.name": {"role": "identifier"},
    "attributes.age": {"role": "key", "known": 0.3},
    "attributes.town": {"role": "key", "known": 0.3},
    "risk": {"k_anonymity": {}},
    "plan": {"steps": STEPS},
}


def run(settings: Settings, store: Store, user: User, project: Project, kind: str, **parameters: Any) -> dict[str, Any]:
    """A job from queue to rows without a process of its own; its result."""
    with store.write() as connection:
        job = queue.submit(connection, user, projects.get(connection, user, project.id), kind, parameters)
    return dict(job.result or {}) if job.state == "done" else work(settings, store, user, job.id)


def run_new_job(settings: Settings, store: Store, user: User, project: Project, kind: str, **parameters: Any) -> queue.Job:
    """Submit a job and do it."""
    with store.write() as connection:
        job = queue.submit(connection, user, projects.get(connection, user, project.id), kind, parameters)
    return run_queued_job(settings, store, user, job.id)


def work(settings: Settings, store: Store, user: User, job: str) -> dict[str, Any]:
    """Do a queued job; its result."""
    return dict(run_queued_job(settings, store, user, job).result or {})


def run_queued_job(settings: Settings, store: Store, user: User, job: str) -> queue.Job:
    """Do a queued job with the environment that its process would have; raises DiscreetError where it fails."""
    this_job = jobs.c.id == job
    with store.write() as connection:
        inputs = gather_inputs(connection, settings, connection.execute(select(jobs).where(this_job)).one())
        connection.execute(update(jobs).where(this_job).values(state="running", parameters=inputs["parameters"]))
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_HOME", str(inputs["home"]))
        patch.setenv("DISCREET_KEY_PROJECT", key_project(inputs))
        run_job(inputs, MessageWriter(out))
    messages = [json.loads(line) for line in out.getvalue().splitlines()]
    if messages[-1]["event"] != "result":
        with store.write() as connection:
            outcomes.finish_job(connection, job, "failed", str(messages[-1]))
        raise DiscreetError(str(messages[-1]))
    points = [message["point"] for message in messages if message["event"] == "point"]
    with store.write() as connection:
        row = connection.execute(select(jobs).where(this_job)).one()
        result, sentence = store_result(connection, row, messages[-1], user.name)
        connection.execute(update(jobs).where(this_job).values(partial=points or None))
        outcomes.finish_job(connection, job, "done", sentence, result=result)
        for other in queue.list_jobs(connection, projects.get(connection, user, row.project_id)):
            if other.kind == "analyze" and other.active:  # an import starts one
                queue.cancel(connection, user, projects.get(connection, user, row.project_id), other.id)
    with store.read() as connection:
        return queue.get(connection, projects.get(connection, user, row.project_id), job)


def project_of(store: Store, user: User, project: Project, role: str = "release_reader") -> Project:
    """The project as a user sees it now."""
    with store.read() as connection:
        return projects.get(connection, user, project.id, role)


def pass_gate(
    settings: Settings, store: Store, owner: User, approver: User, project: Project, number: int, reason: str = ""
) -> None:
    """Submit, approve and publish a release."""
    with store.write() as connection:
        approval.submit(connection, owner, projects.get(connection, owner, project.id), number)
        approval.approve(connection, settings, approver, projects.get(connection, approver, project.id), number, reason)
        job = publication.publish(connection, owner, projects.get(connection, owner, project.id), number)
    work(settings, store, owner, job.id)


def published_rows(settings: Settings, table: str) -> list[tuple[Any, ...]]:
    """What another program reads from the database of published tables."""
    address = published_tables.table_address(settings.published, table)
    if not settings.published.startswith("postgresql"):
        return discreet.read(address).frame.rows()
    with psycopg.connect(settings.published) as link:
        return link.execute(f'SELECT * FROM {published_tables.SCHEMA}."{table}"'.encode()).fetchall()
