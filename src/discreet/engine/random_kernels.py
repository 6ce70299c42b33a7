"""The hash behind the keyed draws, compiled: one pass over the records, and other threads run meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.compiled import compiled


@compiled
def _mixed(state: Any) -> Any:
    """SplitMix64's finalizer, as in engine/random.py."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def fill_bits(records: Any, first: Any, second: Any, made: Any) -> None:
    for at in range(len(records)):
        state = np.uint64(records[at]) * np.uint64(0x9E3779B97F4A7C15)
        made[at] = _mixed(_mixed(state ^ first) + second)


@compiled
def fill_uniform(records: Any, first: Any, second: Any, made: Any) -> None:
    for at in range(len(records)):
        state = np.uint64(records[at]) * np.uint64(0x9E3779B97F4A7C15)
        # 53 bits fit a signed number, which is faster to convert
        made[at] = np.int64(_mixed(_mixed(state ^ first) + second) >> np.uint64(11)) * 2.0**-53
