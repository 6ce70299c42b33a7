"""CSV and TSV files; the type of a column is one that all of its values fit.

Polars reads the file with the types inferred from the first rows. Columns whose type the first rows do not determine (no
values yet, thousands separators, dates, leading zeros somewhere in the file) are first scanned completely as text. If a
value further down does not fit after all, every column is scanned completely and the file is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from discreet.convert.files.arrow_csv import read_with_arrow
from discreet.convert.files.missing_values import missing_markers, table_markers
from discreet.convert.files.normalise import Compression, durations_as_text
from discreet.convert.files.reading_notes import Choice, add_note, record_choice
from discreet.convert.files.text_file import TextFile, open_text
from discreet.convert.files.value_types import BOOLEAN, INTEGER, TEXT, Candidates, ValueType
from discreet.errors import SourceError
from discreet.model.policy import Policy

_FIRST_ROWS = 1000
_DECIMAL_POINT, _DECIMAL_COMMA = (".", ","), (",", ".")


def scan(path: Path, policy: Policy, separator: str | None = None) -> Iterator[pl.LazyFrame]:
    """Yield the file as a lazy table with types from the first rows, then, for the case that this fails, from all rows."""
    file = open_text(path, policy.read, separator)
    for name in policy.read.text:
        if name not in file.names:
            raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    table = _TypedTextFile(file, policy, _number_conventions(file, policy, path))
    try:
        table.infer_from_first_rows()
        yield table.typed()
        table.infer_from_all_rows([name for name in file.names if table.candidates.types[name] != [TEXT]])
        yield table.typed()
    except pl.exceptions.PolarsError:
        pass
    strict = _TypedTextFile(read_with_arrow(path, file), policy, _number_conventions(file, policy, path))
    strict.infer_from_all_rows(list(file.names))
    add_note("the file has quotation marks inside fields: it was read by PyArrow's reader, which takes them as they are")
    yield strict.typed()


class _TypedTextFile:
    """A text file and the column types that are still possible."""

    def __init__(self, file: TextFile, policy: Policy, conventions: list[tuple[str, str]]) -> None:
        self.file, self.policy = file, policy
        self.candidates = Candidates.of(file.names, conventions)
        for name in policy.read.text:
            self.candidates.types[name] = [TEXT]
        for name in policy.read.dates:  # digits alone, such as 19700131, would be read as a number
            if name in self.candidates.types:
                self.candidates.types[name] = [TEXT]
        self.own_markers = {name for name in file.names if set(missing_markers(policy, name)) - set(table_markers(policy))}
        self.scanned: set[str] = set()

    def infer_from_first_rows(self) -> None:
        """Infer types from the first rows, and scan completely the columns for which they are not enough."""
        self.candidates.narrow(self._text(self.file.names).head(_FIRST_ROWS).collect())
        self.infer_from_all_rows([name for name in self.file.names if not self._first_rows_suffice(name)])

    def _first_rows_suffice(self, name: str) -> bool:
        types = self.candidates.types[name]
        if types == [TEXT]:
            return True  # one value that can only be text makes the column text, whatever follows
        if self.file.scan.padded_numbers or name in self.own_markers or name not in self.candidates.with_values:
            return False
        one_convention = len({value_type.decimal_mark for value_type in types if value_type.decimal_mark}) <= 1
        return types[0] in (BOOLEAN, INTEGER) or (types[0].name == "number" and types[0].decimal_mark == "." and one_convention)

    def infer_from_all_rows(self, names: list[str]) -> None:
        """Narrow the possible types of these columns with all of their values."""
        unscanned = [name for name in names if name not in self.scanned]
        if unscanned:
            for batch in self._text(unscanned).collect_batches():
                self.candidates.narrow(batch)
        self.scanned.update(unscanned)

    def typed(self) -> pl.LazyFrame:
        """The table with the narrowest types that are still possible."""
        types = decide_types(self.candidates)
        self._record_decimal_mark(types)
        dtypes = {
            name: types[name].dtype
            if not isinstance(self.file.content, pl.DataFrame) and name not in self.scanned and name not in self.own_markers
            else pl.String
            for name in self.file.names
        }
        lazy = self._scan(dtypes)
        conversions = [
            types[name].parse_column(name) for name, dtype in dtypes.items() if dtype == pl.String and types[name] != TEXT
        ]
        return self._without_own_markers(lazy, self.file.names).with_columns(conversions)

    def _record_decimal_mark(self, types: Mapping[str, ValueType]) -> None:
        given = self.policy.read.decimal
        columns = [name for name, value_type in types.items() if value_type.decimal_mark == ","]
        if given is not None:
            reason = "set in the options"
        elif columns:
            reason = f"the values of '{columns[0]}' are numbers only with a decimal comma"
        else:
            reason = "no column needs a decimal comma"
        record_choice(Choice("decimal", given or ("," if columns else "."), reason, given=given is not None))

    def _text(self, names: Mapping[str, object] | list[str] | tuple[str, ...]) -> pl.LazyFrame:
        lazy = self._scan(dict.fromkeys(self.file.names, pl.String)).select(list(names))
        return self._without_own_markers(lazy, names)

    def _without_own_markers(self, lazy: pl.LazyFrame, names: object) -> pl.LazyFrame:
        marked = self.own_markers.intersection(names)  # type: ignore[arg-type]
        return lazy.with_columns(
            pl.when(~pl.col(name).is_in(missing_markers(self.policy, name))).then(pl.col(name)).alias(name)
            for name in sorted(marked)
        )

    def _scan(self, schema: Mapping[str, object]) -> pl.LazyFrame:
        if isinstance(self.file.content, pl.DataFrame):
            return self.file.content.lazy()
        return pl.scan_csv(
            self.file.content,
            separator=self.file.separator,
            has_header=False,
            skip_rows=self.file.first_row,
            schema=schema,  # type: ignore[arg-type]
            missing_columns="insert",
            null_values=list(table_markers(self.policy)) or None,
            glob=False,
        )


def decide_types(candidates: Candidates) -> dict[str, ValueType]:
    """The type of each column; if some column can only be read with a decimal comma, the comma is preferred in all."""
    use_comma = any(
        _requires_decimal_mark(types, ",") for name, types in candidates.types.items() if name in candidates.with_values
    )
    result = {}
    for name, types in candidates.types.items():
        without_point = [value_type for value_type in types if value_type.decimal_mark != "."]
        switch = use_comma and name in candidates.with_values and without_point[0] != TEXT
        result[name] = without_point[0] if switch else candidates.narrowest(name)
    return result


def _requires_decimal_mark(types: list[ValueType], mark: str) -> bool:
    marks = {value_type.decimal_mark for value_type in types if value_type.decimal_mark}
    return marks == {mark} and INTEGER not in types


def _number_conventions(file: TextFile, policy: Policy, path: Path) -> list[tuple[str, str]]:
    """Pairs of decimal mark and thousands separator to try.

    Those of the policy if it names any; otherwise the decimal point, and also the comma unless it separates the fields.
    """
    decimal, thousands = policy.read.decimal, policy.read.thousands
    if decimal is not None and decimal == thousands:
        raise SourceError(f"{path}: the policy's read.decimal and read.thousands are both '{decimal}'")
    if decimal is not None:
        return [(decimal, thousands or ("," if decimal == "." else "."))]
    if thousands is not None:
        return [("," if thousands == "." else ".", thousands)]
    return [_DECIMAL_POINT] if file.separator == "," else [_DECIMAL_POINT, _DECIMAL_COMMA]


def sink(lazy: pl.LazyFrame, path: Path, separator: str = ",", compression: Compression = "uncompressed") -> None:
    """Write CSV: UTF-8, quotes where needed; a missing value is an empty field, an empty text is a quoted one."""
    schema = lazy.collect_schema()
    lazy.with_columns(durations_as_text(schema)).sink_csv(
        path,
        separator=separator,
        quote_style="necessary",
        compression=compression,
        check_extension=False,
    )


def count(path: Path) -> int:
    """Number of records in a file that ``sink`` wrote."""
    return int(pl.scan_csv(path, has_header=False, skip_rows=1, glob=False, infer_schema=False).select(pl.len()).collect().item())
