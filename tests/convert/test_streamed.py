"""Tables that are read as codes, chunk by chunk, compared with the same tables read whole."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.convert.reading import streamed
from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, MemoryLimitError, PolicyError, SourceError
from discreet.model.encoded import Encoded
from discreet.model.microdata import Microdata
from discreet.testing import students
from discreet.verbs import scan

KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "whole": (pl.Int64, st.integers(-3, 3)),
    "number": (pl.Float64, st.sampled_from([0.0, -0.0, 1.5, 2.5, float("nan")])),
    "word": (pl.String, st.sampled_from(["a", "b", "cc", "", "n/a"])),
    "flag": (pl.Boolean, st.booleans()),
    "day": (pl.Date, st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 4))),
    "grade": (pl.String, st.sampled_from(["low", "mid", "high"])),
}
POLICY: dict[str, Any] = {
    "missing": ["n/a"],
    "attributes": {
        "whole": {"role": "key", "known": 0.5},
        "number": {"role": "key", "known": 0.3},
        "word": {"role": "key", "known": 0.2, "sensitivity": 0.4, "values": {"a": 1.0}, "allow_absent": True},
        "flag": {"role": "confidential", "known": 0.1, "sensitivity": 1.0, "values": {"true": 0.7}, "allow_absent": True},
        "day": {"role": "key", "known": 0.05},
        "grade": {"role": "confidential", "order": ["low", "mid", "high"]},
    },
    "risk": {"known_sets": {"epsilon": 0.001}, "k_anonymity": {}, "l_diversity": {}, "t_closeness": {}},
}


def write_row_groups(path: Path, parts: Sequence[pl.DataFrame]) -> Path:
    """Write a Parquet file with one row group per part."""
    with pq.ParquetWriter(path, parts[0].to_arrow(compat_level=pl.CompatLevel.oldest()).schema) as writer:
        for part in parts:
            if part.height:
                writer.write_table(part.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return path


def assert_same_numbers(expected: Any, actual: Any) -> None:
    assert actual == pytest.approx(expected, rel=1e-9, nan_ok=True) if isinstance(expected, float) else True
    if isinstance(expected, dict):
        assert list(expected) == list(actual)
        for field, value in expected.items():
            assert_same_numbers(value, actual[field])
    elif not isinstance(expected, float):
        assert expected == actual


@settings(max_examples=25)
@given(draw=st.data())
def test_streamed_and_whole_tables_give_the_same_codes_and_measures(draw: st.DataObject, tmp_path_factory: Any) -> None:
    sizes = draw.draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    parts = [
        pl.DataFrame(
            {
                name: pl.Series(draw.draw(st.lists(st.one_of(st.none(), cells), min_size=size, max_size=size)), dtype=dtype)
                for name, (dtype, cells) in KINDS.items()
            }
        )
        for size in sizes
    ]
    path = write_row_groups(tmp_path_factory.mktemp("parts") / "table.parquet", parts)
    whole = discreet.read(path, POLICY)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(streamed, "MAX_UNCHUNKED_RECORDS", 0)
        changed.setattr(streamed, "CHUNK_RECORDS", draw.draw(st.integers(1, 4)))
        streamed_data = scan(path, POLICY)
    assert isinstance(streamed_data, Encoded)
    assert len(streamed_data) == len(whole)
    assert "frame" not in vars(streamed_data)
    for column, whole_column in zip(encode(streamed_data, whole.columns), encode(whole, whole.columns), strict=True):
        assert column.values.equals(whole_column.values)
        assert column.codes.dtype == whole_column.codes.dtype
        assert column.codes.tolist() == whole_column.codes.tolist()
    assert "frame" not in vars(streamed_data), "the measures needed only codes"
    if not len(whole):
        return
    expected, measured = discreet.risk(whole), discreet.risk(streamed_data)
    for name, score in expected.items():
        assert_same_numbers(score.to_dict(), measured[name].to_dict())
        rows, expected_rows = measured[name].per_record, score.per_record
        assert rows is not None
        assert expected_rows is not None
        assert rows.equals(expected_rows)
    assert "frame" not in vars(streamed_data), "the table itself was never read"
    assert streamed_data.frame.equals(whole.frame)
    assert streamed_data.level("day") == whole.level("day")


def _students(path: Path, records: int = 3000, parts: int = 4) -> Microdata:
    data = students(records)
    step = -(-records // parts)
    names = pl.Series("name", [f"student {index}" for index in range(records)])
    frame = data.frame.with_columns(names)
    write_row_groups(path, [frame[index : index + step] for index in range(0, records, step)])
    return data


def test_columns_that_no_measure_needs_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    metadata = pq.ParquetFile(path).metadata
    column = next(index for index in range(metadata.num_columns) if metadata.schema.column(index).name == "name")
    content = bytearray(path.read_bytes())
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(column)
        begin = chunk.dictionary_page_offset or chunk.data_page_offset
        content[begin : begin + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(content)
    with pytest.raises(SourceError):
        discreet.read(path, data.policy)
    encoded = scan(path, data.policy)
    assert_same_numbers(discreet.risk(data)["known_sets"].to_dict(), discreet.risk(encoded)["known_sets"].to_dict())
    with pytest.raises(SourceError, match="cannot be read"):
        _ = encoded.frame


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".jsonl", ".arrow"])
def test_other_streaming_formats_give_the_same_measures(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "MAX_UNCHUNKED_RECORDS", 100)
    monkeypatch.setattr(streamed, "CHUNK_RECORDS", 700)
    data = students(3000)
    discreet.write(Microdata(data.frame), tmp_path / f"table{suffix}")
    encoded = scan(tmp_path / f"table{suffix}", data.policy)
    assert isinstance(encoded, Encoded)
    assert_same_numbers(discreet.risk(data)["known_sets"].to_dict(), discreet.risk(encoded)["known_sets"].to_dict())


def test_a_late_value_that_is_not_a_number_makes_the_column_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "MAX_UNCHUNKED_RECORDS", 100)
    path = tmp_path / "table.csv"
    path.write_text("size,ill\n" + "".join(f"{index % 7},yes\n" for index in range(4000)) + "many,no\n")
    policy = {"attributes": {"size": {"role": "key", "known": 0.5}, "ill": {"role": "confidential", "sensitivity": 1.0}}}
    encoded, whole = scan(path, policy), discreet.read(path, policy)
    assert encoded.schema == whole.schema
    assert encoded.schema["size"] == pl.String
    assert np.array_equal(encode(encoded, ["size"])[0].codes, encode(whole, ["size"])[0].codes)


def test_a_measure_that_needs_the_table_itself_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    scanned = scan(path, data.policy, ["repeated_records", "k_anonymity"])
    assert not isinstance(scanned, Encoded)
    assert scanned.frame.height == 3000


def test_frames_and_formats_that_cannot_be_streamed_are_read_whole(tmp_path: Path) -> None:
    data = students(200)
    assert scan(data.frame, data.policy).frame.equals(data.frame)
    discreet.write(Microdata(data.frame), tmp_path / "table.xlsx")
    assert len(scan(tmp_path / "table.xlsx", data.policy)) == 200


def test_a_file_that_changed_after_the_scan_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    encoded = scan(path, data.policy)
    _students(path, 100)
    with pytest.raises(SourceError, match="was changed while it was in use"):
        _ = encoded.frame


def test_missing_columns_and_files_are_clear_errors(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    _students(path)
    with pytest.raises(PolicyError, match="'gendre' is not a column of"):
        scan(path, {"attributes": {"gendre": {"role": "key", "known": 0.5}}})
    with pytest.raises(DataError, match="has no column 'gendre'; did you mean 'gender'"):
        scan(path, {"attributes": {"gender": {"role": "key"}}, "risk": {"k_anonymity": {"keys": ["gendre"]}}})
    with pytest.raises(SourceError, match="there is no such file"):
        scan(tmp_path / "none.parquet", {"attributes": {"gender": {"role": "key"}}})


def test_another_policy_keeps_the_codes_that_it_does_not_affect(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    encoded = scan(path, data.policy)
    other = data.policy.with_(attributes={**data.policy.attributes, "gender": discreet.Attribute(known=0.1)})
    with_other_policy = encoded.with_policy(other)
    assert isinstance(with_other_policy, Encoded)
    assert "gender" not in with_other_policy.cache["columns"]
    assert with_other_policy.cache["columns"]["grade"] is encoded.cache["columns"]["grade"]
    assert "3,000 records" in repr(with_other_policy)
    assert len(with_other_policy.take(np.array([3, 4]))) == 2


def test_needed_and_available_memory_are_reported_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    monkeypatch.setattr(streamed, "MIN_NOTICE_BYTES", 0)
    monkeypatch.setenv("DISCREET_MEMORY", "3GB")
    notices: list[str] = []
    scan(path, data.policy, notice=notices.append)
    assert len(notices) == 1
    assert notices[0].startswith(f"{path}: measuring 3,000 records needs about ")
    assert notices[0].endswith("of memory; 3.0 GB are free")
    monkeypatch.setenv("DISCREET_MEMORY", "50MB")
    with pytest.raises(MemoryLimitError, match=r"needs about \d+ MB of memory; 50 MB are free, so it was not started"):
        scan(path, data.policy)
    with pytest.raises(MemoryLimitError, match=r"reading 3,000 records whole needs about \d+ MB of memory; 50 MB are free"):
        discreet.read(path, data.policy)


def test_the_memory_estimate_grows_with_the_records_and_with_scores_per_record(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    from discreet.risks.known_sets.measure import KnownSets

    lazy, shape = pl.scan_parquet(path).drop("name"), Microdata(data.frame.clear(), data.policy)

    def need(records: int, **options: Any) -> float:
        return streamed.estimate_memory(lazy, shape, records, data.columns, [KnownSets()], **options)

    assert need(3000) < need(30_000_000) < need(100_000_000) < need(100_000_000, by_record=True)


def test_the_command_line_exits_with_2_if_memory_is_insufficient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli import main

    path, policy = tmp_path / "students.parquet", tmp_path / "policy.yaml"
    data = _students(path)
    policy.write_text(data.policy.to_yaml())
    monkeypatch.setattr(sys, "argv", ["discreet", "risk", str(path), "-p", str(policy), "--json"])

    def run(memory: str) -> tuple[int, str, str]:
        monkeypatch.setenv("DISCREET_MEMORY", memory)
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0), *capfd.readouterr()

    code, numbers, message = run("60MB")
    assert (code, numbers) == (2, "")
    assert "3,000 records needs about" in message
    assert "60 MB are free" in message
    code, numbers, _ = run("20GB")
    assert code == 0
    assert_same_numbers(discreet.risk(data)["known_sets"].to_dict(), json.loads(numbers)["measures"]["known_sets"])
    code, _, message = run("plenty")
    assert code == 2
    assert "DISCREET_MEMORY must be a size such as 8GB" in message


PEAK = """
import re, sys
from discreet import verbs
data = verbs.scan(sys.argv[1], sys.argv[2])
verbs.risk(data)
# VmHWM is the peak of this program alone; ru_maxrss starts at the peak of the process that started it.
print(1024 * int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1]))
"""


def test_the_estimate_is_within_a_factor_of_two_of_the_peak(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    size = 2_000_000
    attributes = {}
    columns = {}
    for index, values in enumerate((2, 7, 20, 64, 1600, 14, 3, 12, 30, 2)):
        codes = pa.array(random.integers(0, values, size).astype(np.int32))
        columns[f"x{index}"] = pa.DictionaryArray.from_arrays(codes, pa.array([f"value {code}" for code in range(values)])).cast(
            pa.string()
        )
        attributes[f"x{index}"] = {"role": "key", "known": 0.5 / (index + 1), "sensitivity": 0.5 if index == 9 else 0.0}
    path, policy = tmp_path / "table.parquet", tmp_path / "policy.yaml"
    pq.write_table(pa.table(columns), path, row_group_size=250_000)
    policy.write_text(discreet.Policy.from_dict({"attributes": attributes}).to_yaml())
    peak = int(subprocess.run([sys.executable, "-c", PEAK, path, policy], capture_output=True, text=True, check=True).stdout)
    from discreet.risks.known_sets.measure import KnownSets

    shape = Microdata(pl.read_parquet(path, n_rows=0), discreet.Policy.from_dict({"attributes": attributes}))
    need = streamed.estimate_memory(pl.scan_parquet(path), shape, size, list(attributes), [KnownSets()])
    assert peak / 2 < need < 2 * peak, f"{need / 1e6:.0f} MB estimated, {peak / 1e6:.0f} MB used"
