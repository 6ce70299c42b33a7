"""Record classes for tables whose cells overlap: which records are counted, and which are the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding.columns import Column, code_type
from discreet.engine.known_sets.inputs import patterns_of
from discreet.engine.known_sets.queries import RecordClass
from discreet.engine.known_sets.terms import Pattern
from discreet.engine.overlap.columns import blank_codes, column_relation, overlaps
from discreet.engine.overlap.relations import Relation
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

CountedRecords = tuple[list[RecordClass], "NDArray[np.int32]", list[Pattern]]


def has_overlaps(data: Microdata, columns: Sequence[Column]) -> bool:
    """Whether two different cells of some column agree, so that different records may agree."""
    return any(overlaps(data, column) for column in columns)


def classes_by_overlap(
    data: Microdata, columns: Sequence[Column], slots: NDArray[np.int64], *, null_agrees: bool
) -> CountedRecords:
    """One class of all records, queried by the records in ``slots``; cells agree where they overlap.

    An intruder cannot search by an attribute in which the query's own cell is blank: queries are grouped by pattern of blanks.
    """
    relations = [column_relation(data, column, null_agrees=null_agrees) for column in columns]
    blank = [blank_codes(data, column, null_agrees=null_agrees) for column in columns]
    unknown = [flags[column.codes[slots]].astype(np.uint8) for flags, column in zip(blank, columns, strict=True)]
    pattern, patterns = patterns_of(unknown, [None] * len(columns), len(slots))
    return [related_class(columns, relations, slots)], pattern, patterns


def classes_by_overlap_with_nulls(
    data: Microdata, columns: Sequence[Column], slots: NDArray[np.int64], *, null_agrees: bool
) -> CountedRecords:
    """The same for columns in which values were suppressed after the data were read, so that they hold nulls that the data lack.

    Only nulls that agree with anything make a pattern: a query with ``*`` is counted with all records that agree, set by set.
    """
    relations = [column_relation(data, column, null_agrees=null_agrees, spare_null=True) for column in columns]
    unknown = [(column.is_null[slots] & null_agrees).astype(np.uint8) for column in columns]
    pattern, patterns = patterns_of(unknown, [None] * len(columns), len(slots))
    return [related_class(columns, relations, slots)], pattern, patterns


def related_class(columns: Sequence[Column], relations: Sequence[Relation], slots: NDArray[np.int64]) -> RecordClass:
    """One class of all records of a table, queried by the records in ``slots``; codes agree as the relations say."""
    size = len(columns[0].codes) if columns else 0
    codes: list[NDArray[Any]] = []
    for column, relation in zip(columns, relations, strict=True):
        if (relation.place == np.arange(len(relation.place))).all():
            codes.append(column.codes)  # places equal codes, as in most columns: no copy needed
            continue
        narrow = relation.place.astype(code_type(max(len(relation.place) - 1, 0)))
        codes.append(narrow[column.codes])
    query_codes = [column.codes[slots] for column in columns]
    return RecordClass(None, size, codes, query_codes, [len(relation.place) for relation in relations], relations)
