"""What a browser and a stranger may do."""

from __future__ import annotations

import logging
import re

import pytest
from fastapi.testclient import TestClient

from discreet.web.auth.security import SECURITY_HEADERS, SESSION_COOKIE
from discreet.web.db.store import Store
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"

PAGES = ["/", "/projects/new", "/account", "/admin/users", "/projects/1", "/projects/1/data", "/projects/1/attributes"]


@pytest.mark.trust("Nobody in", "Every answer forbids scripts from elsewhere, framing and guessing of types")
def test_every_answer_has_the_headers(client: TestClient) -> None:
    for path in (*PAGES, "/login", "/healthz", "/api/v1/me", "/nothing", "/static/style.css"):
        answer = client.get(path)
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name] == value, path
        assert "unsafe" not in answer.headers["content-security-policy"]
        if not path.startswith("/static"):
            assert answer.headers["cache-control"] == "no-store", path


def test_pages_redirect_to_the_login(client: TestClient) -> None:
    for path in PAGES:
        answer = client.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/login?next={path}"


def test_the_session_cookie_is_httponly_and_samesite(client: TestClient) -> None:
    answer = client.post("/login", data={"name": "anna", "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{SESSION_COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie, "this server is not behind TLS"


def test_behind_tls_the_cookie_is_secure(settings: Settings, store: Store, anna: object) -> None:
    from dataclasses import replace

    from discreet.web.app import make_app

    with TestClient(make_app(replace(settings, url="https://discreet.example")), follow_redirects=False) as client:
        answer = client.post("/login", data={"name": "anna", "password": PASSWORD})
        assert "Secure" in answer.headers["set-cookie"]
        assert answer.headers["strict-transport-security"]


@pytest.mark.trust("Nobody in", "A login is a new session, and a logout ends all of a person's sessions")
def test_a_login_is_a_new_session_and_a_logout_ends_all(client: TestClient) -> None:
    cookies = []
    for _ in range(2):
        client.cookies.clear()
        client.post("/login", data={"name": "anna", "password": PASSWORD})
        cookies.append(client.cookies[SESSION_COOKIE])
    assert cookies[0] != cookies[1]
    word = re.search(r'name="csrf" content="([^"]+)"', client.get("/").text)
    assert word is not None
    assert client.post("/logout", data={"csrf": word[1]}).headers["location"] == "/login"
    for cookie in cookies:
        client.cookies.clear()
        client.cookies.set(SESSION_COOKIE, cookie)
        assert client.get("/").status_code == 303


def test_a_planted_session_cookie_is_replaced(client: TestClient) -> None:
    answer = client.post("/login", data={"name": "anna", "password": PASSWORD}, headers={"Cookie": f"{SESSION_COOKIE}=planted"})
    assert f"{SESSION_COOKIE}=" in answer.headers["set-cookie"]
    assert "planted" not in answer.headers["set-cookie"]


@pytest.mark.trust("Nobody in", "A form or request of another site is refused")
def test_a_request_without_the_csrf_token_is_refused(logged_in: TestClient) -> None:
    for data in ({}, {"csrf": ""}, {"csrf": "guess"}):
        assert logged_in.post("/projects/new", data={"name": "Mine", **data}).status_code == 403
    del logged_in.headers["x-csrf-token"]
    assert logged_in.post("/api/v1/projects", json={"name": "Mine"}).status_code == 403
    assert logged_in.get("/api/v1/projects").json() == []


@pytest.mark.trust("Nobody in", "A form or request of another site is refused")
def test_cross_site_requests_are_refused(logged_in: TestClient) -> None:
    word = logged_in.headers["x-csrf-token"]
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://elsewhere.example"}):
        assert logged_in.post("/projects/new", data={"name": "Mine", "csrf": word}, headers=headers).status_code == 403
        assert logged_in.post("/login", data={"name": "anna", "password": PASSWORD}, headers=headers).status_code == 403


def test_the_login_redirects_only_within_the_site(client: TestClient) -> None:
    for to in ("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:x"):
        answer = client.post("/login", data={"name": "anna", "password": PASSWORD, "next": to})
        assert answer.headers["location"] == "/"


def test_a_wrong_name_and_a_wrong_password_look_the_same(client: TestClient) -> None:
    answers = [
        client.post("/login", data={"name": name, "password": "wrong"}).text.replace(name, "NAME") for name in ("anna", "nobody")
    ]
    assert answers[0] == answers[1]


@pytest.mark.trust("Nobody in", "Login attempts are throttled")
def test_repeated_failed_logins_are_throttled(client: TestClient) -> None:
    for _ in range(5):
        assert client.post("/login", data={"name": "anna", "password": "wrong"}).status_code == 401
    assert client.post("/login", data={"name": "anna", "password": PASSWORD}).status_code == 429


def test_project_names_are_escaped_in_html(logged_in: TestClient) -> None:
    word = logged_in.headers["x-csrf-token"]
    name = "<script>alert(1)</script>\"'&"
    logged_in.post("/projects/new", data={"name": name, "csrf": word})
    text = logged_in.get("/").text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


@pytest.mark.trust("Nobody in", "No link, token or password is in the log")
def test_the_log_holds_no_secret(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.WARNING, logger="httpx2")  # the test's own browser tells its addresses
    with caplog.at_level(logging.INFO, logger="discreet.web"):
        client.get("/welcome/a-secret-link")
        client.get("/api/v1/me", headers={"Authorization": "Bearer discreet_a-secret-token"})
        client.post("/login", data={"name": "anna", "password": "a-secret-password"})
    assert "GET /welcome/{secret} 404" in caplog.text
    assert "a-secret" not in caplog.text


@pytest.mark.trust("Nobody in", "A token can do no more than its scopes")
def test_a_token_is_limited_to_its_scopes(logged_in: TestClient) -> None:
    token = logged_in.post("/api/v1/tokens", json={"name": "script", "scopes": ["read"]}).json()
    assert token["secret"].startswith("discreet_")
    logged_in.cookies.clear()
    del logged_in.headers["x-csrf-token"]
    bearer = {"Authorization": f"Bearer {token['secret']}"}
    assert logged_in.get("/api/v1/me", headers=bearer).json() == {"name": "anna", "admin": True, "scopes": ["read"]}
    for method, path, body in (
        ("POST", "/api/v1/projects", {"name": "Mine"}),
        ("POST", "/api/v1/tokens", {"name": "more", "scopes": ["write"]}),
        ("POST", "/api/v1/users", {"name": "bert"}),
        ("GET", "/api/v1/users", None),
        ("GET", "/api/v1/audit", None),
    ):
        assert logged_in.request(method, path, json=body, headers=bearer).status_code == 403, path
    for wrong in ("Bearer nothing", "Basic YQ==", "Bearer", "Bearer "):
        answer = logged_in.get("/api/v1/me", headers={"Authorization": wrong})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.trust("Nobody in", "A project that was not shared does not exist for others")
def test_projects_of_others_are_not_found(logged_in: TestClient, add_user: object) -> None:
    identity = logged_in.post("/api/v1/projects", json={"name": "Mine"}).json()["id"]
    add_user("bert")  # type: ignore[operator]
    logged_in.cookies.clear()
    logged_in.post("/login", data={"name": "bert", "password": PASSWORD})
    for path in (f"/projects/{identity}", f"/projects/{identity}/data", f"/api/v1/projects/{identity}"):
        assert logged_in.get(path).status_code == 404, path
    assert "Mine" not in logged_in.get("/").text


def test_database_errors_hide_the_password(settings: Settings) -> None:
    from discreet.errors import SourceError

    unreachable = Store("postgresql://nobody:secret@127.0.0.1:9/none")
    with pytest.raises(SourceError) as refused:
        unreachable.migrate()
    assert "secret" not in str(refused.value)
    with pytest.raises(SourceError, match="use postgresql://"):
        Store("oracle://x/y")
    with pytest.raises(SourceError, match="invalid database URL"):
        Store("nonsense")


def test_the_character_nul_is_a_sentence_on_every_database(logged_in: TestClient, project: Project) -> None:
    sections = {"base": 0, "sections": {"attributes.a\x00b": {"role": "key"}}}
    answers = [
        logged_in.patch(f"/api/v1/projects/{project.id}/policy", json=sections),
        logged_in.post("/login", data={"name": "a\x00b", "password": "x"}),
    ]
    assert [answer.status_code for answer in answers] in ([200, 401], [422, 422]), "SQLite can store it, PostgreSQL cannot"
