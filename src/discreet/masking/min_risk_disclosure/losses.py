r"""What it costs to disclose: the losses of records under a disclosure rule, for dictionaries independent or as they are.

A rule is a matrix of truth values, a row a record and a column an attribute: what is disclosed. With one dictionary
the loss of a record is $\Phi / |\rho|$ (seed 004); where the dictionary's attributes are taken as independent,

    |rho| = N prod over disclosed j of alpha_j / N,   so   loss = (1/N) prod gamma_j,   gamma_j = e^{w_j} N / alpha_j

for the multiplicative Phi_5, with alpha_j the number of people who have the record's value of j, or none on file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.classes.groups import count_agreeing_rows
from discreet.engine.disclosure.dictionaries import Dictionary
from discreet.engine.disclosure.sensitivity import Sensitivity, times
from discreet.engine.encoding.columns import encode, thread_count
from discreet.engine.encoding.shared_codes import SharedCodes, encode_shared, to_common_type
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rule = NDArray[np.bool_]
    Floats = NDArray[np.float64]


def log_rarity(data: Microdata, name: str, dictionary: Dictionary) -> Floats:
    """For each record log(N / alpha) of its value; 0 for a null, minus infinity where nobody has the value.

    alpha counts the rows of the dictionary that have the value, or none on file.
    """
    ours, size = data.frame[name], len(dictionary)
    if not size:
        return np.where(ours.is_null().to_numpy(), 0.0, -np.inf)
    if name not in dictionary.attributes:
        return np.zeros(len(data))
    by_code = ours.dtype.is_integer() or name in data.cache.get("columns", {})
    (column,) = encode(data, [name]) if by_code else (None,)
    values, held = to_common_type(ours if column is None else column.values, dictionary.frame[name])
    if held.dtype.is_float():
        values, held = values.fill_nan(None) + 0.0, held.fill_nan(None) + 0.0
    unknown = held.null_count()
    counts = held.alias("value").value_counts(name="rows").filter(pl.col("value").is_not_null())
    logs = counts.select("value", log=math.log(size) - (pl.col("rows") + unknown).cast(pl.Float64).log())
    found = values.alias("value").to_frame().join(logs, on="value", how="left", maintain_order="left")["log"]
    absent = math.log(size / unknown) if unknown else -math.inf
    made: Floats = (found.fill_null(absent) if found.null_count() else found).to_numpy()
    if column is not None:
        return np.asarray(np.append(made, 0.0)[column.codes])
    return np.where(ours.is_null().to_numpy(), 0.0, made) if ours.null_count() else made


def raised(logs: Floats, weight: Floats | float) -> Floats:
    """Logarithms plus a weight; minus infinity stays, also where the weight is infinite."""
    nobody = np.isneginf(logs)
    if not nobody.any():
        return logs + weight
    return np.where(nobody, -np.inf, np.where(nobody, 0.0, logs) + weight)


def suppressed(data: Microdata, columns: Sequence[str], rule: Rule) -> dict[str, pl.Series]:
    """The columns with nulls where the rule does not disclose."""
    return {name: data.frame[name].set(pl.Series(~rule[:, at]), None) for at, name in enumerate(columns)}


@dataclass(frozen=True)
class Disclosure:
    """A table whose ``columns`` may be disclosed or not; its other attributes are disclosed anyway."""

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
        """Whether each loss is a product over the disclosed attributes, as algorithm MinRisk asks."""
        return self.independent and self.function.is_multiplicative

    @cached_property
    def available(self) -> Rule:
        """Where there is a value to disclose."""
        made = np.empty((len(self), self.width), dtype=np.bool_, order="F")
        for at, name in enumerate(self.columns):
            made[:, at] = self.data.frame[name].is_not_null().to_numpy()
        return made

    @property
    def always(self) -> list[str]:
        """Attributes of worth or of side information that the rule does not decide on."""
        told = dict.fromkeys(self.function.names)
        for dictionary in self.dictionaries:
            told |= dict.fromkeys(dictionary.attributes)
        return [name for name in told if name not in self.columns]

    @cached_property
    def _rarities(self) -> dict[tuple[int, str], Floats]:
        names = [*self.columns, *self.always]
        wanted = [(number, name) for number in range(len(self.dictionaries)) for name in names]
        with ThreadPoolExecutor(thread_count()) as pool:
            made = pool.map(lambda key: log_rarity(self.data, key[1], self.dictionaries[key[0]]), wanted)
            return dict(zip(wanted, made, strict=True))

    def rarity(self, number: int, name: str) -> Floats:
        """For each record log(N / alpha) of its value in one dictionary."""
        return self._rarities[number, name]

    @cached_property
    def _complete(self) -> NDArray[np.bool_]:
        """Which columns have no null."""
        return np.asarray(self.available.all(axis=0))

    @cached_property
    def _seen(self) -> dict[tuple[int, str], bool]:
        """Whether every value of a column is had by somebody."""
        return {key: not np.isneginf(logs).any() for key, logs in self._rarities.items()}

    def log_costs(self, number: int, rows: slice = slice(None)) -> Floats:
        """The logarithm of gamma for every record and attribute; infinity where there is no value (see ``available``)."""
        size = len(range(*rows.indices(len(self))))
        made = np.empty((self.width, size))
        for at, name in enumerate(self.columns):
            weight = self.function.weight(name)
            logs = self.rarity(number, name)[rows]
            if isinstance(weight, float) and self._seen[number, name]:
                np.add(logs, weight, out=made[at])
            else:
                made[at] = raised(logs, weight if isinstance(weight, float) else weight[rows])
            if not self._complete[at]:
                made[at, ~self.available[rows, at]] = np.inf
        return np.ascontiguousarray(made.T)

    def log_start(self, number: int) -> Floats:
        """The logarithm of the loss that a record has with none of the columns disclosed (Phi_5, independent)."""
        total = np.full(len(self), -np.log(max(len(self.dictionaries[number]), 1)))
        nobody = np.full(len(self), not len(self.dictionaries[number]))
        for name in self.always:
            shown = self.data.frame[name].is_not_null().to_numpy()
            rarity = self.rarity(number, name)
            nobody |= shown & np.isneginf(rarity)
            total += np.where(shown, np.where(np.isneginf(rarity), 0.0, rarity) + self.function.weight(name), 0.0)
        return np.where(nobody, -np.inf, total)

    def losses(self, rule: Rule) -> Floats:
        """The loss of each record under each dictionary: a row a dictionary."""
        rule = rule & self.available
        phi = self.function.phi([self.shown(name, rule) for name in self.function.names], len(self))
        return np.array([times(phi, self.chance(number, rule)) for number in range(len(self.dictionaries))])

    def chance(self, number: int, rule: Rule) -> Floats:
        """1 / |rho| of each record under one dictionary, by independence or as it is; 0 where nobody is consistent."""
        if self.independent:
            return self._chance(number, rule)
        rho = self._rho(number, rule)
        return np.divide(1.0, rho, out=np.zeros(len(self)), where=rho > 0)

    def shown(self, name: str, rule: Rule) -> NDArray[np.bool_]:
        """Which records disclose an attribute."""
        if name in self.columns:
            return rule[:, self.columns.index(name)]
        return self.data.frame[name].is_not_null().to_numpy()

    @cached_property
    def _codes(self) -> list[list[SharedCodes]]:
        return [
            encode_shared(self.data.frame, one.frame, [(name, name) for name in one.attributes]) for one in self.dictionaries
        ]

    def _rho(self, number: int, rule: Rule) -> NDArray[np.int64]:
        """|rho| as the dictionary is."""
        dictionary, shared = self.dictionaries[number], self._codes[number]
        if not len(dictionary) or not len(self):
            return np.zeros(len(self), dtype=np.int64)
        nulls = [one.cardinality if one.null is None else one.null for one in shared]
        asked = [
            np.where(self.shown(name, rule), one.left.astype(np.int64), null)
            for name, one, null in zip(dictionary.attributes, shared, nulls, strict=True)
        ]
        sizes = [max(one.cardinality, null + 1) for one, null in zip(shared, nulls, strict=True)]
        return count_agreeing_rows(asked, [one.right for one in shared], sizes, nulls)

    def _chance(self, number: int, rule: Rule) -> Floats:
        if not len(self.dictionaries[number]):
            return np.zeros(len(self))
        total = np.full(len(self), -np.log(len(self.dictionaries[number])))
        for name in [*self.columns, *self.always]:
            total = np.where(self.shown(name, rule), total + self.rarity(number, name), total)
        with np.errstate(over="ignore"):
            made: Floats = np.exp(total)
        return made
