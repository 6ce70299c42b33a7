"""What the workers do, without a Spark: partitions are lists of batches here, and a shuffle is a dictionary of rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding.columns import value_weights
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import attributes
from discreet.engine.known_sets.terms import Pattern, terms
from discreet.engine.known_sets_spark import plan as known_plan
from discreet.engine.known_sets_spark import sums as known_sums
from discreet.engine.known_sets_spark.finish import Finish
from discreet.engine.known_sets_spark.packing import packing
from discreet.engine.known_sets_spark.partition import ALL_ATTRIBUTES, SumVisitor
from discreet.engine.known_sets_spark.plan import Heavy
from discreet.engine.known_sets_spark.stages import CountShuffle, CountTables, Layout, LookUp, Routing, add_pieces
from discreet.engine.spark import value_counts as dictionaries
from discreet.testing import table

CELLS = {
    "zip": st.sampled_from([None, None, None, "48201", "48202", "48203", "48204"]),
    "age": st.sampled_from([30, 30, 30, 40, 50]),
    "pay": st.sampled_from([0.0, -0.0, 1.5, float("nan"), 2.5, None]),
    "ill": st.sampled_from(["Flu", "Cold", None]),
}


def dictionaries_of(batches: list[list[pa.RecordBatch]], names: list[str], data: discreet.Microdata, most: int) -> Any:
    """The first pass: the values of all partitions."""
    made = [batch for part in batches for batch in dictionaries._Count(tuple(names), most)(part)]
    found = {}
    for at, name in enumerate(names):
        own = pa.Table.from_batches(made)
        row = dictionaries._Merge(most)(own.filter(pa.compute.equal(own["at"], at))).to_pylist()[0]
        found[name] = dictionaries._dictionary(
            name, pl.read_ipc(row["content"]), row["wide"], data.attribute(name), labelled=False
        )
    return found


def counted(data: discreet.Microdata, epsilon: float, partitions: int, most_values: int, most_rows: int) -> pl.DataFrame:
    """The whole way of the rows, as known_sums lays it out."""
    names = attributes(data)
    tree = family([data.attribute(name).known for name in names], epsilon, 1000)
    ordered = [names[at] for at in tree.order if data.attribute(names[at]).known > 0]
    sensitive = [name for name in names if data.attribute(name).sensitivity > 0]
    columns = list(dict.fromkeys([*ordered, *sensitive]))
    rows = data.frame.select(columns).with_columns(record=pl.int_range(len(data))).to_arrow()
    parts = [rows.take(pa.array(range(at, len(data), partitions))).to_batches() for at in range(min(partitions, len(data)))]
    found = dictionaries_of(parts, columns, data, most_values)
    weights = {name: None if found[name].wide else value_weights(found[name].column, data.attribute(name)) for name in sensitive}
    by_place = [names[at] for at in tree.order]
    singles = [place for place in range(tree.width) if by_place[place] in weights]
    packed = packing(found, ordered)
    work = known_sums.Work(
        SimpleNamespace(attribute=data.attribute), names, ordered, tree, found, len(data), packed,  # type: ignore[arg-type]
        terms(tree, singles, [Pattern()]), tuple(by_place[at] for at in singles), weights,
    )  # fmt: skip
    wide = tuple(name for name in ordered if found[name].wide)
    layout = Layout(packed, wide, "record", len(singles), ("",) * len(wide))
    encode = known_sums._encode(work, layout, everyone=True)
    on_way = [list(encode(part)) for part in parts]

    every = pa.Table.from_batches([batch for part in on_way for batch in part]).combine_chunks()
    words = packed.words_of(every)

    def heavy_of(key: tuple[str, ...], most: int) -> Heavy:
        own = [packed.unpack(words, name) for name in key]
        times = Counter(zip(*[one.tolist() for one in own], strict=True))
        others = [found[name].cardinality - 1 if found[name].wide else None for name in key]
        return tuple(
            sorted(one for one, n in times.items() if n > most and not any(a == b for a, b in zip(one, others, strict=True)))
        )

    members = [tuple(names[at] for at in tree.members(node)) for node in range(len(tree))]
    counting = known_plan.plan([*members, tuple(sorted(ordered))], found, len(data), partitions, heavy_of)
    nodes = [*range(len(tree)), ALL_ATTRIBUTES]
    tables = known_sums._tables(work, counting, nodes)
    pieces = pa.Table.from_batches([batch for part in on_way for batch in CountTables(tables)(part)])
    counts = np.frombuffer(add_pieces(pieces).column("counts")[0].as_py(), dtype=np.int64)
    ask = SumVisitor(work.parts.kept[:, 0], work.parts.whole[:, 0], work.parts.member, tree.chance, tree.rank)
    routings = [Routing(packed, one) for one in counting.shuffles]
    look_up = LookUp(layout, tables, counts, ask, routings[0] if routings else Routing(packed, None))
    moving = [batch for part in on_way for batch in look_up(part)]
    for at, shuffle in enumerate(counting.shuffles):
        following = routings[at + 1] if at + 1 < len(routings) else None
        stage = CountShuffle(
            layout, shuffle, tuple(counting.members[one] for one in shuffle.sets), tuple(nodes[one] for one in shuffle.sets),
            {name: one.cardinality for name, one in found.items()}, ask, following,
        )  # fmt: skip
        together = pa.Table.from_batches(moving)
        keys = ["route", *[f"w{wide.index(name)}" for name in shuffle.key if name in wide]]
        homes: dict[Any, list[int]] = defaultdict(list)
        for row, key in enumerate(zip(*[together[name].to_pylist() for name in keys], strict=True)):
            homes[hash(key) % partitions].append(row)
        moving = [batch for home in homes.values() for batch in stage(together.take(pa.array(home)).to_batches())]
    below = work.parts.kept_below[0, 0], work.parts.whole_below[0, 0]
    finish = Finish(layout.width, True, 1.0, *below, known_sums._spread(work), work.records)
    done = pl.from_arrow(pa.Table.from_batches(list(finish(moving))))
    assert isinstance(done, pl.DataFrame)
    top = pl.Series("top_set", ["+".join(members[node]) for node in done["top_node"].to_list()], dtype=pl.String)
    return done.with_columns(top).sort("record")


@settings(max_examples=40)
@given(
    st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.integers(1, 5),
    st.sampled_from([2, 3, 100]),
    st.sampled_from([3, 10, 1000]),
    st.sampled_from([1, 6, 1 << 20]),
)
def test_the_stages_give_the_numbers_of_the_local_engine(
    rows: list[dict[str, Any]], epsilon: float, partitions: int, most_values: int, most_rows: int, largest: int
) -> None:
    content = {name: [row[name] for row in rows] for name in CELLS}
    frame = pl.DataFrame(content, schema={"zip": pl.String, "age": pl.Int64, "pay": pl.Float64, "ill": pl.String})
    known = {"zip": 0.5, "age": 0.8, "pay": 0.2}
    data = table(content, key=list(known), known=known, sensitivity={"ill": 1.0, "pay": 0.5})
    data = data.replace(frame)
    wanted = discreet.risk(data, {"known_sets": {"alpha": 1, "epsilon": epsilon}})["known_sets"].per_record
    assert wanted is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_plan, "LARGEST_TABLE", largest)
        patch.setattr(known_plan, "MOST_ROWS", most_rows)
        found = counted(data, epsilon, partitions, most_values, most_rows)
    assert found["record"].to_list() == list(range(len(rows)))
    for name in ("risk", "lower", "upper", "likelihood", "consequence"):
        assert found[name].to_list() == pytest.approx(wanted[name].to_list(), rel=1e-9, abs=1e-15), name
    assert found["top"].to_list() == pytest.approx(wanted["top_share"].to_list(), rel=1e-9)
    assert found["top_set"].to_list() == wanted["top_set"].to_list()
