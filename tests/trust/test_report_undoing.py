"""An attacker with the release, the public report and this package cannot link a row of the release to a row of the source.

The attacker recomputes every measure on the release, and searches the report for the numbers, in all its forms: the text of the
page, the data of its charts, and the JSON.
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
    """What the attacker has, and (to judge the attack) the truth."""

    policy: dict[str, Any]
    source: pl.DataFrame
    release: pl.DataFrame
    page: str
    machine: dict[str, Any]
    truth: np.ndarray[Any, Any]
    """For each released row its row in the source, which only the data controller has."""
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
    "illness": {
        "role": "confidential",
        "sensitivity": 1.0,
        "values": {"gout": 1.0, "flu": 0.4},
        "default": 0.1,
        "allow_absent": True,
    },
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
    """Use a key ring of its own, so that no key of this machine is used or left behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module", params=list(SHAPES))
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A release and its public report, written by the command line."""
    shape = SHAPES[request.param]
    folder = tmp_path_factory.mktemp("published")
    frame = people(shape["records"], np.random.default_rng(20261116))
    attributes = dict(KEYS)
    if shape.get("persons"):
        frame = frame.with_columns(pl.Series("person", [f"p{row // 3}" for row in range(frame.height)]))
        attributes |= {"person": {"role": "person"}}
    policy = {
        "attributes": attributes,
        "risk": shape["risk"],
        "limits": shape.get("limits", {}),
        "plan": {"seed": 8_127_364_551, "steps": shape["steps"]},
    }
    frame.write_csv(folder / "source.csv")
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    files = [str(folder / name) for name in ("source.csv", "release.csv")]
    plan = ["-p", str(folder / "policy.yaml")]
    link = folder / "link.parquet"
    done = CliRunner().invoke(
        app, ["mask", *files, *plan, "--report", str(folder / "mask.html"), "--link", str(link)], catch_exceptions=False
    )
    assert done.exit_code in (0, 1), done.output
    done = CliRunner().invoke(app, ["report", *files, *plan, "--link", str(link), "--json", str(folder / "report.json")])
    assert done.exit_code in (0, 1), done.output
    machine = json.loads((folder / "report.json").read_text())
    truth = pl.read_parquet(link)["record"].to_numpy()
    release = pl.read_csv(folder / "release.csv")
    return Published(policy, frame, release, (folder / "mask.html").read_text(), machine, truth, folder)


def risks_of(published: Published, frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    """MEASURE.FIELD with a number per record, as anybody can compute them who has the table and the policy."""
    policy = {**published.policy, "plan": {}, "limits": {}}
    policy["attributes"] = {name: attribute for name, attribute in policy["attributes"].items() if name in frame.columns}
    source = discreet.read(published.source, {**policy, "attributes": published.policy["attributes"]})
    risks = {}
    for name in published.policy["risk"]:
        if name in ("record_linkage", "target_linkage", "repeated_records"):
            assessed = discreet.assess(source, discreet.mask(source, {"seed": 1, "steps": []}))
            score = assessed.before[name]
        else:
            score = discreet.risk(discreet.read(frame, policy), name)[name]
        for field, column in (score.per_record.to_dict(as_series=True) if score.per_record is not None else {}).items():
            if column.dtype.is_float():
                risks[f"{name}.{field}"] = column.to_numpy()
    return risks


def numbers_in(text: str) -> Iterator[tuple[float, int]]:
    """Every number with its significant digits."""
    for match in NUMBER.finditer(text):
        digits = re.sub(r"e.*|[-,.]", "", match[0]).lstrip("0")
        yield float(match[0].replace(",", "")), len(digits)


def rows_with_risks(value: Any) -> Iterator[tuple[int, float]]:
    """Every pair of a row number and a number for it in the JSON."""
    if isinstance(value, dict):
        rows = [row for key, row in value.items() if re.search(r"(^|_)(record|row|original)$", key) and isinstance(row, int)]
        risks = [risk for risk in value.values() if isinstance(risk, float)]
        yield from product(rows, risks)
        for inner in value.values():
            yield from rows_with_risks(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from rows_with_risks(inner)


def test_no_row_of_the_release_is_linked_to_a_row_of_the_source(published: Published) -> None:
    claims = list(rows_with_risks(published.machine))
    rows = re.findall(r'<tr><td class="n">([\d,]+)</td><td class="n">([\d.,e-]+)', published.page)
    steps = len(published.policy["plan"]["steps"])
    claims += [
        (int(row.replace(",", "")), float(risk.replace(",", ""))) for row, risk in rows if int(row.replace(",", "")) > steps
    ]
    after = risks_of(published, published.release)
    hits = 0.0
    for row, risk in claims:
        matches = [np.isclose(numbers, risk, rtol=5e-4) for numbers in after.values() if len(numbers) == len(published.truth)]
        candidates = np.flatnonzero(np.logical_or.reduce(matches)) if matches else np.zeros(0, dtype=int)
        hits += float((published.truth[candidates] == row - 1).mean()) if len(candidates) else 0.0
    assert hits <= len(claims) / len(published.truth), "the attacker does better than chance"
    assert not claims, "the report contains rows with their risks"


def test_no_text_contains_row_numbers(published: Published) -> None:
    for text in published.texts:
        assert not re.search(r"\b(?:records?|rows?) (?:number )?\d+(?:, \d+)+", text)
        assert not re.search(r"\b(?:record|row) \d", text)


def test_no_number_of_the_report_is_the_risk_of_a_record(published: Published) -> None:
    numbers = {number for text in published.texts for number, digits in numbers_in(text) if digits >= 3}
    numbers -= {round(1 / 3, 3)}  # the weight of each of three attributes in a measure of loss
    for frame in (published.source, published.release):
        for name, risks in risks_of(published, frame).items():
            values, counts = np.unique(np.round(risks[np.isfinite(risks)], 12), return_counts=True)
            rare = [value for value, count in zip(values, counts, strict=True) if count < 5]
            for value in sorted(rare, reverse="effective_k" not in name)[:10]:  # the riskiest ones
                if len(re.sub(r"e.*|[-,.]", "", f"{value:.10g}").strip("0")) > 3:
                    matches = [number for number in numbers if np.isclose(number, value, rtol=4e-4)]
                    assert not matches, f"{name} of a record, {value:.6g}, is in the report as {matches}"


def test_no_count_below_five_is_in_the_report(published: Published) -> None:
    machine = published.machine
    cells = [row[series] for entry in machine["histograms"] for row in entry["rows"] for series in row if series != "label"]
    for entry in machine["distributions"]:
        cells += [row[series] for row in [*entry["rows"], entry["missing"]] for series in ("before", "after")]
    whole = {"known_sets": ("sets",), "coverage": ("unexamined", "identifying", "restorable")}  # no counts of records
    for entry in machine["adversaries"]:
        fields = [field for field in entry["fields"] if field["field"] not in whole.get(entry["measure"], ())]
        cells += [field[series] for field in fields for series in ("before", "after", "informed")]
    cells += [field["value"] for entry in machine["losses"] for field in entry["fields"]]
    small = [cell for cell in cells if isinstance(cell, int) and not isinstance(cell, bool) and 0 < cell < 5]
    assert not small
    specs = json.loads(re.search(r'id="specs">(.*?)</script>', published.page, flags=re.DOTALL)[1])  # type: ignore[index]
    drawn = [row["records"] for spec in specs.values() for row in spec.get("data", {}).get("values", ()) if "records" in row]
    assert drawn
    assert not [height for height in drawn if height in (1, 2, 3, 4)]
    steps = re.findall(r"<h3>Masking steps</h3>.*?</table>", published.page, flags=re.DOTALL)
    for cell in re.findall(r'<td class="n">([\d,]+)</td>', "".join(steps).replace('<tr><td class="n">', "<tr><td>")):
        assert not 0 < int(cell.replace(",", "")) < 5


def test_a_small_number_of_removed_records_cannot_be_computed_from_the_sizes(published: Published) -> None:
    removed = published.source.height - published.release.height
    if removed == 0:
        return
    assert 0 < removed < 5, "this shape must lose between 1 and 4 records"
    shown = published.machine["tables"]["original"]["records"]
    assert shown == f"{published.release.height + 1} to {published.release.height + 4}"
    for entry in published.machine["distributions"]:
        cells = [row["before"] for row in [*entry["rows"], entry["missing"]]]
        assert any(isinstance(cell, str) for cell in cells), "the counts would add up to the number of records"


def test_no_seed_and_no_hash_of_the_source_is_in_the_report(published: Published) -> None:
    content = (published.folder / "source.csv").read_bytes()
    release = hashlib.sha256((published.folder / "release.csv").read_bytes()).hexdigest()
    for text in (*published.texts, published.page):
        assert str(published.policy["plan"]["seed"]) not in text
        for name in ("sha256", "sha1", "md5", "sha512", "blake2b", "sha3_256"):
            assert hashlib.new(name, content).hexdigest() not in text
    assert set(re.findall(r"\b[0-9a-f]{32,}\b", json.dumps(published.machine))) <= {release}


KNOWN_ANSWERS = (2, 0, 1, 4, 3, 1, 0, 2, 4, 1, 3, 0)
GUESSES = [(a, b, c, d) for a, b, c, d in product(range(5), repeat=4)]


@pytest.fixture(scope="module")
def small_table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[[tuple[int, ...]], bytes]]:
    """A table without identifiers, in which the attacker knows everything but four answers."""
    folder = tmp_path_factory.mktemp("small")

    def csv_content(answers: tuple[int, ...]) -> bytes:
        # the known rows keep the shuffled release from being the source itself, whose hash may be published
        rows = [f"{20 + row},{answer}" for row, answer in enumerate((*answers, *KNOWN_ANSWERS))]
        return ("\n".join(["age,visits", *rows]) + "\n").encode()

    (folder / "source.csv").write_bytes(csv_content((3, 0, 4, 1)))
    (folder / "policy.yaml").write_text(
        yaml.safe_dump({"attributes": {"age": {"role": "key"}, "visits": {"role": "confidential"}}, "risk": {"k_anonymity": {}}})
    )
    files = [str(folder / name) for name in ("source.csv", "release.csv")]
    done = CliRunner().invoke(
        app, ["mask", *files, "-p", str(folder / "policy.yaml"), "--report", str(folder / "mask.html")], catch_exceptions=False
    )
    assert done.exit_code in (0, 1), done.output
    return folder, csv_content


def test_a_table_cannot_be_rebuilt_from_its_hash(small_table: tuple[Path, Callable[[tuple[int, ...]], bytes]]) -> None:
    folder, csv_content = small_table
    page = (folder / "mask.html").read_text()
    assert len(GUESSES) == 625
    assert not [guess for guess in GUESSES if hashlib.sha256(csv_content(guess)).hexdigest() in page]


def test_the_internal_report_is_private_and_marked_as_confidential(small_table: tuple[Path, Any]) -> None:
    folder, _ = small_table
    files = [str(folder / name) for name in ("source.csv", "release.csv")]
    targets = ["-o", str(folder / "internal.html"), "--json", str(folder / "internal.json")]
    done = CliRunner().invoke(app, ["report", *files, "-p", str(folder / "policy.yaml"), "--internal", *targets])
    assert done.exit_code in (0, 1), done.output
    for name in ("internal.html", "internal.json"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
        assert "CONFIDENTIAL: for the data controller only" in (folder / name).read_text()
    content = json.loads((folder / "internal.json").read_text())
    assert content["confidential"] is True
    assert "sha256" not in content["tables"]["original"], "a plain hash lets anybody try guesses"
    assert len(content["tables"]["original"]["hmac_sha256"]) == 64


def report_on(frame: pl.DataFrame, policy: dict[str, Any]) -> tuple[dict[str, Any], pl.DataFrame]:
    """The public report on a release, and the release."""
    from discreet.report.evidence import gather

    data = discreet.read(frame, policy)
    release = discreet.mask(data)
    return gather(data, release), release.masked.frame


def outlier_table(records: int = 120) -> pl.DataFrame:
    random = np.random.default_rng(18)
    return pl.DataFrame(
        {
            "name": [f"P{number}" for number in range(records)],
            "phone": [f"555-{number:04}" for number in range(records)],
            "sex": random.choice(["f", "m"], records),
            "age": random.integers(18, 90, records),
            "income": [*(int(value) for value in random.integers(10_000, 99_000, records - 1)), 7_654_321],
        }
    )


OUTLIER_ATTRIBUTES: dict[str, Any] = {
    "name": {"role": "identifier"}, "phone": {"role": "identifier"}, "sex": {"role": "key"}, "age": {"role": "key"},
    "income": {"role": "key"},
}  # fmt: skip
CAPPED: dict[str, Any] = {"method": "top_bottom_coding", "columns": ["income"], "top": 100_000}


def test_the_loss_does_not_give_a_single_top_coded_value_back() -> None:
    policy = {"attributes": OUTLIER_ATTRIBUTES, "plan": {"seed": 5, "steps": [CAPPED]}, "limits": {"ncp.loss": 0.3}}
    report, release = report_on(outlier_table(), policy)
    (ncp,) = [entry for entry in report["losses"] if entry["measure"] == "ncp"]
    rows = {row["attribute"]: row for row in ncp["attributes"]}
    assert rows["income"]["changed"] == "<5"
    assert rows["income"]["loss"] == "<0.042", "anything up to five values of 120"
    assert [field["value"] for field in ncp["fields"] if field["field"] == "loss"] == ["0 to 0.0139"]
    (limit,) = report["verdict"]["limits"]
    assert isinstance(limit["found"], str)
    assert limit["kept"] is True
    low, records = release["income"].min(), release.height
    text = json.dumps(report)
    for number, _ in numbers_in(text):
        for weight in (1, 3):
            share = number * weight * records
            if 0 < share < 1:
                solution = (100_000 - share * low) / (1 - share)
                assert abs(solution / 7_654_321 - 1) > 0.02, f"{number} gives the value back"


def test_statistics_of_the_original_do_not_give_a_suppressed_value_back() -> None:
    frame = outlier_table().with_columns(income=pl.Series([30_000] * 119 + [7_654_321]))
    policy = {
        "attributes": OUTLIER_ATTRIBUTES, "loss": {"integrity": {}, "entropy": {}, "propensity": {}},
        "plan": {"seed": 5, "steps": [CAPPED]}, "limits": {"integrity.mean": 0.9},
    }  # fmt: skip
    report, _ = report_on(frame, policy)
    entries = {entry["measure"]: entry for entry in report["losses"]}
    for measure, allowed in (("integrity", ("range", "mean_after", "standard_deviation_after")), ("entropy", ())):
        (row,) = [row for row in entries[measure]["attributes"] if row["attribute"] == "income"]
        assert not [name for name, value in row.items() if isinstance(value, float) and name not in allowed]
    assert not [field for field in entries["entropy"]["fields"] if isinstance(field["value"], float)]
    totals = [field["field"] for field in entries["integrity"]["fields"] if isinstance(field["value"], float)]
    assert totals == ["loss"], "the share of statistics outside their range, which are counted anyway"
    assert report["verdict"]["limits"][0]["sentence"].startswith("integrity.mean is at most 0.9;")
    (counts,) = [entry for entry in report["distributions"] if entry["attribute"] == "income"]
    assert {row["before"] for row in counts["rows"]} == {"not shown"}


def test_few_removed_records_do_not_follow_from_counts_of_changed_values_or_guesses() -> None:
    steps = [{"method": "remove_identifiers"}, {"method": "sampling", "fraction": 0.98}]
    policy = {
        "attributes": OUTLIER_ATTRIBUTES, "risk": {"target_linkage": {}, "record_linkage": {}, "k_anonymity": {}},
        "loss": {"integrity": {}, "ncp": {}}, "plan": {"seed": 5, "steps": steps},
    }  # fmt: skip
    report, release = report_on(outlier_table(), policy)
    assert 0 < 120 - release.height < 5
    low, high = release.height + 1, release.height + 4
    assert report["steps"][0]["changed"] == f"{2 * low} to {2 * high}"
    shown = {
        f"{entry['measure']}.{field['field']}.{series}": field[series]
        for entry in report["adversaries"]
        for field in entry["fields"]
        for series in ("before", "after", "informed")
    }
    numbers = {name: value for name, value in shown.items() if isinstance(value, int | float) and value}
    telling = [name for name, value in numbers.items() if low <= value <= high or low <= 1 / value <= high]
    assert not telling
    means = [row for entry in report["losses"] if entry["measure"] == "integrity" for row in entry["attributes"]]
    assert not [row for row in means if isinstance(row["mean_before"], float)], "the sums differ by the records left out"


def test_shares_close_to_all_records_are_bounds() -> None:
    from discreet.report.public_report.fields import Series, show_fields
    from discreet.report.small_counts import Range

    exact = {
        "correct": 239.0, "correct_share": 239.04 / 240, "lower": 0.977, "upper": 0.999, "excess": 0.9958,
        "within_2": 1.0, "within_10": 239.04 / 240, "interval_disclosure": 238.7 / 240, "attacks": 240,
    }  # fmt: skip
    shown = show_fields("record_linkage", Series(exact, Range(240, 240)), {})
    assert shown["correct"] == "236 to 240"
    assert {shown[name] for name in ("correct_share", "within_10", "interval_disclosure")} == {">0.979"}
    assert {shown[name] for name in ("lower", "upper")} == {"not shown"}
    assert shown["excess"] == ">0.979"


def test_a_small_count_of_an_attribute_does_not_follow_from_the_totals() -> None:
    from discreet.report.public_report.losses import show_loss
    from discreet.report.small_counts import Range

    def row(name: str, loss: float, suppressed: int) -> dict[str, Any]:
        return {"attribute": name, "weight": 0.5, "loss": loss, "suppressed": suppressed, "changed": suppressed}

    entry = {
        "measure": "ncp",
        "fields": [
            {"field": "loss", "value": 0.5 * 0.25 + 0.5 / 120, "meaning": ""},
            {"field": "suppressed", "value": 31, "meaning": ""},
        ],
        "attributes": [row("age", 0.25, 30), row("zip", 1 / 120, 1)],
    }
    shown = show_loss(entry, Range(120, 120), Range(120, 120), ["zip"])
    assert [field["value"] for field in shown["fields"]] == ["0.125 to 0.146", "31 to 34"]
    assert shown["attributes"][1] | {"weight": 0} == {
        "attribute": "zip", "weight": 0, "loss": "<0.042", "suppressed": "<5", "changed": "<5",
    }  # fmt: skip
