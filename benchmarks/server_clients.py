"""Two clients of ``server_load.py``, each a process of its own: a hostile one, and a person who looks at pages only.

    python benchmarks/server_clients.py attack URL TOKEN SECONDS
    python benchmarks/server_clients.py watch URL NAME PROJECT PROCESS

The first prints what it got done, as JSON. The second asks for a page three times per second until its standard input is closed,
and prints for each page when it was asked for (seconds of the monotonic clock), how long the answer took, its status, and the
seconds of processor time that the server's process used meanwhile. Its times are not those of a process with a hundred threads.
The processor time is about the wait for an answer on a machine that does nothing else: it can be compared where one is busy.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2 as httpx
from server_load import PAGES, Person

WATCH_SECONDS = 0.3


@dataclass
class Hostile:
    """A hostile client: what it tries until a time, from an address of its own; counts what it got done."""

    url: str
    token: str
    """Of the user who floods."""
    until: float
    address: str = "127.0.0.2"
    done: Counter[str] = field(default_factory=Counter)

    def work(self) -> None:
        """Work until the time is over, in threads: 4 for sockets, 2 for bodies, 8 for guesses, 12 for the flood."""
        acts = [*[self._hold_sockets] * 4, *[self._send_bodies] * 2, *[self._guess] * 8, *[self._flood] * 12]
        threads = [threading.Thread(target=self._repeat, args=(act,), daemon=True) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, self.until + 15 - time.monotonic()))  # 15 seconds for all of them together

    def _repeat(self, act: Callable[[], None]) -> None:
        while time.monotonic() < self.until:
            try:
                act()
            except (OSError, httpx.HTTPError):
                self.done["refused connections"] += 1
                time.sleep(0.05)

    def _connect(self) -> socket.socket:
        parts = urlsplit(self.url)
        return socket.create_connection((parts.hostname, parts.port), timeout=10, source_address=(self.address, 0))

    def _hold_sockets(self) -> None:
        """275 sockets at a time: half of them say nothing, the others begin a request and do not go on."""
        held: list[socket.socket] = []
        try:
            for number in range(275):
                held.append(self._connect())
                if number % 2:
                    held[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                self.done["half-open sockets"] += 1
                time.sleep(0.01)
            time.sleep(3)
        finally:
            for opened in held:
                opened.close()

    def _send_bodies(self) -> None:
        """Twenty megabytes of brackets, without a login."""
        with self._connect() as opened:
            head = (
                "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20000000\r\n\r\n"
            )
            opened.sendall(head.encode())
            self.done["large bodies"] += 1
            for _ in range(200):
                opened.sendall(b"[" * 100_000)
        time.sleep(0.1)

    def _guess(self) -> None:
        with httpx.Client(base_url=self.url, trust_env=False, timeout=30, transport=self._transport()) as client:
            client.post("/login", data={"name": "person 0", "password": f"guess {random.random()}"})
            self.done["guesses"] += 1

    def _flood(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(
            base_url=f"{self.url}/api/v1", headers=headers, trust_env=False, timeout=30, transport=self._transport()
        ) as client:
            project = client.post("/projects", json={"name": f"Flood {random.random()}"}).json().get("id", 1)
            for _ in range(20):
                client.get("/projects")
                client.post(f"/projects/{project}/jobs", json={"kind": "analyze", "parameters": {}})
                client.get(f"/projects/{project}/releases/1/table", params={"format": "xlsx"})
                self.done["requests of the flood"] += 3

    def _transport(self) -> httpx.HTTPTransport:
        return httpx.HTTPTransport(local_address=self.address)


def attack(url: str, token: str, seconds: float) -> None:
    """The hostile process: prints what it got done."""
    os.nice(15)
    enemy = Hostile(url, token, time.monotonic() + seconds)
    enemy.work()
    print(json.dumps(dict(enemy.done)), flush=True)
    os._exit(0)  # threads that still wait for an answer are not waited for


def watch(url: str, name: str, project: str, process: int) -> None:
    """The person who looks at pages only: prints when each page was asked for, how long it took, and what the server used."""
    server_clock = (~process << 3) | 2  # the processor time of another process, as clock_getcpuclockid(3) names it on Linux
    person = Person(url)
    person.log_in(name)
    pages: list[tuple[float, float, int, float]] = []
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.wait(WATCH_SECONDS):
        started, used = time.monotonic(), time.clock_gettime(server_clock)
        response = person.http.get(random.choice(PAGES).format(id=project))
        seconds, used = time.monotonic() - started, time.clock_gettime(server_clock) - used
        pages.append((started, seconds, response.status_code, used))
    print(json.dumps(pages), flush=True)


def main() -> None:
    """Run one of the clients."""
    if sys.argv[1] == "attack":
        attack(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        watch(*sys.argv[2:5], int(sys.argv[5]))


if __name__ == "__main__":
    main()
