"""Bodies of requests: how large one may be, how long it may take to arrive, and how deep its JSON may be nested, per route.

Small bodies are collected here, within their limit, before the application sees the request. Uploads are passed on as they
arrive. What a refused request still sends is thrown away.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from discreet.engine.runtime.memory import format_size
from discreet.web.auth.identity import SAFE_METHODS, routed_path
from discreet.web.errors import InvalidRequest, TimedOut, TooLarge

MAX_JSON_DEPTH = 60
PIECE = 64 << 10
DRAINED_BYTES, DRAINED_SECONDS = 64 << 10, 1.0
"""What a refused request may still send, so that its client reads the refusal before the connection is closed."""
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'[]{}"\\')
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


@dataclass(frozen=True)
class BodyRule:
    """The limits of a route's request body."""

    route: str
    """A regular expression of the method and the path."""
    max_bytes: int | None
    """None: the server's limit for uploads."""
    seconds: float = 60.0
    """For the whole body, or between two pieces of an upload."""
    anonymous: bool = False
    """Whether the request may be sent without a login."""

    @property
    def streamed(self) -> bool:
        """Whether the application reads it as it arrives."""
        return self.max_bytes is None


RULES = (
    BodyRule(r"POST /(login|login/code|login/enrol|welcome/[^/]+|rescue/[^/]+)", 16 << 10, 10.0, anonymous=True),
    BodyRule(r"PUT /api/v1/projects/\d{1,9}/uploads", None),
    BodyRule(r"POST /projects/\d{1,9}/data", None),
    BodyRule(r"(PUT|PATCH) /api/v1/projects/\d+/policy|POST /projects/\d+/policy", 8 << 20),
    BodyRule(r".* /api/.*", 256 << 10),
    BodyRule(r".* /projects/\d+/.*", 4 << 20),
    BodyRule(r".*", 64 << 10),
)


def find_rule(request: Request) -> BodyRule:
    """The rule of a request: the first whose route matches."""
    return next(rule for rule in RULES if re.fullmatch(rule.route, f"{request.method} {request.scope['path']}", re.DOTALL))


def has_body(request: Request) -> bool:
    """Whether a request that may change something announces a body."""
    announced = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    return announced and request.method not in SAFE_METHODS


async def bounded_receive(request: Request, receive: Receive, rule: BodyRule, upload_limit: int) -> Receive:
    """A function that yields the body within the limits of its rule; raises before anything is read where that is possible."""
    limit = upload_limit if rule.max_bytes is None else rule.max_bytes
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    pieces = _read_pieces(receive, limit, rule.seconds, total=not rule.streamed)
    if rule.streamed:
        return _replay(pieces, receive)
    async with aclosing(pieces):
        body = b"".join([piece async for piece in pieces])
    if "json" in request.headers.get("content-type", "json" if routed_path(request).startswith("/api/") else ""):
        check_json_depth(body)
    return _replay(_split(body), receive)


def too_large(limit: int) -> TooLarge:
    """The error of a body above its limit."""
    return TooLarge(f"the request is larger than the limit of {format_size(limit) if limit >= 1e6 else f'{limit:,} bytes'}")


def check_json_depth(body: bytes) -> None:
    """Raise if JSON is nested deeper than ``MAX_JSON_DEPTH``; the text need not be valid."""
    depth = 0
    for token in _TOKENS.finditer(body if b"\\" in body else body.translate(None, _NOT_STRUCTURE)):
        first = token[0][:1]
        if first in (b"[", b"{"):
            depth += 1
            if depth > MAX_JSON_DEPTH:
                raise InvalidRequest(f"the JSON is nested more than {MAX_JSON_DEPTH} levels deep")
        elif first != b'"':
            depth -= 1


async def drain(receive: Receive) -> bool:
    """Throw away what a refused request still sends, up to a limit; whether that was all."""
    remaining = DRAINED_BYTES
    try:
        async with asyncio.timeout(DRAINED_SECONDS):
            while remaining > 0:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return False
                remaining -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    except TimeoutError:
        pass
    return False


async def _read_pieces(receive: Receive, limit: int, seconds: float, *, total: bool) -> AsyncGenerator[bytes, None]:
    """The pieces of a body; ``seconds`` hold for all of them in ``total``, otherwise for each."""
    loop = asyncio.get_running_loop()
    deadline, size, more = loop.time() + seconds, 0, True
    while more:
        try:
            async with asyncio.timeout_at(deadline if total else loop.time() + seconds):
                message = await receive()
        except TimeoutError:
            raise TimedOut(f"the request was not complete after {seconds:g} seconds; send it again") from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        more, piece = message.get("more_body", False), message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        await asyncio.sleep(0)  # large bodies are parsed on the event loop: let other requests run between two pieces
        yield piece


async def _split(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, max(len(body), 1), PIECE):
        await asyncio.sleep(0)
        yield body[start : start + PIECE]


def _replay(pieces: AsyncIterator[bytes], receive: Receive) -> Receive:
    """A receive function that sends these pieces, then waits for the client to leave."""
    finished = False

    async def receive_piece() -> Message:
        nonlocal finished
        if finished:
            return await receive()
        async for piece in pieces:
            return {"type": "http.request", "body": piece, "more_body": True}
        finished = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return receive_piece
