"""Minimal sample uniques, scores and DIS by their definitions, and the kernels against their small versions."""

from __future__ import annotations

from itertools import combinations
from math import factorial, prod
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding.columns import encode
from discreet.engine.special_uniques import kernels
from discreet.errors import DataError
from discreet.risks.special_uniques.explain import list_minimal_uniques
from discreet.risks.special_uniques.intrusion import probability_of_correct_match
from discreet.risks.special_uniques.measure import SpecialUniques
from discreet.testing import check_risk, table

Rows = list[tuple[Any, ...]]
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([None, 1, 2, 3])] * width), min_size=0, max_size=12)
)
MISSING = st.sampled_from(["category", "wildcard", "ignore"])


def _agrees(one: Any, other: Any, missing: str) -> bool:
    return one == other or (missing == "wildcard" and (one is None or other is None))


def _is_alone(rows: Rows, record: int, keys: tuple[int, ...], missing: str) -> bool:
    own = rows[record]
    return not any(
        all(_agrees(own[key], other[key], missing) for key in keys) for index, other in enumerate(rows) if index != record
    )


def _minimal_sets(rows: Rows, record: int, max_size: int, missing: str) -> list[tuple[int, ...]]:
    """By definition: alone on the set, and on no proper non-empty subset of it."""
    usable = [key for key, value in enumerate(rows[record]) if missing == "category" or value is not None]
    return [
        keys
        for size in range(1, max_size + 1)
        for keys in combinations(usable, size)
        if _is_alone(rows, record, keys, missing)
        and not any(_is_alone(rows, record, part, missing) for less in range(1, size) for part in combinations(keys, less))
    ]


def _score(scores: str, keys: int, size: int, max_size: int) -> float:
    if scores == "elliot":
        return prod(keys - i for i in range(size, max_size + 1) if i < keys)
    if scores == "factorial":
        return factorial(keys - size)
    return (2 ** (keys - size) - 1) * factorial(size) * factorial(keys - size) / factorial(keys)


def _data(rows: Rows) -> Any:
    width = len(rows[0])
    columns = {f"k{key}": pl.Series([row[key] for row in rows], dtype=pl.Int64) for key in range(width)}
    return table(columns, key=list(columns))


@settings(max_examples=300)
@given(ROWS.filter(bool), st.integers(1, 5), MISSING, st.sampled_from(["elliot", "factorial", "sdcmicro"]),
       st.sampled_from([0.01, 0.5, 1.0]), st.sampled_from(["records", "pairs"]))  # fmt: skip
def test_minimal_sets_scores_and_dis_are_those_of_the_definition(
    rows: Rows, max_size: int, missing: Any, scores: Any, fraction: float, pairs: Any
) -> None:
    data, keys = _data(rows), len(rows[0])
    measure = SpecialUniques(
        max_size=max_size, missing=missing, scores=scores, sampling_fraction=fraction, pairs=pairs, threshold=2.5
    )
    score = measure.measure(data)
    sets = [_minimal_sets(rows, record, max_size, missing) for record in range(len(rows))]
    expected = [sum(_score(scores, keys, len(part), max_size) for part in own) for own in sets]
    per_record = score.per_record
    assert per_record is not None
    assert per_record["minimal_uniques"].to_list() == [len(own) for own in sets]
    assert per_record["smallest"].to_list() == [min(map(len, own), default=None) for own in sets]
    assert per_record["score"].to_list() == pytest.approx(expected)
    assert score["records"] == sum(bool(own) for own in sets)
    assert score["minimal_uniques"] == sum(map(len, sets))
    assert score["high_risk"] == sum(own > 2.5 + 1e-9 for own in expected)
    listed = pl.concat(list(score.record_batches()))
    assert listed.drop("sets").equals(per_record)
    assert [[] if text is None else text.split("; ") for text in listed["sets"]] == [
        [" + ".join(f"k{key}" for key in part) for part in own] for own in sets
    ]
    assert score["by_size"] == {
        str(size): sum(len(part) == size for own in sets for part in own) for size in range(1, min(max_size, keys) + 1)
    }
    assert score["score_sum"] == pytest.approx(sum(expected))
    assert score["score_max"] == pytest.approx(max(expected))
    assert per_record["dis"].to_list() == pytest.approx(_dis(rows, expected, missing, fraction, pairs))
    columns = encode(data, data.columns)
    for record, own in enumerate(sets):
        assert sorted(list_minimal_uniques(columns, record, max_size, missing)) == sorted(own)
    attributes = score.per_attribute
    assert attributes is not None
    assert attributes["contribution"].to_list() == pytest.approx(
        [sum(_score(scores, keys, len(part), max_size) for own in sets for part in own if key in part) for key in range(keys)]
    )
    by_value: dict[tuple[str, Any], int] = {}
    for row, own in zip(rows, sets, strict=True):
        for key in (key for part in own for key in part):
            value = None if row[key] is None else str(row[key])
            by_value[f"k{key}", value] = by_value.get((f"k{key}", value), 0) + 1
    table_of_values = measure.contributions_by_value(data)
    assert {(name, value): number for name, value, number, *_ in table_of_values.iter_rows()} == by_value


def _dis(rows: Rows, scores: list[float], missing: str, fraction: float, pairs: str) -> list[float]:
    keys = tuple(range(len(rows[0])))
    sizes = [
        sum(all(_agrees(own[key], other[key], "wildcard" if missing == "wildcard" else "") for key in keys) for other in rows)
        for own in rows
    ]
    uniques, in_pairs = sizes.count(1), sizes.count(2) / (1 if pairs == "records" else 2)
    if not uniques:
        return [0.0] * len(rows)
    correct = uniques * fraction / (uniques * fraction + in_pairs * (1 - fraction))
    exponent = 1 + (8 - len(keys)) / 20
    total = sum(score**-exponent for score in scores if score)
    return [1 / (1 + (uniques / correct - uniques) / (score**exponent * total)) if score else 0.0 for score in scores]


@settings(max_examples=150)
@given(ROWS.filter(bool), st.integers(0, 12), st.sampled_from([-1, 0, 3]), st.integers(1, 2), st.data())
def test_the_kernels_and_their_small_versions_give_the_same_arrays(
    rows: Rows, candidates: int, null_code: int, least: int, draw: st.DataObject
) -> None:
    codes = [np.array([0 if row[key] is None else row[key] for row in rows], dtype=np.uint16) for key in range(len(rows[0]))]
    records = np.array(draw.draw(st.lists(st.sampled_from([1, 2]), min_size=len(rows), max_size=len(rows))), dtype=np.uint8)
    groups = [(np.arange(len(rows), dtype=np.int32), np.array([0, len(rows)], dtype=np.int32))] * 2
    for column in codes:
        flags = []
        for version, (rows_of, bounds) in zip((kernels.flag_uniques.interpret, kernels.flag_uniques.small), groups, strict=True):
            tally = np.zeros(4, dtype=np.int32)
            flags.append(np.zeros(len(rows), dtype=np.bool_))
            version(rows_of, bounds, column, records, null_code, tally, flags[-1])
            assert not tally.any()
        assert flags[0].tolist() == flags[1].tolist()
        groups = [
            version(*pair, column, candidates, null_code, least, np.zeros(4, np.int32), np.zeros(4, np.int32), alone)
            for version, pair, alone in zip(
                (kernels.refine_groups.interpret, kernels.refine_groups.small), groups, flags, strict=True
            )
        ]
        assert flags[0].tolist() == flags[1].tolist()
        assert [part.tolist() for part in groups[0]] == [part.tolist() for part in groups[1]]


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_compiled_code_counts_what_the_small_version_counts(missing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    columns = {f"k{key}": random.integers(0, 4 + 3 * key, 400) for key in range(5)}
    frame = {name: pl.Series(values).cast(pl.Int64).replace(3, None) for name, values in columns.items()}
    measure = SpecialUniques(max_size=5, missing=missing)
    small = measure.measure(table(frame, key=list(frame)))
    monkeypatch.setattr(kernels.flag_uniques, "small", None)
    monkeypatch.setattr(kernels.refine_groups, "small", None)
    compiled = measure.measure(table(frame, key=list(frame)))
    assert compiled.summary == small.summary
    assert compiled.per_record.equals(small.per_record)


def test_the_score_of_the_handbook_is_the_sum_of_the_products_over_sizes() -> None:
    """4 keys, sets of up to 3: 6, 2 and 1 for sets of 1, 2 and 3 keys (SUDA's published product)."""
    rows = [(1, 1, 1, 1), (1, 1, 2, 2), (1, 2, 1, 2), (2, 1, 1, 1), (1, 2, 2, 1)]
    score = SpecialUniques().measure(_data(rows))
    assert score.per_record["smallest"].to_list()[3] == 1
    assert score.per_record["score"].to_list()[3] == 6


def test_without_pairs_or_in_a_census_every_match_is_correct() -> None:
    assert probability_of_correct_match(3, 0, 0.01, "records") == 1.0
    assert probability_of_correct_match(3, 8, 1.0, "records") == 1.0
    assert probability_of_correct_match(0, 8, 0.1, "records") == 0.0
    assert probability_of_correct_match(4, 8, 0.5, "records") == pytest.approx(1 / 3)
    assert probability_of_correct_match(4, 8, 0.5, "pairs") == pytest.approx(1 / 2)


def test_scores_of_many_keys_do_not_overflow() -> None:
    keys = 60
    rows = [tuple(int(row == key) for key in range(keys)) for row in range(6)]
    score = SpecialUniques(max_size=1, scores="factorial").measure(_data(rows))
    assert np.isfinite(score["dis_max"])
    assert score["records"] == 6


def test_too_many_sets_and_keys_named_twice_are_refused_with_what_would_work() -> None:
    data = _data([tuple(range(20)), tuple(range(20))])
    with pytest.raises(DataError, match="use a smaller max_size or fewer keys"):
        SpecialUniques(max_size=20).measure(data)
    with pytest.raises(DataError, match="names the key 'k1' twice"):
        SpecialUniques(keys=("k1", "k1")).measure(data)
    with pytest.raises(DataError, match="role key"):
        SpecialUniques().measure(table({"a": [1]}))


@pytest.mark.parametrize("missing", ["wildcard", "ignore"])
def test_a_release_with_suppressed_keys_is_not_judged_where_nulls_are_no_values(missing: str) -> None:
    policy = {
        "attributes": {"a": {"role": "key", "known": 0.5}},
        "risk": {"special_uniques": {"missing": missing}},
        "limits": {"special_uniques.records": 5},
    }
    data = discreet.read(pl.DataFrame({"a": [1, 1, 2, 3]}), policy)
    released = data.with_columns({"a": pl.Series([1, 1, None, None], dtype=pl.Int64)})
    assert discreet.assess(data, released).status == "incomplete"


def test_the_explanation_names_the_sets_with_the_largest_scores_first() -> None:
    rows = [(1, 1, 1, 1), (1, 1, 2, 2), (1, 2, 1, 2), (2, 1, 1, 1), (1, 2, 2, 1)]
    measure = SpecialUniques()
    sentences = measure.explain(_data(rows), 3)
    assert sentences[0] == "record 4 of 5: score 6 (elliot) from 1 minimal sample unique"
    assert sentences[1] == "k0: no other record has this value (score 6)"
    assert "not special" in measure.explain(_data([(1,), (1,)]), 0)[0]


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_the_measure_conforms(missing: Any) -> None:
    check_risk(SpecialUniques(missing=missing))


GUIDE = [  # the example of the IHSN's practice guide, table 4.5
    ("urban", "f", "secondary incomplete", "employed"), ("urban", "f", "secondary incomplete", "employed"),
    ("urban", "f", "primary incomplete", "non-LF"), ("urban", "m", "secondary complete", "employed"),
    ("rural", "f", "secondary complete", "unemployed"), ("urban", "m", "secondary complete", "employed"),
    ("urban", "f", "primary complete", "non-LF"), ("urban", "m", "post-secondary", "unemployed"),
    ("urban", "f", "secondary incomplete", "non-LF"), ("urban", "f", "secondary incomplete", "non-LF"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "expected"),
    [("factorial", [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]), ("sdcmicro", [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])],
)
def test_the_practice_guide_and_the_scaling_of_sdcmicro_have_these_scores(scores: Any, expected: list[float]) -> None:
    """The guide prints the scores of the paper; sdcMicro up to 5.0.2 those of its own scaling (sdcMicro issue 227)."""
    data = table({f"k{key}": [row[key] for row in GUIDE] for key in range(4)}, key=["k0", "k1", "k2", "k3"])
    score = SpecialUniques(max_size=4, scores=scores).measure(data)
    assert score.per_record["score"].to_list() == pytest.approx(expected)


def test_contributions_of_keys_that_occur_together_are_all_counted() -> None:
    """sdcMicro 5.3.0 left out a minimal set of the third key (sdcMicro issue 275)."""
    score = SpecialUniques(max_size=3, scores="factorial").measure(_data([(2, 0, 0), (1, 3, 6), (1, 0, 0)]))
    assert score.per_attribute["share"].to_list() == pytest.approx([0.5, 0.375, 0.375])
