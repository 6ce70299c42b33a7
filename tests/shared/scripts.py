"""Scripts of tools/, benchmarks/ and tests as modules: no package holds them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load_script(path: Path) -> ModuleType:
    """Import a script; it is registered before it runs, because dataclasses look their module up."""
    name = f"script_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_tool(name: str) -> ModuleType:
    """Import a script of tools/ by its name."""
    return load_script(TOOLS / f"{name}.py")
