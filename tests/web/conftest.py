"""A server's parts on every database, and whole servers to talk to."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from discreet.web import accounts, projects
from discreet.web.accounts import User
from discreet.web.app import make_app
from discreet.web.projects import Project
from discreet.web.settings import Settings
from discreet.web.store import Store

PASSWORD = "a longer password than most"
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """An empty database of each kind; None is the embedded default."""
    if request.param == "sqlite":
        return None
    server = request.getfixturevalue("postgresql")
    name = f"test_{next(_numbers)}"
    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return str(server).replace("/postgres?", f"/{name}?")


@pytest.fixture
def settings(database: str | None, tmp_path: Path) -> Settings:
    return replace(Settings.make(tmp_path / "home", database), url="http://testserver")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    made = Store(settings.database)
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def add_user(store: Store) -> Callable[..., User]:
    """Makes users who have set their password."""

    def add(name: str, *, admin: bool = False) -> User:
        with store.write() as connection:
            _, secret = accounts.add(connection, name, admin=admin)
            return accounts.use_link(connection, secret, PASSWORD)

    return add


@pytest.fixture
def anna(add_user: Callable[..., User]) -> User:
    """An administrator."""
    return add_user("anna", admin=True)


@pytest.fixture
def project(store: Store, anna: User) -> Project:
    """A project of anna's."""
    with store.write() as connection:
        return projects.create(connection, anna, "Patients")


@pytest.fixture
def client(settings: Settings, anna: User) -> Iterator[TestClient]:
    """The application, its jobs running, nobody logged in."""
    with TestClient(make_app(settings), follow_redirects=False) as made:
        yield made


@pytest.fixture
def logged_in(client: TestClient) -> TestClient:
    """The application with anna logged in; ``client.headers`` say the session's word."""
    answer = client.post("/login", data={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    page = client.get("/").text
    client.headers["x-csrf-token"] = page.split('name="csrf" content="')[1].split('"')[0]
    return client
