"""The grid of a comparison in a real browser: a large table is scrolled both ways, and the page stays small."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import polars as pl
import pytest
from patience import browser_wait, patient
from playwright.sync_api import expect

from discreet import Client

ROWS, COLUMNS = 4_000, 50
LONG = browser_wait(15)
MOST_CELLS = 700
"""Cells in the page, whatever the table's size: those in sight on 1280 x 900 pixels and a few around them."""


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    """Values that say where they stand, and a column that masking changes in most rows."""
    columns: dict[str, Any] = {"age": [18 + row * 7 % 73 for row in range(ROWS)]}
    columns["group"] = [("Caucasian", "African American", "Hispanic", "Asian")[row % 4] for row in range(ROWS)]
    columns |= {f"c{at:02}": [f"{at}-{row}" for row in range(ROWS)] for at in range(COLUMNS - 2)}
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def place(original: pl.DataFrame, server_on_sqlite: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project with two releases of the table, by different bases of rounding."""
    server = server_on_sqlite
    original.write_parquet(file := tmp_path_factory.mktemp("wide") / "wide.parquet")
    with httpx.Client(base_url=server.url, timeout=patient(60)) as person:
        assert person.post("/login", data={"name": server.name, "password": server.password}).status_code == 303
        person.headers["x-csrf-token"] = person.get("/").text.split('name="csrf" content="')[1].split('"')[0]
        token = person.post("/api/v1/tokens", json={"name": "compare", "scopes": ["read", "write"]}).json()["secret"]
    with Client(server.url, token) as client:
        number = client.create_project("A wide table")["id"]
        client.upload(number, file)
        roles = {f"attributes.{name}": {"role": "key" if name in ("age", "group") else "other"} for name in original.columns}
        client.edit(number, {**roles, "risk": {"k_anonymity": {}}, "loss": {"changed_values": {}}, "limits": {}})
        for base in (10, 20):
            client.edit(number, {"plan": {"steps": [{"method": "rounding", "columns": ["age"], "base": base}]}})
            client.run(number, "generate")
    return f"{server.url}/projects/{number}"


def count_cells(page: Any) -> int:
    cells: int = page.locator(".grid-cell").count()
    return cells


def check_active_cell(page: Any, original: pl.DataFrame, column: str) -> int:
    """Compare the active cell with the original table; the number of its record."""
    detail = page.locator('[data-part="cell"]')
    expect(detail).to_have_text(re.compile(rf"^Row [\d,]+, original record [\d,]+, {column}: "), timeout=LONG)
    text = detail.inner_text()
    record = int(re.search(r"original record ([\d,]+)", text)[1].replace(",", ""))  # type: ignore[index]
    assert text.endswith(f": {original[column][record - 1]}")
    expect(page.locator(".grid-cell.active")).to_have_text(str(original[column][record - 1]))
    return record


def test_a_large_comparison_is_scrolled_both_ways_in_a_small_page(
    place: str, original: pl.DataFrame, visit: Any, check_page: Any
) -> None:
    seen = visit()
    page = seen.page
    page.set_default_timeout(LONG)
    page.goto(f"{place}/releases/1/table?show=all")
    grid = page.get_by_role("grid", name="Masked and original table")
    expect(grid).to_be_visible(timeout=LONG)
    expect(grid).to_have_attribute("aria-rowcount", str(ROWS + 1))
    expect(grid).to_have_attribute("aria-colcount", str(COLUMNS + 2))
    expect(page.locator(".paged")).to_be_hidden()
    expect(page.locator(".grid-cell.changed").first).to_be_visible()
    assert count_cells(page) < MOST_CELLS
    check_page(seen, "compare-grid")

    # to the last row and the last column by keyboard
    grid.focus()
    page.keyboard.press("Control+End")
    last = original.columns[-1]
    record = check_active_cell(page, original, last)
    expect(page.locator(f'[role="row"][aria-rowindex="{ROWS + 1}"]')).to_be_visible()
    expect(page.locator('[data-part="position"]')).to_contain_text(f"to {ROWS:,} of {ROWS:,}")
    expect(page.get_by_role("columnheader", name=last)).to_be_in_viewport()
    assert count_cells(page) < MOST_CELLS
    first = page.locator(f'[aria-rowindex="{ROWS + 1}"] [role="rowheader"]')
    expect(first).to_be_in_viewport()  # the row's number stays at the left, the column's name on top
    check_page(seen, "compare-grid-end")
    grid.focus()  # on paper there is a table in its place
    page.keyboard.press("ArrowUp")
    expect(page.locator('[data-part="cell"]')).not_to_contain_text(f"original record {record:,},")
    check_active_cell(page, original, last)
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    check_active_cell(page, original, original.columns[-2])

    # to the middle with the mouse, and there the arrow keys go on from what is in sight
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight / 2; grid.scrollLeft = grid.scrollWidth / 2 }")
    middle = page.locator('[role="row"][aria-rowindex]').nth(8)  # drawn after the event of scrolling
    expect(middle).to_have_attribute("aria-rowindex", re.compile("^(1[89]|2[01])..$"), timeout=LONG)
    expect(page.locator(".grid-cell", has_text="…")).to_have_count(0, timeout=LONG)
    page.keyboard.press("ArrowDown")
    check_active_cell(page, original, original.columns[-2])
    page.keyboard.press("Control+Home")
    expect(page.locator('[data-part="position"]')).to_contain_text("Rows 1 to")
    assert count_cells(page) < MOST_CELLS
    page.get_by_label("Go to", exact=False).last.fill("2500")
    page.keyboard.press("Enter")
    expect(page.locator('[aria-rowindex="2501"]')).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert seen.complaints == []


def test_two_releases_are_compared_in_the_grid(place: str, visit: Any, check_page: Any) -> None:
    seen = visit()
    page = seen.page
    page.set_default_timeout(LONG)
    page.goto(f"{place}/releases/2/table?against=1&columns=changed")
    grid = page.get_by_role("grid", name="Rows of both releases")
    expect(grid).to_have_attribute("aria-colcount", "3", timeout=LONG)
    changed = page.locator(".grid-cell.changed").first
    expect(changed).to_have_text(re.compile(r"^A \d+B \d+$"))
    check_page(seen, "compare-grid-releases")


def test_the_comparison_is_a_table_with_pages_before_scripts_run(place: str, visit: Any) -> None:
    page = visit(java_script_enabled=False).page
    page.goto(f"{place}/releases/1/table?show=all")
    expect(page.get_by_role("region", name="Masked and original table").locator("tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next").first.click()
    expect(page.locator(".paged")).to_contain_text("Rows 51 to 100 of 4,000")
    groups = page.get_by_role("cell", name="Caucasian").first.evaluate("cell => cell.getClientRects().length")
    assert groups == 1


def test_a_million_rows_are_reached_although_no_browser_draws_a_box_of_that_height(place: str, visit: Any) -> None:
    """The rows are made up here: what is tested is where the grid puts them."""
    total = 1_000_000

    def answer(route: Any) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        offset, limit = int(query["offset"][0]), int(query["limit"][0])
        rows = [
            {"number": at + 1, "record": at + 1, "values": [f"value {at + 1}"], "others": {}}
            for at in range(offset, min(offset + limit, total))
        ]
        route.fulfill(json={"columns": ["age"], "rows": rows, "total": total, "changes": []})

    page = visit().page
    page.set_default_timeout(LONG)
    page.route("**/comparison?**", answer)
    page.goto(f"{place}/releases/1/table?show=all")
    grid = page.get_by_role("grid", name="Masked and original table")
    grid.focus()
    for keys, row in (("Control+End", total), ("PageUp ArrowDown", 0), ("Control+Home", 1)):
        for key in keys.split():
            page.keyboard.press(key)
        active = page.locator(".grid-cell.active")
        expect(active).to_be_in_viewport(timeout=LONG)
        if row:
            expect(page.locator(f'[aria-rowindex="{row + 1}"]')).to_be_in_viewport(timeout=LONG)
    page.get_by_label("Go to", exact=False).last.fill("654321")
    page.keyboard.press("Enter")
    expect(page.locator('[aria-rowindex="654322"]')).to_contain_text("value 654321", timeout=LONG)
    expect(page.locator('[aria-rowindex="654322"]')).to_be_in_viewport()
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight }")
    expect(page.locator(f'[aria-rowindex="{total + 1}"]')).to_be_in_viewport(timeout=LONG)
    assert count_cells(page) < MOST_CELLS
