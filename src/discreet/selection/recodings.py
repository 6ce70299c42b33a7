"""Recodings to start from: the keys are made coarser level by level, as a statistician would do by hand.

Each step takes the key whose next level merges the most equivalence classes for the information that it costs (as Datafly does:
Sweeney, L. (2002), Achieving k-anonymity privacy protection using generalization and suppression). The levels are kept at the
points where few enough records are in classes below k: local suppression does the rest there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet import registry
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, level_codes
from discreet.engine.encoding.columns import encode
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHARES_IN_SMALL_CLASSES = (0.7, 0.4, 0.2, 0.08, 0.02, 0.0)
"""Shares of records in classes below k at which the levels are kept."""
_MOST_RECORDS = 10_000
_DROPPING = 0.5
"""Added to the cost of a key's last level, at which nothing of it is left."""
_LEAST_COST = 0.01
_OWN_ENTROPY = 0.2
"""Weight of what a key loses by itself: where nearly all records are unique, or two keys say the same, no step merges classes."""
_CLASS_SIZE_OF_BELOW_5 = 5


def needed_class_size(policy: Policy) -> int:
    """The size of equivalence classes that the limits ask for; at least 2.

    >>> needed_class_size(Policy.from_dict({"limits": {"target_linkage.max": 0.09}}))
    12
    """
    limits = policy.limits
    sizes = [2.0, limits.get("k_anonymity.k", 2.0), limits.get("known_sets.effective_k_min", 2.0)]
    linkage = [limits.get(f"target_linkage.{field}", 1.0) for field in ("max", "mean", "marketer")]
    sizes += [1 / chance - 1e-9 for chance in linkage if 0 < chance < 1]
    if "known_sets.below_5" in limits:
        sizes.append(_CLASS_SIZE_OF_BELOW_5)
    sizes.append(limits.get("rare_combinations.fewest", 2.0))
    if any(f"rare_combinations.{field}" in limits for field in ("records", "combinations")):
        measure = registry.create("risk", "rare_combinations", policy.risk.get("rare_combinations"), origin=policy.origin)
        sizes.append(float(measure.parameters["threshold"]))
    return math.ceil(max(sizes))


def greedy_recodings(
    data: Microdata,
    keys: Sequence[str],
    heights: Mapping[str, int],
    k: int,
    protected: Collection[str] = (),
    deadline: float | None = None,
) -> list[dict[str, int]]:
    """Levels of the keys, each list coarser than the one before; keys that stay as they are are left out.

    With many keys this takes long: after the deadline, a moment of ``time.monotonic``, the levels so far are the last list.
    """
    rows = np.linspace(0, len(data) - 1, min(len(data), _MOST_RECORDS)).astype(np.int64)
    size = max(2, math.ceil(k * len(rows) / len(data))) if len(data) else 2
    ladders = {name: _Ladder(data, name, rows, heights[name]) for name in keys if name not in protected}
    levels = dict.fromkeys(ladders, 0)
    total = np.zeros(len(rows), dtype=np.uint64)
    for name in keys:
        total = total + (ladders[name] if name in ladders else _Ladder(data, name, rows, heights[name])).hashes[0]
    recodings: list[dict[str, int]] = []
    for share in _SHARES_IN_SMALL_CLASSES:
        while _share_in_small_classes(total, size) > share and (step := _next_step(ladders, levels, total)) is not None:
            if deadline is not None and time.monotonic() > deadline:
                break
            total = total - ladders[step].hashes[levels[step]] + ladders[step].hashes[levels[step] + 1]
            levels[step] += 1
        recoding = {name: level for name, level in levels.items() if level}
        if recoding not in recodings:
            recodings.append(recoding)
    return recodings


class _Ladder:
    """One key: for each level a random number per record, equal for equal labels, the mean penalty of the level and its entropy.

    The sum of these numbers over the keys is equal for two records where they agree on all keys, and hardly ever else: so the
    classes after one more step need one addition per record, however many keys there are.
    """

    def __init__(self, data: Microdata, name: str, rows: NDArray[np.int64], height: int) -> None:
        hierarchy = hierarchy_of(data, name)
        (column,) = encode(data, [name])
        leaves = leaf_codes(column, hierarchy)[column.codes[rows]]
        rng = np.random.default_rng(list(name.encode()))  # the same numbers in every process
        self.hashes: list[NDArray[np.uint64]] = []
        self.penalties: list[float] = []
        self.entropies: list[float] = []
        for level, (codes, labels) in enumerate(level_codes(hierarchy)[: height + 1]):
            numbers = rng.integers(0, 1 << 63, len(labels) + 1, dtype=np.uint64)
            label = np.where(leaves >= 0, codes[leaves], len(labels))
            self.hashes.append(numbers[label])
            group_sizes = np.append(np.bincount(codes, minlength=len(labels)), 1)
            shares = np.where(group_sizes > 1, group_sizes, 0) / max(1, len(codes))
            chances = np.bincount(label) / max(1, len(label))
            self.entropies.append(float(-(chances[chances > 0] * np.log(chances[chances > 0])).sum()))
            self.penalties.append(1.0 if level == height else float(shares[label].mean()))

    def cost(self, level: int) -> float:
        """What the step from a level to the next costs."""
        last = level + 2 == len(self.hashes)
        return max(_LEAST_COST, self.penalties[level + 1] - self.penalties[level]) + (_DROPPING if last else 0.0)


def _next_step(ladders: Mapping[str, _Ladder], levels: Mapping[str, int], total: NDArray[np.uint64]) -> str | None:
    """The key whose next level merges most classes for its cost; None if every key is at its last level."""
    before = math.log(_count_different(total))
    best, best_gain = None, -math.inf
    for name, ladder in ladders.items():
        level = levels[name]
        if level + 1 < len(ladder.hashes):
            after = math.log(_count_different(total - ladder.hashes[level] + ladder.hashes[level + 1]))
            own = ladder.entropies[level] - ladder.entropies[level + 1]
            gain = (before - after + _OWN_ENTROPY * own + 1e-6) / ladder.cost(level)
            if gain > best_gain:
                best, best_gain = name, gain
    return best


def _count_different(numbers: NDArray[np.uint64]) -> int:
    return pl.Series(numbers).n_unique()  # hashes them, which takes a fraction of the time of sorting


def _share_in_small_classes(total: NDArray[np.uint64], size: int) -> float:
    counts = np.unique(total, return_counts=True)[1]
    return float(counts[counts < size].sum() / max(1, len(total)))
