"""The application under a path of its host, such as https://host/discreet: nothing it says leads out of that path."""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.routing import compile_path
from web_jobs import CONTENT

from discreet import Client
from discreet.errors import SourceError
from discreet.web.addresses import LINK_ATTRIBUTES
from discreet.web.app import make_app
from discreet.web.auth.accounts import User
from discreet.web.pages import routes
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"
BASE = "/our/discreet"
NOT_LINKED = {  # addresses that nothing on these pages links to: one-time links, forms, pages of jobs that did not run
    "/welcome/{secret}",
    "/rescue/{secret}",
    "/login/enrol",
    "/login/oidc",
    "/login/oidc/callback",
    "/projects/{number}/groups",
    "/projects/{number}/data/preview/{job_id}",
    "/projects/{number}/risk/guesses",
    "/projects/{number}/attribute",
    "/projects/{number}/releases/{release}/download",
    "/projects/{number}/delete",
    "/projects/{number}/people",
    "/projects/{number}/policy",
    "/projects/{number}/purge",
    "/projects/{number}/release-settings",
    "/projects/{number}/events",
    "/projects/{number}/charts/searches/{job}.svg",
    "/projects/{number}/methods/wizard/{job}",
    "/projects/{number}/risk/{job}/{index}.svg",
    "/projects/{number}/risk/{job}/{index}/attributes.svg",
}


@pytest.fixture
def database() -> None:
    """One database is enough here."""


@pytest.fixture
def browser_client(settings: Settings, anna: User) -> Iterator[TestClient]:
    """The application as a browser sees it through a proxy that hands over the whole path."""
    with TestClient(make_app(replace(settings, url=f"http://testserver{BASE}")), follow_redirects=False) as client:
        yield client


class Links(HTMLParser):
    """The addresses of a page: those to follow, and those that forms are sent to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.others: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name in LINK_ATTRIBUTES:
                (self.followed if name in ("href", "src") else self.others).append(value)
            assert name != "style", "the content security policy forbids it"


def log_in(client: TestClient) -> str:
    answer = client.post(f"{BASE}/login", data={"name": "anna", "password": PASSWORD, "next": "/account"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/account"), answer.text
    assert f"Path={BASE};" in answer.headers["set-cookie"]
    text = client.get(f"{BASE}/").text
    return text.split('name="csrf" content="')[1].split('"')[0]


def test_no_link_form_or_script_of_any_page_leaves_the_path(browser_client: TestClient, released: Project) -> None:
    csrf = log_in(browser_client)
    answer = browser_client.post(f"{BASE}/projects/{released.id}/risk", data={"csrf": csrf})
    assert answer.headers["location"].startswith(f"{BASE}/projects/"), answer.text
    draft = {"csrf": csrf, "name": "Linked", "do": "save"}
    answer = browser_client.post(f"{BASE}/projects/{released.id}/workspace/drafts", data=draft)
    assert answer.status_code == 303, answer.text
    forms = (f"projects/{released.id}/methods/steps/new?method=noise", "login")
    waiting, visited = deque([f"{BASE}/", *(f"{BASE}/{form}" for form in forms)]), set[str]()
    while waiting:
        address = waiting.popleft()
        key = re.sub(r"\d+(?=\.svg|&|$)", "1", address)  # pages of the same kind, once
        if key in visited:
            continue
        visited.add(key)
        answer = browser_client.get(address)
        assert answer.status_code in (200, 303), (address, answer.status_code, answer.text)
        if "location" in answer.headers:
            waiting.append(answer.headers["location"])
        if not answer.headers.get("content-type", "").startswith("text/html") or "sandbox" in str(
            answer.headers.get("content-security-policy")
        ):
            continue
        links = Links(answer.text)
        followed = [link for link in links.followed if not link.startswith("data:image/")]  # a picture within the page
        for link in followed + links.others:
            assert not link.startswith(("http:", "https:", "//")), (address, link)
            path = urlsplit(urljoin(address, link)).path
            assert path.startswith(f"{BASE}/"), f"{address} links to {link}"
            assert not path.startswith(2 * BASE), f"{address} links to {link}"
        waiting.extend(urljoin(address, link).partition("#")[0] for link in followed)
    parts = [module for _, module in inspect.getmembers(routes, inspect.ismodule)]
    linkable = {
        route.path for part in parts for route in part.router.routes if isinstance(route, APIRoute) and "GET" in route.methods
    } - NOT_LINKED
    seen = {urlsplit(address).path.removeprefix(BASE) for address in visited}
    assert {path for path in linkable if not any(compile_path(path)[0].match(address) for address in seen)} == set()


def test_a_visitor_is_sent_to_the_login_of_the_path_and_back(browser_client: TestClient) -> None:
    answer = browser_client.get(f"{BASE}/account")
    assert answer.headers["location"] == f"{BASE}/login?next=/account"
    assert f'action="{BASE}/login"' in browser_client.get(answer.headers["location"]).text
    assert browser_client.get(BASE).headers["location"] == f"{BASE}/login?next=/"


def test_a_proxy_may_also_take_the_path_off(browser_client: TestClient) -> None:
    assert browser_client.get("/healthz").text == "ok\n"
    assert browser_client.get("/account").headers["location"] == f"{BASE}/login?next=/account"
    assert browser_client.get(f"{BASE}x/account").status_code == 404


def test_forms_are_accepted_from_the_origin_of_the_public_address_only(settings: Settings, anna: User) -> None:
    form = {"name": "anna", "password": PASSWORD}
    inside = {"Origin": "https://host", "Host": "127.0.0.1:8080"}
    with TestClient(make_app(replace(settings, url="https://host/discreet")), follow_redirects=False) as client:
        assert client.post("/discreet/login", data=form, headers=inside).status_code == 303
        assert client.post("/discreet/login", data=form, headers={**inside, "Origin": "https://elsewhere"}).status_code == 403


def test_a_form_kept_over_a_login_returns_to_the_path(browser_client: TestClient, released: Project) -> None:
    browser_client.cookies.set("discreet_session", "expired")
    page = browser_client.post(f"{BASE}/projects/{released.id}/people", data={"name": "carl", "role": "editor"})
    kept = page.text.split('name="kept" value="')[1].split('"')[0].replace("&#34;", '"')
    browser_client.cookies.clear()
    answer = browser_client.post(f"{BASE}/login", data={"name": "anna", "password": PASSWORD, "kept": kept})
    assert f'action="{BASE}/projects/{released.id}/people"' in answer.text


def test_the_client_uploads_under_the_path_and_openapi_names_it(browser_client: TestClient, tmp_path: Path) -> None:
    csrf = log_in(browser_client)
    body = {"name": "program", "scopes": ["read", "write"]}
    secret = browser_client.post(f"{BASE}/api/v1/tokens", json=body, headers={"x-csrf-token": csrf}).json()["secret"]
    table = tmp_path / "people.csv"
    table.write_text(CONTENT)
    with Client(f"http://testserver{BASE}/", secret, transport=browser_client._transport) as program:
        project = program.create_project("Under a path")["id"]
        program.upload(project, table)
        assert program.datasets(project)[0]["name"] == "people.csv"
    assert browser_client.get(f"{BASE}/api/openapi.json").json()["servers"] == [{"url": BASE}]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("host/discreet", "must be http or https with a host.*https://host/discreet, not 'host"),
        ("ftp://host", "must be http or https"),
        ("https://host:port", "must be http or https"),
        ("https://host/discreet?x=1", "must be http or https"),
        ("https://me@host/discreet", "must be http or https"),
        ('https://host/"><script>', "may hold letters, digits"),
        ("https://host/a/../b", "may hold letters, digits"),
        ("https://host//discreet", "may hold letters, digits"),
    ],
)
def test_a_public_address_that_cannot_be_one_is_refused(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=message):
        Settings.make(tmp_path, url=url)


def test_values_of_data_are_not_taken_for_addresses(browser_client: TestClient, tmp_path: Path) -> None:
    from discreet.web.pages.rendering import environment

    template = environment().from_string('<p data-value="{{ value }}"><a href="{{ value }}">{{ value }}</a> href="/x"')
    assert template.render(value="//elsewhere/&") == (
        '<p data-value="//elsewhere/&amp;"><a href="//elsewhere/&amp;">//elsewhere/&amp;</a> href="/x"'
    )
