"""The application: pages at /, REST at /api/v1, documentation of the REST interface at /api/docs, health at /healthz."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.model.extras import require_libraries
from discreet.web import api
from discreet.web.addresses import PublicPath
from discreet.web.api.job_schema import describe_jobs
from discreet.web.auth.identity import routed_path
from discreet.web.auth.kept_forms import read_form
from discreet.web.auth.security import SECURITY_HEADERS, SECURITY_SCHEMES, check_same_origin
from discreet.web.core import Core
from discreet.web.db.server_lock import ServerLock
from discreet.web.db.store import Store
from discreet.web.errors import InvalidRequest, WebError
from discreet.web.jobs.events import Watcher
from discreet.web.jobs.remote_supervisor import RemoteSupervisor
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.limits.admission import Admission
from discreet.web.limits.bodies import drain, has_body
from discreet.web.limits.shared_counts import SharedCounts
from discreet.web.operation.logs import current_request_id
from discreet.web.operation.metrics import METHODS, Metrics
from discreet.web.operation.request_ids import HEADER, request_id_of
from discreet.web.operation.scraping import show_metrics
from discreet.web.pages import routes
from discreet.web.pages.rendering import error_page
from discreet.web.route_index import RouteIndex
from discreet.web.settings import Settings

if TYPE_CHECKING:
    from discreet.web.auth.sso.provider import Provider

log = logging.getLogger("discreet.web")
COUNTS_SECONDS = 0.5
"""How long after a request its process writes its counts for the metrics of all processes."""


def make_app(
    settings: Settings,
    lock: ServerLock | None = None,
    supervisor: RemoteSupervisor | None = None,
    counts: SharedCounts | None = None,
) -> FastAPI:
    """Create the application and migrate its database; the job supervisor runs for as long as the application.

    ``lock`` is the server's, where it has taken it already. One of several web processes has a ``supervisor`` that stands for the
    process which runs the jobs, and shares its ``counts`` with the others.
    """
    store = Store.open(settings)
    metrics = Metrics(settings.home if settings.metrics_token is not None else None)
    store.count_errors(metrics.count_database_error)
    core = Core(
        settings,
        store,
        supervisor or Supervisor(settings, store, lock),
        Watcher(store),
        counts,
        _make_provider(settings),
        metrics,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        core.supervisor.start()
        try:
            yield
        finally:
            await run_in_threadpool(core.supervisor.stop)
            metrics.close()
            store.close()

    app = FastAPI(
        title="discreet",
        version=__version__,
        description="Risk, masking and release of confidential microdata.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        servers=[{"url": settings.path}] if settings.path else None,
        redirect_slashes=False,  # such redirects would name the host of the request, not the public one
    )
    app.state.core = core
    _document_security(app)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.router.routes.extend([*api.router.routes, *routes.router.routes])
    app.add_api_route("/healthz", _health, include_in_schema=False)
    app.add_api_route("/metrics", show_metrics, include_in_schema=False)
    app.router.middleware_stack = RouteIndex(app.router.routes, app.router.middleware_stack)
    app.add_middleware(RequestGuard, core=core)
    app.add_middleware(PublicPath, path=settings.path)  # added last, so it is around the others
    app.add_exception_handler(DiscreetError, _handle_discreet_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_http_error)
    return app


def _document_security(app: FastAPI) -> None:
    """Let the OpenAPI document say how to authenticate and what each kind of job takes, so that a generated client can work."""
    describe = app.openapi

    def describe_with_security() -> dict[str, Any]:
        document = describe()
        document.setdefault("components", {})["securitySchemes"] = SECURITY_SCHEMES
        describe_jobs(document)
        document["security"] = [{name: []} for name in SECURITY_SCHEMES]
        return document

    app.openapi = describe_with_security  # type: ignore[method-assign]


def _make_provider(settings: Settings) -> Provider | None:
    if settings.oidc is None:
        return None
    require_libraries("single sign-on", "authlib", "joserfc", extra="sso")
    from discreet.web.auth.sso.provider import Provider

    return Provider(settings.oidc, f"{settings.url}/login/oidc/callback")


def _health(request: Request) -> Response:
    core: Core = request.app.state.core
    try:
        with core.store.read() as connection:
            connection.execute(text("SELECT 1"))
    except (OperationalError, TimeoutError):
        return PlainTextResponse("the database does not respond\n", status_code=503)
    return PlainTextResponse("ok\n")


class RequestGuard:
    """Middleware around every request: refuses what is cross-site, too large or not authenticated; adds security headers.

    An unexpected error is answered with 500, a request that its client broke off is not answered.

    Logs one line per request. The line holds the route template, not the address, because addresses can hold secrets.
    """

    def __init__(self, app: ASGIApp, core: Core) -> None:
        self.app = app
        self.core = core
        self.admission = Admission(core)
        self._writing_counts = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        request_id = request_id_of(scope)
        current_request_id.set(request_id)
        started, status, seconds = time.perf_counter(), 0, 0.0

        async def send_with_headers(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.perf_counter() - started
                self._add_headers(request, MutableHeaders(scope=message))
            await send(message)

        refused: WebError | None = None
        try:
            check_same_origin(request, self.core.settings)
            async with self.admission.admit(request, receive) as admitted:
                await self.app(scope, admitted.receive, admitted.watch_start(send_with_headers))
        except WebError as error:
            refused = error
        except ClientDisconnect:
            status = 499  # the client left before its request was complete; nobody reads an answer
        except Exception as error:  # the server must survive any error in a handler
            log.error("%s failed", _route_template(request), exc_info=error)
            if not status:
                message = f"internal error; the details are in the server's log under {request_id}, and nothing was saved"
                await _error_response(request, 500, message)(scope, receive, send_with_headers)
        if refused is not None and not status:
            await _refuse(Request(scope, receive), refused, send_with_headers)
        self._log(request, status, time.perf_counter() - started)
        self.core.metrics.count_request(request.method, _route_template(request), status, seconds)
        self._write_counts_soon()

    def _log(self, request: Request, status: int, seconds: float) -> None:
        method = request.method if request.method in METHODS else "other"
        route = _route_template(request)
        user_id = _user_id(request)
        fields = {
            "request_id": request_id_of(request.scope), "user_id": user_id, "method": method, "route": route,
            "status": status, "duration_ms": round(seconds * 1000, 1),
        }  # fmt: skip
        log.info(
            "%s %s %s %.0f ms %s",
            method,
            route,
            status,
            seconds * 1000,
            "-" if user_id is None else f"user {user_id}",
            extra=fields,
        )

    def _write_counts_soon(self) -> None:
        """Write the counts for the other processes after a moment, so that many requests cost one write."""
        if self._writing_counts:
            return
        self._writing_counts = True
        asyncio.get_running_loop().call_later(COUNTS_SECONDS, self._write_counts)

    def _write_counts(self) -> None:
        self._writing_counts = False
        self.core.metrics.write_counts()

    def _add_headers(self, request: Request, headers: MutableHeaders) -> None:
        for name, value in SECURITY_HEADERS.items():
            headers.setdefault(name, value)
        headers[HEADER] = request_id_of(request.scope)
        if self.core.settings.secure:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        if not routed_path(request).startswith("/static/"):
            headers.setdefault("Cache-Control", "no-store")


async def _refuse(request: Request, refused: WebError, send: Send) -> None:
    """Answer a request that was refused before it was read; a short form is kept over the login, all else is thrown away."""
    complete, receive = False, request.receive

    async def watch_end() -> Message:
        nonlocal complete
        message = await receive()
        complete = message["type"] == "http.request" and not message.get("more_body", False)
        return message

    response = await _handle_discreet_error(Request(request.scope, watch_end), refused)
    if has_body(request) and not complete and not await drain(receive):
        response.headers["Connection"] = "close"
    await response(request.scope, receive, send)


def _user_id(request: Request) -> int | None:
    identity = getattr(request.state, "identity", None)
    return None if identity is None or identity.access is None else int(identity.access.user.id)


def _route_template(request: Request) -> str:
    """The template of the request's route."""
    if routed_path(request).startswith("/static/"):
        return "/static"
    return str(getattr(request.scope.get("route"), "path", "-"))


def _error_response(request: Request, status: int, message: str, detail: dict[str, object] | None = None) -> Response:
    """An error response: JSON under /api/, otherwise an HTML page."""
    if routed_path(request).startswith("/api/"):
        return JSONResponse({"status": status, "message": message, "detail": detail or {}}, status_code=status)
    return error_page(request, status, message, detail or {})


async def _handle_discreet_error(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, WebError) else 422
    if status == 401 and request.method == "POST" and not routed_path(request).startswith("/api/"):
        request.state.kept_form = await read_form(request)
    response = _error_response(request, status, str(error), getattr(error, "detail", {}))
    if status == 429 and isinstance(error, WebError):
        response.headers["Retry-After"] = str(int(error.detail.get("seconds", 1)) + 1)
    if status == 401 and routed_path(request).startswith("/api/"):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    location = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return _error_response(request, InvalidRequest.status, f"{location}: {first['msg'][:1].lower()}{first['msg'][1:]}")


def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "page not found", 405: "method not allowed for this address"}
    response = _error_response(request, error.status_code, messages.get(error.status_code, str(error.detail)))
    response.headers.update(error.headers or {})
    return response
