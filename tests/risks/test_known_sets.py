"""known_sets against a sum over all sets that is written as the definition reads."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets.family import family
from discreet.errors import DataError, ParameterError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets import bound_walk, refine
from discreet.risks.known_sets.measure import KnownSets

CHANCES = st.sampled_from([0.0, 0.001, 0.05, 0.1, 0.3, 0.3, 0.7, 0.9, 1.0])
CELLS = st.sampled_from([None, "a", "a", "b", "c"])


@st.composite
def tables(draw: st.DrawFn, cells: st.SearchStrategy[Any] = CELLS, least: int = 1) -> Microdata:
    width = draw(st.integers(1, 5))
    height = draw(st.integers(least, 9))
    columns = {f"x{at}": pl.Series([draw(cells) for _ in range(height)], dtype=pl.String) for at in range(width)}
    attributes = {}
    for name in columns:
        attribute: dict[str, Any] = {"known": draw(CHANCES), "sensitivity": draw(st.sampled_from([0.0, 0.0, 0.5, 1.0]))}
        if draw(st.booleans()):
            attribute["values"] = {"a": draw(st.sampled_from([0.0, 0.2, 1.0])), "b": 0.4}
            if draw(st.booleans()):
                attribute["default"] = 0.3
        attributes[name] = attribute
    attributes["x0"]["known"] = attributes["x0"]["known"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def agrees(one: Any, other: Any, wildcard: bool) -> bool:
    return one == other or (wildcard and (one is None or other is None))


def brute(
    data: Microdata, epsilon: float, alpha: float, *, wildcard: bool = False, original: Microdata | None = None
) -> list[dict[str, Any]]:
    """Equations (1) to (4), set by set and record by record."""
    names = [n for n, a in data.policy.attributes.items() if a.known > 0 or a.sensitivity > 0]
    rows = data.frame.to_dicts()
    true = rows if original is None else original.frame.to_dicts()
    made = []
    for at, row in enumerate(rows):
        weight = {n: data.attribute(n).sensitivity * data.attribute(n).value_weight(row[n]) for n in names}
        kept, whole, best, likelihood, dropped = 0.0, 0.0, (-1.0, 0, ()), 0.0, 0.0
        for size in range(len(names) + 1):
            for chosen in itertools.combinations(range(len(names)), size):
                known = [names[i] for i in chosen]
                chance = math.prod(data.attribute(n).known for n in known)
                same = [all(agrees(other[n], true[at][n], wildcard or original is not None) for n in known) for other in rows]
                found = chance / sum(same) if same[at] else 0.0
                value = found * alpha * sum(weight[n] for n in names if n not in known)
                whole += value
                if chance > epsilon or not known:
                    kept += value
                    likelihood = max(likelihood, found)
                    if value > best[0] * (1 + 1e-12) + 0.0 or best[0] < 0:
                        best = (value, size, chosen)
                else:
                    dropped += value * sum(same)
        lenient = wildcard or original is not None
        asked = [n for n in names if data.attribute(n).known > 0 and agrees(row[n], true[at][n], lenient)]
        everything = sum(all(agrees(other[n], true[at][n], lenient) for n in asked) for other in rows)
        made.append({"risk": kept, "whole": whole, "top": "+".join(names[i] for i in best[2]), "likelihood": likelihood,
                     "consequence": sum(weight.values()), "share": best[0] / kept if kept else 0.0,
                     "most": kept + dropped / everything})  # fmt: skip
    return made


def compare(
    data: Microdata, measure: KnownSets, wildcard: bool = False, original: Microdata | None = None, *, tight: bool = True
) -> None:
    """``tight``: no dropped set is taken to have a smaller count than that of all that a record asks by."""
    slow = brute(data, measure.epsilon, measure.alpha, wildcard=wildcard, original=original)
    score = measure.measure(data, original=original)
    fast = score.per_record.to_dicts()
    for one, other in zip(fast, slow, strict=True):
        assert one["risk"] == pytest.approx(other["risk"], rel=1e-9, abs=1e-15)
        assert one["lower"] <= other["whole"] * (1 + 1e-9) + 1e-15
        assert one["upper"] >= other["whole"] * (1 - 1e-9) - 1e-15
        assert not tight or one["upper"] <= other["most"] * (1 + 1e-9) + 1e-15
        assert one["likelihood"] == pytest.approx(other["likelihood"], rel=1e-9)
        assert one["consequence"] == pytest.approx(other["consequence"], rel=1e-9)
        assert one["top_set"] == other["top"]
        assert one["top_share"] == pytest.approx(other["share"], rel=1e-9)
    risks = [one["risk"] for one in slow]
    assert score["high_risk"] == sum(one["risk"] > measure.threshold for one in fast)
    assert score["mean"] == pytest.approx(sum(risks) / len(risks), rel=1e-9, abs=1e-15)
    assert sum(score["histogram"].values()) == len(risks)


EPSILONS = st.sampled_from([0.0, 1e-4, 0.01, 0.1, 0.5])


@contextmanager
def many_patterns(*names: str) -> Iterator[None]:
    """Whether each pattern of what records lack is taken for one too many: in a turn of its own, with its twins alone counted."""
    from discreet.engine.known_sets import sums as known_sets

    with ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(known_sets, name, 0))
        if names:
            stack.enter_context(mock.patch("discreet.engine.known_sets.terms._MANY", 0))
        yield


TURNS = st.sampled_from([(), ("_TERMS_AT_ONCE",), ("_TERMS_AT_ONCE", "_COUNTED_PATTERNS")])


@settings(deadline=None, max_examples=60)
@given(tables(), EPSILONS)
def test_a_null_as_a_category_agrees_with_the_definition(data: Microdata, epsilon: float) -> None:
    compare(data, KnownSets(epsilon=epsilon))


@settings(deadline=None, max_examples=60)
@given(tables(), EPSILONS, TURNS)
def test_a_null_as_a_wildcard_agrees_with_the_definition(data: Microdata, epsilon: float, turns: tuple[str, ...]) -> None:
    with many_patterns(*turns):
        compare(data, KnownSets(epsilon=epsilon, missing="wildcard"), wildcard=True, tight="_COUNTED_PATTERNS" not in turns)


@settings(deadline=None, max_examples=60)
@given(tables(st.sampled_from(["a", "a", "b", "c"])), EPSILONS, st.data(), TURNS)
def test_an_attacker_who_knows_the_originals_searches_the_masked_table(
    original: Microdata, epsilon: float, draw: st.DataObject, turns: tuple[str, ...]
) -> None:
    cells = [
        [draw.draw(st.sampled_from([value, value, None, "b"])) for value in original.frame[name]] for name in original.columns
    ]
    masked = original.with_columns(
        {name: pl.Series(name, column, dtype=pl.String) for name, column in zip(original.columns, cells, strict=True)}
    )
    with many_patterns(*turns):
        compare(masked, KnownSets(epsilon=epsilon), original=original, tight="_COUNTED_PATTERNS" not in turns)


@settings(deadline=None, max_examples=80)
@given(tables(), EPSILONS, st.booleans(), st.sampled_from([0.5, 0.05, 0.001]), st.sampled_from([0, 10**9]))
def test_narrowed_intervals_are_certain_and_as_narrow_as_requested(
    data: Microdata, epsilon: float, wildcard: bool, tolerance: float, searched: int
) -> None:
    """By one walk for all records, and by a search for each."""
    measure = KnownSets(epsilon=epsilon, tolerance=tolerance, missing="wildcard" if wildcard else "category")
    slow = brute(data, epsilon, measure.alpha, wildcard=wildcard)
    with mock.patch.multiple(refine, _FEW_RECORDS=searched, _MOST_CELLS=searched):
        narrowed = measure.measure(data).per_record.to_dicts()
    for one, other in zip(narrowed, slow, strict=True):
        assert one["lower"] <= other["whole"] * (1 + 1e-9) + 1e-15
        assert one["upper"] >= other["whole"] * (1 - 1e-9) - 1e-15
        assert one["upper"] - one["lower"] <= tolerance * one["lower"] * (1 + 1e-9) + 1e-15


@settings(deadline=None, max_examples=40)
@given(tables(), st.sampled_from([0.1, 0.5]), st.floats(0.001, 300))
def test_decide_leaves_no_record_undecided(data: Microdata, epsilon: float, threshold: float) -> None:
    measure = KnownSets(epsilon=epsilon, threshold=threshold, decide=True)
    slow = brute(data, epsilon, measure.alpha)
    if any(abs(one["whole"] - threshold) < 1e-6 * threshold for one in slow):
        return
    score = measure.measure(data)
    assert score["undecided"] == 0
    for one, other in zip(score.per_record.to_dicts(), slow, strict=True):
        assert (one["lower"] > threshold) == (other["whole"] > threshold)


@settings(deadline=None, max_examples=30)
@given(tables(least=2), st.data())
def test_shuffled_rows_and_threads_change_no_bit(data: Microdata, draw: st.DataObject) -> None:
    order = np.array(draw.draw(st.permutations(range(len(data)))))
    shuffled = Microdata(data.frame[order], data.policy)
    straight = KnownSets().measure(data).per_record[order]
    assert KnownSets().measure(shuffled).per_record.equals(straight)


def test_one_and_two_threads_agree_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.testing import students

    data = students(150_000, dense=True)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setitem(os.environ, "DISCREET_THREADS", threads)
        found.append(KnownSets().measure(data).per_record)
    assert found[0].equals(found[1])


@settings(deadline=None, max_examples=200)
@given(st.lists(st.one_of(CHANCES, st.floats(0, 1)), min_size=1, max_size=8), st.floats(0, 0.9))
def test_the_pruned_family_is_every_set_above_epsilon(chances: list[float], epsilon: float) -> None:
    slow = {
        chosen
        for size in range(len(chances) + 1)
        for chosen in itertools.combinations(range(len(chances)), size)
        if not chosen or math.prod(chances[at] for at in chosen) > epsilon
    }
    tree = family(chances, epsilon, 1000)
    fast = [tree.members(node) for node in range(len(tree))]
    assert set(fast) == slow
    assert len(fast) == len(slow)


def test_sixty_attributes_are_pruned_without_visiting_what_is_dropped() -> None:
    assert len(family([0.05] * 60, 0.01, 1000)) == 61


def test_too_many_known_sets_raise_an_error_with_a_fitting_epsilon() -> None:
    with pytest.raises(ParameterError, match=r"epsilon: 0\.\d+ would fit"):
        family([0.9] * 40, 0.001, 500)
    fitting = 0.9**2 * (1 + 1e-5)
    assert len(family([0.9] * 40, fitting, 500)) <= 500
    with pytest.raises(ParameterError, match="no epsilon below 1 fits"):
        family([1.0] * 40, 0.001, 500)


def test_a_table_without_known_or_sensitive_attributes_is_an_error() -> None:
    with pytest.raises(DataError, match="known > 0 or a sensitivity"):
        KnownSets().measure(Microdata(pl.DataFrame({"x": [1, 2]})))


def test_more_patterns_of_missing_values_than_fit_into_memory_are_an_error_that_counts_them() -> None:
    policy = Policy.from_dict({"attributes": {"x": {"known": 0.5}, "y": {"known": 0.3}, "ill": {"sensitivity": 1.0}}})
    data = Microdata(pl.DataFrame({"x": ["a", None, "a"], "y": ["b", "b", None], "ill": ["i", "j", "k"]}), policy)
    from discreet.engine.known_sets import sums as known_sets

    measure = KnownSets(epsilon=0, missing="wildcard")
    for most, fits in ((3 * 4 * 5 * 8, True), (3 * 4 * 5 * 8 - 1, False)):  # patterns x sets x bytes of a term
        with mock.patch.object(known_sets, "_MOST_TERMS", most):
            if fits:
                measure.measure(data)
            else:
                with pytest.raises(DataError, match="3 different combinations of attributes; with 4 known sets"):
                    measure.measure(Microdata(data.frame, policy))


def test_an_attacker_asks_by_columns_that_he_knows_for_records_that_he_knows() -> None:
    """A column that the original lacks is not known, and a record that was added has no original values."""
    attributes = {"age": {"known": 0.5}, "ill": {"sensitivity": 1.0}}
    original = Microdata(pl.DataFrame({"age": [30, 41], "ill": ["a", "b"]}), Policy.from_dict({"attributes": attributes}))
    released = pl.DataFrame({"age": [30, 41, 41], "new": [1, 2, 3], "ill": ["a", "b", "b"]})
    policy = Policy.from_dict({"attributes": attributes | {"new": {"known": 0.5}}})
    masked = original.replace(released, np.array([0, 1, -1])).with_policy(policy)
    found = KnownSets(alpha=1, epsilon=0).measure(masked, original=original).per_record["risk"].to_list()
    assert found == pytest.approx([1 / 3 + 0.5, 1 / 3 + 0.5 / 2, 0.0])


def test_no_rows_have_no_risk() -> None:
    policy = Policy.from_dict({"attributes": {"x": {"known": 0.5, "sensitivity": 1.0}}})
    score = KnownSets().measure(Microdata(pl.DataFrame({"x": pl.Series([], dtype=pl.Int64)}), policy))
    assert score["high_risk"] == 0
    assert score.per_record.height == 0


def test_a_coarse_cell_agrees_with_what_it_contains() -> None:
    policy = Policy.from_dict({"attributes": {"age": {"known": 0.5, "role": "key"}, "ill": {"sensitivity": 1.0}}})
    original = Microdata(pl.DataFrame({"age": [30, 34, 41, 55], "ill": ["a", "b", "c", "d"]}), policy)
    masked = original.with_columns({"age": pl.Series("age", ["30..40", "30..40", "*", "55"])})
    found = KnownSets(alpha=1, epsilon=0).measure(masked, original=original).per_record["risk"].to_list()
    # 30 and 34 lie in both intervals and under the star; 41 under the star only; 55 under the star and in its own cell
    assert found == pytest.approx([1 / 4 + 0.5 / 3, 1 / 4 + 0.5 / 3, 1 / 4 + 0.5, 1 / 4 + 0.5 / 2])


def test_an_explanation_names_sets_counts_and_what_is_learnt() -> None:
    policy = Policy.from_dict({"attributes": {"age": {"known": 0.5}, "ill": {"sensitivity": 0.5, "known": 0.1}}})
    data = Microdata(pl.DataFrame({"age": [30, 30, 41], "ill": ["a", "b", "c"]}), policy)
    told = KnownSets().explain(data, 2)
    assert "record 3 of 3" in told[0]
    assert any("knows age" in line and "it alone" in line and "ill (0.5)" in line for line in told)
    risk = KnownSets().measure(data).per_record["risk"][2]
    assert f"{risk:.6g}" in told[0]


@st.composite
def quiet_tables(draw: st.DrawFn) -> Microdata:
    """Two plain attributes and four rare flags on enough records that the flags are quiet."""
    size = draw(st.integers(41, 60))
    flags = {f"f{at}": ["no"] * size for at in range(4)}
    for column in flags.values():
        for row in draw(st.lists(st.integers(0, size - 1), max_size=2)):
            column[row] = draw(st.sampled_from(["yes", "yes", None]))
    plain = {"a": draw(st.lists(st.sampled_from("xyz"), min_size=size, max_size=size)), "b": list("uv" * size)[:size]}
    chance = {"a": 0.6, "b": 0.4, "f0": 0.3, "f1": 0.05, "f2": 0.05, "f3": 0.01}
    attributes = {name: {"known": p, "sensitivity": 1.0 if name[0] == "f" else 0.0} for name, p in chance.items()}
    for name in flags:
        attributes[name]["values"] = {"yes": 1.0, "no": 0.1}  # type: ignore[assignment]
    return Microdata(pl.DataFrame(plain | flags), Policy.from_dict({"attributes": attributes}))


@settings(deadline=None, max_examples=40)
@given(quiet_tables(), st.booleans(), st.sampled_from([0.2, 0.02]), st.booleans())
def test_intervals_stay_certain_where_flags_are_rare(data: Microdata, wildcard: bool, tolerance: float, small: bool) -> None:
    without_exact_end = {} if small else {"_SMALL_GROUP": 0, "_SMALL_RARE": 0}  # else the bounds by rare values alone
    with ExitStack() as patches:
        patches.enter_context(mock.patch.multiple(refine, _FEW_RECORDS=0, _MOST_CELLS=0))
        if without_exact_end:
            patches.enter_context(mock.patch.multiple(bound_walk, **without_exact_end))
        measure = KnownSets(epsilon=0.1, tolerance=tolerance, missing="wildcard" if wildcard else "category", seconds=600)
        slow = brute(data, 0.1, measure.alpha, wildcard=wildcard)
        for one, other in zip(measure.measure(data).per_record.to_dicts(), slow, strict=True):
            assert one["lower"] <= other["whole"] * (1 + 1e-9)
            assert one["upper"] >= other["whole"] * (1 - 1e-9)
            assert not small or one["upper"] - one["lower"] <= tolerance * one["lower"] * (1 + 1e-9)
