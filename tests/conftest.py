"""What all tests share."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Tables of tests are small, and handing them to a second thread takes as long again as the work; but nothing may depend on the
# order in which threads return, so one worker, and a run without workers, has all threads. Before anything imports Polars.
if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import axe_playwright_python
import httpcore2
import httpx2
import pytest
from chromium import find_chromium
from hypothesis import settings
from patience import browser_wait, make_requests_patient, patient, wait_until
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sharing import BySession, put_long_units_first, read_seconds

# a busy machine is slow now and then, which says nothing about the code
settings.register_profile("discreet", deadline=None, print_blob=True)
settings.load_profile("discreet")

collect_ignore = ["shared/spark"]  # run by Spark's own processes

# one answer to how wide a terminal is and whether it has colours, whoever runs the tests
os.environ["COLUMNS"] = "120"
os.environ["NO_COLOR"] = "1"
os.environ.pop("FORCE_COLOR", None)

# every Spark that a test starts, here or in a process of its own, takes its settings from this folder
os.environ["SPARK_CONF_DIR"] = str(Path(__file__).with_name("shared") / "spark")

# a shell that starts the tests in the background has them, and every program they start, ignore Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)

# keys that tests draw go into a ring of their own, never into the user's
os.environ["DISCREET_HOME"] = tempfile.mkdtemp(prefix="discreet-home-")
atexit.register(shutil.rmtree, os.environ["DISCREET_HOME"], ignore_errors=True)


# what a slow and busy machine may take to show something, in milliseconds; a page that is right is not waited for
PATIENCE = browser_wait(60)
expect.set_options(timeout=PATIENCE)
make_requests_patient(httpx2)

# each new client reads the certificates of all authorities, which takes longer than its requests to a server of this machine
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)

_TIERS = {
    "spark": {"spark", "to_spark"},
    "browser": {"browser", "watched", "visit"},
    "servers": {"postgresql", "mysql", "database", "server", "run_server", "server_on_sqlite", "server_on_postgresql"},
}
"""For each tier of tests, the fixtures that put a test into it."""


_SLOW = read_seconds(Path(__file__).with_name("slow_tests.txt"))
"""Tests that take more than two seconds, measured by tools/slow_tests.py."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they start and how long they take, so that ``make check`` can leave them out; put long files first."""
    for item in items:
        if item.nodeid.partition("[")[0] in _SLOW:
            item.add_marker("slow")
        for tier, fixtures in _TIERS.items():
            if fixtures & set(getattr(item, "fixturenames", ())):
                item.add_marker(tier)
    put_long_units_first(items, _SLOW)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Do not look for garbage while everything is imported, which leaves none: an eighth of the time, in each worker."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules and the thousands of tests, which live to the end: a tenth of many tests' time."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let the interpreter take them apart in its usual way."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker runs all Spark tests, so that Spark starts once; other files go to whichever worker is free."""
    return BySession(config, log) if config.getoption("dist") == "loadfile" else None


INSTALL = "these tests open pages in a real browser; as root run:  apt-get update && apt-get install -y chromium"
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip
# the address bar's lists are pages with a process of their own: more processor time per window than the pages that are tested
_USELESS = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess"
_CHROMIUM = """#!/bin/bash
# Chromium without some features: they are added to the list that Playwright gives, for Chromium reads one list only
for argument; do
    case $argument in --disable-features=*) argument+=,{features} ;; esac
    arguments+=("$argument")
done
exec {path} "${{arguments[@]}}"
"""
_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")


@pytest.fixture(scope="session")
def browser_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where this machine's Chromium listens to Playwright, started once; a test that cannot have it fails."""
    path = find_chromium()
    assert path, INSTALL
    folder = tmp_path_factory.mktemp("browser")
    program, options = folder / "chromium", folder / "options.json"
    program.write_text(_CHROMIUM.format(features=_USELESS, path=shlex.quote(path)), encoding="utf-8")
    program.chmod(0o755)
    options.write_text(json.dumps({"executablePath": str(program), "args": QUIET, "host": "127.0.0.1"}), encoding="utf-8")
    command = [sys.executable, "-m", "playwright", "launch-server", "--browser", "chromium", "--config", str(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("ws://"), f"Chromium did not start: {address}"
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)  # Playwright's own child, too, which ends Chromium


@pytest.fixture(scope="module")
def browser(browser_address: str) -> Iterator[Browser]:
    """The running Chromium.

    A module's own connection, because Playwright holds the thread's event loop meanwhile, and nothing else could have one.
    """
    with sync_playwright() as playwright:
        connected = playwright.chromium.connect(browser_address)
        yield connected
        connected.close()


@dataclass
class Watched:
    """A page with everything it asked for and complained of since it was made."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def outside(self, home: str = "") -> list[str]:
        """What was asked for beyond files and data of the page's own, and the address ``home``."""
        own = ("file:", "data:", "blob:", "about:", *([home] if home else []))
        return [address for address in self.requests if not address.startswith(own)]


@contextlib.contextmanager
def _watching(browser: Browser) -> Iterator[Callable[..., Watched]]:
    contexts = []

    def make(**options: Any) -> Watched:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        seen = Watched(context.new_page())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("console", lambda line: line.type in ("error", "warning") and seen.complaints.append(line.text))
        return seen

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """Make an empty page that is watched: ``watched(color_scheme="dark", viewport={"width": 390, "height": 844})``."""
    with _watching(browser) as make:
        yield make


@pytest.fixture(scope="module")
def watched_by_module(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """The same for a page that the tests of a module open one address after another in: a new one costs a process."""
    with _watching(browser) as make:
        yield make


def _axe_faults(page: Page, rules: Sequence[str] = ()) -> list[str]:
    # a devtools evaluation is not bound by the page's own content security policy, a script tag would be
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    found = page.evaluate("only => axe.run(document, {resultTypes: ['violations'], selectors: false, ...only})", only)
    return [
        f"{fault['impact']} {fault['id']}: {fault['help']} at {node['html'][:160]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


@pytest.fixture(scope="session")
def axe_faults() -> Callable[..., list[str]]:
    """Every accessibility fault that axe-core finds in a page, however slight, one sentence each.

    ``axe_faults(page, ["color-contrast"])`` asks only for some rules.
    """
    return _axe_faults


@pytest.fixture
def effort() -> Callable[[int, int], int]:
    """How often to try: ``effort(10, 300)`` is 10 in ``make test`` and 300 in ``make trust``."""
    long = os.environ.get("DISCREET_TRUST") == "long"
    return lambda quick, thorough: thorough if long else quick


@pytest.fixture
def seed(record_property: Callable[[str, object], None]) -> int:
    """Where random faults start from; DISCREET_SEED repeats a run."""
    made = int(os.environ.get("DISCREET_SEED") or secrets.randbits(32))
    print(f"DISCREET_SEED={made}")  # shown where a test fails
    record_property("seed", made)
    return made


@pytest.fixture(autouse=True)
def _promise(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> None:
    """Whatever holds a promise says so in the run's record, from which ``tools/trust.py`` makes docs/trust.md."""
    if (mark := request.node.get_closest_marker("trust")) is not None:
        record_property("area", mark.args[0])
        record_property("promise", mark.args[1])


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A private PostgreSQL server; its URL."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgserver asks for a runtime folder that not every machine has
        import pgserver

    import psycopg

    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as link:
            link.execute("ALTER SYSTEM SET fsync = off")  # these data need not survive a power failure
            link.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mysql() -> Iterator[str]:
    """A private MariaDB or MySQL server on a port of this machine alone; its URL."""
    program = next(
        (found for name in ("mariadbd", "mysqld") for place in (None, "/usr/sbin") if (found := _which(name, place))), None
    )
    if program is None:
        pytest.fail("no MariaDB or MySQL server is installed; run: bash tools/servers.sh (apt-get install mariadb-server)")
    folder = Path(tempfile.mkdtemp(prefix="my"))
    data = folder / "data"
    user = ["--user=root"] if os.geteuid() == 0 else []
    if installer := _which("mariadb-install-db", None) or _which("mysql_install_db", None):
        first = [
            installer,
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *user,
        ]
    else:
        first = [program, "--no-defaults", "--initialize-insecure", f"--datadir={data}", *user]
    subprocess.run(first, check=True, capture_output=True)
    port = _free_port()
    options = [
        f"--datadir={data}",
        f"--socket={folder}/s",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        f"--pid-file={folder}/pid",
        "--innodb-flush-log-at-trx-commit=0",
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([program, "--no-defaults", *options, *user], stdout=log, stderr=log)
    try:
        _wait_for(port, server, folder / "log")
        import pymysql

        with pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True) as link, link.cursor() as cursor:
            cursor.execute("CREATE DATABASE test_data CHARACTER SET utf8mb4")
        yield f"mysql://root@127.0.0.1:{port}/test_data"
    finally:
        server.terminate()
        server.wait(patient(30))
        shutil.rmtree(folder, ignore_errors=True)


def _which(name: str, place: str | None) -> str | None:
    return shutil.which(name, path=place)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        if server.poll() is not None:
            pytest.fail(f"the database server stopped: {log.read_text(errors='replace')[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    wait_until(answers, "the database server does not answer")
