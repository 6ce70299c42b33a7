"""A server run from the command line: where it listens, and how it answers."""

from __future__ import annotations

import asyncio
import socket

import pytest

from discreet.errors import SourceError
from discreet.web import serving
from discreet.web.db.store import Store


def test_answers_do_not_wait_for_acknowledgements() -> None:
    async def option() -> int:
        asked: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        server = await asyncio.start_server(answer, sock=serving._listen("127.0.0.1", 0))
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            found = await asyncio.wait_for(asked, 10)
            writer.close()
        return found

    assert asyncio.run(option())


def test_a_port_that_is_taken_is_told() -> None:
    taken = serving._listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    try:
        with pytest.raises(SourceError, match=f"port {port}.*--port"):
            serving._listen("127.0.0.1", port)
    finally:
        taken.close()


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:"])
def test_projects_are_not_kept_in_memory(address: str) -> None:
    with pytest.raises(SourceError, match="gone with the server; name a file"):
        Store(address)
