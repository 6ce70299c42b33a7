"""The gate: nothing is published before somebody else has approved it, and nobody changes what is published by the way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import create_engine, inspect
from web_jobs import STEPS, pass_gate, project_of, published_rows, run, work

from discreet.errors import DiscreetError, PolicyError
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.projects import (
    approval,
    policies,
    projects,
    publication,
    published_tables,
    release_files,
    release_settings,
    releases,
)
from discreet.web.projects.projects import Project
from discreet.web.projects.release_settings import ReleaseSettings
from discreet.web.settings import Settings

ORIGINALS = {"plan": {"steps": [], "identifiers": "kept"}}
"""A plan that releases every name."""


def last_entry(store: Store, action: str) -> dict[str, object]:
    with store.read() as connection:
        return next(entry for entry in audit.list_entries(connection) if entry["action"] == action)


@pytest.mark.trust("The gate", "A generated release is a private draft: nothing is published under the table's name")
def test_generating_publishes_nothing(settings: Settings, store: Store, anna: User, released: Project) -> None:
    with store.read() as connection:
        draft = releases.get(connection, released)
    assert (draft.state, draft.table_name, draft.ok) == ("draft", "", True)
    assert published_tables.list_tables(settings.published) == []
    engine = create_engine(settings.database.replace("postgresql://", "postgresql+psycopg://"))
    assert {name for name in inspect(engine).get_table_names() if not name.startswith("discreet_")} == set()
    engine.dispose()
    assert release_files.path(settings, draft).stat().st_mode & 0o077 == 0


@pytest.mark.trust(
    "The gate", "What an editor generates does not change the published table, which stays until another is approved"
)
def test_an_editor_cannot_change_what_is_published(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, add_user: Callable[..., User]
) -> None:
    pass_gate(settings, store, anna, carl, released, 1)
    before = published_rows(settings, released.table_name)
    eddie = add_user("eddie")
    with store.write() as connection:
        projects.set_role(connection, anna, released, "eddie", "editor")
        policies.edit(connection, eddie, projects.get(connection, eddie, released.id), released.revision, ORIGINALS)
    run(settings, store, eddie, released, "generate")
    ours = project_of(store, eddie, released)
    assert published_rows(settings, released.table_name) == before
    for attempt in (publication.publish, lambda *given: publication.withdraw(given[0], settings, *given[1:], "why")):
        with pytest.raises(Forbidden, match="requires the role owner"), store.write() as connection:
            attempt(connection, eddie, ours, 2)
    with pytest.raises(Forbidden, match="requires the role approver"), store.write() as connection:
        approval.approve(connection, settings, eddie, ours, 2, "why not")
    with pytest.raises(Conflict, match="only an approved release can be published"), store.write() as connection:
        publication.publish(connection, anna, released, 2)
    with store.write() as connection:  # not even a job that gets into the queue by another way
        with pytest.raises(Forbidden):
            queue.submit(connection, eddie, ours, "publish", {"release": 2})
        job = queue.submit(connection, anna, project_of(store, anna, released), "publish", {"release": 2})
    with pytest.raises(DiscreetError, match="only an approved release"):
        work(settings, store, anna, job.id)
    assert published_rows(settings, released.table_name) == before
    with store.read() as connection:
        assert [(release.number, release.state) for release in releases.list_releases(connection, released)] == [
            (2, "draft"),
            (1, "published"),
        ]


@pytest.mark.trust("The gate", "The approver is the account that is logged in, and not one of the makers of the release")
def test_nobody_approves_what_they_made(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, add_user: Callable[..., User]
) -> None:
    add_user("olga")
    with store.write() as connection:
        projects.set_role(connection, anna, released, "olga", "owner")
        approval.submit(connection, anna, released, 1, "please look at the ages")
    with pytest.raises(Forbidden, match="another approver or owner"), store.write() as connection:
        approval.approve(connection, settings, anna, released, 1, "I am sure")
    with store.read() as connection:
        assert approval.find_approvers(connection, settings, released, releases.get(connection, released)) == ["carl", "olga"]
    theirs = project_of(store, carl, released)
    with store.write() as connection:
        approved = approval.approve(connection, settings, carl, theirs, 1)
    assert approved.approval is not None
    assert approved.approval["by"] == "carl"
    assert approved.approval["self_approval"] is False
    entry = last_entry(store, "release approved")
    assert entry["who"] == "carl"
    assert entry["detail"]["sha256"] == approved.sha256  # type: ignore[index]
    text = release_files.report_html(settings, approved)
    for expected in ("was approved by carl", approved.sha256, "k_anonymity.k 2 are met", "Generated by anna"):
        assert expected in text


def test_of_two_approvals_at_once_one_counts_and_limits_are_those_under_the_lock(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, add_user: Callable[..., User]
) -> None:
    olga = add_user("olga")
    with store.write() as connection:
        projects.set_role(connection, anna, released, "olga", "owner")
        approval.submit(connection, anna, released, 1)
    stale = project_of(store, carl, released)
    with store.write() as connection:
        release_settings.change(connection, anna, released, ReleaseSettings({"k_anonymity.k": 50}, None, []))
    with pytest.raises(InvalidRequest, match="State in writing why"), store.write() as connection:
        approval.approve(connection, settings, carl, stale, 1)
    start = threading.Barrier(2)
    outcomes: list[str] = []

    def approve(user: User) -> None:
        seen = project_of(store, user, released)
        start.wait()
        try:
            with store.write() as connection:
                approval.approve(connection, settings, user, seen, 1, "seen by me")
            outcomes.append("approved")
        except Conflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=approve, args=(user,)) for user in (carl, olga)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["approved", "conflict"]
    with store.write() as connection:
        assert [entry["state"] for entry in releases.get(connection, released).history].count("approved") == 1
        projects.set_role(connection, anna, released, "carl", "release_reader")
        with pytest.raises(Forbidden):
            approval.approve(connection, settings, carl, stale, 1, "with the role that I had")


def test_self_approval_is_a_setting_of_the_server_that_the_report_shows(
    settings: Settings, store: Store, anna: User, released: Project
) -> None:
    alone = replace(settings, self_approval=True)
    with store.write() as connection:
        approval.submit(connection, anna, released, 1)
        approved = approval.approve(connection, alone, anna, released, 1)
    assert approved.approval is not None
    assert approved.approval["self_approval"] is True
    assert "no second person has checked it" in release_files.report_html(alone, approved)


@pytest.mark.trust(
    "The gate", "Without limits of the owner, or with a verdict that is not met, an approval needs a written reason"
)
def test_a_verdict_that_is_not_met_needs_a_reason(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, add_user: Callable[..., User]
) -> None:
    eddie = add_user("eddie")
    with store.write() as connection:
        projects.set_role(connection, anna, released, "eddie", "editor")
        editor = projects.get(connection, eddie, released.id)
        lax = {"limits": {"k_anonymity.k": 1}, "plan": {"steps": STEPS[:1]}}
        policies.edit(connection, eddie, editor, released.revision, lax)
    assert run(settings, store, eddie, released, "generate")["status"] == "not met", (
        "judged on the owner's limit, not the editor's"
    )
    with store.write() as connection:
        approval.submit(connection, eddie, editor, 2)
    theirs = project_of(store, carl, released)
    with pytest.raises(InvalidRequest, match=r"k_anonymity\.k 2 are not all met.*State in writing"), store.write() as connection:
        approval.approve(connection, settings, carl, theirs, 2, "  ")
    with store.write() as connection:
        approved = approval.approve(connection, settings, carl, theirs, 2, "the town is public <b>knowledge</b>")
    assert approved.approval is not None
    assert approved.approval["verdict"] == "not met"
    text = release_files.report_html(settings, approved)
    assert "Reason given: the town is public &lt;b&gt;knowledge" in text
    with store.write() as connection:
        current = projects.get(connection, anna, released.id)
        release_settings.change(connection, anna, current, ReleaseSettings({}, None, []))
        approval.submit(connection, anna, current, 1)
    theirs = project_of(store, carl, released)
    with pytest.raises(InvalidRequest, match="has set no limits"), store.write() as connection:
        approval.approve(connection, settings, carl, theirs, 1)


def test_a_limit_that_is_set_later_was_not_judged(
    settings: Settings, store: Store, anna: User, carl: User, released: Project
) -> None:
    with store.write() as connection:
        approval.submit(connection, anna, released, 1)
        release_settings.change(connection, anna, released, ReleaseSettings({"k_anonymity.k": 5}, None, []))
    with pytest.raises(InvalidRequest, match=r"not judged on the owner's limit k_anonymity\.k 5"), store.write() as connection:
        approval.approve(connection, settings, carl, projects.get(connection, carl, released.id), 1)
    with pytest.raises(DiscreetError, match="nothing"), store.write() as connection:
        release_settings.change(connection, anna, released, ReleaseSettings({"nothing.k": 5}, None, []))


def test_only_an_owner_sets_the_limits_for_approval(
    store: Store, anna: User, project: Project, add_user: Callable[..., User]
) -> None:
    eddie = add_user("eddie")
    with store.write() as connection:
        projects.set_role(connection, anna, project, "eddie", "editor")
        policies.edit(connection, anna, project, 0, {"limits": {"k_anonymity.k": 5}})
        editor = projects.get(connection, eddie, project.id)
        policies.edit(connection, eddie, editor, 1, {"limits": {"k_anonymity.k": 2}})
        assert projects.get(connection, anna, project.id).limits == {"k_anonymity.k": 5}
        with pytest.raises(Forbidden):
            release_settings.change(connection, eddie, editor, ReleaseSettings({}, None, []))
        owner = projects.get(connection, anna, project.id)
        policies.edit(connection, anna, owner, 2, {"attributes.age": {"role": "key"}, "limits": {"k_anonymity.k": 2}})
        assert projects.get(connection, anna, project.id).limits == {"k_anonymity.k": 5}, "saved unchanged, not decided"
        assert release_settings.adopt_policy_limits(connection, anna, owner).limits == {"k_anonymity.k": 2}


def test_a_returned_release_can_be_submitted_again(
    settings: Settings, store: Store, anna: User, carl: User, released: Project
) -> None:
    theirs = project_of(store, carl, released)
    with store.write() as connection:
        with pytest.raises(Conflict, match="is draft, so it cannot be approved"):
            approval.approve(connection, settings, carl, theirs, 1)
        approval.submit(connection, anna, released, 1, "first")
        with pytest.raises(InvalidRequest, match="a comment has to say why"):
            approval.return_to_makers(connection, carl, theirs, 1, " ")
        returned = approval.return_to_makers(connection, carl, theirs, 1, "why are towns released?")
        assert (returned.state, returned.history[-1]["note"]) == ("returned", "why are towns released?")
        again = approval.submit(connection, anna, released, 1, "they are public")
        assert [entry["state"] for entry in again.history] == ["draft", "submitted", "returned", "submitted"]
        assert audit.verify_chain(connection) is None


def test_a_file_that_was_changed_is_neither_approved_nor_published(
    settings: Settings, store: Store, anna: User, carl: User, released: Project
) -> None:
    with store.write() as connection:
        approval.submit(connection, anna, released, 1)
        file = release_files.path(settings, releases.get(connection, released))
    content = file.read_bytes()
    file.write_bytes(content + b" ")
    theirs = project_of(store, carl, released)
    with pytest.raises(Conflict, match="SHA-256 differs"), store.write() as connection:
        approval.approve(connection, settings, carl, theirs, 1)
    file.write_bytes(content)
    with store.write() as connection:
        approval.approve(connection, settings, carl, theirs, 1)
        job = publication.publish(connection, anna, released, 1)
        assert publication.publish(connection, anna, released, 1).id == job.id, "a second click"
    file.write_bytes(content + b" ")
    with pytest.raises(DiscreetError, match="not the one that was approved"):
        work(settings, store, anna, job.id)
    assert published_tables.list_tables(settings.published) == []


def test_a_later_release_supersedes_and_a_withdrawn_one_loses_its_table(
    settings: Settings, store: Store, anna: User, carl: User, released: Project
) -> None:
    pass_gate(settings, store, anna, carl, released, 1)
    first = published_rows(settings, released.table_name)
    assert len(first) == 12
    with store.write() as connection:
        policies.edit(
            connection, anna, released, released.revision, {"plan": {"steps": [*STEPS, {"method": "sampling", "fraction": 0.5}]}}
        )
    run(settings, store, anna, released, "generate")
    pass_gate(settings, store, anna, carl, released, 2, "smaller classes are accepted here")
    assert len(published_rows(settings, released.table_name)) == 6
    with store.read() as connection:
        second, earlier = releases.list_releases(connection, released)
    assert (earlier.state, earlier.superseded_by, earlier.table_name) == ("superseded", 2, "")
    assert (second.state, second.table_name) == ("published", released.table_name)
    with pytest.raises(InvalidRequest, match="a reason has to say why"), store.write() as connection:
        publication.withdraw(connection, settings, anna, released, 2, "")
    with store.write() as connection:
        publication.withdraw(connection, settings, anna, released, 2, "a town was named")
    assert published_tables.list_tables(settings.published) == []
    with pytest.raises(Conflict, match="is withdrawn"), store.write() as connection:
        publication.publish(connection, anna, released, 2)
    assert last_entry(store, "release withdrawn")["detail"]["note"] == "a town was named"  # type: ignore[index]


@pytest.mark.trust(
    "The gate", "A release reader sees approved releases, and no original, draft, value of an attribute or risk of a record"
)
def test_a_release_reader_sees_approved_releases_alone(
    settings: Settings, store: Store, anna: User, carl: User, released: Project, add_user: Callable[..., User]
) -> None:
    rita = add_user("rita")
    with store.write() as connection:
        projects.set_role(connection, anna, released, "rita", "release_reader")
    reader = project_of(store, rita, released)
    with store.read() as connection:
        with pytest.raises(Forbidden, match="your role is release reader"):
            projects.get(connection, rita, released.id)
        assert releases.list_releases(connection, reader) == []
        with pytest.raises(NotFound, match="no release 1"):
            releases.get(connection, reader, 1)
        assert projects.list_projects(connection, rita)[0]["release"] is None
    pass_gate(settings, store, anna, carl, released, 1)
    with store.read() as connection:
        seen = releases.get(connection, reader, 1)
        assert (seen.policy, set(seen.assessment), seen.status) == ({}, {"verdict"}, "met")
        assert [entry["state"] for entry in seen.history] == ["approved", "published"]
        assert projects.list_projects(connection, rita)[0]["release"] == 1
    with store.write() as connection:
        publication.withdraw(connection, settings, anna, released, 1, "an error")
        with pytest.raises(NotFound):
            releases.get(connection, reader, 1)


@pytest.mark.trust(
    "The gate", "Only the database accounts that the owner names can read the published table, from release to release"
)
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_grants_are_those_that_the_owner_names(
    settings: Settings, store: Store, anna: User, carl: User, released: Project
) -> None:
    with psycopg.connect(settings.published, autocommit=True) as link:
        for name in ("research", "press", "Odd Name"):
            link.execute(f'DROP ROLE IF EXISTS "{name}"'.encode())
            link.execute(f'CREATE ROLE "{name}"'.encode())
    with pytest.raises(InvalidRequest, match="not the name of a database account"), store.write() as connection:
        release_settings.change(connection, anna, released, ReleaseSettings({}, None, ["Odd Name"]))
    with store.write() as connection:
        release_settings.change(connection, anna, released, ReleaseSettings({"k_anonymity.k": 2}, None, ["research", "nobody"]))
    with pytest.raises(DiscreetError, match="no account 'nobody'"):
        pass_gate(settings, store, anna, carl, released, 1)
    with store.write() as connection:
        ours = projects.get(connection, anna, released.id)
        release_settings.change(connection, anna, ours, ReleaseSettings({"k_anonymity.k": 2}, None, ["research"]))
        job = publication.publish(connection, anna, projects.get(connection, anna, released.id), 1)
    work(settings, store, anna, job.id)
    assert readers(settings, released.table_name) == {"research"}
    with psycopg.connect(settings.published, autocommit=True) as link:  # somebody else is let in by hand
        link.execute(f'GRANT SELECT ON {published_tables.SCHEMA}."{released.table_name}" TO press, PUBLIC'.encode())
    with store.write() as connection:
        ours = projects.get(connection, anna, released.id)
        policies.edit(connection, anna, ours, ours.revision, {"plan": {"steps": STEPS, "release": 2}})
    run(settings, store, anna, released, "generate")
    pass_gate(settings, store, anna, carl, released, 2)
    assert readers(settings, released.table_name) == {"research"}
    with psycopg.connect(settings.published) as link:
        link.execute("SET ROLE research")
        assert len(link.execute(f'SELECT * FROM {published_tables.SCHEMA}."{released.table_name}"'.encode()).fetchall()) == 12
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            link.execute("SELECT * FROM discreet_jobs")


def readers(settings: Settings, table: str) -> set[str]:
    with psycopg.connect(settings.published) as link:
        query = "SELECT grantee FROM information_schema.role_table_grants WHERE table_name = %s AND grantee <> current_user"
        return {row[0] for row in link.execute(query, [table]).fetchall()}


@pytest.mark.trust("The gate", "The same request to generate, sent again, gives the release that exists or is being generated")
def test_generating_again_gives_the_same_release(settings: Settings, store: Store, anna: User, released: Project) -> None:
    assert run(settings, store, anna, released, "generate")["release"] == 1
    with store.write() as connection:
        policies.edit(connection, anna, released, released.revision, {"plan": {"steps": STEPS, "release": 2}})
        ours = projects.get(connection, anna, released.id)
        requests = {queue.submit(connection, anna, ours, "generate").id for _ in range(3)}
    assert len(requests) == 1
    assert work(settings, store, anna, requests.pop())["release"] == 2
    with store.write() as connection:
        policies.restore(connection, anna, projects.get(connection, anna, released.id), released.revision)
        again = queue.submit(connection, anna, projects.get(connection, anna, released.id), "generate")
    assert (again.state, (again.result or {})["release"]) == ("done", 1)
    with store.read() as connection:
        assert len(releases.list_releases(connection, released)) == 2


@pytest.mark.parametrize("name", ["l\x85", "k_anonymity", "k_anonymity.k.k", ""])
def test_a_limit_without_measure_and_field_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(PolicyError, match=r"MEASURE.FIELD|no field|names no"):
        release_settings.check_limits({name: 5.0})
