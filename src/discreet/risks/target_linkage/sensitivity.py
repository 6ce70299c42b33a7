"""How far verdicts on target linkage hold where the sampling fraction or the error rates are wrong.

With pi the probability that a target is in the file and r the likelihood ratios, eq. 4.10 of Truta et al. is

    r_ij / (sum_k r_ik + t (1 - pi) / pi),

which rises with pi: the probabilities of links, their mean, their maximum and their number above the threshold are searched by
bisection. What a link is worth where the truth is known, the gain over guessing, and everything along error rates is tried on a
grid: nothing is proved between its places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from discreet.engine.statistics.guess_lines import GuessLine, Judge, Numbers, examine_lines
from discreet.model.contracts import Direction
from discreet.model.sensitivity import Sensitivity

_RISING = ("mean", "max", "over_threshold")
_LEAST = 1e-4
_MOST_ERROR = 0.99
_BASIS = (
    "every link probability rises with the sampling fraction (certified: mean, max, over_threshold); other fields, and error "
    "rates, are tried on a grid"
)


def examine_linkage(
    numbers_at: Callable[[float | None, Mapping[str, float] | None], Numbers], fraction: float | None,
    errors: Mapping[str, float], limits: Mapping[str, float], better: Mapping[str, Direction], records: int, seconds: float, *,
    one_by_one: bool, notes: Sequence[str] = (),
) -> Sensitivity:  # fmt: skip
    """``numbers_at`` gives the fields with another sampling fraction or other error rates (None: as given).

    ``fraction`` is the sampling fraction as given, None where targets have different ones.
    """
    judge = Judge("target_linkage", limits, better)
    lines = []
    if fraction is not None:
        lines.append(
            GuessLine("sampling_fraction", fraction, (min(_LEAST, fraction), 1.0), lambda value: numbers_at(value, None), _RISING)
        )
    if errors:
        most = max(errors.values())
        last = _MOST_ERROR / most if most > 0 else 1.0

        def scaled(factor: float) -> Numbers:
            return numbers_at(None, {name: rate * factor for name, rate in errors.items()})

        lines.append(GuessLine("factor on all error rates", 1.0, (0.0, max(last, 1.0)), scaled, ()))
        lines.extend(_error_line(name, errors, numbers_at) for name in (errors if one_by_one else ()))
    return examine_lines(judge, records, numbers_at(None, None), lines, seconds, _BASIS, notes=notes)


def _error_line(
    name: str, errors: Mapping[str, float], numbers_at: Callable[[float | None, Mapping[str, float] | None], Numbers]
) -> GuessLine:
    def at(rate: float) -> Numbers:
        return numbers_at(None, {**errors, name: rate})

    return GuessLine("error rate", errors[name], (0.0, max(_MOST_ERROR, errors[name])), at, (), name)
