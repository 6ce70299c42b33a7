"""known_sets for the population on samples of populations whose truth is known, and the time of a population run.

    DISCREET_DATA=folder python benchmarks/population_known_sets.py [--samples 20] [--fractions 0.01,0.05,0.2] [--tables adult]
    python benchmarks/population_known_sets.py --time [records]

A setting is a table, what an intruder may know, what is confidential (its rarest value ten times as
sensitive as the others), and a sampling fraction. The truth is the mean over the
sampled records of the sum over known sets with 1/F counted in the population (``population: table``). For ``model`` and
``weights`` (equal weights 1 / fraction) the table has the median error relative to it, and how often the interval holds it.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students

SETTINGS: dict[str, tuple[str, tuple[tuple[dict[str, float], str], ...]]] = {
    "census": (
        "census_income_kdd",
        (
            (
                {"age": 0.6, "sex": 0.9, "race": 0.8, "marital_status": 0.5, "education": 0.4, "household_family_stat": 0.3},
                "income",
            ),
            ({"age": 0.4, "sex": 0.9, "race": 0.7, "prev_state": 0.3, "citizenship": 0.4, "major_occupation": 0.5}, "income"),
        ),
    ),
    "cps": (
        "cps_taxcalc",
        (
            ({"age_head": 0.5, "fips": 0.8, "MARS": 0.7, "XTOT": 0.5, "nu18": 0.4}, "agi_bin"),
            ({"age_head": 0.5, "age_spouse": 0.3, "fips": 0.8, "EIC": 0.2}, "agi_bin"),
        ),
    ),
    "students": (
        "students_bench",
        (
            ({"gender": 0.9, "ethnicity": 0.9, "age": 0.5, "parish": 0.6, "grade": 0.3, "lunch": 0.2}, "language"),
            ({"gender": 0.8, "ethnicity": 0.9, "school": 0.3, "birth_month": 0.3, "age": 0.4}, "lunch"),
        ),
    ),
    "diabetic": (
        "diabetic_data",
        (
            ({"race": 0.9, "gender": 0.9, "age": 0.6, "medical_specialty": 0.3, "time_in_hospital": 0.3}, "readmitted"),
            ({"race": 0.9, "gender": 0.9, "age": 0.6, "diag_1": 0.3, "payer_code": 0.2}, "readmitted"),
        ),
    ),
    "adult": (
        "adult",
        (
            ({"age": 0.5, "sex": 0.9, "race": 0.8, "marital-status": 0.6, "education": 0.4}, "salary-class"),
            ({"age": 0.5, "sex": 0.9, "race": 0.8, "native-country": 0.5, "occupation": 0.4}, "salary-class"),
        ),
    ),
}


def measure_setting(
    population: pl.DataFrame, known: dict[str, float], confidential: str, fraction: float, samples: int
) -> dict[str, np.ndarray]:
    """For each way (estimate / truth - 1, whether the interval holds the truth, interval width / truth), sample by sample."""
    attributes = {name: {"role": "key", "known": chance} for name, chance in known.items()}
    rarest = population[confidential].drop_nulls().value_counts().sort("count", confidential)[confidential][0]
    attributes[confidential] = {"role": "confidential", "sensitivity": 1.0, "values": {str(rarest): 1.0}, "default": 0.1}
    policy = Policy.from_dict({"attributes": attributes})
    generator = np.random.default_rng(1)
    truth_measure = KnownSets(population="table", population_table=population)
    ways = {
        "file": KnownSets(),
        "model": KnownSets(population="model", sampling_fraction=fraction),
        "weights": KnownSets(population="weights"),
    }
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in ways}
    for _ in range(samples):
        chosen = generator.choice(population.height, round(fraction * population.height), replace=False)
        data = Microdata(population[np.sort(chosen)], policy.model_copy(update={"sampling": policy.sampling.thinned(fraction)}))
        truth = float(truth_measure.measure(data)["mean"])
        for name, measure in ways.items():
            score = measure.measure(data)
            low, high = (score["mean"],) * 2 if name == "file" else (score["mean_low"], score["mean_high"])
            rows[name].append((score["mean"] / truth - 1, float(low <= truth <= high), (high - low) / truth))
    return {name: np.array(values) for name, values in rows.items()}


def print_errors(tables: list[str], fractions: list[float], samples: int) -> None:
    folder = Path(os.environ["DISCREET_DATA"])
    print(
        "| population | fraction | file alone | weights: error | interval holds | model: error | interval holds | width / truth |"
    )
    print("|---|---|---|---|---|---|---|---|")
    overall: dict[float, list[np.ndarray]] = {}
    for place in tables:
        file, settings = SETTINGS[place]
        for number, (known, confidential) in enumerate(settings, 1):
            population = pl.read_parquet(folder / f"{file}.parquet", columns=[*known, confidential])
            for fraction in fractions:
                found = measure_setting(population, known, confidential, fraction, samples)
                errors = {name: float(np.median(np.abs(rows[:, 0]))) for name, rows in found.items()}
                held = {name: float(rows[:, 1].mean()) for name, rows in found.items()}
                overall.setdefault(fraction, []).append(found["model"])
                print(
                    f"| {place} {number} | {fraction:g} | {np.median(found['file'][:, 0]) + 1:.1f} x | {errors['weights']:.0%} | "
                    f"{held['weights']:.0%} | {errors['model']:.0%} | {held['model']:.0%} | "
                    f"{np.median(found['model'][:, 2]):.2f} |", flush=True,
                )  # fmt: skip
    print()
    for fraction, parts in overall.items():
        medians = [float(np.median(np.abs(part[:, 0]))) for part in parts]
        held_share = np.mean([part[:, 1].mean() for part in parts])
        print(
            f"fraction {fraction:g}: median error of model {np.median(medians):.1%}, largest {max(medians):.1%}; intervals hold "
            f"{held_share:.1%}; median width {np.median([np.median(part[:, 2]) for part in parts]):.2f} of the truth"
        )


def print_times(records: int) -> None:
    data = students(records)
    plain, model = KnownSets(), KnownSets(population="model", size=10 * records)
    spent = {}
    for name, measure in (("plain", plain), ("model", model)):
        measure.measure(data)
        best = [np.inf, np.inf]
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            measure.measure(data)
            best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - processor)]
        spent[name] = best
        print(f"{name}: {best[0]:.2f} s, processor {best[1]:.2f} s")
    ratios = [model_time / plain_time for plain_time, model_time in zip(spent["plain"], spent["model"], strict=True)]
    print(f"{records:,} records, {model.measure(data)['sets']} sets: model / plain {ratios[0]:.1f}, processor {ratios[1]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--fractions", default="0.01,0.05,0.1,0.2")
    parser.add_argument("--tables", default=",".join(SETTINGS))
    parser.add_argument("--time", nargs="?", type=int, const=1_000_000)
    options = parser.parse_args()
    if options.time:
        print_times(options.time)
        return
    print_errors(options.tables.split(","), [float(one) for one in options.fractions.split(",")], options.samples)


if __name__ == "__main__":
    main()
