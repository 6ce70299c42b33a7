"""What the base install says where a command needs an extra: by name, in one sentence, with nothing written.

    python tools/extra_needed.py path/to/discreet

runs each command below with a ``discreet`` that was installed without extras.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

POLICY = """attributes:
  age: {role: key}
  sex: {role: key}
  income: {role: confidential}
risk: {k_anonymity: {}}
limits: {k_anonymity.k: 2}
plan: {steps: [{method: rounding, columns: [age], base: 10}]}
"""
TABLE = "age,sex,income\n" + "".join(f"{20 + row % 9},{'fm'[row % 2]},{1000 + row % 7}\n" for row in range(90))

COMMANDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("convert", "table.csv", "out.xlsx"), "formats"),
    (("convert", "table.csv", "out.sav"), "formats"),
    (("convert", "table.csv", "out.dta"), "formats"),
    (("convert", "book.xlsx", "out.csv"), "formats"),
    (("convert", "survey.sav", "out.csv"), "formats"),
    (("convert", "table.csv", "sqlite:///out.db#t"), "databases"),
    (("convert", "duckdb:///out.duckdb#t", "out.csv"), "databases"),
    (("risk", "postgresql://anna@127.0.0.1:1/base#t", "-p", "policy.yaml"), "databases"),
    (("risk", "mysql://anna@127.0.0.1:1/base#t", "-p", "policy.yaml"), "databases"),
    (("risk", "odbc://clinic#t", "-p", "policy.yaml"), "odbc"),
    (("risk", "s3://bucket/t.csv", "-p", "policy.yaml"), "cloud"),
    (("risk", "table.csv", "-p", "policy.yaml", "--engine", "spark"), "spark"),
    (("select", "table.csv", "-p", "policy.yaml", "-o", "chosen.yaml", "--trials", "2"), "select"),
    (("report", "table.csv", "table.csv", "-p", "policy.yaml", "-o", "report.html"), "report"),
    (("assess", "table.csv", "table.csv", "-p", "linkage.yaml"), "linkage"),
    (("serve", "--port", "0", "--home", "home"), "web"),
    (("user", "list", "--home", "home"), "web"),
    (("backup", "all.backup", "--home", "home"), "web"),
    (("restore", "table.csv", "--home", "home"), "web"),
)
"""Commands that need an extra, with its name."""

BASE_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("methods",),
    ("measures",),
    ("convert", "table.csv", "table.parquet"),
    ("convert", "table.parquet", "table.arrow"),
    ("convert", "table.arrow", "table.jsonl"),
    ("analyze", "table.csv"),
    ("risk", "table.csv", "-p", "policy.yaml", "--json"),
    ("mask", "table.csv", "masked.csv", "-p", "policy.yaml"),
    ("assess", "table.csv", "masked.csv", "-p", "policy.yaml"),
    ("loss", "table.csv", "masked.csv", "-p", "policy.yaml"),
)
"""Commands that the base install runs, in this order."""


def write_inputs(folder: Path) -> None:
    """Write the tables and policies that the commands name; those of formats that the base cannot read are empty."""
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "linkage.yaml").write_text(
        POLICY.replace("k_anonymity: {}", "record_linkage: {}, k_anonymity: {}"), encoding="utf-8"
    )
    for name in ("book.xlsx", "survey.sav"):
        (folder / name).write_bytes(b"")


def find_faults(program: Sequence[str], folder: Path) -> Iterator[str]:
    """Run every command in the folder; one line per command that does not do what it should."""
    write_inputs(folder)
    for command in BASE_COMMANDS:
        done = _run(program, command, folder)
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            yield f"the base install cannot run: discreet {' '.join(command)}: {done.stderr.strip()[-400:]}"
    for command, extra in COMMANDS:
        before = set(folder.iterdir())
        done = _run(program, command, folder)
        sentence = done.stderr.strip()
        expected = f"pip install 'discreet[{extra}]'"
        last = sentence.splitlines()[-1:]  # a slow machine shows progress before
        if done.returncode != 2 or not any(expected in line for line in last) or "Traceback" in sentence:
            yield f"discreet {' '.join(command)} should say {expected}, but exits with {done.returncode}: {sentence[-400:]}"
        if left := {path.name for path in set(folder.iterdir()) - before}:
            yield f"discreet {' '.join(command)} left {', '.join(sorted(left))}"


def _run(program: Sequence[str], command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program, *command], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=300
    )


def main(arguments: Sequence[str]) -> int:
    """Check the program that is named."""
    import tempfile

    if len(arguments) != 1:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        faults = list(find_faults([str(Path(arguments[0]).absolute())], Path(folder)))
    print(
        "\n".join(faults) if faults else f"{len(BASE_COMMANDS) + len(COMMANDS)} commands of the base install do what they should"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
