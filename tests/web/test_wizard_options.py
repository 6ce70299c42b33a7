"""The wizard's form and page in a real browser: what a plan may do reaches the search, and three plans stand side by side."""

from __future__ import annotations

import re

import httpx2 as httpx
import pytest
from page_steps import make_project
from patience import browser_wait

from discreet.testing import employees

TIMEOUT = browser_wait(120)
"""Timeout for a busy machine, in milliseconds."""
COLUMNS = ["Employee_Name", "Sex", "MaritalDesc", "RaceDesc", "Department", "Age", "Salary"]


@pytest.mark.slow
def test_options_reach_the_search_and_three_plans_are_shown_side_by_side(visit, check_page, import_table, tmp_path):
    seen = visit()
    page = seen.page
    file = tmp_path / "employees.csv"
    employees(400).frame.select(COLUMNS).write_csv(file)
    project = import_table("Employees", file)
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    csrf = page.locator('meta[name="csrf"]').get_attribute("content")
    api = project.replace("/projects/", "/api/v1/projects/")
    roles = {name: {"role": "key"} for name in ("Sex", "MaritalDesc", "RaceDesc", "Department", "Age")}
    policy = {
        "attributes": {"Employee_Name": {"role": "identifier"}, "Salary": {"role": "confidential"}, **roles},
        "limits": {"k_anonymity.k": 3},
    }
    base = httpx.get(f"{api}/policy", cookies=cookies).json()["revision"]
    answer = httpx.put(f"{api}/policy", json={"policy": policy, "base": base}, cookies=cookies, headers={"x-csrf-token": csrf})
    assert answer.status_code == 200, answer.text

    page.goto(f"{project}/methods/wizard")
    page.get_by_role("spinbutton", name="Budget").fill("10")
    page.get_by_label("Unit", exact=True).select_option("trials")
    page.get_by_text("What a plan may do").click()
    page.get_by_label("regressions whose effects should survive").fill("Salary ~ Sex + Department")
    page.get_by_label("take the plan with").select_option("most truthful")
    page.get_by_text("Columns to protect or to keep usable").click()
    page.get_by_label("Never change Salary").check()
    page.get_by_label("Least share of Department not suppressed, in percent").fill("50")
    check_page(seen, "wizard-options")
    page.get_by_role("button", name="Start the search").click()
    page.wait_for_url("**/methods/wizard/*")
    page.locator('#search[data-state="done"]').wait_for(timeout=TIMEOUT)
    page.get_by_role("heading", name="Three plans to choose from").wait_for(timeout=TIMEOUT)
    check_page(seen, "wizard-three-plans")

    job = httpx.get(f"{api}/jobs/{page.url.rpartition('/')[2]}", cookies=cookies).json()
    sent = job["parameters"]
    assert (sent["truthful"], sent["allow"], sent["protect"], sent["keep"]) == (True, [], ["Salary"], {"Department": 0.5})
    assert (sent["analyses"], sent["prefer"]) == (["Salary ~ Sex + Department"], "most truthful")
    choices = {choice["title"]: choice for choice in job["result"]["choices"]}
    assert list(choices) == ["least loss", "most truthful", "safest"]
    assert all(choice["measured"]["k_anonymity.k"] >= 3 and "Salary" not in choice["changes"] for choice in choices.values())
    heading = page.locator("table.choices thead th")
    assert heading.count() == 3
    for index, (title, choice) in enumerate(choices.items()):
        assert heading.nth(index).inner_text().lower().split("\n") == [title, choice["name"]]
    number = choices["most truthful"]["name"].removeprefix("plan ")
    page.get_by_role("heading", name=re.compile(rf"^Plan {number}\b")).wait_for()
    assert page.get_by_text("chosen by the search").is_visible()
    assert seen.complaints == []


@pytest.mark.slow
def test_a_refused_form_keeps_what_was_entered(server, visit, tmp_path):
    page = visit().page
    project = make_project(page, server.url, "Refused")
    page.goto(f"{project}/methods/wizard")
    page.locator("#analyses").evaluate("element => { element.value = 'no formula' }")
    page.locator("form.stack").evaluate("form => form.submit()")
    page.get_by_role("alert").wait_for()
    assert page.locator("#analyses").input_value() == "no formula"
