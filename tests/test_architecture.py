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


def test_every_station_of_the_six_ways_exists():
    section = PAGE.split("## Six ways of the data")[1].split("\n## ")[0]
    assert section.count("| module | function | what happens |") == 6
    stations = re.findall(r"^\| `([a-z_/.]+)` \| `(\w+)` \|", section, re.MULTILINE)
    assert len(stations) > 50
    missing = [
        (path, name)
        for path, name in stations
        if not re.search(rf"\b(?:def|class) {name}\b", (ROOT / "src" / "discreet" / path).read_text(encoding="utf-8"))
    ]
    assert missing == []
