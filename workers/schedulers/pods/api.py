"""A cluster's API server, asked with the official client over HTTPS with a pinned authority."""

import json
import ssl
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from workers.models import Node
from workers.nodes.reachability import SchedulerAway, scheduler_away

SECONDS = (5, 20)  # to connect, to answer
AWAY = (401, 408, 429)  # and all from 500 on: nothing is known of the job
NOT_FOUND, EXISTS = 404, 409


class Answered(Exception):
    """The server answered with an error about the object itself; `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def of(node: Node) -> client.ApiClient:
    """The connection to the node's cluster; kept and shared by threads."""
    options = node.scheduler_options
    return _connection(options.get("server", ""), options.get("authority", ""),
                       node.scheduler_secret)


@lru_cache(maxsize=64)
def _connection(server: str, authority: str, token: str) -> client.ApiClient:
    configuration = client.Configuration()
    configuration.host = server
    configuration.retries = False
    configuration.api_key = {"BearerToken": f"Bearer {token}"}
    connection = client.ApiClient(configuration)
    if authority:
        connection.rest_client.pool_manager.connection_pool_kw["ssl_context"] = \
            ssl.create_default_context(cadata=authority)
    return connection


def ask(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The JSON that a method of the client is answered.

    Raises Answered; SchedulerAway where nothing can be known.
    """
    try:
        answer = call(*arguments, _preload_content=False, _request_timeout=SECONDS, **options)
        return json.loads(answer.data)
    except ApiException as error:
        message = _message(error)
        if not error.status or error.status in AWAY or error.status >= 500:
            raise SchedulerAway(f"{error.status or ''} {message}".strip()) from error
        raise Answered(error.status, message) from error
    except (HTTPError, OSError, ValueError) as error:
        raise scheduler_away(error) from error
    except AttributeError as error:  # the client stumbles over a failed handshake: it has no body
        if isinstance(error.__context__, ApiException):
            raise SchedulerAway(_message(error.__context__)) from error
        raise


def _message(error: ApiException) -> str:
    try:
        return json.loads(error.body)["message"]
    except (TypeError, ValueError, KeyError):
        return str(error.reason or error)
