"""A plan of the wizard that meets the limits meets them when the project adopts and generates it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select, update

from discreet.model.policy import Policy
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs
from discreet.web.jobs import outcomes, queue
from discreet.web.jobs.inputs import gather_inputs
from discreet.web.jobs.key_project import key_project
from discreet.web.jobs.messages import MessageWriter
from discreet.web.jobs.results import store_result
from discreet.web.jobs.worker import run_job
from discreet.web.pages.forms import editing
from discreet.web.pages.frontier import read_search
from discreet.web.projects import datasets, policies, projects, releases
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


def people() -> pl.DataFrame:
    rng = np.random.default_rng(12)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, 250),
            "town": rng.choice(["Ashford", "Brill", "Cove", "Dunster", "Ely", "Frome", "Goole"], 250),
            "sex": rng.choice(["f", "m"], 250),
            "illness": rng.choice(["flu", "asthma", "none"], 250),
        }
    )


def run(settings: Settings, store: Store, user: User, project: Project, kind: str, **parameters: Any) -> queue.Job:
    """A job from the queue to its rows, without a process of its own."""
    with store.write() as connection:
        job = queue.submit(connection, user, projects.get(connection, user, project.id), kind, parameters)
        this_job = jobs.c.id == job.id
        inputs = gather_inputs(connection, settings, connection.execute(select(jobs).where(this_job)).one())
        connection.execute(update(jobs).where(this_job).values(state="running", parameters=inputs["parameters"]))
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:  # as the process of a job sets them
        patch.setenv("DISCREET_HOME", str(inputs["home"]))
        patch.setenv("DISCREET_KEY_PROJECT", key_project(inputs))
        run_job(inputs, MessageWriter(out))
    messages = [json.loads(line) for line in out.getvalue().splitlines()]
    assert messages[-1]["event"] == "result", messages[-1]
    points = [message["point"] for message in messages if message["event"] == "point"]
    with store.write() as connection:
        row = connection.execute(select(jobs).where(this_job)).one()
        result, sentence = store_result(connection, row, messages[-1], user.name)
        connection.execute(update(jobs).where(this_job).values(partial=points or None))
        outcomes.finish_job(connection, job.id, "done", sentence, result=result)
        for other in queue.list_jobs(connection, projects.get(connection, user, project.id)):
            if other.kind == "analyze" and other.active:
                queue.cancel(connection, user, projects.get(connection, user, project.id), other.id)
    with store.read() as connection:
        return queue.get(connection, projects.get(connection, user, project.id), job.id)


def test_every_plan_that_meets_the_limits_can_be_adopted_and_generated(
    settings: Settings, store: Store, anna: User, project: Project
) -> None:
    buffer = io.BytesIO()
    people().write_csv(buffer)
    uploaded = datasets.receive_upload(settings, project, iter([buffer.getvalue()]), "people.csv")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    sections = {f"attributes.{name}": {"role": "key"} for name in ("age", "town", "sex")}
    sections |= {"attributes.illness": {"role": "confidential"}, "risk": {"k_anonymity": {}}, "limits": {"k_anonymity.k": 4}}
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, sections)
    search = read_search(run(settings, store, anna, project, "select", trials=10, seed=4))
    assert search.failed_count == 0
    assert "age" in search.hierarchies
    candidates = [plan for plan in search.plans if plan.meets_limits and plan.whole_table]
    assert len(candidates) >= 3
    for candidate in candidates:
        with store.write() as connection:
            current = projects.get(connection, anna, project.id)
            plan = Policy.from_dict({"plan": candidate.plan}).plan
            editing.save_plan(connection, anna, current, current.revision, plan, "adopted", hierarchies=search.hierarchies)
        run(settings, store, anna, project, "generate")
        with store.read() as connection:
            release = releases.get(connection, projects.get(connection, anna, project.id))
        limits = {limit["limit"]: limit for limit in release.assessment["verdict"]["limits"]}
        assert limits["k_anonymity.k"]["kept"], candidate.plan
        assert limits["k_anonymity.k"]["found"] == candidate.numbers["k_anonymity.k"], candidate.plan
