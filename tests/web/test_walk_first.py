"""The first half of the workflow in a real browser: project, data, attributes, risk, users.

On SQLite; the second half also runs on PostgreSQL, and the pages' own tests run on both. Here pages are checked in states that
test_every_page.py, which checks each page once, does not see.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from page_steps import import_file, make_project, wait_for_image
from patience import browser_wait, patient
from playwright.sync_api import Page, expect

LONG = browser_wait(120)


def upload(page: Page, file: Path) -> None:
    """Send a file and wait until it is imported and analyzed."""
    import_file(page, file)
    page.get_by_role("heading", name="Records").wait_for(timeout=LONG)


def accept_proposals(page: Page, project: str) -> None:
    """Accept the proposals of the Analyzer."""
    page.goto(f"{project}/attributes")
    page.get_by_role("button", name="Accept all proposals").click(timeout=LONG)
    page.wait_for_url("**/attributes?done=saved")


def test_table_a1_is_uploaded_classified_and_measured(
    server: Any, visit: Any, check_page: Any, settled: Any, table_a1: Any
) -> None:
    seen = visit()
    page = seen.page
    check_page(seen, "01-projects-empty")
    project = make_project(page, server.url, "Patient, first half")
    upload(page, table_a1.file)
    page.goto(f"{project}/data")
    settled(page)
    expect(page.get_by_text("10 records of 7 attributes")).to_be_visible()

    page.get_by_role("link", name="Income").last.click()
    page.get_by_role("textbox", name="Filter of State").fill("mi")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("1 to 9 of 9 that match the filter")).to_be_visible()
    expect(page.locator("table.data tbody tr").first).to_contain_text("Jesse Casey")
    check_page(seen, "04-data")

    page.goto(f"{project}/attributes")
    settled(page)
    check_page(seen, "05-attributes-proposed")
    for name, role in table_a1.roles.items():
        page.get_by_label(f"Role of {name}", exact=True).select_option(role)
    page.get_by_label("Known probability of Age").fill("0.4")
    page.get_by_role("button", name="Accept all proposals").click()
    page.wait_for_url("**/attributes?done=saved")
    for name, role in table_a1.roles.items():
        expect(page.get_by_label(f"Role of {name}", exact=True)).to_have_value(role)
    check_page(seen, "06-attributes")

    page.get_by_role("link", name="Diagnosis", exact=True).click()
    page.get_by_label("Weight of AIDS").fill("1")
    page.get_by_label("Weight of Asthma").fill("0.3")
    page.get_by_text("Own groups", exact=True).click()
    page.get_by_label("own groups, as in the table below").check()
    for value, label in (("AIDS", "infection"), ("Tuberculosis", "infection"), ("Asthma", "other"), ("Diabetes", "other")):
        page.get_by_label(f"Level 1 of {value}").fill(label)
    page.get_by_role("button", name="Preview levels").click()
    expect(page.get_by_text("Preview: nothing is saved yet")).to_be_visible()
    expect(page.get_by_role("group", name="Levels with counts")).to_contain_text("infection 5")
    check_page(seen, "07-attribute")
    page.get_by_role("button", name="Save Diagnosis").click()
    expect(page.get_by_text("Saved as revision 2")).to_be_visible()

    page.goto(f"{project}/risk")
    check_page(seen, "08-risk-before")
    page.get_by_role("button", name="Measure the risk").click()
    page.get_by_role("heading", name="Comparison of the adversaries").wait_for(timeout=LONG)
    wait_for_image(page, "figure img", 100)
    expect(page.locator("#measure-k_anonymity")).to_contain_text(
        "It is a sample unique: no other record has its values of Age and State."
    )
    check_page(seen, "09-risk")


def test_two_users_see_each_others_changes_and_resolve_a_conflict(
    server: Any, visit: Any, check_page: Any, import_table: Any, table_a1: Any
) -> None:
    anna = visit()
    page = anna.page
    page.goto(f"{server.url}/admin/users")
    page.get_by_label("Name", exact=True).fill("Otto")
    page.get_by_role("button", name="Add", exact=True).click()
    link = page.locator("pre.secret").inner_text()
    check_page(anna, "12-users")
    other = visit()
    other.page.goto(link)
    for label in ("New password", "Repeat password"):
        other.page.get_by_label(label).fill(server.password)
    other.page.get_by_role("button", name="Set password and log in").click()
    other.page.wait_for_url(f"{server.url}/")

    project = import_table("Patient, two people", table_a1.file)
    accept_proposals(page, project)
    page.goto(project)
    page.get_by_label("Share with (user name)").fill("Otto")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_label("Role of Otto", exact=True)).to_be_visible()

    page.goto(f"{project}/attributes")
    other.page.goto(f"{project}/attributes")
    other.page.get_by_label("Known probability of Age").fill("0.9")
    page.get_by_label("Known probability of Age").fill("0.8")
    other.page.get_by_role("button", name="Save changed rows").click()
    other.page.wait_for_url("**/attributes?done=saved")
    live = page.locator("[data-events]")
    expect(live).to_contain_text("Otto changed this project just now: Age edited. Reload", timeout=1_000 * patient(15))
    check_page(anna, "13-changed-by-another")
    page.get_by_role("button", name="Save changed rows").click()
    page.get_by_role("heading", name="Otto changed the attribute Age while you edited it").wait_for()
    # the browser reports a response of 409 in its console
    anna.complaints[:] = [line for line in anna.complaints if "409" not in line]
    check_page(anna, "14-conflict")
    page.get_by_role("button", name="Save this version").click()
    page.wait_for_url("**/attributes?done=saved")
    expect(page.get_by_label("Known probability of Age")).to_have_value("0.8")
    assert other.complaints == []


def test_a_token_is_created_and_the_audit_log_is_intact(server: Any, visit: Any, check_page: Any) -> None:
    seen = visit()
    page = seen.page
    page.goto(f"{server.url}/account")
    page.get_by_label("Name", exact=True).fill("nightly import")
    page.get_by_label("write").check()
    page.get_by_role("button", name="Create token").click()
    assert page.locator("pre.secret").inner_text().startswith("discreet_")
    check_page(seen, "15-account")
    page.goto(f"{server.url}/admin/audit")
    expect(page.get_by_text("The hash chain is intact")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    assert seen.complaints == []


def test_names_from_data_are_escaped_and_pages_work_without_scripts(server: Any, visit: Any, tmp_path: Path) -> None:
    hostile = ["<script>alert(1)</script>", "a/b?c#d%2e", "..", '"q"', "State"]
    file = tmp_path / "odd.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in hostile)
    file.write_text(f"{header}\n<b>x</b>,1,2,3,MI\ny,4,5,6,IN\n", encoding="utf-8")
    plain = visit(java_script_enabled=False)
    page = plain.page
    project = make_project(page, server.url, "Odd names")
    import_file(page, file)
    page.get_by_role("heading", name="Records").wait_for(timeout=LONG)  # the page reloads itself
    expect(page.get_by_role("cell", name="<b>x</b>")).to_be_visible()
    page.goto(f"{project}/attributes")
    page.get_by_role("button", name="Accept all proposals").wait_for(timeout=LONG)
    seen = visit()
    for name in hostile:
        seen.page.goto(f"{project}/attributes")
        seen.page.get_by_role("link", name=name, exact=True).click()
        seen.page.get_by_label("Known probability").fill("0.5")
        seen.page.get_by_role("button", name=f"Save {name}", exact=True).click()
        expect(seen.page.get_by_text("Saved as revision")).to_be_visible()
        expect(seen.page.get_by_role("heading", level=1)).to_have_text(name)
    assert seen.complaints == []
    assert seen.outside(server.url) == []
