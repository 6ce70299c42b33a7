"""Writing by Spark: a folder of files, or a table of a catalog; whole, or not at all."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import quote
from discreet.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

_WRITERS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".orc": "orc"}


def write_frame(
    frame: DataFrame, target: str, source: str, *, private: bool = False, formulas: str = "", overwrite: bool = True
) -> None:
    """Write a frame: to ``spark://…#table`` or ``sc://…#table``, or to a folder whose suffix says the format.

    A ``private`` folder of this machine is its owner's alone; the rights of a table or of a distant store are the store's.
    In CSV, texts and names that match ``formulas`` get an apostrophe, so that no spreadsheet runs them. Without ``overwrite``
    an existing folder or table is refused.
    """
    if not frame.columns:
        raise SourceError(f"{source}: has no columns left, so there is nothing to write")
    scheme, mark, _ = target.partition("://")
    if mark and scheme in ("spark", "sc"):
        base, _, table = target.rpartition("#")
        if not base or not table:
            raise SourceError(f"{target}: names no table; put it behind #, such as {target}#release")
        with translate_errors(target, "cannot be written"):
            if not overwrite and frame.sparkSession.catalog.tableExists(table):
                raise _exists_already(target)
            frame.write.mode("overwrite").saveAsTable(table)
        return
    path = Path(target).expanduser()
    form = _WRITERS.get(path.suffix.lower())
    if form is None:
        raise SourceError(f"{target}: '{path.suffix}' is not a format that Spark writes; known formats: {', '.join(_WRITERS)}")
    if form == "csv" and formulas:
        frame = _escape_formulas(frame, formulas)
    if mark:
        with translate_errors(target, "cannot be written"):
            _writer(frame, form).mode("overwrite" if overwrite else "errorifexists").save(target)
        return
    if not path.absolute().parent.is_dir():
        raise SourceError(f"{target}: there is no folder {path.parent}")
    if not overwrite and path.exists():
        raise _exists_already(target)
    _replace(frame, form, path, private=private)


def _exists_already(target: str) -> SourceError:
    return SourceError(f"{target} exists; add --overwrite to replace it")


def _replace(frame: DataFrame, form: str, path: Path, *, private: bool) -> None:
    """Write beside the target, and replace it when everything is written."""
    temporary = path.absolute().with_name(f".{path.name}.writing")
    shutil.rmtree(temporary, ignore_errors=True)
    holder = temporary
    try:
        with translate_errors(str(path), "cannot be written"):
            if private:  # Spark ignores permissions, so the files are written into a private folder
                holder.mkdir(mode=0o700)
                temporary = holder / path.name
            _writer(frame, form).save(str(temporary))
        for file in temporary.iterdir():  # checksums and markers, which other readers take for data
            if file.name.startswith((".", "_")):
                file.unlink()
            elif private:
                file.chmod(0o600)
        if private:
            temporary.chmod(0o700)
        _swap(temporary, path)
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def _swap(new: Path, path: Path) -> None:
    """Replace a file or folder by a new folder; if it is interrupted, the old one stays whole beside it."""
    old = path.absolute().with_name(f".{path.name}.replaced")
    there = path.exists() or path.is_symlink()
    if there:
        _remove(old)
        path.rename(old)
    try:
        new.rename(path)
    except OSError:
        if there:
            old.rename(path)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _writer(frame: DataFrame, form: str) -> DataFrameWriter:
    writer = frame.write.format(form)
    return writer.option("header", "true") if form == "csv" else writer


def _escape_formulas(frame: DataFrame, formulas: str) -> DataFrame:
    from pyspark.sql import functions as f

    runs = re.compile(formulas, re.DOTALL)
    columns = []
    for field in frame.schema.fields:
        column = f.col(quote(field.name))
        if field.dataType.typeName() == "string":
            # U: as on the local engine, whitespace of any script counts
            column = f.when(column.rlike(f"(?sU){formulas}"), f.concat(f.lit("'"), column)).otherwise(column)
        columns.append(column.alias(f"'{field.name}" if runs.match(field.name) else field.name))
    return frame.select(columns)
