"""Connections: how many there may be, and how long one may take to send a request or to read a response.

uvicorn alone waits for ever for the head of a request, so that a thousand sockets that say nothing stop it. Here a connection
whose request head does not arrive in time is closed, and so is one that does not read its response. Where an address or the
server has too many connections, the oldest one without a request in progress makes room, of the address that has most of them;
a new connection is refused only where all others are at work.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import resource
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.web.limits.allowances import Allowances
from discreet.web.limits.networks import network_of
from discreet.web.limits.shared_counts import SharedCounts

OTHER_FILES = 200
"""File descriptors kept for the database, job pipes, uploads and downloads."""
UNUSED = (400, 20.0)
"""Connections without any request that an address may open at once, and per second in the long run."""
MAX_REFUSED_AT_ONCE = 200
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of one server."""

    total: int = 1000
    per_address: int = 200
    head_seconds: float = 10.0
    """Seconds from the first byte of a request, or from the opening of a connection, until its head is complete."""
    keep_alive_seconds: float = 75.0
    """Longer than usual clients, so that the server never closes a connection just as a request arrives on it."""
    unread_seconds: float = 60.0
    """Seconds for which a client may leave a response unread."""
    max_head_bytes: int = 64 << 10
    trusted: tuple[Network, ...] = ()
    """Proxies, whose connections belong to many people: only the limit in total applies to them."""


@dataclass
class OpenConnections:
    """The open connections of a server, by address (of IPv6: by network), in the order in which they were opened."""

    limits: ConnectionLimits
    counts: SharedCounts | None = None
    """Of several web processes: the limit of an address holds for all together, the total for each process and its files."""
    by_address: dict[str, dict[BoundedProtocol, None]] = field(default_factory=dict)
    count: int = 0
    unused: Allowances = field(default_factory=lambda: Allowances(*UNUSED))

    def may_open(self, address: str) -> bool:
        """Whether an address may open a connection: not where it has opened many, one after the other, without a request."""
        return self.unused.spend(network_of(address)) or self._is_trusted(address)

    def note_use(self, address: str) -> None:
        """A connection has made a request: it does not count as one that says nothing."""
        self.unused.give_back(network_of(address))

    def admit(self, protocol: BoundedProtocol, address: str) -> bool:
        """Register a connection, closing an idle one if there are too many; False if there is no room."""
        is_trusted, address = self._is_trusted(address), network_of(address)
        peers = self.by_address.setdefault(address, {})
        elsewhere = 0 if self.counts is None else self.counts.elsewhere(("connection", address))
        is_full = len(peers) + elsewhere >= self.limits.per_address
        if is_full and not is_trusted and not self._close_idle(address):
            self._forget_if_empty(address)
            return False
        if self.count >= self.limits.total and not self._close_idle_anywhere():
            self._forget_if_empty(address)
            return False
        peers = self.by_address.setdefault(address, {})
        peers[protocol] = None
        self._count(address, 1)
        return True

    def remove(self, protocol: BoundedProtocol, address: str) -> None:
        """Forget a closed connection."""
        address = network_of(address)
        peers = self.by_address.get(address, {})
        if protocol in peers:
            del peers[protocol]
            self._count(address, -1)
            self._forget_if_empty(address)

    def _count(self, address: str, difference: int) -> None:
        self.count += difference
        if self.counts is not None:
            self.counts.add(("connection", address), difference)

    def _forget_if_empty(self, address: str) -> None:
        if not self.by_address.get(address, True):
            del self.by_address[address]

    def _close_idle(self, address: str) -> bool:
        idle = next((protocol for protocol in self.by_address.get(address, {}) if protocol.is_idle), None)
        if idle is None:
            return False
        idle.abort()
        self.remove(idle, address)
        return True

    def _close_idle_anywhere(self) -> bool:
        largest_first = sorted(self.by_address, key=lambda address: len(self.by_address[address]), reverse=True)
        return any(self._close_idle(address) for address in largest_first)

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self.limits.trusted)


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with timeouts for the head of a request and for unread responses, and with admission."""

    open_connections: OpenConnections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._is_unused = True
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        if not self.open_connections.admit(self, self._address):
            self.abort()
            return
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open_connections.remove(self, self._address)
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_idle and self._head_timer is None:  # the first bytes of a further request on this connection
            self._start_head_timer()
        super().data_received(data)
        if not self.is_idle:
            self._stop_head_timer()
            if self._is_unused:
                self._is_unused = False
                self.open_connections.note_use(self._address)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.is_idle and self.conn.trailing_data[0]:  # part of the next request has arrived already
            self._start_head_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.open_connections.limits.unread_seconds, self.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_write_timer()

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress: none was made, or the last one was answered."""
        return self.cycle is None or self.cycle.response_complete

    def abort(self) -> None:
        """Close the connection now, without waiting for anything."""
        if self.transport is not None:
            self.transport.abort()

    def _start_head_timer(self) -> None:
        self._stop_head_timer()
        self._head_timer = self.loop.call_later(self.open_connections.limits.head_seconds, self.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class BoundedListener(socket.socket):
    """A listening socket that closes the connections of an address which opens too many, before they cost anything.

    asyncio spends half a millisecond on each connection, so a few hundred per second would slow everybody down.
    """

    def __init__(self, listener: socket.socket, connections: OpenConnections) -> None:
        super().__init__(listener.family, listener.type, listener.proto, fileno=os.dup(listener.fileno()))
        self.connections = connections

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that may be open; raises BlockingIOError if none waits, or after many refusals."""
        for _ in range(MAX_REFUSED_AT_ONCE):
            connection, address = super().accept()
            if self.connections.may_open(address[0]):
                return connection, address
            connection.close()
        raise BlockingIOError


def bounded_protocol(connections: OpenConnections) -> type[Any]:
    """The protocol class of one server, whose connections are counted together."""
    return type("ServerProtocol", (BoundedProtocol,), {"open_connections": connections})


def raise_file_limit(connections: int) -> int:
    """Raise the process's limit of open files as far as it is allowed; returns how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == resource.RLIM_INFINITY else max(16, min(connections, soft - OTHER_FILES))


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks such as 10.0.0.7 and 10.0.0.0/24; raises ValueError for anything else."""
    return tuple(ipaddress.ip_network(text.strip(), strict=False) for text in texts)
