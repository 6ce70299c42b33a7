"""Jobs of the server from the queue to their rows, run without a process of their own."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from sqlalchemy import select, update

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
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def run_new_job(settings: Settings, store: Store, user: User, project: Project, kind: str, **parameters: Any) -> queue.Job:
    """Submit a job and run it; raises DiscreetError where it fails."""
    with store.write() as connection:
        job = queue.submit(connection, user, projects.get(connection, user, project.id), kind, parameters)
    return run_queued_job(settings, store, user, project, job.id)


def run_queued_job(settings: Settings, store: Store, user: User, project: Project, job: str) -> queue.Job:
    """Run a job of the queue, with the environment that its process would have."""
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
        raise DiscreetError(str(messages[-1]))
    points = [message["point"] for message in messages if message["event"] == "point"]
    with store.write() as connection:
        row = connection.execute(select(jobs).where(this_job)).one()
        result, sentence = store_result(connection, row, messages[-1], user.name)
        connection.execute(update(jobs).where(this_job).values(partial=points or None))
        outcomes.finish_job(connection, job, "done", sentence, result=result)
        for other in queue.list_jobs(connection, projects.get(connection, user, project.id)):
            if other.kind == "analyze" and other.active:  # an import starts one
                queue.cancel(connection, user, projects.get(connection, user, project.id), other.id)
    with store.read() as connection:
        return queue.get(connection, projects.get(connection, user, project.id), job)
