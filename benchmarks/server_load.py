"""Fifty people at work on one server, on this machine's loopback, for a bounded time.

Each logs in, makes a project, follows what happens in it as a page does (server-sent events), uploads a table, edits the
policy, runs jobs, and looks at pages, with a pause between clicks as people have. It reports errors, jobs that never ended,
the median answer of a page against the idle server's, and the server's memory over time.

Pages are measured twice: by the fifty people, who share one process with a hundred threads, and by one more person in a process
of their own (``server_clients.py``), whose times show what the server takes. The server's processor time is printed beside them.

With ``--hostile`` a hostile client is at work beside them in the second half of the time, from another address of the loopback
(127.0.0.2), bounded in count and time: sockets that say nothing, large bodies without a login, parallel guesses at a password and
one user's flood of requests, downloads and jobs. It is a process of its own with low priority, because a real one would use
another machine's processor. Both halves are compared with the idle server and with each other in one run, which takes about a
minute more than MINUTES (default: 10, with ``--hostile`` 5).

    python benchmarks/server_load.py [PEOPLE] [MINUTES] [--hostile]
"""

from __future__ import annotations

import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil

CLIENTS = Path(__file__).resolve().with_name("server_clients.py")
IDLE_SECONDS = 12.0
PASSWORD = "a longer password than most"
PAGES = (
    "/",
    "/projects/{id}",
    "/projects/{id}/data",
    "/projects/{id}/attributes",
    "/projects/{id}/methods",
    "/projects/{id}/assess",
)


@dataclass
class Running:
    """A real server in a process of its own, on a free port and in an empty data directory."""

    url: str
    link: str
    process: subprocess.Popen[bytes]

    def memory(self) -> int:
        """Resident memory of the server process in bytes, without its jobs."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def stop(self) -> None:
        """Stop the server with SIGTERM."""
        self.process.terminate()
        self.process.wait(20)


def start(home: Path, *options: str, first: bool = True) -> Running:
    """Start ``discreet serve`` in a data directory, and read where it is and the administrator's link from its log.

    Only the ``first`` start in a data directory shows such a link.
    """
    command = [str(Path(sys.executable).with_name("discreet")), "serve", "--port", "0", "--home", str(home), *options]
    log_file = home.parent / "server.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "COLUMNS": "300"})
    for _ in range(1200):
        text = log_file.read_text(errors="replace")
        links = [line.strip() for line in text.splitlines() if line.startswith("http")]
        if " is at http" in text and (links or not first):
            return Running(text.split(" is at ")[1].split()[0], next(iter(links), ""), process)
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {text[-2000:]}")


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False, follow_redirects=True)

    def log_in(self, name: str) -> None:
        """Log in and store the CSRF token."""
        page = self.http.post("/login", data={"name": name, "password": PASSWORD})
        page.raise_for_status()
        self.http.headers["x-csrf-token"] = page.text.split('name="csrf" content="')[1].split('"')[0]

    def welcome(self, link: str) -> None:
        """Set the password that a link allows."""
        self.http.post(link, data={"password": PASSWORD, "again": PASSWORD}).raise_for_status()

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """One request of the REST interface."""
        response = self.http.request(method, f"/api/v1{path}", **options)
        if response.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {response.status_code} {response.text[:200]}")
        return response.json() if response.content else None

    def run(self, project: int, kind: str, parameters: dict[str, Any] | None = None, *, patience: float = 600) -> dict[str, Any]:
        """Submit a job and wait until it is over."""
        job = self.ask("POST", f"/projects/{project}/jobs", json={"kind": kind, "parameters": parameters or {}})["id"]
        end = time.monotonic() + patience
        while time.monotonic() < end:
            status: dict[str, Any] = self.ask("GET", f"/projects/{project}/jobs/{job}")
            if status["state"] not in ("queued", "running"):
                return status
            time.sleep(0.5)
        raise RuntimeError(f"the job {kind} did not end within {patience:.0f} s")

    def upload(self, project: int, content: bytes, name: str = "table.csv") -> dict[str, Any]:
        """Send a table and import it."""
        receipt = self.ask("PUT", f"/projects/{project}/uploads", params={"name": name}, content=content)
        return self.run(project, "import", {"upload": receipt["upload"], "name": name})


@dataclass
class Tally:
    """Counts and times collected from all threads."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    jobs: int = 0
    events: int = 0
    memory: list[tuple[float, int]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def timed(self, act: Callable[[], httpx.Response]) -> None:
        """Time a page."""
        started = time.perf_counter()
        response = act()
        with self.lock:
            self.times.append(time.perf_counter() - started)
            if response.status_code >= 400:
                self.errors.append(f"{response.request.url.path}: {response.status_code}")


@dataclass(frozen=True)
class Phase:
    """A part of the run, and the seconds of processor time that the server used in it, without its jobs."""

    name: str
    began: float
    ended: float
    processor: float


@dataclass
class Phases:
    """The parts of a run: idle, people alone, people beside the hostile client."""

    server: psutil.Process
    ended: list[Phase] = field(default_factory=list)
    _current: tuple[str, float, float] | None = None

    def begin(self, name: str) -> None:
        """End the current part and begin the next."""
        self.end()
        self._current = name, time.monotonic(), self._processor_time()

    def end(self) -> None:
        """End the current part, if there is one."""
        if self._current is not None:
            name, began, processor = self._current
            self.ended.append(Phase(name, began, time.monotonic(), self._processor_time() - processor))
            self._current = None

    def _processor_time(self) -> float:
        times = self.server.cpu_times()
        return float(times.user + times.system)


def table(rows: int, seed: int) -> bytes:
    """A small table of people."""
    draw = random.Random(seed)
    text = io.StringIO()
    text.write("name,age,state,sex,diagnosis,income\n")
    for number in range(rows):
        text.write(
            f"P{number},{draw.randint(18, 90)},{draw.choice(['MI', 'IN', 'OH'])},{draw.choice('fm')},"
            f"{draw.choice(['flu', 'asthma', 'cancer'])},{draw.randint(10, 99) * 1000}\n"
        )
    return text.getvalue().encode()


POLICY = {
    "attributes.name": {"role": "identifier"},
    "attributes.age": {"role": "key", "known": 0.3},
    "attributes.state": {"role": "key", "known": 0.5},
    "attributes.sex": {"role": "key", "known": 0.9},
    "attributes.diagnosis": {"role": "confidential", "sensitivity": 1.0},
    "plan": {
        "steps": [{"method": "remove_identifiers"}, {"method": "microaggregation", "columns": ["age"], "size": 5}],
    },
    "limits": {"k_anonymity.k": 2},
}


def _act_as_person(url: str, name: str, until: float, tally: Tally, pause: float) -> None:
    draw = random.Random(name)
    person = Person(url)
    try:
        person.log_in(name)
        project = person.ask("POST", "/projects", json={"name": f"Project of {name}"})["id"]
        threading.Thread(target=_follow, args=(url, person.http.cookies, project, until, tally), daemon=True).start()
        content = table(2000, hash(name) % 1000)
        while time.monotonic() < until:
            for path in draw.sample(PAGES, 4):
                tally.timed(lambda path=path: person.http.get(path.format(id=project)))  # type: ignore[misc]
                time.sleep(draw.uniform(0.5, 1.5) * pause)
            _run_next_job(person, project, content, tally, draw)
    except Exception as error:  # noqa: BLE001 - any error is a finding of the test
        with tally.lock:
            tally.errors.append(f"{name}: {type(error).__name__}: {error}")
    finally:
        person.http.close()


def _follow(url: str, cookies: Any, project: int, until: float, tally: Tally) -> None:
    """Follow the events of a project as an open page does, and reconnect when the server ends the stream."""
    try:
        with httpx.Client(base_url=url, timeout=60, trust_env=False, cookies=dict(cookies)) as listener:
            while time.monotonic() < until:
                _listen(listener, project, until, tally)
    except Exception as error:  # noqa: BLE001 - as above
        if time.monotonic() < until:  # afterwards the server is stopped under it
            with tally.lock:
                tally.errors.append(f"events of {project}: {type(error).__name__}: {error}")


def _listen(listener: httpx.Client, project: int, until: float, tally: Tally) -> None:
    with listener.stream("GET", f"/projects/{project}/events") as stream:
        stream.raise_for_status()
        for line in stream.iter_lines():
            with tally.lock:
                tally.events += line.startswith("event: change")
            if time.monotonic() > until:
                return


def _run_next_job(person: Person, project: int, content: bytes, tally: Tally, draw: random.Random) -> None:
    """Upload, edit and generate, one after the other; every job must end well."""
    current = person.ask("GET", f"/projects/{project}")
    if current["dataset_id"] is None:
        ended = [person.upload(project, content)]
    else:
        person.ask(
            "PATCH",
            f"/projects/{project}/policy",
            json={"base": person.ask("GET", f"/projects/{project}")["revision"], "sections": POLICY},
        )
        ended = [person.run(project, draw.choice(["generate", "risk", "analyze"]))]
    with tally.lock:
        tally.jobs += len(ended)
        for job in ended:
            if job["state"] != "done":
                tally.errors.append(f"a job {job['kind']} is {job['state']}: {job['what']}")


def run(
    people: int = 50,
    minutes: float = 10.0,
    *,
    pause: float = 4.0,
    idle_seconds: float = IDLE_SECONDS,
    hostile: bool = False,
    say: Callable[[str], None] = print,
) -> dict[str, float]:
    """Run the load test, after about twice ``idle_seconds`` on the idle server; returns its figures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (Path(folder) / "home").mkdir()
        server = start(Path(folder) / "home", "--jobs", "1")
        try:
            return _run_load(server, people, minutes, pause, idle_seconds, say, hostile=hostile)
        finally:
            server.stop()


def _run_load(
    server: Running,
    people: int,
    minutes: float,
    pause: float,
    idle_seconds: float,
    say: Callable[[str], None],
    *,
    hostile: bool,
) -> dict[str, float]:
    admin = Person(server.url)
    admin.welcome(server.link)
    admin.log_in("admin")
    names = [f"person {number}" for number in range(people)]
    for name in ("watcher", *names):
        _add_person(server, admin, name).http.close()
    watcher, idle, phases = _measure_idle(server, admin, idle_seconds)
    tally = Tally()
    until = time.monotonic() + minutes * 60
    token = _make_flooder(server, admin) if hostile else ""
    threads = [threading.Thread(target=_act_as_person, args=(server.url, name, until, tally, pause)) for name in names]
    started = time.monotonic()
    enemy: subprocess.Popen[str] | None = None
    pages_before = errors_before = 0
    phases.begin("without hostile client")
    for thread in threads:
        thread.start()
        time.sleep(min(0.2, minutes * 6 / people))
    while any(thread.is_alive() for thread in threads):
        if hostile and enemy is None and time.monotonic() - started >= minutes * 30:
            pages_before, errors_before = len(tally.times), len(tally.errors)
            phases.begin("with hostile client")
            enemy = _start_client("attack", server.url, token, str(minutes * 30))
        if time.monotonic() > until:
            phases.end()  # what follows is only the end of jobs
        tally.memory.append((time.monotonic() - started, server.memory()))
        time.sleep(2)
    later_sizes = [size for elapsed, size in tally.memory if elapsed > min(180.0, minutes * 60 * 0.4)] or [server.memory()]
    audit = admin.ask("GET", "/audit", params={"limit": 1})
    if not audit["whole"]:
        tally.errors.append(f"audit: {audit['fault']}")
    admin.http.close()
    watched = _read_watched(watcher, phases, tally)
    for error in tally.errors[:20]:
        say(error)
    return {
        "people": people,
        "minutes": round((time.monotonic() - started) / 60, 2),
        "pages": len(tally.times),
        "jobs": tally.jobs,
        "events": tally.events,
        "errors": len(tally.errors) + len(idle.errors),
        "idle median ms": statistics.median(idle.times) * 1000,
        "median ms": statistics.median(tally.times) * 1000,
        "95th percentile ms": statistics.quantiles(tally.times, n=20)[18] * 1000,
        "median against idle": statistics.median(tally.times) / statistics.median(idle.times),
        "memory MB": later_sizes[-1] / 1e6,
        "memory growth after the first minutes": later_sizes[-1] / later_sizes[0],
        **_compare_halves(tally, idle, pages_before, errors_before),
        **watched,
        **(_read_counts(enemy) if enemy is not None else {}),
    }


def _add_person(server: Running, admin: Person, name: str) -> Person:
    person = Person(server.url)
    person.welcome(admin.ask("POST", "/users", json={"name": name})["link"])
    return person


def _measure_idle(server: Running, admin: Person, idle_seconds: float) -> tuple[subprocess.Popen[str], Tally, Phases]:
    """Pages of a server that does nothing else, with a pause between clicks as people have: from a process of their own, then
    from this one, because this one later has two threads per person, which keep each other waiting."""
    visitor = _add_person(server, admin, "visitor")
    visitor.log_in("visitor")
    project = visitor.ask("POST", "/projects", json={"name": "Idle"})["id"]
    visitor.ask("PUT", f"/projects/{project}/people/watcher", json={"role": "editor"})
    visitor.upload(project, table(2000, 1))
    while any(job["state"] in ("queued", "running") for job in visitor.ask("GET", f"/projects/{project}/jobs")):
        time.sleep(0.5)
    phases = Phases(psutil.Process(server.process.pid))
    phases.begin("idle")
    watcher = _start_client("watch", server.url, "watcher", str(project), str(server.process.pid))
    time.sleep(idle_seconds)
    phases.end()
    idle = Tally()
    for _ in range(max(5, round(idle_seconds * 40 / IDLE_SECONDS))):
        idle.timed(lambda: visitor.http.get(random.choice(PAGES).format(id=project)))
        time.sleep(0.25)
    visitor.http.close()
    return watcher, idle, phases


def _compare_halves(tally: Tally, idle: Tally, pages_before: int, errors_before: int) -> dict[str, float]:
    """The figures before and beside the hostile client; none if there was none, or if too few pages were seen in a half."""
    before, beside = tally.times[:pages_before], tally.times[pages_before:]
    if not before or not beside:
        return {}
    medians = {"without": statistics.median(before), "with": statistics.median(beside)}
    return {
        "median ms without hostile client": medians["without"] * 1000,
        "median ms with hostile client": medians["with"] * 1000,
        "without hostile client against idle": medians["without"] / statistics.median(idle.times),
        "with hostile client against idle": medians["with"] / statistics.median(idle.times),
        "with against without hostile client": medians["with"] / medians["without"],
        "errors without hostile client": errors_before,
        "errors with hostile client": len(tally.errors) - errors_before,
    }


def _read_watched(watcher: subprocess.Popen[str], phases: Phases, tally: Tally) -> dict[str, float]:
    """The median page of the person in a process of their own in each phase, and what the server used in it."""
    phases.end()
    output, _ = watcher.communicate("", timeout=60)
    pages = json.loads(output)
    tally.errors += [f"a page of the watcher: {status}" for _, _, status, _ in pages if status >= 400]
    figures: dict[str, float] = {}
    for phase in phases.ended:
        figures[f"server's processor time {phase.name}, share of one core"] = phase.processor / (phase.ended - phase.began)
        within = [(seconds, used) for at, seconds, _, used in pages if phase.began <= at < phase.ended]
        for what, times in zip(("ms", "ms of the server's processor"), zip(*within, strict=True), strict=False):
            median = figures[f"own process: median {what} {phase.name}"] = statistics.median(times) * 1000
            if phase.name != "idle" and (idle := figures.get(f"own process: median {what} idle")):
                figures[f"own process: {what} {phase.name} against idle"] = median / idle
    return figures


def _make_flooder(server: Running, admin: Person) -> str:
    """The token of a user who floods."""
    flooder = _add_person(server, admin, "flooder")
    flooder.log_in("flooder")
    token = flooder.ask("POST", "/tokens", json={"name": "flood", "scopes": ["read", "write"]})["secret"]
    flooder.http.close()
    return str(token)


def _start_client(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CLIENTS), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _read_counts(process: subprocess.Popen[str]) -> dict[str, float]:
    try:
        output, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {}
    return {f"hostile: {name}": float(count) for name, count in sorted(json.loads(output).items())}


def main() -> None:
    """Print the figures of one run."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--hostile"]
    people = int(arguments[0]) if arguments else 50
    minutes = float(arguments[1]) if len(arguments) > 1 else 5.0 if "--hostile" in sys.argv else 10.0
    print("| what | figure |\n|---|---|")
    for name, value in run(people, minutes, hostile="--hostile" in sys.argv).items():
        print(f"| {name} | {value:,.4g} |")


if __name__ == "__main__":
    main()
