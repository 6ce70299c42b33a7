"""Servers and proxies as an institution runs them, from the very files of deploy/, on this machine's loopback addresses."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
from patience import patient, wait_until

from discreet.web.auth import accounts
from discreet.web.db.store import Store
from discreet.web.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "a longer password than most"
PROGRAM = [sys.executable, "-c", "from discreet.cli import main; main()"]


def find_free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def add_administrator(home: Path, database: str | None = None) -> None:
    """The account ``admin``, with a password, in the database of a data directory."""
    store = Store.open(Settings.make(home, database))
    try:
        with store.write() as connection:
            _, secret = accounts.add(connection, "admin", admin=True)
            accounts.set_password_with_link(connection, secret, PASSWORD)
    finally:
        store.close()


@contextmanager
def serving(home: Path, port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """``discreet serve`` on a port while the block runs; its output is in the file server.log beside the data directory."""
    command = [*PROGRAM, "serve", "--port", str(port), "--home", str(home), *options]
    with running(command, home.with_name(f"{home.name}-{port}.log"), port) as process:
        yield process


@contextmanager
def running(command: Sequence[str], log: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A program while the block runs, from when it listens on its port."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": "300"})
    try:

        def complain() -> str:
            return f"{command[0]} did not start: {log.read_text(errors='replace')[-2000:]}"

        def listens() -> bool:
            assert process.poll() is None, complain()
            return is_listening(port)

        wait_until(listens, complain)
        yield process
    finally:
        process.terminate()
        process.wait(patient(30))


def is_listening(port: int) -> bool:
    """Whether somebody accepts connections on a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def make_certificate(folder: Path) -> ssl.SSLContext:
    """A certificate for 127.0.0.1 and localhost as fullchain.pem and privkey.pem; what a client needs to trust it alone."""
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem"),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return ssl.create_default_context(cafile=folder / "fullchain.pem")


def fill_in(name: str, replacements: Mapping[str, str]) -> str:
    """A file of deploy/ with its host, ports and paths replaced; each must occur."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for old, new in replacements.items():
        assert old in text, f"{name} has no {old!r}"
        text = text.replace(old, new)
    return text


@contextmanager
def nginx(folder: Path, name: str, upstream: int, port: int, more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Debian's nginx with a configuration of deploy/nginx, TLS on a port, in front of a server; its files are in a folder."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "these tests need nginx; as root run:  apt-get update && apt-get install -y --no-install-recommends nginx"
    replacements = {
        "127.0.0.1:8080": f"127.0.0.1:{upstream}",
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/ssl/discreet": str(folder),
    }
    if "listen 80;" in (DEPLOY / "nginx" / name).read_text(encoding="utf-8"):
        replacements["listen 80;"] = f"listen 127.0.0.1:{find_free_port()};"
    (folder / name).write_text(fill_in(f"nginx/{name}", {**replacements, **(more or {})}), encoding="utf-8")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        ("user root;\n" if os.getuid() == 0 else "")
        + f"pid {folder}/nginx.pid;\nworker_processes 1;\ndaemon off;\nerror_log {folder}/error.log warn;\nevents {{}}\n"
        f"http {{\naccess_log {folder}/access.log;\n{temporary}include {folder}/{name};\n}}\n",
        encoding="utf-8",
    )
    with running(
        [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")],
        folder / "nginx.log",
        port,
    ):
        yield


def count_spooled(folder: Path) -> int:
    """How many requests nginx wrote to its own disk before it handed them on; it warns of each."""
    return (folder / "error.log").read_text(encoding="utf-8").count("buffered to a temporary file")


def log_in(client: httpx.Client, path: str = "") -> None:
    """Log the administrator in; the client's headers hold the CSRF token."""
    answer = client.post(f"{path}/login", data={"name": "admin", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    client.headers["x-csrf-token"] = client.get(f"{path}/").text.split('name="csrf" content="')[1].split('"')[0]
