"""Records held out before masking: people who are not in the release, as a control for attacks on it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.results import StepLog

if TYPE_CHECKING:
    from numpy.typing import NDArray

_METHOD = "holdout"


def hold_out(data: Microdata, share: float, key: bytes) -> tuple[Microdata, StepLog]:
    """The records that are masked, and the log of those that are not: ``share`` of the records, drawn by the key.

    All records of a person, or of a household where there are no persons, stay together, since a control person must not be in
    the release; the last group drawn may exceed the share.
    """
    started = time.perf_counter()
    kept = data.take(np.flatnonzero(~_drawn(data, share, key)))
    removed = len(data) - len(kept)
    note = f"{removed:,} of {len(data):,} records are not part of the release: attacks on them are the control of attacks on it"
    return kept, StepLog(0, _METHOD, (), 0, removed, 0, time.perf_counter() - started, (note,))


def _drawn(data: Microdata, share: float, key: bytes) -> NDArray[np.bool_]:
    """Which records are held out; does not depend on the order of the rows."""
    names = data.named(Role.PERSON) or data.named(Role.HOUSEHOLD)
    if names:
        column = encode(data, names[:1])[0]
        # a null is nobody's number: each such record is a group of its own
        groups = np.where(column.is_null, column.cardinality + np.arange(len(data)), column.codes.astype(np.int64))
        _, groups = np.unique(groups, return_inverse=True)
    else:
        groups = np.arange(len(data))
    number = int(groups.max()) + 1 if len(data) else 0
    first = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(first, groups, data.records)
    order = KeyedDraw(key, 0, _METHOD).order(first, "held out")
    sizes = np.bincount(groups, minlength=number)[order]
    before = np.cumsum(sizes) - sizes
    chosen = np.zeros(number, dtype=np.bool_)
    chosen[order] = before < round(share * len(data))
    return chosen[groups]
