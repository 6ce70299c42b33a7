"""The command line as a user sees it: numbers on standard output, one sentence on standard error, exit status 0, 1 or 2."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command_line import run_command
from patience import patient, wait_until

import discreet

Run = Callable[..., tuple[int, str, str]]

TABLE = """Name,SSN,Age,State,Diagnosis,Income
John Wayne,012345678,44,MI,AIDS,"45,500"
Mary Gore,323232323,44,MI,Asthma,"37,900"
John Banks,232345656,55,MI,AIDS,"67,000"
Jesse Casey,333333333,44,MI,Asthma,"21,000"
Jack Stone,444444444,55,MI,Asthma,"90,000"
"""
POLICY = """
attributes:
  Name: {role: identifier}
  SSN: {role: identifier}
  Age: {role: key, known: 0.3}
  State: {role: key, known: 0.6}
  Diagnosis: {role: confidential, sensitivity: 1.0, values: {AIDS: 1.0}}
  Income: {role: confidential, known: 0.005}
risk:
  known_sets: {alpha: 1, epsilon: 0.01, threshold: 0.3}
  k_anonymity: {}
limits: {k_anonymity.k: 2}
plan:
  steps:
    - {method: remove_identifiers}
    - {method: rounding, columns: [Income], base: 1000}
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command line in a folder with a table and its policy."""
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE)
    Path("policy.yaml").write_text(POLICY)

    def call(*arguments: str) -> tuple[int, str, str]:
        done = run_command(*arguments, folder=tmp_path)
        return done.returncode, done.stdout, done.stderr

    return call


def test_risk_prints_one_json_object_in_the_pinned_form(run: Run) -> None:
    code, out, _ = run("risk", "table.csv", "-p", "policy.yaml", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["records"] == 5
    assert result["measures"]["k_anonymity"] == {
        "k": 2,
        "classes": 2,
        "unique": 0,
        "violating_2": 0,
        "violating_3": 2,
        "violating_5": 5,
    }
    assert result["measures"]["known_sets"]["sets"] == 4


def test_one_measure_can_be_selected(run: Run) -> None:
    code, out, _ = run("risk", "table.csv", "-p", "policy.yaml", "-m", "k_anonymity", "--json")
    assert code == 0
    assert list(json.loads(out)["measures"]) == ["k_anonymity"]


@pytest.mark.parametrize("target", ["records.parquet", "records.csv", "records.xlsx"])
def test_minimal_sets_of_each_record_are_written_beside_other_measures(
    run: Run, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr("discreet.risks.special_uniques.listing.BATCH", 2)
    monkeypatch.setattr("discreet.cli.records._ROWS", 3)
    words = ("risk", "table.csv", "-p", "policy.yaml", "-m", "k_anonymity", "-m", "special_uniques", "--records", target)
    assert run(*words)[0] == 0
    records = discreet.read(target).frame
    assert records["k_anonymity.class_size"].to_list() == [3, 3, 2, 3, 2]
    data = discreet.read("table.csv", "policy.yaml")
    score = discreet.risk(data, "special_uniques")["special_uniques"]
    assert records["special_uniques.minimal_uniques"].to_list() == score.per_record["minimal_uniques"].to_list()
    for text, number in zip(records["special_uniques.sets"], score.per_record["minimal_uniques"], strict=True):
        assert len(text.split("; ") if text else []) == number


def test_records_are_written_in_the_order_of_the_source(run: Run) -> None:
    assert run("risk", "table.csv", "-p", "policy.yaml", "--records", "records.parquet")[0] == 0
    records = pl.read_parquet("records.parquet")
    assert records["k_anonymity.class_size"].to_list() == [3, 3, 2, 3, 2]
    assert {"known_sets.risk", "known_sets.lower", "known_sets.upper", "known_sets.top_set"} <= set(records.columns)


def test_explain_describes_one_record_in_sentences(run: Run) -> None:
    code, out, _ = run("risk", "table.csv", "-p", "policy.yaml", "-m", "known_sets", "--explain", "3")
    assert code == 0
    assert "record 3 of 5" in out
    assert "would learn Diagnosis (1)" in out


def test_mask_writes_the_release_without_identifiers(run: Run) -> None:
    code, out, _ = run("mask", "table.csv", "out.csv", "-p", "policy.yaml", "--json")
    assert code == 0
    assert json.loads(out)["ok"]
    text = Path("out.csv").read_text()
    assert "John" not in text
    assert "012345678" not in text
    assert sorted(pl.read_csv("out.csv")["Income"].to_list()) == [21000, 38000, 46000, 67000, 90000]


def test_rows_stay_in_the_order_of_the_source_where_the_plan_says_so(run: Run) -> None:
    Path("kept.yaml").write_text(POLICY.replace("plan:\n", "plan:\n  order: kept\n"))
    assert run("mask", "table.csv", "out.csv", "-p", "kept.yaml")[0] == 0
    assert pl.read_csv("out.csv")["Income"].to_list() == [46000, 38000, 67000, 21000, 90000]


def test_identifiers_that_no_step_masks_are_reported(run: Run) -> None:
    Path("none.yaml").write_text("attributes: {Name: {role: identifier}, SSN: {role: identifier}}")
    code, _, err = run("mask", "table.csv", "out.csv", "-p", "none.yaml")
    assert code == 0
    assert "no step masks Name, SSN, which identify people, so they are left out" in err
    assert "John" not in Path("out.csv").read_text()
    Path("none.yaml").write_text(Path("none.yaml").read_text() + "\nplan: {identifiers: kept}")
    code, _, err = run("mask", "table.csv", "out.csv", "-p", "none.yaml", "--overwrite")
    assert code == 0
    assert "still identifies people by Name, SSN" in err
    assert "John" in Path("out.csv").read_text()


def test_a_limit_that_is_not_met_is_exit_1_and_says_by_how_much(run: Run) -> None:
    Path("strict.yaml").write_text(POLICY.replace("k_anonymity.k: 2", "k_anonymity.k: 3"))
    run("mask", "table.csv", "out.csv", "-p", "policy.yaml")
    for call in (["mask", "table.csv", "out2.csv"], ["assess", "table.csv", "out.csv"]):
        code, _, err = run(*call, "-p", "strict.yaml")
        assert code == 1
        assert "k_anonymity.k is 2; at least 3 is required (off by 1)" in err


def test_assess_agrees_with_measures_taken_one_by_one(run: Run) -> None:
    run("mask", "table.csv", "out.csv", "-p", "policy.yaml")
    code, out, _ = run("assess", "table.csv", "out.csv", "-p", "policy.yaml", "--json")
    assessment = json.loads(out)
    assert code == 0
    after = json.loads(run("risk", "out.csv", "-p", "policy.yaml", "--json")[1])["measures"]
    losses = json.loads(run("loss", "table.csv", "out.csv", "-p", "policy.yaml", "--json")[1])["measures"]
    measured = {name: risk["after"] for name, risk in assessment["risks"].items()}
    assert "coverage" in measured, "measured in every assessment, whatever the policy names"
    assert {name: measured[name] for name in after} == after
    assert assessment["losses"] == losses


def test_convert_to_a_database_and_back_keeps_the_values(run: Run) -> None:
    assert run("convert", "table.csv", "sqlite:///t.db#people")[0] == 0
    assert run("convert", "sqlite:///t.db#people", "back.parquet")[0] == 0
    table = pl.read_parquet("back.parquet")
    assert table["SSN"][0] == "012345678"
    assert table["Income"].to_list() == [45500, 37900, 67000, 21000, 90000]


def test_analyze_writes_a_policy_that_works(run: Run) -> None:
    code, out, _ = run("analyze", "table.csv", "-o", "proposed.yaml")
    assert code == 0
    assert "identifier" in out
    assert run("risk", "table.csv", "-p", "proposed.yaml", "--json")[0] == 0
    schema = json.loads(run("analyze", "--schema")[1])
    assert "attributes" in schema["properties"]


@pytest.mark.parametrize("verb", ["methods", "measures"])
def test_plugins_are_listed_with_parameters_and_citation(run: Run, verb: str) -> None:
    code, out, _ = run(verb, "--json")
    assert code == 0
    for plugin in json.loads(out).values():
        assert plugin["citation"]
        assert plugin["summary"]
        assert all(parameter["description"] for parameter in plugin["parameters"])
    assert run(verb)[0] == 0
    assert run(verb, "rounding" if verb == "methods" else "known_sets")[0] == 0


BAD = [
    (["risk", "no.csv", "-p", "policy.yaml"], ["no.csv"]),
    (["risk", "table.csv", "-p", "no.yaml"], ["no.yaml"]),
    (["risk", "table.csv", "-p", "policy.yaml", "-m", "k_anonimity"], ["k_anonimity", "did you mean 'k_anonymity'"]),
    (["risk", "broken.parquet", "-p", "policy.yaml"], ["broken.parquet"]),
    (["risk", "table.csv", "-p", "column.yaml"], ["column.yaml", "'Agee'", "did you mean 'Age'"]),
    (["risk", "table.csv", "-p", "chance.yaml"], ["chance.yaml", "known", "1.2"]),
    (["risk", "table.csv", "-p", "policy.yaml", "--explain", "99"], ["no record 99"]),
    (["mask", "table.csv", "out.xyz", "-p", "policy.yaml"], ["out.xyz"]),
    (["mask", "table.csv", "out.csv", "-p", "step.yaml"], ["step 1", "sampling.fraction", "1.5"]),
    (["mask", "table.csv", "out.csv", "-p", "text.yaml"], ["rounding", "State"]),
    (["convert", "table.csv", "nowhere/out.csv"], ["nowhere"]),
    (["convert", "sqlite:///t.db#none", "out.csv"], ["none"]),
    (["methods", "nothing"], ["nothing"]),
    (["analyze"], ["source"]),
]


@pytest.mark.parametrize(("call", "expected"), BAD, ids=lambda value: " ".join(value[:2]))
def test_bad_input_is_one_sentence_exit_2_and_nothing_written(run: Run, call: list[str], expected: list[str]) -> None:
    Path("broken.parquet").write_bytes(b"PAR1 and then nothing")
    Path("column.yaml").write_text("attributes: {Agee: {role: key}}")
    Path("chance.yaml").write_text("attributes: {Age: {known: 1.2}}")
    Path("step.yaml").write_text("plan: {steps: [{method: sampling, fraction: 1.5}]}")
    Path("text.yaml").write_text("plan: {steps: [{method: rounding, columns: [State], base: 5}]}")
    before = set(os.listdir())
    code, out, err = run(*call)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    for word in expected:
        assert word.lower() in err.lower()
    assert set(os.listdir()) - {"t.db"} == before - {"t.db"}


def test_a_password_is_never_echoed(run: Run) -> None:
    code, out, err = run("convert", "table.csv", "postgresql://me:hush-hush@127.0.0.1:9/db#t")
    assert code == 2
    assert "hush-hush" not in out + err


def test_a_full_disk_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    run("mask", "table.csv", "out.csv", "-p", "policy.yaml")
    old = Path("out.csv").read_bytes()
    pl.DataFrame({"Age": list(range(200_000)), "State": ["MI"] * 200_000}).write_csv("large.csv")
    Path("large.yaml").write_text("attributes: {Age: {role: key}}\nplan: {steps: [{method: remove_identifiers}]}")
    command = [sys.executable, "-c", "from discreet.cli import main; main()", "mask", "large.csv", "out.csv", "-p", "large.yaml"]

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = subprocess.run(command, preexec_fn=limit_file_size, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert Path("out.csv").read_bytes() == old
    assert not [name for name in os.listdir() if "part" in name]


def test_help_needs_no_heavy_library() -> None:
    code = (
        "import sys; sys.argv=['discreet','--help']\n"
        "from discreet.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'polars','numba','pyarrow','scipy','duckdb','sqlalchemy','pandas','optuna','altair'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip().endswith("heavy: []")


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "wide.yaml").write_text(
        "attributes: {" + ", ".join(f"x{column}: {{known: 0.5, sensitivity: 1}}" for column in range(18)) + "}\n"
        "risk: {known_sets: {epsilon: 0.0}}\n"
    )
    pl.DataFrame({f"x{column}": [(row * (column + 3)) % 7 for row in range(20_000)] for column in range(18)}).write_csv(
        tmp_path / "wide.csv"
    )
    command = [
        sys.executable,
        "-c",
        "from discreet.cli import main; main()",
        "risk",
        "wide.csv",
        "-p",
        "wide.yaml",
        "--records",
        "r.csv",
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for_compiler(running.pid)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=patient(60))
    assert running.returncode == 130
    assert "stopped; nothing was written" in err
    assert sorted(os.listdir(tmp_path)) == ["wide.csv", "wide.yaml"]


def _wait_for_compiler(pid: int) -> None:
    """Wait until a process has loaded the compiler of the kernels: it is measuring then."""
    wait_until(lambda: "llvmlite" in Path(f"/proc/{pid}/maps").read_text(), "nothing was measured")


def test_ctrl_c_while_an_object_is_deleted_still_stops(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "import discreet.cli.app\n"
        "from discreet.cli import main\n"
        "class Interrupted:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "def app():\n"
        "    Interrupted()\n"
        "    for _ in range(6000): time.sleep(0.01)\n"
        "discreet.cli.app.app = app\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 130
    assert "stopped; nothing was written" in done.stderr
