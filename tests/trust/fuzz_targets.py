"""The targets of the fuzzer: each takes any bytes and gives a result or a DiscreetError; any other exception is a fault.

``TARGETS`` gives for each target the modules of discreet whose branch coverage guides the search, the inputs it starts
from, and a function that makes the fuzzed function; it is called after the modules are loaded, with a folder of its own.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

FuzzedFunction = Callable[[bytes], None]

POLICY = b"""attributes:
  name: {role: identifier}
  age: {role: key, known: 0.3, hierarchy: {widths: [5, 10]}}
  income: {role: confidential, sensitivity: 0.9, values: {"<40000": 1.0, "40000..70000": 0.7}, default: 0.0}
missing: ["NA"]
read: {separator: ",", decimal: "."}
risk: {known_sets: {alpha: 100, epsilon: 0.01}, k_anonymity: {}}
limits: {k_anonymity.k: 5, ncp.loss: 0.05}
plan:
  seed: 7
  steps: [{method: remove_identifiers}, {method: microaggregation, columns: [age], size: 2}, {method: sampling, fraction: 0.8}]
"""
WORDS = (
    b"attributes", b"role", b"key", b"identifier", b"confidential", b"known", b"hierarchy", b"widths", b"plan", b"steps",
    b"method", b"seed", b"limits", b"k_anonymity.k", b"missing", b"1e999", b".nan", b"-inf", b"..", b"{a|b}", b"[1, 2)", b">=",
    b"\\|", b"!!binary", b"&a", b"*a", b"<<", b"9223372036854775808", b"2020-02-30", b"0001-01-01", b"9999-12-31T23:59:59",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b'"', b",;", b"\t", b"\n", b"postgresql://", b"sqlite:///", b"%23", b"@", b"#",
    b"null", b"true", b"base", b"sections", b"kind", b"parameters", b"name",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One function that processes bytes from outside."""

    make: Callable[[Path], FuzzedFunction]
    modules: tuple[str, ...]
    seed_inputs: tuple[bytes, ...]
    max_length: int = 600


def _policy(_folder: Path) -> FuzzedFunction:
    from discreet import registry
    from discreet.errors import DiscreetError
    from discreet.model.policy import parse_policy

    def fuzz(content: bytes) -> None:
        with suppress(DiscreetError):
            policy = parse_policy(content.decode("utf-8", "replace"))
            text = policy.to_yaml()  # compared as text, because NaN is not equal to itself
            assert parse_policy(text).to_yaml() == text, "a policy changes when it is written and read again"
            registry.check_policy(policy)

    return fuzz


def _mapping(_folder: Path) -> FuzzedFunction:
    from discreet import registry
    from discreet.errors import DiscreetError
    from discreet.model.policy import Policy

    def fuzz(content: bytes) -> None:
        try:
            mapping = json.loads(content)
        except (ValueError, RecursionError):
            return
        with suppress(DiscreetError):
            registry.check_policy(Policy.from_dict(mapping))

    return fuzz


def _reader(suffix: str) -> Callable[[Path], FuzzedFunction]:
    def make(folder: Path) -> FuzzedFunction:
        import polars as pl

        from discreet.convert import convert, read_source
        from discreet.errors import DiscreetError
        from discreet.model.policy import Policy

        source, target = folder / f"source{suffix}", folder / "target.parquet"

        def fuzz(content: bytes) -> None:
            source.write_bytes(content)
            target.unlink(missing_ok=True)
            try:
                read = read_source(source, Policy())
            except DiscreetError:
                read = None
            with suppress(DiscreetError):
                convert(source, target, Policy())
            assert target.exists() == (read is not None), "it can be read but not converted, or vice versa"
            if read is not None:
                assert pl.read_parquet(target).equals(read.frame), "the converted table differs from the one read"
            assert {path.name for path in folder.iterdir()} <= {source.name, target.name}, "a temporary file remains"

        return fuzz

    return make


def _hierarchy(folder: Path) -> FuzzedFunction:
    import polars as pl

    from discreet.engine.cells.hierarchies import hierarchy_of
    from discreet.errors import DiscreetError
    from discreet.model.microdata import Microdata
    from discreet.model.policy import Policy

    file = folder / "towns.csv"
    policy = Policy.from_dict({"attributes": {"town": {"role": "key", "hierarchy": str(file)}}})

    def fuzz(content: bytes) -> None:
        file.write_bytes(content)
        with suppress(DiscreetError):
            hierarchy = hierarchy_of(Microdata(pl.DataFrame({"town": ["a", "b", None]}), policy), "town")
            assert {"a", "b"} <= set(hierarchy.leaves)
            assert set(hierarchy.labels[-1]) == {"*"}

    return fuzz


def _dictionary(folder: Path) -> FuzzedFunction:
    import polars as pl

    import discreet
    from discreet.errors import DiscreetError

    file = folder / "people.csv"
    policy = {
        "attributes": {"name": {"role": "identifier"}, "town": {"role": "key"}, "age": {"role": "key"}},
        "risk": {"decision": {"dictionary": str(file)}},
    }
    frame = pl.DataFrame({"name": ["u", "v"], "town": ["a", "b"], "age": [1, 2]})

    def fuzz(content: bytes) -> None:
        file.write_bytes(content)
        with suppress(DiscreetError):
            discreet.risk(discreet.read(frame, policy))

    return fuzz


def _cells(_folder: Path) -> FuzzedFunction:
    from discreet.model.cells import Interval, is_coarse, parse_group, parse_interval

    def fuzz(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        for parse in (parse_interval, parse_group):
            cell = parse(text)
            if cell is not None:
                assert is_coarse(text)
                assert str(cell) == "*" or str(parse(str(cell))) == str(cell), f"{cell} is read as {parse(str(cell))}"
                assert not isinstance(cell, Interval) or (cell.lower < float("inf") and cell.upper > float("-inf"))

    return fuzz


def _address(_folder: Path) -> FuzzedFunction:
    from discreet.convert.databases.address import parse_address
    from discreet.errors import DiscreetError

    secret = "kxqzvj"

    def fuzz(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        for address in (text, f"postgresql://u:{secret}@{text}"):
            try:
                message = parse_address(address).name
            except DiscreetError as error:
                message = str(error)
            assert secret in text or secret not in message, "a message contains the password"

    return fuzz


def _rest(folder: Path) -> FuzzedFunction:
    import asyncio
    import logging

    from discreet.web.app import make_app
    from discreet.web.auth import accounts, tokens
    from discreet.web.projects import projects
    from discreet.web.settings import Settings

    app = make_app(Settings.make(folder / "home", url="http://testserver"))
    with app.state.core.store.write() as connection:
        _, link = accounts.add(connection, "anna", admin=True)
        anna = accounts.set_password_with_link(connection, link, "a longer password than most")
        projects.create(connection, anna, "Patients")
        _, secret = tokens.create(connection, anna, "fuzz", ["read", "write", "release", "admin"])
    paths = app.openapi()["paths"]
    operations = [
        (method.upper(), path.replace("{project_id}", "1").replace("{number}", "1").replace("{name}", "anna"))
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    logging.getLogger("discreet.web").setLevel(logging.ERROR)
    loop = asyncio.new_event_loop()

    async def request(method: str, path: str, body: bytes) -> int:
        pending = [{"type": "http.request", "body": body, "more_body": False}]
        status = []

        async def receive() -> dict[str, Any]:
            return pending.pop() if pending else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])

        headers = {"host": "testserver", "authorization": f"Bearer {secret}", "content-type": "application/json"}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1),
            "server": ("testserver", 80),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        await app(scope, receive, send)
        return int(status[0])

    def fuzz(content: bytes) -> None:
        method, path = operations[(content[0] if content else 0) % len(operations)]
        status = loop.run_until_complete(request(method, path, content[1:]))
        assert status < 500, f"{method} {path} answers {status}"
        assert status not in (401, 403), f"{method} {path} answers {status}: the fuzzer is locked out"

    return fuzz


_CONVERT = ("discreet.convert", "discreet.model.policy", "discreet.model.microdata")
_BODIES = (
    {"name": "Patients"}, {"name": "fuzz", "scopes": ["read"], "days": 3}, {"name": "hans", "admin": False}, {"role": "approver"},
    {"base": 0, "sections": {"attributes.age": {"role": "key"}, "limits": {"k_anonymity.k": 2}}},
    {"base": 0, "document": {"attributes": {"age": {"role": "key"}}}}, {"kind": "generate", "parameters": {}},
    {"kind": "import", "parameters": {"upload": "x.csv", "name": "x"}}, {"note": "fit for release", "name": "anna"},
)  # fmt: skip

TARGETS: dict[str, Target] = {
    "policy": Target(_policy, ("discreet.model.policy", "discreet.registry"), (POLICY, b"plan: {steps: []}"), 1500),
    "mapping": Target(
        _mapping,
        ("discreet.model.policy", "discreet.registry"),
        (b'{"attributes": {"age": {"role": "key", "known": 0.5}}, "plan": {"seed": 1, "steps": [{"method": "sampling"}]}}',),
        1500,
    ),
    "csv": Target(
        _reader(".csv"),
        _CONVERT,
        (
            b"age;town\n01;a\n2,5;b\n", b'a,b\n1,"x, ""y"""\n,2020-01-02\n', b"\xff\xfea\x00\n\x001\x00\n\x00",
            b"n|m\n1.234,5|+7\n\n|",
        ),
    ),
    "csv.gz": Target(_reader(".csv.gz"), _CONVERT, (gzip.compress(b"a,b\n1,2\n", mtime=0),), 200),
    "tsv": Target(_reader(".tsv"), _CONVERT, (b"a\tb\n1\tx\n\t\n", b"\xef\xbb\xbfa\t\xe9\n1e5\ttrue\n")),
    "jsonl": Target(
        _reader(".jsonl"),
        _CONVERT,
        (b'{"a": 1, "b": "2020-01-02"}\n{"a": null, "b": "x"}\n', b'{"a": 1.5}\n{"a": [1]}\n{"c": true}\n'),
    ),
    "hierarchy": Target(
        _hierarchy, ("discreet.engine.cells.hierarchies", "discreet.model.hierarchy"), (b"a;A;*\nb;B;*\n", b'a,"x\ny",*\nb,z,*')
    ),
    "dictionary": Target(
        _dictionary,
        (*_CONVERT, "discreet.engine.disclosure.dictionaries"),
        (b"name,town,age\nu,a,1\nv,b,\n", b"town;age\na;1\n"),
        200,
    ),
    "cells": Target(
        _cells, ("discreet.model.cells",), (b"40000..70000", b"[36, 49)", b">=-1.5e3", b"{Flu|C\\|old}", b"*", b"(-inf, inf]"), 60
    ),
    "address": Target(
        _address,
        ("discreet.convert.databases.address",),
        (b"postgresql://u:p%40@[::1]:5/db?sslmode=require#s.t", b'sqlite:///a.db#"a.b"', b"host/db#t", b"duckdb:///f#t"),
        100,
    ),
    "rest": Target(
        _rest,
        ("discreet.web.api", "discreet.web.projects", "discreet.web.auth.tokens"),
        tuple(bytes([at]) + json.dumps(body).encode() for at, body in enumerate(_BODIES)),
    ),
}  # fmt: skip


def load(target: Target) -> None:
    """Load the modules that guide the search and their submodules; modules loaded later are not instrumented."""
    import pkgutil

    for name in target.modules:
        module = import_module(name)
        for submodule in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
            import_module(submodule.name)
