"""The application: pages at /, REST at /api/v1, its page at /api/docs, health at /healthz."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.web import api, pages
from discreet.web.auth.security import HEADERS, same_origin
from discreet.web.core import Core
from discreet.web.db.store import Store
from discreet.web.errors import Invalid, WebError
from discreet.web.jobs.events import Watcher
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.settings import Settings

log = logging.getLogger("discreet.web")


def make_app(settings: Settings) -> FastAPI:
    """An application on a database that is brought up to date; its jobs run while it does."""
    store = Store(settings.database)
    store.migrate()
    core = Core(settings, store, Supervisor(settings, store), Watcher(store))

    @asynccontextmanager
    async def living(_app: FastAPI) -> AsyncIterator[None]:
        core.supervisor.start()
        try:
            yield
        finally:
            await run_in_threadpool(core.supervisor.stop)
            store.close()

    app = FastAPI(
        title="discreet",
        version=__version__,
        description="Risk, masking and release of confidential microdata.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=living,
    )
    app.state.core = core
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.include_router(api.router)
    app.include_router(pages.router)
    app.add_api_route("/healthz", _health, include_in_schema=False)
    app.add_middleware(Guard, core=core)
    app.add_exception_handler(DiscreetError, _told)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http)
    return app


def _health(request: Request) -> Response:
    core: Core = request.app.state.core
    try:
        with core.store.read() as connection:
            connection.execute(text("SELECT 1"))
    except OperationalError:
        return PlainTextResponse("the database does not answer\n", status_code=503)
    return PlainTextResponse("ok\n")


class Guard:
    """Around every request: refuses what another site sent, adds the headers, turns an error of the program into an answer.

    Logs a line a request without anything secret: the route, not the address.
    """

    def __init__(self, app: ASGIApp, core: Core) -> None:
        self.app = app
        self.core = core

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        begun, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._dress(request, MutableHeaders(scope=message))
            await send(message)

        try:
            same_origin(request, self.core.settings)
            await self.app(scope, receive, sending)
        except WebError as error:
            await _answer(request, error.status, str(error), error.detail)(scope, receive, sending)
        except Exception as error:  # whatever it is, the next request is answered
            log.error("%s failed", _route(request), exc_info=error)
            if not status:
                message = "an error of the program; it is in the server's log, and nothing was saved"
                await _answer(request, 500, message)(scope, receive, sending)
        spent = (time.perf_counter() - begun) * 1000
        log.info("%s %s %s %.0f ms %s", request.method, _route(request), status, spent, getattr(request.state, "who", "-"))

    def _dress(self, request: Request, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        if self.core.settings.secure:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        if not request.url.path.startswith("/static/"):
            headers.setdefault("Cache-Control", "no-store")


def _route(request: Request) -> str:
    return str(getattr(request.scope.get("route"), "path", "-"))


def _answer(request: Request, status: int, message: str, detail: dict[str, object] | None = None) -> Response:
    """An error for whoever asked: JSON for a program, a page for a person."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"status": status, "message": message, "detail": detail or {}}, status_code=status)
    return pages.error_page(request, status, message, detail or {})


def _told(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, WebError) else 422
    response = _answer(request, status, str(error), getattr(error, "detail", {}))
    if status == 429 and isinstance(error, WebError):
        response.headers["Retry-After"] = str(int(error.detail.get("seconds", 1)) + 1)
    if status == 401 and request.url.path.startswith("/api/"):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _not_valid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return _answer(request, Invalid.status, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}")


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing at this address", 405: "this address cannot be used in this way"}
    response = _answer(request, error.status_code, words.get(error.status_code, str(error.detail)))
    response.headers.update(error.headers or {})
    return response
