"""Two releases against each other: rows matched by their original record, and the same cells as the slow obvious comparison."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from web_jobs import STEPS, run

from discreet.web.auth.accounts import User
from discreet.web.db import audit
from discreet.web.db.store import Store
from discreet.web.projects import policies, projects
from discreet.web.projects.comparing import describe_column
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings
from discreet.web.workspace.comparing_releases import align, compare

links = st.lists(st.integers(1, 8), unique=True, min_size=1, max_size=8)


@given(links, links)
def test_rows_are_matched_by_their_original_record_in_any_order(first: list[int], second: list[int]) -> None:
    alignment = align(pl.Series(first), pl.Series(second))
    expected = [(first.index(record), row, record) for row, record in enumerate(second) if record in first]
    matched = list(zip(alignment.first.tolist(), alignment.second.tolist(), alignment.records.tolist(), strict=True))
    assert matched == expected
    if expected:
        assert (alignment.only_first, alignment.only_second) == (len(first) - len(expected), len(second) - len(expected))
    else:
        assert alignment.reason == "no record is in both releases"


def test_rows_that_stem_from_no_or_from_a_repeated_record_are_not_matched() -> None:
    assert "synthetic" in align(pl.Series([1, None]), pl.Series([1, 2])).reason
    assert "several rows" in align(pl.Series([1, 1]), pl.Series([1, 2])).reason


@given(st.lists(st.none() | st.sampled_from(["a", "b", "c"]), max_size=9))
def test_a_column_of_text_is_described_by_its_most_frequent_value(values: list[str | None]) -> None:
    known = [value for value in values if value is not None]
    described = describe_column(pl.Series("x", values, dtype=pl.String))
    assert (described.missing, described.distinct, described.mean) == (len(values) - len(known), len(set(known)), None)
    if known:
        assert described.most_frequent == min(set(known), key=lambda value: (-known.count(value), value))
        assert described.most_frequent_records == known.count(described.most_frequent)


@given(st.lists(st.none() | st.integers(-9, 9), max_size=9))
def test_a_column_of_numbers_is_described_by_its_mean(values: list[int | None]) -> None:
    known = [value for value in values if value is not None]
    described = describe_column(pl.Series("x", values, dtype=pl.Int64))
    assert described.mean == (pytest.approx(sum(known) / len(known)) if known else None)


def write_release(folder: Path, number: int, frame: pl.DataFrame, records: list[int | None], dataset: int = 1) -> Any:
    place = folder / "projects" / "1" / str(number)
    place.mkdir(parents=True)
    frame.write_parquet(place / "masked.parquet")
    pl.DataFrame({"record": pl.Series(records, dtype=pl.Int64)}).write_parquet(place / "link.parquet")
    return SimpleNamespace(number=number, project_id=1, file=f"{number}/masked.parquet", dataset_id=dataset, purged=None)


@pytest.fixture
def settings_of(tmp_path: Path) -> Any:
    return SimpleNamespace(home=tmp_path, folder=lambda number: tmp_path / "projects" / str(number))


def test_cells_of_matched_rows_are_compared_and_columns_of_one_release_are_named(settings_of: Any, tmp_path: Path) -> None:
    first = write_release(
        tmp_path, 1, pl.DataFrame({"age": ["30", "40", "50"], "sex": ["f", "m", "f"], "x": [1, 2, 3]}), [7, 8, 9]
    )
    second = write_release(
        tmp_path, 2, pl.DataFrame({"age": [None, "40", "60"], "sex": ["f", "m", "m"], "y": [1, 2, 3]}), [9, 8, 4]
    )
    found = compare(settings_of, first, second)
    assert (found.aligned, found.only_first, found.only_second, found.changed_rows, found.reason) == (2, 1, 1, 1, "")
    assert {column.name: column.changed for column in found.columns} == {"age": 1, "sex": 0, "x": None, "y": None}
    assert found.page is not None
    assert [(row["number"], row["record"]) for row in found.page.rows] == [(1, 9), (2, 8)]
    assert found.page.rows[0]["cells"][0] == {"before": "50", "after": None, "changed": True}
    only = compare(settings_of, first, second, changed_rows=True, changed_columns=True).page
    assert only is not None
    assert (only.total, only.columns, only.rows[0]["record"]) == (1, ["age"], 9)


def test_releases_that_cannot_be_matched_get_statistics_and_the_reason(settings_of: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 50]})
    first = write_release(tmp_path, 1, frame, [1, 2])
    synthetic, elsewhere = write_release(tmp_path, 2, frame, [1, None]), write_release(tmp_path, 3, frame, [1, 2], dataset=2)
    purged = write_release(tmp_path, 4, frame, [1, 2])
    purged.purged = 1.0
    (tmp_path / "projects" / "1" / "4" / "link.parquet").unlink()
    for second, reason in ((synthetic, "synthetic"), (elsewhere, "different tables"), (purged, "purged")):
        found = compare(settings_of, first, second)
        assert found.page is None
        assert reason in found.reason
        (age,) = found.columns
        assert (age.changed, age.first and age.first.mean, age.second and age.second.mean) == (None, 40.0, 40.0)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_members_compare_two_releases_and_release_readers_do_not(
    settings: Settings, store: Store, anna: User, released: Project, logged_in: TestClient, add_user: Any
) -> None:
    with store.write() as connection:
        sampled = {"steps": [*STEPS, {"method": "sampling", "fraction": 0.5}]}
        policies.edit(connection, anna, released, released.revision, {"plan": sampled})
    run(settings, store, anna, released, "generate")
    address = f"/projects/{released.id}/releases/2/table"
    page = logged_in.get(address, params={"against": 1, "show": "all"})
    assert page.status_code == 200
    assert "6 records are in both releases" in page.text
    assert "6 records are only in A and 0 only in B" in page.text
    with store.read() as connection:
        seen = [entry["detail"]["release"] for entry in audit.list_entries(connection) if entry["action"] == "link viewed"]
    assert sorted(seen) == [1, 2], "looking at matched rows is on record for both"
    assert logged_in.get(address, params={"against": 9}).status_code == 404
    place = f"/api/v1/projects/{released.id}/releases/2/comparison"
    content = logged_in.get(place, params={"against": 1, "rows": "all"}).json()
    assert (content["total"], content["only_here"], content["only_there"], content["reason"]) == (6, 0, 6, "")
    assert all(row["others"] == {} for row in content["rows"]), "both round alike"
    original = logged_in.get(place, params={"rows": "all"}).json()
    ages = [20 + row["record"] - 1 for row in original["rows"]]
    at = original["columns"].index("age")
    assert [row["others"].get(str(at), row["values"][at]) for row in original["rows"]] == ages
    add_user("rita")
    with store.write() as connection:
        projects.set_role(connection, anna, projects.get(connection, anna, released.id), "rita", "release_reader")
    logged_in.cookies.clear()
    assert logged_in.post("/login", data={"name": "rita", "password": "a longer password than most"}).status_code == 303
    assert logged_in.get(address, params={"against": 1}).status_code in (403, 404)
    assert logged_in.get(place, params={"against": 1}).status_code in (403, 404)
    for rows in ("changed", "all"):
        refused = logged_in.get(place, params={"rows": rows})
        assert refused.status_code in (403, 404), "a release reader never sees original values"
        assert "rows" not in refused.json()
    assert logged_in.get(f"/projects/{released.id}/releases/2/table").status_code in (403, 404)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_windows_of_rows_join_to_the_whole_comparison(released: Project, logged_in: TestClient) -> None:
    place = f"/api/v1/projects/{released.id}/releases/1/comparison"
    whole = logged_in.get(place, params={"rows": "all"}).json()
    windows = [logged_in.get(place, params={"rows": "all", "offset": at, "limit": 5}).json() for at in (0, 5, 10, 15)]
    assert [row for window in windows for row in window["rows"]] == whole["rows"]
    assert {window["total"] for window in windows} == {whole["total"]} == {12}
    assert logged_in.get(place, params={"limit": 1001}).status_code == 422
    page = logged_in.get(f"/projects/{released.id}/releases/1/table").text
    assert f'data-address="{place}"' in page, "the page says where its script loads rows"
    assert "/static/grid.js" in page
    logged_in.cookies.clear()
    assert logged_in.get(place).status_code == 401
