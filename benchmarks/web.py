"""A project of a million records on one server: how fast pages answer while a job runs, and what an upload costs.

python benchmarks/web.py [RECORDS] [UPLOAD_MB]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from server_load import Person, Running, start

from discreet import verbs
from discreet.testing import students

PAGES = (
    "/",
    "/projects/{id}",
    "/projects/{id}/data",
    "/projects/{id}/attributes",
    "/projects/{id}/risk",
    "/projects/{id}/methods",
)
TABLE = (
    "/projects/{id}/data?offset=0",
    "/projects/{id}/data?offset=900000",
    "/projects/{id}/data?sort=age",
    "/projects/{id}/data?sort=gpa&descending=1&offset=500000",
)


def timed(person: Person, path: str) -> float:
    """Seconds until a page was there."""
    begun = time.perf_counter()
    person.http.get(path).raise_for_status()
    return time.perf_counter() - begun


def upload_cost(server: Running, person: Person, project: int, megabytes: int) -> tuple[float, float]:
    """Peak growth of the server's memory in MB while a large file comes in, and the seconds it took."""
    line = os.urandom(500).hex().encode() + b"\n"
    chunk = line * 1024

    def chunks() -> object:
        for _ in range(megabytes * 1_000_000 // len(chunk)):
            yield chunk

    before, peak, over = server.memory(), [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            peak[0] = max(peak[0], server.memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    person.ask("PUT", f"/projects/{project}/uploads", params={"name": "large.csv"}, content=chunks())
    spent = time.perf_counter() - begun
    over.set()
    watcher.join()
    return (peak[0] - before) / 1e6, spent


def main() -> None:
    """Print the figures of one run."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_009_993
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        home.mkdir()
        data = students(records)
        verbs.write(data, Path(folder) / "students.parquet")
        server = start(home)
        try:
            person = Person(server.url)
            person.welcome(server.link)
            person.log_in("admin")
            project = person.ask("POST", "/projects", json={"name": "Students"})["id"]
            content = (Path(folder) / "students.parquet").read_bytes()
            person.upload(project, content, "students.parquet")
            policy = data.policy.model_dump(mode="json", exclude_defaults=True)
            base = person.ask("GET", f"/projects/{project}")["revision"]
            person.ask("PUT", f"/projects/{project}/policy", json={"base": base, "policy": policy})
            idle = [timed(person, path.format(id=project)) for _ in range(10) for path in PAGES]
            print("| what | figure |\n|---|---|")
            print(f"| median page, idle, ms | {statistics.median(idle) * 1000:.0f} |")
            _while_a_job_runs(person, project)
            table = [timed(person, path.format(id=project)) for _ in range(3) for path in TABLE]
            print(f"| pages of the table, jumps and sorts: median, ms | {statistics.median(table) * 1000:.0f} |")
            print(f"| the slowest of them, ms | {max(table) * 1000:.0f} |")
            grown, spent = upload_cost(server, person, project, megabytes)
            print(f"| upload of {megabytes} MB: growth of the server's memory, MB | {grown:.0f} |")
            print(f"| its time, s | {spent:.1f} |")
            print(f"| the server's memory, MB | {server.memory() / 1e6:.0f} |")
        finally:
            server.stop()


def _while_a_job_runs(person: Person, project: int) -> None:
    body = {"kind": "risk", "parameters": {}}
    job = person.ask("POST", f"/projects/{project}/jobs", json=body)["id"]
    busy: list[float] = []
    state = "queued"
    while state in ("queued", "running") and len(busy) < 2000:
        if state == "running":
            busy += [timed(person, path.format(id=project)) for path in PAGES]
        state = person.ask("GET", f"/projects/{project}/jobs/{job}")["state"]
    if busy:
        print(
            f"| median page while a risk job runs, ms ({len(busy)} pages, job {state}) | {statistics.median(busy) * 1000:.0f} |"
        )
        print(f"| 95th percentile, ms | {statistics.quantiles(busy, n=20)[18] * 1000:.0f} |")


if __name__ == "__main__":
    main()
