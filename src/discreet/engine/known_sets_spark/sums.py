"""Record-level risk over every state of an intruder's knowledge, counted by a cluster.

Three passes: the values of each attribute; the tables of small sets; and the sums, with a shuffle for each key of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.listed_values import check_column
from discreet.engine.cells.weights import cell_weights
from discreet.engine.known_sets.family import Family, family
from discreet.engine.known_sets.sums import attributes
from discreet.engine.known_sets.terms import Pattern, Terms, terms
from discreet.engine.known_sets_spark import plan as known_plan
from discreet.engine.known_sets_spark.finish import Finish
from discreet.engine.known_sets_spark.packing import Packing, packing
from discreet.engine.known_sets_spark.partition import ALL_ATTRIBUTES, SumVisitor
from discreet.engine.known_sets_spark.plan import Counting, Heavy, Shuffle
from discreet.engine.known_sets_spark.stages import (
    CountShuffle,
    CountTables,
    Encode,
    Layout,
    LookUp,
    Routing,
    Table,
    Tables,
    add_pieces,
)
from discreet.engine.known_sets_spark.suppressed_values import SuppressedValues
from discreet.engine.spark.arrow import grouped, in_arrow
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import quote
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.value_counts import Dictionary, dictionaries

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

ROWS_A_PARTITION = 2_000_000


@dataclass(frozen=True)
class SparkKnownSets:
    """The sums of the records that ask, as a frame: (record,) risk, lower, upper, top_node, top, likelihood, consequence."""

    names: list[str]
    tree: Family
    records: int
    frame: DataFrame
    counting: Counting
    kept: tuple[DataFrame, ...]

    def set_name(self, node: int) -> str:
        return "+".join(self.names[at] for at in self.tree.members(node))

    def release(self) -> None:
        """Let the cluster forget what it kept on the way."""
        for frame in self.kept:
            frame.unpersist()


@dataclass(frozen=True)
class Work:
    """What is known before rows move."""

    data: SparkMicrodata
    names: list[str]
    ordered: list[str]
    tree: Family
    dictionary: dict[str, Dictionary]
    records: int
    packing: Packing
    parts: Terms
    singles: tuple[str, ...]
    weights: dict[str, NDArray[np.float64] | None]
    rows: DataFrame | None = None
    """The numbered rows where they are kept for many rounds."""

    @property
    def members(self) -> list[tuple[str, ...]]:
        return [tuple(self.names[at] for at in self.tree.members(node)) for node in range(len(self.tree))]

    @property
    def wide(self) -> tuple[str, ...]:
        return tuple(name for name in self.ordered if self.dictionary[name].wide)

    @property
    def types(self) -> tuple[str, ...]:
        kinds = {field.name: field.dataType.simpleString() for field in self.data.frame.schema.fields}
        return tuple(kinds[name] for name in self.wide)


def spark_known_sets(
    data: SparkMicrodata, *, epsilon: float, max_sets: int, alpha: float, everyone: bool = False, numbered: bool = False
) -> SparkKnownSets:
    """Sum over the kept sets, and bound the sum over all sets, for each record that has something to learn (or for everyone)."""
    return sum_on_cluster(prepare_work(data, epsilon, max_sets), alpha=alpha, everyone=everyone, numbered=numbered)


def sum_on_cluster(
    work: Work, *, alpha: float, everyone: bool = False, numbered: bool = False, lost: SuppressedValues | None = None
) -> SparkKnownSets:
    """The sums of a table whose values are counted, without the values that some of its records lost."""
    layout = Layout(work.packing, work.wide, RECORD if numbered else None, len(work.singles), work.types)
    packed = in_arrow(select_columns(work, numbered), _encode(work, layout, everyone, lost), layout.schema).persist()
    ask = SumVisitor(work.parts.kept[:, 0], work.parts.whole[:, 0], work.parts.member, work.tree.chance, work.tree.rank)
    all_names = tuple(sorted(work.ordered))
    frame, counting = run_stages(work, layout, packed, [*work.members, all_names], [*range(len(work.tree)), ALL_ATTRIBUTES], ask)
    below = work.parts.kept_below[0, 0], work.parts.whole_below[0, 0]
    finish = Finish(layout.width, numbered, alpha, *below, _spread(work), work.records)
    finished = in_arrow(frame.select(*(["record"] if numbered else []), "state"), finish, finish.schema).persist()
    return SparkKnownSets(work.names, work.tree, work.records, finished, counting, (packed, finished))


def run_stages(
    work: Work, layout: Layout, packed: DataFrame, members: Sequence[tuple[str, ...]], nodes: Sequence[int], ask: Any
) -> tuple[DataFrame, Counting]:
    """The rows on their way through tables and shuffles, until every set is in the states of those that ask."""
    counting = _plan(work, packed, members)
    tables = _tables(work, counting, nodes)
    counts = _counted(packed, tables)
    routings = [Routing(work.packing, entry) for entry in counting.shuffles]
    frame = in_arrow(
        packed, LookUp(layout, tables, counts, ask, routings[0] if routings else Routing(work.packing, None)), layout.schema
    )
    cardinalities = {name: entry.cardinality for name, entry in work.dictionary.items()}
    partitions = partitions_for(work.data, work.records)
    for at, shuffle in enumerate(counting.shuffles):
        following = routings[at + 1] if at + 1 < len(routings) else None
        own = tuple(counting.members[entry] for entry in shuffle.sets)
        stage = CountShuffle(layout, shuffle, own, tuple(nodes[entry] for entry in shuffle.sets), cardinalities, ask, following)
        wide = [f"w{layout.wide.index(name)}" for name in shuffle.key if name in layout.wide]
        frame = in_arrow(frame.repartition(partitions, "route", *wide), stage, layout.schema)
    return frame, counting


def partitions_for(data: SparkMicrodata, records: int) -> int:
    """Into how many partitions rows are shuffled: the cluster's cores, and more where they would be too large."""
    session = data.frame.sparkSession
    try:
        cores = int(session.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - Spark Connect has no context, and says so in its own way
        cores = int(session.conf.get("spark.sql.shuffle.partitions") or 8)
    return max(1, min(max(cores, math.ceil(records / ROWS_A_PARTITION)), max(records, 1)))


def prepare_work(data: SparkMicrodata, epsilon: float, max_sets: int) -> Work:
    names = attributes(data.shape)
    tree = family([data.attribute(name).known for name in names], epsilon, max_sets)
    ordered = [names[at] for at in tree.order if data.attribute(names[at]).known > 0]
    sensitive = [name for name in names if data.attribute(name).sensitivity > 0]
    dictionary, records = dictionaries(data, list(dict.fromkeys([*ordered, *sensitive])))
    for name in sensitive:
        if data.is_initial and not dictionary[name].wide:
            check_column(dictionary[name].column, data.attribute(name), data.policy.origin)
    return build_work(data, names, tree, dictionary, records)


def build_work(
    data: SparkMicrodata,
    names: list[str],
    tree: Family,
    dictionary: dict[str, Dictionary],
    records: int,
    rows: DataFrame | None = None,
) -> Work:
    """What follows from the values that occur: weights, singles and coefficients."""
    ordered = [names[at] for at in tree.order if data.attribute(names[at]).known > 0]
    weights: dict[str, NDArray[np.float64] | None] = {}
    for name in (name for name in names if data.attribute(name).sensitivity > 0):
        weight = (
            None if dictionary[name].wide else cell_weights(dictionary[name].column, data.attribute(name), data.cells.get(name))
        )
        if weight is None or weight.any():
            weights[name] = weight
    by_place = [names[at] for at in tree.order]
    singles = [place for place in range(tree.width) if by_place[place] in weights]
    parts = terms(tree, singles, [Pattern()])
    packed = packing(dictionary, ordered)
    own = tuple(by_place[at] for at in singles)
    return Work(data, names, ordered, tree, dictionary, records, packed, parts, own, weights, rows)


def select_columns(work: Work, numbered: bool) -> DataFrame:
    """The columns that are counted, with the records' numbers where they are asked for."""
    if work.rows is not None:
        return work.rows
    frame = work.data.numbered if numbered else work.data.frame
    return frame.select(*[quote(name) for name in work.dictionary], *([quote(RECORD)] if numbered else []))


def _encode(work: Work, layout: Layout, everyone: bool, lost: SuppressedValues | None = None) -> Encode:
    by_place = {work.names[at]: place for place, at in enumerate(work.tree.order)}
    chances = {name: float(work.tree.probabilities[by_place[name]]) for name in work.weights}
    rest = {name: chance / (1 + chance) for name, chance in chances.items() if by_place[name] >= work.tree.width}
    own = {name: work.data.attribute(name) for name in work.weights}
    return Encode(layout, work.dictionary, own, work.weights, rest, work.singles, everyone, lost)


def _spread(work: Work) -> float:
    """The product of 1 + p over the attributes that occur in no kept set."""
    return math.prod(1 + float(chance) for chance in work.tree.probabilities[work.tree.width :])


def _plan(work: Work, packed: DataFrame, members: Sequence[tuple[str, ...]]) -> Counting:
    def heavy_of(key: tuple[str, ...], most: int) -> Heavy:
        return _heavy(work, packed, key, most)

    return known_plan.plan(members, work.dictionary, work.records, partitions_for(work.data, work.records), heavy_of)


def _heavy(work: Work, packed: DataFrame, key: tuple[str, ...], most: int) -> Heavy:
    """The values of a key that more than so many records share, counted by Spark."""
    from pyspark.sql import functions as f

    columns: list[Column] = []
    for name in key:
        word, shift, bits = work.packing.places[name]
        columns.append(f.shiftright(f.col(f"p{word}"), shift).bitwiseAND(f.lit((1 << bits) - 1)).alias(f"c{len(columns)}"))
    rows = packed.groupBy(*columns).count().filter(f.col("count") > most).drop("count").collect()
    others = [work.dictionary[name].cardinality - 1 if work.dictionary[name].wide else None for name in key]
    return tuple(
        sorted(tuple(int(value) for value in row) for row in rows if not any(v == o for v, o in zip(row, others, strict=True)))
    )


def _tables(work: Work, counting: Counting, nodes: Sequence[int]) -> Tables:
    """The tables of small sets, and those of heavy values, one behind another."""
    tables: list[Table] = []

    def append(names: Sequence[str], node: int, heavy: Shuffle | None) -> None:
        begin = tables[-1].begin + tables[-1].room if tables else 0
        tables.append(Table(begin, tuple(names), tuple(work.dictionary[name].cardinality for name in names), node, heavy))

    for at in counting.tables:
        append(counting.members[at], nodes[at], None)
    for shuffle in counting.shuffles:
        if shuffle.heavy:
            for at in shuffle.sets:
                append([name for name in counting.members[at] if name not in shuffle.key], nodes[at], shuffle)
    return Tables(work.packing, tuple(tables))


def _counted(packed: DataFrame, tables: Tables) -> NDArray[np.int64]:
    """The counts of all tables over all partitions."""
    schema = "begin long, counts binary"
    pieces = grouped(in_arrow(packed, CountTables(tables), schema), "begin", add_pieces, schema).toArrow().to_pylist()
    counts = np.zeros(tables.size, dtype=np.int64)
    for piece in pieces:
        own = np.frombuffer(piece["counts"], dtype=np.int64)
        counts[piece["begin"] : piece["begin"] + len(own)] = own
    return counts
