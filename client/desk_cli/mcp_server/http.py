"""The MCP server over HTTP: a process of its own beside the portal, for agents of many owners.

An agent's key is one of this server alone. It goes no further: the portal gets the key's hash under
a signature of this server (`engagements/web/mcp_attestation.py`), for each request anew.
"""

import hashlib
import hmac
import time
from collections.abc import Generator
from urllib.parse import urlsplit

import anyio.to_thread
import httpx
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from desk_cli.mcp_server.desk import Desk
from desk_cli.mcp_server.server import server
from desk_cli.retries import RetryTransport

TIMEOUT = httpx.Timeout(30.0, connect=10.0)


class Attested(httpx.Auth):
    """Signs requests for one key, or for that of the agent whose call is being answered."""

    def __init__(self, secret: str, key: str = "") -> None:
        self.secret, self.key = secret.encode(), key

    def auth_flow(self, request: httpx.Request
                  ) -> Generator[httpx.Request, httpx.Response, None]:
        token = get_access_token()
        key = self.key or (token.token if token else "")
        signed = f"{hashlib.sha256(key.encode()).hexdigest()}.{int(time.time())}"
        signature = hmac.new(self.secret, signed.encode(), hashlib.sha256).hexdigest()
        request.headers["Authorization"] = f"Token mcp.{signed}.{signature}"
        yield request


class Verifier:
    """Asks the portal at each request whose key it is: one that has ended ends at once."""

    def __init__(self, http: httpx.Client, secret: str, url: str) -> None:
        self.http, self.secret, self.url = http, secret, url

    async def verify_token(self, token: str) -> AccessToken | None:
        return await anyio.to_thread.run_sync(self._known, token)

    def _known(self, key: str) -> AccessToken | None:
        answer = self.http.get("/api/v1/agents/me/", auth=Attested(self.secret, key))
        if answer.status_code != 200:
            return None
        return AccessToken(token=key, client_id=str(answer.json()["id"]), scopes=[],
                           resource=self.url)


def app(*, portal: str, secret: str, url: str) -> Starlette:
    """What uvicorn serves.

    Args:
        portal: address of the portal's API, as this process reaches it.
        secret: the portal's DESK_MCP_SECRET.
        url: the address at which agents reach this server; a request for another host is refused.
    """
    place = urlsplit(url)
    origin = f"{place.scheme}://{place.netloc}"
    http = httpx.Client(base_url=portal, timeout=TIMEOUT, transport=RetryTransport(),
                        auth=Attested(secret), headers={"User-Agent": "desk-mcp-http",
                                                        "Accept-Language": "en"})
    made = server(
        Desk(http, portal=origin), token_verifier=Verifier(http, secret, url),
        auth=AuthSettings(issuer_url=AnyHttpUrl(origin), resource_server_url=AnyHttpUrl(url),
                          validate_token_resource=True))
    return made.streamable_http_app(
        streamable_http_path=place.path or "/", stateless_http=True, json_response=True,
        transport_security=TransportSecuritySettings(allowed_hosts=[place.netloc],
                                                     allowed_origins=[origin]))
