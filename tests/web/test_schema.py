"""Random requests generated from the OpenAPI document: none breaks the server, every response is as documented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from patience import patient
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks as promises

# what a policy, a name or a job may be depends on what is there, so a request that fits the document can still be refused
NOT_DOCUMENTED = [promises.positive_data_acceptance, promises.ignored_auth]


@pytest.fixture
def schema(run_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with run_server(tmp_path_factory.mktemp("server")) as server, httpx2.Client(base_url=server.url, trust_env=False) as person:
        page = person.post("/login", data={"name": server.name, "password": server.password}, follow_redirects=True)
        person.headers["x-csrf-token"] = page.text.split('name="csrf" content="')[1].split('"')[0]
        assert person.post("/api/v1/projects", json={"name": "Mine"}).json()["id"] == 1
        body = {"name": "random", "scopes": ["read", "write", "release", "admin"]}
        secret = person.post("/api/v1/tokens", json=body).json()["secret"]
        loaded = schemathesis.openapi.from_url(f"{server.url}/api/openapi.json")
        loaded.config.headers = {"Authorization": f"Bearer {secret}"}
        yield loaded


@pytest.mark.trust(
    "Bad input",
    "Random requests, right and wrong, get the answers that the interface's document promises, and none breaks the server",
)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_random_requests_get_documented_responses(
    schema: Any,
    mode: GenerationMode,
    effort: Callable[[int, int], int],
    record_property: Callable[[str, object], None],
) -> None:
    """Requests that fit the document, and requests that do not."""
    tried = 0
    operations = [documented.ok() for documented in schema.get_all_operations()]
    for operation in sorted(operations, key=lambda one: one.method.upper() == "DELETE"):  # the token and project are needed
        if operation.path.endswith("/events"):
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=effort(3, 40), suppress_health_check=list(HealthCheck), derandomize=True, database=None)
        def send(case: schemathesis.Case) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(excluded_checks=NOT_DOCUMENTED, timeout=patient(30))

        try:
            send()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE, operation.label  # nothing that could be sent would break its rules
    assert tried > 30
    record_property("requests sent", tried)
