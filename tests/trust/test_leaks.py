"""Nothing of the originals is in a release: the bytes of every format are searched for what was planted.

Planted are a name, a person id, a value of a record that sampling removes, a category that recoding merges away, a
number that top coding cuts off, a label of a code that no longer occurs, and the path and order of the source.
"""

from __future__ import annotations

import gzip
import sqlite3
import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.convert import read_source, write_target
from discreet.convert.files.cells_file import cells_path
from discreet.convert.files.formats import FORMATS, READ_ONLY
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

ROWS = 400
WORDS = ("Quetzalcoatl", "person-77415", "Ouagadougou", "only-once-said", "the mayor of the town", "whereitwas")
NUMBER = 987_654_321
WRITABLE = [suffix for suffix in FORMATS if suffix not in READ_ONLY]
POLICY = {
    "attributes": {
        "name": {"role": "identifier"}, "patient": {"role": "person"}, "town": {"role": "key"},
        "income": {"role": "confidential"}, "note": {"role": "other"}, "job": {"role": "key"},
    },
    "plan": {
        "seed": 20_250_101,
        "steps": [
            {"method": "remove_identifiers"},
            {"method": "global_recoding", "columns": ["town"], "groups": {"elsewhere": ["Ouagadougou", "Rome"]}},
            {"method": "top_bottom_coding", "columns": ["income"], "top": 1300},
            {"method": "sampling", "fraction": 0.5},
        ],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with all that is planted, as SPSS holds it: with labels, in a folder that has a name."""
    folder = tmp_path_factory.mktemp("whereitwas")
    path = folder / "original.sav"
    labels = {"job": {0: "nurse", 1: "baker", 2: "smith", 9: "the mayor of the town"}}
    for gone in range(10, ROWS):  # which records a sample leaves out depends on the table itself
        frame = _table().with_columns(
            pl.Series("note", ["only-once-said" if row == gone else f"n{row % 3}" for row in range(ROWS)]),
            pl.Series("job", [9 if row == gone else row % 3 for row in range(ROWS)]),
        )
        write_target(Microdata(frame, labels=labels, variable_labels={"name": "Quetzalcoatl and others"}), path)
        if gone not in set(discreet.mask(discreet.read(path, POLICY)).link.tolist()):
            break
    return path


def _table() -> pl.DataFrame:
    numbers = range(ROWS)
    return pl.DataFrame(
        {
            "name": ["Quetzalcoatl" if n == 3 else f"Name {n}" for n in numbers],
            "patient": ["person-77415" if n < 9 else f"person-{n // 2}" for n in numbers],
            "town": [("Rome", "Ouagadougou", "Lima", "Oslo")[n % 4] for n in numbers],
            "income": [NUMBER if n == 5 else 1000 + n for n in numbers],
            "note": ["n"] * ROWS,
            "job": [1] * ROWS,
        }
    )


@pytest.fixture(scope="module")
def release(source: Path) -> discreet.Release:
    data = discreet.read(source, POLICY)
    assert "the mayor of the town" in data.labels["job"].values()
    return discreet.mask(data)


def planted(content: bytes) -> list[str]:
    """What of the planted is in some bytes, as text of two encodings or as a binary number."""
    found = [word for word in WORDS if any(word.encode(how) in content for how in ("utf-8", "utf-16-le", "utf-16-be"))]
    numbers = {
        str(NUMBER).encode(), f"{NUMBER:,}".encode(),
        *(struct.pack(form, NUMBER) for form in ("<q", ">q", "<d", ">d", "<i", ">i")),
    }  # fmt: skip
    return found + [str(NUMBER) for form in numbers if form in content]


def layers(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and all that is packed inside them."""
    yield path.read_bytes()
    name = path.name
    if name.endswith(".gz"):
        yield gzip.decompress(path.read_bytes())
    elif name.endswith(".zst"):
        yield bytes(pa.input_stream(str(path), compression="zstd").read())
    elif name.endswith(".xlsx"):
        with zipfile.ZipFile(path) as book:
            yield from (book.read(part) for part in book.namelist())
    elif name.endswith((".arrow", ".feather", ".ipc")):
        with pa.OSFile(str(path)) as file:
            content = pa.ipc.open_file(file).read_all()
        yield repr(content.schema.metadata).encode() + str(content.schema).encode()
        yield from _buffers(content)
    elif name.endswith((".parquet", ".pq")):
        file = pq.ParquetFile(path, read_dictionary=pq.read_schema(path).names)
        groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
        columns = [str(group.column(n).to_dict()).encode() for group in groups for n in range(group.num_columns)]
        yield from (*columns, repr(file.metadata.metadata).encode(), str(file.schema_arrow).encode())
        yield from _buffers(file.read())
    elif name.endswith(".zsav"):
        yield repr(read_source(path, Policy()).frame.to_dicts()).encode()


def _buffers(content: pa.Table) -> Iterator[bytes]:
    for column in content.columns:
        for chunk in column.chunks:
            parts = [chunk, chunk.dictionary] if isinstance(chunk, pa.DictionaryArray) else [chunk]
            yield from (bytes(buffer) for part in parts for buffer in part.buffers() if buffer is not None)


def test_the_search_finds_what_is_there(source: Path, tmp_path: Path) -> None:
    data = read_source(source, Policy())
    for suffix in WRITABLE:
        target = tmp_path / f"t{suffix}"
        write_target(data, target)
        found = {word for layer in layers(target) for word in planted(layer)}
        assert {"Quetzalcoatl", "person-77415", "Ouagadougou", "only-once-said"} <= found, suffix
    assert {str(NUMBER)} < {word for layer in layers(tmp_path / "t.parquet") for word in planted(layer)}
    assert "the mayor of the town" in {word for layer in layers(tmp_path / "t.sav") for word in planted(layer)}


@pytest.mark.trust(
    "Nothing leaks",
    "No file of any format holds an identifier, a person id, a removed or merged value, a cut-off number or an unused label",
)
@pytest.mark.parametrize("suffix", WRITABLE)
def test_no_file_holds_anything_planted(release: discreet.Release, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"released{suffix}"
    discreet.write(release, target)
    for layer in layers(target):
        assert not planted(layer)
    beside = cells_path(target)
    assert {path.name for path in tmp_path.iterdir()} == {target.name, beside.name}
    # what a label stands for is the owner's own definition of the group, in a file of its own that the owner may publish
    assert planted(beside.read_bytes()) == ["Ouagadougou"]
    assert len(read_source(target, Policy())) == release.t == ROWS // 2


@pytest.mark.trust("Nothing leaks", "Rows are written in another order than the source has")
@pytest.mark.parametrize("suffix", WRITABLE)
def test_rows_are_not_in_the_order_of_the_source(release: discreet.Release, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"released{suffix}"
    discreet.write(release, target)
    income = read_source(target, Policy()).frame["income"].to_numpy()
    assert abs(np.corrcoef(income, np.arange(len(income)))[0, 1]) < 0.3


@pytest.mark.trust("Nothing leaks", "Dictionaries of categories and metadata of the source are gone")
def test_a_source_that_carries_dictionaries_and_metadata_leaves_none(tmp_path: Path) -> None:
    frame = _table().with_columns(
        pl.col("name", "patient").cast(pl.Categorical),
        pl.col("town").cast(pl.Enum(["Ouagadougou", "Rome", "Lima", "Oslo", "only-once-said"])),
    )  # fmt: skip
    content = frame.to_arrow().replace_schema_metadata({"pandas": "whereitwas", "author": "Quetzalcoatl"})
    pq.write_table(content, tmp_path / "o.parquet")
    for given in (frame, content, frame.to_pandas(), tmp_path / "o.parquet"):
        made = discreet.mask(discreet.read(given, POLICY))
        for suffix in (".parquet", ".arrow"):
            discreet.write(made, tmp_path / f"t{suffix}", overwrite=True)
            for layer in layers(tmp_path / f"t{suffix}"):
                assert not planted(layer)


def test_excel_names_no_author_and_no_path(release: discreet.Release, tmp_path: Path) -> None:
    discreet.write(release, tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        core = book.read("docProps/core.xml").decode()
    assert "<dc:creator></dc:creator>" in core or "<dc:creator/>" in core
    assert str(tmp_path).encode() not in b"".join(layers(tmp_path / "t.xlsx"))


@pytest.mark.trust("Nothing leaks", "No database file holds anything planted")
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_no_database_file_holds_anything_planted(release: discreet.Release, tmp_path: Path, system: str) -> None:
    target = f"{system}:///{tmp_path}/t.db#released"
    discreet.write(release, target)
    assert not planted((tmp_path / "t.db").read_bytes())
    assert [path.name for path in tmp_path.iterdir()] == ["t.db"]
    assert not planted(repr(read_source(target, Policy()).frame.to_dicts()).encode())


@pytest.mark.trust("Nothing leaks", "A table that a release takes the place of is gone from a database's file, the others stay")
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_a_database_file_holds_nothing_of_the_table_that_a_release_takes_the_place_of(
    source: Path, release: discreet.Release, tmp_path: Path, system: str
) -> None:
    file, target = tmp_path / "t.db", f"{system}:///{tmp_path}/t.db#people"
    other = pl.DataFrame({"kept": ["a word"] * 3000})
    write_target(read_source(source, Policy()), target)
    write_target(Microdata(other), f"{system}:///{file}#other")
    assert {"Quetzalcoatl", "person-77415"} <= set(planted(file.read_bytes()))
    discreet.write(release, target, overwrite=True)
    assert not planted(file.read_bytes())
    assert [path.name for path in tmp_path.iterdir()] == ["t.db"]
    assert read_source(f"{system}:///{file}#other", Policy()).frame.equals(other)
    assert _names(file, system) == ["other", "people"]


def _names(file: Path, system: str) -> list[str]:
    import duckdb

    catalog = {"sqlite": "sqlite_master WHERE type = 'table'", "duckdb": "(SELECT table_name AS name FROM duckdb_tables())"}
    with closing(sqlite3.connect(file) if system == "sqlite" else duckdb.connect(str(file))) as link:
        return [name for (name,) in link.execute(f"SELECT name FROM {catalog[system]} ORDER BY name").fetchall()]


@pytest.mark.trust("Nothing leaks", "No row on a server holds anything planted")
@pytest.mark.servers
@pytest.mark.parametrize("system", ["postgresql", "mysql"])
def test_no_server_holds_anything_planted(release: discreet.Release, request: pytest.FixtureRequest, system: str) -> None:
    url = str(request.getfixturevalue(system))
    before = set(_tables(url))  # of other tests on this server
    discreet.write(release, f"{url}#released", overwrite=True)
    held = read_source(f"{url}#released", Policy())
    assert not planted(repr(held.frame.to_dicts()).encode())
    assert set(held.columns) == {"town", "income", "note", "job"}
    assert set(_tables(url)) - before == {"released"}


def _tables(url: str) -> list[str]:
    import sqlalchemy as sa

    driver = url.replace("postgresql:", "postgresql+psycopg:").replace("mysql:", "mysql+pymysql:")
    return sa.inspect(sa.create_engine(driver, poolclass=sa.NullPool)).get_table_names()


@pytest.mark.trust("Nothing leaks", "Frames handed to other libraries share no buffer with dropped rows")
def test_frames_that_leave_python_hold_nothing_planted(release: discreet.Release) -> None:
    from discreet.masking.release import release_table

    made: Any = release_table(release)
    for content in (made.to_arrow(), pa.table(made.to_polars()), pa.Table.from_pandas(made.to_pandas())):
        for layer in _buffers(content):
            assert not planted(layer)
