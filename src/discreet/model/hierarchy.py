"""Hierarchies: how the values of an attribute become coarser, level by level, until nothing is said.

A hierarchy is a table with a row a leaf and a column a level: the leaf itself, then its labels, then ``*``.
It is a tree where equal labels stay together: two leaves that share a label share all coarser ones.
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
    """How a hierarchy is had: exactly one of a file, widths, quantiles, prefixes, date units or groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str | None = Field(default=None, description="CSV file, a line a leaf: leaf;level1;…;*")
    widths: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(), description="interval widths, narrowest first, each a multiple of the one before"
    )
    origin: float = Field(default=0.0, description="where intervals of a width start to be counted")
    quantiles: tuple[Annotated[int, Field(ge=2)], ...] = Field(
        default=(), description="numbers of equally filled intervals, most first, each a divisor of the one before"
    )
    prefixes: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(), description="how many leading characters stay, most first: 4, 3 makes 48201 -> 4820* -> 482**"
    )
    dates: tuple[DateUnit, ...] = Field(default=(), description="date units, finest first: month, quarter, year")
    groups: tuple[dict[str, tuple[str, ...]], ...] = Field(
        default=(), description="a mapping a level: label to its members (leaves, or labels of the level below)"
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
        """Build from rows ``(leaf, level1, …)``; a last level ``*`` is added where the rows have none."""
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
        made = cls(tuple(levels))
        made._check(attribute)
        return made

    def _check(self, attribute: str) -> None:
        leaves = self.labels[0]
        if len(set(leaves)) < len(leaves):
            seen: set[str] = set()
            for leaf in leaves:
                if leaf in seen:
                    raise DataError(f"the hierarchy of '{attribute}' has the leaf '{leaf}' twice")
                seen.add(leaf)
        for level in range(1, len(self.labels) - 1):
            parent: dict[str, str] = {}
            for label, above in zip(self.labels[level], self.labels[level + 1], strict=True):
                if parent.setdefault(label, above) != above:
                    raise DataError(
                        f"the hierarchy of '{attribute}' is not a tree: '{label}' on level {level} "
                        f"lies under '{parent[label]}' and under '{above}'"
                    )

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.labels[0]

    @property
    def height(self) -> int:
        """The number of levels above the leaves; the last of them says nothing."""
        return len(self.labels) - 1

    @cached_property
    def position(self) -> dict[str, int]:
        return {leaf: index for index, leaf in enumerate(self.leaves)}

    @cached_property
    def members(self) -> dict[str, frozenset[str]]:
        """The leaves under every label, the leaf itself included."""
        under: dict[str, set[str]] = {}
        for level in self.labels:
            for leaf, label in zip(self.leaves, level, strict=True):
                under.setdefault(label, set()).add(leaf)
        return {label: frozenset(leaves) for label, leaves in under.items()}

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """The leaves under each label that is not itself the one leaf it stands for; ``*`` is left out."""
        return {label: leaves for label, leaves in self.members.items() if leaves != {label} and label != EVERYTHING}

    def missing(self, values: Iterable[str]) -> list[str]:
        """The values that have no leaf here."""
        return sorted(value for value in set(values) if value not in self.position)
