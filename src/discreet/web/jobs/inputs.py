"""What a job's process is told: gathered from the database when its turn has come."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Row, func, select

from discreet.web.db.tables import datasets, projects, releases, revisions, users
from discreet.web.errors import Invalid, NotFound
from discreet.web.projects import policy_sandbox
from discreet.web.projects.datasets import shown_name
from discreet.web.settings import Settings

_WITH_DATA = ("analyze", "risk", "generate", "select", "report")


def brief(connection: Connection, settings: Settings, job: Row[Any]) -> dict[str, Any]:
    """All that the process of a job needs; ``parameters`` name the dataset and the revision that it will work on."""
    project = connection.execute(select(projects).where(projects.c.id == job.project_id)).one()
    parameters = dict(job.parameters)
    folder = settings.folder(project.id)
    made: dict[str, Any] = {
        "job": job.id,
        "kind": job.kind,
        "folder": str(folder),
        "home": str(settings.home),
        "project": {"id": project.id, "name": project.name, "table_name": project.table_name},
        "by": connection.execute(select(users.c.name).where(users.c.id == job.user_id)).scalar_one(),
        "published": settings.published,
        "shown": {str(folder): "the project's folder"},
    }
    if "release" in parameters:
        release = _release(connection, project, parameters["release"])
        made["release"] = {
            "number": release.number,
            "file": release.file,
            "policy": release.policy,
            "table_name": release.table_name or _own_table(connection, project, release.number),
        }
        parameters |= {"dataset": release.dataset_id, "revision": release.revision}
    if job.kind == "import":
        made |= _source(settings, parameters, made)
    parameters.setdefault("revision", project.revision)
    made["policy"] = _policy(connection, project, parameters["revision"])
    policy_sandbox.check(made["policy"])
    if job.kind in _WITH_DATA:
        made["dataset"] = _dataset(connection, project, parameters)
        made["shown"] = {str(folder / made["dataset"]["file"]): f"'{made['dataset']['name']}'", **made["shown"]}
    if job.kind == "generate":
        made["kept"] = _to_keep(connection, project)
    return made | {"parameters": parameters}


def _policy(connection: Connection, project: Row[Any], revision: int) -> dict[str, Any]:
    this = (revisions.c.project_id == project.id, revisions.c.revision == revision)
    found = connection.execute(select(revisions.c.policy).where(*this)).scalar()
    if found is None:
        raise NotFound(f"the project '{project.name}' has no revision {revision}; its newest is {project.revision}")
    return dict(found)


def _dataset(connection: Connection, project: Row[Any], parameters: dict[str, Any]) -> dict[str, Any]:
    wanted = parameters.setdefault("dataset", project.dataset_id)
    this = (datasets.c.id == wanted, datasets.c.project_id == project.id)
    row = connection.execute(select(datasets).where(*this)).one_or_none() if wanted is not None else None
    if row is None:
        which = "initial microdata yet; upload a file first" if wanted is None else f"dataset number {wanted}"
        raise NotFound(f"the project '{project.name}' has no {which}")
    return {"id": row.id, "name": row.name, "file": row.file}


def _source(settings: Settings, parameters: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    if "upload" in parameters:
        place = settings.folder(made["project"]["id"]) / "uploads" / parameters["upload"]
        if not place.is_file():
            raise NotFound("the uploaded file is not on the server any more; upload it again")
        name = shown_name(parameters.get("name") or place.name)
        return {"source": str(place), "name": name, "shown": {str(place): f"'{name}'", **made["shown"]}}
    if parameters["table"].replace('"', "").rpartition(".")[2].lower().startswith("discreet_"):
        raise Invalid("tables whose names begin with discreet_ are the server's own")
    address = settings.sources.get(parameters["source"])
    if address is None:
        known = ", ".join(sorted(settings.sources)) or "none"
        raise Invalid(f"no database is connected as '{parameters['source']}'; connected: {known}")
    name = shown_name(parameters.get("name") or parameters["table"])
    return {"source": f"{address}#{quote(parameters['table'])}", "name": name}


def _release(connection: Connection, project: Row[Any], number: int) -> Row[Any]:
    this = (releases.c.project_id == project.id, releases.c.number == number)
    row = connection.execute(select(releases).where(*this)).one_or_none()
    if row is None:
        raise NotFound(f"the project '{project.name}' has no release number {number}")
    return row


def _to_keep(connection: Connection, project: Row[Any]) -> list[dict[str, Any]]:
    """Signed releases that stand in the table which the new one will take."""
    this = (
        releases.c.project_id == project.id,
        releases.c.signed_at.is_not(None),
        releases.c.table_name == project.table_name,
    )
    rows = connection.execute(select(releases.c.number, releases.c.file).where(*this)).all()
    return [{"number": row.number, "file": row.file, "table_name": _own_table(connection, project, row.number)} for row in rows]


def _own_table(connection: Connection, project: Row[Any], number: int) -> str:
    """The table that a signed release keeps when a later one takes the project's: none that another project has."""
    taken = set(connection.execute(select(func.lower(projects.c.table_name))).scalars())
    tried = (f"{project.table_name}_{'release_' * n}{number}" for n in itertools.count())
    return next(name for name in tried if name.lower() not in taken)
