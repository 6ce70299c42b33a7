"""The order of an attribute's categories: set with buttons or positions, with and without scripts."""

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

from discreet.web.pages.forms import category_order

VALUES = ["ash", "maple", "oak"]


def submit_order(values: list[str], action: str = "save", **positions: str) -> list[str] | None:
    """The order in a form that lists the values in this order, some with another position typed."""
    fields = [("action", action)]
    for index, value in enumerate(values):
        fields += [(f"ordered.{index}", value), (f"place.{index}", positions.get(value, str(index + 1)))]
    return category_order.read_order(FormData(fields))


@settings(max_examples=200)
@given(st.permutations(VALUES), st.integers(0, 2), st.sampled_from(["up", "down"]))
def test_a_button_moves_one_category_and_keeps_the_order_of_the_others(values, index, direction):
    order = submit_order(list(values), f"{direction}.{index}")
    target = min(max(index + (-1 if direction == "up" else 1), 0), 2)
    assert order.index(values[index]) == target
    assert [value for value in order if value != values[index]] == [value for value in values if value != values[index]]


@settings(max_examples=200)
@given(st.permutations(VALUES), st.integers(0, 2), st.integers(1, 3))
def test_a_category_is_at_the_position_that_was_typed(values, index, position):
    order = submit_order(list(values), **{values[index]: str(position)})
    assert order.index(values[index]) == position - 1
    assert [value for value in order if value != values[index]] == [value for value in values if value != values[index]]


def test_an_invalid_position_is_ignored_and_an_empty_one_removes_the_category():
    assert submit_order(VALUES, maple="x") == VALUES
    assert submit_order(VALUES, maple="9" * 30) == VALUES
    assert submit_order(VALUES, maple="") == ["ash", "oak"]
    assert submit_order(VALUES, "up.77") == VALUES
    assert category_order.read_order(FormData([("order", "a\nb")])) is None
    assert category_order.read_order(FormData([("ordered.0", "a"), ("place.0", "1"), ("also", " b ")])) == ["a", "b"]


@pytest.fixture
def project(import_table: Callable[[str, Path], str], tmp_path: Path) -> str:
    """A project with an attribute whose order has to be set by hand."""
    pl.DataFrame({"tree": VALUES * 4}).write_csv(tmp_path / "trees.csv")
    return import_table(f"Trees {tmp_path.name}", tmp_path / "trees.csv")


def displayed_order(page: Page) -> list[str]:
    """The categories in the order of the page."""
    return [text.strip() for text in page.locator("#order th").all_inner_texts()]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_categories_are_ordered_by_keyboard_and_saved(
    scripts: bool, project: str, visit: Callable[..., Any], check_page: Callable[..., None]
) -> None:
    seen = visit(java_script_enabled=scripts)
    page = seen.page
    page.goto(f"{project}/attributes/tree")
    page.get_by_role("button", name="Define the order").click()
    expect(page.get_by_label("Position of oak")).to_have_value("3")
    assert displayed_order(page) == VALUES
    page.get_by_role("button", name="Move ash down").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Position of ash")).to_have_value("2")
    assert displayed_order(page) == ["maple", "ash", "oak"]
    if scripts:
        expect(page.locator("#order-status")).to_have_text("ash is at position 2 of 3")
        expect(page.get_by_role("button", name="Move ash down")).to_be_focused()
        check_page(seen, "07-attribute-order")
    page.get_by_label("Position of oak").fill("2")
    if scripts:
        page.keyboard.press("Tab")
        expect(page.get_by_label("Position of ash")).to_have_value("3")
    page.get_by_role("button", name="Save tree").click()
    expect(page.get_by_text("Saved as revision")).to_be_visible()
    assert displayed_order(page) == ["maple", "oak", "ash"]
    page.get_by_label("Position of oak").fill("")
    page.get_by_role("button", name="Save tree").click()
    expect(page.get_by_role("alert")).to_contain_text("The order does not contain these values of the data: oak")
    page.get_by_role("button", name="Remove order").click()
    expect(page.get_by_role("button", name="Define the order")).to_be_visible()
