"""Data shuffling: confidential values go to other records, in an order drawn from what the other attributes say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.order_free_sums import by_record, combine, mean_and_covariance, root, solve
from discreet.engine.statistics.copula import Margin
from discreet.errors import DataError
from discreet.masking.requirements import need_columns, need_other_columns, need_values
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CATEGORIES = 50


class Shuffling(MaskingMethod):
    """Reassigns the values of the columns X by ranks drawn from the distribution of X given the attributes S.

    With normal scores x*, s* and their covariances, y = B s* + e with B = C_xs C_ss^-1 and e normal of covariance
    C_xx - B C_sx. The record whose y has rank r gets the r-th smallest value of X. So X keeps its values exactly, and its rank
    correlations within and with S about; given S, the new values say nothing of the old ones.

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
        "Every column's own distribution exactly; rank correlations with each other and with what is given, about."
    )

    given: tuple[str, ...] | None = Field(
        default=None, description="attributes whose relation to the columns stays; those with the role key where absent"
    )

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.named(Role.CONFIDENTIAL) if data.level(name) in (Level.NUMERIC, Level.ORDINAL)]

    def _given(self, data: Microdata, columns: Sequence[str]) -> list[str]:
        return list(self.given) if self.given is not None else [name for name in data.named(Role.KEY) if name not in columns]

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to shuffle")
        need_values(self.name, data, columns)
        need_other_columns(self.name, data, "given", self.given or (), columns)
        for name in columns:
            if data.level(name) is Level.NOMINAL:
                raise DataError(f"shuffling needs an order, but '{name}' is nominal; use swapping with how: random")
        for column in encode(data, self._given(data, columns)):
            if data.level(column.name) is Level.NOMINAL and len(column.values) > _MOST_CATEGORIES:
                raise DataError(
                    f"shuffling takes at most {_MOST_CATEGORIES} categories of a nominal attribute into account, but "
                    f"'{column.name}' has {len(column.values)}; recode it, or name other attributes in given"
                )
        if self._complete(encode(data, columns)).sum() < 2:
            raise DataError(f"shuffling needs at least 2 records that have values in all of {', '.join(columns)}")

    def _complete(self, columns: Sequence[Column]) -> NDArray[np.bool_]:
        return np.asarray(~np.logical_or.reduce([column.is_null for column in columns]))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        """Everything is computed in the order of the records' numbers."""
        order = by_record(data.records)
        shuffled, given = encode(data, columns), encode(data, self._given(data, columns))
        scores = np.stack([_scores(column)[order] for column in shuffled])
        known = [row[order] for column in given for row in _features(column, nominal=data.level(column.name) is Level.NOMINAL)]
        features = np.stack(known) if known else np.zeros((0, len(data)))
        noise = np.stack([draw.normal(data.records[order], name) for name in columns])
        drawn = _conditional(scores, features, noise, self._complete(shuffled)[order])
        made = {}
        for column, ranks in zip(shuffled, drawn, strict=True):
            present = np.flatnonzero(~column.is_null[order])
            receivers = order[present[np.argsort(ranks[present], kind="stable")]]
            givers = order[present[np.argsort(column.codes[order][present], kind="stable")]]
            places = np.arange(len(data))
            places[receivers] = givers
            made[column.name] = data.frame[column.name].gather(pl.Series(places))
        return data.with_columns(made)


def _scores(column: Column) -> NDArray[np.float64]:
    """Normal scores of middle ranks; 0, the middle, for a null."""
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    return np.asarray(np.concatenate((Margin.of(counts).scores, np.zeros(1)))[column.codes])


def _features(column: Column, *, nominal: bool) -> list[NDArray[np.float64]]:
    """What a given attribute says: its normal scores, or an indicator for each category but one."""
    if not nominal:
        return [_scores(column)]
    return [(column.codes == code).astype(np.float64) for code in range(1, len(column.values))]


def _conditional(
    scores: NDArray[np.float64], features: NDArray[np.float64], noise: NDArray[np.float64], complete: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Draws of the scores given the features, from the normal distribution that has their covariances."""
    size = len(scores)
    _, covariance = mean_and_covariance(np.concatenate((scores, features))[:, complete])
    across = covariance[:size, size:]
    slopes = solve(covariance[size:, size:], across.T).T if len(features) else np.zeros((size, 0))
    rest = covariance[:size, :size] - slopes @ across.T
    return combine(slopes, features) + combine(root((rest + rest.T) / 2), noise)
