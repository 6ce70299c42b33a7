"""Columns that belong together: indicators of one category (one-hot), the same thing of a relative or of another year."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.analysis.relations import values_per_record
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.name_rules import Kind
from discreet.engine.recognition.value_facts import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_COVERED = 0.5
_LEAST_EXPECTED = 10.0
"""Records in which independent indicators would both be 1, from which their being exclusive is no accident."""
_MOST_MEMBERS = 40
_LOG_PREFIX = re.compile(r"^(?:ln|log|l)_?(?=[a-z]{3})")
_SQUARE_SUFFIX = re.compile(r"(?<=[a-z]{3})_?(?:sq|2|squared)$")
_RELATIVE_PREFIXES = (
    "hus",
    "husb",
    "moth",
    "fath",
    "mom",
    "dad",
    "sp",
    "wife",
    "par",
    "m",
    "f",
    "h",
    "w",
    "d",
    "p",
    "s",
    "b",
    "c",
    "r",
)


def find_indicator_families(facts: Sequence[Facts]) -> list[list[str]]:
    """Runs of neighbouring 0/1 columns of which at most one is 1 in every record, and one is in most."""
    flags = [(position, column) for position, column in enumerate(facts) if _is_indicator(column)]
    families: list[list[str]] = []
    start = 0
    while start < len(flags):
        members, total = [flags[start]], _ones(flags[start][1])
        overlap = 0.0
        for nxt in flags[start + 1 : start + _MOST_MEMBERS]:
            if nxt[0] - members[-1][0] > 2:
                break
            ones = _ones(nxt[1])
            if bool((total & ones).any()):
                break
            overlap += float(total.mean()) * float(ones.mean()) * len(ones)
            members.append(nxt)
            total = total | ones
        whole = float(total.mean())
        if overlap >= _LEAST_EXPECTED and (
            (len(members) >= 3 and whole >= _LEAST_COVERED) or (len(members) == 2 and whole == 1.0)
        ):
            families.append([column.name for _, column in members])
            start += len(members)
        else:
            start += 1
    return families


def _is_indicator(facts: Facts) -> bool:
    if facts.distinct != 2 or facts.present < 0.8 * facts.records:
        return False
    if facts.dtype == pl.Boolean:
        return True
    return facts.is_number and facts.extremes == (0, 1)


def _ones(facts: Facts) -> NDArray[np.bool_]:
    if facts.dtype == pl.Boolean:
        return np.asarray(facts.column.codes == 1)
    return np.asarray(values_per_record(facts) == 1)


class TableNames:
    """The names of a table's columns in lower case, looked up once per column: by each other would be quadratic."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name.lower() for name in names}
        self._without_first_letter = Counter(name[1:] for name in self._names)

    def is_shared(self, rest: str, name: str) -> bool:
        """Whether some column is called ``rest``, or one other than ``name`` is it with a letter in front."""
        own = name in self._names and name[1:] == rest
        return rest in self._names or self._without_first_letter[rest] > own


def kind_without_affix(name: str, names: TableNames) -> tuple[Kind, str] | None:
    """The kind of a name without a sign of a logarithm, a square, a relative or a year, and the rest that names it.

    A single letter in front counts only where the rest is a column of the table, or two such columns share it.
    """
    lower = name.lower()
    rests = [pattern.sub("", lower) for pattern in (_LOG_PREFIX, _SQUARE_SUFFIX)]
    rests.append(_SQUARE_SUFFIX.sub("", rests[0]))
    for rest in rests:
        if rest != lower and (kind := _strong_kind(rest)) is not None:
            return kind, rest
    for candidate in (lower, *rests):
        for prefix in _RELATIVE_PREFIXES:
            rest = candidate.removeprefix(prefix).lstrip("_.")
            if rest == candidate or len(rest) < 2:
                continue
            if (len(prefix) > 1 or names.is_shared(rest, lower)) and (kind := _strong_kind(rest)) is not None:
                return kind, rest
    return None


def _strong_kind(text: str) -> Kind | None:
    naming = look_up_name(text)
    return naming.kind if naming.kind is not None and not naming.kind.weak and naming.explained == 1.0 else None
