"""The result of the wizard: the plan, the policy that runs it, the assessment of its release, the map, and the reasons."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DataError, nearest
from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.showing import Plottable
from discreet.selection.changes import AttributeChange
from discreet.selection.choices import PlanChoice
from discreet.selection.comments import Comments
from discreet.selection.frontier import MapPoint, explain_domination


@dataclass(frozen=True)
class Selection(Plottable):
    """The chosen plan. Every number was measured on the whole table, never on a sample.

    ``met`` says whether every limit is met, for an intruder who has the release alone and for one who knows the original
    values; if not, the plan is the closest one and ``standing`` names the limits that it does not meet. ``parts`` and ``changes``
    say what the plan gives up.

    ``placed`` are all plans tried on the whole table, as points of the risk-utility map, ``frontier`` those that are not
    dominated, ``plans`` the plans of the frontier by name. ``choices`` are the three plans to choose from, ``dominated`` has for
    each dominated plan that meets the limits the name of a plan that dominates it. ``seconds`` is the time of the whole call,
    ``searching`` the time of drawing and trying plans, and ``busy`` the part of it spent on masking and measuring.
    """

    plan: Plan
    policy: Policy
    met: bool
    loss: float
    risk: float
    axes: tuple[str, str]
    release: Release
    assessment: Assessment
    placed: tuple[MapPoint, ...]
    frontier: tuple[MapPoint, ...]
    plans: Mapping[str, Plan]
    choices: tuple[PlanChoice, ...]
    dominated: Mapping[str, str]
    parts: Mapping[str, float]
    changes: Mapping[str, AttributeChange]
    tried: int
    tried_on_sample: int
    standing: tuple[str, ...]
    """The limits that are not met, and what the owner asks of columns (``protect``, ``keep``) and the plan does not meet."""
    sentences: tuple[str, ...]
    seconds: float
    searching: float
    busy: float
    gaps_of_plan: int | None = None
    """The gaps in the evidence that the chosen plan itself causes; None where there was no time to look for them."""
    interrupted: bool = False
    """Whether the user stopped the search before its budget was spent."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """What the owner asks of columns (``protect``, ``keep``) and the plan does not meet."""
        return tuple(name for name in self.standing if " " in name)

    @property
    def obstacles(self) -> str:
        """Why the verdict is not met: the limits that are not met, or the gaps in the evidence."""
        return f"limits not met: {', '.join(self.standing)}" if self.standing else "; ".join(self.assessment.gaps)

    def choice(self, title: str) -> PlanChoice:
        """One of the three plans: "least loss", "most truthful" or "safest"."""
        chosen = next((choice for choice in self.choices if choice.title == title), None)
        if chosen is None:
            raise DataError(
                f"the search has no plan '{title}'; {nearest(title, [choice.title for choice in self.choices])}"
                if self.choices
                else f"no plan meets every limit, so there is no plan '{title}' to choose"
            )
        return chosen

    def policy_with(self, title: str) -> Policy:
        """The policy that runs one of the three plans."""
        return self.policy.with_(plan=self.choice(title).plan)

    def explain_dominated(self) -> dict[str, str]:
        """Why each dominated plan that meets the limits is not on the frontier, with numbers."""
        points = {point.name: point for point in self.placed}
        return {name: explain_domination(points[name], points[better]) for name, better in self.dominated.items()}

    def to_yaml(self, folder: str | Path | None = None, *, comments: Comments | None = None) -> str:
        """The policy file with which ``discreet mask`` makes the same release; the reasons are comments at the top.

        ``folder`` is the folder of the file to write: paths of hierarchy files are made relative to it. ``comments`` are those of
        the policy file that the search began with.
        """
        heading = "".join(f"# {' '.join(sentence.split())}\n" for sentence in self.sentences)
        text = (self.policy if folder is None else rebase_policy(self.policy, Path(folder))).to_yaml()
        return heading + (comments.insert(text) if comments is not None else text)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "met": self.met,
            "risk": {"name": self.axes[0], "value": self.risk},
            "loss": {"name": self.axes[1], "value": self.loss},
            "status": self.assessment.status,
            "judge": self.assessment.judge,
            "gaps": list(self.assessment.gaps),
            "limits": [verdict.to_dict() for verdict in self.assessment.verdicts],
            "standing_in_the_way": list(self.standing),
            "plan": self.plan.model_dump(mode="json", exclude_defaults=True),
            "frontier": [
                point.to_dict() | {"plan": self.plans[point.name].model_dump(mode="json", exclude_defaults=True)}
                for point in self.frontier
            ],
            "choices": [choice.to_dict() for choice in self.choices],
            "dominated": [
                {"plan": name, "by": self.dominated[name], "why": why} for name, why in self.explain_dominated().items()
            ],
            "parts": dict(self.parts),
            "changes": {name: asdict(change) for name, change in self.changes.items()},
            "tried": self.tried,
            "tried_on_sample": self.tried_on_sample,
            "seconds": round(self.seconds, 3),
            "why": list(self.sentences),
        }


def rebase_policy(policy: Policy, folder: Path) -> Policy:
    """The policy with the relative paths of its hierarchy files rewritten for another folder."""
    attributes = dict(policy.attributes)
    for name, attribute in attributes.items():
        spec = attribute.hierarchy
        if spec is not None and spec.file is not None and not Path(spec.file).is_absolute():
            path = os.path.relpath(Path(policy.folder or ".") / spec.file, folder)
            attributes[name] = attribute.model_copy(update={"hierarchy": spec.model_copy(update={"file": path})})
    return policy.with_(attributes=attributes)
