"""A page notices that its server is gone, and the administrator's pages of jobs, quotas and grants."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from patience import browser_wait
from playwright.sync_api import expect

LONG = browser_wait(60)


def log_in(page: Any, server: Any) -> None:
    page.goto(f"{server.url}/login")
    page.get_by_label("Name").fill(server.name)
    page.get_by_label("Password").fill(server.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{server.url}/")


def server_process(server: Any) -> psutil.Process:
    port = urlsplit(server.url).port
    for process in psutil.Process().children():
        if any(listening.laddr.port == port for listening in process.net_connections() if listening.status == "LISTEN"):
            return process
    raise AssertionError("the server is not running")


def take_picture(page: Any, folder: Path | None, name: str) -> None:
    if folder is not None:
        page.screenshot(path=folder / name, full_page=True)


@pytest.mark.trust("Nothing lost", "A page of a server that is gone says so, and does not go on showing a job as running")
def test_a_page_notices_that_the_server_is_gone(
    run_server: Any, watched: Callable[..., Any], tmp_path: Path, screenshots: Path | None
) -> None:
    with run_server(tmp_path / "server") as server:
        page = watched().page
        log_in(page, server)
        page.goto(f"{server.url}/projects/new")
        page.get_by_label("Name", exact=True).fill("Gone")
        page.get_by_role("button", name="Create").click()
        page.wait_for_url("**/data")
        number = page.url.split("/")[-2]
        database = server.home / "discreet.db"
        with closing(sqlite3.connect(database, timeout=30)) as link:  # a job of another server, so that nobody finishes it
            link.execute(
                "INSERT INTO discreet_jobs (id, project_id, user_id, kind, parameters, state, cancelling, what, done, total, "
                "attempts, created, started, ran) VALUES (?, ?, 1, 'import', '{}', 'running', 0, 'reading', 1, 2, 1, ?, ?, 0)",
                ("f" * 32, int(number), time.time(), time.time()),
            )
            link.commit()
        page.reload()
        expect(page.locator('[data-job] [data-part="state"]')).to_have_text("running")
        process = server_process(server)
        process.suspend()  # it does not close its connections, as a machine that lost its power does not
        try:
            expect(page.locator(".notice.live")).to_contain_text("The server does not respond", timeout=LONG)
            expect(page.locator('[data-job] [data-part="state"]')).to_have_text("unknown")
            take_picture(page, screenshots, "server-gone.png")
        finally:
            process.resume()
        expect(page.locator('[data-job] [data-part="state"]')).to_have_text("running", timeout=LONG)


def test_the_administrators_pages(
    run_server: Any, watched: Callable[..., Any], axe_faults: Callable[..., list[str]], tmp_path: Path, screenshots: Path | None
) -> None:
    with closing(sqlite3.connect(tmp_path / "source.db")) as link:
        link.execute("CREATE TABLE people (age INTEGER)")
        link.commit()
    with run_server(tmp_path / "server", "--source", f"clinic=sqlite:///{tmp_path}/source.db") as server:
        seen = watched(viewport={"width": 1280, "height": 900})
        page = seen.page
        log_in(page, server)
        page.goto(f"{server.url}/admin/users")
        page.get_by_role("link", name="Quotas and grants").click()
        page.get_by_label("Disk space (GB)").fill("12")
        page.get_by_role("button", name="Set quota").click()
        page.get_by_text("12.0 GB").wait_for()
        page.get_by_label("Table", exact=True).fill("people")
        page.get_by_role("button", name="Grant").click()
        page.get_by_role("button", name="Take people of clinic back from admin").wait_for()
        assert axe_faults(page, ()) == []
        take_picture(page, screenshots, "admin-limits.png")
        page.goto(f"{server.url}/admin/jobs")
        assert axe_faults(page, ()) == []
        take_picture(page, screenshots, "admin-jobs.png")
        page.goto(f"{server.url}/admin/audit")
        page.get_by_text("The hash chain is intact").wait_for()
        assert axe_faults(page, ()) == []
        take_picture(page, screenshots, "admin-audit.png")
        assert seen.complaints == []
