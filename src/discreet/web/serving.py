"""A server run from the command line."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import SourceError

try:
    import uvicorn
    from sqlalchemy import Connection

    from discreet.web.app import make_app
    from discreet.web.db.store import Store
    from discreet.web.settings import Settings
except ModuleNotFoundError as error:
    raise SourceError(f"the web application needs '{error.name}'; pip install 'discreet[web]' brings all it needs") from None


def run(
    host: str,
    port: int,
    *,
    database: str | None,
    home: Path | None,
    url: str | None,
    jobs: int,
    sources: Sequence[str] = (),
    say: Callable[[str], None],
) -> None:
    """Serve until stopped."""
    os.umask(0o077)  # what a library writes by itself is private too, in the jobs' processes as well
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    settings = Settings.make(home, database, url=url or f"http://{shown}:{port}", jobs=jobs, sources=sources)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    for noisy in ("alembic", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    app = make_app(settings)
    link = app.state.core.first_link()
    say(f"discreet is at {settings.url} (data in {settings.home}, projects in {app.state.core.store.shown}); Ctrl-C stops it")
    if link is not None:
        say(f"the administrator is 'admin' and sets a password here, once:\n{link}")
    # the access log would hold addresses, and one-time links are addresses: the application writes its own
    # and programs close idle connections after some seconds: the server must not do so at the moment a request comes
    options = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=2, timeout_keep_alive=75, server_header=False
    )
    uvicorn.Server(options).run(sockets=[listener])


@contextmanager
def changing(home: Path | None, database: str | None) -> Iterator[Connection]:
    """A transaction on the store of a data directory, for commands beside the server."""
    store = Store(Settings.make(home, database).database)
    try:
        store.migrate()
        with store.write() as connection:
            yield connection
    finally:
        store.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, because asyncio sends at once only then: else each answer waits 40 ms for an acknowledgement
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise SourceError(f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --port") from None
    return listener
