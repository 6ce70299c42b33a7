"""Run the server from the command line."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from discreet.errors import MissingExtraError, SourceError
from discreet.model.extras import format_missing

try:
    import uvicorn
    from sqlalchemy import Connection

    from discreet.web.app import make_app
    from discreet.web.db.store import Store
    from discreet.web.limits.connections import ConnectionLimits, bounded_protocol, parse_networks, raise_file_limit
    from discreet.web.settings import Limits, Settings
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
    published: str | None = None,
    self_approval: bool = False,
    trusted_proxies: Sequence[str] = (),
    limits: Limits | None = None,
    say: Callable[[str], None],
) -> None:
    """Run the server until it is stopped."""
    os.umask(0o077)  # files that libraries create must be private too; job processes inherit the mask
    listener = _open_listener(host, port)
    port = listener.getsockname()[1]
    url_host = f"[{host}]" if ":" in host else host
    settings = Settings.make(
        home, database, url=url or f"http://{url_host}:{port}", jobs=jobs, sources=sources, published=published,
        self_approval=self_approval, trusted_proxies=trusted_proxies, limits=limits,
    )  # fmt: skip
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
    bounds = ConnectionLimits(trusted=parse_networks(settings.trusted_proxies))
    bounds = replace(bounds, total=raise_file_limit(bounds.total))
    # uvicorn's access log would record one-time links, so the application writes its own log
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=2, server_header=False, ws="none",
        http=bounded_protocol(bounds), h11_max_incomplete_event_size=bounds.max_head_bytes,
        timeout_keep_alive=int(bounds.keep_alive_seconds),
        proxy_headers=bool(settings.trusted_proxies), forwarded_allow_ips=list(settings.trusted_proxies),
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def open_store(home: Path | None, database: str | None) -> Iterator[Store]:
    """Open the database of a data directory, for commands that run without the server."""
    store = Store.open(Settings.make(home, database))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_transaction(home: Path | None, database: str | None) -> Iterator[Connection]:
    """Open a write transaction on the database of a data directory, for commands that run without the server."""
    with open_store(home, database) as store, store.write() as connection:
        yield connection


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
