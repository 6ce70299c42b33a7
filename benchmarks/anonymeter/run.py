"""anonymeter's own attacks, run by a Python that has anonymeter.

    python run.py JOB.json RESULT.json

anonymeter 1.1.0 needs numpy < 1.27 and pyarrow < 22, which discreet does not run on, so it has an environment of its own
(requirements.txt). JOB has the tables as Parquet files (``original``, ``released``, ``control`` or null) and a list of
``attacks``; RESULT has, for each, seconds, successes, and the rows that a singling-out attack isolated; and the versions of the
libraries.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def run(attack: dict[str, Any], tables: dict[str, pd.DataFrame | None]) -> dict[str, Any]:
    """One attack: its wall and processor seconds, its attempts and its successes."""
    common: dict[str, Any] = {
        "ori": tables["original"], "syn": tables["released"], "control": tables["control"], "n_attacks": attack["attacks"],
    }  # fmt: skip
    if attack["kind"] == "singling_out":
        evaluator: Any = SinglingOutEvaluator(**common, n_cols=attack["columns"], seed=1)
    elif attack["kind"] == "linkability":
        evaluator = LinkabilityEvaluator(**common, aux_cols=tuple(attack["known"]), n_neighbors=1)
    else:
        evaluator = InferenceEvaluator(**common, aux_cols=attack["known"], secret=attack["secret"], regression=False)
    started, processor = time.perf_counter(), time.process_time()
    evaluator.evaluate()
    result = {"seconds": time.perf_counter() - started, "processor": time.process_time() - processor}
    if attack["kind"] != "singling_out":
        return result | {"successes": int(evaluator.results().n_success)}
    frame = pl.from_pandas(tables["original"]).with_row_index("row__")
    # anonymeter drops duplicate records before it attacks: a predicate that matches two of them isolates nobody
    matched = [frame.filter(query)["row__"].to_list() for query in evaluator.queries()]
    victims = {rows[0] for rows in matched if len(rows) == 1}
    return result | {"successes": len(evaluator.queries()), "victims": sorted(victims)}


def main(job_file: str, result_file: str) -> None:
    job = json.loads(Path(job_file).read_text())
    np.random.seed(1)
    tables = {
        name: None if job[name] is None else pd.read_parquet(job[name]).astype(job["types"])
        for name in ("original", "released", "control")
    }
    results = [attack | run(attack, tables) for attack in job["attacks"]]
    names = ("anonymeter", "numpy", "pandas", "polars", "scikit-learn")
    Path(result_file).write_text(json.dumps({"versions": {name: version(name) for name in names}, "attacks": results}))


if __name__ == "__main__":
    main(*sys.argv[1:])
