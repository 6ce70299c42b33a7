"""Keys as lines: the order in which a partition cuts an attribute, and how a piece of it is published.

Numbers and dates have their own order; categories have the order that the policy states, or stand as the leaves of their
hierarchy stand in the tree. A null lies behind the last value, as far from it as the whole range: like a suppressed value, it
is as bad as saying nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, leaf_text, level_codes
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError
from discreet.model.attribute import Level, printed
from discreet.model.cells import Group
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scale = Literal["range", "std", "none"]
_EXACT = 2**53  # integers up to here are floats without loss


@dataclass(frozen=True)
class Axis:
    """An attribute as codes in its order, null last; ``positions`` are the scaled places of the codes.

    ``runs`` are a hierarchy's labels as runs of codes, ``(first, last, label)`` by first code and the longest before.
    """

    column: Column
    positions: NDArray[np.float64]
    is_category: bool
    runs: tuple[tuple[int, int, str], ...] = ()

    @property
    def codes(self) -> NDArray[Any]:
        return self.column.codes


def axis_of(data: Microdata, name: str, scale: Scale) -> Axis:
    """The axis of a key, or an error that says what its attribute lacks."""
    level, attribute = data.level(name), data.attribute(name)
    (column,) = encode(data, [name])
    if level in (Level.NUMERIC, Level.DATE) and attribute.order is None:
        return Axis(column, _scaled(column, _numbers(column, level), scale), is_category=False)
    if attribute.order is not None:
        place = {text: index for index, text in enumerate(attribute.order)}
        ranks = [next(place[text] for text in printed(value) if text in place) for value in column.values.to_list()]
        return Axis(column, _scaled(column, np.array(ranks, dtype=np.float64), scale), is_category=True)
    if attribute.hierarchy is not None:
        return _tree(data, column, scale)
    if len(column.values) <= 2 or (level is Level.ORDINAL and column.values.dtype.is_numeric()):
        return Axis(column, _scaled(column, np.arange(len(column.values), dtype=np.float64), scale), is_category=True)
    raise DataError(
        f"the {level} key '{name}' has {len(column.values):,} values and no order to cut it in; "
        "give it a hierarchy or a stated order in the policy"
    )


def _numbers(column: Column, level: Level) -> NDArray[np.float64]:
    values = column.values
    if level is Level.DATE and not values.dtype.is_temporal():
        raise DataError(f"the key '{column.name}' is said to be a date but holds {values.dtype}; read it as a date")
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
        raise DataError(f"the key '{column.name}' is said to be {level} but holds {values.dtype}; read it as numbers")
    numbers = values.to_physical().cast(pl.Float64).to_numpy()
    if not np.isfinite(numbers).all():
        raise DataError(f"the key '{column.name}' holds a number that is not finite; replace it by null or a bound")
    return numbers


def _scaled(column: Column, places: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Places from 0, on the common scale; that of null last, where there are nulls."""
    if not len(places):
        return np.zeros(column.cardinality)
    away = places - places.min()
    width = float(away.max())
    unit = 1.0
    if scale == "range":
        unit = width
    elif scale == "std":
        times = np.bincount(column.codes, minlength=column.cardinality)[: len(places)]
        unit = float(np.sqrt(np.average((away - np.average(away, weights=times)) ** 2, weights=times)))
    away = np.append(away, 2 * width if width else 1.0) if column.has_null else away
    return away / unit if unit > 0 else away


def _tree(data: Microdata, column: Column, scale: Scale) -> Axis:
    """Values in the order of the tree, siblings in the order in which the hierarchy names them first."""
    hierarchy = hierarchy_of(data, column.name)
    levels = level_codes(hierarchy)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    standing = np.lexsort([codes for codes, _ in levels])
    rank = np.empty(len(standing), dtype=np.int64)
    rank[standing] = np.arange(len(standing))
    order = np.argsort(rank[leaves], kind="stable")
    table = np.arange(column.cardinality, dtype=column.codes.dtype)
    table[order] = np.arange(len(order), dtype=column.codes.dtype)
    made = Column(column.name, table[column.codes], column.values[order], column.has_null)
    runs = []
    for codes, labels in levels[1:]:
        here = codes[leaves[order]]
        begins = np.flatnonzero(np.diff(here, prepend=-1))
        ends = np.append(begins, len(here))[1:] - 1
        runs += [(int(first), int(last), labels[here[first]]) for first, last in zip(begins, ends, strict=True) if last > first]
    runs.sort(key=lambda run: (run[0], -run[1]))  # stable: of equal runs the least coarse label stays first
    return Axis(made, _scaled(made, rank[leaves[order]].astype(np.float64), scale), is_category=True, runs=tuple(runs))


def ranges(axis: Axis, low: NDArray[np.int32], high: NDArray[np.int32]) -> pl.Series:
    """What is published of each group by its lowest and highest code: a value, an interval, a group, or null."""
    values = axis.column.values.to_list()
    write = _category_writer(axis, values) if axis.is_category else _interval_writer(values)
    width = axis.column.cardinality
    pairs, back = np.unique(low.astype(np.int64) * width + high, return_inverse=True)
    texts = [write(int(pair) // width, int(pair) % width) if pair % width < len(values) else None for pair in pairs]
    return pl.Series(axis.column.name, texts, dtype=pl.String).gather(back)


def _interval_writer(values: list[Any]) -> Callable[[int, int], str]:
    def write(first: int, last: int) -> str:
        one = leaf_text(values[first])
        return one if first == last else f"[{one}, {leaf_text(values[last])}]"

    return write


def _category_writer(axis: Axis, values: list[Any]) -> Callable[[int, int], str]:
    """A run of categories in as few words as the hierarchy has for it."""
    single = [(code, leaf_text(value)) for code, value in enumerate(values)]
    starting: dict[int, list[tuple[int, str]]] = {}
    for first, last, label in axis.runs:
        starting.setdefault(first, []).append((last, label))
    # the grammar's escapes, worked out once a word
    escaped = {
        word: str(Group(frozenset([word])))[1:-1] for _, word in [*single, *(run for runs in starting.values() for run in runs)]
    }

    def write(first: int, last: int) -> str:
        words = []
        while first <= last:
            end, word = next((run for run in starting.get(first, ()) if run[0] <= last), single[first])
            words.append(word)
            first = end + 1
        return words[0] if len(words) == 1 else "{" + "|".join([escaped[word] for word in sorted(words)]) + "}"

    return write


def means(axis: Axis, group: NDArray[np.int64], low: NDArray[np.int32], high: NDArray[np.int32]) -> pl.Series:
    """The mean of each group's numbers or dates, inside its range; null where the group holds a null."""
    values = axis.column.values
    numbers = values.to_physical()
    if numbers.dtype.is_integer() and not values.dtype.is_temporal() and len(numbers):
        largest = max(abs(int(numbers[0])), abs(int(numbers[-1])))
        if largest > _EXACT:
            raise DataError(f"the mean of '{values.name}' would lose digits: {largest} is beyond 2^53; publish ranges")
    if not len(numbers):
        return pl.Series(values.name, [None] * len(low), dtype=pl.Float64)
    known = high < len(numbers)
    base = numbers[0]
    away = np.append((numbers - base).cast(pl.Float64).to_numpy(), 0.0)
    codes = np.minimum(axis.codes, len(numbers))
    mean = np.bincount(group, weights=away[codes], minlength=len(low)) / np.bincount(group, minlength=len(low))
    mean = np.clip(mean, away[low], away[np.minimum(high, len(numbers) - 1)])
    if values.dtype.is_temporal():
        made = (pl.Series(np.rint(mean).astype(np.int64)) + int(base)).cast(numbers.dtype).cast(values.dtype)
    else:
        made = pl.Series(mean) + float(base)
    return made.alias(values.name).set(pl.Series(~known), None)
