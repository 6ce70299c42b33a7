"""What the benchmark of population uniques is judged by: the sampling spread of its truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scripts import load_script

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_the_spread_of_the_truth_is_that_of_many_samples(fraction: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spread_of_truth = load_script(BENCHMARKS / "population.py").spread_of_truth
    generator = np.random.default_rng(1)
    classes = np.repeat(np.arange(400), generator.geometric(0.4, 400))
    sizes = np.bincount(classes)[classes]
    truths = []
    for _ in range(3000):
        rows = generator.choice(len(classes), round(fraction * len(classes)), replace=False)
        single = np.bincount(classes[rows], minlength=400)[classes[rows]] == 1
        truths.append([(sizes[rows][single] == 1).sum(), (1 / sizes[rows][single]).sum()])
    assert spread_of_truth(sizes, fraction) == pytest.approx(np.std(truths, axis=0, ddof=1), rel=0.06)
    people, uniques = len(sizes), int((sizes == 1).sum())
    chosen = fraction * people
    by_hypergeometric = chosen * uniques / people * (1 - uniques / people) * (people - chosen) / people
    assert spread_of_truth(sizes, fraction)[0] == pytest.approx(by_hypergeometric**0.5, rel=1e-9)
