"""An analyst in the workspace, in a real browser and by keyboard: threshold, bar, record, another step, the whole table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from patience import browser_wait
from playwright.sync_api import expect

from discreet import Client

LONG = browser_wait(300)
SIZE = 100_000


def make_table(file: Path) -> None:
    rng = np.random.default_rng(4)
    pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], SIZE), "age": rng.integers(18, 90, SIZE), "zip": rng.integers(8000, 8060, SIZE),
            "job": rng.choice(["nurse", "clerk", "farmer", "teacher"], SIZE), "children": rng.poisson(1.4, SIZE),
            "rooms": rng.integers(1, 8, SIZE), "income": rng.lognormal(10, 0.6, SIZE).round(),
            "rent": rng.integers(300, 3000, SIZE), "visits": rng.poisson(2, SIZE),
            "illness": rng.choice(["Flu", "Cancer", "Asthma"], SIZE),
        }
    ).write_parquet(file)  # fmt: skip


def set_policy(server: Any, page: Any, number: int) -> None:
    """Keys, a limit and a plan, by the interface for programs with the browser's own session."""
    keys = {f"attributes.{name}": {"role": "key"} for name in ("sex", "age", "zip", "job")}
    confidential = {"attributes.illness": {"role": "confidential"}, "attributes.income": {"role": "confidential"}}
    plain = {f"attributes.{name}": {"role": "other"} for name in ("children", "rooms", "rent", "visits")}
    csrf = page.locator('meta[name="csrf"]').get_attribute("content")
    made = page.request.post(
        f"{server.url}/api/v1/tokens", data={"name": "walk", "scopes": ["read", "write"]}, headers={"x-csrf-token": csrf}
    )
    with Client(server.url, made.json()["secret"]) as client:
        steps = [{"method": "rounding", "columns": ["age"], "base": 5}]
        client.edit(
            number,
            {**keys, **confidential, **plain, "limits": {"k_anonymity.k": 3}, "plan": {"steps": steps}, "risk": None},
        )


def test_an_analyst_decides_in_the_workspace(
    import_table: Any, server: Any, visit: Any, check_page: Any, tmp_path: Path
) -> None:  # fmt: skip
    make_table(file := tmp_path / "people.parquet")
    place = import_table("Workspace", file)
    seen = visit()
    page = seen.page
    page.set_default_timeout(LONG)
    set_policy(server, page, int(place.rpartition("/")[2]))
    page.goto(place)
    page.get_by_role("link", name="Open the workspace").click()
    expect(page.locator("#verdict")).to_contain_text("sample of 20,000", timeout=LONG)
    expect(page.locator("#counts")).to_contain_text("whole table:")

    # the threshold by keyboard: the counts follow at once, the list after it
    slider = page.get_by_role("slider", name="Threshold")
    slider.focus()
    before = page.locator('[data-side="after"] [data-part="count"]').inner_text()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-side="after"] [data-part="count"]')).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"at=\d+"))
    expect(page.locator("#views")).not_to_have_attribute("aria-busy", "true", timeout=LONG)
    assert page.evaluate("document.activeElement.id") == "at", "the focus stays on the slider"

    # a bar by keyboard
    page.locator("#bar-sex-0").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#records-panel")).to_contain_text("sex: ")
    assert page.evaluate("document.activeElement.id") == "bar-sex-1"
    chosen = page.locator("#bar-sex-1").get_attribute("aria-label").split()[1].rstrip(":")
    assert set(page.locator("#records-panel tbody tr td:nth-child(4)").all_inner_texts()) == {chosen}

    # a record by keyboard
    page.locator("#records-panel tbody a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#card-panel")).to_contain_text("Whom it hides among")
    assert page.evaluate("document.activeElement.id") == "card"
    check_page(seen, "workspace-record")

    # a step that would help, and the preview of the changed draft
    page.get_by_role("link", name=re.compile("^Add local suppression")).click()
    page.get_by_label("k", exact=True).fill("3")
    page.get_by_role("button", name="Add the step").click()
    expect(page.locator(".steps")).to_contain_text("local suppression")
    expect(page.locator("#verdict")).to_contain_text("sample of 20,000", timeout=LONG)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".steps")).not_to_contain_text("local suppression")
    page.get_by_role("button", name="Redo").click()
    expect(page.locator(".steps")).to_contain_text("local suppression")

    # the whole table takes the place of the preview
    expect(page.locator("#verdict")).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Run on the whole table").click()
    expect(page.locator("#verdict")).to_contain_text("release 1", timeout=LONG)
    expect(page.locator("#risk-panel")).to_contain_text("all 100,000 records")
    expect(page.locator("#map-panel")).to_contain_text("release 1")
    check_page(seen, "workspace-whole")
    size = sum(
        len(page.request.get(f"{server.url}/static/{name}").body()) for name in ("workspace.js", "workspace.css", "style.css")
    )
    assert size + len(page.content()) < 300_000
