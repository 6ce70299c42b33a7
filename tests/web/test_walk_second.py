"""The workflow from the upload to a published release, by two people in real browsers, on SQLite and on PostgreSQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg
import pytest
from page_steps import import_file, wait_for_image
from patience import browser_wait

LONG = browser_wait(120)
pytestmark = pytest.mark.parametrize("server", ["sqlite", "postgresql"], indirect=True)


def read_released_table(server: Any, table: str) -> list[tuple[Any, ...]]:
    """Read a published table as another program would."""
    query = f'SELECT * FROM {"discreet_releases." if server.database else ""}"{table}"'
    if not server.database:
        with closing(sqlite3.connect(server.home / "releases.db")) as connection:
            return connection.execute(query).fetchall()
    with psycopg.connect(server.database) as connection:
        return connection.execute(query).fetchall()


def test_table_a1_from_upload_to_a_published_release_that_other_programs_read(
    server, visit, watched, check_page, settled, table_a1, tmp_path
):
    seen = visit()
    page = seen.page
    home = server.url
    page.goto(f"{home}/projects/new")
    page.get_by_label("Name", exact=True).fill("Patient")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/data")
    project = page.url.removesuffix("/data")

    import_file(page, table_a1.file)
    page.get_by_text("10 records of 7 attributes").wait_for(timeout=LONG)

    page.goto(f"{project}/attributes")
    settled(page)
    for name, role in table_a1.roles.items():
        page.get_by_label(f"Role of {name}", exact=True).select_option(role)
    page.get_by_role("button", name="Accept all proposals").click()
    page.wait_for_url("**/attributes?done=saved")

    page.goto(f"{project}/methods")
    assert page.get_by_text("No steps yet").is_visible()
    open_new_step(page, "microaggregation")
    page.get_by_label("Age (key)").check()
    page.get_by_label("size").fill("2")
    check_page(seen, "methods-step")
    page.get_by_role("button", name="Add the step").click()
    page.wait_for_url("**/methods#step-1")
    open_new_step(page, "sampling")
    page.get_by_label("fraction").fill("0.9")
    page.get_by_role("button", name="Add the step").click()
    page.wait_for_url("**/methods#step-2")
    page.get_by_text("Choose a measure by its name").click()
    page.get_by_label("Set a limit").select_option("k_anonymity.k")
    page.get_by_label("Value", exact=True).fill("2")
    page.get_by_role("button", name="Set limit").click()
    page.get_by_role("cell", name="at least 2").wait_for()
    page.get_by_label("Add a measure").select_option("loss.changed_values")
    page.get_by_role("button", name="Add measure").click()
    page.get_by_role("row", name="changed values").wait_for()
    assert page.get_by_text("removes or adds records").is_visible(), "the warning of Appendix A, before anything is masked"
    check_page(seen, "methods")

    page.get_by_role("link", name="Next: generate").click()
    check_page(seen, "generate-before")
    page.get_by_role("button", name="Generate the masked microdata").click()
    page.get_by_role("heading", name="Release 1").wait_for(timeout=LONG)
    check_page(seen, "generate")
    page.get_by_role("link", name="Masked table compared with the original").click()
    changed = page.locator("td.changed").count()
    assert changed in (1, 2), "25 and 35 become 30, and at most one of them was not drawn"
    assert page.locator(".beside tbody tr").count() == changed
    assert page.locator(".summary tbody tr").count() == 1, "age alone was changed"
    check_page(seen, "table")
    page.get_by_label("Rows").select_option("all")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**show=all**")
    assert page.locator(".beside tbody tr").count() == 9
    assert page.locator("td.changed").count() == changed

    page.goto(f"{project}/assess")
    wait_for_image(page, "img.map", 0)
    check_page(seen, "assess")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Public report").click()
    opened.value.wait_for_load_state()
    assert "discreet" in opened.value.content()
    opened.value.close()

    page.get_by_role("link", name="Next: release").click()
    check_page(seen, "release-draft")
    page.get_by_label("Note for the approver (optional)").fill("For the teaching course; the agreement forbids linking.")
    page.get_by_role("button", name="Submit release 1 for approval").click()
    page.get_by_text("You made or submitted it, so somebody else has to approve it").wait_for()
    page.get_by_text("an owner has to add an approver").wait_for()
    check_page(seen, "release-submitted")

    for name, role in (("Carla", "approver"), ("Rita", "release_reader")):
        add_member(server, page, project, name, role, watched)
    check_page(seen, "project-rules")
    carla = visit("Carla")
    carla.page.goto(f"{project}/release")
    check_page(carla, "release-approver")
    carla.page.get_by_label("Reason", exact=False).first.fill("The towns are larger than 100,000 people.")
    carla.page.get_by_role("button", name="Approve release 1").click()
    carla.page.get_by_text("Approved by Carla").first.wait_for()

    rita = visit("Rita")
    rita.page.goto(f"{project}/release")
    rita.page.get_by_text("Approved by Carla").first.wait_for()
    assert rita.page.get_by_role("link", name="Data").count() == 0
    assert rita.page.get_by_text("compared with the original").count() == 0
    check_page(rita, "release-reader")

    page.goto(f"{project}/release")
    page.get_by_role("button", name="Publish release 1").click()
    page.get_by_role("heading", name="Release 1 published").wait_for(timeout=LONG)
    check_page(seen, "release-published")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "downloaded.csv")
    assert len((tmp_path / "downloaded.csv").read_text().splitlines()) == 10
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Public report").click()
    opened.value.get_by_text("was approved by Carla").wait_for()
    opened.value.close()

    table = page.request.get(project.replace("/projects/", "/api/v1/projects/")).json()["table_name"]
    assert table.startswith("patient_masked")
    rows = read_released_table(server, table)
    assert len(rows) == 9
    assert all(len(row) == 5 for row in rows), "without Name and SSN"
    assert seen.complaints == []
    assert seen.outside(server.url) == []
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("Reason").fill("A town was named.")
    page.get_by_role("button", name="Withdraw release 1").click()
    page.get_by_role("heading", name="Release 1 withdrawn").wait_for()
    with pytest.raises((sqlite3.OperationalError, psycopg.errors.UndefinedTable)):
        read_released_table(server, table)


def add_member(server: Any, page: Any, project: str, name: str, role: str, watched: Any) -> None:
    """Add an account that has set its password, and give it a role in the project."""
    page.goto(f"{server.url}/admin/users")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add").first.click()
    link = page.get_by_text(f"{server.url}/welcome/").first.inner_text().strip()
    newcomer = watched().page
    newcomer.goto(link)
    for label in ("New password", "Repeat password"):
        newcomer.get_by_label(label).fill(server.password)
    newcomer.get_by_role("button", name="Set password and log in").click()
    newcomer.wait_for_url(f"{server.url}/")
    page.goto(project)
    page.get_by_label("Share with (user name)").fill(name)
    page.locator("#people form select[name=role]").last.select_option(role)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("rowheader", name=name).wait_for()


def open_new_step(page: Any, method: str) -> None:
    """Open the form of a new step."""
    page.get_by_label("Add a method").select_option(method)
    page.get_by_role("button", name="Set parameters").click()
    page.wait_for_url(f"**/steps/new?method={method}")
