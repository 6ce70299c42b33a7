"""The short way through large tables against the one that keeps everything, on the same tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import threads as known_threads
from discreet.engine.known_sets.effective_size import effective_sizes
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.summary import Summary, powers_of_ten
from discreet.engine.known_sets.sums import attributes
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.threshold import Among
from discreet.risks.known_sets import finer
from discreet.risks.known_sets.large import consequence_classes, cover_sums, covers, record_sums, row_sums
from discreet.risks.known_sets.large import size as large_size
from discreet.risks.known_sets.large import sums as known_large
from discreet.risks.known_sets.large.record_sums import LargeSums
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students

CHANCES = st.sampled_from([0.0, 0.001, 0.05, 0.3, 0.3, 0.7, 0.9, 1.0])
CELLS = st.sampled_from([None, "a", "a", "b", "c", "d"])


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 14))
    attributes: dict[str, Any] = {}
    columns = {}
    for at in range(width):
        columns[f"x{at}"] = pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String)
        attributes[f"x{at}"] = {"known": draw(CHANCES), "sensitivity": draw(st.sampled_from([0.0, 0.5, 1.0]))}
        if draw(st.booleans()):
            attributes[f"x{at}"]["values"] = {"a": draw(st.sampled_from([0.0, 0.2, 1.0])), "d": 0.4}
    attributes["x0"]["known"] = attributes["x0"]["known"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def both(data: Microdata, measure: KnownSets, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    with monkeypatch.context() as changed:
        changed.setattr(large_size, "LARGE_TABLE", 1 << 60)
        plain = measure.measure(data)
        changed.setattr(large_size, "LARGE_TABLE", 1)
        return plain, measure.measure(data)


def alike(one: Any, other: Any) -> None:
    for field, value in one.items():
        if isinstance(value, dict):
            alike(value, other[field])
        else:
            assert other[field] == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)), field


@pytest.mark.parametrize(("small", "worth"), [(1, 0.0), (1, 1.0), (1 << 16, 0.5), (1 << 16, 1.0)])
@settings(max_examples=30, deadline=None)
@given(data=tables(), epsilon=st.sampled_from([0.0, 0.01, 0.2]), threshold=st.sampled_from([0.0, 0.2, 0.5]))
def test_the_large_table_method_gives_the_same_numbers(
    data: Microdata, epsilon: float, threshold: float, small: int, worth: float
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(known_threads, "SMALL", small)  # so small that keys are sorted and lists shared out
        monkeypatch.setattr(known_large, "_BLOCK", 3)
        monkeypatch.setattr(record_sums, "_BLOCK", 3)
        monkeypatch.setattr(row_sums, "_SORTED", small - 1)  # 0: rows are numbered block by block
        monkeypatch.setattr(cover_sums, "_WORTH", worth)  # the share of sets that are summed on distinct rows
        plain, short = both(data, KnownSets(alpha=3, epsilon=epsilon, threshold=threshold), monkeypatch)
        names = attributes(data)
        tree = family([data.attribute(name).known for name in names], epsilon, 10_000)
        sums = known_large.large_sums(data, names, tree)
        assert sums is not None
        risk, (lower, upper) = sums.risk, sums.bounds()
        rows = sums.rows(np.arange(len(risk)))
    for name, values in (("risk", risk), ("lower", lower), ("upper", upper)):
        whole = np.zeros(len(data))
        whole[rows] = values * 3
        np.testing.assert_allclose(whole, plain.per_record[name].to_numpy(), rtol=1e-9, atol=1e-12)
    # a risk that equals the threshold but for rounding may fall on either side of it
    if not any(np.isclose(risk * 3, threshold, rtol=1e-9).tolist()):
        fields = {name: value for name, value in plain.summary.items() if name not in ("histogram", "undecided")}
        alike(fields, short.summary)


@settings(max_examples=60, deadline=None)
@given(
    data=tables(),
    epsilon=st.sampled_from([0.0, 0.2, 0.99]),
    threshold=st.sampled_from([0.0, 0.2, Among(among=2), Among(among=7.5)]),
    alpha=st.sampled_from([1.0, 3.0, 1e-310, 1e300]),
)
def test_a_block_is_summarized_to_the_last_bit_as_whole_arrays_are(
    data: Microdata, epsilon: float, threshold: float | Among, alpha: float
) -> None:
    names = attributes(data)
    tree = family([data.attribute(name).known for name in names], epsilon, 10_000)
    sums = known_large.large_sums(data, names, tree)
    assert sums is not None
    lower, upper = sums.bounds()
    weight, kept, whole = (mass[sums._kind] for mass in sums._masses)
    sizes = effective_sizes(sums.risk, lower, upper, weight, kept, whole, len(data), sums._empty)
    expected = Summary(threshold)
    with np.errstate(all="ignore"):
        expected.add(sums.risk * alpha, lower * alpha, upper * alpha, sizes)
    assert sums.summarize(threshold, alpha).statistics() == expected.statistics()
    np.testing.assert_array_equal(sums._far, sizes.value)


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False), st.integers(-320, 308), st.integers(-3, 3))
def test_the_power_of_ten_of_a_risk_is_that_of_its_logarithm(risk: float, power: int, steps: int) -> None:
    near = 10.0**power if steps == 0 else float(np.nextafter(10.0**power, np.inf if steps > 0 else 0.0))
    for value in (risk, near, near * (1 + steps * 1e-7)):
        if value == 0 or np.isinf(value):
            continue
        memory = np.empty((3, 1))
        part = LargeSums(
            2, None, np.array([value]), np.zeros(1), np.ones(1, np.int32), np.zeros(1, np.uint8), np.ones(1), np.zeros(1),
            (np.ones(1), np.ones(1), np.ones(1)), 0.0,
        )._summarize_block(0, 0.5, 1.0, np.ones((1, 5)), np.zeros((1, 2), np.bool_), memory)  # fmt: skip
        assert part.powers == powers_of_ten(np.array([value]))


@pytest.mark.parametrize("word", [0, 5])
def test_covers_whose_codes_do_not_fit_into_one_integer_are_counted_on_the_records(
    word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sums, "_WORD", word)  # with 5 bits some covers fit, others do not
    data = students(3000, dense=True)
    plain, short = both(data, KnownSets(epsilon=0.001), monkeypatch)
    alike(plain.summary, short.summary)


def test_sensitive_attributes_that_may_be_known_are_taken_off_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sums, "_SORTED", 100)
    data = students(30_000, dense=True)
    plain, short = both(data, KnownSets(epsilon=0.0005), monkeypatch)
    assert plain["sets"] > 500
    alike(plain.summary, short.summary)
    for name in ("risk", "lower", "upper"):
        np.testing.assert_allclose(plain.per_record[name], short.per_record[name], rtol=1e-9)


@pytest.mark.parametrize("dense", [False, True])
def test_students_have_the_same_summary_records_and_riskiest(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = students(70_000, dense=dense)  # more than a thread's least
    plain, short = both(data, KnownSets(), monkeypatch)
    alike(plain.summary, short.summary)
    for name in plain.per_record.columns:
        if plain.per_record[name].dtype == pl.String:
            assert plain.per_record[name].equals(short.per_record[name])
        else:
            np.testing.assert_allclose(plain.per_record[name], short.per_record[name], rtol=1e-9)
    few, same = plain.riskiest(25), short.riskiest(25)
    assert few["record"].to_list() == same["record"].to_list()
    assert few["top_set"].to_list() == same["top_set"].to_list()
    np.testing.assert_allclose(few["top_share"], same["top_share"], rtol=1e-9)


def test_deep_sets_where_most_records_leave_are_counted_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    frame = pl.DataFrame({f"x{at}": random.integers(0, 30, 3000) for at in range(6)})
    said = {name: {"known": 0.6, "sensitivity": 1.0 if name == "x5" else 0.0} for name in frame.columns}
    monkeypatch.setattr(known_threads, "SMALL", 64)
    data = Microdata(frame, Policy.from_dict({"attributes": said}))
    plain, short = both(data, KnownSets(epsilon=0.0), monkeypatch)
    alike(plain.summary, short.summary)


def test_wildcard_nulls_use_the_general_method(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"x": ["a", None, "b", "b"], "y": ["s", "s", None, "t"]})
    data = Microdata(frame, Policy.from_dict({"attributes": {"x": {"known": 0.5}, "y": {"known": 0.1, "sensitivity": 1.0}}}))
    plain, short = both(data, KnownSets(missing="wildcard", epsilon=0), monkeypatch)
    assert plain.summary == short.summary


def test_too_many_consequence_classes_use_the_general_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequence_classes, "_MOST_CLASSES", 1)
    monkeypatch.setattr(consequence_classes, "_CLASSES_PER_RECORD", 0.0)
    data = students(500)
    plain, short = both(data, KnownSets(), monkeypatch)
    assert plain.summary == short.summary


def test_per_record_values_of_a_large_table_are_refused_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.errors import MemoryLimitError

    monkeypatch.setattr(large_size, "LARGE_TABLE", 1)
    score = KnownSets().measure(students(500))
    monkeypatch.setenv("DISCREET_MEMORY", "100MB")
    with pytest.raises(
        MemoryLimitError, match=r"a row of known_sets for each of 500 records needs about \d+ MB of memory; 100 MB are free"
    ):
        _ = score.per_record


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.02, 0.1, 0.3, 0.3, 0.7, 0.9]), min_size=1, max_size=7), st.sampled_from([0.0, 0.001, 0.05]))
def test_every_known_set_is_in_one_cover_that_contains_it(chances: list[float], epsilon: float) -> None:
    tree = family(chances, epsilon, 1000)
    chosen = covers.choose_covers(tree, [1.0 + place % 3 for place in range(len(chances))])
    assert sorted(node for cover in chosen for node in cover.nodes) == list(range(1, len(tree)))
    assert all(set(tree.sets[node]) <= set(cover.places) for cover in chosen for node in cover.nodes)
    for cover in chosen:
        part = covers.partial_tree(tree, cover.nodes)
        assert sorted(node for node in part.node.tolist() if node >= 0) == sorted(cover.nodes)


def test_a_limit_that_the_bounds_leave_open_is_still_narrowed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    data = students(400, dense=True)
    monkeypatch.setattr(large_size, "LARGE_TABLE", 1)
    middle = float(np.median(KnownSets(epsilon=0.2).measure(data).per_record["risk"].to_numpy()))
    measure = KnownSets(epsilon=0.2, threshold=middle * 1.01)
    assert measure.measure(data)["undecided"] > 0
    assert measure.for_limits({"undecided": 0.0}, seconds=60.0).measure(data)["undecided"] == 0


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([0.05, 0.3]), st.floats(0.01, 3))
def test_deciding_by_larger_families_agrees_with_deciding_record_by_record(
    data: Microdata, epsilon: float, threshold: float
) -> None:
    measure = KnownSets(alpha=3, epsilon=epsilon, threshold=threshold, decide=True)
    exact = KnownSets(alpha=3, epsilon=0.0, threshold=threshold).measure(data).per_record["risk"].to_numpy()
    if np.isclose(exact, threshold, rtol=1e-6).any():
        return
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(large_size, "LARGE_TABLE", 1)
        monkeypatch.setattr(finer, "_FEW", 0.0)
        score = measure.measure(data)
    assert score["undecided"] == 0
    assert ((score.per_record["lower"].to_numpy() > threshold) == (exact > threshold)).all()
    assert (score.per_record["lower"].to_numpy() <= exact * (1 + 1e-9) + 1e-12).all()
    assert (score.per_record["upper"].to_numpy() >= exact * (1 - 1e-9) - 1e-12).all()
