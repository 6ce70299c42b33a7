"""Generalization hierarchies: how the values of an attribute are recoded to coarser labels, level by level, up to ``*``.

A hierarchy is a table with one row per leaf and one column per level: the leaf itself, then its labels, then ``*``. It must be a
tree: two leaves that share a label on one level share the labels of all higher levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.errors import DataError
from discreet.model.cells import EVERYTHING

DateUnit = Literal["week", "month", "quarter", "year", "decade"]


class HierarchySpec(BaseModel):
    """The definition of a hierarchy: exactly one of a file, widths, quantiles, prefixes, date units or groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str | None = Field(default=None, description="CSV file, one line per leaf: leaf;level1;…;*")
    widths: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(), description="interval widths, narrowest first, each a multiple of the one before"
    )
    origin: float = Field(default=0.0, description="origin of the intervals of a width")
    quantiles: tuple[Annotated[int, Field(ge=2)], ...] = Field(
        default=(), description="numbers of quantile intervals, largest first, each a divisor of the one before"
    )
    prefixes: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(), description="numbers of leading characters to keep, largest first: 4, 3 recodes 48201 -> 4820* -> 482**"
    )
    dates: tuple[DateUnit, ...] = Field(default=(), description="date units, finest first: month, quarter, year")
    groups: tuple[dict[str, tuple[str, ...]], ...] = Field(
        default=(), description="one mapping per level: label to its members (leaves, or labels of the level below)"
    )

    @model_validator(mode="before")
    @classmethod
    def _a_text_is_a_file(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _exactly_one_way(self) -> HierarchySpec:
        ways = [name for name in ("file", "widths", "quantiles", "prefixes", "dates", "groups") if getattr(self, name)]
        if len(ways) != 1:
            raise ValueError(
                "a hierarchy needs exactly one of file, widths, quantiles, prefixes, dates, groups; "
                f"got {' and '.join(ways) if ways else 'none'}"
            )
        return self


@dataclass(frozen=True)
class Hierarchy:
    """A built hierarchy: ``labels[level][leaf]``, level 0 being the leaves and the last level ``*``."""

    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, attribute: str = "?") -> Hierarchy:
        """Build a hierarchy from rows ``(leaf, level1, …)``; a last level ``*`` is added where the rows have none."""
        table = [tuple(row) for row in rows]
        if not table:
            raise DataError(f"the hierarchy of '{attribute}' has no rows")
        depth = len(table[0])
        for row in table:
            if len(row) != depth:
                raise DataError(f"the hierarchy of '{attribute}' has {len(row)} levels for '{row[0]}' but {depth} before it")
        levels = [tuple(row[level] for row in table) for level in range(depth)]
        if set(levels[-1]) != {EVERYTHING}:
            levels.append((EVERYTHING,) * len(table))
        hierarchy = cls(tuple(levels))
        hierarchy._check(attribute)
        return hierarchy

    def _check(self, attribute: str) -> None:
        leaves = self.labels[0]
        if len(set(leaves)) < len(leaves):
            seen: set[str] = set()
            for leaf in leaves:
                if leaf in seen:
                    raise DataError(f"the hierarchy of '{attribute}' has the leaf '{leaf}' twice")
                seen.add(leaf)
        for level in range(1, len(self.labels) - 1):
            if EVERYTHING in self.labels[level] and len(set(self.labels[level])) > 1:
                self._check_suppressed(attribute, level)
            parent: dict[str, str] = {}
            for label, above in zip(self.labels[level], self.labels[level + 1], strict=True):
                if parent.setdefault(label, above) != above:
                    raise DataError(
                        f"the hierarchy of '{attribute}' is not a tree: '{label}' on level {level} "
                        f"lies under '{parent[label]}' and under '{above}'"
                    )

    def _check_suppressed(self, attribute: str, level: int) -> None:
        """Raise DataError where ``*``, which means any value, is the label of some leaves of a level only."""
        for leaf, label in zip(self.labels[0], self.labels[level], strict=True):
            if label == EVERYTHING != leaf:
                raise DataError(
                    f"the hierarchy of '{attribute}' has the label '{EVERYTHING}' for '{leaf}' on level {level}, beside other "
                    f"labels: '{EVERYTHING}' means any value; give '{leaf}' another label there"
                )

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.labels[0]

    @property
    def height(self) -> int:
        """The number of levels above the leaves; the last of them is ``*``."""
        return len(self.labels) - 1

    @cached_property
    def position(self) -> dict[str, int]:
        return {leaf: index for index, leaf in enumerate(self.leaves)}

    @cached_property
    def members(self) -> dict[str, frozenset[str]]:
        """The leaves under every label; a leaf is also under itself."""
        under: dict[str, set[str]] = {}
        for level in self.labels:
            for leaf, label in zip(self.leaves, level, strict=True):
                under.setdefault(label, set()).add(leaf)
        return {label: frozenset(leaves) for label, leaves in under.items()}

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """The leaves under each label that does not just stand for the leaf of the same name; ``*`` is left out."""
        return {label: leaves for label, leaves in self.members.items() if leaves != {label} and label != EVERYTHING}

    def missing(self, values: Iterable[str]) -> list[str]:
        """The values that have no leaf in the hierarchy."""
        return sorted(value for value in set(values) if value not in self.position)
