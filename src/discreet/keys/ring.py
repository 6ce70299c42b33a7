"""The key ring: secret keys of releases under public ids, in the folder ``keys`` of DISCREET_HOME.

A key is a file ``ID.json`` of its own, and a release made with it is a file ``releases/DIGEST.ID.json``: nothing is ever
changed in place, so any number of processes can use one ring without locks. Files are written whole or not at all and can be
read by their owner alone (0600, in folders of 0700), whatever the umask. An id is drawn by itself and says nothing about its
key.
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

from discreet.engine.runtime.private_files import home_folder
from discreet.errors import SourceError, nearest
from discreet.keys.private import private_folder, write_private

KEY_BYTES = 32
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VERSION = 1


@dataclass(frozen=True)
class StoredKey:
    """One key of the ring; what is shown of it never includes the secret."""

    id: str
    secret: bytes = field(repr=False)
    created: str = ""
    source: str = ""
    plan: str = ""
    """A digest of the plan that the key was drawn for."""


@dataclass(frozen=True)
class RememberedRelease:
    """A release that was written: the id of its key, and the key of its draws, from which the order of its rows follows."""

    key: str
    draw_key: bytes = field(repr=False)
    records: int = 0
    release: int = 1
    written: str = ""


class KeyRing:
    """The keys in one folder."""

    def __init__(self, home: str | Path | None = None) -> None:
        self.folder = (home_folder() if home is None else Path(home).expanduser().resolve()) / "keys"

    def add(self, secret: bytes, *, source: str = "", plan: str = "", key_id: str | None = None) -> StoredKey:
        """Keep a secret under a new id (or the one given, where a job is done once more); raises OSError where it cannot be."""
        name = key_id or f"k{secrets.token_hex(5)}"
        made = StoredKey(name, secret, _now(), _shown(source), plan)
        self._write(made)
        return made

    def get(self, key_id: str) -> StoredKey:
        """The key of an id; raises where the ring has none."""
        if (found := self.find(key_id)) is None:
            raise SourceError(
                f"the key ring {self.folder} has no key '{key_id}'; {nearest(key_id, self.ids())}; a key of another machine is "
                "brought here by discreet key export and discreet key import"
            )
        return found

    def find(self, key_id: str) -> StoredKey | None:
        """The key of an id, or None."""
        place = self._place(key_id)
        if not _is_file(place):
            return None
        return _stored(_load(place), place)

    def ids(self) -> list[str]:
        """The ids of all keys."""
        try:
            return sorted(place.stem for place in self.folder.glob("*.json") if _ID.fullmatch(place.stem))
        except OSError:
            return []

    def entries(self) -> list[tuple[StoredKey, int]]:
        """All keys, the newest first, with the number of releases that were written with each."""
        found = [(self.get(name), sum(1 for _ in self._releases(name))) for name in self.ids()]
        return sorted(found, key=lambda one: (one[0].created, one[0].id), reverse=True)

    def delete(self, key_id: str) -> None:
        """Forget a key and its releases: nobody can repeat them any more, or lay their rows beside the originals."""
        self.get(key_id)
        for place in [*self._releases(key_id), self._place(key_id)]:
            place.unlink(missing_ok=True)

    def export(self, key_id: str) -> str:
        """A key and what is known of its releases, as text for a file that its owner keeps safe."""
        content = _content(self.get(key_id))
        content["releases"] = {place.name.split(".")[0]: _load(place) for place in self._releases(key_id)}
        return json.dumps(content, indent=1)

    def import_text(self, text: str, origin: str) -> StoredKey:
        """Take in what :meth:`export` gave; a key that is here under the same id must be the same."""
        try:
            content = json.loads(text)
        except ValueError:
            raise SourceError(f"{origin}: is not a key that discreet key export wrote") from None
        made = _stored(content, origin)
        known = self.find(made.id)
        if known is not None and known.secret != made.secret:
            raise SourceError(f"{origin}: holds another key than the ring has as '{made.id}'; delete that one first")
        if known is None:
            self._write(made)
        releases = content.get("releases", {})
        for digest, release in releases.items() if isinstance(releases, dict) else ():
            if re.fullmatch(r"[0-9a-f]{32}", digest) and isinstance(release, dict):
                write_private(self._release_place(digest, made.id), json.dumps(release))
        return made

    def remember(self, digest: str, release: RememberedRelease) -> None:
        """Keep which key a written release was made with; raises OSError where it cannot be kept."""
        content = {
            "draw_key": release.draw_key.hex(), "records": release.records, "release": release.release, "written": _now(),
        }  # fmt: skip
        private_folder(self.folder.parent, self.folder, self.folder / "releases")
        write_private(self._release_place(digest, release.key), json.dumps(content))

    def recognise(self, digest: str) -> list[RememberedRelease]:
        """The releases that were written with this content."""
        found = []
        try:
            places = sorted((self.folder / "releases").glob(f"{digest}.*.json"))
        except OSError:
            return []
        for place in places:
            content = _load(place)
            found.append(
                RememberedRelease(
                    place.name.split(".")[1], bytes.fromhex(str(content["draw_key"])), int(content.get("records", 0)),
                    int(content.get("release", 1)), str(content.get("written", "")),
                )
            )  # fmt: skip
        return found

    def _write(self, key: StoredKey) -> None:
        private_folder(self.folder.parent, self.folder, self.folder / "releases")
        write_private(self._place(key.id), json.dumps(_content(key)))

    def _place(self, key_id: str) -> Path:
        if not _ID.fullmatch(key_id):
            raise SourceError(f"'{key_id}' is no id of a key: it begins with a letter, then up to 63 letters, digits, - or _")
        return self.folder / f"{key_id}.json"

    def _release_place(self, digest: str, key_id: str) -> Path:
        return self.folder / "releases" / f"{digest}.{key_id}.json"

    def _releases(self, key_id: str) -> Iterator[Path]:
        return (self.folder / "releases").glob(f"*.{key_id}.json")


def _content(key: StoredKey) -> dict[str, Any]:
    content = {"version": _VERSION, "id": key.id, "key": key.secret.hex()}
    return content | {"created": key.created, "source": key.source, "plan": key.plan}


def _stored(content: Any, origin: str | Path) -> StoredKey:
    try:
        secret, name = bytes.fromhex(content["key"]), str(content["id"])
        right = len(secret) == KEY_BYTES and _ID.fullmatch(name) is not None and content["version"] == _VERSION
    except (KeyError, TypeError, ValueError):
        right = False
    if not right:
        raise SourceError(f"{origin}: is not a key that discreet key export wrote")
    return StoredKey(name, secret, *(str(content.get(part, "")) for part in ("created", "source", "plan")))


def _load(place: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{place}: the key cannot be read: {getattr(error, 'strerror', None) or 'it is no JSON'}") from None
    return content if isinstance(content, dict) else {}


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:
        return False


def _shown(source: str) -> str:
    """The name of a source, without folders, passwords and whatever else an address may hold."""
    if "://" not in source:
        return os.path.basename(source)
    scheme, _, rest = source.partition("://")
    address, _, table = rest.rpartition("#") if "#" in rest else (rest, "", "")
    host = re.sub(r"[?].*", "", address.rpartition("@")[2])
    return f"{scheme}://{host}" + (f"#{table}" if table else "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
