"""Sets of keys whose combinations of values are counted: which ones, and the columns that they are counted on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Literal

from discreet.engine.classes.groups import refuse_nulls_beside_original
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError
from discreet.model.microdata import Microdata

Missing = Literal["category", "wildcard", "ignore"]
"""A null is one more value; agrees with anything, on either side; or is no value and agrees with nothing."""
KeySet = tuple[int, ...]


def list_sets(width: int, largest: int) -> list[KeySet]:
    """All sets of at most ``largest`` of so many keys, small sets first."""
    return [keys for size in range(1, min(largest, width) + 1) for keys in combinations(range(width), size)]


def count_key_sets(width: int, largest: int) -> int:
    """The number of sets of at most ``largest`` of so many keys."""
    return sum(comb(width, size) for size in range(1, min(largest, width) + 1))


def check_keys(measure: str, names: Sequence[str], source: str, sets: int, most: int, advice: str) -> None:
    """Raise DataError without keys, for a key that is named twice, and for more than ``most`` sets of them."""
    if not names:
        raise DataError(f"{measure} needs at least one attribute with the role key in {source}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DataError(f"{measure} names the key '{twice}' twice; name each key once")
    if sets > most:
        raise DataError(f"{measure} would count {sets:,} sets of {len(names)} keys, more than {most:,}; {advice}")


def encode_keys(
    measure: str, data: Microdata, names: Sequence[str], missing: Missing, original: Microdata | None
) -> list[Column]:
    """The keys as codes; see :func:`refuse_nulls_beside_original`."""
    columns = encode(data, names)
    refuse_nulls_beside_original(measure, columns, missing, original)
    return columns
