"""Data swapping: records exchange values, which preserves every univariate distribution exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.classes.groups import class_sizes, group_columns
from discreet.engine.encoding.columns import Column, encode, thread_count
from discreet.engine.runtime.order_free_sums import is_ordered, rows_by_record_number
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError, ParameterError
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.masking.step_words import say_percent, say_strata, say_value
from discreet.masking.swapping.partners import pair_across_places, pair_by_rank, random_bits
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.notes import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARAMETERS_BY_HOW = {"rank": ("window",), "random": ("share", "strata"), "targeted": ("keys", "smaller_than", "match")}

PARTNERS = Gap(
    "how: rank or targeted, or how: random without strata",
    "it searches for partners among all records",
    lambda plugin: plugin.how != "random" or not plugin.strata,
)


class Swapping(MaskingMethod):
    """Exchanges the values of the columns between pairs of records, chosen by rank, at random, or to move small classes.

    ``rank``: each column separately; the ranks of partners differ by at most ``window`` percent of the number of values (Moore
    1996). ``random``: random pairs within ``strata``, for a ``share`` of the records; all columns move together (Dalenius & Reiss
    1982). ``targeted``: records whose equivalence class on ``keys`` and the columns has fewer than ``smaller_than`` members
    exchange the columns (the geography) with a record from another place that agrees with them on ``match`` (Shlomo et al. 2010).

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
        "The distribution of each column exactly; random: also within strata; targeted: also within records that agree on match."
    )

    how: Literal["rank", "random", "targeted"] = Field(default="rank", description="how partners are chosen")
    window: Annotated[float, Field(gt=0, le=100)] | None = Field(
        default=None, description="rank: largest difference in rank, in percent of the column's values; default: 5"
    )
    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="random: share of the records of each stratum that are swapped; default: all"
    )
    strata: tuple[str, ...] = Field(default=(), description="random: partners agree on these columns")
    keys: tuple[str, ...] = Field(
        default=(), description="targeted: attributes that define the classes; default: those with the role key"
    )
    smaller_than: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="targeted: records in classes smaller than this are swapped; default: 3"
    )
    match: tuple[str, ...] = Field(default=(), description="targeted: partners agree on these columns")

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        for how, names in _PARAMETERS_BY_HOW.items():
            for name in names:
                if how != self.how and getattr(self, name) not in (None, ()):
                    raise ValueError(f"{name} is allowed only with how: {how}, not with how: {self.how}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        how = parameters.get("how", "rank")
        if how == "targeted":
            return f"swap values of {columns} of records in classes of fewer than {parameters.get('smaller_than', 3)}"
        if how == "random":
            share = f"{say_percent(parameters['share'])} of the " if "share" in parameters else ""
            return f"swap values of {columns} between random pairs of {share}records{say_strata(parameters)}"
        window = say_value(parameters.get("window", 5))
        return f"swap values of {columns} between records whose ranks differ by at most {window} % of the values"

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
                self._window_ranks(len(data) - data.frame[name].null_count(), name)
        if self.how == "targeted" and not self._key_columns(data, columns):
            raise DataError("targeted swapping needs attributes with the role key, or the parameter keys, to define the classes")

    def _window_ranks(self, value_count: int, name: str) -> int:
        """The window as a number of ranks; raise ParameterError if it is less than one."""
        percent = 5.0 if self.window is None else self.window
        ranks = int(percent * value_count / 100 + 1e-9)
        if ranks < 1:
            raise ParameterError(
                f"swapping.window is {percent:g} % of the {value_count} values of '{name}', which is less than 1 rank"
            )
        return ranks

    def _key_columns(self, data: Microdata, columns: Sequence[str]) -> list[str]:
        return [name for name in (list(self.keys) or data.named(Role.KEY)) if name not in columns]

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        if self.how == "rank":
            with WorkerThreads(thread_count()) as pool:
                swapped = list(pool.map(lambda name: self._swap_by_rank(data, name, draw), columns))
            return data.with_columns(dict(zip(columns, swapped, strict=True)))
        partners = self._pair_at_random(data, draw) if self.how == "random" else self._pair_records_at_risk(data, columns, draw)
        return data.with_columns({name: data.frame[name].gather(pl.Series(partners)) for name in columns})

    def _swap_by_rank(self, data: Microdata, name: str, draw: Draw) -> pl.Series:
        series, value_count = data.frame[name], len(data) - data.frame[name].null_count()
        order, column = self._rows_by_rank(data, name)
        ranked = order[:value_count]
        partners = pair_by_rank(random_bits(draw.uniform(data.records, name))[ranked], self._window_ranks(value_count, name))
        if column is None or series.dtype.is_float() or column.values.dtype != series.dtype:
            rows = np.arange(len(data))
            rows[ranked] = ranked[partners]
            return series.gather(pl.Series(rows))
        codes = column.codes.copy()  # codes stand for the values exactly, and need less memory than row numbers
        codes[ranked] = column.codes[ranked][partners]
        values = column.values.extend_constant(None, 1) if column.has_null else column.values
        return values.gather(pl.Series(codes)).alias(name)

    def _rows_by_rank(self, data: Microdata, name: str) -> tuple[NDArray[np.int64], Column | None]:
        """The rows sorted by value, ties by record number, nulls last; and the encoded column if sorting needed it.

        The fast path sorts floats with an unstable sort and falls back to codes if there are ties.
        """
        series, order = data.frame[name], None if is_ordered(data.records) else rows_by_record_number(data.records)
        column = None
        if series.dtype.is_float() and series.null_count() == 0:
            values = series.to_numpy() if order is None else series.to_numpy()[order]
            sorted_rows = np.argsort(values)
            sorted_values = values[sorted_rows]
            if (sorted_values[1:] == sorted_values[:-1]).any():  # the unstable sort does not keep the order of ties
                (column,) = encode(data, [name])
        else:
            (column,) = encode(data, [name])
        if column is not None:
            sorted_rows = np.argsort(column.codes if order is None else column.codes[order], kind="stable")
        return sorted_rows if order is None else order[sorted_rows], column

    def _pair_at_random(self, data: Microdata, draw: Draw) -> NDArray[np.int64]:
        strata = Strata.of(data, self.strata)
        order = draw.order(data.records)
        order = order[np.argsort(strata.ids[order], kind="stable")]
        partners = np.arange(len(data))
        first = 0
        for size in strata.sizes.tolist():
            pairs = int((1.0 if self.share is None else self.share) * size / 2 + 1e-9)
            swapped = order[first : first + 2 * pairs]
            partners[swapped[0::2]], partners[swapped[1::2]] = swapped[1::2], swapped[0::2]
            first += size
        return partners

    def _find_records_at_risk(self, data: Microdata, columns: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        sizes = class_sizes(encode(data, [*self._key_columns(data, columns), *columns]), len(data))
        return sizes, sizes < (3 if self.smaller_than is None else self.smaller_than)

    def _pair_records_at_risk(self, data: Microdata, columns: Sequence[str], draw: Draw) -> NDArray[np.int64]:
        """The partner of each row; records in the smallest classes choose first.

        Rows are put in a keyed random order, so that the result does not depend on their order in the table.
        """
        sizes, risky = self._find_records_at_risk(data, columns)
        order = draw.order(data.records)
        groups, _ = group_columns(encode(data, self.match), len(data))
        places, _ = group_columns(encode(data, columns), len(data))
        at_risk = np.flatnonzero(risky[order])
        at_risk = at_risk[np.argsort(sizes[order][at_risk], kind="stable")]
        bits = random_bits(draw.uniform(data.records, "partner"))
        positions = pair_across_places(groups[order], places[order], at_risk, bits[order])
        partners = np.empty(len(data), dtype=np.int64)
        partners[order] = order[positions]
        return partners

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """How many records at risk were swapped, and how many had no partner."""
        if self.how != "targeted":
            return []
        _, risky = self._find_records_at_risk(before, columns)
        unchanged = np.logical_and.reduce([before.frame[name].eq_missing(after.frame[name]).to_numpy() for name in columns])
        notes: list[str] = [
            Note(
                f"{int(risky.sum())} records at risk, {int((risky & ~unchanged).sum())} of them swapped",
                f"{int(risky.sum())} records were at risk",
            )
        ]
        if unswapped := int((risky & unchanged).sum()):
            reason = "were not swapped: no record from another place agrees with them on match"
            notes.append(Note(f"{unswapped} records at risk {reason}", f"some records at risk {reason}"))
        return notes
