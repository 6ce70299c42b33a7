"""The files of deploy/ without a container engine: they parse, and say what the documentation says about them."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
import typer
import yaml

from discreet.cli.app import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_instructions() -> list[tuple[str, str]]:
    text = re.sub(r"(?m)^#.*\n", "", (DEPLOY / "Containerfile").read_text()).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def check_serve_options(arguments: Sequence[str]) -> None:
    """Raise if ``discreet serve`` does not take these arguments."""
    group = typer.main.get_command(app)
    group.commands["serve"].make_context("serve", list(arguments))  # type: ignore[attr-defined]


def test_the_container_runs_as_a_plain_user_from_locked_packages_and_tells_its_health() -> None:
    instructions = read_instructions()
    stages = [number for number, (name, _) in enumerate(instructions) if name == "FROM"]
    assert len(stages) == 2
    build, final = instructions[: stages[1]], dict(instructions[stages[1] :])
    assert any("--require-hashes -r /tmp/runtime.lock" in value for name, value in build if name == "RUN")
    assert final["USER"] == "10001:10001"
    assert json.loads(final["HEALTHCHECK"].partition("CMD")[2])[0] == "python"
    program, command, *options = json.loads(final["ENTRYPOINT"])
    assert (program, command) == ("discreet", "serve")
    check_serve_options(options)
    copied = [part for name, value in build if name == "COPY" for part in value.split()[:-1]]
    assert [part for part in copied if not (ROOT / part).exists()] == []


def test_the_composition_exposes_the_proxy_alone_and_lets_discreet_write_to_its_data_only() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = composed["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    server = services["discreet"]
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert server["volumes"] == ["discreet:/var/lib/discreet"]
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    check_serve_options(server["command"])
    subnet = composed["networks"]["front"]["ipam"]["config"][0]["subnet"]
    assert subnet in server["command"], "the proxy's network is the trusted one"
    assert services["database"]["networks"] == ["back"]
    assert composed["networks"]["back"]["internal"] is True
    caddy = (DEPLOY / "Caddyfile").read_text()
    assert all(f"{{${name}:" in caddy for name in services["proxy"]["environment"])


def test_systemd_accepts_the_unit_and_finds_it_hardened(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    assert analyze, "this test needs systemd-analyze; as root run:  apt-get update && apt-get install -y systemd"
    text = (DEPLOY / "discreet.service").read_text()
    (command,) = re.findall(r"(?m)^ExecStart=(.*)$", text)
    check_serve_options(shlex.split(command)[2:])
    unit = tmp_path / "discreet.service"
    unit.write_text(text.replace(shlex.split(command)[0], sys.executable).replace("User=discreet", "User=daemon"))
    checked = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
    complaints = [line for line in checked.stderr.splitlines() if "discreet.service" in line]
    assert complaints == []
    judged = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=25", "--no-pager", str(unit)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, (judged.stdout + judged.stderr)[-1500:]


def test_the_lock_of_some_extras_has_the_locked_hashes_and_nothing_else() -> None:
    tool = load_tool("lock_subset")
    project = {
        "dependencies": ["numpy>=2"],
        "optional-dependencies": {"web": ["discreet[report]", "fastapi>=1"], "report": ["a"]},
    }
    assert sorted(tool.list_requirements(["web"], project)) == ["a", "fastapi>=1", "numpy>=2"]
    with pytest.raises(tool.LockError, match="no extra 'other'; it has report, web"):
        list(tool.list_requirements(["other"], project))
    lock = "# a comment\nNumPy==2.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nruff==1 \\\n    --hash=sha256:cc\n"
    report = {"install": [{"metadata": {"name": "numpy"}}]}
    assert tool.select_entries(report, lock) == ["NumPy==2.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb"]
    with pytest.raises(tool.LockError, match=r"requirements\.lock has no new-one"):
        tool.select_entries({"install": [{"metadata": {"name": "New_One"}}]}, lock)


def test_every_requirement_of_the_web_extra_is_locked() -> None:
    tool = load_tool("lock_subset")
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\[<>=;! ]", line)[0] for line in tool.list_requirements(["web", "databases"], project)}
    report = {"install": [{"metadata": {"name": name}} for name in names]}
    assert len(tool.select_entries(report, (ROOT / "requirements.lock").read_text())) == len(names)
