"""How often the intervals of the attacks cover the true risk: generated tables with a planted risk, and with none.

    python benchmarks/attack_coverage.py [TABLES]

TABLES (default 200) tables for each attack and each planted share. A release tells the truth about this share of its people and
nothing about the others, so the true risk of inference and of linkability is the share, and 0 where nothing is planted. The goal
is a coverage of at least 93 % at a confidence of 95 %; prints a Markdown table with the mean width.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.inference.measure import Inference
from discreet.risks.linkability.measure import Linkability
from discreet.risks.singling_out.measure import SinglingOut
from discreet.testing import table

PEOPLE, SHARES = 120, (0.0, 0.1, 0.3, 0.8)


def plant_secrets(share: float, random: np.random.Generator) -> Score:
    """Inference: the released secret is the person's own for this share of the people, and drawn at random for the others."""
    secrets = random.integers(0, 4, 2 * PEOPLE)
    columns = {"id": [f"p{one}" for one in random.permutation(2 * PEOPLE)], "sick": [f"s{one}" for one in secrets]}
    original = table(columns, key=["id"], confidential=["sick"])
    told = random.random(PEOPLE) < share
    released = np.where(told, secrets[:PEOPLE], random.integers(0, 4, PEOPLE))
    frame = original.frame[:PEOPLE].with_columns(pl.Series("sick", [f"s{one}" for one in released]))
    return Inference().measure(shuffled(original, frame, random), original=original)


def plant_links(share: float, random: np.random.Generator) -> Score:
    """Linkability: both parts of a released record are the person's own for this share, and belong to nobody for the others."""
    numbers = random.permutation(2 * PEOPLE)
    columns = {"left": [f"l{one}" for one in numbers], "right": [f"r{one}" for one in numbers]}
    original = table(columns, key=["left", "right"])
    strange = np.flatnonzero(random.random(PEOPLE) >= share)
    right = numbers[:PEOPLE].copy()
    right[strange] = 10_000 + strange
    frame = original.frame[:PEOPLE].with_columns(pl.Series("right", [f"r{one}" for one in right]))
    return Linkability(first=("left",), second=("right",)).measure(shuffled(original, frame, random), original=original)


def plant_nobody(random: np.random.Generator) -> Score:
    """Singling out: the released records are those of strangers of the same population, so the risk is 0."""
    columns = {name: random.integers(0, 12, 2 * PEOPLE).tolist() for name in "abc"}
    original = table(columns, key=list(columns))
    strangers = pl.DataFrame({name: random.integers(0, 12, PEOPLE) for name in "abc"})
    return SinglingOut().measure(shuffled(original, strangers, random), original=original)


def shuffled(original: Microdata, frame: pl.DataFrame, random: np.random.Generator) -> Microdata:
    """The released rows in a random order, linked to the first people of the original; the rest are the control."""
    order = random.permutation(PEOPLE)
    return original.replace(frame[order], original.records[:PEOPLE][order])


def main(tables: str = "200") -> None:
    print("| attack | planted risk | tables | covered | mean width |\n|---|---|---|---|---|")
    for name, share in [
        *(("inference", share) for share in SHARES),
        *(("linkability", s) for s in SHARES),
        ("singling_out", 0.0),
    ]:
        random = np.random.default_rng(20_140_410)
        covered, width = 0, 0.0
        for _ in range(int(tables)):
            if name == "inference":
                score = plant_secrets(share, random)
            else:
                score = plant_links(share, random) if name == "linkability" else plant_nobody(random)
            low, high = float(score["lower"] or 0), float(score["upper"] or 0)
            covered, width = covered + (low <= share <= high), width + high - low
        print(f"| {name} | {share:g} | {tables} | {covered / int(tables):.1%} | {width / int(tables):.3f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
