from __future__ import annotations

import datetime
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.runtime.progress import progress_listener
from discreet.errors import DataError, ParameterError
from discreet.masking.balanced_partition.cuts import KEYS, PERSON, CandidateCuts, weigh_cuts
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.repeated_records.measure import RepeatedRecords
from discreet.testing import check_masking, table

DRAW = KeyedDraw(7)
KEY_NAMES = ["age", "zip", "school", "town"]
SCHOOL = ["none", "primary", "high", "college"]
TOWNS = ["Ham", "Lyon", "Bonn", "Paris", "Kiel"]  # as the tree stands: the first label named, then its leaves
POLICY: dict[str, Any] = {
    "attributes": {
        "who": {"role": "person"},
        "age": {"role": "key"},
        "zip": {"role": "key"},
        "school": {"role": "key", "order": SCHOOL},
        "town": {"role": "key", "hierarchy": "towns.csv"},
        "ill": {"role": "confidential"},
        "drug": {"role": "confidential"},
    }
}
TREE = "Ham;Germany;*\nLyon;France;*\nBonn;Germany;*\nParis;France;*\nKiel;Germany;*\n"
TREE_ORDER = {"Ham": 0, "Bonn": 1, "Kiel": 2, "Lyon": 3, "Paris": 4}
ROWS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.one_of(st.none(), st.integers(20, 26), st.integers(0, 10**6)),
        st.sampled_from([0.5, 1.5, 4.0, None]),
        st.sampled_from(SCHOOL),
        st.sampled_from(TOWNS),
        st.sampled_from(["flu", "cold", "ulcer", None]),
        st.sampled_from([1, 2, 3]),
    ),
    max_size=30,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    hierarchies = tmp_path_factory.mktemp("hierarchies")
    (hierarchies / "towns.csv").write_text(TREE)
    return str(hierarchies)


def microdata(rows: list[tuple[Any, ...]], folder: str) -> Microdata:
    types = {
        "who": pl.Int64,
        "age": pl.Int64,
        "zip": pl.Float64,
        "school": pl.String,
        "town": pl.String,
        "ill": pl.String,
        "drug": pl.Int64,
    }
    frame = pl.DataFrame({name: [row[column] for row in rows] for column, name in enumerate(types)}, schema=types)
    return Microdata(frame, Policy.from_dict(POLICY, folder=folder))


def axis_by_definition(rows: list[tuple[Any, ...]], key: int, scale: str) -> tuple[list[int], list[Fraction], Fraction]:
    """Ranks and positions of one key, and the unit of its variance."""
    values = [row[1 + key] for row in rows]
    position_of = {2: SCHOOL.index, 3: TREE_ORDER.__getitem__}.get(key, Fraction)
    known = [Fraction(position_of(value)) for value in values if value is not None]
    if not known:
        return [0] * len(values), [Fraction(0)] * len(values), Fraction(1)
    low, high = min(known), max(known)
    null = high + (high - low or 1)
    positions = [null if value is None else Fraction(position_of(value)) for value in values]
    order = sorted(set(positions))
    unit = Fraction(1)
    if scale == "range":
        unit = (high - low) ** 2
    elif scale == "std":
        mean = sum(known) / len(known)
        unit = sum(((x - mean) ** 2 for x in known), Fraction(0)) / len(known)
    return [order.index(x) for x in positions], positions, unit or Fraction(1)


def g_of(rows: list[tuple[Any, ...]]) -> Fraction:
    counts = Counter(row[0] for row in rows)
    return 1 - sum((Fraction(c, len(rows)) ** 2 for c in counts.values()), Fraction(0))


def h_of(rows: list[tuple[Any, ...]], column: int) -> float:
    persons = {row[0] for row in rows}
    return max(len({row[0] for row in rows if row[column] == value}) for value in {row[column] for row in rows}) / len(persons)


def satisfies_by_definition(members: list[tuple[Any, ...]], method: BalancedPartition) -> bool:
    if method.criterion == "records":
        too_few = method.k is not None and len(members) < method.k
        too_uniform = method.l is not None and any(len({row[column] for row in members}) < method.l for column in (5, 6))
        return not too_few and not too_uniform
    if method.criterion == "persons":
        return method.k is not None and len({row[0] for row in members}) >= method.k
    counts = Counter(row[0] for row in members)
    if 1.0 - sum(c * c for c in counts.values()) / len(members) ** 2 < (method.g or 0.0):
        return False
    for column, name in ((5, "ill"), (6, "drug")):
        max_h = method.h.get(name, 1.0) if isinstance(method.h, dict) else method.h or 1.0
        if h_of(members, column) > max_h:
            return False
    return True


def partition_by_definition(rows: list[tuple[Any, ...]], method: BalancedPartition) -> list[int]:
    """Table 3 as printed, in exact numbers; one group number per record."""
    axes = [axis_by_definition(rows, key, method.scale) for key in range(4)]
    weights = [Fraction(method.weights.get(name, 1.0)) for name in KEY_NAMES]

    def halves(t: list[int], key: int) -> tuple[list[int], list[int]] | None:
        ranks = axes[key][0]
        points = sorted({ranks[i] for i in t})[:-1]
        if not points:
            return None
        # closest to the median: the left part closest to one half; of two such points the upper one
        cut = min(points, key=lambda point: (abs(Fraction(len(t), 2) - sum(ranks[i] <= point for i in t)), -point))
        return [i for i in t if ranks[i] <= cut], [i for i in t if ranks[i] > cut]

    def ratio(t: list[int], key: int, parts: tuple[list[int], list[int]]) -> Fraction:
        positions, unit = axes[key][1], axes[key][2]
        mean = sum(positions[i] for i in t) / len(t)
        variance = sum(((positions[i] - mean) ** 2 for i in t), Fraction(0)) / len(t) / unit * weights[key]
        if method.criterion != "balance":
            return 1 / variance
        delta = g_of([rows[i] for i in t])
        for part in parts:
            delta -= Fraction(len(part), len(t)) * g_of([rows[i] for i in part])
        assert delta >= 0
        return delta / variance

    groups = [0] * len(rows)
    todo, number = [list(range(len(rows)))], 0
    while todo:
        t = todo.pop()
        candidates = [(key, parts) for key in range(4) if (parts := halves(t, key)) is not None]
        for _, parts in sorted(candidates, key=lambda candidate: (ratio(t, *candidate), candidate[0])):
            if all(satisfies_by_definition([rows[i] for i in part], method) for part in parts):
                todo += parts
                break
        else:
            number += 1
            for i in t:
                groups[i] = number
    return groups


def same_groups(first: list[int], second: list[int]) -> bool:
    return len(set(first)) == len(set(second)) == len(set(zip(first, second, strict=True)))


METHODS = st.one_of(
    st.builds(
        BalancedPartition,
        g=st.sampled_from([0.0, 0.3, 0.5, 0.6]),
        h=st.sampled_from([None, 0.9, 0.7, {"ill": 0.8}, {"drug": 0.7, "ill": 1.0}]),
        scale=st.sampled_from(["range", "std", "none"]),
        weights=st.sampled_from([{}, {"zip": 4.0, "town": 0.25}]),
    ),
    st.builds(BalancedPartition, criterion=st.just("records"), k=st.integers(1, 4), l=st.sampled_from([None, 2])),
    st.builds(BalancedPartition, criterion=st.just("persons"), k=st.integers(1, 4)),
)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, method=METHODS)
def test_the_partition_equals_table_3_as_printed(rows: list[tuple[Any, ...]], method: BalancedPartition, folder: str) -> None:
    data = microdata(rows, folder)
    whole = satisfies_by_definition(rows, method) if rows else True
    if not whole:
        with pytest.raises(DataError, match="as one group violate the requirements"):
            method.partition(data, KEY_NAMES)
        return
    partition = method.partition(data, KEY_NAMES)
    assert same_groups(partition.group.tolist(), partition_by_definition(rows, method))


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, publish=st.sampled_from(["ranges", "means"]), method=METHODS)
def test_published_classes_are_the_groups_and_satisfy_g_and_h(
    rows: list[tuple[Any, ...]], publish: Any, method: BalancedPartition, folder: str
) -> None:
    data = microdata(rows, folder)
    method = method.model_copy(update={"publish": publish})
    try:
        partition = method.partition(data, KEY_NAMES)
    except DataError:
        return
    masked = method.mask(data, KEY_NAMES, DRAW)
    seen = list(zip(*(masked.frame[name].to_list() for name in KEY_NAMES), strict=True))
    numbers = {row: number for number, row in enumerate(dict.fromkeys(seen))}
    assert same_groups(partition.group.tolist(), [numbers[row] for row in seen])
    assert masked.frame.select("who", "ill", "drug").equals(data.frame.select("who", "ill", "drug"))
    plain = masked.with_policy(
        Policy.from_dict({"attributes": {n: {"role": a["role"]} for n, a in POLICY["attributes"].items()}})
    )
    plain.cache.clear()
    score = RepeatedRecords().measure(plain)
    if rows and method.criterion == "balance":
        assert score["min_g"] >= (method.g or 0.0)
        max_h = method.h if isinstance(method.h, dict) else dict.fromkeys(("ill", "drug"), method.h or 1.0)
        assert score.per_attribute is not None
        for name, h in score.per_attribute.select("attribute", "max_h").iter_rows():
            assert h <= max_h.get(name, 1.0)
    elif rows:
        assert score["k" if method.criterion == "records" else "min_persons"] >= (method.k or 0)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=40), st.integers(0, 3))
def test_the_g_balance_reduction_is_that_of_equation_2_and_never_negative(pairs: list[tuple[int, int]], cut: int) -> None:
    pairs.sort(key=lambda pair: pair[0])
    rows = np.zeros((len(pairs), KEYS + 1), dtype=np.int32)
    rows[:, PERSON], rows[:, KEYS] = zip(*pairs, strict=True)
    parts = [[pair for pair in pairs if pair[1] <= cut], [pair for pair in pairs if pair[1] > cut]]
    if not all(parts):
        return
    sums = np.zeros((1, 2), dtype=np.int64)
    cuts = CandidateCuts(np.array([cut]), np.array([len(parts[0])]), np.ones(1), np.ones(1), sums, sums.copy())
    weigh_cuts(rows, 0, len(pairs), cuts)
    expected = g_of(pairs) - sum(Fraction(len(part), len(pairs)) * g_of(part) for part in parts)
    assert expected >= 0
    assert cuts.reduction[0] >= 0
    assert cuts.reduction[0] == pytest.approx(float(expected), rel=1e-9, abs=1e-15)
    assert cuts.persons[0].tolist() == [len({who for who, _ in part}) for part in parts]


def test_the_groups_do_not_depend_on_the_order_of_records_or_on_threads(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    from discreet.masking.balanced_partition import partition as partition_balanced

    rng = np.random.default_rng(3)
    size = 4000
    frame = pl.DataFrame({
        "who": rng.integers(0, 1200, size), "age": rng.integers(0, 90, size), "zip": rng.normal(size=size),
        "ill": rng.integers(0, 9, size), "drug": rng.integers(0, 9, size),
    })  # fmt: skip
    policy = Policy.from_dict({"attributes": {n: POLICY["attributes"][n] for n in frame.columns}})
    data, method = Microdata(frame, policy), BalancedPartition(g=0.9, h=0.6)
    groups = method.partition(data, ["age", "zip"]).group
    order = rng.permutation(size)
    assert same_groups(groups[order].tolist(), method.partition(data.take(order), ["age", "zip"]).group.tolist())
    monkeypatch.setattr(partition_balanced, "_TASK_RECORDS", 100)
    monkeypatch.setenv("DISCREET_THREADS", "3")
    progress: list[int] = []
    with progress_listener(lambda what, done, total: progress.append(done)):
        assert (method.partition(data, ["age", "zip"]).group == groups).all()
    assert progress == sorted(progress)
    assert progress[-1] == size


def small(**more: list[Any]) -> Microdata:
    columns = {"who": [1, 1, 2, 3, 4, 4], "age": [20, 21, 22, 40, 41, 42], "ill": list("abcabc"), **more}
    return table(columns, person=["who"], key=["age", *more], confidential=["ill"])


def test_a_time_limit_leaves_valid_groups_and_a_note() -> None:
    data = small()
    release = discreet.mask(data, {"steps": [{"method": "balanced_partition", "g": 0.4, "seconds": 1e-9, "ends": "exact"}]})
    assert release.masked.frame["age"].to_list() == ["[20, 42]"] * 6
    (note,) = release.log[0].notes
    assert note.startswith("the time limit of 1e-09 seconds ended the splitting: 1 of 1 groups might be split further")
    assert discreet.mask(data, {"steps": [{"method": "balanced_partition", "g": 0.4}]}).log[0].notes == ()


def test_an_unbalanced_table_is_an_error_with_the_difference() -> None:
    with pytest.raises(DataError, match=r"g-balance is 0\.722222, 0\.177778 less than g = 0\.9"):
        BalancedPartition(g=0.9).mask(small(), ["age"], DRAW)
    with pytest.raises(DataError, match=r"h-affiliation of 'ill' is 0\.5, 0\.25 more than h = 0\.25"):
        BalancedPartition(g=0.1, h=0.25).mask(small(), ["age"], DRAW)
    with pytest.raises(DataError, match="4 persons, 3 fewer than k = 7"):
        BalancedPartition(criterion="persons", k=7).mask(small(), ["age"], DRAW)
    with pytest.raises(DataError, match="'ill' has 3 distinct values, 1 fewer than l = 4"):
        BalancedPartition(criterion="records", k=1, l=4).mask(small(), ["age"], DRAW)


def test_columns_of_one_value_are_unchanged() -> None:
    masked = BalancedPartition(g=0.4).mask(small(flat=[5] * 6), ["age", "flat"], DRAW)
    assert masked.frame["flat"].to_list() == [5] * 6
    assert masked.frame.schema["flat"] == pl.Int64


def test_equal_values_are_never_separated() -> None:
    data = table({"who": list(range(8)), "age": [1, 2, 2, 2, 2, 2, 2, 3]}, person=["who"], key=["age"])
    masked = BalancedPartition(criterion="records", k=1).mask(data, ["age"], DRAW)
    assert masked.frame["age"].to_list() == data.frame["age"].to_list()
    masked = BalancedPartition(criterion="records", k=2, ends="exact").mask(data, ["age"], DRAW)
    assert masked.frame["age"].to_list() == ["[1, 3]"] * 8


def test_means_of_numbers_and_dates_preserve_the_sums_of_groups() -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3, 11, 12, 16)]
    data = small(day=days, sex=list("fmfmfm"))
    weights = {"sex": 1e-3}
    masked = BalancedPartition(g=0.4, publish="means", weights=weights).mask(data, ["age", "day", "sex"], DRAW)
    assert masked.frame["age"].to_list() == [21.0] * 3 + [41.0] * 3
    assert masked.frame["day"].to_list() == [datetime.date(2020, 1, 2)] * 3 + [datetime.date(2020, 1, 13)] * 3
    assert masked.frame["sex"].to_list() == ["{f|m}"] * 6
    ranges = BalancedPartition(g=0.4, weights=weights, ends="exact").mask(data, ["age", "day", "sex"], DRAW)
    assert ranges.frame["day"].to_list() == ["[2020-01-01, 2020-01-03]"] * 3 + ["[2020-01-11, 2020-01-16]"] * 3


def test_a_hierarchy_is_published_with_its_labels(folder: str) -> None:
    rows = [(who, 20, 0.5, "none", town, "flu", 1) for who, town in enumerate(["Ham", "Bonn", "Kiel", "Lyon", "Paris", "Paris"])]
    data = microdata(rows, folder)
    masked = BalancedPartition(criterion="records", k=3).mask(data, KEY_NAMES, DRAW)
    assert masked.frame["town"].to_list() == ["Germany"] * 3 + ["France"] * 3
    masked = BalancedPartition(criterion="records", k=6).mask(data, KEY_NAMES, DRAW)
    assert masked.frame["town"].to_list() == ["*"] * 6
    masked = BalancedPartition(criterion="records", k=2).mask(data, KEY_NAMES, DRAW)
    assert masked.frame["town"].to_list() == ["Germany"] * 3 + ["France"] * 3


def test_a_group_with_a_null_publishes_null_for_that_key() -> None:
    data = table({"who": [1, 2, 3, 4], "age": [1, 2, 3, None]}, person=["who"], key=["age"])
    for publish in ("ranges", "means"):
        masked = BalancedPartition(criterion="persons", k=2, publish=publish).mask(data, ["age"], DRAW)
        assert masked.frame["age"].to_list()[2:] == [None, None]


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (list("abcdef"), "the nominal key 'more' has 6 values and no order"),
        ([1.0, 2.0, 3.0, 4.0, 5.0, float("inf")], "not finite"),
    ],
)
def test_keys_without_an_order_or_finite_values_are_refused(column: list[Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        BalancedPartition(g=0.1).check(small(more=column), ["age", "more"])


def test_integers_beyond_floats_are_published_exactly_or_not_at_all() -> None:
    big = 2**60
    data = table({"who": [1, 2, 3, 4], "id": [big, big + 1, big + 2, big + 3]}, person=["who"], key=["id"])
    masked = BalancedPartition(criterion="records", k=2, ends="exact").mask(data, ["id"], DRAW)
    assert masked.frame["id"].to_list()[::2] == [f"[{big}, {big + 1}]", f"[{big + 2}, {big + 3}]"]
    rounded = BalancedPartition(criterion="records", k=2).mask(data, ["id"], DRAW)
    assert rounded.frame["id"].to_list()[0] == f"[{big}, {big + 3}]"
    with pytest.raises(DataError, match="publish ranges"):
        BalancedPartition(criterion="records", k=2, publish="means").mask(data, ["id"], DRAW)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({}, "criterion: balance needs g"),
        ({"g": 1.0}, "less than 1"),
        ({"g": 0.5, "k": 3}, "takes g and h, not k"),
        ({"criterion": "records"}, "criterion: records needs k"),
        ({"criterion": "persons", "k": 3, "l": 2}, "takes k, not l"),
        ({"g": 0.1, "weights": {"agee": 2}}, "did you mean 'age'"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error(parameters: dict[str, Any], match: str) -> None:
    with pytest.raises((ParameterError, DataError), match=match):
        discreet.mask(small(), {"steps": [{"method": "balanced_partition", **parameters}]})


def test_h_needs_a_confidential_attribute_and_persons_need_a_person() -> None:
    data = table({"who": [1, 2], "age": [1, 2]}, key=["age"])
    with pytest.raises(DataError, match="exactly one attribute needs the role person"):
        BalancedPartition(g=0.1).check(data, ["age"])
    with pytest.raises(DataError, match="needs an attribute with the role confidential"):
        BalancedPartition(g=0.1, h=0.5).check(data, ["age"])
    BalancedPartition(criterion="records", k=2).check(data, ["age"])


def test_a_later_step_that_destroys_the_groups_causes_a_warning() -> None:
    steps = [{"method": "balanced_partition", "g": 0.4}, {"method": "sampling", "fraction": 0.4}]
    release = discreet.mask(small(), {"seed": 1, "steps": steps})
    assert len(release.warnings) == 2  # and that of the seed
    assert (
        "step 1 (balanced_partition): the final table has groups that violate the requirements: g-balance" in release.warnings[1]
    )


def test_with_one_record_per_person_balance_is_k_anonymity() -> None:
    rng = np.random.default_rng(5)
    columns = {"who": list(range(200)), "age": rng.integers(0, 60, 200).tolist(), "zip": rng.integers(0, 999, 200).tolist()}
    data = table(columns, person=["who"], key=["age", "zip"])
    balance = BalancedPartition(g=0.75).partition(data, ["age", "zip"])
    records = BalancedPartition(criterion="records", k=4).partition(data, ["age", "zip"])
    persons = BalancedPartition(criterion="persons", k=4).partition(data, ["age", "zip"])
    assert balance.group.tolist() == records.group.tolist() == persons.group.tolist()


def test_the_method_passes_the_conformance_kit() -> None:
    check_masking(BalancedPartition)
