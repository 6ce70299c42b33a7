"""Any policy, table, hierarchy or dictionary gives a result or one sentence, never a traceback or a partial file."""

from __future__ import annotations

import datetime as dt
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import discreet
from discreet import registry
from discreet.convert import read_source, write_target
from discreet.convert.files.formats import FORMATS, READ_ONLY
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy

WHOLE = """
attributes:
  name:    {role: identifier}
  age:     {role: key, known: 0.3, hierarchy: {widths: [5, 10]}}
  town:    {role: key, known: 0.6, level: nominal, missing: ["?"]}
  income:  {role: confidential, known: 0.005, sensitivity: 0.9, values: {"<40000": 1.0, "40000..70000": 0.7}, default: 0.0}
missing: ["NA"]
read: {separator: ",", decimal: "."}
risk: {known_sets: {alpha: 100, epsilon: 0.01, threshold: 0.01}, k_anonymity: {}}
loss: {ncp: {}}
limits: {known_sets.high_risk: 0, k_anonymity.k: 5, ncp.loss: 0.05}
plan:
  seed: 7
  steps: [{method: remove_identifiers}, {method: microaggregation, columns: [age], size: 2}, {method: sampling, fraction: 0.8}]
select: {trials: 5}
"""
PIECES = [
    "{", "}", "[", "]", ":", ",", "-", "&a", "*a", "<<", "!!python/object:os.system", "!!binary", "|", ">", "'", '"', "\n  ",
    "\t", "\0", "1e999", ".nan", "-.inf", "0x7fffffffffffffffff", "2023-02-30", "~", "null", "true", "9" * 400, "é",
    "\U0001f600", "? ", "%", "@", "`", "attributes", "plan", "steps", "method", "role", "known", "-1", "1.5", "[[[[[[",
    "{a: {a: {a: 1}}}", "limits", "seed", "order", "#",
]  # fmt: skip
DAMAGING = Path(__file__).with_name("damaging.py")
WRITABLE = [suffix for suffix in FORMATS if suffix not in READ_ONLY]
EXTREMES: dict[str, pl.Series] = {
    "nan": pl.Series([math.nan, 1.0, math.nan, 2.0, 3.0, math.nan]),
    "infinity": pl.Series([math.inf, -math.inf, 0.0, 1.0, math.inf, 2.0]),
    "denormal": pl.Series([5e-324, -5e-324, 2.2e-308, 0.0, -0.0, 1e308]),
    "largest": pl.Series([1.7e308, -1.7e308, 1.0, 2.0, 3.0, 1.7e308]),
    "whole": pl.Series([2**63 - 1, -(2**63), 0, 1, 2**53 + 1, None], dtype=pl.Int64),
    "unsigned": pl.Series([2**64 - 1, 2**63, 0, 1, 2, None], dtype=pl.UInt64),
    "days": pl.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None, dt.date(1582, 10, 15), dt.date.min]),
    "moments": pl.Series([dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59), None, *[dt.datetime(2000, 1, 1)] * 3]),
    "nothing": pl.Series([None] * 6, dtype=pl.String),
    "same": pl.Series([1] * 6),
    "odd": pl.Series(["", " ", "\x00", "=1+1", "<b>", "';--"]),
    "mixed": pl.Series(["1", "x", "2.5", None, "2020-01-01", "NaN"]),
}  # fmt: skip


def hypothesis_settings(examples: int) -> Any:
    """Settings with this many examples, without shrinking."""
    phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target)
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=examples, phases=phases, suppress_health_check=checks, database=None)


def run_allowing_errors(run: Callable[[], object]) -> None:
    """Run; a DiscreetError is allowed, any other exception fails the test."""
    with suppress(DiscreetError):
        run()


@pytest.mark.trust("Bad input", "Any text as a policy is a policy or a clear error")
def test_any_policy_text_is_valid_or_a_clear_error(effort: Any, record_property: Any) -> None:
    words = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=25).map("".join)
    places = st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=4)
    tried = 0

    def damage(cuts: list[tuple[int, int, str]]) -> str:
        text = WHOLE
        for position, length, piece in cuts:
            text = text[:position] + piece + text[position + length :]
        return text

    @hypothesis_settings(effort(80, 10_000))
    @given(st.one_of(words, places.map(damage)))
    def check(text: str) -> None:
        nonlocal tried
        tried += 1
        run_allowing_errors(lambda: registry.check_policy(parse_policy(text)))

    check()
    record_property("policies tried", tried)


@pytest.mark.trust("Bad input", "Any mapping as a policy is a policy or a clear error")
def test_any_policy_mapping_is_valid_or_a_clear_error(effort: Any, record_property: Any) -> None:
    names = st.sampled_from(
        [*Policy.model_fields, "seed", "steps", "method", "columns", "role", "values", "age", "sampling", "x.y"]
    )
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), names)
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=12
    )
    tried = 0

    @hypothesis_settings(effort(80, 8_000))
    @given(st.dictionaries(names, values, max_size=5))
    def check(content: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        run_allowing_errors(lambda: registry.check_policy(Policy.from_dict(content)))

    check()
    record_property("mappings tried", tried)


@pytest.mark.parametrize("suffix", WRITABLE)
@pytest.mark.trust(
    "Bad input",
    "A damaged file of any format gives a table or a clear error, or at worst ends only the process that reads it; its "
    "conversion leaves no partial file",
)
def test_damaged_files_are_read_or_a_clear_error(
    tmp_path: Path, suffix: str, seed: int, effort: Any, record_property: Any
) -> None:
    times, first, lost = effort(4, 1_000), 0, 0
    while first < times:
        call = [sys.executable, str(DAMAGING), suffix, str(tmp_path), str(seed), str(first), str(times)]
        done = subprocess.run(call, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 0:
            break
        # a native library may abort the process, or request more memory than there is
        number = int((tmp_path / "at").read_text())
        assert done.returncode < 0, f"seed {seed}, damage {number}: {done.stderr[-4000:]}"
        out = tmp_path / "files" / "out.parquet"
        if out.exists():
            pl.read_parquet(out)  # raises if the table is incomplete
        shutil.rmtree(tmp_path / "files")
        lost, first = lost + 1, number + 1
    assert lost <= max(1, times / 20)
    record_property("files tried", times)
    record_property("processes lost", lost)


@pytest.mark.trust("Bad input", "Any bytes as a hierarchy or a dictionary are valid or a clear error")
def test_any_hierarchy_or_dictionary_file_is_valid_or_a_clear_error(tmp_path: Path, effort: Any, record_property: Any) -> None:
    frame = pl.DataFrame({"name": ["u", "v"], "town": ["a", "b"], "age": [1, 2]})
    file = tmp_path / "file.csv"
    hierarchy = {"attributes": {"town": {"role": "key", "hierarchy": str(file)}}}
    dictionary = {
        "attributes": {"name": {"role": "identifier"}, "town": {"role": "key"}, "age": {"role": "key"}},
        "risk": {"decision": {"dictionary": str(file)}},
    }
    pieces = st.sampled_from(
        ["a;A;*\n", "b;B;*\n", ";", "\n", "*", '"', "a", "b", "\0", "\ufeff", "é", ",", "town,age\n", "a,1\n", "name\n"]
    )
    text = (
        st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=20)
        .map("".join)
        .map(lambda drawn: drawn.encode("utf-8", "replace"))
    )
    tried = 0

    @hypothesis_settings(effort(40, 4_000))
    @given(st.one_of(text, st.binary(max_size=60)))
    def check(content: bytes) -> None:
        nonlocal tried
        tried += 1
        file.write_bytes(content)
        run_allowing_errors(
            lambda: discreet.mask(discreet.read(frame, hierarchy), {"steps": [{"method": "generalization", "k": 2}]})
        )
        run_allowing_errors(lambda: discreet.risk(discreet.read(frame, dictionary)))

    check()
    record_property("files tried", tried)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.trust(
    "Bad input", "Extreme numbers, dates and texts are processed by every reader, measure and method, or are a clear error"
)
def test_extreme_values_are_processed_or_a_clear_error(tmp_path: Path, name: str, record_property: Any) -> None:
    frame = pl.DataFrame({"x": EXTREMES[name], "y": [1, 1, 2, 2, 3, 3], "who": list("abcdef")})
    policy: dict[str, Any] = {
        "attributes": {"x": {"role": "key", "known": 0.5}, "y": {"role": "confidential"}, "who": {"role": "person"}}
    }
    tried = 0
    for suffix in WRITABLE:
        target = tmp_path / f"t{suffix}"
        run_allowing_errors(lambda target=target: write_target(Microdata(frame), target))
        if target.exists():
            run_allowing_errors(lambda target=target: discreet.read(target, policy))
            tried += 1
    data = discreet.read(frame, policy)
    run_allowing_errors(lambda: discreet.analyze(data))
    for method in registry.installed_names("masking"):
        step = {"method": method, "columns": ["x"]}
        fields = registry.load("masking", method).model_fields
        step |= {field: parameter.examples[0] for field, parameter in fields.items() if parameter.examples}
        run_allowing_errors(lambda step=step: discreet.mask(data, {"steps": [step]}))
        tried += 1
    for measure in registry.installed_names("risk"):
        run_allowing_errors(lambda measure=measure: discreet.risk(data, [measure], data))
        tried += 1
    for measure in registry.installed_names("loss"):
        run_allowing_errors(lambda measure=measure: discreet.loss(data, data, [measure]))
        tried += 1
    record_property("calls tried", tried)


@pytest.mark.trust("Bad input", "A text of 10 MB and 100,000 distinct values are read, measured, masked and written")
def test_long_texts_and_many_distinct_values_are_processed(tmp_path: Path, record_property: Any) -> None:
    long = pl.DataFrame({"a": ["x" * 10_000_000, "y", None], "b": [1, 2, 3]})
    for suffix in (".csv", ".parquet", ".jsonl", ".arrow"):
        write_target(Microdata(long), tmp_path / f"t{suffix}")
        assert read_source(tmp_path / f"t{suffix}", Policy()).frame.equals(long)
    for suffix in (".xlsx", ".sav", ".dta", ".xpt"):
        run_allowing_errors(lambda suffix=suffix: write_target(Microdata(long), tmp_path / f"t{suffix}"))
    rows = pl.int_range(100_000, eager=True)
    many = pl.DataFrame({"key": rows.cast(pl.String), "number": rows, "pay": rows % 7})
    data = discreet.read(many, {"attributes": {"key": {"role": "key", "known": 0.1}, "number": {"role": "key"}}})
    assert discreet.risk(data, ["k_anonymity"])["k_anonymity"].summary["unique"] == 100_000
    discreet.analyze(data)
    discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["number"], "base": 10}]})
    record_property("bytes in one text", 10_000_000)
    record_property("distinct values", 100_000)


@pytest.mark.trust("Bad input", "Hostile column names are data: they are quoted in files and databases, and change nothing else")
@pytest.mark.parametrize("system", [".csv", ".parquet", ".jsonl", ".xlsx", ".sav", "sqlite", "duckdb"])
def test_hostile_column_names_are_quoted(tmp_path: Path, system: str) -> None:
    names = [
        '"; DROP TABLE people; --',
        "../../etc/passwd",
        "=1+1",
        "<script>alert(1)</script>",
        "a`b",
        "%s",
        "{x}",
        "\u202e",
        "x" * 200,
    ]
    frame = pl.DataFrame({name: [1, 2] for name in names})
    target = str(tmp_path / f"t{system}") if system.startswith(".") else f"{system}:///{tmp_path}/t.db#people"
    write_target(Microdata(frame), target)
    frame_read = read_source(target, Policy()).frame
    assert frame_read.height == 2
    assert frame_read.columns == names or system == ".sav"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.trust("Bad input", "A database file cannot make discreet read other files")
def test_a_view_of_duckdb_cannot_reach_other_files(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "secret.csv").write_text("a\n1\n")
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{tmp_path}/secret.csv')")
    with pytest.raises(DiscreetError, match=r"there is no table|disabled|cannot be read"):
        read_source(f"duckdb:///{tmp_path}/t.db#people", Policy())
