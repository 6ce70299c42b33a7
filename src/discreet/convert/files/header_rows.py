"""Where a table begins and ends in a sheet or a text file: titles above the column names, several rows of them, totals below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from discreet.convert.files.reading_notes import Choice, record_choice
from discreet.model.sections.reading import Reading

EXAMINED_ROWS = 60
_MOST_TITLES, _MOST_HEADER_ROWS = 20, 3
_LEAST_WIDTH = 3
"""Only tables of at least this many columns show by their rows where they begin."""
_TITLE_SHARE = 0.5
_TOTAL = re.compile(
    r"\W*(?:grand |sub)?(?:totals?|sum|summe|gesamt|insgesamt|gesamtsumme|totaal|totale|suma|somme|summa)\b(?! [a-z]{3})",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(
    r"\W*(?:source|note|notes|quelle|anmerkung|fuente|remark|legend|footnote|\*|\(?\d\)|as of|stand)\b", re.IGNORECASE
)
_MISSING = frozenset({"na", "n/a", "nan", "null", "none", "missing"})
_NUMBER = re.compile(r"[-+]?[$€£]?\s*\d[\d,.' ]*%?")

Cells = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class TableRows:
    """The number of rows above the column names, and of the rows that hold them."""

    skip: int
    header: int

    def describe(self) -> str | None:
        """The sentence that says where the column names were taken from; None where it is the first row."""
        if self.skip == 0 and self.header == 1:
            return None
        rows = f"row {self.skip + 1}" if self.header == 1 else f"rows {self.skip + 1} to {self.skip + self.header}"
        above = f"; {self.skip} row{'s' if self.skip != 1 else ''} above left out" if self.skip else ""
        return f"the column names were taken from {rows}{above} (read: {{skip: {self.skip}, header: {self.header}}})"


def record_place(place: TableRows, reading: Reading) -> None:
    """Record where the column names were taken from, and why."""
    titles = "the first row holds" if place.skip == 1 else f"the first {place.skip} rows hold"
    above = f"{titles} a title, not the table" if place.skip else "the first row is as wide as the table"
    under = "the row below holds values" if place.header == 1 else "cells of the first row of names are merged or empty"
    for option, value, reason, given in (
        ("skip", place.skip, above, reading.skip is not None),
        ("header", place.header, under, reading.header is not None),
    ):
        record_choice(Choice(option, str(value), "set in the options" if given else reason, given))


def locate_header(rows: Sequence[Cells], reading: Reading) -> TableRows:
    """Where the column names are: as the policy says, else by the rows.

    >>> locate_header([["Survey 2020", "", ""], ["id", "age", "sex"], ["1", "44", "f"], ["2", "31", "m"]], Reading())
    TableRows(skip=1, header=1)
    """
    skip = reading.skip if reading.skip is not None else _count_titles(rows)
    header = reading.header if reading.header is not None else _count_header_rows(rows[skip:])
    return TableRows(skip, header)


def _filled(row: Cells) -> int:
    return sum(1 for cell in row if cell is not None and str(cell).strip())


def _count_titles(rows: Sequence[Cells]) -> int:
    """Leading rows with hardly a cell filled, above a row that is as wide as the table."""
    widths = sorted(_filled(row) for row in rows[1:EXAMINED_ROWS])
    width = widths[len(widths) * 3 // 4] if widths else 0
    if width < _LEAST_WIDTH:
        return 0
    titles = 0
    for row in rows[:_MOST_TITLES]:
        if _filled(row) > max(1, _TITLE_SHARE * width) or (_filled(row) > 1 and _looks_like_names(row)):
            break
        titles += 1
    titles += _count_wide_titles(rows[titles:], width)
    return titles if titles < min(len(rows), _MOST_TITLES) else 0


def _count_wide_titles(rows: Sequence[Cells], width: int) -> int:
    """Rows of a title that holds separators: nearly empty rows stand between it and a full row of names above numbers."""
    narrow = 0
    for position, row in enumerate(rows[1:_MOST_TITLES], 1):
        if _filled(row) <= 1:
            narrow += 1
        elif narrow and _filled(row) >= width and _stands_above_numbers(row, rows[position + 1 : position + 21]):
            return position
        else:
            return 0
    return 0


def _stands_above_numbers(row: Cells, below: Sequence[Cells]) -> bool:
    """Whether some cell of a row is a word above nothing but numbers, at least two: a name, whatever the other cells are."""
    for position, cell in enumerate(row):
        text = str(cell or "").strip()
        if len(text) < 2 or not text[0].isalpha() or text.lower() in _MISSING:
            continue
        column = [str(other[position] or "").strip() for other in below if position < len(other)]
        numbers = [value for value in column if value and not _TOTAL.match(value) and not _FOOTNOTE.match(value)]
        if len(numbers) >= 2 and all(_NUMBER.fullmatch(value) for value in numbers):
            return True
    return False


def _looks_like_names(row: Cells) -> bool:
    """Whether the filled cells could be names of columns: text, not numbers."""
    texts = [str(cell).strip() for cell in row if cell is not None and str(cell).strip()]
    return bool(texts) and not any(_NUMBER.fullmatch(text) for text in texts)


def _count_header_rows(rows: Sequence[Cells]) -> int:
    """One, or more where the first row leaves cells empty (merged) and the rows below still hold names above numbers."""
    if len(rows) < 3 or not _has_merged_cells(rows[0]):
        return 1
    for count in range(2, min(_MOST_HEADER_ROWS, len(rows) - 1) + 1):
        last, below = rows[count - 1], rows[count : count + 20]
        if not _looks_like_names(last) and not _stands_above_numbers(last, below):
            return 1
        numeric = [
            position
            for position, cell in enumerate(last)
            if cell and any(position < len(row) and _NUMBER.fullmatch(str(row[position] or "").strip()) for row in below)
        ]
        complete = _filled(last) >= _filled(rows[0]) and len(numeric) >= 1
        if complete and not _has_merged_cells(last):
            return count
        if (
            complete
            and _filled(last) > _filled(rows[0])
            and all(str(rows[0][i] or "").strip() for i in range(len(last)) if not last[i])
        ):
            return count
    return 1


def _has_merged_cells(row: Cells) -> bool:
    """Whether a filled cell is followed by empty ones, as a merged cell is stored."""
    filled = [bool(cell is not None and str(cell).strip()) for cell in row]
    return any(filled[:-1]) and any(before and not after for before, after in pairwise(filled))


def join_header(rows: Sequence[Cells]) -> list[str]:
    """The names of several rows of column names: a merged cell stands for all columns under it.

    >>> join_header([["id", "Visit 1", None, "Visit 2", None], [None, "date", "weight", "date", "weight"]])
    ['id', 'Visit 1 date', 'Visit 1 weight', 'Visit 2 date', 'Visit 2 weight']
    """
    width = max((len(row) for row in rows), default=0)
    parts: list[list[str]] = [[] for _ in range(width)]
    for number, row in enumerate(rows):
        last = ""
        for position in range(width):
            text = str(row[position]).strip() if position < len(row) and row[position] is not None else ""
            if text:
                last = text
            elif number < len(rows) - 1:
                below = rows[number + 1][position] if position < len(rows[number + 1]) else None
                text = last if below is not None and str(below).strip() else ""
            if text:
                parts[position].append(text)
    return [" ".join(dict.fromkeys(part)) for part in parts]


def count_trailing_rows(rows: Sequence[Cells], width: int) -> int:
    """How many of the last rows are totals or footnotes: a total names itself, a footnote fills one cell and is a sentence."""
    if width < _LEAST_WIDTH:
        return 0
    trailing = 0
    for number, row in enumerate(reversed(rows), 1):
        texts = [str(cell).strip() for cell in row if cell is not None and str(cell).strip()]
        if not texts:
            continue  # blank rows count only above a total or a note
        alone = len(texts) == 1 and bool(str(row[0] or "").strip())
        is_note = alone and (len(row) == 1 or _FOOTNOTE.match(texts[0]) is not None)
        numbers = [text for text in texts[1:] if _NUMBER.fullmatch(text)]
        is_total = _TOTAL.match(texts[0]) is not None and len(numbers) == len(texts) - 1 >= 1
        if not is_note and not is_total:
            break
        trailing = number
    return trailing if trailing < len(rows) else 0
