"""Projects, roles, and a policy that several people edit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import PolicyError
from discreet.model.policy import Policy
from discreet.web.auth.accounts import User
from discreet.web.db.store import Store
from discreet.web.errors import Conflict, Forbidden, InvalidRequest, NotFound
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project


def test_names_are_unique_and_a_free_one_is_suggested(store: Store, anna: User, project: Project) -> None:
    assert re.fullmatch(r"patients_masked_[0-9a-f]{4}", project.table_name)
    with store.write() as connection:
        with pytest.raises(Conflict) as refused:
            projects.create(connection, anna, "PATIENTS")
        assert refused.value.detail["suggestion"] == "PATIENTS 2"
        with pytest.raises(Conflict) as refused:
            projects.create(connection, anna, "Others", project.table_name.upper())
        assert re.fullmatch(r"patients_masked_[0-9a-f]{4}", refused.value.detail["suggestion"])
        assert refused.value.detail["field"] == "table_name"
        assert projects.create(connection, anna, "Patients 2").table_name.startswith("patients_2_masked_")


@pytest.mark.trust("Nobody in", "The name of a project tells nothing about projects of others")
def test_a_hidden_project_does_not_show_in_names(
    store: Store, anna: User, project: Project, add_user: Callable[..., User]
) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        same_name = projects.create(connection, bert, project.name)
        other_name = projects.create(connection, bert, "Visits")
        assert same_name.name == project.name
        for created, stem in ((same_name, "patients"), (other_name, "visits")):
            assert re.fullmatch(rf"{stem}_masked_[0-9a-f]{{4}}", created.table_name), "a hidden project leaves no trace in it"
        messages = []
        for table in (project.table_name, "discreet_users"):
            with pytest.raises(Conflict) as refused:
                projects.create(connection, bert, "New", table)
            messages.append(str(refused.value).split(";")[0].replace(table, "TABLE"))
        assert messages == ["the table name 'TABLE' is not available"] * 2, "taken and reserved look alike"
        with pytest.raises(NotFound) as hidden:
            projects.get(connection, bert, project.id)
        with pytest.raises(NotFound) as absent:
            projects.get(connection, bert, 999)
    assert str(hidden.value).replace(str(project.id), "N") == str(absent.value).replace("999", "N")


@pytest.mark.parametrize("table", ["1st", "a b", "x" * 51, 'a"; DROP TABLE x'])
def test_invalid_table_names_are_refused(store: Store, anna: User, table: str) -> None:
    with store.write() as connection, pytest.raises(InvalidRequest, match="for example"):
        projects.create(connection, anna, "New", table)


@pytest.mark.parametrize("table", ["discreet_users", "pg_class", "sqlite_master"])
def test_reserved_table_names_are_refused(store: Store, anna: User, table: str) -> None:
    with store.write() as connection, pytest.raises(Conflict, match="is not available"):
        projects.create(connection, anna, "New", table)


@pytest.mark.parametrize("name", ["2026", "été", "___", "discreet", "a" * 120, "'; --"])
def test_a_table_name_can_be_made_from_any_name(store: Store, anna: User, name: str) -> None:
    with store.write() as connection:
        assert projects.TABLE_NAME.fullmatch(projects.create(connection, anna, name).table_name)


def test_roles_limit_what_members_may_do(store: Store, anna: User, project: Project, add_user: Callable[..., User]) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        with pytest.raises(NotFound):
            projects.get(connection, bert, project.id)
        assert projects.list_projects(connection, bert) == []
        projects.set_role(connection, anna, project, "bert", "approver")
        shared = projects.get(connection, bert, project.id)
        with pytest.raises(Forbidden, match="editor"):
            policies.edit(connection, bert, shared, 0, {"limits": {"k_anonymity.k": 3}})
        with pytest.raises(Forbidden):
            projects.set_role(connection, bert, shared, "bert", "owner")
        with pytest.raises(Conflict, match="only owner"):
            projects.set_role(connection, anna, project, "anna", "release_reader")
        projects.set_role(connection, anna, project, "bert", "editor")
        shared = projects.get(connection, bert, project.id)
        assert policies.edit(connection, bert, shared, 0, {"limits": {"k_anonymity.k": 3}}) == 1
        projects.set_role(connection, anna, project, "bert", None)
        with pytest.raises(NotFound):
            projects.get(connection, bert, project.id)


def test_edits_of_different_sections_are_merged(store: Store, anna: User, project: Project) -> None:
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.age": {"role": "key"}})
        assert policies.edit(connection, anna, project, 0, {"attributes.sex": {"role": "key"}}) == 2
        assert policies.edit(connection, anna, project, 1, {"attributes.sex": {"role": "key"}}) == 2, "nothing new, no revision"
        content = policies.policy_document(connection, projects.get(connection, anna, project.id))
    assert content == {"attributes": {"age": {"role": "key"}, "sex": {"role": "key"}}}


def test_a_conflicting_edit_is_refused_with_both_versions(store: Store, anna: User, project: Project, add_user: Any) -> None:
    bert = add_user("bert")
    with store.write() as connection:
        projects.set_role(connection, anna, project, "bert", "editor")
        policies.edit(connection, bert, projects.get(connection, bert, project.id), 0, {"attributes.age": {"role": "key"}})
        with pytest.raises(Conflict, match=r"bert changed attributes\.age") as refused:
            policies.edit(connection, anna, project, 0, {"limits": {"k_anonymity.k": 3}, "attributes.age": {"role": "other"}})
        assert refused.value.detail["theirs"] == {"role": "key"}
        assert refused.value.detail["yours"] == {"role": "other"}
        content = policies.policy_document(connection, projects.get(connection, anna, project.id))
    assert content == {"attributes": {"age": {"role": "key"}}}


@pytest.mark.parametrize(
    "sections",
    [
        {"attributes.age": {"role": "nonsense"}}, {"limits": {"nothing.k": 3}}, {"plan": {"steps": [{"method": "magic"}]}},
        {"plan": {"steps": [{"method": "sampling", "fraction": 7}]}}, {"risk": {"known_sets": {"alphabet": 1}}},
    ],
)  # fmt: skip
def test_an_invalid_edit_changes_nothing(store: Store, anna: User, project: Project, sections: dict[str, Any]) -> None:
    with store.write() as connection:
        with pytest.raises(PolicyError):
            policies.edit(connection, anna, project, 0, sections)
        assert policies.history(connection, projects.get(connection, anna, project.id))[0]["revision"] == 0


def test_no_section_is_lost_where_a_policy_file_replaces_the_policy(store: Store, anna: User, project: Project) -> None:
    document = {"attributes": {"age": {"role": "key"}}, "sampling": {"fraction": 0.1}, "known_together": [["age", "sex"]]}
    document["attributes"]["sex"] = {"role": "key"}
    policy = Policy.from_dict(document)
    with store.write() as connection:
        policies.replace(connection, anna, project, 0, policy, "from a file")
        stored = policies.current_policy(connection, projects.get(connection, anna, project.id))
    assert (stored.sampling, stored.known_together) == (policy.sampling, policy.known_together)


def test_an_earlier_revision_can_be_restored(store: Store, anna: User, project: Project) -> None:
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.age": {"role": "key"}, "limits": {"k_anonymity.k": 3}})
        policies.edit(connection, anna, project, 1, {"attributes.age": None, "limits": {"k_anonymity.k": 9}})
        assert policies.restore(connection, anna, projects.get(connection, anna, project.id), 1) == 3
        current = projects.get(connection, anna, project.id)
        assert policies.policy_document(connection, current) == policies.policy_document(connection, current, 1)
        assert policies.history(connection, current)[0]["what"] == "restored revision 1"


NAMES = st.text(min_size=1, max_size=6)


@given(st.dictionaries(NAMES, st.fixed_dictionaries({"known": st.floats(0, 1)}), max_size=4), NAMES)
def test_setting_and_reading_a_section_are_inverse(attributes: dict[str, Any], name: str) -> None:
    content = {"attributes": attributes} if attributes else {}
    put = policies.with_section(content, f"attributes.{name}", {"known": 0.5})
    assert policies.get_section(put, f"attributes.{name}") == {"known": 0.5}
    gone = policies.with_section(put, f"attributes.{name}", None)
    assert policies.get_section(gone, f"attributes.{name}") is None
    assert {k: v for k, v in put.get("attributes", {}).items() if k != name} == gone.get("attributes", {})


@pytest.mark.parametrize("path", ["", "attributes", "attributes.", "plan.steps", "nothing", "limits.k_anonymity.k"])
def test_invalid_section_paths_are_refused(path: str) -> None:
    with pytest.raises(InvalidRequest):
        policies.get_section({}, path)


def test_replace_sets_the_whole_policy(store: Store, anna: User, project: Project) -> None:
    with store.write() as connection:
        policies.edit(connection, anna, project, 0, {"attributes.age": {"role": "key"}, "limits": {"k_anonymity.k": 3}})
        new = Policy.from_dict({"attributes": {"sex": {"role": "key"}}, "plan": {"seed": 5}})
        policies.replace(connection, anna, project, 1, new, "from a file")
        content = policies.policy_document(connection, projects.get(connection, anna, project.id))
    assert content == {"attributes": {"sex": {"role": "key"}}, "plan": {"seed": 5}}


def test_a_project_without_public_releases_can_be_deleted(store: Store, anna: User, project: Project) -> None:
    with store.write() as connection:
        projects.delete_project_rows(connection, anna, project)
        with pytest.raises(NotFound):
            projects.get(connection, anna, project.id)
