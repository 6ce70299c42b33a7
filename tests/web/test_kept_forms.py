"""A form that is sent after its session has expired is not lost."""

from __future__ import annotations

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from discreet.web.auth import kept_forms
from discreet.web.auth.kept_forms import KeptForm
from discreet.web.db.store import Store
from discreet.web.db.tables import sessions
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project

PASSWORD = "a longer password than most"


@pytest.fixture
def database() -> None:
    """One database is enough here."""


def hidden_fields(page: str) -> dict[str, str]:
    pairs = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {html.unescape(name): html.unescape(value) for name, value in pairs}


def expire(store: Store) -> None:
    with store.write() as connection:
        connection.execute(update(sessions).values(expires=1.0))


@pytest.mark.trust("Nothing lost", "A form that was sent after its session had expired can be sent after the login")
@pytest.mark.parametrize("multipart", [False, True])
def test_a_form_survives_a_login(logged_in: TestClient, store: Store, project: Project, anna: object, multipart: bool) -> None:
    address = f"/projects/{project.id}/policy"
    text = 'limits: {k_anonymity.k: 5}\n# "quoted" & <b>bold</b>\n'
    fields = {"csrf": logged_in.headers["x-csrf-token"], "base": "0", "policy": text}
    expire(store)
    answer = logged_in.post(address, data=fields, files={"file": ("", b"")} if multipart else None)
    assert answer.status_code == 401
    assert "Your session has expired" in answer.text
    login = hidden_fields(answer.text)
    assert logged_in.headers["x-csrf-token"] not in login["kept"], "the word of the old session is of no use"
    failed = logged_in.post("/login", data={**login, "name": "anna", "password": "wrong"})
    assert hidden_fields(failed.text)["kept"] == login["kept"], "not even after a typing error"
    page = logged_in.post("/login", data={**login, "name": "anna", "password": PASSWORD})
    assert page.status_code == 200
    assert f'action="{address}"' in page.text
    sent = logged_in.post(address, data=hidden_fields(page.text))
    assert sent.status_code == 303, sent.text
    with store.read() as connection:
        ours = projects.get(connection, anna, project.id)  # type: ignore[arg-type]
        assert policies.current_policy(connection, ours).limits == {"k_anonymity.k": 5}


def test_only_short_forms_of_a_browser_with_a_session_are_kept(logged_in: TestClient, store: Store, project: Project) -> None:
    address = f"/projects/{project.id}/policy"
    expire(store)
    long = {"csrf": "x", "policy": "x" * (kept_forms.MAX_BYTES + 1)}
    assert logged_in.post(address, data=long).headers["location"] == "/login?next=/"
    logged_in.cookies.clear()
    assert logged_in.post(address, data={"csrf": "x", "policy": "x"}).headers["location"] == "/login?next=/"


@pytest.mark.parametrize("text", ["", "[", "[1, 2]", '["//evil.example/x", []]', '["https://evil.example", []]', '["/x", [1]]'])
def test_a_kept_form_goes_to_this_server_alone(text: str) -> None:
    assert KeptForm.from_text(text) is None
