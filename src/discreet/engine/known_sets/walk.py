"""The one traversal of a tree of known sets; what is done at a set is passed in.

A tree of sets grows by one attribute per level, so whatever is needed to count a set (its *level*: groups of records, queries
that are still active, rows that still match) is its parent's level narrowed by one attribute. The walk goes depth first, in the
tree's order, and keeps the levels of the path from the root to the set at hand, nothing else. Who walks:

* :meth:`discreet.engine.known_sets.counter.Counter.walk` counts the sets for queries, and hands the counts on to a visitor:
  risk sums (:mod:`discreet.engine.known_sets.risk_sums`), counts per record (:mod:`discreet.engine.targeting.state`), sums of one
  Spark partition (:mod:`discreet.engine.known_sets_spark.partition`);
* :mod:`discreet.risks.known_sets.large.counter` counts with few bytes per record;
* :mod:`discreet.risks.known_sets.bound_walk` walks sets beyond the family, which no array lists, to bound the rest of the sum;
* :mod:`discreet.risks.known_sets.explain` follows the rows that match one record;
* :mod:`discreet.masking.targeted_suppression.sums_from_counts` reads counts that were taken before;
* :mod:`discreet.engine.known_sets.terms` finds, for records that lack attributes, the set whose count each set has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Level = TypeVar("Level")


def walk_sets(
    children: Callable[[int], Iterable[int]], top: Level | None, visit: Callable[[int, Level], Level | None], *, root: int = 0
) -> None:
    """Visit every set below the root, depth first: ``visit(node, level of its parent)`` returns the set's own level.

    ``children`` lists the sets below a set in their order. Where ``visit`` returns None (nobody is left, or there are no
    children), nothing below the set is visited; likewise where ``top``, the root's level, is None.
    """
    if top is None:
        return
    levels, waiting = [top], [iter(children(root))]
    while levels:
        node = next(waiting[-1], None)
        if node is None:
            levels.pop()
            waiting.pop()
            continue
        level = visit(node, levels[-1])
        if level is not None:
            levels.append(level)
            waiting.append(iter(children(node)))
        # a level is as long as the table: the stack alone may hold it, so that it is freed when the walk leaves the set
        del level
