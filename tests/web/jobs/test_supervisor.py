"""Jobs end in the right state when they are cancelled, killed, interrupted with the server, or write malformed output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from followers import make_follower
from patience import patient
from sqlalchemy import exc, update

from discreet.errors import SourceError
from discreet.reproduce.appendix import patients
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs as job_table
from discreet.web.errors import Conflict
from discreet.web.jobs import events, process, queue
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import datasets, policies, projects, published_tables, release_files, releases
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PLAN = {
    "steps": [
        {"method": "remove_identifiers"},
        {"method": "microaggregation", "columns": ["Age"], "size": 2},
        {"method": "sampling", "fraction": 0.8},
    ],
}
ROLES = {"Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key", "Diagnosis": "confidential"}
RESULT = "send(event='result', result={'n': 1}, sentence='made')\n"


def test_table_a1_goes_from_upload_to_a_draft_of_eight_records(
    settings: Settings, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor
) -> None:
    imported = desk.imported()
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.State": {"role": "key"}})
    analyzed = desk.submit("analyze", apply=True)
    supervisor.wake()
    assert desk.wait(imported).what == "10 records with 7 attributes were read"
    analysis = desk.wait(analyzed)
    assert (analysis.state, analysis.share) == ("done", 1.0), analysis.what
    assert analysis.what.endswith("the proposal is now the policy")
    with store.write() as connection:
        current = projects.get(connection, anna, project.id)
        dataset = datasets.get(connection, current)
        assert dataset.profile is not None
        proposed = policies.policy_document(connection, current)["attributes"]
        assert {name: proposed[name]["role"] for name in ROLES} == ROLES
        policies.edit(connection, anna, current, current.revision, {"plan": PLAN, "limits": {"k_anonymity.k": 1}})
    job = desk.submit("generate")
    supervisor.wake()
    done = desk.wait(job)
    assert done.state == "done", done.what
    assert done.result is not None
    assert (done.result["records"], done.result["release"]) == (8, 1), done.result
    with store.read() as connection:
        release = releases.get(connection, projects.get(connection, anna, project.id))
        assert audit.verify_chain(connection) is None
    assert done.result["ok"], release.assessment
    assert release.assessment["steps"][1]["method"] == "microaggregation"
    rows = pl.read_parquet(release_files.path(settings, release)).rows()
    assert len(rows) == 8
    assert not any("Wayne" in str(cell) for row in rows for cell in row)
    assert published_tables.list_tables(settings.published) == [], "a draft"
    assert release_files.report_path(settings, release).read_text().startswith("<!")
    compared = datasets.compare(settings, dataset, release, limit=100)
    assert (compared.total, compared.removed) == (8, ["Name", "SSN"])
    ages = patients().frame["Age"].to_list()
    age_index = compared.columns.index("Age")
    for row in compared.rows:
        cell = row["cells"][age_index]
        assert cell["before"] == ages[row["record"] - 1]
        assert cell["changed"] == (cell["before"] != cell["after"])
    assert not list((settings.folder(project.id) / "uploads").iterdir()), "an upload is not kept twice"


class TestOutcomes:
    def test_malformed_and_endless_output_is_tolerated(
        self, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(process, "MAX_LINE_BYTES", 10_000)
        fake(
            "print('hello'); print('{'); print('[1]'); print('{\"event\": 3}'); print('x' * 300000)\n"
            "sys.stdout.buffer.write(bytes(range(256)) + b'\\n')\n"
            "send(event='progress', what='half', done='x', total=2)\n"
            "send(event='progress', what='half\\0way', done=1, total=2)\n"
            "send(event='nothing')\nsys.stderr.write('y' * 300000)\n" + RESULT
        )
        job = desk.imported()
        ended = desk.wait(job)
        assert ended.state == "failed", "an import without a row fails"
        assert ended.what.startswith("internal error (KeyError)")
        job = desk.submit("publish", release=1)
        assert "no release 1" in desk.wait(job).what

    def test_a_process_that_dies_fails_its_job_alone(
        self, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor, fake: Callable[[str], None]
    ) -> None:
        fake("time.sleep(60)")
        job = desk.imported()
        os.kill(desk.pid_of(job), signal.SIGKILL)
        ended = desk.wait(job)
        assert (ended.state, "signal 9" in ended.what, "memory" in ended.what) == ("failed", True, True)
        fake("raise ImportError('x')")
        job = desk.imported()
        assert desk.wait(job).what.startswith("the job's process ended before the job was done (exit code 1)")
        fake("send(event='failed', sentence='the disk is full')")
        job = desk.imported()
        ended = desk.wait(job)
        assert (ended.state, ended.what) == ("failed", "the disk is full")

    def test_a_job_that_does_not_stop_when_asked_is_killed(
        self, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(process, "STOP_SECONDS", 0.5)
        fake("import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\ntime.sleep(60)")
        job = desk.imported()
        pid = desk.pid_of(job)
        with store.write() as connection:
            queue.cancel(connection, anna, project, job.id)
        ended = desk.wait(job)
        assert ended.state == "cancelled"
        assert "did not stop when asked" in ended.what
        assert not desk.alive(pid)
        assert desk.group(pid) == [], "what it had started ended with it"
        with store.write() as connection, pytest.raises(Conflict, match="cancelled"):
            queue.cancel(connection, anna, project, job.id)

    def test_a_cancelled_search_keeps_its_intermediate_results(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor
    ) -> None:
        desk.imported()
        with store.write() as connection:
            content = {f"attributes.{name}": {"role": role} for name, role in ROLES.items()}
            policies.edit(connection, anna, project, 0, content | {"limits": {"k_anonymity.k": 2}})
        job = desk.submit("select", seconds=300)
        followed: list[str] = []

        follower = make_follower(store, settings, anna, project)

        async def follow() -> None:
            followed.extend([text async for text in events.stream_job(store, project, job.id, follower, 0.1)])

        reader = threading.Thread(target=lambda: asyncio.run(follow()))
        reader.start()
        desk.wait(job, lambda current: bool(current.partial))
        with store.write() as connection:
            queue.cancel(connection, anna, project, job.id)
        supervisor.wake()
        ended = desk.wait(job)
        assert (ended.state, ended.what) == ("cancelled", "cancelled")
        assert ended.partial[0]["number"] == 1
        reader.join(patient(120))
        assert followed[0].startswith("event: progress\ndata: {")
        assert followed[-1].startswith("event: end\n")
        assert json.loads(followed[-1].split("data: ")[1])["state"] == "cancelled"

    def test_a_result_is_recorded_once_the_database_responds(
        self, store: Store, anna: User, project: Project, desk: Any, supervisor: Supervisor, fake: Callable[[str], None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        from discreet.web.jobs import outcomes

        real, tried = outcomes.record_outcome, []

        def away(*arguments: Any) -> None:
            tried.append(1)
            if len(tried) < 3:
                raise exc.OperationalError("statement", {}, Exception("gone"))
            real(*arguments)

        monkeypatch.setattr(outcomes, "record_outcome", away)
        fake("send(event='failed', sentence='recorded at last')")
        job = desk.imported()
        assert desk.wait(job).what == "recorded at last"

    def test_deleting_a_project_kills_its_job(
        self,
        settings: Settings,
        store: Store,
        anna: User,
        project: Project,
        desk: Any,
        supervisor: Supervisor,
        fake: Callable[[str], None],
    ) -> None:
        fake("time.sleep(60)")
        pid = desk.pid_of(desk.imported())
        with store.write() as connection:
            projects.delete_project_rows(connection, anna, project)
        datasets.delete_project_files(settings, project.id)
        supervisor.wake()
        assert desk.gone(pid)


class TestServers:
    def test_stopping_the_supervisor_requeues_jobs_and_leaks_nothing(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, fake: Callable[[str], None]
    ) -> None:
        fake("time.sleep(60)")
        threads = threading.active_count()
        files = len(os.listdir("/proc/self/fd"))
        supervisor = Supervisor(settings, store)
        supervisor.start()
        job = desk.imported()
        pid = desk.pid_of(job)
        with pytest.raises(SourceError, match="another server"):
            Supervisor(settings, store).start()
        began = time.monotonic()
        supervisor.stop()
        assert time.monotonic() - began < process.STOP_SECONDS, "processes are killed without waiting for them to stop"
        assert not desk.alive(pid)
        assert threading.active_count() == threads
        assert len(os.listdir("/proc/self/fd")) <= files + 4, "the database's pool may hold more, the pipes must be gone"
        requeued = desk.read_job(job)
        assert (requeued.state, requeued.attempts) == ("queued", 0)
        assert "is queued again" in requeued.what

    def test_jobs_of_a_killed_server_end_and_run_again(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, fake: Callable[[str], None]
    ) -> None:
        desk.imported("name,age\n" + "".join(f"n{at},{at % 50}\n" for at in range(300)))
        with store.write() as connection:
            content = {"attributes.name": {"role": "identifier"}, "attributes.age": {"role": "key"}}
            policies.edit(connection, anna, project, 0, content | {"limits": {"k_anonymity.k": 3}})
        job = desk.submit("select", seconds=300)
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(settings.home), settings.database])
        try:
            desk.wait(job, lambda waiting: bool(waiting.partial))
            pid = desk.pid_of(job)
            priorities = [os.getpriority(os.PRIO_PROCESS, process_id) for process_id in (server.pid, pid)]
            assert priorities[1] == min(priorities[0] + 10, 19), "a job gives way to its server"
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
        assert desk.gone(pid), "an orphan goes on"
        current = desk.read_job(job)
        assert (current.state, current.attempts) == ("running", 1), "nothing was there to say otherwise"
        fake("send(event='failed', sentence='ran again')")
        supervisor = Supervisor(settings, store)
        supervisor.start()
        try:
            current = desk.wait(job)
            assert (current.what, current.attempts) == ("ran again", 2)
        finally:
            supervisor.stop()

    def test_jobs_of_a_dead_server_are_requeued_or_marked(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, fake: Callable[[str], None]
    ) -> None:
        fake("send(event='failed', sentence='ran')")
        states = {"again": {"attempts": 1}, "twice": {"attempts": 2}, "asked": {"attempts": 1, "cancelling": True}}
        jobs = {}
        for name, values in states.items():
            jobs[name] = desk.submit("analyze")
            with store.write() as connection:
                this = job_table.c.id == jobs[name].id
                connection.execute(update(job_table).where(this).values(state="running", **values))
        supervisor = Supervisor(settings, store)
        supervisor.start()
        try:
            assert desk.read_job(jobs["twice"]).state == "interrupted"
            assert desk.read_job(jobs["asked"]).state == "cancelled"
            assert "upload a file first" in desk.wait(jobs["again"]).what
        finally:
            supervisor.stop()

    def test_a_job_is_claimed_by_one_of_two_servers(
        self,
        settings: Settings,
        store: Store,
        anna: User,
        project: Project,
        desk: Any,
        fake: Callable[[str], None],
        tmp_path: Path,
    ) -> None:
        fake("time.sleep(60)")
        job = desk.imported()
        homes = [settings, replace(settings, home=tmp_path / "other")]
        homes[1].folder(project.id)
        (homes[1].folder(project.id) / "uploads").symlink_to(settings.folder(project.id) / "uploads")
        supervisors = [Supervisor(each, store) for each in homes]
        threads = [threading.Thread(target=each._start_job, args=(job.id,)) for each in supervisors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(len(each._running) for each in supervisors) == [0, 1]
        for each in supervisors:
            each._requeue_running()


SERVER = """
import sys, time
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.settings import Settings
from discreet.web.db.store import Store
settings = Settings.make(sys.argv[1], sys.argv[2])
Supervisor(settings, Store.open(settings)).start()
time.sleep(600)
"""
