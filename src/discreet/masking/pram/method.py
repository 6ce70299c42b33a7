"""PRAM, the post-randomization method: categories change at random, with probabilities that the owner knows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.encoding.columns import Column, encode, threads
from discreet.engine.spark.gaps import MANY_CATEGORIES, MANY_STRATA
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.pram.transitions import Tables, alias_tables, change_by, change_present, invariant, retention_matrix
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.model.attribute import Level, printed
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Probability = Annotated[float, Field(ge=0, le=1)]
_MOST_CATEGORIES = 2_000
_BLOCK = 1 << 17


class Pram(MaskingMethod):
    """A record of category k becomes category l with probability P_kl.

    P is the ``matrix``, or keeps a category with probability ``retention`` and takes each other one alike. With ``invariant`` the
    matrix used is R = P Q, Q_jk = P_kj t_k / sum_l P_lj t_l with the counts t, so that t R = t: the expected
    frequencies are those of the data.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"state": ["MI", "IN", None]}, key=["state"])
    >>> Pram(matrix={"MI": {"IN": 1}, "IN": {"IN": 1}}).mask(data, ["state"], KeyedDraw(7)).frame["state"].to_list()
    ['IN', 'IN', None]
    """

    name: ClassVar[str] = "pram"
    citation: ClassVar[str] = (
        "Gouweleeuw, J. M., Kooiman, P., Willenborg, L. C. R. J. & de Wolf, P.-P. (1998). Post randomisation for statistical "
        "disclosure control: theory and implementation. Journal of Official Statistics 14(4), 463-478."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.pram.spark:pram", (MANY_STRATA, MANY_CATEGORIES))
    scope: ClassVar[Scope] = Scope.COLUMN
    preserves: ClassVar[str] = "The set of categories; expected frequencies where invariant, else those that the matrix says."

    matrix: dict[str, dict[str, Probability]] | None = Field(
        default=None, description="probabilities by old and new category; a category that a row does not name has probability 0"
    )
    retention: Probability | None = Field(
        default=None, description="probability that a value stays; 0.8 where no matrix is given"
    )
    invariant: bool = Field(default=False, description="keep the expected frequencies of the data")
    strata: tuple[str, ...] = Field(default=(), description="frequencies are kept within these, and categories stay among theirs")

    @field_validator("matrix", mode="before")
    @classmethod
    def _categories_as_text(cls, matrix: Any) -> Any:
        if not isinstance(matrix, dict):
            return matrix
        return {
            _text(old): {_text(new): p for new, p in row.items()} if isinstance(row, dict) else row for old, row in matrix.items()
        }

    @model_validator(mode="after")
    def _rows_sum_to_one(self) -> Self:
        if self.matrix is not None and self.retention is not None:
            raise ValueError("give a matrix or a retention, not both")
        for old, row in (self.matrix or {}).items():
            if abs((total := math.fsum(row.values())) - 1) > 1e-6:
                raise ValueError(f"each row of the matrix sums to 1; that of '{old}' sums to {total:g}")
        return self

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NOMINAL, Level.ORDINAL) if self.matrix is None else []

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes whose categories may change")
        need_other_columns(self.name, data, "strata", self.strata, columns)
        need_values(self.name, data, columns)
        for column in encode(data, columns):
            if column.values.dtype.is_float():
                raise DataError(
                    f"pram changes categories, but '{column.name}' holds decimal numbers; recode it first, or use noise"
                )
            if len(column.values) > _MOST_CATEGORIES:
                many = f"'{column.name}' has {len(column.values)}"
                raise DataError(f"pram needs at most {_MOST_CATEGORIES} categories, but {many}; recode it first")
            if self.matrix is not None:
                self.probabilities(column)
            elif len(column.values) < 2:
                raise DataError(f"pram needs at least 2 categories, but '{column.name}' has 1")

    def probabilities(self, column: Column) -> NDArray[np.float64]:
        """P over the codes of a column."""
        if self.matrix is None:
            return retention_matrix(0.8 if self.retention is None else self.retention, len(column.values))
        code_of = {text: code for code, value in enumerate(column.values.to_list()) for text in printed(value)}
        made = np.zeros((len(column.values), len(column.values)))
        for old, row in self.matrix.items():
            for word in (old, *row):
                if word not in code_of:
                    raise ParameterError(
                        f"pram.matrix names '{word}', which is no category of '{column.name}'; {nearest(word, code_of)}"
                    )
            for new, probability in row.items():
                made[code_of[old], code_of[new]] += probability
        missing = np.flatnonzero(made.sum(axis=1) == 0)
        if len(missing):
            raise ParameterError(f"pram.matrix has no row for the category '{column.values[int(missing[0])]}' of '{column.name}'")
        return made

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        encoded = encode(data, columns)
        with ThreadPoolExecutor(threads()) as pool:
            if self.strata:
                strata = Strata.of(data, self.strata)
                changed = list(pool.map(lambda column: self._by_strata(data, column, strata, draw), encoded))
            else:
                changed = self._by_blocks(data, encoded, draw, pool)
            made = list(pool.map(lambda column, codes: _decoded(data, column, codes), encoded, changed))
        return data.with_columns(dict(zip(columns, made, strict=True)))

    def _by_blocks(self, data: Microdata, encoded: list[Column], draw: Draw, pool: ThreadPoolExecutor) -> list[NDArray[Any]]:
        """Draws are keyed by record, so a block of records can be changed by itself, while it stays in the processor's cache."""
        tables = list(pool.map(lambda column: self.transitions(column, _counts(column)), encoded))
        made: list[NDArray[Any]] = [np.empty(len(data), dtype=np.uint32) for _ in encoded]

        def work(task: tuple[int, int]) -> None:
            number, begin = task
            column, rows = encoded[number], slice(begin, begin + _BLOCK)
            uniform = draw.uniform(data.records[rows], column.name)
            made[number][rows] = change_present(column.codes[rows], len(column.values), tables[number], uniform)

        list(pool.map(work, [(number, begin) for number in range(len(encoded)) for begin in range(0, len(data), _BLOCK)]))
        return made

    def transitions(self, column: Column, counts: NDArray[np.int64]) -> Tables:
        """P, or the invariant R made of it and of the counts of the values, ready to be drawn from."""
        base = self.probabilities(column)
        return alias_tables(invariant(base, counts[: len(column.values)]) if self.invariant else base)

    def _by_strata(self, data: Microdata, column: Column, strata: Strata, draw: Draw) -> NDArray[Any]:
        base = self.probabilities(column)
        uniform = draw.uniform(data.records, column.name)
        codes = column.codes.astype(np.int64)
        made = codes.copy()
        for rows in strata.rows():
            within, present = codes[rows], codes[rows] < len(column.values)
            if present.any():
                here, tables = self.within(base, np.bincount(within[present], minlength=len(column.values)))
                made[rows[present]] = here[change_by(np.searchsorted(here, within[present]), tables, uniform[rows[present]])]
        return made

    def within(self, base: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Tables]:
        """One stratum's categories, and what to draw from: probabilities of categories that it lacks go to those it has."""
        here = np.flatnonzero(counts)
        matrix = base[np.ix_(here, here)]
        totals = matrix.sum(axis=1, keepdims=True)
        matrix = np.where(totals > 0, matrix / np.where(totals > 0, totals, 1), np.eye(len(here)))
        if self.invariant:
            matrix = invariant(matrix, counts[here])
        return here, alias_tables(matrix)


def _counts(column: Column) -> NDArray[np.int64]:
    return np.bincount(column.codes, minlength=column.cardinality)


def _decoded(data: Microdata, column: Column, codes: NDArray[Any]) -> pl.Series:
    values = column.values.extend_constant(None, 1) if column.has_null else column.values
    return values.gather(pl.Series(codes)).cast(data.frame.schema[column.name]).alias(column.name)


def _text(word: Any) -> str:
    return str(word).lower() if isinstance(word, bool) else str(word)
