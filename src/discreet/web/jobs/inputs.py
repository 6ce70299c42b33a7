"""The inputs of a job's process, gathered from the database when the job starts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Row, select

from discreet.web.db import audit
from discreet.web.db.tables import datasets, projects, releases, revisions, users
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.jobs.generation import with_limits
from discreet.web.projects import policy_sandbox, quotas, sources
from discreet.web.projects.datasets import display_name
from discreet.web.projects.release_states import check_publishable
from discreet.web.settings import Settings

_KINDS_WITH_DATASET = ("analyze", "risk", "generate", "select", "report")


def gather_inputs(connection: Connection, settings: Settings, job: Row[Any]) -> dict[str, Any]:
    """Everything that the process of a job needs; ``parameters`` state the dataset and the revision it works on."""
    project = connection.execute(select(projects).where(projects.c.id == job.project_id)).one()
    parameters = dict(job.parameters)
    folder = settings.folder(project.id)
    inputs: dict[str, Any] = {
        "job": job.id,
        "kind": job.kind,
        "folder": str(folder),
        "home": str(settings.home),
        "project": {"id": project.id, "name": project.name, "table_name": project.table_name},
        "by": connection.execute(select(users.c.name).where(users.c.id == job.user_id)).scalar_one(),
        "published": settings.published,
        "audit_head": str(audit.read_head(connection)),
        "display_names": {str(folder): "the project's folder"},
    }
    if "release" in parameters:
        release = _get_release(connection, project, parameters["release"])
        inputs["release"] = {
            "number": release.number,
            "file": release.file,
            "policy": release.policy,
            "sha256": release.sha256,
        }
        if job.kind == "publish":
            check_publishable(release.number, release.state)
            inputs["grants"] = list(project.grants or [])
        parameters |= {"dataset": release.dataset_id, "revision": release.revision}
    if job.kind in ("import", "preview"):
        if "source" in parameters:
            sources.check_granted(connection, settings, job.user_id, parameters["source"], parameters["table"])
        inputs |= _resolve_source(settings, parameters, inputs)
        if job.kind == "preview":  # many small ones would pass the quota unnoticed
            quotas.check_room(connection, settings, project.id)
    parameters.setdefault("revision", project.revision)
    inputs["policy"] = _get_policy(connection, project, parameters["revision"])
    policy_sandbox.check_confined(inputs["policy"])
    if job.kind in _KINDS_WITH_DATASET:
        inputs["dataset"] = _get_dataset(connection, project, parameters)
        inputs["display_names"] = {
            str(folder / inputs["dataset"]["file"]): f"'{inputs['dataset']['name']}'",
            **inputs["display_names"],
        }
    if job.kind == "generate":
        inputs["policy"] = with_limits(inputs["policy"], parameters.get("limits") or {})
    return inputs | {"parameters": parameters}


def _get_policy(connection: Connection, project: Row[Any], revision: int) -> dict[str, Any]:
    condition = (revisions.c.project_id == project.id, revisions.c.revision == revision)
    document = connection.execute(select(revisions.c.policy).where(*condition)).scalar()
    if document is None:
        raise NotFound(f"the project '{project.name}' has no revision {revision}; the latest is {project.revision}")
    return dict(document)


def _get_dataset(connection: Connection, project: Row[Any], parameters: dict[str, Any]) -> dict[str, Any]:
    dataset_id = parameters.setdefault("dataset", project.dataset_id)
    condition = (datasets.c.id == dataset_id, datasets.c.project_id == project.id)
    row = connection.execute(select(datasets).where(*condition)).one_or_none() if dataset_id is not None else None
    if row is None:
        which = "initial microdata yet; upload a file first" if dataset_id is None else f"dataset {dataset_id}"
        raise NotFound(f"the project '{project.name}' has no {which}")
    if not row.file:
        raise NotFound(f"the content of the dataset '{row.name}' was purged; import the table again")
    return {"id": row.id, "name": row.name, "file": row.file}


def _resolve_source(settings: Settings, parameters: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    if "upload" in parameters:
        uploaded = settings.folder(inputs["project"]["id"]) / "uploads" / parameters["upload"]
        if not uploaded.is_file():
            raise NotFound("the uploaded file is no longer on the server; upload it again")
        name = display_name(parameters.get("name") or uploaded.name)
        return {"source": str(uploaded), "name": name, "display_names": {str(uploaded): f"'{name}'", **inputs["display_names"]}}
    if parameters["table"].replace('"', "").rpartition(".")[2].lower().startswith("discreet_"):
        raise InvalidRequest("tables whose names begin with discreet_ belong to the server and cannot be imported")
    address = settings.sources.get(parameters["source"])
    if address is None:
        known = ", ".join(sorted(settings.sources)) or "none"
        raise InvalidRequest(f"no database is connected as '{parameters['source']}'; connected: {known}")
    name = display_name(parameters.get("name") or parameters["table"])
    return {"source": f"{address}#{quote(parameters['table'])}", "name": name}


def _get_release(connection: Connection, project: Row[Any], number: int) -> Row[Any]:
    condition = (releases.c.project_id == project.id, releases.c.number == number)
    row = connection.execute(select(releases).where(*condition)).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no release {number}")
    return row
