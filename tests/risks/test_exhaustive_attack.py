"""Every set of columns: equal to brute force, monotone in the columns, and an upper bound of sampled attacks of the same kind."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.risks.exhaustive_attack.measure import ExhaustiveAttack
from discreet.testing import table

_VALUE = st.none() | st.integers(0, 2)
_SECRET = st.none() | st.sampled_from("ab")
_TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[_VALUE] * width, _SECRET, st.sampled_from("xyz")), min_size=1, max_size=12)
)


def _data(rows: list[tuple[Any, ...]]) -> Microdata:
    width = len(rows[0]) - 2
    names = [f"k{place}" for place in range(width)]
    columns = {name: pl.Series([row[place] for row in rows], dtype=pl.Int64) for place, name in enumerate(names)}
    columns |= {"s": pl.Series([row[-2] for row in rows], dtype=pl.String), "t": pl.Series([row[-1] for row in rows])}
    return table(columns, key=names, confidential=["s", "t"], known={name: 0.9 - 0.2 * at for at, name in enumerate(names)})


def _brute_force(rows: list[tuple[Any, ...]], sets: list[tuple[int, ...]]) -> dict[str, Any]:
    """Every set by comparing all pairs of records."""
    singled = [[] for _ in rows]  # type: list[list[int]]
    guesses = [[0.0] * len(rows) for _ in (0, 1)]
    risks: list[tuple[float, float]] = []
    for secret, place in enumerate((-2, -1)):
        known = [row for row in rows if row[place] is not None]
        common = Counter(row[place] for row in known)
        blind = max(common.values()) / len(known) if known else 0.0
        for members in sets:
            hits = 0.0
            for index, row in enumerate(rows):
                agreeing = [other for other in rows if all(other[at] == row[at] for at in members)]
                if secret == 0 and len(agreeing) == 1:
                    singled[index].append(len(members))
                values = Counter(other[place] for other in agreeing if other[place] is not None)
                if row[place] is None:
                    continue
                guesses[secret][index] = max(guesses[secret][index], values[row[place]] / sum(values.values()))
                best = [value for value, count in values.items() if count == max(values.values())]
                hits += (row[place] in best) / len(best)
            success = hits / len(known) if known else 0.0
            risks.append((max(0.0, (success - blind) / (1 - blind)) if blind < 1 else 0.0, success))
    return {
        "singled_out": np.mean([bool(sizes) for sizes in singled]),
        "sets_mean": np.mean([len(sizes) for sizes in singled]),
        "risk": max(risk for risk, _ in risks),
        "sets": [len(sizes) for sizes in singled],
        "smallest": [min(sizes, default=None) for sizes in singled],
        "guess": [max(one, other) for one, other in zip(*guesses, strict=True)],
    }


def _compare(rows: list[tuple[Any, ...]], sets: list[tuple[int, ...]], measure: ExhaustiveAttack) -> None:
    score, slow = measure.measure(_data(rows)), _brute_force(rows, sets)
    assert score["sets"] == len(sets)
    for name in ("singled_out", "sets_mean", "risk"):
        assert score[name] == pytest.approx(slow[name]), name
    assert score.per_record is not None
    assert score.per_record["sets"].to_list() == slow["sets"]
    assert score.per_record["smallest"].to_list() == slow["smallest"]
    assert score.per_record["guess"].to_list() == pytest.approx(slow["guess"])
    everything = _brute_force(rows, [tuple(range(len(rows[0]) - 2))])
    assert score["singled_out_all"] == pytest.approx(everything["singled_out"])
    assert score["risk_all"] == pytest.approx(everything["risk"])
    assert score["singled_out"] <= score["singled_out_all"] + 1e-12
    assert score["risk"] <= score["risk_all"] + 1e-12


@settings(max_examples=80)
@given(_TABLES, st.integers(1, 5))
def test_all_sets_up_to_a_size_equal_brute_force(rows: list[tuple[Any, ...]], size: int) -> None:
    width = len(rows[0]) - 2
    sets = [members for count in range(1, min(size, width) + 1) for members in itertools.combinations(range(width), count)]
    _compare(rows, sets, ExhaustiveAttack(size=size))


@settings(max_examples=40)
@given(_TABLES, st.sampled_from([0.05, 0.2, 0.4]))
def test_sets_above_epsilon_equal_brute_force(rows: list[tuple[Any, ...]], epsilon: float) -> None:
    width = len(rows[0]) - 2
    probability = [0.9 - 0.2 * at for at in range(width)]
    every = [members for count in range(1, width + 1) for members in itertools.combinations(range(width), count)]
    sets = [members for members in every if np.prod([probability[at] for at in members]) > epsilon]
    _compare(rows, sets, ExhaustiveAttack(epsilon=epsilon))


def test_twelve_columns_equal_brute_force() -> None:
    generator = np.random.default_rng(2)
    rows = [(*generator.integers(0, 2, 12).tolist(), "ab"[n % 2], "xyz"[n % 3]) for n in range(8)]
    sets = [members for count in range(1, 5) for members in itertools.combinations(range(12), count)]
    data = table({f"k{at}": [row[at] for row in rows] for at in range(12)}, key=[f"k{at}" for at in range(12)])
    score = ExhaustiveAttack(size=4).measure(data)
    slow = [sum(sum(all(o[at] == row[at] for at in members) for o in rows) == 1 for members in sets) for row in rows]
    assert score.per_record["sets"].to_list() == slow  # type: ignore[index]
    assert "risk" not in score.summary


def test_it_bounds_random_guesses_from_random_sets() -> None:
    generator = np.random.default_rng(4)
    columns = {f"k{at}": generator.integers(0, 6, 300).tolist() for at in range(6)} | {
        "s": generator.integers(0, 3, 300).tolist()
    }
    data = table(columns, key=[f"k{at}" for at in range(6)], confidential=["s"])
    score = ExhaustiveAttack(size=3).measure(data)
    frame = data.frame
    for _ in range(50):
        chosen = [f"k{at}" for at in generator.permutation(6)[: generator.integers(1, 4)]]
        guesses = frame.group_by(chosen).agg(pl.col("s").mode().first().alias("guess"))
        right = frame.join(guesses, on=chosen).select((pl.col("guess") == pl.col("s")).mean()).item()
        assert right <= score["best_guess"] + 1e-12
        alone = frame.select(pl.struct(chosen).is_unique().mean()).item()
        assert alone <= score["singled_out"] + 1e-12


def test_too_many_sets_no_columns_and_overlapping_cells_are_said() -> None:
    data = table({f"k{at}": [1, 2] for at in range(12)}, key=[f"k{at}" for at in range(12)])
    with pytest.raises(DataError, match="would count 2,509 sets of 12 keys, more than 50"):
        ExhaustiveAttack(size=6, max_sets=50).measure(data)
    with pytest.raises(DataError, match="at least one attribute with the role key"):
        ExhaustiveAttack().measure(table({"x": [1, 2]}))
    frame = pl.DataFrame({"k": ["10..20", "15..25", "30"]})
    coarse = Microdata(frame, table({"k": [1]}, key=["k"]).policy).with_cells({"k": ColumnCells(kind="number")})
    assert ExhaustiveAttack().measure(coarse).gaps
    assert discreet.risk(data, "exhaustive_attack")["exhaustive_attack"]["sets"] == 298
