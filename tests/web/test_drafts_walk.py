"""Named drafts and comparisons in a real browser: saved, compared, renamed, opened and undone; two releases side by side."""

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
SIZE = 800
KEYS = {f"attributes.{name}": {"role": "key"} for name in ("sex", "age", "town")}
OTHERS = {"attributes.illness": {"role": "confidential"}, "attributes.income": {"role": "other"}}


def make_table(file: Path) -> None:
    rng = np.random.default_rng(6)
    pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], SIZE), "age": rng.integers(18, 90, SIZE), "town": rng.choice(["Bern", "Thun"], SIZE),
            "illness": rng.choice(["Flu", "Cancer"], SIZE), "income": rng.integers(1, 99, SIZE) * 100,
        }
    ).write_parquet(file)  # fmt: skip


def plan(base: int) -> dict[str, Any]:
    return {"plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": base}]}}


def test_drafts_are_saved_compared_renamed_opened_and_undone(
    import_table: Any, server: Any, visit: Any, check_page: Any, tmp_path: Path
) -> None:  # fmt: skip
    make_table(file := tmp_path / "people.parquet")
    place = import_table("Drafts", file)
    number = int(place.rpartition("/")[2])
    seen = visit()
    page = seen.page
    page.set_default_timeout(LONG)
    csrf = page.locator('meta[name="csrf"]').get_attribute("content")
    made = page.request.post(
        f"{server.url}/api/v1/tokens", data={"name": "drafts", "scopes": ["read", "write"]}, headers={"x-csrf-token": csrf}
    )
    with Client(server.url, made.json()["secret"]) as client:
        client.edit(number, {**KEYS, **OTHERS, "limits": {"k_anonymity.k": 3}, "risk": {"k_anonymity": {}}, **plan(30)})
        page.goto(f"{place}/workspace")
        expect(page.locator("#verdict")).to_be_visible(timeout=LONG)
        page.get_by_label("Save the present plan, limits and guesses as").focus()
        page.keyboard.type("Coarse ages")
        page.keyboard.press("Enter")
        expect(page.locator("#drafts-panel")).to_contain_text("Coarse ages")
        client.run(number, "generate")

        # another plan beside the draft, each on the preview
        client.edit(number, plan(10))
        page.goto(f"{place}/workspace")
        page.get_by_role("link", name="Compare the draft Coarse ages").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Two drafts side by side")).to_be_visible()
        expect(page.locator("main")).to_contain_text("base: 10 in A, 30 in B")
        expect(page.locator("main")).to_contain_text(f"preview of all {SIZE} records")
        check_page(seen, "drafts-compared")

        # both as whole runs
        client.run(number, "generate")
        page.reload()
        expect(page.locator("main")).to_contain_text("Both drafts were run on the whole table: release 2 and release 1.")

        # renamed by keyboard, opened, and undone
        page.goto(f"{place}/workspace/drafts")
        page.get_by_text("Rename, replace or delete").focus()
        page.keyboard.press("Enter")
        page.get_by_label("New name").fill("Wide ages")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Wide ages")).to_be_visible()
        check_page(seen, "drafts")
        page.get_by_role("button", name="Open the draft Wide ages").click()
        expect(page.locator(".steps")).to_contain_text("base 30")
        page.get_by_role("button", name=re.compile("Undo")).click()
        expect(page.locator(".steps")).to_contain_text("base 10")

        # the two releases cell by cell
        page.goto(f"{place}/releases/2/table")
        page.get_by_role("button", name="Compare the releases").click()
        expect(page.locator("main")).to_contain_text(f"{SIZE} records are in both releases")
        expect(page.locator("td.changed").first).to_contain_text("A")
        check_page(seen, "releases-compared")
