"""REST: idempotency, failures as JSON, the page of the interface, and its own document against random requests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from fastapi.testclient import TestClient


def test_an_idempotency_key_executes_a_request_once(logged_in: TestClient) -> None:
    headers = {"Idempotency-Key": "abc"}
    first = logged_in.post("/api/v1/projects", json={"name": "Mine"}, headers=headers)
    again = logged_in.post("/api/v1/projects", json={"name": "Mine"}, headers=headers)
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    other = logged_in.post("/api/v1/projects", json={"name": "Other"}, headers=headers)
    assert other.status_code == 409
    assert len(logged_in.get("/api/v1/projects").json()) == 1


def test_simultaneous_requests_with_one_key_execute_once(logged_in: TestClient) -> None:
    def make(_number: int) -> tuple[int, int]:
        answer = logged_in.post("/api/v1/projects", json={"name": "Mine"}, headers={"Idempotency-Key": "abc"})
        return answer.status_code, answer.json().get("id", -1)

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(make, range(16)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 201


def test_errors_are_json_with_a_message(logged_in: TestClient) -> None:
    assert logged_in.get("/api/v1/projects/77").json() == {
        "status": 404, "message": "project 77 does not exist or is not visible to you", "detail": {},
    }  # fmt: skip
    assert logged_in.post("/api/v1/projects", json={"nam": "x"}).status_code == 422
    assert "message" in logged_in.post("/api/v1/projects", content=b"{").json()
    assert logged_in.get("/api/v1/nothing").json()["status"] == 404
    assert logged_in.put("/api/v1/me").json()["status"] == 405


def test_conflicting_policy_edits_are_refused_and_others_merged(logged_in: TestClient) -> None:
    identity = logged_in.post("/api/v1/projects", json={"name": "Mine"}).json()["id"]
    path = f"/api/v1/projects/{identity}/policy"
    first = logged_in.patch(path, json={"base": 0, "sections": {"attributes.age": {"role": "key"}}})
    assert first.json()["revision"] == 1
    second = logged_in.patch(path, json={"base": 0, "sections": {"attributes.age": {"role": "other"}}})
    assert second.status_code == 409
    assert second.json()["detail"]["theirs"] == {"role": "key"}
    third = logged_in.patch(path, json={"base": 0, "sections": {"limits": {"k_anonymity.k": 5}}})
    assert third.json()["policy"] == {"attributes": {"age": {"role": "key"}}, "limits": {"k_anonymity.k": 5.0}}
    assert "k_anonymity.k: 5" in logged_in.get(f"{path}.yaml").text
    for base in (3, 99, 2**31 - 1):
        for method, body in (("put", {"yaml": "limits: {}"}), ("patch", {"sections": {"limits": None}})):
            unknown = getattr(logged_in, method)(path, json={"base": base, **body})
            assert unknown.status_code in (404, 422), (method, base)
            assert "the latest is 2" in unknown.json()["message"], (method, base)
    file = {"base": 2, "yaml": "attributes:\n  sex: {role: key}\n"}
    assert logged_in.put(path, json=file).json()["policy"] == {"attributes": {"sex": {"role": "key"}}}
    assert logged_in.post(f"{path}/restore?revision=1").json()["policy"] == {"attributes": {"age": {"role": "key"}}}
    assert [change["revision"] for change in logged_in.get(f"{path}/history").json()] == [4, 3, 2, 1, 0]


def test_the_documentation_page_lists_every_request(logged_in: TestClient) -> None:
    document = logged_in.get("/api/openapi.json").json()
    page = logged_in.get("/api/docs")
    assert page.status_code == 200
    for path, methods in document["paths"].items():
        assert f"<code>{path}</code>" in page.text
        assert all("500" not in operation["responses"] for operation in methods.values())


def test_the_document_says_how_to_authenticate(logged_in: TestClient) -> None:
    for _ in range(2):  # FastAPI keeps the document
        document = logged_in.get("/api/openapi.json").json()
        assert document["security"] == [{"token": []}, {"session": []}]
    scheme = document["components"]["securitySchemes"]["token"]
    secret = logged_in.post("/api/v1/tokens", json={"name": "generated client", "scopes": ["read"]}).json()["secret"]
    logged_in.cookies.clear()
    assert logged_in.get("/api/v1/me").status_code == 401
    answer = logged_in.get("/api/v1/me", headers={"Authorization": f"{scheme['scheme']} {secret}"})
    assert answer.json()["scopes"] == ["read"]


def test_administrators_manage_users_by_rest(logged_in: TestClient) -> None:
    invitation = logged_in.post("/api/v1/users", json={"name": "bert"}).json()
    assert invitation["user"]["name"] == "bert"
    path = invitation["link"].removeprefix("http://testserver")
    assert logged_in.get(path).status_code == 200
    assert logged_in.post("/api/v1/users/bert/disable").json()["disabled"]
    assert not logged_in.post("/api/v1/users/bert/enable").json()["disabled"]
    assert logged_in.post("/api/v1/users/bert/reset").json()["link"] != invitation["link"]
    assert logged_in.get(path).status_code == 404
    log = logged_in.get("/api/v1/audit").json()
    assert log["whole"]
    assert {"user added", "user disabled", "password reset"} <= {entry["action"] for entry in log["entries"]}
