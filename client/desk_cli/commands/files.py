"""Stored files: list, get, put."""

import hashlib
import time
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import click
import httpx

from desk_cli.commands.engagements import engagement_of, model_id
from desk_cli.connection import connect, refusal, result, rows, stored_login
from desk_cli.output import json_option, most_option, show_rows
from desk_client.api.artifacts import artifacts_list, artifacts_retrieve, artifacts_upload_create
from desk_client.client import AuthenticatedClient
from desk_client.models.artifact import Artifact
from desk_client.models.upload_request import UploadRequest
from desk_client.types import UNSET, File

BLOCK = 1024 * 1024
UPLOAD_TIMEOUT = httpx.Timeout(600.0, connect=10.0)  # the desk stores a file before it answers
POLL_SECONDS, MOST_SECONDS = 1.0, 600.0  # until a worker of the desk has read a stored file


@click.group()
def files() -> None:
    """Files of engagements and jobs."""


@files.command("list")
@click.option("--engagement", help="Code.")
@click.option("--job", type=int)
@most_option
@json_option
def list_(engagement: str | None, job: int | None, most: int, as_json: bool) -> None:
    """Numbers, sizes and checksums."""
    client = connect(stored_login())
    show_rows(_found(client, engagement, job, most), [
        ("FILE", lambda row: row.id), ("BYTES", lambda row: row.size),
        ("SHA-256", lambda row: row.sha256[:12]), ("NAME", lambda row: row.name)],
        as_json=as_json)


def _found(client: AuthenticatedClient, engagement: str | None, job: int | None, most: int
           ) -> Iterable[Artifact]:
    of = engagement_of(client, engagement).id if engagement else UNSET
    return rows(artifacts_list.sync_detailed, client, most, engagement=of,
                job=UNSET if job is None else job)


@files.command()
@click.argument("numbers", nargs=-1, type=int, metavar="[FILE]...")
@click.option("--job", type=int, help="All files of the job.")
@click.option("-o", "--out", type=click.Path(path_type=Path, file_okay=False), default=Path(),
              help="Folder; where you are if left out.")
def get(numbers: tuple[int, ...], job: int | None, out: Path) -> None:
    """Bring files by their numbers, or all of a job; their checksums are compared."""
    if bool(numbers) == (job is not None):
        raise click.UsageError("Name files or a job.")
    client = connect(stored_login())
    wanted = (_found(client, None, job, 100_000) if job is not None else
              [result(artifacts_retrieve.sync_detailed(number, client=client))
               for number in numbers])
    count = 0
    for artifact in wanted:
        bring(client, artifact, out)
        count += 1
    if not count:
        raise click.ClickException(f"Job {job} has no stored files.")


def bring(client: AuthenticatedClient, artifact: Artifact, out: Path) -> Path:
    """Store the file below the folder; what is there with the same content stays.

    Raises ClickException where other content is there, or the checksum is another one.
    """
    path = out / safe_path(artifact.name)
    if path.exists():
        if checksum(path) != artifact.sha256:
            raise click.ClickException(f"{path} is there with other content; choose a folder "
                                       "with -o.")
        click.echo(f"{path} is there already.")
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    digest = _download(client, artifact.id, part)
    if digest != artifact.sha256:
        part.unlink()
        raise click.ClickException(f"{path}: the checksum is {digest} instead of "
                                   f"{artifact.sha256}; nothing was kept.")
    part.replace(path)
    click.echo(f"{path}  {artifact.size} bytes  sha256 {digest[:12]}")
    return path


def _download(client: AuthenticatedClient, number: int, part: Path) -> str:
    """Streamed, so that a file may be larger than memory; its SHA-256."""
    digest = hashlib.sha256()
    with client.get_httpx_client().stream(
            "GET", f"/api/v1/artifacts/{number}/download/") as answer:
        if answer.status_code != 200:
            raise click.ClickException(refusal(answer.status_code, answer.read()))
        with part.open("wb") as file:
            for block in answer.iter_bytes(BLOCK):
                file.write(block)
                digest.update(block)
    return digest.hexdigest()


def safe_path(name: str) -> Path:
    """The name as a path below a folder: it may come from a node and mean no good."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts
             if part not in ("/", "..", ".") and ":" not in part]
    if not parts or not all(part.isprintable() for part in parts):
        raise click.ClickException("A file has a name that cannot be used here.")
    return Path(*parts)


@files.command()
@click.argument("paths", nargs=-1, required=True,
                type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="PATH...")
@click.option("--engagement", required=True, help="Code.")
@click.option("--model", help="Code of a model of the engagement.")
@click.option("--note", default="", help="Where the files come from.")
def put(paths: tuple[Path, ...], engagement: str, model: str | None, note: str) -> None:
    """Store files with an engagement, compare checksums, and say what the desk reads in them."""
    client = connect(stored_login()).with_timeout(UPLOAD_TIMEOUT)
    of = engagement_of(client, engagement)
    model_key = model_id(client, of, model) if model else UNSET
    for path in paths:
        with path.open("rb") as file:
            stored = result(artifacts_upload_create.sync_detailed(client=client, body=UploadRequest(
                engagement=of.id, model=model_key, note=note,
                upload=File(payload=file, file_name=path.name,
                            mime_type="application/octet-stream"))))
        if stored.sha256 != checksum(path):
            raise click.ClickException(f"{path} arrived with another checksum; file {stored.id} is "
                                       "not what you sent.")
        click.echo(f"{path}: file {stored.id}, sha256 {stored.sha256[:12]}, "
                   f"{_read(client, stored)}")


def _read(client: AuthenticatedClient, stored: Artifact) -> str:
    """What a worker of the desk reads in the file, or why it does not; waits for it."""
    deadline = time.monotonic() + MOST_SECONDS
    while stored.reading_state == "being_read" and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        stored = result(artifacts_retrieve.sync_detailed(stored.id, client=client))
    if stored.reading_state == "being_read":
        return "still being read"
    kinds = ", ".join(reading.kind for reading in stored.readings or ())
    return kinds or stored.refusal or "not recognised"


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
