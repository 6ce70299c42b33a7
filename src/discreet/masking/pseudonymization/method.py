"""Pseudonymization: person identifiers are replaced by keyed hashes, which only the holder of the key can link to persons."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, SecretStr, field_serializer, field_validator, model_validator

from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.policy_paths import read_variable, resolve_path
from discreet.errors import DataError, ParameterError
from discreet.masking.requirements import need_columns, need_values
from discreet.model.attribute import Role, text_forms
from discreet.model.cells import ColumnCells
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

_MIN_KEY_LENGTH = 16
_PROCESS_KEY = secrets.token_bytes(32)


class Pseudonymization(MaskingMethod):
    """Replaces identifiers by pseudonyms: the first ``length`` hexadecimal digits of BLAKE2b(identifier, key).

    The same identifier gets the same pseudonym wherever the same key is used; without the key, pseudonyms can be neither
    computed nor guessed by trying identifiers. The key comes from a file, from the environment, or from Python as a SecretStr.
    Default: a key from the system's random generator that exists only as long as the process, after which nobody can link
    pseudonyms to persons, the data controller included.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"patient": [17, 4, 17]}, person=["patient"])
    >>> pseudonyms = Pseudonymization().mask(data, ["patient"], KeyedDraw(7)).frame["patient"]
    >>> pseudonyms[0] == pseudonyms[2] != pseudonyms[1]
    True
    """

    name: ClassVar[str] = "pseudonymization"
    citation: ClassVar[str] = (
        "Aumasson, J.-P. & Saarinen, M.-J. (2015). The BLAKE2 cryptographic hash and message authentication code. RFC 7693; "
        "ISO 25237:2017, Health informatics: pseudonymization."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.pseudonymization.spark:pseudonymization")
    scope: ClassVar[Scope] = Scope.CELL
    default_columns: ClassVar[str] = "the identifiers"
    preserves: ClassVar[str] = "Which records belong to the same person; every other attribute."

    key_file: str | None = Field(
        default=None, description="file that contains the key (at least 16 characters); never publish it"
    )
    key_env: str | None = Field(default=None, description="environment variable that contains the key (at least 16 characters)")
    key: SecretStr | None = Field(default=None, description="the key itself; only from Python, because a policy would store it")
    length: Annotated[int, Field(ge=8, le=64)] = Field(default=16, description="number of hexadecimal digits of a pseudonym")

    @field_validator("key", mode="before")
    @classmethod
    def _refuse_key_as_text(cls, key: Any) -> Any:
        if isinstance(key, str):
            raise ValueError(
                "a key must not be written in a policy or plan; use key_file or key_env, or pass a SecretStr from Python"
            )
        return key

    @field_serializer("key")
    def _omit_key(self, key: SecretStr | None) -> None:
        return None

    @model_validator(mode="after")
    def _check_single_source(self) -> Self:
        sources = [name for name in ("key", "key_file", "key_env") if getattr(self, name) is not None]
        if len(sources) > 1:
            raise ValueError(f"give only one source of the key, not {' and '.join(sources)}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:  # noqa: ARG003 - of any parameters
        return f"replace {columns} by pseudonyms, which need a key"

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.PERSON)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to replace, or give an attribute the role person")
        need_values(self.name, data, columns)
        if (key := self._read_key(data)) is not None and len(key) < _MIN_KEY_LENGTH:
            raise ParameterError(f"the key of pseudonymization needs at least {_MIN_KEY_LENGTH} characters; it has {len(key)}")

    def _read_key(self, data: Microdata) -> bytes | None:
        """The key that the step names; None if it names none."""
        if self.key is not None:
            return self.key.get_secret_value().encode()
        if self.key_env is not None:
            if (value := read_variable(data.policy, self.key_env)) is None:
                raise ParameterError(f"pseudonymization.key_env names {self.key_env}, which is not set in the environment")
            return value.encode()
        if self.key_file is not None:
            path = resolve_path(data.policy, self.key_file)
            try:
                return path.read_bytes().strip()
            except OSError as error:
                raise ParameterError(f"pseudonymization.key_file: {path} cannot be read: {error.strerror}") from None
        return None

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        key = self.derive_hash_key(data, draw)
        pseudonyms = {name: self.pseudonymize_column(data, name, key) for name in columns}
        return data.with_columns(pseudonyms, {name: ColumnCells(kind="text") for name in columns})

    def derive_hash_key(self, data: Microdata, draw: Draw) -> bytes:
        """The key of the hash, the same for all records of a step on every worker."""
        key = self._read_key(data)
        if key is None:  # new in every process, and different for every seed and step
            key = _PROCESS_KEY + draw.uniform(np.zeros(1, np.int64), "key").tobytes()
        return hashlib.blake2b(key, digest_size=64).digest()

    def pseudonymize_column(self, data: Microdata, name: str, key: bytes) -> pl.Series:
        """The pseudonyms of a column; raise DataError if two different values would share one."""
        (column,) = encode(data, [name])
        digest_bytes = -(-self.length // 2)
        pseudonyms: list[str | None] = [
            hashlib.blake2b(text_forms(value)[-1].encode(), digest_size=digest_bytes, key=key).hexdigest()[: self.length]
            for value in column.values.to_list()
        ]
        if len(set(pseudonyms)) < len(pseudonyms):
            raise self.collision_error(name)
        return pl.Series(name, [*pseudonyms, None], dtype=pl.String).gather(pl.Series(column.codes.astype(np.uint32)))

    def collision_error(self, name: str) -> DataError:
        """The error for two values with the same pseudonym, which would merge two persons."""
        return DataError(f"two values of '{name}' would get the same pseudonym of {self.length} digits; use a greater length")

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """A note if the pseudonyms cannot be reproduced."""
        if self.key is None and self.key_env is None and self.key_file is None:
            return ["the key was generated for this run and is not stored: these pseudonyms cannot be reproduced"]
        return []
