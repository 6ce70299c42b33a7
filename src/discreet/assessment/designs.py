"""The sampling designs of an original and its release: a release drawn by the plan is a sample of the original."""

from __future__ import annotations

from discreet.engine.runtime import dispatch
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.model.sampling import SamplingDesign

_SAMPLING = "sampling"


def with_designs(original: Microdata, masked: Microdata, plan: Plan) -> tuple[Microdata, Microdata]:
    """Both tables with what is known about their share of the population, where the plan draws a sample.

    A release in memory carries its share; one read from a file has that of its records in the original's. Nothing is read from
    beside the file, so that nothing has to be published there. An original without a design is then the whole population, which
    never understates a risk. Sampling weights say it all by themselves: the step corrects them.
    """
    sampled = any(step.method == _SAMPLING and step.enabled for step in plan.steps)
    if not sampled or original.named(Role.WEIGHT) or dispatch.is_distributed(masked):
        return original, masked
    design = original.policy.sampling
    if masked.policy.sampling == design and len(original):
        share = min(len(masked) / len(original), 1.0) or 1.0
        masked = masked.with_policy(masked.policy.with_(sampling=design.thinned(share)))
    if not design.is_stated:
        original = original.with_policy(original.policy.with_(sampling=SamplingDesign(fraction=1.0)))
    return original, masked
