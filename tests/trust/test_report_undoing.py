"""An intruder with the release, the public report and this package: no row of the release is tied to a row of the source.

The intruder recomputes every measure on the release, and looks for its numbers in the report, in all its forms: the page as text,
what its charts are made of, and the JSON.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")


@dataclass(frozen=True)
class Published:
    """What the intruder has, and (to judge the attack) the truth."""

    policy: dict[str, Any]
    source: pl.DataFrame
    release: pl.DataFrame
    page: str
    machine: dict[str, Any]
    truth: np.ndarray[Any, Any]
    """For each released row the row of the source, which only the data controller has."""
    folder: Path

    @property
    def texts(self) -> list[str]:
        """The report as a person reads it, the data of its charts, and its JSON."""
        specs = re.search(r'id="specs">(.*?)</script>', self.page, flags=re.DOTALL)
        shown = re.sub(r"<(script|style)\b.*?</\1>", " ", self.page, flags=re.DOTALL)
        words = html.unescape(re.sub(r"<[^>]*>", " ", shown))
        return [words, json.dumps(json.loads(specs[1])) if specs else "", json.dumps(self.machine)]


def people(records: int, random: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": random.integers(18, 95, records),
            "town": random.choice(["Lund", "Bergen", "Oslo", "Turku", "Riga"], records, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
            "job": random.choice(["nurse", "clerk", "smith", "judge"], records),
            "income": random.integers(10, 90, records) * 1000,
            "illness": random.choice(["flu", "cold", "gout", "none"], records, p=[0.3, 0.3, 0.05, 0.35]),
        }
    )


KEYS: dict[str, Any] = {
    "age": {"role": "key", "known": 0.45},
    "town": {"role": "key", "known": 0.61},
    "job": {"role": "key", "known": 0.37},
    "income": {"role": "confidential", "known": 0.013, "sensitivity": 0.5},
    "illness": {"role": "confidential", "sensitivity": 1.0, "values": {"gout": 1.0, "flu": 0.4}, "default": 0.1},
}
ROUNDED: list[dict[str, Any]] = [{"method": "rounding", "columns": ["income"], "base": 10000}]
SHAPES: dict[str, dict[str, Any]] = {
    "few records": {"records": 14, "risk": {"known_sets": {}, "k_anonymity": {}}, "steps": ROUNDED},
    "fine-grained risks": {
        "records": 400, "risk": {"known_sets": {"epsilon": 0.001}, "k_anonymity": {}, "t_closeness": {}}, "steps": ROUNDED,
        "limits": {"known_sets.max": 50, "known_sets.high_risk": 10, "k_anonymity.k": 2},
    },
    "records out of reach": {
        "records": 150, "risk": {"known_sets": {"threshold": 1.0}, "k_anonymity": {}},
        "steps": [{"method": "targeted_suppression", "threshold": 1.0}], "limits": {"known_sets.high_risk": 0},
    },
    "linkage": {"records": 120, "risk": {"target_linkage": {}, "record_linkage": {}}, "steps": ROUNDED},
    "several records per person": {
        "records": 160, "risk": {"repeated_records": {}, "k_anonymity": {}}, "steps": [], "persons": True,
    },
    "sampled": {
        "records": 203, "risk": {"known_sets": {}, "k_anonymity": {}}, "steps": [{"method": "sampling", "fraction": 0.985}],
    },
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keys of this machine are not used, and none is left on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module", params=list(SHAPES))
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A release and its public report, made as a person makes them."""
    shape = SHAPES[request.param]
    folder = tmp_path_factory.mktemp("published")
    frame = people(shape["records"], np.random.default_rng(20261116))
    attributes = dict(KEYS)
    if shape.get("persons"):
        frame = frame.with_columns(pl.Series("person", [f"p{at // 3}" for at in range(frame.height)]))
        attributes |= {"person": {"role": "person"}}
    policy = {
        "attributes": attributes,
        "risk": shape["risk"],
        "limits": shape.get("limits", {}),
        "plan": {"seed": 8_127_364_551, "steps": shape["steps"]},
    }
    frame.write_csv(folder / "source.csv")
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    words = [str(folder / name) for name in ("source.csv", "release.csv")]
    plan = ["-p", str(folder / "policy.yaml")]
    link = folder / "link.parquet"
    done = CliRunner().invoke(
        app, ["mask", *words, *plan, "--report", str(folder / "mask.html"), "--link", str(link)], catch_exceptions=False
    )
    assert done.exit_code in (0, 1), done.output
    done = CliRunner().invoke(app, ["report", *words, *plan, "--link", str(link), "--json", str(folder / "report.json")])
    assert done.exit_code == 0, done.output
    machine = json.loads((folder / "report.json").read_text())
    truth = pl.read_parquet(link)["record"].to_numpy()
    release = pl.read_csv(folder / "release.csv")
    return Published(policy, frame, release, (folder / "mask.html").read_text(), machine, truth, folder)


def risks_of(published: Published, frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    """MEASURE.FIELD with a number per record, as anybody computes them who has a table and the policy."""
    policy = {**published.policy, "plan": {}, "limits": {}}
    policy["attributes"] = {name: one for name, one in policy["attributes"].items() if name in frame.columns}
    source = discreet.read(published.source, {**policy, "attributes": published.policy["attributes"]})
    found = {}
    for name in published.policy["risk"]:
        if name in ("record_linkage", "target_linkage", "repeated_records"):
            assessed = discreet.assess(source, discreet.mask(source, {"seed": 1, "steps": []}))
            score = assessed.before[name]
        else:
            score = discreet.risk(discreet.read(frame, policy), name)[name]
        for field, column in (score.per_record.to_dict(as_series=True) if score.per_record is not None else {}).items():
            if column.dtype.is_float():
                found[f"{name}.{field}"] = column.to_numpy()
    return found


def numbers_in(text: str) -> Iterator[tuple[float, int]]:
    """Every number with its significant digits."""
    for found in NUMBER.finditer(text):
        digits = re.sub(r"e.*|[-,.]", "", found[0]).lstrip("0")
        yield float(found[0].replace(",", "")), len(digits)


def claims(value: Any) -> Iterator[tuple[int, float]]:
    """Whatever in the JSON gives one row and a number for it."""
    if isinstance(value, dict):
        rows = [one for key, one in value.items() if re.search(r"(^|_)(record|row|original)$", key) and isinstance(one, int)]
        risks = [one for one in value.values() if isinstance(one, float)]
        yield from product(rows, risks)
        for inner in value.values():
            yield from claims(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from claims(inner)


def test_no_row_of_the_release_is_tied_to_a_row_of_the_source(published: Published) -> None:
    told = list(claims(published.machine))
    rows = re.findall(r'<tr><td class="n">([\d,]+)</td><td class="n">([\d.,e-]+)', published.page)
    steps = len(published.policy["plan"]["steps"])
    told += [(int(row.replace(",", "")), float(risk.replace(",", ""))) for row, risk in rows if int(row.replace(",", "")) > steps]
    after = risks_of(published, published.release)
    hits = 0.0
    for row, risk in told:
        alike = [np.isclose(numbers, risk, rtol=5e-4) for numbers in after.values() if len(numbers) == len(published.truth)]
        candidates = np.flatnonzero(np.logical_or.reduce(alike)) if alike else np.zeros(0, dtype=int)
        hits += float((published.truth[candidates] == row - 1).mean()) if len(candidates) else 0.0
    assert hits <= len(told) / len(published.truth), "the intruder is better than chance"
    assert not told, "the report names rows with their risks"


def test_no_text_names_rows(published: Published) -> None:
    for text in published.texts:
        assert not re.search(r"\b(?:records?|rows?) (?:number )?\d+(?:, \d+)+", text)
        assert not re.search(r"\b(?:record|row) \d", text)


def test_no_number_of_the_report_is_the_risk_of_a_record(published: Published) -> None:
    said = {number for text in published.texts for number, digits in numbers_in(text) if digits >= 3}
    said -= {round(1 / 3, 3)}  # the weight of each of three attributes in a measure of loss
    for frame in (published.source, published.release):
        for name, risks in risks_of(published, frame).items():
            values, counts = np.unique(np.round(risks[np.isfinite(risks)], 12), return_counts=True)
            rare = [value for value, count in zip(values, counts, strict=True) if count < 5]
            for value in sorted(rare, reverse="effective_k" not in name)[:10]:  # the riskiest ones
                if len(re.sub(r"e.*|[-,.]", "", f"{value:.10g}").strip("0")) > 3:
                    found = [number for number in said if np.isclose(number, value, rtol=4e-4)]
                    assert not found, f"{name} of a record, {value:.6g}, is in the report as {found}"


def test_no_count_below_five_is_in_the_report(published: Published) -> None:
    machine = published.machine
    cells = [row[series] for one in machine["histograms"] for row in one["rows"] for series in row if series != "label"]
    for one in machine["distributions"]:
        cells += [row[series] for row in [*one["rows"], one["missing"]] for series in ("before", "after")]
    whole = {"known_sets": ("sets",), "coverage": ("unexamined", "identifying", "restorable")}  # no counts of records
    for one in machine["adversaries"]:
        fields = [field for field in one["fields"] if field["field"] not in whole.get(one["measure"], ())]
        cells += [field[series] for field in fields for series in ("before", "after", "informed")]
    cells += [field["value"] for one in machine["losses"] for field in one["fields"]]
    small = [cell for cell in cells if isinstance(cell, int) and not isinstance(cell, bool) and 0 < cell < 5]
    assert not small
    specs = json.loads(re.search(r'id="specs">(.*?)</script>', published.page, flags=re.DOTALL)[1])  # type: ignore[index]
    drawn = [row["records"] for spec in specs.values() for row in spec.get("data", {}).get("values", ()) if "records" in row]
    assert drawn
    assert not [height for height in drawn if height in (1, 2, 3, 4)]
    steps = re.findall(r"<h3>What was done</h3>.*?</table>", published.page, flags=re.DOTALL)
    for cell in re.findall(r'<td class="n">([\d,]+)</td>', "".join(steps).replace('<tr><td class="n">', "<tr><td>")):
        assert not 0 < int(cell.replace(",", "")) < 5


def test_a_few_records_that_were_left_out_do_not_follow_from_the_sizes(published: Published) -> None:
    left_out = published.source.height - published.release.height
    if left_out == 0:
        return
    assert 0 < left_out < 5, "the shape is to lose a few records"
    shown = published.machine["tables"]["original"]["records"]
    assert shown == f"{published.release.height + 1} to {published.release.height + 4}"
    for one in published.machine["distributions"]:
        cells = [row["before"] for row in [*one["rows"], one["missing"]]]
        assert any(isinstance(cell, str) for cell in cells), "the counts would add up to the number of records"


def test_no_seed_and_no_hash_of_the_source_is_in_the_report(published: Published) -> None:
    content = (published.folder / "source.csv").read_bytes()
    release = hashlib.sha256((published.folder / "release.csv").read_bytes()).hexdigest()
    for text in (*published.texts, published.page):
        assert str(published.policy["plan"]["seed"]) not in text
        for name in ("sha256", "sha1", "md5", "sha512", "blake2b", "sha3_256"):
            assert hashlib.new(name, content).hexdigest() not in text
    assert set(re.findall(r"\b[0-9a-f]{32,}\b", json.dumps(published.machine))) <= {release}


GUESSES = [(a, b, c, d) for a, b, c, d in product(range(5), repeat=4)]


@pytest.fixture(scope="module")
def small_table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[[tuple[int, ...]], bytes]]:
    """A table without identifiers of which all but four answers are known."""
    folder = tmp_path_factory.mktemp("small")

    def written(answers: tuple[int, ...]) -> bytes:
        rows = [f"{20 + at},{answer}" for at, answer in enumerate(answers)]
        return ("\n".join(["age,visits", *rows]) + "\n").encode()

    (folder / "source.csv").write_bytes(written((3, 0, 4, 1)))
    (folder / "policy.yaml").write_text(
        yaml.safe_dump({"attributes": {"age": {"role": "key"}, "visits": {"role": "confidential"}}, "risk": {"k_anonymity": {}}})
    )
    words = [str(folder / name) for name in ("source.csv", "release.csv")]
    done = CliRunner().invoke(
        app, ["mask", *words, "-p", str(folder / "policy.yaml"), "--report", str(folder / "mask.html")], catch_exceptions=False
    )
    assert done.exit_code in (0, 1), done.output
    return folder, written


def test_a_table_is_not_rebuilt_from_its_hash(small_table: tuple[Path, Callable[[tuple[int, ...]], bytes]]) -> None:
    folder, written = small_table
    page = (folder / "mask.html").read_text()
    assert len(GUESSES) == 625
    assert not [guess for guess in GUESSES if hashlib.sha256(written(guess)).hexdigest() in page]


def test_the_internal_report_is_for_its_owner_alone_and_says_so(small_table: tuple[Path, Any]) -> None:
    folder, _ = small_table
    words = [str(folder / name) for name in ("source.csv", "release.csv")]
    targets = ["-o", str(folder / "internal.html"), "--json", str(folder / "internal.json")]
    done = CliRunner().invoke(app, ["report", *words, "-p", str(folder / "policy.yaml"), "--internal", *targets])
    assert done.exit_code == 0, done.output
    for name in ("internal.html", "internal.json"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
        assert "CONFIDENTIAL: for the data controller only" in (folder / name).read_text()
    content = json.loads((folder / "internal.json").read_text())
    assert content["confidential"] is True
    assert "sha256" not in content["tables"]["original"], "a plain hash lets anybody try guesses"
    assert len(content["tables"]["original"]["hmac_sha256"]) == 64
