"""Database rows for the result of a job, written in one transaction with the job's state ``done``.

By then the files are on disk, and a published release is in its table, so that the database never refers to something missing.
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
from discreet.web.projects import policies, projects, publication


def store_result(connection: Connection, job: Row[Any], message: dict[str, Any], user_name: str) -> tuple[dict[str, Any], str]:
    """Store the result of a job; returns the result that users see, and a sentence."""
    result: dict[str, Any] = message.get("result") or {}
    sentence = str(message.get("sentence") or "done")
    if job.kind == "import":
        return _store_dataset(connection, job, message["row"], result, user_name), sentence
    if job.kind == "analyze":
        return result, sentence + _store_profile(connection, job, result)
    if job.kind == "generate":
        return _store_release(connection, job, message["row"], result, user_name), sentence
    if job.kind == "publish":
        publication.record_publication(connection, job, result["table_name"])
    projects.mark_updated(connection, job.project_id)
    return result, sentence


def _store_dataset(
    connection: Connection, job: Row[Any], description: dict[str, Any], result: dict[str, Any], user_name: str
) -> dict[str, Any]:
    names = ("name", "file", "records", "bytes", "sha256", "columns")
    row = {name: description[name] for name in names} | {"project_id": job.project_id, "created": now(), "user_id": job.user_id}
    key = connection.execute(insert(datasets).values(**row)).inserted_primary_key
    assert key is not None
    projects.mark_updated(connection, job.project_id, dataset_id=key[0])
    audit.record(
        connection,
        user_name,
        "dataset imported",
        job.project_id,
        dataset=key[0],
        name=description["name"],
        sha256=description["sha256"],
    )
    _submit_analysis(connection, job, key[0])
    return result | {"dataset": key[0]}


def _submit_analysis(connection: Connection, job: Row[Any], dataset: int) -> None:
    """Submit an analysis of a newly imported table; skipped if the user lost access meanwhile or the queue is full."""
    try:
        with connection.begin_nested():
            user = accounts.get(connection, job.user_id)
            project = projects.get(connection, user, job.project_id, "editor")
            queue.submit(connection, user, project, "analyze", {"dataset": dataset})
    except WebError:
        return


def _store_profile(connection: Connection, job: Row[Any], result: dict[str, Any]) -> str:
    condition = (datasets.c.id == result["dataset"], datasets.c.project_id == job.project_id)
    connection.execute(update(datasets).where(*condition).values(profile=result["profile"]))
    projects.mark_updated(connection, job.project_id)
    if not job.parameters.get("apply"):
        return ""
    try:
        with connection.begin_nested():
            user = accounts.get(connection, job.user_id)
            project = projects.get(connection, user, job.project_id, "editor")
            policy = Policy.from_dict(result["profile"]["policy"], origin="the Analyzer's proposal")
            policies.replace(connection, user, project, job.parameters["revision"], policy, "the Analyzer's proposal")
    except WebError as error:
        return f"; the proposal was not applied: {error}"
    return "; the proposal is now the policy"


def _store_release(
    connection: Connection, job: Row[Any], description: dict[str, Any], result: dict[str, Any], user_name: str
) -> dict[str, Any]:
    connection.execute(select(project_table).where(project_table.c.id == job.project_id).with_for_update())
    in_project = releases.c.project_id == job.project_id
    number = int(connection.execute(select(func.coalesce(func.max(releases.c.number), 0)).where(in_project)).scalar_one()) + 1
    names = ("file", "sha256", "records", "assessment", "ok", "policy")
    row = {name: description[name] for name in names} | {
        "project_id": job.project_id, "number": number, "dataset_id": job.parameters["dataset"], "job_id": job.id,
        "revision": job.parameters["revision"], "created": now(), "user_id": job.user_id, "table_name": "", "state": "draft",
        "history": [{"state": "draft", "by": user_name, "at": round(now(), 3), "note": ""}],
    }  # fmt: skip
    connection.execute(insert(releases).values(**row))
    projects.mark_updated(connection, job.project_id)
    detail = {
        "release": number,
        "records": description["records"],
        "sha256": description["sha256"],
        "revision": job.parameters["revision"],
    }
    audit.record(connection, user_name, "release made", job.project_id, **detail)
    return result | {"release": number}
