"""A newcomer takes Table A.1 from the login to an approved, downloaded release; every click is counted.

Typing is not a click, opening a file dialogue is. The approver follows the address of the release page that the maker sends.
"""

from __future__ import annotations

import re
from typing import Any

import httpx2 as httpx
from page_steps import add_person
from patience import browser_wait, patient
from playwright.sync_api import Page, expect

LONG = browser_wait(240)
MOST_CLICKS = 14


class Clicks:
    """Clicks on what people see, counted over all pages."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def press(self, page: Page, name: str | re.Pattern[str], role: Any = "button") -> None:
        page.get_by_role(role, name=name).first.click(timeout=LONG)
        self.names.append(f"{role} {name}")


def test_table_a1_is_released_in_at_most_14_clicks(server: Any, watched: Any, check_page: Any, table_a1: Any) -> None:
    maker, approver = (add_person(server, name) for name in ("Newcomer", "Overseer"))
    clicks = Clicks()
    seen = watched()
    page = seen.page
    page.goto(f"{server.url}/login")
    log_in(clicks, page, maker, server.password)
    page.get_by_label("Name of the project").fill("Patient in few clicks")
    check_page(seen, "few-clicks-empty")
    clicks.press(page, "Create the first project")
    page.wait_for_url(re.compile(r"/projects/\d+/data$"))
    project = page.url.removesuffix("/data")
    share(server, project, maker, approver)

    page.get_by_label("File", exact=True).set_input_files(table_a1.file)
    clicks.names.append("file dialogue")
    clicks.press(page, re.compile("^Upload$"))
    clicks.press(page, "Import, then classify the attributes")
    clicks.press(page, "Accept all, then choose limits")
    page.wait_for_url("**/methods/wizard")
    clicks.press(page, "Use the limits for the audience Internal")
    page.wait_for_url("**/methods/wizard#limits")
    # a smaller budget than the default of a minute, and one that is enough on a busy machine, too
    page.get_by_role("spinbutton", name="Budget").fill("12")
    page.get_by_label("Unit", exact=True).select_option("trials")
    clicks.press(page, "Start the search")
    page.locator('#search[data-state="done"]').wait_for(timeout=LONG)
    clicks.press(page, "Use this plan and generate the release")
    clicks.press(page, "Submit release 1 for approval")
    expect(page.get_by_text("It can be approved by Overseer")).to_be_visible(timeout=LONG)

    phone = watched(viewport={"width": 390, "height": 844})
    phone.page.goto(f"{project}/release")
    log_in(clicks, phone.page, approver, server.password)
    phone.page.wait_for_url("**/release")
    reason = phone.page.get_by_label(re.compile("^Reason"))
    reason.fill("Ten fictitious people, for a course.")
    check_page(phone, "few-clicks-approve")
    clicks.press(phone.page, "Approve release 1")
    phone.page.get_by_text("Approved by Overseer").first.wait_for()
    with phone.page.expect_download(timeout=LONG) as download:
        clicks.press(phone.page, re.compile("^Download"))
    assert download.value.suggested_filename.endswith(".csv")
    assert len(clicks.names) <= MOST_CLICKS, clicks.names
    assert seen.complaints == []
    assert phone.complaints == []


def share(server: Any, project: str, owner: str, approver: str) -> None:
    """Give the approver a role in the project, which institutions do once, by groups."""
    with httpx.Client(base_url=server.url, timeout=patient(60)) as person:
        assert person.post("/login", data={"name": owner, "password": server.password}).status_code == 303
        person.headers["x-csrf-token"] = person.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        number = project.rsplit("/", 1)[1]
        answer = person.put(f"/api/v1/projects/{number}/people/{approver}", json={"role": "approver"})
        assert answer.status_code == 200, answer.text


def log_in(clicks: Clicks, page: Page, name: str, password: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    clicks.press(page, "Log in")
