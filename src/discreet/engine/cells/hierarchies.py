"""Generalization hierarchies, built from a policy's specification and the values of a column.

A specification (:class:`~discreet.model.hierarchy.HierarchySpec`) defines the coarser values; the column's values are the
leaves. A hierarchy file has the format of ARX: one line per leaf, ``leaf;level1;…;*``. Values that a hierarchy does not cover
raise an error that names them.
"""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.intervals import quantile_levels, width_levels
from discreet.engine.cells.positions import native_positions, text_positions
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.encoding.policy_paths import resolve_path
from discreet.engine.encoding.policy_tables import file_version
from discreet.errors import DataError, SourceError
from discreet.model.attribute import text_forms
from discreet.model.cells import number_text
from discreet.model.hierarchy import Hierarchy, HierarchySpec
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_NAMED = 10
_SEPARATORS = (";", "\t", ",")


def hierarchy_of(data: Microdata, name: str) -> Hierarchy:
    """The hierarchy of a column from the policy; default: each leaf directly below ``*``.

    >>> from discreet import Policy
    >>> import polars as pl
    >>> policy = Policy.from_dict({"attributes": {"zip": {"hierarchy": {"prefixes": [4, 3]}}}})
    >>> hierarchy_of(Microdata(pl.DataFrame({"zip": ["48201", "48202"]}), policy), "zip").labels
    (('48201', '48202'), ('4820*', '4820*'), ('482**', '482**'), ('*', '*'))
    """
    spec = data.attribute(name).hierarchy
    cached: dict[Any, Hierarchy] = data.cache.setdefault("hierarchies", {})
    file = file_version(spec.file, data.policy) if spec is not None and spec.file else None
    key = (name, spec.model_dump_json() if spec is not None else "", file)  # policy and file may change under the same values
    if key not in cached:
        (column,) = encode(data, [name])
        hierarchy = hierarchy_from_spec(column, spec, data)
        leaf_codes(column, hierarchy)
        cached[key] = hierarchy
    return cached[key]


def usable_hierarchy(data: Microdata, name: str) -> Hierarchy | None:
    """The hierarchy that the policy gives a column; None where there is none or it does not cover the column's values."""
    if name not in data.columns or data.attribute(name).hierarchy is None:
        return None
    try:
        return hierarchy_of(data, name)
    except DataError:
        return None


def leaf_codes(column: Column, hierarchy: Hierarchy) -> NDArray[np.int64]:
    """For every code of the column the position of its leaf in the hierarchy; -1 for null.

    Raises DataError naming the values that the hierarchy does not cover.
    """
    position = hierarchy.position
    leaves = np.full(column.cardinality, -1, dtype=np.int64)
    missing: list[str] = []
    for code, value in enumerate(column.values.to_list()):
        leaf = next((position[text] for text in text_forms(value) if text in position), None)
        if leaf is None:
            missing.append(text_forms(value)[-1])
        else:
            leaves[code] = leaf
    if missing:
        shown = ", ".join(f"'{value}'" for value in missing[:_MOST_NAMED])
        more = f" and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
        raise DataError(f"the hierarchy of '{column.name}' does not cover {shown}{more}; add a line for each")
    return leaves


def level_codes(hierarchy: Hierarchy) -> list[tuple[NDArray[np.int64], list[str]]]:
    """For each level the dense label number of each leaf, and the labels by number."""
    levels = []
    for labels in hierarchy.labels:
        numbers: dict[str, int] = {}
        codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        levels.append((codes, list(numbers)))
    return levels


def leaf_text(value: Any) -> str:
    """A value in the notation of leaves: whole floats without '.0', booleans in lower case."""
    return number_text(value) if isinstance(value, float) else text_forms(value)[0]


def read_rows(path: Path, attribute: str) -> list[list[str]]:
    """The rows of a hierarchy file; the separator is the first of ``; tab ,`` that occurs in its first line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise SourceError(f"{path}: the hierarchy of '{attribute}' cannot be read: {error.strerror}") from None
    return parse_rows(text)


def parse_rows(text: str) -> list[list[str]]:
    """The rows of a hierarchy in ARX's form, one per value, coarser labels to the right.

    >>> parse_rows("MI;Midwest;*")
    [['MI', 'Midwest', '*']]
    """
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((sign for sign in _SEPARATORS if lines and sign in lines[0]), ";")
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error as error:
        raise DataError(f"the hierarchy cannot be read as rows value{separator}label{separator}…: {error}") from None


def format_rows(rows: Iterable[Sequence[str]]) -> str:
    """Rows of a hierarchy in ARX's form, which :func:`parse_rows` reads."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def hierarchy_from_spec(column: Column, spec: HierarchySpec | None, data: Microdata) -> Hierarchy:
    """Build the hierarchy of a column's values from a specification."""
    name = column.name
    if spec is not None and spec.file:
        return Hierarchy.from_rows(read_rows(resolve_path(data.policy, spec.file), name), attribute=name)
    if not len(column.values):
        return Hierarchy((("*",), ("*",)))  # a column of nulls has no values to generalize
    values = column.values.to_list()
    leaves = [leaf_text(value) for value in values]
    levels: list[list[str]] = []
    if spec is None:
        levels = []
    elif spec.widths:
        levels = width_levels(_exact_numbers(column), spec.widths, spec.origin, name)
    elif spec.quantiles:
        counts = np.bincount(column.codes, minlength=column.cardinality)[: len(values)]
        levels = quantile_levels(_exact_numbers(column), counts, spec.quantiles, name)
    elif spec.prefixes:
        levels = [[_prefix(leaf, length) for leaf in leaves] for length in spec.prefixes]
    elif spec.dates:
        days = _dates_of(column)
        levels = [[_DATE_LABELS[unit](day) for day in days] for unit in spec.dates]
    else:
        levels = _group_levels(leaves, spec.groups, name)
    return Hierarchy.from_rows(zip(leaves, *levels, strict=True), attribute=name)


def _exact_numbers(column: Column) -> NDArray[Any]:
    """The column's values as exact numbers; raises DataError where a value is no number."""
    if column.values.dtype.is_numeric():
        return native_positions(column.values)
    texts = column.values.cast(pl.String)
    numbers, plain = text_positions(texts, "number")
    if not plain.all():
        wrong = texts.filter(pl.Series(~plain))[0]
        raise DataError(f"a hierarchy of widths or quantiles needs numbers, but '{column.name}' holds '{wrong}'")
    return numbers


def _prefix(text: str, length: int) -> str:
    return "*" if length == 0 else text[:length] + "*" * max(0, len(text) - length)


def _dates_of(column: Column) -> list[datetime.date]:
    values = column.values
    if values.dtype == pl.String:
        dates = values.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    elif values.dtype == pl.Date or isinstance(values.dtype, pl.Datetime):
        dates = values.cast(pl.Date)
    else:
        raise DataError(f"a hierarchy of dates needs dates, but '{column.name}' is {values.dtype}")
    if dates.null_count():
        wrong = values.filter(dates.is_null())[0]
        raise DataError(f"a hierarchy of dates needs dates such as 2014-05-31, but '{column.name}' holds '{wrong}'")
    return dates.to_list()


_DATE_LABELS: dict[str, Callable[[datetime.date], str]] = {
    "week": lambda day: f"{day.isocalendar().year:04d}-W{day.isocalendar().week:02d}",
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10 * 10:04d}s",
}


def _group_levels(leaves: Sequence[str], groups: Sequence[dict[str, tuple[str, ...]]], name: str) -> list[list[str]]:
    """Labels level by level; a group's members are leaves or labels of the level below."""
    levels: list[list[str]] = []
    below = list(leaves)
    for number, level in enumerate(groups, 1):
        label_of: dict[str, str] = {}
        for label, members in level.items():
            for member in members:
                if label_of.setdefault(member, label) != label:
                    raise DataError(
                        f"level {number} of the hierarchy of '{name}' puts '{member}' in '{label_of[member]}' and in '{label}'"
                    )
        labels = [label_of.get(label_below, label_of.get(leaf)) for leaf, label_below in zip(leaves, below, strict=True)]
        missing = [leaf for leaf, label in zip(leaves, labels, strict=True) if label is None]
        if missing:
            shown = ", ".join(f"'{leaf}'" for leaf in missing[:_MOST_NAMED])
            more = f" and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
            raise DataError(f"the hierarchy of '{name}' has no group for {shown}{more} on level {number}")
        below = [label for label in labels if label is not None]
        levels.append(below)
    return levels
