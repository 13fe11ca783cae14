"""Signing in and out."""

import click
import httpx

from desk_cli.connection import (
    HEADERS,
    TIMEOUT,
    Login,
    connect,
    login_file,
    require_done,
    result,
    store_login,
    stored_login,
)
from desk_client.api.token import token_create
from desk_client.api.tokens import tokens_destroy, tokens_list
from desk_client.client import Client
from desk_client.models.log_in_request import LogInRequest
from desk_client.models.token_scope_enum import TokenScopeEnum
from desk_client.types import UNSET


@click.command()
@click.argument("url")
@click.option("--username", help="Asked for if left out.")
@click.option("--token", is_flag=True,
              help="Ask for a token made on the page “API tokens” instead of name and password; "
                   "needed where signing in takes a second factor or another service.")
@click.option("--scope", type=click.Choice([scope.value for scope in TokenScopeEnum]),
              default=TokenScopeEnum.WRITE.value, show_default=True,
              help="What the token that is made may do.")
@click.option("--days", type=int, help="Until it expires; the desk's default if left out.")
def login(url: str, username: str | None, token: bool, scope: str, days: int | None) -> None:
    """Sign in to the desk at URL and remember the token, readable by you alone."""
    url = checked_url(url)
    if token:
        made = Login(url, click.prompt("Token", hide_input=True).strip())
        result(tokens_list.sync_detailed(client=connect(made)))
    else:
        answer = result(token_create.sync_detailed(
            client=Client(base_url=url, headers=HEADERS, timeout=TIMEOUT),
            body=LogInRequest(
                username=username or click.prompt("User name"),
                password=click.prompt("Password", hide_input=True), name="desk-cli",
                scope=TokenScopeEnum(scope), days=UNSET if days is None else days)))
        made = Login(url, answer.token, answer.made.id)
    click.echo(f"Signed in. The token lies in {store_login(made)}")


def checked_url(url: str) -> str:
    """Without a slash at the end. Raises UsageError for what is no address of a desk."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        parts = httpx.URL("")
    if parts.scheme not in ("http", "https") or not parts.host:
        raise click.UsageError("Write the address as https://desk.example.com")
    is_here = parts.host in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not is_here:
        click.echo("Warning: over http, password and token travel readable.", err=True)
    return url.rstrip("/")


@click.command()
def logout() -> None:
    """Revoke the token that `login` made, and forget it."""
    known = stored_login()
    if known.token_id is not None:
        require_done(tokens_destroy.sync_detailed(known.token_id, client=connect(known)))
    login_file().unlink(missing_ok=True)
    click.echo("Signed out." if known.token_id is not None else
               "Forgotten. Revoke the token on the page “API tokens”: it was made elsewhere.")
