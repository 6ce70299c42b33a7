"""A server run from the command line: where it listens, and how it answers."""

from __future__ import annotations

import asyncio
import socket

import pytest

from discreet.errors import SourceError
from discreet.web import serving
from discreet.web.db.store import Store


def test_responses_are_sent_without_nagle_delay() -> None:
    async def option() -> int:
        option_value: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            option_value.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        server = await asyncio.start_server(answer, sock=serving._open_listener("127.0.0.1", 0))
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            no_delay = await asyncio.wait_for(option_value, 10)
            writer.close()
        return no_delay

    assert asyncio.run(option())


def test_a_port_in_use_is_reported() -> None:
    taken = serving._open_listener("127.0.0.1", 0)
    port = taken.getsockname()[1]
    try:
        with pytest.raises(SourceError, match=f"port {port}.*--port"):
            serving._open_listener("127.0.0.1", port)
    finally:
        taken.close()


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:"])
def test_in_memory_databases_are_refused(address: str) -> None:
    with pytest.raises(SourceError, match="lost when the server stops; name a file"):
        Store(address)
