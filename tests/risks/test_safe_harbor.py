"""Safe Harbor: each identifier is found by name or values, what is coarse enough passes, and the release is judged as written."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError
from discreet.model.cells import ColumnCells
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.safe_harbor.identifiers import IDENTIFIERS
from discreet.risks.safe_harbor.measure import SafeHarbor
from discreet.testing import table

_MANY = range(60)


def _letter(name: str, values: list[Any], **parameters: Any) -> str | None:
    score = SafeHarbor(year=2026, **parameters).measure(table({name: values, "sick": ["flu", "cold"] * (len(values) // 2)}))
    letters = dict(zip(score.per_attribute["attribute"], score.per_attribute["identifier"], strict=True))  # type: ignore[index]
    assert letters["sick"] is None
    return letters[name]


@pytest.mark.parametrize(
    ("name", "values", "letter"),
    [
        ("first_name", [f"Ann{n}" for n in _MANY], "A"),
        ("x1", ["Maria", "Peter", "Anna", "Susan", "Thomas", "Laura"] * 10, "A"),
        ("county", ["Kings", "Queens"] * 30, "B"),
        ("street", [f"{n} Main Street" for n in _MANY], "B"),
        ("latitude", [40.1234 + n / 997 for n in _MANY], "B"),
        ("zip", [f"{10000 + n:05d}" for n in _MANY], "B"),
        ("zip", [10001, 2139] * 30, "B"),
        ("postal_code", ["SW1A 1AA", "EC1A 1BB"] * 30, "B"),
        ("visit", [datetime.date(2020, 1 + n % 12, 3) for n in _MANY], "C"),
        ("visit", [datetime.datetime(2020, 1, 1 + n % 28, 8) for n in _MANY], "C"),
        ("visit", [f"{1 + n % 28:02d}.03.2019" for n in _MANY], "C"),
        ("visit", [f"2019-{1 + n % 12:02d}" for n in _MANY], "C"),
        ("visit", ["2019-Q1", "2019-Q3"] * 30, "C"),
        ("admission_month", [1 + n % 12 for n in _MANY], "C"),
        ("age", [40, 93] * 30, "C"),
        ("age", ["80..90", "90..95"] * 30, "C"),
        ("age", ["<90", ">=95"] * 30, "C"),
        ("age", ["[80-90)", "[90-100)"] * 30, "C"),
        ("age", ["under 90", "95 and over"] * 30, "C"),
        ("birth_year", [1930, 1980] * 30, "C"),
        ("phone", [f"212-555-{n:04d}" for n in _MANY], "D"),
        ("contact", [f"212-555-{n:04d}" for n in _MANY], "D"),
        ("fax", [f"212-555-{n:04d}" for n in _MANY], "E"),
        ("z", [f"user{n}@example.org" for n in _MANY], "F"),
        ("ssn", [f"{123 + n}-45-6789" for n in _MANY], "G"),
        ("mrn", [100_000 + 37 * n for n in _MANY], "H"),
        ("medicare_number", [f"1EG4-TE5-MK{n:02d}" for n in _MANY], "I"),
        ("account_number", [f"{5_000 + n}" for n in _MANY], "J"),
        ("license_number", [f"A{n:05d}" for n in _MANY], "K"),
        ("license_plate", [f"AB {n:03d}" for n in _MANY], "L"),
        ("device_id", [f"D{n:06d}" for n in _MANY], "M"),
        ("homepage", [f"https://example.org/{n}" for n in _MANY], "N"),
        ("w", [f"10.1.2.{n}" for n in _MANY], "O"),
        ("voiceprint", [f"v{n}" for n in _MANY], "P"),
        ("photo", [f"p{n}.jpg" for n in _MANY], "Q"),
        ("record_id", list(_MANY), "R"),
        ("remark", [f"came back on the {n}th day with the same complaint" for n in _MANY], "R"),
    ],
)  # fmt: skip
def test_each_identifier_is_found(name: str, values: list[Any], letter: str) -> None:
    assert _letter(name, values) == letter


def test_the_rule_has_eighteen_identifiers() -> None:
    assert "".join(IDENTIFIERS) == "ABCDEFGHIJKLMNOPQR"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("state", ["NY", "CA", "tx"] * 20),
        ("state", ["New York", "West Virginia"] * 30),
        ("state_fips", [6, 36, 48] * 20),
        ("region", ["Northeast", "South"] * 30),
        ("urban", ["yes", "no"] * 30),
        ("country", ["France", "Italy"] * 30),
        ("zip", ["*", "1****"] * 30),
        ("zip3", ["000", "000"] * 30),
        ("visit", [datetime.date(2010 + n % 9, 1, 1) for n in _MANY]),
        ("visit_year", [2010 + n % 9 for n in _MANY]),
        ("visit", ["2019", "2020"] * 30),
        ("visit", ["2010s", "2020s"] * 30),
        ("visit", ["2019-01-01..2020-01-01", "[2020-01-01, 2020-12-31]"] * 30),
        ("age", [40, 89] * 30),
        ("age", [40, 90] * 30),
        ("age", ["<90", ">=90"] * 30),
        ("age", ["20..60", "60..120"] * 30),
        ("birth_year", [1938, 1980] * 30),
        ("hours-per-week", [1 + n % 60 for n in _MANY]),
        ("age", ["80-89", "90 and over"] * 30),
        ("days_in_hospital", [1 + n % 14 for n in _MANY]),
        ("income", [20_000 + 371 * (n % 17) for n in _MANY]),
        ("email", ["yes", "no"] * 30),
        ("ssn", [None, None] * 30),
    ],
)  # fmt: skip
def test_what_is_coarse_enough_or_no_identifier_passes(name: str, values: list[Any]) -> None:
    assert _letter(name, values) is None


@given(st.lists(st.integers(0, 120) | st.none(), min_size=1, max_size=30))
def test_ages_fail_exactly_where_one_is_over_89_and_not_90(ages: list[int | None]) -> None:
    fails = any(age is not None and age > 89 and age != 90 for age in ages)
    data = table({"age": ages})
    assert SafeHarbor().measure(data)["failing"] == int(fails)


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 60_000)), min_size=1, max_size=8, unique_by=lambda pair: pair[0]))
def test_zip_areas_pass_exactly_where_more_than_20000_people_live(areas: list[tuple[int, int]]) -> None:
    frame = pl.DataFrame({"zip3": [f"{area:03d}" for area, _ in areas], "population": [persons for _, persons in areas]})
    data = table({"zip": [f"{area:03d}**" for area, _ in areas] * 2})
    measure = SafeHarbor.model_construct(zip_population=frame, passed=(), year=2026)
    expected = any(area != 0 and persons <= 20_000 for area, persons in areas)
    assert measure.measure(data)["failing"] == int(expected)


def test_a_population_by_five_digits_is_summed_and_a_wrong_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text("zip,population\n02139,15000\n02140,9000\n03601,500\n")
    (tmp_path / "wrong.csv").write_text("area,people\n021,15000\n")
    policy = Policy.from_dict({"attributes": {}}, folder=str(tmp_path))
    rich = Microdata(pl.DataFrame({"zip3": ["021", "021"]}), policy)
    poor = Microdata(pl.DataFrame({"zip3": ["021", "036"]}), policy)
    assert SafeHarbor(zip_population="zips.csv").measure(rich)["failing"] == 0
    score = SafeHarbor(zip_population="zips.csv").measure(poor)
    assert "036 has 500 people" in score.per_attribute["reason"][0]  # type: ignore[index]
    with pytest.raises(DataError, match="needs the columns zip3 and population"):
        SafeHarbor(zip_population="wrong.csv").measure(poor)


def test_labels_of_a_masking_step_are_read_by_their_meaning() -> None:
    data = table({"age": ["old", "young"] * 30})
    fine = data.with_cells({"age": ColumnCells(kind="number", labels={"old": ">=95", "young": "<95"})})
    assert SafeHarbor().measure(fine)["failing"] == 1
    coarse = data.with_cells({"age": ColumnCells(kind="number", labels={"old": ">=90", "young": "<90"})})
    assert SafeHarbor().measure(coarse)["failing"] == 0


def test_a_column_that_the_owner_passed_is_named_and_not_checked() -> None:
    data = table({"county": ["Kings", "Queens"] * 5})
    score = SafeHarbor(passed=("county",)).measure(data)
    assert score["failing"] == 0
    assert any("the owner passed them: county" in note for note in score.notes)
    with pytest.raises(DataError, match="no column 'conty'"):
        SafeHarbor(passed=("conty",)).measure(data)


def test_identifiers_that_are_never_written_do_not_fail_a_release() -> None:
    data = table({"name": [f"Ann {n}" for n in _MANY], "sick": ["flu", "cold"] * 30}, identifier=["name"], key=["sick"])
    data = data.with_policy(data.policy.with_(limits={"safe_harbor.failing": 0.0}))
    assessment = discreet.assess(data, discreet.mask(data))
    assert assessment.before["safe_harbor"]["failing"] == 1
    assert assessment.verdicts[0].found == 0
    kept = data.with_policy(data.policy.with_(plan=data.policy.plan.model_copy(update={"identifiers": "kept"})))
    assert discreet.assess(kept, discreet.mask(kept)).verdicts[0].status == "not met"
