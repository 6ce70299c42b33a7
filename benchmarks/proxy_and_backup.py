"""What a proxy adds to an upload, and what a backup costs: time against the same without it, and memory.

python benchmarks/proxy_and_backup.py [UPLOAD_MB] [BACKUP_MB]
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "shared"))
import deployment
import httpx2 as httpx
import psutil

from discreet.web.settings import Settings

CHUNK = 1_000_000
BACKUP = """
import resource, sys, time
from pathlib import Path
from discreet.web.serving import back_up, restore_installation
began = time.perf_counter()
if sys.argv[1] == "backup":
    back_up(Path(sys.argv[2]), None, Path(sys.argv[3]), "a passphrase that is long", overwrite=True)
else:
    restore_installation(Path(sys.argv[2]), None, Path(sys.argv[3]), "a passphrase that is long")
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def make_content(megabytes: int) -> Iterator[bytes]:
    """So many megabytes that cannot be compressed."""
    block = os.urandom(CHUNK)
    for number in range(megabytes):
        yield number.to_bytes(8) + block[8:]


def upload(client: httpx.Client, project: int, megabytes: int, process: psutil.Process) -> tuple[float, float]:
    """Seconds of an upload, and by how many MB the server's memory grew."""
    before, began = process.memory_info().rss, time.perf_counter()
    answer = client.put(f"/api/v1/projects/{project}/uploads?name=large.bin.csv", content=make_content(megabytes), timeout=600)
    answer.raise_for_status()
    return time.perf_counter() - began, (process.memory_info().rss - before) / 1e6


def measure_proxy(folder: Path, megabytes: int) -> None:
    """An upload straight to the server, and through nginx with TLS."""
    trusted = deployment.make_certificate(folder)
    port, server_port = deployment.find_free_port(), deployment.find_free_port()
    url = f"https://127.0.0.1:{port}"
    deployment.add_administrator(folder / "home")
    with (
        deployment.serving(folder / "home", server_port, "--url", url, "--trusted-proxy", "127.0.0.1") as server,
        deployment.nginx(folder, "discreet.conf", server_port, port),
        httpx.Client(base_url=url, verify=trusted, follow_redirects=False) as through,
    ):
        deployment.log_in(through)
        project = through.post("/api/v1/projects", json={"name": "Upload"}).json()["id"]
        token = through.post("/api/v1/tokens", json={"name": "direct", "scopes": ["read", "write"]}).json()["secret"]
        process = psutil.Process(server.pid)
        with httpx.Client(base_url=f"http://127.0.0.1:{server_port}", headers={"Authorization": f"Bearer {token}"}) as direct:
            straight, _ = upload(direct, project, megabytes, process)
        proxied, grown = upload(through, project, megabytes, process)
        spooled = deployment.count_spooled(folder)
    print(f"| upload of {megabytes} MB through nginx with TLS, s | {proxied:.1f} |")
    print(f"| times that of an upload without a proxy | {proxied / straight:.2f} |")
    print(f"| growth of the server's memory meanwhile, MB | {grown:.0f} |")
    print(f"| requests that nginx wrote to its own disk | {spooled} |")


def measure_backup(folder: Path, megabytes: int) -> None:
    """A backup and its restore, against a copy of the same files."""
    home = folder / "data"
    deployment.add_administrator(home)
    keys = Settings.make(home).home / "keys"
    keys.mkdir(mode=0o700, exist_ok=True)
    with (keys / "large").open("wb") as file:
        file.writelines(make_content(megabytes))
    began = time.perf_counter()
    shutil.copy(keys / "large", folder / "copy")
    with (folder / "copy").open("rb+") as file:
        os.fsync(file.fileno())
    copied = time.perf_counter() - began
    for name, place in (("backup", home), ("restore", folder / "restored")):
        call = [sys.executable, "-c", BACKUP, name, str(place), str(folder / "all.backup")]
        seconds, memory = map(float, subprocess.run(call, check=True, capture_output=True, text=True).stdout.split())
        print(f"| {name} of {megabytes} MB, s | {seconds:.1f} |")
        print(f"| times a copy of the files | {seconds / copied:.1f} |")
        print(f"| its memory at most, MB (128 of them derive the key) | {memory / 1e6:.0f} |")


def main() -> None:
    """Print the figures of one run."""
    upload_megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    backup_megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o700)
        print("| what | figure |\n|---|---|")
        measure_proxy(Path(folder), upload_megabytes)
        measure_backup(Path(folder), backup_megabytes)


if __name__ == "__main__":
    main()
