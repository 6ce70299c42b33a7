"""Data swapping: records exchange values, so that every margin stays exactly what it was."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.classes.groups import class_sizes, groups_of
from discreet.engine.encoding.columns import Column, encode, threads
from discreet.engine.runtime.order_free_sums import by_record, in_order
from discreet.errors import DataError, ParameterError
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.masking.swapping.partners import distant_partners, rank_partners, words
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.notes import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWN = {"rank": ("window",), "random": ("share", "strata"), "targeted": ("keys", "smaller_than", "match")}

PARTNERS = Gap(
    "how: rank or targeted, or how: random without strata",
    "partners are searched among all records",
    lambda plugin: plugin.how != "random" or not plugin.strata,
)


class Swapping(MaskingMethod):
    """Pairs of records exchange their values of the columns; how the pairs are found is said by ``how``.

    ``rank``: each column by itself; partners are at most ``window`` percent of the column's values apart in rank (Moore 1996).
    ``random``: partners at random within ``strata``, for a ``share`` of the records; the columns move together (Dalenius & Reiss
    1982). ``targeted``: records whose class on ``keys`` and the columns has fewer than ``smaller_than`` members exchange the
    columns (the geography) with a record of another place that agrees with them on ``match``.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"income": [10, 20, 30, 40]}, confidential=["income"])
    >>> sorted(Swapping(window=50).mask(data, ["income"], KeyedDraw(7)).frame["income"])
    [10, 20, 30, 40]
    """

    name: ClassVar[str] = "swapping"
    citation: ClassVar[str] = (
        "Dalenius, T. & Reiss, S. P. (1982). Data-swapping: a technique for disclosure control. J. Statistical Planning and "
        "Inference 6, 73-85; Moore, R. A. (1996). Controlled data-swapping techniques for masking public use microdata sets. "
        "US Census Bureau RR96-04; Shlomo, N., Tudor, C. & Groom, P. (2010). Data swapping for protecting census tables. PSD."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.swapping.spark:swapping", (PARTNERS,))
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = (
        "Every column's own distribution exactly; within strata where given; what is matched in targeted swaps."
    )

    how: Literal["rank", "random", "targeted"] = Field(default="rank", description="how partners are found")
    window: Annotated[float, Field(gt=0, le=100)] | None = Field(
        default=None, description="rank: how far partners may be apart, in percent of the column's values; 5 where absent"
    )
    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="random: share of the records of each stratum that are swapped; all where absent"
    )
    strata: tuple[str, ...] = Field(default=(), description="random: partners agree on these columns")
    keys: tuple[str, ...] = Field(
        default=(), description="targeted: attributes the class size is taken on; those with the role key"
    )
    smaller_than: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="targeted: records in classes smaller than this are swapped; 3 where absent"
    )
    match: tuple[str, ...] = Field(default=(), description="targeted: partners agree on these columns")

    @model_validator(mode="after")
    def _parameters_fit_the_kind(self) -> Self:
        for how, names in _OWN.items():
            for name in names:
                if how != self.how and getattr(self, name) not in (None, ()):
                    raise ValueError(f"{name} goes with how: {how}, not with how: {self.how}")
        return self

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NUMERIC, Level.ORDINAL, Level.DATE) if self.how == "rank" else []

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes whose values are exchanged")
        need_values(self.name, data, columns)
        if len(data) < 2:
            raise DataError("swapping needs at least 2 records; there is 1")
        for parameter in ("strata", "match", "keys"):
            need_other_columns(self.name, data, parameter, getattr(self, parameter), columns if parameter != "keys" else ())
        if self.how == "rank":
            for name in columns:
                if data.level(name) is Level.NOMINAL:
                    raise DataError(f"rank swapping needs an order, but '{name}' is nominal; use how: random")
                self._reach(len(data) - data.frame[name].null_count(), name)
        if self.how == "targeted" and not self._keys(data, columns):
            raise DataError("targeted swapping needs attributes with the role key, or keys to take class sizes on")

    def _reach(self, number: int, name: str) -> int:
        """The window in ranks."""
        percent = 5.0 if self.window is None else self.window
        reach = int(percent * number / 100 + 1e-9)
        if reach < 1:
            raise ParameterError(
                f"swapping.window is {percent:g} % of the {number} values of '{name}', which is less than 1 rank"
            )
        return reach

    def _keys(self, data: Microdata, columns: Sequence[str]) -> list[str]:
        return [name for name in (list(self.keys) or data.named(Role.KEY)) if name not in columns]

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        if self.how == "rank":
            with ThreadPoolExecutor(threads()) as pool:
                made = list(pool.map(lambda name: self._ranked(data, name, draw), columns))
            return data.with_columns(dict(zip(columns, made, strict=True)))
        partners = self._random(data, draw) if self.how == "random" else self._targeted(data, columns, draw)
        return data.with_columns({name: data.frame[name].gather(pl.Series(partners)) for name in columns})

    def _ranked(self, data: Microdata, name: str, draw: Draw) -> pl.Series:
        series, number = data.frame[name], len(data) - data.frame[name].null_count()
        order, column = self._ranks(data, name)
        ranked = order[:number]
        partners = rank_partners(words(draw.uniform(data.records, name))[ranked], self._reach(number, name))
        if column is None or series.dtype.is_float() or column.values.dtype != series.dtype:
            rows = np.arange(len(data))
            rows[ranked] = ranked[partners]
            return series.gather(pl.Series(rows))
        codes = column.codes.copy()  # they say the values exactly, and are shorter than row numbers
        codes[ranked] = column.codes[ranked][partners]
        values = column.values.extend_constant(None, 1) if column.has_null else column.values
        return values.gather(pl.Series(codes)).alias(name)

    def _ranks(self, data: Microdata, name: str) -> tuple[NDArray[np.int64], Column | None]:
        """The rows by value, ties by record number and nulls last; and the codes, where they were needed."""
        series, order = data.frame[name], None if in_order(data.records) else by_record(data.records)
        column = None
        if series.dtype.is_float() and series.null_count() == 0:
            values = series.to_numpy() if order is None else series.to_numpy()[order]
            found = np.argsort(values)
            ranked = values[found]
            if (ranked[1:] == ranked[:-1]).any():  # the fast sort does not keep the order of ties
                (column,) = encode(data, [name])
        else:
            (column,) = encode(data, [name])
        if column is not None:
            found = np.argsort(column.codes if order is None else column.codes[order], kind="stable")
        return found if order is None else order[found], column

    def _random(self, data: Microdata, draw: Draw) -> NDArray[np.int64]:
        strata = Strata.of(data, self.strata)
        order = draw.order(data.records)
        order = order[np.argsort(strata.ids[order], kind="stable")]
        partners = np.arange(len(data))
        first = 0
        for size in strata.sizes.tolist():
            swapped = int((1.0 if self.share is None else self.share) * size / 2 + 1e-9)
            chosen = order[first : first + 2 * swapped]
            partners[chosen[0::2]], partners[chosen[1::2]] = chosen[1::2], chosen[0::2]
            first += size
        return partners

    def _at_risk(self, data: Microdata, columns: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        sizes = class_sizes(encode(data, [*self._keys(data, columns), *columns]), len(data))
        return sizes, sizes < (3 if self.smaller_than is None else self.smaller_than)

    def _targeted(self, data: Microdata, columns: Sequence[str], draw: Draw) -> NDArray[np.int64]:
        """The rows in a keyed order, so that the choice does not depend on how they lie; the smallest classes come first."""
        sizes, risky = self._at_risk(data, columns)
        order = draw.order(data.records)
        groups, _ = groups_of(encode(data, self.match), len(data))
        places, _ = groups_of(encode(data, columns), len(data))
        wanting = np.flatnonzero(risky[order])
        wanting = wanting[np.argsort(sizes[order][wanting], kind="stable")]
        bits = words(draw.uniform(data.records, "partner"))
        found = distant_partners(groups[order], places[order], wanting, bits[order])
        partners = np.empty(len(data), dtype=np.int64)
        partners[order] = order[found]
        return partners

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """Records at risk for whom there was no partner."""
        if self.how != "targeted":
            return []
        _, risky = self._at_risk(before, columns)
        stayed = np.logical_and.reduce([before.frame[name].eq_missing(after.frame[name]).to_numpy() for name in columns])
        made: list[str] = [
            Note(
                f"{int(risky.sum())} records at risk, {int((risky & ~stayed).sum())} of them swapped",
                f"{int(risky.sum())} records were at risk",
            )
        ]
        if left := int((risky & stayed).sum()):
            alone = "found no partner in another place that agrees with them on what must match"
            made.append(Note(f"{left} records at risk {alone}", f"some records at risk {alone}"))
        return made
