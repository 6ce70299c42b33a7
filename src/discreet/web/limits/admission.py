"""Admission of requests: who sends one is determined first, then its turn comes, and only then is its body read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Receive, Send

from discreet.web.auth.identity import Identity, identify
from discreet.web.auth.security import SAFE_METHODS
from discreet.web.core import Core
from discreet.web.limits import turns
from discreet.web.limits.bodies import bounded_receive, find_rule, has_body
from discreet.web.limits.turns import Turns
from discreet.web.projects import projects, quotas

FORM_BYTES = 1 << 20
_FREE_PATHS = ("/static/", "/healthz", "/metrics")
"""Paths that are the same for everybody and cost next to nothing."""


@dataclass
class Admitted:
    """A request that is worked on: its bounded body, and the turns it holds until its response begins."""

    receive: Receive
    release: Callable[[], None]

    def watch_start(self, send: Send) -> Send:
        """A send function that ends the turn when the response begins: what is left then is only sending."""

        async def send_and_release(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.release()
            await send(message)

        return send_and_release


class Admission:
    """Admits the requests of one server."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.turns = Turns(core.counts)

    @asynccontextmanager
    async def admit(self, request: Request, receive: Receive) -> AsyncIterator[Admitted]:
        """Authenticate a request, wait for its turn, and bound its body; raises if it is refused."""
        if request.url.path.startswith(_FREE_PATHS):
            yield Admitted(receive, lambda: None)
            return
        held: list[Hashable] = []
        is_login = request.method not in SAFE_METHODS and find_rule(request).anonymous
        address = request.client.host if request.client else ""
        try:
            # looking up a token or a session takes a thread too, so strangers take their turn before it
            await self._take(held, ("anonymous", address), turns.ANONYMOUS_PER_ADDRESS)
            if not (request.cookies or "authorization" in request.headers):
                await self.turns.pace(("anonymous", address))
            identity = await run_in_threadpool(identify, request, self.core) if not is_login else Identity()
            request.state.identity = identity
            if is_login:
                await self._take(held, ("login", address), turns.LOGINS_PER_ADDRESS)
                await self._take(held, "logins", turns.LOGINS_IN_TOTAL)
            elif identity.access is not None:
                self._release(held)
                await self._take_turn_of_user(held, request, identity)
            if has_body(request):
                if not is_login:
                    identity.require()
                rule = find_rule(request)
                limit = await run_in_threadpool(self._upload_limit, request, identity) if rule.streamed else 0
                receive = await bounded_receive(request, receive, rule, limit)
            yield Admitted(receive, partial(self._release_unless_stream, held))
        finally:
            self._release(held)

    def _upload_limit(self, request: Request, identity: Identity) -> int:
        """Bytes of an upload to a project, with room for the parts of a form; raises if the user may not upload there."""
        project_id = int(re.findall(r"/projects/(\d{1,9})(?!\d)", request.url.path)[0])
        with self.core.store.read() as connection:
            project = projects.get(connection, identity.require().user, project_id, "editor")
            room = quotas.check_room(connection, self.core.settings, project.id)
        return int(min(self.core.settings.upload_limit, room)) + FORM_BYTES

    async def _take_turn_of_user(self, held: list[Hashable], request: Request, identity: Identity) -> None:
        user = identity.require().user
        if request.url.path.endswith("/events"):
            await self._take(held, ("stream", user.id), turns.STREAMS_PER_USER, waiting=0)
        elif request.url.path.endswith(("/download", "/table")):  # they may wait for a job, which must not keep pages waiting
            await self._take(held, ("download", user.id), turns.DOWNLOADS_PER_USER)
        elif has_body(request) and find_rule(request).streamed:
            await self._take(held, ("upload", user.id), turns.UPLOADS_PER_USER)
        else:
            await self._take(held, ("user", user.id), turns.PER_USER)
            await self.turns.pace(("user", user.id))

    async def _take(self, held: list[Hashable], key: Hashable, at_once: int, waiting: int = turns.WAITING) -> None:
        await self.turns.take(key, at_once, waiting)
        held.append(key)

    def _release(self, held: list[Hashable]) -> None:
        while held:
            self.turns.release(held.pop())

    def _release_unless_stream(self, held: list[Hashable]) -> None:
        if not any(isinstance(key, tuple) and key[0] == "stream" for key in held):
            self._release(held)
