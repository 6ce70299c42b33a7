"""discreet reproduce tells the papers' figures beside ours, and does not call a difference agreement."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from discreet.reproduce.reproduction import NUMBERS, Makers, reproduce
from discreet.testing import items, patients, students

MAKERS = Makers(students, patients, items)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_paper_is_repeated_and_its_charts_are_written(number: str, tmp_path: Path) -> None:
    found = reproduce(number, MAKERS, 1_500)
    assert found.lines
    assert all(line.what and line.paper and line.ours and line.why for line in found.lines)
    assert "generated" in found.data
    for path in found.write(tmp_path):
        assert path.read_text().startswith("<svg")


def test_the_worked_example_of_the_risk_measure_comes_out() -> None:
    lines = reproduce("000", MAKERS, 1_500).lines
    assert [(line.paper, line.ours) for line in lines[:3]] == [
        ("0.084", "0.084"), ("1.63", "1.63"), ("134,217,728", "134,217,728"),
    ]  # fmt: skip


def test_what_the_generator_was_made_to_give_is_not_told_as_agreement() -> None:
    lines = {line.what: line for line in reproduce("000", MAKERS, 1_500).lines}
    for what in ("known sets above 1 %", "records at high risk"):
        assert lines[what].why.startswith("made so")


def test_the_reduction_that_is_not_found_is_told_with_the_whole_sweep() -> None:
    lines = {line.what: line for line in reproduce("001", MAKERS, 1_500).lines}
    assert lines["reduction by one pass"].why.startswith("not reproduced")
    assert sum(what.startswith("sweep") for what in lines) == 6


def test_the_probabilities_of_table_2_are_those_printed() -> None:
    for line in reproduce("003", MAKERS, 1_500).lines[:8]:
        assert line.paper == line.ours


def test_a_paper_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from discreet.cli import main; main()", "reproduce", "009"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no paper '009'" in done.stderr


def test_figure_3_is_repeated_with_every_model_beside_ours() -> None:
    found = reproduce("001", MAKERS, 1_500)
    lines = {line.what: line for line in found.lines}
    assert lines["Figure 3: the least loss"].ours == "the same"
    assert lines["Figure 3: k-anonymity as k grows"].ours == "loses more"
    assert sum(what.startswith("Figure 3: NCP") for what in lines) == 5
    assert "figure_3" in found.charts


def test_the_appendix_is_repeated_on_the_table_it_prints() -> None:
    found = reproduce("002", MAKERS, 1_500)
    lines = {line.what: line for line in found.lines}
    assert lines["Appendix A: records in the masked microdata"].ours == "8"
    assert lines["Appendix A: smallest group of equal Age before sampling"].ours == "2"
    assert "of 60 seeds give two" in lines["Appendix A: records alone with their Age after sampling"].ours


def test_no_estimated_risk_is_below_the_true_one() -> None:
    lines = {line.what: line for line in reproduce("004", MAKERS, 1_500).lines}
    assert lines["estimated risk against true risk (Figure 1, right)"].ours == "not below in 12 of 12"
