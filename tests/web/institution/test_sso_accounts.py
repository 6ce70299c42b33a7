"""Accounts of people who log in through the provider: linked by subject, with groups and administration as it says."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest
from hostile_provider import ISSUER, HostileProvider
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from discreet.web.auth import accounts, tokens
from discreet.web.auth.sso import accounts as sso_accounts
from discreet.web.auth.sso.claims import Claims, read_groups
from discreet.web.auth.sso.settings import OidcSettings
from discreet.web.db.store import Store, now
from discreet.web.db.tables import identities, sessions, user_groups
from discreet.web.errors import Conflict, Forbidden, NotFound, Unauthenticated
from discreet.web.projects import membership, projects, roles

GROUPS = OidcSettings(ISSUER, "client", login_groups=("staff",), admin_group="it")


def claims(subject: str, *groups: str, **values: Any) -> Claims:
    return Claims(ISSUER, subject, {"sub": subject, "groups": list(groups), **values}, "token")


def log_in(store: Store, who: Claims, settings: OidcSettings = GROUPS) -> sso_accounts.Outcome:
    with store.write() as connection:
        return sso_accounts.log_in(connection, settings, who, "1.2.3.4")


def test_nobody_gets_the_account_of_another_by_name_or_address(store: Store, anna: accounts.User) -> None:
    same_name = log_in(store, claims("s-1", "staff", preferred_username="Anna", email="anna@example.org")).user
    assert same_name is not None
    assert (same_name.id == anna.id, same_name.name, same_name.admin) == (False, "Anna 2", False)
    another_person = log_in(store, claims("s-2", "staff", preferred_username="Anna", email="anna@example.org")).user
    assert another_person is not None
    assert another_person.name == "Anna 3"
    renamed = log_in(store, claims("s-1", "staff", preferred_username="Berta")).user
    assert renamed is not None
    assert (renamed.id, renamed.name) == (same_name.id, "Anna 2"), "the subject is the person, whatever the name"
    other_case = log_in(store, claims("S-1", "staff")).user
    assert other_case is not None
    assert other_case.id != same_name.id


def test_a_lost_group_ends_sessions_tokens_administration_and_groups_at_the_next_login(store: Store) -> None:
    user = log_in(store, claims("s-1", "staff", "it")).user
    assert user is not None
    assert user.admin
    with store.write() as connection:
        _, secret = tokens.create(connection, user, "script", ["read"])
    assert tokens.find(store, secret, 30)[0].id == user.id
    outcome = log_in(store, claims("s-1", "it"))
    assert outcome.user is None
    assert "not in a group" in outcome.refusal
    with pytest.raises(Unauthenticated):
        tokens.find(store, secret, 30)
    with store.read() as connection:
        assert not accounts.get(connection, user.id).admin
    back = log_in(store, claims("s-1", "staff")).user
    assert back is not None
    assert (back.id, back.admin) == (user.id, False)


def test_tokens_of_people_who_do_not_log_in_any_more_end(store: Store, anna: accounts.User) -> None:
    user = log_in(store, claims("s-1", "staff")).user
    assert user is not None
    with store.write() as connection:
        _, secret = tokens.create(connection, user, "script", ["read"])
        _, local = tokens.create(connection, anna, "script", ["read"])
        connection.execute(update(identities).values(confirmed=now() - 31 * 86400))
    with pytest.raises(Unauthenticated, match="log in to the server in a browser"):
        tokens.find(store, secret, 30)
    assert tokens.find(store, local, 30)[0].id == anna.id, "local accounts are not affected"
    log_in(store, claims("s-1", "staff"))
    assert tokens.find(store, secret, 30)[0].id == user.id


def test_without_new_accounts_only_linked_ones_log_in(store: Store, anna: accounts.User) -> None:
    closed = OidcSettings(ISSUER, "client", create_accounts=False)
    assert log_in(store, claims("s-1", preferred_username="anna"), closed).user is None
    with store.write() as connection:
        sso_accounts.link(connection, "anna", ISSUER, "s-1")
    linked = log_in(store, claims("s-1", preferred_username="somebody"), closed).user
    assert linked is not None
    assert (linked.id, linked.admin) == (anna.id, True), "without an administrators' group they are appointed here"


def test_a_linked_account_has_no_password(store: Store, anna: accounts.User) -> None:
    with store.write() as connection:
        sso_accounts.link(connection, "anna", ISSUER, "s-1")
        with pytest.raises(Conflict, match="single sign-on"):
            accounts.reset_password(connection, "anna")
    with pytest.raises(Unauthenticated):
        accounts.log_in(store, "anna", "a longer password than most", "1.2.3.4")
    with store.write() as connection:
        _, _ = accounts.add(connection, "bert")
        with pytest.raises(Conflict, match="'anna' already"):
            sso_accounts.link(connection, "bert", ISSUER, "s-1")
        sso_accounts.unlink(connection, "anna")
        accounts.reset_password(connection, "anna")


def test_a_disabled_account_does_not_log_in(store: Store) -> None:
    user = log_in(store, claims("s-1", "staff")).user
    assert user is not None
    with store.write() as connection:
        accounts.disable(connection, user.name)
    assert "disabled" in log_in(store, claims("s-1", "staff")).refusal


@hypothesis_settings(max_examples=40)
@given(
    own=st.none() | st.sampled_from(list(roles.ROLES)),
    shared=st.dictionaries(st.sampled_from("abc"), st.sampled_from(list(roles.ROLES))),
    groups=st.sets(st.sampled_from("abc")),
)
def test_roles_by_group_follow_the_rule(own: str | None, shared: dict[str, str], groups: set[str], role_store: Any) -> None:
    store, owner, member, project = role_store
    with store.write() as connection:
        projects.set_role(connection, owner, project, member.name, own)
        for group in "abc":
            membership.set_group_role(connection, owner, project, group, shared.get(group))
        connection.execute(user_groups.delete().where(user_groups.c.user_id == member.id))
        for group in groups:
            connection.execute(user_groups.insert().values(user_id=member.id, group_name=group))
    by_group = [role for role in membership.RANKS if role in {shared[group] for group in groups & set(shared)}]
    expected = own or next(iter(by_group), None)
    with store.read() as connection:
        listed = {person["name"]: person["role"] for person in membership.list_people(connection, project.id)}
        assert listed.get(member.name) == expected
        assert listed[owner.name] == "owner"
        if expected is None:
            with pytest.raises(NotFound):
                projects.get(connection, member, project.id, "release_reader")
            assert projects.list_projects(connection, member) == []
        else:
            assert projects.get(connection, member, project.id, "release_reader").role == expected
            assert [row["project"].role for row in projects.list_projects(connection, member)] == [expected]


@pytest.fixture(scope="module")
def role_store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from discreet.web.settings import Settings

    store = Store.open(Settings.make(tmp_path_factory.mktemp("roles") / "home"))
    with store.write() as connection:
        owner, _ = accounts.add(connection, "owner")
        member, _ = accounts.add(connection, "member")
        project = projects.create(connection, owner, "Patients")
    yield store, owner, member, project
    store.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=4)
)


@given(json_values)
def test_only_texts_are_groups(value: Any) -> None:
    names = read_groups({"groups": value}, "groups")
    assert all(isinstance(name, str) and name for name in names)
    assert names == read_groups({"a": {"groups": value}}, "a.groups")
    if isinstance(value, list):
        assert set(names) == {name for name in value if isinstance(name, str) and name}


def test_only_owners_share_with_groups(store: Store, anna: accounts.User, carl: accounts.User, project: Any) -> None:
    with store.write() as connection:
        seen_by_carl = projects.get(connection, carl, project.id)
        with pytest.raises(Forbidden):
            membership.set_group_role(connection, carl, seen_by_carl, "staff", "owner")


def test_an_approver_by_group_approves_and_loses_it_with_the_group(open_server: Callable[..., Any]) -> None:
    with open_server(session_hours=2.0) as browser:
        assert browser.log_in("owner", preferred_username="olga").status_code == 303
        browser.use_csrf()
        number = browser.post("/api/v1/projects", json={"name": "Patients"}).json()["id"]
        shared = browser.put(f"/api/v1/projects/{number}/groups", json={"group": "approvers", "role": "approver"})
        assert shared.json() == [{"group": "approvers", "role": "approver", "people": 0}]
        page = browser.get(f"/projects/{number}")
        assert "approvers" in page.text
        csrf = browser.headers["x-csrf-token"]
        form = {"csrf": csrf, "group": "readers", "role": "release_reader"}
        assert browser.post(f"/projects/{number}/groups", data=form).status_code == 303

        browser.cookies.clear()
        assert browser.log_in("a", preferred_username="ada", groups=["approvers"]).status_code == 303
        assert browser.get(f"/api/v1/projects/{number}").json()["role"] == "approver"
        ends = _read_session(browser)
        assert 0 < ends - now() <= 2 * 3600, "the provider is asked again"
        browser.cookies.clear()
        assert browser.log_in("a", groups=[]).status_code == 303
        assert browser.get(f"/api/v1/projects/{number}").status_code == 404


def _read_session(browser: Any) -> float:
    store = browser.app.state.core.store
    with store.read() as connection:
        return float(connection.execute(select(sessions.c.ends).order_by(sessions.c.created.desc())).scalars().first())


def test_a_session_ends_after_its_hours_even_if_it_is_used(browser_of_sso: Any, provider: HostileProvider) -> None:
    browser_of_sso.log_in("s-1")
    assert browser_of_sso.get("/account").status_code == 200
    with browser_of_sso.app.state.core.store.write() as connection:
        connection.execute(update(sessions).values(ends=now() - 1, expires=now() + 3600))
    assert browser_of_sso.get("/account").status_code == 303, "to the login"


def test_logging_out_ends_the_session_at_the_provider_too(browser_of_sso: Any) -> None:
    browser_of_sso.log_in("s-1")
    browser_of_sso.use_csrf()
    answer = browser_of_sso.post("/logout", data={"csrf": browser_of_sso.headers["x-csrf-token"]})
    assert answer.status_code == 200
    assert f'content="0; url={ISSUER}/logout?client_id=' in answer.text
    assert "post_logout_redirect_uri=http%3A%2F%2Ftestserver%2Flogin" in answer.text
    assert "id_token_hint=ey" in answer.text
    assert browser_of_sso.get("/account").status_code == 303


def test_without_passwords_only_the_provider_and_the_operators_link_log_in(open_server: Callable[..., Any]) -> None:
    with open_server(settings={"passwords": False}, admin_group="it") as browser:
        page = browser.get("/login").text
        assert "Log in with single sign-on" in page
        assert 'name="password"' not in page
        core = browser.app.state.core
        assert core.first_admin_link() is None, "an account with a password that nobody may use"
        with core.store.write() as connection:
            _, welcome = accounts.add(connection, "local", admin=True)
        assert browser.post("/login", data={"name": "local", "password": "x"}).status_code == 403
        assert browser.get(f"/welcome/{welcome}").status_code == 403
        assert browser.post(f"/welcome/{welcome}", data={"password": "x" * 12, "again": "x" * 12}).status_code == 403
        with core.store.write() as connection:
            _, secret = accounts.create_rescue_link(connection, "local")
        assert browser.get(f"/welcome/{secret}").status_code in (403, 404), "a rescue link sets no password"
        assert "once, for an hour" in browser.get(f"/rescue/{secret}").text
        assert browser.post(f"/rescue/{secret}").status_code == 303
        assert browser.get("/admin/users").status_code == 200
        browser.cookies.clear()
        assert browser.post(f"/rescue/{secret}").status_code == 404, "it works once"


def test_a_form_is_kept_over_a_login_at_the_provider(browser_of_sso: Any) -> None:
    browser_of_sso.log_in("s-1")
    with browser_of_sso.app.state.core.store.write() as connection:
        connection.execute(sessions.delete())
    page = browser_of_sso.post("/projects/new", data={"csrf": "x", "name": "Patients of the north"})
    assert page.status_code == 401
    assert "in a new tab" in page.text
    kept = page.text.split('name="kept" value="')[1].split('"')[0]
    browser_of_sso.log_in("s-1")
    offered = browser_of_sso.post("/kept", data={"kept": html.unescape(kept)})
    assert "Patients of the north" in offered.text
