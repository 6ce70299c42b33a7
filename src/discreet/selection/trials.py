"""What the wizard tells of each plan it has tried, while it searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from discreet import registry
from discreet.model.policy import Plan
from discreet.selection.evaluate import Outcome


@dataclass(frozen=True)
class Trial:
    """One point of the map, as it was found.

    ``number`` counts from 1 over the whole search; ``plan`` is the content of a policy's ``plan`` section. ``risk`` and
    ``loss`` are the place on the map, less of either is better (a risk that is better high has its sign turned); ``risks``
    and ``losses`` are the numbers of the limits and of the map by MEASURE.FIELD, as their measures give them. ``kept`` says
    whether every limit is met, ``missed`` by how much each of the others is, in shares of what stood there before, and
    ``best`` whether no plan before it on the same table was better. Only a trial with ``whole`` was measured on the whole
    table; the numbers of the others guide the search on a sample, against limits brought to its size, and say nothing of a
    release. ``error`` is why a plan could not run; it has no numbers then.
    """

    number: int
    plan: Mapping[str, Any]
    risk: float
    loss: float
    risks: Mapping[str, float | None]
    losses: Mapping[str, float | None]
    kept: bool
    missed: Mapping[str, float]
    whole: bool
    best: bool
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


OnTrial = Callable[[Trial], None]


class Teller:
    """Numbers the trials and tells whoever asked; ``tell`` is called once a plan, in the order in which they were tried."""

    def __init__(self, on_trial: OnTrial | None) -> None:
        self.on_trial = on_trial
        self.number = 0
        self.best: dict[bool, tuple[float, float, float]] = {}

    def tell(self, plan: Plan, outcome: Outcome, *, whole: bool) -> None:
        self.number += 1
        best = outcome.error is None and (whole not in self.best or outcome.rank < self.best[whole])
        if best:
            self.best[whole] = outcome.rank
        if self.on_trial is None:
            return
        kinds = {name: registry.direction(name, origin="select")[0] for name in outcome.found}
        risks, losses = (
            {name: value for name, value in outcome.found.items() if kinds[name] == kind} for kind in ("risk", "loss")
        )
        content = plan.model_dump(mode="json", exclude_defaults=True)
        self.on_trial(
            Trial(
                self.number, content, outcome.risk, outcome.loss, risks, losses, outcome.kept, dict(outcome.missed), whole, best,
                outcome.error,
            )
        )  # fmt: skip
