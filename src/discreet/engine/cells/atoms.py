"""Cells as sets of atoms of one domain: the meaning on which agreement and containment are decided.

For numbers, dates and times the end points and values of all cells that are compared, in order, cut the axis into atoms: each
point, and each gap between two of them. For texts the atoms are the texts by length and alphabet, so that a prefix
pattern is a run, and one more atom for all texts that nobody names. Two cells agree where they share an atom: where some
value could be behind both. (On the real line: cells of whole numbers that only share a gap between them agree as well.)
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """For every code of a column the atoms that its cell stands for.

    ``number``  atoms in the domain
    ``blank``   [codes] null or ``*``: agrees with everything (a null under ``missing: category`` is the caller's matter)
    ``first``, ``last``   [codes] half-open run of atoms where the cell is one run; first == last: see members
    ``starts``, ``members``   [codes + 1] offsets into the sorted atoms of cells that are no run
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
        """Which codes stand for one atom: plain values."""
        return np.asarray(~self.blank & (self.last - self.first == 1))


def shared_atoms(
    sides: Sequence[Side],
    *,
    hierarchy: Hierarchy | None = None,
    reference: int | None = None,
    strict: bool = True,
) -> list[Atoms]:
    """The atoms of columns that are compared with each other.

    ``reference`` is the side that holds original values: they are values, whatever they look like. In a text column they
    are, where ``strict``, all the values there are: another text in a column that nothing declares is an error. (The verbs
    check whole tables for that with :func:`discreet.assessment.unexplained_labels.check_explained`.)

    >>> import polars as pl
    >>> from discreet.engine.encoding.columns import encode_series
    >>> true, said = encode_series(pl.Series("age", [23, 47])), encode_series(pl.Series("age", ["20..30", "47"]))
    >>> one, other = shared_atoms([(true, None), (said, None)], reference=0)
    >>> agree(one, other)
    (array([0, 1, 2]), array([0, 1]))
    """
    return atoms_of(read_sides(sides, hierarchy=hierarchy, reference=reference, strict=strict))


def atoms_of(readings: Sequence[Reading]) -> list[Atoms]:
    """The atoms of columns that were read as one kind."""
    return _text_atoms(readings) if readings[0].kind == "text" else _ordered_atoms(readings)


def read_sides(
    sides: Sequence[Side], *, hierarchy: Hierarchy | None = None, reference: int | None = None, strict: bool = False
) -> list[Reading]:
    """The readings of columns that are compared, all of one kind; see :func:`shared_atoms`."""
    kinds = _candidates(sides, reference)
    for kind in kinds[:-1]:
        try:
            return _read_as(kind, sides, hierarchy, reference, strict)
        except UnexplainedCellError:
            continue
    return _read_as(kinds[-1], sides, hierarchy, reference, strict)


def _read_as(
    kind: Kind, sides: Sequence[Side], hierarchy: Hierarchy | None, reference: int | None, strict: bool
) -> list[Reading]:
    """Both sides as one kind. Words in a column of numbers or dates are values of their own where nothing speaks against it."""
    true = sides[reference][0].values if reference is not None else None
    known = None
    if true is not None and kind_of(true.dtype) == "text" and len(true) and (strict or kind != "text"):
        known = frozenset(printed_texts(true).to_list())
    made = []
    for at, (column, cells) in enumerate(sides):
        if at == reference and cells is None:
            made.append(read_column(column, kind, ColumnCells(kind="text") if kind == "text" else None, words=True))
        else:
            words = cells is None and reference is None
            made.append(read_column(column, kind, cells, hierarchy, known=known, words=words))
    return made


def _candidates(sides: Sequence[Side], reference: int | None) -> list[Kind]:
    """The kinds that the columns may be of, to be tried in this order; the last one's error is the one that is raised."""
    declared = [cells.kind for _, cells in sides if cells is not None]
    if declared:
        return declared[:1]
    if reference is not None:
        true = kind_of(sides[reference][0].values.dtype)
        return [true] if true != "text" else [*_as_written(sides), "text"]
    own = [kind_of(column.values.dtype) for column, _ in sides if len(column.values)]
    typed = [kind for kind in dict.fromkeys(own) if kind != "text"]
    if "datetime" in typed and "date" in typed:
        typed.remove("date")
    return [*typed, *_as_written(sides), "text"]


def _as_written(sides: Sequence[Side]) -> list[Kind]:
    """Kinds that columns of text may be of, because some text is an interval of them."""
    found: list[Kind] = []
    for kind in ("number", "date", "datetime"):
        for column, _ in sides:
            values = column.values
            if kind_of(values.dtype) != "text" or not len(values):
                continue
            marked = values.filter(values.str.contains(r"\.\.|^\s*[\[(<>]"))
            if any(parse_interval(text, kind) is not None for text in marked.to_list()):
                found.append(kind)
                break
    return found


def _ordered_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    parsed = [{code: _spans(cell, reading.kind) for code, cell in reading.cells.items()} for reading in readings]
    bounds = exact_array(
        {bound for spans in parsed for runs, _ in spans.values() for run in runs for bound in run[:2] if bound is not None}
    )
    scaled = same_scale([*(reading.places[reading.plain] for reading in readings), bounds])
    axis = np.unique(np.concatenate(scaled)) if any(len(part) for part in scaled) else np.zeros(0)
    place = {bound: 2 * int(at) + 1 for bound, at in zip(bounds.tolist(), np.searchsorted(axis, scaled[-1]), strict=True)}
    ends = 2 * len(axis) + 1
    words = {word: ends + at for at, word in enumerate(sorted({word for one in readings for word in one.words.values()}))}
    number = ends + len(words)
    made = []
    for reading, places, spans in zip(readings, scaled, parsed, strict=False):
        builder = _Builder(reading, number)
        codes = np.flatnonzero(reading.plain)
        builder.first[codes] = 2 * np.searchsorted(axis, places) + 1
        builder.last[codes] = builder.first[codes] + 1
        for code, (runs, others) in spans.items():
            pieces = [
                (
                    0 if low is None else place[low] + (not low_in),
                    ends if high is None else place[high] + high_in,
                )
                for low, high, low_in, high_in in runs
            ]
            builder.put(code, pieces, others=others)
        for code, word in reading.words.items():
            builder.put(code, [(words[word], words[word] + 1)])
        made.append(builder.build())
    return made


Span = tuple[Any, Any, bool, bool]


def _spans(cell: Cell, kind: Kind) -> tuple[list[Span], bool]:
    """A cell as intervals between positions (None: open), and whether it is everything but them."""
    if isinstance(cell, Interval):
        return [_span(cell)], False
    if isinstance(cell, Group):
        points = [position(value) for member in cell.members if (value := parse_value(member, kind)) is not None]
        found = [(point, point, True, True) for point in points]
        return found + [_span(part) for part in cell.parts if isinstance(part, Interval)], cell.others
    raise TypeError(f"{cell} is no cell of the kind {kind}")


def _span(interval: Interval) -> Span:
    low, high = (
        None if isinstance(bound, float) and np.isinf(bound) else position(bound) for bound in (interval.lower, interval.upper)
    )
    return low, high, interval.lower_inside, interval.upper_inside


def _text_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    """Texts sorted by length, then alphabet; a pattern's own atom stands before the texts that it holds."""
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
    keys = sorted({(len(name), name, True) for name in names} | {(one.length, one.prefix, False) for one in patterns})
    at = {key: number for number, key in enumerate(keys)}
    number = len(keys) + 1  # the last atom: texts that nobody names
    runs = {one: (at[one.length, one.prefix, False], _behind(keys, one)) for one in patterns}
    made = []
    for reading in readings:
        builder = _Builder(reading, number)
        codes = np.flatnonzero(reading.plain)
        texts = reading.texts.to_list()
        builder.first[codes] = [at[len(texts[code]), texts[code], True] for code in codes.tolist()]
        builder.last[codes] = builder.first[codes] + 1
        for code, cell in reading.cells.items():
            if isinstance(cell, Prefix):
                builder.put(code, [runs[cell]])
            elif isinstance(cell, Group):
                own = [at[len(name), name, True] for name in cell.members]
                pieces = [(atom, atom + 1) for atom in own] + [runs[part] for part in cell.parts if isinstance(part, Prefix)]
                builder.put(code, pieces, others=cell.others)
        made.append(builder.build())
    return made


def _plain_atoms(readings: Sequence[Reading]) -> list[Atoms]:
    """Texts that are all values: an atom each."""
    texts = pl.concat([reading.texts.filter(reading.plain).alias("text") for reading in readings])
    names = texts.unique().sort()
    codes = texts.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64) if len(texts) else np.zeros(0, dtype=np.int64)
    made, begin = [], 0
    for reading in readings:
        builder = _Builder(reading, len(names) + 1)
        own = np.flatnonzero(reading.plain)
        builder.first[own] = codes[begin : begin + len(own)]
        builder.last[own] = builder.first[own] + 1
        begin += len(own)
        made.append(builder.build())
    return made


def _behind(keys: list[tuple[int, str, bool]], one: Prefix) -> int:
    from bisect import bisect_left

    return bisect_left(keys, (one.length, one.prefix + _LAST, True))


class _Builder:
    """The arrays of one column on their way."""

    def __init__(self, reading: Reading, number: int) -> None:
        size = len(reading.blank)
        self.number, self.blank = number, reading.blank
        self.first, self.last = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.lists: dict[int, NDArray[np.int64]] = {}

    def put(self, code: int, pieces: list[tuple[int, int]], *, others: bool = False) -> None:
        """Half-open runs of atoms as what a code stands for: one run where they join, else a list."""
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

    def build(self) -> Atoms:
        sizes = np.zeros(len(self.blank), dtype=np.int64)
        for code, members in self.lists.items():
            sizes[code] = len(members)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        none = [np.zeros(0, dtype=np.int64)]
        members = np.concatenate([self.lists[code] for code in sorted(self.lists)] or none)
        self.first[self.blank] = self.last[self.blank] = 0
        return Atoms(self.number, self.blank, self.first, self.last, starts, members)


def agree(one: Atoms, other: Atoms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each code of one column the codes of the other that share an atom with it, as offsets and codes in order.

    Blank codes agree with everything and are left out on both sides. Single values are joined by sorting; each cell
    that is more than a value costs a pass over the codes of the other side.
    """
    pairs = [_by_runs(one, other)]
    pairs += [_codes_at(other, one.of(code), code) for code in np.flatnonzero(np.diff(one.starts)).tolist()]
    lists = np.flatnonzero(np.diff(other.starts)).tolist()
    pairs += [_codes_at(one, other.of(code), code)[::-1] for code in lists]
    width = max(len(other.blank), 1)
    keys = np.unique(np.concatenate([left * width + right for left, right in pairs]))
    starts = np.searchsorted(keys, np.arange(len(one.blank) + 1) * width)
    return starts.astype(np.int64), keys % width


Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _by_runs(one: Atoms, other: Atoms) -> Pairs:
    """Pairs of codes whose runs overlap."""
    single = np.flatnonzero(other.is_single)
    order = single[np.argsort(other.first[single], kind="stable")]
    held = other.first[order]
    low, high = np.searchsorted(held, one.first), np.searchsorted(held, one.last)
    counts = np.maximum(high - low, 0)
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    left = [np.repeat(np.arange(len(counts)), counts)]
    right = [order[np.repeat(low, counts) + steps]]
    wide = np.flatnonzero(other.last - other.first > 1)
    for code in wide.tolist():
        inside = np.flatnonzero((one.first < other.last[code]) & (one.last > other.first[code]) & (one.first < one.last))
        left.append(inside)
        right.append(np.full(len(inside), code, dtype=np.int64))
    return np.concatenate(left).astype(np.int64), np.concatenate(right).astype(np.int64)


def _codes_at(column: Atoms, atoms: NDArray[np.int64], code: int) -> Pairs:
    """The code beside every code of a column that holds one of some sorted atoms."""
    found = np.searchsorted(atoms, column.first) < np.searchsorted(atoms, column.last)
    listed = np.isin(column.members, atoms)
    found[np.repeat(np.arange(len(column.blank)), np.diff(column.starts))[listed]] = True
    inside = np.flatnonzero(found & ~column.blank)
    return np.full(len(inside), code, dtype=np.int64), inside
