"""Run the server from the command line."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import MissingExtraError, SourceError
from discreet.model.extras import format_missing

try:
    import uvicorn
    from sqlalchemy import Connection

    from discreet.web.app import make_app
    from discreet.web.db.store import Store
    from discreet.web.settings import Settings
except ModuleNotFoundError as error:
    raise MissingExtraError(format_missing("the web application", str(error.name), "web")) from None


def run_server(
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
    """Run the server until it is stopped."""
    os.umask(0o077)  # files that libraries create must be private too; job processes inherit the mask
    listener = _open_listener(host, port)
    port = listener.getsockname()[1]
    url_host = f"[{host}]" if ":" in host else host
    settings = Settings.make(home, database, url=url or f"http://{url_host}:{port}", jobs=jobs, sources=sources)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    for noisy in ("alembic", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    app = make_app(settings)
    link = app.state.core.first_admin_link()
    say(
        f"discreet is at {settings.url} (data in {settings.home}, "
        f"projects in {app.state.core.store.redacted_address}); Ctrl-C stops it"
    )
    if link is not None:
        say(f"the administrator is 'admin' and sets a password here, once:\n{link}")
    # uvicorn's access log would record one-time links, so the application writes its own log.
    # The keep-alive time is longer than that of usual clients, so that the server never closes a connection just as a
    # request arrives on it.
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=2, timeout_keep_alive=75, server_header=False
    )
    uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def open_transaction(home: Path | None, database: str | None) -> Iterator[Connection]:
    """Open a write transaction on the database of a data directory, for commands that run without the server."""
    store = Store(Settings.make(home, database).database)
    try:
        store.migrate()
        with store.write() as connection:
            yield connection
    finally:
        store.close()


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # IPPROTO_TCP is explicit because asyncio sets TCP_NODELAY only then; otherwise each response waits 40 ms for an ACK
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise SourceError(f"cannot listen on {host} port {port}: {error.strerror or error}; choose another with --port") from None
    return listener
