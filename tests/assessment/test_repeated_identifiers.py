"""An identifier whose values repeat numbers persons, as far as anybody knows, and limits that count records miss them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.assessment.limit_gaps import gaps_in_limits

RECORDS = 600


def gaps(values: Any, **attribute: Any) -> list[str]:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"number": values, "sex": rng.choice(["f", "m"], RECORDS)})
    attributes = {"number": {"role": "identifier"} | attribute, "sex": {"role": "key"}}
    return gaps_in_limits(discreet.read(frame, {"attributes": attributes, "limits": {"k_anonymity.k": 5}}))


def test_a_patient_number_that_is_removed_as_an_identifier_is_named() -> None:
    """6,615 stays of 3,600 patients met k = 5 with classes of two patients, and nothing said so."""
    rng = np.random.default_rng(1)
    patients = rng.integers(0, 300, RECORDS)
    (gap,) = gaps([f"P{patient:05d}" for patient in patients])
    assert f"'number' is an identifier whose values repeat (600 records, {len(set(patients))} values)" in gap
    assert "give it the role person and set a limit such as repeated_records.min_persons: 5" in gap
    assert len(gaps(patients)) == 1


@pytest.mark.parametrize(
    "values",
    [
        [f"P{number:05d}" for number in range(RECORDS)],
        [f"P{number % 595:05d}" for number in range(RECORDS)],
        ["Anna Keller", "Peter Rossi", "Maria Kim"] * 200,
        [f"Rua {number % 90} Main" for number in range(RECORDS)],
        [f"+4179{number % 200 + 1_000_000}" for number in range(RECORDS)],
        [f"person{number % 200}@example.org" for number in range(RECORDS)],
        [number % 2 for number in range(RECORDS)],
        [None] * RECORDS,
    ],
    ids=["each once", "hardly", "names", "streets", "phones", "addresses", "two values", "nulls"],
)
def test_what_numbers_no_persons_is_no_gap(values: Any) -> None:
    assert gaps(values) == []


def test_the_owner_decides() -> None:
    values = [f"D{number % 100:03d}" for number in range(RECORDS)]
    assert len(gaps(values)) == 1
    assert gaps(values, accepted="numbers of doctors, who are no subjects of the file") == []
    assert "has several records per person" in gaps(values, role="person")[0]
