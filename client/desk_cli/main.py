"""The commands and their groups."""

import sys

import click
import httpx

from desk_cli import __version__
from desk_cli.commands import account, documents, engagements, files, jobs, mcp, verdicts


class DeskGroup(click.Group):
    """Says in a sentence what a connection has broken on."""

    def main(self, *args, **kwargs):
        try:
            return super().main(*args, **kwargs)
        except httpx.HTTPError as error:
            click.echo(f"Error: the desk cannot be reached: {error}", err=True)
            sys.exit(3)


@click.group(cls=DeskGroup)
@click.version_option(__version__)
def cli() -> None:
    """Delivery Desk in a terminal.

    Sign in once with `login`, or set DESK_URL and DESK_TOKEN. With DESK_LANGUAGE=zh-hans the desk
    answers in Chinese.
    Exit status: 0 done, 1 refused or the job did not succeed, 2 wrong use, 3 no connection.
    """


cli.add_command(account.login)
cli.add_command(account.logout)
cli.add_command(engagements.engagements)
cli.add_command(jobs.jobs)
cli.add_command(files.files)
cli.add_command(verdicts.verdicts)
cli.add_command(documents.documents)
cli.add_command(mcp.mcp)
cli.add_command(mcp.mcp_http)
