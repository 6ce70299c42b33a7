"""Numbers agree whatever their type, in a table and in a dictionary, beside coarse cells too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.model.policy import Policy
from discreet.risks.decision.measure import Decision
from discreet.testing import table


@pytest.mark.parametrize("missing", ["wildcard", "category"])
@pytest.mark.parametrize("here", [pl.Int64, pl.Float64, pl.String])
@pytest.mark.parametrize("there", [pl.Int64, pl.Float64, pl.String])
def test_numbers_agree_whatever_their_type_beside_a_coarse_cell(missing: Any, here: Any, there: Any, tmp_path: Path) -> None:
    """Finding 10: integers here and floats in the dictionary made rho 0 where a cell of the column is coarse."""
    ages = [*pl.Series([25, 31]).cast(here).cast(pl.String), "[40, 50]"]
    data = table({"age": ages, "town": ["A", "B", "C"]}, key=["age", "town"])
    data = data.with_policy(Policy.from_dict(data.policy.model_dump(), folder=str(tmp_path)))
    pl.DataFrame({"age": pl.Series([25, 31, 44]).cast(there)}).write_parquet(tmp_path / "d.parquet")
    found = Decision(dictionary="d.parquet", missing=missing).measure(data)
    assert found.per_record["rho"].to_list() == [1, 1, 1]
