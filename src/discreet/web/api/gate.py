"""The gate: submit, approve, return, publish and withdraw releases; the owner's settings; the purge of originals and drafts."""

from __future__ import annotations

from discreet.web.api.models import (
    ApproveIn,
    JobOut,
    PurgeOut,
    ReleaseOut,
    ReleaseSettingsModel,
    ReturnIn,
    SubmitIn,
    WithdrawIn,
)
from discreet.web.api.projects import authorize_project
from discreet.web.api.routing import Number, ProjectId, create_router
from discreet.web.auth.security import Caller, ServerCore
from discreet.web.projects import approval, publication, purging, release_settings
from discreet.web.projects.release_settings import ReleaseSettings

gate_router = create_router("releases")
RELEASE = "/projects/{project_id}/releases/{number}"


@gate_router.post(f"{RELEASE}/submit", response_model=ReleaseOut)
def submit(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, body: SubmitIn) -> ReleaseOut:
    """Submit a draft, or a release that was returned, for approval (editors and owners)."""
    project = authorize_project(core, access, project_id, "write", "editor")
    with core.store.write() as connection:
        return ReleaseOut.model_validate(approval.submit(connection, access.user, project, number, body.note))


@gate_router.post(f"{RELEASE}/approve", response_model=ReleaseOut)
def approve(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, body: ApproveIn) -> ReleaseOut:
    """Approve a submitted release that somebody else made (approvers and owners)."""
    project = authorize_project(core, access, project_id, "release", "approver")
    with core.store.write() as connection:
        approved = approval.approve(connection, core.settings, access.user, project, number, body.reason)
        return ReleaseOut.model_validate(approved)


@gate_router.post(f"{RELEASE}/return", response_model=ReleaseOut)
def return_release(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, body: ReturnIn) -> ReleaseOut:
    """Return a submitted release with a comment (approvers and owners)."""
    project = authorize_project(core, access, project_id, "release", "approver")
    with core.store.write() as connection:
        return ReleaseOut.model_validate(approval.return_to_makers(connection, access.user, project, number, body.comment))


@gate_router.post(f"{RELEASE}/publish", response_model=JobOut, status_code=202)
def publish(core: ServerCore, access: Caller, project_id: ProjectId, number: Number) -> JobOut:
    """Publish an approved release as the project's table; the job supersedes the release published before (owners)."""
    project = authorize_project(core, access, project_id, "release", "owner")
    with core.store.write() as connection:
        job = JobOut.model_validate(publication.publish(connection, access.user, project, number))
    core.supervisor.wake()
    return job


@gate_router.post(f"{RELEASE}/withdraw", response_model=ReleaseOut)
def withdraw(core: ServerCore, access: Caller, project_id: ProjectId, number: Number, body: WithdrawIn) -> ReleaseOut:
    """Withdraw an approved, published or superseded release; a published table is dropped (owners)."""
    project = authorize_project(core, access, project_id, "release", "owner")
    with core.store.write() as connection:
        withdrawn = publication.withdraw(connection, core.settings, access.user, project, number, body.reason)
        return ReleaseOut.model_validate(withdrawn)


@gate_router.get("/projects/{project_id}/release-settings", response_model=ReleaseSettingsModel)
def get_settings(core: ServerCore, access: Caller, project_id: ProjectId) -> ReleaseSettingsModel:
    """The limits for approval, the retention period, and who may read the published table."""
    project = authorize_project(core, access, project_id)
    return ReleaseSettingsModel.model_validate(release_settings.get(project))


@gate_router.put("/projects/{project_id}/release-settings", response_model=ReleaseSettingsModel)
def put_settings(core: ServerCore, access: Caller, project_id: ProjectId, body: ReleaseSettingsModel) -> ReleaseSettingsModel:
    """Replace the settings of releases (owners)."""
    project = authorize_project(core, access, project_id, "write", "owner")
    with core.store.write() as connection:
        settings = ReleaseSettings(body.limits, body.retention_days, body.grants)
        return ReleaseSettingsModel.model_validate(release_settings.change(connection, access.user, project, settings))


@gate_router.post("/projects/{project_id}/purge", response_model=PurgeOut)
def purge(core: ServerCore, access: Caller, project_id: ProjectId) -> PurgeOut:
    """Delete originals, drafts and links of a project with an approved release, which stays with its report (owners)."""
    project = authorize_project(core, access, project_id, "write", "owner")
    return PurgeOut.model_validate(purging.purge(core.store, core.settings, access.user, project))
