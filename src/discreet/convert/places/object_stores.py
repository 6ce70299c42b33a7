"""Objects of S3, Google Cloud Storage and Azure Blob Storage, by address: ``s3://bucket/key.parquet``, ``gs://…``, ``az://…``.

Credentials come from where the vendors' own tools take them (environment, configuration files, the machine's role); an address
that holds any is refused. An object is replaced in one step: a single upload, or one in parts that is completed or aborted.
"""

from __future__ import annotations

import configparser
import fnmatch
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from discreet.convert.places.staging import PlacedFile, StagingFolder
from discreet.errors import DiscreetError, Redacted, SourceError
from discreet.model.extras import require_libraries

SCHEMES = ("s3", "gs", "az")
_ADDRESS = re.compile(r"(?P<scheme>s3|gs|az)://(?P<bucket>[A-Za-z0-9][A-Za-z0-9._\-]{1,254})/(?P<key>[^?#]+)")
_EXAMPLES = {"s3": "s3://bucket/folder/table.parquet", "gs": "gs://bucket/table.csv", "az": "az://container/table.csv"}
_MOST_LISTED = 10_000
_LARGEST_CLAIM = 1 << 30
"""Bytes up to which an object is sent in one request, which the store refuses where the name is taken meanwhile."""
_RETRIES: dict[str, Any] = {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
_NAMES = {"s3": "S3", "gs": "Google Cloud Storage", "az": "Azure Blob Storage"}


@dataclass(frozen=True)
class ObjectAddress:
    """The parts of an address; the key of an object has no leading slash."""

    scheme: str
    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"


def is_object_address(place: Any) -> bool:
    """Whether a source or target is an object of a store."""
    return isinstance(place, str) and place.partition("://")[0].lower() in SCHEMES and "://" in place


def parse_object_address(text: str) -> ObjectAddress:
    """The parts of an address; nothing of a malformed one is displayed, because it may hold a key."""
    scheme, _, rest = text.partition("://")
    scheme = scheme.lower()
    match = _ADDRESS.fullmatch(f"{scheme}://{rest}")
    if match is None or "@" in rest.partition("/")[0]:
        advice = "credentials belong into the environment" if "@" in rest or "?" in rest else "no ? or # in it"
        raise SourceError(f"{scheme}://…: is not the address of an object; the form is {_EXAMPLES[scheme]}, and {advice}")
    if any(part in ("", ".", "..") for part in match["key"].split("/")):
        raise SourceError(f"{scheme}://{match['bucket']}/…: the key of an object has no empty parts, no . and no ..")
    return ObjectAddress(scheme, match["bucket"], match["key"])


def fetch_object(text: str, companions: tuple[str, ...] = ()) -> PlacedFile:
    """Copy an object to a private file, with the objects whose keys have one of the ``companions`` behind its own."""
    address = parse_object_address(text)
    store = open_store(address)
    folder = StagingFolder()
    path = folder.path / PurePosixPath(address.key).name
    with _store_errors(address, "cannot be read"):
        _download(store, address.key, path)
    for suffix in companions:
        if object_exists(f"{text}{suffix}"):
            with _store_errors(address, "cannot be read"):
                _download(store, address.key + suffix, path.with_name(path.name + suffix))
    return PlacedFile(path, str(address), folder)


def expand_objects(text: str) -> list[str]:
    """The addresses of the objects that a pattern with a * in its key matches, in the order of their keys."""
    import obstore

    address = parse_object_address(text)
    pattern = address.key
    prefix = re.split(r"[*\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
    keys: list[str] = []
    with _store_errors(address, "cannot be listed"):
        for batch in obstore.list(open_store(address), prefix=prefix or None):
            keys += [entry["path"] for entry in batch if _matches(entry["path"], pattern)]
            if len(keys) > _MOST_LISTED:
                raise SourceError(f"{text}: matches more than {_MOST_LISTED:,} objects; narrow the pattern")
    return [f"{address.scheme}://{address.bucket}/{key}" for key in sorted(keys)]


def _matches(key: str, pattern: str) -> bool:
    """Whether a key matches, part by part, so that * does not reach over a slash."""
    parts, patterns = key.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def object_exists(text: str) -> bool:
    """Whether there is an object at an address."""
    import obstore

    address = parse_object_address(text)
    with _store_errors(address, "cannot be looked up"):
        try:
            obstore.head(open_store(address), address.key)
        except FileNotFoundError:
            return False
        return True


def send_object(path: Path, text: str, *, overwrite: bool = True) -> None:
    """Upload a complete file: the object is the old one until the last byte has arrived, and then the new one."""
    import obstore
    from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

    address = parse_object_address(text)
    store = open_store(address)
    with _store_errors(address, "cannot be written"):
        if not overwrite and object_exists(text):
            raise SourceError(f"{address} exists; add --overwrite to replace it")
        if not overwrite and path.stat().st_size < _LARGEST_CLAIM:
            try:
                obstore.put(store, address.key, path, mode="create", use_multipart=False)  # of two writers one is refused
                return
            except (AlreadyExistsError, PreconditionError):
                raise SourceError(f"{address}: another program wrote it first; add --overwrite to replace it") from None
            except NotSupportedError:  # a store without conditional writes
                pass
        obstore.put(store, address.key, path)  # in parts where it is large: completed, or aborted on any error


def delete_object(text: str) -> None:
    """Delete an object, if it exists."""
    import obstore

    address = parse_object_address(text)
    with _store_errors(address, "cannot be removed"):
        if object_exists(text):
            obstore.delete(open_store(address), address.key)


def open_store(address: ObjectAddress) -> Any:
    """The store of an address, with the credentials of the environment."""
    require_libraries(f"an object of {address.scheme}://…", "obstore")
    from obstore.store import AzureStore, GCSStore, S3Store

    with _store_errors(address, "cannot be opened"):
        if address.scheme == "gs":
            return GCSStore(address.bucket, retry_config=_RETRIES)
        if address.scheme == "az":
            return AzureStore(address.bucket, retry_config=_RETRIES)
        options: dict[str, Any] = _profile_of_aws()
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            options |= {"endpoint": endpoint}
        client = {"allow_http": True} if endpoint and endpoint.startswith("http://") else {}
        return S3Store(address.bucket, config=options, client_options=client, retry_config=_RETRIES)


def _profile_of_aws() -> dict[str, str]:
    """Keys and region of the profile in the files of AWS's own tools, where the environment names no key."""
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        return {}
    profile = os.environ.get("AWS_PROFILE", "default")
    credentials = configparser.RawConfigParser()
    home = Path.home() / ".aws"
    credentials.read(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", home / "credentials"))
    settings = configparser.RawConfigParser()
    settings.read(os.environ.get("AWS_CONFIG_FILE", home / "config"))
    options = {}
    if credentials.has_section(profile):
        section = credentials[profile]
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        options = {name: section[name] for name in names if name in section}
    section_name = profile if profile == "default" else f"profile {profile}"
    if settings.has_section(section_name) and "region" in settings[section_name]:
        options["region"] = settings[section_name]["region"]
    return options


def _download(store: Any, key: str, path: Path) -> None:
    import obstore

    with path.open("wb") as file:
        for chunk in obstore.get(store, key).stream(min_chunk_size=1 << 20):
            file.write(chunk)


@contextmanager
def _store_errors(address: ObjectAddress, failure: str) -> Iterator[None]:
    """Convert an error of the store to one sentence; its own words may hold signed addresses, so only its kind is displayed."""
    try:
        yield
    except DiscreetError:
        raise
    except FileNotFoundError:
        raise SourceError(Redacted(f"{address}: there is no such object")) from None
    except Exception as error:  # noqa: BLE001 - the library's errors have no common base
        raise SourceError(Redacted(f"{address}: {failure}: {_describe(error, address)}")) from None


def _describe(error: Exception, address: ObjectAddress) -> str:
    kind, text = type(error).__name__, str(error)
    vendor = _NAMES[address.scheme]
    status = re.search(r"\b([45]\d\d) (?:[A-Z]\w+)", text)
    if "PermissionDenied" in kind or "Unauthenticated" in kind or (status and status[1] in ("401", "403")):
        return f"{vendor} refuses the credentials of this environment, or they do not allow it"
    if "NoSuchBucket" in text or (status and status[1] == "404"):
        return f"there is no bucket '{address.bucket}', or no such object"
    if "error sending request" in text or "connect" in text.lower() or "dns" in text.lower():
        return f"{vendor} does not answer; check the network, the region and the endpoint"
    if "missing" in text.lower() or "credential" in text.lower() or "Config" in kind:
        return f"the credentials or the region of {vendor} are missing in the environment"
    return f"{vendor} reports an error ({status[0] if status else kind})"
