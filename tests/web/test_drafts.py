"""Named drafts: what they hold, and that two people at once never overwrite each other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project
from discreet.web.workspace import drafts
from discreet.web.workspace.undoing import follow_revisions, redo, undo

ATTRIBUTES = {"age": {"role": "key", "known": 0.4}, "town": {"role": "key"}}
FIRST = {"plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": 5}]}, "limits": {"k_anonymity.k": 3}}
SECOND = {
    "plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": 20}]}, "limits": {"k_anonymity.k": 8},
    "risk": {"k_anonymity": {}}, "attributes.age": {"role": "key", "known": 0.9},
}  # fmt: skip


@pytest.fixture
def planned(store: Store, anna: User, project: Project) -> Project:
    with store.write() as connection:
        roles = {f"attributes.{name}": value for name, value in ATTRIBUTES.items()}
        policies.edit(connection, anna, project, 0, {**roles, **FIRST})
        return projects.get(connection, anna, project.id)


def document(store: Store, user: User, project: Project) -> dict[str, Any]:
    with store.read() as connection:
        return policies.policy_document(connection, projects.get(connection, user, project.id))


def edit(store: Store, user: User, project: Project, sections: dict[str, Any]) -> Project:
    with store.write() as connection:
        current = projects.get(connection, user, project.id)
        policies.edit(connection, user, current, current.revision, sections)
        return projects.get(connection, user, project.id)


def test_a_draft_brings_back_plan_limits_and_guesses_and_can_be_undone(store: Store, anna: User, planned: Project) -> None:
    first = document(store, anna, planned)
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "  Coarse ages ", first)
    assert (saved.name, saved.version, saved.user) == ("Coarse ages", 1, "anna")
    changed = edit(store, anna, planned, SECOND)
    second = document(store, anna, planned)
    with store.write() as connection:
        drafts.open_draft(connection, anna, changed, saved.id, changed.revision)
    assert document(store, anna, planned) == first
    with store.write() as connection:
        undo(connection, anna, projects.get(connection, anna, planned.id))
    assert document(store, anna, planned) == second
    with store.write() as connection:
        redo(connection, anna, projects.get(connection, anna, planned.id))
    assert document(store, anna, planned) == first
    with store.read() as connection:
        what = [row["what"] for row in policies.history(connection, planned)]
    assert "the draft 'Coarse ages' was opened" in what


def test_a_draft_meets_the_attributes_as_they_are_when_it_is_opened(store: Store, anna: User, planned: Project) -> None:
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "Early", document(store, anna, planned))
    roles = {"attributes.age": {"role": "confidential", "known": 0.1}, "attributes.town": None, "attributes.sex": {"role": "key"}}
    changed = edit(store, anna, planned, roles)
    with store.write() as connection:
        drafts.open_draft(connection, anna, changed, saved.id, changed.revision)
    attributes = document(store, anna, planned)["attributes"]
    assert attributes == {"age": {"role": "confidential", "known": 0.4}, "sex": {"role": "key"}}


def test_a_change_based_on_an_old_version_is_refused_and_names_who_was_first(
    store: Store, anna: User, planned: Project, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        projects.set_role(connection, anna, planned, "bert", "editor")
        saved = drafts.save(connection, anna, planned, "Shared", document(store, anna, planned))
        his = projects.get(connection, bert, planned.id)
        renamed = drafts.rename(connection, bert, his, saved.id, saved.version, "Bert's")
    assert (renamed.version, renamed.user) == (2, "bert")
    changes: list[Callable[..., Any]] = [
        lambda connection: drafts.rename(connection, anna, planned, saved.id, saved.version, "Anna's"),
        lambda connection: drafts.replace(connection, anna, planned, saved.id, saved.version, {}),
        lambda connection: drafts.remove(connection, anna, planned, saved.id, saved.version),
    ]
    for change in changes:
        with pytest.raises(Conflict, match="bert changed the draft 'Bert's'") as refused, store.write() as connection:
            change(connection)
        assert refused.value.detail["version"] == 2
    with store.read() as connection:
        assert drafts.get(connection, planned, saved.id) == renamed, "nothing was overwritten"


def test_opening_a_draft_does_not_overwrite_a_plan_that_somebody_changed_meanwhile(
    store: Store, anna: User, planned: Project
) -> None:
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "Mine", document(store, anna, planned))
    seen = edit(store, anna, planned, {"plan": SECOND["plan"]})
    edit(store, anna, planned, {"plan": {"steps": []}})
    with pytest.raises(Conflict, match="changed plan since"), store.write() as connection:
        drafts.open_draft(connection, anna, projects.get(connection, anna, planned.id), saved.id, seen.revision)
    assert document(store, anna, planned)["plan"] == {"steps": []}


def test_of_two_people_at_once_one_saves_and_the_other_is_told(store: Store, anna: User, planned: Project) -> None:
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "Race", document(store, anna, planned))
    outcomes: list[str] = []

    def rename(name: str) -> None:
        try:
            with store.write() as connection:
                drafts.rename(connection, anna, planned, saved.id, saved.version, name)
            outcomes.append(name)
        except Conflict:
            outcomes.append("refused")

    people = [threading.Thread(target=rename, args=(name,)) for name in ("one", "two")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert outcomes.count("refused") == 1
    with store.read() as connection:
        assert drafts.get(connection, planned, saved.id).name in outcomes


def test_names_are_unique_printable_and_drafts_stay_in_their_project(store: Store, anna: User, planned: Project) -> None:
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "One", {})
        other = projects.create(connection, anna, "Other")
        assert drafts.save(connection, anna, other, "One", {}).id != saved.id, "another project has names of its own"
        with pytest.raises(Conflict, match="has a draft 'One' already"):
            drafts.save(connection, anna, planned, "One", {})
        two = drafts.save(connection, anna, planned, "Two", {})
        with pytest.raises(Conflict, match="already"):
            drafts.rename(connection, anna, planned, two.id, 1, "One")
        for wrong in ("", "  ", "x" * 121, "a\nb", "a\u202eb"):
            with pytest.raises(InvalidRequest, match="1 to 120 printable"):
                drafts.save(connection, anna, planned, wrong, {})
        with pytest.raises(NotFound):
            drafts.get(connection, other, saved.id)
        drafts.remove(connection, anna, planned, two.id, 1)
        assert drafts.save(connection, anna, planned, "Three", {}).id > two.id, "a number is never used again"


def test_every_change_is_on_record_and_only_editors_change(store: Store, anna: User, carl: User, planned: Project) -> None:
    with store.write() as connection:
        saved = drafts.save(connection, anna, planned, "A", {})
        saved = drafts.rename(connection, anna, planned, saved.id, saved.version, "B")
        saved = drafts.replace(connection, anna, planned, saved.id, saved.version, FIRST)
    with store.read() as connection:
        approver = projects.get(connection, carl, planned.id)
    for change in (
        lambda connection: drafts.save(connection, carl, approver, "C", {}),
        lambda connection: drafts.rename(connection, carl, approver, saved.id, saved.version, "C"),
        lambda connection: drafts.replace(connection, carl, approver, saved.id, saved.version, {}),
        lambda connection: drafts.open_draft(connection, carl, approver, saved.id, approver.revision),
        lambda connection: drafts.remove(connection, carl, approver, saved.id, saved.version),
    ):
        with pytest.raises(Forbidden), store.write() as connection:
            change(connection)
    with store.write() as connection:
        drafts.remove(connection, anna, planned, saved.id, saved.version)
    with store.read() as connection:
        actions = [entry["action"] for entry in audit.list_entries(connection, planned.id) if "draft" in entry["action"]]
        assert audit.verify_chain(connection) is None
    assert actions == ["draft deleted", "draft replaced", "draft renamed", "draft saved"]


attribute_documents = st.fixed_dictionaries({"role": st.just("key")}, optional={"known": st.floats(0, 1)})
documents = st.fixed_dictionaries(
    {"attributes": st.dictionaries(st.sampled_from("abc"), attribute_documents)},
    optional={name: st.dictionaries(st.just("x"), st.integers(), min_size=1) for name in drafts.SECTIONS},
)


@given(documents)
def test_a_draft_of_a_document_applied_to_the_document_gives_the_document(policy: dict[str, Any]) -> None:
    assert drafts.apply(policy, drafts.extract(policy)) == policy


@given(documents, documents)
def test_an_opened_draft_changes_only_what_drafts_hold(policy: dict[str, Any], other: dict[str, Any]) -> None:
    opened = drafts.apply(policy, drafts.extract(other))
    for name in drafts.SECTIONS:
        assert opened.get(name) == other.get(name)
    assert set(opened.get("attributes", {})) == set(policy["attributes"])
    for name, attribute in opened.get("attributes", {}).items():
        assert attribute.get("known") == other["attributes"].get(name, {}).get("known")
        assert attribute["role"] == policy["attributes"][name]["role"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_rest_interface_pages_saves_renames_opens_and_deletes(
    logged_in: TestClient, store: Store, anna: User, planned: Project
) -> None:
    place = f"/api/v1/projects/{planned.id}/drafts"
    made = [logged_in.post(place, json={"name": f"draft {at}"}).json() for at in range(5)]
    assert logged_in.post(place, json={"name": "draft 0"}).status_code == 409
    listed = logged_in.get(place, params={"page": 2, "size": 2}).json()
    assert ([one["name"] for one in listed["drafts"]], listed["total"], listed["pages"]) == (["draft 2", "draft 1"], 5, 3)
    assert logged_in.get(place, params={"page": 9, "size": 2}).json()["page"] == 3
    one = f"{place}/{made[0]['id']}"
    assert logged_in.get(one).json()["content"] == {"sections": FIRST, "known": {"age": 0.4}}
    renamed = logged_in.patch(one, json={"name": "renamed", "version": 1}).json()
    assert (renamed["name"], renamed["version"]) == ("renamed", 2)
    assert logged_in.patch(one, json={"name": "again", "version": 1}).status_code == 409
    changed = edit(store, anna, planned, SECOND)
    opened = logged_in.post(f"{one}/open", json={"base": changed.revision})
    assert opened.json()["policy"]["plan"] == FIRST["plan"]
    edit(store, anna, planned, SECOND)
    assert logged_in.put(one, json={"version": 2}).json()["content"]["known"] == {"age": 0.9}
    assert logged_in.delete(one, params={"version": 2}).status_code == 409
    assert logged_in.delete(one, params={"version": 3}).status_code == 204
    assert logged_in.get(one).status_code == 404


@given(st.lists(st.sampled_from(["change", "back", "undo", "redo"]), max_size=30))
def test_undo_and_redo_walk_a_tree_of_changes_whatever_their_contents_are(actions: list[str]) -> None:
    """Against the obvious tree of nodes: a change may have content that was there before, as an opened draft has."""
    nodes: list[dict[str, Any]] = [{"parent": None, "content": "0"}]
    at, contents, descriptions = 0, ["0"], ["made"]
    for number, action in enumerate(actions):
        children = [place for place, node in enumerate(nodes) if node["parent"] == at]
        if action == "undo" and nodes[at]["parent"] is not None:
            at = nodes[at]["parent"]
        elif action == "redo" and children:
            at = children[-1]
        elif action in ("change", "back"):
            content = str(number + 1) if action == "change" else nodes[0]["content"]
            if content == nodes[at]["content"]:
                continue  # saving what is there makes no revision
            nodes.append({"parent": at, "content": content})
            at = len(nodes) - 1
        else:
            continue
        contents.append(nodes[at]["content"])
        descriptions.append({"undo": "undone: x", "redo": "redone: x"}.get(action, "x"))
    current, parents = follow_revisions(contents, descriptions)
    expected = nodes[at]["parent"]
    assert contents[current] == nodes[at]["content"]
    assert (parents[current] is None) == (expected is None)
    if expected is not None:
        assert contents[parents[current] or 0] == nodes[expected]["content"]
