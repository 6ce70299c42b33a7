"""What a policy may name: anything of its owner's machine, or, on a server, only files of its own folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.engine.encoding.policy_paths import read_variable, resolve_address, resolve_path
from discreet.errors import PolicyError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

FRAME = pl.DataFrame({"name": ["a", "b", "c"], "zip": ["1", "2", "3"], "age": [1, 2, 3]})
ATTRIBUTES = {"name": {"role": "person"}, "zip": {"role": "key"}, "age": {"role": "key"}}


def confined(folder: Path, content: dict[str, Any] | None = None) -> Policy:
    return Policy.from_dict(content or {}, folder=str(folder), confined=True)


@pytest.mark.trust("Nobody in", "A policy on a server reaches no file, address or variable outside its project")
@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "inner/../../secret", "~/secret", "link", "linked/secret"])
def test_nothing_outside_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path)
    with pytest.raises(PolicyError, match="only files of its own project"):
        resolve_path(confined(folder), name)
    assert resolve_path(Policy.from_dict({}, folder=str(folder)), name)


def test_files_of_the_folder_and_nothing_else(tmp_path: Path) -> None:
    policy = confined(tmp_path)
    assert resolve_path(policy, "zips.csv") == tmp_path / "zips.csv"
    assert resolve_path(policy.with_(attributes={}), "inner/zips.csv") == tmp_path / "inner" / "zips.csv"
    with pytest.raises(PolicyError):
        resolve_address(policy.with_(limits={}), "postgresql://host/db#table")
    with pytest.raises(PolicyError):
        read_variable(policy, "HOME")
    with pytest.raises(PolicyError):
        resolve_path(Policy.from_dict({}, confined=True), "zips.csv")
    assert read_variable(Policy(), "HOME") == os.environ.get("HOME")
    assert resolve_address(Policy(), "sqlite:///x#y") == "sqlite:///x#y"


@pytest.mark.parametrize(
    "content",
    [
        {"attributes": {**ATTRIBUTES, "zip": {"role": "key", "hierarchy": {"file": "/etc/hosts"}}},
         "plan": {"steps": [{"method": "generalization", "columns": ["zip"], "k": 2}]}},
        {"attributes": ATTRIBUTES, "plan": {"steps": [{"method": "pseudonymization", "columns": ["name"], "key_env": "PATH"}]}},
        {"attributes": ATTRIBUTES, "plan": {"steps": [{"method": "pseudonymization", "columns": ["name"], "key_file": "/x"}]}},
    ],
)  # fmt: skip
def test_masking_methods_resolve_files_through_the_policys_folder(tmp_path: Path, content: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="only files of its own project"):
        discreet.mask(Microdata(FRAME, confined(tmp_path, content)))


@pytest.mark.parametrize("source", ["/etc/passwd", "sqlite:////etc/passwd#users", "../other/targets.csv"])
def test_measures_resolve_files_through_the_policys_folder(tmp_path: Path, source: str) -> None:
    data = Microdata(FRAME, confined(tmp_path, {"attributes": ATTRIBUTES}))
    with pytest.raises(PolicyError, match="only files of its own project"):
        discreet.risk(data, {"target_linkage": {"targets": source}})
