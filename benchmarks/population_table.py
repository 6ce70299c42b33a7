"""The tables of benchmarks/population.py from the lines of its file of results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np

RIVALS = ("main effects", "two-way", "chosen terms", "pitman", "individual_risk")
Line = dict[str, Any]
Setting = tuple[str, int, float]


class Summary(NamedTuple):
    """One setting: each array holds the population uniques and the sum of 1/F over the sample uniques."""

    samples: int
    truth: np.ndarray
    errors: dict[str, np.ndarray]
    rival_samples: dict[str, int]
    auto_beside: dict[str, np.ndarray]
    """The error of ``auto`` on the samples that the other model was run on too."""
    clearly_farther: dict[str, np.ndarray]
    """Whether a paired sign test says that ``auto`` is farther from the truth than the other model (one-sided, 5 %)."""
    held: np.ndarray
    """One row per sample."""
    width: np.ndarray


def summarize(lines: list[Line]) -> Summary:
    """Errors, coverage and width of the interval over the samples of a setting."""
    complete = [line for line in lines if "auto" in line]
    truth = np.array([line["truth"] for line in complete], dtype=float)
    interval = np.array([line["interval"] for line in complete])
    held = (interval[:, 0::2] <= truth) & (truth <= interval[:, 1::2])
    spread = 3.92 * np.array(next(line["spread"] for line in complete))
    errors, beside, numbers, farther = {"auto": _median_error(complete, "auto")}, {}, {}, {}
    for name in RIVALS:
        both = [line for line in complete if line.get(name) is not None]
        if both:
            errors[name], beside[name], numbers[name] = _median_error(both, name), _median_error(both, "auto"), len(both)
            farther[name] = _is_clearly_farther(both, name)
    width = np.median(interval[:, 1::2] - interval[:, 0::2], axis=0) / spread
    return Summary(len(complete), truth.mean(axis=0), errors, numbers, beside, farther, held, width)


def _median_error(lines: list[Line], name: str) -> np.ndarray:
    """NaN for a number that the model does not estimate."""
    return np.asarray(np.median(_relative_errors(lines, name), axis=0))


def _is_clearly_farther(lines: list[Line], name: str) -> np.ndarray:
    """The sign test of the samples in which ``auto`` is farther from the truth than the other model; ties count for neither."""
    difference = _relative_errors(lines, "auto") - _relative_errors(lines, name)
    chances = []
    for farther, closer in zip((difference > 0).sum(axis=0).tolist(), (difference < 0).sum(axis=0).tolist(), strict=True):
        number = farther + closer
        chances.append(sum(comb(number, count) for count in range(farther, number + 1)) / 2**number)
    return np.array(chances) < 0.05


def _relative_errors(lines: list[Line], name: str) -> np.ndarray:
    estimates = np.array([[np.nan if value is None else value for value in line[name][:2]] for line in lines], dtype=float)
    truth = np.array([line["truth"] for line in lines], dtype=float)
    return np.asarray(np.abs(estimates / np.maximum(truth, 1e-9) - 1))


def print_tables(lines: dict[tuple[str, int, float, int], Line], calibration: Sequence[str]) -> None:
    by_setting: dict[Setting, list[Line]] = defaultdict(list)
    for (place, number, fraction, _), line in sorted(lines.items()):
        by_setting[place, number, fraction].append(line)
    summaries = {setting: summarize(group) for setting, group in by_setting.items() if any("auto" in line for line in group)}
    print("| table, keys | fraction | samples | true uniques, sum of 1/F | auto | " + " | ".join(RIVALS) + " | holds | width |")
    print("|---" * (len(RIVALS) + 7) + "|")
    for (place, number, fraction), one in summaries.items():
        cells = [_cell(one.errors.get(name)) for name in ("auto", *RIVALS)]
        truth = f"{one.truth[0]:,.0f}, {one.truth[1]:,.0f}"
        print(
            f"| {place} {number} | {fraction:g} | {one.samples} | {truth} | {' | '.join(cells)} | "
            f"{one.held.mean():.0%} | {one.width[0]:.1f} / {one.width[1]:.1f} |"
        )
    for title, chosen in (
        ("all tables", summaries),
        ("held out", {key: one for key, one in summaries.items() if key[0] not in calibration}),
        ("calibrated on", {key: one for key, one in summaries.items() if key[0] in calibration}),
    ):
        _print_by_fraction(title, chosen)
    _print_wins(summaries)
    _print_all_records(by_setting)


def _cell(errors: np.ndarray | None) -> str:
    return "–" if errors is None else " / ".join("–" if np.isnan(error) else f"{error:.0%}" for error in errors)


def _print_by_fraction(title: str, summaries: dict[Setting, Summary]) -> None:
    print(f"\n| {title}: fraction | settings | samples | error, uniques | error, 1/F | holds | median width, uniques | 1/F |")
    print("|---|---|---|---|---|---|---|---|")
    for fraction in sorted({setting[2] for setting in summaries}):
        parts = [one for setting, one in summaries.items() if setting[2] == fraction]
        errors = np.median([one.errors["auto"] for one in parts], axis=0)
        widths = np.median([one.width for one in parts], axis=0)
        held = np.mean([one.held.mean() for one in parts])
        samples = sum(one.samples for one in parts)
        print(
            f"| {fraction:g} | {len(parts)} | {samples} | {errors[0]:.1%} | {errors[1]:.1%} | {held:.1%} | "
            f"{widths[0]:.1f} | {widths[1]:.1f} |"
        )


def _print_wins(summaries: dict[Setting, Summary]) -> None:
    print("\n| auto at least as close as | comparisons won | of | share | or not significantly farther | lost on |")
    print("|---|---|---|---|---|---|")
    for name in RIVALS:
        won, total, tied, lost = 0, 0, 0, []
        for (place, number, fraction), one in summaries.items():
            if name in one.errors:
                usable = ~np.isnan(one.errors[name])
                closer = (one.auto_beside[name] <= one.errors[name])[usable]
                tied += int((closer | ~one.clearly_farther[name][usable]).sum())
                won, total = won + int(closer.sum()), total + len(closer)
                if not closer.all():
                    lost.append(f"{place} {number} at {fraction:g}")
        if total:
            print(f"| {name} | {won} | {total} | {won / total:.0%} | {tied} ({tied / total:.0%}) | {', '.join(lost)} |")


def _print_all_records(by_setting: dict[Setting, list[Line]]) -> None:
    print(
        "\n| mean of 1/F over all records: fraction | samples | median error | holds | median width / truth | holds in < 93 % |"
    )
    print("|---|---|---|---|---|---|")
    for fraction in sorted({setting[2] for setting in by_setting}):
        missed, rows = [], []
        for (place, number, one), group in by_setting.items():
            here = [line["reidentification"] for line in group if "reidentification" in line] if one == fraction else []
            rows += here
            held = np.mean([low <= truth <= high for truth, _, low, high in here]) if here else 1.0
            if held < 0.93:
                missed.append(f"{place} {number} ({held:.0%})")
        if rows:
            truth, estimate, low, high = np.array(rows).T
            print(
                f"| {fraction:g} | {len(rows)} | {np.median(np.abs(estimate / truth - 1)):.1%} | "
                f"{((low <= truth) & (truth <= high)).mean():.1%} | {np.median((high - low) / truth):.2f} | {', '.join(missed)} |"
            )
