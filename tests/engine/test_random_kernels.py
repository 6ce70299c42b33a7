"""The compiled draws against the plain ones: a long table draws what its parts draw."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.engine.random import _COMPILED_FROM, KeyedDraw


@pytest.mark.parametrize("step", [1, -1, 3])
@pytest.mark.parametrize("what", ["bits", "uniform", "normal"])
def test_long_tables_draw_the_same_numbers_as_short_ones(what: str, step: int) -> None:
    drawn = getattr(KeyedDraw(11, 2), what)
    records = (np.random.default_rng(3).integers(-(2**62), 2**62, 3 * _COMPILED_FROM + 5))[::step]
    if step == 3:
        records = records.astype(np.int32)
    whole = drawn(np.concatenate([records, records]), "x")
    parts = np.concatenate([drawn(part, "x") for part in np.array_split(records, 9)])
    assert len(records) // 9 < _COMPILED_FROM <= len(records)
    assert whole.tobytes() == parts.tobytes() * 2
