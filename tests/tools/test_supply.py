"""What is installed is what was locked, by version and hash, and the bill of materials names it all."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    spec = importlib.util.spec_from_file_location("supply", ROOT / "tools" / "supply.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.trust("Supply", "Every package is locked by version and hash, and the lock names no place to get it from")
def test_the_lock_names_every_constrained_package_with_a_hash(supply: ModuleType) -> None:
    assert supply.locked(supply.LOCK) == supply.locked(supply.CONSTRAINTS), "run: python tools/supply.py lock"
    entries = [part for part in supply.LOCK.read_text().split("\n") if part and not part.startswith("#")]
    assert len(entries) == 2 * len(supply.locked(supply.CONSTRAINTS))
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in entries[1::2])
    assert "://" not in supply.LOCK.read_text()


@pytest.mark.trust("Supply", "What is installed is what was locked, and no file of it was changed since")
def test_what_is_installed_is_what_was_locked(supply: ModuleType) -> None:
    assert supply.check() == []


@pytest.mark.trust("Supply", "The bill of materials names every package")
def test_the_bill_of_materials_is_whole(supply: ModuleType) -> None:
    content = json.loads(supply.SBOM.read_text())
    assert content["bomFormat"] == "CycloneDX"
    listed = {one["name"]: one["version"] for one in content["components"]}
    assert listed == supply.locked(supply.CONSTRAINTS), "run: python tools/supply.py sbom"


def test_a_changed_file_is_found(supply: ModuleType, tmp_path: Path) -> None:
    from importlib.metadata import PathDistribution

    folder = tmp_path / "thing-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: thing\nVersion: 1\n")
    (folder / "RECORD").write_text("thing.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    (tmp_path / "thing.py").write_text("")
    assert list(supply.changed(PathDistribution(folder))) == []
    (tmp_path / "thing.py").write_text("import os")
    assert list(supply.changed(PathDistribution(folder))) == ["thing.py"]
