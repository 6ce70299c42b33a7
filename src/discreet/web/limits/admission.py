"""Admission of requests: who sends one is determined first, then its turn comes, and only then is its body read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Receive, Send

from discreet.web.auth.identity import SAFE_METHODS, Identity, identify, routed_path
from discreet.web.core import Core
from discreet.web.limits import turns
from discreet.web.limits.allowances import Allowances
from discreet.web.limits.bodies import bounded_receive, find_rule, has_body
from discreet.web.limits.networks import network_of
from discreet.web.limits.turns import Turns
from discreet.web.projects import projects, quotas

FORM_BYTES = 1 << 20
REQUESTS, FAILED_LOGINS = (50, 5.0), (10, 0.2)
"""Requests of a person or of strangers at an address, and failed logins at an address: how many at once, and how many per
second in the long run, before the next ones must wait."""
FAILED_LOGIN = (401, 429)
_FREE_PATHS = ("/static/", "/healthz", "/metrics")
"""Paths that are the same for everybody and cost next to nothing."""


@dataclass
class Admitted:
    """A request that is worked on: its bounded body, and the turns it holds until its response begins."""

    receive: Receive
    release: Callable[[], None]
    status: int = 0
    """Of the response, as soon as it begins."""

    def watch_start(self, send: Send) -> Send:
        """A send function that ends the turn when the response begins: what is left then is only sending."""

        async def send_and_release(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.release()
            await send(message)

        return send_and_release


class Admission:
    """Admits the requests of one server."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.turns = Turns(core.counts)
        self.requests = Allowances(*REQUESTS)
        self.failed_logins = Allowances(*FAILED_LOGINS)

    @asynccontextmanager
    async def admit(self, request: Request, receive: Receive) -> AsyncIterator[Admitted]:
        """Authenticate a request, wait for its turn, and bound its body; raises if it is refused."""
        if routed_path(request).startswith(_FREE_PATHS):
            yield Admitted(receive, lambda: None)
            return
        taken_turns: list[Hashable] = []
        network = network_of(request.client.host if request.client else "")
        admitted = Admitted(receive, partial(self._release_unless_stream, taken_turns))
        is_login = request.method not in SAFE_METHODS and find_rule(request).anonymous
        try:
            if is_login:
                request.state.identity = Identity()
                # it is read before its turn, so that forms which arrive slowly keep nobody from logging in
                admitted.receive = await bounded_receive(request, receive, find_rule(request), 0)
                await self._take_turn_of_login(taken_turns, network)
            else:
                request.state.identity = identity = await self._identify(taken_turns, request, network)
                if identity.access is not None:
                    self._release(taken_turns)
                    await self._take_turn_of_user(taken_turns, request, identity)
                if has_body(request):
                    identity.require()
                    rule = find_rule(request)
                    limit = await run_in_threadpool(self._upload_limit, request, identity) if rule.streamed else 0
                    admitted.receive = await bounded_receive(request, receive, rule, limit)
            yield admitted
        finally:
            if is_login and admitted.status in FAILED_LOGIN:
                self._count_failed_login(network)
            self._release(taken_turns)

    async def _identify(self, taken_turns: list[Hashable], request: Request, network: str) -> Identity:
        """Who sends a request; looking up a session or token takes a thread, so strangers take their turn before it."""
        has_credentials = bool(request.cookies or "authorization" in request.headers)
        if not has_credentials:
            await self._slow_down(taken_turns, ("address", network), turns.HURRIED_PER_ADDRESS)
        await self._take(taken_turns, ("anonymous", network), turns.ANONYMOUS_PER_ADDRESS)
        if not has_credentials:
            return Identity()
        identity = await run_in_threadpool(identify, request, self.core)
        if identity.access is None:
            self._release(taken_turns)
            await self._slow_down(taken_turns, ("address", network), turns.HURRIED_PER_ADDRESS)
            await self._take(taken_turns, ("anonymous", network), turns.ANONYMOUS_PER_ADDRESS)
        return identity

    async def _slow_down(self, taken_turns: list[Hashable], who: tuple[str, Hashable], at_once: int, kind: str = "page") -> None:
        """Let whoever sends requests faster than people do wait for each, and work on few pages of all of them at once."""
        if self.requests.spend(who):
            return
        await self._take(taken_turns, ("hurried", who, kind), at_once)
        await asyncio.sleep(turns.HURRY_SECONDS)
        if kind == "page":  # the others may take long, mostly waiting
            await self._take(taken_turns, ("all hurried", who[0]), turns.HURRIED_IN_TOTAL)

    async def _take_turn_of_login(self, taken_turns: list[Hashable], network: str) -> None:
        key = ("login", network)
        many_fail = self.failed_logins.is_spent(network)
        await self._take(
            taken_turns, key, turns.LOGINS_PER_ADDRESS, turns.LOGINS_WAITING_WHERE_MANY_FAIL if many_fail else turns.WAITING
        )
        await self.turns.finish_rest(key)
        await self._take(taken_turns, "logins", turns.LOGINS_IN_TOTAL)

    def _count_failed_login(self, network: str) -> None:
        if not self.failed_logins.spend(network):
            self.turns.rest(("login", network), turns.FAILED_LOGIN_SECONDS)

    def _upload_limit(self, request: Request, identity: Identity) -> int:
        """Bytes of an upload to a project, with room for the parts of a form; raises if the user may not upload there."""
        project_id = int(re.findall(r"/projects/(\d{1,9})(?!\d)", routed_path(request))[0])
        with self.core.store.read() as connection:
            project = projects.get(connection, identity.require().user, project_id, "editor")
            room = quotas.check_room(connection, self.core.settings, project.id)
        return int(min(self.core.settings.upload_limit, room)) + FORM_BYTES

    async def _take_turn_of_user(self, taken_turns: list[Hashable], request: Request, identity: Identity) -> None:
        who = ("user", identity.require().user.id)
        if routed_path(request).endswith("/events"):
            await self._take(taken_turns, ("stream", who), turns.STREAMS_PER_USER, waiting=0)
            if not self.requests.spend(who):
                await asyncio.sleep(turns.HURRY_SECONDS)  # no turn: an open stream must keep no other from being opened
        elif routed_path(request).endswith(("/download", "/table")):  # they may wait for a job, which must not keep pages waiting
            await self._take(taken_turns, ("download", who), turns.DOWNLOADS_PER_USER)
            await self._slow_down(taken_turns, who, turns.HURRIED_PER_USER, "download")
        elif has_body(request) and find_rule(request).streamed:
            await self._take(taken_turns, ("upload", who), turns.UPLOADS_PER_USER)
            await self._slow_down(taken_turns, who, turns.HURRIED_PER_USER, "upload")
        else:
            await self._take(taken_turns, who, turns.PER_USER)
            await self._slow_down(taken_turns, who, turns.HURRIED_PER_USER)

    async def _take(self, taken_turns: list[Hashable], key: Hashable, at_once: int, waiting: int = turns.WAITING) -> None:
        await self.turns.take(key, at_once, waiting)
        taken_turns.append(key)

    def _release(self, taken_turns: list[Hashable]) -> None:
        while taken_turns:
            self.turns.release(taken_turns.pop())

    def _release_unless_stream(self, taken_turns: list[Hashable]) -> None:
        if not any(isinstance(key, tuple) and key[0] == "stream" for key in taken_turns):
            self._release(taken_turns)
