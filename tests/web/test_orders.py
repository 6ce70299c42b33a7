"""The order of an attribute's categories: put in place with buttons or numbers, with scripts and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page, expect
from starlette.datastructures import FormData

from discreet.web.pages.forms import category_order as orders

VALUES = ["ash", "maple", "oak"]


def sent(values: list[str], action: str = "save", **places: str) -> list[str] | None:
    """What the form says of values listed in this order, some with another place typed."""
    fields = [("action", action)]
    for at, value in enumerate(values):
        fields += [(f"ordered.{at}", value), (f"place.{at}", places.get(value, str(at + 1)))]
    return orders.sent(FormData(fields))


@settings(max_examples=200)
@given(st.permutations(VALUES), st.integers(0, 2), st.sampled_from(["up", "down"]))
def test_a_button_moves_one_category_and_keeps_the_order_of_the_others(values, at, direction):
    found = sent(list(values), f"{direction}.{at}")
    to = min(max(at + (-1 if direction == "up" else 1), 0), 2)
    assert found.index(values[at]) == to
    assert [one for one in found if one != values[at]] == [one for one in values if one != values[at]]


@settings(max_examples=200)
@given(st.permutations(VALUES), st.integers(0, 2), st.integers(1, 3))
def test_a_category_stands_where_its_number_says(values, at, place):
    found = sent(list(values), **{values[at]: str(place)})
    assert found.index(values[at]) == place - 1
    assert [one for one in found if one != values[at]] == [one for one in values if one != values[at]]


def test_what_is_no_place_leaves_a_category_and_none_takes_it_out():
    assert sent(VALUES, maple="x") == VALUES
    assert sent(VALUES, maple="9" * 30) == VALUES
    assert sent(VALUES, maple="") == ["ash", "oak"]
    assert sent(VALUES, "up.77") == VALUES
    assert orders.sent(FormData([("order", "a\nb")])) is None
    assert orders.sent(FormData([("ordered.0", "a"), ("place.0", "1"), ("also", " b ")])) == ["a", "b"]


@pytest.fixture
def project(server: Any, visit: Callable[..., Any], settled: Callable[[Any], None], tmp_path: Path) -> str:
    """A project with an attribute whose order only a person knows."""
    pl.DataFrame({"tree": VALUES * 4}).write_csv(tmp_path / "trees.csv")
    page = visit().page
    page.goto(f"{server.url}/projects/new")
    page.get_by_label("Name", exact=True).fill(f"Trees {tmp_path.name}")
    page.get_by_role("button", name="Make the project").click()
    page.wait_for_url("**/data")
    address = str(page.url).removesuffix("/data")
    page.get_by_label("File", exact=True).set_input_files(tmp_path / "trees.csv")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("heading", name="Records").wait_for()
    settled(page)
    return address


def shown(page: Page) -> list[str]:
    """The categories in the order of the page."""
    return [text.strip() for text in page.locator("#order th").all_inner_texts()]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_categories_are_put_in_order_by_keyboard_and_saved(
    scripts: bool, project: str, visit: Callable[..., Any], look: Callable[..., None]
) -> None:
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    page.goto(f"{project}/attributes/tree")
    page.get_by_role("button", name="Put the categories in order").click()
    expect(page.get_by_label("Place of oak")).to_have_value("3")
    assert shown(page) == VALUES
    page.get_by_role("button", name="Move ash down").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Place of ash")).to_have_value("2")
    assert shown(page) == ["maple", "ash", "oak"]
    if scripts:
        expect(page.locator("#order-said")).to_have_text("ash is number 2 of 3")
        expect(page.get_by_role("button", name="Move ash down")).to_be_focused()
        look(seen, "07-attribute-order")
    page.get_by_label("Place of oak").fill("2")
    if scripts:
        page.keyboard.press("Tab")
        expect(page.get_by_label("Place of ash")).to_have_value("3")
    page.get_by_role("button", name="Save tree").click()
    expect(page.get_by_text("Saved as revision")).to_be_visible()
    assert shown(page) == ["maple", "oak", "ash"]
    page.get_by_label("Place of oak").fill("")
    page.get_by_role("button", name="Save tree").click()
    expect(page.get_by_role("alert")).to_contain_text("the order leaves out what the data hold: oak")
    page.get_by_role("button", name="No order").click()
    expect(page.get_by_role("button", name="Put the categories in order")).to_be_visible()
