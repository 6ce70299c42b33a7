"""Access ends when it should: passwords, tokens and their children, streams, throttling, and the keyed audit log."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient
from followers import make_follower
from patience import patient
from sqlalchemy import delete, select, update

from discreet.web.auth import accounts, throttle, tokens
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.audit_key import KEY_FILE, Head
from discreet.web.db.store import Store, now
from discreet.web.db.tables import audit as audit_table
from discreet.web.db.tables import chain
from discreet.web.db.tables import jobs as job_table
from discreet.web.db.tables import tokens as token_table
from discreet.web.errors import Forbidden, TooManyRequests, Unauthenticated
from discreet.web.jobs import events, queue
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


def end_by_reset(connection: Any, user: User) -> None:
    accounts.reset_password(connection, user.name)


def end_by_change(connection: Any, user: User) -> None:
    accounts.change_password(connection, user, PASSWORD, "another long password")


def end_by_disabling(connection: Any, user: User) -> None:
    accounts.disable(connection, user.name)


@pytest.mark.trust("Nobody in", "A reset, a new password and a disabled account end sessions, tokens, their children and streams")
@pytest.mark.parametrize("end", [end_by_reset, end_by_change, end_by_disabling])
def test_every_way_in_ends_at_once(
    store: Store, settings: Settings, project: Project, add_user: Callable[..., User], end: Callable[[Any, User], None]
) -> None:
    add_user("second", admin=True)
    with store.read() as connection:
        anna = accounts.get_by_name(connection, "anna")
    follower = make_follower(store, settings, anna, project)
    with store.write() as connection:
        token, secret = tokens.create(connection, anna, "parent", ["read", "write"])
        _, child_secret = tokens.create(connection, anna, "child", ["read"], parent=token)
        job = queue.submit(connection, anna, project, "analyze")

    async def follow() -> tuple[list[str], list[str]]:
        of_project = events.Watcher(store).follow(project, follower, pause=0.1)
        of_job = events.stream_job(store, project, job.id, follower, 0.1)
        await anext(of_project)
        await anext(of_job)
        await asyncio.to_thread(act)
        return [text async for text in of_project], [text async for text in of_job]

    def act() -> None:
        with store.write() as connection:
            end(connection, anna)

    started = time.monotonic()
    for ended in asyncio.run(asyncio.wait_for(follow(), 30)):
        assert '"gone"' in ended[-1]
    assert time.monotonic() - started < 15
    for value in (secret, child_secret):
        with pytest.raises(Unauthenticated):
            tokens.find(store, value)


@pytest.mark.trust("Nobody in", "A token neither outlives nor outranks the token that created it")
def test_a_child_token_neither_outlives_nor_outranks_its_parent(client: TestClient, store: Store, anna: User) -> None:
    with store.write() as connection:
        parent, secret = tokens.create(connection, anna, "short", ["read", "write"], days=0.001)
    bearer = {"Authorization": f"Bearer {secret}"}
    wide = client.post("/api/v1/tokens", json={"name": "wide", "scopes": ["admin"], "days": 1}, headers=bearer)
    assert wide.status_code == 403
    child = client.post("/api/v1/tokens", json={"name": "long", "scopes": ["read"], "days": 366}, headers=bearer)
    assert child.status_code == 201
    assert child.json()["expires"] <= parent.expires
    child_bearer = {"Authorization": f"Bearer {child.json()['secret']}"}
    assert client.get("/api/v1/me", headers=child_bearer).status_code == 200
    assert client.post("/api/v1/tokens", json={"name": "more", "scopes": ["write"]}, headers=child_bearer).status_code == 403
    with store.write() as connection:
        grandchild, grandchild_secret = tokens.create(
            connection, anna, "grandchild", ["read"], parent=tokens.find(store, child.json()["secret"])[1]
        )
        assert grandchild.expires <= parent.expires
        with pytest.raises(Forbidden, match="does not have the scope write"):
            tokens.create(connection, anna, "wider", ["write"], parent=grandchild)
        tokens.revoke(connection, anna, parent.id)
        assert connection.execute(select(token_table)).all() == []
    for value in (secret, child.json()["secret"], grandchild_secret):
        assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {value}"}).status_code == 401


@pytest.mark.trust("Nobody in", "Disabling a user stops their jobs")
def test_disabling_a_user_stops_their_jobs(store: Store, add_user: Callable[..., User], project: Project) -> None:
    from discreet.web.projects import projects

    bert = add_user("bert")
    with store.write() as connection:
        own = projects.create(connection, bert, "Own")
        queued, running = (queue.submit(connection, bert, own, "analyze") for _ in range(2))
        connection.execute(update(job_table).where(job_table.c.id == running.id).values(state="running"))
        accounts.disable(connection, "bert")
        assert queue.get(connection, own, queued.id).state == "cancelled"
        assert queue.get(connection, own, running.id).cancelling


@pytest.mark.trust("Nobody in", "Of many parallel guesses at one name, five are tested before it must wait")
def test_parallel_guesses_are_counted_before_they_are_tested(store: Store, anna: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = []
    barrier = threading.Barrier(20)

    def verify(password: str, stored: str) -> bool:
        tested.append(password)
        time.sleep(0.05)
        return False

    monkeypatch.setattr(accounts, "_verify_password", verify)

    def guess(number: int) -> type[Exception] | None:
        if number < 20:
            barrier.wait(patient(60))
        try:
            accounts.log_in(store, "anna", f"guess {number}", "6.6.6.6")
        except (TooManyRequests, Unauthenticated) as error:
            return type(error)
        return None

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(guess, range(200)))
    assert len(tested) == outcomes.count(Unauthenticated)
    # further ones are only tested as the wait, which doubles each time, ends
    assert len(tested) <= throttle.FREE_FAILURES + 3, len(tested)


@pytest.mark.trust("Nobody in", "Failed logins from elsewhere do not lock somebody out")
def test_failures_from_elsewhere_do_not_lock_a_colleague_out(store: Store, anna: User) -> None:
    assert accounts.log_in(store, "anna", PASSWORD, "1.2.3.4") == anna
    for number in range(2 * throttle.FREE_FAILURES):
        with pytest.raises((Unauthenticated, TooManyRequests)):
            accounts.log_in(store, "anna", "wrong", "6.6.6.6")
        assert number >= 0
    assert accounts.log_in(store, "anna", PASSWORD, "1.2.3.4") == anna, "at once"
    assert accounts.log_in(store, "anna", PASSWORD, "9.9.9.9") == anna, "from a new address too"


def test_many_addresses_that_guess_at_one_name_must_wait_but_known_ones_not(
    store: Store, anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "FREE_FAILURES_PER_NAME", 6)
    assert accounts.log_in(store, "anna", PASSWORD, "1.2.3.4") == anna
    for number in range(6):
        with pytest.raises(Unauthenticated):
            accounts.log_in(store, "anna", "wrong", f"6.6.6.{number}")
    with pytest.raises(TooManyRequests):
        accounts.log_in(store, "anna", "wrong", "7.7.7.7")
    assert accounts.log_in(store, "anna", PASSWORD, "1.2.3.4") == anna


@pytest.mark.trust("Nobody in", "An audit log that was rewritten with new hashes, or cut off and closed again, shows")
def test_a_rewritten_or_truncated_audit_log_shows(store: Store, settings: Settings, anna: User) -> None:
    with store.write() as connection:
        for number in range(5):
            audit.record(connection, "anna", "tested", number=number)
    with store.read() as connection:
        assert audit.verify_chain(connection) is None
        head = audit.read_head(connection)
    key_file = settings.home / KEY_FILE
    assert key_file.stat().st_mode & 0o077 == 0
    secret = json.loads(key_file.read_text())["key"]
    with store.read() as connection:
        assert secret not in str(connection.execute(select(audit_table)).all())
    with store.engine.connect() as attack:
        attack.begin()
        _rehash_without_key(attack, who="bert")
        assert audit.verify_chain(attack) == "entry 3 of the audit log was changed after it was written"
        attack.rollback()
        attack.begin()
        attack.execute(delete(audit_table).where(audit_table.c.id > 3))
        third = attack.execute(select(audit_table.c.hash).where(audit_table.c.id == 3)).scalar_one()
        attack.execute(update(chain).values(number=3, hash=third))
        assert (
            audit.verify_chain(attack)
            == f"the audit log ends at entry 3, but entry {head.number} was recorded outside the database"
        )
        attack.rollback()
    (settings.home / "audit.head").unlink()  # somebody who can also write to the data directory is caught by a printed head
    with store.engine.connect() as attack:
        attack.begin()
        attack.execute(delete(audit_table).where(audit_table.c.id > 3))
        attack.execute(update(chain).values(number=3, hash=third))
        assert audit.verify_chain(attack) is None
        assert audit.verify_chain(attack, [head]) is not None
        assert audit.verify_chain(attack, [Head(2, "0" * 64)]) is not None
        attack.rollback()


def _rehash_without_key(connection: Any, who: str) -> None:
    """What an intruder with the database alone can do: change an entry and compute plain hashes of all later ones."""
    import hashlib

    previous = None
    for row in connection.execute(select(audit_table).order_by(audit_table.c.id)).mappings().all():
        entry = {name: row[name] for name in ("id", "at", "who", "action", "project_id", "detail")}
        if row["id"] == 3:
            entry["who"] = who
            previous = row["previous"]
        if previous is None:
            continue
        text = json.dumps([previous, entry], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        new = hashlib.sha256(text.encode()).hexdigest()
        this = audit_table.c.id == row["id"]
        connection.execute(update(audit_table).where(this).values(who=entry["who"], previous=previous, hash=new))
        previous = new
    connection.execute(update(chain).values(hash=previous))


def test_the_log_is_exported_with_its_head(logged_in: TestClient) -> None:
    exported = logged_in.get("/api/v1/audit/export")
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert [line["id"] for line in lines] == list(range(1, len(lines) + 1))
    head = logged_in.get("/api/v1/audit").json()["head"]
    assert head == f"{lines[-1]['id']}:{lines[-1]['hash']}"
    assert head in logged_in.get("/admin/audit").text
    assert lines[-1]["at"] <= now()
