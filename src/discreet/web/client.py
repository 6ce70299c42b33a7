"""A thin client of the REST interface: one method per request; results are plain dicts and lists.

client = discreet.Client("http://127.0.0.1:8080", token)
project = client.create_project("Patients")["id"]
client.upload(project, "patients.csv")
client.edit(project, {"attributes.age": {"role": "key"}, "plan": {"steps": [...]}})
release = client.run(project, "generate")["release"]
client.download(project, release, "masked.parquet")
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from discreet.convert.writing.atomic import replacing
from discreet.errors import DataError, DiscreetError, MissingExtraError, SourceError
from discreet.model.extras import format_missing
from discreet.web.client_workspace import WorkspaceRequests

try:
    import httpx2 as httpx
except ModuleNotFoundError:
    raise MissingExtraError(format_missing("discreet.Client", "httpx2")) from None

CHUNK = 1 << 20
PAGE = 500
"""Entries per page of a list."""


class ServerError(DiscreetError):
    """The server refused a request; ``status`` and ``detail`` are for programs, the message is for people."""

    def __init__(self, status: int, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.detail = dict(detail or {})


class Client(WorkspaceRequests):
    """A connection to one server with one API token."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0, transport: httpx.BaseTransport | None = None) -> None:
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            transport=transport,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def me(self) -> dict[str, Any]:
        """The user that the token belongs to, and its scopes."""
        return dict(self._request("GET", "/me"))

    def projects(self) -> list[dict[str, Any]]:
        """The user's projects, each with the verdict of its latest release."""
        return self._list("/projects")

    def create_project(self, name: str, table_name: str | None = None, *, key: str | None = None) -> dict[str, Any]:
        """Create a project; with an idempotency key, repeated requests create it only once."""
        return dict(self._request("POST", "/projects", json={"name": name, "table_name": table_name}, key=key))

    def project(self, project: int) -> dict[str, Any]:
        """One project."""
        return dict(self._request("GET", f"/projects/{project}"))

    def share_with_group(self, project: int, group: str, role: str | None) -> list[dict[str, Any]]:
        """Share a project with a group of single sign-on in a role, or no longer (None)."""
        return list(self._request("PUT", f"/projects/{project}/groups", json={"group": group, "role": role}))

    def share(self, project: int, name: str, role: str) -> list[dict[str, Any]]:
        """Give a user a role in a project: owner, editor, approver or release_reader."""
        return list(self._request("PUT", f"/projects/{project}/people/{quote(name, safe='')}", json={"role": role}))

    def policy(self, project: int, revision: int | None = None) -> dict[str, Any]:
        """The policy (``revision``, ``policy`` and ``yaml``) at a revision; default: the latest."""
        return dict(self._request("GET", f"/projects/{project}/policy", params=_without_none(revision=revision)))

    def edit(
        self, project: int, sections: Mapping[str, Any], *, base: int | None = None, what: str | None = None
    ) -> dict[str, Any]:
        """Set sections of the policy, for example ``{"attributes.age": {"role": "key"}}``.

        ``base`` is the revision that the edit started from; default: the latest.
        """
        start = self.project(project)["revision"] if base is None else base
        body = {"base": start, "sections": dict(sections), "what": what}
        return dict(self._request("PATCH", f"/projects/{project}/policy", json=body))

    def set_policy(self, project: int, policy: str | Path | Mapping[str, Any], *, base: int | None = None) -> dict[str, Any]:
        """Replace the whole policy by a policy file or a mapping."""
        start = self.project(project)["revision"] if base is None else base
        body: dict[str, Any] = {"base": start}
        if isinstance(policy, Mapping):
            body["policy"] = dict(policy)
        else:
            body["yaml"] = Path(policy).read_text(encoding="utf-8")
        return dict(self._request("PUT", f"/projects/{project}/policy", json=body))

    def hierarchy(self, project: int, name: str) -> dict[str, Any]:
        """The hierarchy of an attribute: ``csv`` in ARX's form, and its ``effect`` on the equivalence classes."""
        return dict(self._request("GET", f"/projects/{project}/hierarchy", params={"name": name}))

    def set_hierarchy(self, project: int, name: str, file: str | Path, *, base: int | None = None) -> dict[str, Any]:
        """Save a hierarchy file in ARX's form as the groups of an attribute; ``missing`` names values that it does not have."""
        start = self.project(project)["revision"] if base is None else base
        body = {"base": start, "csv": Path(file).read_text(encoding="utf-8-sig")}
        return dict(self._request("PUT", f"/projects/{project}/hierarchy", params={"name": name}, json=body))

    def upload(
        self,
        project: int,
        file: str | Path,
        *,
        read: Mapping[str, Any] | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> dict[str, Any]:
        """Upload a file of any size and import it as the project's initial microdata; returns the result of the import.

        ``read`` are reading options, for example ``{"separator": ";", "dates": {"dob": "%d/%m/%Y"}}``, which become the section
        ``read`` of the policy; default: those that the policy has.
        """
        return self.run(project, "import", self._stage(project, Path(file)) | _without_none(read=read), progress=progress)

    def preview(
        self, project: int, file: str | Path | Mapping[str, Any], *, read: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """How a file would be read, with reasons and its first rows; nothing is imported.

        The result holds ``staged``: pass it instead of the file to preview the same upload with other options, to
        :meth:`import_staged` or to :meth:`discard`. A table of a connected database is ``{"source": …, "table": …}``.
        """
        staged = dict(file) if isinstance(file, Mapping) else self._stage(project, Path(file))
        staged.pop("preview", None)
        job = self.submit(project, "preview", staged | _without_none(read=read))
        self._wait(project, job, "preview")
        content = dict(self._request("GET", f"/projects/{project}/previews/{job}"))
        return content | {"staged": staged | {"preview": job}}

    def import_staged(self, project: int, staged: Mapping[str, Any], *, read: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Import what was previewed, with reading options; returns the result of the import."""
        source = {name: value for name, value in staged.items() if name != "preview"}
        return self.run(project, "import", source | _without_none(read=read))

    def discard(self, project: int, staged: Mapping[str, Any]) -> None:
        """Delete an upload that was previewed and is not to be imported."""
        self._request("DELETE", f"/projects/{project}/previews/{staged['preview']}")

    def _stage(self, project: int, path: Path) -> dict[str, Any]:
        receipt = self._request("PUT", f"/projects/{project}/uploads", params={"name": path.name}, content=_read_chunks(path))
        return {"upload": receipt["upload"], "name": path.name}

    def sources(self, project: int) -> list[str]:
        """The names of the databases that the administrator has connected."""
        return list(self._request("GET", f"/projects/{project}/sources"))

    def tables(self, project: int, source: str) -> list[str]:
        """The tables of a connected database; ``run(project, "import", {"source": …, "table": …})`` takes one."""
        return list(self._request("GET", f"/projects/{project}/sources/{quote(source, safe='')}/tables"))

    def datasets(self, project: int) -> list[dict[str, Any]]:
        """The imported tables."""
        return self._list(f"/projects/{project}/datasets")

    def rows(self, project: int, dataset: int, **options: Any) -> dict[str, Any]:
        """Rows of a dataset: offset, limit, sort, descending, filters (a mapping)."""
        return self._rows(f"/projects/{project}/datasets/{dataset}/rows", options)

    def submit(self, project: int, kind: str, parameters: Mapping[str, Any] | None = None, *, key: str | None = None) -> str:
        """Submit a job; returns its id."""
        body = {"kind": kind, "parameters": dict(parameters or {})}
        return str(self._request("POST", f"/projects/{project}/jobs", json=body, key=key)["id"])

    def job(self, project: int, job: str) -> dict[str, Any]:
        """The current state of a job."""
        return dict(self._request("GET", f"/projects/{project}/jobs/{job}"))

    def cancel(self, project: int, job: str) -> dict[str, Any]:
        """Cancel a job."""
        return dict(self._request("DELETE", f"/projects/{project}/jobs/{job}"))

    def run(
        self,
        project: int,
        kind: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[str, float], None] | None = None,
    ) -> dict[str, Any]:
        """Submit a job and wait for its result; ``progress`` is called with the current step and the fraction done (0 to 1)."""
        return self._wait(project, self.submit(project, kind, parameters), kind, progress)

    def _wait(self, project: int, job: str, kind: str, progress: Callable[[str, float], None] | None = None) -> dict[str, Any]:
        pause = 0.05
        while True:
            status = self.job(project, job)
            if progress is not None:
                progress(status["what"], status["done"] / status["total"] if status["total"] else 0.0)
            if status["state"] == "done":
                return dict(status["result"] or {})
            if status["state"] not in ("queued", "running"):
                raise DataError(f"the job {kind} is {status['state']}: {status['what']}")
            time.sleep(pause)
            pause = min(pause * 1.5, 1.0)

    def releases(self, project: int) -> list[dict[str, Any]]:
        """The releases, newest first."""
        return self._list(f"/projects/{project}/releases")

    def release(self, project: int, number: int) -> dict[str, Any]:
        """One release."""
        return dict(self._request("GET", f"/projects/{project}/releases/{number}"))

    def release_rows(self, project: int, number: int, **options: Any) -> dict[str, Any]:
        """Rows of a masked table, as :meth:`rows`."""
        return self._rows(f"/projects/{project}/releases/{number}/rows", options)

    def compare_release(self, project: int, number: int, against: int | None = None, **options: Any) -> dict[str, Any]:
        """Rows of a release with what differs from the original or another release (``rows``, ``columns``, offset, limit)."""
        params = _without_none(against=against, **options)
        return dict(self._request("GET", f"/projects/{project}/releases/{number}/comparison", params=params))

    def download(self, project: int, number: int, to: str | Path) -> Path:
        """Download the masked table; the suffix of the target file determines the format."""
        target = Path(to)
        suffixes = "".join(target.suffixes[-2:] if target.suffix in (".gz", ".zst", ".bz2") else target.suffixes[-1:])
        while (
            job := self._fetch(f"/projects/{project}/releases/{number}/table", {"format": suffixes.lstrip(".")}, target)
        ) is not None:
            self._wait(project, job["id"], "export")
        return target

    def report(self, project: int, number: int, to: str | Path, *, internal: bool = False) -> Path:
        """Download the public report as HTML, or the internal report if a job of kind ``report`` has created it."""
        options = {"internal": "true"} if internal else {}
        self._fetch(f"/projects/{project}/releases/{number}/report", options, Path(to))
        return Path(to)

    def submit_release(self, project: int, number: int, note: str = "") -> dict[str, Any]:
        """Submit a draft for approval."""
        return self._move(project, number, "submit", {"note": note})

    def approve(self, project: int, number: int, reason: str = "") -> dict[str, Any]:
        """Approve a release that somebody else made; a verdict other than *met* needs a reason."""
        return self._move(project, number, "approve", {"reason": reason})

    def return_release(self, project: int, number: int, comment: str) -> dict[str, Any]:
        """Return a submitted release to its makers, with a comment."""
        return self._move(project, number, "return", {"comment": comment})

    def publish(self, project: int, number: int) -> dict[str, Any]:
        """Publish an approved release as the project's table, and wait until it is; returns the release."""
        self._wait(project, str(self._request("POST", f"/projects/{project}/releases/{number}/publish")["id"]), "publish", None)
        return self.release(project, number)

    def withdraw(self, project: int, number: int, reason: str) -> dict[str, Any]:
        """Withdraw a release; its published table is dropped."""
        return self._move(project, number, "withdraw", {"reason": reason})

    def release_settings(self, project: int) -> dict[str, Any]:
        """The owner's settings of releases: ``limits``, ``retention_days`` and ``grants``."""
        return dict(self._request("GET", f"/projects/{project}/release-settings"))

    def set_release_settings(self, project: int, **changes: Any) -> dict[str, Any]:
        """Change some of the settings of releases, for example ``limits={"k_anonymity.k": 5}`` or ``retention_days=30``."""
        settings = {**self.release_settings(project), **changes}
        return dict(self._request("PUT", f"/projects/{project}/release-settings", json=settings))

    def purge(self, project: int) -> dict[str, Any]:
        """Delete originals, drafts and links of a project with an approved release, which stays."""
        return dict(self._request("POST", f"/projects/{project}/purge"))

    def _move(self, project: int, number: int, action: str, body: dict[str, str]) -> dict[str, Any]:
        return dict(self._request("POST", f"/projects/{project}/releases/{number}/{action}", json=body))

    def _rows(self, path: str, options: dict[str, Any]) -> dict[str, Any]:
        if options.get("filters") is not None:
            options["filters"] = json.dumps(options["filters"])
        return dict(self._request("GET", path, params=_without_none(**options)))

    def _fetch(self, path: str, params: Mapping[str, str], target: Path) -> dict[str, Any] | None:
        """Download a file; returns the job that is writing it where it is not there yet."""
        with self._connection_errors(), self._http.stream("GET", path, params=params) as response:
            if response.status_code >= 400 or response.status_code == 202:
                response.read()
            _raise_for_status(response)
            if response.status_code == 202:
                return dict(response.json())
            with replacing(target) as temporary, temporary.open("wb") as file:
                for chunk in response.iter_bytes(CHUNK):
                    file.write(chunk)
        return None

    def _request(self, method: str, path: str, *, key: str | None = None, **options: Any) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        with self._connection_errors():
            response = self._http.request(method, path, headers=headers, **options)
        _raise_for_status(response)
        return response.json() if response.content else None

    def _list(self, path: str) -> list[dict[str, Any]]:
        """All entries of a list, page by page."""
        entries: list[dict[str, Any]] = []
        while True:
            page = self._request("GET", path, params={"offset": len(entries), "limit": PAGE})
            entries += page
            if len(page) < PAGE:
                return entries

    def _connection_errors(self) -> _ConnectionErrors:
        return _ConnectionErrors(str(self._http.base_url))


class _ConnectionErrors:
    """A context manager that turns connection failures into a ``SourceError``."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, httpx.HTTPError):
            raise SourceError(f"{self.url}: the server does not respond: {str(error) or type(error).__name__}") from None


def _raise_for_status(response: httpx.Response) -> None:
    if response.status_code < 400:
        return
    try:
        content = response.json()
        raise ServerError(response.status_code, content["message"], content.get("detail"))
    except (ValueError, KeyError, TypeError):
        raise ServerError(response.status_code, _describe_foreign_answer(response.status_code)) from None


def _describe_foreign_answer(status: int) -> str:
    """What an answer means that discreet did not write: it comes from a proxy."""
    meanings = {
        413: "a proxy before the server refuses requests of this size; raise its limit (client_max_body_size of nginx)",
        502: "a proxy answers that the server does not respond; see whether discreet is running",
        504: "a proxy answers that the server took too long; raise its limit (proxy_read_timeout of nginx)",
    }
    return meanings.get(status, f"the server responded with status {status}")


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _read_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
