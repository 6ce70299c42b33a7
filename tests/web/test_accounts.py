"""Users, passwords, links, throttling, sessions and tokens, on every database."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from discreet.web.auth import accounts, sessions, throttle, tokens
from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store, now
from discreet.web.db.tables import audit as audit_table
from discreet.web.db.tables import chain, users
from discreet.web.db.tables import sessions as session_table
from discreet.web.db.tables import tokens as token_table
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooManyRequests, Unauthenticated
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"


def test_a_link_sets_a_password_once(store: Store) -> None:
    with store.write() as connection:
        user, secret = accounts.add(connection, "Bert")
        assert accounts.get_by_link(connection, secret).name == "Bert"
        accounts.set_password_with_link(connection, secret, PASSWORD)
        with pytest.raises(NotFound, match="used already"):
            accounts.set_password_with_link(connection, secret, PASSWORD)
    assert accounts.log_in(store, "BERT", PASSWORD, "1.2.3.4").id == user.id


@pytest.mark.parametrize("bad", ["", "short", "x" * 501])
def test_weak_passwords_are_refused(store: Store, bad: str) -> None:
    with store.write() as connection:
        _, secret = accounts.add(connection, "Bert")
        with pytest.raises(InvalidRequest):
            accounts.set_password_with_link(connection, secret, bad)
        assert accounts.get_by_link(connection, secret).name == "Bert", "the link is not spent"


@pytest.mark.trust("Nobody in", "Passwords are kept as memory-hard hashes, and no secret is in the database")
def test_the_password_is_kept_as_a_memory_hard_hash(product_hashes: None, store: Store, anna: User) -> None:
    with store.read() as connection:
        stored = connection.execute(select(users.c.password).where(users.c.id == anna.id)).scalar_one()
    algorithm, _, cost = stored.split("$")[1:4]
    costs = dict(part.split("=") for part in cost.split(","))
    assert algorithm == "argon2id"
    assert int(costs["m"]) >= 19 * 1024, "OWASP's lowest: 19 MiB with two passes"
    assert int(costs["t"]) >= 2
    assert PASSWORD not in stored


@pytest.mark.parametrize("name", ["", " ", "a/b", "<b>", "x" * 81, "a\nb"])
def test_invalid_user_names_are_refused(store: Store, name: str) -> None:
    with store.write() as connection, pytest.raises(InvalidRequest):
        accounts.add(connection, name)


def test_user_names_are_unique_regardless_of_case(store: Store, anna: User) -> None:
    with store.write() as connection, pytest.raises(Conflict, match="'anna'"):
        accounts.add(connection, "ANNA")


def test_failed_logins_are_throttled_until_one_succeeds(store: Store, anna: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(throttle.FREE_FAILURES):
        with pytest.raises(Unauthenticated):
            accounts.log_in(store, "anna", "wrong", "1.2.3.4")
    with pytest.raises(TooManyRequests, match="try again in"):
        accounts.log_in(store, "anna", PASSWORD, "1.2.3.4")
    monkeypatch.setattr(throttle, "now", lambda: time.time() + 2.1)
    assert accounts.log_in(store, "anna", PASSWORD, "1.2.3.4") == anna
    with pytest.raises(Unauthenticated):
        accounts.log_in(store, "anna", "wrong", "1.2.3.4")


def test_an_address_that_guesses_names_is_throttled(store: Store) -> None:
    with store.write() as connection:
        for number in range(throttle.FREE_FAILURES_PER_ADDRESS):
            throttle.count_attempt(connection, f"name {number}", "6.6.6.6", None)
    with pytest.raises(TooManyRequests):
        accounts.log_in(store, "another", "wrong", "6.6.6.6")


def test_a_disabled_user_loses_access_immediately(
    store: Store, settings: Settings, anna: User, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        cookie = sessions.start(connection, bert, settings)
        _, secret = tokens.create(connection, bert, "script", ["read"])
        accounts.disable(connection, "bert", by="anna")
    assert sessions.find(store, cookie, settings) is None
    with pytest.raises(Unauthenticated):
        tokens.find(store, secret)
    with pytest.raises(Unauthenticated):
        accounts.log_in(store, "bert", PASSWORD, "1.2.3.4")
    with store.write() as connection:
        with pytest.raises(Forbidden, match="only administrator"):
            accounts.disable(connection, "anna")
        assert not accounts.disable(connection, "bert", disabled=False).disabled


def test_sessions_expire_and_end_everywhere(store: Store, settings: Settings, anna: User) -> None:
    with store.write() as connection:
        first, second = (sessions.start(connection, anna, settings) for _ in range(2))
    assert first != second
    session = sessions.find(store, first, settings)
    assert session is not None
    with pytest.raises(Forbidden):
        session.check_csrf("guess")
    with pytest.raises(Forbidden):
        session.check_csrf(None)
    session.check_csrf(session.csrf)
    with store.write() as connection:
        assert first not in [row.hash for row in connection.execute(select(session_table)).all()]
        sessions.end(connection, session)
    assert sessions.find(store, second, settings) is None
    with store.write() as connection:
        old = sessions.start(connection, anna, settings)
        connection.execute(update(session_table).values(expires=now() - 1))
    assert sessions.find(store, old, settings) is None
    with store.write() as connection:
        busy = sessions.start(connection, anna, settings)
        connection.execute(update(session_table).values(created=now() - sessions.MAX_SESSION_SECONDS - 1))
    assert sessions.find(store, busy, settings) is None


def test_a_changed_password_ends_sessions(store: Store, settings: Settings, anna: User) -> None:
    with store.write() as connection:
        cookie = sessions.start(connection, anna, settings)
        with pytest.raises(InvalidRequest, match="old password"):
            accounts.change_password(connection, anna, "wrong", "another long password")
        accounts.change_password(connection, anna, PASSWORD, "another long password")
    assert sessions.find(store, cookie, settings) is None


def test_tokens_have_scopes_and_expire(store: Store, anna: User, add_user: Callable[..., User]) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        with pytest.raises(InvalidRequest):
            tokens.create(connection, bert, "script", ["admin"])
        with pytest.raises(InvalidRequest):
            tokens.create(connection, bert, "script", ["everything"])
        with pytest.raises(InvalidRequest):
            tokens.create(connection, bert, "script", ["read"], days=1000)
        token, secret = tokens.create(connection, bert, "script", ["read", "write"], days=1)
    user, found = tokens.find(store, secret)
    assert (user, found.scopes) == (bert, ("read", "write"))
    with store.write() as connection:
        assert [listed.id for listed in tokens.list_tokens(connection, bert)] == [token.id]
        with pytest.raises(NotFound):
            tokens.revoke(connection, anna, token.id)
        connection.execute(update(token_table).values(expires=now() - 1))
    with pytest.raises(Unauthenticated, match="expired"):
        tokens.find(store, secret)


@pytest.mark.trust("Nobody in", "An entry of the audit log that was changed, taken out or cut off shows")
def test_the_audit_log_detects_edited_missing_and_truncated_entries(store: Store, anna: User) -> None:
    with store.write() as connection:
        for number in range(5):
            audit.record(connection, "anna", "tested", number=number)
    with store.read() as connection:
        assert audit.verify_chain(connection) is None
        last = audit.list_entries(connection)[0]["id"]
    for change in (
        update(audit_table).where(audit_table.c.id == 3).values(who="bert"),
        audit_table.delete().where(audit_table.c.id == 4),
        audit_table.delete().where(audit_table.c.id == last),
        update(chain).values(number=99),
    ):
        connection = store.engine.connect()
        connection.begin()
        connection.execute(change)
        assert audit.verify_chain(connection) is not None
        connection.rollback()
        connection.close()
    with store.read() as connection:
        assert audit.verify_chain(connection) is None


@pytest.mark.trust("Nobody in", "Passwords are kept as memory-hard hashes, and no secret is in the database")
def test_secrets_are_not_in_the_database(store: Store, settings: Settings, anna: User) -> None:
    with store.write() as connection:
        cookie = sessions.start(connection, anna, settings)
        _, token = tokens.create(connection, anna, "script", ["read"])
        _, link = accounts.reset_password(connection, "anna")
        from discreet.web.db.tables import metadata

        everything = "".join(str(connection.execute(select(table)).all()) for table in metadata.sorted_tables)
    for secret in (cookie, token, link, PASSWORD):
        assert secret not in everything


@pytest.mark.trust("Nobody in", "No user can be named so that the name looks like another's")
@pytest.mark.parametrize("name", ["an\u200bna", "anna\u200d", "\u202eanna", "аnna", "anna\u00ad", "\ud800"])
def test_names_with_unseen_or_mixed_letters_are_refused(store: Store, name: str) -> None:
    with store.write() as connection, pytest.raises(InvalidRequest, match="not a valid user name"):
        accounts.add(connection, name)


@pytest.mark.parametrize("name", ["ａｎｎａ", "AN\u2099A", "anna ", "\u2003anna"])
def test_names_that_normalize_alike_are_one(store: Store, anna: User, name: str) -> None:
    with store.write() as connection, pytest.raises(Conflict, match="'anna'"):
        accounts.add(connection, name)


def test_a_name_with_an_umlaut_logs_in_however_it_is_typed(store: Store) -> None:
    with store.write() as connection:
        user, secret = accounts.add(connection, "Ärne Müller")
        accounts.set_password_with_link(connection, secret, PASSWORD)
        with pytest.raises(Conflict):
            accounts.add(connection, "ÄRNE MÜLLER")
    for typed in ("Ärne Müller", "A\u0308rne Mu\u0308ller", "Ärne  Müller "):
        assert accounts.log_in(store, typed, PASSWORD, "10.0.0.1").id == user.id
    if store.engine.dialect.name == "sqlite":  # elsewhere it depends on the database's locale
        assert accounts.log_in(store, "ärne MÜLLER", PASSWORD, "10.0.0.1").id == user.id


def test_guesses_at_spellings_of_one_name_are_counted_together(store: Store, anna: User) -> None:
    for name in ("anna", "ANNA", "ａnna", "aｎna", "an\uff4ea"):
        with pytest.raises(Unauthenticated):
            accounts.log_in(store, name, "wrong", "10.0.0.1")
    with pytest.raises(TooManyRequests):
        accounts.log_in(store, "annａ", "wrong", "10.0.0.1")
