"""ModelArts' API, asked over HTTPS; requests are signed by Huawei Cloud's own library."""

import json
import ssl
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import urllib3
from huaweicloudsdkcore.auth.credentials import BasicCredentials
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer

from workers.models import Node
from workers.nodes.reachability import SchedulerAway, scheduler_away

SECONDS = urllib3.Timeout(connect=5, read=20)
AWAY = (401, 403, 408, 429)  # and all from 500 on: nothing is known of the job


class Answered(Exception):
    """ModelArts answered with an error about the job itself."""


@lru_cache(maxsize=64)
def _pool(_endpoint: str, authority: str) -> urllib3.PoolManager:
    trusted = ssl.create_default_context(cadata=authority or None)
    return urllib3.PoolManager(retries=False, timeout=SECONDS, ssl_context=trusted)


def ask(node: Node, method: str, path: str, body: dict | None = None) -> Any:
    """The JSON that is answered; `path` goes on from `/v2/PROJECT/`.

    Raises Answered; SchedulerAway where nothing can be known.
    """
    options = node.scheduler_options
    address = urlsplit(options["endpoint"])
    request = SdkRequest(
        method=method, schema=address.scheme, host=address.netloc,
        resource_path=f"{address.path.rstrip('/')}/v2/{options['project']}/{path}",
        query_params=[], header_params={"Content-Type": "application/json"},
        body=json.dumps(body).encode() if body is not None else b"")
    Signer(BasicCredentials(options["access_key"], node.scheduler_secret,
                            options["project"])).sign(request)
    try:
        answer = _pool(options["endpoint"], options.get("authority", "")).request(
            method, f"{address.scheme}://{address.netloc}{request.uri}", body=request.body,
            headers=request.header_params)
        found = json.loads(answer.data or b"{}")
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise scheduler_away(error) from error
    if answer.status < 400:
        return found
    why = f"{answer.status} {found.get('error_code', '')} {found.get('error_msg', '')}".strip()
    if answer.status in AWAY or answer.status >= 500:
        raise SchedulerAway(why)
    raise Answered(why)
