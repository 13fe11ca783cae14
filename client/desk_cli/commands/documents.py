"""Documents for the customer, and the evidence bundles of signed ones."""

import hashlib
from pathlib import Path
from typing import Any

import click

from desk_cli.commands.engagements import engagement_of
from desk_cli.commands.files import checksum, safe_path
from desk_cli.connection import connect, require_done, rows, stored_login
from desk_cli.output import json_option, most_option, show_rows
from desk_client.api.bundles import bundles_file_retrieve, bundles_list
from desk_client.api.documents import documents_list, documents_pdf_retrieve
from desk_client.models.documents_pdf_retrieve_language import DocumentsPdfRetrieveLanguage
from desk_client.types import UNSET, Response


@click.group()
def documents() -> None:
    """Quotes aside, what is issued to the customer."""


@documents.command("list")
@click.argument("engagement")
@click.option("--kind", help="TR, PA, FA …; all of them if left out.")
@most_option
@json_option
def list_(engagement: str, kind: str | None, most: int, as_json: bool) -> None:
    """The documents of an ENGAGEMENT, their states and hashes."""
    client = connect(stored_login())
    of = engagement_of(client, engagement)
    show_rows(rows(documents_list.sync_detailed, client, most, engagement_code=of.code,
                   kind=kind or UNSET), [
        ("DOCUMENT", lambda row: row.id), ("KIND", lambda row: row.kind),
        ("NUMBER", lambda row: row.number), ("VERSION", lambda row: row.version),
        ("STATE", lambda row: row.state.value), ("HASH", lambda row: row.content_hash[:12]),
        ("FILES", lambda row: len(row.files))], as_json=as_json)


@documents.command()
@click.argument("engagement")
@click.option("--kind", help="TR, PA, FA …; all of them if left out.")
@click.option("--language", type=click.Choice([each.value for each in
                                               DocumentsPdfRetrieveLanguage]))
@click.option("--bundles", "with_bundles", is_flag=True, help="The evidence bundles, too.")
@click.option("-o", "--out", type=click.Path(path_type=Path, file_okay=False), default=Path(),
              help="Folder; where you are if left out.")
def get(engagement: str, kind: str | None, language: str | None, with_bundles: bool,
        out: Path) -> None:
    """Bring the stored files of an ENGAGEMENT's documents; their checksums are compared."""
    client = connect(stored_login())
    of = engagement_of(client, engagement)
    count = 0
    for document in rows(documents_list.sync_detailed, client, 10_000, engagement_code=of.code,
                         kind=kind or UNSET):
        for file in document.files:
            if language in (None, file.language):
                _keep(out / safe_path(file.name), documents_pdf_retrieve.sync_detailed(
                    document.id, client=client, file_format=file.format_,
                    language=DocumentsPdfRetrieveLanguage(file.language)), file.sha256)
                count += 1
    if with_bundles:
        for bundle in rows(bundles_list.sync_detailed, client, 1000, engagement_code=of.code):
            _keep(out / f"evidence-bundle-{bundle.id}.zip",
                  bundles_file_retrieve.sync_detailed(bundle.id, client=client), bundle.sha256)
            count += 1
    if not count:
        raise click.ClickException(f"{of.code} has no such files; they are made when a document "
                                   "is issued.")


def _keep(path: Path, answer: Response[Any], expected: str) -> None:
    """Store what has the expected checksum; the same content may be there already."""
    require_done(answer)
    content = answer.content
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise click.ClickException(f"{path}: the checksum is {digest} instead of {expected}; "
                                   "nothing was kept.")
    if path.exists() and checksum(path) != digest:
        raise click.ClickException(f"{path} is there with other content; choose a folder with -o.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    click.echo(f"{path}  {len(content)} bytes  sha256 {digest[:12]}")
