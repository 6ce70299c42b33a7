r"""The losses of records under a disclosure rule, with independent attributes or with the joint counts of the dictionary.

A rule is a Boolean matrix with one row per record and one column per attribute: the entries that are disclosed. With one
dictionary the loss of a record is $\Phi / |\rho|$ (Lebanon et al. 2006); with independent attributes in the dictionary,

    |rho| = N prod over disclosed j of alpha_j / N,   so   loss = (1/N) prod gamma_j,   gamma_j = e^{w_j} N / alpha_j

for the multiplicative Phi_5, with alpha_j the number of people in the dictionary with the record's value of j, or with null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.classes.groups import count_agreeing_rows
from discreet.engine.disclosure.dictionaries import Dictionary
from discreet.engine.disclosure.sensitivity import Sensitivity, multiply
from discreet.engine.encoding.columns import encode, thread_count
from discreet.engine.encoding.shared_codes import SharedCodes, encode_shared, to_common_type
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]


def log_rarity(data: Microdata, name: str, dictionary: Dictionary) -> Floats:
    """log(N / alpha) of the value of each record; 0 for null, minus infinity if nobody has the value.

    alpha is the number of rows of the dictionary with the value, or with null.
    """
    values_of_records, size = data.frame[name], len(dictionary)
    if not size:
        return np.where(values_of_records.is_null().to_numpy(), 0.0, -np.inf)
    if name not in dictionary.attributes:
        return np.zeros(len(data))
    by_code = values_of_records.dtype.is_integer() or name in data.cache.get("columns", {})
    (column,) = encode(data, [name]) if by_code else (None,)
    values, dictionary_values = to_common_type(values_of_records if column is None else column.values, dictionary.frame[name])
    if dictionary_values.dtype.is_float():
        values, dictionary_values = values.fill_nan(None) + 0.0, dictionary_values.fill_nan(None) + 0.0
    unknown = dictionary_values.null_count()
    counts = dictionary_values.alias("value").value_counts(name="rows").filter(pl.col("value").is_not_null())
    logs = counts.select("value", log=math.log(size) - (pl.col("rows") + unknown).cast(pl.Float64).log())
    value_logs = values.alias("value").to_frame().join(logs, on="value", how="left", maintain_order="left")["log"]
    absent = math.log(size / unknown) if unknown else -math.inf
    rarity: Floats = (value_logs.fill_null(absent) if value_logs.null_count() else value_logs).to_numpy()
    if column is not None:
        return np.asarray(np.append(rarity, 0.0)[column.codes])
    return np.where(values_of_records.is_null().to_numpy(), 0.0, rarity) if values_of_records.null_count() else rarity


def add_to_logs(logs: Floats, weight: Floats | float) -> Floats:
    """Logarithms plus a weight; minus infinity remains, also with an infinite weight."""
    without_match = np.isneginf(logs)
    if not without_match.any():
        return logs + weight
    return np.where(without_match, -np.inf, np.where(without_match, 0.0, logs) + weight)


def suppress_columns(data: Microdata, columns: Sequence[str], rule: Rule) -> dict[str, pl.Series]:
    """The columns with null in place of every entry that the rule does not disclose."""
    return {name: data.frame[name].set(pl.Series(~rule[:, index]), None) for index, name in enumerate(columns)}


@dataclass(frozen=True)
class Disclosure:
    """A table of which a rule discloses entries of the ``columns``; its other attributes are disclosed in any case."""

    data: Microdata
    columns: tuple[str, ...]
    function: Sensitivity
    dictionaries: tuple[Dictionary, ...]
    independent: bool = True

    def __len__(self) -> int:
        return len(self.data)

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def is_product(self) -> bool:
        """Whether each loss is a product over the disclosed attributes, as algorithm MinRisk requires."""
        return self.independent and self.function.is_multiplicative

    @cached_property
    def available(self) -> Rule:
        """The entries that have a value to disclose."""
        available = np.empty((len(self), self.width), dtype=np.bool_, order="F")
        for index, name in enumerate(self.columns):
            available[:, index] = self.data.frame[name].is_not_null().to_numpy()
        return available

    @property
    def always_disclosed(self) -> list[str]:
        """Attributes with a sensitivity or in a dictionary that are not in ``columns``, and so disclosed in any case."""
        names = dict.fromkeys(self.function.names)
        for dictionary in self.dictionaries:
            names |= dict.fromkeys(dictionary.attributes)
        return [name for name in names if name not in self.columns]

    @cached_property
    def _rarities(self) -> dict[tuple[int, str], Floats]:
        names = [*self.columns, *self.always_disclosed]
        keys = [(number, name) for number in range(len(self.dictionaries)) for name in names]
        with WorkerThreads(thread_count()) as pool:
            rarities = pool.map(lambda key: log_rarity(self.data, key[1], self.dictionaries[key[0]]), keys)
            return dict(zip(keys, rarities, strict=True))

    def rarity(self, number: int, name: str) -> Floats:
        """log(N / alpha) of the value of each record in one dictionary."""
        return self._rarities[number, name]

    @cached_property
    def _complete(self) -> NDArray[np.bool_]:
        """The columns without null."""
        return np.asarray(self.available.all(axis=0))

    @cached_property
    def _all_values_occur(self) -> dict[tuple[int, str], bool]:
        """Whether somebody in the dictionary has every value of a column, by dictionary and column."""
        return {key: not np.isneginf(logs).any() for key, logs in self._rarities.items()}

    def log_costs(self, number: int, rows: slice = slice(None)) -> Floats:
        """The logarithm of gamma of every record and attribute; infinity for an entry without a value (see ``available``)."""
        size = len(range(*rows.indices(len(self))))
        costs = np.empty((self.width, size))
        for index, name in enumerate(self.columns):
            weight = self.function.weight(name)
            logs = self.rarity(number, name)[rows]
            if isinstance(weight, float) and self._all_values_occur[number, name]:
                np.add(logs, weight, out=costs[index])
            else:
                costs[index] = add_to_logs(logs, weight if isinstance(weight, float) else weight[rows])
            if not self._complete[index]:
                costs[index, ~self.available[rows, index]] = np.inf
        return np.ascontiguousarray(costs.T)

    def log_start(self, number: int) -> Floats:
        """The logarithm of the loss of each record with none of the columns disclosed (Phi_5, independent attributes)."""
        total = np.full(len(self), -np.log(max(len(self.dictionaries[number]), 1)))
        without_match = np.full(len(self), not len(self.dictionaries[number]))
        for name in self.always_disclosed:
            disclosed = self.data.frame[name].is_not_null().to_numpy()
            rarity = self.rarity(number, name)
            without_match |= disclosed & np.isneginf(rarity)
            total += np.where(disclosed, np.where(np.isneginf(rarity), 0.0, rarity) + self.function.weight(name), 0.0)
        return np.where(without_match, -np.inf, total)

    def losses(self, rule: Rule) -> Floats:
        """The loss of each record under each dictionary, one row per dictionary."""
        rule = rule & self.available
        phi = self.function.phi([self.disclosing(name, rule) for name in self.function.names], len(self))
        return np.array(
            [multiply(phi, self.identification_probability(number, rule)) for number in range(len(self.dictionaries))]
        )

    def identification_probability(self, number: int, rule: Rule) -> Floats:
        """1 / |rho| of each record under one dictionary, by independence or by joint counts; 0 if nobody is consistent."""
        if self.independent:
            return self._independent_probability(number, rule)
        rho = self._count_consistent(number, rule)
        return np.divide(1.0, rho, out=np.zeros(len(self)), where=rho > 0)

    def disclosing(self, name: str, rule: Rule) -> NDArray[np.bool_]:
        """The records that disclose an attribute."""
        if name in self.columns:
            return rule[:, self.columns.index(name)]
        return self.data.frame[name].is_not_null().to_numpy()

    @cached_property
    def _codes(self) -> list[list[SharedCodes]]:
        return [
            encode_shared(self.data.frame, dictionary.frame, [(name, name) for name in dictionary.attributes])
            for dictionary in self.dictionaries
        ]

    def _count_consistent(self, number: int, rule: Rule) -> NDArray[np.int64]:
        """|rho| of each record by joint counts: the rows of the dictionary that are consistent with it."""
        dictionary, shared = self.dictionaries[number], self._codes[number]
        if not len(dictionary) or not len(self):
            return np.zeros(len(self), dtype=np.int64)
        nulls = [codes.cardinality if codes.null is None else codes.null for codes in shared]
        queries = [
            np.where(self.disclosing(name, rule), codes.left.astype(np.int64), null)
            for name, codes, null in zip(dictionary.attributes, shared, nulls, strict=True)
        ]
        sizes = [max(codes.cardinality, null + 1) for codes, null in zip(shared, nulls, strict=True)]
        return count_agreeing_rows(queries, [codes.right for codes in shared], sizes, nulls)

    def _independent_probability(self, number: int, rule: Rule) -> Floats:
        """1 / |rho| of each record by independence."""
        if not len(self.dictionaries[number]):
            return np.zeros(len(self))
        total = np.full(len(self), -np.log(len(self.dictionaries[number])))
        for name in [*self.columns, *self.always_disclosed]:
            total = np.where(self.disclosing(name, rule), total + self.rarity(number, name), total)
        with np.errstate(over="ignore"):
            probability: Floats = np.exp(total)
        return probability
