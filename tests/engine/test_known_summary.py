"""The summary of risks over known sets against its definitions, however the records are divided."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.known_sets.effective_size import FEW, Sizes, effective_sizes, high_risk, is_below, risk_levels
from discreet.engine.known_sets.summary import QUANTILES, Summary, median_size, quantiles
from discreet.model.threshold import Among

NUMBERS = st.sampled_from([0.0, 1e-4, 0.01, 0.02, 0.5, 1.0, 10.0])
SIZES = st.sampled_from([1.0, 4.0, 5.0, 5.0 - 1e-12, 6.0, 40.0, math.nan])


@st.composite
def records(draw):
    """Risks and sizes of some records, each with an interval that contains it."""
    number = draw(st.integers(0, 8))
    rows = [sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS))) for _ in range(number)]
    sizes = []
    for _ in range(number):
        size = draw(SIZES)
        sizes.append((size / draw(st.sampled_from([1, 2])), size, size * draw(st.sampled_from([1, 3]))))
    risk = np.array(rows, dtype=float).reshape(-1, 3)
    size = np.array(sizes, dtype=float).reshape(-1, 3)
    return risk[:, 1], risk[:, 0], risk[:, 2], Sizes(size[:, 1].copy(), size[:, 0].copy(), size[:, 2].copy())


def added(threshold, *parts):
    summary = Summary(threshold)
    for part in parts:
        summary.add(*part)
    return summary


@pytest.mark.parametrize("threshold", [0.01, Among(among=5)], ids=str)
@given(data=records(), more=st.integers(0, 3))
def test_the_fields_are_those_of_their_definitions(threshold, data, more):
    risk, lower, upper, sizes = data
    total = len(risk) + more  # records that are never added have nothing to learn
    summary = added(threshold, data)
    fields = summary.fields(7, total, quantiles(risk, total, QUANTILES), None)

    def is_high(number, size):
        return size < threshold.among - 1e-6 if isinstance(threshold, Among) else number > threshold

    kept, certain, possible = (
        sum(is_high(*pair) for pair in zip(numbers, ends, strict=True))
        for numbers, ends in ((risk, sizes.value), (lower, sizes.upper), (upper, sizes.lower))
    )
    assert (fields["high_risk"], fields["undecided"]) == (kept, possible - certain)
    assert fields["mean"] == pytest.approx(sum(risk) / total if total else 0.0)
    assert fields["high_risk_share"] == (kept / total if total else 0.0)
    assert fields["max"] == max(risk, default=0.0)
    assert fields["below_5"] == sum(size < 5 - 1e-6 for size in sizes.value)
    assert fields["effective_k_min"] == min((size for size in sizes.value if size == size), default=None)
    assert fields["histogram"]["0"] == total - sum(risk > 0)
    assert sum(fields["histogram"].values()) == total
    for power in range(-5, 2):
        inside = sum(10.0**power <= number < 10.0 ** (power + 1) for number in risk)
        assert fields["histogram"].get(f"1e{power:+03d}", 0) == inside
    everybody = sorted([*risk, *[0.0] * more])
    for share, number in zip(QUANTILES, fields["quantiles"].values(), strict=True):
        assert number == (
            next(one for one in everybody if sum(other <= one for other in everybody) >= share * total) if total else 0
        )


@given(first=records(), second=records())
def test_statistics_of_parts_add_up_to_those_of_the_whole(first, second):
    whole, part = added(0.01, first, second), added(0.01, first)
    part.merge(added(0.01, second).statistics())
    assert part.statistics() == {name: pytest.approx(value) for name, value in whole.statistics().items()}


@given(data=records())
def test_bounds_contain_the_fields_and_are_in_order(data):
    summary, total = added(0.01, data), len(data[0])
    defined = data[3].part(data[3].defined)
    middle = median_size(defined.value.copy())
    fields, bounds = summary.fields(1, total, quantiles(data[0], total, QUANTILES), middle), summary.bounds(total, middle)
    for name, (low, high) in bounds.items():
        assert low - 1e-12 <= fields[name] <= high + 1e-12, name
    _, lower, upper, sizes = data
    assert bounds["high_risk"] == (sum(lower > 0.01), sum(upper > 0.01))
    assert bounds["below_5"] == (sum(sizes.upper < 5 - 1e-6), sum(sizes.lower < 5 - 1e-6))
    assert bounds["max"] == (max(lower, default=0.0), max(upper, default=0.0))
    assert bounds["mean"] == pytest.approx((sum(lower) / max(total, 1), sum(upper) / max(total, 1)))
    assert fields["widest"] == max(((high - low) / low for low, high in zip(lower, upper, strict=True) if low > 0), default=0.0)
    assert bounds["high_risk_share"] == tuple(number / max(total, 1) for number in bounds["high_risk"])
    smallest = (min(defined.lower), min(defined.upper)) if len(defined.value) else None
    assert bounds.get("effective_k_min") == smallest
    ends = [median_size(one.copy()) for one in (defined.lower, defined.upper)]
    if middle is not None:
        low, high = bounds["effective_k_median"]
        assert low * (1 - 1e-12) <= ends[0] <= middle <= ends[1] <= high * (1 + 1e-12)
        assert summary.bounds(total, middle, (ends[0], ends[1]))["effective_k_median"] == tuple(ends)


def test_doubt_about_records_is_said_and_certainty_is_not():
    sizes = Sizes(np.array([9.0]), np.array([9.0]), np.array([9.0]))
    doubtful = added(0.01, (np.array([0.01]), np.array([0.005]), np.array([0.02]), sizes))
    assert "whether 1 of 3 records are high-risk is not certain" in doubtful.notes(3, doubtful.bounds(3, 9.0))[0]
    decided = added(0.01, (np.array([0.02]), np.array([0.02]), np.array([0.02]), sizes))
    assert decided.notes(3, decided.bounds(3, 9.0)) == ()
    nothing = added(0.01, (np.zeros(1), np.zeros(1), np.zeros(1), sizes))
    assert "no record has anything to learn" in nothing.notes(1, nothing.bounds(1, None))[0]
    assert Summary(0.01).notes(0, {}) == ()


def test_a_table_without_records_has_certain_zeros():
    bounds = Summary(0.01).bounds(0, None)
    assert bounds == {"high_risk": (0, 0), "high_risk_share": (0, 0), "mean": (0, 0), "max": (0, 0), "below_5": (0, 0)}
    fields = Summary(0.01).fields(1, 0, quantiles(np.zeros(0), 0, QUANTILES), None)
    assert (fields["mean"], fields["high_risk_share"], fields["effective_k_min"]) == (0.0, 0.0, None)
    assert set(fields["quantiles"].values()) == {0.0}


def test_wide_bounds_of_the_sizes_are_said_and_narrow_ones_are_not():
    wide, narrow = (Sizes(np.array([6.0]), np.array([low]), np.array([6.0])) for low in (4.0, 5.9999))
    one = (np.array([0.001]),) * 3
    for sizes, said in ((wide, True), (narrow, False)):
        summary = added(0.01, (*one, sizes))
        assert any("effective_k_min is between" in note for note in summary.notes(1, summary.bounds(1, 6.0))) == said


@given(st.lists(st.floats(1, 100), max_size=9))
def test_the_median_is_the_smallest_size_that_half_of_the_records_do_not_exceed(sizes):
    expected = next((one for one in sorted(sizes) if 2 * sum(other <= one for other in sizes) >= len(sizes)), None)
    assert median_size(np.array(sizes)) == expected


def test_five_alike_are_not_fewer_than_five_and_an_undefined_size_is_below_nothing():
    assert is_below(np.array([4.99, 5.0 * (1 - 1e-12), 5.0, math.nan]), FEW).tolist() == [True, False, False, False]


def test_a_risk_at_the_threshold_is_not_high_and_doubt_lies_between_the_ends():
    size = np.array([2.0, 2.0, 2.0])
    judged = high_risk(
        0.5, np.array([0.5, 0.6, 0.4]), np.array([0.4, 0.5, 0.4]), np.array([0.5, 0.7, 0.6]), Sizes(size, size, size)
    )
    assert judged.kept.tolist() == [False, True, False]
    assert judged.certain.tolist() == [False, False, False]
    assert judged.possible.tolist() == [False, True, True]


@given(st.floats(1.0, 50.0), st.floats(0.01, 5.0), st.integers(1, 60), st.sampled_from([1.0, 100.0]), st.floats(1.5, 20.0))
def test_a_record_is_above_its_level_where_its_size_is_below_the_number(size, mass, number, alpha, among):
    """D = D1 / size + C / n is above the level of ``among`` where the size is below it."""
    consequence = np.array([2 * mass])
    risk = np.array([alpha * (mass / size + consequence[0] / number)])
    level = risk_levels(Among(among=among), consequence, np.array([mass]), number, alpha)
    if abs(size - among) > 1e-6:
        assert (risk > level).tolist() == [size < among]
    assert risk_levels(Among(among=among), consequence, np.zeros(1), number, alpha).tolist() == [math.inf], "nothing to learn"
    assert risk_levels(0.3, consequence, np.array([mass]), number, alpha).tolist() == [0.3]


def test_sizes_lie_between_one_and_the_table_and_are_undefined_where_nothing_can_be_learnt():
    consequence = np.array([1.0, 1.0, 0.0, 1.0])
    whole = np.array([0.5, 0.5, 0.0, 0.5])
    kept = np.array([0.5, 0.5, 0.0, 0.0])  # the last record's kept family has the empty set alone
    risk = np.array([0.1 + 0.5, 0.1, 0.0, 0.1])  # with C / n = 0.1 for the empty set of ten records
    sizes = effective_sizes(risk, risk, np.maximum(risk, 0.2) * (consequence > 0), consequence, kept, whole, 10)
    assert sizes.value.tolist()[:2] == [1.0, 10.0]
    assert np.isnan(sizes.value[2])
    assert np.isnan(sizes.lower[2])
    assert np.isnan(sizes.upper[2])
    assert sizes.value[3] == sizes.lower[3] == pytest.approx(5.0), "the lower bound, where no set was kept"
    assert effective_sizes(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), 0).value.tolist() == []


def test_statistics_are_plain_numbers_of_the_records_and_not_what_they_are_judged_by():
    sizes = Sizes(*(np.array([6.0, math.nan, 4.0]) for _ in range(3)))
    summary = added(0.01, (*(np.array([0.5, 0.0, 20.0]) for _ in range(3)), sizes))
    assert "threshold" not in summary.statistics()
    assert summary.statistics()["sized"] == 2
    assert summary.fields(1, 4, [0.0] * 5, None)["histogram"] == {"0": 2, "1e-01": 1, "1e+00": 0, "1e+01": 1}


def test_every_number_of_the_sizes_that_is_uncertain_is_named_and_no_other():
    risk = (np.array([0.001, 0.002]),) * 3
    wide = added(0.01, (*risk, Sizes(np.array([6.0, 8.0]), np.array([4.0, 8.0]), np.array([6.0, 8.0]))))
    (note,) = wide.notes(2, wide.bounds(2, 6.0))
    for name, ends in (("effective_k_min", "4 and 6"), ("effective_k_median", "4 and 6"), ("below_5", "0 and 1")):
        assert f"{name} is between {ends}" in note
    undefined = Sizes(*(np.full(2, math.nan) for _ in range(3)))
    bounds = added(0.01, (*risk, undefined)).bounds(2, None)
    assert {"effective_k_min", "effective_k_median"}.isdisjoint(bounds)
    assert added(0.01, (*risk, undefined)).notes(2, bounds) == ()
    assert "effective_k_min" not in wide.bounds(2, None)


def test_a_risk_that_is_only_possible_is_something_to_learn():
    nothing = Sizes(*(np.full(1, math.nan) for _ in range(3)))
    possible = added(0.5, (np.zeros(1), np.zeros(1), np.array([0.1]), nothing))
    assert possible.notes(1, possible.bounds(1, None)) == ()
