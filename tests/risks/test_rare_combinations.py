"""Rare combinations by counting records one by one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError, ParameterError
from discreet.masking.local_suppression.method import LocalSuppression
from discreet.risks.rare_combinations.measure import RareCombinations
from discreet.testing import check_risk, table

Rows = list[tuple[Any, ...]]
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([None, 1, 2])] * width), min_size=1, max_size=14)
)


def _data(rows: Rows) -> Any:
    columns = {f"k{key}": pl.Series([row[key] for row in rows], dtype=pl.Int64) for key in range(len(rows[0]))}
    return table(columns, key=list(columns))


def _count(rows: Rows, own: tuple[Any, ...], keys: tuple[int, ...], missing: str) -> int | None:
    """The records that agree with a record on a set; None where it has no combination."""
    if missing == "ignore" and any(own[key] is None for key in keys):
        return None
    wild = missing == "wildcard"
    return sum(
        all(own[key] == other[key] or (wild and (own[key] is None or other[key] is None)) for key in keys) for other in rows
    )


@settings(max_examples=200)
@given(ROWS, st.integers(1, 4), st.integers(2, 4), st.sampled_from(["category", "wildcard", "ignore"]), st.booleans())
def test_rare_combinations_are_those_that_fewer_records_share(
    rows: Rows, dimension: int, threshold: int, missing: Any, named: bool
) -> None:
    width = len(rows[0])
    sets = [keys for size in range(1, min(dimension, width) + 1) for keys in combinations(range(width), size)]
    measure = RareCombinations(dimension=dimension, threshold=threshold, missing=missing)
    if named:
        sets = sets[::2]
        measure = measure.model_copy(update={"sets": tuple(tuple(f"k{key}" for key in reversed(keys)) for keys in sets)})
    score = measure.measure(_data(rows))
    counts = [[_count(rows, row, keys, missing) for keys in sets] for row in rows]
    rare = [[count is not None and count < threshold for count in own] for own in counts]
    assert score["records"] == sum(map(any, rare))
    per_record = score.per_record
    assert per_record is not None
    assert per_record["rare"].to_list() == [sum(own) for own in rare]
    known = [[count for count in own if count is not None] for own in counts]
    assert per_record["fewest"].to_list() == [min(own, default=None) for own in known]
    assert score["fewest"] == min((count for own in known for count in own), default=None)
    different = {
        (keys, tuple(row[key] for key in keys))
        for row, own in zip(rows, rare, strict=True)
        for keys, is_rare in zip(sets, own, strict=True)
        if is_rare
    }
    assert score["combinations"] == len(different)
    assert score["by_size"] == {
        str(size): sum(len(keys) == size for keys, _ in different) for size in sorted({len(keys) for keys in sets})
    }
    for text, own in zip(per_record["sets"].to_list(), rare, strict=True):
        names = [{f"k{key}" for key in keys} for keys, is_rare in zip(sets, own, strict=True) if is_rare]
        more = [{f"{len(names) - 5} more"}] if len(names) > 5 else []
        assert ([] if text is None else [set(part.split(" + ")) for part in text.split("; ")]) == names[:5] + more
    table_of_keys = score.per_attribute
    assert table_of_keys is not None
    for name, combined, records in table_of_keys.iter_rows():
        key = int(name[1:])
        assert combined == sum(key in keys for keys, _ in different)
        assert records == sum(any(is_rare and key in keys for keys, is_rare in zip(sets, own, strict=True)) for own in rare)
    for record, own in enumerate(rare):
        assert len(measure.explain(_data(rows), record)) == (1 + min(sum(own), 5) + (sum(own) > 5) if any(own) else 1)


def test_a_set_names_keys_that_exist_and_too_many_sets_are_refused_with_what_would_work() -> None:
    data = _data([tuple(range(20))] * 3)
    with pytest.raises(DataError, match="absent"):
        RareCombinations(sets=(("k1", "absent"),)).measure(data)
    with pytest.raises(DataError, match="use a smaller dimension, fewer keys, or name the sets"):
        RareCombinations(dimension=9).measure(data)
    with pytest.raises(DataError, match="role key"):
        RareCombinations().measure(table({"a": [1]}))


@pytest.mark.parametrize("missing", ["wildcard", "ignore"])
def test_a_release_with_suppressed_keys_is_not_judged_where_nulls_are_no_values(missing: str) -> None:
    policy = {
        "attributes": {"a": {"role": "key", "known": 0.5}},
        "risk": {"rare_combinations": {"missing": missing}},
        "limits": {"rare_combinations.records": 3},
    }
    data = discreet.read(pl.DataFrame({"a": [1, 1, 1, 2, 3]}), policy)
    released = data.with_columns({"a": pl.Series([1, 1, 1, None, None], dtype=pl.Int64)})
    assert discreet.assess(data, released).status == "incomplete"


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_the_measure_conforms(missing: Any) -> None:
    check_risk(RareCombinations(missing=missing))
    check_risk(RareCombinations(missing=missing, dimension=1, threshold=2))


@settings(max_examples=60)
@given(ROWS.filter(lambda rows: len(rows) > 2), st.integers(2, 3))
def test_local_suppression_on_the_same_sets_leaves_no_rare_combination(rows: Rows, k: int) -> None:
    data = _data(rows)
    names = list(data.columns)
    sets = tuple(combinations(names, min(2, len(names))))[::2]
    masked = LocalSuppression(k=k, sets=sets).mask(data, names, KeyedDraw(1))
    assert RareCombinations(sets=sets, threshold=k, missing="wildcard").measure(masked)["records"] == 0
    in_sets = {name for chosen in sets for name in chosen}
    for name in names:
        pairs = zip(data.frame[name].to_list(), masked.frame[name].to_list(), strict=True)
        assert all(after == before or (after is None and name in in_sets) for before, after in pairs)


def test_local_suppression_on_small_sets_keeps_more_than_on_all_keys() -> None:
    rows = [(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)]
    data = _data(rows)
    alone = LocalSuppression(k=2, sets=(("k0",), ("k1",), ("k2",)))
    assert alone.mask(data, data.columns, KeyedDraw(1)).frame.equals(data.frame)
    assert LocalSuppression(k=2).mask(data, data.columns, KeyedDraw(1)).frame.null_count().sum_horizontal()[0] > 0
    changed = data.with_columns({"k0": pl.Series([1, 1, 2, 3])})
    assert alone.broken(data, data, changed, data.columns) == ["2 records of the final table agree with fewer than 2 records"]


def test_sets_of_local_suppression_that_cannot_be_kept_are_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="with blanks: match only, not with blanks: category"):
        LocalSuppression(k=2, sets=(("a",),), blanks="category")
    data = _data([(1, 2), (1, 2)])
    with pytest.raises(ParameterError, match=r"local_suppression\.sets names 'k9', which is not a key"):
        LocalSuppression(k=2, sets=(("k9",),)).mask(data, data.columns, KeyedDraw(1))


@settings(max_examples=60)
@given(ROWS.filter(lambda rows: len(rows) > 2), st.integers(1, 4), st.integers(2, 3))
def test_local_suppression_by_dimension_leaves_no_rare_combination_of_so_many_keys(rows: Rows, dimension: int, k: int) -> None:
    data = _data(rows)
    masked = LocalSuppression(k=k, dimension=dimension).mask(data, data.columns, KeyedDraw(1))
    assert RareCombinations(dimension=dimension, threshold=k, missing="wildcard").measure(masked)["records"] == 0


@settings(max_examples=80)
@given(ROWS.filter(lambda rows: len(rows[0]) > 1), st.sampled_from(["match", "discount", "category"]))
def test_local_suppression_within_strata_is_that_of_each_stratum_alone(rows: Rows, blanks: Any) -> None:
    data = _data(rows)
    keys = list(data.columns)[1:]
    step = LocalSuppression(k=2, strata=("k0",), blanks=blanks)
    assert step.choose(data) == keys
    strata = {row[0]: [index for index, other in enumerate(rows) if other[0] == row[0]] for row in rows}
    if min(map(len, strata.values())) < 2:
        with pytest.raises(DataError, match=r"1 records in the stratum k0 = .* cannot form a class of 2"):
            step.mask(data, keys, KeyedDraw(1))
        return
    released = list(step.mask(data, keys, KeyedDraw(1)).frame.iter_rows())
    for members in strata.values():
        part = _data([rows[index] for index in members])
        alone = LocalSuppression(k=2, blanks=blanks).mask(part, keys, KeyedDraw(1))
        assert [released[index] for index in members] == list(alone.frame.iter_rows())


def test_a_change_of_stratum_that_leaves_a_record_alone_is_named() -> None:
    data = _data([(1, 1), (1, 1), (2, 2), (2, 2)])
    step = LocalSuppression(k=2, strata=("k0",))
    masked = step.mask(data, ["k1"], KeyedDraw(1))
    assert step.broken(data, masked, masked, ["k1"]) == []
    moved = masked.with_columns({"k0": pl.Series([1, 1, 1, 2])})
    assert step.broken(data, masked, moved, ["k1"]) == ["2 records of the final table agree with fewer than 2 records"]


def test_a_step_without_k_takes_threshold_and_sets_of_the_policy() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2, 2, 3], "b": [1, 1, 1, 2, 2, 2, 2], "c": [1, 2, 3, 4, 5, 6, 7]})
    policy = {
        "attributes": {name: {"role": "key"} for name in frame.columns},
        "risk": {"rare_combinations": {"sets": [["a", "b"]], "threshold": 3, "missing": "wildcard"}},
        "plan": {"steps": [{"method": "local_suppression"}]},
    }
    release = discreet.mask(discreet.read(frame, policy))
    assert release.masked.frame["a"].to_list() == [1, 1, 1, 2, 2, 2, None]
    assert discreet.risk(release.masked)["rare_combinations"]["records"] == 0
    with pytest.raises(ParameterError, match="a policy that uses rare_combinations"):
        discreet.mask(discreet.read(frame, {**policy, "risk": {}}))
