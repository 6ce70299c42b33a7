"""CSV and TSV: text with a separator, read with types that the whole column agrees to.

Polars reads the file once with the types that a first look suggests; columns where a first look cannot tell (no
values yet, thousands marks, dates, leading zeros somewhere in the file) are looked through as text beforehand, and
where a value further down does not fit after all, every column is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from discreet.convert.files.missing_values import markers
from discreet.convert.files.normalise import Packing, printable
from discreet.convert.files.text_file import TextFile, open_text
from discreet.convert.files.value_types import BOOLEAN, INTEGER, TEXT, Candidates, Kind
from discreet.errors import SourceError
from discreet.model.policy import Policy

_FIRST_LOOK = 1000
_POINT, _COMMA = (".", ","), (",", ".")


def scan(path: Path, policy: Policy, separator: str | None = None) -> Iterator[pl.LazyFrame]:
    """The file as a lazy table: first the quick way; the next is for where that fails on a value further down."""
    file = open_text(path, policy.read, separator)
    for name in policy.read.text:
        if name not in file.names:
            raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    table = _Table(file, policy, _conventions(file, policy, path))
    table.look()
    yield table.typed()
    table.look_through([name for name in file.names if table.candidates.kinds[name] != [TEXT]])
    yield table.typed()


class _Table:
    """One text file, and what is known so far of the kinds of its columns."""

    def __init__(self, file: TextFile, policy: Policy, conventions: list[tuple[str, str]]) -> None:
        self.file, self.policy = file, policy
        self.candidates = Candidates.of(file.names, conventions)
        for name in policy.read.text:
            self.candidates.kinds[name] = [TEXT]
        self.own_markers = {name for name in file.names if set(markers(policy, name)) - set(policy.missing)}
        self.looked_through: set[str] = set()

    def look(self) -> None:
        """Settle what the first rows can settle, and look through the columns that they leave in doubt."""
        self.candidates.narrow(self._text(self.file.names).head(_FIRST_LOOK).collect())
        self.look_through([name for name in self.file.names if not self._is_clear(name)])

    def _is_clear(self, name: str) -> bool:
        kinds = self.candidates.kinds[name]
        if kinds == [TEXT]:
            return True  # a value that is nothing but text makes the column text, whatever comes after
        if self.file.survey.padded or name in self.own_markers or name not in self.candidates.seen:
            return False
        one_convention = len({kind.marks for kind in kinds if kind.marks}) <= 1
        return kinds[0] in (BOOLEAN, INTEGER) or (kinds[0].name == "number" and kinds[0].marks == "." and one_convention)

    def look_through(self, names: list[str]) -> None:
        """Hold every value of these columns against the kinds that are left."""
        todo = [name for name in names if name not in self.looked_through]
        if todo:
            for batch in self._text(todo).collect_batches():
                self.candidates.narrow(batch)
        self.looked_through.update(todo)

    def typed(self) -> pl.LazyFrame:
        """The table with the kinds as they are known now."""
        kinds = settled(self.candidates)
        direct = {
            name: kinds[name].dtype if name not in self.looked_through and name not in self.own_markers else pl.String
            for name in self.file.names
        }
        lazy = self._scan(direct)
        changes = [kinds[name].read(name) for name, dtype in direct.items() if dtype == pl.String and kinds[name] != TEXT]
        return self._without_own_markers(lazy, self.file.names).with_columns(changes)

    def _text(self, names: Mapping[str, object] | list[str] | tuple[str, ...]) -> pl.LazyFrame:
        lazy = self._scan(dict.fromkeys(self.file.names, pl.String)).select(list(names))
        return self._without_own_markers(lazy, names)

    def _without_own_markers(self, lazy: pl.LazyFrame, names: object) -> pl.LazyFrame:
        own = self.own_markers.intersection(names)  # type: ignore[arg-type]
        return lazy.with_columns(
            pl.when(~pl.col(name).is_in(markers(self.policy, name))).then(pl.col(name)).alias(name) for name in sorted(own)
        )

    def _scan(self, schema: Mapping[str, object]) -> pl.LazyFrame:
        return pl.scan_csv(
            self.file.content,
            separator=self.file.separator,
            has_header=False,
            skip_rows=1,
            schema=schema,  # type: ignore[arg-type]
            missing_columns="insert",
            null_values=list(self.policy.missing) or None,
            glob=False,
        )


def settled(candidates: Candidates) -> dict[str, Kind]:
    """The kind of each column; where some column can only be read with a decimal comma, the comma goes first in all."""
    comma = any(_only(kinds, ",") for name, kinds in candidates.kinds.items() if name in candidates.seen)
    made = {}
    for name, kinds in candidates.kinds.items():
        without_point = [kind for kind in kinds if kind.marks != "."]
        turned = comma and name in candidates.seen and without_point[0] != TEXT
        made[name] = without_point[0] if turned else candidates.first(name)
    return made


def _only(kinds: list[Kind], mark: str) -> bool:
    marks = {kind.marks for kind in kinds if kind.marks}
    return marks == {mark} and INTEGER not in kinds


def _conventions(file: TextFile, policy: Policy, path: Path) -> list[tuple[str, str]]:
    """The decimal and thousands marks to try: those of the policy, or the point, or both where no comma separates."""
    decimal, thousands = policy.read.decimal, policy.read.thousands
    if decimal is not None and decimal == thousands:
        raise SourceError(f"{path}: the policy's read.decimal and read.thousands are both '{decimal}'")
    if decimal is not None:
        return [(decimal, thousands or ("," if decimal == "." else "."))]
    if thousands is not None:
        return [("," if thousands == "." else ".", thousands)]
    return [_POINT] if file.separator == "," else [_POINT, _COMMA]


def sink(lazy: pl.LazyFrame, path: Path, separator: str = ",", compression: Packing = "uncompressed") -> None:
    """Write as CSV: UTF-8, a comma, quotes where needed; a missing value is empty, an empty text is quoted."""
    schema = lazy.collect_schema()
    lazy.with_columns(printable(schema)).sink_csv(
        path,
        separator=separator,
        quote_style="necessary",
        compression=compression,
        check_extension=False,
    )


def count(path: Path) -> int:
    """The records in a file that ``sink`` wrote."""
    return int(pl.scan_csv(path, has_header=False, skip_rows=1, glob=False, infer_schema=False).select(pl.len()).collect().item())
