"""The architecture page points newcomers to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_path_in_the_table_of_questions_exists():
    table = PAGE.split("## Where is …?")[1].split("## ")[0]
    paths = re.findall(r"`((?:src|tools)/[^`]+)`", table)
    assert len(paths) >= 12
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_package_of_the_source_is_described():
    table = PAGE.split("## Packages")[1].split("## ")[0]
    packages = [path.name for path in (ROOT / "src" / "discreet").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in packages if f"`{name}/`" not in table] == []
    topics = [path.name for path in (ROOT / "src" / "discreet" / "engine").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in topics if f"`{name}/`" not in table] == []
