"""The client against a real application: the walk of the documentation, as a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient

import discreet
from discreet.errors import DataError, SourceError
from discreet.web.auth import tokens
from discreet.web.auth.accounts import User
from discreet.web.client import Client, ServerError
from discreet.web.db.store import Store


class _InProcessTransport:
    """Sends a client's requests to an application in this process."""

    def __init__(self, to: TestClient) -> None:
        self.to = to

    def __enter__(self) -> _InProcessTransport:
        return self

    def __exit__(self, *_ended: object) -> None: ...

    def close(self) -> None: ...

    def handle_request(self, request: object) -> object:
        return self.to._transport.handle_request(request)  # type: ignore[arg-type]


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


@pytest.fixture
def program(logged_in: TestClient) -> Iterator[Client]:
    body = {"name": "a program", "scopes": ["read", "write", "release"]}
    secret = logged_in.post("/api/v1/tokens", json=body).json()["secret"]
    with Client("http://testserver", secret, transport=_InProcessTransport(logged_in)) as client:  # type: ignore[arg-type]
        yield client


def test_a_program_can_upload_mask_download_and_submit(program: Client, tmp_path: Path) -> None:
    source = tmp_path / "patients.csv"
    pl.DataFrame({"name": [f"P{n}" for n in range(20)], "age": [20 + n for n in range(20)]}).write_csv(source)
    assert program.me()["name"] == "anna"
    project = program.create_project("Clinic", key="once")["id"]
    assert program.create_project("Clinic", key="once")["id"] == project
    progress: list[tuple[str, float]] = []
    dataset = program.upload(project, source, progress=lambda what, share: progress.append((what, share)))["dataset"]
    assert progress
    assert program.datasets(project)[0]["records"] == 20
    rows = program.rows(project, dataset, sort="age", descending=True, limit=2, filters={"age": "<30"})
    assert [row[rows["columns"].index("age")] for row in rows["rows"]] == [29, 28]
    steps = [{"method": "remove_identifiers"}, {"method": "microaggregation", "columns": ["age"], "size": 5}]
    sections = {
        "attributes.name": {"role": "identifier"},
        "attributes.age": {"role": "key"},
        "plan": {"release": 7, "steps": steps},
        "limits": {"k_anonymity.k": 5},
    }
    edited = program.edit(project, sections)
    assert edited["policy"]["plan"]["release"] == 7
    release = program.run(project, "generate")["release"]
    assert program.release(project, release)["ok"] is True
    target = program.download(project, release, tmp_path / "masked.parquet")
    masked = pl.read_parquet(target)
    assert masked.columns == ["age"]
    assert masked["age"].value_counts()["count"].to_list() == [5] * 4
    assert program.report(project, release, tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert program.submit_release(project, release, "for the test")["state"] == "submitted"
    with pytest.raises(ServerError, match="another approver or owner") as refused:
        program.approve(project, release, "I made it myself")
    assert refused.value.status == 403
    assert program.return_release(project, release, "not yet")["state"] == "returned"
    assert program.set_release_settings(project, retention_days=90)["limits"] == {"k_anonymity.k": 5}
    assert [row["release"] for row in program.projects() if row["project"]["id"] == project] == [release]
    local = discreet.mask(discreet.read(source, program.policy(project)["policy"]))
    assert sorted(local.masked.frame["age"].to_list()) == sorted(masked["age"].to_list()), "the same as without a server"


def test_refusals_failed_jobs_and_missing_servers_raise_errors(program: Client, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="project 99 does not exist") as refused:
        program.project(99)
    assert refused.value.status == 404
    project = program.create_project("Clinic")["id"]
    source = tmp_path / "bad.parquet"
    source.write_bytes(b"this is not Parquet")
    with pytest.raises(DataError, match="the job import is failed"):
        program.upload(project, source)
    with Client("http://127.0.0.1:9", "token") as nobody, pytest.raises(SourceError, match="does not respond"):
        nobody.me()


def test_a_program_passes_the_gate_with_a_second_account(
    program: Client, logged_in: TestClient, tmp_path: Path, add_user: Callable[..., User], store: Store
) -> None:
    carl = add_user("carl")
    with store.write() as connection:
        _, secret = tokens.create(connection, carl, "approvals", ["read", "release"])
    source = tmp_path / "patients.csv"
    pl.DataFrame({"age": [20 + n // 5 for n in range(20)]}).write_csv(source)
    project = program.create_project("Clinic")["id"]
    program.upload(project, source)
    program.edit(project, {"attributes.age": {"role": "key"}, "limits": {"k_anonymity.k": 5}})
    release = program.run(project, "generate")["release"]
    program.share(project, "carl", "approver")
    program.submit_release(project, release)
    with Client("http://testserver", secret, transport=_InProcessTransport(logged_in)) as approver:  # type: ignore[arg-type]
        reason = "" if program.release(project, release)["status"] == "met" else "ages alone"
        assert approver.approve(project, release, reason)["approval"]["by"] == "carl"
    assert program.publish(project, release)["state"] == "published"
    assert program.purge(project) == {"originals": 1, "drafts": 0, "links": 1}
    assert program.withdraw(project, release, "a test")["state"] == "withdrawn"
    with pytest.raises(ServerError, match="is withdrawn"):
        program.publish(project, release)


VISITS = "Visits 2020;;;\nid;dob;income;note\n1;01/03/1970;1,5;NA\n2;02/04/1981;2,5;x\n"


def test_a_program_previews_with_other_options_imports_and_discards(program: Client, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS)
    project = program.create_project("Visits")["id"]
    shown = program.preview(project, tmp_path / "visits.csv")
    assert {choice["option"] for choice in shown["choices"]} >= {"separator", "decimal", "encoding", "skip", "header"}
    again = program.preview(project, shown["staged"], read={"dates": {"dob": "%Y"}})
    assert again["problem"].startswith("'visits.csv': 'dob' holds '01/03/1970'")
    options = {"dates": {"dob": "%d/%m/%Y"}}
    assert program.import_staged(project, again["staged"], read=options)["records"] == 2
    assert program.policy(project)["policy"]["read"] == options
    unused = program.preview(project, tmp_path / "visits.csv")["staged"]
    program.discard(project, unused)
    with pytest.raises(ServerError, match="no longer on the server") as gone:
        program._request("GET", f"/projects/{project}/previews/{unused['preview']}")
    assert gone.value.status == 404
    with pytest.raises(ServerError, match="read"):
        program.preview(project, shown["staged"], read={"separator": ";;"})


def test_a_program_sends_a_hierarchy_in_arx_form_and_reads_it_back_with_its_effect(program: Client, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    pl.DataFrame({"age": [21, 22, 23, 31, 32, 33] * 2, "sex": ["f", "m"] * 6}).write_csv(source)
    project = program.create_project("Hierarchies")["id"]
    program.upload(project, source)
    program.edit(project, {"attributes.age": {"role": "key"}, "attributes.sex": {"role": "key"}})
    file = tmp_path / "age.csv"
    file.write_text("21;20s;*\n22;20s;*\n23;20s;*\n31;30s;*\n32;30s;*\n99;90s;*\n", encoding="utf-8")
    saved = program.set_hierarchy(project, "age", file)
    assert (saved["missing"], saved["left_out"]) == (["33"], 1)
    assert "33;33;*" in saved["csv"]
    assert [level["k"] for level in saved["effect"]["levels"]] == [2, 2, 6]
    assert program.hierarchy(project, "age")["csv"] == saved["csv"]
    policy = program.policy(project)["policy"]["attributes"]["age"]
    assert policy == {"role": "key", "hierarchy": {"groups": [{"20s": ["21", "22", "23"], "30s": ["31", "32"], "33": ["33"]}]}}
    with pytest.raises(ServerError, match="groups no value"):
        program.set_hierarchy(project, "sex", file)
