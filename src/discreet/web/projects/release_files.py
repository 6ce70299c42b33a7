"""The files of a release: the masked table as Parquet, its exports, and its reports."""

from __future__ import annotations

from pathlib import Path

from discreet.convert.files.formats import FORMATS, READ_ONLY
from discreet.report.evidence import CONFIDENTIAL
from discreet.report.formats import page_as_pdf
from discreet.report.provenance import sha256
from discreet.report.short.summary import clip
from discreet.web.errors import Conflict, InvalidRequest, NotFound
from discreet.web.projects.releases import Release
from discreet.web.projects.report_state import insert_approval
from discreet.web.settings import Settings

REPORT_FORMATS = ("html", "json", "pdf")


def path(settings: Settings, release: Release) -> Path:
    """The Parquet file of the masked table."""
    if not release.file:
        raise NotFound(f"the content of release {release.number} was purged; its entry and the audit log remain")
    return settings.folder(release.project_id) / release.file


def check_digest(settings: Settings, release: Release) -> None:
    """Raise if the masked table is not the file that was generated and assessed."""
    file = path(settings, release)
    if not file.is_file() or sha256(file) != release.sha256:
        raise Conflict(
            f"the file of release {release.number} is not the one that was generated and assessed (its SHA-256 differs); "
            "generate it again"
        )


def report_html(settings: Settings, release: Release, *, internal: bool = False, short: bool = False) -> str:
    """The report as one HTML file, with the current state of the release and its approval."""
    text = report_path(settings, release, internal=internal, short=short).read_text(encoding="utf-8")
    state = describe_state(release)
    if short and release.approval and release.approval.get("reason"):
        state["approval"] = {**release.approval, "reason": clip(str(release.approval["reason"]), 200)}
    return insert_approval(text, state)


def report_pdf(settings: Settings, release: Release, *, internal: bool = False, short: bool = False) -> bytes:
    """The same page as PDF; typeset on demand, because the state of the release is part of it."""
    page = report_html(settings, release, internal=internal, short=short)
    return page_as_pdf(page, CONFIDENTIAL if internal else "", short=short)


def describe_state(release: Release) -> dict[str, object]:
    """The state and approval of a release as a report prints it."""
    published = release.last("published")
    return {
        "state": release.state,
        "release": release.number,
        "approval": release.approval,
        "published_at": None if published is None else published["at"],
        "superseded_by": release.superseded_by,
    }


def report_path(settings: Settings, release: Release, form: str = "html", *, internal: bool = False, short: bool = False) -> Path:
    """The file of a report. Every release has public reports, full (html and json) and short (html); a job creates the others."""
    file = path(settings, release).with_name(report_name(form, internal=internal, short=short))
    if form not in REPORT_FORMATS or not file.is_file():
        raise NotFound(f"release {release.number} does not have this report yet; a job of kind report creates it")
    return file


def report_name(form: str, *, internal: bool = False, short: bool = False) -> str:
    """The file name of a report."""
    return f"report{'-short' if short else ''}{'-confidential' if internal else ''}.{form}"


def export_path(settings: Settings, release: Release, form: str) -> Path:
    """Where the masked table in a format (``csv``, ``xlsx``, ``sav``, …) is; a job writes it on first use, and it is kept."""
    suffix = "." + form.strip().lower().removeprefix(".")
    if suffix not in FORMATS or suffix in READ_ONLY:
        raise InvalidRequest(f"'{form[:20]}' is not a format that can be written; formats: {', '.join(list_formats())}")
    masked = path(settings, release)
    return masked if suffix == ".parquet" else masked.with_name(f"export{suffix}")


def list_formats() -> list[str]:
    """The formats in which a release can be downloaded."""
    return [suffix[1:] for suffix in FORMATS if suffix not in READ_ONLY]
