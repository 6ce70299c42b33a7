"""Make the pictures of README.md and docs/index.md from the running application: light and dark, each below 150 kB.

    python tools/pictures.py [--folder docs/pictures] [--chromium PATH]

A server with a temporary home gets a generated hospital table, measures its risk and makes a release; Chromium then opens the
workspace (the risk page where the application has none) and the report.
"""

from __future__ import annotations

import argparse
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx
from playwright.sync_api import Browser, sync_playwright

from discreet import Client
from discreet.testing import hospital

ROOT = Path(__file__).parents[1]
LARGEST = 150_000
SIZE = {"width": 1200, "height": 760}
RISK = {"known_sets": {"alpha": 1, "epsilon": 0.01, "threshold": 0.5}, "k_anonymity": {}}
LIMITS = {"k_anonymity.k": 5, "ncp.loss": 0.6, "integrity.mean": 0.01}
STEPS = [
    {"method": "remove_identifiers"},
    {"method": "generalization", "k": 5, "suppression_limit": 0.02},
    {"method": "rounding", "columns": ["income", "bill"], "base": 100, "how": "random"},
]
START_SECONDS = 300.0


def main() -> int:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    parser.add_argument("--records", type=int, default=2000)
    options = parser.parse_args()
    if not options.chromium:
        print("Chromium is needed: --chromium PATH", file=sys.stderr)
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make_pictures(Path(folder), options.folder, options.chromium, options.records)
    return 0


def make_pictures(scratch: Path, target: Path, chromium: str, records: int) -> None:
    """Start a server, fill a project, and picture it."""
    log = scratch / "server.log"
    command = [sys.executable, "-m", "discreet", "serve", "--port", "0", "--home", str(scratch / "home")]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        link = wait_for_link(server, log)
        url = link.partition("/welcome/")[0]
        password = secrets.token_urlsafe(16)
        answer = httpx.post(link, data={"password": password, "again": password}, timeout=300)
        if answer.status_code != httpx.codes.SEE_OTHER:
            raise SystemExit(f"the administrator's password could not be set: {answer.status_code}")
        with httpx.Client(base_url=url, timeout=300) as person:
            cookies = person.post("/login", data={"name": "admin", "password": password}).cookies
            person.headers["x-csrf-token"] = person.get("/").text.split('name="csrf" content="')[1].split('"')[0]
            token = person.post("/api/v1/tokens", json={"name": "pictures", "scopes": ["read", "write", "release"]}).json()
            project, release = fill_project(url, token["secret"], scratch, records)
            workspace = person.get(f"/projects/{project}/workspace").status_code == 200
        page = f"{url}/projects/{project}/{'workspace' if workspace else 'risk'}"
        state: Any = {"cookies": [{"name": name, "value": value, "url": url} for name, value in cookies.items()], "origins": []}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                picture(browser, page, target / f"application-{scheme}", scheme, state)
                picture(
                    browser, f"{url}/projects/{project}/releases/{release}/report", target / f"report-{scheme}", scheme, state
                )
            browser.close()
    finally:
        server.terminate()
        server.wait(60)


def fill_project(url: str, token: str, scratch: Path, records: int) -> tuple[int, int]:
    """A project with a measured table and a release; returns their numbers."""
    data = hospital(records)
    table = scratch / "hospital.parquet"
    data.frame.write_parquet(table)
    policy = data.policy.model_dump(mode="json", exclude_defaults=True) | {
        "risk": RISK,
        "limits": LIMITS,
        "plan": {"steps": STEPS},
    }
    with Client(url, token) as client:
        project = int(client.create_project("Hospital discharges")["id"])
        client.upload(project, table)
        client.set_policy(project, policy)
        client.run(project, "risk")
        return project, int(client.run(project, "generate")["release"])


def picture(browser: Browser, address: str, target: Path, scheme: Any, state: Any) -> None:
    """The first screen of a page as PNG."""
    context = browser.new_context(viewport=SIZE, color_scheme=scheme)  # type: ignore[arg-type]
    context.add_cookies(state["cookies"])
    context.set_default_timeout(300_000)  # a busy machine is slow to draw the charts
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(2000)  # charts are drawn after the page has loaded
    for old in target.parent.glob(f"{target.name}.*"):
        old.unlink()
    file = target.with_suffix(".png")
    page.screenshot(path=file)
    context.close()
    size = file.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{file} has {size:,} bytes, more than {LARGEST:,}: show less")
    print(f"{file.name}: {size:,} bytes of {address.rsplit('/', 1)[1]}")


def wait_for_link(server: subprocess.Popen[bytes], log: Path) -> str:
    """The link by which the first administrator sets a password, from the server's output."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        if found := re.search(r"http://\S+/welcome/\S+", log.read_text(errors="replace")):
            return found[0]
        time.sleep(0.3)
    raise SystemExit(f"the server did not start: {log.read_text(errors='replace')[-500:]}")


if __name__ == "__main__":
    sys.exit(main())
