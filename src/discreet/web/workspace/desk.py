"""What the workspace works on: the current draft with guesses that are not saved, its preview, and its run on the whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from discreet.model.policy import Policy
from discreet.web.core import Core
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.jobs.generation import with_limits
from discreet.web.projects import datasets, policies, releases
from discreet.web.projects.projects import Project
from discreet.web.projects.releases import Release
from discreet.web.projects.risk_sample import read_known, units_of
from discreet.web.workspace.multiples import Multiple
from discreet.web.workspace.preview import PREVIEWS, Preview
from discreet.web.workspace.risks import RecordRisks
from discreet.web.workspace.shares import Shares
from discreet.web.workspace.stored_risks import RISKS_FILE, read_risks
from discreet.web.workspace.stored_views import find_views
from discreet.web.workspace.view import View


@dataclass(frozen=True)
class Views:
    """The distributions and the shares of the risk that the workspace shows, each with what it was counted in."""

    multiples: list[Multiple]
    whole_multiples: bool
    """Whether the distributions are those of a run on the whole table; else those of the preview."""
    shares: Shares
    whole_shares: bool


@dataclass(frozen=True)
class Desk:
    """The draft of a project as the workspace shows it."""

    project: Project
    dataset: datasets.Dataset | None
    file: Path | None
    own_document: dict[str, Any]
    """The policy with the guesses of the view, without the owner's limits: what a named draft is saved from."""
    document: dict[str, Any]
    """The policy with the owner's limits and with the guesses of the view."""
    policy: Policy
    sliders: list[dict[str, Any]]
    was_set: bool
    """Whether the view has guesses that are not saved."""
    whole: Release | None
    """The release of this very draft from the whole table, if there is one."""

    @property
    def shows_guesses(self) -> bool:
        """Whether the policy says of any attribute how likely it is known."""
        return self.was_set or any(slider["policy"] > 0 for slider in self.sliders)

    def find_preview(self) -> Preview | None:
        """The preview if it is in memory."""
        return PREVIEWS.find(self.existing_file, self.document) if self.file is not None else None

    def compute_preview(self) -> Preview:
        """The preview, computed now where it is not in memory."""
        return PREVIEWS.compute(self.existing_file, self.document, self.policy)

    @property
    def existing_file(self) -> Path:
        """The file of the initial microdata; raises where there is none."""
        if self.file is None:
            raise InvalidRequest("there are no initial microdata yet; upload a table first")
        if not self.file.is_file():
            raise NotFound("the file of the initial microdata no longer exists; upload it again")
        return self.file

    def find_risks(self, core: Core, preview: Preview) -> RecordRisks:
        """The risks of all records where the whole table was run, else those of the sample."""
        if self.whole is None or not self.whole.file:
            return preview.risks
        stored = (core.settings.folder(self.project.id) / self.whole.file).with_name(RISKS_FILE)
        if not stored.is_file():
            return preview.risks
        return read_risks(stored, stored.stat().st_mtime_ns, preview.risks.measure, preview.risks.threshold) or preview.risks

    def find_views(self, core: Core, preview: Preview) -> Views:
        """The distributions and shares of the whole table where it was run, else those of the preview."""
        stored = None
        if self.whole is not None and self.whole.file:
            stored = find_views((core.settings.folder(self.project.id) / self.whole.file).parent)
        if stored is None:
            return Views(preview.multiples, False, preview.shares, False)
        # an owner's limit that was set since the run moves the threshold, and with it what counts as a small class
        same = (stored.measure, stored.threshold) == (preview.risks.measure, preview.risks.threshold)
        shares = stored.shares if same else None
        return Views(stored.multiples, True, preview.shares if shares is None else shares, shares is not None)


def open_desk(connection: Connection, core: Core, project: Project, view: View, listed: Sequence[Release] | None = None) -> Desk:
    """Gather the current draft; guesses of the view replace those of the policy. ``listed``: see :func:`make_desk`."""
    return make_desk(connection, core, project, policies.policy_document(connection, project), view.known, listed)


def make_desk(
    connection: Connection, core: Core, project: Project, document: dict[str, Any], sent_known: Mapping[str, str],
    listed: Sequence[Release] | None = None,
) -> Desk:  # fmt: skip
    """Gather a draft from its policy document; guesses as they were sent replace those of the document.

    ``listed`` are the summaries of the project's releases where they were read already.
    """
    dataset = datasets.get(connection, project) if project.dataset_id is not None else None
    saved = policies.parse_document(document, project)
    units = units_of(saved, [str(column["name"]) for column in dataset.columns]) if dataset is not None else []
    known = read_known(sent_known, units)
    changed = {name: value for name, value in known.items() if abs(float(saved.attributes[name].known) - value) >= 1e-9}
    whole = None
    if not changed:
        listed = releases.list_summaries(connection, project) if listed is None else listed
        whole = _find_whole(connection, project, document, listed)
    saved_document = document
    unsaved = _with_known(document, changed)
    document = with_limits(unsaved, project.limits or {})
    sliders = [
        {"name": unit.names[0], "label": unit.label, "policy": unit.known, "value": known.get(unit.names[0], unit.known)}
        for unit in units
    ]
    file = datasets.path(core.settings, dataset) if dataset is not None else None
    policy = saved if document == saved_document else policies.parse_document(document, project)
    return Desk(project, dataset, file, unsaved, document, policy, sliders, bool(changed), whole)


def _with_known(document: Mapping[str, Any], known: Mapping[str, float]) -> dict[str, Any]:
    attributes = dict(document.get("attributes") or {})
    for name, value in known.items():
        attributes[name] = {**(attributes.get(name) or {}), "known": value}
    return {**document, "attributes": attributes} if known else dict(document)


def _find_whole(
    connection: Connection, project: Project, document: Mapping[str, Any], listed: Sequence[Release]
) -> Release | None:
    """The newest release that the same policy made from the same table, whatever its revision was called."""
    for release in listed:
        if release.dataset_id != project.dataset_id or release.state in ("withdrawn", "purged"):
            continue
        if policies.policy_document(connection, project, release.revision) == document:
            return release
    return None
