"""Addresses under the path of the public URL, such as ``/discreet`` of ``https://host/discreet``.

Inside the application every address starts at its root: routes, redirects, ``next`` parameters and the links of templates.
The path of the public URL is taken off and put on in this module alone: :class:`PublicPath` takes it off incoming requests and
puts it on redirects, :class:`LinkExtension` puts it on the links of templates while they are compiled. So a proxy may hand over
the whole path or the rest of it; both reach the same page.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment
from jinja2.ext import Extension
from markupsafe import Markup, escape
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import SourceError

LINK_ATTRIBUTES = (
    "href",
    "src",
    "srcset",
    "action",
    "formaction",
    "data-events",
    "data-upload",
    "data-follow",
    "data-here",
    "data-href",
    "data-address",
)
"""Attributes of templates that hold an address of this server. A script gets its addresses from such an attribute."""
_ATTRIBUTE = "|".join(map(re.escape, LINK_ATTRIBUTES))
_LINK = re.compile(rf"""(?<![\w-])({_ATTRIBUTE})=(["'])(?:/(?!/)|\{{\{{-?\s*((?:[^}}]|\}}(?!\}}))*?)\s*-?\}}\}})""")
"""A link attribute up to the first character of a literal address, or up to the end of the expression that it begins with."""

_public_path: ContextVar[str] = ContextVar("public_path", default="")


def check_public_url(url: str) -> str:
    """The public URL without a trailing slash; raises unless it is http or https with a host and at most a plain path."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    plain_path = re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", parts.path) and not {".", ".."} & set(parts.path.split("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise SourceError(
            f"the public address must be http or https with a host and at most a path, as in https://host/discreet, not '{url}'"
        )
    if not plain_path:
        raise SourceError(
            f"the path of the public address may hold letters, digits and - . _ ~ only, as in https://host/discreet, not '{url}'"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def public_address(address: str) -> str:
    """An address of this server as browsers know it: with the path of the public URL before it."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return f"{_public_path.get()}{address}" if is_local else address


def _link(address: str | Markup) -> Markup:
    is_local = public_address(str(address)) != str(address)
    return escape(_public_path.get() if is_local else "") + escape(address)  # what a macro has escaped is not escaped again


class PublicPath:
    """Middleware around everything else: requests lose the public path, redirects get it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self.path:
            await self.app(scope, receive, send)
            return

        async def send_public_location(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if (location := headers.get("location")) is not None:
                    headers["location"] = public_address(location)
            await send(message)

        token = _public_path.set(self.path)
        try:
            await self.app(self._without_path(scope), receive, send_public_location)
        finally:
            _public_path.reset(token)

    def _without_path(self, scope: Scope) -> Scope:
        path = scope["path"]
        if path != self.path and not path.startswith(f"{self.path}/"):
            return scope  # a proxy, or a health check on this machine, asks without it
        raw_path = scope.get("raw_path")
        rest: dict[str, Any] = {"path": path[len(self.path) :] or "/"}
        if raw_path is not None:
            rest["raw_path"] = raw_path.removeprefix(self.path.encode()) or b"/"
        return {**scope, **rest}


class LinkExtension(Extension):
    """Jinja extension: the addresses in the link attributes of a template get the public path when the page is rendered.

    Only the source of templates is changed, never their output, so that values from data stay as they are.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.globals["public_path"] = _public_path.get
        environment.filters["public_address"] = _link

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The source with the public path in its links."""
        return _LINK.sub(_add_public_path, source)


def _add_public_path(link: re.Match[str]) -> str:
    name, quote, expression = link.groups()
    return f"{name}={quote}" + ("{{ public_path() }}/" if expression is None else f"{{{{ ({expression}) | public_address }}}}")
