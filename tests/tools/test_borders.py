"""The border check fails on an import that the design forbids, and passes on the tree as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "borders.py"


def check(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def package(folder: Path, module: str, text: str) -> Path:
    path = folder / "discreet" / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def test_the_tree_keeps_its_borders() -> None:
    done = check()
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("module", "text", "rule"),
    [
        ("masking/pram/method.py", "from discreet.risks.k_anonymity.measure import KAnonymity", "masking may not import risks"),
        ("masking/pram/method.py", "import discreet.risks.k_anonymity.measure", "masking may not import risks"),
        ("masking/pram/method.py", "from discreet import risks", "masking may not import risks"),
        ("masking/pram/method.py", "from ...risks import k_anonymity", "masking may not import risks"),
        (
            "masking/pram/method.py",
            "from importlib import import_module\nimport_module('discreet.losses.ncp.measure')",
            "masking may not import losses",
        ),
        (
            "masking/pram/method.py",
            "def late():\n    from discreet.losses.ncp.measure import Ncp\n    return Ncp",
            "masking may not import losses",
        ),
        ("masking/pram/method.py", "from discreet import mask", "masking may not import verbs"),
        ("model/score.py", "from discreet.engine.classes.groups import refine", "model may not import engine"),
        ("engine/classes/groups.py", "from discreet.testing import table", "engine may not import testing"),
        ("testing/kit.py", "from discreet.cli import main", "testing may not import cli"),
        ("engine/classes/groups.py", "import numba", "numba may not be imported in engine.classes.groups"),
        ("risks/suda.py", "import duckdb", "duckdb may not be imported in risks.suda"),
        ("report/page.py", "from rich.table import Table", "rich may not be imported in report.page"),
        (
            "model/score.py",
            "from importlib import import_module\nimport_module('discreet.report.plots')",
            "model may not import report",
        ),
        ("model/score.py", "import requests", "requests is no library of the project"),
        (
            "engine/encoding/policy_tables.py",
            "from importlib import import_module\nREADER = 'discreet.convert'\nimport_module(READER)",
            "import_module with a name that the text does not tell",
        ),
        ("risks/suda/measure.py", "from pyspark.sql import SparkSession", "pyspark may not be imported in risks.suda.measure"),
    ],
)
def test_a_forbidden_import_is_reported_with_its_place_and_the_rule(tmp_path: Path, module: str, text: str, rule: str) -> None:
    done = check(package(tmp_path, module, text))
    assert done.returncode == 1
    first = done.stdout.splitlines()[0]
    assert rule in first
    lines = text.splitlines()
    constant = [number for number, content in enumerate(lines, 1) if "discreet" in content and "READER" not in content]
    line = constant[0] if constant else len(lines)
    assert f"discreet/{module}:{line}: " in first
    assert "; " in first


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            "masking/pram/method.py",
            "import numpy as np\nfrom discreet.engine.classes import groups\nfrom discreet.model.contracts import Scope",
        ),
        ("masking/pram/method.py", "from . import transitions\nfrom ...engine import classes"),
        ("masking/__init__.py", "from . import rounding\nfrom .rounding import Rounding"),
        ("engine/runtime/compiled.py", "import numba\nimport numba.core.config"),
        ("engine/spark/counts.py", "from pyspark.sql import SparkSession"),
        ("risks/suda/spark.py", "from pyspark.sql import SparkSession"),
        ("convert/files/formats.py", "from importlib import import_module\nimport_module(f'discreet.convert.files.{name}')"),
        ("convert/databases.py", "import sqlalchemy as sa\nimport duckdb"),
        ("cli/demo.py", "from discreet.testing import hospital\nfrom discreet.report import page\nimport typer"),
        ("__init__.py", "from discreet.cli import main"),
    ],
)
def test_what_the_design_allows_passes(tmp_path: Path, module: str, text: str) -> None:
    done = check(package(tmp_path, module, text))
    assert (done.returncode, done.stdout) == (0, "")


def test_modules_that_import_each_other_are_a_violation(tmp_path: Path) -> None:
    package(tmp_path, "masking/first.py", "from discreet.masking import second")
    done = check(package(tmp_path, "masking/second.py", "def late():\n    from discreet.masking import first\n    return first"))
    assert done.returncode == 1
    assert "import cycle discreet.masking.first -> discreet.masking.second -> discreet.masking.first" in done.stdout


def test_imports_for_types_alone_make_no_cycle(tmp_path: Path) -> None:
    package(tmp_path, "masking/first.py", "from discreet.masking import second")
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from discreet.masking import first"
    done = check(package(tmp_path, "masking/second.py", text))
    assert (done.returncode, done.stdout) == (0, "")


def test_an_engine_module_that_serves_one_plug_in_belongs_to_it(tmp_path: Path) -> None:
    package(tmp_path, "engine/classes/lonely.py", "")
    package(tmp_path, "engine/classes/between.py", "from discreet.engine.classes import lonely")
    package(tmp_path, "engine/classes/shared.py", "")
    package(tmp_path, "risks/suda/measure.py", "from discreet.engine.classes import between, shared")
    package(tmp_path, "engine/classes/__init__.py", "")
    done = check("--whole", package(tmp_path, "masking/pram/method.py", "from discreet.engine.classes import shared"))
    assert done.returncode == 1
    assert "discreet.engine.classes.lonely serves risks.suda alone; move it to risks/suda/" in done.stdout
    assert "engine.classes.between serves risks.suda alone" in done.stdout
    assert "engine.classes.shared" not in done.stdout


def test_a_module_at_the_top_of_the_engine_and_a_crowded_folder_are_violations(tmp_path: Path) -> None:
    package(tmp_path, "engine/flat.py", "")
    for number in range(26):
        package(tmp_path, f"cli/command_{number}.py", "from discreet.engine import flat")
    done = check("--whole", tmp_path)
    assert "a module stands at the top of engine/" in done.stdout
    assert "26 modules in one folder, more than 25" in done.stdout
