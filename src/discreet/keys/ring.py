"""The key ring: secret keys of releases under public ids, in the folder ``keys`` of DISCREET_HOME.

Each key is a file ``ID.json``, and each release made with it a file ``releases/DIGEST.ID.json``. No file is changed in
place, so any number of processes can use one ring without locks. Files are written atomically and are readable only by
their owner (mode 0600, in folders of 0700), whatever the umask. An id is random and reveals nothing about its key, but it is
published with every release. On a server, where several users share one ring, each key therefore belongs to the project that it
was generated in, and a job sees the keys of its own project alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.engine.draws.secret_bytes import SecretBytes
from discreet.engine.runtime.private_files import create_private_folder, home_folder, make_tree_private
from discreet.errors import SourceError, nearest
from discreet.keys.private import private_folder, write_private

KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_FORMAT_VERSION = 1
PROJECT_VARIABLE = "DISCREET_KEY_PROJECT"
"""The environment variable that confines a process of a server to the keys of one project."""


@dataclass(frozen=True)
class StoredKey:
    """One key of the ring; its repr does not include the secret."""

    id: str
    secret: bytes = field(repr=False)
    created: str = ""
    source: str = ""
    plan: str = ""
    """A digest of the plan that the key was generated for."""
    project: str = ""
    """The project of a server that the key belongs to; empty for a key of the command line."""


@dataclass(frozen=True)
class RememberedRelease:
    """A release that was written: the id of its key, and the key of its random draws, which determines the row order."""

    key: str
    draw_key: bytes = field(repr=False)
    records: int = 0
    release: int = 1
    written: str = ""


class KeyRing:
    """The keys in one folder, or those of them that belong to one project of a server.

    Opening a ring takes the rights of other accounts from the home folder and from all keys; where that is not possible, the ring
    is refused with a SourceError.
    """

    def __init__(self, home: str | Path | None = None, project: str | None = None) -> None:
        """The default of ``home`` is DISCREET_HOME, and that of ``project`` the environment variable of a server's job."""
        place = home_folder() if home is None else Path(home).expanduser().resolve()
        self.folder = place / "keys"
        self.project = os.environ.get(PROJECT_VARIABLE, "") if project is None else project
        if place.is_dir():
            create_private_folder(place)
            make_tree_private(self.folder)

    def add(self, secret: bytes, *, source: str = "", plan: str = "", key_id: str | None = None) -> StoredKey:
        """Store a secret under a new id, or under ``key_id`` when a job is repeated; raises OSError if it cannot be stored."""
        name = key_id or f"k{secrets.token_hex(5)}"
        key = StoredKey(name, secret, _now(), _source_label(source), plan, self.project)
        self._write(key)
        return key

    def get(self, key_id: str) -> StoredKey:
        """The key with an id; raises SourceError if the ring does not have it."""
        if (key := self.find(key_id)) is None:
            raise SourceError(
                f"the key ring {self.folder} has no key '{key_id}'; {nearest(key_id, self.ids())}; transfer a key from another "
                "machine with discreet key export and discreet key import"
            )
        return key

    def find(self, key_id: str) -> StoredKey | None:
        """The key with an id, or None; a key of another project is treated as if it did not exist."""
        path = self._key_path(key_id)
        if not _is_file(path):
            return None
        key = _key_from_json(_load_json(path), path)
        return key if self.project in ("", key.project) else None

    def ids(self) -> list[str]:
        """The ids of all keys that can be read."""
        return sorted(key.id for key, _ in self.entries())

    def entries(self) -> list[tuple[StoredKey, int]]:
        """All keys that can be read, the newest first, with the number of releases that were written with each."""
        keys = [key for key in map(self._read, self._stored_ids()) if isinstance(key, StoredKey)]
        entries = [(key, sum(1 for _ in self._release_paths(key.id))) for key in keys]
        return sorted(entries, key=lambda entry: (entry[0].created, entry[0].id), reverse=True)

    def unreadable(self) -> list[str]:
        """A sentence for each file of the ring that is not a key."""
        return [str(error) for error in map(self._read, self._stored_ids()) if isinstance(error, SourceError)]

    def _read(self, key_id: str) -> StoredKey | SourceError | None:
        try:
            return self.find(key_id)
        except SourceError as error:
            return error

    def _stored_ids(self) -> list[str]:
        try:
            return sorted(path.stem for path in self.folder.glob("*.json") if _KEY_ID.fullmatch(path.stem))
        except OSError:
            return []

    def delete(self, key_id: str) -> None:
        """Delete a key and the record of its releases: they can no longer be repeated, or their rows linked to the originals."""
        self.get(key_id)
        for path in [*self._release_paths(key_id), self._key_path(key_id)]:
            path.unlink(missing_ok=True)

    def export(self, key_id: str) -> str:
        """A key and the record of its releases as JSON, for a file that its owner must keep secret."""
        content = _key_to_json(self.get(key_id))
        content["releases"] = {path.name.split(".")[0]: _load_json(path) for path in self._release_paths(key_id)}
        return json.dumps(content, indent=1)

    def import_text(self, text: str, origin: str) -> StoredKey:
        """Import what :meth:`export` returned; if the ring already has a key with this id, it must be the same key."""
        try:
            content = json.loads(text)
        except ValueError:
            raise SourceError(f"{origin}: is not a key that discreet key export wrote") from None
        key = _key_from_json(content, origin)
        existing = self.find(key.id)
        if existing is not None and existing.secret != key.secret:
            raise SourceError(f"{origin}: holds another key than the ring has under the id '{key.id}'; delete that one first")
        if existing is None:
            self._write(key)
        releases = content.get("releases", {})
        for digest, release in releases.items() if isinstance(releases, dict) else ():
            if re.fullmatch(r"[0-9a-f]{32}", digest) and isinstance(release, dict):
                write_private(self._release_path(digest, key.id), json.dumps(release))
        return key

    def remember(self, digest: str, release: RememberedRelease) -> None:
        """Record the key of a written release; raises OSError if it cannot be stored."""
        content = {
            "draw_key": release.draw_key.hex(), "records": release.records, "release": release.release, "written": _now(),
        }  # fmt: skip
        private_folder(self.folder.parent, self.folder, self.folder / "releases")
        write_private(self._release_path(digest, release.key), json.dumps(content))

    def recognise(self, digest: str) -> list[RememberedRelease]:
        """The recorded releases with this content."""
        releases = []
        try:
            paths = sorted((self.folder / "releases").glob(f"{digest}.*.json"))
        except OSError:
            return []
        for path in paths:
            content, key_id = _load_json(path), path.name.split(".")[1]
            if self.project and self.find(key_id) is None:
                continue
            releases.append(
                RememberedRelease(
                    key_id, SecretBytes.fromhex(str(content["draw_key"])), int(content.get("records", 0)),
                    int(content.get("release", 1)), str(content.get("written", "")),
                )
            )  # fmt: skip
        return releases

    def _write(self, key: StoredKey) -> None:
        private_folder(self.folder.parent, self.folder, self.folder / "releases")
        write_private(self._key_path(key.id), json.dumps(_key_to_json(key)))

    def _key_path(self, key_id: str) -> Path:
        if not _KEY_ID.fullmatch(key_id):
            raise SourceError(f"'{key_id}' is not a valid key id: a letter, followed by up to 63 letters, digits, - or _")
        return self.folder / f"{key_id}.json"

    def _release_path(self, digest: str, key_id: str) -> Path:
        return self.folder / "releases" / f"{digest}.{key_id}.json"

    def _release_paths(self, key_id: str) -> Iterator[Path]:
        return (self.folder / "releases").glob(f"*.{key_id}.json")


def _key_to_json(key: StoredKey) -> dict[str, Any]:
    content = {"version": _FORMAT_VERSION, "id": key.id, "key": key.secret.hex()}
    content |= {"created": key.created, "source": key.source, "plan": key.plan}
    return content | ({"project": key.project} if key.project else {})


def _key_from_json(content: Any, origin: str | Path) -> StoredKey:
    try:
        secret, name = SecretBytes.fromhex(content["key"]), str(content["id"])
        valid = len(secret) == KEY_BYTES and _KEY_ID.fullmatch(name) is not None and content["version"] == _FORMAT_VERSION
    except (KeyError, TypeError, ValueError):
        valid = False
    if not valid:
        raise SourceError(f"{origin}: is not a key that discreet key export wrote")
    return StoredKey(name, secret, *(str(content.get(part, "")) for part in ("created", "source", "plan", "project")))


def _load_json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: the key cannot be read: {getattr(error, 'strerror', None) or 'it is not JSON'}") from None
    return content if isinstance(content, dict) else {}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _source_label(source: str) -> str:
    """The name of a source without folders, and of an address without user name, password and options."""
    if "://" not in source:
        return os.path.basename(source)
    scheme, _, rest = source.partition("://")
    address, _, table = rest.rpartition("#") if "#" in rest else (rest, "", "")
    host = re.sub(r"[?].*", "", address.rpartition("@")[2])
    return f"{scheme}://{host}" + (f"#{table}" if table else "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
