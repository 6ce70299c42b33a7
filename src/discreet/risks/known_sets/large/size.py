"""From which size on a table is large, and the memory that measuring it needs; little of the program is loaded for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import find_sensitive_records, weights_of
from discreet.engine.known_sets.sums import attributes, family_of
from discreet.engine.runtime.memory import PROGRAM, available_memory
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.risks.known_sets.measure import KnownSets

_BYTES_PER_RECORD, _MOST_BYTES_PER_RECORD = 64.0, 180.0
_FEW_SETS, _BYTES_PER_FURTHER_SET = 111, 0.25
"""Measured on a million records, every one sensitive: 58 bytes with 111 sets, 77 with 217, 133 with 403, 153 with 770, 150 with
1,363. More sets need more and larger covers, until these have nearly as many rows as there are records. In tables of more than
about two million records they need at most about 200 MB more, so that this announces too much there rather than too little."""
NOT_NARROWED = 8_000_000
"""Number of records from which intervals are not narrowed for a limit: that needs more memory for each."""
LARGE_TABLE = 20_000
"""Number of records from which sets are summed on distinct rows; smaller tables use the counter of the engine."""
NARROWING_BYTES = 1_800.0
"""Memory for the rows, tallies and cells of the sets on the way to one set, on two threads; measured on a million records."""


def is_large(records: int) -> bool:
    """Whether the records are so many that sets are summed on distinct rows."""
    return records >= LARGE_TABLE


def working_bytes(plugin: KnownSets, sample: Microdata, records: int, *, narrows: bool, by_record: bool) -> float:
    """The memory in bytes besides the codes; ``narrows``: intervals may have to be narrowed."""
    sample = sample.with_policy(sample.policy.at_largest_known()) if sample.policy.scenarios else sample
    names = attributes(sample)
    tree = family_of(sample, names, plugin.epsilon, plugin.max_sets, plugin.knowledge)
    by_record = by_record or plugin.knowledge == "independent"  # everyone's probability of being found is counted
    asking = float(find_sensitive_records(sample, weights_of(sample, names)).mean()) if len(sample) else 1.0
    short = is_large(records) and not narrows and not by_record
    need = records * bytes_per_record(tree, 1.0 if by_record else asking, short=short)
    at_once = records * NARROWING_BYTES if plugin.tolerance is not None and is_large(records) else 0.0
    return need + at_once if PROGRAM + need + at_once <= available_memory() else need  # all at once only where it fits


def bytes_per_record(tree: Family, asking: float, *, short: bool) -> float:
    """The approximate memory in bytes per record besides the codes, where a share ``asking`` of the records are queries.

    ``short``: the method of :mod:`discreet.risks.known_sets.large.sums`; otherwise that of the engine's counter.
    """
    if short:
        return min(_BYTES_PER_RECORD + _BYTES_PER_FURTHER_SET * max(len(tree) - _FEW_SETS, 0), _MOST_BYTES_PER_RECORD)
    inner = tree.depth[tree.end > np.arange(len(tree)) + 1]
    levels = int(inner.max(initial=0))
    return 20 + 6 * levels + asking * (150 + 12 * levels)
