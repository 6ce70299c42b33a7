"""The address /metrics: for whoever has the token of the metrics, and otherwise as if it did not exist."""

from __future__ import annotations

import hmac

from fastapi import Request, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import PlainTextResponse

from discreet.web.core import get_core
from discreet.web.errors import NotFound
from discreet.web.operation.gauges import read_gauges

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def show_metrics(request: Request) -> Response:
    """All metrics as text."""
    core = get_core(request)
    if core.settings.metrics_token is None:
        raise NotFound("page not found")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), core.settings.metrics_token.encode()):
        message = "the metrics need the header 'Authorization: Bearer TOKEN' with the server's metrics token\n"
        return PlainTextResponse(message, status_code=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        gauges = read_gauges(core)
    except SQLAlchemyError:
        gauges = []  # the counters, among them errors of the database, are needed most now
    return PlainTextResponse(core.metrics.format_all(gauges), media_type=CONTENT_TYPE)
