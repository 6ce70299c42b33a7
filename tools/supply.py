"""The supply: which packages discreet stands on, by exact version and hash, and whether what is installed is what was locked.

    python tools/supply.py lock     writes requirements.lock: every package of constraints.txt with the hashes of its files
    python tools/supply.py sbom     writes sbom.cdx.json: the installed packages, as CycloneDX 1.5
    python tools/supply.py check    says what is installed but not locked, or changed since it was installed

The lock names versions and hashes and no place to get them from, so it works with the package index that is set up:
``pip install --require-hashes -r requirements.lock``. ``check`` needs no network: each installed file is held against
the hash in its package's RECORD, which pip wrote from the wheel.
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
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS, LOCK, SBOM = ROOT / "constraints.txt", ROOT / "requirements.lock", ROOT / "sbom.cdx.json"
OWN = ("discreet", "discreet-example", "pip", "setuptools", "wheel")
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(path: Path) -> dict[str, str]:
    """Names and versions in a lock or in constraints."""
    return {canonical(name): version for name, version in _LOCKED.findall(path.read_text(encoding="utf-8"))}


def installed() -> dict[str, Distribution]:
    """What is installed beside this program, without discreet itself and the installer."""
    found = {canonical(one.metadata["Name"]): one for one in distributions()}
    return {name: one for name, one in sorted(found.items()) if name not in OWN and not name.startswith("discreet")}


def lock() -> None:
    """Ask the index that is set up for the file of every constrained package on this platform, and write its hash."""
    call = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run", "--ignore-installed"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run([*call, "--no-deps", "--report", str(report), "-r", str(CONSTRAINTS)], check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    lines = ["# Every package with its version and the hash of its file; made by tools/supply.py lock.\n"]
    for one in sorted(found, key=lambda one: canonical(one["metadata"]["name"])):
        said = one["metadata"]
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{canonical(said['name'])}=={said['version']} \\\n    --hash=sha256:{digest}\n")
    LOCK.write_text("".join(lines), encoding="utf-8")


def sbom() -> None:
    """Write the installed packages with versions, licences and package URLs; the same set gives the same file."""
    parts = []
    for name, one in installed().items():
        version = one.version
        said = one.metadata.json
        licence = str(said.get("license_expression") or said.get("license") or "")
        parts.append(
            {
                "type": "library", "name": name, "version": version, "bom-ref": f"pkg:pypi/{name}@{version}",
                "purl": f"pkg:pypi/{name}@{version}",
                **({"licenses": [{"license": {"name": licence.splitlines()[0][:100]}}]} if licence else {}),
            }
        )  # fmt: skip
    own = next((one.version for one in distributions() if canonical(one.metadata["Name"]) == "discreet"), "0")
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "discreet", "version": own}}, "components": parts,
    }  # fmt: skip
    SBOM.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check() -> list[str]:
    """What is not as it was locked or installed."""
    known = locked(CONSTRAINTS)
    told = []
    for name, one in installed().items():
        if name not in known:
            told.append(f"{name} {one.version} is installed but not locked")
        elif known[name] != one.version:
            told.append(f"{name} is {one.version}, but {known[name]} is locked")
        told += [f"{name}: {path} is not as it was installed" for path in changed(one)]
    return told


def changed(one: Distribution) -> Iterator[str]:
    """Files of a package that differ from its RECORD."""
    record = one.read_text("RECORD")
    for path, said, _ in csv.reader((record or "").splitlines()):
        if not said or path.endswith((".pyc", "RECORD")):
            continue
        method, _, wanted = said.partition("=")
        file = Path(str(one.locate_file(path)))
        content = file.read_bytes() if file.is_file() else b""
        found = base64.urlsafe_b64encode(hashlib.new(method, content).digest()).rstrip(b"=").decode()
        if found != wanted:
            yield path


def main(arguments: list[str]) -> int:
    """Run one of the three."""
    match arguments:
        case ["lock"]:
            lock()
        case ["sbom"]:
            sbom()
        case ["check"]:
            told = check()
            print("\n".join(told) if told else f"{len(installed())} packages are as they were locked and installed")
            return 1 if told else 0
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
