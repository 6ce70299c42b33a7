"""Processes that answer requests: one, or several with one process that starts them and runs the jobs.

The processes share the listening socket, the database and a few counts; a person may talk to another one with every request. The
process that started them supervises the jobs, restarts one that ends, and ends them all when it is stopped. If it is killed, they
notice and end.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

import uvicorn
from fastapi import FastAPI

from discreet.errors import DiscreetError, SourceError
from discreet.web.app import make_app
from discreet.web.core import Core
from discreet.web.db.server_lock import ServerLock
from discreet.web.db.store import Store
from discreet.web.jobs.events import Watcher
from discreet.web.jobs.remote_supervisor import RemoteSupervisor
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.limits.connections import BoundedListener, ConnectionLimits, OpenConnections, bounded_protocol, raise_file_limit
from discreet.web.limits.shared_counts import SharedCounts
from discreet.web.operation.logs import configure_logs
from discreet.web.operation.proxies import trust_proxies
from discreet.web.settings import Settings

log = logging.getLogger("discreet.web")
SWITCH_SECONDS = 0.001
"""Seconds for which a thread may keep the interpreter while others wait. A page gives it up at every query and waits for it
afterwards, each time up to Python's 5 ms beside a request that computes; shorter waits cost hardly more switches."""
STOP_SECONDS = 10.0
"""Seconds that a process has to end when it is asked to."""
YOUNG_SECONDS, MAX_YOUNG_ENDS = 10.0, 5
"""A process that ends this young counts as one that cannot start; after so many in a row the server gives up."""


def run_application(
    app: FastAPI, settings: Settings, listener: socket.socket, bounds: ConnectionLimits, parent: Connection | None = None
) -> None:
    """Answer requests until the process is stopped, or until the process at the other end of ``parent`` is gone."""
    connections = OpenConnections(replace(bounds, total=raise_file_limit(bounds.total)), app.state.core.counts)
    sys.setswitchinterval(SWITCH_SECONDS)
    # uvicorn's access log would record one-time links, so the application writes its own log
    config = uvicorn.Config(
        trust_proxies(app, settings),
        access_log=False, log_level="warning", timeout_graceful_shutdown=2, server_header=False, ws="none",
        http=bounded_protocol(connections), h11_max_incomplete_event_size=bounds.max_head_bytes,
        loop="asyncio",  # other loops accept connections by themselves, past the listener below
        timeout_keep_alive=int(bounds.keep_alive_seconds),
        proxy_headers=False,  # trust_proxies does it
        log_config=None,  # what uvicorn has to say goes to the server's own log
    )  # fmt: skip
    server = uvicorn.Server(config)
    if parent is not None:
        threading.Thread(target=_stop_with_parent, args=(parent, server), daemon=True).start()
    server.run(sockets=[BoundedListener(listener, connections)])


def _stop_with_parent(parent: Connection, server: uvicorn.Server) -> None:
    with contextlib.suppress(EOFError, OSError):
        parent.recv_bytes()  # nothing is ever sent: it returns when the other end is closed
    server.should_exit = True


def _answer_requests(
    settings: Settings, listener: socket.socket, bounds: ConnectionLimits, parent: Connection, counts: SharedCounts
) -> None:
    """The whole of a web process."""
    configure_logs(settings.log_format)
    try:
        app = make_app(settings, supervisor=RemoteSupervisor(parent), counts=counts)
    except DiscreetError as error:
        log.error("a web process cannot start: %s", error)
        raise SystemExit(2) from None
    run_application(app, settings, listener, bounds, parent)


@dataclass
class _Worker:
    process: SpawnProcess
    link: Connection
    counts: SharedCounts
    started: float

    def end(self) -> None:
        self.link.close()
        self.counts.clear()


def run_workers(
    settings: Settings, listener: socket.socket, bounds: ConnectionLimits, lock: ServerLock, announce: Callable[[Core], None]
) -> None:
    """Start the web processes and run the jobs until this process is stopped."""
    store = Store.open(settings)
    supervisor = Supervisor(settings, store, lock)
    context = multiprocessing.get_context("spawn")
    counts = SharedCounts.create(context, settings.workers, secrets.token_bytes(16))

    def start(number: int) -> _Worker:
        own_end, their_end = context.Pipe()
        own_counts = counts.of_process(number)
        process = context.Process(
            target=_answer_requests, args=(settings, listener, bounds, their_end, own_counts), name=f"discreet-web-{number + 1}"
        )
        process.start()
        their_end.close()
        return _Worker(process, own_end, own_counts, time.monotonic())

    try:
        announce(Core(settings, store, supervisor, Watcher(store)))
        supervisor.start()
        with _stop_requests() as stop_requested:
            workers = [start(number) for number in range(settings.workers)]
            try:
                _keep_running(workers, start, supervisor, stop_requested)
            finally:
                _stop(workers)
    finally:
        supervisor.stop()
        store.close()


def _keep_running(workers: list[_Worker], start: Callable[[int], _Worker], supervisor: Supervisor, stop_requested: int) -> None:
    young_ends = 0
    while True:
        links = {worker.link: worker for worker in workers if not worker.link.closed}
        sentinels = {worker.process.sentinel: number for number, worker in enumerate(workers)}
        ready: list[Any] = wait([stop_requested, *links, *sentinels])
        if stop_requested in ready:
            return
        for link in [item for item in ready if item in links]:
            try:
                link.recv_bytes(16)
                supervisor.wake()
            except (EOFError, OSError):
                link.close()
        for number in [sentinels[item] for item in ready if item in sentinels]:
            ended = workers[number]
            young_ends = young_ends + 1 if time.monotonic() - ended.started < YOUNG_SECONDS else 0
            if young_ends >= MAX_YOUNG_ENDS:
                raise SourceError("the processes that answer requests end as soon as they start; the log above says why")
            log.warning("web process %d ended with %s and is started again", number + 1, ended.process.exitcode)
            ended.end()
            workers[number] = start(number)


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for worker in workers:
        worker.process.join(max(0.1, deadline - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.end()


@contextlib.contextmanager
def _stop_requests() -> Iterator[int]:
    """A pipe that becomes readable when this process is asked to stop by Ctrl-C or by SIGTERM."""
    readable, writable = os.pipe()
    previous = {number: signal.signal(number, lambda *_: os.write(writable, b"!")) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield readable
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        os.close(readable)
        os.close(writable)
