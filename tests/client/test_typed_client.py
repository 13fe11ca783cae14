"""The typed client that is made of the schema: it type-checks, and works against a server."""

import subprocess
import sys

import pytest

from tests.client.conftest import CLIENT

pytestmark = pytest.mark.slow


def test_client_and_commands_type_check(packages, environment, tmp_path):
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", CLIENT / "pyproject.toml",
         "--cache-dir", tmp_path, "-p", "desk_cli", "-p", "desk_client"],
        env={**environment, "MYPYPATH": environment["PYTHONPATH"]}, cwd=tmp_path,
        capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout[-3000:] + checked.stderr[-1000:]


PROGRAM = """
import sys
from desk_client.api.customers import customers_create, customers_list
from desk_client.api.engagements import engagements_create, engagements_list
from desk_client.api.quotes import quotes_retrieve
from desk_client.client import AuthenticatedClient
from desk_client.models.customer_request import CustomerRequest
from desk_client.models.engagement_request import EngagementRequest
from desk_client.models.engagement_state_enum import EngagementStateEnum
from desk_client.models.problem import Problem

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], prefix="Token")
customer = customers_create.sync(client=client, body=CustomerRequest(name="客户"))
made = engagements_create.sync(client=client, body=EngagementRequest(
    code="EP7001", name="迁移", customer=customer.id))
assert made.state is EngagementStateEnum.ACTIVE or made.state.value, made
listed = engagements_list.sync(client=client, code="EP7001")
assert (listed.count, listed.results[0].created_at) == (1, made.created_at)
refused = quotes_retrieve.sync(4711, client=client)
assert isinstance(refused, Problem) and (refused.status, refused.title) == (404, "not_found")
print(made.code, made.created_at.tzinfo is not None)
"""


@pytest.mark.django_db(transaction=True)
def test_client_reads_and_writes_as_a_manager(packages, environment, live_server, people):
    from engagements.services import api_tokens

    manager = people["manager"]
    _token, key = api_tokens.create_token(actor=manager, owner=manager, name="t", scope="write")
    done = subprocess.run([sys.executable, "-c", PROGRAM, live_server.url, key], env=environment,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "EP7001 True\n", "")
