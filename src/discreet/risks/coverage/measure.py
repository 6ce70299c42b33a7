"""Coverage: the columns of a release that nobody looked at, and the masked ones that the release gives back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from discreet.engine.runtime.progress import report_progress
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.coverage.concerns import Shares, find_concerns, pointless_thresholds
from discreet.risks.coverage.examined import blind_measures, examine, shares_still_true
from discreet.risks.coverage.findings import Findings
from discreet.risks.coverage.pairing import Paired, draw_sample, pair
from discreet.risks.coverage.read_back import groupings, read_back
from discreet.risks.coverage.restoring import Needed, gather_evidence, restore

_UNPAIRED = (
    "which original each released record comes from is not known, so it was not measured whether masked values can be restored; "
    "give the link of mask --link"
)
_BLIND = (
    "{name} takes no released column as known (no attribute has a probability known above its epsilon), so that it keeps the "
    "empty known set alone and measures no adversary: give known to the quasi-identifiers"
)


class Coverage(RiskMeasure):
    """What of a release the evidence does not cover: columns that nobody looked at, and masked values that it gives back.

    A column is *examined* where a risk measure of the policy reads it, and decided on where its owner gives it a role other
    than ``other``, or ``accepted: reason``. By its released values a column is a concern, whatever its role, where it looks
    like names, contacts or free text. One that nobody decided on is so where it looks like a date of birth, a place or a
    number of people, where it singles out at least the share ``singled_out`` of the records by itself or together with the
    quasi-identifiers, or where several of them single out ``singled_together``. So is a key that no measure takes as known.
    Masked columns are a concern where released ones restore them, and single masked values where another row of the same
    group shows them.

    >>> from discreet.testing import table
    >>> data = table({"age": [34, 34, 51], "first": ["Maria", "Peter", "Anna"]}, key=["age"])
    >>> Coverage().measure(data)["identifying"]
    1
    """

    name: ClassVar[str] = "coverage"
    citation: ClassVar[str] = (
        "Article 29 Working Party (2014). Opinion 05/2014 on anonymisation techniques (WP216): singling out and inference."
    )
    better: ClassVar[Mapping[str, Direction]] = {
        "unexamined": "low", "identifying": "low", "restorable": "low", "read_back": "low",
    }  # fmt: skip
    descriptive: ClassVar[Collection[str]] = ("unexamined", "identifying", "restorable", "read_back")
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "identifying": "there are at most {number} released columns that look like names, contacts, ids or free text",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "unexamined": "released columns of concern that no adversary reads, or that their role does not settle",
        "identifying": "unexamined columns that single people out or look like names, contacts, ids or free text",
        "restorable": "masked columns that released ones restore far better than the best guess",
        "read_back": "masked values that another row of the same person or group shows",
    }
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    singled_out: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.05, description="share of records that columns nobody looked at may single out"
    )
    singled_together: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.2, description="share that a few of them may single out together; half in a table of fewer than 100 records"
    )
    together: Annotated[int, Field(ge=1, le=4)] = Field(default=3, description="how many such columns are tried together")
    restored: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.5, description="share of a column's masked values from which it counts as restored"
    )
    gain: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.2, description="by how much that share exceeds the best guess, unless it is half of what the guess misses"
    )
    sample: Annotated[int, Field(ge=100)] = Field(default=12_000, description="records that the predictor learns from")

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        paired = pair(data, original) if original is not None else None
        still_true = None if paired is None else shares_still_true(paired)
        findings = Findings(examine(data, original, still_true))
        find_concerns(data, paired, findings, Shares(self.singled_out, self.singled_together, self.together))
        findings.gaps += [_BLIND.format(name=name) for name in blind_measures(data)]
        findings.gaps += pointless_thresholds(self.parameters)
        if paired is not None:
            self._restore(paired, findings)
        elif original is not None and original.policy.judge == "both":
            findings.gaps.append(_UNPAIRED)
        return findings.score(self.name, measured=paired is not None)

    def _restore(self, paired: Paired, findings: Findings) -> None:
        """Masked columns: whether released ones restore them, and which of their cells other rows show."""
        accepted = {column.name for column in findings.examined if column.accepted is not None}
        attributes = paired.original.policy.attributes
        accepted |= {name for name, attribute in attributes.items() if attribute.accepted is not None}
        hidden = {name: paired.hidden(name) for name in paired.original.columns}
        targets = [name for name, cells in hidden.items() if cells.any()]
        findings.masked = {name: int(hidden[name].sum()) for name in targets}
        findings.removed = [name for name in targets if name not in paired.data.columns]
        if not targets or not paired.data.columns:
            return
        sample = draw_sample(paired, {name: hidden[name] for name in targets}, self.sample)
        findings.sampled = (len(sample), len(paired))
        evidence = gather_evidence(paired, sample)
        groups = groupings(paired, evidence.determinants, sample)
        for number, name in enumerate(targets):
            report_progress("coverage", len(targets) + number, 2 * len(targets))
            back = restore(name, evidence, Needed(self.restored, self.gain))
            if back is not None:
                findings.restored[name] = back
            if (given := read_back(paired, name, groups)) is not None:
                findings.given_back[name] = given
        findings.accepted = accepted
