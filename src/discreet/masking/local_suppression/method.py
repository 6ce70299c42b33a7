"""Local suppression: blanking the values that make records rare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.notes import Note

_MOST_CHECKED_AGAIN = 50_000


class LocalSuppression(MaskingMethod):
    """Blanks single key values until at least k records agree with every record, a blank agreeing with anything.

    Each record that is too rare loses the cheapest set of values that leaves a combination which k records truly share;
    records are taken in turn, the costliest first, and one that earlier blanks have made safe keeps its values. With ``blanks:
    discount`` nothing is owed to blanks: all records that were too rare are treated.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"sex": ["f", "f", "m"], "town": ["A", "A", "A"]}, key=["sex", "town"])
    >>> LocalSuppression(k=2).mask(data, ["sex", "town"], KeyedDraw(7)).frame.rows()
    [('f', 'A'), ('f', 'A'), (None, 'A')]
    """

    name: ClassVar[str] = "local_suppression"
    citation: ClassVar[str] = (
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control, chapter 5. Springer; Templ, M., "
        "Kowarik, A. & Meindl, B. (2015). Statistical disclosure control for micro-data using the R package sdcMicro. JSS 67(4)."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value that is not blanked; all attributes but the keys."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {"columns": ("k_anonymity.keys",)}

    k: Annotated[int, Field(ge=1)] | None = Field(default=None, description="fewest records that agree with each record")
    threshold: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="largest risk 1 / (records that agree) a record may keep; instead of k"
    )
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="what blanking a value of an attribute costs; 1 where not named"
    )
    blanks: Literal["match", "discount"] = Field(
        default="match", description="a blank agrees with anything (the wildcard reading), or only values that are shared count"
    )

    @model_validator(mode="after")
    def _one_goal(self) -> Self:
        if (self.k is None) == (self.threshold is None):
            raise ValueError("local_suppression needs either k or threshold")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(k=2)

    @property
    def least(self) -> int:
        """The k that is asked for: 1 / k is at most the threshold."""
        return self.k if self.k is not None else math.ceil(1 / (self.threshold or 1.0) - 1e-9)

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.KEY)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("local_suppression needs keys: name columns, or give attributes the role key")
        for name in self.importance:
            if name not in columns:
                raise ParameterError(f"local_suppression.importance names '{name}', which is not a key; {nearest(name, columns)}")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        from discreet.masking.local_suppression.search import local_suppression

        self.check(data, columns)
        if not len(data):
            return data
        costs = [self.importance.get(name, 1.0) for name in columns]
        gone = local_suppression(encode(data, columns), len(data), self.least, costs, look_again=self.blanks == "match")
        changed = {
            name: data.frame[name].set(pl.Series(gone[:, at]), None) for at, name in enumerate(columns) if gone[:, at].any()
        }
        return data.with_columns(changed) if changed else data

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        lost = {name: after.frame[name].null_count() - before.frame[name].null_count() for name in columns}
        told = ", ".join(f"{name} {number:,}" for name, number in lost.items() if number)
        total = f"{sum(lost.values()):,} of {len(before) * len(columns):,} values blanked"
        return [Note(f"{total}: {told}", total)] if told else []  # by attribute the counts are small

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        kept = [name for name in columns if name in final.columns]
        if kept == list(columns) and len(final) == len(after) and final.frame.select(kept).equals(after.frame.select(kept)):
            return []
        if not kept or not len(final):
            return []
        if len(final) > _MOST_CHECKED_AGAIN:
            return ["keys or records were changed by a later step; measure k_anonymity with missing: wildcard again"]
        rare = int((class_sizes(encode(final, kept), len(final), wildcard=True) < self.least).sum())
        return [f"{rare:,} records agree with fewer than {self.least} any more"] if rare else []
