"""The search space with the columns beside the keys, which have to be looked for on the table first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.gaps.companions import Companions, find_companions, find_unexamined
from discreet.selection.options import SelectOptions
from discreet.selection.space.beside_keys import with_companions
from discreet.selection.space.build import build_space
from discreet.selection.space.dimensions import Point, Space
from discreet.selection.steps.build import build_plan

_SHARE_OF_COMPANIONS = 0.25
"""Share of all seconds that looking for columns beside the keys may take."""


def prepare_space(data: Microdata, options: SelectOptions, sensitive: Sequence[str], first: Evaluator, storage: Any) -> Space:
    """The search space; ``first`` evaluates plans on the table that is searched first, ``sensitive`` are the riskiest attributes.

    A search that is resumed from its storage has the columns beside the keys that it had before: a space must not change.
    """
    space = build_space(data, options, top=sensitive)
    companions = _companions_of_earlier_run(storage)
    if companions is None:
        companions = _look_for_companions(space, data, options, first)
    return with_companions(space, data, options, companions)


def quickest_point(space: Space) -> Point:
    """A point whose plan builds classes in little time without a compiler; the coarsest point if there is none."""
    quick = [name for name in ("partition", "local_suppression") if name in space.choices["finish"]]
    finish = next((name for name in quick if name not in space.uncompiled), None)
    return coarsest_point(space) if finish is None else space.unchanged_point() | {"finish": finish}


def coarsest_point(space: Space) -> Point:
    """The point at which every known attribute is a single value: if this does not meet a limit on risk, nothing will."""
    return space.unchanged_point() | {f"level:{name}": space.choices[f"level:{name}"][-1] for name in space.heights}


def _look_for_companions(space: Space, data: Microdata, options: SelectOptions, first: Evaluator) -> Companions:
    """The columns beside the keys that give keys back, and those that single records out together with masked keys.

    The latter show only where keys are masked, so the quickest plan is run. With a time limit both take a share of it, and
    nothing is looked for where kernels would have to be compiled first: gaps of the chosen plan are closed at the end.
    """
    deadline = None
    if options.seconds is not None:
        if first.expected_for_gaps > _SHARE_OF_COMPANIONS * options.seconds:
            return {}
        deadline = time.monotonic() + _SHARE_OF_COMPANIONS * options.seconds
    companions: Companions = {}
    try:
        with stop_after(deadline):
            companions = find_companions(first.data, space.keys, first.gap_counter, options.protect)
            treated = with_companions(space, data, options, companions)
            # classes as large as those of the whole table will be: in the smaller ones of a sample most columns single out
            plan = build_plan(first.data, treated, quickest_point(treated))
            companions = {**companions, **find_unexamined(first.data, plan, first.secret, first.gap_counter, options.protect)}
    except (OutOfTimeError, DiscreetError):  # what was found until then counts; the gaps of each plan are looked for anyway
        pass
    return companions


def _companions_of_earlier_run(storage: Any) -> Companions | None:
    import optuna

    studies = optuna.get_all_study_summaries(storage)
    earlier = next((study.user_attrs.get("companions", {}) for study in studies), None)
    return None if earlier is None else {str(name): tuple(keys) for name, keys in earlier.items()}
