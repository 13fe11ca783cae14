"""The desk's REST API as the tools use it."""

import contextlib
from typing import Any

import httpx
from mcp.server.auth.middleware.auth_context import get_access_token

from desk_cli.mcp_server.answers import Refused, refusal
from desk_cli.retries import HEADER

PAGE = 200  # rows of one request
MOST_ROWS = 1000


class Desk:
    """One desk. By itself with the key of one agent, from DESK_URL and DESK_TOKEN; else over a
    client that signs each request for the agent that asks; `portal` is the address for people."""

    def __init__(self, http: httpx.Client | None = None, portal: str = "") -> None:
        self._http, self._portal = http, portal

    @property
    def is_local(self) -> bool:
        """Whether it runs where its agent does, and may read that one's files."""
        return not self._portal

    @property
    def caller(self) -> str:
        """Which agent asks, where several do."""
        token = get_access_token()
        return token.client_id if token else ""

    @property
    def http(self) -> httpx.Client:
        """Made at the first request, so that the tools are listed without a desk."""
        if self._http is None:
            # Needs the typed client, which the server over HTTP does without.
            from desk_cli.connection import connect, stored_login

            self._http = connect(stored_login()).get_httpx_client()
        return self._http

    @property
    def portal(self) -> str:
        return self._portal or str(self.http.base_url).rstrip("/")

    def get(self, path: str, **params: Any) -> Any:
        return self._ask("GET", path, params={
            name: value for name, value in params.items() if value not in (None, "")})

    def post(self, path: str, body: dict[str, Any] | None = None, key: str = "", **more: Any
             ) -> Any:
        """A key makes it the same request, whenever and by whichever process it is sent."""
        headers = {HEADER: key} if key else {}
        return self._ask("POST", path, headers=headers, **(
            more if body is None else {"json": body, **more}))

    def rows(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """All rows of a list, MOST_ROWS at most."""
        found: list[dict[str, Any]] = []
        for page in range(1, MOST_ROWS // PAGE + 1):
            answer = self.get(path, page=page, page_size=PAGE, **params)
            if isinstance(answer, list):
                return answer
            found += answer["results"]
            if not answer["next"]:
                break
        return found

    def one(self, path: str, what: str, **params: Any) -> dict[str, Any]:
        """The only row of a list. Raises Refused where there is none or more."""
        found = self.rows(path, **params)
        if len(found) != 1:
            raise Refused(f'{{"cause": "There are {len(found)} of {what}, not one.", '
                          f'"remedy": "Name it by its code; desk_find looks for it."}}')
        return found[0]

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        try:
            answer = self.http.request(method, f"/api/v1/{path}", **more)
        except httpx.HTTPError as error:
            raise Refused(f'{{"cause": "The desk is not reached ({type(error).__name__}).", '
                          f'"remedy": "Jobs go on. Wait a minute and ask again."}}') from error
        if answer.status_code >= 400:
            raise refusal(answer, self._hours_left(answer))
        return answer.json() if answer.content else None

    def _hours_left(self, refused: httpx.Response) -> str | None:
        """Of the agent, beside a refusal of a job."""
        if "/jobs/" not in str(refused.request.url):
            return None
        with contextlib.suppress(httpx.HTTPError, ValueError, KeyError, TypeError):
            return str(self.http.get("/api/v1/agents/me/").json()["hours"]["left"])
        return None
