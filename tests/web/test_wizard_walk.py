"""The wizard on a table of 100,000 records, in a real browser on a real server, on SQLite and on PostgreSQL."""

from __future__ import annotations

import re

import httpx2 as httpx
import pytest
from patience import browser_wait, patient

from discreet.testing import hospital

RECORDS = 5_000
TIMEOUT = browser_wait(120)
"""Timeout for a busy machine, in milliseconds."""


@pytest.mark.slow
def test_the_chart_grows_during_the_search_and_a_point_can_be_adopted_as_the_plan(
    server, visit, check_page, import_table, tmp_path
):
    seen = visit()
    page = seen.page
    data = hospital(RECORDS)
    file = tmp_path / "hospital.parquet"
    data.frame.write_parquet(file)
    project = import_table("Hospital", file)
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    csrf = page.locator('meta[name="csrf"]').get_attribute("content")
    policy = data.policy.model_dump(mode="json", exclude_defaults=True)
    api = project.replace("/projects/", "/api/v1/projects/")
    base = httpx.get(f"{api}/policy", cookies=cookies).json()["revision"]
    answer = httpx.put(
        f"{api}/policy",
        json={"policy": policy, "base": base},
        cookies=cookies,
        headers={"x-csrf-token": csrf},
        timeout=patient(60),
    )
    assert answer.status_code == 200, answer.text

    page.goto(f"{project}/methods/wizard")
    page.get_by_text("Choose a measure by its name").click()
    page.get_by_label("Set a limit").select_option("k_anonymity.k")
    page.get_by_label("Value", exact=True).fill("3")
    page.get_by_role("button", name="Set limit").click()
    page.wait_for_url("**/methods/wizard#limits")
    page.get_by_role("spinbutton", name="Budget").fill("12")
    page.get_by_label("Unit", exact=True).select_option("trials")
    check_page(seen, "wizard")
    page.get_by_role("button", name="Start the search").click()
    page.wait_for_url("**/methods/wizard/*")
    page.locator("#chart svg a").first.wait_for(timeout=TIMEOUT)
    early = page.locator("#chart svg a").count()
    assert page.locator("#search").get_attribute("data-state") in ("running", "done")
    check_page(seen, "wizard-running")
    page.locator('#search[data-state="done"]').wait_for(timeout=TIMEOUT)
    page.get_by_role("heading", name="Why this plan").wait_for(timeout=TIMEOUT)
    assert page.locator("#chart svg a").count() >= early
    assert page.locator("#chart svg polyline").count() <= 1
    check_page(seen, "wizard-search")
    job = page.url.rpartition("/")[2]
    drawn = httpx.get(f"{project}/charts/searches/{job}.svg", cookies=cookies, timeout=patient(60))
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml"), "the chart without scripts"

    # the frontier also has the table without its identifiers, whose plan has one step and misses the limit
    point = page.locator("#chart svg a[tabindex='0'][aria-label*='meets every limit']").first
    number = (point.get_attribute("href") or "").partition("point=")[2].partition("#")[0]
    point.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=re.compile(rf"^Plan {number}\b")).wait_for()
    page.get_by_role("button", name="Use this plan", exact=True).click()
    page.wait_for_url("**/methods#plan")
    steps = page.locator("#steps > li")
    assert steps.count() >= 2
    second = steps.nth(1).get_by_role("heading").inner_text().partition(". ")[2]
    steps.nth(1).drag_to(steps.nth(0))
    page.wait_for_url("**/methods#step-1")
    assert steps.nth(0).get_by_role("heading").inner_text().endswith(f"1. {second}"), "dragged to the first place"
    assert seen.complaints == []
