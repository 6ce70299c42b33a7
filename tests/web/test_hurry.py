"""Strangers and people in a hurry wait for themselves, not others for them: allowances, connections, logins and turns."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from patience import patient
from starlette.datastructures import URL

from discreet.web.auth import accounts, throttle
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import TooManyRequests
from discreet.web.limits import admission, allowances, turns
from discreet.web.limits.allowances import Allowances
from discreet.web.limits.bodies import find_rule
from discreet.web.limits.connections import BoundedListener, ConnectionLimits, OpenConnections, parse_networks
from discreet.web.limits.networks import network_of
from discreet.web.limits.turns import Turns


@given(
    size=st.integers(1, 5),
    per_second=st.sampled_from([0.0, 0.5, 1.0, 4.0]),
    pauses=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])), max_size=30),
)
def test_an_allowance_comes_back_by_the_second(size: int, per_second: float, pauses: list[tuple[str, float]]) -> None:
    """Against the obvious version: for each key, what is left is brought up to date at every step of the clock."""
    clock = 1000.0
    left = {"a": float(size), "b": float(size)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allowances.time, "monotonic", lambda: clock)
        tested = Allowances(size, per_second)
        for key, pause in pauses:
            clock += pause
            left = {other: min(size, amount + pause * per_second) for other, amount in left.items()}
            assert tested.is_spent(key) == (left[key] < 1)
            assert tested.spend(key) == (left[key] >= 1)
            left[key] -= left[key] >= 1


def test_what_is_given_back_is_never_more_than_the_allowance() -> None:
    tested = Allowances(2, 0.0)
    assert tested.spend("a")
    for _ in range(5):
        tested.give_back("a")
    assert [tested.spend("a") for _ in range(3)] == [True, True, False]


def test_many_keys_are_forgotten_but_not_those_that_are_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowances, "MAX_REMEMBERED", 100)
    tested = Allowances(1, 0.0)
    for number in range(1000):
        tested.spend(number)
    assert len(tested._left) <= 100
    assert not tested.spend(999)


@pytest.mark.parametrize(
    ("address", "network"),
    [("10.0.0.7", "10.0.0.7"), ("2001:db8:0:1::5", "2001:db8:0:1::/64"), ("::ffff:10.0.0.7", "10.0.0.7"), ("unix", "unix")],
)
def test_addresses_of_one_customer_are_one(address: str, network: str) -> None:
    assert network_of(address) == network


class FakeConnection:
    """A connection without a request in progress."""

    is_idle = True

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


@pytest.mark.trust("Nobody in", "Whoever has many addresses of one network has the limits of one address")
def test_connections_of_an_ipv6_network_are_counted_together() -> None:
    connections = OpenConnections(ConnectionLimits(per_address=3, trusted=parse_networks(["2001:db8:9::/48"])))
    opened: list[Any] = [FakeConnection() for _ in range(6)]
    for number, protocol in enumerate(opened):
        assert connections.admit(protocol, f"2001:db8::{number:x}")
    assert [protocol.aborted for protocol in opened] == [True] * 3 + [False] * 3
    assert connections.count == 3
    of_proxy: list[Any] = [FakeConnection() for _ in range(6)]
    for protocol in of_proxy:
        assert connections.admit(protocol, "2001:db8:9::1")
    assert not any(protocol.aborted for protocol in of_proxy), "a proxy's connections belong to many people"
    for number, protocol in enumerate(opened):
        connections.remove(protocol, f"2001:db8::{number:x}")
    assert connections.count == 6


def test_an_address_that_opens_connections_without_end_is_refused_at_the_door() -> None:
    connections = OpenConnections(ConnectionLimits(), unused=Allowances(3, 0.0))
    with ExitStack() as stack:
        plain = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener = stack.enter_context(BoundedListener(plain, connections))
        listener.setblocking(False)

        def knock(address: str, times: int) -> None:
            for _ in range(times):
                stack.enter_context(socket.create_connection(listener.getsockname(), source_address=(address, 0)))

        def accept_all() -> list[str]:
            accepted = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    opened, address = listener.accept()
                    stack.enter_context(opened)
                    accepted.append(address[0])
            return accepted

        knock("127.0.0.2", 5)
        knock("127.0.0.3", 1)
        assert accept_all() == ["127.0.0.2"] * 3 + ["127.0.0.3"]
        connections.note_use("127.0.0.2")  # one of them has made a request
        knock("127.0.0.2", 2)
        assert accept_all() == ["127.0.0.2"]


@pytest.fixture(scope="module")
def attacked(run_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with run_server(tmp_path_factory.mktemp("hurry")) as server:
        yield server


@pytest.mark.trust("Nobody in", "Login forms that never arrive keep nobody from logging in")
def test_login_forms_that_arrive_slowly_keep_nobody_waiting(attacked: Any) -> None:
    port = urlsplit(attacked.url).port
    head = (
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nname="
    )
    with ExitStack() as stack:
        for number in range(3 * turns.LOGINS_IN_TOTAL):
            address = (f"127.0.1.{number + 1}", 0)
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=patient(30), source_address=address))
            slow.sendall(head)
        time.sleep(0.5)
        slow.setblocking(False)
        sent = {"name": "nobody", "password": "a wrong one"}
        answer = httpx2.post(f"http://127.0.0.1:{port}/login", data=sent, timeout=patient(30), trust_env=False)
        assert answer.status_code == 401
        with pytest.raises(BlockingIOError):  # the slow one still waits: they would have been first
            slow.recv(1)


def test_a_guess_that_must_wait_needs_no_write_transaction(store: Store, anna: User) -> None:
    for number in range(throttle.FREE_FAILURES):
        with contextlib.suppress(Exception):
            accounts.log_in(store, "anna", f"wrong {number}", "10.0.0.1")
    outcomes: list[BaseException] = []

    def guess() -> None:
        try:
            accounts.log_in(store, "anna", "wrong again", "10.0.0.1")
        except TooManyRequests as error:
            outcomes.append(error)

    with store.write():
        thread = threading.Thread(target=guess, daemon=True)
        thread.start()
        thread.join(patient(10))
        assert len(outcomes) == 1, "it waits for the transaction of somebody else"


def test_failed_logins_of_an_address_wait_for_each_other(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[tuple[object, float]] = []
    monkeypatch.setattr(Turns, "rest", lambda _self, key, seconds: rests.append((key, seconds)))
    monkeypatch.setattr(
        Allowances, "_count_left", lambda self, key: self._left.get(key, (self.size, 0.0))[0]
    )  # nothing comes back
    for number in range(admission.FAILED_LOGINS[0] + 3):
        client.post("/login", data={"name": f"nobody {number}", "password": "a wrong one"})
    assert rests == [(("login", "testclient"), turns.FAILED_LOGIN_SECONDS)] * 3
    client.post("/login", data={"name": "anna", "password": "a longer password than most"})
    assert len(rests) == 3, "a login that succeeds is not a failure"


def test_a_rest_holds_for_whoever_is_next() -> None:
    async def run() -> float:
        tested = Turns()
        await tested.take("login", 1)
        tested.rest("login", 0.2)
        tested.release("login")
        await tested.take("login", 1)
        started = time.monotonic()
        await tested.finish_rest("login")
        await tested.finish_rest("another")
        return time.monotonic() - started

    assert asyncio.run(run()) > 0.15


@pytest.mark.parametrize("headers", [{}, {"Cookie": "discreet_session=planted"}, {"Authorization": "Bearer planted"}])
def test_strangers_are_slowed_down_whatever_they_send(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    spent: list[object] = []
    spend = Allowances.spend
    monkeypatch.setattr(Allowances, "spend", lambda self, key: (spent.append(key), spend(self, key))[1])
    client.get("/api/v1/projects", headers=headers)
    assert spent == [("address", "testclient")]


def test_a_person_in_a_hurry_waits_and_others_do_not(
    logged_in: TestClient, monkeypatch: pytest.MonkeyPatch, anna: User, add_user: Callable[..., User]
) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def note_sleep(seconds: float, *more: Any) -> Any:
        if seconds == turns.HURRY_SECONDS:
            waits.append(seconds)
            return None
        return await sleep(seconds, *more)

    monkeypatch.setattr(admission.asyncio, "sleep", note_sleep)
    monkeypatch.setattr(Allowances, "spend", lambda _self, key: key != ("user", anna.id))
    for path in ("/", "/api/v1/projects", "/projects/77/data/download"):
        assert logged_in.get(path).status_code in (200, 404)
    assert len(waits) == 3
    logged_in.cookies.clear()
    assert logged_in.get("/login").status_code == 200
    assert len(waits) == 3, "strangers at the same address do not wait for her"


def test_the_header_host_does_not_decide_which_limits_hold() -> None:
    class Misled(Request):
        """As older versions of Starlette build the address: from the header Host, which may hold a path."""

        @property
        def url(self) -> URL:
            return URL("http://x/login")

    request = Misled({"type": "http", "method": "POST", "path": "/api/v1/projects", "headers": []})
    assert not find_rule(request).anonymous
