"""Uploads come in whole or not at all, and a table is paged, sorted and filtered as a plain sort and filter would."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from sqlalchemy import delete, insert

from discreet.convert.reading import paging
from discreet.errors import DataError
from discreet.web.auth.accounts import User
from discreet.web.db import sweeping
from discreet.web.db.store import Store
from discreet.web.db.tables import datasets as dataset_table
from discreet.web.db.tables import projects as project_table
from discreet.web.errors import Forbidden, InvalidRequest, NotFound, TooLarge
from discreet.web.projects import datasets, projects
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

NAMES = ["Age", "age", 'a"b; DROP TABLE x', "file_row_number", "c0", "<b>", " "]


def small(tmp_path: Path) -> Settings:
    return Settings.make(tmp_path / "home", f"sqlite:///{tmp_path}/x.db")


def uploads(settings: Settings, project: Project) -> list[str]:
    folder = settings.folder(project.id) / "uploads"
    return [file.name for file in folder.iterdir()] if folder.is_dir() else []


class TestReceiving:
    @pytest.fixture
    def ours(self) -> Project:
        return Project(1, "P", "p_masked", "anna", "owner", 0.0, 0.0, 0, None)

    def test_a_file_arrives_as_it_was_sent_under_a_name_of_our_own(self, tmp_path: Path, ours: Project) -> None:
        settings = small(tmp_path)
        stored = datasets.receive_upload(settings, ours, iter([b"a,b\n", b"1,2\n"]), "../../etc/passwd/x y.CSV.gz")
        assert stored.read_bytes() == b"a,b\n1,2\n"
        assert datasets.UPLOAD_NAME.fullmatch(stored.name)
        assert stored.name.endswith(".csv.gz")
        assert stored.parent == settings.folder(1) / "uploads"
        assert stored.stat().st_mode & 0o077 == 0
        with stored.open("rb") as file:
            assert datasets.receive_upload(settings, ours, file, "x.csv").read_bytes() == b"a,b\n1,2\n"

    def test_a_file_that_is_too_large_empty_or_unknown_leaves_nothing(self, tmp_path: Path, ours: Project) -> None:
        settings = small(tmp_path)
        limited = Settings(**{**vars(settings), "upload_limit": 10})
        with pytest.raises(TooLarge, match="MiB"):
            datasets.receive_upload(limited, ours, iter([b"123456", b"123456"]), "x.csv")
        with pytest.raises(InvalidRequest, match="empty"):
            datasets.receive_upload(settings, ours, iter([]), "x.csv")
        for name in ("x.exe", "csv", "", "x.csv/", "x.csv\0.sh"):
            with pytest.raises(InvalidRequest, match="known format"):
                datasets.receive_upload(settings, ours, iter([b"1"]), name)
        assert uploads(settings, ours) == []

    def test_an_upload_that_breaks_off_leaves_nothing(self, tmp_path: Path, ours: Project) -> None:
        def broken() -> Iterator[bytes]:
            yield b"a,b\n"
            raise ConnectionResetError

        settings = small(tmp_path)
        with pytest.raises(ConnectionResetError):
            datasets.receive_upload(settings, ours, broken(), "x.csv")
        assert uploads(settings, ours) == []

    def test_a_full_disk_is_reported_and_leaves_nothing(
        self, tmp_path: Path, ours: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings = small(tmp_path)

        class Full:
            def write(self, _: bytes) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            def close(self) -> None: ...

        def full(number: int, _mode: str) -> Full:
            os.close(number)
            return Full()

        monkeypatch.setattr("discreet.web.projects.datasets.os.fdopen", full)
        with pytest.raises(datasets.DiskFull, match="disk is full"):
            datasets.receive_upload(settings, ours, iter([b"1"]), "x.csv")
        assert uploads(settings, ours) == []

    def test_approvers_may_not_upload(self, tmp_path: Path, ours: Project) -> None:
        reader = Project(**{**vars(ours), "role": "approver"})
        with pytest.raises(Forbidden):
            datasets.receive_upload(small(tmp_path), reader, iter([b"1"]), "x.csv")

    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path, ours: Project) -> None:
        settings = small(tmp_path)
        chunk = b"x" * 65536
        tracemalloc.start()
        stored = datasets.receive_upload(settings, ours, (chunk for _ in range(1600)), "x.csv")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert stored.stat().st_size == 1600 * 65536
        assert peak < 5 << 20


TEXTS = st.none() | st.sampled_from(["", "a", "A", "ab", "b", "é", "É", "%", "_", "'", "1..2", "null", ">=1"])
FRAMES = st.integers(0, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "number": st.lists(st.none() | st.integers(-3, 3), min_size=n, max_size=n),
            "real": st.lists(st.none() | st.sampled_from([-1.5, 0.0, 0.25, 2.0, 1e300]), min_size=n, max_size=n),
            "text": st.lists(TEXTS, min_size=n, max_size=n),
            "day": st.lists(st.none() | st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 5)), min_size=n, max_size=n),
            "truth": st.lists(st.none() | st.booleans(), min_size=n, max_size=n),
        }
    )
)
SCHEMA = {"number": pl.Int64, "real": pl.Float64, "text": pl.String, "day": pl.Date, "truth": pl.Boolean}
FILTERS: list[tuple[str, str, Callable[[Any], bool]]] = [
    ("number", ">=1", lambda x: x is not None and x >= 1),
    ("number", "<0", lambda x: x is not None and x < 0),
    ("number", "-1..2", lambda x: x is not None and -1 <= x <= 2),
    ("number", "2", lambda x: x == 2),
    ("number", "!= 2", lambda x: x is not None and x != 2),
    ("number", "1.5", lambda x: False),
    ("number", "is missing", lambda x: x is None),
    ("real", "> 0.1", lambda x: x is not None and x > 0.1),
    ("text", "A", lambda x: x is not None and "a" in x.lower()),
    ("text", "é", lambda x: x is not None and "é" in x.lower()),
    ("text", "%", lambda x: x is not None and "%" in x),
    ("text", "'", lambda x: x is not None and "'" in x),
    ("text", "=ab", lambda x: x == "ab"),
    ("text", "1..2", lambda x: x is not None and "1..2" in x),
    ("text", "not missing", lambda x: x is not None),
    ("day", ">2020-01-02", lambda x: x is not None and x > dt.date(2020, 1, 2)),
    ("day", "2020-01-02..2020-01-03", lambda x: x in (dt.date(2020, 1, 2), dt.date(2020, 1, 3))),
    ("truth", "yes", lambda x: x is True),
    ("number", "  ", lambda x: True),
]


class TestPaging:
    @profile(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        content=FRAMES, sort=st.none() | st.sampled_from(list(SCHEMA)), descending=st.booleans(), offset=st.integers(0, 14),
        limit=st.integers(1, 14), chosen=st.lists(st.sampled_from(FILTERS), max_size=2, unique_by=lambda choice: choice[0]),
        near=st.sampled_from([0, 5000]), few=st.sampled_from([0, 1000]), sample=st.sampled_from([2, 5, 4000]),
        slack=st.sampled_from([0, 1, 130]),
    )  # fmt: skip
    def test_a_page_is_what_a_plain_sort_and_filter_give(
        self, content: Any, sort: str | None, descending: bool, offset: int, limit: int, chosen: Any, near: int, few: int,
        sample: int, slack: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(paging, "_SORT_UP_TO", near)
        monkeypatch.setattr(paging, "_FEW_VALUES", few)
        monkeypatch.setattr(paging, "_SAMPLE_ROWS", sample)
        monkeypatch.setattr(paging, "_SAMPLE_MARGIN", slack)
        frame = pl.DataFrame(content, schema=SCHEMA)
        path = tmp_path / "t.parquet"
        frame.write_parquet(path)
        rows = list(enumerate(frame.iter_rows(named=True)))
        rows = [(index, row) for index, row in rows if all(holds(row[name]) for name, _, holds in chosen)]
        if sort is not None:
            present = [indexed_row for indexed_row in rows if indexed_row[1][sort] is not None]
            present.sort(key=lambda indexed_row: indexed_row[1][sort], reverse=descending)
            if descending:  # a reversed sort would turn ties around, which keep their order here
                present.sort(key=lambda indexed_row: indexed_row[0])
                present.sort(key=lambda indexed_row: indexed_row[1][sort], reverse=True)
            rows = present + [indexed_row for indexed_row in rows if indexed_row[1][sort] is None]
        page = paging.read_page(
            path, offset=offset, limit=limit, sort=sort, descending=descending, filters={name: text for name, text, _ in chosen}
        )
        assert page.total == len(rows)
        assert page.numbers == [index for index, _ in rows[offset : offset + limit]]
        assert page.frame.rows() == [tuple(row.values()) for _, row in rows[offset : offset + limit]]

    @pytest.mark.parametrize("numbers", [[], [3], [9, 3, 3, 0], [39, 0, 20], [17, 16, 15]])
    @pytest.mark.parametrize("columns", [None, ["b"], ["c", "a"]])
    def test_rows_are_those_with_the_numbers_however_far_apart(
        self, numbers: list[int], columns: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "t.parquet"
        frame = pl.DataFrame({"a": range(40), "b": [f"b{number}" for number in range(40)], "c": [None, 0.5] * 20})
        frame.write_parquet(path, row_group_size=7)
        names = frame.columns if columns is None else columns
        for most in (0, 5, 2_000):
            monkeypatch.setattr(paging, "_ONE_PART", most)
            rows = paging.read_rows(path, numbers, columns)
            assert rows.columns == names
            assert rows.rows() == [frame.select(names).row(at) for at in numbers]

    def test_hostile_names_and_values_are_treated_as_text(self, tmp_path: Path) -> None:
        settings = small(tmp_path)
        path = settings.folder(1) / "t.parquet"
        pl.DataFrame({name: [f"{name}{number}" for number in (2, 1)] for name in NAMES}).write_parquet(path)
        for name in NAMES:
            page = datasets.read_rows(settings, path, sort=name, filters={name: f"{name}1"})
            assert page.columns == NAMES
            assert page.rows == [[f"{column}1" for column in NAMES]]
            assert page.numbers == [2]
        for text in ("' OR 1=1 --", "\0", "%s", "🙂" * 100, "1; DROP TABLE t"):
            assert datasets.read_rows(settings, path, filters={"Age": text}).total == 0

    def test_invalid_page_requests_are_refused(self, tmp_path: Path) -> None:
        settings = small(tmp_path)
        path = settings.folder(1) / "t.parquet"
        pl.DataFrame({"age": [1], "born": [dt.date(2000, 1, 1)], "sex": [True]}).write_parquet(path)
        with pytest.raises(InvalidRequest, match="agee"):
            datasets.read_rows(settings, path, sort="agee")
        with pytest.raises(InvalidRequest, match="agee"):
            datasets.read_rows(settings, path, filters={"agee": "1"})
        for name, text in (("age", "old"), ("born", ">=yesterday"), ("sex", "f"), ("age", "1..x")):
            with pytest.raises(InvalidRequest, match="not a valid filter"):
                datasets.read_rows(settings, path, filters={name: text})
        for offset, limit in ((-1, 50), (0, 0), (0, 100_000)):
            with pytest.raises(InvalidRequest, match="the offset must be"):
                datasets.read_rows(settings, path, offset=offset, limit=limit)
        outside = tmp_path / "secret.parquet"
        pl.DataFrame({"age": [1]}).write_parquet(outside)
        for place in (outside, settings.folder(1) / ".." / ".." / ".." / "secret.parquet", settings.folder(1) / "none.parquet"):
            with pytest.raises(NotFound):
                datasets.read_rows(settings, place)
        (settings.folder(1) / "bad.parquet").write_bytes(b"PAR1 nonsense")
        with pytest.raises(InvalidRequest, match="cannot be read"):
            datasets.read_rows(settings, settings.folder(1) / "bad.parquet")

    def test_every_kind_of_value_is_plain_json(self, tmp_path: Path) -> None:
        settings = small(tmp_path)
        path = settings.folder(1) / "t.parquet"
        moment = dt.datetime(2020, 1, 2, 3, 4, 5)
        pl.DataFrame(
            {"big": [2**63 - 1], "huge": pl.Series([2**64 - 1], dtype=pl.UInt64), "inf": [float("inf")], "at": [moment],
             "zoned": pl.Series([moment]).dt.replace_time_zone("UTC"), "time": [dt.time(1, 2)], "day": [dt.date(9999, 12, 31)],
             "none": [None], "word": pl.Series(["x"], dtype=pl.Categorical)}
        ).write_parquet(path)  # fmt: skip
        page = datasets.read_rows(settings, path)
        assert json.loads(json.dumps(page.rows, allow_nan=False)) == page.rows
        assert page.rows[0][:4] == [2**63 - 1, 2**64 - 1, "inf", "2020-01-02 03:04:05"]

    def test_far_pages_of_a_column_of_few_values_agree_with_a_sort(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        frame = pl.DataFrame({"x": [(number * 7919) % 13 if number % 11 else None for number in range(30_000)]})
        frame.write_parquet(path)
        ordered = frame.with_row_index("at").sort("x", "at", descending=[True, False], nulls_last=True)["at"].to_list()
        for offset in (0, 5_000, 17_321, 27_200, 29_990, 40_000):
            page = paging.read_page(path, offset=offset, limit=50, sort="x", descending=True)
            assert page.numbers == ordered[offset : offset + 50]
        with pytest.raises(DataError):
            paging.read_page(path, sort="y")


def test_the_current_dataset_is_the_last_or_the_chosen_one(store: Store, anna: User, project: Project) -> None:
    with store.write() as connection:
        with pytest.raises(NotFound, match="no initial microdata"):
            datasets.get(connection, project)
        for name in ("one", "two"):
            row = {"project_id": project.id, "name": name, "file": f"data/{name}.parquet", "records": 1, "bytes": 1.0}
            more = {"sha256": "0" * 64, "columns": [{"name": "age"}], "created": 1.0, "user_id": anna.id}
            connection.execute(insert(dataset_table).values(**row, **more))
        first, second = sorted(dataset.id for dataset in datasets.list_datasets(connection, project))
        assert datasets.choose(connection, anna, project, first).name == "one"
        again = projects.get(connection, anna, project.id)
        assert datasets.get(connection, again).id == first
        assert datasets.get(connection, again, second).columns == [{"name": "age"}]
        assert datasets.get(connection, again).user == "anna"
        with pytest.raises(NotFound, match="no dataset 99"):
            datasets.choose(connection, anna, project, 99)


def test_cleanup_keeps_only_files_that_rows_refer_to(settings: Settings, store: Store, anna: User, project: Project) -> None:
    folder = settings.folder(project.id)
    for name in ("data/kept.parquet", "data/kept.labels.json", "data/lost.parquet", "data/.kept.123.part.parquet",
                 "releases/abc/masked.parquet", "uploads/new.csv", "uploads/old.csv", "uploads/.x.part"):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    os.utime(folder / "uploads/old.csv", (time.time() - 1e6,) * 2)
    other = settings.folder(project.id + 1000)
    (other / "x").write_bytes(b"x")
    with store.write() as connection:
        row = {"project_id": project.id, "name": "k", "file": "data/kept.parquet", "records": 1, "bytes": 1.0, "sha256": "0"}
        connection.execute(insert(dataset_table).values(**row, columns=[], created=1.0, user_id=anna.id))
    sweeping.delete_orphaned_files(settings, store)
    left = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert left == {"data/kept.parquet", "data/kept.labels.json", "uploads/new.csv"}
    assert not other.exists()
    with store.write() as connection:
        connection.execute(delete(project_table).where(project_table.c.id == project.id))
    datasets.delete_project_files(settings, project.id)
    assert not folder.exists()
