"""Population uniques and expected matches estimated from samples of populations whose truth is known.

    DISCREET_DATA=folder python benchmarks/population.py [--samples 5] [--fractions 0.01,0.05,0.2] [--tables adult,census]
    DISCREET_DATA=folder python benchmarks/population.py --models auto,pitman
    python benchmarks/population.py --speed

Each row is printed when its setting is finished, so that parts can be run on their own; the last line says how long 100 samples
of the same settings would take. ``--speed`` prints the rows of time and memory on a generated table of 1,000,000 records and 8
keys, each in a process of its own; it needs no data.

Each setting is a table, a set of keys and a sampling fraction. For each model the table has the median absolute relative error of
the population uniques and of the sum of 1/F, and for ``auto`` how often the 95 % interval holds the truth and how wide it is, in
spreads of the truth from sample to sample.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from pathlib import Path

import numpy as np
import polars as pl

from discreet.errors import DataError
from discreet.risks.individual_risk.measure import IndividualRisk
from discreet.risks.population_uniqueness.measure import PopulationUniqueness
from discreet.testing import table

TABLES = {
    "census": (
        "census_income_kdd",
        (
            ("age", "sex", "race", "marital_status", "education", "household_family_stat"),
            ("age", "sex", "race", "prev_state", "citizenship", "major_occupation"),
            ("age", "sex", "race", "hispanic_origin", "marital_status", "education", "major_industry", "self_country"),
        ),
    ),
    "cps": (
        "cps_taxcalc",
        (
            ("age_head", "fips", "MARS", "XTOT"),
            ("age_head", "age_spouse", "fips"),
            ("age_head", "fips", "MARS", "XTOT", "nu18", "EIC", "agi_bin"),
        ),
    ),
    "students": (
        "students_bench",
        (
            ("gender", "ethnicity", "age", "parish", "grade", "lunch"),
            ("gender", "ethnicity", "age", "school"),
            ("gender", "ethnicity", "age", "parish", "grade", "lunch", "language", "birth_month"),
        ),
    ),
    "diabetic": (
        "diabetic_data",
        (
            ("race", "gender", "age", "medical_specialty"),
            ("race", "gender", "age", "time_in_hospital", "admission_type_id", "payer_code"),
            ("race", "gender", "age", "diag_1"),
        ),
    ),
    "adult": (
        "adult",
        (
            ("age", "sex", "race", "marital-status", "education"),
            ("age", "sex", "race", "native-country", "occupation"),
            ("age", "sex", "race", "workclass", "occupation", "marital-status", "relationship"),
        ),
    ),
}
MODELS = {
    "auto": {"model": "auto"},
    "main effects": {"model": "log_linear", "terms": "main"},
    "two-way": {"model": "log_linear", "terms": "two_way"},
    "chosen terms": {"model": "log_linear", "terms": "chosen"},
    "pitman": {"model": "pitman"},
    "snb": {"model": "snb"},
}


def measure_setting(
    population: pl.DataFrame, keys: tuple[str, ...], fraction: float, samples: int, models: list[str]
) -> dict[str, np.ndarray]:
    """For each model the relative errors of both numbers, sample by sample; ``truth``, ``low`` and ``high`` of auto."""
    sizes = population.select(pl.len().over(list(keys)).alias("F"))["F"].to_numpy()
    generator = np.random.default_rng(1)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in (*models, "individual_risk", "truth", "interval")}
    for _ in range(samples):
        chosen = generator.choice(population.height, round(fraction * population.height), replace=False)
        data = table(population[chosen].to_dict(as_series=False), key=list(keys))
        for name in models:
            parameters = MODELS[name]
            try:
                score = PopulationUniqueness.model_validate({**parameters, "sampling_fraction": fraction}).measure(data)
            except DataError:  # two-way terms of too many cells
                rows[name].append((np.nan, np.nan))
                continue
            if name == "auto":
                single = score.per_record["class_size"].to_numpy() == 1
                truth = (float((sizes[chosen][single] == 1).sum()), float((1 / sizes[chosen][single]).sum()))
                rows["truth"].append(truth)
                rows["interval"].append((*score.bounds["population_uniques"], *score.bounds["expected_matches"]))
            estimates = (score["population_uniques"], score["expected_matches"])
            rows[name].append(tuple(estimate / max(true, 1e-9) - 1 for estimate, true in zip(estimates, truth, strict=True)))
        risks = IndividualRisk(sampling_fraction=fraction).measure(data).per_record["risk"].to_numpy()
        rows["individual_risk"].append((np.nan, float(risks[single].sum()) / truth[1] - 1))
    return {name: np.array(values) for name, values in rows.items()}


SPEED_KEYS = (40, 12, 10, 8, 6, 4, 3, 2)
SPEED_RUNS = {
    "individual_risk": (IndividualRisk, {}),
    "population_uniqueness, log_linear with two-way terms": (PopulationUniqueness, {"model": "log_linear", "terms": "two_way"}),
    "population_uniqueness, auto": (PopulationUniqueness, {"model": "auto"}),
}


def measure_speed(name: str) -> tuple[float, float, float, float]:
    """Seconds and processor seconds of a second run, and the process's peak memory before and after both, in MB."""
    generator = np.random.default_rng(1)
    latent = generator.random(1_000_000)
    columns = {
        f"key{place}": np.minimum((latent + generator.random(len(latent)) ** 2) / 2 * values, values - 1)
        .astype(np.int64)
        .tolist()
        for place, values in enumerate(SPEED_KEYS)
    }
    data = table(columns, key=list(columns))
    measure, parameters = SPEED_RUNS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for _ in range(2):  # the first run compiles
        began, processor = time.perf_counter(), time.process_time()
        measure.model_validate({**parameters, "sampling_fraction": 0.05}).measure(data)
        seconds = time.perf_counter() - began, time.process_time() - processor
    return *seconds, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_speed() -> None:
    print("| 1,000,000 records x 8 keys | seconds | processor seconds | peak memory with the table | before |")
    print("|---|---|---|---|---|")
    for name in SPEED_RUNS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, processor, before, after = pool.apply(measure_speed, (name,))
        print(f"| {name} | {seconds:.2f} | {processor:.2f} | {after:,.0f} MB | {before:,.0f} MB |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--fractions", default="0.01,0.05,0.2")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--models", default=",".join(MODELS), help="auto is always among them")
    options = parser.parse_args()
    if options.speed:
        print_speed()
        return
    folder = Path(os.environ["DISCREET_DATA"])
    models = ["auto", *(name for name in options.models.split(",") if name != "auto")]
    names = [*models, "individual_risk"]
    print(
        "| table, keys | fraction | true uniques, sum of 1/F | "
        + " | ".join(names)
        + " | auto: interval holds | width / spread |"
    )
    print("|---" * (len(names) + 5) + "|")
    overall: dict[float, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    better = {name: [0, 0] for name in names[1:]}
    began = time.perf_counter()
    for place in options.tables.split(","):
        file, key_sets = TABLES[place]
        for number, keys in enumerate(key_sets, 1):
            population = pl.read_parquet(folder / f"{file}.parquet", columns=list(keys))
            for fraction in map(float, options.fractions.split(",")):
                results = measure_setting(population, keys, fraction, options.samples, models)
                truth, interval = results["truth"], results["interval"]
                errors = {name: np.median(np.abs(results[name]), axis=0) for name in names}
                held = (interval[:, 0::2] <= truth) & (truth <= interval[:, 1::2])
                width = np.median(interval[:, 1::2] - interval[:, 0::2], axis=0)
                spread = 3.92 * np.maximum(truth.std(axis=0, ddof=1), np.sqrt(truth.mean(axis=0)) * 0.5)
                overall.setdefault(fraction, []).append((errors["auto"], held, width / spread))
                for name, wins in better.items():
                    usable = ~np.isnan(errors[name])
                    wins[0] += int((errors["auto"] <= errors[name])[usable].sum())
                    wins[1] += int(usable.sum())
                cells = [" / ".join("–" if np.isnan(error) else f"{error:.0%}" for error in errors[name]) for name in names]
                print(
                    f"| {place} {number} | {fraction:g} | {truth[:, 0].mean():,.0f}, {truth[:, 1].mean():,.0f} | "
                    + " | ".join(cells) + f" | {held.mean():.0%} | {(width / spread).mean():.1f} |", flush=True,
                )  # fmt: skip
    print()
    for fraction, parts in overall.items():
        errors = np.median([part[0] for part in parts], axis=0)
        held = np.mean([part[1].mean() for part in parts])
        widths = np.median([part[2] for part in parts], axis=0)
        print(
            f"fraction {fraction:g}: median error of auto {errors[0]:.0%} (uniques), {errors[1]:.0%} (1/F); intervals hold "
            f"{held:.1%}; median width {widths[0]:.1f} and {widths[1]:.1f} times the truth's spread"
        )
    for name, (won, settings) in better.items():
        print(f"auto at least as close as {name}: {won} of {settings}")
    seconds, processor = time.perf_counter() - began, time.process_time()
    print(
        f"{seconds:.0f} s, {processor:.0f} processor seconds; 100 samples: {processor * 100 / options.samples / 3600:.1f} hours"
    )


if __name__ == "__main__":
    main()
