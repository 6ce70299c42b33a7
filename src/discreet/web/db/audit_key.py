"""The installation's key of the audit log, and the last entry that was committed: two small files outside the database.

Whoever can write to the database, but not read the key, cannot rewrite an entry; whoever restores an earlier state of the
database is contradicted by the file of the last entry. Both files are readable by their owner only. The last entry is written in
place, into a file of fixed size, so that it needs no space on a full disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from discreet.engine.runtime.private_files import create_private_file
from discreet.errors import SourceError

KEY_FILE = "audit.key"
HEAD_FILE = "audit.head"
_HEAD_BYTES = 128


@dataclass(frozen=True)
class Head:
    """The end of the log: the number and the hash of its last entry."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """A head as reports print it: NUMBER:HASH."""
        number, _, entry_hash = text.strip().partition(":")
        if not number.isdecimal() or len(entry_hash) != 64 or set(entry_hash) - set("0123456789abcdef"):
            raise SourceError(f"'{text[:80]}' is not the end of an audit log; it has the form NUMBER:HASH, as in a report")
        return cls(int(number), entry_hash)


@dataclass(frozen=True)
class AuditKey:
    """The secret key of an installation's audit log."""

    secret: bytes
    head_path: Path
    unkeyed: int = 0
    """Number of entries that were written before there was a key; they have a plain hash."""

    def __repr__(self) -> str:
        return f"AuditKey(head_path={self.head_path})"

    def sign(self, text: bytes) -> str:
        """The keyed hash of an entry."""
        return hmac.new(self.secret, text, hashlib.sha256).hexdigest()

    def read_head(self) -> Head | None:
        """The last committed entry; None before the first one."""
        try:
            text = self.head_path.read_text(encoding="ascii").strip("\0\n ")
        except (OSError, UnicodeDecodeError):
            return None
        return Head.parse(text) if text else None

    def write_head(self, head: Head) -> None:
        """Store the last committed entry, unless a later one is stored already."""
        descriptor = os.open(self.head_path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            stored = os.pread(descriptor, _HEAD_BYTES, 0).decode("ascii", "replace").strip("\0\n ")
            if not stored or Head.parse(stored).number < head.number:
                os.pwrite(descriptor, str(head).ljust(_HEAD_BYTES).encode("ascii"), 0)
        finally:
            os.close(descriptor)


def load_audit_key(home: Path, entries: int) -> AuditKey:
    """The key of an installation, created on first use; ``entries`` are those that the log has by then."""
    path = home / KEY_FILE
    try:
        if not path.exists():
            create_private_file(path)
        with path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            if not text.strip():
                text = json.dumps({"key": secrets.token_hex(32), "unkeyed": entries})
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        content = json.loads(text)
        return AuditKey(bytes.fromhex(content["key"]), home / HEAD_FILE, int(content["unkeyed"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged; restore it from a backup of the data directory"
        raise SourceError(f"{path}: the key of the audit log cannot be read: {reason}") from None
