"""Downloads in other formats are jobs: few processes however many ask, and a page that follows the job."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from fastapi.testclient import TestClient
from patience import patient, wait_until

import discreet
from discreet.web.jobs import fairness
from discreet.web.pages import downloads

POLICY = {
    "attributes.name": {"role": "identifier"},
    "attributes.age": {"role": "key"},
    "plan": {"steps": [{"method": "remove_identifiers"}]},
}
TABLE = "name,age\n" + "".join(f"p{number},{number % 50}\n" for number in range(200))


def release(client: Any, folder: Path) -> tuple[int, int]:
    """A project with one release."""
    (folder / "people.csv").write_text(TABLE)
    project = client.create_project("Exports")["id"]
    client.upload(project, folder / "people.csv")
    client.edit(project, POLICY)
    return project, client.run(project, "generate")["release"]


@pytest.mark.trust("Under load", "Many downloads of one user at once are a few processes, and others are answered meanwhile")
def test_sixty_downloads_at_once_are_few_processes(run_server: Any, tmp_path: Path) -> None:
    with (
        run_server(tmp_path / "server") as server,
        httpx2.Client(base_url=server.url, trust_env=False, timeout=patient(60)) as person,
    ):
        page = person.post("/login", data={"name": server.name, "password": server.password}, follow_redirects=True)
        person.headers["x-csrf-token"] = page.text.split('name="csrf" content="')[1].split('"')[0]
        secret = person.post("/api/v1/tokens", json={"name": "script", "scopes": ["read", "write"]}).json()["secret"]
        client = discreet.Client(server.url, secret)
        project, number = release(client, tmp_path)
        formats = ("csv", "xlsx", "jsonl", "sav", "dta", "tsv")
        statuses: list[int] = []

        def download(at: int) -> None:
            headers = {"Authorization": f"Bearer {secret}"}
            path = f"{server.url}/api/v1/projects/{project}/releases/{number}/table"
            answer = httpx2.get(path, params={"format": formats[at % len(formats)]}, headers=headers, timeout=patient(120))
            statuses.append(answer.status_code)

        threads = [threading.Thread(target=download, args=(at,)) for at in range(60)]
        for thread in threads:
            thread.start()
        most, slowest = 0, 0.0
        while any(thread.is_alive() for thread in threads):
            workers = [
                process for process in psutil.Process().children(recursive=True) if "discreet.web.jobs.worker" in command(process)
            ]
            most = max(most, len(workers))
            started = time.monotonic()
            assert httpx2.get(f"{server.url}/healthz", timeout=patient(20)).status_code == 200
            slowest = max(slowest, time.monotonic() - started)
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        assert set(statuses) <= {200, 202, 429}, statuses
        assert 1 <= most <= fairness.EXPORT_PLACES + 1
        assert slowest < patient(10)
        client.download(project, number, tmp_path / "again.csv")
        assert len((tmp_path / "again.csv").read_text().splitlines()) == 201
        client.close()


def command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def test_a_download_that_takes_longer_shows_a_page_that_follows_it(
    logged_in: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = logged_in.post("/api/v1/projects", json={"name": "Slow"}).json()["id"]
    api = f"/api/v1/projects/{project}"
    receipt = logged_in.put(f"{api}/uploads", params={"name": "people.csv"}, content=TABLE.encode()).json()
    _run(logged_in, api, "import", {"upload": receipt["upload"], "name": "people.csv"})
    base = logged_in.get(api).json()["revision"]
    assert logged_in.patch(f"{api}/policy", json={"base": base, "sections": POLICY}).status_code == 200
    _run(logged_in, api, "generate", {})
    monkeypatch.setattr(downloads, "WAIT_SECONDS", 0.0)
    address = f"/projects/{project}/releases/1/download?format=csv"
    waiting = logged_in.get(address)
    assert (waiting.status_code, "Preparing the download" in waiting.text) == (202, True)
    assert 'http-equiv="refresh"' in waiting.text
    monkeypatch.setattr(downloads, "WAIT_SECONDS", patient(60.0))
    answer = logged_in.get(address)
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    assert len(answer.text.splitlines()) == 201
    kinds = [job["kind"] for job in logged_in.get(f"{api}/jobs").json()]
    assert kinds.count("export") == 1, "the second request waited for the job of the first"


def _run(client: TestClient, api: str, kind: str, parameters: dict[str, Any]) -> None:
    job = client.post(f"{api}/jobs", json={"kind": kind, "parameters": parameters}).json()["id"]

    def ended_job() -> dict[str, Any]:
        state = client.get(f"{api}/jobs/{job}").json()
        return {} if state["state"] in ("queued", "running") else state

    state = wait_until(ended_job, "the job did not end", seconds=120)
    assert state["state"] == "done", state["what"]


@pytest.mark.trust("Under load", "A job ends at its time limit, and with its own memory limit")
def test_a_job_has_a_memory_limit_of_its_own(tmp_path: Path) -> None:
    """The process of a job that needs more memory than it may use fails alone, and says so."""
    import subprocess
    import sys

    program = (
        "import os\n"
        "from discreet.web.jobs import worker\n"
        "worker._limit_resources({'memory': 1 << 29, 'file_bytes': 1000})\n"
        "assert os.environ['DISCREET_MEMORY'] == str(1 << 29)\n"
        "try:\n    bytearray(4 << 30)\n    print('allocated')\nexcept MemoryError:\n    print('refused')\n"
        "file = open('large', 'wb', buffering=0)\n"
        "try:\n    while file.write(b'x' * 500):\n        pass\nexcept OSError as error:\n    print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["refused", "27"], done.stdout
