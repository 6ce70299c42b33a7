"""Tables in an S3-compatible store: a real server process on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import run_command
from patience import patient, wait_until

import discreet
from discreet.convert.places import object_stores
from discreet.convert.places.object_stores import object_exists, parse_object_address, send_object
from discreet.errors import SourceError
from discreet.web.errors import InvalidRequest
from discreet.web.projects.policy_sandbox import check_confined

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cretKey/x", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of an S3-compatible server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | KEYS)
    try:

        def answers() -> bool:
            assert server.poll() is None, "the S3 server stopped"
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(answers, "the S3 server does not answer")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(patient(30))


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An empty bucket, with credentials in the environment."""
    import urllib.request

    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    name = f"b{abs(hash(str(tmp_path))):x}"
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")):
        pass
    return f"s3://{name}"


@pytest.mark.servers
def test_tables_go_to_the_store_and_back_in_every_format(bucket: str) -> None:
    frame = pl.DataFrame({"id": [1, 2], "zip": ["01", "02"], "x": [0.5, None]})
    for suffix in ("csv", "csv.gz", "parquet", "arrow", "jsonl", "xlsx", "dta"):
        discreet.write(discreet.read(frame), f"{bucket}/folder/t.{suffix}")
        data = discreet.read(f"{bucket}/folder/t.{suffix}")
        assert data.frame.to_dicts() == frame.to_dicts()
        assert data.source == f"{bucket}/folder/t.{suffix}"
    with pytest.raises(SourceError, match=r"t\.csv exists; add --overwrite to replace it"):
        discreet.write(discreet.read(frame), f"{bucket}/folder/t.csv")
    with pytest.raises(SourceError, match=r"would overwrite"):
        discreet.write(data, f"{bucket}/folder/t.dta", overwrite=True)


@pytest.mark.servers
def test_the_command_line_measures_and_masks_in_the_store(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "attributes: {id: {role: identifier}, age: {role: key}}\nrisk: {k_anonymity: {}}\n"
        "plan: {steps: [{method: remove_identifiers}, {method: global_recoding, columns: [age], width: 10}]}\n"
    )
    for part, rows in (("1", "1,31\n2,35\n"), ("2", "3,41\n")):
        (tmp_path / "part.csv").write_text(f"id,age\n{rows}")
        send_object(tmp_path / "part.csv", f"{bucket}/in/{part}.csv")
    measured = run_command("risk", f"{bucket}/in/*.csv", "-p", "p.yaml", "--json", folder=tmp_path)
    assert '"records": 3' in measured.stdout, measured.stderr
    masked = run_command("mask", f"{bucket}/in/*.csv", f"{bucket}/out/release.csv", "-p", "p.yaml", folder=tmp_path)
    assert masked.returncode == 0, masked.stderr
    release = discreet.read(f"{bucket}/out/release.csv")
    assert sorted(release.frame["age"].to_list()) == sorted(release.frame["age"].cast(pl.String).to_list())
    assert release.cells, "the meaning of the labels travels beside the object"
    for source in ("1.csv", "*.csv"):
        again = run_command("convert", f"{bucket}/in/{source}", f"{bucket}/in/1.csv", "--overwrite", folder=tmp_path)
        assert again.returncode == 2
        assert "would overwrite" in again.stderr


@pytest.mark.servers
def test_an_upload_that_fails_leaves_the_old_object(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore

    (tmp_path / "t.csv").write_text("a\n1\n")
    send_object(tmp_path / "t.csv", f"{bucket}/t.csv")
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * 12_000_000)
    put = obstore.put

    def cut_short(store: Any, key: str, path: Path) -> None:
        def parts() -> Iterator[bytes]:
            yield b"x" * 6_000_000
            yield b"y" * 6_000_000
            raise OSError("the line is cut")

        put(store, key, parts(), use_multipart=True, chunk_size=5_242_880)

    monkeypatch.setattr(obstore, "put", cut_short)
    with pytest.raises(SourceError, match=r"t\.csv: cannot be written"):
        send_object(large, f"{bucket}/t.csv")
    monkeypatch.setattr(obstore, "put", put)
    assert discreet.read(f"{bucket}/t.csv").frame.rows() == [(1,)]
    send_object(large, f"{bucket}/large.csv")  # in several parts
    assert obstore.head(object_stores.open_store(parse_object_address(f"{bucket}/large.csv")), "large.csv")["size"] == 12_000_000


@pytest.mark.servers
def test_of_two_writers_of_a_new_object_one_is_refused(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    send_object(tmp_path / "t.csv", f"{bucket}/t.csv", overwrite=False)
    monkeypatch.setattr(object_stores, "object_exists", lambda _: False)  # as it was when the other writer looked
    with pytest.raises(SourceError, match="another program wrote it first"):
        send_object(tmp_path / "t.csv", f"{bucket}/t.csv", overwrite=False)


@pytest.mark.servers
def test_what_is_not_there_is_named_and_credentials_are_not(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n2\n")
    send_object(tmp_path / "z.zip", f"{bucket}/z.zip")
    assert discreet.read(f"{bucket}/z.zip#b.csv").frame.rows() == [(2,)]
    for address, sentence in (
        (f"{bucket}/none.csv", "none.csv: there is no such object"),
        (f"{bucket}/none/*.csv", "matches no file"),
        (f"{bucket}/z.zip", "contains 2 tables"),
        ("s3://no-such-bucket-here/t.csv", "no such"),
    ):
        with pytest.raises(SourceError) as caught:
            discreet.read(address)
        assert sentence in str(caught.value)
        assert not any(secret in str(caught.value) for secret in list(KEYS.values())[:2])
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(object_stores, "_RETRIES", {"max_retries": 0, "retry_timeout": object_stores.timedelta(seconds=1)})
    with pytest.raises(SourceError, match="S3 does not answer"):
        object_exists(f"{bucket}/t.csv")


@pytest.mark.parametrize(
    "address",
    [
        "s3://AKID:s3cret@bucket/t.csv",
        "s3://bucket/t.csv?X-Amz-Signature=s3cret",
        "gs://s3cret@b/t.csv",
        "az://c?sig=s3cret",
        "s3://b//s3cret",
    ],
)
def test_an_address_with_credentials_is_refused_and_not_shown(address: str, tmp_path: Path) -> None:
    for arguments in (("convert", address, "t.csv"), ("convert", "t.parquet", address)):
        done = run_command(*arguments, folder=tmp_path)
        assert done.returncode == 2
        assert "s3cret" not in done.stdout + done.stderr


def test_the_profile_of_the_vendors_files_is_used_where_the_environment_names_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "credentials").write_text("[clinic]\naws_access_key_id = A\naws_secret_access_key = B\n")
    (tmp_path / "config").write_text("[profile clinic]\nregion = eu-west-1\n")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_PROFILE", "clinic")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    options = object_stores._profile_of_aws()
    assert options == {"aws_access_key_id": "A", "aws_secret_access_key": "B", "region": "eu-west-1"}
    assert type(object_stores.open_store(parse_object_address("s3://bucket/t.csv"))).__name__ == "S3Store"


def test_a_policy_on_the_server_cannot_name_an_object() -> None:
    with pytest.raises(InvalidRequest, match="cannot name a database"):
        check_confined({"attributes": {"x": {"hierarchy": {"file": "s3://bucket/h.csv"}}}})
