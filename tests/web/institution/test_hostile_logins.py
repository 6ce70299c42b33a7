"""Answers of a provider, or of somebody who pretends to be one, that must not log anybody in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hostile_provider import (
    CLIENT_ID,
    ISSUER,
    HostileProvider,
    sign_with_another_key,
    sign_with_client_secret,
    sign_with_nothing,
    sign_with_public_key,
)
from httpx2 import Response
from joserfc.jwk import RSAKey


def is_logged_in(browser: Any) -> bool:
    return bool(browser.get("/account").status_code == 200)


def assert_refused(browser: Any, answer: Response) -> None:
    assert answer.status_code in (403, 502), answer.text
    assert "discreet_session" not in answer.headers.get("set-cookie", "")
    assert "Request <code>" in answer.text, "support can find it in the log"
    assert not is_logged_in(browser)


def test_a_right_answer_logs_in(browser_of_sso: Any) -> None:
    answer = browser_of_sso.log_in("s-anna", preferred_username="anna", next_address="/account")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "Account of anna" in browser_of_sso.get("/account").text


SPOILED_CLAIMS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "nonce of another login": lambda claims: {**claims, "nonce": "x" * 43},
    "no nonce": lambda claims: {name: value for name, value in claims.items() if name != "nonce"},
    "another audience": lambda claims: {**claims, "aud": "another-client"},
    "another audience that names us as the presenter": lambda claims: {**claims, "aud": ["another-client"], "azp": CLIENT_ID},
    "several audiences without a presenter": lambda claims: {**claims, "aud": [CLIENT_ID, "another-client"]},
    "no audience": lambda claims: {name: value for name, value in claims.items() if name != "aud"},
    "another issuer": lambda claims: {**claims, "iss": "https://evil.example.org"},
    "expired": lambda claims: {**claims, "exp": int(time.time()) - 600, "iat": int(time.time()) - 900},
    "no expiry": lambda claims: {name: value for name, value in claims.items() if name != "exp"},
    "not valid yet": lambda claims: {**claims, "nbf": int(time.time()) + 600},
    "issued in the future": lambda claims: {**claims, "iat": int(time.time()) + 600},
    "no subject": lambda claims: {name: value for name, value in claims.items() if name != "sub"},
    "a subject that is no text": lambda claims: {**claims, "sub": 7},
    "an access token of somebody else": lambda claims: {**claims, "at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


@pytest.mark.parametrize("spoil", SPOILED_CLAIMS.values(), ids=SPOILED_CLAIMS)
def test_spoiled_claims_are_refused(browser_of_sso: Any, provider: HostileProvider, spoil: Callable[..., Any]) -> None:
    provider.spoil_claims = spoil
    assert_refused(browser_of_sso, browser_of_sso.log_in("s-1"))


@pytest.mark.parametrize("sign", [sign_with_nothing, sign_with_client_secret, sign_with_public_key, sign_with_another_key])
def test_tokens_without_the_providers_signature_are_refused(
    browser_of_sso: Any, provider: HostileProvider, sign: Callable[..., str]
) -> None:
    provider.sign = sign
    assert_refused(browser_of_sso, browser_of_sso.log_in("s-1"))


def test_a_changed_token_is_refused(browser_of_sso: Any, provider: HostileProvider) -> None:
    provider.spoil_token = lambda token: token[:-8] + ("A" * 8 if token[-8:] != "A" * 8 else "B" * 8)
    assert_refused(browser_of_sso, browser_of_sso.log_in("s-1"))


def test_clocks_may_differ_by_two_minutes(browser_of_sso: Any, provider: HostileProvider) -> None:
    provider.spoil_claims = lambda claims: {**claims, "iat": int(time.time()) + 90, "exp": int(time.time()) - 90}
    assert browser_of_sso.log_in("s-1").status_code == 303


def test_a_wrong_or_missing_state_is_refused_before_the_code_is_redeemed(browser_of_sso: Any, provider: HostileProvider) -> None:
    away = browser_of_sso.get("/login/oidc")
    answer = provider.log_in(away.headers["location"], "s-1")
    for state in ("", "x" * 43):
        assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params={**answer, "state": state}))
    assert [request.url.path for request in provider.requests if request.url.path == "/token"] == []


def test_a_login_that_an_attacker_started_cannot_be_finished_in_another_browser(
    browser_of_sso: Any, provider: HostileProvider
) -> None:
    attackers = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "the attacker")
    browser_of_sso.cookies.clear()
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=attackers))
    browser_of_sso.get("/login/oidc")  # a victim who has just started a login of their own
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=attackers))


def test_a_code_works_once(browser_of_sso: Any, provider: HostileProvider) -> None:
    away = browser_of_sso.get("/login/oidc")
    cookie = browser_of_sso.cookies["discreet_sso"]
    answer = provider.log_in(away.headers["location"], "s-1")
    assert browser_of_sso.get("/login/oidc/callback", params=answer).status_code == 303
    assert "discreet_sso" not in browser_of_sso.cookies
    browser_of_sso.cookies.clear()
    browser_of_sso.cookies.set("discreet_sso", cookie)
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=answer))


def test_a_code_of_another_login_does_not_fit_the_verifier(browser_of_sso: Any, provider: HostileProvider) -> None:
    stolen = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "the victim")
    own = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "the attacker")
    answer = {"code": stolen["code"], "state": own["state"]}
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=answer))


def test_an_answer_in_the_name_of_another_provider_is_refused(browser_of_sso: Any, provider: HostileProvider) -> None:
    answer = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "s-1")
    mixed_up = {**answer, "iss": "https://evil.example.org"}
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=mixed_up))
    right = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "s-1")
    assert browser_of_sso.get("/login/oidc/callback", params={**right, "iss": ISSUER}).status_code == 303


@pytest.mark.parametrize(
    "address", ["https://evil.example.org/", "//evil.example.org", "/\\evil.example.org", "javascript:alert(1)"]
)
def test_next_leads_to_this_server_only(browser_of_sso: Any, address: str) -> None:
    answer = browser_of_sso.log_in("s-1", next_address=address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("cookie", ["", "x", "bnVsbA==", "WzEsMiwzXQ==", "W10=", "é"])
def test_a_spoiled_cookie_is_refused(browser_of_sso: Any, provider: HostileProvider, cookie: str) -> None:
    answer = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "s-1")
    browser_of_sso.cookies.clear()
    headers = {"cookie": f"discreet_sso={cookie}".encode("latin-1")}
    assert_refused(browser_of_sso, browser_of_sso.get("/login/oidc/callback", params=answer, headers=headers))


def test_an_old_attempt_is_refused(browser_of_sso: Any, provider: HostileProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "s-1")
    later = time.time() + 601
    monkeypatch.setattr("discreet.web.auth.sso.attempt.time.time", lambda: later)
    assert browser_of_sso.get("/login/oidc/callback", params=answer).status_code == 403


def test_an_error_of_the_provider_is_a_sentence(browser_of_sso: Any, provider: HostileProvider) -> None:
    state = provider.log_in(browser_of_sso.get("/login/oidc").headers["location"], "s-1")["state"]
    refused = {"error": "access_denied", "error_description": "<b>no</b>", "state": state}
    answer = browser_of_sso.get("/login/oidc/callback", params=refused)
    assert_refused(browser_of_sso, answer)
    assert "did not log you in" in answer.text
    assert "<b>no</b>" not in answer.text


def test_a_provider_that_is_down_is_a_sentence(
    browser_of_sso: Any, provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.down = True
    for _ in range(3):
        answer = browser_of_sso.get("/login/oidc")
        assert answer.status_code == 502
        assert "does not respond" in answer.text
    assert len(provider.requests) == 1, "it is left alone for a moment"
    provider.down = False
    monkeypatch.setattr("discreet.web.auth.sso.provider.FAILURE_SECONDS", 0.0)
    assert browser_of_sso.log_in("s-1").status_code == 303, "nothing of the failure is remembered"


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example.org"},
        {"token_endpoint": "http://login.example.org/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
def test_an_unusable_discovery_document_is_refused(browser_of_sso: Any, provider: HostileProvider, metadata: Any) -> None:
    provider.metadata = metadata
    assert browser_of_sso.get("/login/oidc").status_code == 502


def test_new_keys_of_the_provider_are_fetched(
    browser_of_sso: Any, provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browser_of_sso.log_in("s-1").status_code == 303
    monkeypatch.setattr("discreet.web.auth.sso.provider.KEYS_SECONDS", 0.0)
    provider.key = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
    assert browser_of_sso.log_in("s-1").status_code == 303


def test_claims_of_the_userinfo_address_are_used_only_about_the_same_person(
    open_server: Callable[..., Any], provider: HostileProvider
) -> None:
    provider.metadata = {"userinfo_endpoint": f"{ISSUER}/userinfo"}
    provider.user_info = {"sub": "somebody else", "groups": ["staff"]}
    with open_server(login_groups=["staff"]) as browser:
        assert_refused(browser, browser.log_in("s-1"))
        provider.user_info = {"sub": "s-1", "groups": ["staff"]}
        assert browser.log_in("s-1").status_code == 303
