"""The border check fails on an import that the design forbids, and passes on the tree as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "borders.py"


def check(*folders: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *folders], capture_output=True, text=True, check=False)


def package(folder: Path, module: str, text: str) -> Path:
    path = folder / "discreet" / module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def test_the_tree_keeps_its_borders() -> None:
    done = check()
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("module", "text", "told"),
    [
        ("masking/pram/method.py", "from discreet.risks.k_anonymity.measure import KAnonymity", "masking may not import risks"),
        ("masking/pram/method.py", "import discreet.risks.k_anonymity.measure", "masking may not import risks"),
        ("masking/pram/method.py", "from discreet import risks", "masking may not import risks"),
        ("masking/pram/method.py", "from ..risks import k_anonymity", "masking may not import risks"),
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
        ("engine/classes/groups.py", "import numba", "numba may not be imported in engine.groups"),
        ("risks/suda.py", "import duckdb", "duckdb may not be imported in risks.suda"),
        ("report/page.py", "from rich.table import Table", "rich may not be imported in report.page"),
        (
            "model/score.py",
            "from importlib import import_module\nimport_module('discreet.report.plots')",
            "model may not import report",
        ),
        ("model/score.py", "import requests", "requests is no library of the project"),
    ],
)
def test_a_forbidden_import_is_told_with_its_place_and_the_rule(tmp_path: Path, module: str, text: str, told: str) -> None:
    done = check(package(tmp_path, module, text))
    assert done.returncode == 1
    first = done.stdout.splitlines()[0]
    assert told in first
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "discreet" in one or at == len(text.splitlines()))
    assert f"discreet/{module}:{line}: " in first
    assert "; " in first


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            "masking/pram/method.py",
            (
                "import numpy as np\nfrom discreet.engine.encoding import columns\n"
                "from discreet.model.contracts import MaskingMethod"
            ),
        ),
        ("masking/pram/method.py", "from . import rounding\nfrom ..engine import groups"),
        ("masking/__init__.py", "from . import rounding\nfrom .rounding import Rounding"),
        ("engine/runtime/compiled.py", "import numba\nimport numba.core.config"),
        ("engine/spark/counts.py", "from pyspark.sql import SparkSession"),
        ("convert/databases.py", "import sqlalchemy as sa\nimport duckdb"),
        ("cli/demo.py", "from discreet.testing import hospital\nfrom discreet.report import page\nimport typer"),
        ("__init__.py", "from discreet.cli import main"),
    ],
)
def test_what_the_design_allows_passes(tmp_path: Path, module: str, text: str) -> None:
    done = check(package(tmp_path, module, text))
    assert (done.returncode, done.stdout) == (0, "")
