"""A thin client of the REST interface: one method a request, plain values out.

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
from discreet.errors import DataError, DiscreetError, SourceError

try:
    import httpx2 as httpx
except ModuleNotFoundError:
    raise SourceError("discreet.Client needs 'httpx2'; pip install 'discreet[web]' brings it") from None

CHUNK = 1 << 20


class ServerError(DiscreetError):
    """The server refused; ``status`` and ``detail`` say why to a program, the text to a person."""

    def __init__(self, status: int, message: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.detail = dict(detail or {})


class Client:
    """Speaks to one server with one token."""

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
        """Give the connections back."""
        self._http.close()

    def me(self) -> dict[str, Any]:
        """Who the token is, and what it may do."""
        return dict(self._ask("GET", "/me"))

    def projects(self) -> list[dict[str, Any]]:
        """The projects with the verdict of their last release."""
        return list(self._ask("GET", "/projects"))

    def create_project(self, name: str, table_name: str | None = None, *, key: str | None = None) -> dict[str, Any]:
        """Make a project; with a key it is made once however often this is sent."""
        return dict(self._ask("POST", "/projects", json={"name": name, "table_name": table_name}, key=key))

    def project(self, project: int) -> dict[str, Any]:
        """One project."""
        return dict(self._ask("GET", f"/projects/{project}"))

    def share(self, project: int, name: str, role: str) -> list[dict[str, Any]]:
        """Give somebody a role: owner, editor or reader."""
        return list(self._ask("PUT", f"/projects/{project}/people/{quote(name, safe='')}", json={"role": role}))

    def policy(self, project: int, revision: int | None = None) -> dict[str, Any]:
        """The policy: revision, policy and yaml."""
        return dict(self._ask("GET", f"/projects/{project}/policy", params=_said(revision=revision)))

    def edit(
        self, project: int, sections: Mapping[str, Any], *, base: int | None = None, what: str | None = None
    ) -> dict[str, Any]:
        """Set sections of the policy, such as ``{"attributes.age": {"role": "key"}}``, from a revision (the newest)."""
        start = self.project(project)["revision"] if base is None else base
        asked = {"base": start, "sections": dict(sections), "what": what}
        return dict(self._ask("PATCH", f"/projects/{project}/policy", json=asked))

    def set_policy(self, project: int, policy: str | Path | Mapping[str, Any], *, base: int | None = None) -> dict[str, Any]:
        """Set the whole policy from a policy file or from values."""
        start = self.project(project)["revision"] if base is None else base
        asked: dict[str, Any] = {"base": start}
        if isinstance(policy, Mapping):
            asked["policy"] = dict(policy)
        else:
            asked["yaml"] = Path(policy).read_text(encoding="utf-8")
        return dict(self._ask("PUT", f"/projects/{project}/policy", json=asked))

    def upload(self, project: int, file: str | Path, *, progress: Callable[[str, float], None] | None = None) -> dict[str, Any]:
        """Send a file, however large, and import it as the project's initial microdata; the import's result."""
        path = Path(file)
        sent = self._ask("PUT", f"/projects/{project}/uploads", params={"name": path.name}, content=_chunks(path))
        return self.run(project, "import", {"upload": sent["upload"], "name": path.name}, progress=progress)

    def sources(self, project: int) -> list[str]:
        """The databases that the administrator connected."""
        return list(self._ask("GET", f"/projects/{project}/sources"))

    def tables(self, project: int, source: str) -> list[str]:
        """The tables of a connected database; ``run(project, "import", {"source": …, "table": …})`` takes one."""
        return list(self._ask("GET", f"/projects/{project}/sources/{quote(source, safe='')}/tables"))

    def datasets(self, project: int) -> list[dict[str, Any]]:
        """The imported tables."""
        return list(self._ask("GET", f"/projects/{project}/datasets"))

    def rows(self, project: int, dataset: int, **options: Any) -> dict[str, Any]:
        """Rows of a dataset: offset, limit, sort, descending, filters (a mapping)."""
        return self._rows(f"/projects/{project}/datasets/{dataset}/rows", options)

    def submit(self, project: int, kind: str, parameters: Mapping[str, Any] | None = None, *, key: str | None = None) -> str:
        """Submit a job; its id."""
        asked = {"kind": kind, "parameters": dict(parameters or {})}
        return str(self._ask("POST", f"/projects/{project}/jobs", json=asked, key=key)["id"])

    def job(self, project: int, job: str) -> dict[str, Any]:
        """A job as it stands."""
        return dict(self._ask("GET", f"/projects/{project}/jobs/{job}"))

    def cancel(self, project: int, job: str) -> dict[str, Any]:
        """Cancel a job."""
        return dict(self._ask("DELETE", f"/projects/{project}/jobs/{job}"))

    def run(
        self,
        project: int,
        kind: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[str, float], None] | None = None,
    ) -> dict[str, Any]:
        """Submit a job and wait for its result; ``progress`` is told what it is at and how far, from 0 to 1."""
        job = self.submit(project, kind, parameters)
        pause = 0.05
        while True:
            found = self.job(project, job)
            if progress is not None:
                progress(found["what"], found["done"] / found["total"] if found["total"] else 0.0)
            if found["state"] == "done":
                return dict(found["result"] or {})
            if found["state"] not in ("queued", "running"):
                raise DataError(f"the job {kind} is {found['state']}: {found['what']}")
            time.sleep(pause)
            pause = min(pause * 1.5, 1.0)

    def releases(self, project: int) -> list[dict[str, Any]]:
        """The releases, newest first."""
        return list(self._ask("GET", f"/projects/{project}/releases"))

    def release(self, project: int, number: int) -> dict[str, Any]:
        """One release."""
        return dict(self._ask("GET", f"/projects/{project}/releases/{number}"))

    def release_rows(self, project: int, number: int, **options: Any) -> dict[str, Any]:
        """Rows of a masked table, as :meth:`rows`."""
        return self._rows(f"/projects/{project}/releases/{number}/rows", options)

    def download(self, project: int, number: int, to: str | Path) -> Path:
        """The masked table as a file whose suffix says the format."""
        target = Path(to)
        suffixes = "".join(target.suffixes[-2:] if target.suffix in (".gz", ".zst", ".bz2") else target.suffixes[-1:])
        self._fetch(f"/projects/{project}/releases/{number}/table", {"format": suffixes.lstrip(".")}, target)
        return target

    def report(self, project: int, number: int, to: str | Path, *, internal: bool = False) -> Path:
        """The public report as an HTML file, or the internal one where a job of kind report made it."""
        options = {"internal": "true"} if internal else {}
        self._fetch(f"/projects/{project}/releases/{number}/report", options, Path(to))
        return Path(to)

    def sign(self, project: int, number: int, name: str, note: str = "") -> dict[str, Any]:
        """Sign a release off."""
        return dict(self._ask("POST", f"/projects/{project}/releases/{number}/sign", json={"name": name, "note": note}))

    def _rows(self, path: str, options: dict[str, Any]) -> dict[str, Any]:
        if options.get("filters") is not None:
            options["filters"] = json.dumps(options["filters"])
        return dict(self._ask("GET", path, params=_said(**options)))

    def _fetch(self, path: str, params: Mapping[str, str], target: Path) -> None:
        with self._reached(), self._http.stream("GET", path, params=params) as answer:
            if answer.status_code >= 400:
                answer.read()
            _raise(answer)
            with replacing(target) as temporary, temporary.open("wb") as file:
                for chunk in answer.iter_bytes(CHUNK):
                    file.write(chunk)

    def _ask(self, method: str, path: str, *, key: str | None = None, **options: Any) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        with self._reached():
            answer = self._http.request(method, path, headers=headers, **options)
        _raise(answer)
        return answer.json() if answer.content else None

    def _reached(self) -> _Reached:
        return _Reached(str(self._http.base_url))


class _Reached:
    """A connection that fails becomes a sentence."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, httpx.HTTPError):
            raise SourceError(f"{self.url}: the server does not answer: {str(error) or type(error).__name__}") from None


def _raise(answer: httpx.Response) -> None:
    if answer.status_code < 400:
        return
    try:
        content = answer.json()
        raise ServerError(answer.status_code, content["message"], content.get("detail"))
    except (ValueError, KeyError, TypeError):
        raise ServerError(answer.status_code, f"the server answered with status {answer.status_code}") from None


def _said(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
