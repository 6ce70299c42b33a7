"""The counter of known sets against nested loops over records, where nulls agree with anything or are a value of their own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets import counter as known_counts
from discreet.engine.known_sets import threads as known_threads
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.inputs import classes_by_nulls, single_class, single_pattern
from discreet.engine.known_sets.queries import Queries
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CELLS = st.sampled_from([None, "a", "a", "b", "c"])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=12)),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["1", "2"]),
)
def test_counts_are_those_of_nested_loops_over_records(
    rows: list[tuple[str | None, ...]], random: Any, null_agrees: bool, numbered: bool, threads: str
) -> None:
    """``numbered``: keys are numbered by sorting, and each list is shared out to the threads."""
    width, size = len(rows[0]), len(rows)
    names = [f"x{at}" for at in range(width)]
    data = Microdata(pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"), Policy())
    tree = family([random.choice([0.3, 0.5, 1.0]) for _ in names], 0.0, 100)
    columns = encode(data, tree.known_names(names))
    slots = np.array(sorted(random.sample(range(size), random.randint(1, size))))
    if null_agrees:
        classes, pattern, patterns = classes_by_nulls(columns, slots, size)
    else:
        classes, (pattern, patterns) = single_class(columns, slots, size), single_pattern(len(slots))
    nothing = np.zeros(len(slots))
    queries = Queries(nothing, nothing, nothing, np.zeros((len(slots), 0)), [], pattern, patterns)
    counts: dict[tuple[int, tuple[int, ...]], int] = {}

    def note(node: int, active: np.ndarray, found: np.ndarray) -> None:
        for query in active.tolist():
            assert (query, tree.members(node)) not in counts
            counts[query, tree.members(node)] = int(found[query])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_threads, "SMALL", 1 if numbered else 1 << 16)
        patch.setattr(known_counts, "_TABLE_PER_RECORD", 0 if numbered else 2)
        patch.setenv("DISCREET_THREADS", threads)
        with Counter(classes, queries) as counter:
            counter.walk(tree, note)
            everything = counter.count_all(width)
    for query, row in enumerate(rows[slot] for slot in slots):
        said = [at for at in range(width) if row[at] is not None or not null_agrees]
        is_alone = {}
        for length in range(width + 1):
            for some in combinations(range(width), length):
                agreeing = sum(all(other[at] == row[at] or (null_agrees and other[at] is None) for at in some) for other in rows)
                below = any(is_alone.get(some[:at] + some[at + 1 :], False) for at in range(length))
                is_alone[some] = agreeing == 1 and set(some) <= set(said)
                if not set(some) <= set(said):
                    assert (query, some) not in counts, "a query does not ask by what its record lacks"
                elif (query, some) in counts or not below:
                    assert counts[query, some] == agreeing
                if some == tuple(said):
                    assert everything[query] == agreeing
