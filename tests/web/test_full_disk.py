"""A full disk: people still log in and delete, and a job may not use more than its limits."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from discreet.web.app import make_app
from discreet.web.auth import accounts
from discreet.web.db.ballast import SIZE
from discreet.web.db.store import Store
from discreet.web.projects import projects
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 MB; the test fails where it cannot be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write until the disk is full."""
    with file.open("wb", buffering=0) as opened, contextlib.suppress(OSError):
        while opened.write(os.urandom(1 << 20)):
            pass
    assert shutil.disk_usage(file.parent).free < 1 << 20


@pytest.mark.trust("Nothing lost", "On a full disk people still log in, disable users and delete projects")
def test_people_log_in_and_delete_on_a_full_disk(small_disk: Path, record_property: Callable[[str, object], None]) -> None:
    settings = Settings.make(small_disk / "home", url="http://testserver")
    store = Store.open(settings)
    with store.write() as connection:
        for name in ("anna", "carl", "bert"):
            _, link = accounts.add(connection, name, admin=name == "anna")
            user = accounts.set_password_with_link(connection, link, PASSWORD)
        project = projects.create(connection, user, "Large")
    store.close()
    with ExitStack() as stack:
        client = stack.enter_context(TestClient(make_app(settings), follow_redirects=False))
        assert (settings.home / ".ballast").stat().st_size == SIZE
        filler = settings.folder(project.id) / "data" / "filler"
        filler.parent.mkdir()
        fill(filler)
        statuses = [client.post("/login", data={"name": "bert", "password": PASSWORD}).status_code for _ in range(3)]
        assert statuses[-1] == 303, "at the latest after the ballast was given up"
        assert set(statuses) <= {303, 507}, "never an internal error"
        word = client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        upload = client.put(
            f"/api/v1/projects/{project.id}/uploads?name=a.csv", content=b"a\n1\n", headers={"x-csrf-token": word}
        )
        assert (upload.status_code, "the server's disk" in upload.json()["message"]) == (507, True)
        admin = TestClient(client.app, follow_redirects=False)  # another browser of the same server
        assert admin.post("/login", data={"name": "anna", "password": PASSWORD}).status_code == 303
        admin_word = admin.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        disabling = {"csrf": admin_word, "name": "carl", "disabled": "yes"}
        assert admin.post("/admin/users/disable", data=disabling).status_code == 303
        deleted = client.post(f"/projects/{project.id}/delete", data={"csrf": word, "name": "Large"})
        assert deleted.status_code == 303
        assert not filler.exists()
        record_property("logins on a full disk", statuses.count(303))
