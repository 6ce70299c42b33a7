"""An encrypted stream that is authenticated whole: ChaCha20-Poly1305 in pieces, with a key derived from a passphrase by scrypt.

The construction is STREAM (Hoang, Reyhanitabar, Rogaway & Vizár 2015, "Online authenticated-encryption and its nonce-reuse
misuse-resistance"): the nonce of a piece is a random prefix, the number of the piece, and whether it is the last one. So pieces
cannot be left out, repeated, exchanged or cut off, and only one piece is in memory at a time.

    magic (18 bytes) | log2 N, r, p of scrypt (3 bytes) | salt (16) | nonce prefix (7) | pieces of 1 MiB + 16, the last shorter

Every piece authenticates the head, too.
"""

from __future__ import annotations

import os
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from discreet.errors import SourceError

MAGIC = b"discreet backup 1\n"
SCRYPT_COST = (17, 8, 1)
"""log2 N, r and p: 128 MB of memory and some tenths of a second per guess."""
_MAX_COST = (20, 16, 4)
PIECE_BYTES = 1 << 20
_TAG_BYTES, _SALT_BYTES, _PREFIX_BYTES = 16, 16, 7
HEAD_BYTES = len(MAGIC) + 3 + _SALT_BYTES + _PREFIX_BYTES
MIN_PASSPHRASE = 12


def check_passphrase(passphrase: str) -> str:
    """The passphrase; raises where it is so short that it could be guessed."""
    if len(passphrase) < MIN_PASSPHRASE:
        raise SourceError(
            f"the passphrase of a backup needs at least {MIN_PASSPHRASE} characters, because the file can be copied"
        )
    return passphrase


def _derive_cipher(head: bytes, passphrase: str) -> ChaCha20Poly1305:
    log_n, r, p = head[len(MAGIC) : len(MAGIC) + 3]
    salt = head[len(MAGIC) + 3 : len(MAGIC) + 3 + _SALT_BYTES]
    return ChaCha20Poly1305(Scrypt(salt=salt, length=32, n=1 << log_n, r=r, p=p).derive(passphrase.encode()))


def _nonce(head: bytes, number: int, *, last: bool) -> bytes:
    return head[-_PREFIX_BYTES:] + number.to_bytes(4) + bytes([last])


class EncryptingWriter:
    """Encrypts what is written to it; the file is complete only after :meth:`finish`."""

    def __init__(self, file: IO[bytes], passphrase: str, cost: tuple[int, int, int] = SCRYPT_COST) -> None:
        self._file = file
        self._head = MAGIC + bytes(cost) + os.urandom(_SALT_BYTES + _PREFIX_BYTES)
        self._cipher = _derive_cipher(self._head, passphrase)
        self._pending = bytearray()
        self._number = 0
        file.write(self._head)

    def write(self, data: bytes) -> int:
        """Encrypt some bytes."""
        self._pending += data
        while len(self._pending) > PIECE_BYTES:  # a full piece stays, because it may be the last
            self._write_piece(bytes(self._pending[:PIECE_BYTES]), last=False)
            del self._pending[:PIECE_BYTES]
        return len(data)

    def finish(self) -> None:
        """Write the last piece, which says that nothing follows."""
        self._write_piece(bytes(self._pending), last=True)
        self._pending.clear()

    def _write_piece(self, piece: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._head, self._number, last=last), piece, self._head))
        self._number += 1


class DecryptingReader:
    """Reads what an :class:`EncryptingWriter` wrote; nothing is handed out that is not authenticated."""

    def __init__(self, file: IO[bytes], name: str, passphrase: str) -> None:
        self._file, self._name, self._number = file, name, 0
        self._head = file.read(HEAD_BYTES)
        cost = tuple(self._head[len(MAGIC) : len(MAGIC) + 3])
        if not self._head.startswith(MAGIC) or len(self._head) != HEAD_BYTES:
            raise SourceError(f"{name}: is not a backup of discreet")
        if not all(1 <= value <= highest for value, highest in zip(cost, _MAX_COST, strict=True)):
            raise self._damaged()  # such a cost would take all of the memory
        self._cipher = _derive_cipher(self._head, passphrase)
        self._buffer = b""
        self._at = 0
        self._next = file.read(PIECE_BYTES + _TAG_BYTES)
        self._ended = False

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; none at the end of a file that is complete."""
        parts, missing = [], size
        while missing:
            if self._at == len(self._buffer) and not self._read_piece():
                break
            part = self._buffer[self._at : self._at + missing]
            parts.append(part)
            self._at += len(part)
            missing -= len(part)
        return b"".join(parts)

    def _read_piece(self) -> bool:
        if self._ended:
            return False
        piece, self._next = self._next, self._file.read(PIECE_BYTES + _TAG_BYTES)
        self._ended = not self._next
        try:
            self._buffer = self._cipher.decrypt(_nonce(self._head, self._number, last=self._ended), piece, self._head)
        except (InvalidTag, ValueError):
            raise self._damaged() from None
        self._at = 0
        self._number += 1
        return True

    def _damaged(self) -> SourceError:
        if self._number:
            return SourceError(
                f"{self._name}: the backup is incomplete or was changed, so nothing of it is used; take another one"
            )
        return SourceError(f"{self._name}: the passphrase is not the one of this backup, or the file was changed")
