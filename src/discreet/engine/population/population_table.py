"""Class sizes in a table of the population: how many of its persons have the key values of each released record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from discreet.engine.classes.groups import count_agreeing_rows, group_ids
from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.encoding.shared_codes import encode_shared
from discreet.errors import DataError
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PopulationClasses(NamedTuple):
    """For each record the persons of the population with its key values; for each person the records with theirs."""

    persons_per_record: NDArray[np.int64]
    records_per_person: NDArray[np.int64]
    persons_per_person: NDArray[np.int64]


def count_in_population(
    data: Microdata, population: Any, keys: Sequence[str], *, wildcard: bool, measure: str
) -> PopulationClasses:
    """Count the classes of both tables over shared values; a record that the population does not hold at all is an error.

    A null is one more value, or agrees with anything on either side where ``wildcard``.
    """
    frame: pl.DataFrame = load_table(population, data.policy)
    require_comparable_columns(data, frame, keys, measure)
    shared = encode_shared(data.frame, frame, [(key, key) for key in keys])
    records, persons = data.frame.height, frame.height
    if wildcard and any(column.null is not None for column in shared):
        left, right = [column.left for column in shared], [column.right for column in shared]
        cardinalities, nulls = [column.cardinality for column in shared], [column.null for column in shared]
        counts = PopulationClasses(
            count_agreeing_rows(left, right, cardinalities, nulls),
            count_agreeing_rows(right, left, cardinalities, nulls),
            count_agreeing_rows(right, right, cardinalities, nulls),
        )
    else:
        stacked = [(np.concatenate((column.left, column.right)), column.cardinality) for column in shared]
        ids, number = group_ids(stacked, records + persons)
        of_records = np.bincount(ids[:records], minlength=number)
        of_persons = np.bincount(ids[records:], minlength=number)
        counts = PopulationClasses(of_persons[ids[:records]], of_records[ids[records:]], of_persons[ids[records:]])
    refuse_strangers(data, keys, counts.persons_per_record, measure)
    return counts


def require_comparable_columns(data: Microdata, population: pl.DataFrame, keys: Sequence[str], measure: str) -> None:
    """Raise DataError if the population lacks a key, or if a key of the data holds labels that the population does not have."""
    absent = [key for key in keys if key not in population.columns]
    if absent:
        raise DataError(f"{measure}: the population has no column '{absent[0]}'; it has {', '.join(population.columns[:12])}")
    labelled = [key for key in keys if key in data.cells]
    if labelled:
        raise DataError(
            f"{measure}: '{labelled[0]}' holds labels of a masking step, which the population does not have; give the population "
            "with the same recoding, or measure before masking"
        )


def refuse_strangers(data: Microdata, keys: Sequence[str], persons: NDArray[Any], measure: str) -> None:
    """Raise DataError if nobody of the population has the values of some record; ``persons`` are counted by record."""
    lost = np.flatnonzero(persons == 0)
    if len(lost):
        row = int(lost[0])
        values = ", ".join(f"{key}={data.frame[key][row]!r}" for key in keys[:6])
        advice = "give the population that the records were drawn from, with values written alike"
        if any(data.frame[key][row] is None for key in keys):
            advice += "; a null is compared as a value of its own, unless the measure has missing: wildcard"
        raise DataError(
            f"{measure}: nobody of the population has the key values of record {row + 1:,} ({values}), nor of {len(lost) - 1:,} "
            f"others; {advice}"
        )
