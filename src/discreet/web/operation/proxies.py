"""Headers of trusted proxies: who sends a request, by which scheme, and under which id."""

from __future__ import annotations

from typing import Any, cast

from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from discreet.web.operation.request_ids import ProxyRequestIds
from discreet.web.settings import Settings


def trust_proxies(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The application behind middleware that believes the headers of trusted proxies, and of nobody else."""
    if not settings.trusted_proxies:
        return app
    # uvicorn types the same protocol in more detail than Starlette
    forwarded = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(settings.trusted_proxies))
    return ProxyRequestIds(cast("Any", forwarded), settings.trusted_proxies)  # outermost, so that it sees the proxy's own address
