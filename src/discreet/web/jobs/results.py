"""What becomes of a result: rows that say it is there, in one transaction with the job's own ``done``.

By then the files are on the disk and the table is published: nothing is said to be there that is not.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from discreet.model.policy import Policy
from discreet.web.auth import accounts
from discreet.web.db import audit
from discreet.web.db.store import now
from discreet.web.db.tables import datasets, releases
from discreet.web.db.tables import projects as project_table
from discreet.web.errors import WebError
from discreet.web.jobs import queue
from discreet.web.projects import policies, projects


def settle(connection: Connection, job: Row[Any], message: dict[str, Any], who: str) -> tuple[dict[str, Any], str]:
    """Write what a job made; its result as others see it, and a sentence."""
    result: dict[str, Any] = message.get("result") or {}
    sentence = str(message.get("sentence") or "done")
    if job.kind == "import":
        return _dataset(connection, job, message["made"], result, who), sentence
    if job.kind == "analyze":
        return result, sentence + _profile(connection, job, result)
    if job.kind == "generate":
        return _release(connection, job, message["made"], result, who), sentence
    if job.kind == "publish":
        this = (releases.c.project_id == job.project_id, releases.c.number == job.parameters["release"])
        connection.execute(update(releases).where(*this).values(table_name=result["table_name"]))
    projects.touch(connection, job.project_id)
    return result, sentence


def _dataset(connection: Connection, job: Row[Any], made: dict[str, Any], result: dict[str, Any], who: str) -> dict[str, Any]:
    names = ("name", "file", "records", "bytes", "sha256", "columns")
    row = {name: made[name] for name in names} | {"project_id": job.project_id, "created": now(), "user_id": job.user_id}
    key = connection.execute(insert(datasets).values(**row)).inserted_primary_key
    assert key is not None
    projects.touch(connection, job.project_id, dataset_id=key[0])
    audit.note(connection, who, "dataset imported", job.project_id, dataset=key[0], name=made["name"], sha256=made["sha256"])
    _analyze(connection, job, key[0])
    return result | {"dataset": key[0]}


def _analyze(connection: Connection, job: Row[Any], dataset: int) -> None:
    """Ask the Analyzer about a table that has just come in; one who may not any more, or a full queue, asks later."""
    try:
        with connection.begin_nested():
            user = accounts.get(connection, job.user_id)
            project = projects.get(connection, user, job.project_id, "editor")
            queue.submit(connection, user, project, "analyze", {"dataset": dataset})
    except WebError:
        return


def _profile(connection: Connection, job: Row[Any], result: dict[str, Any]) -> str:
    this = (datasets.c.id == result["dataset"], datasets.c.project_id == job.project_id)
    connection.execute(update(datasets).where(*this).values(profile=result["profile"]))
    projects.touch(connection, job.project_id)
    if not job.parameters.get("apply"):
        return ""
    try:
        with connection.begin_nested():
            user = accounts.get(connection, job.user_id)
            project = projects.get(connection, user, job.project_id, "editor")
            policy = Policy.from_dict(result["profile"]["policy"], origin="the Analyzer's proposal")
            policies.replace(connection, user, project, job.parameters["revision"], policy, "the Analyzer's proposal")
    except WebError as error:
        return f"; the proposal was not taken over: {error}"
    return "; the proposal is the policy now"


def _release(connection: Connection, job: Row[Any], made: dict[str, Any], result: dict[str, Any], who: str) -> dict[str, Any]:
    project = connection.execute(select(project_table).where(project_table.c.id == job.project_id).with_for_update()).one()
    ours = releases.c.project_id == job.project_id
    number = int(connection.execute(select(func.coalesce(func.max(releases.c.number), 0)).where(ours)).scalar_one()) + 1
    for one in made["kept"]:
        moved = {"table_name": one["table_name"]}
        connection.execute(update(releases).where(ours, releases.c.number == one["number"]).values(**moved))
    replaced = (ours, releases.c.table_name == project.table_name)
    connection.execute(update(releases).where(*replaced).values(table_name=""))
    names = ("file", "sha256", "records", "table_name", "assessment", "ok", "policy")
    row = {name: made[name] for name in names} | {
        "project_id": job.project_id, "number": number, "dataset_id": job.parameters["dataset"], "job_id": job.id,
        "revision": job.parameters["revision"], "created": now(), "user_id": job.user_id,
    }  # fmt: skip
    connection.execute(insert(releases).values(**row))
    projects.touch(connection, job.project_id)
    detail = {"release": number, "records": made["records"], "sha256": made["sha256"], "revision": job.parameters["revision"]}
    audit.note(connection, who, "release made", job.project_id, **detail)
    return result | {"release": number}
