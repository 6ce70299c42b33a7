"""PRAM, the post-randomisation method: categories change at random with known transition probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.encoding.columns import Column, encode, thread_count
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.engine.spark.gaps import MANY_CATEGORIES, MANY_STRATA
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.pram.transitions import (
    AliasTables,
    build_alias_tables,
    draw_categories,
    draw_present_categories,
    invariant_matrix,
    retention_matrix,
)
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.masking.step_words import say_strata, say_value
from discreet.model.attribute import Level, text_forms
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Probability = Annotated[float, Field(ge=0, le=1)]
_MAX_CATEGORIES = 2_000
_BLOCK_RECORDS = 1 << 17


class Pram(MaskingMethod):
    """Changes categories at random (post-randomisation): category k becomes category l with probability P_kl.

    P is the ``matrix``; without one, a category is retained with probability ``retention``, and all others are equally likely.
    With ``invariant`` the matrix is R = P Q, Q_jk = P_kj t_k / sum_l P_lj t_l with the counts t of the categories, so that
    t R = t: the expected frequencies are those of the data.

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
    preserves: ClassVar[str] = "The set of categories; with invariant, their expected frequencies."

    matrix: dict[str, dict[str, Probability]] | None = Field(
        default=None, description="transition probabilities by old and new category; those not listed in a row are 0"
    )
    retention: Probability | None = Field(
        default=None, description="probability that a category is retained; default without a matrix: 0.8"
    )
    invariant: bool = Field(default=False, description="preserve the expected frequencies of the data (invariant PRAM)")
    strata: tuple[str, ...] = Field(
        default=(), description="apply PRAM within records that agree on these columns, among the categories that occur there"
    )

    @field_validator("matrix", mode="before")
    @classmethod
    def _categories_as_text(cls, matrix: Any) -> Any:
        if not isinstance(matrix, dict):
            return matrix
        return {
            _category_text(old): {_category_text(new): probability for new, probability in row.items()}
            if isinstance(row, dict)
            else row
            for old, row in matrix.items()
        }

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        if self.matrix is not None and self.retention is not None:
            raise ValueError("give a matrix or a retention, not both")
        for old, row in (self.matrix or {}).items():
            if abs((total := math.fsum(row.values())) - 1) > 1e-6:
                raise ValueError(f"each row of the matrix must sum to 1; that of '{old}' sums to {total:g}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        how = f"keeping each with a probability of {say_value(parameters.get('retention', 0.8))}"
        if parameters.get("matrix"):
            how = "by the transition probabilities of the policy"
        invariant = ", preserving their expected frequencies" if parameters.get("invariant") else ""
        return f"change categories of {columns} at random (PRAM), {how}{invariant}{say_strata(parameters)}"

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NOMINAL, Level.ORDINAL) if self.matrix is None else []

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes whose categories may change")
        need_other_columns(self.name, data, "strata", self.strata, columns)
        need_values(self.name, data, columns)
        for column in encode(data, columns):
            if column.values.dtype.is_float():
                raise DataError(
                    f"pram changes categories, but '{column.name}' contains decimal numbers; recode it first, or use noise"
                )
            if len(column.values) > _MAX_CATEGORIES:
                raise DataError(
                    f"pram allows at most {_MAX_CATEGORIES} categories, but '{column.name}' has {len(column.values)}; "
                    "recode it first"
                )
            if self.matrix is not None:
                self.transition_matrix(column)
            elif len(column.values) < 2:
                raise DataError(f"pram needs at least 2 categories, but '{column.name}' has 1")

    def transition_matrix(self, column: Column) -> NDArray[np.float64]:
        """P as an array ``[old code, new code]`` over the codes of a column."""
        if self.matrix is None:
            return retention_matrix(0.8 if self.retention is None else self.retention, len(column.values))
        code_of = {text: code for code, value in enumerate(column.values.to_list()) for text in text_forms(value)}
        matrix = np.zeros((len(column.values), len(column.values)))
        for old, row in self.matrix.items():
            for category in (old, *row):
                if category not in code_of:
                    raise ParameterError(
                        f"pram.matrix names '{category}', which is not a category of '{column.name}'; "
                        f"{nearest(category, code_of)}"
                    )
            for new, probability in row.items():
                matrix[code_of[old], code_of[new]] += probability
        missing_rows = np.flatnonzero(matrix.sum(axis=1) == 0)
        if len(missing_rows):
            category = column.values[int(missing_rows[0])]
            raise ParameterError(f"pram.matrix has no row for the category '{category}' of '{column.name}'")
        return matrix

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        encoded = encode(data, columns)
        with WorkerThreads(thread_count()) as pool:
            if self.strata:
                strata = Strata.of(data, self.strata)
                changed = list(pool.map(lambda column: self._change_within_strata(data, column, strata, draw), encoded))
            else:
                changed = self._change_by_blocks(data, encoded, draw, pool)
            decoded = list(pool.map(lambda column, codes: _decode(data, column, codes), encoded, changed))
        return data.with_columns(dict(zip(columns, decoded, strict=True)))

    def _change_by_blocks(self, data: Microdata, encoded: list[Column], draw: Draw, pool: WorkerThreads) -> list[NDArray[Any]]:
        """New codes of every column, in blocks that fit into the cache; draws are keyed by record, so blocks are independent."""
        tables = list(pool.map(lambda column: self.build_transitions(column, _count_codes(column)), encoded))
        new_codes: list[NDArray[Any]] = [np.empty(len(data), dtype=np.uint32) for _ in encoded]

        def change_block(task: tuple[int, int]) -> None:
            index, begin = task
            column, rows = encoded[index], slice(begin, begin + _BLOCK_RECORDS)
            uniform = draw.uniform(data.records[rows], column.name)
            new_codes[index][rows] = draw_present_categories(column.codes[rows], len(column.values), tables[index], uniform)

        blocks = [(index, begin) for index in range(len(encoded)) for begin in range(0, len(data), _BLOCK_RECORDS)]
        list(pool.map(change_block, blocks))
        return new_codes

    def build_transitions(self, column: Column, counts: NDArray[np.int64]) -> AliasTables:
        """Alias tables of P or, with ``invariant``, of R, which is computed from P and the counts of the codes."""
        base = self.transition_matrix(column)
        return build_alias_tables(invariant_matrix(base, counts[: len(column.values)]) if self.invariant else base)

    def _change_within_strata(self, data: Microdata, column: Column, strata: Strata, draw: Draw) -> NDArray[Any]:
        base = self.transition_matrix(column)
        uniform = draw.uniform(data.records, column.name)
        codes = column.codes.astype(np.int64)
        new_codes = codes.copy()
        for rows in strata.rows():
            present = rows[codes[rows] < len(column.values)]  # nulls have the last code
            if len(present):
                counts = np.bincount(codes[present], minlength=len(column.values))
                occurring, tables = self.build_stratum_tables(base, counts)
                drawn = draw_categories(np.searchsorted(occurring, codes[present]), tables, uniform[present])
                new_codes[present] = occurring[drawn]
        return new_codes

    def build_stratum_tables(self, base: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], AliasTables]:
        """The codes that occur in a stratum, and alias tables over them.

        Rows of P are restricted to these codes and rescaled; a code whose row has no probability left is retained.
        """
        occurring = np.flatnonzero(counts)
        matrix = base[np.ix_(occurring, occurring)]
        totals = matrix.sum(axis=1, keepdims=True)
        matrix = np.where(totals > 0, matrix / np.where(totals > 0, totals, 1), np.eye(len(occurring)))
        if self.invariant:
            matrix = invariant_matrix(matrix, counts[occurring])
        return occurring, build_alias_tables(matrix)


def _count_codes(column: Column) -> NDArray[np.int64]:
    return np.bincount(column.codes, minlength=column.cardinality)


def _decode(data: Microdata, column: Column, codes: NDArray[Any]) -> pl.Series:
    values = column.values.extend_constant(None, 1) if column.has_null else column.values
    return values.gather(pl.Series(codes)).cast(data.frame.schema[column.name]).alias(column.name)


def _category_text(category: Any) -> str:
    return str(category).lower() if isinstance(category, bool) else str(category)
