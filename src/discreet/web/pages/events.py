"""What happens in a project, as it happens, for the pages' scripts."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import StreamingResponse

from discreet.web.auth.security import Here, LoggedIn
from discreet.web.projects import projects

router = APIRouter(prefix="/projects/{number}")
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.get("/events")
def follow(core: Here, session: LoggedIn, number: int) -> Response:
    """Changes of the project until the reader leaves, or two minutes on comes again."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
    return StreamingResponse(core.watcher.follow(project), media_type="text/event-stream", headers=HEADERS)
