"""Jobs end as they should whatever happens to them: cancelled, killed, cut with the server, or met by garbage."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import exc, select, update

from discreet.errors import SourceError
from discreet.web import audit, confined, datasets, policies, projects, releases
from discreet.web.accounts import User
from discreet.web.failures import Conflict, Forbidden, Invalid, NotFound, TooMany
from discreet.web.jobs import events, process, queue, work
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.jobs.voice import Voice
from discreet.web.jobs.worker import perform
from discreet.web.projects import Project
from discreet.web.settings import Settings
from discreet.web.store import Store
from discreet.web.tables import jobs as job_table

TABLE_A1 = """Name,SSN,Age,State,Diagnosis,Income,Billing
John Wayne,123456789,44,MI,AIDS,45500,1200
Mary Gore,323232323,44,MI,Asthma,37900,2500
John Banks,232345656,55,MI,AIDS,67000,3000
Jesse Casey,333333333,44,MI,Asthma,21000,1000
Jack Stone,444444444,55,MI,Asthma,90000,900
Mike Kopi,666666666,45,MI,Diabetes,48000,750
Angela Simms,777777777,25,IN,Diabetes,49000,1200
Nike Wood,888888888,35,MI,AIDS,66000,2200
Mikhail Aaron,999999999,55,MI,AIDS,69000,4200
Sam Pall,100000000,45,MI,Tuberculosis,34000,3100
"""
PLAN = {
    "seed": 3,
    "steps": [
        {"method": "remove_identifiers"},
        {"method": "microaggregation", "columns": ["Age"], "size": 2},
        {"method": "sampling", "fraction": 0.8},
    ],
}
ROLES = {"Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key", "Diagnosis": "confidential"}
SAYS = "import sys, json, time\ndef say(**m): print(json.dumps(m), flush=True)\nbrief = json.loads(sys.stdin.readline())\n"
RESULT = "say(say='result', result={'n': 1}, sentence='made')\n"


@pytest.fixture
def supervisor(settings: Settings, store: Store) -> Iterator[Supervisor]:
    made = Supervisor(settings, store)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have jobs done by a small program instead."""

    def use(program: str) -> None:
        monkeypatch.setattr(process, "COMMAND", [sys.executable, "-S", "-c", SAYS + program])

    return use


def submit(store: Store, user: User, project: Project, kind: str = "risk", **parameters: Any) -> queue.Job:
    with store.write() as connection:
        return queue.submit(connection, user, projects.get(connection, user, project.id), kind, parameters)


def look(store: Store, project: Project, job: queue.Job) -> queue.Job:
    with store.read() as connection:
        return queue.get(connection, project, job.id)


def wait(
    store: Store, project: Project, job: queue.Job, until: Callable[[queue.Job], bool] | None = None, seconds: float = 90
) -> queue.Job:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look(store, project, job)
        if until(found) if until is not None else not found.active:
            return found
        time.sleep(0.05)
    raise AssertionError(f"still {found.state}: {found.what}")


def pid_of(store: Store, job: queue.Job) -> int:
    for _ in range(400):
        with store.read() as connection:
            found = connection.execute(select(job_table.c.pid).where(job_table.c.id == job.id)).scalar()
        if found:
            return int(found)
        time.sleep(0.05)
    raise AssertionError("no process was started")


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def imported(settings: Settings, store: Store, user: User, project: Project, content: str = TABLE_A1) -> queue.Job:
    place = datasets.receive(settings, project, iter([content.encode()]), "patients.csv")
    return submit(store, user, project, "import", upload=place.name, name="patients.csv")


def in_process(settings: Settings, store: Store, user: User, project: Project, kind: str, **parameters: Any) -> dict[str, Any]:
    """What a job's process would say, last of all, without a process."""
    from discreet.web.jobs.briefs import brief

    job = submit(store, user, project, kind, **parameters)
    with store.write() as connection:
        told = brief(connection, settings, connection.execute(select(job_table).where(job_table.c.id == job.id)).one())
    out = io.BytesIO()
    perform(json.loads(json.dumps(told)), Voice(out))
    with store.write() as connection:
        queue.cancel(connection, user, projects.get(connection, user, project.id), job.id)
    said: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return said


def test_table_a1_goes_from_upload_to_a_table_of_eight_records(
    settings: Settings, store: Store, anna: User, project: Project, supervisor: Supervisor
) -> None:
    made = imported(settings, store, anna, project)
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.State": {"role": "key"}})
    analyzed = submit(store, anna, project, "analyze", apply=True)
    supervisor.wake()
    assert wait(store, project, made).what == "10 records with 7 attributes were read"
    found = wait(store, project, analyzed)
    assert (found.state, found.share) == ("done", 1.0), found.what
    assert found.what.endswith("the proposal is the policy now")
    with store.write() as connection:
        now = projects.get(connection, anna, project.id)
        dataset = datasets.get(connection, now)
        assert dataset.profile is not None
        proposed = policies.document(connection, now)["attributes"]
        assert {name: proposed[name]["role"] for name in ROLES} == ROLES
        policies.edit(connection, anna, now, now.revision, {"plan": PLAN, "limits": {"k_anonymity.k": 1}})
    job = submit(store, anna, project, "generate")
    supervisor.wake()
    done = wait(store, project, job)
    assert done.state == "done", done.what
    assert done.result is not None
    assert (done.result["records"], done.result["release"], done.result["ok"]) == (8, 1, True)
    rows = published(settings, f"SELECT * FROM {project.table_name}")
    assert len(rows) == 8
    assert not any("Wayne" in str(cell) for row in rows for cell in row)
    with store.read() as connection:
        release = releases.get(connection, projects.get(connection, anna, project.id))
        assert audit.check(connection) is None
    assert release.assessment["steps"][1]["method"] == "microaggregation"
    assert releases.report_path(settings, release).read_text().startswith("<!")
    beside = datasets.compare(settings, dataset, release, limit=100)
    assert (beside.total, beside.removed) == (8, ["Name", "SSN"])
    ages = [line.split(",")[2] for line in TABLE_A1.splitlines()[1:]]
    at = beside.columns.index("Age")
    for row in beside.rows:
        cell = row["cells"][at]
        assert str(cell["before"]) == ages[row["record"] - 1]
        assert cell["changed"] == (cell["before"] != cell["after"])
    assert not list((settings.folder(project.id) / "uploads").iterdir()), "an upload is not kept twice"


def published(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    """What another program reads from the database of releases."""
    if settings.published.startswith("sqlite"):
        import sqlite3

        connection = sqlite3.connect(settings.published.removeprefix("sqlite:///"))
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()
    with psycopg.connect(settings.published) as link:
        return link.execute(query.encode()).fetchall()


class TestEndings:
    def test_garbage_and_endless_lines_do_no_harm(
        self, store: Store, anna: User, project: Project, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(process, "LONGEST", 10_000)
        fake(
            "print('hello'); print('{'); print('[1]'); print('{\"say\": 3}'); print('x' * 300000)\n"
            "sys.stdout.buffer.write(bytes(range(256)) + b'\\n')\n"
            "say(say='progress', what='half', done='x', total=2)\n"
            "say(say='progress', what='half\\0way', done=1, total=2)\n"
            "say(say='nothing')\nsys.stderr.write('y' * 300000)\n" + RESULT
        )
        job = imported(supervisor.settings, store, anna, project)
        made = wait(store, project, job)
        assert made.state == "failed", "an import that made nothing is none"
        assert made.what.startswith("an error of the program (KeyError)")
        job = submit(store, anna, project, "publish", release=1)
        assert "no release number 1" in wait(store, project, job).what

    def test_a_process_that_dies_fails_its_job_alone(
        self, store: Store, anna: User, project: Project, supervisor: Supervisor, fake: Callable[[str], None]
    ) -> None:
        fake("time.sleep(60)")
        job = imported(supervisor.settings, store, anna, project)
        os.kill(pid_of(store, job), signal.SIGKILL)
        made = wait(store, project, job)
        assert (made.state, "signal 9" in made.what, "memory" in made.what) == ("failed", True, True)
        fake("raise ImportError('x')")
        job = imported(supervisor.settings, store, anna, project)
        assert wait(store, project, job).what.startswith("the job's process ended before it was done (exit code 1)")
        fake("say(say='failed', sentence='there is no room')")
        job = imported(supervisor.settings, store, anna, project)
        made = wait(store, project, job)
        assert (made.state, made.what) == ("failed", "there is no room")

    def test_a_job_that_does_not_stop_when_asked_is_ended(
        self, store: Store, anna: User, project: Project, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(process, "PATIENCE", 0.5)
        fake("import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\ntime.sleep(60)")
        job = imported(supervisor.settings, store, anna, project)
        pid = pid_of(store, job)
        with store.write() as connection:
            queue.cancel(connection, anna, project, job.id)
        made = wait(store, project, job)
        assert made.state == "cancelled"
        assert "did not stop by itself" in made.what
        assert not alive(pid)
        groups = [Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()[2] for one in _processes()]
        assert str(pid) not in groups, "what it had started ended with it"
        with store.write() as connection, pytest.raises(Conflict, match="cancelled"):
            queue.cancel(connection, anna, project, job.id)

    def test_a_search_stops_when_asked_and_keeps_what_it_found(
        self, settings: Settings, store: Store, anna: User, project: Project, supervisor: Supervisor
    ) -> None:
        imported(settings, store, anna, project)
        with store.write() as connection:
            content = {f"attributes.{name}": {"role": role} for name, role in ROLES.items()}
            policies.edit(connection, anna, project, 0, content | {"limits": {"k_anonymity.k": 2}})
        job = submit(store, anna, project, "select", seconds=300)
        followed: list[str] = []

        async def follow() -> None:
            followed.extend([text async for text in events.stream(store, project, job.id, 0.1)])

        reader = threading.Thread(target=lambda: asyncio.run(follow()))
        reader.start()
        wait(store, project, job, lambda one: bool(one.partial))
        with store.write() as connection:
            queue.cancel(connection, anna, project, job.id)
        supervisor.wake()
        made = wait(store, project, job)
        assert (made.state, made.what) == ("cancelled", "cancelled")
        assert made.partial[0]["number"] == 1
        reader.join(10)
        assert followed[0].startswith("event: progress\ndata: {")
        assert followed[-1].startswith("event: end\n")
        assert json.loads(followed[-1].split("data: ")[1])["state"] == "cancelled"

    def test_a_result_waits_while_the_database_is_away(
        self, store: Store, anna: User, project: Project, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        from discreet.web.jobs import endings

        real, tried = endings.conclude, []

        def away(*given: Any) -> None:
            tried.append(1)
            if len(tried) < 3:
                raise exc.OperationalError("statement", {}, Exception("gone"))
            real(*given)

        monkeypatch.setattr(endings, "conclude", away)
        fake("say(say='failed', sentence='told at last')")
        job = imported(supervisor.settings, store, anna, project)
        assert wait(store, project, job).what == "told at last"

    def test_a_deleted_project_takes_its_job_with_it(
        self, settings: Settings, store: Store, anna: User, project: Project, supervisor: Supervisor, fake: Callable[[str], None]
    ) -> None:
        fake("time.sleep(60)")
        pid = pid_of(store, imported(settings, store, anna, project))
        with store.write() as connection:
            projects.remove(connection, anna, project)
        datasets.forget(settings, project.id)
        supervisor.wake()
        for _ in range(100):
            if not alive(pid):
                break
            time.sleep(0.05)
        assert not alive(pid)


class TestServers:
    def test_stopping_is_quick_and_leaves_nothing_but_the_queue(
        self, settings: Settings, store: Store, anna: User, project: Project, fake: Callable[[str], None]
    ) -> None:
        fake("time.sleep(60)")
        threads = threading.active_count()
        files = len(os.listdir("/proc/self/fd"))
        supervisor = Supervisor(settings, store)
        supervisor.start()
        job = imported(settings, store, anna, project)
        pid = pid_of(store, job)
        with pytest.raises(SourceError, match="another server"):
            Supervisor(settings, store).start()
        began = time.monotonic()
        supervisor.stop()
        assert time.monotonic() - began < 2
        assert not alive(pid)
        assert threading.active_count() == threads
        assert len(os.listdir("/proc/self/fd")) <= files + 4, "the database's pool may hold more, the pipes must be gone"
        made = look(store, project, job)
        assert (made.state, made.attempts) == ("queued", 0)
        assert "waits to run again" in made.what

    def test_a_server_that_is_killed_leaves_no_process_and_its_jobs_run_again(
        self, settings: Settings, store: Store, anna: User, project: Project, fake: Callable[[str], None]
    ) -> None:
        imported(settings, store, anna, project, "name,age\n" + "".join(f"n{at},{at % 50}\n" for at in range(300)))
        with store.write() as connection:
            content = {"attributes.name": {"role": "identifier"}, "attributes.age": {"role": "key"}}
            policies.edit(connection, anna, project, 0, content | {"limits": {"k_anonymity.k": 3}})
        job = submit(store, anna, project, "select", seconds=300)
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(settings.home), settings.database])
        try:
            wait(store, project, job, lambda one: bool(one.partial))
            pid = pid_of(store, job)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
        gone = time.monotonic() + 3
        while alive(pid) and time.monotonic() < gone:
            time.sleep(0.02)
        assert not alive(pid), "an orphan goes on"
        made = look(store, project, job)
        assert (made.state, made.attempts) == ("running", 1), "nothing was there to say otherwise"
        fake("say(say='failed', sentence='ran again')")
        supervisor = Supervisor(settings, store)
        supervisor.start()
        try:
            made = wait(store, project, job)
            assert (made.what, made.attempts) == ("ran again", 2)
        finally:
            supervisor.stop()

    def test_what_a_dead_server_left_is_taken_up_or_marked(
        self, settings: Settings, store: Store, anna: User, project: Project, fake: Callable[[str], None]
    ) -> None:
        fake("say(say='failed', sentence='ran')")
        states = {"again": {"attempts": 1}, "twice": {"attempts": 2}, "asked": {"attempts": 1, "cancelling": True}}
        made = {}
        for name, values in states.items():
            made[name] = submit(store, anna, project, "analyze")
            with store.write() as connection:
                this = job_table.c.id == made[name].id
                connection.execute(update(job_table).where(this).values(state="running", **values))
        supervisor = Supervisor(settings, store)
        supervisor.start()
        try:
            assert look(store, project, made["twice"]).state == "interrupted"
            assert look(store, project, made["asked"]).state == "cancelled"
            assert "upload a file first" in wait(store, project, made["again"]).what
        finally:
            supervisor.stop()

    def test_of_two_servers_one_has_the_job(
        self, settings: Settings, store: Store, anna: User, project: Project, fake: Callable[[str], None], tmp_path: Path
    ) -> None:
        fake("time.sleep(60)")
        job = imported(settings, store, anna, project)
        homes = [settings, replace(settings, home=tmp_path / "other")]
        homes[1].folder(project.id)
        (homes[1].folder(project.id) / "uploads").symlink_to(settings.folder(project.id) / "uploads")
        made = [Supervisor(one, store) for one in homes]
        threads = [threading.Thread(target=one._begin, args=(job.id,)) for one in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(len(one._running) for one in made) == [0, 1]
        for one in made:
            one._put_back()


class TestQueue:
    def test_two_people_submit_and_their_projects_run_side_by_side(
        self, settings: Settings, store: Store, anna: User, project: Project, add_user: Callable[..., User],
        fake: Callable[[str], None],
    ) -> None:  # fmt: skip
        bert = add_user("bert")
        with store.write() as connection:
            other = projects.create(connection, bert, "Other")
            projects.share(connection, anna, project, "bert", "editor")
        fake("time.sleep(0.5)\nsay(say='failed', sentence='over')")
        supervisor = Supervisor(replace(settings, jobs=2), store)
        first = [imported(settings, store, user, project) for user in (anna, bert)]
        second = imported(settings, store, bert, other)
        supervisor.start()
        try:
            one, two = (wait(store, project, job) for job in first)
            three = wait(store, other, second)
        finally:
            supervisor.stop()
        assert (one.user, two.user, three.user) == ("anna", "bert", "bert")
        assert None not in (one.finished, two.started, three.started)
        assert (one.finished or 0) <= (two.started or 0), "a project's jobs run one after the other"
        assert (three.started or 0) < (one.finished or 0), "two projects' jobs run at once"

    def test_the_queue_is_bounded_and_asks_who_is_there(
        self, settings: Settings, store: Store, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "IN_PROJECT", 2)
        first = submit(store, anna, project, "analyze")
        submit(store, anna, project, "analyze")
        with pytest.raises(TooMany, match="2 jobs waiting"):
            submit(store, anna, project, "analyze")
        with store.write() as connection:
            assert queue.cancel(connection, anna, project, first.id).state == "cancelled"
            with pytest.raises(Forbidden):
                queue.submit(connection, anna, replace(project, role="reader"), "analyze")
            with pytest.raises(Forbidden):
                queue.cancel(connection, anna, replace(project, role="reader"), first.id)
            with pytest.raises(NotFound):
                queue.get(connection, project, "nothing")
            found = queue.latest(connection, project, "analyze", "cancelled")
            assert found is not None
            assert found.id == first.id
            assert queue.latest(connection, project, "risk") is None

    @pytest.mark.parametrize(
        ("kind", "parameters", "words"),
        [
            ("dance", {}, "no kind of job"),
            ("import", {}, "names an upload"),
            ("import", {"upload": "../../../etc/passwd"}, "'upload'"),
            ("import", {"source": "x"}, "name the table"),
            ("import", {"upload": "0" * 32 + ".csv", "address": "postgresql://u:p@h/d"}, "'address' is not a field"),
            ("risk", {"measures": ["k_anonimity"]}, "k_anonymity"),
            ("select", {"seconds": -1}, "'seconds'"),
            ("report", {"release": 1, "format": "exe"}, "'format'"),
            ("analyze", {"dataset": "one"}, "'dataset'"),
        ],
    )
    def test_wrong_parameters_are_told_before_anything_waits(self, kind: str, parameters: dict[str, Any], words: str) -> None:
        from discreet.errors import DiscreetError
        from discreet.web.jobs import kinds

        project = Project(1, "P", "p", "anna", "owner", 0.0, 0.0, 4, None)
        with pytest.raises(DiscreetError, match=words):
            kinds.check(project, kind, parameters)
        assert kinds.check(project, "generate", {}) == {"revision": 4}


class TestSecrets:
    def test_a_connected_database_is_read_and_its_password_told_to_nobody(
        self, settings: Settings, store: Store, anna: User, project: Project, tmp_path: Path, postgresql: str
    ) -> None:
        import sqlite3

        with sqlite3.connect(tmp_path / "source.db") as link:
            link.execute("CREATE TABLE people (age INTEGER)")
            link.executemany("INSERT INTO people VALUES (?)", [(1,), (2,)])
            link.execute("CREATE TABLE discreet_users (password TEXT)")
        link.close()
        connected = replace(
            settings,
            sources={
                "here": f"sqlite:///{tmp_path}/source.db",
                "there": "postgresql://bob:hunter2@127.0.0.1:1/d?connect_timeout=2",
            },
        )
        assert datasets.sources(connected) == ["here", "there"]
        assert datasets.tables(connected, "here") == ["people"]
        with pytest.raises(SourceError) as told:
            datasets.tables(connected, "there")
        assert "hunter2" not in str(told.value)
        found = in_process(connected, store, anna, project, "import", source="here", table="people")
        assert (found["say"], found["made"]["records"], found["made"]["name"]) == ("result", 2, "people")
        found = in_process(connected, store, anna, project, "import", source="there", table="people")
        assert found["say"] == "failed"
        assert "hunter2" not in json.dumps(found)
        for source, table, words in (("here", "discreet_users", "the server's own"), ("nowhere", "people", "no database")):
            with pytest.raises(Invalid, match=words):
                in_process(connected, store, anna, project, "import", source=source, table=table)
        with store.read() as connection:
            written = json.dumps([dict(row._mapping) for row in connection.execute(select(job_table))], default=str)
            assert "hunter2" not in written
            assert "hunter2" not in json.dumps(audit.entries(connection))

    def test_errors_of_the_program_tell_where_but_no_values(
        self, settings: Settings, store: Store, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch,
        fake: Callable[[str], None], caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        value = "John " + "Wayne"  # not in a line of the program as a whole

        def broken(*_: Any) -> Any:
            raise ValueError(value)

        monkeypatch.setitem(work.WORK, "import", broken)
        place = datasets.receive(settings, project, iter([b"x"]), "x.csv")
        found = in_process(settings, store, anna, project, "import", upload=place.name, name="x.csv")
        assert (found["say"], found["type"]) == ("error", "ValueError")
        assert value not in json.dumps(found)
        fake("say(say='error', type='ValueError', trace='File x.py, line 1')")
        supervisor = Supervisor(settings, store)
        supervisor.start()
        with caplog.at_level(logging.ERROR):
            made = wait(store, project, imported(settings, store, anna, project))
        supervisor.stop()
        assert made.what.startswith("an error of the program (ValueError)")
        assert "File x.py, line 1" in caplog.text

    def test_a_file_that_cannot_be_read_is_told_by_the_name_it_came_with(
        self, settings: Settings, store: Store, anna: User, project: Project
    ) -> None:
        place = datasets.receive(settings, project, iter([b"no workbook"]), "x.xlsx")
        found = in_process(settings, store, anna, project, "import", upload=place.name, name="/home/me/Budget.xlsx")
        assert found["say"] == "failed"
        assert "'Budget.xlsx'" in found["sentence"]
        assert str(settings.home) not in found["sentence"]

    @pytest.mark.parametrize(
        "policy",
        [
            {"attributes": {"age": {"hierarchy": {"file": "/etc/passwd"}}}},
            {"attributes": {"age": {"hierarchy": {"file": "../../other/files/x"}}}},
            {"risk": {"decision": {"dictionaries": ["/srv/people.csv"]}}},
            {"risk": {"decision": {"dictionaries": ["~/people.parquet"]}}},
            {"risk": {"target_linkage": {"register": "postgresql://localhost/x#users"}}},
            {"plan": {"steps": [{"method": "pseudonymization", "key_file": "/root/key"}]}},
            {"plan": {"steps": [{"method": "pseudonymization", "key_file": "C:\\key"}]}},
        ],
    )
    def test_a_policy_from_the_web_names_nothing_outside_its_project(self, policy: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match="a policy on this server cannot name"):
            confined.check(policy)

    def test_values_that_look_like_paths_are_values(self) -> None:
        confined.check({"attributes": {"road": {"values": {"/a/b.csv": 1.0}, "hierarchy": {"file": "roads.csv"}}}})
        confined.check({"plan": {"steps": [{"method": "global_recoding", "columns": ["road"], "map": {"x": "/north"}}]}})


def test_what_changes_in_a_project_is_told(store: Store, anna: User, project: Project) -> None:
    before = events.picture(store, project)
    assert (before["revision"], before["jobs"], before["release"]) == (0, [], None)
    submit(store, anna, project, "analyze")
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"missing": ["n/a"]})
    after = events.picture(store, project)
    assert (after["revision"], after["by"], [one["kind"] for one in after["jobs"]]) == (1, "anna", ["analyze"])

    async def first() -> str:
        return await anext(events.project_events(store, project))

    assert asyncio.run(first()).startswith("event: change\n")
    with store.write() as connection:
        projects.remove(connection, anna, project)
    assert '"gone"' in asyncio.run(first())


def _processes() -> list[str]:
    return [one for one in os.listdir("/proc") if one.isdigit() and alive(int(one))]


SERVER = """
import sys, time
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.settings import Settings
from discreet.web.store import Store
settings = Settings.make(sys.argv[1], sys.argv[2])
Supervisor(settings, Store(settings.database)).start()
time.sleep(600)
"""
