"""make trust: run the long version of every promise and write what was seen into docs/trust.md.

A promise is a test with the mark ``@pytest.mark.trust(area, promise)``, wherever under tests/ it stands. It tries as often
as its fixture ``effort(quick, long)`` says (``--quick`` runs the quick version), and tells its figures with pytest's
``record_property(name, number)``; its random faults start from the fixture ``seed``. Nothing else is needed to stand in
the table.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "trust.md"
AREAS = ("Nothing lost", "Nobody in", "The gate", "Nothing leaks", "Bad input", "Under load", "Supply")
NOT_RUN = "not yet run at length"
"""In place of what was seen, in the row of a promise that is newer than the last run."""
KEPT = ROOT / ".cache" / "trust"
"""What the last run said, for `--again`."""
ALONE = ("tests/trust/test_load.py",)
"""Run last and with nothing beside it: it measures how long answers take."""
HEAD = """# What it survived

discreet holds other people's secrets. This page says what is promised, which test holds each promise, and what was seen when
`make trust` ran last: it runs the tests below at length, with faults at random moments, and writes this page from what ran.
`make test` runs the same tests with fewer tries. `DISCREET_SEED=… make trust` repeats a run.

## What an intruder can and cannot do

In hand: the release, its `.cells.yaml`, the public report, the policy that `mask --write-policy` wrote, and this package.

| whether | what |
|---|---|
| can | read every released value, and what each label stands for; repeat every measure of the release alone |
| can | use knowledge from elsewhere about people who are in the release: that is what the risk measures measure |
| cannot | put rows back into the order of the source, or take noise, swapping, PRAM or sampling back: draws need a secret key |
| cannot | solve two releases of one table for its values: another plan, another table or another release number has other draws |
| cannot | tie a row to one of the source by the report: it has no rows, exact risks, hash of the original or small counts |

The policy holds an id of the key that says nothing about it. Whoever holds the key as well can do all of this: it protects the
release for as long as it stays in the owner's key ring (see [keys](how-to/keys.md)). A release made with a
numeric `plan.seed` is not protected, and no verdict on it is met. The tests are
`tests/trust/test_undoing.py` and `tests/trust/test_report_undoing.py`.
"""


@dataclass
class Promise:
    """One row: what is promised, the tests that hold it, and what they counted."""

    area: str
    text: str
    tests: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)
    failed: int = 0
    cases: int = 0


def main(arguments: list[str]) -> int:
    """Run and write; the exit status is the worst of pytest's. ``--again`` runs only what the last run found broken.

    ``--missing`` runs what was not yet run at length, and fills in these rows.
    """
    quick, again = "--quick" in arguments, "--again" in arguments
    rest = [argument for argument in arguments if argument not in ("--quick", "--again", "--missing")]
    if "--missing" in arguments:
        return fill_in_missing(rest)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        records = [Path(folder) / "together.xml", Path(folder) / "alone.xml"]
        if again:
            if missing := [record.name for record in records if not (KEPT / record.name).exists()]:
                print(f"there is no earlier run to repeat a part of ({', '.join(missing)} not in {KEPT}); run without --again")
                return 2
            earlier = [ET.parse(KEPT / record.name).getroot() for record in records]
            failed = [name(case) for root in earlier for case in root.iter("testcase") if is_broken(case)]
            status = run(records[0], ["-n", "0", *failed, *rest], quick=quick) if failed else 0
            roots = put(earlier, ET.parse(records[0]).getroot()) if failed else earlier
        else:
            others = ["-n", "2", "--dist", "worksteal", "tests", *(f"--ignore={file}" for file in ALONE)]
            together = run(records[0], [*others, *rest], quick=quick)
            status = run(records[1], ["-n", "0", *ALONE, *rest], quick=quick) or together
            if not all(record.exists() for record in records):
                return status or 1
            roots = [ET.parse(record).getroot() for record in records]
    seconds = time.monotonic() - started + (float(roots[0].get("spent") or 0) if again else 0.0)
    roots[0].set("spent", str(seconds))
    KEPT.mkdir(parents=True, exist_ok=True)
    for root, record in zip(roots, records, strict=True):
        ET.ElementTree(root).write(KEPT / record.name)
    promises = read(roots)
    PAGE.write_text(page(promises, seconds, quick=quick), encoding="utf-8")
    broken = sum(promise.failed for promise in promises)
    print(f"{len(promises)} promises, {broken} broken, in {seconds / 60:.1f} minutes: {PAGE.relative_to(ROOT)}")
    return status


def fill_in_missing(rest: list[str]) -> int:
    """Run the tests of rows that were not run at length, one after the other, and write what was seen into these rows."""
    text = PAGE.read_text(encoding="utf-8")
    missing = [line for line in text.splitlines() if line.endswith(f"| {NOT_RUN} |")]
    tests = [f"tests/{test}" for line in missing for test in re.findall(r"`([^`]+::[^`]+)`", line)]
    if not tests:
        print("every promise was run at length")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "missing.xml"
        status = run(record, ["-n", "0", *tests, *rest], quick=False)
        promises = {promise.text: promise for promise in read([ET.parse(record).getroot()])}
    today = dt.datetime.now(tz=dt.UTC).date()
    for line in missing:
        if (promise := promises.get(line.split(" | ")[0].removeprefix("| "))) is not None:
            seen = f"{_figures(promise)} ({today})"
            text = text.replace(line, f"{line.removesuffix(f'| {NOT_RUN} |')}| {seen} |")
    PAGE.write_text(text, encoding="utf-8")
    print(f"{len(promises)} promises, {sum(promise.failed for promise in promises.values())} broken: {PAGE.relative_to(ROOT)}")
    return status


def name(case: ET.Element) -> str:
    """What pytest calls a test."""
    return f"{case.get('file')}::{case.get('name')}"


def is_broken(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def put(earlier: list[ET.Element], fresh: ET.Element) -> list[ET.Element]:
    """The cases of a new run in the place of the same ones of an earlier run, marked as tried again."""
    new = {name(case): case for case in fresh.iter("testcase")}
    for root in earlier:
        for suite in [root, *root.iter("testsuite")]:
            for at, case in enumerate(list(suite)):
                if case.tag == "testcase" and (other := new.get(name(case))) is not None:
                    properties = other.find("properties")
                    if properties is None:
                        properties = ET.SubElement(other, "properties")
                    ET.SubElement(properties, "property", {"name": "tried again", "value": "1"})
                    suite[at] = other
    return earlier


def run(record: Path, arguments: list[str], *, quick: bool) -> int:
    """Run marked tests and write their results to a file; returns the exit status."""
    call = [
        sys.executable, "-m", "pytest", "-m", "trust", "-p", "no:doctest", f"--junitxml={record}", "-o", "junit_family=xunit1",
        "-o", "addopts=-q --strict-markers --import-mode=importlib", *arguments,
    ]  # fmt: skip
    how = {} if quick else {"DISCREET_TRUST": "long"}
    return subprocess.run(call, cwd=ROOT, env=os.environ | how, check=False).returncode


def read(roots: list[ET.Element]) -> list[Promise]:
    """The promises of some runs, the cases of a parametrized test taken together."""
    promises: dict[tuple[str, str], Promise] = {}
    for case in (case for root in roots for case in root.iter("testcase")):
        properties = [(entry.get("name") or "", entry.get("value") or "") for entry in case.iter("property")]
        known = dict(properties)
        if "promise" not in known:
            continue
        promise = promises.setdefault((known["area"], known["promise"]), Promise(known["area"], known["promise"]))
        promise.cases += 1
        promise.failed += is_broken(case)
        test = f"{(case.get('file') or '').removeprefix('tests/')}::{(case.get('name') or '').partition('[')[0]}"
        if test not in promise.tests:
            promise.tests.append(test)
        for name, value in properties:
            if name == "seed":
                promise.seeds.append(value)
            elif name not in ("area", "promise"):
                promise.figures[name] = promise.figures.get(name, 0) + float(value)
    place = {area: at for at, area in enumerate(AREAS)}
    return sorted(promises.values(), key=lambda promise: place.get(promise.area, len(AREAS)))


def page(promises: list[Promise], seconds: float, *, quick: bool = False) -> str:
    """The page: one table per area."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    today = dt.datetime.now(tz=dt.UTC).date()
    parts = [
        HEAD,
        f"Last run: {today}, {seconds / 60:.0f} minutes, {machine}{', with the few tries of `make test`' if quick else ''}.\n",
    ]
    for area in dict.fromkeys(promise.area for promise in promises):
        parts.append(f"## {area}\n\n| promise | held by | last run |\n|---|---|---|")
        parts += [f"| {promise.text} | {_tests(promise)} | {_figures(promise)} |" for promise in promises if promise.area == area]
        parts.append("")
    return "\n".join(parts)


def _tests(promise: Promise) -> str:
    return ", ".join(f"`{test}`" for test in promise.tests)


def _figures(promise: Promise) -> str:
    figures = [f"{value:,.0f} {name}" for name, value in promise.figures.items()]
    if promise.cases > 1 and not figures:
        figures.append(f"{promise.cases} cases")
    if promise.seeds:
        figures.append(f"seed {promise.seeds[0]}")
    return "; ".join([*figures, f"**{promise.failed} broken**" if promise.failed else "kept"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
