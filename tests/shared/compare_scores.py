"""Whether two engines measured the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import discreet


def same(found: discreet.Score, wanted: discreet.Score, *, records: bool = True) -> None:
    """The same numbers to 1e-9, in the summary, a record and an attribute."""
    _close(found.summary, wanted.summary)
    if wanted.per_attribute is not None:
        assert found.per_attribute is not None
        assert_frame_equal(found.per_attribute, wanted.per_attribute, check_exact=False, rel_tol=1e-9, abs_tol=1e-12)
    if records:
        assert found.per_record is not None
        assert wanted.per_record is not None
        assert_frame_equal(
            found.per_record, wanted.per_record, check_exact=False, rel_tol=1e-9, abs_tol=1e-12, check_dtypes=False
        )


def _close(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    assert set(found) == set(wanted)
    for name, number in wanted.items():
        if isinstance(number, Mapping):
            _close(found[name], number)
        elif number is None:
            assert found[name] is None
        else:
            assert found[name] == pytest.approx(number, rel=1e-9, abs=1e-12), name
