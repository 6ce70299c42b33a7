"""Run the server from the command line."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import MissingExtraError, SourceError
from discreet.model.extras import format_missing

try:
    from sqlalchemy import Connection

    from discreet.web.app import make_app
    from discreet.web.backup.archive import WrittenBackup, write_backup
    from discreet.web.backup.restore import restore_backup
    from discreet.web.core import Core
    from discreet.web.db.server_lock import ServerLock
    from discreet.web.db.store import Store
    from discreet.web.limits.connections import ConnectionLimits, parse_networks
    from discreet.web.operation.logs import configure_logs
    from discreet.web.settings import Institution, Limits, Settings
    from discreet.web.workers import run_application, run_workers
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
    workers: int = 1,
    sources: Sequence[str] = (),
    published: str | None = None,
    self_approval: bool = False,
    trusted_proxies: Sequence[str] = (),
    limits: Limits | None = None,
    institution: Institution | None = None,
    say: Callable[[str], None],
) -> None:
    """Run the server until it is stopped."""
    os.umask(0o077)  # files that libraries create must be private too; job processes inherit the mask
    with _open_listener(host, port) as listener:
        port = listener.getsockname()[1]
        url_host = f"[{host}]" if ":" in host else host
        settings = Settings.make(
            home, database, url=url or f"http://{url_host}:{port}", jobs=jobs, workers=workers, sources=sources,
            published=published, self_approval=self_approval, trusted_proxies=trusted_proxies, limits=limits,
            institution=institution,
        )  # fmt: skip
        configure_logs(settings.log_format)
        lock = ServerLock.acquire(settings)  # before the database is migrated, which another server may be using
        try:
            bounds = ConnectionLimits(trusted=parse_networks(settings.trusted_proxies))
            if workers > 1:
                run_workers(settings, listener, bounds, lock, lambda core: _announce(core, say))
            else:
                app = make_app(settings, lock)
                _announce(app.state.core, say)
                run_application(app, settings, listener, bounds)
        finally:
            lock.release()


def _announce(core: Core, say: Callable[[str], None]) -> None:
    link = core.first_admin_link()
    say(
        f"discreet is at {core.settings.url} (data in {core.settings.home}, "
        f"projects in {core.store.redacted_address}); Ctrl-C stops it"
    )
    if link is not None:
        say(f"the administrator is 'admin' and sets a password here, once:\n{link}")


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


def back_up(home: Path | None, database: str | None, target: Path, passphrase: str, *, overwrite: bool) -> WrittenBackup:
    """Write a backup of a data directory and its database."""
    with open_store(home, database) as store:
        return write_backup(Settings.make(home, database), store, target, passphrase, overwrite=overwrite)


def restore_installation(home: Path | None, database: str | None, source: Path, passphrase: str) -> tuple[Path, list[str]]:
    """Restore a backup; returns the data directory, and sentences about what could not be restored."""
    settings = Settings.make(home, database)
    return settings.home, restore_backup(settings, source, passphrase)


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
