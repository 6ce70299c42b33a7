"""The supply: which packages discreet stands on, by exact version and hash, and whether what is installed is what was locked.

    python tools/supply.py lock      writes requirements.lock and constraints.txt, with uv: every package of every extra, for
                                     all platforms, with the hashes of its files; versions stay as they are in constraints.txt
    python tools/supply.py sbom      writes sbom.cdx.json, with cyclonedx-py, which uv fetches: the installed packages with
                                     licences and their dependencies, and the locked hashes
    python tools/supply.py check     what is installed but not locked, or was changed since it was installed; needs no network
    python tools/supply.py verify    downloads the locked files, which pip holds against the locked hashes, and compares every
                                     installed file with them

The lock names versions and hashes and no place to get them from, so it works with the package index that is set up:
``pip install --require-hashes -r requirements.lock``. ``check`` trusts the RECORD that came with a package; ``verify`` does not.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS, LOCK, SBOM = ROOT / "constraints.txt", ROOT / "requirements.lock", ROOT / "sbom.cdx.json"
INSTALLERS = ("pip", "setuptools", "wheel")
"""What an environment may hold in another version than the locked one: it comes with Python."""
FROM_LICENCE_FILES = {
    "antlr4-python3-runtime": "BSD-3-Clause",
    "atheris": "Apache-2.0",
    "axe-playwright-python": "MIT",
    "pgserver": "Apache-2.0",
    "protobuf": "BSD-3-Clause",
}
"""Licences of packages whose metadata name none that is known, read from the licence file that they install."""
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: ; ([^\\\n]+?))?(?: \\)?$", re.MULTILINE)
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(path: Path) -> dict[str, str]:
    """Names and versions in a lock or in constraints; of a package with several versions the one for this Python."""
    pinned = _PINNED.findall(path.read_text(encoding="utf-8"))
    names = [canonical(name) for name, _, _ in pinned]
    return {
        canonical(name): version
        for name, version, marker in pinned
        if names.count(canonical(name)) == 1 or not marker or Marker(marker).evaluate()
    }


def locked_hashes(path: Path) -> dict[str, list[str]]:
    """For each package of a lock the SHA-256 hashes of its files."""
    text = path.read_text(encoding="utf-8")
    hashes: dict[str, list[str]] = {}
    for entry in _ENTRY.finditer(text):
        hashes.setdefault(canonical(entry[1]), []).extend(re.findall(r"--hash=sha256:([0-9a-f]{64})", entry[0]))
    return hashes


def installed() -> dict[str, Distribution]:
    """What is installed beside this program, without discreet itself and the installers."""
    by_name = {canonical(package.metadata["Name"]): package for package in distributions()}
    return {
        name: package for name, package in sorted(by_name.items()) if name not in INSTALLERS and not name.startswith("discreet")
    }


def lock() -> None:
    """Resolve every extra for all platforms, and write versions with hashes to the lock and versions to the constraints."""
    uv = Path(sys.executable).parent / "uv"
    options = ["--all-extras", "--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--no-annotate"]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "lock"
        call = [str(uv), "pip", "compile", "--quiet", str(ROOT / "pyproject.toml"), *options, "-c", str(CONSTRAINTS), "-o"]
        subprocess.run([*call, str(output)], check=True)
        text = output.read_text(encoding="utf-8")
    LOCK.write_text("# Every package with its version and the hashes of its files; made by tools/supply.py lock.\n" + text)
    lines = [f"{name}=={version}" + (f" ; {marker}" if marker else "") for name, version, marker in _PINNED.findall(text)]
    CONSTRAINTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sbom() -> None:
    """Write the bill of materials of this environment with the hashes of the lock."""
    # in an environment of its own: a dependency of it makes each import of jsonschema, so each chart, two seconds slower
    call = [str(Path(sys.executable).parent / "uv"), "tool", "run", "--quiet", "--from", "cyclonedx-bom>=7,<8", "cyclonedx-py"]
    call += ["environment", "--output-reproducible", "--short-PURLs", "--spec-version", "1.6"]
    call += ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application", sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "sbom.json"
        subprocess.run([*call, "-o", str(output)], check=True)
        content = json.loads(output.read_text(encoding="utf-8"))
    SBOM.write_text(json.dumps(with_hashes(content, locked_hashes(LOCK)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def with_hashes(content: dict[str, Any], hashes: dict[str, list[str]]) -> dict[str, Any]:
    """A bill of materials with the locked hashes, without links to other places, discreet's own parts and the installers."""
    parts = [
        {"licenses": _concluded_licence(part["name"])}
        | {key: value for key, value in part.items() if key != "externalReferences"}
        | {"hashes": [{"alg": "SHA-256", "content": digest} for digest in hashes[canonical(part["name"])]]}
        for part in content["components"]
        if canonical(part["name"]) in hashes and canonical(part["name"]) not in INSTALLERS
    ]
    references = {part["bom-ref"] for part in parts} | {content["metadata"]["component"]["bom-ref"]}
    graph = [
        edge | ({"dependsOn": sorted(references.intersection(edge["dependsOn"]))} if "dependsOn" in edge else {})
        for edge in content["dependencies"]
        if edge["ref"] in references
    ]
    metadata = {key: value for key, value in content["metadata"].items() if key != "tools"}
    return {**content, "metadata": metadata, "components": parts, "dependencies": graph}


def _concluded_licence(name: str) -> list[dict[str, Any]]:
    licence = FROM_LICENCE_FILES.get(canonical(name))
    return [{"license": {"acknowledgement": "concluded", "id": licence}}] if licence else []


def check() -> list[str]:
    """What is not as it was locked or installed."""
    known = locked(LOCK)
    faults = []
    for name, package in installed().items():
        if name not in known:
            faults.append(f"{name} {package.version} is installed but not locked")
        elif known[name] != package.version:
            faults.append(f"{name} is {package.version}, but {known[name]} is locked")
        faults += [f"{name}: {path} is not as it was installed" for path in changed(package)]
    return faults


def changed(package: Distribution) -> Iterator[str]:
    """Files of a package that differ from its RECORD."""
    record = package.read_text("RECORD")
    for path, recorded, _ in csv.reader((record or "").splitlines()):
        if not recorded or path.endswith((".pyc", "RECORD")):
            continue
        method, _, expected = recorded.partition("=")
        file = Path(str(package.locate_file(path)))
        content = file.read_bytes() if file.is_file() else b""
        measured = base64.urlsafe_b64encode(hashlib.new(method, content).digest()).rstrip(b"=").decode()
        if measured != expected:
            yield path


def verify(lock_file: Path = LOCK, packages: dict[str, Distribution] | None = None, options: Sequence[str] = ()) -> list[str]:
    """Installed files that differ from the locked archives; pip refuses an archive whose hash is not in the lock."""
    chosen = installed() if packages is None else packages
    entries = {canonical(entry[1]): entry[0] for entry in _ENTRY.finditer(lock_file.read_text(encoding="utf-8"))}
    faults = [f"{name} is installed but not locked" for name in chosen if name not in entries]
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text("".join(text for name, text in entries.items() if name in chosen), encoding="utf-8")
        call = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
        ]
        done = subprocess.run([*call, *options, "-d", folder, "-r", str(wanted)], capture_output=True, text=True, check=False)
        if done.returncode:
            return [*faults, f"the locked files cannot be had: {done.stderr.strip()[-600:]}"]
        for archive in sorted(Path(folder).glob("*.whl")):
            name = canonical(archive.name.partition("-")[0])
            faults += [f"{name}: {path} is not as in the locked file" for path in differing_files(archive, chosen[name])]
    return faults


def differing_files(archive: Path, package: Distribution) -> Iterator[str]:
    """Files of a wheel whose installed copies have another content."""
    with zipfile.ZipFile(archive) as content:
        for name in content.namelist():
            if name.endswith(("/", "/RECORD", ".pyc")) or ".data/" in name:  # scripts are rewritten when they are installed
                continue
            file = Path(str(package.locate_file(name)))
            if not file.is_file() or file.read_bytes() != content.read(name):
                yield name


def main(arguments: list[str]) -> int:
    """Run one of the four."""
    match arguments:
        case ["lock"]:
            lock()
        case ["sbom"]:
            sbom()
        case ["check" | "verify"]:
            faults = check() if arguments == ["check"] else verify()
            print("\n".join(faults) if faults else f"{len(installed())} packages are as they were locked")
            return 1 if faults else 0
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
