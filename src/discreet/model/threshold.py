"""The threshold of high risk: a risk, or a minimum effective class size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Among(BaseModel):
    """``{among: 20}``: a record is high-risk where its effective class size is below 20."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    among: Annotated[float, Field(gt=1, allow_inf_nan=False)]

    def __format__(self, _spec: str) -> str:
        return f"{{among: {self.among:g}}}"


def _parse_threshold(value: Any) -> Any:
    """Parse a number or ``{among: k}``; raises ValueError where it is neither."""
    if isinstance(value, Among):
        return value
    if isinstance(value, Mapping):
        if set(value) != {"among"}:
            raise ValueError(f"a threshold is a number, or {{among: 20}}; got {dict(value)!r}")
        size = _number(value["among"])
        if size is None or size <= 1:
            raise ValueError(f"among is a number of records greater than 1; got {value['among']!r}")
        return Among(among=size)
    risk = _number(value)
    if risk is None or risk < 0:
        raise ValueError(f"a threshold is a number that is at least 0, or {{among: 20}}; got {value!r}")
    return risk


def _number(value: Any) -> float | None:
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return number if number is not None and math.isfinite(number) else None


Threshold = Annotated[float | Among, BeforeValidator(_parse_threshold)]
