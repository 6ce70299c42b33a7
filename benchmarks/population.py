"""Population uniques and sums of 1/F estimated from samples of populations whose truth is known, against other models.

    DISCREET_DATA=folder python benchmarks/population.py RESULTS --samples 100 [--fractions 0.01,0.05] [--tables adult,census]
    DISCREET_DATA=folder python benchmarks/population.py RESULTS --samples 5 --models two-way
    python benchmarks/population.py RESULTS --print

RESULTS is a file of JSON lines, best outside the tree. Each sample of each setting (table, set of keys, sampling fraction)
appends one line with the truth and the estimate of every model; what is in the file already is not computed again, so that a run
can be stopped and continued, and run in parts. The samples are the same in every run: the generator's seed is the number of the
sample. A population is read, coded as integers and counted once per set of keys, and the model is fitted once per sample:
``auto`` stands for the population uniques, the sum of 1/F over the sample uniques and that over all records
(``reidentification.marketer``). In the first sample of a setting they are those of the measures, or the run ends.
``--rivals 25`` compares ``auto`` with the other models on the first 25 samples of a setting only: their medians need fewer
samples than a coverage does.
The table ``generated`` holds the populations of population_generated.py, which the model was chosen on.
``--print`` aggregates what the file holds.

Errors are median absolute relative errors over the samples of a setting. The width of the 95 % interval of ``auto`` is in
spreads of the truth: 3.92 standard deviations of the truth from sample to sample, which the classes of the population give.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from population_generated import GENERATED, generate_population

from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.encoding.columns import encode
from discreet.engine.population.cross_fitted import estimate_sizes
from discreet.engine.population.intervals import interval
from discreet.errors import DataError
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.individual_risk.measure import IndividualRisk
from discreet.risks.population_uniqueness.measure import PopulationUniqueness
from discreet.risks.reidentification.measure import Reidentification

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
CALIBRATION = ("adult", "cps")
"""The tables that the model's priors and the width of its interval were chosen on, besides generated populations."""
MODELS: dict[str, dict[str, Any]] = {
    "auto": {"model": "auto"},
    "main effects": {"model": "log_linear", "terms": "main"},
    "two-way": {"model": "log_linear", "terms": "two_way"},
    "chosen terms": {"model": "log_linear", "terms": "chosen"},
    "pitman": {"model": "pitman"},
}
BY_WEIGHTS = "individual_risk"
"""Benedetti & Franconi, for the sample uniques."""
Line = dict[str, Any]


def measure_sample(data: Microdata, sizes: np.ndarray, fraction: float, models: list[str], *, check: bool = False) -> Line:
    """The truth and the estimates: population uniques and sum of 1/F over the sample uniques, for ``auto`` with intervals."""
    classes = list_classes(encode(data, data.columns), len(data))
    single = (classes.counts == 1)[classes.ids]
    line: Line = {"truth": [int((sizes[single] == 1).sum()), float((1 / sizes[single]).sum())]}
    for name in models:
        if name == "auto":
            line |= _estimate(classes, fraction)
            line["reidentification"] = [float((1 / sizes).mean()), *line["reidentification"]]
            if check:
                _compare_with_measures(line, data, fraction)
        elif name == BY_WEIGHTS:
            risks = IndividualRisk(sampling_fraction=fraction).measure(data).per_record["risk"].to_numpy()
            line[name] = [None, float(risks[single].sum())]
        else:
            try:
                score = PopulationUniqueness.model_validate({**MODELS[name], "sampling_fraction": fraction}).measure(data)
            except DataError:  # two-way terms of too many cells
                line[name] = None
                continue
            line[name] = [score["population_uniques"], score["expected_matches"]]
    return line


def spread_of_truth(sizes: np.ndarray, fraction: float) -> list[float]:
    """Standard deviations of the two truths over samples of a fixed number of records; ``sizes`` holds F for each person.

    A class of F persons is a sample unique with probability p = F pi (1 - pi)^(F - 1). Over samples of any number of records the
    classes are independent, and the truth is a sum with the variance V = sum p (1 - p) x^2, where x is 1/F, or 1 and 0 for F = 1
    and more. A fixed number of records takes away what the number explains, C^2 / (N pi (1 - pi)) with C = sum x p (1 - F pi) the
    covariance of the truth and the number. For the uniques this is the variance of the hypergeometric distribution.
    """
    persons, classes = np.unique(sizes, return_counts=True)
    number = classes / persons
    unique = persons * fraction * (1 - fraction) ** (persons - 1.0)
    deviations = []
    for value in ((persons == 1).astype(float), 1 / persons):
        variance = float((number * unique * (1 - unique) * value**2).sum())
        covariance = float((number * value * unique * (1 - persons * fraction)).sum())
        deviations.append(float(np.sqrt(max(variance - covariance**2 / (len(sizes) * fraction * (1 - fraction)), 0.0))))
    return deviations


def _estimate(classes: DistinctClasses, fraction: float) -> Line:
    """What the measures derive from the model, from one fit: the numbers with their intervals."""
    estimate = estimate_sizes(classes.codes, classes.cardinalities, classes.counts, fraction)
    single, records = classes.counts == 1, int(classes.counts.sum())
    uniques, matches = float(estimate.alone[single].sum()), float(estimate.inverse[single].sum())
    links = float((classes.counts * estimate.inverse).sum())
    number = int(single.sum())
    interval_of_links = interval(links, estimate.total_error, len(classes.counts))
    return {
        "auto": [uniques, matches],
        "interval": [*interval(uniques, estimate.alone_error, number), *interval(matches, estimate.inverse_error, number)],
        "reidentification": [links / records, *(end / records for end in interval_of_links)],
    }


def _compare_with_measures(line: Line, data: Microdata, fraction: float) -> None:
    unique = PopulationUniqueness(sampling_fraction=fraction).measure(data)
    marketer = Reidentification(sampling_fraction=fraction).measure(data)
    public = [unique["population_uniques"], unique["expected_matches"], marketer["marketer"], *marketer.bounds["marketer"]]
    public += [*unique.bounds["population_uniques"], *unique.bounds["expected_matches"]]
    np.testing.assert_allclose([*line["auto"], *line["reidentification"][1:], *line["interval"]], public, rtol=1e-9)


def run_samples(results: Path, tables: list[str], fractions: list[float], samples: int, models: list[str], rivals: int) -> None:
    """Append what the file does not hold yet; sample by sample over all settings, so that a stopped run is balanced."""
    present = {(*key, model) for key, line in read_lines(results).items() for model in line}
    populations: dict[tuple[str, int], tuple[pl.DataFrame, np.ndarray]] = {}
    for sample in range(samples):
        wanted = [model for model in models if model == "auto" or sample < rivals]
        for place in tables:
            for number in range(1, 1 + (len(GENERATED) if place == "generated" else len(TABLES[place][1]))):
                for fraction in fractions:
                    key = (place, number, fraction, sample)
                    missing = [model for model in wanted if (*key, model) not in present]
                    if not missing:
                        continue
                    if (place, number) not in populations:
                        frame = _load_population(place, number)
                        sizes = frame.select(pl.len().over(frame.columns).alias("F"))["F"].to_numpy()
                        populations[place, number] = frame, sizes
                    frame, sizes = populations[place, number]
                    rows = np.random.default_rng(sample).choice(frame.height, round(fraction * frame.height), replace=False)
                    policy = Policy(attributes={name: Attribute(role=Role.KEY) for name in frame.columns})
                    began = time.process_time()
                    line = measure_sample(Microdata(frame[rows], policy), sizes[rows], fraction, missing, check=sample == 0)
                    line |= {
                        "key": key,
                        "spread": spread_of_truth(sizes, fraction),
                        "seconds": round(time.process_time() - began, 2),
                    }
                    with results.open("a") as stream:
                        stream.write(json.dumps(line) + "\n")


def _load_population(place: str, number: int) -> pl.DataFrame:
    """The keys as integers in the order of their values, which all models see as they see the values."""
    if place == "generated":
        return generate_population(GENERATED[number - 1])
    file, key_sets = TABLES[place]
    frame = pl.read_parquet(Path(os.environ["DISCREET_DATA"]) / f"{file}.parquet", columns=list(key_sets[number - 1]))
    return frame.select(pl.all().rank("dense"))


def read_lines(results: Path) -> dict[tuple[str, int, float, int], Line]:
    """What the file holds about each sample of each setting; lines about the same sample are put together."""
    lines: dict[tuple[str, int, float, int], Line] = defaultdict(dict)
    if results.exists():
        for text in results.read_text().splitlines():
            line = json.loads(text)
            place, number, fraction, sample = line["key"]
            lines[place, number, fraction, sample] |= line
    return dict(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--fractions", default="0.01,0.02,0.05,0.1,0.2")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--models", default=f"auto,main effects,chosen terms,pitman,{BY_WEIGHTS}")
    parser.add_argument("--rivals", type=int, default=25, help="samples that the other models are run on")
    parser.add_argument("--print", action="store_true", help="aggregate what the file holds, and compute nothing")
    options = parser.parse_args()
    if options.print:
        from population_table import print_tables

        print_tables(read_lines(options.results), CALIBRATION)
        return
    fractions = [float(one) for one in options.fractions.split(",")]
    models = options.models.split(",")
    run_samples(options.results, options.tables.split(","), fractions, options.samples, models, options.rivals)


if __name__ == "__main__":
    main()
