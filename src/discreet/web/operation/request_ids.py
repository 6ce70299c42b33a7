"""An id for every request: in the log, in the answer's header X-Request-ID, on error pages and with jobs that it submits."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "X-Request-ID"
SCOPE_KEY = "discreet.request_id"
_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


class ProxyRequestIds:
    """Middleware that takes over the id that a trusted proxy gave a request; it must see the proxy's own address.

    From anybody else the header is ignored: otherwise strangers could write what they like into the log, or the ids of others.
    """

    def __init__(self, app: ASGIApp, trusted: Sequence[str]) -> None:
        self.app = app
        self.networks = [ipaddress.ip_network(text, strict=False) for text in trusted]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_trusted(scope.get("client")):
            sent = Headers(scope=scope).get(HEADER, "")
            if _ACCEPTED.fullmatch(sent):
                scope[SCOPE_KEY] = sent
        await self.app(scope, receive, send)

    def _is_trusted(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        return any(address in network for network in self.networks)


def request_id_of(scope: Scope) -> str:
    """The id of a request: the proxy's, or a new one."""
    return str(scope.setdefault(SCOPE_KEY, secrets.token_hex(8)))
