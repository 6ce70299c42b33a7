"""What somebody without an account, or with a bad connection, can do to a real server: little, and nobody else notices."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from patience import patient, wait_until

from discreet.web.limits.connections import ConnectionLimits

HOSTILE = "127.0.0.2"
"""Another address of the loopback, from which strangers connect."""


@pytest.fixture(scope="module")
def guarded(run_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with run_server(tmp_path_factory.mktemp("strangers"), "--host", "0.0.0.0") as server:
        yield server


@contextmanager
def connection(server: Any, address: str = HOSTILE, seconds: float = 30) -> Iterator[socket.socket]:
    """A bare connection from an address of the loopback."""
    port = urlsplit(server.url).port
    with socket.create_connection(("127.0.0.1", port), timeout=patient(seconds), source_address=(address, 0)) as opened:
        yield opened


def local(server: Any) -> str:
    return f"http://127.0.0.1:{urlsplit(server.url).port}"


def server_process(server: Any) -> psutil.Process:
    """The process of a server that this test run has started."""
    port = urlsplit(server.url).port
    for process in psutil.Process().children():
        if any(listening.laddr.port == port for listening in process.net_connections() if listening.status == "LISTEN"):
            return process
    raise AssertionError("the server is not running")


def send_head(opened: socket.socket, head: str) -> None:
    opened.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")


@pytest.mark.trust("Nobody in", "The body of a request is not read before its sender is known")
@pytest.mark.parametrize("path", ["/api/v1/projects", "/api/v1/tokens", "/projects/1/data", "/projects/1/attributes", "/login"])
def test_a_large_body_of_a_stranger_is_refused_unread(guarded: Any, path: str) -> None:
    before = server_process(guarded).memory_info().rss
    with connection(guarded) as opened:
        send_head(opened, f"POST {path} HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 200000000")
        sent = 0
        try:
            while sent < 20_000_000:
                sent += opened.send(b"[" * 100_000)
        except OSError:
            pass
        assert sent < 8_000_000, "the server does not take it"
    with connection(guarded) as opened:
        send_head(opened, f"POST {path} HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: 200000000")
        status = int(opened.recv(1000).split()[1])
    assert status == (413 if path == "/login" else 401 if path.startswith("/api") else 303)
    assert server_process(guarded).memory_info().rss - before < 50e6
    assert httpx2.get(f"{local(guarded)}/healthz", timeout=patient(5)).status_code == 200


@pytest.mark.trust("Nobody in", "Sockets that say nothing do not stop the server")
def test_half_open_connections_do_not_stop_the_server(guarded: Any) -> None:
    with ExitStack() as stack:
        for number in range(1100):
            try:
                opened = stack.enter_context(connection(guarded))
                if number % 2:
                    opened.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            except OSError:
                continue  # refused, which is as good
        for _ in range(3):
            started = time.monotonic()
            assert httpx2.get(f"{local(guarded)}/healthz", timeout=patient(10)).status_code == 200
            assert time.monotonic() - started < patient(5)
        assert server_process(guarded).num_fds() < ConnectionLimits().per_address + 100


def test_a_head_that_does_not_arrive_and_a_form_that_arrives_slowly_end_their_connections(guarded: Any) -> None:
    limit = ConnectionLimits().head_seconds
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(wait_for_end_of_head, guarded)
        assert send_form_slowly(guarded).startswith(b"HTTP/1.1 408")
        assert limit - 2 < waiting.result() < patient(limit + 10)


def wait_for_end_of_head(server: Any) -> float:
    """The seconds after which a connection with half a head is closed."""
    with connection(server, seconds=40) as opened:
        opened.sendall(b"GET /login HTTP/1.1\r\nHost: x\r\n")
        started = time.monotonic()
        assert opened.recv(100) == b"", "it was closed"
        return time.monotonic() - started


def send_form_slowly(server: Any, attempts: int = 3) -> bytes:
    """The answer to a login form of which one letter comes per second; again where a letter crossed the close and reset it."""
    with connection(server, seconds=60) as opened:
        send_head(opened, "POST /login HTTP/1.1\nHost: x\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 1000")
        started = time.monotonic()
        status = b""
        while not status and time.monotonic() - started < patient(40):
            opened.sendall(b"a")
            opened.settimeout(1)
            try:
                status = opened.recv(100)
            except TimeoutError:
                continue
            except ConnectionResetError:
                if attempts == 1:
                    raise
                return send_form_slowly(server, attempts - 1)
    return status


@pytest.mark.trust("Nobody in", "Addresses in proxy headers are not believed unless the operator names the proxy")
def test_proxy_headers_of_anybody_are_not_believed(guarded: Any) -> None:
    statuses = []
    for number in range(8):
        sent = http.client.HTTPConnection("127.0.0.1", urlsplit(guarded.url).port, timeout=patient(30))
        headers = {"X-Forwarded-For": f"10.0.0.{number}", "Content-Type": "application/x-www-form-urlencoded"}
        sent.request("POST", "/login", "name=spoofed&password=wrong", headers)
        statuses.append(sent.getresponse().status)
        sent.close()
    assert statuses == [401] * 5 + [429] * 3


def test_a_named_proxy_is_believed(run_server: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    with run_server(tmp_path_factory.mktemp("proxied"), "--trusted-proxy", "127.0.0.1") as server:
        statuses = [
            httpx2.post(
                f"{server.url}/login",
                data={"name": "spoofed", "password": "wrong"},
                headers={"X-Forwarded-For": f"10.0.0.{number}"},
            ).status_code
            for number in range(8)
        ]
    assert statuses == [401] * 8, "eight people behind one proxy"


@pytest.mark.trust("Bad input", "An upload that is broken off leaves no traceback")
def test_an_upload_that_is_broken_off_leaves_no_traceback(guarded: Any) -> None:
    with logged_in(guarded) as person:
        project = person.post("/api/v1/projects", json={"name": "Broken off"}).json()["id"]
        cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
        head = (
            f"PUT /api/v1/projects/{project}/uploads?name=a.csv HTTP/1.1\nHost: x\nCookie: {cookie}\n"
            f"X-CSRF-Token: {person.headers['x-csrf-token']}\nContent-Length: 1000000"
        )
        with connection(guarded, "127.0.0.1") as opened:
            send_head(opened, head)
            opened.sendall(b"a,b\n" * 1000)
            uploads = guarded.home / "projects" / str(project) / "uploads"
            wait_until(lambda: uploads.is_dir() and any(uploads.iterdir()), "the upload did not begin")
        log = guarded.home.parent / "server.log"
        refused = "PUT /api/v1/projects/{project_id}/uploads 499"
        wait_until(lambda: refused in log.read_text() and not any(uploads.iterdir()), "the upload was not given up")
        assert "Traceback" not in log.read_text()


@pytest.mark.trust("Bad input", "Deep, large and slow requests of users are refused with a sentence")
def test_bodies_of_users_are_bounded_too(guarded: Any) -> None:
    with logged_in(guarded) as person:
        project = person.post("/api/v1/projects", json={"name": "Bounded"}).json()["id"]
        deep = "[" * 5000 + "]" * 5000
        api = f"/api/v1/projects/{project}"
        json_type = {"Content-Type": "application/json"}
        for method, path, body, status, words in (
            ("PATCH", f"{api}/policy", f'{{"base": 0, "sections": {{"limits": {deep}}}}}', 422, "nested more than"),
            ("POST", "/api/v1/projects", json.dumps({"name": "x" * 300_000}), 413, "larger than the limit"),
            ("PUT", f"{api}/policy", json.dumps({"base": 0, "yaml": "a: &a [1]\nb: *a"}), 422, "anchors and aliases"),
            ("PUT", f"{api}/policy", json.dumps({"base": 77, "policy": {}}), 404, "no revision 77"),
        ):
            answer = person.request(method, path, content=body, headers=json_type)
            assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.text[:300]


@contextmanager
def logged_in(server: Any) -> Iterator[httpx2.Client]:
    """A browser of the administrator."""
    with httpx2.Client(base_url=local(server), trust_env=False, follow_redirects=True, timeout=patient(60)) as person:
        page = person.post("/login", data={"name": server.name, "password": server.password})
        person.headers["x-csrf-token"] = page.text.split('name="csrf" content="')[1].split('"')[0]
        yield person


def test_one_persons_flood_leaves_others_their_turn(guarded: Any) -> None:
    """A hundred requests of one session at once: another address still gets its pages soon."""
    with logged_in(guarded) as person:
        cookies = dict(person.cookies)

        def flood() -> None:
            with httpx2.Client(base_url=local(guarded), cookies=cookies, timeout=patient(60), trust_env=False) as one:
                for _ in range(5):
                    one.get("/api/docs")

        threads = [threading.Thread(target=flood) for _ in range(40)]
        for thread in threads:
            thread.start()
        times = []
        for _ in range(5):
            started = time.monotonic()
            assert httpx2.get(f"{local(guarded)}/login", timeout=patient(20)).status_code == 200
            times.append(time.monotonic() - started)
        for thread in threads:
            thread.join()
    assert sorted(times)[2] < patient(5)
