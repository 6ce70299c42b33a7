"""The page "Run it for an institution", followed to the letter: nginx with TLS and a sub-path, PostgreSQL, two web processes, and
single sign-on, before a real browser. Only hosts, ports, paths and secrets are replaced.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import deployment
import httpx2 as httpx
import pytest
from page_recipe import read_blocks, read_section, replace_all
from page_steps import import_file
from patience import browser_wait, patient
from prometheus_client.parser import text_string_to_metric_families

PAGE = "how-to/institution.md"
LONG = browser_wait(120)
TOKEN = "metrics-token-of-the-test"
PEOPLE = {
    "s-admin": {"preferred_username": "Ida IT", "groups": ["discreet-users", "discreet-administrators"]},
    "s-owner": {"preferred_username": "Olga Owner", "groups": ["discreet-users"]},
    "s-approver": {"preferred_username": "Ada Approver", "groups": ["discreet-users", "discreet-approvers"]},
    "s-stranger": {"preferred_username": "Sam Stranger", "groups": ["students"]},
}
POLICY = """attributes:
  name: {role: identifier}
  age: {role: key, known: 0.3}
  town: {role: key, known: 0.3}
risk: {k_anonymity: {}}
plan:
  steps:
    - {method: remove_identifiers}
    - {method: rounding, columns: [age], base: 20}
"""
TABLE = "name,age,town\n" + "".join(f"person{at},{20 + at},{'AB'[at % 2]}\n" for at in range(12))


@dataclass(frozen=True)
class Installation:
    """A running installation: its public address, its own one, the provider's, and its log."""

    url: str
    own_url: str
    provider: str
    log: Path
    metrics_command: str


@pytest.fixture(scope="module")
def installation(postgresql: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("institution")
    deployment.make_certificate(folder)
    server_port, public_port, provider_port = (deployment.find_free_port() for _ in range(3))
    url = f"https://127.0.0.1:{public_port}/discreet"
    provider = f"http://localhost:{provider_port}"
    (creation, _) = read_blocks(read_section(PAGE, "PostgreSQL"))[:2]
    together = read_section(PAGE, "All of it together")
    environment, serve, metrics = read_blocks(together)
    socket_folder = parse_qs(urlsplit(postgresql).query)["host"][0]
    for command in creation.splitlines():
        create_in_postgresql(command, socket_folder)
    variables = replace_all(
        environment,
        {
            "discreet:PASSWORD@localhost/discreet": f"discreet:secret@/discreet?host={socket_folder}",
            "https://login.example.org": provider,
            "CLIENT-SECRET": "client-secret",
            "METRICS-TOKEN": TOKEN,
        },
    )
    command = shlex.split(replace_all(serve, {"https://www.example.org/discreet": url}))
    assert command[:2] == ["discreet", "serve"]
    (configuration,) = re.findall(r"deploy/nginx/(\S+\.conf)", together)
    log = folder / "server.log"
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for line in variables.splitlines():
            name, _, value = line.partition("=")
            patch.setenv(name, value)
        patch.setenv("DISCREET_HOME", str(folder / "home"))
        # http is allowed on this machine; the provider's own library has to be told
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
        claims = [part for sub, person in PEOPLE.items() for part in ("--user-claims", json.dumps({"sub": sub, **person}))]
        program = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(provider_port), *claims]
        stack.enter_context(deployment.running(program, folder / "provider.log", provider_port))
        arguments = [*deployment.PROGRAM, *command[1:], "--port", str(server_port)]
        stack.enter_context(deployment.running(arguments, log, server_port))
        stack.enter_context(deployment.nginx(folder, configuration, server_port, public_port))
        own_url = f"http://127.0.0.1:{server_port}"
        wait_until_healthy(own_url)
        asked = replace_all(metrics, {"METRICS-TOKEN": TOKEN, "http://127.0.0.1:8080": own_url})
        yield Installation(url, own_url, provider, log, asked)


def create_in_postgresql(command: str, socket_folder: str) -> None:
    """Run a command of the page as the database's own administrator, which is another account on a real machine."""
    program, *arguments = shlex.split(replace_all(command, {"sudo -u postgres ": ""}))
    specification = find_spec("pgserver")
    assert specification is not None
    binary = Path(str(specification.origin)).parent / "pginstall" / "bin" / program
    # without a terminal, createuser reads the password from its standard input
    subprocess.run(
        [str(binary), *arguments], input=b"secret\nsecret\n", check=True, capture_output=True, start_new_session=True,
        env={**os.environ, "PGHOST": socket_folder, "PGUSER": "postgres"}, timeout=patient(60),
    )  # fmt: skip


def wait_until_healthy(url: str) -> None:
    transport = httpx.HTTPTransport(retries=5)
    with httpx.Client(transport=transport, timeout=patient(60)) as client:
        assert client.get(f"{url}/healthz").text == "ok\n"


@pytest.fixture
def log_in(installation: Installation, watched: Callable[..., Any]) -> Callable[[str], Any]:
    """A person's own browser after the login at the provider."""

    def open_browser(subject: str) -> Any:
        opened = watched(viewport={"width": 1280, "height": 900}, ignore_https_errors=True, accept_downloads=True)
        page = opened.page
        page.route("**/cdn.jsdelivr.net/**", lambda route: route.abort())  # the provider's style; there is no network
        page.goto(f"{installation.url}/account")
        page.get_by_role("link", name="Log in with University login").click()
        page.get_by_role("button", name=subject, exact=True).click()
        page.wait_for_url(re.compile(rf"^{re.escape(installation.url)}/"))
        return opened

    return open_browser


def test_the_page_leads_to_a_release_that_a_second_person_has_approved(
    installation: Installation, log_in: Callable[[str], Any], tmp_path: Path
) -> None:
    url = installation.url
    administrator = log_in("s-admin").page
    administrator.goto(f"{url}/admin/users")
    administrator.get_by_role("rowheader", name="Ida IT").wait_for()
    assert administrator.get_by_label("Name").count() == 0, "without passwords, accounts come from the provider"

    refused = log_in("s-stranger").page
    refused.get_by_text("not in a group that may use this server").wait_for()

    owner = log_in("s-owner").page
    project = create_project(owner, url, tmp_path)
    generate(owner, project)
    owner.goto(f"{project}/release")
    owner.get_by_role("button", name="Submit release 1 for approval").click()
    owner.get_by_text("waiting for approval").first.wait_for()

    approver = log_in("s-approver").page
    approver.goto(f"{project}/release")
    approver.get_by_label("Reason").first.fill("the recipients have signed the agreement")
    approver.get_by_role("button", name="Approve release 1").click()
    approver.get_by_text("approved").first.wait_for()

    owner.goto(f"{project}/release")
    with owner.expect_download(timeout=LONG) as download:
        owner.get_by_role("button", name=re.compile("Download")).first.click()
    download.value.save_as(tmp_path / "release")
    content = (tmp_path / "release").read_bytes()
    assert len(content) > 0
    assert b"person3" not in content

    owner.get_by_role("button", name="Log out").click()
    owner.wait_for_url(f"{installation.provider}/**")
    owner.get_by_role("button", name="End session").click()
    owner.wait_for_url(f"{url}/login")
    owner.goto(project)
    owner.get_by_role("link", name="Log in with University login").wait_for()

    check_metrics(installation)
    check_log(installation, owner)


def create_project(page: Any, url: str, folder: Path) -> str:
    """A project with a table and a policy, shared with the approvers' group; its address."""
    page.goto(f"{url}/projects/new")
    page.get_by_label("Name", exact=True).fill("Patients")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url(re.compile(r"/projects/\d+/data"))
    project = page.url.removesuffix("/data")
    (folder / "patients.csv").write_text(TABLE)
    import_file(page, folder / "patients.csv")
    page.get_by_role("heading", name="Records").wait_for(timeout=LONG)
    page.goto(project)
    page.get_by_label("Share with a group").fill("discreet-approvers")
    page.locator('form[action$="/groups"] select').select_option("approver")
    page.get_by_role("button", name="Share with the group").click()
    page.get_by_role("rowheader", name="discreet-approvers").wait_for()
    page.get_by_label(re.compile("^Policy, revision")).fill(POLICY)
    page.get_by_role("button", name="Save policy").click()
    page.wait_for_url(f"{project}#policy")
    return project


def generate(page: Any, project: str) -> None:
    """Run the plan, and wait for the draft."""
    page.goto(f"{project}/generate")
    page.get_by_role("button", name=re.compile("^Generate the masked")).click()
    page.get_by_text(re.compile("Release 1|release 1")).first.wait_for(timeout=LONG)


def check_metrics(installation: Installation) -> None:
    """The page's own command, by curl."""
    answer = subprocess.run(
        shlex.split(installation.metrics_command), capture_output=True, text=True, check=True, timeout=patient(60)
    ).stdout
    samples = [sample for family in text_string_to_metric_families(answer) for sample in family.samples]
    values = {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}
    assert values["discreet_jobs", "done", "generate"] == 1
    assert values["discreet_workers",] == 2
    assert values["discreet_users",] == 3
    assert values["discreet_logins_failed_total", "single sign-on"] == 1
    logins = [value for key, value in values.items() if key[0] == "discreet_requests_total" and "/login/oidc/callback" in key]
    assert sum(logins) == 4, "counted over both processes"
    assert not [name for name in ("Olga", "Ada", "Patients", "discreet-approvers") if name in answer]


def check_log(installation: Installation, page: Any) -> None:
    """Every line is JSON, the job has the id of its request, and an error page shows an id that is in the log."""
    page.goto(f"{installation.url}/login/oidc/callback")
    shown = page.locator("code").first.inner_text()
    lines = [json.loads(line) for line in installation.log.read_text().splitlines() if line.startswith("{")]
    assert any(line.get("request_id") == shown and line.get("status") == 403 for line in lines)
    jobs = [line for line in lines if line.get("job_type") == "generate"]
    requests = {line["request_id"] for line in lines if line.get("route") == "/projects/{number}/generate"}
    assert jobs
    assert jobs[0]["request_id"] in requests
    assert len(shown) == 32, "nginx made the id, and has it in its own log"
    text = installation.log.read_text()
    assert not [secret for secret in (TOKEN, "client-secret", "person3", "code=") if secret in text]
