"""discreet reproduce prints the papers' figures beside ours, and does not call a difference an agreement."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from command_line import run_command

from discreet.reproduce.papers import PAPERS, reproduce
from discreet.reproduce.results import Comparison, Generators, Reproduction
from discreet.testing import items, patients, students

GENERATORS = Generators(students, patients, items)


@cache
def reproduce_paper(number: str) -> Reproduction:
    """A paper on 1,500 generated records, computed once for all tests: it takes seconds."""
    return reproduce(number, GENERATORS, 1_500)


def comparisons_by_figure(number: str) -> dict[str, Comparison]:
    return {row.figure: row for row in reproduce_paper(number).comparisons}


@pytest.mark.parametrize("number", PAPERS)
def test_every_paper_is_reproduced_and_its_charts_are_written(number: str, tmp_path: Path) -> None:
    result = reproduce_paper(number)
    assert result.comparisons
    assert all(row.figure and row.paper and row.ours and row.explanation for row in result.comparisons)
    assert "generated" in result.data
    for path in result.write(tmp_path):
        assert path.read_text().startswith("<svg")


def test_the_worked_example_of_the_risk_measure_is_reproduced() -> None:
    rows = reproduce_paper("000").comparisons
    assert [(row.paper, row.ours) for row in rows[:3]] == [
        ("0.084", "0.084"), ("1.63", "1.63"), ("134,217,728", "134,217,728"),
    ]  # fmt: skip


def test_what_the_generator_was_built_to_give_is_not_presented_as_agreement() -> None:
    rows = comparisons_by_figure("000")
    for figure in ("known sets above 1 %", "high-risk records"):
        assert rows[figure].explanation.startswith("by construction")


def test_the_reduction_that_is_not_reproduced_is_reported_with_the_whole_sweep() -> None:
    rows = comparisons_by_figure("001")
    assert rows["reduction by one pass"].explanation.startswith("not reproduced")
    assert sum(figure.startswith("sweep") for figure in rows) == 6


def test_the_probabilities_of_table_2_are_those_printed() -> None:
    for row in reproduce_paper("003").comparisons[:8]:
        assert row.paper == row.ours


def test_an_unknown_paper_ends_with_one_sentence(tmp_path: Path) -> None:
    done = run_command("reproduce", "009", folder=tmp_path)
    assert done.returncode == 2
    assert "there is no paper '009'" in done.stderr


def test_figure_3_is_reproduced_with_every_privacy_model() -> None:
    result = reproduce_paper("001")
    rows = {row.figure: row for row in result.comparisons}
    assert rows["Figure 3: the smallest loss"].ours == "the same"
    assert rows["Figure 3: k-anonymity as k grows"].ours == "loses more"
    assert sum(figure.startswith("Figure 3: NCP") for figure in rows) == 5
    assert "figure_3" in result.charts


def test_appendix_a_is_reproduced_on_the_table_it_prints() -> None:
    rows = comparisons_by_figure("002")
    assert rows["Appendix A: records in the masked microdata"].ours == "8"
    assert rows["Appendix A: smallest group of equal Age before sampling"].ours == "2"
    assert "of 60 samples" in rows["Appendix A: records unique in Age after sampling"].ours


def test_no_estimated_risk_is_below_the_true_risk() -> None:
    rows = comparisons_by_figure("004")
    assert rows["estimated risk against true risk (Figure 1, right)"].ours == "not below in 12 of 12"
