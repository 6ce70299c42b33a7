"""Server-sent events of a project: the scripts of the pages follow its changes and jobs with them."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import StreamingResponse

from discreet.web.auth.following import Follower
from discreet.web.auth.security import CurrentSession, ServerCore
from discreet.web.jobs.events import STREAM_HEADERS
from discreet.web.projects import projects

router = APIRouter(prefix="/projects/{number}", include_in_schema=False)


@router.get("/events")
def follow(core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Stream the changes of the project until the browser leaves; it reconnects every two minutes."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
    return StreamingResponse(
        core.watcher.follow(project, Follower(project.id, session.user.id, session.hash)),
        media_type="text/event-stream",
        headers=STREAM_HEADERS,
    )
