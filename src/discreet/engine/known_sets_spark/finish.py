"""The end of the count over known sets: states into risks, and risks into the numbers of a summary."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.engine.known_sets.effective_size import Sizes, effective_sizes
from discreet.engine.known_sets.summary import Summary
from discreet.engine.known_sets_spark.stages import ALL, FAR, LIKELIHOOD, NEAR, NODE, REST, SINGLE, STATE, TOP, C
from discreet.engine.spark.arrow import bytes_as_rows, chunks, in_arrow, numbers
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

_FIRST_SHIFT = 40
SIZES = ("effective_k", "effective_k_lower", "effective_k_upper")
FIELDS = ("risk", "lower", "upper", *SIZES, "top", "likelihood", "consequence")


@dataclass(frozen=True)
class Finish:
    """Risk, interval and likeliest set of each record that asked (as ``Counter.finish`` of the local engine)."""

    width: int
    numbered: bool
    alpha: float
    kept: NDArray[np.float64]
    whole: NDArray[np.float64]
    spread: float
    records: int

    @property
    def schema(self) -> str:
        record = ["record long"] if self.numbered else []
        return ", ".join([*record, *[f"{name} double" for name in FIELDS], "top_node int"])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            states, at = bytes_as_rows(table.column(STATE), self.width)
            if not len(at):
                continue
            near, total, single = states[:, NEAR], states[:, C], states[:, SINGLE:]
            kept_mass = self.kept[0] * total + (self.kept[1:] * single).sum(axis=1)
            whole_mass = self.whole[0] * (total - states[:, REST]) + (self.whole[1:] * single).sum(axis=1)
            lower = np.maximum(states[:, FAR] * self.spread, near)
            upper = np.maximum(near + (whole_mass * self.spread - kept_mass) / np.maximum(states[:, ALL], 1), lower)
            risk, top = near * self.alpha, states[:, TOP]
            share = np.divide(top * self.alpha, risk, out=np.zeros_like(risk), where=risk > 0)
            node = np.where(top > 0, states[:, NODE], 0).astype(np.int32)
            masses = kept_mass - total, whole_mass * self.spread - total
            sizes = effective_sizes(near, lower, upper, total, *masses, self.records)
            sums = [risk, lower * self.alpha, upper * self.alpha]
            fields = [*sums, sizes.value, sizes.lower, sizes.upper, share, states[:, LIKELIHOOD], total]
            columns: list[Any] = [pa.array(np.ascontiguousarray(values)) for values in fields]
            record = [pa.array(numbers(table, "record")[at])] if self.numbered else []
            names = [*(["record"] if self.numbered else []), *FIELDS, "top_node"]
            yield pa.RecordBatch.from_arrays([*record, *columns, pa.array(node)], names=names)


@dataclass(frozen=True)
class Summarize:
    """What a partition's records add to the summary: the statistics of :class:`Summary` in one row."""

    threshold: float | Among
    schema = "statistics string"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        summary = Summary(self.threshold)
        for table in chunks(batches):
            risk, lower, upper = (numbers(table, name) for name in ("risk", "lower", "upper"))
            summary.add(risk, lower, upper, Sizes(*(numbers(table, name) for name in SIZES)))
        yield pa.RecordBatch.from_arrays([pa.array([json.dumps(summary.statistics())])], names=["statistics"])


@dataclass(frozen=True)
class Powers:
    """How many risks a partition has by power of ten, and by the first bits of the number: one row per bin.

    Positive numbers of 64 bits have the order of their bits, so bins of first bits are in the order of the risks.
    """

    shift: int
    schema = "bin long, power int, number long, least double, most double"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            risk = numbers(table, "risk")
            risk = risk[risk > 0]
            bins = risk.view(np.int64) >> self.shift
            power = np.floor(np.log10(risk)).astype(np.int32)
            key = bins * 1024 + (power + 400)
            order = np.argsort(key, kind="stable")
            if not len(order):
                continue
            begins = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
            number = np.diff(begins, append=len(order))
            columns = [bins[order][begins], power[order][begins], number]
            columns += [np.minimum.reduceat(risk[order], begins), np.maximum.reduceat(risk[order], begins)]
            yield pa.RecordBatch.from_arrays(
                [pa.array(values) for values in columns], names=["bin", "power", "number", "least", "most"]
            )


def distribution(frame: DataFrame, shares: Sequence[float], records: int) -> tuple[dict[int, int], dict[str, float]]:
    """Risks by power of ten, and for each share the smallest risk that so many of all records do not exceed."""
    bins = _bins(frame, Powers(_FIRST_SHIFT))
    powers: dict[int, int] = {}
    for _, power, number, _, _ in bins:
        powers[power] = powers.get(power, 0) + number
    without = records - sum(powers.values())
    places = {str(share): math.ceil(share * records) - 1 - without for share in shares}
    return powers, {share: _at(frame, bins, place, _FIRST_SHIFT) if place >= 0 else 0.0 for share, place in places.items()}


def _bins(frame: DataFrame, stage: Powers) -> list[tuple[int, int, int, float, float]]:
    from pyspark.sql import functions as f

    bins = in_arrow(frame.select("risk"), stage, stage.schema).groupBy("bin", "power")
    rows = bins.agg(f.sum("number"), f.min("least"), f.max("most")).collect()
    return sorted((int(row[0]), int(row[1]), int(row[2]), float(row[3]), float(row[4])) for row in rows)


def _at(frame: DataFrame, bins: Sequence[tuple[int, int, int, float, float]], place: int, shift: int) -> float:
    """The risk at a place: its bin, then finer bins of that bin alone, until all risks in it are one."""
    from pyspark.sql import functions as f

    before = 0
    for _, _, number, least, most in bins:
        if place < before + number:
            if least == most:
                return least
            if place == before:
                return least
            if place == before + number - 1:
                return most
            inner = frame.filter(f.col("risk").between(least, most))
            finer = max(0, shift - 20)
            return _at(inner, _bins(inner, Powers(finer)), place - before, finer)
        before += number
    return 0.0
