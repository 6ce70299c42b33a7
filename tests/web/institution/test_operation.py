"""Metrics, structured logs and request ids: what an operator watches, and what must never be in it."""

from __future__ import annotations

import io
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from page_recipe import DOCS
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from discreet.cli import institution
from discreet.errors import SourceError
from discreet.web.app import make_app
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.operation import gauges
from discreet.web.operation import metrics as metrics_module
from discreet.web.operation.logs import FIELDS, JsonFormatter
from discreet.web.operation.metrics import BOUNDS, Family, Metrics, Sample
from discreet.web.operation.proxies import trust_proxies
from discreet.web.operation.request_ids import HEADER, SCOPE_KEY
from discreet.web.settings import Institution, Settings

PASSWORD = "a longer password than most"
TOKEN = "metrics-token-of-the-test"
SECRET_WORDS = ("Zebulon", "Secret project", PASSWORD, TOKEN)


def read_samples(body: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The samples as the client library of Prometheus reads them."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }


requests = st.tuples(
    st.sampled_from(["GET", "POST", "EVIL"]), st.sampled_from(["/", "/projects/{number}", 'a"b\\c\nd']),
    st.sampled_from([200, 404, 500]), st.sampled_from([0.0, 0.005, 0.0051, 1.0, 29.0, 31.0]) | st.floats(0, 100),
)  # fmt: skip


@given(st.lists(requests, max_size=30), st.lists(requests, max_size=10))
def test_counts_are_those_of_the_requests(first: list[Any], second: list[Any]) -> None:
    metrics = Metrics()
    for request in first + second:
        metrics.count_request(*request)
    samples = read_samples(metrics.format_all([]))
    everything = first + second
    by_label = Counter(
        (("method", method if method != "EVIL" else "other"), ("route", route), ("status", str(status)))
        for method, route, status, _ in everything
    )
    counted = {labels: value for (name, labels), value in samples.items() if name == "discreet_requests_total"}
    assert counted == by_label
    for route in {route for _, route, _, _ in everything}:
        durations = [seconds for _, other, _, seconds in everything if other == route]
        labels = (("route", route),)
        assert samples["discreet_request_seconds_count", labels] == len(durations)
        assert samples["discreet_request_seconds_sum", labels] == pytest.approx(sum(durations))
        for bound in BOUNDS:
            le = next(
                value
                for (name, labels_), value in samples.items()
                if name == "discreet_request_seconds_bucket"
                and dict(labels_)["route"] == route
                and float(dict(labels_)["le"]) == bound
            )
            assert le == sum(seconds <= bound for seconds in durations)


def test_processes_are_added_and_dead_ones_forgotten(tmp_path: Path) -> None:
    here = Metrics(tmp_path)
    here.count_failed_login("password")
    here.write_counts()
    folder = tmp_path / "metrics"
    own = folder / f"{os.getpid()}.json"
    # the parent of this process is alive, and process 2**22 + 1 cannot exist
    (folder / f"{os.getppid()}.json").write_text(own.read_text())
    (folder / f"{2**22 + 1}.json").write_text(own.read_text())
    (folder / "1.json").write_text("[half a fi")
    samples = read_samples(here.format_all([Sample(Family("a", "gauge", "A."), 2.5, (("b", "c"),))]))
    assert samples["discreet_logins_failed_total", (("way", "password"),)] == 2
    assert samples["a", (("b", "c"),)] == 2.5
    assert samples["discreet_workers", ()] == 2
    assert not (folder / f"{2**22 + 1}.json").exists()
    here.close()
    assert not own.exists()


@pytest.fixture
def watched_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[TestClient]:
    """A server with metrics; ``anna`` has an account."""
    settings = replace(Settings.make(tmp_path / "home", institution=Institution(metrics_token=TOKEN)), url="http://testserver")
    store = Store.open(settings)
    from discreet.web.auth import accounts

    with store.write() as connection:
        _, secret = accounts.add(connection, "anna Zebulon", admin=True)
        accounts.set_password_with_link(connection, secret, PASSWORD)
    store.close()
    caplog.set_level(logging.INFO, "discreet.web")
    with TestClient(make_app(settings), base_url="http://testserver", follow_redirects=False) as client:
        yield client


def test_metrics_logs_and_error_pages_of_a_server(watched_server: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    client = watched_server
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    client.post("/login", data={"name": "anna Zebulon", "password": "wrong"})
    assert client.post("/login", data={"name": "anna Zebulon", "password": PASSWORD}).status_code == 303
    client.headers["x-csrf-token"] = client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
    number = client.post("/api/v1/projects", json={"name": "Secret project"}).json()["id"]
    client.get(f"/api/v1/projects/{number}?q={PASSWORD}")
    client.get("/no/such/Zebulon")
    with client.app.state.core.store.engine.connect() as connection, pytest.raises(Exception, match="no such table"):  # type: ignore[attr-defined]
        connection.execute(text("SELECT 1 FROM nowhere"))

    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = read_samples(answer.text)
    get_project = (("method", "GET"), ("route", "/api/v1/projects/{project_id}"), ("status", "200"))
    assert samples["discreet_requests_total", get_project] == 1
    assert samples["discreet_requests_total", (("method", "GET"), ("route", "-"), ("status", "404"))] == 1
    assert samples["discreet_logins_failed_total", (("way", "password"),)] == 1
    assert samples["discreet_database_errors_total", (("kind", "OperationalError"),)] == 1
    for name, value in {"sessions": 1, "users": 1, "projects": 1, "jobs_queued": 0, "jobs_oldest_wait_seconds": 0}.items():
        assert samples[f"discreet_{name}", ()] == value
    assert samples["discreet_disk_free_bytes", ()] > 0
    assert 0 <= samples["discreet_quota_used_ratio_max", ()] < 1
    assert any(name == "discreet_build_info" for name, _ in samples)
    assert not [word for word in SECRET_WORDS if word in answer.text]

    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records if record.name.startswith("discreet.web")]
    project_line = next(line for line in lines if line.get("route") == "/api/v1/projects/{project_id}")
    assert (project_line["method"], project_line["status"], project_line["user_id"]) == ("GET", 200, 1)
    assert re.fullmatch("[0-9a-f]{16}", project_line["request_id"])
    assert project_line["duration_ms"] >= 0
    assert not [word for word in (PASSWORD, TOKEN, "Secret project") if word in json.dumps(lines)]


def test_an_error_page_shows_the_id_of_the_answer(watched_server: TestClient) -> None:
    answer = watched_server.get("/login/oidc")
    assert answer.status_code == 404
    assert f"Request <code>{answer.headers[HEADER]}</code>" in answer.text


def test_without_a_token_there_are_no_metrics(client: TestClient) -> None:
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_a_short_metrics_token_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="at least 20 characters"):
        Settings.make(tmp_path / "home", institution=Institution(metrics_token="short"))


def test_a_job_carries_the_id_of_its_request(logged_in: TestClient, store: Store, project: Any, anna: User) -> None:
    receipt = logged_in.put(f"/api/v1/projects/{project.id}/uploads", params={"name": "a.csv"}, content=b"a,b\n1,2\n")
    body = {"kind": "import", "parameters": {"upload": receipt.json()["upload"], "name": "a.csv"}}
    sent = logged_in.post(f"/api/v1/projects/{project.id}/jobs", json=body)
    assert sent.status_code == 202, sent.text
    with store.read() as connection:
        stored = connection.execute(text("SELECT request_id FROM discreet_jobs")).scalars().all()
    assert stored[0] == sent.headers[HEADER]


@pytest.mark.parametrize(
    ("peer", "sent", "accepted"),
    [
        ("10.0.0.7", "proxy-id-0123", True),
        ("10.0.0.8", "proxy-id-0123", False),
        ("10.0.0.7", "short", False),
        ("10.0.0.7", 'x" injected="1234567', False),
        ("10.0.0.7", "x" * 65, False),
        ("unknown", "proxy-id-0123", False),
    ],
)
def test_request_ids_of_the_trusted_proxy_only(tmp_path: Path, peer: str, sent: str, accepted: bool) -> None:
    def show(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{request.scope.get(SCOPE_KEY)} {request.client.host if request.client else ''}")

    settings = Settings.make(tmp_path / "home", trusted_proxies=["10.0.0.7"])
    app = trust_proxies(Starlette(routes=[Route("/", show)]), settings)
    client = TestClient(app, client=(peer, 1))
    body = client.get("/", headers={HEADER: sent, "X-Forwarded-For": "192.0.2.5"}).text
    assert body.split(" ")[0] == (sent if accepted else "None")
    assert body.split(" ")[1] == ("192.0.2.5" if peer == "10.0.0.7" else peer)


def test_json_lines_hold_listed_fields_and_no_message_of_an_exception() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter())
    logger = logging.Logger("discreet.web")
    logger.addHandler(handler)
    try:
        raise ValueError(SECRET_WORDS[0])
    except ValueError as error:
        logger.error("a route\nfailed", exc_info=error, extra={"request_id": "abc", "body": "secret", "status": 500})
    (line,) = out.getvalue().splitlines()
    entry = json.loads(line)
    assert set(entry) <= {"time", "level", "logger", "message", "exception", "trace", *FIELDS}
    assert (entry["request_id"], entry["status"], entry["exception"]) == ("abc", 500, "ValueError")
    assert "Zebulon" not in line
    assert "secret" not in line


def test_the_page_for_operators_names_every_metric_field_and_route_of_the_examples() -> None:
    page = (DOCS / "how-to" / "operate.md").read_text(encoding="utf-8")
    families = [*metrics_module.COUNTED, *(value for value in vars(gauges).values() if isinstance(value, Family))]
    assert len(families) > 15
    assert not [family.name for family in families if f"`{family.name}" not in page]
    assert not [field for field in FIELDS if f"`{field}`" not in page]
    known = {family.name for family in families} | {"discreet_workers"}
    mentioned = set(re.findall(r"\bdiscreet_[a-z0-9_]+", page))
    assert {name.removesuffix("_bucket") for name in mentioned} <= known, "a rule watches a metric that does not exist"


def test_the_page_for_institutions_names_every_option() -> None:
    page = (DOCS / "how-to" / "institution.md").read_text(encoding="utf-8") + (DOCS / "how-to" / "operate.md").read_text("utf-8")
    source = Path(institution.__file__).read_text(encoding="utf-8")
    options = set(re.findall(r'"(--[a-z-]+)"', source))
    variables = set(re.findall(r'"(DISCREET_[A-Z_]+)"', source)) - {"DISCREET_REQUIRE_TOTP", "DISCREET_METRICS_TOKEN_FILE"}
    assert len(options) > 12
    assert not [name for name in options | variables if f"`{name}" not in page]
