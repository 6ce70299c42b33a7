"""What is installed is what was locked, by version and hash, and the bill of materials names it all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import tomllib
import zipfile
from importlib.metadata import PathDistribution, requires
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from scripts import load_tool

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    return load_tool("supply")


@pytest.mark.trust("Supply", "Every package is locked by version and hash, and the lock names no place to get it from")
def test_the_lock_names_every_constrained_package_with_a_hash(supply: ModuleType) -> None:
    assert supply.locked(supply.LOCK) == supply.locked(supply.CONSTRAINTS), "run: python tools/supply.py lock"
    hashes = supply.locked_hashes(supply.LOCK)
    assert set(hashes) == set(supply.locked(supply.LOCK))
    assert all(hashes.values())
    assert "://" not in supply.LOCK.read_text()


def test_the_lock_satisfies_every_requirement_of_the_project(supply: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    versions = supply.locked(supply.LOCK)
    for requirement in map(Requirement, wanted):
        if requirement.name != "discreet":
            assert requirement.specifier.contains(versions[supply.canonical(requirement.name)]), f"{requirement} is not locked"


@pytest.mark.trust("Supply", "What is installed is what was locked, and no file of it was changed since")
def test_what_is_installed_is_what_was_locked(supply: ModuleType) -> None:
    assert supply.check() == []


@pytest.fixture(scope="module")
def bill(supply: ModuleType) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(supply.SBOM.read_text(encoding="utf-8"))
    return content


@pytest.mark.trust("Supply", "The bill of materials names every package")
def test_the_bill_of_materials_is_whole(supply: ModuleType, bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {supply.canonical(part["name"]): part["version"] for part in bill["components"]}
    versions = supply.locked(supply.LOCK)
    assert listed == {name: versions[name] for name in listed}, "run: python tools/supply.py sbom"
    for_others = {name for name in versions if name not in listed and name not in supply.INSTALLERS}
    text = supply.CONSTRAINTS.read_text(encoding="utf-8")
    assert all(re.search(rf"^{re.escape(name)}==\S+ ; ", text, re.MULTILINE) for name in for_others), for_others


def test_each_package_of_the_bill_has_its_hashes_its_licence_and_its_place_in_the_graph(
    supply: ModuleType, bill: dict[str, Any]
) -> None:
    hashes = supply.locked_hashes(supply.LOCK)
    for part in bill["components"]:
        assert {entry["content"] for entry in part["hashes"]} == set(hashes[supply.canonical(part["name"])]), part["name"]
        assert part["licenses"], part["name"]
    reached, graph = set(), {edge["ref"]: edge.get("dependsOn", []) for edge in bill["dependencies"]}
    pending = [bill["metadata"]["component"]["bom-ref"]]
    while pending:
        reached.add(pending[-1])
        pending += [name for name in graph[pending.pop()] if name not in reached]
    assert {part["bom-ref"] for part in bill["components"]} <= reached
    assert not re.findall(r"https?://(?!cyclonedx.org)", supply.SBOM.read_text(encoding="utf-8"))


def test_the_licences_of_the_base_are_permissive(supply: ModuleType, bill: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licences = {supply.canonical(part["name"]): json.dumps(part["licenses"]) for part in bill["components"]}
    pending, base = [Requirement(text) for text in project["dependencies"]], set()
    while pending:
        name = supply.canonical(pending.pop().name)
        if name not in base:
            base.add(name)
            needed = (Requirement(text) for text in requires(name) or [])
            pending += [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert len(base) > 10
    copyleft = {name for name in base if "GPL" in licences[name] or "Mozilla" in licences[name] or "MPL" in licences[name]}
    # the check digits of national numbers: a library of its own, imported as it is, which the analyzer must not be without
    assert copyleft == {"python-stdnum"}


def write_wheel(path: Path, code: str) -> str:
    """Write a wheel with one module; the SHA-256 of its file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(code.encode()).digest()).rstrip(b"=").decode()
    record = f"thing.py,sha256={digest},{len(code)}\nthing-1.dist-info/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing.py", code)
        archive.writestr("thing-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
        archive.writestr("thing-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("thing-1.dist-info/RECORD", record)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_package_from_a_tampered_wheel_is_not_taken_for_the_locked_one(supply: ModuleType, tmp_path: Path) -> None:
    good, bad, site = tmp_path / "good", tmp_path / "bad", tmp_path / "site"
    good.mkdir(), bad.mkdir()
    lock = tmp_path / "lock"
    lock.write_text(f"thing==1 \\\n    --hash=sha256:{write_wheel(good / 'thing-1-py3-none-any.whl', 'x = 1')}\n")
    write_wheel(bad / "thing-1-py3-none-any.whl", "import os")
    options = ["--no-index", "--find-links", str(good)]

    def installed_from(folder: Path) -> dict[str, PathDistribution]:
        shutil.rmtree(site, ignore_errors=True)
        with zipfile.ZipFile(folder / "thing-1-py3-none-any.whl") as archive:
            archive.extractall(site)
        return {"thing": PathDistribution(site / "thing-1.dist-info")}

    assert supply.verify(lock, installed_from(good), options) == []
    tampered = installed_from(bad)
    assert list(supply.changed(tampered["thing"])) == []  # its own RECORD agrees with it
    assert "thing: thing.py is not as in the locked file" in supply.verify(lock, tampered, options)
    refused = supply.verify(lock, tampered, ["--no-index", "--find-links", str(bad)])
    assert len(refused) == 1
    assert "cannot be had" in refused[0]


def test_a_changed_file_is_found(supply: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "thing-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: thing\nVersion: 1\n")
    (folder / "RECORD").write_text("thing.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    (tmp_path / "thing.py").write_text("")
    assert list(supply.changed(PathDistribution(folder))) == []
    (tmp_path / "thing.py").write_text("import os")
    assert list(supply.changed(PathDistribution(folder))) == ["thing.py"]
