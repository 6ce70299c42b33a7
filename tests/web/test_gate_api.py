"""The gate over REST and pages, by the accounts of four people with one role each, on a running application."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from patience import wait_until
from warm_workers import launch_command
from web_jobs import CONTENT, POLICY

from discreet.web.app import make_app
from discreet.web.auth import tokens
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.jobs import process
from discreet.web.projects import projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


@dataclass
class Caller:
    """One account: requests by its token, and pages by its session."""

    application: TestClient
    name: str
    token: str
    place: str

    def call(self, method: str, path: str, **options: Any) -> Any:
        """A request to the REST interface below the project."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.application.request(method, f"/api/v1{self.place}{path}", headers=headers, **options)

    def page(self, path: str) -> Any:
        """A page of the project."""
        self.application.cookies.clear()
        assert self.application.post("/login", data={"name": self.name, "password": PASSWORD}).status_code == 303
        try:
            return self.application.get(f"{self.place}{path}")
        finally:
            self.application.cookies.clear()

    def run(self, kind: str, **parameters: Any) -> dict[str, Any]:
        """A job, and its result."""
        job = self.call("POST", "/jobs", json={"kind": kind, "parameters": parameters}).json()
        return self.wait(job["id"])

    def wait(self, job: str) -> dict[str, Any]:
        """The result of a job that is over."""

        def ended_job() -> dict[str, Any]:
            state = self.call("GET", f"/jobs/{job}").json()
            return {} if state["state"] in ("queued", "running") else state

        state = wait_until(ended_job, "the job did not end", seconds=120)
        assert state["state"] == "done", state
        return dict(state["result"])


@pytest.fixture
def people(
    settings: Settings,
    store: Store,
    anna: User,
    project: Project,
    add_user: Callable[..., User],
    job_processes: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[dict[str, Caller]]:
    """anna (owner), eddie (editor), carl (approver) and rita (release reader), of a project with a draft that eddie generated."""
    users = {"anna": anna} | {name: add_user(name) for name in ("eddie", "carl", "rita")}
    with store.write() as connection:
        for name, role in (("eddie", "editor"), ("carl", "approver"), ("rita", "release_reader")):
            projects.set_role(connection, anna, project, name, role)
        secrets = {name: tokens.create(connection, user, "test", ["read", "write", "release"])[1] for name, user in users.items()}
    monkeypatch.setattr(process, "COMMAND", launch_command(job_processes))
    with TestClient(make_app(settings), follow_redirects=False) as application:
        callers = {name: Caller(application, name, secrets[name], f"/projects/{project.id}") for name in users}
        eddie = callers["eddie"]
        upload = eddie.call("PUT", "/uploads", params={"name": "people.csv"}, content=CONTENT.encode()).json()["upload"]
        eddie.run("import", upload=upload)
        sections = {**POLICY, "limits": {"k_anonymity.k": 2}}
        assert callers["anna"].call("PATCH", "/policy", json={"base": 0, "sections": sections}).status_code == 200
        eddie.run("generate")
        yield callers


def pass_gate(people: dict[str, Caller], number: int = 1) -> None:
    assert people["eddie"].call("POST", f"/releases/{number}/submit", json={}).status_code == 200
    assert people["carl"].call("POST", f"/releases/{number}/approve", json={}).status_code == 200
    people["anna"].wait(people["anna"].call("POST", f"/releases/{number}/publish").json()["id"])


ORIGINALS_AND_DRAFTS = (
    "", "/people", "/policy", "/policy.yaml", "/policy/history", "/audit", "/jobs", "/datasets", "/datasets/1",
    "/datasets/1/rows", "/sources", "/release-settings", "/hierarchy?name=age", "/releases/1/report?internal=true",
)  # fmt: skip
PAGES = (
    "/data", "/attributes", "/attributes/age", "/risk", "/methods", "/methods/wizard", "/generate", "/assess", "/policy.yaml",
    "/events", "/hierarchy.csv?name=age", "/releases/1/table", "/releases/1/policy.yaml", "/releases/1/report?internal=true",
    "/charts/map.svg",
)  # fmt: skip


def test_a_release_reader_gets_no_page_and_no_answer_with_originals_or_drafts(people: dict[str, Caller]) -> None:
    rita = people["rita"]
    for path in ORIGINALS_AND_DRAFTS[1:]:
        assert rita.call("GET", path).status_code == 403, path
    for path in PAGES:
        assert rita.page(path).status_code == 403, path
    assert rita.page("").headers["location"].endswith("/release")
    assert rita.call("GET", "/releases").json() == []
    for path in ("", "/rows", "/table", "/report"):
        assert rita.call("GET", f"/releases/1{path}").status_code == 404, path
    assert rita.page("/releases/1/download").status_code == 404
    assert "No release has been approved yet" in rita.page("/release").text
    pass_gate(people)
    assert rita.call("GET", "/releases/1").json()["policy"] == {}
    assert set(rita.call("GET", "/releases/1").json()["assessment"]) == {"verdict"}
    assert rita.call("GET", "/releases/1/table").text.count("\n") == 13
    assert "was approved by carl" in rita.call("GET", "/releases/1/report").text
    page = rita.page("/release").text
    assert "person1" not in page
    assert "compared with the original" not in page
    assert "Approved by <strong>carl</strong>" in page
    for path in (*ORIGINALS_AND_DRAFTS[1:], "/releases/1/report?internal=true"):
        assert rita.call("GET", path).status_code == 403, path
    for action, body in (("submit", {}), ("approve", {}), ("return", {"comment": "x"}), ("withdraw", {"reason": "x"})):
        assert rita.call("POST", f"/releases/1/{action}", json=body).status_code == 403
    for path in ("/releases/1/publish", "/purge"):
        assert rita.call("POST", path).status_code == 403


@pytest.mark.trust("The gate", "Every view and download of an original, a draft or a link is in the audit log")
def test_every_view_and_download_is_in_the_audit_log(people: dict[str, Caller], store: Store) -> None:
    anna, eddie, carl = people["anna"], people["eddie"], people["carl"]
    search = eddie.call("POST", "/jobs", json={"kind": "select", "parameters": {"trials": 1}}).json()["id"]
    eddie.wait(search)
    upload = eddie.call("PUT", "/uploads", params={"name": "more.csv"}, content=CONTENT.encode()).json()["upload"]
    preview = eddie.call("POST", "/jobs", json={"kind": "preview", "parameters": {"upload": upload}}).json()["id"]
    eddie.wait(preview)

    def entries() -> list[tuple[str, str]]:
        with store.read() as connection:
            logged = [(entry["who"], entry["action"]) for entry in audit.list_entries(connection, limit=1000)]
        return [entry for entry in logged if entry[1] != "logged in"]

    requests: list[tuple[Callable[[], Any], tuple[str, str]]] = [
        (lambda: eddie.call("GET", "/datasets/1/rows"), ("eddie", "original viewed")),
        (lambda: eddie.page("/data"), ("eddie", "original viewed")),
        (lambda: carl.page("/attributes/age"), ("carl", "original viewed")),
        (lambda: carl.call("GET", "/releases/1/rows"), ("carl", "draft viewed")),
        (lambda: carl.call("GET", "/releases/1/table"), ("carl", "draft downloaded")),
        (lambda: eddie.page("/releases/1/download?format=csv"), ("eddie", "draft downloaded")),
        (lambda: carl.page("/releases/1/table"), ("carl", "link viewed")),
        (lambda: carl.page("/assess"), ("carl", "draft viewed")),
        (lambda: carl.call("GET", "/releases/1/report"), ("carl", "draft viewed")),
        (lambda: anna.call("GET", "/releases/1"), ("anna", "draft viewed")),
        (lambda: anna.call("GET", "/releases"), ("anna", "draft viewed")),
        (lambda: anna.page("/releases/1/download?format=csv"), ("anna", "draft downloaded")),
        (lambda: anna.page("/data"), ("anna", "original viewed")),
        (lambda: anna.page("/attributes"), ("anna", "original viewed")),
        (lambda: anna.page(f"/methods/wizard/{search}"), ("anna", "original viewed")),
        (lambda: carl.call("GET", f"/jobs/{search}"), ("carl", "original viewed")),
        (lambda: carl.call("GET", f"/jobs/{search}/events"), ("carl", "original viewed")),
        (lambda: eddie.page(f"/data/preview/{preview}"), ("eddie", "original viewed")),
        (lambda: eddie.call("GET", f"/previews/{preview}"), ("eddie", "original viewed")),
    ]
    for send, expected in requests:
        before = len(entries())
        answer = send()
        assert answer.status_code == 200, (expected, answer.text)
        new = [entry for entry in entries()[: len(entries()) - before] if entry[1] != "job submitted"]  # an export is a job
        assert new == [expected]
    pass_gate(people)
    for caller in people.values():
        caller.call("GET", "/releases/1/table")
        assert entries()[0] == (caller.name, "release downloaded")


def test_parallel_requests_generate_one_release(people: dict[str, Caller]) -> None:
    anna = people["anna"]
    revision = anna.call("GET", "").json()["revision"]
    anna.call("PATCH", "/policy", json={"base": revision, "sections": {"plan": {"steps": [{"method": "remove_identifiers"}]}}})
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: anna.call("POST", "/jobs", json={"kind": "generate"}), range(3)))
    assert {answer.status_code for answer in answers} == {202}
    (job,) = {answer.json()["id"] for answer in answers}
    assert anna.wait(job)["release"] == 2
    assert anna.call("POST", "/jobs", json={"kind": "generate"}).json()["id"] == job
    assert [release["number"] for release in anna.call("GET", "/releases").json()] == [2, 1]


def test_a_name_cannot_be_typed_and_roles_are_checked(people: dict[str, Caller]) -> None:
    eddie, carl, anna = people["eddie"], people["carl"], people["anna"]
    assert anna.call("POST", "/releases/1/sign", json={"name": "Dr. Anybody", "note": ""}).status_code == 404
    assert eddie.call("POST", "/releases/1/submit", json={"note": "done"}).json()["state"] == "submitted"
    assert eddie.call("POST", "/releases/1/approve", json={}).status_code == 403
    assert carl.call("POST", "/releases/1/approve", json={"reason": "", "name": "Dr. Anybody"}).status_code == 422
    assert carl.call("PATCH", "/policy", json={"base": 1, "sections": {"limits": None}}).status_code == 403
    assert carl.call("POST", "/releases/1/publish").status_code == 403
    assert anna.call("POST", "/releases/1/publish").status_code == 409
    approved = carl.call("POST", "/releases/1/approve", json={}).json()
    assert (approved["approval"]["by"], approved["approval"]["verdict"]) == ("carl", "met")
    assert eddie.call("POST", "/releases/1/publish").status_code == 403
    assert carl.call("POST", "/releases/1/approve", json={}).status_code == 409
    settings = {"limits": {"k_anonymity.k": 3}, "retention_days": 30, "grants": []}
    assert eddie.call("PUT", "/release-settings", json=settings).status_code == 403
    assert anna.call("PUT", "/release-settings", json=settings).json() == settings
    assert eddie.call("GET", "/release-settings").json() == settings
    assert anna.call("PUT", "/release-settings", json={"retention_days": 0}).status_code == 422
    assert anna.call("DELETE", "").status_code == 409
