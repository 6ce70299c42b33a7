"""The search of the nearest released rows in a tree finds what comparing every person with every row finds, to the last bit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet.engine.attacks import nearest
from discreet.engine.attacks.distances import ComparedColumn, compare_column
from discreet.engine.attacks.nearest import NearestSearch, NearRows
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.testing import table

CELLS = ["0", "1", "2", "3", "4", "5", "6", "0..3", "2..6", None]


def _columns(random: np.random.Generator, people: int, records: int) -> list[ComparedColumn]:
    """Numbers with intervals and suppressed cells, and two texts; small domains, so that many rows are equally far."""
    truth = {"age": random.integers(0, 7, people), "city": random.choice(list("abcd"), people)}
    truth["job"] = random.choice(list("xyz"), people)
    original = table({name: values.tolist() for name, values in truth.items()}, key=list(truth))
    released = {
        "age": [CELLS[at] for at in random.integers(0, len(CELLS), records)],
        "city": random.choice(["a", "b", "c", "d", "{a|b}"], records).tolist(),
        "job": random.choice(list("xyz"), records).tolist(),
    }
    masked = Microdata(pl.DataFrame(released, schema=dict.fromkeys(released, pl.String)), original.policy)
    masked = masked.with_cells({"age": ColumnCells(kind="number"), "city": ColumnCells(kind="text")})
    return [compare_column(masked, original, original.frame, name) for name in released]


def _by_record(search: NearestSearch, found: list[NearRows]) -> list[tuple[float, set[int], set[int]]]:
    """For each person the distance of the last neighbour, the records that are nearer, and those that are as near."""
    result = []
    for near in found:
        for at in range(near.stop - near.start):
            inside = slice(near.offsets[at], near.offsets[at + 1])
            sure, tied = near.rows[inside][~near.tied[inside]], near.rows[inside][near.tied[inside]]
            records = [set(np.flatnonzero(np.isin(search.of, rows)).tolist()) for rows in (sure, tied)]
            result.append((float(near.limits[at]), records[0], records[1]))
    return result


@pytest.mark.parametrize("neighbours", [1, 2, 7, 90])
def test_the_tree_finds_the_same_rows_as_comparing_all(neighbours: int) -> None:
    for seed in range(8):
        columns = _columns(np.random.default_rng(seed), 40, 60)
        found = []
        for compiled in (False, True):
            search = NearestSearch(columns, 60, neighbours, compiled=compiled)
            found.append(_by_record(search, list(search.walk("test"))))
        assert len(found[0]) == 40
        assert found[0] == found[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_small_chunks_and_a_full_buffer_lose_nobody(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = _columns(np.random.default_rng(3), 30, 40)
    whole = NearestSearch(columns, 40, 3, compiled=compiled)
    expected = _by_record(whole, list(whole.walk("test")))
    monkeypatch.setattr(nearest, "_MOST_ENTRIES", 60)
    search = NearestSearch(columns, 40, 3, compiled=compiled)
    found = list(search.walk("test"))
    assert len(found) > 3
    assert _by_record(search, found) == expected
    parts = [part for near in found for part in near.split(search.counts[near.rows] * 40)]
    assert len(parts) >= len(found)
    assert _by_record(search, parts) == expected


def test_a_release_without_records_has_no_neighbours() -> None:
    columns = _columns(np.random.default_rng(1), 5, 0)
    assert list(NearestSearch(columns, 0, 1).walk("test")) == []
