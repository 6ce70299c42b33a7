"""What the wizard returns: the plan, the policy that runs it, the release's assessment, the map, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.showing import Shown
from discreet.selection.frontier import Placed


@dataclass(frozen=True)
class Selection(Shown):
    """The chosen plan. Every number was measured on the whole table; none is a sample's.

    ``met`` says whether every limit is met, for an intruder with the release alone and for one who knows the original
    values; where it is not, the plan is the nearest and ``standing`` names the limits in the way. ``placed`` are all plans
    tried on the whole table on the map of risk and loss, ``frontier`` those that nothing dominates, ``plans`` the
    frontier's steps by name. ``seconds`` are those of the whole call, ``searching`` those of drawing and trying plans,
    ``busy`` those of them that went into masking and measuring.
    """

    plan: Plan
    policy: Policy
    met: bool
    loss: float
    risk: float
    axes: tuple[str, str]
    release: Release
    assessment: Assessment
    placed: tuple[Placed, ...]
    frontier: tuple[Placed, ...]
    plans: Mapping[str, Plan]
    tried: int
    tried_on_sample: int
    standing: tuple[str, ...]
    sentences: tuple[str, ...]
    seconds: float
    searching: float
    busy: float

    @property
    def obstacles(self) -> str:
        """What keeps the release from a met verdict: the limits in the way, or the gaps in the evidence."""
        return f"in the way: {', '.join(self.standing)}" if self.standing else "; ".join(self.assessment.gaps)

    def to_yaml(self, folder: str | Path | None = None) -> str:
        """The policy file that ``discreet mask`` runs to the same release, with the reasons on top as comments.

        ``folder`` is where it will lie: files of hierarchies are then named from there.
        """
        heading = "".join(f"# {' '.join(sentence.split())}\n" for sentence in self.sentences)
        return heading + (self.policy if folder is None else move_policy(self.policy, Path(folder))).to_yaml()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "met": self.met,
            "risk": {"name": self.axes[0], "value": self.risk},
            "loss": {"name": self.axes[1], "value": self.loss},
            "status": self.assessment.status,
            "judge": self.assessment.judge,
            "gaps": list(self.assessment.gaps),
            "limits": [one.to_dict() for one in self.assessment.verdicts],
            "standing_in_the_way": list(self.standing),
            "plan": self.plan.model_dump(mode="json", exclude_defaults=True),
            "frontier": [
                one.to_dict() | {"plan": self.plans[one.name].model_dump(mode="json", exclude_defaults=True)}
                for one in self.frontier
            ],
            "tried": self.tried,
            "tried_on_sample": self.tried_on_sample,
            "seconds": round(self.seconds, 3),
            "why": list(self.sentences),
        }


def move_policy(policy: Policy, folder: Path) -> Policy:
    """The policy as it reads from another folder."""
    attributes = dict(policy.attributes)
    for name, attribute in attributes.items():
        spec = attribute.hierarchy
        if spec is not None and spec.file is not None and not Path(spec.file).is_absolute():
            place = os.path.relpath(Path(policy.folder or ".") / spec.file, folder)
            attributes[name] = attribute.model_copy(update={"hierarchy": spec.model_copy(update={"file": place})})
    return policy.with_(attributes=attributes)
