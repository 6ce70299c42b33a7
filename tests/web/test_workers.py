"""Several web processes on one PostgreSQL: what is counted, stored or run once holds for all; a second server is refused."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import deployment
import httpx2 as httpx
import psutil
import pytest
from command_line import run_command
from hypothesis import given
from hypothesis import strategies as st
from patience import patient, wait_until
from sqlalchemy import create_engine, text
from web_jobs import CONTENT

from discreet.errors import SourceError
from discreet.web.db.server_lock import ServerLock
from discreet.web.errors import TooManyRequests
from discreet.web.limits.connections import ConnectionLimits, OpenConnections
from discreet.web.limits.shared_counts import SharedCounts
from discreet.web.limits.turns import STREAMS_PER_USER, Turns
from discreet.web.settings import Settings


def make_counts(processes: int = 2) -> list[SharedCounts]:
    counts = SharedCounts.create(multiprocessing.get_context("spawn"), processes, b"secret")
    return [counts.of_process(number) for number in range(processes)]


class TestOneServer:
    @pytest.mark.parametrize("system", ["sqlite:////srv/x.db", None, "mysql://host/db", "mariadb://host/db"])
    def test_several_processes_are_refused_without_postgresql(self, system: str | None, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"--workers 3 needs PostgreSQL, not .*; name it with --database postgresql://"):
            Settings.make(tmp_path, system, workers=3)

    def test_a_second_server_on_one_data_directory_gets_a_sentence(self, tmp_path: Path) -> None:
        lock = ServerLock.acquire(Settings.make(tmp_path / "home"))
        try:
            outcome = run_command("serve", "--port", "0", "--home", str(tmp_path / "home"), folder=tmp_path)
        finally:
            lock.release()
        assert outcome.returncode == 2
        assert outcome.stderr.strip().count("\n") == 0
        assert "another server is running on this data directory; stop it first" in outcome.stderr
        ServerLock.acquire(Settings.make(tmp_path / "home")).release()

    def test_a_second_server_on_one_database_gets_a_sentence_before_it_migrates(
        self, database: str | None, tmp_path: Path
    ) -> None:
        address = database or f"sqlite:///{tmp_path}/shared.db"
        lock = ServerLock.acquire(Settings.make(tmp_path / "home", address))
        try:
            outcome = run_command(
                "serve", "--port", "0", "--home", str(tmp_path / "other"), "--database", address, folder=tmp_path
            )
        finally:
            lock.release()
        assert outcome.returncode == 2
        assert "another server with another data directory is running on this database" in outcome.stderr
        assert not (tmp_path / "shared.db").exists()

    def test_a_lost_connection_is_replaced_and_the_lock_is_taken_again_unless_another_has_it(
        self, database: str | None, tmp_path: Path
    ) -> None:
        if database is None:
            return  # a file's lock has no connection
        settings = Settings.make(tmp_path / "home", database)
        lock, engine = ServerLock.acquire(settings), create_engine(database.replace("postgresql:", "postgresql+psycopg:"))

        def cut() -> None:
            with engine.begin() as connection:
                connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"))

        try:
            assert lock.is_held()
            cut()
            assert lock.is_held()
            cut()
            other = ServerLock.acquire(replace(settings, home=tmp_path))
            assert not lock.is_held()
            other.release()
            assert lock.is_held()
        finally:
            lock.release()
            engine.dispose()


class TestSharedCounts:
    @given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", ("stream", 1), ("connection", "::1")]), st.booleans())))
    def test_counts_of_other_processes_are_the_sum_of_theirs(self, steps: list[tuple[int, object, bool]]) -> None:
        processes, expected = make_counts(3), dict[tuple[int, object], int]()
        for process, key, more in steps:
            if more or expected.get((process, key), 0):
                processes[process].add(key, 1 if more else -1)
                expected[process, key] = expected.get((process, key), 0) + (1 if more else -1)
            for each in range(3):
                others = sum(count for (number, name), count in expected.items() if name == key and number != each)
                assert processes[each].elsewhere(key) == others

    def test_a_turn_waits_for_one_of_another_process_and_those_of_a_killed_one_are_forgotten(self) -> None:
        first, second = make_counts()
        here, there = Turns(first), Turns(second)

        async def walk() -> None:
            await there.take("logins", 1)
            waiting = asyncio.create_task(here.take("logins", 1))
            await asyncio.sleep(0.15)
            assert not waiting.done()
            there.release("logins")
            await asyncio.wait_for(waiting, patient(5))
            with pytest.raises(TooManyRequests):
                await there.take("logins", 1, waiting=0)
            first.clear()
            await there.take("logins", 1, waiting=0)
            await here.take(("user", 1), 1)
            await there.take(("user", 1), 1, waiting=0)  # each process has threads of its own

        asyncio.run(walk())

    def test_an_address_has_its_connections_in_all_processes_together(self) -> None:
        first, second = make_counts()
        limits = ConnectionLimits(per_address=2)

        class Busy:
            is_idle = False

        here, there = OpenConnections(limits, first), OpenConnections(limits, second)
        assert here.admit(Busy(), "192.0.2.1")  # type: ignore[arg-type]
        last = Busy()
        assert there.admit(last, "192.0.2.1")  # type: ignore[arg-type]
        assert not here.admit(Busy(), "192.0.2.1")  # type: ignore[arg-type]
        there.remove(last, "192.0.2.1")  # type: ignore[arg-type]
        assert here.admit(Busy(), "192.0.2.1")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Cluster:
    """A server with two web processes."""

    url: str
    pid: int

    def processes(self) -> list[psutil.Process]:
        living = [each for each in psutil.Process(self.pid).children() if each.status() != psutil.STATUS_ZOMBIE]
        return [each for each in living if "spawn_main" in " ".join(each.cmdline())]


@pytest.fixture(scope="module")
def cluster(create_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home, port = tmp_path_factory.mktemp("cluster") / "home", deployment.find_free_port()
    address = create_database()
    deployment.add_administrator(home, address)
    with deployment.serving(home, port, "--workers", "2", "--database", address) as process:
        yield Cluster(f"http://127.0.0.1:{port}", process.pid)


@pytest.fixture
def person(cluster: Cluster) -> Iterator[httpx.Client]:
    """Somebody whose every request is a connection of its own, so that any of the processes answers it."""
    limits = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=cluster.url, limits=limits, timeout=patient(60), follow_redirects=False) as client:
        deployment.log_in(client)
        yield client


def test_sessions_jobs_and_events_work_whichever_process_answers(person: httpx.Client) -> None:
    project = person.post("/api/v1/projects", json={"name": "Shared"}).json()["id"]
    uploaded = person.put(f"/api/v1/projects/{project}/uploads?name=people.csv", content=CONTENT.encode()).json()["upload"]
    body = {"kind": "import", "parameters": {"upload": uploaded, "name": "people.csv"}}
    job = person.post(f"/api/v1/projects/{project}/jobs", json=body).json()["id"]
    with person.stream("GET", f"/api/v1/projects/{project}/jobs/{job}/events") as events:
        assert "event: end" in list(events.iter_lines())
    assert person.get(f"/api/v1/projects/{project}/jobs/{job}").json()["state"] == "done"


def test_an_idempotency_key_is_executed_once_by_all_processes_together(person: httpx.Client) -> None:
    def create(_: int) -> int:
        answer = person.post("/api/v1/projects", json={"name": "Once"}, headers={"Idempotency-Key": "the-same"})
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    with ThreadPoolExecutor(12) as pool:
        assert len(set(pool.map(create, range(24)))) == 1


def test_failed_logins_are_counted_by_all_processes_together(cluster: Cluster) -> None:
    def fail(_: int) -> int:
        return httpx.post(f"{cluster.url}/login", data={"name": "nobody", "password": "wrong"}, timeout=patient(60)).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(fail, range(12)))
    assert statuses.count(401) <= 6
    assert 429 in statuses


def test_a_user_has_so_many_streams_in_all_processes_together(person: httpx.Client) -> None:
    project = person.post("/api/v1/projects", json={"name": "Streams"}).json()["id"]
    opened = []
    try:
        for _ in range(STREAMS_PER_USER + 6):
            request = person.build_request("GET", f"/projects/{project}/events")
            opened.append(person.send(request, stream=True))
        statuses = [answer.status_code for answer in opened]
    finally:
        for answer in opened:
            answer.close()
    assert statuses.count(200) <= STREAMS_PER_USER + 1
    assert statuses.count(200) >= STREAMS_PER_USER
    assert 429 in statuses


def test_a_killed_process_is_replaced(cluster: Cluster, person: httpx.Client) -> None:
    before = {each.pid for each in cluster.processes()}
    assert len(before) == 2
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: len({each.pid for each in cluster.processes()} - {victim}) == 2, "the process was not replaced")
    assert person.get("/").status_code == 200
