"""Data shuffling: confidential values are reassigned among records by ranks drawn given the other attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.order_free_sums import (
    cholesky_root,
    mean_and_covariance,
    multiply_in_order,
    rows_by_record_number,
    solve_semidefinite,
)
from discreet.engine.statistics.copula import Margin
from discreet.errors import DataError
from discreet.masking.requirements import need_columns, need_other_columns, need_values
from discreet.masking.step_words import list_words
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_CATEGORIES = 50


class Shuffling(MaskingMethod):
    """Reassigns the values of the columns X by ranks drawn from the distribution of X given the attributes S.

    With normal scores x*, s* and their covariances, y = B s* + e with B = C_xs C_ss^-1 and e normal with covariance
    C_xx - B C_sx. The record whose y has rank r gets the r-th smallest value of X. This preserves the values of X exactly, and
    the rank correlations within X and with S approximately; given S, the new values are independent of the old ones.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": [20, 30, 40, 50], "income": [1, 2, 3, 4]}, key=["age"], confidential=["income"])
    >>> sorted(Shuffling().mask(data, ["income"], KeyedDraw(7)).frame["income"])
    [1, 2, 3, 4]
    """

    name: ClassVar[str] = "shuffling"
    citation: ClassVar[str] = (
        "Muralidhar, K. & Sarathy, R. (2006). Data shuffling: a new masking approach for numerical data. Management Science "
        "52(5), 658-670."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = (
        "The distribution of each column exactly; rank correlations among the columns and with given approximately."
    )

    given: tuple[str, ...] | None = Field(
        default=None, description="attributes whose relation to the columns is preserved; default: those with the role key"
    )

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        given = list_words(parameters["given"]) if parameters.get("given") else "the keys"
        return f"shuffle the values of {columns} between records, preserving how their ranks relate to {given}"

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.named(Role.CONFIDENTIAL) if data.level(name) in (Level.NUMERIC, Level.ORDINAL)]

    def _conditioning_columns(self, data: Microdata, columns: Sequence[str]) -> list[str]:
        return list(self.given) if self.given is not None else [name for name in data.named(Role.KEY) if name not in columns]

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to shuffle")
        need_values(self.name, data, columns)
        need_other_columns(self.name, data, "given", self.given or (), columns)
        for name in columns:
            if data.level(name) is Level.NOMINAL:
                raise DataError(f"shuffling needs an order, but '{name}' is nominal; use swapping with how: random")
        for column in encode(data, self._conditioning_columns(data, columns)):
            if data.level(column.name) is Level.NOMINAL and len(column.values) > _MAX_CATEGORIES:
                raise DataError(
                    f"shuffling allows at most {_MAX_CATEGORIES} categories of a nominal attribute in given, but "
                    f"'{column.name}' has {len(column.values)}; recode it, or name other attributes in given"
                )
        if self._is_complete(encode(data, columns)).sum() < 2:
            raise DataError(f"shuffling needs at least 2 records that have values in all of {', '.join(columns)}")

    def _is_complete(self, columns: Sequence[Column]) -> NDArray[np.bool_]:
        return np.asarray(~np.logical_or.reduce([column.is_null for column in columns]))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        """Mask in the order of the record numbers, so that the result does not depend on the order of the rows."""
        order = rows_by_record_number(data.records)
        shuffled, conditioned = encode(data, columns), encode(data, self._conditioning_columns(data, columns))
        scores = np.stack([_normal_scores(column)[order] for column in shuffled])
        rows = [
            row[order]
            for column in conditioned
            for row in _build_features(column, nominal=data.level(column.name) is Level.NOMINAL)
        ]
        features = np.stack(rows) if rows else np.zeros((0, len(data)))
        noise = np.stack([draw.normal(data.records[order], name) for name in columns])
        drawn_scores = _draw_conditional_scores(scores, features, noise, self._is_complete(shuffled)[order])
        shuffled_columns = {}
        for column, column_scores in zip(shuffled, drawn_scores, strict=True):
            present = np.flatnonzero(~column.is_null[order])
            receivers = order[present[np.argsort(column_scores[present], kind="stable")]]
            givers = order[present[np.argsort(column.codes[order][present], kind="stable")]]
            source_rows = np.arange(len(data))
            source_rows[receivers] = givers
            shuffled_columns[column.name] = data.frame[column.name].gather(pl.Series(source_rows))
        return data.with_columns(shuffled_columns)


def _normal_scores(column: Column) -> NDArray[np.float64]:
    """Normal scores of mid-ranks; 0, the median, for a null."""
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    return np.asarray(np.concatenate((Margin.of(counts).scores, np.zeros(1)))[column.codes])


def _build_features(column: Column, *, nominal: bool) -> list[NDArray[np.float64]]:
    """The features of a conditioning attribute: its normal scores, or an indicator for each category but one if nominal."""
    if not nominal:
        return [_normal_scores(column)]
    return [(column.codes == code).astype(np.float64) for code in range(1, len(column.values))]


def _draw_conditional_scores(
    scores: NDArray[np.float64], features: NDArray[np.float64], noise: NDArray[np.float64], complete: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Draw scores given the features from the normal distribution with their covariances.

    ``scores[column, record]``, ``features[feature, record]``, ``noise[column, record]`` standard normal; covariances are those
    of the ``complete`` records.
    """
    size = len(scores)
    _, covariance = mean_and_covariance(np.concatenate((scores, features))[:, complete])
    across = covariance[:size, size:]
    slopes = solve_semidefinite(covariance[size:, size:], across.T).T if len(features) else np.zeros((size, 0))
    residual = covariance[:size, :size] - slopes @ across.T
    symmetric = (residual + residual.T) / 2  # it is symmetric up to rounding only
    return multiply_in_order(slopes, features) + multiply_in_order(cholesky_root(symmetric), noise)
