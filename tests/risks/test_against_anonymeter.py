"""anonymeter's sampled attacks never exceed the exact numbers of exhaustive_attack on the same data.

anonymeter 1.1.0 needs numpy < 1.27, so it cannot be installed beside discreet. Its attacks run in an environment of its own where
there is one: DISCREET_ANONYMETER names its Python, or benchmarks/attacks.py made .venv-anonymeter. Elsewhere the outcomes of such
a run are compared, which were recorded with the same tables (DISCREET_ANONYMETER_RECORD=1 records them anew).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.model.microdata import Microdata
from discreet.risks.exhaustive_attack.measure import ExhaustiveAttack
from discreet.testing import table

RECORDS, COLUMNS, SECRET = 400, ("a", "b", "c", "d", "e"), "sick"
RECORDED = Path(__file__).with_name("anonymeter_outcomes.json")
ROOT = Path(__file__).parents[2]
SEEDS = (1, 2, 3)


def survey(seed: int) -> Microdata:
    """Five known columns of text, some values rare, and a secret that depends on two of them."""
    random = np.random.default_rng(seed)
    columns = {
        name: np.minimum(size - 1, random.exponential(size / 4, RECORDS)).astype(int)
        for name, size in zip(COLUMNS, (3, 5, 8, 14, 25), strict=True)
    }
    secret = (columns["a"] + columns["b"] + (random.random(RECORDS) < 0.4)) % 4
    texts = {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    return table(texts | {SECRET: [f"s{code}" for code in secret]}, key=list(COLUMNS), confidential=[SECRET])


def attacks() -> list[dict[str, Any]]:
    """Guesses of everybody's secret from some known columns, and predicates over at most three columns."""
    known = (["a"], ["a", "b"], ["b", "c", "d"], ["c", "d", "e"], list(COLUMNS))
    guesses = [{"kind": "inference", "attacks": RECORDS, "known": names, "secret": SECRET} for names in known]
    return guesses + [{"kind": "singling_out", "attacks": 200, "columns": size} for size in (2, 3)]


def find_peer() -> str | None:
    own = ROOT / ".venv-anonymeter" / "bin" / "python"
    return os.environ.get("DISCREET_ANONYMETER") or (str(own) if own.exists() else None)


def attack_live(python: str, data: Microdata, folder: Path) -> dict[str, Any]:
    data.frame.write_parquet(folder / "table.parquet")
    place = str(folder / "table.parquet")
    job = {"original": place, "released": place, "control": None, "types": {}, "attacks": attacks()}
    (folder / "job.json").write_text(json.dumps(job))
    script = str(ROOT / "benchmarks" / "anonymeter" / "run.py")
    subprocess.run([python, script, str(folder / "job.json"), str(folder / "result.json")], check=True, capture_output=True)
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    for attack in result["attacks"]:
        del attack["seconds"], attack["processor"]
    return result | {"sha256": fingerprint(data)}


def fingerprint(data: Microdata) -> str:
    return hashlib.sha256(data.frame.write_csv().encode()).hexdigest()


@pytest.fixture(scope="module", params=SEEDS)
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Microdata, dict[str, Any]]:
    """A table, and what anonymeter's attacks on it achieved, now or when they were recorded."""
    data = survey(request.param)
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    python = find_peer()
    if python is None:
        outcome = recorded[str(request.param)]
    else:
        outcome = attack_live(python, data, tmp_path_factory.mktemp("anonymeter"))
        if os.environ.get("DISCREET_ANONYMETER_RECORD"):
            RECORDED.write_text(json.dumps(recorded | {str(request.param): outcome}, indent=1) + "\n")
    assert outcome["sha256"] == fingerprint(data), "the outcomes are those of another table"
    return data, outcome


def test_no_sampled_guess_of_everybody_is_right_more_often_than_the_best_guess(
    attacked: tuple[Microdata, dict[str, Any]],
) -> None:
    data, outcome = attacked
    guesses = [attack for attack in outcome["attacks"] if attack["kind"] == "inference"]
    assert len(guesses) == 5
    for attack in guesses:
        exact = ExhaustiveAttack(known=tuple(attack["known"]), size=len(attack["known"])).measure(data)
        assert attack["successes"] / attack["attacks"] <= exact["best_guess"] + 1e-12, attack["known"]
    everything = ExhaustiveAttack(size=len(COLUMNS)).measure(data)
    assert max(attack["successes"] for attack in guesses) / RECORDS <= everything["best_guess"] + 1e-12
    assert max(attack["successes"] for attack in guesses) / RECORDS > everything["blind"], "the attacks find something"


def test_whoever_a_sampled_predicate_isolates_is_singled_out_by_some_set(attacked: tuple[Microdata, dict[str, Any]]) -> None:
    data, outcome = attacked
    for attack in outcome["attacks"]:
        if attack["kind"] != "singling_out":
            continue
        # the secret is a column like any other to a predicate
        exact = ExhaustiveAttack(known=(*COLUMNS, SECRET), secret=(), size=attack["columns"]).measure(_all_known(data))
        assert exact.per_record is not None
        singled_out = set(np.flatnonzero(exact.per_record["sets"].to_numpy() > 0).tolist())
        assert attack["victims"], "the attacks find somebody"
        assert set(attack["victims"]) <= singled_out
        assert len(attack["victims"]) / RECORDS <= exact["singled_out"] + 1e-12


def _all_known(data: Microdata) -> Microdata:
    return table({name: data.frame[name].to_list() for name in data.columns}, key=list(data.columns))
