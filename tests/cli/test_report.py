"""discreet report and discreet mask --report as a user runs them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run_command

from discreet.testing import hospital

POLICY = """
attributes:
  name: {role: identifier}
  ssn: {role: identifier}
  sex: {role: key, known: 0.9}
  zip: {role: key, known: 0.5}
  diagnosis: {role: confidential, sensitivity: 1.0}
  birth_date: {role: confidential, accepted: generated dates}
  admission_date: {role: confidential}
  income: {role: confidential}
  marital: {role: confidential, accepted: generated}
  bill: {role: confidential}
  days: {role: confidential, accepted: a generated count}
risk: {known_sets: {}, k_anonymity: {}}
limits: {k_anonymity.k: 1}
plan:
  steps:
    - {method: remove_identifiers}
    - {method: pram, columns: [sex]}
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, folder=folder, environment={"DISCREET_HOME": str(folder / "home"), "COLUMNS": "200"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    hospital(300).frame.write_csv(path / "stays.csv")
    (path / "policy.yaml").write_text(POLICY)
    done = run(path, "mask", "stays.csv", "masked.csv", "-p", "policy.yaml", "--report", "mask.html")
    assert done.returncode == 0, done.stderr
    return path


def test_mask_writes_its_report_with_the_hash_of_the_release_and_not_of_the_original(folder: Path) -> None:
    page = (folder / "mask.html").read_text()
    assert hashlib.sha256((folder / "masked.csv").read_bytes()).hexdigest() in page
    assert hashlib.sha256((folder / "stays.csv").read_bytes()).hexdigest() not in page
    assert "The release meets its limits" in page
    assert "pram" in page


def test_report_writes_html_and_json_and_nothing_of_an_identifier(folder: Path) -> None:
    done = run(folder, "report", "stays.csv", "masked.csv", "-p", "policy.yaml", "-o", "r.html", "--json", "r.json")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    page, machine = (folder / "r.html").read_text(), (folder / "r.json").read_text()
    assert json.loads(machine)["tables"]["original"]["records"] == 300
    for name in hospital(300).frame["ssn"].to_list() + hospital(300).frame["name"].to_list():
        assert name not in page
        assert name not in machine


@pytest.mark.parametrize("option", ["--internal", "--reveal"])
def test_the_internal_report_is_private_whatever_the_umask(folder: Path, option: str) -> None:
    place = folder / f"{option[2:]}.html"
    place.write_text("a file that others can read")
    place.chmod(0o644)
    done = run(folder, "report", "stays.csv", "masked.csv", "-p", "policy.yaml", option, "-o", place.name, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert place.stat().st_mode & 0o777 == 0o600
    assert "CONFIDENTIAL: for the data controller only" in place.read_text()
    assert "Source row" in place.read_text()
    assert ("--reveal is deprecated" in done.stderr) == (option == "--reveal")


def test_a_report_on_a_release_that_misses_a_limit_is_written_and_exits_with_1(folder: Path) -> None:
    (folder / "strict.yaml").write_text(POLICY.replace("k_anonymity.k: 1", "k_anonymity.k: 250"))
    done = run(folder, "report", "stays.csv", "masked.csv", "-p", "strict.yaml", "-o", "strict.html")
    assert done.returncode == 1, done.stderr
    assert (folder / "strict.html").exists()
    assert "Not met: the one limit is not met." in done.stderr
    assert "not met: k_anonymity.k is" in done.stderr


def test_the_former_option_is_not_in_the_help(folder: Path) -> None:
    help_text = run(folder, "report", "--help").stdout
    assert "--internal" in help_text
    assert "--reveal" not in help_text


def test_a_report_that_cannot_be_written_is_refused_before_any_work(folder: Path) -> None:
    done = run(folder, "mask", "stays.csv", "new.csv", "-p", "policy.yaml", "--report", "nowhere/r.html")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "new.csv").exists()


def test_a_report_without_a_target_file_is_refused(folder: Path) -> None:
    done = run(folder, "report", "stays.csv", "masked.csv", "-p", "policy.yaml")
    assert done.returncode == 2
    assert "report.html" in done.stderr


def test_without_altair_one_sentence_says_what_to_install(folder: Path) -> None:
    code = "import sys; sys.modules['altair'] = None; from discreet.cli import main; main()"
    arguments = ["report", "stays.csv", "masked.csv", "-p", "policy.yaml", "-o", "none.html"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'discreet[report]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "none.html").exists()


def test_a_pdf_report_is_a_pdf_file(folder: Path) -> None:
    done = run(folder, "report", "stays.csv", "masked.csv", "-p", "policy.yaml", "--pdf", "r.pdf")
    assert done.returncode == 0, done.stderr
    assert (folder / "r.pdf").read_bytes().startswith(b"%PDF-")
