"""Fixtures: parts of the server on every database, and running servers."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import quick_server
from fastapi.testclient import TestClient
from patience import browser_wait, patient, wait_until
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect
from quick_server import use_cheap_hashes, wait_for_slow_machines
from sqlalchemy import create_engine, make_url, text
from warm_workers import launch_command, warm_workers
from web_jobs import CONTENT, POLICY, run

from discreet import Client
from discreet.reproduce.appendix import patients
from discreet.web.app import make_app
from discreet.web.auth import accounts
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.jobs import process
from discreet.web.projects import datasets, policies, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

WAYS = (("light", "light", None), ("dark", "dark", None), ("phone", "light", 390), ("phone-dark", "dark", 390))
"""How a page is checked: what the picture is called, the colours, and how wide it is; the last one for its picture only."""
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that depend on them, which is all that differs in the dark."""
FOLLOWED = '[data-job][data-state="queued"], [data-job][data-state="running"]'
LONG = browser_wait(120)
"""Maximum duration of a job in milliseconds on a slow, busy machine."""
PASSWORD = "a longer password than most"
_numbers = itertools.count()
_PRODUCT_HASHER = accounts._hasher


@dataclass(frozen=True)
class TableA1:
    """Table A.1 of Truta et al. as a file, with the role of each attribute."""

    file: Path
    roles: dict[str, str]


@pytest.fixture
def table_a1(tmp_path: Path) -> TableA1:
    data = patients()
    data.frame.write_csv(tmp_path / "patient.csv")
    return TableA1(tmp_path / "patient.csv", {name: attribute.role.value for name, attribute in data.policy.attributes.items()})


@pytest.fixture(autouse=True, scope="session")
def _quick_application() -> Iterator[None]:
    """Cheap password hashes and patience with downloads in this process; servers that a test starts are the product's."""
    with pytest.MonkeyPatch.context() as patch:
        use_cheap_hashes(patch.setattr)
        wait_for_slow_machines(patch.setattr)
        yield


@pytest.fixture(scope="session")
def job_processes() -> Iterator[str]:
    """The address of a process that jobs are forked from, which spares them their imports."""
    with warm_workers() as address:
        yield address


@pytest.fixture
def product_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as the product does."""
    monkeypatch.setattr(accounts, "_hasher", _PRODUCT_HASHER)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """A database of each kind, empty unless the test has it opened as ``store``; None is the embedded default."""
    if request.param == "sqlite":
        return None
    if request.param == "mysql":
        return new_mysql_database(request.getfixturevalue("mysql"))
    template = request.getfixturevalue("migrated_database") if "store" in request.fixturenames else ""
    return new_database(request.getfixturevalue("postgresql"), template)


def new_database(server: str, template: str = "") -> str:
    """The address of a new database on a PostgreSQL server: empty, or a copy of a database of that name."""
    name = f"test_{next(_numbers)}"
    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}" if template else f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="session")
def migrated_database(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with the current schema and nothing in it: a copy takes less time than fifty changes of a schema."""
    address = new_database(postgresql)
    Store.open(Settings.make(tmp_path_factory.mktemp("migrated"), address)).close()
    return str(make_url(address).database)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for SQLite: a file to copy."""
    home = tmp_path_factory.mktemp("migrated") / "home"
    Store.open(Settings.make(home, None)).close()
    return home / "discreet.db"


@pytest.fixture(scope="session")
def create_database(postgresql: str) -> Callable[[], str]:
    """Creates an empty database on PostgreSQL; its address."""
    return lambda: new_database(postgresql)


def new_mysql_database(server: str) -> str:
    """The address of an empty database on a MySQL server."""
    name = f"test_{next(_numbers)}"
    engine = create_engine(server.replace("mysql://", "mysql+pymysql://"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE DATABASE {name} CHARACTER SET utf8mb4"))
    engine.dispose()
    return f"{server.rpartition('/')[0]}/{name}"


@pytest.fixture
def settings(database: str | None, tmp_path: Path) -> Settings:
    return replace(Settings.make(tmp_path / "home", database), url="http://testserver")


@pytest.fixture
def store(settings: Settings, migrated_file: Path) -> Iterator[Store]:
    if settings.database.startswith("sqlite"):
        shutil.copy(migrated_file, settings.home / migrated_file.name)
    opened = Store.open(settings)
    yield opened
    opened.close()


@pytest.fixture
def add_user(store: Store) -> Callable[..., User]:
    """Makes users who have set their password."""

    def add(name: str, *, admin: bool = False) -> User:
        with store.write() as connection:
            _, secret = accounts.add(connection, name, admin=admin)
            return accounts.set_password_with_link(connection, secret, PASSWORD)

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
def carl(store: Store, anna: User, project: Project, add_user: Callable[..., User]) -> User:
    """An approver of anna's project."""
    carl = add_user("carl")
    with store.write() as connection:
        projects.set_role(connection, anna, project, "carl", "approver")
    return carl


@pytest.fixture
def released(settings: Settings, store: Store, anna: User, project: Project) -> Project:
    """A project with one draft, generated by anna, that meets the limit she has set."""
    uploaded = datasets.receive_upload(settings, project, iter([CONTENT.encode()]), "people.csv")
    run(settings, store, anna, project, "import", upload=uploaded.name, name="people.csv")
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {**POLICY, "limits": {"k_anonymity.k": 2}})
    run(settings, store, anna, project, "generate")
    with store.read() as connection:
        return projects.get(connection, anna, project.id)


@pytest.fixture
def client(settings: Settings, anna: User, job_processes: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The application, its jobs running, nobody logged in."""
    monkeypatch.setattr(process, "COMMAND", launch_command(job_processes))
    with TestClient(make_app(settings), follow_redirects=False) as test_client:
        yield test_client


@pytest.fixture
def logged_in(client: TestClient) -> TestClient:
    """The application with anna logged in; ``client.headers`` hold the CSRF token."""
    answer = client.post("/login", data={"name": "anna", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    page = client.get("/").text
    client.headers["x-csrf-token"] = page.split('name="csrf" content="')[1].split('"')[0]
    return client


@dataclass(frozen=True)
class Server:
    """A real server in a process of its own, with an administrator who has set a password."""

    url: str
    home: Path
    name: str = "admin"
    password: str = PASSWORD
    database: str = ""
    """The address of its database where that is not SQLite in the data directory."""


@contextmanager
def running(home: Path, *options: str, job_processes: str = "") -> Iterator[Server]:
    """``discreet serve`` in a process of its own while the block runs; its administrator has set a password.

    With the address of ``job_processes`` it is the quick server that tests share, without it the product's own.
    """
    home.mkdir(parents=True, exist_ok=True)
    log = home / "server.log"
    product = [sys.executable, "-c", "from discreet.cli import main; main()"]
    program = [sys.executable, quick_server.__file__, job_processes] if job_processes else product
    command = [*program, "serve", "--port", "0", "--home", str(home / "data"), *options]
    with log.open("wb") as out:
        environment = {**os.environ, "COLUMNS": "300"}
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        link = _wait_for_link(process, log)
        url, _, secret = link.partition("/welcome/")
        answer = httpx.post(link, data={"password": PASSWORD, "again": PASSWORD})
        assert answer.status_code == 303, answer.text
        assert secret
        yield Server(url, home / "data")
    finally:
        process.terminate()
        process.wait(patient(30))


@pytest.fixture(scope="session")
def run_server() -> Any:
    """``with run_server(folder, *options) as server``: for a test that may harm it, or ends it."""
    return running


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    """A server that tests share, so each makes projects of its own: on SQLite, or on what the test's module says.

    ``pytestmark = pytest.mark.parametrize("server", ["sqlite", "postgresql"], indirect=True)`` runs a walk on each.
    """
    kind = getattr(request, "param", "sqlite")
    running_server: Server = request.getfixturevalue(f"server_on_{kind}")
    return running_server


@pytest.fixture(scope="session")
def server_on_sqlite(tmp_path_factory: pytest.TempPathFactory, job_processes: str) -> Iterator[Server]:
    """``discreet serve`` on SQLite in its data directory."""
    with running(tmp_path_factory.mktemp("server"), job_processes=job_processes) as started:
        yield started


@pytest.fixture(scope="session")
def server_on_postgresql(postgresql: str, tmp_path_factory: pytest.TempPathFactory, job_processes: str) -> Iterator[Server]:
    """``discreet serve`` on an empty database of a real PostgreSQL."""
    address = new_database(postgresql)
    with running(tmp_path_factory.mktemp("server"), "--database", address, job_processes=job_processes) as started:
        yield replace(started, database=address)


def log_in(context: Any, server: Server, name: str, password: str) -> None:
    """Give a browser a session of its own without the login page, which has tests of its own."""
    answer = httpx.post(f"{server.url}/login", data={"name": name, "password": password})
    assert answer.status_code == 303, answer.text
    context.add_cookies([{"name": cookie, "value": value, "url": server.url} for cookie, value in answer.cookies.items()])


@pytest.fixture
def import_table(server: Server) -> Callable[[str, Path], str]:
    """Make a project with an imported and analyzed table, without its pages, which other walks are about; returns its address."""

    def make(name: str, file: Path) -> str:
        with httpx.Client(base_url=server.url, timeout=patient(60)) as person:
            assert person.post("/login", data={"name": server.name, "password": server.password}).status_code == 303
            person.headers["x-csrf-token"] = person.get("/").text.split('name="csrf" content="')[1].split('"')[0]
            token = {"name": f"import {next(_numbers)}", "scopes": ["read", "write"]}
            secret = person.post("/api/v1/tokens", json=token).json()["secret"]
            with Client(server.url, secret) as program:
                number = program.create_project(name)["id"]
                program.upload(number, file)
            jobs = f"/api/v1/projects/{number}/jobs"
            wait_until(
                lambda: all(job["state"] == "done" for job in person.get(jobs).json()), "the table was not analyzed", seconds=120
            )
        return f"{server.url}/projects/{number}"

    return make


@pytest.fixture
def visit(server: Server, watched: Callable[..., Any]) -> Callable[..., Any]:
    """Open a watched page whose browser is logged in as the administrator, or as who is named."""

    def open_page(name: str = server.name, password: str = server.password, **options: Any) -> Any:
        opened = watched(**{"viewport": {"width": 1280, "height": 900}, **options})
        log_in(opened.page.context, server, name, password)
        opened.page.goto(f"{server.url}/")
        return opened

    return open_page


@pytest.fixture(scope="session")
def screenshots() -> Path | None:
    """Where pictures of the pages go: DISCREET_SCREENSHOTS. Without it none are taken, for nobody would see them."""
    configured = os.environ.get("DISCREET_SCREENSHOTS")
    if not configured:
        return None
    folder = Path(configured)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def check_page(server: Server, screenshots: Path | None, axe_faults: Callable[..., list[str]]) -> Callable[..., None]:
    """Check a page in light, dark and on a phone: no barrier, nothing wider than the screen, nothing from outside.

    ``every_rule`` looks for barriers on the phone, too: done once for each page (test_every_page.py), not for each of its states.
    """

    def check(seen: Any, name: str, *, every_rule: bool = False) -> None:
        page = seen.page
        size = page.viewport_size
        # the pages look the same on every database, so they are checked on one
        for kind, scheme, width in () if server.database else WAYS if screenshots else WAYS[:-1]:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 844} if width else size)
            picture = screenshots / f"{name}-{kind}.png" if screenshots else None
            rules = None if width and not (every_rule and scheme == "light") else COLOURS if scheme == "dark" else ()
            faults, (page_width, screen_width) = _judge(page, axe_faults, rules, picture)
            assert faults == [], f"{name}, {kind}"
            assert page_width <= screen_width, f"{name}, {kind}: the page is {page_width} wide on a screen of {screen_width}"
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(size)
        if screenshots and not server.database:
            page.emulate_media(media="print")
            page.screenshot(path=screenshots / f"{name}-print.png", full_page=True)
            page.emulate_media(media="screen")
        assert seen.complaints == [], name
        assert seen.outside(server.url) == [], name

    return check


def _judge(
    page: Any, axe_faults: Callable[..., list[str]], rules: tuple[str, ...] | None, picture: Path | None
) -> tuple[list[str], list[int]]:
    """Barriers (by all rules, some, or none) and widths of a page.

    It is judged again where it reloaded itself meanwhile, as pages do when a job they follow is over.
    """
    for _ in range(5):
        try:
            if picture is not None:
                page.screenshot(path=picture, full_page=True)
            faults = [] if rules is None else axe_faults(page, rules)
            return faults, page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        except PlaywrightError as error:
            if not re.search("navigat|context|capture", str(error)):
                raise
            page.wait_for_load_state("load")
    pytest.fail(f"{page.url} reloads itself again and again")


@pytest.fixture(scope="session")
def settled() -> Callable[[Any], None]:
    """Wait until a page follows no job any more: it reloads itself then, and what was filled in just before would be lost."""
    return lambda page: expect(page.locator(FOLLOWED)).to_have_count(0, timeout=LONG)


def _wait_for_link(process: subprocess.Popen[bytes], log: Path) -> str:
    def read_link() -> str:
        ended = process.poll() is not None  # before the log is read, so that its last lines are there
        output = log.read_text(errors="replace")
        if link := re.search(r"http://\S+/welcome/\S+", output):
            return link[0]
        assert not ended, f"the server did not start: {output[-2000:]}"
        return ""

    return wait_until(read_link, lambda: f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
