"""Microdata of which only the codes are in memory, for tables that are larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.model.attribute import Attribute
from discreet.model.display import list_names
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


class Encoded(Microdata):
    """A table with some of its columns as codes (in ``cache["columns"]``), and a function that reads the whole table.

    Names, types and roles are those of the whole table. Code that works on codes (``encode`` in engine/encoding/columns.py) finds
    them in the cache; access to ``frame`` reads the whole table.
    """

    @classmethod
    def of(
        cls,
        shape: Microdata,
        size: int,
        columns: Mapping[str, Any],
        whole: Callable[[], pl.DataFrame],
    ) -> Encoded:
        """The table whose columns and policy are those of ``shape``, which has no rows, with ``size`` records."""
        encoded = object.__new__(cls)
        vars(encoded).update(
            policy=shape.policy,
            source=shape.source,
            labels=shape.labels,
            variable_labels=shape.variable_labels,
            cells=shape.cells,
            cache={"columns": dict(columns)},
            _shape=shape,
            _size=size,
            _whole=whole,
        )
        return encoded

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with all its rows: another process need not have the file."""
        table = Microdata(self.frame, self.policy, self.source, self.records, self.labels, cells=self.cells, has_links=False)
        return (Microdata.with_policy, (table, self.policy))

    @cached_property
    def frame(self) -> pl.DataFrame:
        frame: pl.DataFrame = vars(self)["_whole"]()
        return frame

    @cached_property
    def records(self) -> NDArray[np.int64]:
        return np.arange(len(self), dtype=np.int64)

    @cached_property
    def is_initial(self) -> bool:
        return True

    def __len__(self) -> int:
        return int(vars(self)["_size"])

    @property
    def columns(self) -> list[str]:
        return self._without_rows.columns

    @property
    def schema(self) -> pl.Schema:
        return self._without_rows.schema

    @property
    def _without_rows(self) -> Microdata:
        shape: Microdata = vars(self)["_shape"]
        return shape

    def with_policy(self, policy: Policy) -> Microdata:
        """The same table under another policy; the codes of columns whose attribute is unchanged are kept."""
        before, after = self.policy.attributes, policy.attributes
        changed = {name for name in self.columns if _as_encoded(before.get(name)) != _as_encoded(after.get(name))}
        unchanged = {name: column for name, column in self.cache["columns"].items() if name not in changed}
        return Encoded.of(self._without_rows.with_policy(policy), len(self), unchanged, vars(self)["_whole"])

    def describe(self) -> tuple[str, dict[str, str]]:
        title, roles = super().describe()
        return title, {**roles, "codes of": list_names(self.cache["columns"])}


def _as_encoded(attribute: Attribute | None) -> Attribute | None:
    """An attribute as far as its codes depend on it: not on what is known or sensitive."""
    guesses = {"known": 0.0, "sensitivity": 0.0, "values": {}, "default": None}
    return None if attribute is None else attribute.model_copy(update=guesses)
