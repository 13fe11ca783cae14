"""What the API answers is what its OpenAPI description says, whoever asks: Schemathesis's requests
over the whole description, as every role. By hand, longer and with some roles only:

    pytest -m slow tests/openapi --examples 20 --role sales --role operator
"""

import json
import logging
from zlib import crc32

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from engagements.models import Role
from engagements.services import create_token
from tests.openapi.examples import Keys, try_operations

PARTS = 4  # so that several processes share the work


@pytest.fixture(scope="module")
def document() -> dict:
    described = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(json.dumps(described, default=str))


@pytest.fixture
def tokens(people, request, settings) -> dict[str, str]:
    settings.DECIDING_TOKENS = True  # so that requests that decide get further than 403
    return {role: create_token(actor=people[role], owner=people[role], name="examples",
                               scope="decide")[1]
            for role in request.config.getoption("--role") or Role.values}


@pytest.mark.slow
@pytest.mark.usefixtures("world", "not_typeset")
@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_as_described(people, document, tokens, part, caplog, request):
    """No server error, no status, content type or body that is not described, no wrong request
    taken, no right one refused."""
    caplog.set_level(logging.CRITICAL, "django.request")
    administrator = APIClient()
    administrator.force_authenticate(people[Role.ADMINISTRATOR])
    keys = Keys.of_database(administrator, document)
    found = try_operations(document, tokens, keys,
                           lambda label: crc32(label.encode()) % PARTS == part,
                           request.config.getoption("--examples"))
    shown = [f"{place}\n    {example}" for place, [example, *_more] in sorted(found.wrong.items())]
    assert not shown, "\n".join(shown)
    assert len(found.done) > 40  # operations that succeeded at least once
    assert found.answers.total() > 1000
