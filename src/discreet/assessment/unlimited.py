"""Measured risks that no limit judges although records are at risk by the measure's own threshold."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet import registry
from discreet.model.display import format_number
from discreet.model.policy import Policy
from discreet.model.score import Score


def describe_unlimited_risks(
    policy: Policy, records: int, *scores: Mapping[str, Score], missing: Collection[str] = ()
) -> list[str]:
    """A sentence for each measure of the policy's ``risk`` section that finds something at risk, and on which there is no limit.

    ``scores`` are those of one table by measure, one mapping for each intruder; the worst of them counts. What is undecided and
    may as well be nothing is not worth a sentence. ``missing`` are measures that were to be taken and were not.

    >>> import discreet
    >>> from discreet.testing import table
    >>> policy = {"risk": {"known_sets": {"threshold": {"among": 2}}},
    ...           "attributes": {"age": {"role": "key", "known": 0.3}, "flu": {"role": "confidential", "sensitivity": 1}}}
    >>> data = discreet.read(table({"age": [41, 41, 52], "flu": ["no", "no", "yes"]}).frame, policy)
    >>> print(*describe_unlimited_risks(data.policy, len(data), discreet.risk(data)))
    known_sets finds 1 of 3 records at high risk, and no limit is set on it; limits: {known_sets.high_risk: 0} would require none
    """
    judged = {limit.split(".")[0] for limit in policy.limits if registry.judges_disclosure(limit)}
    sentences = []
    for name in policy.risk:
        at_risk = registry.load("risk", name).at_risk if name not in judged else None
        if at_risk is None:
            continue
        field, what = at_risk
        ends = [end for by_measure in scores if name in by_measure and (end := _ends(by_measure[name], field)) is not None]
        low, high = (max((end[side] for end in ends), default=0.0) for side in (0, 1))
        limit = f"no limit is set on it; limits: {{{name}.{field}: 0}} would require none"
        if not ends and name in missing:
            sentences.append(f"{name} was not measured, so that nobody knows what is at risk by it, and {limit}")
        if low > 0:
            is_share = "{percent}" in what
            number = " to ".join(dict.fromkeys(_format(end, is_share=is_share) for end in (low, high)))
            words = what.format(number=number, percent=number, records=f"{records:,}")
            sentences.append(f"{name} finds {words}, and {limit}")
    return sentences


def _ends(score: Score, field: str) -> tuple[float, float] | None:
    """The ends of the interval of a field; equal where the number is exact, None where it was not measured."""
    value = score.summary.get(field)
    return score.certified.get(field, (float(value), float(value))) if isinstance(value, int | float) else None


def _format(end: float, *, is_share: bool) -> str:
    return format_number(100 * end) if is_share else f"{round(end):,}"
