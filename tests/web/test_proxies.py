"""The proxies of deploy/ as people use them: Debian's nginx and Caddy with TLS, at the root of a host and under a path."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import deployment
import httpx2 as httpx
import pytest
from playwright.sync_api import expect

from discreet import Client
from discreet.web.client import ServerError

MEGABYTES = int(os.environ.get("DISCREET_PROXY_UPLOAD_MB", "20"))
"""Size of the uploaded table; benchmarks/proxy_and_backup.py uploads 500 MB."""
pytestmark = pytest.mark.servers


@dataclass(frozen=True)
class Proxied:
    """A server behind a proxy."""

    url: str
    path: str
    folder: Path
    trusted: ssl.SSLContext
    server_port: int

    def connect(self, address: str = "127.0.0.1") -> httpx.Client:
        """A browser on another address of this machine."""
        transport = httpx.HTTPTransport(verify=self.trusted, local_address=address)
        return httpx.Client(base_url=self.url.removesuffix(self.path), transport=transport, follow_redirects=False)


@pytest.fixture(scope="module", params=["root", "sub-path"])
def proxied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """A server and nginx in front of it."""
    folder = tmp_path_factory.mktemp("nginx")
    trusted = deployment.make_certificate(folder)
    path, name = ("", "discreet.conf") if request.param == "root" else ("/discreet", "discreet-sub-path.conf")
    port, server_port = deployment.find_free_port(), deployment.find_free_port()
    url = f"https://127.0.0.1:{port}{path}"
    deployment.add_administrator(folder / "home")
    options = ("--url", url, "--trusted-proxy", "127.0.0.1")
    with deployment.serving(folder / "home", server_port, *options), deployment.nginx(folder, name, server_port, port):
        yield Proxied(url, path, folder, trusted, server_port)


@pytest.fixture(scope="module")
def token(proxied: Proxied) -> str:
    with proxied.connect() as person:
        deployment.log_in(person, proxied.path)
        body = {"name": "program", "scopes": ["read", "write", "admin"]}
        return str(person.post(f"{proxied.path}/api/v1/tokens", json=body).json()["secret"])


def write_table(file: Path, megabytes: int) -> None:
    """A table of so many megabytes."""
    line = b"a person,42,somewhere in the country,0123456789\n"
    block = line * 2_000
    with file.open("wb") as out:
        out.write(b"name,age,town,code\n")
        for _ in range(megabytes * 1_000_000 // len(block) + 1):
            out.write(block)


def test_pages_arrive_with_their_style_over_tls_and_the_cookie_holds_for_the_path(proxied: Proxied) -> None:
    with proxied.connect() as person:
        assert person.get(f"{proxied.path}/").headers["location"] == f"{proxied.path}/login?next=/"
        answer = person.post(f"{proxied.path}/login", data={"name": "admin", "password": deployment.PASSWORD})
        cookie = answer.headers["set-cookie"]
        assert f"Path={proxied.path or '/'};" in cookie
        assert "Secure" in cookie
        page = person.get(f"{proxied.path}/")
        assert page.status_code == 200
        assert "max-age" in page.headers["strict-transport-security"]
        style = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
        assert person.get(style).headers["content-type"].startswith("text/css")


def test_the_address_of_a_person_is_recorded_and_cannot_be_forged(proxied: Proxied, token: str) -> None:
    with proxied.connect("127.0.0.2") as person:
        person.headers["X-Forwarded-For"] = "203.0.113.9"
        deployment.log_in(person, proxied.path)
    with proxied.connect() as program:
        entries = program.get(f"{proxied.path}/api/v1/audit", headers={"Authorization": f"Bearer {token}"}).json()["entries"]
    addresses = {entry["detail"].get("address") for entry in entries if entry["action"] == "logged in"}
    assert "127.0.0.2" in addresses
    assert "203.0.113.9" not in addresses


def test_a_large_table_is_uploaded_without_a_copy_on_the_proxy_and_its_events_come_at_once(
    proxied: Proxied, token: str, tmp_path: Path
) -> None:
    write_table(tmp_path / "large.csv", MEGABYTES)
    with Client(proxied.url, token, transport=httpx.HTTPTransport(verify=proxied.trusted)) as program:
        project = program.create_project("Large")["id"]
        with (tmp_path / "large.csv").open("rb") as file, proxied.connect() as sender:
            headers = {"Authorization": f"Bearer {token}"}
            address = f"{proxied.path}/api/v1/projects/{project}"
            upload = sender.put(f"{address}/uploads", params={"name": "large.csv"}, content=file, headers=headers).json()[
                "upload"
            ]
            job = program.submit(project, "import", {"upload": upload, "name": "large.csv"})
            with sender.stream("GET", f"{address}/jobs/{job}/events", headers=headers) as events:
                lines = events.iter_lines()
                assert next(lines) == "event: progress"  # a proxy that collects would hold back some kilobytes
                assert program.job(project, job)["state"] in ("queued", "running")
                program.cancel(project, job)
                assert any(line == "event: end" for line in lines)
    assert deployment.count_spooled(proxied.folder) == 0


def test_with_a_proxys_default_limit_the_client_says_what_to_raise(proxied: Proxied, token: str, tmp_path: Path) -> None:
    (tmp_path / "proxy").mkdir()
    for name in ("fullchain.pem", "privkey.pem"):
        shutil.copy(proxied.folder / name, tmp_path / "proxy" / name)
    write_table(tmp_path / "two.csv", 2)
    port, name = deployment.find_free_port(), "discreet-sub-path.conf" if proxied.path else "discreet.conf"
    without_limit = {"client_max_body_size 4097m;": ""}
    with (
        deployment.nginx(tmp_path / "proxy", name, proxied.server_port, port, without_limit),
        Client(
            f"https://127.0.0.1:{port}{proxied.path}", token, transport=httpx.HTTPTransport(verify=proxied.trusted)
        ) as program,
    ):
        project = program.create_project("Limited")["id"]
        with pytest.raises(ServerError, match=r"a proxy before the server refuses.*client_max_body_size") as refusal:
            program.upload(project, tmp_path / "two.csv")
        assert refusal.value.status == 413


@pytest.mark.parametrize("proxied", ["sub-path"], indirect=True)
def test_scripts_of_a_browser_stay_under_the_path_and_explain_a_proxys_refusal(
    proxied: Proxied, watched: Callable[..., Any], tmp_path: Path
) -> None:
    seen = watched(ignore_https_errors=True)
    page = seen.page
    page.goto(f"{proxied.url}/projects/new")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(deployment.PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Name").first.fill("Seen in a browser")
    with page.expect_response(lambda answer: answer.url.endswith("/events")) as stream:
        page.locator("main button").first.click()
    assert stream.value.status == 200
    page.route("**/uploads?*", lambda route: route.fulfill(status=413, body="<html>413 Request Entity Too Large</html>"))
    (tmp_path / "people.csv").write_text("name,age\nAda,36\n")
    page.set_input_files('input[type="file"]', tmp_path / "people.csv")
    page.locator("form[data-upload] button.primary").click()
    expect(page.locator(".sending span")).to_contain_text("A proxy before this server refuses files of this size (413)")
    page.goto(f"{proxied.url}/api/docs")
    request = page.locator("details[data-path='/api/v1/me']").first
    request.click()
    request.get_by_role("button", name="Try it").click()
    expect(request.locator("pre").last).to_contain_text('"name": "admin"')
    assert seen.outside(f"{proxied.url}/") == []


def test_caddy_serves_pages_uploads_and_events(tmp_path: Path) -> None:
    program = shutil.which("caddy")
    assert program, "these tests need Caddy; as root run:  apt-get update && apt-get install -y --no-install-recommends caddy"
    trusted = deployment.make_certificate(tmp_path)
    port, server_port = deployment.find_free_port(), deployment.find_free_port()
    certificate = f"tls {tmp_path}/fullchain.pem {tmp_path}/privkey.pem"
    replacements = {
        "{$DISCREET_HOST:discreet.example.org} {": f"https://127.0.0.1:{port} {{\n\t{certificate}",
        "{$DISCREET_UPSTREAM:127.0.0.1:8080}": f"127.0.0.1:{server_port}",
    }
    options = f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {tmp_path}/caddy\n}}\n"
    (tmp_path / "Caddyfile").write_text(options + deployment.fill_in("Caddyfile", replacements))
    deployment.add_administrator(tmp_path / "home")
    url = f"https://127.0.0.1:{port}"
    write_table(tmp_path / "two.csv", 2)
    call = [program, "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    with (
        deployment.serving(tmp_path / "home", server_port, "--url", url, "--trusted-proxy", "127.0.0.1"),
        deployment.running(call, tmp_path / "caddy.log", port),
        httpx.Client(base_url=url, verify=trusted, follow_redirects=False) as person,
    ):
        deployment.log_in(person)
        project = person.post("/api/v1/projects", json={"name": "Caddy"}).json()["id"]
        uploaded = person.put(f"/api/v1/projects/{project}/uploads?name=two.csv", content=(tmp_path / "two.csv").read_bytes())
        assert uploaded.status_code == 200, uploaded.text
        with person.stream("GET", f"/projects/{project}/events") as events:
            assert next(events.iter_lines()) == "event: change"
