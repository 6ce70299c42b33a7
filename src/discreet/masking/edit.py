"""The history of a plan while its owner edits it: every state stays, so that any change can be undone and done again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from discreet.errors import PolicyError
from discreet.model.policy import Plan


@dataclass(frozen=True)
class History:
    """The plans in the order in which they were made, and the one that stands now.

    >>> from discreet.model.policy import Step
    >>> empty = History.of(Plan())
    >>> longer = empty.then(empty.plan.insert(1, Step(method="remove_identifiers")))
    >>> len(longer.plan.steps), len(longer.undo().plan.steps), len(longer.undo().redo().plan.steps)
    (1, 0, 1)
    """

    plans: tuple[Plan, ...]
    at: int = 0

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls((plan,))

    @property
    def plan(self) -> Plan:
        """The plan that stands now."""
        return self.plans[self.at]

    def then(self, plan: Plan) -> Self:
        """After a change; what had been undone is forgotten."""
        return self if plan == self.plan else type(self)((*self.plans[: self.at + 1], plan), self.at + 1)

    def undo(self) -> Self:
        """Before the last change."""
        if self.at == 0:
            raise PolicyError("there is no change of the plan to undo")
        return type(self)(self.plans, self.at - 1)

    def redo(self) -> Self:
        """After the change that was undone last."""
        if self.at + 1 == len(self.plans):
            raise PolicyError("there is no undone change of the plan to do again")
        return type(self)(self.plans, self.at + 1)
