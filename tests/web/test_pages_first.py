"""The pages from account to risk without a browser: permissions, saved values, messages, and escaping of data."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, update
from web_forms import form_values, log_in_as

from discreet import analyze, read
from discreet.web.auth.accounts import User
from discreet.web.db import tables
from discreet.web.db.store import Store, now
from discreet.web.projects import policies, projects
from discreet.web.projects.paging import describe_columns
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PASSWORD = "a longer password than most"
PATIENTS = pl.DataFrame(
    {
        "name": ["John Wayne", "Mary Gore", "John Banks", "Jesse Casey"],
        "age": [44, 44, 55, None],
        "state": ["MI", "MI", "IN", "MI"],
        "diagnosis": ["AIDS", "Asthma", "AIDS", "Flu"],
    }
)
HOSTILE = ["<script>alert(1)</script>", "a/b?c#d", "..", "\"'&<b>", "x.y", " é\u202e", "{{ 7*7 }}", "/x/"]


@pytest.fixture
def plant(store: Store, settings: Settings, project: Project) -> Callable[[pl.DataFrame], None]:
    """Adds a table to the project as an import and an analysis would."""

    def put(frame: pl.DataFrame) -> None:
        place = settings.folder(project.id) / "planted.parquet"
        frame.write_parquet(place)
        row = {
            "project_id": project.id, "name": "patients.csv", "file": place.name, "records": frame.height, "bytes": 1.0,
            "sha256": "0" * 64, "columns": describe_columns(place), "profile": analyze(read(frame)).to_dict(), "created": now(),
        }  # fmt: skip
        with store.write() as connection:
            key = connection.execute(insert(tables.datasets).values(**row)).inserted_primary_key
            connection.execute(update(tables.projects).where(tables.projects.c.id == project.id).values(dataset_id=key[0]))

    return put


@pytest.fixture
def web(logged_in: TestClient) -> TestClient:
    return logged_in


@pytest.fixture
def post(web: TestClient) -> Callable[..., Any]:
    """Sends a form with the CSRF token of the session."""

    def send(address: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        return web.post(address, data={"csrf": web.headers["x-csrf-token"], **(data or {})}, **options)

    return send


@pytest.fixture
def document(store: Store, anna: User, project: Project) -> Callable[[], dict[str, Any]]:
    """Reads the current policy."""

    def read_document() -> dict[str, Any]:
        with store.read() as connection:
            return policies.policy_document(connection, projects.get(connection, anna, project.id))

    return read_document


PAGES = ("", "/data", "/attributes", "/attributes/age", "/risk", "/policy.yaml")
FORMS = (
    "/account/password", "/account/tokens", "/account/tokens/revoke", "/admin/users", "/admin/users/reset",
    "/admin/users/disable", "/projects/1/people", "/projects/1/policy", "/projects/1/restore", "/projects/1/delete",
    "/projects/1/data", "/projects/1/data/choose", "/projects/1/attributes", "/projects/1/attributes/strangers",
    "/projects/1/attribute", "/projects/1/analyze", "/projects/1/risk", "/projects/1/jobs/x/cancel",
)  # fmt: skip


def test_every_page_requires_a_login_and_every_form_a_csrf_token(client, project, plant, web):
    plant(PATIENTS)
    for page in PAGES:
        assert web.get(f"/projects/{project.id}{page}").status_code == 200, page
    for form in FORMS:
        assert web.post(form, data={}).status_code == 403, form
        assert web.post(form, data={"csrf": "another"}).status_code == 403, form
    web.cookies.clear()
    for page in (*(f"/projects/{project.id}{page}" for page in PAGES), "/account", "/admin/users", "/admin/audit"):
        answer = web.get(page)
        assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/login"), page


def test_an_approver_can_view_but_not_change_and_a_non_member_sees_nothing(web, post, project, plant, add_user, document):
    plant(PATIENTS)
    add_user("rita")
    add_user("otto")
    assert post(f"/projects/{project.id}/people", {"name": "rita", "role": "approver"}).status_code == 303
    log_in_as(web, "rita")
    before = document()
    for page in PAGES:
        assert web.get(f"/projects/{project.id}{page}").status_code == 200, page
    shown = web.get(f"/projects/{project.id}/attributes").text
    assert "Save changed rows" not in shown
    assert "Accept all" not in shown
    for form, data in (
        ("attributes", {"base": "0", "accept": "all"}), ("attribute", {"base": "0", "name": "age", "role": "key"}),
        ("policy", {"base": "0", "policy": "limits: {}"}), ("restore", {"revision": "0"}), ("risk", {}), ("analyze", {}),
        ("data/choose", {"dataset": "1"}), ("people", {"name": "rita", "role": "owner"}), ("delete", {"name": "Patients"}),
    ):  # fmt: skip
        assert post(f"/projects/{project.id}/{form}", data).status_code == 403, form
    assert web.get("/admin/users").status_code == web.get("/admin/audit").status_code == 403
    assert document() == before
    log_in_as(web, "otto")
    for page in (*PAGES, "/events"):
        assert web.get(f"/projects/{project.id}{page}").status_code == 404, page


def test_saving_the_form_of_all_attributes_sets_only_the_changed_rows(web, post, project, plant, document):
    plant(PATIENTS)
    address = f"/projects/{project.id}/attributes"
    page = web.get(address).text
    assert "4 of 4 attributes are proposed, not decided" in page
    sent = form_values(page)
    assert sent["name.1"] == "age"
    assert post(address, sent).headers["location"].endswith("done=nothing")
    assert post(address, {**sent, "role.1": "confidential", "known.1": "0.25"}).status_code == 303
    assert list(document()["attributes"]) == ["age"]
    assert document()["attributes"]["age"]["role"] == "confidential"
    assert document()["attributes"]["age"]["known"] == 0.25
    assert post(address, {"base": "1", "accept": "all"}).status_code == 303
    assert document()["attributes"]["age"]["role"] == "confidential"
    assert document()["attributes"]["name"]["role"] == "identifier"
    wrong = post(address, {**form_values(web.get(address).text), "known.1": "7"})
    assert wrong.status_code == 422
    assert "age.known" in wrong.text
    assert 'value="7"' in wrong.text


def test_edits_of_different_attributes_are_merged_and_of_the_same_attribute_conflict(web, post, project, plant, document):
    plant(PATIENTS)
    address = f"/projects/{project.id}/attributes"
    both = form_values(web.get(address).text)
    assert post(address, {**both, "role.1": "other"}).status_code == 303
    assert post(address, {**both, "role.2": "confidential"}).status_code == 303
    assert document()["attributes"]["age"].get("role", "other") == "other"
    assert document()["attributes"]["state"]["role"] == "confidential"
    conflict = post(address, {**both, "role.1": "identifier"})
    assert conflict.status_code == 409
    assert "anna changed the attribute age while you edited it" in conflict.text
    assert "role: identifier" in conflict.text
    again = {
        name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', conflict.text)
    }
    assert post(address, again).status_code == 303
    assert document()["attributes"]["age"]["role"] == "identifier"
    assert document()["attributes"]["state"]["role"] == "confidential"


def test_hostile_names_and_values_are_escaped_on_every_page_and_can_be_edited(web, post, project, plant, document):
    plant(pl.DataFrame({name: [name, "<img src=x onerror=alert(2)>"] for name in HOSTILE}))
    listed = web.get(f"/projects/{project.id}/attributes").text
    data = web.get(f"/projects/{project.id}/data").text
    for page in (listed, data):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<b>" not in page
        assert ">49<" not in page
    rows = re.findall(r'<th scope="row"><a href="([^"]+)">([^<]*)</a>', listed)
    assert [html.unescape(name) for _, name in rows] == HOSTILE
    for address, name in rows:
        page = web.get(html.unescape(address))
        assert page.status_code == 200, address
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        form_name = html.unescape(re.search(r'name="name" value="([^"]*)"', page.text)[1])
        assert form_name == html.unescape(name)
        saved = post(
            f"/projects/{project.id}/attribute", {"base": project.revision, "name": form_name, "role": "key", "known": "0.5"}
        )
        assert saved.status_code == 303
        assert web.get(saved.headers["location"]).status_code == 200
    assert {name: attribute["known"] for name, attribute in document()["attributes"].items()} == dict.fromkeys(HOSTILE, 0.5)
    assert web.get(f"/projects/{project.id}/attributes/nothing-such").status_code == 404
    assert post(f"/projects/{project.id}/attribute", {"base": "1", "name": "nothing-such", "role": "key"}).status_code in (
        404,
        422,
    )


def test_weights_order_and_hierarchy_are_previewed_with_counts_and_saved(web, post, project, plant, document):
    plant(PATIENTS)
    start = {"base": "0", "name": "diagnosis", "role": "confidential", "level": "ordinal", "known": "0.1", "sensitivity": "1"}
    weights = {"value.0": "AIDS", "weight.0": "1", "value.1": "Asthma", "weight.1": "", "value.9": "Flu", "weight.9": "0,2"}
    leaves = {"leaf.0": "AIDS", "leaf.1": "Asthma", "leaf.2": "Flu"}
    groups = {"kind": "groups", "depth": "1", **leaves, "label.0.0": "immune", "label.1.0": "lung", "label.2.0": "lung"}
    sent = {**start, **weights, "order": "Flu\nAsthma\nAIDS", **groups}
    shown = post(f"/projects/{project.id}/attribute", {**sent, "action": "preview"})
    assert shown.status_code == 200
    assert "nothing is saved yet" in shown.text
    assert 'immune <span class="soft">2</span>' in shown.text
    assert document() == {}
    assert post(f"/projects/{project.id}/attribute", sent).status_code == 303
    saved = document()["attributes"]["diagnosis"]
    assert saved["values"] == {"AIDS": 1.0, "Flu": 0.2}
    assert saved["order"] == ["Flu", "Asthma", "AIDS"]
    assert saved["hierarchy"] == {"groups": [{"immune": ["AIDS"], "lung": ["Asthma", "Flu"]}]}
    widths = {"base": "1", "name": "age", "role": "key", "kind": "widths", "widths": "10, 20"}
    assert '40..50 <span class="soft">2</span>' in post(f"/projects/{project.id}/attribute", {**widths, "action": "preview"}).text
    for broken in ({"widths": "10, 15"}, {"kind": "dates", "dates": "year"}, {"widths": "no number"}, {"known": "2"}):
        refused = post(f"/projects/{project.id}/attribute", {**widths, **broken})
        assert (refused.status_code, 'role="alert"' in refused.text) == (422, True), broken
    assert list(document()["attributes"]) == ["diagnosis"]


def test_the_address_pages_sorts_and_filters_the_table(web, project, plant):
    plant(pl.DataFrame({"number": list(range(120)), "a&b": [f"w{n % 7}" for n in range(120)]}))
    address = f"/projects/{project.id}/data"
    first = web.get(address).text
    assert "1 to 50 of 120" in first
    after = html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])
    assert "51 to 100 of 120" in web.get(address + after).text
    turned = web.get(address, params={"sort": "number", "down": "yes"}).text
    assert turned.index(">119<") < turned.index(">118<")
    assert 'aria-sort="descending"' in turned
    few = web.get(address, params={"f.a&b": "w3", "f.number": ">=100"}).text
    assert "1 to 3 of 3 that match the filter" in few
    odd = web.get(address, params={"f.number": ">=many"})
    assert odd.status_code == 200
    assert 'role="alert"' in odd.text
    assert web.get(address, params={"offset": "99999999"}).status_code == 200


def test_the_policy_file_is_shown_uploaded_downloaded_and_restored(web, post, project, document):
    address = f"/projects/{project.id}"
    text = "attributes:\n  age:\n    role: key\nlimits:\n  k_anonymity.k: 3\n"
    sent = {"file": ("mine.yaml", text.encode())}
    assert post(f"{address}/policy", {"base": "0", "policy": ""}, files=sent).status_code == 303
    assert document() == {"attributes": {"age": {"role": "key"}}, "limits": {"k_anonymity.k": 3.0}}
    page = web.get(address).text
    assert "from the policy file mine.yaml" in page
    assert "k_anonymity.k: 3.0" in page
    answer = web.get(f"{address}/policy.yaml")
    assert "attachment" in answer.headers["content-disposition"]
    assert "role: key" in answer.text
    for wrong in ("limits: {nothing.k: 1}", "not: [yaml", "attributes: {a: {hierarchy: /etc/passwd}}"):
        refused = post(f"{address}/policy", {"base": "1", "policy": wrong})
        assert (refused.status_code, 'role="alert"' in refused.text) == (422, True), wrong
    clash = post(f"{address}/policy", {"base": "0", "policy": "limits: {k_anonymity.k: 9}"})
    assert clash.status_code == 409
    assert "Your changes are not saved yet" in clash.text
    assert post(f"{address}/restore", {"revision": "0"}).status_code == 303
    assert document() == {}
    assert "restored revision 0" in web.get(address).text


def test_members_are_added_and_removed_and_deleting_a_project_requires_its_name(web, post, project, add_user):
    address = f"/projects/{project.id}"
    add_user("otto")
    assert post(f"{address}/people", {"name": "nobody", "role": "approver"}).status_code == 404
    assert post(f"{address}/people", {"name": "otto", "role": "editor"}).status_code == 303
    assert "Role of otto" in web.get(address).text
    assert post(f"{address}/people", {"name": "otto", "role": "none"}).status_code == 303
    assert "Role of otto" not in web.get(address).text
    assert "only owner" in html.unescape(post(f"{address}/people", {"name": "anna", "role": "none"}).text)
    assert post(f"{address}/delete", {"name": "patient"}).status_code == 422
    assert post(f"{address}/delete", {"name": "Patients"}).status_code == 303
    assert web.get(address).status_code == 404


def test_a_user_changes_the_password_and_creates_tokens_that_are_shown_once(web, post):
    assert (
        "The old password is wrong" in post("/account/password", {"old": "wrong", "password": "x" * 12, "again": "x" * 12}).text
    )
    assert "not the same" in post("/account/password", {"old": PASSWORD, "password": "x" * 12, "again": "y"}).text
    created = post("/account/tokens", {"name": "<i>import</i>", "scopes": ["read", "write"], "days": "30"})
    secret = re.search(r"discreet_[\w-]{20,}", created.text)[0]
    assert "<i>import" not in created.text
    again = web.get("/account").text
    assert secret not in again
    assert "&lt;i&gt;import" in again
    number = re.search(r'name="token" value="(\d+)"', again)[1]
    assert post("/account/tokens/revoke", {"token": number}).status_code == 303
    assert "No tokens" in web.get("/account").text
    assert post("/account/tokens", {"name": "x", "scopes": [], "days": "30"}).status_code == 422
    changed = post("/account/password", {"old": PASSWORD, "password": "another long one", "again": "another long one"})
    assert changed.status_code == 303
    assert web.get("/account").status_code == 200


def test_an_administrator_manages_users_and_sees_a_tampered_audit_log(web, post, store):
    created = post("/admin/users", {"name": "otto", "admin": "yes"})
    link = re.search(r"http://\S+/welcome/[\w-]+", created.text)[0]
    assert web.get(link.removeprefix("http://testserver")).status_code == 200
    assert link not in web.get("/admin/users").text
    assert post("/admin/users", {"name": "OTTO"}).status_code == 409
    assert post("/admin/users/disable", {"name": "otto", "disabled": "yes"}).status_code == 303
    assert "disabled" in web.get("/admin/users").text
    assert "only administrator" in post("/admin/users/disable", {"name": "anna", "disabled": "yes"}).text
    assert "/welcome/" in post("/admin/users/reset", {"name": "otto"}).text
    assert "The hash chain is intact" in web.get("/admin/audit").text
    with store.write() as connection:
        connection.execute(update(tables.audit).where(tables.audit.c.id == 2).values(who="nobody"))
    assert "entry 2 of the audit log was changed" in web.get("/admin/audit").text


def test_a_form_without_scripts_uploads_a_file_and_rejects_invalid_ones(web, post, project):
    address = f"/projects/{project.id}/data"
    assert "Choose a file first" in post(address, {}).text
    wrong = post(address, {}, files={"file": ("../../etc/<b>.exe", b"MZ")})
    assert wrong.status_code == 422
    assert "&lt;b&gt;.exe" in wrong.text
    assert post(address, {}, files={"file": ("patients.csv", b"")}).status_code == 422
    assert post(address, {"source": "nothing", "table": "t"}).status_code == 403, "not connected and not granted look alike"
    assert post(address, {"upload": "../../passwd", "name": "x"}).status_code == 422
    assert post(address, {}, files={"file": ("patients.csv", b"age,state\n44,MI\n")}).status_code == 303
    shown = web.get(address).text
    assert "Import" in shown or "records of" in shown


def test_ticked_values_become_a_group_with_its_effect_on_the_risk_and_nothing_is_saved(web, post, project, plant, document):
    plant(PATIENTS)
    address = f"/projects/{project.id}/attribute"
    leaves = {"leaf.0": "AIDS", "leaf.1": "Asthma", "leaf.2": "Flu", "depth": "1"}
    row = {"base": "0", "name": "diagnosis", "role": "key", "known": "0", "sensitivity": "0", **leaves}
    shown = post(address, {**row, "action": "group", "tick": ["1", "2"], "group": "lung", "group-level": "1"})
    assert shown.status_code == 200
    assert shown.text.count('value="lung"') == 2
    assert "Effect on the risk" in shown.text
    assert "Preview: nothing is saved yet" in shown.text
    assert document().get("attributes") is None
    for wrong in ({"tick": ["1"]}, {"group": "lung"}, {"tick": ["1"], "group": "lung", "group-level": "11"}):
        refused = post(address, {**row, "action": "group", **wrong})
        assert refused.status_code == 422
        assert "Nothing was saved" in refused.text


def test_a_hierarchy_file_is_shown_before_it_is_saved_and_names_what_it_misses(web, post, project, plant, document):
    plant(PATIENTS)
    address = f"/projects/{project.id}/hierarchy.csv"
    file = {"file": ("h.csv", b"AIDS;immune;*\nAsthma;lung;*\nCold;lung;*\n", "text/csv")}
    shown = post(address, {"base": "0", "name": "diagnosis"}, files=file)
    assert shown.status_code == 200
    assert "misses 1 value of the data: <strong>Flu</strong>" in shown.text
    assert "1 value of the file does not occur in the data" in shown.text
    assert 'value="immune"' in shown.text
    assert document().get("attributes") is None
    assert post(address, {"base": "0", "name": "diagnosis"}).status_code == 422
    written = web.get(f"{address}?name=diagnosis")
    assert written.headers["content-type"].startswith("text/csv")
    assert written.text == "AIDS;*\nAsthma;*\nFlu;*\n"
