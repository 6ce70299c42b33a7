"""The application with single sign-on at a provider that tests can spoil."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hostile_provider import CLIENT_ID, CLIENT_SECRET, ISSUER, HostileProvider
from httpx2 import Response

from discreet.web.app import make_app
from discreet.web.auth.sso.provider import Provider
from discreet.web.auth.sso.settings import OidcSettings
from discreet.web.settings import Institution, Settings

URL = "http://testserver"


class SsoClient(TestClient):
    """A browser, and the provider that its user logs in at."""

    provider: HostileProvider

    def log_in(self, subject: str, next_address: str = "/", **claims: Any) -> Response:
        """The whole login of a person, as a browser does it; returns the answer of the callback."""
        away = self.get("/login/oidc", params={"next": next_address})
        assert away.status_code == 303, away.text
        answer = self.provider.log_in(away.headers["location"], subject, **claims)
        return self.get("/login/oidc/callback", params=answer)

    def use_csrf(self) -> None:
        """Send the session's token with every request, as the pages' scripts do."""
        self.headers["x-csrf-token"] = self.get("/").text.split('name="csrf" content="')[1].split('"')[0]


@pytest.fixture(scope="session")
def shared_provider() -> HostileProvider:
    return HostileProvider()


@pytest.fixture
def provider(shared_provider: HostileProvider) -> HostileProvider:
    """The provider as it is before somebody spoils it."""
    shared_provider.__init__()  # type: ignore[misc]
    return shared_provider


@contextmanager
def open_sso_server(
    home: Path, provider: HostileProvider, settings: dict[str, Any] | None = None, **oidc: Any
) -> Iterator[SsoClient]:
    """An application with its provider."""
    chosen = OidcSettings.make(ISSUER, CLIENT_ID, client_secret=CLIENT_SECRET, **oidc)
    assert chosen is not None
    app = make_app(replace(Settings.make(home, institution=Institution(oidc=chosen, **(settings or {}))), url=URL))
    spoiled = Provider(chosen, f"{URL}/login/oidc/callback", provider.transport())
    app.state.core = replace(app.state.core, provider=spoiled)
    with SsoClient(app, base_url=URL, follow_redirects=False) as client:
        client.provider = provider
        yield client


@pytest.fixture
def open_server(tmp_path: Path, provider: HostileProvider) -> Callable[..., Any]:
    """``with open_server(login_groups=["staff"], settings={"passwords": False}) as browser``: the test's own application."""
    return partial(open_sso_server, tmp_path / "home", provider)


@pytest.fixture(scope="session")
def shared_sso_server(tmp_path_factory: pytest.TempPathFactory, shared_provider: HostileProvider) -> Iterator[SsoClient]:
    with open_sso_server(tmp_path_factory.mktemp("sso") / "home", shared_provider) as client:
        yield client


@pytest.fixture
def browser_of_sso(shared_sso_server: SsoClient, provider: HostileProvider) -> SsoClient:
    """A browser without cookies, at a server that tests share and that remembers nothing of its provider."""
    shared_sso_server.cookies.clear()
    shared_sso_server.headers.pop("x-csrf-token", None)
    core = shared_sso_server.app.state.core  # type: ignore[attr-defined]
    core.provider.__init__(core.provider.settings, core.provider.redirect_uri, provider.transport())
    return shared_sso_server
