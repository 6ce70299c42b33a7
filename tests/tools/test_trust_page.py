"""The page of promises is made from what ran, and says where one was broken."""

from __future__ import annotations

import importlib.util
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = """<testsuites><testsuite>
<testcase file="tests/trust/a.py" name="test_a[1]"><properties><property name="area" value="Nothing lost"/>
<property name="promise" value="P"/><property name="runs killed" value="7"/><property name="seed" value="5"/></properties>
</testcase>
<testcase file="tests/trust/a.py" name="test_a[2]"><properties><property name="area" value="Nothing lost"/>
<property name="promise" value="P"/><property name="runs killed" value="5"/></properties><failure/></testcase>
<testcase file="tests/b.py" name="test_b"/>
</testsuite></testsuites>"""


def test_cases_of_one_promise_are_counted_together_and_a_broken_one_shows() -> None:
    spec = importlib.util.spec_from_file_location("trust_tool", ROOT / "tools" / "trust.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules["trust_tool"] = tool
    spec.loader.exec_module(tool)
    promises = tool.read([ET.fromstring(RUN), ET.fromstring(RUN.replace('"P"', '"Q"'))])
    page = tool.page(promises, 90.0)
    assert "| P | `trust/a.py::test_a` | 12 runs killed; seed 5; **1 broken** |" in page
    assert "| Q | `trust/a.py::test_a` | 12 runs killed; seed 5; **1 broken** |" in page
    assert page.count("| P |") == 1
    assert all((ROOT / one).exists() for one in tool.ALONE)
