"""The server is killed at random moments: saved data are kept, and jobs recorded as done are done."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
from patience import patient, wait_until

import discreet
from discreet.errors import SourceError
from discreet.web.auth import accounts, tokens
from discreet.web.client import Client
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.settings import Settings

PROGRAM = (sys.executable, "-c", "from discreet.cli import main; main()")
SECTIONS = {
    "attributes.name": {"role": "identifier"},
    "attributes.age": {"role": "key"},
    "limits": {"k_anonymity.k": 3},
    "plan": {
        "steps": [{"method": "remove_identifiers"}, {"method": "microaggregation", "columns": ["age"], "size": 3}],
    },
}


class Killable:
    """``discreet serve`` on one data directory, started again after every kill."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.log = folder / "server.log"
        self.settings = Settings.make(self.home)
        store = Store.open(self.settings)
        store.migrate()
        with store.write() as connection:
            _, link = accounts.add(connection, "anna", admin=True)
            user = accounts.set_password_with_link(connection, link, "a longer password than most")
            _, self.token = tokens.create(connection, user, "test", ["read", "write", "release"])
        store.close()

    def start(self) -> Client:
        """Start it and wait until it answers."""
        with self.log.open("wb") as out:
            command = [*PROGRAM, "serve", "--port", "0", "--home", str(self.home)]
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": "300"})

        def read_address() -> str:
            text = self.log.read_text(errors="replace")
            assert " is at http" in text or self.process.poll() is None, text
            return text.split(" is at ")[1].split()[0] if " is at http" in text else ""

        return Client(wait_until(read_address, "the server did not start"), self.token)

    def kill(self) -> None:
        """kill -9, and see that no job goes on without its server."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        _, alive = psutil.wait_procs(children, timeout=patient(10))
        assert not alive, "a job outlived its server"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(patient(30))


def settled(client: Client, project: int, job: str) -> dict[str, Any]:
    """A job once it is over."""

    def ended_job() -> dict[str, Any] | None:
        status = client.job(project, job)
        return None if status["state"] in ("queued", "running") else status

    return wait_until(ended_job, "the job did not end", seconds=120) or {}


def whole(server: Killable, client: Client, project: int) -> int:
    """Check that every listed release exists byte for byte and that no draft is published; returns the number of releases."""
    releases = client.releases(project)
    for release in releases:
        downloaded = server.home / f"{release['number']}.parquet"
        client.download(project, release["number"], downloaded)
        assert pl.read_parquet(downloaded).height == release["records"] == 300
        assert any(
            hashlib.sha256(path.read_bytes()).hexdigest() == release["sha256"]
            for path in (server.home / "projects" / str(project)).rglob("*.parquet")
        )
        assert release["state"] == "draft"
    with pytest.raises(SourceError):
        discreet.read(f"{server.settings.published}#clinic_masked")  # nothing is published before somebody approves it
    return len(releases)


@pytest.mark.trust(
    "Nothing lost", "A server killed at any moment of a job starts again with all that was saved, and no job is lost or untrue"
)
def test_a_killed_server_restarts_without_losing_data_or_jobs(
    tmp_path: Path, seed: int, effort: Callable[[int, int], int], record_property: Callable[[str, object], None]
) -> None:
    chance, server = random.Random(seed), Killable(tmp_path)
    source = tmp_path / "clinic.csv"
    pl.DataFrame({"name": [f"P{n}" for n in range(300)], "age": [n % 90 for n in range(300)]}).write_csv(source)
    client = server.start()
    project = client.create_project("Clinic", "clinic_masked")["id"]
    client.upload(project, source)
    client.edit(project, SECTIONS)
    started = time.monotonic()
    client.run(project, "generate")
    duration = time.monotonic() - started
    kills = effort(2, 30)
    states: dict[str, int] = {}
    for number in range(kills):
        saved = client.edit(project, {"limits": {"k_anonymity.k": 10 + number}})["revision"]
        job = client.submit(project, "generate")
        time.sleep(chance.uniform(0, 1.2 * duration))
        client.close()
        server.kill()
        client = server.start()
        assert client.project(project)["revision"] == saved, "an edit that was answered is kept"
        ended = settled(client, project, job)
        states[ended["state"]] = states.get(ended["state"], 0) + 1
        assert ended["state"] in ("done", "interrupted"), ended
        assert ended["what"]
        whole(server, client, project)
    assert whole(server, client, project) == 1 + states.get("done", 0), "a job that is done made one release, not two"
    client.close()
    server.stop()
    store = Store.open(server.settings)
    with store.read() as connection:
        assert audit.verify_chain(connection) is None
    store.close()
    record_property("servers killed", kills)
    record_property("jobs that ended well all the same", states.get("done", 0))
