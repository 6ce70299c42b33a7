"""Attacks with a control: each equals a slow and obvious version, finds what is planted, and nothing where nothing is."""

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
from discreet import registry
from discreet.engine.attacks.parameters import ControlledAttack
from discreet.engine.runtime.dispatch import load_engine_function
from discreet.errors import DataError, ParameterError
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.risks.inference.measure import Inference
from discreet.risks.linkability.links import blind_probability
from discreet.risks.linkability.measure import Linkability
from discreet.risks.membership.measure import Membership
from discreet.risks.membership.ratio import area_under_curve, true_positive_rate
from discreet.risks.singling_out.measure import SinglingOut
from discreet.testing import table

_ROW = st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.sampled_from("ab"))
_ROWS = st.lists(_ROW, min_size=2, max_size=9)


def _data(rows: list[tuple[Any, ...]]) -> Microdata:
    age, city, sick = zip(*rows, strict=True)
    return table({"age": list(age), "city": list(city), "sick": list(sick)}, key=["age", "city"], confidential=["sick"])


def _distance(person: tuple[Any, ...], record: tuple[Any, ...], width: float, *, columns: str = "nt") -> float:
    total = 0.0
    for kind, one, other in zip(columns, person, record, strict=True):
        total += abs(one - other) / width if kind == "n" else float(one != other)
    return total


def _width(rows: list[tuple[Any, ...]]) -> float:
    return float(max(row[0] for row in rows) - min(row[0] for row in rows)) or 1.0


def _nearest(distances: list[float], neighbours: int) -> tuple[list[int], list[int]]:
    """Records nearer than the k-th nearest, and those as near."""
    limit = sorted(distances)[min(neighbours, len(distances)) - 1]
    sure = [index for index, one in enumerate(distances) if one < limit - 1e-6]
    return sure, [index for index, one in enumerate(distances) if abs(one - limit) <= 1e-6]


@settings(max_examples=60)
@given(_ROWS, _ROWS, st.integers(1, 3), st.integers(0, 8))
def test_inference_equals_a_search_of_every_record(
    rows: list[tuple[Any, ...]], masked: list[tuple[Any, ...]], neighbours: int, inside: int
) -> None:
    inside = 1 + inside % len(rows)
    release = [(*masked[index % len(masked)][:2], rows[index][2]) for index in range(inside)]
    original = _data(rows)
    data = original.replace(_data(release).frame, np.arange(inside, dtype=np.int64))
    if inside == len(rows):
        data = original.replace(_data(release).frame)
    elif data.is_initial:  # record numbers 0, 1, 2, … of another length mean a file without a link
        original = original.replace(original.frame[::-1], original.records[::-1].copy())
    score = Inference(neighbours=neighbours).measure(data, original=original)
    most = Counter(record[2] for record in release).most_common()
    guesses = [value for value, count in most if count == most[0][1]]
    success, blind = [], []
    for person in rows:
        distances = [_distance(person[:2], record[:2], _width(rows)) for record in release]
        sure, tied = _nearest(distances, neighbours)
        votes = Counter(release[index][2] for index in sure + tied)
        best = [value for value, count in votes.items() if count == max(votes.values())]
        success.append((person[2] in best) / len(best))
        blind.append((person[2] in guesses) / len(guesses))
    assert score["attack"] == pytest.approx(np.mean(success[:inside]))
    assert score["blind"] == pytest.approx(np.mean(blind[:inside]))
    assert score["control"] == (pytest.approx(np.mean(success[inside:])) if inside < len(rows) else None)


def _numbers(values: list[Any], released: list[Any]) -> tuple[Microdata, Microdata]:
    count = len(values)
    original = table({"id": [str(n) for n in range(count)], "pay": values}, key=["id"], confidential=["pay"])
    return original, original.with_columns({"pay": pl.Series("pay", released)})


def test_an_interval_that_contains_the_truth_is_right_only_with_the_share_of_its_values() -> None:
    original, release = _numbers([100, 120, 140, 160], ["100..200", "{120|140}", "140", None])
    from discreet.model.cells import ColumnCells

    release = release.with_cells({"pay": ColumnCells(kind="number")})
    success = Inference(tolerance=0.0).measure(release, original=original).per_record["success"].to_list()  # type: ignore[index]
    assert success[:3] == [1 / 4, 1 / 2, 1.0]
    # all records of the nearest one are suppressed: the guess is the blind one, any of the three released cells
    assert success[3] == pytest.approx((1 / 4 + 0 + 0) / 3)
    wide = Inference(tolerance=0.1).measure(release, original=original).per_record["success"].to_list()  # type: ignore[index]
    # 10 of the 60 numbers from 100 to 160 (the range of the originals) are within 10 % of 100; one of four values is more
    assert wide[0] == pytest.approx(max(1 / 4, 10 / 60))


def test_a_number_within_the_tolerance_is_right() -> None:
    original, release = _numbers([100.0, -50.0, 0.0, 10.0], [104.0, -52.0, 0.1, 10.6])
    success = Inference(tolerance=0.05).measure(release, original=original).per_record["success"].to_list()  # type: ignore[index]
    assert success == [1.0, 1.0, 0.0, 0.0]


@settings(max_examples=60)
@given(_ROWS, _ROWS, st.integers(1, 3))
def test_linkability_equals_all_draws_of_tied_records(
    rows: list[tuple[Any, ...]], masked: list[tuple[Any, ...]], neighbours: int
) -> None:
    release = [masked[index % len(masked)] for index in range(len(rows))]
    original = _data(rows)
    data = original.replace(_data(release).frame)
    score = Linkability(first=("age",), second=("city", "sick"), neighbours=neighbours).measure(data, original=original)
    for person, found in zip(rows, score.per_record["linked"], strict=True):  # type: ignore[index]
        first = _nearest([_distance(person[:1], record[:1], _width(rows), columns="n") for record in release], neighbours)
        second = _nearest([_distance(person[1:], record[1:], 1.0, columns="tt") for record in release], neighbours)
        drawn = []
        for sure, tied in (first, second):
            rest = min(neighbours, len(release)) - len(sure)
            drawn.append([{*sure, *some} for some in itertools.combinations(tied, rest)])
        pairs = list(itertools.product(*drawn))
        assert found == pytest.approx(sum(bool(one & other) for one, other in pairs) / len(pairs))
    draws = list(itertools.combinations(range(len(rows)), min(neighbours, len(rows))))
    meet = sum(bool({*one} & {*other}) for one, other in itertools.product(draws, repeat=2)) / len(draws) ** 2
    assert blind_probability(len(rows), neighbours) == pytest.approx(meet)


@settings(max_examples=60)
@given(_ROWS, _ROWS)
def test_singling_out_counts_the_people_that_a_released_record_describes(
    rows: list[tuple[Any, ...]], masked: list[tuple[Any, ...]]
) -> None:
    release = [masked[index % len(masked)] for index in range(len(rows))]
    original = _data(rows)
    score = SinglingOut(size=3).measure(original.replace(_data(release).frame), original=original)
    expected = [sum(person == record for person in rows) for record in release]
    assert score.per_record["matches"].to_list() == expected  # type: ignore[index]
    assert score["singled_out"] == score["attack"] == np.mean([count == 1 for count in expected])
    others = [count - (person == record) for count, person, record in zip(expected, rows, release, strict=True)]
    assert score["control"] == np.mean([count == 1 for count in others])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.lists(st.integers(0, 5), min_size=1, max_size=9), st.floats(0, 1))
def test_rates_and_area_of_a_ranking_equal_their_definitions(members: list[int], others: list[int], share: float) -> None:
    scores, rest = np.array(members, dtype=float), np.array(others, dtype=float)
    thresholds = [-1.0, *range(7)]
    rates = [(np.mean(rest > cut), np.mean(scores > cut)) for cut in thresholds]
    expected = max(float(true) for false, true in rates if false <= share + 1e-9)
    assert true_positive_rate(scores, rest, share) == pytest.approx(expected)
    pairs = [(one > other) + (one == other) / 2 for one, other in itertools.product(members, others)]
    assert area_under_curve(scores, rest) == pytest.approx(np.mean(pairs))


def _planted(number: int, share: float, generator: np.random.Generator) -> tuple[Microdata, Microdata]:
    """People whose secret the release tells for this share of them, and is drawn at random for the others and the control."""
    values = generator.integers(0, 4, 2 * number)
    columns = {"id": generator.permutation(2 * number).tolist(), "sick": [f"s{value}" for value in values]}
    original = table(columns, key=["id"], confidential=["sick"])
    original = original.with_columns({"id": original.frame["id"].cast(pl.String)})
    told = generator.random(number) < share
    released = np.where(told, values[:number], generator.integers(0, 4, number))
    frame = original.frame[:number].with_columns(pl.Series("sick", [f"s{value}" for value in released]))
    order = generator.permutation(number)
    return original, original.replace(frame[order], original.records[:number][order])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_interval_covers_the_planted_risk(share: float) -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        original, release = _planted(120, share, generator)
        score = Inference().measure(release, original=original)
        covered += score["lower"] <= share <= score["upper"]
    assert covered >= 0.93 * 200


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_the_interval_covers_the_planted_share_of_links(share: float) -> None:
    generator = np.random.default_rng(11)
    covered, tables, people = 0, 60, 80
    for _ in range(tables):
        numbers = generator.permutation(2 * people)
        columns = {"left": [f"l{one}" for one in numbers], "right": [f"r{one}" for one in numbers]}
        original = table(columns, key=["left", "right"])
        strange = np.flatnonzero(generator.random(people) >= share)
        right = numbers[:people].copy()
        right[strange] = 10_000 + strange  # the second part of these records belongs to nobody
        frame = original.frame[:people].with_columns(pl.Series("right", [f"r{one}" for one in right]))
        order = generator.permutation(people)
        release = original.replace(frame[order], original.records[:people][order])
        score = Linkability(first=("left",), second=("right",)).measure(release, original=original)
        covered += score["lower"] <= share <= score["upper"]
    assert covered >= 0.93 * tables


def test_planted_members_are_recognised_and_a_release_of_strangers_tells_nothing() -> None:
    generator = np.random.default_rng(3)
    values = {"a": generator.normal(size=1_200).tolist(), "b": generator.normal(size=1_200).tolist()}
    original = table(values, key=["a", "b"])
    inside = np.sort(generator.permutation(1_200)[:600])
    exact = Membership().measure(original.take(inside), original=original)
    assert exact["tpr_0_1"] > 0.9
    assert exact["lower"] > 0.8
    assert exact["distance_members"] == 0
    strangers = table({"a": generator.normal(size=600).tolist(), "b": generator.normal(size=600).tolist()}, key=["a", "b"])
    unrelated = original.replace(strangers.frame, original.records[inside])
    nothing = Membership().measure(unrelated, original=original)
    assert nothing["lower"] == 0
    assert 0.4 < nothing["auc"] < 0.6


def test_singling_out_is_no_excess_where_the_release_does_not_come_from_the_people() -> None:
    generator = np.random.default_rng(5)
    original = table({name: generator.integers(0, 30, 800).tolist() for name in "abc"}, key=["a", "b", "c"])
    inside = np.sort(generator.permutation(800)[:400])
    own = SinglingOut().measure(original.take(inside), original=original)
    assert own["lower"] > 0.9
    strangers = table({name: generator.integers(0, 30, 400).tolist() for name in "abc"}, key=["a", "b", "c"])
    unrelated = SinglingOut().measure(original.replace(strangers.frame, original.records[inside]), original=original)
    assert unrelated["lower"] == 0
    assert own["people"] == 400
    simulated = -1 - np.arange(400)
    copied = original.replace(original.frame[inside], simulated)
    control = pl.DataFrame({name: generator.integers(0, 30, 900) for name in "abc"})
    with_control = SinglingOut.model_construct(columns=(), size=3, attacks=400, control=control, confidence=0.95)
    nobody = with_control.measure(copied, original=original.take(inside))
    assert nobody["controls"] == 400
    assert nobody["lower"] > 0.9


def test_membership_without_anybody_outside_leaves_the_verdict_incomplete() -> None:
    data = table({"age": [1, 1, 2, 2]}, key=["age"])
    data = data.with_policy(data.policy.with_(limits={"membership.risk": 0.1}))
    assessment = discreet.assess(data, data)
    assert assessment.status == "incomplete"
    assert any("nobody is known to be outside the data" in gap for gap in assessment.gaps)


def test_a_limit_on_a_risk_is_judged_on_the_upper_end_of_its_interval() -> None:
    generator = np.random.default_rng(1)
    original, release = _planted(60, 0.0, generator)
    limited = original.with_policy(original.policy.with_(limits={"inference.risk": 0.05}))
    verdict = discreet.assess(limited, release.with_policy(limited.policy)).verdicts[0]
    assert verdict.status == "incomplete"
    assert "is not decided" in verdict.sentence
    assert "known sets" not in verdict.sentence


@pytest.mark.parametrize("roles", [{}, {"person": ["who"]}])
def test_a_holdout_is_not_released_and_keeps_persons_together(roles: dict[str, list[str]]) -> None:
    data = table({"who": [f"p{n // 3}" for n in range(300)], "age": [n % 7 for n in range(300)]}, key=["age"], **roles)
    policy = data.policy.with_(plan=Plan.model_validate({"holdout": 0.2, "seed": 4}))
    release = discreet.mask(data.with_policy(policy))
    assert len(release.masked) == pytest.approx(240, abs=2)
    assert release.log[0].method == "holdout"
    held = np.setdiff1d(np.arange(300), release.link)
    if roles:
        assert not set(data.frame["who"][held]) & set(release.masked.frame["who"])
    moved = data.with_policy(policy).take(np.arange(300)[::-1])
    again = discreet.mask(moved)
    assert set(again.link) == set(release.link)
    other = policy.with_(plan=Plan.model_validate({"holdout": 0.2, "seed": 5}))
    assert set(discreet.mask(data.with_policy(other)).link) != set(release.link)


def test_wrong_columns_are_errors_that_name_them() -> None:
    data = _data([(1, "x", "a"), (2, "y", "b")])
    with pytest.raises(DataError, match="no column 'agee'"):
        Inference(known=("agee",)).measure(data, original=data)
    with pytest.raises(DataError, match="needs a secret"):
        Inference(known=("age", "sick")).measure(data, original=data)
    with pytest.raises(DataError, match="'age' is in first and in second"):
        Linkability(first=("age",), second=("age",)).measure(data, original=data)
    with pytest.raises(DataError, match="needs the original table"):
        Membership().measure(data)
    with pytest.raises(ParameterError, match="attacks"):
        registry.create("risk", "inference", {"attacks": 0})


@pytest.mark.parametrize("measure", [SinglingOut(), Linkability(), Inference(), Membership()])
def test_attacks_are_refused_on_spark_with_what_would_work(measure: RiskMeasure) -> None:
    with pytest.raises(DataError, match=f"{measure.name} does not run on Spark; on Spark run k_anonymity, .*local engine for it"):
        load_engine_function(measure, "spark", lambda: ["k_anonymity", "known_sets"])


@pytest.mark.parametrize("measure", [SinglingOut(size=2), Linkability(), Inference(), Membership()])
def test_all_attacks_are_those_on_everybody_and_a_search_samples_them(measure: ControlledAttack) -> None:
    assert measure.in_full().attacks == "all"
    assert measure.in_full().sampled().attacks == measure.attacks == 2_000
    few = measure.model_copy(update={"attacks": 3})
    assert few.sampled() == few
    assert {**measure.in_full().parameters, "attacks": 2_000} == measure.parameters


def test_a_column_that_nobody_decided_on_is_not_examined_by_attacks_on_all_columns() -> None:
    data = table({"age": [1, 2], "note": ["x", "y"], "sick": ["a", "b"]}, key=["age"], confidential=["sick"])
    for measure in (SinglingOut(), Membership(), Linkability(), Inference()):
        assert "note" not in measure.examines(data)
    assert SinglingOut(columns=("note",)).examines(data) == ["note"]
