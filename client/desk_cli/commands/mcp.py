"""The desk for agents, over MCP."""

import importlib
from types import ModuleType

import click


@click.command("mcp")
def mcp() -> None:
    """Serve the desk's tools to an agent over stdio (Model Context Protocol).

    DESK_URL and DESK_TOKEN name the desk and the agent's key. Needs `pip install desk-cli[mcp]`.
    """
    _module("desk_cli.mcp_server.server").server().run("stdio")


@click.command("mcp-http")
@click.option("--portal", envvar="DESK_URL", required=True,
              help="Address of the portal (DESK_URL).")
@click.option("--url", envvar="DESK_MCP_URL", required=True,
              help="Address at which agents reach this server (DESK_MCP_URL).")
@click.option("--secret", envvar="DESK_MCP_SECRET", required=True, show_default=False,
              help="What the portal has as DESK_MCP_SECRET; better in the environment.")
@click.option("--host", default="127.0.0.1", help="Where it listens.")
@click.option("--port", default=8010)
def mcp_http(portal: str, url: str, secret: str, host: str, port: int) -> None:
    """Serve the same tools over HTTP, to agents that sign in with keys of this server."""
    app = _module("desk_cli.mcp_server.http").app(portal=portal.rstrip("/"), secret=secret, url=url)
    _module("uvicorn").run(app, host=host, port=port, log_level="warning",
                           timeout_graceful_shutdown=30)


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install 'desk-cli[mcp]'"
                                   ) from None


if __name__ == "__main__":  # without the typed client, which no other command does without
    mcp_http()
