"""The hierarchy editor in a real browser: values dragged into a group, the live effect on the risk, and files in ARX's form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from patience import browser_wait
from playwright.sync_api import Page, expect

from discreet import Client

LONG = browser_wait(120)
STATES = ["MI"] * 6 + ["IN"] * 5 + ["CA"] * 4 + ["OH"]
SEXES = ["f", "m"] * 8
ARX_FILE = "MI;Midwest;*\nIN;Midwest;*\nOH;Midwest;*\nCA;West;*\nNY;East;*\n"
"""As ARX writes it: semicolons, the value first, the coarser labels after it, and one value that the data do not have."""


def smallest_classes(groups: dict[str, str]) -> tuple[int, int]:
    """The smallest class of (state, sex) and the records alone in theirs, counted plainly."""
    classes = Counter((groups.get(state, state), sex) for state, sex in zip(STATES, SEXES, strict=True))
    return min(classes.values()), sum(size == 1 for size in classes.values())


def shown_effect(page: Page, level: int) -> list[str]:
    row = page.get_by_role("group", name="Effect on the risk").locator("tbody tr").nth(level)
    return row.locator("td.number").all_inner_texts()[:2]


def test_values_are_dragged_into_groups_and_the_risk_follows(
    server: Any, visit: Any, import_table: Any, check_page: Any, tmp_path: Path
) -> None:
    pl.DataFrame({"state": STATES, "sex": SEXES}).write_csv(tmp_path / "people.csv")
    place = import_table("Dragged groups", tmp_path / "people.csv")
    number = int(place.rpartition("/")[2])
    seen = visit()
    page = seen.page
    page.set_default_timeout(LONG)
    csrf = page.locator('meta[name="csrf"]').get_attribute("content")
    made = page.request.post(
        f"{server.url}/api/v1/tokens", data={"name": "drag", "scopes": ["read", "write"]}, headers={"x-csrf-token": csrf}
    )
    with Client(server.url, made.json()["secret"]) as client:
        client.edit(number, {"attributes": {"state": {"role": "key"}, "sex": {"role": "key"}}})
        page.goto(f"{place}/attributes/state")
        page.get_by_text("Own groups", exact=True).click()
        row = {state: page.locator(f'#groups tr[data-value="{state}"]') for state in set(STATES)}
        row["IN"].locator("th").drag_to(row["MI"].locator("th"))
        expect(page.get_by_label("Level 1 of IN")).to_have_value("MI or IN")
        expect(page.get_by_label("Level 1 of MI")).to_have_value("MI or IN")
        expect(page.locator("#level-effect")).to_contain_text("Effect on the risk", timeout=LONG)
        two = {"MI": "a", "IN": "a"}
        assert [int(text) for text in shown_effect(page, 1)] == list(smallest_classes(two))

        row["OH"].locator("th").drag_to(row["IN"].locator("th"))
        three = {**two, "OH": "a"}
        assert smallest_classes(three) != smallest_classes(two), "the third value changes the risk"
        effect = page.get_by_role("group", name="Effect on the risk").locator("tbody tr").nth(1)
        expect(effect.locator("td.number").nth(1)).to_have_text(str(smallest_classes(three)[1]), timeout=LONG)
        expect(page.get_by_text("and IN are in the group MI or IN; not saved yet")).to_be_attached()
        assert "hierarchy" not in client.policy(number)["policy"]["attributes"]["state"], "nothing is saved before Save"
        check_page(seen, "hierarchy-dragged")
        page.get_by_role("button", name="Save state").click()
        page.wait_for_url("**done=saved")
        groups = client.policy(number)["policy"]["attributes"]["state"]["hierarchy"]["groups"]
        assert {label: set(members) for label, members in groups[0].items()} == {"MI or IN": {"MI", "IN", "OH"}, "CA": {"CA"}}

        with page.expect_download() as download:
            page.get_by_role("link", name="Download the hierarchy").click()
        download.value.save_as(tmp_path / "downloaded.csv")
        lines = set((tmp_path / "downloaded.csv").read_text().splitlines())
        assert lines == {"MI;MI or IN;*", "IN;MI or IN;*", "OH;MI or IN;*", "CA;CA;*"}

        (tmp_path / "hierarchy.csv").write_text(ARX_FILE)
        page.get_by_label("Hierarchy file").set_input_files(tmp_path / "hierarchy.csv")
        page.get_by_role("button", name="Upload and preview").click()
        expect(page.get_by_text("1 value of the file does not occur in the data")).to_be_visible()
        expect(page.get_by_label("Level 1 of CA")).to_have_value("West")
        uploaded = dict(line.split(";")[:2] for line in ARX_FILE.splitlines())
        assert [int(text) for text in shown_effect(page, 1)] == list(smallest_classes(uploaded))
    assert seen.complaints == []
