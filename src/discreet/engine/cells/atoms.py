"""Cells as sets of atoms of one domain, on which agreement and containment are decided.

For numbers, dates and times the end points and values of all compared cells cut the axis into atoms: each point, and each gap
between two neighbouring points. For texts the atoms are the texts sorted by length and then alphabetically, so that a prefix
pattern is a run of atoms, and one more atom stands for all texts that no cell names. Two cells agree where they share an atom,
that is where some value could be behind both. (The axis is the real line: cells of whole numbers that share only a gap between
integers agree too.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.positions import exact_array, kind_of, position, same_scale
from discreet.engine.cells.reader import Reading, printed_texts, read_column
from discreet.engine.encoding.columns import Column
from discreet.errors import UnexplainedCellError
from discreet.model.cells import Cell, ColumnCells, Group, Interval, Kind, Prefix, parse_interval, parse_value
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

Side = tuple[Column, ColumnCells | None]
_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Atoms:
    """For each code of a column the atoms of its cell.

    ``number``  number of atoms in the domain
    ``blank``   [codes] null or ``*``: agrees with everything (the caller handles a null under ``missing: category``)
    ``first``, ``last``   [codes] half-open run of atoms where the cell is one run; first == last where it is not, see members
    ``starts``, ``members``   [codes + 1] offsets into ``members``, the sorted atoms of cells that are not one run
    """

    number: int
    blank: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]

    def of(self, code: int) -> NDArray[np.int64]:
        """The atoms of one code; all of them where it is blank."""
        if self.blank[code]:
            return np.arange(self.number)
        run = np.arange(self.first[code], self.last[code])
        return np.concatenate((run, self.members[self.starts[code] : self.starts[code + 1]]))

    @property
    def is_single(self) -> NDArray[np.bool_]:
        """Which codes stand for a single atom, as plain values do."""
        return np.asarray(~self.blank & (self.last - self.first == 1))


def shared_atoms(
    sides: Sequence[Side],
    *,
    hierarchy: Hierarchy | None = None,
    reference: int | None = None,
    strict: bool = True,
) -> list[Atoms]:
    """The atoms of columns that are compared with each other.

    ``reference`` is the index of the side that holds original values: these are plain values, whatever they look like. Where
    ``strict``, they are also all the values of a text column: any other text in a column without declared labels is an error.
    (The verbs check whole tables for this with :func:`discreet.assessment.unexplained_labels.check_explained`.)

    >>> import polars as pl
    >>> from discreet.engine.encoding.columns import encode_series
    >>> original, masked = encode_series(pl.Series("age", [23, 47])), encode_series(pl.Series("age", ["20..30", "47"]))
    >>> from discreet.engine.cells.agreement import agreeing_codes
    >>> agreeing_codes(*shared_atoms([(original, None), (masked, None)], reference=0)).members
    array([0, 1])
    """
    return atoms_of(read_sides(sides, hierarchy=hierarchy, reference=reference, strict=strict))


def atoms_of(readings: Sequence[Reading]) -> list[Atoms]:
    """The atoms of columns that were read as values of the same kind."""
    distinct = list({id(reading): reading for reading in readings}.values())  # a column that is compared with itself once
    atoms = _text_atoms(distinct) if readings[0].kind == "text" else _ordered_atoms(distinct)
    atoms_of_reading = {id(reading): own for reading, own in zip(distinct, atoms, strict=True)}
    return [atoms_of_reading[id(reading)] for reading in readings]


def read_sides(
    sides: Sequence[Side], *, hierarchy: Hierarchy | None = None, reference: int | None = None, strict: bool = False
) -> list[Reading]:
    """Read columns that are compared as values of the same kind; see :func:`shared_atoms`."""
    kinds = _candidate_kinds(sides, reference)
    for kind in kinds[:-1]:
        try:
            return _read_as(kind, sides, hierarchy, reference, strict)
        except UnexplainedCellError:
            continue
    return _read_as(kinds[-1], sides, hierarchy, reference, strict)


def _read_as(
    kind: Kind, sides: Sequence[Side], hierarchy: Hierarchy | None, reference: int | None, strict: bool
) -> list[Reading]:
    """Read all sides as one kind; texts that are not of an ordered kind stand for themselves where nothing contradicts it."""
    originals = sides[reference][0].values if reference is not None else None
    known = None
    if originals is not None and kind_of(originals.dtype) == "text" and len(originals) and (strict or kind != "text"):
        known = frozenset(printed_texts(originals).to_list())
    readings = []
    for index, (column, cells) in enumerate(sides):
        if index == reference and cells is None:
            readings.append(read_column(column, kind, allow_other_texts=True))
        else:
            lenient = cells is None and reference is None
            readings.append(read_column(column, kind, cells, hierarchy, known=known, allow_other_texts=lenient))
    return readings


def _candidate_kinds(sides: Sequence[Side], reference: int | None) -> list[Kind]:
    """The kinds to try, in this order; where none fits, the error of the last one is raised."""
    declared = [cells.kind for _, cells in sides if cells is not None]
    if declared:
        return declared[:1]
    if reference is not None:
        original_kind = kind_of(sides[reference][0].values.dtype)
        return [original_kind] if original_kind != "text" else [*_kinds_of_interval_texts(sides), "text"]
    column_kinds = [kind_of(column.values.dtype) for column, _ in sides if len(column.values)]
    typed = [kind for kind in dict.fromkeys(column_kinds) if kind != "text"]
    if "datetime" in typed and "date" in typed:
        typed.remove("date")
    return [*typed, *_kinds_of_interval_texts(sides), "text"]


def _kinds_of_interval_texts(sides: Sequence[Side]) -> list[Kind]:
    """The ordered kinds of which some text in a text column is an interval."""
    kinds: list[Kind] = []
    for kind in ("number", "date", "datetime"):
        for column, _ in sides:
            values = column.values
            if kind_of(values.dtype) != "text" or not len(values):
                continue
            marked = values.filter(values.str.contains(r"\.\.|^\s*[\[(<>]"))
            if any(parse_interval(text, kind) is not None for text in marked.to_list()):
                kinds.append(kind)
                break
    return kinds


def _ordered_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    """Atoms of an ordered kind. With n points on the axis, atom 2i + 1 is point i, atom 2i the gap before it and atom 2n the last
    gap; the atoms behind these are the texts that stand for themselves."""
    parsed = [{code: _spans(cell, reading.kind) for code, cell in reading.cells.items()} for reading in readings]
    bounds = exact_array(
        {bound for spans in parsed for runs, _ in spans.values() for run in runs for bound in run[:2] if bound is not None}
    )
    scaled = same_scale([*(reading.positions[reading.plain] for reading in readings), bounds])
    axis = np.unique(np.concatenate(scaled))
    atom_of_bound = {
        bound: 2 * int(index) + 1 for bound, index in zip(bounds.tolist(), np.searchsorted(axis, scaled[-1]), strict=True)
    }
    ends = 2 * len(axis) + 1
    other_texts = sorted({text for reading in readings for text in reading.other_texts.values()})
    atom_of_text = {text: ends + index for index, text in enumerate(other_texts)}
    number = ends + len(atom_of_text)
    atoms = []
    for reading, positions, spans in zip(readings, scaled, parsed, strict=False):
        builder = _AtomsBuilder(reading, number)
        codes = np.flatnonzero(reading.plain)
        builder.first[codes] = 2 * np.searchsorted(axis, positions) + 1
        builder.last[codes] = builder.first[codes] + 1
        for code, (runs, others) in spans.items():
            pieces = [
                (
                    0 if low is None else atom_of_bound[low] + (not low_in),
                    ends if high is None else atom_of_bound[high] + high_in,
                )
                for low, high, low_in, high_in in runs
            ]
            builder.put(code, pieces, others=others)
        for code, text in reading.other_texts.items():
            builder.put(code, [(atom_of_text[text], atom_of_text[text] + 1)])
        atoms.append(builder.build())
    return atoms


Span = tuple[Any, Any, bool, bool]


def _spans(cell: Cell, kind: Kind) -> tuple[list[Span], bool]:
    """A cell as intervals between positions (None: open), and whether it is the complement of these intervals."""
    if isinstance(cell, Interval):
        return [_span(cell)], False
    if isinstance(cell, Group):
        points = [position(value) for member in cell.members if (value := parse_value(member, kind)) is not None]
        spans = [(point, point, True, True) for point in points]
        return spans + [_span(part) for part in cell.parts if isinstance(part, Interval)], cell.others
    raise TypeError(f"{cell} is no cell of the kind {kind}")


def _span(interval: Interval) -> Span:
    low, high = (
        None if isinstance(bound, float) and np.isinf(bound) else position(bound) for bound in (interval.lower, interval.upper)
    )
    return low, high, interval.lower_inside, interval.upper_inside


def _text_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    """Atoms of texts, sorted by length and then alphabetically; a pattern's own atom comes before the texts that match it."""
    if not any(reading.cells for reading in readings):
        return _plain_atoms(readings)
    names: set[str] = set()
    patterns: set[Prefix] = set()
    for reading in readings:
        names.update(reading.texts.filter(reading.plain).to_list())
        for cell in reading.cells.values():
            if isinstance(cell, Prefix):
                patterns.add(cell)
            elif isinstance(cell, Group):
                names |= cell.members
                patterns |= {part for part in cell.parts if isinstance(part, Prefix)}
    keys = sorted({(len(name), name, True) for name in names} | {(pattern.length, pattern.prefix, False) for pattern in patterns})
    atom_of_key = {key: number for number, key in enumerate(keys)}
    atom_of_name = {name: number for number, (_, name, is_name) in enumerate(keys) if is_name}
    number = len(keys) + 1  # the last atom: all texts that no cell names
    runs = {pattern: (atom_of_key[pattern.length, pattern.prefix, False], _pattern_end(keys, pattern)) for pattern in patterns}
    atoms = []
    for reading in readings:
        builder = _AtomsBuilder(reading, number)
        codes = np.flatnonzero(reading.plain)
        texts = reading.texts.to_list()
        builder.first[codes] = [atom_of_name[texts[code]] for code in codes.tolist()]
        builder.last[codes] = builder.first[codes] + 1
        sets: dict[int, list[int]] = {}
        for code, cell in reading.cells.items():
            if isinstance(cell, Prefix):
                builder.put(code, [runs[cell]])
            elif isinstance(cell, Group) and cell.members and not cell.parts and not cell.others:
                sets[code] = [atom_of_name[name] for name in cell.members]
            elif isinstance(cell, Group):
                own = [(atom_of_name[name], atom_of_name[name] + 1) for name in cell.members]
                pieces = own + [runs[part] for part in cell.parts if isinstance(part, Prefix)]
                builder.put(code, pieces, others=cell.others)
        builder.put_sets(sets)
        atoms.append(builder.build())
    return atoms


def _plain_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    """Atoms of texts that are all plain values: one atom per text."""
    texts = pl.concat([reading.texts.filter(reading.plain).alias("text") for reading in readings])
    names = texts.unique().sort()
    codes = texts.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64) if len(texts) else np.zeros(0, dtype=np.int64)
    atoms, begin = [], 0
    for reading in readings:
        builder = _AtomsBuilder(reading, len(names) + 1)
        plain_codes = np.flatnonzero(reading.plain)
        builder.first[plain_codes] = codes[begin : begin + len(plain_codes)]
        builder.last[plain_codes] = builder.first[plain_codes] + 1
        begin += len(plain_codes)
        atoms.append(builder.build())
    return atoms


def _pattern_end(keys: list[tuple[int, str, bool]], pattern: Prefix) -> int:
    from bisect import bisect_left

    return bisect_left(keys, (pattern.length, pattern.prefix + _LAST, True))


class _AtomsBuilder:
    """Collects the arrays of one column's :class:`Atoms`."""

    def __init__(self, reading: Reading, number: int) -> None:
        size = len(reading.blank)
        self.number, self.blank = number, reading.blank
        self.first, self.last = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.lists: dict[int, NDArray[np.int64]] = {}

    def put(self, code: int, pieces: list[tuple[int, int]], *, others: bool = False) -> None:
        """Set the half-open runs of atoms of a code: stored as one run where they join, else as a list of atoms."""
        joined: list[list[int]] = []
        for low, high in sorted(piece for piece in pieces if piece[0] < piece[1]):
            if joined and low <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], high)
            else:
                joined.append([low, high])
        if others:
            edges = [0, *(edge for run in joined for edge in run), self.number]
            joined = [[low, high] for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high]
        if len(joined) == 1:
            self.first[code], self.last[code] = joined[0]
        else:
            runs = [np.arange(low, high, dtype=np.int64) for low, high in joined]
            self.lists[code] = np.concatenate(runs) if runs else np.zeros(0, dtype=np.int64)

    def put_sets(self, sets: Mapping[int, Sequence[int]]) -> None:
        """Set the distinct atoms of many codes, at least one of each: a column of groups may have thousands of labels."""
        sizes = np.array([len(atoms) for atoms in sets.values()], dtype=np.int64)
        owners = np.repeat(np.array(list(sets), dtype=np.int64), sizes)
        atoms = np.array([atom for own in sets.values() for atom in own], dtype=np.int64)
        order = np.lexsort((atoms, owners))
        atoms, codes = atoms[order], np.array(sorted(sets), dtype=np.int64)
        bounds = np.append(np.searchsorted(owners[order], codes), len(atoms))
        low, high = atoms[bounds[:-1]], atoms[bounds[1:] - 1] + 1
        is_run = high - low == np.diff(bounds)
        self.first[codes[is_run]], self.last[codes[is_run]] = low[is_run], high[is_run]
        for place in np.flatnonzero(~is_run).tolist():
            self.lists[int(codes[place])] = atoms[bounds[place] : bounds[place + 1]]

    def build(self) -> Atoms:
        sizes = np.zeros(len(self.blank), dtype=np.int64)
        for code, members in self.lists.items():
            sizes[code] = len(members)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        none = [np.zeros(0, dtype=np.int64)]
        members = np.concatenate([self.lists[code] for code in sorted(self.lists)] or none)
        return Atoms(self.number, self.blank, self.first, self.last, starts, members)
