"""Attacks with a control, and exact attacks over all sets of columns: time and risk on adult and on generated tables.

    python benchmarks/attacks.py [ADULT] [RECORDS]

ADULT is a table of the UCI adult data (Parquet or CSV; '-' for a generated table of the same shape), RECORDS the size of the
largest generated table (default 1,000,000). Prints Markdown tables. Attacked are the raw table and a release by MDAV, k = 5, of
26,000 records with 10 columns, 5,000 attacks each, a tenth of the records held out. Beside it run anonymeter's attacks on the
same tables, in an environment of its own (benchmarks/anonymeter), made on first use in .venv-anonymeter, which needs a package
index then; DISCREET_ANONYMETER names another Python that has anonymeter, or 'none'. Then exhaustive_attack up to 3 of 10 columns,
beside known_sets on the same table; ratios are those of processor seconds. Each time is that of one run after a first run with
fewer attacks or on a smaller table, so that no kernel is compiled or loaded while it is timed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.risks.exhaustive_attack.measure import ExhaustiveAttack
from discreet.risks.inference.measure import Inference
from discreet.risks.known_sets.measure import KnownSets
from discreet.risks.linkability.measure import Linkability
from discreet.risks.membership.measure import Membership
from discreet.risks.singling_out.measure import SinglingOut

RECORDS, ATTACKS, HOLDOUT = 26_000, 5_000, 0.1
SECRET = "occupation"
KEYS = ("age", "workclass", "education", "marital-status", "relationship", "race", "sex", "hours-per-week", "native-country")


def read_adult(path: str) -> pl.DataFrame:
    """26,000 records of adult with nine keys and the occupation; generated columns of the same sizes where there is no file."""
    if path == "-":
        random = np.random.default_rng(19_940_501)
        sizes = (73, 8, 16, 7, 6, 5, 2, 94, 41, 14)
        names = (*KEYS, SECRET)
        return pl.DataFrame(
            {
                name: np.minimum(size - 1, random.exponential(size / 4, RECORDS)).astype(np.int64)
                if name in ("age", "hours-per-week")
                else [f"v{code}" for code in np.minimum(size - 1, random.exponential(size / 4, RECORDS)).astype(int)]
                for name, size in zip(names, sizes, strict=True)
            }
        )
    frame = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path)
    frame = frame.rename({name: name.replace("_", "-").replace(".", "-") for name in frame.columns})
    return frame.select(*KEYS, SECRET).drop_nulls().head(RECORDS)


def as_microdata(frame: pl.DataFrame) -> Microdata:
    attributes = {name: Attribute(role=Role.CONFIDENTIAL if name == SECRET else Role.KEY, known=0.2) for name in frame.columns}
    return Microdata(frame, Policy(attributes=attributes))


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, wall seconds and processor seconds."""
    started, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - started, time.process_time() - processor


def attack(
    data: Microdata, name: str, steps: list[dict[str, Any]], attacks: int = ATTACKS, beside_peer: bool = True
) -> list[str]:
    """One row of the table per attack on a release of these steps."""
    release = discreet.mask(data, Plan.model_validate({"seed": 1, "holdout": HOLDOUT, "steps": steps}))
    rows = []
    peer = run_peer(release.masked, data, attacks) if beside_peer else {}
    for measure in (
        SinglingOut(attacks=attacks),
        Linkability(attacks=attacks, first=KEYS[:5], second=KEYS[5:]),
        Inference(attacks=attacks),
        Membership(attacks=attacks),
    ):
        score, wall, processor = timed(lambda measure=measure: measure.measure(release.masked, original=data))
        interval = f"{score['lower']:.3f} to {score['upper']:.3f}"
        control = "" if score["control"] is None else f"{score['control']:.3f}"
        rows.append(
            f"| {name} | {measure.name} | {score['attack']:.3f} | {control} | {score['risk']:.3f} | {interval} | {wall:.1f} | "
            f"{processor:.1f} | {format_peer(peer, measure.name, processor)} |"
        )
    return rows


def format_peer(peer: dict[str, dict[str, float]], kind: str, processor: float) -> str:
    """Wall and processor seconds of the peer, and the ratio of processor seconds."""
    if kind not in peer:
        return "has none | | " if kind == "membership" else "not run | | "
    seconds, own = peer[kind]["seconds"], peer[kind]["processor"]
    return f"{seconds:.1f} | {own:.1f} | {own / max(processor, 1e-3):.0f}"


PEER = Path(__file__).parent / "anonymeter"


def peer_python() -> str | None:
    """A Python that has anonymeter; its environment is made where there is none."""
    named = os.environ.get("DISCREET_ANONYMETER")
    if named == "none":
        return None
    folder = Path(__file__).parents[1] / ".venv-anonymeter"
    if named is None and not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", PEER / "requirements.txt"]
        subprocess.run(list(map(str, install)), check=True)
    return named or str(folder / "bin" / "python")


def run_peer(masked: Microdata, original: Microdata, number: int) -> dict[str, dict[str, float]]:
    """anonymeter's attacks of the same kinds with as many attacks, by kind; empty without it."""
    python = peer_python()
    if python is None:
        return {}
    outside = original.frame[np.setdiff1d(np.arange(len(original)), masked.records)]
    attacks = [
        {"kind": "inference", "attacks": number, "known": list(KEYS), "secret": SECRET},
        {"kind": "linkability", "attacks": min(number, len(outside)), "known": [list(KEYS[:5]), list(KEYS[5:])]},
        {"kind": "singling_out", "attacks": min(number, len(outside)), "columns": 3},
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = {"original": original.frame[np.sort(masked.records)], "released": masked.frame, "control": outside}
        for table, frame in tables.items():
            frame.write_parquet(folder / table)
        job = {table: str(folder / table) for table in tables} | {"types": {}, "attacks": attacks}
        (folder / "job.json").write_text(json.dumps(job))
        call = [python, str(PEER / "run.py"), str(folder / "job.json"), str(folder / "result.json")]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        result = json.loads((folder / "result.json").read_text())
    print(f"\nanonymeter with {result['versions']}\n", file=sys.stderr)
    return {attack["kind"]: attack for attack in result["attacks"]}


def survey(records: int) -> Microdata:
    """Ten keys and a secret that depends on two of them."""
    random = np.random.default_rng(20_140_410)
    sizes = (2, 5, 10, 20, 50, 8, 100, 30, 4, 6)
    columns = {
        f"k{at}": np.minimum(size - 1, random.exponential(size / 4, records)).astype(np.int32) for at, size in enumerate(sizes)
    }
    secret = (columns["k2"] + columns["k3"] + random.integers(0, 4, records)) % 7
    attributes = {name: Attribute(role=Role.KEY, known=0.2) for name in columns}
    attributes["s"] = Attribute(role=Role.CONFIDENTIAL, sensitivity=1.0)
    return Microdata(pl.DataFrame(columns | {"s": secret.astype(np.int32)}), Policy(attributes=attributes))


def main(adult: str = "-", records: str = "1000000") -> None:
    if adult != "-" and not Path(adult).exists():
        raise SystemExit(f"{adult}: there is no such file")
    for measure in (ExhaustiveAttack(), KnownSets(epsilon=0.005)):  # loads the compiled kernels
        measure.measure(survey(60_000))
    data = as_microdata(read_adult(adult))
    attack(data, "", [], attacks=2_000, beside_peer=False)  # fewer would not load the kernels of large tables
    print(f"{len(data):,} records, {len(data.columns)} columns, {ATTACKS:,} attacks, {HOLDOUT:.0%} held out\n")
    print("| release | attack | rate | control | risk | 95 % interval | s | processor s | anonymeter s | processor s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    mdav = {"method": "microaggregation", "columns": list(KEYS), "size": 5}
    for name, steps in (("raw", []), ("MDAV, k = 5", [mdav])):
        print("\n".join(attack(data, name, steps)), flush=True)
    print("\n| table | records | sets | singled out | risk of inference | s | processor s | known_sets s | processor s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    tables = [("adult", data)] + [(f"generated, {size:,}", survey(size)) for size in (100_000, 1_000_000) if size <= int(records)]
    for name, table in tables:
        score, wall, processor = timed(lambda table=table: ExhaustiveAttack(size=3).measure(table))
        fresh = Microdata(table.frame, table.policy)
        _, other, other_processor = timed(lambda fresh=fresh: KnownSets(epsilon=0.005).measure(fresh))
        print(
            f"| {name} | {len(table):,} | {score['sets']} | {score['singled_out']:.3f} | {score['risk']:.3f} | {wall:.1f} | "
            f"{processor:.1f} | {other:.1f} | {other_processor:.1f} | {processor / other_processor:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
