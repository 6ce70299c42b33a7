"""What Spark wrote is put in the target's place, and a target that cannot be replaced stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.engine.spark.target import _swap


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "part").write_text(text)
    return path


@pytest.mark.parametrize("kind", ["nothing", "a folder", "a file", "a link"])
def test_a_folder_takes_the_place_of_whatever_was_there(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "target"
    if kind == "a folder":
        folder(path, "old")
    elif kind == "a file":
        path.write_text("old")
    elif kind == "a link":
        path.symlink_to(folder(tmp_path / "elsewhere", "old"))
    _swap(folder(tmp_path / ".new", "new"), path)
    assert (path / "part").read_text() == "new"
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"target"} | ({"elsewhere"} if kind == "a link" else set())


def test_what_cannot_be_put_there_leaves_the_old_one(tmp_path: Path) -> None:
    path = folder(tmp_path / "target", "old")
    with pytest.raises(FileNotFoundError):
        _swap(tmp_path / "was never written", path)
    assert (path / "part").read_text() == "old"
    assert {one.name for one in tmp_path.iterdir()} == {"target"}
