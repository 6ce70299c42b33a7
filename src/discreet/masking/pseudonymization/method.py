"""Pseudonymization: persons keep their records together under a name that only the holder of a key can connect to them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, SecretStr, field_serializer, field_validator, model_validator

from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.policy_paths import place, variable
from discreet.errors import DataError, ParameterError
from discreet.masking.requirements import need_columns, need_values
from discreet.model.attribute import Role, printed
from discreet.model.cells import ColumnCells
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

_LEAST_KEY = 16
_FRESH = secrets.token_bytes(32)


class Pseudonymization(MaskingMethod):
    """An identifier i becomes the first ``length`` hexadecimal digits of BLAKE2b(i, key).

    The same identifier gets the same pseudonym, here and wherever the same key is used; without the key it can neither be
    computed nor tried out. The key comes from a file, from the environment, or from Python as a SecretStr. Where none is given
    it is made by the system's generator, lives as long as the process, and is gone: nobody can connect pseudonyms to
    persons any more, the owner included.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"patient": [17, 4, 17]}, person=["patient"])
    >>> made = Pseudonymization().mask(data, ["patient"], KeyedDraw(7)).frame["patient"]
    >>> made[0] == made[2] != made[1]
    True
    """

    name: ClassVar[str] = "pseudonymization"
    citation: ClassVar[str] = (
        "Aumasson, J.-P. & Saarinen, M.-J. (2015). The BLAKE2 cryptographic hash and message authentication code. RFC 7693; "
        "ISO 25237:2017, Health informatics: pseudonymization."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.pseudonymization.spark:pseudonymization")
    scope: ClassVar[Scope] = Scope.CELL
    preserves: ClassVar[str] = "Which records belong to one person; every other attribute."

    key_file: str | None = Field(
        default=None, description="file that holds the key, at least 16 characters; keep it from the release"
    )
    key_env: str | None = Field(default=None, description="environment variable that holds the key, at least 16 characters")
    key: SecretStr | None = Field(default=None, description="the key itself, from Python only: a policy would write it down")
    length: Annotated[int, Field(ge=8, le=64)] = Field(default=16, description="hexadecimal digits of a pseudonym")

    @field_validator("key", mode="before")
    @classmethod
    def _never_as_text(cls, key: Any) -> Any:
        if isinstance(key, str):
            raise ValueError(
                "a key must not stand in a policy or plan; name a key_file or key_env, or give a SecretStr from Python"
            )
        return key

    @field_serializer("key")
    def _never_written(self, key: SecretStr | None) -> None:
        return None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("key", "key_file", "key_env") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"give one key, not {' and '.join(given)}")
        return self

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.PERSON)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to replace, or give one the role person")
        need_values(self.name, data, columns)
        if (key := self._given(data)) is not None and len(key) < _LEAST_KEY:
            raise ParameterError(f"the key of pseudonymization needs at least {_LEAST_KEY} characters; it has {len(key)}")

    def _given(self, data: Microdata) -> bytes | None:
        """The owner's key, or None where there is none."""
        if self.key is not None:
            return self.key.get_secret_value().encode()
        if self.key_env is not None:
            if (found := variable(data.policy, self.key_env)) is None:
                raise ParameterError(f"pseudonymization.key_env names {self.key_env}, which is not set in the environment")
            return found.encode()
        if self.key_file is not None:
            path = place(data.policy, self.key_file)
            try:
                return path.read_bytes().strip()
            except OSError as error:
                raise ParameterError(f"pseudonymization.key_file: {path} cannot be read: {error.strerror}") from None
        return None

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        key = self.hash_key(data, draw)
        made = {name: self.replaced(data, name, key) for name in columns}
        return data.with_columns(made, {name: ColumnCells(kind="text") for name in columns})

    def hash_key(self, data: Microdata, draw: Draw) -> bytes:
        """The key of the hash: the same for all records of a step, wherever they lie."""
        given = self._given(data)
        if given is None:  # fresh for the process, and other for every seed and step
            given = _FRESH + draw.uniform(np.zeros(1, np.int64), "key").tobytes()
        return hashlib.blake2b(given, digest_size=64).digest()

    def replaced(self, data: Microdata, name: str, key: bytes) -> pl.Series:
        """The pseudonyms of some records."""
        (column,) = encode(data, [name])
        size = -(-self.length // 2)
        words: list[str | None] = [
            hashlib.blake2b(printed(value)[-1].encode(), digest_size=size, key=key).hexdigest()[: self.length]
            for value in column.values.to_list()
        ]
        if len(set(words)) < len(words):
            raise self.too_short(name)
        return pl.Series(name, [*words, None], dtype=pl.String).gather(pl.Series(column.codes.astype(np.uint32)))

    def too_short(self, name: str) -> DataError:
        """Two persons must not become one."""
        return DataError(f"two values of '{name}' would get one pseudonym of {self.length} digits; use a greater length")

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """Whether the owner can do it again."""
        if self.key is None and self.key_env is None and self.key_file is None:
            return ["the key was made for this run and is gone: these pseudonyms cannot be made again"]
        return []
