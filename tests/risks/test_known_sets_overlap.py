"""known_sets where cells are coarse: two cells agree where some value could be behind both. Against nested loops."""

from __future__ import annotations

import datetime
import re
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet import Policy
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.known_sets import counter as known_counts
from discreet.engine.known_sets import inputs as known_inputs
from discreet.engine.known_sets import sums as known_sums
from discreet.engine.known_sets import threads as known_threads
from discreet.engine.overlap import bits
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students

Cell = tuple[str | None, frozenset[Any] | None]
"""A cell's text, and all it may stand for (None: anything); a null is (None, None)."""

_GRID = [at / 2 for at in range(-4, 20)]  # whole numbers and one number in each gap: bounds are whole
_FIRST = datetime.date(2014, 4, 28)
_DAYS = [_FIRST + datetime.timedelta(at) for at in range(12)]
_LEAVES = ("a", "b", "c", "d", "e")
_GROUPS = ({"ab": ("a", "b"), "cd": ("c", "d"), "e": ("e",)}, {"abcd": ("ab", "cd"), "rest": ("e",)})
_LABELS = {"ab": "ab", "cd": "cd", "abcd": "abcd", "rest": "e"}


def number_cells() -> st.SearchStrategy[Cell]:
    whole = st.integers(0, 6)

    def between(ends: tuple[int, int], form: int) -> Cell:
        low, high = min(ends), max(ends)
        text = (f"{low}..{high}", f"[{low}, {high}]", f"({low}, {high}]", f"<{low}", f">={high}", f"<={low}", f">{high}")[form]
        inside = [
            (low <= one < high, low <= one <= high, low < one <= high, one < low, one >= high, one <= low, one > high)[form]
            for one in _GRID
        ]
        return text, frozenset(one for one, is_in in zip(_GRID, inside, strict=True) if is_in)

    groups = st.frozensets(whole, min_size=1, max_size=3).map(
        lambda some: ("{" + "|".join(map(str, sorted(some))) + "}", frozenset(map(float, some)))
    )
    return st.one_of(
        whole.map(lambda one: (str(one), frozenset({float(one)}))),
        st.builds(between, st.tuples(whole, whole), st.integers(0, 6)),
        groups,
    )  # fmt: skip


def date_cells() -> st.SearchStrategy[Cell]:
    at = st.integers(0, len(_DAYS) - 2)

    def between(ends: tuple[int, int], form: int) -> Cell:
        low, high = _DAYS[min(ends)], _DAYS[max(ends) + 1]
        text = (f"{low}..{high}", f"[{low}, {high}]", f">={low}", "2014-05")[form]
        inside = [(low <= one < high, low <= one <= high, one >= low, one.month == 5)[form] for one in _DAYS]
        return text, frozenset(one for one, is_in in zip(_DAYS, inside, strict=True) if is_in)

    plain = at.map(lambda one: (str(_DAYS[one]), frozenset({_DAYS[one]})))
    return st.one_of(plain, st.builds(between, st.tuples(at, at), st.integers(0, 3)))


def label_cells() -> st.SearchStrategy[Cell]:
    labels = st.sampled_from(sorted(_LABELS)).map(lambda one: (one, frozenset(_LABELS[one])))
    groups = st.frozensets(st.sampled_from(_LEAVES), min_size=1, max_size=3).map(
        lambda some: ("{" + "|".join(sorted(some)) + "}", some)
    )
    return st.one_of(st.sampled_from(_LEAVES).map(lambda one: (one, frozenset({one}))), labels, groups)


KINDS = (number_cells, date_cells, label_cells)
CHANCES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])


@st.composite
def tables(draw: Any) -> tuple[Microdata, list[list[Cell]], list[float], list[float]]:
    size, width = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    columns, attributes, cells, chances = {}, {}, [], []
    for at in range(width):
        kind = draw(st.sampled_from(KINDS))
        some = st.one_of(kind(), kind(), kind(), st.sampled_from([(None, None), ("*", None)]))
        column = draw(st.lists(some, min_size=size, max_size=size))
        # one cell that only numbers or dates have, so that the reader knows which of them the column holds
        column[0] = {number_cells: ("0..9", frozenset(one for one in _GRID if 0 <= one < 9)), date_cells: (
            "2014-05-01..2014-05-04", frozenset(_DAYS[3:6])), label_cells: ("a", frozenset("a"))}[kind]  # fmt: skip
        columns[f"k{at}"] = pl.Series([text for text, _ in column], dtype=pl.String)
        chances.append(draw(CHANCES))
        attributes[f"k{at}"] = {"known": chances[-1]} | ({"hierarchy": {"groups": _GROUPS}} if kind is label_cells else {})
        cells.append(column)
    ill = draw(st.lists(st.sampled_from(["Flu", "Cancer", "none"]), min_size=size, max_size=size))
    columns["ill"] = pl.Series(ill)
    attributes["ill"] = {"sensitivity": 1.0, "values": {"Flu": 0.25, "Cancer": 1.0}}
    weights = [{"Flu": 0.25, "Cancer": 1.0, "none": 0.0}[value] for value in ill]
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes})), cells, chances, weights


def agree(one: Cell, other: Cell, missing: str) -> bool:
    if "*" in (one[0], other[0]):
        return True
    if one[0] is None or other[0] is None:
        return missing == "wildcard" or one[0] is other[0]
    return one[0] == other[0] or bool(one[1] & other[1])  # type: ignore[operator]


def brute(cells: list[list[Cell]], chances: list[float], weights: list[float], missing: str, epsilon: float) -> list[float]:
    """The definition: every set of attributes, every record, every other record."""
    size, width = len(weights), len(cells)
    made = [0.0] * size
    for length in range(width + 1):
        for some in combinations(range(width), length):
            chance = 1.0
            for at in some:
                chance *= chances[at]
            if length and not chance > epsilon:
                continue
            for row in range(size):
                count = sum(all(agree(cells[at][row], cells[at][other], missing) for at in some) for other in range(size))
                made[row] += chance / count * weights[row]
    return made


@pytest.mark.parametrize("by_bits", [False, True])
@pytest.mark.parametrize("small", [1 << 16, 1])
@given(tables(), st.sampled_from(["category", "wildcard"]), st.sampled_from([0.0, 0.01, 0.2]))
@settings(max_examples=60, deadline=None)
def test_risk_and_bounds_equal_those_of_nested_loops(by_bits: bool, small: int, table: Any, missing: Any, epsilon: float) -> None:
    data, cells, chances, weights = table
    with pytest.MonkeyPatch.context() as patch:
        if by_bits:
            _count_by_bits(patch)
        patch.setattr(known_threads, "SMALL", small)
        patch.setattr(known_counts, "_TABLE_PER_RECORD", 2 if small > 1 else 0)
        measure = KnownSets(alpha=1, epsilon=epsilon, missing=missing, threshold=0.1)
        found = measure.measure(data).per_record
        narrow = KnownSets(alpha=1, epsilon=max(epsilon, 0.2), missing=missing, tolerance=1e-6, decide=True).measure(data)
    kept = brute(cells, chances, weights, missing, epsilon)
    every = brute(cells, chances, weights, missing, 0.0)
    assert found["risk"].to_list() == pytest.approx(kept, rel=1e-9, abs=1e-12)
    for (low, high), true in zip(found.select("lower", "upper").iter_rows(), every, strict=True):
        assert low * (1 - 1e-9) <= true <= high * (1 + 1e-9)
    for (low, high), true in zip(narrow.per_record.select("lower", "upper").iter_rows(), every, strict=True):
        assert low * (1 - 1e-9) <= true <= high * (1 + 1e-9)
        assert high - low <= 1e-6 * low + 1e-12
    for record in range(len(data)):
        told = measure.explain(data, record)[0]
        assert float(re.search(r"risk (\S+) over", told)[1]) == pytest.approx(kept[record], rel=1e-5)  # type: ignore[index]


def _count_by_bits(patch: pytest.MonkeyPatch) -> None:
    """Leave the lists at the first set with overlapping cells."""
    patch.setattr(known_sums, "_MANY_STEPS", 0)
    patch.setattr(bits.BitCounter, "is_quicker", lambda *_: True)


def _groups_of_near_records(data: Microdata) -> Microdata:
    """The table in groups of five near records that publish ranges."""
    step = {"method": "microaggregation", "columns": data.named(Role.KEY), "size": 5, "how": "mdav", "publish": "ranges"}
    return discreet.mask(data.with_policy(data.policy.with_(plan=Plan.model_validate({"steps": [step], "seed": 7})))).masked


@pytest.mark.parametrize("informed", [False, True])
def test_groups_of_near_records_have_the_same_risk_by_lists_and_by_bits(informed: bool) -> None:
    """To the last bit, for all records: which of the two counts depends on how many cells overlap."""
    data = students(600, seed=5)
    release = _groups_of_near_records(data)
    measure, original = KnownSets(), data if informed else None
    by_lists = measure.measure(release, original=original)
    with pytest.MonkeyPatch.context() as patch:
        _count_by_bits(patch)
        by_bits = measure.measure(release, original=original)
    assert by_bits.summary == by_lists.summary
    assert by_bits.per_record.equals(by_lists.per_record)


def test_cells_that_overlap_in_many_ways_are_counted_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of all agreeing groups took 17 s of processor time where bits take 1 (10,000 records in groups of 5)."""
    data = students(2500, seed=5)
    release = _groups_of_near_records(data)
    walks: list[int] = []
    walk = bits.BitCounter.walk
    monkeypatch.setattr(bits.BitCounter, "walk", lambda counter, *rest: (walks.append(counter.kinds), walk(counter, *rest)))
    KnownSets().measure(release)
    KnownSets().measure(data)  # plain values are counted by groups
    assert len(walks) == 1
    assert walks[0] < len(data) / 4


@given(tables(), st.integers(0, 8), st.data())
@settings(max_examples=40, deadline=None)
def test_a_coarser_cell_never_lowers_a_count_or_raises_another_records_risk(table: Any, row: int, data: st.DataObject) -> None:
    released, cells, _, weights = table
    row %= len(weights)
    at = data.draw(st.integers(0, len(cells) - 1))
    series = released.frame[f"k{at}"].to_list()
    if series.count(series[row]) == 1:
        return  # without its only interval a column that declares no kind would be read as text
    series[row] = "*"
    coarser = released.with_columns({f"k{at}": pl.Series(series, dtype=pl.String)})
    measure = KnownSets(alpha=1, epsilon=0, missing="wildcard")
    before, after = (measure.measure(one).per_record["risk"].to_list() for one in (released, coarser))
    assert all(new <= old * (1 + 1e-9) for old, new in zip(before, after, strict=True))


def test_a_label_of_the_hierarchy_agrees_with_its_values() -> None:
    """Fails where labels are values of their own: then the coarse record is found by its label alone, with risk 1."""
    attributes = {"zip": {"known": 1, "hierarchy": {"prefixes": [4]}}, "ill": {"sensitivity": 1}}
    policy = Policy.from_dict({"attributes": attributes})
    data = Microdata(pl.DataFrame({"zip": ["48201", "48202", "4820*", "48203"], "ill": ["y"] * 4}), policy)
    risk = KnownSets(alpha=1, epsilon=0).measure(data).per_record["risk"].to_list()
    assert risk == pytest.approx([0.25 + 1 / 2, 0.25 + 1 / 2, 0.25 + 1 / 4, 0.25 + 1 / 2])


def _plan(threshold: float) -> Plan:
    return Plan.model_validate({"steps": [{"method": "targeted_generalization", "threshold": threshold}], "seed": 7})


def test_the_written_release_shows_the_gain_of_targeted_generalization(tmp_path: Any) -> None:
    """Finding 4: what the method promises of its release is what known_sets measures on the file, without the original."""
    data = students(1500, seed=3, dense=True)
    threshold = 8.0
    policy = data.policy.with_(
        risk={"known_sets": {"threshold": threshold, "missing": "wildcard"}},
        plan=_plan(threshold),
    )
    release = discreet.mask(data.with_policy(policy))
    story = release.masked.cache["targeted_generalization"]
    before = KnownSets(threshold=threshold, missing="wildcard").measure(data).summary["high_risk"]
    assert before > 20 > len(story.remaining)
    discreet.write(release, tmp_path / "release.csv")
    read = discreet.read(tmp_path / "release.csv", policy)
    for table in (release.masked, read):
        assert KnownSets(threshold=threshold, missing="wildcard").measure(table).summary["high_risk"] == len(story.remaining)


def test_original_values_give_the_same_counts_by_layers_and_by_overlap() -> None:
    """Which of the two ways counts for an intruder who knows the original values makes no difference."""
    data = students(400, seed=5, dense=True)
    policy = data.policy.with_(plan=_plan(1.0))
    release = discreet.mask(data.with_policy(policy)).masked
    found = []
    for most in (0, 100_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(known_inputs, "_MOST_LAYERED", most)
            found.append(KnownSets().measure(release, original=data).per_record)
    assert found[0].equals(found[1])


@given(tables(), st.sampled_from(["category", "wildcard"]), st.sampled_from([0.2, 0.5, 0.9]))
@settings(max_examples=30, deadline=None)
def test_targeted_suppression_of_a_coarse_table_keeps_its_guarantee(table: Any, missing: Any, threshold: float) -> None:
    """The records that the step leaves above the threshold are those that known_sets finds there."""
    data, _, chances, _ = table
    assume(any(chance > 0.01 for chance in chances))
    method = TargetedSuppression(alpha=1, epsilon=0.01, threshold=threshold, missing=missing)
    masked = method.mask(data, method.choose(data), KeyedDraw(7))
    found = KnownSets(alpha=1, epsilon=0.01, threshold=threshold, missing=missing).measure(masked)
    assert found.summary["high_risk"] == len(masked.cache[method.name].remaining)


def test_labels_keep_their_meaning_where_the_interval_that_showed_it_is_suppressed() -> None:
    """Without any interval left, ``2014-05`` was read as a text that agrees with no day of May."""
    columns = {
        "day": ["2014-05-01..2014-05-04", "2014-04-28", "2014-05-01", "*", "2014-05"],
        "size": ["0..9", "0", "0", "0", "0"],
        "ill": ["Cancer", "Flu", "Flu", "Flu", "Flu"],
    }
    policy = {
        "attributes": {
            "day": {"role": "key", "known": 0.9},
            "size": {"role": "key", "known": 0.3},
            "ill": {"role": "confidential", "sensitivity": 1.0, "values": {"Flu": 0.25, "Cancer": 1.0}},
        },
        "risk": {"known_sets": {"alpha": 1, "epsilon": 0.01, "threshold": 0.2}},
        "plan": {"steps": [{"method": "targeted_suppression", "missing": "category"}]},
    }
    release = discreet.mask(discreet.read(pl.DataFrame(columns), policy))
    assert release.masked.frame["day"].to_list() == [None, None, "2014-05-01", "*", "2014-05"]
    risks = discreet.risk(release.masked, "known_sets")["known_sets"].per_record["risk"].to_list()
    assert [risk > 0.2 for risk in risks] == [True, False, False, False, False]
