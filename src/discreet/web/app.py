"""The application: pages at /, REST at /api/v1, its page at /api/docs, health at /healthz."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.web import api, pages
from discreet.web.core import Core
from discreet.web.failures import Invalid, WebError
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.security import HEADERS, same_origin
from discreet.web.settings import Settings
from discreet.web.store import Store

log = logging.getLogger("discreet.web")


def make_app(settings: Settings) -> FastAPI:
    """An application on a database that is brought up to date; its jobs run while it does."""
    store = Store(settings.database)
    store.migrate()
    core = Core(settings, store, Supervisor(settings, store))

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
    app.middleware("http")(_guarded)
    app.add_exception_handler(DiscreetError, _told)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
    return app


def _health(request: Request) -> Response:
    core: Core = request.app.state.core
    try:
        with core.store.read() as connection:
            connection.execute(text("SELECT 1"))
    except OperationalError:
        return PlainTextResponse("the database does not answer\n", status_code=503)
    return PlainTextResponse("ok\n")


async def _guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    """Refuse what another site sent, add the headers, and log a line without anything secret: the route, not the address."""
    begun = time.perf_counter()
    core: Core = request.app.state.core
    try:
        same_origin(request, core.settings)
        response = await call(request)
    except WebError as error:
        response = _answer(request, error.status, str(error), error.detail)
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if core.settings.secure:
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if not request.url.path.startswith("/static/"):
        response.headers.setdefault("Cache-Control", "no-store")
    route = getattr(request.scope.get("route"), "path", "-")
    spent = (time.perf_counter() - begun) * 1000
    log.info("%s %s %s %.0f ms %s", request.method, route, response.status_code, spent, getattr(request.state, "who", "-"))
    return response


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


def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s failed", getattr(request.scope.get("route"), "path", "-"), exc_info=error)
    return _answer(request, 500, "an error of the program; it is in the server's log, and nothing was saved")
