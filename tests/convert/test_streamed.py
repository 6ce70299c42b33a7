"""Tables that come in as codes, part by part, against the same tables read whole."""

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
from discreet.errors import DataError, PolicyError, RoomError, SourceError
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


def wrote(path: Path, parts: Sequence[pl.DataFrame]) -> Path:
    """A Parquet file with a row group a part."""
    with pq.ParquetWriter(path, parts[0].to_arrow(compat_level=pl.CompatLevel.oldest()).schema) as writer:
        for part in parts:
            if part.height:
                writer.write_table(part.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return path


def alike(one: Any, other: Any) -> None:
    assert other == pytest.approx(one, rel=1e-9, nan_ok=True) if isinstance(one, float) else True
    if isinstance(one, dict):
        assert list(one) == list(other)
        for field, value in one.items():
            alike(value, other[field])
    elif not isinstance(one, float):
        assert one == other


@settings(max_examples=25)
@given(draw=st.data())
def test_streamed_and_whole_tables_give_the_same_codes_and_numbers(draw: st.DataObject, tmp_path_factory: Any) -> None:
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
    path = wrote(tmp_path_factory.mktemp("parts") / "table.parquet", parts)
    whole = discreet.read(path, POLICY)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(streamed, "WHOLE", 0)
        changed.setattr(streamed, "PART", draw.draw(st.integers(1, 4)))
        made = scan(path, POLICY)
    assert isinstance(made, Encoded)
    assert len(made) == len(whole)
    assert "frame" not in vars(made)
    for one, other in zip(encode(made, whole.columns), encode(whole, whole.columns), strict=True):
        assert one.values.equals(other.values)
        assert one.codes.dtype == other.codes.dtype
        assert one.codes.tolist() == other.codes.tolist()
    assert "frame" not in vars(made), "codes were all that was needed"
    if not len(whole):
        return
    expected, found = discreet.risk(whole), discreet.risk(made)
    for name, score in expected.items():
        alike(score.to_dict(), found[name].to_dict())
        rows, expected_rows = found[name].per_record, score.per_record
        assert rows is not None
        assert expected_rows is not None
        assert rows.equals(expected_rows)
    assert "frame" not in vars(made), "the table itself was never read"
    assert made.frame.equals(whole.frame)
    assert made.level("day") == whole.level("day")


def _students(path: Path, records: int = 3000, parts: int = 4) -> Microdata:
    data = students(records)
    step = -(-records // parts)
    names = pl.Series("name", [f"student {at}" for at in range(records)])
    frame = data.frame.with_columns(names)
    wrote(path, [frame[at : at + step] for at in range(0, records, step)])
    return data


def test_columns_that_no_measure_needs_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    spot = pq.ParquetFile(path).metadata
    place = next(at for at in range(spot.num_columns) if spot.schema.column(at).name == "name")
    content = bytearray(path.read_bytes())
    for group in range(spot.num_row_groups):
        chunk = spot.row_group(group).column(place)
        begin = chunk.dictionary_page_offset or chunk.data_page_offset
        content[begin : begin + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(content)
    with pytest.raises(SourceError):
        discreet.read(path, data.policy)
    made = scan(path, data.policy)
    alike(discreet.risk(data)["known_sets"].to_dict(), discreet.risk(made)["known_sets"].to_dict())
    with pytest.raises(SourceError, match="cannot be read"):
        _ = made.frame


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".jsonl", ".arrow"])
def test_other_formats_that_stream_do_too(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "WHOLE", 100)
    monkeypatch.setattr(streamed, "PART", 700)
    data = students(3000)
    discreet.write(Microdata(data.frame), tmp_path / f"table{suffix}")
    made = scan(tmp_path / f"table{suffix}", data.policy)
    assert isinstance(made, Encoded)
    alike(discreet.risk(data)["known_sets"].to_dict(), discreet.risk(made)["known_sets"].to_dict())


def test_a_value_further_down_that_is_no_number_makes_the_column_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "WHOLE", 100)
    path = tmp_path / "table.csv"
    path.write_text("size,ill\n" + "".join(f"{at % 7},yes\n" for at in range(4000)) + "many,no\n")
    policy = {"attributes": {"size": {"role": "key", "known": 0.5}, "ill": {"role": "confidential", "sensitivity": 1.0}}}
    made, whole = scan(path, policy), discreet.read(path, policy)
    assert made.schema == whole.schema
    assert made.schema["size"] == pl.String
    assert np.array_equal(encode(made, ["size"])[0].codes, encode(whole, ["size"])[0].codes)


def test_a_measure_that_needs_the_table_itself_has_it(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    made = scan(path, data.policy, ["repeated_records", "k_anonymity"])
    assert not isinstance(made, Encoded)
    assert made.frame.height == 3000


def test_frames_and_small_tables_are_measured_as_before(tmp_path: Path) -> None:
    data = students(200)
    assert scan(data.frame, data.policy).frame.equals(data.frame)
    discreet.write(Microdata(data.frame), tmp_path / "table.xlsx")
    assert len(scan(tmp_path / "table.xlsx", data.policy)) == 200


def test_a_file_that_was_changed_since_is_told(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    made = scan(path, data.policy)
    _students(path, 100)
    with pytest.raises(SourceError, match="was changed while it was in use"):
        _ = made.frame


def test_what_is_not_there_is_told_as_before(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    _students(path)
    with pytest.raises(PolicyError, match="'gendre' is not a column of"):
        scan(path, {"attributes": {"gendre": {"role": "key", "known": 0.5}}})
    with pytest.raises(DataError, match="has no column 'gendre'; did you mean 'gender'"):
        scan(path, {"attributes": {"gender": {"role": "key"}}, "risk": {"k_anonymity": {"keys": ["gendre"]}}})
    with pytest.raises(SourceError, match="there is no such file"):
        scan(tmp_path / "none.parquet", {"attributes": {"gender": {"role": "key"}}})


def test_another_policy_keeps_the_codes_that_it_does_not_touch(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    made = scan(path, data.policy)
    other = data.policy.with_(attributes={**data.policy.attributes, "gender": discreet.Attribute(known=0.1)})
    moved = made.with_policy(other)
    assert isinstance(moved, Encoded)
    assert "gender" not in moved.cache["columns"]
    assert moved.cache["columns"]["grade"] is made.cache["columns"]["grade"]
    assert "3,000 records" in repr(moved)
    assert len(moved.take(np.array([3, 4]))) == 2


def test_need_and_room_are_told_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    monkeypatch.setattr(streamed, "WORTH_TELLING", 0)
    monkeypatch.setenv("DISCREET_MEMORY", "3GB")
    said: list[str] = []
    scan(path, data.policy, notice=said.append)
    assert len(said) == 1
    assert said[0].startswith(f"{path}: measuring 3,000 records needs about ")
    assert said[0].endswith("of memory; 3.0 GB are free")
    monkeypatch.setenv("DISCREET_MEMORY", "50MB")
    with pytest.raises(RoomError, match=r"needs about \d+ MB of memory; 50 MB are free, so it was not begun"):
        scan(path, data.policy)
    with pytest.raises(RoomError, match=r"reading 3,000 records whole needs about \d+ MB of memory; 50 MB are free"):
        discreet.read(path, data.policy)


def test_the_need_grows_with_the_records_and_with_what_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "students.parquet"
    data = _students(path)
    from discreet.risks.known_sets.measure import KnownSets

    lazy, shape = pl.scan_parquet(path).drop("name"), Microdata(data.frame.clear(), data.policy)

    def need(records: int, **asked: Any) -> float:
        return streamed.needed(lazy, shape, records, data.columns, [KnownSets()], **asked)

    assert need(3000) < need(30_000_000) < need(100_000_000) < need(100_000_000, by_record=True)


def test_the_command_line_refuses_with_exit_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli import main

    path, policy = tmp_path / "students.parquet", tmp_path / "policy.yaml"
    data = _students(path)
    policy.write_text(data.policy.to_yaml())
    monkeypatch.setattr(sys, "argv", ["discreet", "risk", str(path), "-p", str(policy), "--json"])

    def run(room: str) -> tuple[int, str, str]:
        monkeypatch.setenv("DISCREET_MEMORY", room)
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0), *capfd.readouterr()

    code, numbers, message = run("60MB")
    assert (code, numbers) == (2, "")
    assert "3,000 records needs about" in message
    assert "60 MB are free" in message
    code, numbers, _ = run("20GB")
    assert code == 0
    alike(discreet.risk(data)["known_sets"].to_dict(), json.loads(numbers)["measures"]["known_sets"])
    code, _, message = run("plenty")
    assert code == 2
    assert "DISCREET_MEMORY must be a size such as 8GB" in message


PEAK = """
import re, sys
from discreet import verbs
data = verbs.scan(sys.argv[1], sys.argv[2])
verbs.risk(data)
# VmHWM belongs to this program alone; ru_maxrss would begin at what the process that started it held.
print(1024 * int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1]))
"""


def test_the_estimate_is_within_a_factor_of_two_of_the_peak(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    size = 2_000_000
    said = {}
    columns = {}
    for at, values in enumerate((2, 7, 20, 64, 1600, 14, 3, 12, 30, 2)):
        codes = pa.array(random.integers(0, values, size).astype(np.int32))
        columns[f"x{at}"] = pa.DictionaryArray.from_arrays(codes, pa.array([f"value {one}" for one in range(values)])).cast(
            pa.string()
        )
        said[f"x{at}"] = {"role": "key", "known": 0.5 / (at + 1), "sensitivity": 0.5 if at == 9 else 0.0}
    path, policy = tmp_path / "table.parquet", tmp_path / "policy.yaml"
    pq.write_table(pa.table(columns), path, row_group_size=250_000)
    policy.write_text(discreet.Policy.from_dict({"attributes": said}).to_yaml())
    peak = int(subprocess.run([sys.executable, "-c", PEAK, path, policy], capture_output=True, text=True, check=True).stdout)
    from discreet.risks.known_sets.measure import KnownSets

    shape = Microdata(pl.read_parquet(path, n_rows=0), discreet.Policy.from_dict({"attributes": said}))
    need = streamed.needed(pl.scan_parquet(path), shape, size, list(said), [KnownSets()])
    assert peak / 2 < need < 2 * peak, f"{need / 1e6:.0f} MB told, {peak / 1e6:.0f} MB held"
