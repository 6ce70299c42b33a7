"""Second factors of local accounts: RFC 6238, one use per code, counted with passwords, recoverable, required, reset."""

from __future__ import annotations

import base64
import html
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from discreet.web.auth import accounts, second_factor, throttle, totp
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import second_factors
from discreet.web.errors import TooManyRequests, Unauthenticated

PASSWORD = "a longer password than most"
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()
RFC_6238_VECTORS = {
    59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037",
    20000000000: "65353130",
}  # fmt: skip


@pytest.mark.parametrize(("at", "code"), RFC_6238_VECTORS.items())
def test_codes_are_those_of_the_rfc(at: int, code: str) -> None:
    assert totp.compute_code(RFC_SECRET, at // 30, digits=8) == code
    assert totp.find_step(RFC_SECRET, code[-6:], at) == at // 30


@given(st.integers(min_value=0, max_value=2**33), st.integers(min_value=-3, max_value=3))
def test_a_code_counts_in_its_own_step_and_the_two_beside_it(at: int, late: int) -> None:
    current = at // 30
    codes = {step: totp.compute_code(RFC_SECRET, step) for step in range(max(0, current - 4), current + 5)}
    step = max(0, current + late)
    expected = [other for other in (current - 1, current, current + 1) if other >= 0 and codes[other] == codes[step]]
    assert totp.find_step(RFC_SECRET, codes[step], at) == (expected[-1] if expected else None)


def test_what_is_no_code_is_refused() -> None:
    for text in ("", "12345", "abcdef", "１２３４５６", "0" * 1000, "\x00"):
        assert totp.find_step(RFC_SECRET, text, 59) is None


@pytest.fixture
def enrolled(store: Store, anna: User) -> tuple[str, list[str]]:
    """Anna's secret and recovery codes."""
    with store.write() as connection:
        secret = second_factor.begin_enrolment(connection, anna)
        # the last step's code, so that the current one is still unused
        codes = second_factor.confirm_enrolment(connection, anna, totp.compute_code(secret, int(time.time() // 30) - 1))
    return secret, codes


def test_each_code_works_once(store: Store, anna: User, enrolled: tuple[str, list[str]]) -> None:
    secret, recovery = enrolled
    code = totp.compute_code(secret, int(time.time() // 30))
    second_factor.check_code(store, anna, f" {code[:3]} {code[3:]} ", "1.2.3.4")
    with pytest.raises(Unauthenticated, match="used already"):
        second_factor.check_code(store, anna, code, "1.2.3.4")
    second_factor.check_code(store, anna, recovery[0].upper(), "1.2.3.4")
    with pytest.raises(Unauthenticated):
        second_factor.check_code(store, anna, recovery[0], "1.2.3.4")
    with store.read() as connection:
        assert second_factor.get_factor(connection, anna) == second_factor.Factor(True, False, 9)
        stored = str(connection.execute(select(second_factors.c.recovery)).scalar_one())
    assert not any(code.replace("-", "") in stored or code in stored for code in recovery), "only hashes are stored"


def test_one_code_in_many_simultaneous_logins_works_once(store: Store, anna: User, enrolled: tuple[str, list[str]]) -> None:
    _, recovery = enrolled
    outcomes: list[str] = []
    start = threading.Barrier(4)

    def try_code() -> None:
        start.wait()
        try:
            second_factor.check_code(store, anna, recovery[1], "1.2.3.4")
            outcomes.append("in")
        except (Unauthenticated, TooManyRequests):
            outcomes.append("out")

    threads = [threading.Thread(target=try_code) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["in", "out", "out", "out"]


def test_codes_cannot_be_guessed_by_someone_who_knows_the_password(
    store: Store, anna: User, enrolled: tuple[str, list[str]]
) -> None:
    """A right password must not allow further guesses at the code."""
    guesses = 0

    def guess() -> None:
        nonlocal guesses
        accounts.log_in(store, "anna", PASSWORD, "6.6.6.6")
        try:
            second_factor.check_code(store, anna, "guess", "6.6.6.6")
        except Unauthenticated:
            guesses += 1

    with pytest.raises(TooManyRequests):
        deque(iter(guess, "never"), maxlen=0)
    assert guesses <= throttle.FREE_FAILURES


def read_field(page: str, name: str) -> str:
    return html.unescape(page.split(f'name="{name}" value="')[1].split('"', maxsplit=1)[0])


def read_secret(page: str) -> str:
    return re.search(r"<code>([A-Z2-7 ]{20,})</code>", page)[1].replace(" ", "")  # type: ignore[index]


def test_the_whole_way_of_a_user_on_the_pages(client: TestClient, store: Store, anna: User) -> None:
    """Set up with the password, log in with a code, new recovery codes, off again; all in one, for the server starts once."""

    def log_in() -> Any:
        return client.post("/login", data={"name": "anna", "password": PASSWORD, "next": "/account"})

    assert log_in().status_code == 303
    page = client.get("/account/second-factor").text
    secret, csrf = read_secret(page), read_field(page, "csrf")
    assert 'src="data:image/svg+xml' in page
    now_step = int(time.time() // 30)
    form = {"csrf": csrf, "password": "wrong", "code": totp.compute_code(secret, now_step)}
    assert "The password is wrong" in client.post("/account/second-factor", data=form).text
    wrong = client.post("/account/second-factor", data={**form, "password": PASSWORD, "code": "000000x"})
    assert (wrong.status_code, read_secret(wrong.text)) == (422, secret), "the picture that was scanned stays valid"
    done = client.post(
        "/account/second-factor", data={**form, "password": PASSWORD, "code": totp.compute_code(secret, now_step - 1)}
    )
    recovery = re.findall(r"\b(?:[2-9a-z]{4}-){3}[2-9a-z]{4}\b", done.text)
    assert len(recovery) == second_factor.RECOVERY_CODES

    client.cookies.clear()
    asked = log_in()
    assert asked.status_code == 200
    assert "Enter your code" in asked.text
    assert "discreet_session" not in client.cookies
    assert client.get("/account").status_code == 303, "the password alone opens nothing"
    assert client.post("/login/code", data={"code": "123"}).status_code == 401
    entered = client.post("/login/code", data={"code": recovery[0], "next": "//evil.example.org"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert "discreet_pending" not in client.cookies
    assert client.post("/login/code", data={"code": recovery[1]}).status_code == 401, "the password is needed first"

    csrf = read_field(client.get("/account").text, "csrf")
    renewed = client.post("/account/second-factor/change", data={"csrf": csrf, "code": recovery[2], "action": "renew"})
    new_recovery = re.findall(r"\b(?:[2-9a-z]{4}-){3}[2-9a-z]{4}\b", renewed.text)
    assert not set(new_recovery) & set(recovery)
    off = {"csrf": csrf, "code": recovery[3], "action": "off"}
    assert client.post("/account/second-factor/change", data=off).status_code == 403, "an old code"
    with store.write() as connection:
        second_factor.set_required(connection, "anna", True, by="test")
    assert client.post("/account/second-factor/change", data={**off, "code": new_recovery[0]}).status_code == 403
    with store.write() as connection:
        second_factor.set_required(connection, "anna", False, by="test")
    assert client.post("/account/second-factor/change", data={**off, "code": new_recovery[1]}).status_code == 303
    client.cookies.clear()
    assert log_in().status_code == 303
    assert client.get("/account").status_code == 200


def test_an_administrator_requires_and_resets_it(logged_in: TestClient, store: Store, add_user: Callable[..., User]) -> None:
    bert = add_user("bert")
    csrf = logged_in.headers["x-csrf-token"]
    form = {"csrf": csrf, "name": "bert", "action": "require"}
    assert logged_in.post("/admin/users/factor", data=form).status_code == 303
    assert "second factor required" in logged_in.get("/admin/users").text

    anna_cookies = dict(logged_in.cookies)
    logged_in.cookies.clear()
    started = logged_in.post("/login", data={"name": "bert", "password": PASSWORD})
    assert (started.status_code, started.headers["location"]) == (303, "/login/enrol")
    assert logged_in.get("/account").status_code == 303, "no session before the setup"
    secret = read_secret(logged_in.get("/login/enrol").text)
    done = logged_in.post("/login/enrol", data={"code": totp.compute_code(secret, int(time.time() // 30))})
    assert "shown only once" in done.text
    assert logged_in.get("/account").status_code == 200

    logged_in.cookies.clear()
    for name, value in anna_cookies.items():
        logged_in.cookies.set(name, value)
    assert logged_in.post("/admin/users/factor", data={**form, "action": "reset"}).status_code == 303
    with store.read() as connection:
        assert second_factor.get_factor(connection, bert) == second_factor.Factor(False, True, 0)


def test_a_link_for_a_new_password_does_not_skip_the_second_factor(
    client: TestClient, store: Store, anna: User, enrolled: tuple[str, list[str]]
) -> None:
    with store.write() as connection:
        _, secret = accounts.reset_password(connection, "anna")
    answer = client.post(f"/welcome/{secret}", data={"password": PASSWORD[::-1], "again": PASSWORD[::-1]})
    assert "Enter your code" in answer.text
    assert client.get("/account").status_code == 303


def test_the_server_can_require_it_of_everybody(store: Store, anna: User, settings: Any) -> None:
    with store.read() as connection:
        assert second_factor.get_factor(connection, anna, replace(settings, require_totp=True)).required
        assert not second_factor.get_factor(connection, anna, settings).required


def test_the_address_for_the_app_holds_name_and_secret_escaped() -> None:
    address = urlsplit(totp.enrolment_address(RFC_SECRET, "anna & bert?", "discreet host"))
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert parse_qs(address.query)["secret"] == [RFC_SECRET]
    assert address.path == "/discreet%20host%3Aanna%20%26%20bert%3F"
