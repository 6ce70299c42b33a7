"""What the workers do for the count over known sets: encode, count tables, look counts up, count a shuffle's sets, finish.

A row on its way is a few packed numbers (its codes), the values of wide attributes, its number where somebody asks for records,
and, of records that ask, a *state*: C, rest, near, far, likelihood, top, top node, the count on all attributes, and the weights
of the singles (see :mod:`discreet.engine.known_sets.terms` for what they are).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.engine.encoding.columns import encode_series, value_weights
from discreet.engine.known_sets_spark.packing import Packing
from discreet.engine.known_sets_spark.partition import SumVisitor, count_partition
from discreet.engine.known_sets_spark.plan import Shuffle
from discreet.engine.known_sets_spark.suppressed_values import SuppressedValues
from discreet.engine.spark.arrow import bytes_as_rows, chunks, numbers, rows_of_bytes, whole
from discreet.engine.spark.value_counts import Dictionary, array_of, clean, series_of
from discreet.model.attribute import Attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUTE, STATE = "route", "state"
C, REST, NEAR, FAR, LIKELIHOOD, TOP, NODE, ALL, SINGLE = range(9)
CHUNK = 1 << 18


@dataclass(frozen=True)
class Layout:
    """How a row on its way looks."""

    packing: Packing
    wide: tuple[str, ...]
    record: str | None
    singles: int
    types: tuple[str, ...]

    @property
    def width(self) -> int:
        return SINGLE + self.singles

    @property
    def schema(self) -> str:
        """The row's columns as Spark declares them."""
        words = [f"{name} long" for name in self.packing.columns]
        wide = [f"w{at} {kind}" for at, kind in enumerate(self.types)]
        record = ["record long"] if self.record is not None else []
        return ", ".join([f"{ROUTE} long", *words, *wide, *record, f"{STATE} binary"])

    def batch(
        self,
        route: NDArray[np.int64],
        words: Sequence[NDArray[np.int64]],
        table: pa.Table | None,
        states: NDArray[np.float64],
        at: NDArray[np.int64],
        wide: Sequence[Any] = (),
        record: NDArray[np.int64] | None = None,
    ) -> pa.RecordBatch:
        """Rows put together; what does not change is taken from the table they came from."""
        size = len(route)
        columns: list[Any] = [pa.array(route), *[pa.array(word) for word in words]]
        if table is not None:
            wide = [array_of(table, f"w{place}") for place in range(len(self.wide))]
            record = numbers(table, "record") if self.record is not None else None
        columns += [*wide, *([pa.array(record)] if record is not None else []), rows_of_bytes(states, at, size)]
        names = [ROUTE, *self.packing.columns, *[f"w{place}" for place in range(len(self.wide))]]
        names += [*(["record"] if self.record is not None else []), STATE]
        return pa.RecordBatch.from_arrays(columns, names=names)


@dataclass(frozen=True)
class Encode:
    """Values into codes and weights: the rows as they go on their way."""

    layout: Layout
    dictionary: dict[str, Dictionary]
    attributes: dict[str, Attribute]
    weights: dict[str, NDArray[np.float64] | None]
    rest: dict[str, float]
    singles: tuple[str, ...]
    everyone: bool
    lost: SuppressedValues | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            yield self._encoded(table if self.lost is None else self.lost.applied(table))

    def _encoded(self, table: pa.Table) -> pa.RecordBatch:
        size = table.num_rows
        codes = {name: self.dictionary[name].codes(array_of(table, name)) for name in self.layout.packing.places}
        weights = {name: self._weights(name, table, codes) for name in self.weights}
        at, states = self._states(table, weights)
        words = self.layout.packing.pack(codes, size)
        wide = [clean(array_of(table, name)) for name in self.layout.wide]
        record = numbers(table, self.layout.record) if self.layout.record is not None else None
        return self.layout.batch(np.zeros(size, dtype=np.int64), words, None, states, at, wide, record)

    def _states(self, table: pa.Table, weights: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Which rows ask, and with what."""
        size = table.num_rows
        total, rest = np.zeros(size), np.zeros(size)
        for name, weight in weights.items():
            total += weight
            rest += weight * self.rest.get(name, 0.0)
        at = np.arange(size) if self.everyone else np.flatnonzero(total > 0)
        states = np.zeros((len(at), self.layout.width))
        states[:, C], states[:, REST] = total[at], rest[at]
        for place, name in enumerate(self.singles):
            states[:, SINGLE + place] = weights[name][at]
        return at, states

    def _weights(self, name: str, table: pa.Table, codes: dict[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        listed = self.weights[name]
        if listed is not None:
            own = codes[name] if name in codes else self.dictionary[name].codes(array_of(table, name))
            return np.asarray(listed[own])
        column = encode_series(series_of(table, name))
        return np.asarray(value_weights(column, self.attributes[name])[column.codes])


@dataclass(frozen=True)
class Table:
    """A set's table: its place among all tables, its attributes with their cardinalities, and heavy values of which shuffle."""

    begin: int
    names: tuple[str, ...]
    cardinalities: tuple[int, ...]
    node: int
    heavy: Shuffle | None = None

    @property
    def room(self) -> int:
        return int(np.prod(self.cardinalities, dtype=np.int64)) * (len(self.heavy.heavy) if self.heavy else 1)

    def keys(self, codes: dict[str, NDArray[Any]], heavy: dict[Shuffle, NDArray[np.int64]], size: int) -> NDArray[np.int64]:
        """The place of each row in the table; -1 where it has no heavy value."""
        key = np.zeros(size, dtype=np.int64) if self.heavy is None else np.maximum(heavy[self.heavy], 0)
        for name, cardinality in zip(self.names, self.cardinalities, strict=True):
            key = key * cardinality + codes[name]
        return key if self.heavy is None else np.where(heavy[self.heavy] >= 0, key, -1)


def heavy_numbers(shuffle: Shuffle, codes: dict[str, NDArray[Any]], size: int) -> NDArray[np.int64]:
    """Which heavy value of a shuffle each row has, or -1."""
    numbers_of_rows = np.full(size, -1, dtype=np.int64)
    for number, values in enumerate(shuffle.heavy):
        same = np.ones(size, dtype=np.bool_)
        for name, value in zip(shuffle.key, values, strict=True):
            same &= codes[name] == value
        numbers_of_rows[same] = number
    return numbers_of_rows


@dataclass(frozen=True)
class Tables:
    """All tables one behind another."""

    packing: Packing
    tables: tuple[Table, ...]

    @property
    def size(self) -> int:
        return self.tables[-1].begin + self.tables[-1].room if self.tables else 0

    def read(
        self, words: Sequence[NDArray[np.int64]], size: int
    ) -> tuple[dict[str, NDArray[Any]], dict[Shuffle, NDArray[np.int64]]]:
        """The codes and heavy values that the tables need."""
        shuffles = {table.heavy for table in self.tables if table.heavy is not None}
        names = {name for table in self.tables for name in table.names} | {name for shuffle in shuffles for name in shuffle.key}
        codes = {name: self.packing.unpack(words, name) for name in names}
        return codes, {shuffle: heavy_numbers(shuffle, codes, size) for shuffle in shuffles}


@dataclass(frozen=True)
class CountTables:
    """Each partition's counts of all tables, in pieces that are added up elsewhere."""

    tables: Tables

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros(self.tables.size, dtype=np.int64)
        seen = False
        for table in chunks(batches):
            seen, words = True, self.tables.packing.words_of(table)
            codes, heavy = self.tables.read(words, table.num_rows)
            for own in self.tables.tables:
                key = own.keys(codes, heavy, table.num_rows)
                key = key if own.heavy is None else key[key >= 0]
                counts[own.begin : own.begin + own.room] += np.bincount(key, minlength=own.room)
        for begin in range(0, len(counts) if seen else 0, CHUNK):
            piece = counts[begin : begin + CHUNK].tobytes()
            yield pa.RecordBatch.from_arrays(
                [pa.array([begin], pa.int64()), pa.array([piece], pa.binary())], names=["begin", "counts"]
            )


def add_pieces(table: pa.Table) -> pa.Table:
    """The pieces of all partitions that begin at the same place, added up."""
    total = sum(np.frombuffer(piece, dtype=np.int64) for piece in table.column("counts").to_pylist())
    columns = [table.column("begin").slice(0, 1).combine_chunks(), pa.array([np.asarray(total).tobytes()], pa.binary())]
    return pa.Table.from_arrays(columns, names=["begin", "counts"])


@dataclass(frozen=True)
class Routing:
    """Which rows must meet for a shuffle: those with the same values; heavy ones go anywhere."""

    packing: Packing
    shuffle: Shuffle | None

    def __call__(self, words: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
        if self.shuffle is None:
            return np.zeros(size, dtype=np.int64)
        keys = np.zeros(size, dtype=np.uint64)
        codes = {name: self.packing.unpack(words, name) for name in self.shuffle.key}
        for name in self.shuffle.key:  # Spark itself adds the values of wide attributes
            keys = (keys ^ codes[name].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
        if self.shuffle.heavy:
            # by all that a row says, never by its place: a task that is run again must send every row where it went before
            heavy, every = heavy_numbers(self.shuffle, codes, size) >= 0, np.zeros(size, dtype=np.uint64)
            for word in words:
                every = (every ^ word.view(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
                every ^= every >> np.uint64(31)
            keys[heavy] = every[heavy]
        return keys.view(np.int64)


@dataclass(frozen=True)
class LookUp:
    """Adds the sets that have tables to the states, and sends every row to the first shuffle."""

    layout: Layout
    tables: Tables
    counts: NDArray[np.int64]
    ask: SumVisitor
    routing: Routing

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in chunks(batches):
            words = self.layout.packing.words_of(table)
            states, at = bytes_as_rows(table.column(STATE), self.layout.width)
            if len(at):
                self._add(words, states, at)
            yield self.layout.batch(self.routing(words, table.num_rows), words, table, states, at)

    def _add(self, words: Sequence[NDArray[np.int64]], states: NDArray[np.float64], at: NDArray[np.int64]) -> None:
        codes, heavy = self.tables.read([word[at] for word in words], len(at))
        sums = self.ask.sums(states)
        for table in self.tables.tables:
            key = table.keys(codes, heavy, len(at))
            active = np.arange(len(at), dtype=np.uint32) if table.heavy is None else np.flatnonzero(key >= 0).astype(np.uint32)
            counts_here = self.counts[table.begin + np.maximum(key, 0)].astype(np.int32)
            self.ask.add(table.node, active, counts_here, sums, alone=False)
        sums.into(states)


@dataclass(frozen=True)
class CountShuffle:
    """Counts the sets of a shuffle in one of its partitions, and sends the rows on to the next."""

    layout: Layout
    shuffle: Shuffle
    members: tuple[tuple[str, ...], ...]
    nodes: tuple[int, ...]
    cardinalities: dict[str, int]
    ask: SumVisitor
    routing: Routing | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = whole(batches)
        if table is None:
            return
        words = self.layout.packing.words_of(table)
        states, at = bytes_as_rows(table.column(STATE), self.layout.width)
        wide = {name: series_of(table, f"w{place}") for place, name in enumerate(self.layout.wide)}
        self._count(words, wide, states, at, table.num_rows)
        if self.routing is not None:
            yield self.layout.batch(self.routing(words, table.num_rows), words, table, states, at)
        elif len(at):  # the last shuffle: nobody needs the others any more
            kept = table.take(pa.array(at))
            rows = np.arange(len(at))
            yield self.layout.batch(rows, [word[at] for word in words], kept.combine_chunks(), states, rows)

    def _count(
        self,
        words: Sequence[NDArray[np.int64]],
        wide: dict[str, Any],
        states: NDArray[np.float64],
        at: NDArray[np.int64],
        size: int,
    ) -> None:
        names = sorted({name for own_set in self.members for name in own_set})
        codes = {name: self.layout.packing.unpack(words, name) for name in names}
        light = heavy_numbers(self.shuffle, codes, size) < 0
        asking = np.flatnonzero(light[at])
        if not len(asking):
            return
        cardinalities = dict(self.cardinalities)
        for name in names:
            if name in wide:
                column = encode_series(wide[name])
                codes[name], cardinalities[name] = column.codes, column.cardinality
        if not light.all():
            codes = {name: own[light] for name, own in codes.items()}
        place = np.cumsum(light) - 1
        slots = place[at[asking]]
        sums = self.ask.sums(states, asking)
        count_partition(self.ask, self.shuffle.key, self.members, self.nodes, codes, cardinalities, slots, sums)
        sums.into(states, asking)
