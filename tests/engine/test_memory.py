"""How much memory there is, and what is said where it is too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.engine.runtime import memory as room
from discreet.errors import MemoryLimitError


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GB", 8e9), ("500MB", 5e8), ("1.5 gb", 1.5e9), ("2GiB", 2**31), ("64k", 64e3), ("1000000", 1e6), ("3g", 3e9)],
)
def test_the_environment_variable_sets_the_available_memory(text: str, size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(room.VARIABLE, text)
    assert room.available_memory() == size


@pytest.mark.parametrize("text", ["much", "-1GB", "0", "8 PB", "1e9", "GB"])
def test_an_invalid_memory_size_is_refused_with_a_valid_example(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(room.VARIABLE, text)
    with pytest.raises(MemoryLimitError, match="DISCREET_MEMORY must be a size such as 8GB"):
        room.available_memory()


def test_available_memory_defaults_to_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(room.VARIABLE, raising=False)
    assert 10e6 < room.available_memory() < 1e15


def test_a_job_that_needs_too_much_memory_names_need_and_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(room.VARIABLE, "2GB")
    assert room.check_memory(1.9e9, "counting", "count less") == "counting needs about 1.9 GB of memory; 2.0 GB are free"
    with pytest.raises(
        MemoryLimitError, match=r"counting needs about 2.1 GB of memory; 2.0 GB are free, so it was not started; count less"
    ):
        room.check_memory(2.1e9, "counting", "count less")


def _group(folder: Path, limit: str, usage: str, stat: str, first: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if first else ("memory.max", "memory.current")
    for name, text in zip((*names, "memory.stat"), (limit, usage, stat), strict=True):
        (folder / name).write_text(text)


def test_control_groups_of_version_2_limit_memory_at_every_level(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/job/step\n")
    _group(tmp_path / "job", "1000\n", "400\n", "inactive_file 100\nactive_file 7\n", first=False)
    _group(tmp_path / "job" / "step", "max\n", "300\n", "", first=False)
    assert list(room._free_in_control_groups(tmp_path, own)) == [700]


def test_control_groups_of_version_1_limit_memory_where_a_limit_is_set(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("5:cpu:/a\n4:memory:/a\n0::/\n")
    _group(tmp_path / "memory", str(0x7FFFFFFFFFFFF000), "5", "", first=True)
    _group(tmp_path / "memory" / "a", "5000", "5500", "inactive_file 3\ntotal_inactive_file 200", first=True)
    assert list(room._free_in_control_groups(tmp_path, own)) == [0]


def test_a_machine_without_control_groups_has_no_such_limit(tmp_path: Path) -> None:
    assert list(room._free_in_control_groups(tmp_path, tmp_path / "none")) == []
