"""The client's requests to the workspace of a project: previews, risky records, undo and redo, and named drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class WorkspaceRequests:
    """Methods of :class:`discreet.Client` that concern the workspace."""

    def _request(self, method: str, path: str, *, key: str | None = None, **options: Any) -> Any:
        raise NotImplementedError  # the client sends the requests

    def undo(self, project: int) -> dict[str, Any]:
        """Undo the last change of the policy, as a new revision."""
        return dict(self._request("POST", f"/projects/{project}/policy/undo"))

    def redo(self, project: int) -> dict[str, Any]:
        """Make the change again that was undone last."""
        return dict(self._request("POST", f"/projects/{project}/policy/redo"))

    def preview_draft(self, project: int, known: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Try the current draft on a sample: verdict, counts above each threshold, distributions and where the risk comes from.

        ``known`` are probabilities of being known that are tried in place of the policy's.
        """
        return dict(self._request("POST", f"/projects/{project}/workspace", json={"known": dict(known or {})}))

    def risky_records(self, project: int, **options: Any) -> dict[str, Any]:
        """Records above a ``threshold``, riskiest first (``sort``, ``attribute`` and ``bar``, ``band``, ``page``, ``size``)."""
        return dict(
            self._request(
                "GET",
                f"/projects/{project}/workspace/records",
                params={name: value for name, value in options.items() if value is not None},
            )
        )

    def risky_record(self, project: int, record: int) -> dict[str, Any]:
        """One record: whom it hides among, what would be learnt of it, and which steps would help."""
        return dict(self._request("GET", f"/projects/{project}/workspace/records/{record}"))

    def drafts_map(self, project: int) -> dict[str, Any]:
        """Every draft and release by one risk and one loss."""
        return dict(self._request("GET", f"/projects/{project}/workspace/map"))

    def drafts(self, project: int, *, page: int = 1, size: int = 50) -> dict[str, Any]:
        """A page of the named drafts, last changed first: ``drafts``, ``total``, ``page`` and ``pages``."""
        return dict(self._request("GET", f"/projects/{project}/drafts", params={"page": page, "size": size}))

    def draft(self, project: int, draft: int) -> dict[str, Any]:
        """One named draft with its content."""
        return dict(self._request("GET", f"/projects/{project}/drafts/{draft}"))

    def save_draft(self, project: int, name: str, known: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Save the current plan, limits and guesses under a name; ``known`` are probabilities in place of the policy's."""
        return dict(self._request("POST", f"/projects/{project}/drafts", json={"name": name, "known": dict(known or {})}))

    def rename_draft(self, project: int, draft: int, name: str, *, version: int | None = None) -> dict[str, Any]:
        """Rename a draft; ``version`` is the one that you saw, default: the newest."""
        body = {"name": name, "version": self._draft_version(project, draft, version)}
        return dict(self._request("PATCH", f"/projects/{project}/drafts/{draft}", json=body))

    def replace_draft(
        self, project: int, draft: int, known: Mapping[str, float] | None = None, *, version: int | None = None
    ) -> dict[str, Any]:
        """Save the current plan, limits and guesses in place of those of a draft."""
        body = {"version": self._draft_version(project, draft, version), "known": dict(known or {})}
        return dict(self._request("PUT", f"/projects/{project}/drafts/{draft}", json=body))

    def open_draft(self, project: int, draft: int, *, base: int | None = None) -> dict[str, Any]:
        """Make a draft the current plan, limits and guesses; ``base`` is the revision that you saw, default: the latest."""
        start = self._request("GET", f"/projects/{project}")["revision"] if base is None else base
        return dict(self._request("POST", f"/projects/{project}/drafts/{draft}/open", json={"base": start}))

    def delete_draft(self, project: int, draft: int, *, version: int | None = None) -> None:
        """Delete a draft."""
        options = {"version": self._draft_version(project, draft, version)}
        self._request("DELETE", f"/projects/{project}/drafts/{draft}", params=options)

    def compare_drafts(self, project: int, a: int | str = "current", b: int | str = "current") -> dict[str, Any]:
        """Two drafts (by number, or ``"current"``) side by side: both on the whole table, or both on the sample."""
        return dict(self._request("GET", f"/projects/{project}/workspace/comparison", params={"a": str(a), "b": str(b)}))

    def _draft_version(self, project: int, draft: int, version: int | None) -> int:
        return int(self.draft(project, draft)["version"]) if version is None else version
