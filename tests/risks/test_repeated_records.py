from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError, ParameterError
from discreet.model.microdata import Microdata
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.risks.repeated_records import attacker_groups
from discreet.risks.repeated_records.measure import RepeatedRecords
from discreet.testing import check_risk, table

ROLES: dict[str, list[str]] = {"person": ["who"], "key": ["a", "b"], "confidential": ["s", "t"]}
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([1, 2, None]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["flu", "cold", None]),
        st.sampled_from([True, False]),
    ),
    max_size=24,
)


def build_table(rows: list[tuple[Any, ...]]) -> Microdata:
    types = {"who": pl.Int64, "a": pl.Int64, "b": pl.String, "s": pl.String, "t": pl.Boolean}
    data = table({name: [row[at] for row in rows] for at, name in enumerate(types)}, **ROLES)
    return data.replace(data.frame.cast(types))  # type: ignore[arg-type]


def agrees(one: tuple[Any, ...], other: tuple[Any, ...], wildcard: bool) -> bool:
    return all(x == y or (wildcard and None in (x, y)) for x, y in zip(one, other, strict=True))


def obvious(rows: list[tuple[Any, ...]], knows: str, wildcard: bool) -> list[tuple[float, int, float, float]]:
    """The definitions, record by record: probability, persons, g, h."""
    totals = Counter(row[0] for row in rows)
    multiset = {who: Counter(row[1:3] for row in rows if row[0] == who) for who in totals}
    found = []
    for row in rows:
        if knows == "linked":
            group = [other for other in rows if multiset[other[0]] == multiset[row[0]]]
        else:
            group = [other for other in rows if agrees(row[1:3], other[1:3], wildcard)]
        if knows == "count":
            group = [other for other in group if totals[other[0]] == totals[row[0]]]
        counts = Counter(other[0] for other in group)
        g = 1 - sum((c / len(group)) ** 2 for c in counts.values())
        h = 0.0
        for at in (3, 4):
            values = {other[at] for other in group}
            if wildcard:
                values.add("some value")
            for value in values:
                having = {o[0] for o in group if o[at] == value or (wildcard and o[at] is None)}
                h = max(h, len(having) / len(counts))
        found.append((counts[row[0]] / len(group), len(counts), g, h))
    return found


@settings(deadline=None, max_examples=60)
@given(ROWS, st.sampled_from(["nothing", "count", "linked"]), st.sampled_from(["category", "wildcard"]))
def test_every_number_equals_its_definition(rows: list[tuple[Any, ...]], knows: Any, missing: Any) -> None:
    if knows == "linked":
        missing = "category"
    data = build_table(rows)
    score = RepeatedRecords(knows=knows, missing=missing, threshold=0.3).measure(data)
    expected = obvious(rows, knows, missing == "wildcard")
    assert score.per_record is not None
    assert score.per_record.columns == ["probability", "persons", "g", "h"]
    np.testing.assert_allclose(
        score.per_record.to_numpy().reshape(-1, 4), np.array(expected).reshape(-1, 4), rtol=1e-9, atol=1e-12
    )
    sizes = [sum(agrees(row[1:3], other[1:3], missing == "wildcard") for other in rows) for row in rows]
    assert score["k"] == min(sizes, default=0)
    assert score["min_persons"] == min((one[1] for one in expected), default=0)
    assert score["min_g"] == pytest.approx(min((one[2] for one in expected), default=0.0), abs=1e-12)
    assert score["mean_g"] == pytest.approx(sum(one[2] for one in expected) / max(1, len(rows)), abs=1e-12)
    assert score["max_h"] == pytest.approx(max((one[3] for one in expected), default=0.0), abs=1e-12)
    largest: dict[int, float] = {}
    for row, one in zip(rows, expected, strict=True):
        largest[row[0]] = max(largest.get(row[0], 0.0), one[0])
    over = sum(value > 0.3 for value in largest.values())
    assert (score["persons"], score["over_threshold"]) == (len(largest), over)
    assert score["over_threshold_share"] == pytest.approx(over / max(1, len(largest)))


@settings(deadline=None, max_examples=30)
@given(ROWS)
def test_a_stronger_attacker_never_has_a_lower_probability(rows: list[tuple[Any, ...]]) -> None:
    data = build_table(rows)
    found = [RepeatedRecords(knows=knows).measure(data).per_record for knows in ("nothing", "count", "linked")]
    weak, middle, strong = [frame["probability"].to_numpy() for frame in found if frame is not None]
    assert (weak <= middle + 1e-12).all()
    assert (middle <= strong + 1e-12).all()


@settings(deadline=None, max_examples=60)
@given(ROWS, st.sampled_from(["nothing", "count", "linked"]))
def test_with_one_record_per_person_the_numbers_are_those_of_k_anonymity(rows: list[tuple[Any, ...]], knows: Any) -> None:
    rows = [(number, *row[1:]) for number, row in enumerate(rows)]
    data = build_table(rows)
    score, plain = RepeatedRecords(knows=knows).measure(data), KAnonymity().measure(data)
    assert score["k"] == score["min_persons"] == plain["k"]
    assert score.per_record is not None
    assert plain.per_record is not None
    sizes = plain.per_record["class_size"].to_numpy()
    np.testing.assert_allclose(score.per_record["probability"].to_numpy(), 1 / sizes)
    np.testing.assert_allclose(score.per_record["g"].to_numpy(), 1 - 1 / sizes)
    assert score["over_threshold"] == plain["unique"]


def test_a_person_in_several_groups_has_the_largest_probability() -> None:
    data = table(
        {"who": [1, 1, 2, 2, 3], "age": [5, 6, 5, 5, 5], "ill": list("aabba")}, person=["who"], key=["age"], confidential=["ill"]
    )
    found = RepeatedRecords().persons(data)
    assert found.to_dict(as_series=False) == {
        "person": [1, 2, 3], "records": [2, 2, 1], "groups": [2, 1, 1], "probability": [1.0, 0.5, 0.25],
        "over_threshold": [True, False, False], "min_persons": [1, 3, 3], "max_h": [1.0, 2 / 3, 2 / 3],
    }  # fmt: skip


def test_groups_has_one_row_per_group_with_its_counts_and_measures() -> None:
    data = table(
        {"who": [1, 1, 2, 2, 3], "age": [6, 5, 5, 5, 5], "ill": list("aabba")}, person=["who"], key=["age"], confidential=["ill"]
    )
    assert RepeatedRecords().groups(data).to_dict(as_series=False) == {
        "age": [6, 5], "records": [1, 4], "persons": [1, 3], "g": [0.0, 1 - 6 / 16], "probability": [1.0, 0.5],
        "h.ill": [1.0, 2 / 3],
    }  # fmt: skip
    assert RepeatedRecords(knows="linked").groups(data)["persons"].to_list() == [1, 1, 1]


def test_h_is_reported_by_confidential_attribute() -> None:
    data = table(
        {"who": [1, 2], "age": [5, 5], "s": ["a", "a"], "t": ["a", "b"]}, person=["who"], key=["age"], confidential=["s", "t"]
    )
    score = RepeatedRecords().measure(data)
    assert score.per_attribute is not None
    assert score.per_attribute.to_dict(as_series=False) == {"attribute": ["s", "t"], "max_h": [1.0, 0.5], "mean_h": [1.0, 0.5]}
    assert RepeatedRecords(confidential=("t",)).measure(data)["max_h"] == 0.5


def test_without_a_confidential_attribute_h_is_null_and_a_note_says_so() -> None:
    score = RepeatedRecords().measure(table({"who": [1, 2], "age": [5, 5]}, person=["who"], key=["age"]))
    assert score["max_h"] is None
    assert "confidential" in score.notes[0]
    assert score.per_record is not None
    assert score.per_record["h"].to_list() == [None, None]


def test_a_release_without_the_person_attribute_takes_the_persons_of_its_original() -> None:
    data = table({"who": ["u", "u", "v"], "age": [5, 5, 5]}, person=["who"], key=["age"])
    release = data.drop(["who"]).take(np.array([2, 0]))
    assert RepeatedRecords().measure(release, original=data)["persons"] == 2
    with pytest.raises(DataError, match="'who' with the role person"):
        RepeatedRecords().measure(release)
    simulated = release.replace(release.frame, np.array([-1, 0]))
    assert RepeatedRecords().persons(simulated, original=data)["person"].to_list() == ["u", None]


@pytest.mark.parametrize(
    ("roles", "match"),
    [
        ({"key": ["age"]}, "exactly one attribute needs the role person, but none has it"),
        ({"key": ["age"], "person": ["who", "also"]}, "who, also have it"),
        ({"person": ["who"]}, "at least one attribute with the role key"),
    ],
)
def test_wrong_roles_are_errors(roles: dict[str, list[str]], match: str) -> None:
    data = table({"who": [1], "also": [1], "age": [5]}, **roles)
    with pytest.raises(DataError, match=match):
        RepeatedRecords().measure(data)


def test_limits_are_judged_where_the_release_has_no_person_attribute() -> None:
    policy = {
        "attributes": {"who": {"role": "person"}, "age": {"role": "key"}},
        "limits": {"repeated_records.over_threshold": 0, "repeated_records.min_persons": 2},
    }
    data = discreet.read(pl.DataFrame({"who": [1, 2, 3, 4], "age": [5, 5, 6, 6]}), policy)
    release = discreet.mask(data, {"steps": [{"method": "remove_identifiers", "columns": ["who"]}]})
    assert discreet.assess(data, release).ok


def test_a_record_is_explained_by_its_group() -> None:
    data = table(
        {"who": ["u", "u", "v"], "age": [5, 5, 5], "ill": list("aab")}, person=["who"], key=["age"], confidential=["ill"]
    )
    assert RepeatedRecords().explain(data, 0) == [
        "its person has 2 of the 3 records that this intruder cannot distinguish: 66.7%",
        "the 3 records belong to 2 persons, g-balance 0.4444",
        "one value of 'ill' is shared by 50.0% of these persons",
    ]


def test_the_measure_conforms_to_the_plugin_contract() -> None:
    check_risk(RepeatedRecords)


def test_a_null_person_is_an_error_that_counts_the_records() -> None:
    with pytest.raises(DataError, match="'who' is null in 1 records"):
        RepeatedRecords().measure(table({"who": [1, None], "age": [5, 5]}, person=["who"], key=["age"]))


def test_linked_refuses_wildcards() -> None:
    data = table({"who": [1], "age": [5]}, person=["who"], key=["age"])
    with pytest.raises(ParameterError, match="missing: category"):
        discreet.risk(data, {"repeated_records": {"knows": "linked", "missing": "wildcard"}})


def test_too_many_agreeing_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacker_groups, "MOST_ENTRIES", 3)
    data = table({"who": [1, 2], "age": [5, None]}, person=["who"], key=["age"])
    with pytest.raises(DataError, match="missing: category"):
        RepeatedRecords(missing="wildcard").measure(data)
