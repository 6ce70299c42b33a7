"""The OpenAPI document: valid, with types that real requests and answers fit; lists in pages; the wizard's result as a policy."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from fastapi.testclient import TestClient
from openapi_spec_validator import validate
from web_jobs import CONTENT, POLICY, run

from discreet.web.api.job_schema import RESULT_MODELS
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.jobs.job_types import PARAMETER_MODELS
from discreet.web.projects import datasets, policies, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


@pytest.fixture
def database() -> None:
    """One database is enough here: the services are tested on each."""


@pytest.fixture
def document(logged_in: TestClient) -> dict[str, Any]:
    answer: dict[str, Any] = logged_in.get("/api/openapi.json").json()
    return answer


def check_against(document: dict[str, Any], name: str, value: Any) -> None:
    """Raise where a value does not fit a schema of the document."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    validate(document)


def test_every_operation_documents_its_errors_and_the_type_of_its_answer(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for code in ("401", "403", "404", "422", "429"):
                schema = operation["responses"][code]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Failure"}, (method, path, code)
            answers = [answer for code, answer in operation["responses"].items() if code.startswith("2")]
            assert answers, (method, path)
            for media in answers[0].get("content", {}).values():
                assert media.get("schema", {}) != {} or not media, (method, path)


def test_a_job_has_typed_parameters_for_each_kind(document: dict[str, Any], logged_in: TestClient) -> None:
    schema = document["components"]["schemas"]["JobIn"]
    kinds = set(schema["discriminator"]["mapping"])
    assert kinds == {"import", "preview", "analyze", "risk", "generate", "select", "report"}
    project = logged_in.post("/api/v1/projects", json={"name": "Typed"}).json()["id"]
    right = {"kind": "select", "parameters": {"trials": 5, "keep": {"age": 0.5}, "objective": {"information": 2}}}
    check_against(document, "JobIn", right)
    wrong: list[dict[str, Any]] = [
        {"kind": "select", "parameters": {"trials": "5"}}, {"kind": "select", "parameters": {"trial": 5}},
        {"kind": "report", "parameters": {}}, {"kind": "report"}, {"kind": "risk", "parameters": {"known": {"age": 2}}},
        {"kind": "publish", "parameters": {"release": 1}},
    ]  # fmt: skip
    for body in wrong:
        with pytest.raises(jsonschema.ValidationError):
            check_against(document, "JobIn", body)
        answer = logged_in.post(f"/api/v1/projects/{project}/jobs", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["message"], body


def test_results_of_real_jobs_have_the_documented_types(
    document: dict[str, Any], logged_in: TestClient, settings: Settings, store: Store, anna: User, project: Project
) -> None:
    uploaded = datasets.receive_upload(settings, project, iter([CONTENT.encode()]), "people.csv")
    steps: list[tuple[str, dict[str, Any]]] = [
        ("preview", {"upload": uploaded.name, "name": "people.csv"}), ("import", {"upload": uploaded.name, "name": "people.csv"}),
        ("analyze", {}), ("risk", {}), ("generate", {}), ("select", {"trials": 3}), ("report", {"release": 1, "format": "json"}),
        ("export", {"release": 1, "format": "csv"}),
    ]  # fmt: skip
    for kind, parameters in steps:
        if kind == "risk":
            with store.write() as connection:
                policies.edit(connection, anna, project, 0, {**POLICY, "limits": {"k_anonymity.k": 2}})
        with store.read() as connection:
            current = projects.get(connection, anna, project.id)
        run(settings, store, anna, current, kind, **parameters)
    assert set(RESULT_MODELS) == set(PARAMETER_MODELS)
    listed = logged_in.get(f"/api/v1/projects/{project.id}/jobs").json()
    ended = [job for job in listed if job["state"] == "done"]
    done = {job["kind"]: logged_in.get(f"/api/v1/projects/{project.id}/jobs/{job['id']}").json() for job in ended}
    assert {kind for kind, _ in steps} <= set(done)
    for kind, _ in steps:
        check_against(document, RESULT_MODELS[kind].__name__, done[kind]["result"])
        check_against(document, "JobOut", done[kind])
    with pytest.raises(jsonschema.ValidationError):
        check_against(document, "GenerateResult", done["import"]["result"])

    # the policy of the search goes back as it came
    policy = done["select"]["result"]["policy"]
    address = f"/api/v1/projects/{project.id}/policy"
    body = {"base": logged_in.get(address).json()["revision"], "sections": policy}
    answer = logged_in.patch(address, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["policy"]["plan"]["steps"] == policy["plan"]["steps"]
    assert answer.json()["policy"]["attributes"] == policy["attributes"]


def test_the_section_attributes_sets_what_it_names_and_leaves_the_others(logged_in: TestClient) -> None:
    project = logged_in.post("/api/v1/projects", json={"name": "Sections"}).json()["id"]
    path = f"/api/v1/projects/{project}/policy"
    first = {"attributes": {"age": {"role": "key"}, "sex": {"role": "key"}}}
    assert logged_in.patch(path, json={"base": 0, "sections": first}).json()["policy"] == first
    second = {"attributes": {"age": {"role": "other"}, "sex": None}, "limits": {"k_anonymity.k": 3}}
    changed = logged_in.patch(path, json={"base": 1, "sections": second}).json()["policy"]
    assert changed == {"attributes": {"age": {"role": "other"}}, "limits": {"k_anonymity.k": 3}}
    conflict = logged_in.patch(path, json={"base": 1, "sections": {"attributes": {"age": {"role": "confidential"}}}})
    assert conflict.status_code == 409
    for wrong in ({"attributes": None}, {"attributes": [1]}, {"attributes": {"age": {}}, "attributes.age": {"role": "key"}}):
        assert logged_in.patch(path, json={"base": 2, "sections": wrong}).status_code == 422, wrong


def test_every_list_comes_in_pages_that_together_are_the_whole(logged_in: TestClient) -> None:
    numbers = [logged_in.post("/api/v1/projects", json={"name": f"Project {at}"}).json()["id"] for at in range(5)]
    for at in range(4):
        logged_in.patch(
            f"/api/v1/projects/{numbers[0]}/policy", json={"base": at, "sections": {"limits": {"k_anonymity.k": at + 2}}}
        )
    here = f"/api/v1/projects/{numbers[0]}"
    for path, least in (("/api/v1/projects", 5), (f"{here}/policy/history", 5), (f"{here}/audit", 5)):
        whole = logged_in.get(path).json()
        assert len(whole) >= least, path
        collected, address = [], f"{path}?limit=2"
        while address:
            answer = logged_in.get(address)
            assert len(answer.json()) <= 2
            collected += answer.json()
            following = answer.links.get("next", {}).get("url", "")
            address = f"{path}{following}" if following else ""
        assert collected == whole, path
    for path in (f"{here}/jobs", f"{here}/releases", f"{here}/datasets", "/api/v1/users", "/api/v1/tokens"):
        assert logged_in.get(f"{path}?offset=1000&limit=1").json() == [], path
        assert logged_in.get(f"{path}?limit=0").status_code == 422, path
