"""The queue: bounded, checked before anything waits, seen by those who may, and told as it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, update

from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.db.tables import jobs as job_table
from discreet.web.errors import Forbidden, NotFound, TooMany
from discreet.web.jobs import events, queue
from discreet.web.jobs.supervisor import Supervisor
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings


class TestQueue:
    def test_two_people_submit_and_their_projects_run_side_by_side(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, add_user: Callable[..., User],
        fake: Callable[[str], None],
    ) -> None:  # fmt: skip
        bert = add_user("bert")
        with store.write() as connection:
            other = projects.create(connection, bert, "Other")
            projects.share(connection, anna, project, "bert", "editor")
        fake("time.sleep(0.5)\nsay(say='failed', sentence='over')")
        supervisor = Supervisor(replace(settings, jobs=2), store)
        first = [replace(desk, user=user).imported() for user in (anna, bert)]
        second = replace(desk, user=bert, project=other).imported()
        supervisor.start()
        try:
            one, two = (desk.wait(job) for job in first)
            three = replace(desk, project=other).wait(second)
        finally:
            supervisor.stop()
        assert (one.user, two.user, three.user) == ("anna", "bert", "bert")
        assert None not in (one.finished, two.started, three.started)
        assert (one.finished or 0) <= (two.started or 0), "a project's jobs run one after the other"
        assert (three.started or 0) < (one.finished or 0), "two projects' jobs run at once"

    def test_the_queue_is_bounded_and_asks_who_is_there(
        self, settings: Settings, store: Store, anna: User, project: Project, desk: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queue, "IN_PROJECT", 2)
        first = desk.submit("analyze")
        desk.submit("analyze")
        with pytest.raises(TooMany, match="2 jobs waiting"):
            desk.submit("analyze")
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

    def test_a_list_of_jobs_does_not_read_what_they_found(self, store: Store, anna: User, project: Project, desk: Any) -> None:
        job = desk.submit("analyze")
        with store.write() as connection:
            this = job_table.c.id == job.id
            connection.execute(update(job_table).where(this).values(result={"large": 1}, partial=[1]))
        asked: list[str] = []
        with store.read() as connection:
            event.listen(connection, "before_cursor_execute", lambda *given: asked.append(given[2]))
            (listed,) = queue.all_of(connection, project)
            assert (listed.result, listed.partial) == (None, None)
            assert (listed.id, listed.kind, listed.user) == (job.id, "analyze", "anna")
            assert "discreet_jobs.what" in asked[0]
            assert "discreet_jobs.result" not in asked[0]
            assert "discreet_jobs.partial" not in asked[0]
            assert queue.get(connection, project, job.id).result == {"large": 1}

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
        from discreet.web.jobs import job_types as kinds

        project = Project(1, "P", "p", "anna", "owner", 0.0, 0.0, 4, None)
        with pytest.raises(DiscreetError, match=words):
            kinds.check(project, kind, parameters)
        assert kinds.check(project, "generate", {}) == {"revision": 4}


def test_what_changes_in_a_project_is_told(store: Store, anna: User, project: Project, desk: Any) -> None:
    before = events.pictures(store, [project.id])[project.id]
    assert (before["revision"], before["by"], before["jobs"], before["release"], before["signed"]) == (0, "anna", [], None, 0)
    desk.submit("analyze")
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"missing": ["n/a"]})
    after = events.pictures(store, [project.id, 77])
    assert list(after) == [project.id]
    seen = after[project.id]
    assert (seen["revision"], seen["by"], [one["kind"] for one in seen["jobs"]]) == (1, "anna", ["analyze"])

    async def first() -> str:
        return await anext(events.Watcher(store).follow(project))

    assert asyncio.run(first()).startswith("event: change\n")
    with store.write() as connection:
        projects.remove(connection, anna, project)
    assert '"gone"' in asyncio.run(first())


def test_all_who_follow_projects_share_a_look(
    store: Store, anna: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as connection:
        other = projects.create(connection, anna, "Another", "")
    looks: list[list[int]] = []
    look = events.pictures

    def counted(store: Store, numbers: list[int]) -> dict[int, dict[str, Any]]:
        looks.append(sorted(numbers))
        return look(store, numbers)

    monkeypatch.setattr(events, "pictures", counted)

    async def follow() -> list[str]:
        watcher = events.Watcher(store)
        streams = [watcher.follow(one, pause=0.2) for one in [project, other] * 10]
        first = await asyncio.gather(*(anext(stream) for stream in streams))
        assert all(text.startswith("event: change") for text in first)
        assert len(looks) <= 2  # of twenty
        late = [asyncio.ensure_future(anext(stream)) for stream in streams]
        await asyncio.sleep(0.05)
        late[0].cancel()  # somebody leaves
        with store.write() as connection:
            policies.edit(connection, anna, project, 0, {"missing": ["n/a"]})
            projects.remove(connection, anna, other)
        told = await asyncio.gather(*late[1:])
        for one in streams:
            await one.aclose()
        assert not watcher._followed
        return told

    told = asyncio.run(follow())
    assert all('"revision": 1' in text for text in told[1::2])
    assert all('"gone"' in text for text in told[0::2])
    assert looks[-1] == sorted([project.id, other.id])


def test_a_look_that_was_cut_off_with_its_loop_is_not_waited_for(
    store: Store, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = events.Watcher(store)

    async def first() -> str:
        return await anext(watcher.follow(project))

    async def cut_off() -> None:
        monkeypatch.setattr(watcher, "_look_at_all", lambda: asyncio.sleep(60))
        asking = asyncio.ensure_future(first())
        await asyncio.sleep(0.05)
        asking.cancel()

    asyncio.run(cut_off())
    monkeypatch.undo()
    assert asyncio.run(first()).startswith("event: change")


def test_a_reader_of_a_project_comes_again_and_is_asked_anew(
    store: Store, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "VISIT", 0.3)

    async def follow() -> list[str]:
        return [text async for text in events.Watcher(store).follow(project, pause=0.1)]

    assert [text.split("\n")[0] for text in asyncio.run(follow())] == ["event: change"]  # no end: a browser asks again
